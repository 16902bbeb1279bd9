"""How what a rule-based player makes of actions is shown to a network: numbers from 0 to 1 as bytes.

Shape letters: **N** actions or games, **F** features.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

FULL = 255
"""The byte for 1."""
NO_ACTION = 255
"""In place of an action's number, where a game has fewer actions to show."""
NOT_THERE = -1e6
"""Logit of an action that is not shown: below all that a network may say of one that is."""


def one_hot(numbers: NDArray[np.int64], count: int) -> NDArray[np.bool_]:
    """Which of the numbers ``0 … count-1`` each is, ``bool[count, …]``; the last axes are those of ``numbers``."""
    hot: NDArray[np.bool_] = np.arange(count).reshape(-1, *[1] * numbers.ndim) == numbers
    return hot


def as_bytes(parts: Sequence[NDArray[Any]], count: int) -> NDArray[np.uint8]:
    """Features side by side, ``uint8[N, F]``: numbers from 0 to 1, or cut there.

    Parameters
    ----------
    parts
        Each ``[…, N]``, one feature or several; their first axes change slowest.
    count
        N, which may be 0.
    """
    if count == 0:
        return np.empty((0, sum(prod(part.shape[:-1]) for part in parts)), dtype=np.uint8)
    runs = [
        _all_or_nothing(np.concatenate(list(run), axis=None)) if certain else _rounded(list(run))
        for certain, run in groupby(parts, lambda part: part.dtype == np.bool_)
    ]
    return np.ascontiguousarray(np.concatenate(runs).reshape(-1, count).T)


def _all_or_nothing(flags: NDArray[np.bool_]) -> NDArray[np.uint8]:
    bytes_ = flags.view(np.uint8)
    bytes_ *= FULL
    return bytes_


def _rounded(parts: Sequence[NDArray[Any]]) -> NDArray[np.uint8]:
    numbers = np.concatenate(parts, axis=None, dtype=np.float32, casting="unsafe")
    np.clip(numbers, 0, 1, out=numbers)
    numbers *= FULL
    np.rint(numbers, out=numbers)
    return numbers.astype(np.uint8)
