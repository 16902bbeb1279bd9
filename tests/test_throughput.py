"""Throughput: what is counted, how turns are taken, and what is made of the figures.  Nothing here depends on speed."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console
from scipy.stats import chisquare
from typer.testing import CliRunner

from slopes_benchmarks import layers, machine, peers, processes, regression, throughput, throughput_report, timing
from slopes_benchmarks.layers import AEC, BATCHED, CORE, LAYERS, OBSERVED, SB3, VECTOR, Core, MaskedChoice, Table
from slopes_benchmarks.throughput import Interrupted, Plan, run
from slopes_benchmarks.timing import DECISIONS, GAMES, LENGTH, MEMORY, Speed, Subject
from slopes_envs import Game, RulesError, derive, game_names, make_game, match_seed
from slopes_envs.cli import app
from slopes_envs.vector import TurnVectorEnv

ROOT = Path(__file__).parents[1]
BEGIN, END = throughput_report.README_BEGIN, throughput_report.README_END
FIRST = game_names()[0]
LIKELY = 1e-4
ROW = ["game", "rules", "layer", "batch", "median", "low", "high", "unit"]

every_game = pytest.mark.parametrize("name", game_names())


@pytest.fixture(autouse=True)
def few_matches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Enough to see that they are staggered."""
    monkeypatch.setattr(layers, "MATCHES", 24)
    monkeypatch.setattr(throughput, "MATCHES", 24)


def hand_table(name: str) -> Table:
    """A game whose matches are short."""
    return Table.of(name, {"match": "hand"}, seed=5)


def tiny_plan(**changes: Any) -> Plan:
    given = {
        "games": (FIRST,),
        "rules": {FIRST: {"match": "hand"}},
        "batches": (1, 40),
        "runs": 2,
        "seconds": 0.002,
        **changes,
    }
    return Plan(**given)


