"""The README's table of strength, made from the leagues that are stored.

``python -m slopes_benchmarks.strength`` renews it in the README of the checkout it is run in.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from slopes_training.provenance import short_commit

from .keeping import write_bytes
from .league_report import STANDINGS, unit, with_interval
from .markdown import between, table

BEGIN, END = "<!-- strength: begin -->", "<!-- strength: end -->"
LEAGUES = Path("benchmarks") / "results" / "league"


def stored_leagues(folder: Path) -> list[dict[str, Any]]:
    """Standings of the leagues in the folders of a folder, in the order of game and number of players."""
    found = [json.loads(path.read_text(encoding="utf-8")) for path in folder.glob(f"*/{STANDINGS}")]
    return sorted(found, key=lambda league: (league["game"], league["rules"]["num_players"]))


def strength_table(leagues: list[dict[str, Any]]) -> str:
    """The table and where its figures come from; nothing at all where there is no league."""
    if not leagues:
        return ""
    rows = [
        [
            f"{league['title']}, {league['rules']['num_players']} players",
            f"`{entry['agent']}`",
            with_interval(entry["rating"], 0),
            f"{with_interval(entry['difference'], 2)} a {unit(league)}",
        ]
        for league in leagues
        for entry in league["agents"]
    ]
    columns = ["game", "player", "rating", "points above the others"]
    sources = [f"- `{league['command']}` ({_played_by(league)})" for league in leagues]
    return "\n".join([table(columns, rows, left=2), "", "95 % intervals over deals. The leagues:", "", *sources])


def _played_by(league: dict[str, Any]) -> str:
    codes = ", ".join(short_commit(code) for code in league["played_by"])
    return f"version {league['version']}, commit {codes}"


def renewed(readme: str, leagues: list[dict[str, Any]]) -> str:
    """The text of a README with its table of strength renewed.

    Raises
    ------
    ValueError
        If the marks between which the table stands are not there.
    """
    before, _, after = between(readme, BEGIN, END)
    text = strength_table(leagues)
    inside = f"\n\n{text}\n\n" if text else "\n"
    return f"{before}{BEGIN}{inside}{END}{after}"


def main(
    readme: Annotated[Path, typer.Option(help="The README.")] = Path("README.md"),
    leagues: Annotated[Path, typer.Option(help="Folder that holds a folder for every league.")] = LEAGUES,
) -> None:
    """Renew the README's table of strength from the leagues that are stored."""
    write_bytes(readme, renewed(readme.read_text(encoding="utf-8"), stored_leagues(leagues)).encode())


if __name__ == "__main__":
    typer.run(main)
