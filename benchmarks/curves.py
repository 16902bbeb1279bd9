"""Learning curves: how a policy fared against others in the course of its training.

``python -m slopes_benchmarks.curves RUN [RUN…] --out PNG`` draws the evaluations in the logs of some runs of one game,
against each opponent in a panel of its own, with 95 % intervals; every run is a line.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from matplotlib.figure import Figure

from slopes_envs.files import write_bytes
from slopes_training.config import TrainingConfig, load_config
from slopes_training.train import CONFIG, LOG

DPI = 150
ACROSS = 2  # panels side by side

Curve = list[tuple[int, float, float]]
"""Decisions, mean difference, standard error."""


def read_curves(log: Path) -> dict[str, Curve]:
    """The evaluations in a run's log: for each opponent decisions, mean difference, standard error."""
    curves: dict[str, Curve] = {}
    with log.open(newline="", encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            for name, value in row.items():
                if name.startswith("eval/") and not name.endswith("_error") and value:
                    point = (int(row["decisions"]), float(value), float(row[f"{name}_error"]))
                    curves.setdefault(name.removeprefix("eval/"), []).append(point)
    return curves


def names_of(runs: Sequence[Path], settings: Sequence[TrainingConfig]) -> list[str]:
    """What runs are called: by their seeds if these tell them apart, else by their folders."""
    seeds = [each.seed for each in settings]
    if len(set(seeds)) == len(seeds):
        return [f"seed {seed}" for seed in seeds]
    return [run.name for run in runs]


def picture(runs: Sequence[Path]) -> Figure:
    """The learning curves of some runs.

    Parameters
    ----------
    runs
        Their folders.

    Raises
    ------
    ValueError
        If a folder holds no run, or none with an evaluation yet, or the runs are of several games.
    """
    settings = []
    for run in runs:
        if not (run / LOG).is_file() or not (run / CONFIG).is_file():
            raise ValueError(f"{run}: expected the folder of a run, with {LOG} and {CONFIG}")
        settings.append(load_config(run / CONFIG))
    games = list(dict.fromkeys(each.game for each in settings))
    if len(games) != 1:
        raise ValueError(f"expected runs of one game, got {', '.join(games)}")
    curves = [read_curves(run / LOG) for run in runs]
    for run, found in zip(runs, curves, strict=True):
        if not found:
            raise ValueError(f"{run / LOG}: there is no evaluation in it yet")
    opponents = list(dict.fromkeys(name for found in curves for name in found))
    game = settings[0].made_games()[0]
    across = min(len(opponents), ACROSS)
    down = -(-len(opponents) // across)
    figure = Figure(figsize=(5 * across + 1, 3.3 * down + 0.5), dpi=DPI, layout="constrained")
    panels = figure.subplots(down, across, squeeze=False, sharex=True).reshape(-1)
    for panel, opponent in zip(panels, opponents, strict=False):
        for number, (name, found) in enumerate(zip(names_of(runs, settings), curves, strict=True)):
            points = found.get(opponent, [])
            panel.errorbar(
                [decisions / 1e6 for decisions, _, _ in points],
                [mean for _, mean, _ in points],
                yerr=[1.96 * error for _, _, error in points],
                color=f"C{number}",
                marker="o",
                markersize=3,
                linewidth=1,
                elinewidth=1,
                capsize=2,
                label=name,
            )
        panel.axhline(0, color="grey", linewidth=0.8)
        panel.set_title(f"against {opponent}", fontsize="medium")
        panel.set_ylabel(f"points a {'hand' if game.rules.match == 'hand' else 'match'} above them")
        panel.grid(alpha=0.3)
    for panel in panels[len(opponents) :]:
        panel.remove()
    for panel in panels[max(len(opponents) - across, 0) : len(opponents)]:
        panel.set_xlabel("decisions (millions)")
        panel.tick_params(labelbottom=True)
    panels[0].legend()
    figure.suptitle(f"{game.title}: learning curves")
    return figure


def draw(runs: Sequence[Path], out: Path) -> None:
    """Write the picture of :func:`picture` as a PNG."""
    stream = io.BytesIO()
    picture(runs).savefig(stream, format="png")  # made without pyplot: no display needed
    out.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(out, stream.getvalue())


def main(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Folders of runs of one game.")],
    out: Annotated[Path, typer.Option(metavar="PNG", help="The picture.")],
) -> None:
    """Draw learning curves from the logs of runs."""
    try:
        draw(runs, out)
    except (ValueError, OSError) as error:
        typer.echo(f"Error: {error}", err=True)
        raise typer.Exit(2) from None
    typer.echo(f"{out}: {out.stat().st_size:,} bytes")


if __name__ == "__main__":
    typer.run(main)