@pytest.fixture(scope="module")
def result() -> dict[str, Any]:
    """A real result of all layers, with whatever peers there are left out."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layers, "MATCHES", 24)
        patch.setattr(throughput, "MATCHES", 24)
        return run(tiny_plan())


# -- what is played and counted --------------------------------------------------------------------------------------


@every_game
@pytest.mark.parametrize("layer", LAYERS)
def test_decisions_are_counted_right(monkeypatch: pytest.MonkeyPatch, name: str, layer: str) -> None:
    assert layers.available_layers()[layer] is None, "the tests have everything that layers need"
    table = hand_table(name)
    table.staggered(1)
    taken = 0
    step = Game.step

    def counting_step(self: Any, state: Any, *args: Any, **kwargs: Any) -> Any:
        nonlocal taken
        taken += int((state.seat >= 0).sum())
        return step(self, state, *args, **kwargs)

    monkeypatch.setattr(Game, "step", counting_step)
    subject = layers.subject(table, layer, 40)
    taken = 0  # what was played to get there is not counted
    assert subject.batch == (40 if layer in BATCHED else 1)
    assert sum(subject.play() for _ in range(60)) == taken > 0


@every_game
def test_batches_are_staggered_and_go_on_by_themselves(name: str) -> None:
    table = hand_table(name)
    state = table.staggered(100)
    assert state.seat.min() >= 0
    assert len(set(state.move.tolist())) > 5
    assert (state.move[:24] < table.lengths).all()
    assert len(set(state.seed.tolist())) == 100  # so that copies of one match part at the next deal
    fresh = hand_table(name).staggered(100)
    assert all(np.array_equal(getattr(state, field), getattr(fresh, field)) for field in ("move", "seat", "scores"))


@every_game
def test_lengths_are_those_of_whole_matches(name: str) -> None:
    table = hand_table(name)
    game = table.game
    state = game.new(match_seed(table.seed, np.arange(24), 0))
    keys = derive(table.seed, np.arange(24))
    lengths = np.zeros(24, dtype=np.int64)
    while (state.seat >= 0).any():
        lengths += state.seat >= 0
        keys += np.uint64(0x9E3779B97F4A7C15)
        game.step(state, game.sample_legal(state, keys))
    assert np.array_equal(table.lengths, lengths)


@pytest.mark.parametrize("observed", [False, True])
def test_the_core_restarts_what_is_over(observed: bool) -> None:
    core = Core(hand_table(FIRST), 30, observed=observed)
    seeds = core.state.seed.copy()
    for _ in range(200):
        assert core.play() == 30
        assert core.state.seat.min() >= 0
    assert (core.state.seed != seeds).all()
    assert len(set(core.state.seed.tolist())) == 30


def test_views_begin_with_the_staggered_matches() -> None:
    table = hand_table(FIRST)
    state = table.staggered(20)
    env = TurnVectorEnv(layers.beginning_with(table.game, state.copy()), 20)
    observations, infos = env.reset(seed=3)
    assert np.array_equal(observations, table.game.observe(state, state.seat))
    assert np.array_equal(infos["action_mask"], table.game.legal(state))
    env.reset(seed=3)
    assert np.array_equal(env.match_seeds, match_seed(3, np.arange(20), 0))  # and then with matches of their own


@pytest.mark.parametrize("dtype", [np.int8, np.bool_])
@pytest.mark.parametrize("batch", [1, layers.FEW, layers.FEW + 1, 300])
def test_masked_choice_is_uniform(batch: int, dtype: Any) -> None:
    legal = np.zeros((batch, 70), dtype)
    allowed = [[row % 70, (row + 3) % 70, (row + 66) % 70] for row in range(batch)]
    for row, actions in enumerate(allowed):
        legal[row, actions] = 1
    choose = MaskedChoice(1, batch)
    counts = np.zeros(3, dtype=np.int64)
    for _ in range(3000 // batch + 2):
        for row, action in enumerate(choose(legal)):
            counts[allowed[row].index(action)] += 1
    assert chisquare(counts).pvalue > LIKELY


@every_game
def test_player_counts_are_the_options(name: str) -> None:
    every, usual = layers.player_counts(name), layers.usual_player_counts(name)
    assert [make_game(name, num_players=count).num_players for count in every] == every
    assert set(usual) <= set(every)
    assert {min(every), max(every), make_game(name).num_players} <= set(usual)
    with pytest.raises(RulesError):
        make_game(name, num_players=max(every) + 1)


def test_memory_is_that_of_the_arrays() -> None:
    state = make_game(FIRST).new(np.arange(10, dtype=np.uint64))
    alone = make_game(FIRST).new(np.arange(1, dtype=np.uint64))
    assert layers.bytes_a_game(state) == layers.bytes_a_game(alone) >= state.hands.itemsize * state.scores.shape[1]


# -- turns -----------------------------------------------------------------------------------------------------------


def test_speed_is_decisions_over_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0

    def play() -> int:
        nonlocal now
        now += 0.25
        return 30

    monkeypatch.setattr(timing.time, "perf_counter", lambda: now)
    assert timing.speed(play, 1.0) == 120.0
    assert timing.speed(play, 0.9) == 120.0  # on to the end of a play
    assert now == 102.0


def test_everything_takes_its_turn_in_every_round(monkeypatch: pytest.MonkeyPatch) -> None:
    turns: list[str] = []
    names = [f"subject {number}" for number in range(8)]
    subjects = [Subject(name, {}, CORE, 1, lambda name=name: turns.append(name) or 1) for name in names]
    monkeypatch.setattr(timing, "speed", lambda play, seconds: play() * seconds)
    done: list[int] = []
    found = list(timing.rounds(subjects, 3, 0.5, 1, done.append))
    assert turns[:8] == names  # nothing is made in measured time
    orders = [turns[start : start + 8] for start in range(8, 32, 8)]
    assert [sorted(order) for order in orders] == [names] * 3
    assert len({tuple(order) for order in orders}) == 3
    assert found == [[0.5] * 8] * 3
    assert done == list(range(1, 25))


def test_one_core_and_back_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.delenv("XLA_FLAGS", raising=False)
    before = machine.cores()
    with machine.one_core() as core:
        assert os.environ["OMP_NUM_THREADS"] == "1"
        if hasattr(os, "sched_setaffinity"):
            assert machine.cores() == [core] == before[-1:]
        else:
            assert core is None
    assert machine.cores() == before
    assert os.environ["OMP_NUM_THREADS"] == "7"
    assert "XLA_FLAGS" not in os.environ


def test_calibration_is_the_same_work_every_time() -> None:
    once, again = machine.Calibration(), machine.Calibration()
    assert [once.play() for _ in range(3)] == [again.play() for _ in range(3)] == [1, 1, 1]
    assert np.array_equal(once._long, again._long)


def test_processes_are_measured_at_once() -> None:
    most = len(machine.cores())
    with pytest.raises(ValueError, match=f"processes: expected 2 to {most}"):
        processes.gain(hand_table(FIRST), 4, most + 1, 1, 0.001)
    if most < 2:
        return
    gain = processes.gain(hand_table(FIRST), 4, 2, 2, 0.01)
    assert 0 < gain.low <= gain.median <= gain.high


# -- the plan and its result -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"games": ("poker",)}, "unknown game 'poker'"),
        ({"games": ()}, "games: expected one or more"),
        ({"layers": ("cores",)}, "did you mean 'core'"),
        ({"layers": (CORE, CORE)}, "layers: expected one or more, each once"),
        ({"batches": (0,)}, "batch: expected at least 1, got 0"),
        ({"runs": 0}, "runs: expected at least 1, got 0"),
        ({"seconds": 0.0}, "seconds: expected more than 0"),
        ({"seconds": float("nan")}, "seconds: expected more than 0"),
        ({"workers": 1000}, "processes: expected 2 to"),
        ({"rules": {FIRST: {"colour": 1}}}, "unknown option"),
        ({"rules": {FIRST: {"num_players": 99}}}, "num_players expected"),
    ],
)
def test_plans_are_checked(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        tiny_plan(**changes)


def test_a_plan_covers_every_game_and_number_of_players() -> None:
    plan = Plan()
    found = [(table.name, table.game.num_players) for table in plan.tables()]
    assert found == [(name, count) for name in game_names() for count in layers.usual_player_counts(name)]
    rest = [(table.name, table.game.num_players) for table in plan.tables(usual=False)]
    every = {(name, count) for name in game_names() for count in layers.player_counts(name)}
    assert {*found, *rest} == every
    assert not {*found} & {*rest}
    assert all(table.game.rules.match == "game" for table in plan.tables())


def test_given_players_are_measured_alone() -> None:
    count = layers.player_counts(FIRST)[-1]
    plan = tiny_plan(rules={FIRST: {"num_players": count}})
    assert [table.game.num_players for table in plan.tables()] == [count]
    assert plan.tables(usual=False) == []


def test_the_command_is_the_plans() -> None:
    assert Plan().command() == "slopes throughput --runs 5 --seconds 0.5 --seed 0"
    command = tiny_plan(layers=(CORE, AEC), peers=True).command()
    batches = "--batch 1 --batch 40 --layer core --layer aec"
    named = "" if game_names() == [FIRST] else f" {FIRST}"
    expected = f"slopes throughput{named} --peers {batches} --rule match=hand --runs 2 --seconds 0.002 --seed 0"
    assert command == expected


def test_a_result_holds_every_row(result: dict[str, Any]) -> None:
    assert {*result} == {
        "machine",
        "versions",
        "commit",
        "command",
        "settings",
        "calibration",
        "rows",
        "ratios",
        "workers",
        "missing",
    }
    assert json.loads(json.dumps(result, allow_nan=False)) == result
    assert result["versions"]["numpy"] == np.__version__
    rows = result["rows"]
    assert all(list(row) == ROW for row in rows)
    assert all(0 < row["low"] <= row["median"] <= row["high"] for row in rows)
    usual = len(layers.usual_player_counts(FIRST))
    speeds = [(row["layer"], row["batch"]) for row in rows if row["unit"] == DECISIONS and row["game"] == FIRST]
    expected = [(layer, batch) for layer in LAYERS for batch in ((1, 40) if layer in BATCHED else (1,))]
    assert sorted(set(speeds)) == sorted(expected)
    assert len(speeds) >= usual * len(expected)
    assert {row["unit"] for row in rows} == {DECISIONS, GAMES, LENGTH, MEMORY}
    assert {row["layer"] for row in rows if row["unit"] == MEMORY} == {CORE, OBSERVED}


def test_games_a_second_follow_from_their_length(result: dict[str, Any]) -> None:
    by_unit = {
        unit: next(row for row in result["rows"] if (row["unit"], row["layer"]) == (unit, CORE))
        for unit in (DECISIONS, GAMES)
    }
    table = Table.of(FIRST, {"match": "hand", "num_players": layers.usual_player_counts(FIRST)[0]}, 0)
    assert by_unit[DECISIONS]["median"] / by_unit[GAMES]["median"] == pytest.approx(table.lengths.mean(), rel=1e-4)


def test_views_are_compared_with_the_core(result: dict[str, Any]) -> None:
    found = {(row["layer"], row["batch"], row["peer"], row["peer_layer"]) for row in result["ratios"]}
    assert found == {(layer, 40, throughput_report.OURSELVES, OBSERVED) for layer in (VECTOR, SB3)}
    assert all(0 < row["low"] <= row["median"] <= row["high"] for row in result["ratios"])


def test_ratios_are_taken_round_by_round() -> None:
    ours = Subject(FIRST, {}, CORE, 40, int)
    like, other_game = Subject("open_spiel/oh_hell", {}, peers.CPP, 1, int), Subject("c/chess", {}, CORE, 1, int)
    unlike = Subject("open_spiel/oh_hell", {}, OBSERVED, 1, int)
    small = Subject(FIRST, {}, CORE, 1, int)
    speeds = [[10.0, 2.0, 1.0, 1.0, 5.0], [30.0, 3.0, 1.0, 1.0, 5.0], [8.0, 4.0, 1.0, 1.0, 5.0]]
    (row,) = throughput._ratios(tiny_plan(), [ours, like, other_game, unlike, small], speeds)
    assert (row["peer"], row["peer_layer"], row["batch"]) == ("open_spiel/oh_hell", peers.CPP, 40)
    assert (row["median"], row["low"], row["high"]) == (5.0, 2.0, 10.0)


def test_ctrl_c_keeps_the_rounds_that_were_finished(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = 0

    def play(self: Any) -> int:
        nonlocal calls
        calls += 1
        if calls == 3:  # once before the first round, once in each
            signal.raise_signal(signal.SIGINT)
        return 1

    monkeypatch.setattr(machine.Calibration, "play", play)
    monkeypatch.setattr(timing, "speed", lambda play, seconds: float(play()))
    with pytest.raises(Interrupted) as stopped:
        run(tiny_plan(layers=(CORE,), batches=(2,), runs=3))
    assert stopped.value.done == 1
    assert stopped.value.result is not None
    assert stopped.value.result["settings"]["runs"] == 1
    calls = 1
    with pytest.raises(Interrupted) as stopped:
        run(tiny_plan(layers=(CORE,), batches=(2,), runs=3))
    assert (stopped.value.result, stopped.value.done) == (None, 0)


def test_a_layer_that_is_not_installed_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layers, "find_spec", lambda name: None)
    found = run(tiny_plan(layers=(CORE, SB3), batches=(2,), runs=1))
    assert found["missing"] == {SB3: "stable_baselines3 is not installed"}
    assert {row["layer"] for row in found["rows"] if row["unit"] == DECISIONS} == {CORE}
    assert "stable_baselines3 is not installed" in throughput_report.markdown(found)


# -- peers -----------------------------------------------------------------------------------------------------------


def test_peers_that_are_not_installed_are_told_and_never_made_up(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.setattr(peers, "import_module", missing)
    found = peers.find(seed=1)
    assert found.subjects == []
    assert {*found.missing} == {"open_spiel", "rlcard", "pettingzoo", "pgx"}
    assert all(reason.startswith("not installed") for reason in found.missing.values())


@pytest.mark.parametrize(("library", "module"), [("open_spiel", "pyspiel"), ("rlcard", "rlcard")])
def test_peers_that_are_installed_are_played(monkeypatch: pytest.MonkeyPatch, library: str, module: str) -> None:
    monkeypatch.setattr(peers, "PEERS", {library: peers.PEERS[library]})
    found = peers.find(seed=1)
    if find_spec(module) is None:
        assert found == ([], {library: found.missing[library]})
        return
    assert found.missing == {}
    assert all(subject.play() > 0 for subject in found.subjects)


def test_a_pettingzoo_environment_is_played_match_after_match() -> None:
    env = layers.subject(hand_table(FIRST), AEC, 1)
    plays = [env.play() for _ in range(400)]
    assert set(plays) == {0, 1}  # agents that are stepped out decide nothing
    assert plays[-1] + sum(plays[:-1]) > 300


# -- the guard -------------------------------------------------------------------------------------------------------


def synthetic(calibration: float, speeds: dict[str, float]) -> dict[str, Any]:
    rows = [
        {"game": game, "rules": {"num_players": 3}, "layer": CORE, "batch": 4096, "median": speed, "unit": DECISIONS}
        for game, speed in speeds.items()
    ]
    return {"calibration": {"median": calibration}, "rows": rows}


def test_slower_is_told_relative_to_the_calibration() -> None:
    stored = synthetic(100.0, {"a": 1000.0, "b": 1000.0, "c": 1000.0, "open_spiel/d": 1000.0})
    now = synthetic(50.0, {"a": 390.0, "b": 410.0, "c": 100.0, "e": 1.0, "open_spiel/d": 1.0})
    found = regression.compare(now, stored)
    assert [(change.row["game"], change.share) for change in found.slower] == [("c", 0.2), ("a", 0.78)]
    assert (found.compared, found.unknown) == (3, 1)
    assert regression.compare(stored, stored).slower == []


def test_other_options_are_not_compared(result: dict[str, Any]) -> None:
    other = json.loads(json.dumps(result))
    for row in other["rows"]:
        row["rules"]["max_hands"] = -1
    found = regression.compare(result, other)
    assert (found.slower, found.compared) == ([], 0)
    assert found.unknown > 0


@pytest.fixture
def by_hand(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, result: dict[str, Any]) -> Callable[..., Any]:
    """``make bench`` with a result that is there already, and stored results that were three times as fast."""
    stored = json.loads(json.dumps(result))
    for row in stored["rows"]:
        row["median"] *= 3
    path = tmp_path / "stored.json"
    path.write_text(json.dumps(stored))
    monkeypatch.setattr(regression, "STORED", path)
    monkeypatch.setattr(throughput, "run", lambda plan, console: result)
    monkeypatch.setattr(throughput_report, "plot", lambda result: b"")
    command = throughput.typer.Typer()
    command.command()(throughput.main)
    return lambda *args: CliRunner().invoke(command, ["--out", str(tmp_path / "out"), *args])


def test_the_guard_fails_only_when_asked_to(by_hand: Callable[..., Any], tmp_path: Path) -> None:
    told = by_hand()
    assert told.exit_code == 0, told.output
    assert "more than 20% below the stored ones" in told.output
    assert f"{FIRST}, {make_game(FIRST).num_players} players, core, B = 40: 0.33 of it" in told.output
    assert (tmp_path / "out" / "throughput.json").exists()
    assert by_hand("--strict").exit_code == 1
    assert by_hand("--readme", str(ROOT / "LICENSE")).exit_code != 0  # which has no marks
    regression.STORED.unlink()
    told = by_hand("--strict")
    assert told.exit_code == 0
    assert "no stored results" in told.output


# -- the report ------------------------------------------------------------------------------------------------------


def test_the_report_has_json_text_and_picture(result: dict[str, Any], tmp_path: Path) -> None:
    files = throughput_report.write_report(result, tmp_path / "new" / "folder")
    assert [path.name for path in files] == ["throughput.json", "throughput.md", "throughput.png"]
    assert json.loads(files[0].read_text()) == result
    text = files[1].read_text()
    assert result["command"] in text
    assert result["machine"]["processor"] in text
    for layer in BATCHED:
        assert f"## Decisions a second by batch: {throughput_report.LAYER_TITLES[layer]}" in text
    assert "## Bytes a game by batch" in text
    assert files[2].read_bytes().startswith(b"\x89PNG")
    assert sorted(path.name for path in files[0].parent.iterdir()) == sorted(path.name for path in files)


def test_every_table_is_whole(result: dict[str, Any]) -> None:
    for table in throughput_report.tables(result):
        assert table.rows
        assert all(len(row) == len(table.columns) for row in table.rows), table.title


def test_cost_of_players_is_relative_to_the_fewest() -> None:
    settings = {"batches": [4096], "scaling_batch": 4096, "layers": [CORE]}
    rows = [
        {"game": "a", "rules": {"num_players": players}, "layer": CORE, "batch": 4096, "unit": DECISIONS}
        | Speed(speed, speed, speed)._asdict()
        for players, speed in ((4, 2e6), (6, 1e6), (8, 4e6))
    ]
    found = throughput_report._players(throughput_report._Rows({"settings": settings, "rows": rows}))
    assert [row[2:] for row in found.rows] == [
        ["500", "1.00", "1.00"],
        ["1,000", "2.00", "1.50"],
        ["250", "0.50", "2.00"],
    ]


@pytest.mark.parametrize(
    ("value", "text"),
    [(3_214_000, "3.21 M"), (45_600, "45.6 k"), (789, "789"), (12.34, "12.3"), (0.0571, "0.057"), (1e7, "10.0 M")],
)
def test_numbers_are_short(value: float, text: str) -> None:
    assert throughput_report.shown_number(value) == text


def test_spread_is_in_the_scale_of_the_median() -> None:
    assert throughput_report.shown_spread({"median": 1.5e6, "low": 9e5, "high": 2e6}) == "1.50 M (0.900..2.00)"
    assert throughput_report.shown_spread({"median": 0.5, "low": 0.25, "high": 2.0}) == "0.500 (0.250..2.00)"


# -- the README ------------------------------------------------------------------------------------------------------


def test_readme_and_stored_results_agree() -> None:
    """The README publishes no speeds but those of the stored results."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    stored = regression.read_stored()
    if stored is None:
        between = readme.partition(BEGIN)[2].partition(END)[0]
        assert between.strip() == ""
    else:
        assert throughput_report.renewed_readme(readme, stored) == readme


