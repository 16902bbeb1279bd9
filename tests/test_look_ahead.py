"""The look ahead: every action of a decision compared by playing the same hand on."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from helpers import staggered
from rich.console import Console

from slopes_agents import make_agent
from slopes_agents.advice import Choice
from slopes_agents.afterstates.shipped import AfterstateAgent
from slopes_agents.learned import LearnedAgent
from slopes_agents.network import NetworkShape
from slopes_envs import InformationSet, game_names, make_game
from slopes_training.comparison import Comparison
from slopes_training.config import LookAhead, default_config_path, load_config
from slopes_training.look_ahead import improvement_loss, worth_loss
from slopes_training.policies import SelfPlayPolicy
from slopes_training.rollout import Phase
from slopes_training.selfplay import SelfPlayMaskablePPO
from slopes_training.tables import Against, SelfPlayEnv, Tables
from slopes_training.train import run
from slopes_training.watch import advantage_over

GAME = "slippery_slope"


def quiet() -> Console:
    return Console(file=io.StringIO(), width=200)


def lead(game: Any, scores: Any, seat: int) -> float:
    """A side's score less the mean of the other sides', from the definition."""
    own = next(side for side in game.teams if seat in side)
    others = [side for side in game.teams if seat not in side]
    return float(np.mean([scores[s] for s in own]) - np.mean([np.mean([scores[s] for s in side]) for side in others]))


@pytest.mark.parametrize("name", game_names())
def test_worth_is_what_playing_on_brings(name: str) -> None:
    """Against one game after another, one action after another, played on move by move."""
    game = make_game(name)
    agent = make_agent("heuristic", game)
    state = staggered(game, 6, 30)
    state = state.take(np.flatnonzero(state.seat >= 0))
    before = state.copy()
    legal = game.legal(state)
    found = Comparison(game, agent).values(state, legal)
    assert found.shape == legal.shape and (found[~legal] == 0).all()
    assert np.array_equal(game.observe_all(state, state.seat), game.observe_all(before, before.seat))
    for row, action in np.argwhere(legal):
        one = state.take(np.array([row]))
        seat, hand = int(one.seat[0]), int(one.hand[0])
        start = lead(game, game.scores(one)[0], seat)
        game.step(one, np.array([action]))
        end = int(state.turns[row]) + 1 if name == "slopes" else None
        while one.seat[0] >= 0 and one.hand[0] == hand and (end is None or one.turns[0] < end):
            game.step(one, agent.act(InformationSet(game, one)))
        expected = lead(game, game.scores(one)[0], seat) - start
        if end is not None and one.seat[0] >= 0:
            player = AfterstateAgent(game)  # of the seat that is to move by then
            expected += 2 * player.values(InformationSet(game, one))[0] * (1 if one.seat[0] == seat else -1)
        # What a network expects is a float32 of the order of one, added up in another order in a larger batch.
        assert found[row, action] == pytest.approx(expected, abs=1e-6)


def test_the_loss_leads_to_the_best_legal_action() -> None:
    worth = torch.tensor([[1.0, 2.0, 5.0], [0.0, -1.0, -2.0], [7.0, 0.0, 0.0]])
    legal = torch.tensor([[True, True, False], [True, True, True], [True, False, False]])
    logits = torch.zeros(3, 3, requires_grad=True)
    optimiser = torch.optim.SGD([logits], lr=2.0)
    gains = []
    for _ in range(400):
        loss, brought, gain = improvement_loss(logits, legal, worth, 0.0)
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        gains.append(float(gain))
    assert gains[0] == 0  # no better than an even choice
    assert torch.allclose(brought, torch.tensor([2.0, 0.0, 7.0]), atol=0.02)
    assert gains[-1] == pytest.approx((0.5 + 1.0 + 0.0) / 3, abs=0.02)
    assert logits.grad is not None and logits.grad[0, 2] == 0  # illegal


@pytest.mark.parametrize("sharpness", [1.0, 20.0])
def test_logits_come_to_tell_what_actions_are_worth(sharpness: float) -> None:
    """But for a constant a decision, and for what is added in favour of an action."""
    worth = torch.tensor([[1.0, 2.0, 5.0], [0.0, -1.0, -2.0], [7.0, 0.0, 0.0]])
    legal = torch.tensor([[True, True, False], [True, True, True], [True, False, False]])
    favoured = torch.tensor([[0.25, 0.0, 0.0], [0.0, 0.0, 0.5], [1.0, 0.0, 0.0]])
    logits = torch.zeros(3, 3, requires_grad=True)
    optimiser = torch.optim.Adam([logits], lr=0.05 * sharpness)
    for _ in range(600):
        loss, brought, gain = worth_loss(logits, legal, worth, sharpness, favoured)
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    assert loss.item() == pytest.approx(0, abs=1e-6)
    told = (logits / sharpness - favoured).detach()
    assert float(told[0, 1] - told[0, 0]) == pytest.approx(1, abs=1e-3)
    assert (told[1, 0] - told[1]).tolist() == pytest.approx([0, 1, 2], abs=1e-3)
    assert logits.grad is not None and logits.grad[0, 2] == 0  # illegal
    chances = torch.where(legal, logits.detach(), -torch.inf).softmax(1)
    assert torch.allclose(brought, (chances * torch.where(legal, worth, 0.0)).sum(1), atol=1e-4)
    even = torch.tensor([1.5, -1.0, 7.0])
    assert float(gain) == pytest.approx(float((brought - even).mean()), abs=1e-5)


def test_estimates_are_right_on_the_average_however_noisy_the_worlds() -> None:
    """What is seldom better but better on the average is found; nothing is favoured."""
    generator = torch.Generator().manual_seed(3)
    mean, spread = torch.tensor([0.0, 0.3, -0.2]), torch.tensor([0.1, 4.0, 0.1])
    worth = mean + spread * torch.randn(4000, 3, generator=generator)
    worth += mean - worth.mean(dim=0)
    legal = torch.ones(4000, 3, dtype=torch.bool)
    logits = torch.zeros(1, 3, requires_grad=True)
    optimiser = torch.optim.Adam([logits], lr=0.05)
    for _ in range(300):
        loss, _, _ = worth_loss(logits.expand(4000, 3), legal, worth, 1.0, None)
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    assert torch.allclose(logits - logits.mean(), mean - mean.mean(), atol=0.01)


def test_entropy_keeps_chances_that_follow_the_worth() -> None:
    """With a bonus for entropy the best chances are proportional to exp(worth / weight)."""
    worth, legal = torch.tensor([[0.0, 0.2, 0.3]]), torch.ones(1, 3, dtype=torch.bool)
    logits = torch.zeros(1, 3, requires_grad=True)
    optimiser = torch.optim.Adam([logits], lr=0.02)
    for _ in range(1500):
        loss, _, _ = improvement_loss(logits, legal, worth, 0.1)
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    assert torch.allclose(logits.softmax(1), (worth / 0.1).softmax(1), atol=0.01)


def learner(part: float, **changes: Any) -> SelfPlayMaskablePPO:
    game = make_game(GAME, match="hand")
    agent = make_agent("heuristic", game)
    tables = Tables(game, 64, seed=2, against=[Against("heuristic", agent, 0.5)], comparison=Comparison(game, agent))
    options: dict[str, Any] = {
        "network": NetworkShape((32,)),
        "n_steps": 33,
        "batch_size": 256,
        "look_ahead": LookAhead(agent="heuristic", decisions=10**6, part=part),
        "reward_kind": "difference",
        "reward_scale": 5.0,
        "seed": 1,
        "device": "cpu",
    }
    model = SelfPlayMaskablePPO(SelfPlayPolicy, SelfPlayEnv([tables]), **(options | changes))
    model._setup_learn(10**6)
    return model


@pytest.mark.parametrize("part", [1.0, 0.3])
def test_a_part_of_the_learners_decisions_with_a_choice_is_compared(part: float) -> None:
    model = learner(part)
    assert model.phase is Phase.COMPARE
    model.collect_rollouts(model.env, model._init_callback(None), None, model.n_steps)
    rollout = model._rollout
    assert rollout.targets is not None
    open_to_it = rollout.learned & (rollout.legal.sum(axis=2) > 1)
    assert not rollout.learned.all()
    assert (rollout.compared <= open_to_it).all()
    share = rollout.compared.sum() / open_to_it.sum()
    assert share == 1 if part == 1 else abs(share - part) < 0.05
    spread = np.where(rollout.legal, rollout.targets, 0).std(axis=2)
    assert (spread[~rollout.compared] == 0).all() and (spread[rollout.compared] > 0).mean() > 0.5
    before = [parameter.detach().clone() for parameter in model.policy.parameters()]
    model.train()
    assert all(not torch.equal(old, new) for old, new in zip(before, model.policy.parameters(), strict=True))
    assert model.logger.name_to_value["look_ahead/compared"] == rollout.compared.sum()


def test_what_was_looked_at_is_kept_at_its_own_move_and_place() -> None:
    """Of several variants: decisions wait until the rollout is over, and are then looked at together."""
    games = [make_game("sloppy_seconds", match="hand", num_players=players) for players in (3, 4)]
    agents = [make_agent("heuristic", game) for game in games]
    tables = [
        Tables(game, 12, seed=2, first=12 * number, comparison=Comparison(game, agent))
        for number, (game, agent) in enumerate(zip(games, agents, strict=True))
    ]
    env = SelfPlayEnv(tables)
    model = SelfPlayMaskablePPO(
        SelfPlayPolicy,
        env,
        network=NetworkShape((8,)),
        n_steps=20,
        look_ahead=LookAhead(agent="heuristic", decisions=10**6, part=0.5),
        reward_kind="difference",
        reward_scale=30.0,
        device="cpu",
    )
    model._setup_learn(10**6)
    stood: list[list[Any]] = []
    seats = env.seats
    env.seats = lambda: (stood.append([part.state.copy() for part in tables]), seats())[1]  # type: ignore[method-assign]
    model.collect_rollouts(env, model._init_callback(None), None, model.n_steps)
    rollout = model._rollout
    assert rollout.targets is not None and len(stood) == 20
    seen = 0
    for move, states in enumerate(stood):
        for part, state in zip(tables, states, strict=True):
            rows = np.flatnonzero(rollout.compared[move, part.part])
            legal = part.game.legal(state)
            expected = np.zeros(legal.shape)
            if len(rows):
                assert part.comparison is not None
                expected[rows] = part.comparison.values(state.take(rows), legal[rows])
            assert np.allclose(rollout.targets[move, part.part] * 30, expected, atol=1e-4)
            seen += len(rows)
    assert seen == rollout.compared.sum() > 100


def test_the_value_head_learns_what_the_policy_brings() -> None:
    model = learner(0.4, network=NetworkShape((64,)))
    errors = []
    for _ in range(9):
        model.collect_rollouts(model.env, model._init_callback(None), None, model.n_steps)
        model.train()
        errors.append(model.logger.name_to_value["look_ahead/value_loss"])
    assert np.mean(errors[-3:]) < 0.8 * errors[0]


def test_a_look_ahead_for_what_actions_are_worth_learns_it_within_the_run() -> None:
    """The error falls, and with it the policy gets better; the doubt is added to the advice, and to nothing else."""
    game = make_game(GAME, match="hand")
    agent = make_agent("heuristic", game)
    tables = Tables(
        game, 96, seed=2, against=[], comparison=Comparison(game, agent), adviser=Choice(make_agent("greedy", game))
    )
    model = SelfPlayMaskablePPO(
        SelfPlayPolicy,
        SelfPlayEnv([tables]),
        network=NetworkShape((64,), advice="greedy", sharpness=5.0),
        n_steps=33,
        batch_size=256,
        look_ahead=LookAhead(agent="heuristic", decisions=10**6, part=0.5, learn="worth", doubt=0.2, epochs=3),
        reward_kind="difference",
        reward_scale=5.0,
        seed=1,
        device="cpu",
    )
    model._setup_learn(10**6)
    assert model.phase is Phase.COMPARE
    logged: dict[str, list[float]] = {"look_ahead/loss": [], "look_ahead/gain": []}
    for _ in range(8):
        model.collect_rollouts(model.env, model._init_callback(None), None, model.n_steps)
        model.train()
        for name, values in logged.items():
            values.append(model.logger.name_to_value[name])
    assert np.mean(logged["look_ahead/loss"][-3:]) < 0.9 * logged["look_ahead/loss"][0]
    assert np.mean(logged["look_ahead/gain"][-3:]) > logged["look_ahead/gain"][0]


def test_a_short_look_ahead_beats_random(tmp_path: Path) -> None:
    """From nothing, without a copy and without self-play, by a point a hand."""
    options = ["games=128", "network={layers: [64]}", "minibatch=256", "evaluation.deals=10", "moves=33"]
    options += ["reward=difference", "reward_scale=5", "evaluation.opponents=[random]"]
    options += ["look_ahead={agent: heuristic, decisions: 21000, part: 0.5, epochs: 4, learning_rate: 0.003}"]
    model = run(GAME, out=tmp_path / "run", decisions=21_100, overrides=options, console=quiet())
    game = make_game(GAME, match="hand")
    policy = LearnedAgent(game, model.policy.logits_and_values)
    mean, error, _ = advantage_over(game, policy, make_agent("random", game), 500, 9)
    assert mean - 2 * error > 1.0


def test_phases_follow_each_other(tmp_path: Path) -> None:
    phases, rates = [], []
    original = SelfPlayMaskablePPO.train

    def note(self: SelfPlayMaskablePPO) -> None:
        phases.append(self._rollout.phase)
        original(self)
        rates.append(self.policy.optimizer.param_groups[0]["lr"])

    screen = quiet()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SelfPlayMaskablePPO, "train", note)
        run(
            GAME,
            out=tmp_path / "run",
            decisions=8 * 33 * 16,
            overrides=[
                "games=16",
                "moves=33",
                "network={layers: [16]}",
                "evaluation.deals=10",
                "reward=difference",
                "warm_start={agent: heuristic, share: 0.25}",
                "look_ahead={agent: heuristic, share: 0.375, learning_rate: 0.003, learning_rate_end: 0.0003}",
                "learning_rate={start: 0.001, end: 0}",
            ],
            console=screen,
        )
    assert phases == [Phase.COPY] * 2 + [Phase.COMPARE] * 3 + [Phase.PLAY] * 3
    expected = [0.001, 0.001]  # stays
    expected += [0.003, 0.0021, 0.0012]  # falls
    expected += [0.00025, 0.000125, 0.0]  # in the course of the whole run, counted when a rollout is over
    assert rates == pytest.approx(expected)
    said = screen.file.getvalue()  # type: ignore[attr-defined]
    assert said.index("heuristic is copied") < said.index("the look ahead with heuristic is over")
    columns = (tmp_path / "run" / "log.csv").read_text().splitlines()[0].split(",")
    assert {"look_ahead/gain", "look_ahead/value_loss", "look_ahead/compared"} <= set(columns)


@pytest.mark.parametrize(
    ("overrides", "reason"),
    [
        (["look_ahead={agent: heuristic, share: 0.5}"], "expected reward: difference, got score"),
        (["look_ahead={agent: heuristic}"], "expected either share or decisions"),
        (["look_ahead={agent: heuristic, share: 0.5, part: 0}"], "look_ahead.part: Input should be greater than 0"),
        (
            ["look_ahead={agent: heuristic, share: 0.5}", "warm_start={agent: random, decisions: 5}"],
            "expected both in share or both in decisions",
        ),
        (
            ["look_ahead={agent: heuristic, share: 0.7}", "warm_start={agent: random, share: 0.4}"],
            "expected at most 1 together",
        ),
        (
            ["look_ahead={agent: heuristic, decisions: 6}", "warm_start={agent: random, decisions: 6}", "decisions=11"],
            "warm_start.decisions and look_ahead.decisions: expected at most the 11 of the run",
        ),
        (["look_ahead={agent: heuristic, share: 0.5, doubt: 0.1}"], "look_ahead: doubt is not for learn: choice"),
        (
            ["look_ahead={agent: heuristic, share: 0.5, learn: worth, entropy: 0.1}"],
            "look_ahead: entropy is not for learn: worth",
        ),
        (
            ["look_ahead={agent: heuristic, share: 0.5, learn: worth, doubt: 0.1}", "reward=difference"],
            "look_ahead.doubt is about departing from a choice: expected one as network.advice",
        ),
        (["network.sharpness=0"], "network.sharpness: Input should be greater than 0"),
    ],
)
def test_wrong_configurations_are_refused(overrides: list[str], reason: str) -> None:
    with pytest.raises(ValueError) as caught:
        load_config(default_config_path(GAME), overrides)
    assert reason in str(caught.value)
