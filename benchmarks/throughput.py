"""Speed of every game and its views on one core, beside other libraries and a reference in C.

``slopes throughput`` prints the figures; ``make bench`` (``python -m slopes_benchmarks.throughput``) measures the same,
leaves JSON, report and plot under ``runs/throughput``, and says what got slower by more than a fifth since the stored
results.  ``--peers --processes 2 --out benchmarks/results --readme README.md`` renews those, on a machine that does
nothing else; where the time goes is told by ``--seconds`` and ``--runs``.

How it is measured: whole matches (``match="game"``), uniformly random legal play, the action check on, finished matches
restarted, phases staggered (:mod:`slopes_benchmarks.layers`).  All subjects of a run are timed in turn, round by round
(:mod:`slopes_benchmarks.timing`), and a fixed workload with them, by which machines and days can be compared.
"""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer
from rich.console import Console

from slopes_envs import UnknownName, game_names

from . import c_reference, peers, processes
from .layers import (
    AEC,
    AEC_RAW,
    BATCHED,
    CORE,
    LAYERS,
    MATCHES,
    OBSERVED,
    SINGLE,
    Core,
    Table,
    available_layers,
    bytes_a_game,
    player_counts,
    subject,
    subjects,
    usual_player_counts,
)
from .machine import Calibration, describe, load, one_core, versions
from .provenance import commit
from .terminal import line, progress
from .timing import DECISIONS, Speed, Subject, rounds
from .workers import Stoppable

BATCHES = (1, 64, 1024, 4096, 16384)
SCALING_BATCH = 4096
"""Where ratios and the cost of players are taken, if it is measured; else the largest batch that is."""

RUNS, SECONDS = 5, 0.5
MATCHES_A_SECOND, DECISIONS_A_MATCH, BYTES_A_GAME = "games/s", "decisions/game", "bytes/game"
CALIBRATION = Subject("calibration", {}, "numpy", 1, lambda: 0)

COMPARED: dict[str, tuple[tuple[str, str], ...]] = {
    CORE: (
        ("open_spiel", peers.CPP),
        ("open_spiel", peers.ROLLOUT),
        ("open_spiel", peers.PYTHON),
        ("c", CORE),
    ),
    OBSERVED: (("open_spiel", OBSERVED), ("rlcard", peers.ENV), ("pgx", OBSERVED), ("c", OBSERVED)),
    AEC_RAW: (("pettingzoo", AEC_RAW),),
    AEC: (("pettingzoo", AEC),),
}
"""For each of our layers, which layers of which libraries do the same: ratios are taken of these."""

STORED = Path(__file__).parent / "results" / "throughput.json"
SLOWER = 0.2
"""By what share something must have got slower to be told."""

Result = dict[str, Any]


# --------------------------------------------------------------------------------------------------------- the plan


