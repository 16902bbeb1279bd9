"""How much duplicate deals and control variates spare, measured against games that are not paired.

``python -m slopes_benchmarks.variance GAME`` measures the mean difference between agents and writes, into a folder,
``variance_reduction.json`` and ``variance_reduction.md``.  What is in the folder already stays, but for the same agents
in the same game.

The comparison is at an equal number of games: one deal with the agent in each of its R places, against R games with a
deal of their own each and the agent in a place drawn for each.  Both estimate the same mean.  Every table of a
duplicate deal is by itself such a game, so the spread of single games is found from the same play: it is the variance
of the difference over all deals and places.

Shape letters: **N** deals, **T** tables a deal, **R** of them with the agent, **P** seats.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from scipy.stats import bootstrap

from .duplicate import Chunk, Plan, controlled_figures, evaluated_game, figures, play_chunk
from .intervals import AT_ONCE, BOOTSTRAP_SEED, CONFIDENCE, RESAMPLES, Interval
from .keeping import write_bytes, write_json
from .league_report import with_interval
from .markdown import table
from .terminal import line, progress
from .workers import spread

JSON, REPORT = "variance_reduction.json", "variance_reduction.md"
NO_VALUE = "none"
HANDFUL = 10
"""Deals that must differ from the rest before their spread means anything."""


def single_differences(plan: Plan, scores: NDArray[np.int64]) -> NDArray[np.float64]:
    """The agent's score less the mean of the others, at every one of its tables: ``float64[N, R]``."""
    own = plan.agent_seats
    tables = scores[:, : len(own)]
    ours = (tables * own).sum(axis=2) / own[0].sum()
    theirs = (tables * ~own).sum(axis=2) / (~own[0]).sum()
    differences: NDArray[np.float64] = ours - theirs
    return differences


