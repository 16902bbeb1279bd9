"""How the numbers of a rule-based player become features from 0 to 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]


class Weighed(NamedTuple):
    """What a rule-based player makes of the L legal actions of B games.  Features are from 0 to 1, or cut there."""

    row: Ints  # [L] games, rising
    action: Ints  # [L] numbers
    of_action: Floats  # [L, features]; the first is 1 for the action that the player chooses
    of_game: Floats  # [B, features]


def signed(values: Any, most: float) -> Any:
    """Numbers from ``-most`` to ``most`` as 0 to 1."""
    return 0.5 + values / (2 * most)


def behind(row: Ints, worth: Floats, batch: int) -> Floats:
    """How far each of L actions is behind the best one of its game, ``float32[L]``."""
    best = np.full(batch, -np.inf, dtype=np.float32)
    np.maximum.at(best, row, worth)
    distance: Floats = best[row] - worth
    return distance


def at_scales(values: Floats, scales: Sequence[float]) -> list[Floats]:
    """The same numbers by several units: small differences and large ones both show."""
    return [values / np.float32(scale) for scale in scales]


def columns(features: Sequence[Any], length: int) -> Floats:
    """Features ``[length]`` or ``[n, length]`` side by side, ``float32[length, features]``."""
    rows = [np.atleast_2d(feature) for feature in features]
    table = np.empty((length, sum(map(len, rows))), dtype=np.float32)
    start = 0
    for each in rows:
        table[:, start : start + len(each)] = each.T
        start += len(each)
    return table


def one_hot(numbers: Ints, count: int) -> NDArray[np.bool_]:
    """Which of the numbers ``0 … count-1`` each is, ``bool[count, N]``."""
    hot: NDArray[np.bool_] = np.arange(count)[:, None] == numbers
    return hot