@dataclass(frozen=True)
class Plan:
    """What is to be measured; all of it checked.

    Attributes
    ----------
    games
        Names of games.
    rules
        Options by game; a game whose ``num_players`` is given is measured with that alone.
    layers, batches
        Layers of :mod:`slopes_benchmarks.layers`, and numbers of games at once.
    peers
        Whether other libraries and the C reference are measured, too.
    processes
        How many processes at once are compared with one; 1 leaves that out.
    runs, seconds
        Rounds, and the time of one subject in each.
    seed
        Of everything random.

    Raises
    ------
    UnknownName, RulesError, ValueError
        For names that are not known and numbers that are not allowed.
    """

    games: tuple[str, ...] = field(default_factory=lambda: tuple(game_names()))
    rules: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    layers: tuple[str, ...] = LAYERS
    batches: tuple[int, ...] = BATCHES
    peers: bool = False
    processes: int = 1
    runs: int = RUNS
    seconds: float = SECONDS
    seed: int = 0

    def __post_init__(self) -> None:
        for layer in self.layers:
            if layer not in LAYERS:
                raise UnknownName("layer", layer, LAYERS)
        least = {"games": len(self.games), "layers": len(self.layers), "batches": len(self.batches), "runs": self.runs}
        for name, number in {**least, **{f"batch {batch}": batch for batch in self.batches}}.items():
            if number < 1:
                raise ValueError(f"{name}: expected at least 1, got {number}")
        for name, values in {"games": self.games, "layers": self.layers, "batches": self.batches}.items():
            if len(set(values)) != len(values):
                raise ValueError(f"{name}: expected each once, got {', '.join(map(str, values))}")
        if not self.seconds > 0:
            raise ValueError(f"seconds: expected more than 0, got {self.seconds}")
        if self.processes != 1:
            processes.check(self.processes)
        for table in [*self.usual_tables, *self.other_tables]:
            table.game  # noqa: B018  a game or an option that does not exist is refused here

    @property
    def usual_tables(self) -> list[Table]:
        """Every game with its usual numbers of players."""
        return [table for game in self.games for table in self._tables(game, usual_player_counts(game))]

    @property
    def other_tables(self) -> list[Table]:
        """Every game with its other numbers of players, measured only to tell what players cost."""
        return [
            table
            for game in self.games
            for table in self._tables(game, sorted({*player_counts(game)} - {*usual_player_counts(game)}))
            if "num_players" not in self.rules.get(game, {}) and CORE in self.layers
        ]

    def _tables(self, game: str, counts: Sequence[int]) -> list[Table]:
        rules = self.rules.get(game, {})
        if "num_players" in rules:
            return [Table.of(game, rules, self.seed)]
        return [Table.of(game, {**rules, "num_players": count}, self.seed) for count in counts]

    @property
    def scaling_batch(self) -> int:
        """The batch at which ratios and the cost of players are taken."""
        return SCALING_BATCH if SCALING_BATCH in self.batches else max(self.batches)

    def settings(self) -> dict[str, Any]:
        """The plan as plain JSON values."""
        return {
            "games": list(self.games),
            "rules": dict(self.rules),
            "layers": list(self.layers),
            "batches": list(self.batches),
            "scaling_batch": self.scaling_batch,
            "peers": self.peers,
            "processes": self.processes,
            "runs": self.runs,
            "seconds": self.seconds,
            "seed": self.seed,
        }


# ------------------------------------------------------------------------------------------------------ measurement


class Interrupted(Exception):
    """Stopped by Ctrl-C; ``result`` is that of the rounds that were finished, if there is one."""

    def __init__(self, result: Result | None, done: int) -> None:
        super().__init__(f"{done} rounds were finished")
        self.result, self.done = result, done


def run(plan: Plan, console: Console | None = None) -> Result:
    """Measure, and give the result in plain JSON values.

    Parameters
    ----------
    plan
        What to measure.
    console
        Where progress is shown.

    Returns
    -------
    ``machine``, ``versions``, ``commit``, ``settings``; ``rows`` (game, rules, layer, batch, median, low, high, unit);
    ``calibration``, the workload that everything is relative to; ``ratios`` to peers, taken round by round;
    ``processes``, the gain of several over one; and ``missing``, what could not be measured, with reasons.

    Raises
    ------
    Interrupted
        After Ctrl-C.
    """
    console = console or Console(quiet=True)
    before = load()
    missing = {layer: reason for layer in plan.layers if (reason := available_layers()[layer])}
    with ExitStack() as stack:
        core = stack.enter_context(one_core())
        line(console, "making games and staggering them …")
        usual, others = plan.usual_tables, plan.other_tables
        rows = [row for table in [*usual, *others] for row in _facts(table, plan)]
        measured = _own_subjects(plan, usual, others, [layer for layer in plan.layers if layer not in missing])
        if plan.peers:
            line(console, "preparing peers …")
            measured += _peer_subjects(plan, stack, missing)
        measured.append(CALIBRATION_SUBJECT())
        slices = plan.runs * len(measured)
        tell = stack.enter_context(progress(console, "measuring", slices, "slices"))
        going: Generator[list[float]] = rounds(measured, plan.runs, plan.seconds, plan.seed, tell)
        with Stoppable(going) as finished:
            speeds = list(finished)
    gains = []
    if plan.processes > 1 and not finished.stopped:
        line(console, f"measuring {plan.processes} processes at once …")
        gains = _gains(plan)
    result = None
    if speeds:
        result = {
            "machine": {**describe(), "core": core, "load": {"before": before, "after": load()}},
            "versions": versions(peers.distributions() if plan.peers else ()),
            "commit": commit(),
            "settings": plan.settings(),
            "calibration": {**_figures(Speed.of([found[-1] for found in speeds])), "unit": "rounds of work/s"},
            "rows": rows + _speed_rows(usual + others, measured[:-1], speeds),
            "ratios": _ratios(plan, measured, speeds),
            "processes": gains,
            "missing": missing,
        }
    if finished.stopped or result is None:
        raise Interrupted(result, len(speeds))
    return result
