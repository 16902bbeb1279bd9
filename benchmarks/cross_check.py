"""Our information-set search against OpenSpiel's: what they find in the same positions, and how they play each other.

``python -m slopes_benchmarks.cross_check`` needs OpenSpiel (``pip install open_spiel``) and writes
``cross_check.json`` and ``cross_check.md`` into a folder.  How the two are brought together, and where they differ, is
told in :mod:`~slopes_benchmarks.openspiel_bridge`.

Shape letters: **N** positions, **A** actions.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console

from slopes_agents import make_agent
from slopes_agents.search import IsmctsAgent
from slopes_envs import Game, InformationSet, State, __version__, derive, make_game, match_seed
from slopes_envs.chance import below
from slopes_envs.games.slippery_slope import MOVES, P
from slopes_training.provenance import commit

from .duplicate import Chunk, Plan, play_chunk, summary
from .intervals import student_interval
from .keeping import KeptPieces, write_bytes, write_json
from .league_report import with_interval
from .machine import describe, versions
from .markdown import table
from .openspiel_bridge import GAME, OpenSpielIsmcts, Root
from .terminal import line, progress
from .workers import Stoppable, spread

JSON, REPORT, PLAYING = "cross_check.json", "cross_check.md", "cross_check.playing.jsonl"
BRIDGE = f"{OpenSpielIsmcts.__module__}:{OpenSpielIsmcts.__name__}"
TRIED = 20
"""Visits below which a mean is too uncertain to be compared."""
GAMES_LOOKED_AT = 4000
"""Hands among which positions are looked for."""
FEWEST_CARDS, MOST_CARDS = 3, 5
"""Cards a seat still holds where everything is known: so few that both searches see to the end of the hand."""
DEALS_AT_ONCE = 10
"""Deals of a piece of the match."""


# ---------------------------------------------------------------------------------------------------------- positions


class Kind(NamedTuple):
    """A kind of position: what it is called, under which options it arises, and which states are such."""

    name: str
    rules: dict[str, Any]
    wanted: Callable[[Game[Any, Any], Any, NDArray[np.int64]], NDArray[np.bool_]]
    """From a game, a state and the numbers of its hands."""


def in_the_middle(game: Game[Any, Any], state: Any, numbers: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Somewhere from the last bid to the seventh trick, drawn for each hand."""
    wanted: NDArray[np.bool_] = state.moves >= P - 1 + below(derive(numbers, MOVES), 7 * P)
    return wanted


