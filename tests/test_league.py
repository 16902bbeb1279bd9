"""Leagues: line-ups, results that are never lost nor played twice, standings, reports."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner, Result

from slopes_agents import make_agent
from slopes_agents.play import AgentFault
from slopes_benchmarks import league, league_report, standings, strength
from slopes_benchmarks import ratings as rating_model
from slopes_benchmarks.duplicate import CHUNK_DEALS, evaluated_game
from slopes_benchmarks.league import RESULTS, League, Stopped, play_part, run
from slopes_benchmarks.league_report import write_report
from slopes_benchmarks.lineups import MOST_TOGETHER, groups, tables
from slopes_benchmarks.markdown import between
from slopes_benchmarks.ratings import alpha_rank, ratings, strengths
from slopes_benchmarks.standings import Played, wins
from slopes_envs import InformationSet, UnknownName, cli, game_names, make_game, match_seed

GAME = "slippery_slope"
ROOT = Path(__file__).parents[1]
AGENTS = ("random", "players:Lowest", "players:Modest")
PNG = b"\x89PNG\r\n"


@pytest.fixture(autouse=True)
def one_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Others may edit the checkout while the tests run; and git takes its time."""
    monkeypatch.setattr(league, "commit", lambda: "0" * 40)


@pytest.fixture(autouse=True)
def small_and_quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(league, "CHUNK_DEALS", 4)
    monkeypatch.setattr(rating_model, "RESAMPLES", 99)


def small(agents: tuple[str, ...] = AGENTS, deals: int = 10, seed: int = 1, game: str = GAME) -> League:
    return League(evaluated_game(game, {}), agents, deals, seed)


def file_of(plan: League, folder: Path, **options: Any) -> bytes:
    run(plan, folder, **options)
    return (folder / RESULTS).read_bytes()


# ------------------------------------------------------------------------------------------------------------ line-ups


def test_groups_are_all_sets_of_two_to_four() -> None:
    assert groups("abc", 2) == [("a", "b"), ("a", "c"), ("b", "c")]
    assert [len(groups("abcdef", sides)) for sides in (2, 3, 4, 9)] == [15, 15 + 20, 15 + 20 + 15, 15 + 20 + 15]
    assert groups("ba", 9) == [("a", "b")]


def test_a_new_agent_leaves_the_groups_of_the_others() -> None:
    before, after = groups(["b", "d", "e"], 4), groups(["e", "a", "b", "d"], 4)
    assert [group for group in after if "a" not in group] == before


