"""How results look: tables and progress bars on a terminal, plain lines when piped."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from slopes_envs.records import Record, show

PLAIN_PROGRESS_SECONDS = 10.0
"""How often progress is told where there is no terminal."""


def line(console: Console, text: str) -> None:
    """Print a line of text as it is; on a terminal it is wrapped between words."""
    if console.is_terminal:
        console.print(Text(text))
    else:
        print(text, file=console.file)  # Rich would turn tabs into spaces


def table(console: Console, title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table; when piped as plain lines, tabs between the cells, the names of the columns first."""
    if not console.is_terminal:
        line(console, f"# {title}")
        for row in [columns, *rows]:
            line(console, "\t".join(row))
        return
    line(console, title)
    drawn = Table()
    for number, column in enumerate(columns):
        numeric = number > 0 and all(_is_number(row[number]) for row in rows)
        drawn.add_column(Text(column), justify="right" if numeric else "left")
    for row in rows:
        drawn.add_row(*[Text(cell) for cell in row])
    console.print(drawn)


def _is_number(cell: str) -> bool:
    return not cell.strip("+-.,0123456789 %")


@contextmanager
def progress(console: Console, what: str, total: int | None, unit: str) -> Iterator[Callable[[int], None]]:
    """Show how much of some work is done and how long the rest will take; gives the function to tell it.

    ``total`` is None where it is not known.
    """
    if not console.is_terminal:
        yield _plain_progress(console, what, total, unit)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn(unit))
    with Progress(*columns, TimeElapsedColumn(), TimeRemainingColumn(), console=console, transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda done: bar.update(task, completed=done)


def _plain_progress(console: Console, what: str, total: int | None, unit: str) -> Callable[[int], None]:
    begun = told = time.monotonic()
    at_first: int | None = None

    def tell(done: int) -> None:
        nonlocal at_first, told
        now = time.monotonic()
        if at_first is None:
            at_first = done
        if now - told < PLAIN_PROGRESS_SECONDS or done == at_first:
            return
        told = now
        if total is None:
            line(console, f"{what}: {done} {unit}")
        else:
            left = (now - begun) / (done - at_first) * (total - done)
            line(console, f"{what}: {done} of {total} {unit}, about {left:.0f} s left")

    return tell


# ------------------------------------------------------------------------------------------------------------- records


def show_record(console: Console, number: int, record: Record) -> None:
    """Print a game record for people; ``number`` is its line in the file."""
    line(console, f"# record {number}, seed {record['seed']}")
    for text in show(record):
        line(console, text)
    line(console, "")


# --------------------------------------------------------------------------------------------------------- evaluation


def show_evaluation(console: Console, result: dict[str, Any]) -> None:
    """Print the result of an evaluation."""
    against = ", ".join(result["against"])
    title = f"{result['game']}: {result['agent']} against {against}, {result['deals']} deals, seed {result['seed']}"
    figures = ("difference", "gain", "agent_score", "against_score", "win_share")
    rows = [
        [name.replace("_", " "), f"{value['mean']:.3f}", *[f"{bound:.3f}" for bound in value["ci95"]]]
        for name in figures
        if (value := result.get(name)) is not None
    ]
    table(
        console, title, ["a match" if result["rules"]["match"] == "game" else "a hand", "mean", "95 % from", "to"], rows
    )
    if result["control"] is not None:
        _show_control(console, result["control"])
    if result["metrics"]:
        shown = [
            [name, *["-" if value is None else f"{value:.3f}" for value in groups.values()]]
            for name, groups in result["metrics"].items()
        ]
        table(console, "means over hands and seats", ["metric", "agent", "against"], shown)
    speed = result["decisions_per_second"]
    if speed is not None:
        line(console, f"{speed:,.0f} decisions/s, {result['seconds']:.1f} s")


def _show_control(console: Console, control: dict[str, Any]) -> None:
    rows = [
        [
            name.replace("_", " "),
            f"{plain['mean']:.3f}",
            *[f"{bound:.3f}" for bound in plain["ci95"]],
            _ratio(control, name),
        ]
        for name, plain in control["plain"].items()
        if plain is not None
    ]
    columns = ["without control variates", "mean", "95 % from", "to", "variance with them"]
    table(console, f"the same without the control variates of {control['value']}", columns, rows)


def _ratio(control: dict[str, Any], name: str) -> str:
    ratio = control["variance_ratio"][name]
    return "-" if ratio is None else f"{100 * ratio:.0f} %"


# ------------------------------------------------------------------------------------------------------------- leagues


def show_league(console: Console, found: dict[str, Any]) -> None:
    """Print the standings of a league."""
    from .league_report import cross_rows, rating_rows  # brings matplotlib, which no other command needs

    title = f"{found['game']}: {found['deals']} deals, {found['tables']} tables, seed {found['seed']}"
    table(console, title, *rating_rows(found))
    table(console, "differences, row less column", *cross_rows(found))
    for note in found["notes"]:
        line(console, note)
