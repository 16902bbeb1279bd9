"""The command line, ``slopes``: thin, and the one file that reaches everywhere.

Each command imports what it needs when it runs, so that ``slopes --help`` answers at once.  Exit codes: 0 done, 1 the
answer is no (a record does not verify, a training diverges), 2 wrong arguments, 130 stopped by Ctrl-C.
"""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, ParamSpec

try:
    import typer
except ModuleNotFoundError as missing:  # the script is installed without its extra, too
    sys.exit(f'slopes needs {missing.name}, which the extra "cli" brings: pip install "slopes-envs[cli]"')

from . import __version__
from .game import allowed
from .options import parse_rules
from .registry import game_names, make_game

if TYPE_CHECKING:
    from rich.console import Console

ANSWER_IS_NO, WRONG_ARGUMENTS, INTERRUPTED = 1, 2, 130

EXTRAS = {"rich": "cli", "scipy": "bench", "choix": "bench"}
"""Extra that brings a module; those that are not listed come with ``train``."""

app = typer.Typer(
    help="Card games as fast batched environments: play, record, verify, train, evaluate.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,  # plain text, the same on a terminal and in a pipe
    pretty_exceptions_enable=False,
)


def whole_number(text: str) -> int:
    """Parse an option that is a whole number."""
    try:
        return int(text)
    except ValueError:
        raise typer.BadParameter(f"expected a whole number, got {text!r}") from None


def count(text: str) -> int:
    """Parse an option that is a whole number of at least 1."""
    number = whole_number(text)
    if number < 1:
        raise typer.BadParameter(f"expected a whole number of at least 1, got {text}")
    return number


GameName = Annotated[str, typer.Argument(metavar="GAME", help="Name of a game; `slopes games` lists them.")]
RuleOption = Annotated[
    list[str] | None,
    typer.Option("--rule", metavar="KEY=VALUE", help="An option of the game, such as target_score=10. Repeatable."),
]
WorkersOption = Annotated[
    int, typer.Option("--workers", parser=count, metavar="N", help="Processes; they do not bear on results.")
]
SeedOption = Annotated[
    int, typer.Option("--seed", parser=whole_number, metavar="S", help="Any whole number; decides every deal.")
]
JsonOption = Annotated[
    str | None, typer.Option("--json", metavar="FILE", help="Write JSON to a file, or with - to standard output.")
]


P = ParamSpec("P")


def _tell_version(asked: bool) -> None:
    if asked:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and stop.", callback=_tell_version, is_eager=True)
    ] = False,
) -> None:
    """Options of the command itself."""


def main() -> None:
    """Run the command line."""
    app(prog_name="slopes")


# ------------------------------------------------------------------------------------------------ errors and output


def _fail(message: object, code: int = WRONG_ARGUMENTS) -> NoReturn:
    typer.echo(f"Error: {message}", err=True)
    raise typer.Exit(code)


def _command(function: Callable[P, None]) -> Callable[P, None]:
    """Make a function a command; its exit code after Ctrl-C is no answer."""

    @wraps(function)
    def command(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            function(*args, **kwargs)
        except KeyboardInterrupt:
            _fail("interrupted", INTERRUPTED)

    return app.command()(command)


@contextmanager
def _arguments() -> Iterator[None]:
    """What is wrong in here are the user's arguments: tell, without a traceback."""
    try:
        yield
    except (ValueError, OSError) as error:
        _fail(error)
    except ModuleNotFoundError as error:
        module = (error.name or "").partition(".")[0]
        if module.startswith("slopes_"):
            raise
        extra = EXTRAS.get(module, "train")
        _fail(f'this needs {module}, which the extra "{extra}" brings: pip install "slopes-envs[{extra}]"')


def _console(*, stderr: bool = False) -> Console:
    from rich.console import Console

    return Console(stderr=stderr, highlight=False)


def _json_file(target: str | None) -> Path | None:
    """The file that ``--json`` names, if it names one whose folder is there."""
    if target is None or target == "-":
        return None
    path = Path(target)
    if not path.parent.is_dir():
        raise ValueError(f"--json {target}: there is no folder {path.parent}")
    if path.is_dir():
        raise ValueError(f"--json {target}: expected a file, got a folder")
    return path


def _write_json(target: str | None, data: Any) -> None:
    from slopes_benchmarks.keeping import write_json

    if target == "-":
        typer.echo(json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False))
    elif target is not None:
        write_json(Path(target), data)


# ------------------------------------------------------------------------------------------------- values and specs


def split_specs(text: str) -> list[str]:
    """Agent specs from a list by comma.

    A comma before ``key=`` separates arguments of one spec, as in ``random,pimc:worlds=32,rollout=heuristic``: two
    specs.
    """
    return re.split(r",(?!\w+=)", text)


