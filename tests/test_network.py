"""The network that looks at all suits with the same eyes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from helpers import staggered
from suited import SUITED

from slopes_agents.learned import load_network
from slopes_agents.network import NetworkShape, PolicyNetwork, SuitShape, SuitTrunk
from slopes_envs import InformationSet, make_game
from slopes_training import ship
from slopes_training.config import default_config_path, load_config
from slopes_training.policies import Critic, SelfPlayPolicy
from slopes_training.selfplay import SelfPlayMaskablePPO
from slopes_training.tables import SelfPlayEnv, Tables


def network_of(name: str) -> tuple[Any, PolicyNetwork]:
    game = make_game(name, match="hand")
    with torch.random.fork_rng():
        torch.manual_seed(1)
        return game, PolicyNetwork(SUITED[name], game.observation, game.num_actions).eval()


@pytest.mark.parametrize("name", SUITED)
def test_every_feature_is_seen_once(name: str) -> None:
    game, network = network_of(name)
    trunk = network.trunk
    assert isinstance(trunk, SuitTrunk)
    seen = [*trunk.own.tolist(), *trunk.common.tolist()]
    assert sorted(seen) == SUITED[name].seen(game.observation)


@pytest.mark.parametrize("name", SUITED)
def test_suits_are_names(name: str) -> None:
    """With the suits of what is seen turned round, the logits of the cards turn with them, and the others stay."""
    game, network = network_of(name)
    trunk, suits = network.trunk, SUITED[name].suits
    assert isinstance(trunk, SuitTrunk) and suits is not None
    state = staggered(game, 60, 40)
    observed = torch.from_numpy(game.observe(state, np.maximum(state.seat, 0)))
    turned = observed.clone()
    own = trunk.own.reshape(4, -1)
    order = [2, 0, 3, 1]
    for suit, other in enumerate(order):
        turned[:, own[suit]] = observed[:, own[other]]
    assert not torch.equal(turned, observed)
    with torch.inference_mode():
        before, _ = network(observed)
        after, _ = network(turned)
    first, ranks = suits.first, network.action_net.cards.out_features
    last = first + 4 * ranks
    expected = before[:, first:last].reshape(-1, 4, ranks)[:, order].reshape(len(before), -1)
    assert torch.allclose(after[:, first:last], expected, atol=1e-5)
    assert torch.allclose(after[:, :first], before[:, :first], atol=1e-5)
    assert torch.allclose(after[:, last:], before[:, last:], atol=1e-5)
    assert before[:, first:last].std(dim=0).min() > 1e-3  # it does tell cards apart


def test_a_suit_can_be_apart() -> None:
    game, network = network_of("sluff")
    assert network.trunk.apart is not None
    observed = torch.from_numpy(game.observe(game.new([5]), 0))
    with torch.no_grad():
        before, _ = network(observed)
        network.trunk.apart[1] += 1.0
        after, _ = network(observed)
    assert not torch.allclose(before, after)


@pytest.mark.parametrize("name", SUITED)
def test_it_learns_and_ships(name: str, tmp_path: Path) -> None:
    game = make_game(name, match="hand")
    model = SelfPlayMaskablePPO(
        SelfPlayPolicy,
        SelfPlayEnv([Tables(game, 8, seed=1)]),
        network=SUITED[name],
        n_steps=40,
        batch_size=64,
        seed=1,
        device="cpu",
    )
    before = [parameter.detach().clone() for parameter in model.policy.parameters()]
    model.learn(640)
    moved = [not torch.equal(old, new) for old, new in zip(before, model.policy.parameters(), strict=True)]
    assert all(moved)
    model.save(tmp_path / "best.zip")
    ship.ship(tmp_path, tmp_path / "out.slopes", "float32")
    view = InformationSet(game, game.new(np.arange(30, dtype=np.uint64)))
    observed = torch.from_numpy(view.observations)
    with torch.inference_mode():
        logits, values = model.policy.logits_and_values(observed)
        for file in (tmp_path / "best.zip", tmp_path / "out.slopes"):
            ours, worth = load_network(file, game)(observed)
            assert torch.allclose(ours, logits, atol=1e-5)
            assert torch.allclose(worth, values, atol=1e-5)


def test_shapes_go_through_json() -> None:
    shape = SUITED["sluff"]
    assert NetworkShape.from_json(shape.as_json()) == shape


@pytest.mark.parametrize(
    ("suits", "said"),
    [
        ({"cards": ["hnd"]}, r"got \['hnd'\]"),
        ({"cards": ["hand"], "marks": ["phase"]}, "expected planes"),
        ({"cards": ["hand"], "first": 50}, r"suits.first expected 0 to 13, got 50"),
        ({"cards": []}, "expected planes"),
        ({"card": ["hand"]}, "suits expected some of"),
        ({"cards": ["hand"], "first": "one"}, "names of planes and whole numbers"),
    ],
)
def test_what_does_not_fit_is_refused(suits: dict[str, Any], said: str) -> None:
    game = make_game("slippery_slope")
    with pytest.raises(ValueError, match=said):
        NetworkShape.from_json({"layers": [8, 8], "suits": suits}).tensors(game.observation, game.num_actions)


def test_a_network_of_suits_has_two_widths() -> None:
    with pytest.raises(ValueError, match=r"expected two layers, of a suit and of the whole, got \(8,\)"):
        NetworkShape((8,), (), SuitShape(("hand",)))


@pytest.mark.parametrize("name", SUITED)
def test_a_critic_that_sees_all_shares_too(name: str) -> None:
    game = make_game(name, match="hand")
    critic = Critic(SUITED[name], game.observation_all)
    trunk = critic.trunk
    assert isinstance(trunk, SuitTrunk)
    left_out = SUITED[name].left_out
    kept = [plane.size for plane in game.observation_all if plane.name not in left_out]
    assert len(trunk.own) + len(trunk.common) == sum(kept)
    hands = game.observation_all.slices["all_hands"]
    assert len(set(trunk.own.tolist()) & set(range(hands.start, hands.stop))) > 0.9 * (hands.stop - hands.start)
    state = staggered(game, 30, 40)
    observed = torch.from_numpy(game.observe_all(state, np.maximum(state.seat, 0)))
    assert critic(observed).shape == (30,)


@pytest.mark.parametrize(
    "path", sorted(default_config_path("slopes").parent.glob("*.yaml")), ids=lambda path: path.stem
)
def test_every_configuration_that_ships_makes_a_network(path: Path) -> None:
    config = load_config(path)
    game = config.made_games()[0]
    network = PolicyNetwork(config.network.shape(), game.observation, game.num_actions)
    assert sum(weights.numel() for weights in network.parameters()) < 2_000_000  # four megabytes, two bytes each
