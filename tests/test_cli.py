"""The command line: what it prints where, and how it exits."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner, Result

from slopes_benchmarks import duplicate, terminal
from slopes_envs import __version__, cli, game_names, make_game
from slopes_envs.options import parse_value
from slopes_envs.records import read_records

GAME = "slippery_slope"
EVALUATE = ["evaluate", GAME, "--agent", "players:Modest", "--against", "random", "--deals", "6", "--seed", "1"]
RECORD = ["record", GAME, "--agents", "random", "--matches", "3", "--seed", "1", "--rule", "match=hand"]
TIMINGS = ("decisions_per_second", "seconds")
TESTS = Path(__file__).parent


def slopes(*arguments: str | Path) -> Result:
    result = CliRunner().invoke(cli.app, [str(argument) for argument in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception  # a traceback is never the answer
    return result


def refused(*arguments: str | Path) -> str:
    """What the command says on standard error when it finds its arguments wrong."""
    result = slopes(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "Traceback" not in result.stderr
    return result.stderr


def python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


# ---------------------------------------------------------------------------------------------------------- the whole


def test_help_imports_nothing_heavy() -> None:
    code = """
import sys
sys.argv = ["slopes", "--help"]
from slopes_envs.cli import main
try:
    main()
except SystemExit as stop:
    heavy = {"torch", "stable_baselines3", "sb3_contrib", "scipy", "matplotlib", "tensorboard"} & set(sys.modules)
    sys.exit(str(heavy) if heavy else stop.code)
