"""Training against opponents, after a warm start, over several variants: who learns, what is kept, exact resume."""

from __future__ import annotations

import io
import signal
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from rich.console import Console

from slopes_agents import Agent, make_agent
from slopes_agents.learned import load_network, read_file
from slopes_agents.network import NetworkShape, masked_log_probabilities
from slopes_agents.play import AgentFault
from slopes_agents.weights_file import shipped_weights
from slopes_envs import Game, InformationSet, make_game, match_seed
from slopes_training.advantages import seat_advantages
from slopes_training.config import Magnet, Schedule, TrainingConfig, WarmStart, default_config_path, load_config
from slopes_training.past import PastSelves
from slopes_training.policies import SelfPlayPolicy
from slopes_training.rollout import Phase
from slopes_training.selfplay import SelfPlayMaskablePPO
from slopes_training.tables import Against, SelfPlayEnv, Tables, apportion
from slopes_training.train import _Run, _settings, environment, prepare, run

BASE = [
    "games=40",
    "network={layers: [16]}",
    "minibatch=256",
    "threads=1",
    "evaluation.every=100000",
    "evaluation.deals=10",
    "evaluation.opponents=[random]",
]
SLOPE = [*BASE, "moves=33"]


class Lowest(Agent):
    """The legal action with the lowest number; it does not tell its probabilities."""

    def act(self, view: InformationSet) -> NDArray[np.int64]:
        return view.legal.argmax(axis=1)


class Illegal(Agent):
    """An action that is not legal."""

    def act(self, view: InformationSet) -> NDArray[np.int64]:
        return view.legal.argmin(axis=1)


class NoAction(Agent):
    """A number that is no action."""

    def act(self, view: InformationSet) -> NDArray[np.int64]:
        return np.full(len(view), -1)


def hand(name: str = "slippery_slope", **rules: Any) -> Game[Any, Any]:
    return make_game(name, match="hand", **rules)


def quiet() -> Console:
    return Console(file=io.StringIO(), width=200)


def learner(env: SelfPlayEnv, **changes: Any) -> SelfPlayMaskablePPO:
    options: dict[str, Any] = {
        "network": NetworkShape((16,)),
        "n_steps": 33,
        "batch_size": 256,
        "seed": 1,
        "device": "cpu",
    }
    return SelfPlayMaskablePPO(SelfPlayPolicy, env, **(options | changes))


def collect(model: SelfPlayMaskablePPO, times: int = 1) -> None:
    if model.num_timesteps == 0:
        model._setup_learn(10**6)
    for _ in range(times):
        model.collect_rollouts(model.env, model._init_callback(None), None, model.n_steps)


def state_of(model: SelfPlayMaskablePPO) -> dict[str, torch.Tensor]:
    found = dict(model.policy.state_dict())
    if model.past is not None:
        found |= {f"past.{name}": tensor for name, tensor in model.past.state_dict().items()}
    if model.magnet is not None:
        found |= {f"magnet.{name}": tensor for name, tensor in model.magnet.state_dict().items()}
    return found


def same(one: SelfPlayMaskablePPO, other: SelfPlayMaskablePPO) -> bool:
    left, right = state_of(one), state_of(other)
    return left.keys() == right.keys() and all(torch.equal(left[name], right[name]) for name in left)


# -- who sits where --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("count", "shares", "counts"),
    [(10, [0.25, 0.25], [2, 3]), (7, [1.0], [7]), (3, [1 / 3] * 3, [1, 1, 1]), (5, [0.0, 0.5], [0, 2]), (9, [], [])],
)
def test_places_are_shared_out(count: int, shares: list[float], counts: list[int]) -> None:
    assert apportion(count, shares) == counts


def test_opponents_have_fixed_places_and_the_learners_seat_goes_round() -> None:
    game = hand()
    tables = Tables(game, 20, seed=3, against=[Against("lowest", Lowest(game), 0.5), Against("past", None, 0.25)])
    assert tables.entry.tolist() == [-1] * 5 + [0] * 10 + [1] * 5
    learned = []
    for _ in range(3):
        assert tables.learns[:5].all()
        assert (tables.learns[5:].sum(axis=1) == 1).all()
        learned.append(tables.learns[5:].argmax(axis=1))
        for _ in range(33):
            tables.advance(game.legal(tables.state).argmax(axis=1))
    assert (tables.episodes == 3).all()
    assert (np.sort(np.array(learned), axis=0).T == [0, 1, 2]).all()  # every seat once in three episodes


