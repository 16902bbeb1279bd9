"""Speed of every game and its views on one core, beside other libraries and a reference in C.

``slopes throughput`` prints the figures.  ``make bench`` (``python -m slopes_benchmarks.throughput``) also leaves JSON,
report and plot under ``runs/throughput``, and says what got slower by more than a fifth since the stored results.
Those are renewed, on a machine that does nothing else, by::

    python -m slopes_benchmarks.throughput --peers --workers 2 --out benchmarks/results --readme README.md

How it is measured: whole matches, uniformly random legal play, the action check on, finished matches restarted, phases
staggered (:mod:`slopes_benchmarks.layers`).  All subjects of a run take turns, round by round
(:mod:`slopes_benchmarks.timing`), and among them a fixed workload, relative to which machines and days are compared.
"""

from __future__ import annotations

import shlex
import tracemalloc
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from slopes_envs import UnknownName, game_names
from slopes_training.provenance import commit

from . import c_reference, peers, processes
from .layers import (
    AEC,
    AEC_RAW,
    BATCHED,
    CORE,
    LAYERS,
    MATCHES,
    OBSERVED,
    SB3,
    VECTOR,
    Core,
    Table,
    available_layers,
    bytes_a_game,
    player_counts,
    subjects,
    usual_player_counts,
)
from .machine import Calibration, describe, load, one_core, versions
from .markdown import between
from .regression import STORED, compare, read_stored, tell
from .terminal import line, progress
from .throughput_report import OURSELVES, README_BEGIN, README_END, prepare_report, renew_readme, show, write_report
from .timing import DECISIONS, GAMES, LENGTH, MEMORY, Speed, Subject, identity, rounds
from .workers import Stoppable

BATCHES = (1, 64, 1024, 4096, 16384)
SCALING_BATCH = 4096
"""Where ratios and the cost of players are taken, if it is measured; else the largest batch that is."""

RUNS, SECONDS = 5, 0.5

COMPARED: dict[str, tuple[tuple[str, str], ...]] = {
    CORE: (
        ("open_spiel", peers.CPP),
        ("open_spiel", peers.ROLLOUT),
        ("open_spiel", peers.PYTHON),
        ("open_spiel", peers.DEALT),
        (c_reference.LIBRARY, CORE),
    ),
    OBSERVED: (
        ("open_spiel", OBSERVED),
        ("open_spiel", peers.DEALT_OBSERVED),
        ("rlcard", peers.ENV),
        ("pgx", OBSERVED),
        (c_reference.LIBRARY, OBSERVED),
    ),
    AEC_RAW: (("pettingzoo", AEC_RAW),),
    AEC: (("pettingzoo", AEC),),
}
"""For each of our layers the libraries and layers that do the same: ratios are taken to these."""

VIEWS = ((VECTOR, OBSERVED), (SB3, OBSERVED))
"""Our layers that are compared with another of our own, under the name :data:`OURSELVES`."""

INTERRUPTED = 130  # exit code after Ctrl-C

Result = dict[str, Any]
"""``machine``, ``versions``, ``commit``, ``command``, ``settings``; ``calibration``, the speed of the fixed workload;
``rows`` (game, rules, layer, batch, median, low, high, unit); ``ratios`` to peers, taken round by round; ``workers``,
the gain of several processes over one; ``missing``, what could not be measured, with reasons."""


# --------------------------------------------------------------------------------------------------------- the plan


