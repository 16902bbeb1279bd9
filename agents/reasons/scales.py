"""How the numbers of a rule-based player become features from 0 to 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float32]
Bytes = NDArray[np.uint8]


WAYS = 17
"""K, actions that are shown of a game: at least as many as are ever legal.  A game with more is refused."""


class Weighed(NamedTuple):
    """What a rule-based player makes of the L legal actions of B games: features as bytes."""

    row: Ints  # [L] games, rising
    action: Ints  # [L] numbers
    of_action: Bytes  # [L, features]; the first is 1 for the action that the player chooses
    of_game: Bytes  # [B, features]


def merged(cards: tuple[Ints, Ints, Bytes], bids: tuple[Ints, Ints, Bytes] | None, of_game: Bytes) -> Weighed:
    """Cards of some games and bids of others, as one.

    Parameters
    ----------
    cards, bids
        Each: games ``int64[L]`` and actions ``int64[L]``, and features, that of the choice first and then some that
        the others lack.  There may be no bids at all.
    of_game
        ``uint8[B, features]``.
    """
    if bids is None:
        return Weighed(*cards, of_game)
    width = cards[2].shape[1]
    shown = np.zeros((len(cards[0]) + len(bids[0]), width + bids[2].shape[1] - 1), dtype=np.uint8)
    shown[: len(cards[0]), :width] = cards[2]
    shown[len(cards[0]) :, 0], shown[len(cards[0]) :, width:] = bids[2][:, 0], bids[2][:, 1:]
    row = np.concatenate([cards[0], bids[0]])
    order = np.argsort(row, kind="stable")  # a game has either bids or cards
    return Weighed(row[order], np.concatenate([cards[1], bids[1]])[order], shown[order], of_game)


def signed(values: Any, most: float) -> Any:
    """Numbers from ``-most`` to ``most`` as 0 to 1."""
    return 0.5 + values / (2 * most)


def at_scales(values: NDArray[Any], scales: Sequence[float]) -> NDArray[Any]:
    """The same numbers by several units, ``[scales, …]``: small differences and large ones both show."""
    units = np.array(scales, dtype=np.float32).reshape(-1, *[1] * values.ndim)
    by_scale: NDArray[Any] = values / units
    return by_scale