def reduction(single: NDArray[np.float64], by_deal: NDArray[np.float64]) -> Interval | None:
    """How many times more games the same precision takes when they are not paired.

    Parameters
    ----------
    single
        ``float64[N, R]``: the difference at every table.
    by_deal
        ``float64[N]``: an estimate of its mean from each deal.

    Returns
    -------
    Variance of the mean of R unpaired games over that of a deal, with a 95 % interval (BCa bootstrap over deals); None
    where all deals but a handful give the same estimate, so that a few are enough, and their spread is not known.
    """
    _, counts = np.unique(by_deal, return_counts=True)
    if len(by_deal) - counts.max() < HANDFUL:
        return None
    rotations = single.shape[1]

    def ratio(
        square: NDArray[np.float64], mean: NDArray[np.float64], deal: NDArray[np.float64], axis: int = -1
    ) -> NDArray[np.float64]:
        unpaired = square.mean(axis=axis) - mean.mean(axis=axis) ** 2
        return np.asarray(unpaired / rotations / deal.var(axis=axis))

    data = ((single**2).mean(axis=1), single.mean(axis=1), by_deal)
    bounds = bootstrap(
        data,
        ratio,
        paired=True,
        vectorized=True,
        n_resamples=RESAMPLES,
        batch=max(AT_ONCE // len(single), 1),
        confidence_level=CONFIDENCE,
        method="BCa",
        rng=np.random.default_rng(BOOTSTRAP_SEED),
    ).confidence_interval
    return Interval(float(ratio(*data)), float(bounds.low), float(bounds.high))


def variance_reduction(plan: Plan, chunks: Iterable[Chunk]) -> dict[str, Any]:
    """The reductions in some play of a plan, as plain JSON values.

    Returns
    -------
    ``games`` (R), ``deviation`` (standard deviation of a single game), ``duplicate`` and, where a value was given,
    ``controlled`` (with control variates too): see :func:`reduction`.
    """
    played = sorted(chunks, key=lambda chunk: chunk.start)
    scores = np.concatenate([np.asarray(chunk.scores, np.int64) for chunk in played])
    single = single_differences(plan, scores)
    plain = figures(plan, scores)
    difference = plain["difference"]
    assert difference is not None
    found = {
        "games": single.shape[1],
        "deviation": float(single.std()),
        "duplicate": _as_json(reduction(single, difference)),
        "controlled": None,
    }
    if plan.value is not None:
        controls = np.concatenate([np.asarray(chunk.controls) for chunk in played])
        with_control = controlled_figures(plan, plain, controls)["difference"]
        assert with_control is not None
        found["controlled"] = _as_json(reduction(single, with_control))
    return found


def _as_json(interval: Interval | None) -> dict[str, Any] | None:
    return None if interval is None else interval.as_json()


# ----------------------------------------------------------------------------------------------------------- report


def report(rows: list[dict[str, Any]]) -> str:
    """The rows as a page of Markdown."""
    columns = [
        "game",
        "agent against",
        "games a deal",
        "deviation of a game",
        "duplicate deals",
        "and control variates",
        "value",
        "deals",
    ]
    cells = [
        [
            f"{row['title']}, {row['rules']['num_players']} players",
            f"`{row['agent']}` `{row['against']}`",
            str(row["games"]),
            f"{row['deviation']:.2f}",
            _cell(row["duplicate"]),
            "" if row["value"] is None else _cell(row["controlled"]),
            "" if row["value"] is None else f"`{row['value']}`",
            f"{row['deals']:,}",
        ]
        for row in rows
    ]
    commands = "\n".join(f"- {source}" for source in dict.fromkeys(_source(row) for row in rows))
    return f"""# What duplicate deals and control variates spare

How many times as many games it takes to know the mean difference between an agent and the others equally well when
every game has a deal of its own and the agent a seat drawn at random: the variance of such an estimate over that of
duplicate deals, at an equal number of games, with 95 % intervals (BCa bootstrap over deals). Above 1 something is
spared; "exact" means that all deals but a handful give the same answer. The table without the agent, which only the
`gain` needs, is not counted, nor is the work of the value.

{table(columns, cells, left=2)}

Duplicate deals take out the luck of the deal, and spare most where agents play by the cards. The luck in what agents
draw themselves is left; that is what control variates take out, where agents tell their probabilities. A value by
roll-outs is much slower than agents that do not search, so that it pays only where games are dear.

{commands}
"""


def _cell(factor: dict[str, Any] | None) -> str:
    return "exact" if factor is None else with_interval(factor, 2, sign=False)


def _source(row: dict[str, Any]) -> str:
    return f"`{row['command']}` (seed {row['seed']}, version {row['version']}, commit {row['commit']})"


def merged(old: list[dict[str, Any]], new: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows in the order of games, those of the same agents in the same game replaced."""
    rows = {_key(row): row for row in [*old, *new]}
    return [rows[key] for key in sorted(rows)]


def _key(row: dict[str, Any]) -> tuple[str, int, str, str]:
    return row["game"], row["rules"]["num_players"], row["agent"], row["against"]


def main(
    games: Annotated[list[str], typer.Argument(metavar="GAME...", help="Names of games.")],
    agents: Annotated[str, typer.Option(help="Specs by comma: each against each, and against itself.")] = "random",
    players: Annotated[int | None, typer.Option(help="Number of seats; by default that of the game.")] = None,
    deals: Annotated[int, typer.Option(help="Duplicate deals.")] = 500,
    seed: Annotated[int, typer.Option(help="Decides every deal.")] = 1,
    value: Annotated[str, typer.Option(help=f"Value for control variates, or {NO_VALUE}.")] = "rollout:times=4",
    workers: Annotated[int, typer.Option(min=1, help="Processes; they do not bear on results.")] = 1,
    out: Annotated[Path, typer.Option(help="Folder of the results.")] = Path("benchmarks") / "results",
) -> None:
    """Measure what duplicate deals and control variates spare."""
    console = Console(stderr=True)
    command = "python -m slopes_benchmarks.variance " + " ".join(sys.argv[1:])
    specs = agents.split(",")
    pairs = [(one, other) for place, one in enumerate(specs) for other in specs[place:]]
    rows = []
    for name in games:
        game = evaluated_game(name, {} if players is None else {"num_players": players})
        for agent, against in pairs:
            plan = Plan(game, agent, (against,), deals, seed, None if value == NO_VALUE else value)
            chunks = []
            with (
                progress(console, f"{name}: {agent} against {against}", deals, "deals") as tell,
                closing(spread(partial(play_chunk, plan), plan.chunks, workers, ordered=True)) as playing,
            ):
                for chunk in playing:
                    chunks.append(chunk)
                    tell(chunk.stop)
            work = {**plan.work, "against": against, "title": game.title, "deals": deals, "command": command}
            rows.append({**work, **variance_reduction(plan, chunks)})
    path = out / JSON
    old = json.loads(path.read_text(encoding="utf-8"))["rows"] if path.exists() else []
    together = merged(old, rows)
    write_json(path, {"rows": together})
    write_bytes(out / REPORT, report(together).encode())
    line(console, f"written to {path} and {out / REPORT}")


if __name__ == "__main__":
    typer.run(main)
