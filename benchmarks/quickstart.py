"""The project's main job in one go: train a policy that bids and plays, then benchmark it against the baselines.

``python -m slopes_benchmarks.quickstart`` (or ``make quickstart``) trains Slippery Slope for five minutes, evaluates
the result over duplicate deals, and leaves everything in a folder under ``runs/``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import matplotlib as mpl
import typer
from rich.console import Console

from slopes_agents import make_agent
from slopes_envs.files import written_beside
from slopes_training.train import BEST, LOG, run

from .curves import read_curves
from .duplicate import evaluate, evaluated_game
from .keeping import write_json
from .terminal import line, progress, table

mpl.use("Agg")  # pictures go to files
from matplotlib import pyplot as plt

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


def draw_curves(log: Path, picture: Path) -> None:
    """Draw the learning curves of a run's log, with 95 % bands, as a PNG."""
    figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
    for opponent, points in read_curves(log).items():
        decisions, means, errors = zip(*points, strict=True)
        millions = [number / 1e6 for number in decisions]
        axes.plot(millions, means, marker="o", markersize=3, label=f"against {opponent}")
        low = [mean - 1.96 * error for mean, error in zip(means, errors, strict=True)]
        high = [mean + 1.96 * error for mean, error in zip(means, errors, strict=True)]
        axes.fill_between(millions, low, high, alpha=0.2)
    axes.axhline(0, color="grey", linewidth=0.8)
    axes.set(xlabel="decisions (millions)", ylabel="points a hand above the others", title="Slippery Slope, self-play")
    axes.legend()
    picture.parent.mkdir(parents=True, exist_ok=True)
    with written_beside(picture) as stream:
        figure.savefig(stream, format="png", dpi=150)
    plt.close(figure)


def interval(figure: dict[str, Any]) -> str:
    """A mean with its 95 % interval, as text."""
    low, high = figure["ci95"]
    return f"{figure['mean']:+.2f} [{low:+.2f}, {high:+.2f}]"


def report(console: Console, results: list[dict[str, Any]]) -> None:
    """Print the results of evaluations as one table."""
    rows = []
    for result in results:
        made = result["metrics"]["bid_made"]
        rows.append(
            [
                result["against"][0],
                interval(result["difference"]),
                interval(result["agent_score"]),
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
    draw_curves(folder / LOG, folder / CURVES)
    line(console, "")
    report(console, results)
    for text in (
        "",
        f"Figures: {folder / EVALUATION}   learning curves: {folder / CURVES}   policy: {folder / BEST}",
        "What to try next:",
        f"  slopes evaluate {GAME} --agent {spec} --against heuristic --deals 2000 --seed 1 --rule match=game",
        f"  slopes record {GAME} --agents {spec} --matches 3 --seed 1 --out {folder}/matches.jsonl",
        f"  slopes replay {folder}/matches.jsonl --show",
        f"  slopes train {GAME} --decisions 50000000 --set network.layers=[160,320] --out runs/longer",
    ):
        line(console, text)


if __name__ == "__main__":
    typer.run(main)