# --------------------------------------------------------------------------------------------------------- commands


@_command
def games(json_target: JsonOption = None) -> None:
    """List games with their options and spaces."""
    from slopes_benchmarks import terminal

    with _arguments():
        _json_file(json_target)
    described = [_describe_game(name) for name in game_names()]
    _write_json(json_target, {"games": described})
    if json_target == "-":
        return
    console = _console()
    for game in described:
        players = ", ".join(map(str, game["players"]))
        terminal.line(console, f"{game['name']}: {game['title']} ({game['kind']}), version {game['version']}")
        terminal.line(
            console, f"players {players}; {game['actions']} actions; observation uint8[{game['observation']}]"
        )
        rows = [
            [option["name"], _as_text(option["default"]), option["allowed"], option["about"]]
            for option in game["options"]
        ]
        terminal.table(console, f"options of {game['name']}", ["option", "default", "allowed", "about"], rows)


def _describe_game(name: str) -> dict[str, Any]:
    """A game as plain JSON values; the sizes of its spaces are those with default options."""
    game = make_game(name)
    options = [
        {
            "name": spec.name,
            "default": spec.default,
            "allowed": allowed(spec.metadata),
            **{key: spec.metadata[key] for key in ("choices", "at_least", "at_most", "nullable", "about")},
        }
        for spec in fields(game.rules)
    ]
    (seats,) = [option for option in options if option["name"] == "num_players"]
    counts = seats["choices"] or range(seats["at_least"], seats["at_most"] + 1)
    return {
        "name": name,
        "title": game.title,
        "kind": game.kind,
        "version": game.version,
        "players": list(counts),
        "actions": game.num_actions,
        "observation": game.observation.size,
        "options": options,
    }


def _as_text(value: Any) -> str:
    """A value as ``--rule`` takes it."""
    if isinstance(value, tuple):
        return ",".join(map(_as_text, value))
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)


@_command
def record(
    game: GameName,
    agents: Annotated[
        str, typer.Option("--agents", metavar="SPEC[,SPEC...]", help="One for all seats, or one a seat, from seat 0.")
    ],
    matches: Annotated[int, typer.Option("--matches", parser=count, metavar="N", help="Matches to play.")],
    seed: SeedOption,
    rule: RuleOption = None,
    legal: Annotated[bool, typer.Option("--legal", help="Note the legal actions at every move.")] = False,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="A .jsonl or .jsonl.gz file; by default standard output."),
    ] = None,
    workers: WorkersOption = 1,
) -> None:
    """Play matches and write them as game records.

    After Ctrl-C the file holds the matches that were finished.
    """
    with _arguments():
        from slopes_benchmarks import terminal
        from slopes_benchmarks.recording import RecordedPlay
        from slopes_benchmarks.workers import Stoppable

        from .errors import IllegalAction
        from .records import write_lines

        rules = parse_rules(game, rule or [])
        play = RecordedPlay(make_game(game, **rules), tuple(split_specs(agents)), seed, legal)
    errors = _console(stderr=True)
    with (
        terminal.progress(errors, f"recording {game}", matches, "matches") as tell,
        Stoppable(play.lines(matches, workers, tell)) as lines,
    ):
        try:
            written = write_lines(out or sys.stdout.buffer, lines)
        except BrokenPipeError:
            raise  # the reader has seen enough: Typer ends quietly
        except (IllegalAction, OSError) as error:
            _fail(error)
    if lines.stopped and written < matches:
        _fail(f"interrupted: {written} of {matches} matches were finished and written", INTERRUPTED)
    if out is not None:
        terminal.line(errors, f"{written} matches written to {out}")


@_command
def replay(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A .jsonl or .jsonl.gz file.")],
    show: Annotated[bool, typer.Option("--show", help="Print the records, each when it has been verified.")] = False,
    json_target: JsonOption = None,
) -> None:
    """Verify game records, move by move.

    Exit code 1, with line, hand, move and reason, for the first thing that is not right.
    """
    from slopes_benchmarks import terminal

    from .records import RecordError, Summary, verify_records

    with _arguments():
        _json_file(json_target)
        if show and json_target == "-":
            raise ValueError("--show and --json - both want standard output; expected one of them")
    console, summary = _console(), Summary()
    try:
        with terminal.progress(_console(stderr=True), f"verifying {file}", None, "records") as tell:
            for verified in verify_records(file):
                summary.add(verified)
                tell(summary.records)
                if show:
                    terminal.show_record(console, verified.line, verified.record())
    except RecordError as error:
        typer.echo(error, err=True)
        raise typer.Exit(ANSWER_IS_NO) from None
    except OSError as error:
        _fail(error)
    counts = {"records": summary.records, "hands": summary.hands, "moves": summary.moves}
    _write_json(json_target, {**counts, "games": dict(summary.games), "ends": dict(summary.ends)})
    if json_target != "-":
        terminal.line(console, f"{summary.records} records verified: {summary.hands} hands, {summary.moves} moves")