@dataclass(frozen=True)
class Plan:
    """What is to be measured; all of it checked.

    Attributes
    ----------
    games
        Names of games.
    rules
        Options by game; a game whose ``num_players`` is given is measured with that number alone.
    layers, batches
        Layers of :mod:`slopes_benchmarks.layers`, and numbers of games at once.
    peers
        Whether other libraries and the C reference are measured, too.
    workers
        How many processes at once are compared with one; 1 leaves that out.
    runs, seconds
        Rounds, and the time of one subject in each.
    seed
        Of everything random.

    Raises
    ------
    UnknownName, RulesError, ValueError
        For names that are not known and values that are not allowed.
    """

    games: tuple[str, ...] = field(default_factory=lambda: tuple(game_names()))
    rules: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    layers: tuple[str, ...] = LAYERS
    batches: tuple[int, ...] = BATCHES
    peers: bool = False
    workers: int = 1
    runs: int = RUNS
    seconds: float = SECONDS
    seed: int = 0

    def __post_init__(self) -> None:
        for layer in self.layers:
            if layer not in LAYERS:
                raise UnknownName("layer", layer, LAYERS)
        for name, values in {"games": self.games, "layers": self.layers, "batches": self.batches}.items():
            if not values or len(set(values)) != len(values):
                raise ValueError(f"{name}: expected one or more, each once, got {list(values)}")
        for name, number in {"batch": min(self.batches), "runs": self.runs}.items():
            if number < 1:
                raise ValueError(f"{name}: expected at least 1, got {number}")
        if not self.seconds > 0:
            raise ValueError(f"seconds: expected more than 0, got {self.seconds}")
        if self.workers != 1:
            processes.check(self.workers)
        for table in self.tables():
            table.game  # noqa: B018  a game or an option that does not exist is refused here

    def tables(self, *, usual: bool = True) -> list[Table]:
        """The games with their usual numbers of players, or with the others, which only show what players cost."""
        tables = []
        for name in self.games:
            rules = self.rules.get(name, {})
            if "num_players" in rules:
                counts = [rules["num_players"]] if usual else []
            elif usual:
                counts = usual_player_counts(name)
            else:
                counts = [count for count in player_counts(name) if count not in usual_player_counts(name)]
            tables += [Table.of(name, {**rules, "num_players": count}, self.seed) for count in counts]
        return tables

    @property
    def scaling_batch(self) -> int:
        """The batch at which ratios and the cost of players are taken."""
        return SCALING_BATCH if SCALING_BATCH in self.batches else max(self.batches)

    def command(self) -> str:
        """The command that measures this."""
        options: dict[str, Iterable[Any]] = {
            "--batch": [] if self.batches == BATCHES else self.batches,
            "--layer": [] if self.layers == LAYERS else self.layers,
            "--rule": sorted({f"{name}={_rule_text(rules[name])}" for rules in self.rules.values() for name in rules}),
            "--workers": [self.workers] if self.workers > 1 else [],
            "--runs": [self.runs],
            "--seconds": [f"{self.seconds:g}"],
            "--seed": [self.seed],
        }
        words = ["slopes", "throughput", *([] if list(self.games) == game_names() else self.games)]
        words += ["--peers"] if self.peers else []
        for name, values in options.items():
            words += [word for value in values for word in (name, str(value))]
        return shlex.join(words)

    def settings(self, runs: int) -> dict[str, Any]:
        """The plan as plain JSON values, with the number of rounds that were finished."""
        return {
            "games": list(self.games),
            "options": dict(self.rules),
            "layers": list(self.layers),
            "batches": list(self.batches),
            "scaling_batch": self.scaling_batch,
            "peers": self.peers,
            "workers": self.workers,
            "runs": runs,
            "seconds": self.seconds,
            "seed": self.seed,
        }


def _rule_text(value: Any) -> str:
    """A value as ``--rule`` takes it."""
    if isinstance(value, tuple | list):
        return ",".join(map(_rule_text, value))
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)


# ------------------------------------------------------------------------------------------------------ measurement


class Interrupted(Exception):
    """Stopped by Ctrl-C after ``done`` rounds; ``result`` is what these found, or None before the first."""

    def __init__(self, result: Result | None, done: int) -> None:
        super().__init__(f"{done} rounds were finished")
        self.result, self.done = result, done


@dataclass
class _Prepared:
    """Subjects of a run, and what is known before any is timed."""

    subjects: list[Subject] = field(default_factory=list)
    facts: list[dict[str, Any]] = field(default_factory=list)
    mean_length: dict[str, float] = field(default_factory=dict)  # decisions a match, by game and rules
    missing: dict[str, str] = field(default_factory=dict)

    def add(self, table: Table, layers: Sequence[str], batches: Sequence[int]) -> None:
        """Make the subjects of a game, and note its length and its memory."""
        made = subjects(table, layers, batches)
        self.subjects += made
        lengths = [float(length) for length in table.lengths]
        rules = table.game.rules.record()
        self.mean_length[identity(table.name, rules)] = sum(lengths) / len(lengths)
        self.facts.append(_row(table.name, rules, CORE, MATCHES, Speed.of(lengths), LENGTH))
        for batch in batches:
            for layer, memory in _memory(table, batch).items():
                if layer in layers:
                    self.facts.append(_row(table.name, rules, layer, batch, Speed(*[memory] * 3), MEMORY))