@given(st.data(), st.integers(2, 10), st.integers(0, 2**64 - 1))
@settings(max_examples=60, deadline=None)
def test_every_agent_sits_in_every_seat_of_every_deal_once(data: st.DataObject, sides: int, seed: int) -> None:
    size = data.draw(st.integers(2, min(sides, MOST_TOGETHER)))
    seated = tables(size, sides, seed, np.arange(5))
    assert seated.shape == (5, size, sides)
    assert (np.sort(seated, axis=1) == np.arange(size)[:, None]).all()  # by seat: each of the group at one table
    for table in seated.reshape(-1, sides):
        counts = Counter(table.tolist())
        assert {counts[agent] for agent in range(size)} <= {sides // size, -(-sides // size)}
    assert np.array_equal(tables(size, sides, seed, np.arange(3, 5)), seated[3:])  # no deal depends on the others


@pytest.mark.parametrize(
    ("size", "sides", "ways"), [(2, 2, 2), (2, 3, 6), (3, 3, 6), (2, 4, 6), (3, 4, 36), (4, 4, 24)]
)
def test_all_orders_of_a_table_are_equally_frequent(size: int, sides: int, ways: int) -> None:
    seated = tables(size, sides, 1, np.arange(3000))
    counts = Counter(map(tuple, seated.reshape(-1, sides).tolist()))
    assert len(counts) == ways
    expected = 3000 * size / ways
    assert max(abs(count - expected) for count in counts.values()) < 6 * np.sqrt(expected)


def test_teams_play_both_sides() -> None:
    plan = small(game="sluff")
    assert {len(group) for group in plan.groups} == {2}
    for deal in plan.seating(2, np.arange(4)).tolist():
        assert sorted(deal) == [[0, 1, 0, 1], [1, 0, 1, 0]]


# ------------------------------------------------------------------------------------------------------------- playing


def test_results_are_the_games_played_one_by_one() -> None:
    plan = small(("players:Middle", "players:Lowest", "players:Highest"))
    players = {spec: make_agent(spec, plan.game) for spec in plan.agents}
    for group in (plan.groups[1], plan.groups[-1]):
        for result in play_part(plan, league.Part(group, (2, 7))):
            assert result["agents"] == list(group)
            for seats, scores in zip(result["seats"], result["scores"], strict=True):
                state = plan.game.new(match_seed(plan.seed, result["deal"]))
                while state.seat[0] >= 0:
                    player = players[group[seats[state.seat[0]]]]
                    plan.game.step(state, player.act(InformationSet(plan.game, state)))
                assert state.scores[0].tolist() == scores


@pytest.mark.parametrize("game", game_names())
def test_batches_do_not_bear_on_the_file(game: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = small(("random", "players:Lowest", "players:Middle"), deals=2, game=game)
    found = []
    for chunk in (2, 1):
        monkeypatch.setattr(league, "CHUNK_DEALS", chunk)
        found.append(file_of(plan, tmp_path / str(chunk)))
    assert found[0] == found[1]
    assert found[0].count(b"\n") == 1 + plan.size


def test_workers_do_not_bear_on_the_file(tmp_path: Path) -> None:
    assert file_of(small(), tmp_path / "1") == file_of(small(), tmp_path / "2", workers=2)


def test_the_order_of_agents_does_not_bear_on_the_file(tmp_path: Path) -> None:
    assert file_of(small(), tmp_path / "a") == file_of(small(AGENTS[::-1]), tmp_path / "b")


def interrupt_after(deals: int) -> Any:
    def progress(done: int) -> None:
        if done >= deals:
            os.kill(os.getpid(), signal.SIGINT)

    return progress


def watch_parts(monkeypatch: pytest.MonkeyPatch) -> list[league.Part]:
    """The parts that are played from here on."""
    played: list[league.Part] = []

    def watched(plan: League, part: league.Part) -> Any:
        played.append(part)
        return play_part(plan, part)

    monkeypatch.setattr(league, "play_part", watched)
    return played


def deals_in(parts: list[league.Part]) -> int:
    return sum(len(part.deals) for part in parts)


def test_a_stopped_league_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = small()
    expected = file_of(plan, tmp_path / "whole")
    with pytest.raises(Stopped) as stopped:
        run(plan, tmp_path / "stopped", progress=interrupt_after(16))
    assert stopped.value.done == 16
    assert (tmp_path / "stopped" / RESULTS).read_bytes().count(b"\n") == 1 + 16
    played = watch_parts(monkeypatch)
    seen: list[int] = []
    assert file_of(plan, tmp_path / "stopped", progress=seen.append) == expected
    assert seen[0] == 16
    assert deals_in(played) == plan.size - 16


def test_a_crash_loses_nothing_that_was_finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = small()
    whole = file_of(plan, tmp_path)
    lines = whole.splitlines(keepends=True)
    (tmp_path / RESULTS).write_bytes(b"".join(lines[:20]) + lines[20][:30])  # the power failed in mid-line
    played = watch_parts(monkeypatch)
    assert file_of(plan, tmp_path) == whole
    assert deals_in(played) == plan.size - 19


def test_a_league_that_is_finished_is_not_played_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = file_of(small(), tmp_path)
    played = watch_parts(monkeypatch)
    assert file_of(small(), tmp_path) == before
    assert not played


def test_a_new_agent_plays_alone_what_is_new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = file_of(small(), tmp_path / "grown")
    four = small((*AGENTS, "players:Highest"))
    expected = file_of(four, tmp_path / "whole")
    played = watch_parts(monkeypatch)
    assert file_of(four, tmp_path / "grown") == expected
    assert played
    assert all("players:Highest" in part.group for part in played)
    assert set(before.splitlines()) < set(expected.splitlines())


def test_more_deals_are_added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file_of(small(deals=10), tmp_path / "grown")
    expected = file_of(small(deals=15), tmp_path / "whole")
    played = watch_parts(monkeypatch)
    assert file_of(small(deals=15), tmp_path / "grown") == expected
    assert {deal for part in played for deal in part.deals} == set(range(10, 15))
    results = run(small(AGENTS[:2], deals=5), tmp_path / "grown")  # a smaller league in the same folder
    assert len(results) == 5
    assert (tmp_path / "grown" / RESULTS).read_bytes() == expected


def test_results_of_another_league_are_refused(tmp_path: Path) -> None:
    before = file_of(small(), tmp_path)
    for other, said in (
        (small(seed=2), "belongs to other work: seed expected 2, got 1"),
        (small(game="sluff"), "belongs to other work: game expected 'sluff'"),
        (League(make_game(GAME), AGENTS, 4, 1), "belongs to other work: rules expected"),
    ):
        with pytest.raises(ValueError, match=said):
            run(other, tmp_path)
    assert (tmp_path / RESULTS).read_bytes() == before


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda line: line, "line 3: deal 0 of .* expected once, got it again"),
        (lambda line: line.replace('"deal": 0', '"deal": 99'), "deal 99 of .* expected seats"),
        (lambda line: line.replace('"deal": 0', '"deal": "0"'), "line 3: expected a result of a league"),
        (lambda line: line.replace('"seats"', '"chairs"'), "line 3: expected a result of a league"),
        (lambda line: "[1]\n", "line 3: expected a result of a league"),
        (lambda line: "what?\n", "expected finished pieces as JSON Lines"),
    ],
)
def test_what_is_no_result_is_refused(change: Any, said: str, tmp_path: Path) -> None:
    run(small(), tmp_path)
    lines = (tmp_path / RESULTS).read_text().splitlines(keepends=True)
    (tmp_path / RESULTS).write_text("".join([*lines[:2], change(lines[1]), *lines[2:]]))
    with pytest.raises(ValueError, match=said):
        run(small(), tmp_path)