def all_known(game: Game[Any, Any], state: Any, numbers: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Few cards are left, and the seat to move can tell who holds what."""
    cards = np.bitwise_count(state.hands[np.arange(len(state)), state.seat])
    wanted: NDArray[np.bool_] = (cards >= FEWEST_CARDS) & (cards <= MOST_CARDS) & (state.voids > 0).any(axis=1)
    rows = np.flatnonzero(wanted)
    if len(rows):
        part = state.take(rows)
        wanted[rows] = np.array(game.count_worlds(part, part.seat)) == 1  # type: ignore[attr-defined]
    return wanted


KINDS = (
    Kind("middle of a hand", {"match": "hand"}, in_the_middle),
    Kind("end, everything known", {"match": "hand", "reveal_bids": "after_bidding"}, all_known),
)


def positions(game: Game[Any, Any], kind: Kind, count: int, seed: int) -> State:
    """The first such position with a choice, in ``count`` hands that rule-based players play.

    Raises
    ------
    ValueError
        If there are not so many in the hands that are looked at.
    """
    player = make_agent("heuristic", game)
    numbers = np.arange(GAMES_LOOKED_AT)
    state = game.new(match_seed(seed, numbers))
    found: dict[int, State] = {}
    while len(state):
        choice = game.legal(state).sum(axis=1) > 1
        at = np.flatnonzero(choice & kind.wanted(game, state, numbers))
        found.update((int(numbers[i]), state.take(np.array([i]))) for i in at)
        stay = np.setdiff1d(np.arange(len(state)), at)
        state, numbers = state.take(stay), numbers[stay]
        if len(state):
            game.step(state, player.act(InformationSet(game, state)))
            on = np.flatnonzero(state.seat >= 0)
            state, numbers = state.take(on), numbers[on]
    if len(found) < count:
        raise ValueError(f"positions ({kind.name}) expected at most {len(found)}, got {count}")
    chosen = [found[number] for number in sorted(found)[:count]]
    together = chosen[0].repeat(count)
    for i, one in enumerate(chosen):
        together.put(np.array([i]), one)
    return together


# --------------------------------------------------------------------------------------------------------- comparison


def our_roots(agent: IsmctsAgent, view: InformationSet) -> list[Root]:
    """What our search finds in each position."""
    trees = agent.search(view)
    found = zip(trees.root_visits(), trees.root_means(), trees.most_visited(), strict=True)
    return [Root(visits, means, int(chosen)) for visits, means, chosen in found]


def their_roots(agent: OpenSpielIsmcts, view: InformationSet, tell: Callable[[int], None]) -> list[Root]:
    """What OpenSpiel's search finds in each position."""
    found = []
    for i in range(len(view)):
        found.append(agent.root(view.take(np.array([i]))))
        tell(i + 1)
    return found


def compare(first: Sequence[Root], second: Sequence[Root]) -> dict[str, Any]:
    """How two searches of the same positions agree, as plain JSON values.

    Returns
    -------
    ``same_choice``: share of positions; ``loss``: by how much the first one's choices are worse than the second one's,
    as the second values them; ``difference``: of the values of actions, first less second; ``distance``: the same
    regardless of sign; each the mean over positions with a 95 % interval.  ``correlation``: of all these values.
    Actions that either tried only a few times are left out, but for the choices.
    """
    differences, distances, losses, pairs = [], [], [], []
    for one, other in zip(first, second, strict=True):
        both = (one.visits >= TRIED) & (other.visits >= TRIED)
        if both.any():
            difference = one.means[both] - other.means[both]
            differences.append(difference.mean())
            distances.append(np.abs(difference).mean())
            pairs.append(np.stack([one.means[both], other.means[both]]))
        if other.visits[one.chosen]:
            losses.append(other.means[other.chosen] - other.means[one.chosen])
    together = np.concatenate(pairs, axis=1)
    return {
        "same_choice": float(np.mean([one.chosen == other.chosen for one, other in zip(first, second, strict=True)])),
        "loss": student_interval(losses).as_json(),
        "difference": student_interval(differences).as_json(),
        "distance": student_interval(distances).as_json(),
        "correlation": float(np.corrcoef(together[0], together[1])[0, 1]),
        "values": together.shape[1],
    }


OURS_THEIRS, THEIRS_THEIRS, OURS_OURS = "ours, OpenSpiel's", "OpenSpiel's, another seed", "ours, another seed"


def compare_positions(
    kind: Kind, count: int, iterations: int, c: float, seed: int, tell: Callable[[int], None]
) -> dict[str, Any]:
    """Search positions of a kind with both, twice each, and compare."""
    game = make_game(GAME, **kind.rules)
    state = positions(game, kind, count, seed)
    ours, theirs = IsmctsAgent(game, iterations, c=c), OpenSpielIsmcts(game, iterations, c)
    views = [InformationSet(game, state, salt=salt) for salt in (0, 1)]
    our, our_again = (our_roots(ours, view) for view in views)
    their = their_roots(theirs, views[0], tell)
    their_again = their_roots(theirs, views[1], lambda done: tell(count + done))
    return {
        "kind": kind.name,
        "rules": kind.rules,
        "positions": count,
        "pairs": {
            OURS_THEIRS: compare(our, their),
            THEIRS_THEIRS: compare(their_again, their),
            OURS_OURS: compare(our_again, our),
        },
    }


# -------------------------------------------------------------------------------------------------------------- match


class Match(Plan):
    """Ours against two of OpenSpiel's, without the table that only the gain needs: their bots take their time."""

    def __reduce__(self) -> tuple[Any, ...]:
        return Match, super().__reduce__()[1]

    @property
    def alike(self) -> bool:
        """Not asked."""
        return False


def pieces(deals: int) -> list[tuple[int, int]]:
    """First deal and the one after the last of every piece of the match."""
    return [(start, min(start + DEALS_AT_ONCE, deals)) for start in range(0, deals, DEALS_AT_ONCE)]


def play_match(plan: Plan, kept: KeptPieces, workers: int, tell: Callable[[int], None]) -> dict[str, Any] | None:
    """Play what is missing of the match and keep it; None if Ctrl-C came before all was there."""
    finished = {(chunk.start, chunk.stop): chunk for chunk in (Chunk(**piece) for piece in kept.pieces)}
    missing = [piece for piece in pieces(plan.deals) if piece not in finished]
    done = sum(chunk.stop - chunk.start for chunk in finished.values())
    tell(done)
    with Stoppable(spread(partial(play_chunk, plan), missing, workers, ordered=False)) as chunks:
        for chunk in chunks:
            kept.add(vars(chunk))
            finished[chunk.start, chunk.stop] = chunk
            done += chunk.stop - chunk.start
            tell(done)
    if done < plan.deals:
        return None
    result = summary(plan, finished.values(), 0, 1.0)
    return {name: result[name] for name in ("rules", "agent", "against", "deals", "seed", "difference", "agent_score")}


# ------------------------------------------------------------------------------------------------------------- report


def report(found: dict[str, Any]) -> str:
    """The figures as a page of Markdown."""
    columns = ["positions", "searches", "same choice", "loss", "difference", "distance", "correlation"]
    rows = [
        [
            f"{group['kind']} ({group['positions']})",
            pair,
            f"{figures['same_choice']:.0%}",
            with_interval(figures["loss"], 3),
            with_interval(figures["difference"], 3),
            with_interval(figures["distance"], 3, sign=False),
            f"{figures['correlation']:.3f}",
        ]
        for group in found["compared"]
        for pair, figures in group["pairs"].items()
    ]
    match = found["match"]
    facts = ", ".join(f"{name} {number}" for name, number in found["versions"].items())
    return f"""# Our information-set search and OpenSpiel's

    {found["command"]}

Seed {found["seed"]}, commit {found["commit"]}; {facts}; {found["machine"]["processor"]}.

## In the same positions

Slippery Slope, one choice each in hands of the rule-based players; {found["iterations"]:,} iterations with exploration
{found["c"]} (standard deviations of a hand's lead) and random roll-outs, hidden bids drawn alike. Values are leads: own
score less the mean of the others. *Loss*: by how much the choices of the first are worse than those of the second, as
the second values them; *difference* and *distance*: values of actions, first less second, with and without sign
(actions tried {TRIED} times by both). Means over positions with 95 % intervals.

{table(columns, rows, left=2)}

In the middle of a hand the searches are not the same: OpenSpiel keeps a node for every information state of whoever
moves, so that the other seats know their cards and their nodes are hardly met twice; ours keeps a node for every
sequence of actions, so that they learn to play against the searching seat without knowing theirs. Where everything is
known both are the same search, and only chance is left between them.

## Against each other

{match["deals"]} duplicate deals of one hand, `{match["agent"]}` in every seat against two `{match["against"][0]}`:
points a hand above them {with_interval(match["difference"], 2)}.
"""


def main(
    count: Annotated[int, typer.Option("--positions", min=2, help="Positions of each kind.")] = 40,
    iterations: Annotated[int, typer.Option(min=10 * TRIED, help="Of the searches in these.")] = 2000,
    deals: Annotated[int, typer.Option(min=2, help="Duplicate deals of the match.")] = 40,
    match_iterations: Annotated[int, typer.Option(min=1, help="Of both searches in the match.")] = 1000,
    c: Annotated[float, typer.Option(help="Exploration of both.")] = 0.7,
    seed: Annotated[int, typer.Option(help="Decides positions and deals.")] = 1,
    workers: Annotated[int, typer.Option(min=1, help="Processes of the match; they do not bear on results.")] = 1,
    out: Annotated[Path, typer.Option(help="Folder of the results.")] = Path("benchmarks") / "results",
) -> None:
    """Check our information-set search against OpenSpiel's."""
    console = Console(stderr=True)
    command = "python -m slopes_benchmarks.cross_check " + " ".join(sys.argv[1:])
    code = commit()
    out.mkdir(parents=True, exist_ok=True)
    compared = []
    for kind in KINDS:
        with progress(console, kind.name, 2 * count, "searches") as tell:
            compared.append(compare_positions(kind, count, iterations, c, seed, tell))
    arguments = f"iterations={match_iterations},c={c}"
    game = make_game(GAME, match="hand")
    plan = Match(game, f"ismcts:{arguments}", (f"{BRIDGE}:{arguments}",), deals, seed)
    kept = KeptPieces(out / PLAYING, {**plan.work, "deals": deals}, resume=True)
    with progress(console, "match", deals, "deals") as tell:
        match = play_match(plan, kept, workers, tell)
    if match is None:
        kept.close()
        line(console, "stopped; the same command goes on from there")
        raise typer.Exit(1)
    found = {
        "command": command.strip(),
        "machine": describe(),
        "versions": versions(("open_spiel",)),
        "version": __version__,
        "commit": code,
        "seed": seed,
        "iterations": iterations,
        "c": c,
        "compared": compared,
        "match": match,
    }
    write_json(out / JSON, found)
    write_bytes(out / REPORT, report(found).encode())
    kept.remove()
    line(console, f"written to {out / JSON} and {out / REPORT}")


if __name__ == "__main__":
    typer.run(main)
