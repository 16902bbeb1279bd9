"""The ladder of strength: what is played, kept, timed, and said of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from slopes_agents import make_agent
from slopes_benchmarks import duplicate, ladder
from slopes_benchmarks.duplicate import Interrupted, evaluate, evaluated_game
from slopes_benchmarks.ladder import (
    REPORT,
    TIMINGS,
    ladder_name,
    positions,
    report,
    run,
    rungs_of,
    stored_ladders,
    verdict,
)
from slopes_envs import make_game

GAME = "slippery_slope"
RUNGS = ["random", "greedy", "players:Highest"]
DEALS = 6


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(duplicate, "CHUNK_DEALS", 2)
    for module in (duplicate, ladder):
        monkeypatch.setattr(module, "commit", lambda: "a" * 40)


def played(folder: Path, rungs: list[str] = RUNGS, **options: Any) -> dict[str, Any]:
    game = evaluated_game(GAME, {})
    return run(game, rungs, folder, **{"deals": DEALS, "seed": 1, "seconds": 0, **options})


def file_of(folder: Path) -> bytes:
    return (folder / f"{GAME}.json").read_bytes()


# ------------------------------------------------------------------------------------------------------------- rungs


def test_usual_rungs_are_those_that_play_the_game() -> None:
    assert rungs_of(make_game(GAME)) == ["random", "greedy", "heuristic", "pimc:worlds=32", "ismcts:iterations=1000"]
    of_sam = rungs_of(make_game("slippery_sam"))
    assert of_sam[0] == "random" and of_sam[-1] == "optimal"


@pytest.mark.parametrize(
    ("rungs", "message"),
    [
        (["random"], "at least two different ones, got random"),
        (["random", "greedy", "random"], "at least two different ones"),
        (["random", "optimal"], "optimal"),
        (["random", "clever"], "unknown agent 'clever'"),
    ],
)
def test_wrong_rungs_are_refused(rungs: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        rungs_of(make_game(GAME), rungs)


def test_files_are_called_after_the_game_and_unusual_options() -> None:
    assert ladder_name(evaluated_game(GAME, {})) == GAME
    assert ladder_name(evaluated_game(GAME, {"match": "game"})) == f"{GAME}_match=game"
    assert ladder_name(evaluated_game("slippery_sam", {})) == "slippery_sam"
    levels = {"bet_levels": (0, 1), "num_players": 3}
    assert ladder_name(evaluated_game("slippery_sam", levels)) == "slippery_sam_num_players=3_bet_levels=0,1"


# ------------------------------------------------------------------------------------------------------------- pairs


def test_every_rung_is_measured_against_the_one_below(tmp_path: Path) -> None:
    found = played(tmp_path)
    assert [(pair["agent"], pair["against"]) for pair in found["pairs"]] == [
        ("greedy", ["random"]),
        ("players:Highest", ["greedy"]),
    ]
    for pair in found["pairs"]:
        alone = evaluate(GAME, pair["agent"], pair["against"], DEALS, 1)
        assert {name: pair[name] for name in ("difference", "gain", "metrics")} == {
            name: alone[name] for name in ("difference", "gain", "metrics")
        }
        assert pair["commits"] == ["a" * 40]
        assert "win_share" not in pair
    assert json.loads(file_of(tmp_path)) == found
    assert verdict(found["pairs"][0]) == "above"
    assert verdict(found["pairs"][1]) == "below"


def test_whole_matches_have_a_win_share(tmp_path: Path) -> None:
    game = evaluated_game(GAME, {"match": "game", "target_score": 3})
    (pair,) = run(game, ["random", "greedy"], tmp_path, deals=2, seed=1, seconds=0)["pairs"]
    assert 0 <= pair["win_share"]["mean"] <= 1
    assert "| matches won |" in report(stored_ladders(tmp_path))


@pytest.mark.slow
def test_workers_do_not_bear_on_the_file(tmp_path: Path) -> None:
    rungs = ["random", "greedy"]  # what the tests add is not found by other processes
    played(tmp_path / "one", rungs)
    played(tmp_path / "two", rungs, workers=2)
    assert file_of(tmp_path / "one") == file_of(tmp_path / "two")


def test_what_is_finished_is_not_played_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    played(tmp_path / "whole")
    whole = file_of(tmp_path / "whole")
    pieces: list[tuple[str, tuple[int, int]]] = []
    play_chunk = ladder.play_chunk

    def counted(plan: Any, deals: tuple[int, int]) -> Any:
        if len(pieces) == 4:
            pieces.append(("stopped", deals))
            raise KeyboardInterrupt
        pieces.append((plan.agent, deals))
        return play_chunk(plan, deals)

    monkeypatch.setattr(ladder, "play_chunk", counted)
    folder = tmp_path / "parts"
    with pytest.raises(Interrupted):
        played(folder)
    assert pieces[3:] == [("players:Highest", (0, 2)), ("stopped", (2, 4))]
    assert [pair["agent"] for pair in json.loads(file_of(folder))["pairs"]] == ["greedy"]
    assert len(list(folder.glob("*.playing.jsonl"))) == 1

    # Another commit goes on: only what is missing is played, and both are named.
    monkeypatch.setattr(ladder, "commit", lambda: "b" * 40)
    found = played(folder)
    assert pieces[5:] == [("players:Highest", (2, 4)), ("players:Highest", (4, 6))]
    assert found["pairs"][1].pop("commits") == ["a" * 40, "b" * 40]
    expected = json.loads(whole)
    del expected["pairs"][1]["commits"]
    assert found == expected
    assert not list(folder.glob("*.playing.jsonl"))

    del pieces[:]
    pieces.extend([("", (0, 0))] * 5)
    played(folder)
    assert len(pieces) == 5


def test_other_settings_are_other_pairs_and_finished_ones_stay(tmp_path: Path) -> None:
    first = played(tmp_path)
    longer = played(tmp_path, deals=8)
    assert [pair["deals"] for pair in longer["pairs"]] == [8, 8]
    kept = json.loads(file_of(tmp_path))["pairs"]
    assert kept[:2] == longer["pairs"]
    assert all(pair in kept for pair in first["pairs"]) and len(kept) == 4
    played(tmp_path, rungs=["random", "players:Highest"])
    assert len(json.loads(file_of(tmp_path))["pairs"]) == 5
    # The report shows the ladder that was played last.
    text = report(stored_ladders(tmp_path))
    assert "| `players:Highest` |" in text and "`greedy`" not in text


# ----------------------------------------------------------------------------------------------------------- timings


@pytest.mark.parametrize("name", [GAME, "slippery_sam"])
def test_positions_are_from_the_middle_and_with_a_choice(name: str) -> None:
    game = evaluated_game(name, {})
    player = make_agent("heuristic", game)
    state = positions(game, player, 30, seed=4)
    assert len(state) == 30
    assert (game.legal(state).sum(axis=1) > 1).all()
    assert len(np.unique(state.move)) > 5
    again = positions(game, player, 30, seed=4)
    assert (game.observe(state, state.seat) == game.observe(again, again.seat)).all()


def test_timings_stand_by_themselves_and_are_not_taken_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    played(tmp_path, RUNGS[:2])
    without = file_of(tmp_path)
    played(tmp_path, RUNGS[:2], seconds=0.01)
    assert file_of(tmp_path) == without
    path = tmp_path / f"{GAME}{TIMINGS}"
    timed = json.loads(path.read_text(encoding="utf-8"))["rungs"]
    assert [entry["agent"] for entry in timed] == RUNGS[:2]
    for entry in timed:
        assert 0 < entry["ms_together"] < entry["ms_alone"]
        assert entry["commit"] == "a" * 40 and entry["machine"]["processor"]
    before = path.read_bytes()
    monkeypatch.setattr(ladder, "commit", lambda: "b" * 40)
    played(tmp_path, RUNGS[:2], seconds=0.01)
    assert path.read_bytes() == before
    assert "Timed on one core of" in report(stored_ladders(tmp_path))


# ------------------------------------------------------------------------------------------------------------ report


def test_ties_and_losses_are_named(tmp_path: Path) -> None:
    # The same player under two names cannot be told apart; a poor one above a good one is called so.
    found = played(tmp_path, ["random", "greedy", "players:Highest", "players:Highest:"])
    assert [verdict(pair) for pair in found["pairs"]] == ["above", "below", "tie"]
    text = report(stored_ladders(tmp_path))
    assert "**`players:Highest` loses to `greedy`**, the rung below it." in text
    assert "Tie: `players:Highest:` and `players:Highest` cannot be told apart by these deals." in text
    assert "`greedy` loses" not in text
    assert text.count("Tie:") == 1


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(0.1, 0.2, "above"), (0.0, 0.2, "tie"), (-0.1, 0.2, "tie"), (-0.2, 0.0, "tie"), (-0.2, -0.1, "below")],
)
def test_an_interval_that_holds_zero_is_a_tie(low: float, high: float, expected: str) -> None:
    assert verdict({"difference": {"mean": (low + high) / 2, "ci95": [low, high]}}) == expected


# ----------------------------------------------------------------------------------------------------------- command


def test_the_command_collects_all_ladders(tmp_path: Path) -> None:
    command = ladder.typer.Typer()
    command.command()(ladder.main)
    usual = ["--deals", "2", "--seconds", "0", "--out", str(tmp_path), "--rung", "random", "--rung", "greedy"]
    for arguments in (
        [GAME],
        [GAME, "--rule", "reveal_bids=after_bidding"],
        ["slippery_sam", "--rule", "num_players=3"],
    ):
        result = CliRunner().invoke(command, [*arguments, *usual])
        assert result.exit_code == 0, result.output
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {
        REPORT,
        f"{GAME}.json",
        f"{GAME}_reveal_bids=after_bidding.json",
        "slippery_sam_num_players=3.json",
    }
    text = (tmp_path / REPORT).read_text(encoding="utf-8")
    assert [line for line in text.splitlines() if line.startswith("## ")] == [
        "## Slippery Slope, 3 players",
        "## Slippery Slope, 3 players",
        "## Slippery Sam, 3 players",
    ]
    for arguments, reason in (
        (["slippery_slop"], "unknown game 'slippery_slop'"),
        ([GAME, "--rule", "fee"], "--rule expected key=value, got 'fee'"),
        ([GAME, "--rung", "randm"], "unknown agent 'randm'"),
    ):
        result = CliRunner().invoke(command, [*arguments, *usual])
        assert (result.exit_code, reason in result.output) == (2, True)