@pytest.mark.parametrize("partner", [False, True])
def test_a_team_learns_as_a_whole_or_with_partners(partner: bool) -> None:
    game = hand("sluff", num_players=6)
    tables = Tables(game, 12, against=[Against("lowest", Lowest(game), 0.5, partner)])
    learning = tables.learns[6:]
    if partner:
        assert learning.argmax(axis=1).tolist() == [0, 2, 4, 1, 3, 5]
        assert (learning.sum(axis=1) == 1).all()
    else:
        assert learning.tolist() == [[True, False] * 3, [False, True] * 3] * 3


def test_shares_that_do_not_fit_are_refused() -> None:
    game = hand()
    with pytest.raises(ValueError, match=r"shares that sum to at most 1, got 1\.2"):
        Tables(game, 20, against=[Against("a", None, 0.6), Against("b", None, 0.6)])
    with pytest.raises(ValueError, match=r"b has a share of 0\.01, which is none of 20 games"):
        Tables(game, 20, against=[Against("a", None, 0.6), Against("b", None, 0.01)])
    with pytest.raises(ValueError, match=r"cannot be a partner, .* has no teams"):
        Tables(game, 20, against=[Against("a", None, 0.6, partner=True)])


def test_margins_are_the_learners_points_over_the_others() -> None:
    game = hand("sluff", num_players=4)
    tables = Tables(game, 8, seed=2, against=[Against("lowest", Lowest(game), 0.5), Against("p", None, 0.5, True)])
    learns, sides = tables.learns.copy(), []
    for row in range(8):
        sides.append(next(set(side) for side in game.teams if learns[row, list(side)].any()))
    expected, ended = np.zeros((2, 2)), 0
    while ended < 8:
        _, over = tables.advance(game.legal(tables.state).argmax(axis=1))
        for place, row in enumerate([] if over is None else over.rows):
            assert over is not None
            scores = over.last.scores[place]
            own = [seat in sides[row] for seat in range(4)]
            expected[row // 4] += scores[own].mean() - scores[~np.array(own)].mean(), 1
            ended += 1
    assert np.allclose(tables.margins, expected)


@pytest.mark.parametrize("kind", [Illegal, NoAction])
def test_an_agent_that_plays_what_is_not_legal_is_found_out(kind: type[Agent]) -> None:
    game = hand()
    env = SelfPlayEnv([Tables(game, 8, against=[Against("bad", kind(game), 0.5)])])
    model = learner(env)
    with pytest.raises(AgentFault, match="is not legal in game"):
        collect(model)


# -- what is learned from --------------------------------------------------------------------------------------------


def test_opponents_play_their_seats_and_are_not_learned_from() -> None:
    game = hand()
    env = SelfPlayEnv([Tables(game, 12, seed=5, against=[Against("lowest", Lowest(game), 0.5)])])
    model = learner(env, n_steps=66)
    seats = [env.tables[0].learns.copy()]
    collect(model)
    rollout = model._rollout
    assert rollout.learned[:, :6].all()
    for t in range(33):
        assert (rollout.learned[t] == seats[0][np.arange(12), rollout.seats[t]]).all()
    assert (rollout.learned[:, 6:].reshape(2, 33, 6).sum(axis=1) == 11).all()  # a seat in three, in either hand
    others = ~rollout.learned
    assert (rollout.actions[others] == rollout.legal[others].argmax(axis=1)).all()
    assert not rollout.values[others].any()
    advantages = seat_advantages(rollout, 1.0, 0.95)
    assert (advantages.used == rollout.learned).all()  # whole hands: every decision of a learner
    assert model.num_timesteps == rollout.learned.sum() == 66 * 6 + 22 * 6


def test_what_opponents_do_does_not_bear_on_the_learners_credit() -> None:
    game = hand()
    env = SelfPlayEnv([Tables(game, 8, seed=5, against=[Against("lowest", Lowest(game), 1.0)])])
    model = learner(env)
    collect(model)
    rollout = model._rollout
    before = seat_advantages(rollout, 0.9, 0.8)
    rollout.values[~rollout.learned] = 1e6
    after = seat_advantages(rollout, 0.9, 0.8)
    assert np.array_equal(before.advantages[before.used], after.advantages[after.used])


def test_games_of_self_play_are_the_same_beside_opponents() -> None:
    """The deals of a place hang on the seed and the place alone."""
    game = hand()
    plain = Tables(game, 12, seed=5)
    beside = Tables(game, 12, seed=5, against=[Against("lowest", Lowest(game), 0.5)])
    assert np.array_equal(plain.state.hands, beside.state.hands)
    second = Tables(game, 6, seed=5, first=6)
    assert np.array_equal(plain.state.hands[6:], second.state.hands)


def test_past_selves_are_added_and_kept() -> None:
    game = hand()
    env = SelfPlayEnv([Tables(game, 8, against=[Against("past", None, 0.5)])])
    decisions = 4 * 33 + 4 * 11  # a rollout's
    model = learner(env, past=(2 * decisions, 2))
    weights = []
    for done in range(6):
        assert model.num_timesteps == done * decisions
        collect(model)
        model.train()
        assert model.past is not None
        weights.append([network.action_net.weight.clone() for network in model.past.networks])
    assert [len(networks) for networks in weights] == [1, 1, 2, 2, 2, 2]
    assert torch.equal(weights[0][0], weights[3][0])
    assert torch.equal(weights[3][1], weights[4][0])  # the oldest has made room
    assert not torch.equal(weights[4][0], weights[4][1])


def test_a_past_self_plays_as_it_did() -> None:
    model = learner(SelfPlayEnv([Tables(hand(), 8)]))
    pool = PastSelves(1, 3, model.policy.blank)
    for number in range(2):
        with torch.no_grad():
            model.policy.action_net.bias[:11] = torch.linspace(0, 40 * (1 - 2 * number), 11)  # bids high, bids low
        pool.add(model.policy.network(), number)
    again = PastSelves(1, 3, model.policy.blank)
    again.load_state_dict(pool.state_dict())
    assert again.taken == pool.taken == 2
    game = hand()
    state = game.new(match_seed(1, np.arange(50)))
    seen, legal = torch.from_numpy(game.observe(state, state.seat)), torch.from_numpy(game.legal(state))
    which = np.arange(50) % 2
    for selves in (pool, again):
        actions = selves.act(which, seen, legal, torch.Generator().manual_seed(1))
        assert actions[which == 0].min() > 8
        assert actions[which == 1].max() < 2


def test_past_selves_need_a_pool() -> None:
    env = SelfPlayEnv([Tables(hand(), 8, against=[Against("past", None, 0.5)])])
    with pytest.raises(ValueError, match="the learner was given none to keep"):
        collect(learner(env))


# -- warm start ------------------------------------------------------------------------------------------------------


def test_a_warm_start_copies_an_agent() -> None:
    game = hand()
    env = SelfPlayEnv([Tables(game, 128, seed=1, guide=Lowest(game))])
    goal = WarmStart(agent="lowest", decisions=8 * 33 * 128, epochs=2, learning_rate=1e-3, smoothing=0.0)
    model = learner(env, warm_start=goal, network=NetworkShape((64,)), reward_scale=5.0)
    told = []
    while model.num_timesteps < goal.decisions:
        assert model.phase is Phase.COPY
        collect(model)
        rollout = model._rollout
        told.append(rollout.values.mean())
        assert rollout.targets is not None
        assert (rollout.actions == rollout.legal.argmax(axis=2)).all()
        assert (rollout.targets.argmax(axis=2) == rollout.actions).all()
        model.train()
    assert model.phase is Phase.PLAY
    assert model.agreement > 0.85
    state = game.new(match_seed(77, np.arange(200)))
    with torch.no_grad():
        logits, _ = model.policy.logits_and_values(torch.from_numpy(game.observe(state, state.seat)))
    assert (masked_log_probabilities(logits, torch.from_numpy(game.legal(state))).exp()[:, 0] > 0.9).all()  # bids 0
    # The value head has learned what comes of it: who bids 0 loses what he takes, ten tricks among three.
    assert rollout.rewards.sum(axis=0).mean() == pytest.approx(-10 / 3 / 5)
    returns = seat_advantages(rollout, 1.0, 1.0).returns
    # It goes up and down about that from rollout to rollout.
    assert np.mean(told[-4:]) == pytest.approx(returns.mean(), abs=0.1)
    assert np.corrcoef(rollout.values.ravel(), returns.ravel())[0, 1] > 0.5


def test_smoothing_leaves_every_legal_action_a_chance() -> None:
    game = hand()
    entropies = []
    for smoothing in (0.0, 0.4):
        goal = WarmStart(agent="lowest", decisions=10**6, epochs=4, learning_rate=3e-3, smoothing=smoothing)
        model = learner(SelfPlayEnv([Tables(game, 64, guide=Lowest(game))]), warm_start=goal)
        for _ in range(3):
            collect(model)
            model.train()
        rows = torch.from_numpy(model._rollout.observations.reshape(-1, game.observation.size))
        legal = torch.from_numpy(model._rollout.legal.reshape(-1, game.num_actions))
        _, _, entropy = model.policy.evaluate_actions(rows, torch.zeros(len(rows)), legal)
        entropies.append(entropy.mean().item())
    assert entropies[1] > entropies[0] + 0.3


def test_chances_that_an_agent_tells_are_copied() -> None:
    game = hand()
    tables = Tables(game, 30)
    legal = game.legal(tables.state)
    actions, chances = tables.follow(make_agent("random", game), np.arange(len(legal)), legal)
    assert legal[np.arange(30), actions].all()
    assert np.allclose(chances, legal / legal.sum(axis=1, keepdims=True))
    _, chances = tables.follow(Lowest(game), np.arange(len(legal)), legal)
    assert (chances.sum(axis=1) == 1).all() and (chances.argmax(axis=1) == legal.argmax(axis=1)).all()


# -- magnet and critic -----------------------------------------------------------------------------------------------


def test_a_magnet_holds_the_policy_back() -> None:
    moved = []
    for magnet in (None, Magnet(weight=10.0, tau=0.01)):
        model = learner(SelfPlayEnv([Tables(hand(), 64)]), magnet=magnet, learning_rate=3e-3)
        begun = model.policy.network()
        for _ in range(5):
            collect(model)
            model.train()
        rows = torch.from_numpy(model._rollout.observations.reshape(-1, begun.trunk.layers[0].in_features))
        legal = torch.from_numpy(model._rollout.legal.reshape(-1, 41))
        with torch.no_grad():
            now = masked_log_probabilities(model.policy.logits_and_values(rows)[0], legal)
            then = masked_log_probabilities(begun(rows)[0], legal)
        moved.append((now.exp() * (now - then)).sum(dim=1).mean().item())
    assert moved[1] < moved[0] / 3


def test_a_magnet_follows_by_its_share() -> None:
    model = learner(SelfPlayEnv([Tables(hand(), 16)]), magnet=Magnet(weight=0.1, tau=0.25))
    assert model.magnet is not None
    before = model.magnet.action_net.weight.clone()
    collect(model)
    model.train()
    after = before + 0.25 * (model.policy.action_net.weight - before)
    assert torch.allclose(model.magnet.action_net.weight, after, atol=1e-6)


def test_a_critic_that_sees_all_is_learned_and_not_shipped(tmp_path: Path) -> None:
    game = hand()
    model = learner(SelfPlayEnv([Tables(game, 16)]), critic="all")
    critic = model.policy.critic
    assert critic is not None and critic.trunk.layers[0].in_features == game.observation_all.size
    collect(model)
    rollout = model._rollout
    assert rollout.everything is not None
    with torch.no_grad():
        assert np.allclose(rollout.values[3], critic(torch.from_numpy(rollout.everything[3])).numpy(), atol=1e-5)
    heads = [critic.head.weight.clone(), model.policy.value_net.weight.clone()]
    model.train()
    assert not torch.equal(critic.head.weight, heads[0])
    assert not torch.equal(model.policy.value_net.weight, heads[1])  # the policy's own value goes on learning
    model.save(tmp_path / "model.zip")
    _, weights = read_file(tmp_path / "model.zip")
    assert not any("critic" in name for name in weights)
    assert (
        make_agent(f"ppo:{tmp_path / 'model.zip'}", game)
        .probabilities(InformationSet(game, game.new(match_seed(1, np.arange(5)))))
        .sum(axis=1)
        == 1
    ).all()


def test_the_end_of_a_cut_off_match_is_valued_by_the_critic() -> None:
    game = make_game("slippery_slope", max_hands=1, target_score=1000)
    model = learner(SelfPlayEnv([Tables(game, 16)]), critic="all")
    assert model.policy.critic is not None
    with torch.no_grad():
        model.policy.critic.head.bias.fill_(50)
    collect(model)
    assert (model._rollout.end_values[32] > 25).all()


# -- several variants ------------------------------------------------------------------------------------------------


def several(**changes: Any) -> SelfPlayEnv:
    games = [hand("sloppy_seconds", num_players=4), hand("sloppy_seconds", num_players=3)]
    return SelfPlayEnv([Tables(games[0], 6, seed=4), Tables(games[1], 4, seed=4, first=6)])


def test_variants_are_played_side_by_side() -> None:
    env = several()
    assert env.num_envs == 10 and env.num_players == 4
    model = learner(env, n_steps=52, reward_kind="difference")
    collect(model)
    rollout = model._rollout
    assert set(rollout.seats[:, :6].ravel()) == {0, 1, 2, 3} and set(rollout.seats[:, 6:].ravel()) == {0, 1, 2}
    assert not rollout.rewards[:, 6:, 3].any()
    assert rollout.rewards[:, :6].any() and rollout.rewards[:, 6:, :3].any()
    assert np.allclose(rollout.rewards.sum(axis=2), 0, atol=1e-4)  # differences, over the seats that there are
    players = env.game.observation.slices["players"]
    assert not (rollout.observations[0, 0, players] == rollout.observations[0, 9, players]).all()
    model.train()


@pytest.mark.parametrize(
    ("variants", "rules", "left"),
    [
        ("[{rules: {num_players: 4}}, {rules: {num_players: 6}}]", {"num_players": 8}, []),
        (
            "[{rules: {num_players: 4}}, {rules: {num_players: 6}}]",
            {"first_dealer": 1},
            [{"num_players": 4}, {"num_players": 6}],
        ),
        (
            "[{rules: {num_players: 4}}, {rules: {num_players: 4, first_dealer: 1}}, {rules: {num_players: 6}}]",
            {"num_players": 8},
            [{}, {"first_dealer": 1}],
        ),
    ],
)
def test_what_the_command_says_holds_in_every_variant(
    variants: str, rules: dict[str, Any], left: list[dict[str, Any]]
) -> None:
    settings = _settings("sluff", None, [f"variants={variants}"], rules, None, None, 0)
    assert [variant.rules for variant in settings.variants] == left
    assert all(rules.items() <= vars(made.rules).items() for made in settings.made_games())


def test_variants_need_one_layout() -> None:
    with pytest.raises(ValueError, match="differ in the layout of observations"):
        SelfPlayEnv([Tables(hand(), 4), Tables(hand(max_hands=10_000), 4)])


def test_stable_baselines_sees_variants_as_one_batch() -> None:
    env = several()
    observations = env.reset()
    assert observations.shape == (10, env.game.observation.size)
    ends = 0
    for _ in range(52):
        masks = env.env_method("action_masks")
        observations, rewards, dones, infos = env.step(masks.argmax(axis=1))  # type: ignore[attr-defined]
        ends += dones.sum()
        for row in np.flatnonzero(dones):
            assert infos[row]["terminal_observation"].shape == observations[row].shape
    assert ends == 10
    assert rewards.shape == (10,)


def test_a_run_over_variants_says_so(tmp_path: Path) -> None:
    screen = quiet()
    model = run(
        "sloppy_seconds",
        out=tmp_path / "run",
        decisions=2 * 40 * 52,
        overrides=[
            *BASE,
            "moves=52",
            "rules={match: hand}",
            "variants=[{rules: {num_players: 4}, share: 3}, {rules: {num_players: 3}}]",
            "look_ahead=null",
            "opponents=[{agent: random, share: 0.5}]",
            "evaluation.every=1500",
        ],
        console=screen,
    )
    assert [len(tables) for tables in model.env.tables] == [30, 10]
    header, _ = read_file(tmp_path / "run" / "best.zip")
    assert [rules["num_players"] for rules in header["rules"]] == [4, 3]
    assert (header["reward"], header["reward_scale"]) == ("difference", 30)
    assert header["provenance"]["seed"] == 0
    assert "--set 'evaluation.every=1500'" in header["provenance"]["command"] or (
        "--set evaluation.every=1500" in header["provenance"]["command"]
    )
    columns = (tmp_path / "run" / "log.csv").read_text().splitlines()[0].split(",")
    assert {"eval/random (num_players=4)", "eval/random (num_players=3)", "against/random"} <= set(
        (tmp_path / "run" / "log.csv").read_text().splitlines()[0].replace('"', "").split(",")
    ), columns
    assert "against random (num_players=3)" in screen.file.getvalue()  # type: ignore[attr-defined]
    for players in (3, 4):
        game = make_game("sloppy_seconds", num_players=players)
        view = InformationSet(game, game.new(match_seed(1, np.arange(5))))
        assert view.legal[np.arange(5), make_agent(f"ppo:{tmp_path / 'run'}", game).act(view)].all()


# -- runs ------------------------------------------------------------------------------------------------------------

EVERYTHING = [
    *SLOPE,
    "opponents=[{agent: random, share: 0.25}, {agent: past, share: 0.25, every: 1500, keep: 2}]",
    "warm_start={agent: random, decisions: 2000}",
    "magnet={weight: 0.05, tau: 0.1}",
    "critic=all",
]


@pytest.mark.parametrize(
    ("stop_at", "network"), [(1, []), (4, []), (4, ["network={layers: [12, 10], advice: reasons}"])]
)
def test_a_run_with_everything_resumes_exactly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop_at: int, network: list[str]
) -> None:
    options: dict[str, Any] = {"decisions": 7000, "overrides": [*EVERYTHING, *network], "seed": 3}
    whole = run("slippery_slope", out=tmp_path / "whole", console=quiet(), **options)
    rollouts = 0
    original = _Run._on_rollout_start

    def stop_once(self: Any) -> None:
        nonlocal rollouts
        rollouts += 1
        if rollouts == stop_at + 1:
            signal.raise_signal(signal.SIGINT)
        original(self)

    screen = quiet()
    monkeypatch.setattr(_Run, "_on_rollout_start", stop_once)
    stopped = run("slippery_slope", out=tmp_path / "parts", console=screen, **options)
    said = screen.file.getvalue()  # type: ignore[attr-defined]
    assert said.index("Stopping after the present update") < said.index("go on with --resume")
    assert stopped.iteration == stop_at and (stopped.phase is Phase.COPY) == (stop_at == 1)
    resumed = run("slippery_slope", out=tmp_path / "parts", resume=True, console=quiet())
    assert resumed.num_timesteps == whole.num_timesteps
    assert whole.past is not None and whole.past.taken > 2
    assert same(resumed, whole)
    assert np.array_equal(resumed.env.tables[0].state.hands, whole.env.tables[0].state.hands)
    steps = [
        [line.split(",")[0] for line in (tmp_path / part / "log.csv").read_text().splitlines()]
        for part in ("whole", "parts")
    ]
    assert steps[0] == steps[1]


