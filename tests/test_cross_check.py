"""The bridge to OpenSpiel's information-set search, and what is compared over it."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from helpers import new_batch, random_actions, staggered
from typer.testing import CliRunner

from slopes_agents import make_agent
from slopes_agents.lead import Lead
from slopes_agents.search import IsmctsAgent
from slopes_benchmarks import cross_check
from slopes_benchmarks.cross_check import KINDS, compare, positions
from slopes_benchmarks.openspiel_bridge import GAME, OpenSpielIsmcts, Root, Table
from slopes_envs import Game, InformationSet, State, derive, make_game


def tables_of(game: Game[Any, Any], state: State) -> list[Table]:
    spiel_game: Any = SimpleNamespace(open_bids=game.rules.reveal_bids == "after_bidding")
    return Table.of(spiel_game, state)


@pytest.fixture
def spiel() -> None:
    """Skips a test where OpenSpiel is not installed."""
    pytest.importorskip("pyspiel")
    pytest.importorskip("open_spiel.python.algorithms.ismcts")


# ------------------------------------------------------------------------------------------------------- the table


@pytest.mark.parametrize("ahead", [1, 30])
def test_tables_play_as_the_core_does(ahead: int) -> None:
    game = make_game(GAME, match="hand")
    state = staggered(game, 150, ahead)
    state = state.take(np.flatnonzero(state.seat >= 0))
    tables = tables_of(game, state)
    copies = [table.clone() for table in tables]
    beginnings = [copy.information_state_string() for copy in copies]
    step = 0
    going = np.arange(len(state))
    while len(going):
        now = state.take(going)
        legal, actions = game.legal(now), random_actions(game, now, 1000 + step)
        for i, place in enumerate(going):
            table = tables[place]
            assert not table.is_terminal()
            assert table.current_player() == now.seat[i]
            assert table.legal_actions() == np.flatnonzero(legal[i]).tolist()
            table.apply_action(int(actions[i]))
        game.step(now, actions)
        state.put(going, now)
        going, step = going[now.seat >= 0], step + 1
    assert all(table.is_terminal() for table in tables)
    assert np.allclose([table.returns() for table in tables], Lead(game).of(state))
    assert [copy.information_state_string() for copy in copies] == beginnings


@pytest.mark.parametrize("reveal", ["after_scoring", "after_bidding"])
def test_a_table_tells_what_the_seat_knows_and_nothing_else(reveal: str) -> None:
    game = make_game(GAME, match="hand", reveal_bids=reveal)
    state = staggered(game, 300, 33)
    state = state.take(np.flatnonzero(state.seat >= 0))
    for seat in range(3):
        seats = np.full(len(state), seat)
        world = game.resample(state, seats, derive(8, np.arange(len(state))))
        true, other = tables_of(game, state), tables_of(game, world)
        told = [table.information_state_string(seat) for table in true]
        assert told == [table.information_state_string(seat) for table in other]
        # Two of these positions are told apart as far as the observations differ.
        seen = game.observe(state, seats)
        assert len(set(told)) >= len(np.unique(seen, axis=0))


def test_bids_are_told_when_all_may_see_them() -> None:
    for reveal, told in (("after_scoring", False), ("after_bidding", True)):
        game = make_game(GAME, match="hand", reveal_bids=reveal)
        texts = []
        for bid in (2, 5):
            table = tables_of(game, new_batch(game, 1))[0]
            first = table.current_player()
            table.apply_action(bid)
            assert str(bid) not in table.information_state_string().split(":")[1]
            table.apply_action(3)
            table.apply_action(3)
            assert table.current_player() == first
            texts.append(table.information_state_string((first + 1) % 3))
        assert (texts[0] != texts[1]) == told


# ------------------------------------------------------------------------------------------------------ comparison


def test_positions_are_as_wanted() -> None:
    for kind in KINDS:
        game = make_game(GAME, **kind.rules)
        state: Any = positions(game, kind, 12, seed=2)
        assert len(state) == 12
        assert (game.legal(state).sum(axis=1) > 1).all()
        if kind.name == "end, everything known":
            assert game.count_worlds(state, state.seat) == [1] * 12  # type: ignore[attr-defined]
        else:
            assert len(np.unique(state.moves)) > 4
    with pytest.raises(ValueError, match=r"positions \(end, everything known\) expected at most \d+, got 4001"):
        positions(game, kind, 4001, seed=2)


def root(visits: list[int], means: list[float], chosen: int) -> Root:
    return Root(np.array(visits), np.array(means), chosen)


def test_comparison_worked_out_by_hand() -> None:
    first = [root([50, 40, 10], [1.0, 0.5, 9.0], 0), root([60, 20, 20], [2.0, 1.0, 0.0], 0)]
    second = [root([40, 50, 10], [0.5, 1.0, -9.0], 1), root([60, 20, 20], [2.5, 1.5, 0.5], 0)]
    found = compare(first, second)
    assert found["same_choice"] == 0.5
    assert found["loss"]["mean"] == 0.25  # half a point, and nothing
    assert found["difference"]["mean"] == -0.25  # 0, and half a point less; what was tried ten times is left out
    assert found["distance"]["mean"] == 0.5
    assert found["values"] == 5
    pairs = np.array([[1.0, 0.5, 2.0, 1.0, 0.0], [0.5, 1.0, 2.5, 1.5, 0.5]])
    assert found["correlation"] == pytest.approx(np.corrcoef(pairs)[0, 1])


# -------------------------------------------------------------------------------------------------- with OpenSpiel


@pytest.mark.usefixtures("spiel")
def test_both_find_the_same_values_where_everything_is_known() -> None:
    kind = KINDS[1]
    game = make_game(GAME, **kind.rules)
    state = positions(game, kind, 8, seed=5)
    view = InformationSet(game, state)
    ours, theirs = IsmctsAgent(game, 400).search(view), OpenSpielIsmcts(game, 400)
    best_values = []
    for i in range(len(state)):
        found = theirs.root(view.take(np.array([i])))
        assert found.visits.sum() == 399  # the first looks at the root
        assert (found.visits > 0).tolist() == view.legal[i].tolist()
        best_values.append((ours.root_means()[i].max(), found.means.max()))
    our_values, their_values = np.array(best_values).T
    assert np.corrcoef(our_values, their_values)[0, 1] > 0.98
    assert np.abs(our_values - their_values).mean() < 0.3


@pytest.mark.usefixtures("spiel")
def test_the_bridge_is_an_agent_like_any_other() -> None:
    game = make_game(GAME, match="hand")
    agent = make_agent(f"{cross_check.BRIDGE}:iterations=30", game)
    state = staggered(game, 30, 32)
    state = state.take(np.flatnonzero(state.seat >= 0))
    view = InformationSet(game, state)
    chosen = agent.act(view)
    assert view.legal[np.arange(len(view)), chosen].all()
    backwards = np.arange(len(state))[::-1]
    assert (agent.act(InformationSet(game, state.take(backwards))) == chosen[backwards]).all()
    with pytest.raises(ValueError, match=r"expected the game 'slippery_slope', got 'sloppy_seconds'"):
        OpenSpielIsmcts(make_game("sloppy_seconds"))


@pytest.mark.usefixtures("spiel")
def test_the_whole_check_goes_on_where_it_was_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cross_check, "DEALS_AT_ONCE", 1)
    monkeypatch.setattr(cross_check, "GAMES_LOOKED_AT", 800)
    monkeypatch.setattr(cross_check, "commit", lambda: "0" * 40)
    monkeypatch.setattr("slopes_benchmarks.duplicate.commit", lambda: "0" * 40)
    command = cross_check.typer.Typer()
    command.command()(cross_check.main)
    arguments = ["--positions", "2", "--iterations", "200", "--deals", "3", "--match-iterations", "4"]

    def run(folder: Path, code: int = 0) -> dict[str, Any]:
        result = CliRunner().invoke(command, [*arguments, "--out", str(folder)])
        assert result.exit_code == code, result.output
        if code:
            return {}
        found: dict[str, Any] = json.loads((folder / cross_check.JSON).read_text(encoding="utf-8"))
        return {name: value for name, value in found.items() if name != "command"}

    whole = run(tmp_path / "whole")
    assert whole["match"]["deals"] == 3
    assert [group["positions"] for group in whole["compared"]] == [2, 2]
    assert not (tmp_path / "whole" / cross_check.PLAYING).exists()
    assert "3 duplicate deals" in (tmp_path / "whole" / cross_check.REPORT).read_text(encoding="utf-8")

    played = []
    play_chunk = cross_check.play_chunk

    def counted(plan: Any, deals: tuple[int, int]) -> Any:
        if len(played) == 2:
            played.append(deals)
            raise KeyboardInterrupt
        played.append(deals)
        return play_chunk(plan, deals)

    monkeypatch.setattr(cross_check, "play_chunk", counted)
    run(tmp_path / "parts", code=1)
    assert played == [(0, 1), (1, 2), (2, 3)]
    assert run(tmp_path / "parts") == whole
    assert played[3:] == [(2, 3)]
