"""Ratings from who finished above whom, and alpha-rank from the differences.

Ratings are the strengths of the Plackett-Luce model, under which an agent of strength exp(r) finishes above another of
strength exp(s) with the probability exp(r) / (exp(r) + exp(s)), fitted by choix (Maystre and Grossglauser, "Fast and
accurate inference of Plackett-Luce models", NIPS 2015) to all pairs of sides at a table.  Breaking the ranks of a table
into its pairs keeps the estimate consistent (Azari Soufiani, Chen, Parkes and Xia, "Generalized method-of-moments for
rank aggregation", NIPS 2013), and lets ties count half for each, which rankings cannot express.  All results are fitted
at once, so that their order does not matter, unlike in ratings that are updated game by game.

Shape letters: **N** deals, **K** agents.
"""

from __future__ import annotations

import math
from typing import Any

import choix
import numpy as np
from numpy.typing import NDArray

from .intervals import CONFIDENCE, Interval

POINTS = 400 / math.log(10)
"""Points of rating to one unit of the model, as in chess: 400 points more are ten to one."""

PRIOR_WINS = 0.1
"""Wins of everybody against everybody that are added, without which the rating of an agent that always wins would be
infinite."""

MOST_ITERATIONS = 10_000

RESAMPLES = 999
"""Resamples of the bootstrap over deals."""

BOOTSTRAP_SEED = 21
"""So that the same results always have the same intervals."""

ALPHA_RANK_NOISE = 0.01
"""How often a worse agent takes over from a better one, relative to the other way round; OpenSpiel's default."""


def strengths(wins: NDArray[np.float64], start: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
    """Ratings in points, their mean zero: ``float64[K]``.

    Parameters
    ----------
    wins
        ``float64[K, K]``: how often the agent of the row finished above the one of the column, ties half.
    start
        Ratings from which the fit sets out.
    """
    fitted: NDArray[np.float64] = choix.ilsr_pairwise_dense(
        wins + PRIOR_WINS * (1 - np.eye(len(wins))),
        initial_params=None if start is None else start / POINTS,
        max_iter=MOST_ITERATIONS,
    )
    return fitted * POINTS


def ratings(wins: NDArray[np.float64]) -> list[Interval]:
    """The rating of every agent with its interval: percentiles of a bootstrap over deals, the independent unit.

    Parameters
    ----------
    wins
        ``float64[N, K, K]``: as for :func:`strengths`, deal by deal.
    """
    deals, agents, _ = wins.shape
    found = strengths(wins.sum(axis=0))
    rng = np.random.default_rng(BOOTSTRAP_SEED)
    even = np.full(deals, 1 / deals)
    resampled = np.array(
        [
            strengths(np.tensordot(rng.multinomial(deals, even).astype(np.float64), wins, 1), found)
            for _ in range(RESAMPLES)
        ]
    )
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(resampled, [tail, 1 - tail], axis=0)
    return [Interval(float(found[k]), float(low[k]), float(high[k])) for k in range(agents)]


def alpha_rank(payoffs: NDArray[np.float64]) -> list[float] | None:
    """How much of a population in which agents copy whoever beats them each agent holds in the long run.

    Alpha-rank (Omidshafiei et al., "alpha-Rank: Multi-agent evaluation by evolution", Scientific Reports 2019) by
    OpenSpiel, for infinite alpha: only the sign of a payoff counts, so that its unit does not.

    Parameters
    ----------
    payoffs
        ``float64[K, K]``: by how much the agent of the row beats that of the column.

    Returns
    -------
    K shares that sum to one; None where OpenSpiel is not installed.
    """
    try:
        from open_spiel.python.egt import alpharank
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("open_spiel", "pyspiel"):
            raise
        return None
    found: Any = alpharank.compute([payoffs], use_inf_alpha=True, inf_alpha_eps=ALPHA_RANK_NOISE)
    return [float(share) for share in found[2]]