def test_a_run_over_variants_resumes_exactly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    overrides = [
        *BASE,
        "moves=31",  # rollouts end in mid-hand
        "look_ahead=null",
        "rules={match: hand}",
        "variants=[{rules: {num_players: 4}}, {rules: {num_players: 6}}]",
        "opponents=[{agent: random, share: 0.3, partner: true}, {agent: past, share: 0.3, every: 1000}]",
    ]
    options: dict[str, Any] = {"decisions": 4000, "overrides": overrides}
    whole = run("sluff", out=tmp_path / "whole", console=quiet(), **options)
    original = _Run._on_rollout_start

    def stop_in_the_middle(self: Any) -> None:
        if 1500 < self.model.num_timesteps < 3000:
            signal.raise_signal(signal.SIGINT)
        original(self)

    monkeypatch.setattr(_Run, "_on_rollout_start", stop_in_the_middle)
    stopped = run("sluff", out=tmp_path / "parts", console=quiet(), **options)
    assert stopped.num_timesteps < whole.num_timesteps
    monkeypatch.undo()
    resumed = run("sluff", out=tmp_path / "parts", resume=True, console=quiet())
    assert same(resumed, whole)
    for one, other in zip(resumed.env.tables, whole.env.tables, strict=True):
        assert np.array_equal(one.state.hands, other.state.hands) and np.array_equal(one.learns, other.learns)


