"""Mirror descent over afterstates: what the policy is drawn to, and what is learned of what ends are worth."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from helpers import staggered
from test_afterstates import encoded

from slopes_agents import make_agent
from slopes_agents.advice import AFTERSTATES, make_adviser, observed
from slopes_agents.afterstates import WAYS
from slopes_agents.afterstates.network import AfterstateTrunk, Judged, Shown, judged_before
from slopes_agents.network import NetworkShape
from slopes_envs import InformationSet, make_game
from slopes_training.config import Mirror
from slopes_training.mirror import Aims, mirror_losses
from slopes_training.policies import SelfPlayPolicy
from slopes_training.selfplay import SelfPlayMaskablePPO
from slopes_training.tables import Against, SelfPlayEnv, Tables


def test_aims_by_hand() -> None:
    """Two ends; the odds are those of the policy, of the rules, and of what they are worth, each by its weight."""
    judged = Judged.of(encoded([0.3, 0.1], [1.0, 0.0], [4, 9]))
    aims = Aims.of(judged, torch.tensor([9]), rate=2.0, decay=0.25)
    odds = 0.75 * 1.0 + 0.25 * 0.0 + 2.0 * 0.2
    assert aims.chances[0, 0].item() == pytest.approx(1 / (1 + np.exp(-odds)), abs=1e-6)
    assert aims.chances[0, 2:].tolist() == [0.0] * (WAYS - 2)
    assert aims.tried.tolist() == [1]
    again = Aims.unpacked(aims.packed())
    assert torch.equal(again.chances, aims.chances) and torch.equal(again.tried, aims.tried)


def test_an_end_is_tried_by_the_action_that_begins_it_and_several() -> None:
    judged = Judged.of(encoded([0.0] * 3, [0.5, 1.0, 2.0], [4, 4, 9]))
    assert Aims.of(judged, torch.tensor([4]), 1.0, 0.0).tried.tolist() == [1]  # the best that it begins


def test_losses_of_turns_with_different_numbers_of_ends() -> None:
    """Beside the same losses turn by turn, each over the ends that are there."""
    game = make_game("slopes")
    state = staggered(game, 40, 60)
    view = InformationSet(game, state.take(np.flatnonzero(state.seat >= 0)))
    seen = torch.from_numpy(observed(view, make_adviser(AFTERSTATES, game)))
    trunk = AfterstateTrunk((8, 8))
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for layers in (trunk.worth, trunk.score):
            layers.last.copy_(torch.randn(9, generator=generator))
    there = Shown.of(seen).places.actions != 255
    counts = there.sum(dim=1)
    assert len(counts.unique()) > 3
    chances = torch.rand(there.shape, generator=generator) * there
    chances /= chances.sum(dim=1, keepdim=True)
    tried = (torch.rand(len(counts), generator=generator) * counts).long()
    returns = torch.rand(len(counts), generator=generator)
    losses = mirror_losses(trunk, seen, Aims(chances, tried), returns)
    cross, worths, entropy = [], [], []
    for row, count in enumerate(counts.tolist()):
        ends = Shown.of(seen[row : row + 1]).ends
        logs = torch.log_softmax(trunk.score(ends) + judged_before(ends), dim=0)
        cross.append(-(chances[row, :count] * logs).sum())
        worths.append(trunk.worths(ends)[tried[row]])
        entropy.append(-(logs.exp() * logs).sum())
    assert losses.policy.item() == pytest.approx(torch.stack(cross).mean().item(), rel=1e-5)
    assert losses.value.item() == pytest.approx(((torch.stack(worths) - returns) ** 2).mean().item(), rel=1e-5)
    assert losses.entropy.item() == pytest.approx(torch.stack(entropy).mean().item(), rel=1e-4)


def learner(mirror: Mirror, **changes: Any) -> SelfPlayMaskablePPO:
    game = make_game("slopes", max_turns=60)
    against = [Against("heuristic", make_agent("heuristic", game), 0.25)]
    tables = Tables(game, 128, seed=3, against=against, adviser=make_adviser(AFTERSTATES, game))
    options: dict[str, Any] = {"learning_rate": 1e-3, "n_steps": 48, "batch_size": 256, "n_epochs": 2, "seed": 1}
    model = SelfPlayMaskablePPO(
        SelfPlayPolicy,
        SelfPlayEnv([tables]),
        network=NetworkShape((32, 16), advice=AFTERSTATES),
        mirror=mirror,
        reward_kind="difference",
        reward_scale=2.0,
        device="cpu",
        **(options | changes),
    )
    model._setup_learn(10**6)
    return model


def updated(model: SelfPlayMaskablePPO) -> dict[str, float]:
    model.collect_rollouts(model.env, model._init_callback(None), None, model.n_steps)
    model.train()
    return dict(model.logger.name_to_value)


def test_what_ends_are_worth_is_learned() -> None:
    """From the turns of a few hundred matches: it explains much of what comes of them."""
    model = learner(Mirror(rate=0.001, decay=0.0))
    logged = [updated(model) for _ in range(8)]
    explained = [entry["train/explained_variance"] for entry in logged]
    assert explained[0] < 0.2
    assert np.mean(explained[-3:]) > 0.4


def test_the_policy_follows_what_ends_are_worth() -> None:
    """With a high rate it comes to prefer ends that are worth more; without one it stays where it is."""
    gains = []
    for rate in (40.0, 1e-6):
        model = learner(Mirror(rate=rate, decay=0.0))
        for _ in range(6):
            updated(model)
        rollout = model._rollout
        assert rollout.judged is not None
        judged = Judged.of(torch.from_numpy(rollout.judged[rollout.learned]))
        before, now = (torch.softmax(scores, dim=1) for scores in (judged.before, judged.scores))
        gains.append(float(((now - before) * judged.worth).sum(dim=1).mean()))
    assert gains[0] > 0.005
    assert abs(gains[1]) < 0.001


def test_decay_leads_back_to_the_rules() -> None:
    model = learner(Mirror(rate=40.0, decay=0.0))
    for _ in range(3):
        updated(model)
    model.mirror = Mirror(rate=1e-9, decay=0.9)
    distances = []
    for _ in range(4):
        updated(model)
        rollout = model._rollout
        assert rollout.judged is not None
        judged = Judged.of(torch.from_numpy(rollout.judged[rollout.learned]))
        chances, logs = torch.softmax(judged.scores, dim=1), torch.log_softmax(judged.scores, dim=1)
        distances.append(float((chances * (logs - torch.log_softmax(judged.before, dim=1))).sum(dim=1).mean()))
    assert distances[-1] < 0.5 * distances[0]