def _prepare(plan: Plan, stack: ExitStack) -> _Prepared:
    prepared = _Prepared()
    prepared.missing.update({layer: why for layer, why in available_layers().items() if why and layer in plan.layers})
    layers = [layer for layer in plan.layers if layer not in prepared.missing]
    for table in plan.tables():
        prepared.add(table, layers, plan.batches)
    if CORE in layers:
        for table in plan.tables(usual=False):
            prepared.add(table, [CORE], [plan.scaling_batch])
    if plan.peers:
        found = peers.find(plan.seed)
        prepared.subjects += found.subjects
        prepared.missing.update(found.missing)
        if c_reference.GAME in plan.games:
            try:
                reference = stack.enter_context(c_reference.compiled())
                prepared.subjects += reference.subjects(plan.seed)
            except c_reference.NoReference as error:
                prepared.missing[c_reference.NAME] = str(error)
    return prepared


def _memory(table: Table, batch: int) -> dict[str, float]:
    """Bytes a game: of the state, and at the peak of a step with observation and mask."""
    tracemalloc.start()
    try:
        core = Core(table, batch, observed=True)
        tracemalloc.reset_peak()
        core.play()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return {CORE: bytes_a_game(core.state), OBSERVED: peak / batch}


def run(plan: Plan, console: Console | None = None) -> Result:
    """Measure, showing progress on ``console``.

    Raises
    ------
    Interrupted
        After Ctrl-C.
    """
    console = console or Console(quiet=True)
    before = load()
    with ExitStack() as stack:
        core = stack.enter_context(one_core())
        line(console, "preparing games, staggered, in every layer and batch …")
        prepared = _prepare(plan, stack)
        measured = [*prepared.subjects, Subject("calibration", {}, "numpy", 1, Calibration().play)]
        tell = stack.enter_context(progress(console, "measuring", plan.runs * len(measured), "slices"))
        with Stoppable(rounds(measured, plan.runs, plan.seconds, plan.seed, tell)) as going:
            speeds = list(going)
    stopped, gains = going.stopped, []
    if plan.workers > 1 and not stopped:
        line(console, f"measuring {plan.workers} processes at once …")
        with Stoppable(_gains(plan)) as going_on:
            gains = list(going_on)
        stopped = going_on.stopped
    if not speeds:
        raise Interrupted(None, 0)
    result = {
        "machine": {**describe(), "core": core, "load": {"before": before, "after": load()}},
        "versions": versions(peers.distributions() if plan.peers else ()),
        "commit": commit(),
        "command": plan.command(),
        "settings": plan.settings(len(speeds)),
        "calibration": {**_figures(Speed.of([found[-1] for found in speeds])), "unit": "workloads/s"},
        "rows": _speed_rows(prepared, speeds) + prepared.facts,
        "ratios": _ratios(plan, prepared.subjects, speeds),
        "workers": gains,
        "missing": prepared.missing,
    }
    if stopped:
        raise Interrupted(result, len(speeds))
    return result


def _gains(plan: Plan) -> Generator[dict[str, Any]]:
    """What several processes bring, for the first table of each game."""
    for name in plan.games:
        table = next(table for table in plan.tables() if table.name == name)
        found = processes.gain(table, plan.scaling_batch, plan.workers, plan.runs, plan.seconds)
        yield {
            "game": name,
            "rules": table.game.rules.record(),
            "batch": plan.scaling_batch,
            "workers": plan.workers,
            **_figures(found),
        }


def _figures(found: Speed) -> dict[str, float]:
    """Median, least and greatest, with as many digits as can mean something."""
    return {name: float(f"{value:.6g}") for name, value in found._asdict().items()}


def _row(game: str, rules: dict[str, Any], layer: str, batch: int, found: Speed, unit: str) -> dict[str, Any]:
    return {"game": game, "rules": rules, "layer": layer, "batch": batch, **_figures(found), "unit": unit}