def test_a_run_stops_when_it_gets_no_better(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    results = iter([1.0, 2.0, 1.5, 2.0, 3.0])
    monkeypatch.setattr("slopes_training.train.advantage_over", lambda *_: (next(results), 0.1, None))
    screen = quiet()
    options: dict[str, Any] = {"out": tmp_path / "run", "console": screen}
    overrides = [*SLOPE, "evaluation.every=1320", "stop.patience=2"]
    model = run("slippery_slope", decisions=100_000, overrides=overrides, **options)
    assert model.num_timesteps == 4 * 1320
    assert model.best_result == 2.0
    assert "No better result in the last 2 evaluations" in screen.file.getvalue()  # type: ignore[attr-defined]
    lines = (tmp_path / "run" / "log.csv").read_text().splitlines()
    assert [line.split(",")[0] for line in lines[1:]] == ["1320", "2640", "3960", "5280", "5280"]
    again = run("slippery_slope", resume=True, **options)  # it stays stopped, and is not measured again
    assert again.num_timesteps == model.num_timesteps
    assert (tmp_path / "run" / "log.csv").read_text().splitlines() == lines


def test_a_short_training_after_a_warm_start_knows_the_heuristic(tmp_path: Path) -> None:
    screen = quiet()
    run(
        "slippery_slope",
        out=tmp_path / "run",
        decisions=60_000,
        overrides=[
            *SLOPE,
            "games=256",
            "network={layers: [64]}",
            "warm_start={agent: heuristic, decisions: 50000, epochs: 2}",
        ],
        console=screen,
    )
    said = screen.file.getvalue()  # type: ignore[attr-defined]
    assert "heuristic is copied, the likeliest action is its own in " in said
    assert float(said.split("its own in ")[1].split("%")[0]) > 45


# -- configurations --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("overrides", "reason"),
    [
        (["opponents=[{agent: random, share: 2}]"], "opponents.0.share: Input should be less than or equal to 1"),
        (["opponents=[{agent: random, share: 0.1, every: 5}]"], "every and keep are for agent 'past' only"),
        (["opponents=[{agent: random, shar: 0.1}]"], "unknown field of opponents.0 'shar'; did you mean 'share'"),
        (["warm_start={agnet: random, decisions: 9}"], "unknown field of warm_start 'agnet'; did you mean 'agent'"),
        (["warm_start={agent: random, decisions: 12000001}"], "expected at most the 12000000 of the run"),
        (["warm_start={agent: random, decisions: 9, smoothing: 1}"], "warm_start.smoothing: Input should be less"),
        (["magnet={weight: 0.1, tau: 0}"], "magnet.tau: Input should be greater than 0"),
        (["stop={patience: 0}"], "stop.patience: Input should be greater than 0"),
        (["critic=both"], "critic: Input should be 'own' or 'all', got 'both'"),
        (["variants=[{rules: {num_players: 4}}]"], "option num_players expected 3"),
        (
            ["opponents=[{agent: past, share: 0.1}, {agent: past, share: 0.1, keep: 3}]"],
            "all give the same every and keep",
        ),
    ],
)
def test_wrong_configurations_are_refused(overrides: list[str], reason: str) -> None:
    with pytest.raises(ValueError) as caught:
        load_config(default_config_path("slippery_slope"), overrides)
    assert reason in str(caught.value)