@pytest.mark.parametrize(
    ("agents", "deals", "said"),
    [
        (("random",), 4, "agents of a league expected at least 2, got 1"),
        (("random", "players:Lowest", "random"), 4, "expected once each, got 'random' twice"),
        (("random", "players:Lowest"), 1, "deals expected at least 2"),
        (("random", "players:Lwest"), 4, "unknown agent 'players:Lwest'"),
    ],
)
def test_a_league_is_checked_before_it_begins(agents: tuple[str, ...], deals: int, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        small(agents, deals)


@pytest.mark.parametrize("workers", [1, 2])
def test_an_agent_at_fault_is_named_and_the_rest_kept(workers: int, tmp_path: Path) -> None:
    with pytest.raises(AgentFault, match="players:Cheat for slippery_slope"):
        run(small(("players:Cheat", "random")), tmp_path, workers=workers)
    assert (tmp_path / RESULTS).exists()


def test_agents_have_chance_of_their_own() -> None:
    salts = league._salts(("a", "b", "c"))
    assert len(np.unique(salts)) == salts.size
    assert not set(salts.ravel().tolist()) & set(league._salts(("a", "b")).ravel().tolist())


# ----------------------------------------------------------------------------------------------------------- standings


def played(members: list[int], seats: list[Any], scores: list[Any]) -> Played:
    return Played(members, np.array(seats), np.array(scores))


def test_who_finished_above_whom() -> None:
    group = played([0, 2], [[[0, 2, 0], [2, 0, 2]]], [[[5, 3, 1], [4, 4, 0]]])
    found = wins([group], ((0,), (1,), (2,)), 3)
    assert found.tolist() == [[[0, 0, 1 + 0.5 + 1], [0, 0, 0], [1 + 0.5, 0, 0]]]
    pair = played([0, 1], [[[0, 1, 0, 1], [1, 0, 1, 0]]], [[[7, 3, 7, 3], [1, 2, 1, 2]]])
    assert wins([pair], ((0, 2), (1, 3)), 2).tolist() == [[[0, 2], [0, 0]]]


def test_differences_are_means_over_seats_tables_and_groups() -> None:
    pair = played([0, 1], [[[0, 1, 0], [1, 0, 1]]], [[[6, 0, 3], [3, 3, 0]]])
    other = played([0, 2], [[[0, 2, 2], [2, 0, 0]]], [[[1, 1, 1], [1, 1, 1]]])
    three = played([0, 1, 2], [[[0, 1, 2], [1, 2, 0], [2, 0, 1]]], [[[9, 0, 0], [0, 0, 9], [0, 9, 0]]])
    scores = [standings._mean_scores(group) for group in (pair, other, three)]
    assert {k: mean.tolist() for k, mean in scores[0].items()} == {0: [4.0], 1: [1.0]}
    found = standings._differences(3, scores)[:, :, 0]
    assert found.tolist() == [[0, (3 + 9) / 2, (0 + 9) / 2], [-6, 0, 0], [-4.5, 0, 0]]


@pytest.mark.parametrize("game", game_names())
def test_standings_of_every_game(game: str, tmp_path: Path) -> None:
    plan = small(("random", "players:Lowest", "players:Middle"), deals=2, game=game)
    found = standings.standings(plan, run(plan, tmp_path), "the command")
    write_report(tmp_path, found)
    assert json.loads((tmp_path / league_report.STANDINGS).read_text()) == found
    assert found["tables"] == sum(2 * len(group) for group in plan.groups)
    means = [entry["rating"]["mean"] for entry in found["agents"]]
    assert means == sorted(means, reverse=True)
    assert sum(means) == pytest.approx(0, abs=1e-6)
    for entry in found["agents"]:
        cells = found["cross_table"][entry["agent"]]
        assert entry["difference"]["mean"] == pytest.approx(np.mean([cell["mean"] for cell in cells.values()]))
        for other, cell in cells.items():
            assert cell["mean"] == pytest.approx(-found["cross_table"][other][entry["agent"]]["mean"])
            assert cell["ci95"][0] <= cell["mean"] <= cell["ci95"][1]
    assert found["played_by"] == {"0" * 40: plan.size}
    report = (tmp_path / league_report.REPORT).read_text()
    for expected in ("the command", "| random |", league_report.RATINGS, league_report.CROSS_TABLE, "0" * 40):
        assert expected in report
    for picture in (league_report.RATINGS, league_report.CROSS_TABLE):
        assert (tmp_path / picture).read_bytes().startswith(PNG)
    assert not list(tmp_path.glob("*.new"))


def test_the_better_agent_stands_above(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(league, "CHUNK_DEALS", 250)
    plan = small(("players:Modest", "random", "players:Highest"), deals=120)
    found = standings.standings(plan, run(plan, tmp_path))
    assert [entry["agent"] for entry in found["agents"]] == ["players:Modest", "random", "players:Highest"]
    for better, worse in zip(found["agents"], found["agents"][1:], strict=False):
        assert better["rating"]["ci95"][0] > worse["rating"]["ci95"][1]
        assert found["cross_table"][better["agent"]][worse["agent"]]["ci95"][0] > 0


# ------------------------------------------------------------------------------------------------------------- ratings


def games_won(rng: np.random.Generator, points: list[float], deals: int, games: int) -> Any:
    """Wins of agents of known strength."""
    count = len(points)
    found = np.zeros((deals, count, count))
    for a in range(count):
        for b in range(a):
            chance = 1 / (1 + 10 ** ((points[b] - points[a]) / 400))
            found[:, a, b] = rng.binomial(games, chance, size=deals)
            found[:, b, a] = games - found[:, a, b]
    return found


def test_ratings_find_known_strengths_and_their_intervals_hold_them() -> None:
    rng, points = np.random.default_rng(1), [200.0, 50.0, -250.0]
    held = []
    for _ in range(40):
        found = ratings(games_won(rng, points, deals=60, games=10))
        held += [low <= truth <= high for truth, (_, low, high) in zip(points, found, strict=True)]
        assert [mean for mean, _, _ in found] == pytest.approx(points, abs=60)
    assert 105 <= sum(held) <= 119  # of 120


def test_ratings_of_equals_and_of_one_that_always_wins() -> None:
    assert strengths(np.array([[0, 5.0], [5, 0]])) == pytest.approx([0, 0], abs=1e-6)
    always = strengths(np.array([[0, 500.0], [0, 0]]))
    assert 400 < always[0] < 4000
    assert strengths(np.array([[0, 10.0, 10], [0, 0, 10], [0, 0, 0]]))[1] == pytest.approx(0, abs=1e-6)


def test_ratings_are_the_same_every_time() -> None:
    results = games_won(np.random.default_rng(2), [30.0, -30.0], deals=20, games=3)
    assert ratings(results) == ratings(results)
    assert ratings(results)[0].mean == pytest.approx(ratings(results[::-1])[0].mean)


# ---------------------------------------------------------------------------------------------------------- alpha-rank


def test_alpha_rank_without_openspiel_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "open_spiel", None)
    assert alpha_rank(np.zeros((2, 2))) is None
    plan = small(deals=2)
    found = standings.standings(plan, run(plan, tmp_path))
    assert {entry["alpha_rank"] for entry in found["agents"]} == {None}
    assert "pip install open_spiel" in league_report.report(found)


def test_alpha_rank_is_openspiels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def compute(payoffs: Any, **options: Any) -> Any:
        asked.append((payoffs, options))
        return None, None, np.array([0.7, 0.2, 0.1]), 3, None

    for name in ("open_spiel", "open_spiel.python", "open_spiel.python.egt"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setattr(
        sys.modules["open_spiel.python.egt"], "alpharank", SimpleNamespace(compute=compute), raising=False
    )
    plan = small(deals=2)
    found = standings.standings(plan, run(plan, tmp_path))
    assert {entry["agent"]: entry["alpha_rank"] for entry in found["agents"]} == dict(
        zip(AGENTS, (0.7, 0.2, 0.1), strict=True)
    )
    (((payoffs,), options),) = asked
    assert options["use_inf_alpha"]
    for a, one in enumerate(AGENTS):
        for b, other in enumerate(AGENTS):
            assert payoffs[a, b] == pytest.approx(0 if a == b else found["cross_table"][one][other]["mean"])
    assert "alpha-rank |" in league_report.report(found)


# ------------------------------------------------------------------------------------------------------------- command


def slopes(*arguments: str | Path) -> Result:
    result = CliRunner().invoke(cli.app, [str(argument) for argument in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception  # a traceback is never the answer
    return result


LEAGUE = ["league", GAME, "--agents", "random,players:Lowest", "--deals", "6", "--seed", "1"]


def test_league_command_leaves_everything_in_its_folder(tmp_path: Path) -> None:
    out = tmp_path / "new" / "folder"
    done = slopes(*LEAGUE, "--rule", "target_score=9", "--out", out, "--json", tmp_path / "copy.json")
    assert done.exit_code == 0
    assert {path.name for path in out.iterdir()} == {
        RESULTS,
        league_report.STANDINGS,
        league_report.REPORT,
        league_report.RATINGS,
        league_report.CROSS_TABLE,
    }
    found = json.loads((out / league_report.STANDINGS).read_text())
    assert found == json.loads((tmp_path / "copy.json").read_text())
    assert (found["rules"]["match"], found["rules"]["target_score"]) == ("hand", 9)
    assert (
        found["command"] == f"slopes league {GAME} --agents random,players:Lowest --deals 6 --seed 1 --out {out} "
        "--rule target_score=9"
    )
    lines = done.stdout.splitlines()
    assert lines[0] == f"# {GAME}: 6 deals, 12 tables, seed 1"
    assert lines[1].startswith("agent\trating\tpoints a hand above the others")
    alone = slopes(*LEAGUE, "--rule", "target_score=9", "--out", out, "--json", "-")
    assert json.loads(alone.stdout) == found


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--agents", "random"], "agents of a league expected at least 2, got 1"),
        (["--agents", "random,random"], "got 'random' twice"),
        (["--agents", "random,randon"], "unknown agent 'randon'; did you mean 'random'?"),
        (["--deals", "1"], "deals expected at least 2"),
        (["--rule", "target_scor=3"], "did you mean 'target_score'?"),
        (["--agents", "random,players:Cheat"], "agent players:Cheat for slippery_slope"),
        (["--json", "no/such/folder/x.json"], "there is no folder no/such/folder"),
    ],
)
def test_league_command_refuses_what_does_not_fit(arguments: list[str], said: str, tmp_path: Path) -> None:
    done = slopes(*LEAGUE, "--out", tmp_path / "out", *arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert said in done.stderr


def test_league_command_refuses_a_folder_of_another_league(tmp_path: Path) -> None:
    assert slopes(*LEAGUE, "--out", tmp_path).exit_code == 0
    done = slopes(*LEAGUE, "--out", tmp_path, "--seed", "2")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "belongs to other work: seed expected 2, got 1" in done.stderr
    file = tmp_path / "file"
    file.write_text("")
    assert str(file) in slopes(*LEAGUE, "--out", file).stderr


def test_ctrl_c_on_the_command_keeps_what_was_finished(tmp_path: Path) -> None:
    arguments = ["league", GAME, "--agents", "players:Sleepy,players:Lowest", "--deals", "1000", "--seed", "1"]
    command = [sys.executable, "-m", "slopes_envs.cli", *arguments, "--out", str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "tests")}
    results = tmp_path / RESULTS
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True
    ) as running:
        while running.poll() is None and not (results.exists() and results.read_bytes().count(b"\n") >= 2):
            time.sleep(0.02)
        os.killpg(running.pid, signal.SIGINT)  # as a terminal does
        stdout, stderr = running.communicate(timeout=60)
    assert (running.returncode, stdout) == (130, "")
    finished = results.read_bytes().count(b"\n") - 1
    assert CHUNK_DEALS <= finished < 1000
    assert f"interrupted: {finished} of 1000 deals of groups were finished, kept in {tmp_path}" in stderr
    assert "Traceback" not in stderr


# -------------------------------------------------------------------------------------------------------------- README


def test_the_readmes_table_is_that_of_the_stored_leagues() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    _, inside, _ = between(readme, strength.BEGIN, strength.END)
    assert inside.strip() == strength.strength_table(strength.stored_leagues(ROOT / strength.LEAGUES))


def test_the_readmes_table_is_renewed(tmp_path: Path) -> None:
    readme = tmp_path / "README.md"
    readme.write_text(f"before\n\n{strength.BEGIN}\n{strength.END}\n\nafter\n")
    for game in ("sluff", GAME):
        plan = small(("random", "players:Lowest"), deals=2, game=game)
        folder = tmp_path / "leagues" / game
        write_report(folder, standings.standings(plan, run(plan, folder), f"slopes league {game} …"))
    for _ in range(2):
        strength.main(readme, tmp_path / "leagues")
        before, inside, after = between(readme.read_text(), strength.BEGIN, strength.END)
        assert (before, after) == ("before\n\n", "\n\nafter\n")
        assert inside.strip() == strength.strength_table(strength.stored_leagues(tmp_path / "leagues"))
    rows = [line for line in inside.splitlines() if line.startswith("| S")]
    assert [row.split(" | ")[0] for row in rows] == ["| Slippery Slope, 3 players"] * 2 + ["| Sluff, 4 players"] * 2
    assert f"- `slopes league {GAME} …` (version" in inside
    strength.main(readme, tmp_path / "none")
    assert readme.read_text() == f"before\n\n{strength.BEGIN}\n{strength.END}\n\nafter\n"


@pytest.mark.parametrize(
    "text", ["", strength.BEGIN, f"{strength.END}{strength.BEGIN}", strength.BEGIN + strength.END * 2]
)
def test_a_readme_without_the_marks_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected the marks"):
        strength.renewed(text, [])


def test_the_games_name_must_be_known() -> None:
    with pytest.raises(UnknownName):
        small(game="sluf")