"""
    done = python(code)
    assert (done.returncode, done.stderr) == (0, "")
    for command in ("games", "record", "replay", "train", "evaluate", "league"):
        assert f"\n  {command} " in done.stdout


def test_the_version_is_told() -> None:
    result = slopes("--version")
    assert (result.exit_code, result.stdout) == (0, f"{__version__}\n")


def test_what_is_no_agent_is_refused() -> None:
    said = refused(*EVALUATE[:3], "slopes_agents.play:choose", *EVALUATE[4:])
    assert "expected a subclass of slopes_agents.Agent, got <function choose" in said


def test_the_command_says_which_extra_it_needs() -> None:
    done = python("import sys; sys.modules['typer'] = None; import slopes_envs.cli")
    assert done.returncode != 0
    assert done.stderr == 'slopes needs typer, which the extra "cli" brings: pip install "slopes-envs[cli]"\n'


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["evalute"], "Did you mean 'evaluate'?"),
        ([*EVALUATE, "--worker", "2"], "--workers"),
        (["evaluate", GAME], "Missing option"),
        ([*EVALUATE, "--deals", "many"], "'--deals': expected a whole number, got 'many'"),
        ([*EVALUATE, "--seed", "1.5"], "'--seed': expected a whole number, got '1.5'"),
        ([*EVALUATE, "--workers", "0"], "'--workers': expected a whole number of at least 1, got 0"),
    ],
)
def test_commands_and_options_must_be_known(arguments: list[str], said: str) -> None:
    assert said in refused(*arguments)


@pytest.mark.parametrize("command", ["evaluate", "record", "train"])
def test_a_misspelt_game_or_rule_gets_a_suggestion(command: str, tmp_path: Path) -> None:
    rest = {"evaluate": EVALUATE[2:], "record": [*RECORD[2:6], "--seed", "1"], "train": ["--out", tmp_path / "run"]}
    wrong_game = refused(command, "slipery_slope", *rest[command])
    assert wrong_game.startswith("Error: unknown game 'slipery_slope'; did you mean 'slippery_slope'?")
    wrong_rule = refused(command, GAME, *rest[command], "--rule", "target_scor=3")
    assert "unknown option of slippery_slope 'target_scor'; did you mean 'target_score'?" in wrong_rule
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(("command", "option"), [(EVALUATE, "--agent"), (EVALUATE, "--against"), (RECORD, "--agents")])
def test_a_misspelt_agent_gets_a_suggestion(command: list[str], option: str) -> None:
    said = refused(*command, option, "randon")
    assert said.startswith("Error: unknown agent 'randon'; did you mean 'random'? (known: ")


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("target_score", "--rule expected key=value, got 'target_score'"),
        ("target_score=0", "option target_score expected a whole number of at least 1, got 0"),
        ("target_score=ten", "option target_score expected a whole number of at least 1, got 'ten'"),
        ("target_score=true", "option target_score expected a whole number of at least 1, got True"),
        ("first_dealer=3", "option first_dealer expected a whole number from 0 to 2, or None, got 3"),
        ("match=hands", "option match expected 'game' or 'hand', got 'hands'"),
    ],
)
def test_rules_must_have_a_value_that_is_allowed(rule: str, said: str) -> None:
    assert said in refused(*EVALUATE, "--rule", rule)
    assert said in refused(*RECORD[:-2], "--rule", rule)


def test_a_rule_stands_once() -> None:
    assert "--rule match expected once" in refused(*RECORD, "--rule", "match=hand")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", True),
        ("false", False),
        ("none", None),
        ("12", 12),
        ("-3", -3),
        ("0.25", 0.25),
        ("fifth", "fifth"),
        ("0,0.25,1", (0, 0.25, 1)),
        ("a,none", ("a", None)),
    ],
)
def test_values_are_parsed_by_what_they_are(text: str, value: Any) -> None:
    parsed = parse_value(text)
    assert (parsed, type(parsed)) == (value, type(value))


def test_a_number_for_a_list_is_a_list_of_one() -> None:
    assert parse_value("0.5", is_list=True) == (0.5,)
    assert parse_value("all", is_list=True) == "all"


@pytest.mark.parametrize(
    ("text", "specs"),
    [
        ("random", ["random"]),
        ("random,heuristic", ["random", "heuristic"]),
        ("random,pimc:worlds=32,rollout=heuristic", ["random", "pimc:worlds=32,rollout=heuristic"]),
        ("ppo:runs/a,mode=sample,random", ["ppo:runs/a,mode=sample", "random"]),
        ("pimc:worlds=2,rollout=ppo:runs/a,my_bots:Careful", ["pimc:worlds=2,rollout=ppo:runs/a", "my_bots:Careful"]),
    ],
)
def test_a_comma_before_an_argument_does_not_end_a_spec(text: str, specs: list[str]) -> None:
    assert cli.split_specs(text) == specs


# ---------------------------------------------------------------------------------------------------------- terminals


def test_tables_are_drawn_on_a_terminal_and_plain_in_a_pipe() -> None:
    drawn, plain = io.StringIO(), io.StringIO()
    for stream, is_terminal in ((drawn, True), (plain, False)):
        console = Console(file=stream, force_terminal=is_terminal, width=60, color_system=None)
        terminal.table(console, "a [title]", ["name", "mean"], [["one", "1.5"], ["t[w]o", "-12.25"]])
    assert plain.getvalue() == "# a [title]\nname\tmean\none\t1.5\nt[w]o\t-12.25\n"
    assert "a [title]\n" in drawn.getvalue()
    assert "│ one   │    1.5 │" in drawn.getvalue()
    assert "│ t[w]o │ -12.25 │" in drawn.getvalue()


def test_progress_is_told_in_plain_lines_where_there_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 0.0, 5.0, 20.0, 24.0, 40.0])
    monkeypatch.setattr(terminal.time, "monotonic", lambda: next(clock))
    stream = io.StringIO()
    with terminal.progress(Console(file=stream), "working", 50, "deals") as tell:
        for done in (10, 12, 20, 22, 30):
            tell(done)
    assert stream.getvalue().splitlines() == [
        "working: 20 of 50 deals, about 60 s left",
        "working: 30 of 50 deals, about 40 s left",
    ]


# ------------------------------------------------------------------------------------------------------------- games


def test_games_lists_every_game_with_its_options(tmp_path: Path) -> None:
    listed = json.loads(slopes("games", "--json", "-").stdout)
    assert [game["name"] for game in listed["games"]] == game_names()
    for entry in listed["games"]:
        game = make_game(entry["name"])
        assert entry["players"][0] >= 2
        assert game.num_players in entry["players"]
        assert (entry["actions"], entry["observation"]) == (game.num_actions, game.observation.size)
        assert {option["name"] for option in entry["options"]} == {*game.rules.record(), "reward"}
        defaults = {option["name"]: option["default"] for option in entry["options"]}
        assert make_game(entry["name"], **defaults) == game

    printed = slopes("games", "--json", tmp_path / "games.json")
    assert printed.exit_code == 0
    assert json.loads((tmp_path / "games.json").read_text()) == listed
    rows = [line.split("\t") for line in printed.stdout.splitlines() if "\t" in line]
    assert {len(row) for row in rows} == {4}
    assert ["first_dealer", "none"] in [row[:2] for row in rows]


# ---------------------------------------------------------------------------------------------------- record, replay


def test_record_writes_what_replay_verifies(tmp_path: Path) -> None:
    out = tmp_path / "r.jsonl"
    done = slopes(*RECORD, "--legal", "--out", out)
    assert (done.exit_code, done.stdout) == (0, "")
    records = list(read_records(out))
    assert [record["players"] for record in records] == [["random"] * 3] * 3
    assert all("legal" in move for record in records for hand in record["hands"] for move in hand["moves"])
    assert slopes(*RECORD, "--legal").stdout_bytes == out.read_bytes()

    replayed = slopes("replay", out, "--json", tmp_path / "summary.json")
    assert replayed.exit_code == 0
    assert json.loads((tmp_path / "summary.json").read_text()) == {
        "records": 3,
        "hands": 3,
        "moves": 99,
        "games": {GAME: 3},
        "ends": {"terminated": 3},
    }
    assert "3 records verified" in replayed.stdout


def test_records_do_not_depend_on_workers(tmp_path: Path) -> None:
    many = [*RECORD[:5], "150", *RECORD[6:]]
    assert slopes(*many, "--workers", "2").stdout_bytes == slopes(*many).stdout_bytes


def test_record_seats_its_agents(tmp_path: Path) -> None:
    seated = slopes(*RECORD, "--agents", "random,players:Lowest,players:Highest")
    (record, *_) = [json.loads(line) for line in seated.stdout.splitlines()]
    assert record["players"] == ["random", "players:Lowest", "players:Highest"]
    bids = {move["seat"]: move["action"] for move in record["hands"][0]["moves"][:3]}
    assert (bids[1], bids[2]) == ("bid 0", "bid 10")
    assert "one for all seats or 3, one a seat, got 2" in refused(*RECORD, "--agents", "random,random")


def test_record_names_the_agent_that_cheats(tmp_path: Path) -> None:
    out = tmp_path / "r.jsonl"
    out.write_text("kept")
    assert "action 'BJ' (40) is not legal" in refused(*RECORD, "--agents", "players:Cheat", "--out", out)
    assert [out.read_text(), *tmp_path.iterdir()] == ["kept", out]


def test_replay_refuses_a_wrong_record_with_line_hand_move_and_reason(tmp_path: Path) -> None:
    out = tmp_path / "r.jsonl"
    slopes(*RECORD, "--out", out)
    lines = out.read_text().splitlines(keepends=True)
    record = json.loads(lines[1])
    record["hands"][0]["moves"][1]["action"] = "bid 11"
    out.write_text(lines[0] + json.dumps(record) + "\n" + lines[2])
    for target in ([], ["--json", "-"]):
        refusal = slopes("replay", out, *target)
        assert (refusal.exit_code, refusal.stdout) == (1, "")
        assert refusal.stderr.startswith("line 2, hand 1, move 2: ")
        assert "bid 11" in refusal.stderr


def test_replay_shows_records(tmp_path: Path) -> None:
    out = tmp_path / "r.jsonl.gz"
    slopes(*RECORD, "--out", out)
    shown = slopes("replay", out, "--show")
    assert shown.exit_code == 0
    for record in read_records(out):
        for move in record["hands"][0]["moves"]:
            assert move["action"] in shown.stdout
    with_json = slopes("replay", out, "--json", "-")
    assert json.loads(with_json.stdout)["records"] == 3


def test_replay_needs_a_file(tmp_path: Path) -> None:
    assert "nothing.jsonl" in refused("replay", tmp_path / "nothing.jsonl")
    assert str(tmp_path) in refused("replay", tmp_path)
    slopes(*RECORD, "--out", tmp_path / "r.jsonl")
    assert "--show" in refused("replay", tmp_path / "r.jsonl", "--show", "--json", "-")


# ---------------------------------------------------------------------------------------------------------- evaluate


def test_evaluate_prints_a_table_and_writes_json(tmp_path: Path) -> None:
    file = tmp_path / "result.json"
    printed = slopes(*EVALUATE, "--json", file)
    assert (printed.exit_code, printed.stderr) == (0, "")
    written = json.loads(file.read_text())
    assert list(tmp_path.iterdir()) == [file]
    expected = duplicate.evaluate(GAME, "players:Modest", "random", 6, 1)
    assert {key: written[key] for key in written if key not in TIMINGS} == {
        key: expected[key] for key in expected if key not in TIMINGS
    }
    lines = printed.stdout.splitlines()
    assert lines[0] == f"# {GAME}: players:Modest against random, 6 deals, seed 1"
    mean, (low, high) = written["difference"]["mean"], written["difference"]["ci95"]
    assert f"difference\t{mean:.3f}\t{low:.3f}\t{high:.3f}" in lines
    made = written["metrics"]["bid_made"]
    assert f"bid_made\t{made['agent']:.3f}\t{made['against']:.3f}" in lines

    alone = slopes(*EVALUATE, "--json", "-")
    assert {key: value for key, value in json.loads(alone.stdout).items() if key not in TIMINGS} == {
        key: value for key, value in written.items() if key not in TIMINGS
    }


def test_evaluate_shows_what_control_variates_bring() -> None:
    with_value = [*EVALUATE, "--agent", "random", "--value", "rollout:times=1", "--interval", "bca"]
    result = json.loads(slopes(*with_value, "--json", "-").stdout)
    control = result["control"]
    assert (control["value"], result["interval"]) == ("rollout:times=1", "bca")
    lines = slopes(*with_value).stdout.splitlines()
    assert f"difference\t{result['difference']['mean']:.3f}" in "\t".join(lines)
    assert "# the same without the control variates of rollout:times=1" in lines
    plain, ratio = control["plain"]["difference"], control["variance_ratio"]["difference"]
    assert f"difference\t{plain['mean']:.3f}" in "\n".join(
        lines[lines.index("# the same without the control variates of rollout:times=1") :]
    )
    assert any(line.startswith("difference\t") and line.endswith(f"\t{100 * ratio:.0f} %") for line in lines)


def test_evaluate_takes_rules_and_several_opponents() -> None:
    several = slopes(
        *EVALUATE, "--against", "random,players:Lowest", "--rule", "match=game", "--rule", "max_hands=2", "--json", "-"
    )
    result = json.loads(several.stdout)
    assert result["against"] == ["random", "players:Lowest"]
    assert (result["rules"]["match"], result["rules"]["max_hands"], result["gain"]) == ("game", 2, None)
    assert 0 <= result["win_share"]["mean"] <= 1
    assert "one for each of the others, got 3" in refused(*EVALUATE, "--against", "random,random,random")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--deals", "1"], "deals expected at least 2"),
        (["--agent", "players:Cheat"], "agent players:Cheat for slippery_slope"),
        (["--agent", "players:Cheat"], "is not legal; legal: bid 0"),
        (["--agent", "random:speed=3"], "unknown argument of agent RandomAgent 'speed'"),
        (["--agent", "random,random"], "unknown agent 'random,random'"),
        (["--resume"], "--resume expected --json FILE"),
        (["--resume", "--json", "-"], "--resume expected --json FILE"),
        (["--json", "no/such/folder/result.json"], "there is no folder no/such/folder"),
        (["--json", "."], "expected a file, got a folder"),
        (["--value", "rolout"], "unknown value 'rolout'; did you mean 'rollout'?"),
        (["--value", "rollout:times=0"], "times expected a whole number of at least 1, got 0"),
        (["--interval", "boot"], "unknown interval 'boot' (known: student, bca)"),
    ],
)
def test_evaluate_refuses_what_does_not_fit(arguments: list[str], said: str) -> None:
    assert said in refused(*EVALUATE, *arguments)


def test_evaluate_says_which_extra_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in [name for name in sys.modules if name.startswith(("slopes_benchmarks.", "scipy"))]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "scipy", None)
    said = refused(*EVALUATE)
    assert said == 'Error: this needs scipy, which the extra "bench" brings: pip install "slopes-envs[bench]"\n'


@pytest.mark.parametrize("workers", ["1", "2"])
def test_ctrl_c_keeps_what_was_finished(workers: str, tmp_path: Path) -> None:
    file, kept = tmp_path / "result.json", tmp_path / "result.json.partial"
    deals = str(4 * duplicate.CHUNK_DEALS)
    command = [sys.executable, "-m", "slopes_envs.cli", *EVALUATE, "--deals", deals, "--agent", "players:Sleepy"]
    command += ["--json", str(file), "--workers", workers]
    environment = {**os.environ, "PYTHONPATH": str(TESTS)}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True
    ) as running:
        while running.poll() is None and not (kept.exists() and kept.read_bytes().count(b"\n") >= 2):
            time.sleep(0.02)
        os.killpg(running.pid, signal.SIGINT)  # as a terminal does
        stdout, stderr = running.communicate(timeout=60)
    assert (running.returncode, stdout) == (130, "")
    assert f"of {deals} deals were finished, kept in {kept}; go on with --resume" in stderr
    assert "Traceback" not in stderr
    finished = kept.read_bytes().count(b"\n") - 1
    assert 1 <= finished < 4
    assert not file.exists()

    again = [*EVALUATE, "--deals", deals, "--agent", "players:Sleepy", "--json", file]
    assert "expected --resume to go on" in refused(*again)
    assert "belongs to other work: seed expected 2, got 1" in refused(*again, "--resume", "--seed", "2")
    assert slopes(*again, "--resume").exit_code == 0
    assert not kept.exists()
    assert json.loads(file.read_text())["deals"] == int(deals)


# ------------------------------------------------------------------------------------------------------------- train


def test_train_hands_its_options_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import slopes_training.train as training

    seen: dict[str, Any] = {}

    def prepare(game: str, **options: Any) -> SimpleNamespace:
        seen.update(options, game=game)
        return SimpleNamespace(go=lambda: None, stopped=False)

    monkeypatch.setattr(training, "prepare", prepare)
    arguments = ["--out", tmp_path, "--set", "games=8", "--set", "clip=0.1", "--rule", "target_score=9", "--seed", "4"]
    assert slopes("train", GAME, *arguments, "--decisions", "1000").exit_code == 0
    seen.pop("console")
    assert seen == {
        "game": GAME,
        "config": None,
        "overrides": ["games=8", "clip=0.1"],
        "rules": {"target_score": 9},
        "minutes": None,
        "decisions": 1000,
        "seed": 4,
        "out": tmp_path,
        "resume": False,
    }


def test_train_tells_how_a_run_ended(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """2 is for wrong arguments alone; after Ctrl-C nothing that follows in a shell should go on."""
    import slopes_training.train as training
    from slopes_training.selfplay import Diverged

    def diverge() -> None:
        raise Diverged("the loss is nan")

    def fill_the_disk() -> None:
        raise OSError("no space left")

    for go, stopped, code in ((diverge, False, 1), (fill_the_disk, False, 1), (lambda: None, True, 130)):
        ended = SimpleNamespace(go=go, stopped=stopped)
        monkeypatch.setattr(training, "prepare", lambda *_, ended=ended, **__: ended)
        assert slopes("train", GAME, "--out", tmp_path).exit_code == code


def test_train_refuses_what_does_not_fit(tmp_path: Path) -> None:
    out = ["--out", tmp_path / "run"]
    assert "--minutes or --decisions, got both (1.5 and 100)" in refused(
        "train", GAME, *out, "--minutes", "1.5", "--decisions", "100"
    )
    assert "--out" in refused("train", GAME)
    assert "no_such.yaml" in refused("train", GAME, *out, "--config", tmp_path / "no_such.yaml")
    assert "give no other options with it" in refused("train", GAME, *out, "--resume", "--seed", "3")
    assert not (tmp_path / "run").exists()


def test_train_says_which_extra_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delitem(sys.modules, "slopes_training.train", raising=False)
    monkeypatch.setitem(sys.modules, "torch", None)
    said = refused("train", GAME, "--out", tmp_path / "run")
    assert said == 'Error: this needs torch, which the extra "train" brings: pip install "slopes-envs[train]"\n'
