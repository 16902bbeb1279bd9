"""Speed of sampled worlds on one core: ``python -m slopes_benchmarks.worlds``.

``InformationSet.sample`` draws ``worlds`` worlds for each of ``games`` matches, as search does.  The matches are at the
middle of a hand (played at random; half as many moves as a hand has in the median), where most is hidden of what play
has shown something about, or at any moment of a whole match.  Time is that of the processor, so that other work on the
machine does not count; of several runs the median, the least and the greatest are given.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console

from slopes_envs import InformationSet, State, derive, game_names, match_seed
from slopes_envs.chance import UInt64
from slopes_training.provenance import commit

from .keeping import write_json
from .layers import Table, usual_player_counts
from .machine import describe, load, one_core, versions
from .terminal import progress, table
from .timing import Speed

MIDDLE, ANY = "middle of a hand", "any"
UNIT = "worlds/s"
MANY = 4  # so many times the matches asked for are played to the middle of a hand, since some end before


def middle_of_hands(which: Table, games: int) -> State:
    """Matches at the middle of their first hand."""
    game = which.game
    moves = int(np.median(which.lengths)) // 2
    rows = np.arange(MANY * games)
    state: State = game.new(match_seed(which.seed, rows, 2))
    for step in range(moves):
        game.step(state, game.sample_legal(state, derive(which.seed, step, rows)))
    under_way = np.flatnonzero(state.seat >= 0)
    middle: State = state.take(under_way[np.arange(games) % len(under_way)])
    return middle


def sampler(view: InformationSet, worlds: int) -> Callable[[], int]:
    """Draws worlds of all matches, other ones at each call, and gives their number."""
    keys: UInt64 = derive(view.keys)

    def play() -> int:
        nonlocal keys
        keys = derive(keys, 1)
        return len(view.sample(worlds, keys))

    return play


def processor_speed(play: Callable[[], int], seconds: float) -> float:
    """How much is done in a second of processor time."""
    done, begun = 0, time.process_time()
    while (spent := time.process_time() - begun) < seconds:
        done += play()
    return done / spent


def measure(name: str, players: int, moment: str, games: int, worlds: int, runs: int, seconds: float) -> dict[str, Any]:
    """One row of the results."""
    rules = {"num_players": players, **({"match": "hand"} if moment == MIDDLE else {})}
    which = Table.of(name, rules, seed=0)
    state = middle_of_hands(which, games) if moment == MIDDLE else which.staggered(games)
    play = sampler(InformationSet(which.game, state), worlds)
    play()
    speed = Speed.of([processor_speed(play, seconds) for _ in range(runs)])
    return {"game": name, "rules": rules, "moment": moment, "games": games, "worlds": worlds, **speed._asdict()}


def main(
    names: Annotated[list[str] | None, typer.Argument(metavar="[GAME...]", help="By default all games.")] = None,
    games: Annotated[int, typer.Option(min=1, help="Matches at a time.")] = 128,
    worlds: Annotated[int, typer.Option(min=1, help="Worlds of each.")] = 32,
    runs: Annotated[int, typer.Option(min=1, help="Measurements of each row.")] = 5,
    seconds: Annotated[float, typer.Option(min=0.01, help="Processor time of one measurement.")] = 0.3,
    json: Annotated[Path | None, typer.Option(help="File for the figures.")] = None,
) -> None:
    """Measure how many worlds are sampled a second."""
    console = Console()
    work = [
        (name, players, moment)
        for name in names or game_names()
        for players in usual_player_counts(name)
        for moment in (MIDDLE, ANY)
    ]
    rows = []
    with one_core(), progress(Console(stderr=True), "worlds", len(work), "rows") as tell:
        for done, (name, players, moment) in enumerate(work, 1):
            rows.append({**measure(name, players, moment, games, worlds, runs, seconds), "unit": UNIT})
            tell(done)
    shown = [
        [row["game"], str(row["rules"]["num_players"]), row["moment"], *[f"{row[key]:,.0f}" for key in Speed._fields]]
        for row in rows
    ]
    title = f"{UNIT} on one core, {games} matches at a time, {worlds} worlds of each"
    table(console, title, ["game", "players", "moment", *Speed._fields], shown)
    if json is not None:
        facts = {"machine": {**describe(), "load": load()}, "versions": versions(), "commit": commit()}
        write_json(json, {**facts, "rows": rows})


if __name__ == "__main__":
    typer.run(main)