@pytest.mark.parametrize(
    ("overrides", "reason"),
    [
        (["opponents=[{agent: nobody, share: 0.5}]"], "unknown agent 'nobody'"),
        (["opponents=[{agent: random, share: 0.6}, {agent: past, share: 0.6}]"], "sum to at most 1"),
        (["games=8", "variants=[{share: 1}, {share: 1000}]"], "at least one of 8 games"),
        (["warm_start={agent: nobody, decisions: 5}"], "unknown agent 'nobody'"),
        (["variants=[{}, {rules: {max_hands: 10000}}]"], "differ in the layout of observations"),
    ],
)
def test_what_does_not_fit_is_refused_before_a_file_is_touched(
    tmp_path: Path, overrides: list[str], reason: str
) -> None:
    with pytest.raises(ValueError, match=reason):
        run("slippery_slope", out=tmp_path / "run", overrides=[*SLOPE, *overrides], console=quiet())
    assert not (tmp_path / "run").exists()


def test_a_warm_start_longer_than_the_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="expected at most the 50 of the run"):
        run("slippery_slope", out=tmp_path / "run", overrides=EVERYTHING, decisions=50, console=quiet())


def test_rollouts_too_short_to_learn_from_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="moves: in 2 moves no seat that learns came to move twice"):
        run("slippery_slope", out=tmp_path / "run", overrides=[*SLOPE, "moves=2"], decisions=50, console=quiet())


