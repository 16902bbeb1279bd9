"""What the results of a league say: differences between any two agents, ratings, places.

Shape letters: **N** deals, **T** tables a deal, **P** seats, **K** agents.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .intervals import student_interval
from .league import League, Results
from .lineups import Group
from .ratings import alpha_rank, ratings

NO_OPENSPIEL = (
    "OpenSpiel is not installed: pip install open_spiel, then run the same command again; nothing is replayed"
)


class Played(NamedTuple):
    """The results of one group as arrays."""

    members: list[int]  # numbers of its agents in the league
    seats: NDArray[np.int64]  # [N, T, P] who sat where, as numbers of agents in the league
    scores: NDArray[np.int64]  # [N, T, P]


def standings(league: League, results: Results, command: str | None = None) -> dict[str, Any]:
    """What a league's results say, as plain JSON values.

    Parameters
    ----------
    league
        The league.
    results
        Of all its groups and deals.
    command
        The command that played it, to stand beside the figures.

    Returns
    -------
    ``agents``: by falling rating, each with its ``rating`` (see :mod:`~slopes_benchmarks.ratings`), ``difference`` (its
    score less that of each other agent at the same tables, the mean over the others), ``score`` (mean over all its
    seats) and ``alpha_rank``.  ``cross_table[a][b]``: score of a less that of b, in the groups that hold both, a mean
    over seats, tables and groups within every deal.  All intervals are over deals.
    """
    played = [_as_arrays(league, group, results) for group in league.groups]
    scores = [_mean_scores(group) for group in played]
    differences = _differences(len(league.agents), scores)
    rated = ratings(wins(played, league.game.teams, len(league.agents)))
    mean_differences = np.array([[column.mean() for column in row] for row in differences])
    shares = alpha_rank(mean_differences)
    others = len(league.agents) - 1
    listed = [
        {
            "agent": agent,
            "rating": rated[k].as_json(),
            "difference": student_interval(differences[k].sum(axis=0) / others).as_json(),
            "score": student_interval(np.mean([group[k] for group in scores if k in group], axis=0)).as_json(),
            "alpha_rank": None if shares is None else shares[k],
        }
        for k, agent in enumerate(league.agents)
    ]
    return {
        "game": league.game.name,
        "title": league.game.title,
        "rules": league.work["rules"],
        "deals": league.deals,
        "seed": league.seed,
        "groups": len(league.groups),
        "tables": sum(group.seats.shape[0] * group.seats.shape[1] for group in played),
        "agents": sorted(listed, key=_by_rating),
        "cross_table": {
            one: {
                other: student_interval(differences[a, b]).as_json() for b, other in enumerate(league.agents) if a != b
            }
            for a, one in enumerate(league.agents)
        },
        "notes": [NO_OPENSPIEL] if shares is None else [],
        "command": command,
        "played_by": dict(sorted(Counter(str(result["commit"]) for result in results.values()).items())),
        **league.provenance,
    }


def _by_rating(entry: dict[str, Any]) -> float:
    return -float(entry["rating"]["mean"])


def _as_arrays(league: League, group: Group, results: Results) -> Played:
    found = [results[group, deal] for deal in range(league.deals)]
    members = [league.agents.index(agent) for agent in group]
    places = np.array([result["seats"] for result in found])
    return Played(members, np.array(members)[places], np.array([result["scores"] for result in found]))


def _mean_scores(group: Played) -> dict[int, NDArray[np.float64]]:
    """For each agent of a group its mean score of every deal, ``float64[N]``, over its seats."""
    sums = {k: (group.scores * (group.seats == k)).sum(axis=(1, 2)) for k in group.members}
    # Every agent sits in every seat of every deal once, so all means are over the same number.
    return {k: total / group.seats.shape[2] for k, total in sums.items()}


def _differences(agents: int, scores: Sequence[dict[int, NDArray[np.float64]]]) -> NDArray[np.float64]:
    """``float64[K, K, N]``: mean over the groups that hold both of the row's score less the column's."""
    deals = len(next(iter(scores[0].values())))
    found, counts = np.zeros((agents, agents, deals)), np.zeros((agents, agents, 1))
    for group in scores:
        for a, of_a in group.items():
            for b, of_b in group.items():
                found[a, b] += of_a - of_b
                counts[a, b] += 1
    return found / np.maximum(counts, 1)


def wins(played: Sequence[Played], teams: Sequence[Sequence[int]], agents: int) -> NDArray[np.float64]:
    """How often the agent of the row finished above that of the column in every deal, ties half: ``float64[N, K, K]``.

    Every pair of sides at a table that different agents play counts once.
    """
    deals = len(played[0].seats)
    found = np.zeros((deals, agents, agents))
    for group in played:
        for one, side in enumerate(teams):
            for other in teams[:one]:
                a, b = group.seats[:, :, side[0]], group.seats[:, :, other[0]]  # [N, T]
                above = np.sign(group.scores[:, :, side[0]] - group.scores[:, :, other[0]])
                at = np.broadcast_to(np.arange(deals)[:, None], a.shape)
                different = a != b
                np.add.at(found, (at[different], a[different], b[different]), (1 + above[different]) / 2)
                np.add.at(found, (at[different], b[different], a[different]), (1 - above[different]) / 2)
    return found
