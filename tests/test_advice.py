"""Networks that see what a rule-based player would do."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers import staggered
from rich.console import Console
from suited import SUITED, as_override

from slopes_agents import make_agent
from slopes_agents.advice import Choice, make_adviser, observed
from slopes_agents.learned import LearnedAgent, load_network, read_file
from slopes_agents.network import NetworkShape, PolicyNetwork
from slopes_agents.weights_file import CheckpointError, pack_weights
from slopes_benchmarks.values import NetworkValue
from slopes_envs import InformationSet, UnknownName, game_names, make_game
from slopes_training import ship
from slopes_training.config import default_config_path, load_config
from slopes_training.train import run

SMALL = ["games=16", "moves=40", "evaluation.opponents=[random]", "evaluation.deals=2"]


def shape_of(name: str, *, suits: bool) -> NetworkShape:
    shape = SUITED.get(name, NetworkShape((12, 20)))
    return replace(shape, suits=shape.suits if suits else None, advice="heuristic")


def view_of(name: str, batch: int = 60) -> InformationSet:
    game = make_game(name)
    state = staggered(game, batch, 40)
    return InformationSet(game, state.take(np.flatnonzero(state.seat >= 0)))


@pytest.mark.parametrize("name", game_names())
def test_advice_is_the_choice_of_the_adviser(name: str) -> None:
    view = view_of(name)
    player = make_agent("heuristic", view.game)
    seen = observed(view, make_adviser("heuristic", view.game))
    size = view.game.observation.size
    assert np.array_equal(seen[:, :size], view.observations)
    assert (seen[:, size:].sum(axis=1) == 1).all()
    assert np.array_equal(seen[:, size:].argmax(axis=1), player.act(view))
    assert observed(view, None) is view.observations or np.array_equal(observed(view, None), view.observations)


def test_there_is_no_advice_for_seats_that_are_not_to_move() -> None:
    game = make_game("sluff")
    state = staggered(game, 20, 30)
    others = (state.seat + 1) % game.num_players
    assert not Choice(make_agent("heuristic", game)).advise(InformationSet(game, state, others)).any()


@pytest.mark.parametrize("name", game_names())
@pytest.mark.parametrize("suits", [False, True])
def test_an_untrained_policy_follows_the_advice(name: str, suits: bool, tmp_path: Path) -> None:
    """As the run begins: the policy of a new learner, and the file that it writes."""
    overrides = [*SMALL, "network.advice=heuristic", "warm_start=null", "look_ahead=null", "mirror=null"]
    overrides += ["opponents=[]", "variants=[]", "learning_rate={start: 1.0e-7, end: 0}"]
    if suits and name not in SUITED:
        pytest.skip("a game without suits that are alike")
    overrides += ["network.layers=[12,20]", as_override(name) if suits else "network.suits=null"]
    model = run(name, out=tmp_path, decisions=1, overrides=overrides, console=Console(file=io.StringIO()))
    game = make_game(name)
    view = view_of(name)
    player = make_agent("heuristic", game)
    agents = [
        LearnedAgent(game, model.policy.logits_and_values, adviser=Choice(player)),
        make_agent(f"ppo:{tmp_path / 'last.zip'}", game),
    ]
    for agent in agents:
        assert (agent.act(view) == player.act(view)).mean() > 0.98
    chances = make_agent(f"ppo:{tmp_path / 'last.zip'},mode=sample", game).probabilities(view)
    several = view.legal.sum(axis=1) > 1
    others = np.where(view.legal, chances, np.nan)[several]
    others[np.arange(len(others)), player.act(view)[several]] = np.nan
    assert np.nanmin(others) > 0  # and still tries others


@pytest.mark.parametrize("name", ["slopes", "sloppy_seconds", "sluff"])
def test_every_feature_and_all_advice_is_seen_once(name: str) -> None:
    game = make_game(name)
    for suits in {False, name in SUITED}:
        shape = shape_of(name, suits=suits)
        trunk: Any = PolicyNetwork(shape, game.observation, game.num_actions).trunk.inner
        seen = [*trunk.own.tolist(), *trunk.common.tolist()] if suits else trunk.seen.tolist()
        advised = range(game.observation.size, game.observation.size + game.num_actions)
        assert sorted(seen) == [*shape.seen(game.observation), *advised]


def test_it_is_saved_shipped_and_asked_again(tmp_path: Path) -> None:
    overrides = [*SMALL, "network.layers=[12,20]", "network.advice=heuristic"]
    overrides += ["look_ahead={agent: heuristic, decisions: 600, part: 0.2}", "variants=[]"]
    run("sluff", out=tmp_path / "run", decisions=1300, overrides=overrides, console=Console(file=io.StringIO()))
    made = ship.ship(tmp_path / "run" / "last.zip", tmp_path / "sluff.slopes", "float32")
    assert made["header"]["network"]["advice"] == "heuristic"
    assert made["agreement"] == 1
    view = view_of("sluff")
    network = load_network(tmp_path / "sluff.slopes", view.game)
    adviser = make_adviser(network.shape.advice, view.game)
    assert isinstance(adviser, Choice) and adviser.agent.spec == "heuristic"
    agents = [make_agent(f"ppo:{tmp_path / file}", view.game) for file in ("sluff.slopes", "run/last.zip")]
    assert np.array_equal(*[agent.probabilities(view) for agent in agents])
    assert np.isfinite(agents[0].values(view)).all()  # type: ignore[attr-defined]
    search = make_agent(f"search:ppo:{tmp_path / 'sluff.slopes'},worlds=2,depth=2", view.game)
    part = view.take(np.arange(3))
    assert part.legal[np.arange(3), search.act(part)].all()


def test_values_are_asked_from_every_seat(tmp_path: Path) -> None:
    overrides = [*SMALL, "network.layers=[12,20]", "network.advice=heuristic"]
    run("slippery_slope", out=tmp_path, decisions=600, overrides=overrides, console=Console(file=io.StringIO()))
    game = make_game("slippery_slope")
    state = staggered(game, 20, 30)
    values = NetworkValue(game, tmp_path / "last.zip").of(state)
    live = np.flatnonzero(state.seat >= 0)
    agent: Any = make_agent(f"ppo:{tmp_path / 'last.zip'}", game)
    unit = agent.network.unit
    expected = agent.values(InformationSet(game, state.take(live))) / unit + state.scores[live, state.seat[live]]
    assert np.allclose(values[live, state.seat[live]], expected, atol=1e-4)


def test_files_ask_nobody_but_players_of_the_library(tmp_path: Path) -> None:
    game = make_game("slopes")
    network = PolicyNetwork(NetworkShape((8,)), game.observation, game.num_actions)
    header = {
        "game": "slopes",
        "features": game.observation.size,
        "actions": game.num_actions,
        "network": {"layers": [8], "left_out": [], "advice": "os:system"},
    }
    (tmp_path / "bad.slopes").write_bytes(pack_weights(header, network.state_dict()))
    assert read_file(tmp_path / "bad.slopes")[0]["network"]["advice"] == "os:system"
    with pytest.raises(CheckpointError, match="unknown adviser of a network 'os:system'"):
        load_network(tmp_path / "bad.slopes", game)
    with pytest.raises(UnknownName, match="adviser of a network"):
        NetworkShape((8,), advice="ppo")
    with pytest.raises(
        ValueError,
        match=r"network\.advice: Input should be 'greedy', 'heuristic', 'afterstates' or 'reasons', got 'ppo'",
    ):
        load_config(default_config_path("slopes"), ["network.advice=ppo"])