@_command
def train(
    game: GameName,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder of the run.")],
    config: Annotated[
        Path | None, typer.Option("--config", metavar="FILE", help="YAML file; by default the one of the game.")
    ] = None,
    overrides: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="A value of the configuration. Repeatable."),
    ] = None,
    rule: RuleOption = None,
    minutes: Annotated[
        float | None, typer.Option("--minutes", metavar="M", help="How long to train; not with --decisions.")
    ] = None,
    decisions: Annotated[
        int | None,
        typer.Option("--decisions", parser=count, metavar="N", help="How much to train; not with --minutes."),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed", parser=whole_number, metavar="S", help="Any whole number; by default the configuration's, or 0."
        ),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in --out.")] = False,
) -> None:
    """Train a policy by self-play. Ctrl-C saves what was learned."""
    with _arguments():
        if minutes is not None and decisions is not None:
            raise ValueError(f"expected --minutes or --decisions, got both ({minutes:g} and {decisions})")
        rules = parse_rules(game, rule or [])
        from slopes_training.selfplay import Diverged
        from slopes_training.train import prepare

        training = prepare(
            game,
            config=config,
            overrides=overrides or [],
            rules=rules,
            minutes=minutes,
            decisions=decisions,
            seed=seed,
            out=out,
            resume=resume,
            console=_console(),
        )
    try:
        training.go()
    except (Diverged, OSError) as error:
        _fail(error, ANSWER_IS_NO)
    if training.stopped:
        raise typer.Exit(INTERRUPTED)


@_command
def evaluate(
    game: GameName,
    agent: Annotated[str, typer.Option("--agent", metavar="SPEC", help="The agent to measure.")],
    against: Annotated[
        str,
        typer.Option(
            "--against",
            metavar="SPEC[,SPEC...]",
            help="One for all other seats, or one for each from the agent's left.",
        ),
    ],
    deals: Annotated[
        int, typer.Option("--deals", parser=count, metavar="N", help="Deals; each is played in every place.")
    ],
    seed: SeedOption,
    rule: RuleOption = None,
    value: Annotated[
        str | None,
        typer.Option(
            "--value",
            metavar="SPEC",
            help="Value for control variates: rollout:times=4,agent=SPEC, distance (Slopes), ppo:PATH, module:Class.",
        ),
    ] = None,
    interval: Annotated[
        str, typer.Option("--interval", metavar="KIND", help="Intervals: student, or bca (bootstrap).")
    ] = "student",
    workers: WorkersOption = 1,
    json_target: JsonOption = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on where an earlier run with the same --json FILE was stopped.")
    ] = False,
) -> None:
    """Measure an agent over duplicate deals.

    Hands are played, not whole matches, unless told otherwise with --rule match=game (in games whose hands are no
    contest of their own, whole matches). Finished deals are kept in FILE.partial until FILE is complete.

    With --value, what was luck in the draws of agents that tell their probabilities is taken out of the figures.
    """
    with _arguments():
        from slopes_benchmarks import terminal
        from slopes_benchmarks.duplicate import Interrupted, Plan, evaluated_game, run
        from slopes_benchmarks.intervals import interval_kind
        from slopes_benchmarks.keeping import KeptPieces

        file = _json_file(json_target)
        if resume and file is None:
            raise ValueError("--resume expected --json FILE, beside which finished deals are kept")
        rules = parse_rules(game, rule or [])
        interval_kind(interval)
        plan = Plan(evaluated_game(game, rules), agent, tuple(split_specs(against)), deals, seed, value)
        kept = None
        if file is not None:
            kept = KeptPieces(file.with_name(file.name + ".partial"), plan.work, resume=resume)
    try:
        with terminal.progress(_console(stderr=True), f"evaluating {agent}", deals, "deals") as tell:
            result = run(plan, workers=workers, interval=interval, kept=kept, progress=tell)
    except ValueError as error:  # an agent at fault, or an interval that does not exist
        _fail(error)
    except Interrupted as stopped:
        if kept is None and stopped.result is not None and json_target is None:
            terminal.show_evaluation(_console(), stopped.result)
        where = f", kept in {kept.path}; go on with --resume" if kept else ""
        _fail(f"interrupted: {stopped.done} of {deals} deals were finished{where}", INTERRUPTED)
    _write_json(json_target, result)
    if kept is not None:
        kept.remove()
    if json_target != "-":
        terminal.show_evaluation(_console(), result)