def test_the_readme_is_renewed_between_its_marks(result: dict[str, Any], tmp_path: Path) -> None:
    readme = tmp_path / "README.md"
    readme.write_text(f"# Title\n\n{BEGIN}\nold\n{END}\n\nRest.\n")
    throughput_report.renew_readme(readme, result)
    text = readme.read_text()
    assert text.startswith(f"# Title\n\n{BEGIN}\n\n")
    assert text.endswith(f"{END}\n\nRest.\n")
    assert "old" not in text
    assert f"| {FIRST.replace('_', ' ').title()} | {make_game(FIRST).num_players} |" in text
    assert throughput_report.renewed_readme(text, result) == text


@pytest.mark.parametrize("text", ["", BEGIN, END + BEGIN, (BEGIN + END) * 2])
def test_a_readme_without_its_marks_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected the marks"):
        throughput_report.renewed_readme(text, {})


# -- the command -----------------------------------------------------------------------------------------------------

QUICK = ("--batch", "2", "--layer", "core", "--runs", "1", "--seconds", "0.001", "--rule", "match=hand")


def test_the_command_gives_json() -> None:
    told = CliRunner().invoke(app, ["throughput", FIRST, *QUICK, "--json", "-"])
    assert told.exit_code == 0, told.output
    found = json.loads(told.stdout)
    assert [row["unit"] for row in found["rows"] if row["layer"] == CORE][:2] == [DECISIONS, GAMES]
    assert found["settings"]["batches"] == [2]


