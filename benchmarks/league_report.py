"""The standings of a league for people: a report in Markdown, and two pictures."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from .keeping import write_bytes, write_json
from .markdown import table

STANDINGS, REPORT, CROSS_TABLE, RATINGS = "league.json", "report.md", "cross_table.png", "ratings.png"
DPI = 150
LONGEST_NAME = 24  # characters of a spec in a picture


def write_report(folder: Path, found: dict[str, Any]) -> None:
    """Write ``league.json``, ``report.md`` and the pictures of some standings into a folder."""
    _write_picture(folder / CROSS_TABLE, cross_table_picture(found))
    _write_picture(folder / RATINGS, ratings_picture(found))
    write_bytes(folder / REPORT, report(found).encode())
    write_json(folder / STANDINGS, found)


# ------------------------------------------------------------------------------------------------------------- text


def unit(found: dict[str, Any]) -> str:
    """What scores are counted over: a hand, or a match."""
    return "hand" if found["rules"]["match"] == "hand" else "match"


def with_interval(figure: dict[str, Any], digits: int, *, sign: bool = True) -> str:
    """A mean and its interval, as in ``+1.23 [+1.10, +1.36]``."""
    numbers = (f"{number:{'+' if sign else ''}.{digits}f}" for number in (figure["mean"], *figure["ci95"]))
    return "{} [{}, {}]".format(*numbers)


def rating_rows(found: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Columns and rows of the table of ratings; alpha-rank where it was computed."""
    columns = ["agent", "rating", f"points a {unit(found)} above the others", f"own points a {unit(found)}"]
    rows = [
        [
            entry["agent"],
            with_interval(entry["rating"], 0),
            with_interval(entry["difference"], 3),
            with_interval(entry["score"], 3),
        ]
        for entry in found["agents"]
    ]
    shares = [entry["alpha_rank"] for entry in found["agents"]]
    if None not in shares:
        columns.append("alpha-rank")
        rows = [[*row, f"{share:.3f}"] for row, share in zip(rows, shares, strict=True)]
    return columns, rows


def cross_rows(found: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Columns and rows of the cross-table."""
    agents = [entry["agent"] for entry in found["agents"]]
    cells = found["cross_table"]
    rows = [[one, *["" if one == other else with_interval(cells[one][other], 3) for other in agents]] for one in agents]
    return ["agent less …", *agents], rows


def report(found: dict[str, Any]) -> str:
    """The report, Markdown."""
    rules = ", ".join(f"{name}={value}" for name, value in found["rules"].items())
    played_by = ", ".join(f"{commit} ({count:,})" for commit, count in found["played_by"].items())
    notes = "".join(f"\n{note}.\n" for note in found["notes"])
    return f"""# League: {found["title"]}

    {found["command"]}

{found["deals"]:,} deals, each played by {found["groups"]} groups of agents with every agent of a group in every seat:
{found["tables"]:,} tables in all. Seed {found["seed"]}, version {found["version"]}, commit {found["commit"]}; deals \
of groups played by commit: {played_by}. Options: {rules}.

## Ratings

{table(*rating_rows(found))}
{notes}
![ratings]({RATINGS})

## Differences

Points a {unit(found)} by which the agent of the row scores more than that of the column, at the same tables and over \
all seats.

{table(*cross_rows(found))}

![differences]({CROSS_TABLE})

## How to read it

All intervals are 95 % over deals, the independent unit: those of differences and scores Student's, those of ratings
percentiles of a bootstrap. A rating is the strength of the Plackett-Luce model in points, their mean zero, from who
finished above whom at each table: 400 points more finish above at ten to one. It looks at ranks only, the differences
at scores. Groups are all sets of two to four agents (of two, where there are two sides); from table to table of a deal
every seat passes to the next agent of the group, so that luck of the deal and of the seat falls to all alike.
"""


# --------------------------------------------------------------------------------------------------------- pictures


def _write_picture(path: Path, figure: Figure) -> None:
    stream = io.BytesIO()
    figure.savefig(stream, format="png")  # a figure of its own, made without pyplot: drawn by Agg, no display needed
    write_bytes(path, stream.getvalue())


def _short(agent: str) -> str:
    """A spec that fits a picture: of a long one the end, where paths differ."""
    return agent if len(agent) <= LONGEST_NAME else "…" + agent[1 - LONGEST_NAME :]


def cross_table_picture(found: dict[str, Any]) -> Figure:
    """The cross-table as a heat map; pale numbers are those whose interval holds zero."""
    agents = [entry["agent"] for entry in found["agents"]]
    count = len(agents)
    means = np.array(
        [[0.0 if a == b else found["cross_table"][a][b]["mean"] for b in agents] for a in agents], np.float64
    )
    most = max(float(np.abs(means).max()), 1e-9)
    side = 2.5 + 1.0 * count
    figure = Figure(figsize=(side + 1, side), dpi=DPI, layout="constrained")
    axes = figure.add_subplot()
    image = axes.imshow(means, cmap="RdBu", vmin=-most, vmax=most)
    names = [_short(agent) for agent in agents]
    axes.set_xticks(range(count), names, rotation=30, ha="right")
    axes.set_yticks(range(count), names)
    for a in range(count):
        for b in range(count):
            if a == b:
                continue
            low, high = found["cross_table"][agents[a]][agents[b]]["ci95"]
            unsure = low <= 0 <= high
            dark = abs(means[a, b]) > 0.6 * most
            axes.text(
                b,
                a,
                f"{means[a, b]:+.2f}\n±{(high - low) / 2:.2f}",
                ha="center",
                va="center",
                fontsize=8,
                color="white" if dark else "black",
                alpha=0.5 if unsure else 1,
            )
    figure.colorbar(image, ax=axes, label=f"points a {unit(found)}, row less column", shrink=0.8)
    axes.set_title(f"{found['title']}: {found['deals']:,} deals")
    return figure


def ratings_picture(found: dict[str, Any]) -> Figure:
    """Ratings with their intervals, the best on top."""
    entries = found["agents"][::-1]
    figure = Figure(figsize=(7, 1.5 + 0.45 * len(entries)), dpi=DPI, layout="constrained")
    axes = figure.add_subplot()
    for height, entry in enumerate(entries):
        mean, (low, high) = entry["rating"]["mean"], entry["rating"]["ci95"]
        axes.plot([low, high], [height, height], color="tab:blue", linewidth=2, solid_capstyle="butt")
        axes.plot([mean], [height], marker="o", color="tab:blue")
    axes.set_yticks(range(len(entries)), [_short(entry["agent"]) for entry in entries])
    axes.set_ylim(-0.7, len(entries) - 0.3)
    axes.axvline(0, color="grey", linewidth=0.8)
    axes.grid(axis="x", alpha=0.3)
    axes.set_xlabel("rating (points; 400 more finish above at ten to one), 95 % intervals")
    axes.set_title(f"{found['title']}: {found['deals']:,} deals")
    return figure
