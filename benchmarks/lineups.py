"""Who sits where in a league: balanced line-ups, which do not change when agents or deals are added.

**Groups.**  All sets of two to four of the agents (of two where there are two sides: two players, or teams) are
groups, and each plays every deal.  So every agent meets every other equally often, in every company; a new agent adds
the groups it is in, and leaves those of the others as they were.

**Tables.**  A group of g agents plays a deal at g tables.  At the first the S sides (seats, or teams) are filled in an
order drawn for that deal, each agent taking S/g of them, rounded down or up; from table to table every side passes to
the next agent of the group.  So, whatever was drawn, every agent of the group sits in every seat of every deal exactly
once (a Latin square), and takes the surplus seats equally often.  With two sides this is the pair, both ways.

Shape letters: **N** deals, **T** tables a deal (the g of the group), **S** sides.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from slopes_envs import derive, match_seed
from slopes_envs.chance import shuffle

MOST_TOGETHER = 4
"""Agents of the largest group.  Sets of five or more would add many games and hardly any new company."""

LINE_UPS = 1
"""The episode of a deal's row in :func:`slopes_envs.match_seed` that its line-ups hang on; its cards hang on 0."""

Group = tuple[str, ...]
"""Agents by their specs, in alphabetical order."""


def groups(agents: Iterable[str], sides: int) -> list[Group]:
    """All groups that some agents form in a game of so many sides: the smaller ones first, each in alphabetical order.

    >>> groups(["b", "c", "a"], sides=3)
    [('a', 'b'), ('a', 'c'), ('b', 'c'), ('a', 'b', 'c')]
    >>> groups(["b", "c", "a"], sides=2)
    [('a', 'b'), ('a', 'c'), ('b', 'c')]
    """
    ordered = sorted(agents)
    largest = min(len(ordered), sides, MOST_TOGETHER)
    return [group for size in range(2, largest + 1) for group in combinations(ordered, size)]


def tables(size: int, sides: int, seed: int, deals: NDArray[np.int64]) -> NDArray[np.int64]:
    """Who plays which side.

    Parameters
    ----------
    size
        Agents of the group.
    sides
        S, at least as many.
    seed
        Of the league.
    deals
        ``int64[N]``: numbers of the deals.

    Returns
    -------
    ``int64[N, T, S]``: places in the group.
    """
    drawn = shuffle(derive(match_seed(seed, deals, LINE_UPS), size), sides)
    return (drawn[:, None, :] + np.arange(size)[:, None]) % size
