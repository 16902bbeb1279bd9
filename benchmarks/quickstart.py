"""The project's main job in one go: train a policy that bids and plays, then benchmark it against the baselines.

``python -m slopes_benchmarks.quickstart`` (or ``make quickstart``) trains Slippery Slope for five minutes, evaluates
the result over duplicate deals, and leaves everything in a folder under ``runs/``.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from slopes_agents import make_agent
from slopes_agents.learned import BEST
from slopes_training.train import run

from . import curves
from .duplicate import evaluate, evaluated_game
from .keeping import write_json
from .league_report import with_interval
from .terminal import line, progress, table

GAME = "slippery_slope"
OPPONENTS = ("random", "heuristic")
EVALUATION, CURVES = "evaluation.json", "curves.png"


def free_folder(parent: Path, name: str) -> Path:
    """The first of ``name``, ``name-2``, ``name-3``, … that does not exist in ``parent``."""
    number, folder = 1, parent / name
    while folder.exists():
        number += 1
        folder = parent / f"{name}-{number}"
    return folder


def command() -> str:
    """How the ``slopes`` command is called from here: by its path, where the environment is not activated."""
    return "slopes" if shutil.which("slopes") else os.path.relpath(Path(sys.executable).with_name("slopes"))


def report(console: Console, results: list[dict[str, Any]]) -> None:
    """Print the results of evaluations as one table."""
    rows = []
    for result in results:
        made = result["metrics"]["bid_made"]
        rows.append(
            [
                result["against"][0],
                with_interval(result["difference"], 2),
                with_interval(result["agent_score"], 2),
                f"{100 * made['agent']:.1f} %",
                f"{100 * made['against']:.1f} %",
            ]
        )
    deals = results[0]["deals"]
    columns = ["against two", "points a hand above them", "own points a hand", "own bids made", "their bids made"]
    table(console, f"The trained policy over {deals:,} duplicate deals (95 % intervals)", columns, rows)


def main(
    minutes: Annotated[float, typer.Option(help="Minutes of training.")] = 5.0,
    deals: Annotated[int, typer.Option(help="Duplicate deals an evaluation.")] = 2000,
    seed: Annotated[int, typer.Option(help="Of training.")] = 0,
    out: Annotated[Path, typer.Option(help="Folder under which the run's own folder is made.")] = Path("runs"),
) -> None:
    """Train a Slippery Slope policy by self-play, then benchmark it against the baselines."""
    console = Console()
    folder = free_folder(out, "quickstart")
    line(console, f"Training Slippery Slope by self-play for {minutes:g} minutes into {folder} …")
    run(
        GAME,
        out=folder,
        minutes=minutes,
        seed=seed,
        overrides=["evaluation.every=500000"],
        console=console,
    )
    if not (folder / BEST).exists():
        raise typer.Exit(1)
    game = evaluated_game(GAME, {})
    spec = f"ppo:{folder}"
    make_agent(spec, game)
    results = []
    for opponent in OPPONENTS:
        with progress(console, f"evaluating against {opponent}", deals, "deals") as tell:
            results.append(evaluate(game, spec, opponent, deals, seed + 1, progress=tell))
    write_json(folder / EVALUATION, results)
    curves.draw([folder], folder / CURVES)
    line(console, "")
    report(console, results)
    slopes = command()
    for text in (
        "",
        f"Figures: {folder / EVALUATION}   learning curves: {folder / CURVES}   policy: {folder / BEST}",
        "What to try next:",
        f"  {slopes} evaluate {GAME} --agent {spec} --against heuristic --deals 2000 --seed 1 --rule match=game",
        f"  {slopes} record {GAME} --agents {spec} --matches 3 --seed 1 --out {folder}/matches.jsonl",
        f"  {slopes} replay {folder}/matches.jsonl --show",
        f"  {slopes} train {GAME} --decisions 50000000 --set network.layers=[160,320] --out runs/longer",
    ):
        line(console, text)


if __name__ == "__main__":
    typer.run(main)