def _speed_rows(prepared: _Prepared, speeds: list[list[float]]) -> list[dict[str, Any]]:
    """Decisions a second of everything, and matches a second of our own games (by their mean length)."""
    rows = []
    for one, runs in zip(prepared.subjects, zip(*speeds, strict=True), strict=False):  # not of the calibration
        found = Speed.of(runs)
        rows.append(_row(one.game, one.rules, one.layer, one.batch, found, DECISIONS))
        length = prepared.mean_length.get(identity(one.game, one.rules))
        if length is not None:
            matches = Speed(*[value / length for value in found])
            rows.append(_row(one.game, one.rules, one.layer, one.batch, matches, GAMES))
    return rows


def _ratios(plan: Plan, measured: Sequence[Subject], speeds: list[list[float]]) -> list[dict[str, Any]]:
    """How many times as fast as the peers we are, in the layers that do the same."""
    runs = list(zip(*speeds, strict=True))
    ratios = []
    for place, ours in enumerate(measured):
        batch = plan.scaling_batch if ours.layer in BATCHED else 1
        if "/" in ours.game or ours.batch != batch:
            continue
        for other_place, peer in enumerate(measured):
            name = _comparable(ours, peer)
            if name is None:
                continue
            found = Speed.of([mine / theirs for mine, theirs in zip(runs[place], runs[other_place], strict=True)])
            row = {"game": ours.game, "rules": ours.rules, "layer": ours.layer, "batch": ours.batch}
            ratios.append({**row, "peer": name, "peer_layer": peer.layer, **_figures(found)})
    return ratios


def _comparable(ours: Subject, peer: Subject) -> str | None:
    """What a peer is called beside one of our subjects; None if the two do not do the same."""
    library, slash, name = peer.game.partition("/")
    if not slash:
        same = (peer.game, peer.rules, peer.batch) == (ours.game, ours.rules, ours.batch)
        return OURSELVES if same and (ours.layer, peer.layer) in VIEWS else None
    if library == c_reference.LIBRARY and name != ours.game:
        return None
    return peer.game if (library, peer.layer) in COMPARED.get(ours.layer, ()) else None


# --------------------------------------------------------------------------------------------------------- by hand


def main(
    with_peers: Annotated[bool, typer.Option("--peers", help="Measure other libraries and the C reference.")] = False,
    workers: Annotated[int, typer.Option(help="Also compare so many processes at once with one.")] = 1,
    runs: Annotated[int, typer.Option(help="Rounds.")] = RUNS,
    seconds: Annotated[float, typer.Option(help="Of every subject in each round.")] = SECONDS,
    seed: Annotated[int, typer.Option(help="Of everything random.")] = 0,
    out: Annotated[Path, typer.Option(help="Folder for JSON, report and plot.")] = Path("runs/throughput"),
    readme: Annotated[Path | None, typer.Option(help="A README whose table of speeds is renewed.")] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 if something got slower.")] = False,
) -> None:
    """Measure the speed of every game and its views, and compare it with the stored results."""
    console = Console(highlight=False)
    prepare_report(out)
    if readme is not None:
        between(
            readme.read_text(encoding="utf-8"), README_BEGIN, README_END
        )  # its marks are there, before it takes long
    stored = read_stored()
    stopped = None
    try:
        result = run(Plan(peers=with_peers, workers=workers, runs=runs, seconds=seconds, seed=seed), console)
    except Interrupted as error:
        if error.result is None:
            raise typer.Exit(INTERRUPTED) from None
        result, stopped = error.result, error
    show(console, result)
    written = write_report(result, out)
    line(console, f"Written: {', '.join(map(str, written))}")
    if readme is not None:
        renew_readme(readme, result)
    if stopped is not None:
        line(console, f"Interrupted: {stopped}.")
        raise typer.Exit(INTERRUPTED)
    if stored is None:
        line(console, f"There are no stored results to compare with ({STORED}).")
        return
    comparison = compare(result, stored)
    tell(console, comparison)
    if strict and comparison.slower:
        raise typer.Exit(1)


if __name__ == "__main__":
    typer.run(main)