@_command
def throughput(
    games: Annotated[
        list[str] | None, typer.Argument(metavar="GAME", help="Names of games; by default all of them.")
    ] = None,
    batch: Annotated[
        list[int] | None,
        typer.Option("--batch", parser=count, metavar="N", help="Games at once. Repeatable; by default 1 to 16384."),
    ] = None,
    layer: Annotated[
        list[str] | None,
        typer.Option("--layer", metavar="LAYER", help="core, observed, vector, sb3, aec_raw, aec. Repeatable."),
    ] = None,
    peers: Annotated[
        bool, typer.Option("--peers", help="Measure other libraries that are installed, and a reference in C.")
    ] = False,
    rule: RuleOption = None,
    seed: Annotated[int, typer.Option("--seed", parser=whole_number, metavar="S", help="Of everything random.")] = 0,
    workers: Annotated[
        int, typer.Option("--workers", parser=count, metavar="N", help="Also compare so many processes with one.")
    ] = 1,
    runs: Annotated[
        int, typer.Option("--runs", parser=count, metavar="N", help="Rounds, in each of which everything takes a turn.")
    ] = 5,
    seconds: Annotated[float, typer.Option("--seconds", metavar="T", help="Of one turn.")] = 0.5,
    out: Annotated[Path | None, typer.Option("--out", metavar="DIR", help="Folder for JSON, report and plot.")] = None,
    json_target: JsonOption = None,
) -> None:
    """Measure decisions a second on one core.

    After Ctrl-C the rounds that were finished are told.
    """
    with _arguments():
        from slopes_benchmarks.layers import LAYERS
        from slopes_benchmarks.throughput import BATCHES, Interrupted, Plan, run
        from slopes_benchmarks.throughput_report import prepare_report, show, write_report

        _json_file(json_target)
        if out is not None:
            prepare_report(out)
        names = tuple(games or game_names())
        plan = Plan(
            games=names,
            rules={name: parse_rules(name, rule or []) for name in names},
            layers=tuple(layer or LAYERS),
            batches=tuple(batch or BATCHES),
            peers=peers,
            workers=workers,
            runs=runs,
            seconds=seconds,
            seed=seed,
        )
    stopped = None
    try:
        result = run(plan, _console(stderr=True))
    except Interrupted as error:
        if error.result is None:
            _fail("interrupted before the first round was finished", INTERRUPTED)
        result, stopped = error.result, error
    _write_json(json_target, result)
    written = [] if out is None else write_report(result, out)
    if json_target != "-":
        show(_console(), result)
    for path in written:
        typer.echo(f"written: {path}", err=True)
    if stopped is not None:
        _fail(f"interrupted: {stopped.done} of {runs} rounds were finished", INTERRUPTED)


@_command
def league(
    game: GameName,
    agents: Annotated[str, typer.Option("--agents", metavar="SPEC,SPEC[,...]", help="The agents, at least two.")],
    deals: Annotated[
        int, typer.Option("--deals", parser=count, metavar="N", help="Deals; every group of agents plays each.")
    ],
    seed: SeedOption,
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder of the league.")],
    rule: RuleOption = None,
    workers: WorkersOption = 1,
    json_target: JsonOption = None,
) -> None:
    """Play a league: all-play-all over duplicate deals.

    Every agent meets every other in every seat, in company of two to four. Hands are played, not whole matches, unless
    told otherwise with --rule match=game. Results are appended to DIR/results.jsonl as they come; the same command goes
    on after Ctrl-C, and with more agents or deals plays only what is new. DIR then holds league.json, report.md and
    pictures.
    """
    with _arguments():
        from slopes_benchmarks import terminal
        from slopes_benchmarks.duplicate import evaluated_game
        from slopes_benchmarks.league import League, Stopped, run
        from slopes_benchmarks.league_report import write_report
        from slopes_benchmarks.standings import standings

        _json_file(json_target)
        plan = League(evaluated_game(game, parse_rules(game, rule or [])), tuple(split_specs(agents)), deals, seed)
    try:
        with terminal.progress(_console(stderr=True), f"league of {game}", plan.size, "deals of groups") as tell:
            results = run(plan, out, workers=workers, progress=tell)
    except (ValueError, OSError) as error:
        _fail(error)
    except Stopped as stopped:
        _fail(
            f"interrupted: {stopped.done} of {plan.size} deals of groups were finished, kept in {out}; "
            "the same command goes on",
            INTERRUPTED,
        )
    options = "".join(f" --rule {shlex.quote(text)}" for text in rule or [])
    command = f"slopes league {game} --agents {shlex.quote(agents)} --deals {deals} --seed {seed} --out {out}{options}"
    found = standings(plan, results, command)
    write_report(out, found)
    _write_json(json_target, found)
    if json_target != "-":
        terminal.show_league(_console(), found)


if __name__ == "__main__":
    main()