def test_options_that_are_off_can_be_set_in_part(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("game: slippery_slope\nmagnet: null\n")
    assert load_config(tmp_path / "config.yaml", ["magnet.weight=0.5"]).magnet == Magnet(weight=0.5)


def test_an_environment_is_that_of_its_configuration() -> None:
    config = load_config(
        default_config_path("sluff"),
        [
            "games=20",
            "variants=[{rules: {num_players: 4}, share: 1}, {rules: {num_players: 8}, share: 4}]",
            "opponents=[{agent: random, share: 0.5, partner: true}]",
            "warm_start={agent: random, decisions: 5}",
            "reward=difference",
            "look_ahead={agent: heuristic, decisions: 5}",
        ],
    )
    env = environment(config)
    assert [len(tables) for tables in env.tables] == [4, 16]
    assert [tables.game.num_players for tables in env.tables] == [4, 8]
    assert [tables.against[0].label for tables in env.tables] == ["random (partner)"] * 2
    assert all(tables.guide is not None and tables.comparison is not None for tables in env.tables)
    assert [tables.adviser is not None for tables in env.tables] == [config.network.advice is not None] * 2
    assert config.labels() == ["num_players=4", "num_players=8"]


def test_every_field_is_described() -> None:
    """The table in the manual names every field, with its default where that is a number."""
    manual = (Path(__file__).parents[1] / "training" / "README.md").read_text(encoding="utf-8")
    cells = [line.split("|") for line in manual.splitlines() if line.startswith("| `")]
    rows = {cell[1].split("`")[1]: cell[2].strip().replace(",", "") for cell in cells}
    for name, field in TrainingConfig.model_fields.items():
        kinds = (field.annotation, *get_args(field.annotation))
        inner: Any = next((kind for kind in kinds if hasattr(kind, "model_fields")), None)
        if inner is None or name == "variants":
            described = {name: field}
        else:
            described = {f"{name}.{part}": inner_field for part, inner_field in inner.model_fields.items()}
        for path, told in described.items():
            if inner is Schedule:
                assert f"{name}.start" in rows
                continue
            assert path in rows, path
            if type(told.default) in (int, float):
                assert float(rows[path]) == told.default, path


def test_a_warm_start_meets_the_opponents() -> None:
    """What opponents do is played but not copied; past selves come with self-play, until then the agent plays them."""
    game = hand()
    against = [Against("random", make_agent("random", game), 0.25), Against("past", None, 0.25)]
    env = SelfPlayEnv([Tables(game, 64, seed=1, against=against, guide=Lowest(game))])
    model = learner(env, warm_start=WarmStart(agent="lowest", decisions=10**5), past=(10**6, 2))
    collect(model)
    rollout = model._rollout
    assert rollout.targets is not None
    entry = env.tables[0].entry
    assert rollout.learned[:, entry != 0].all()
    assert rollout.learned[:, entry == 0].mean() == pytest.approx(1 / 3)  # one seat of three
    lowest = rollout.legal.argmax(axis=2)
    assert (rollout.actions[rollout.learned] == lowest[rollout.learned]).all()
    assert (rollout.actions[~rollout.learned] != lowest[~rollout.learned]).mean() > 0.3
    assert not rollout.targets[~rollout.learned].any()
    assert model.num_timesteps == rollout.learned.sum()
    before = [parameter.detach().clone() for parameter in model.policy.parameters()]
    model.train()
    assert all(not torch.equal(old, new) for old, new in zip(before, model.policy.parameters(), strict=True))


@pytest.mark.parametrize("advice", ["null", "reasons"])
def test_a_run_begins_with_a_network_that_was_trained_before(tmp_path: Path, advice: str) -> None:
    options: dict[str, Any] = {"overrides": [*SLOPE, f"network.advice={advice}", "magnet={weight: 0.1}"]}
    before = run("slippery_slope", out=tmp_path / "before", decisions=1500, seed=1, console=quiet(), **options)
    options["overrides"].append(f"start={tmp_path / 'before' / 'last.zip'}")
    model = prepare("slippery_slope", out=tmp_path / "after", decisions=1500, seed=2, console=quiet(), **options).model
    assert model.magnet is not None
    for network in (model.policy.network(), model.magnet):
        theirs = before.policy.network().state_dict()
        assert all(torch.equal(numbers, theirs[name]) for name, numbers in network.state_dict().items())
    after = run("slippery_slope", out=tmp_path / "after", decisions=1500, seed=2, console=quiet(), **options)
    numbers, theirs = after.policy.network().state_dict(), before.policy.network().state_dict()
    told = read_file(tmp_path / "after" / "last.zip")[0]["provenance"]
    assert told["seed"] == 2 and told["start"] == read_file(tmp_path / "before" / "last.zip")[0]["provenance"]
    changed = {name for name in theirs if not torch.equal(numbers[name], theirs[name])}
    assert changed and not changed & {"trunk.mean", "trunk.spread"}  # by which it counts features


def test_what_ships_can_be_begun_with_in_its_own_unit(tmp_path: Path) -> None:
    config = default_config_path("slippery_slope").with_name("slippery_slope_mixed.yaml")
    overrides = ["start=ppo", "games=8", "moves=33", "threads=1"]
    with pytest.raises(ValueError, match=r"values in units of 5 points, expected those of .* reward_scale, 4$"):
        prepare("slippery_slope", config=config, overrides=[*overrides, "reward_scale=4"], out=tmp_path)
    model = prepare("slippery_slope", config=config, overrides=overrides, out=tmp_path, console=quiet()).model
    ships = load_network(shipped_weights("slippery_slope"), make_game("slippery_slope")).state_dict()
    assert all(torch.equal(numbers, ships[name]) for name, numbers in model.policy.network().state_dict().items())


@pytest.mark.parametrize(
    ("overrides", "reason"),
    [
        (["start=nowhere.zip"], "checkpoint nowhere.zip: there is no such file"),
        (["start=ppo"], r"start: expected a network as that of the configuration, NetworkShape\(layers=\(16,\)"),
    ],
)
def test_a_network_that_does_not_fit_is_not_begun_with(tmp_path: Path, overrides: list[str], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        run("slippery_slope", out=tmp_path / "run", overrides=[*SLOPE, *overrides], console=quiet())
    assert not (tmp_path / "run").exists()
