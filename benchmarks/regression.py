"""What got slower since the stored results: a guard to be run by hand, never a timed test.

Two runs are compared by speeds relative to the calibration of their own run, so that another machine, or the same one
on a slow day, is no regression.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console

from .terminal import line
from .timing import DECISIONS, identity

STORED = Path(__file__).parent / "results" / "throughput.json"
SLOWER = 0.2
"""By what share something must have got slower to be told."""

Row = dict[str, Any]
Result = dict[str, Any]


class Change(NamedTuple):
    """A row, and its speed as a share of the stored one."""

    row: Row
    share: float


class Comparison(NamedTuple):
    """What a comparison with stored results found."""

    slower: list[Change]
    compared: int
    unknown: int
    """Rows of which nothing is stored, as for a new game or after a change of options."""


def read_stored() -> Result | None:
    """The stored results, if there are any."""
    if not STORED.exists():
        return None
    stored: Result = json.loads(STORED.read_text(encoding="utf-8"))
    return stored


def compare(result: Result, stored: Result) -> Comparison:
    """Find what got slower by more than :data:`SLOWER`, slowest first, among our own rows that both results hold."""
    now, then = _paced(result), _paced(stored)
    changes = [Change(row, pace / then[key][1]) for key, (row, pace) in now.items() if key in then]
    slower = sorted((change for change in changes if change.share < 1 - SLOWER), key=lambda change: change.share)
    return Comparison(slower, len(changes), len(now) - len(changes))


def _paced(result: Result) -> dict[str, tuple[Row, float]]:
    """Our own rows, with their speeds relative to the calibration."""
    calibration = result["calibration"]["median"]
    return {
        f"{identity(row['game'], row['rules'])} {row['layer']} {row['batch']}": (row, row["median"] / calibration)
        for row in result["rows"]
        if row["unit"] == DECISIONS and "/" not in row["game"]
    }


def tell(console: Console, comparison: Comparison) -> None:
    """Say what got slower."""
    slower, compared, unknown = comparison
    rest = f"; {unknown} are not stored" if unknown else ""
    if not slower:
        line(console, f"Of {compared} speeds none is more than {SLOWER:.0%} below the stored one{rest}.")
        return
    line(
        console,
        f"Of {compared} speeds {len(slower)} are more than {SLOWER:.0%} below the stored ones, relative to the "
        f"calibration{rest}:",
    )
    for row, share in slower:
        players = row["rules"].get("num_players", "?")
        line(console, f"  {row['game']}, {players} players, {row['layer']}, B = {row['batch']}: {share:.2f} of it")
