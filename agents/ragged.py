"""Arrays that hold several things of every game, more of one game than of another: one after the other.

Shape letters: **B** games, **L** things of all games together.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


def place_of(row: Ints) -> Ints:
    """The place of each thing among those of its game, from 0 on: ``int64[L]``; their games ``row`` rise."""
    counts = np.bincount(row)
    places: Ints = np.arange(len(row)) - np.repeat(counts.cumsum() - counts, counts)
    return places


def best_first(row: Ints, value: NDArray[Any]) -> Ints:
    """The order game by game, in each from the highest value down; of equal ones, what stood first: ``int64[L]``."""
    order = np.argsort(-value, kind="stable")
    games = row[order]
    # Numbers of at most 16 bits are sorted by counting: in all, some times faster than to sort by both keys at once.
    games = games.astype(np.min_scalar_type(int(games.max(initial=0))))
    best: Ints = order[np.argsort(games, kind="stable")]
    return best


def behind(row: Ints, worth: NDArray[Any], batch: int) -> NDArray[Any]:
    """How far each of L actions is behind the best one of its game: floats as ``worth``, exactly 0 for the best."""
    best = np.full(batch, -np.inf, dtype=worth.dtype)
    np.maximum.at(best, row, worth)
    distance: NDArray[Any] = best[row] - worth
    return distance


def best_of(row: Ints, worth: NDArray[Any], batch: int) -> Ints:
    """The best thing of each of B games, the first of equal ones: ``int64[B]``, -1 for games without any.

    ``worth`` is finite, ``float[L]``.
    """
    best = np.full(batch, -1)
    at = np.flatnonzero(behind(row, worth, batch) == 0)[::-1]
    best[row[at]] = at
    return best


def first_of_the_best(row: Ints, distance: NDArray[Any]) -> NDArray[np.bool_]:
    """Where each of L actions is the first that is not :func:`behind` another of its game, ``bool[L]``; rows rise."""
    best = np.flatnonzero(distance == 0)
    first = np.zeros(len(row), dtype=np.bool_)
    first[best[np.unique(row[best], return_index=True)[1]]] = True
    return first