def test_the_command_prints_tables_and_writes_the_report(tmp_path: Path) -> None:
    told = CliRunner().invoke(app, ["throughput", FIRST, *QUICK, "--out", str(tmp_path)])
    assert told.exit_code == 0, told.output
    assert "Decisions a second, B = 2" in told.stdout
    assert (tmp_path / "throughput.md").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["slippery"], "unknown game 'slippery'"),
        ([FIRST, "--layer", "cor"], "did you mean 'core'"),
        ([FIRST, "--batch", "0"], "at least 1"),
        ([FIRST, "--rule", "players=3"], "unknown option"),
        ([FIRST, "--seconds", "0"], "seconds: expected more than 0"),
        ([FIRST, "--json", "/no/such/folder/file.json"], "no folder"),
    ],
)
def test_wrong_arguments_are_refused(arguments: list[str], message: str) -> None:
    told = CliRunner().invoke(app, ["throughput", *arguments])
    assert told.exit_code == 2
    assert message in " ".join(told.output.split())


def test_ctrl_c_of_the_command_tells_what_was_finished(monkeypatch: pytest.MonkeyPatch, result: dict[str, Any]) -> None:
    def stopped(plan: Plan, console: Console) -> Any:
        raise Interrupted(result, 1)

    monkeypatch.setattr(throughput, "run", stopped)
    told = CliRunner().invoke(app, ["throughput", FIRST, *QUICK])
    assert told.exit_code == 130
    assert "interrupted: 1 of 1 rounds were finished" in told.output
    assert "Decisions a second" in told.output
