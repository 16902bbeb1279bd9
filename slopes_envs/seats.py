"""Who sits where: seats clockwise from one on, and where what belongs to a seat stands in flattened arrays.

Shape letters: **B** games, **P** seats.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.int64]
"""Places in a batch or in an array."""


@lru_cache(maxsize=64)
def row_starts(batch: int, width: int) -> Rows:
    """``[0, width, 2 * width, …]``, read-only: where each game's row starts in a flattened ``[B, width]`` array."""
    starts = np.arange(batch, dtype=np.int64) * width
    starts.flags.writeable = False
    return starts


@lru_cache(maxsize=16)
def clockwise(num_seats: int) -> NDArray[np.int64]:
    """Seats from each seat on: ``[k, s]`` is the seat ``k`` places to the left of ``s``; ``int64[P, P]``, read-only.

    Symmetric, so ``[s]`` lists all seats from ``s`` on.
    """
    seats = np.arange(num_seats)
    table = (seats[:, None] + seats) % num_seats
    table.flags.writeable = False
    return table


@lru_cache(maxsize=16)
def relative_seats(num_seats: int) -> NDArray[np.int8]:
    """How far to the left of a seat another sits: ``int8[P, P + 1]``, read-only.

    ``[s, t]`` is 0 for ``t == s``, 1 for its left neighbour and so on; ``[s, -1]``, for no seat, is -1.
    """
    seats = np.arange(num_seats)
    table = np.full((num_seats, num_seats + 1), -1, dtype=np.int8)
    table[:, :-1] = (seats - seats[:, None]) % num_seats
    table.flags.writeable = False
    return table


def relative_to(seats: NDArray[np.int64], num_seats: int) -> Callable[[NDArray[np.int8]], NDArray[np.int8]]:
    """How far to the left of ``seats`` (``int64[B]``) others sit: a function from ``int8[B]`` to ``int8[B]``.

    It looks up :func:`relative_seats` with one index instead of two, which is several times as fast; -1, for no seat,
    gives -1.
    """
    table, rows = relative_seats(num_seats).reshape(-1), seats * (num_seats + 1)
    return lambda others: table.take(rows + others)  # -1 comes to the end of another row, which is -1 in all


def all_from(seats: NDArray[np.int64], num_seats: int) -> Rows:
    """Where what belongs to ``seats`` (``int64[B]``) and those to their left stands in flattened ``[B, P]`` arrays.

    Returns
    -------
    int64[P, B]
    """
    return clockwise(num_seats).take(seats, axis=1) + row_starts(len(seats), num_seats)


@lru_cache(maxsize=16)
def relative_lists(num_seats: int) -> tuple[tuple[int, ...], ...]:
    """The same table as :func:`relative_seats` in plain numbers."""
    return tuple(map(tuple, relative_seats(num_seats).tolist()))


def from_seat(values: NDArray[Any], seat: int) -> list[int]:
    """What the seats have in the only game of a batch, ``[1, P]``, from one seat on, clockwise."""
    (by_seat,) = values.tolist()
    return [*by_seat[seat:], *by_seat[:seat]]
