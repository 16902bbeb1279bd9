"""How well worlds fit what the other seats have said, and a choice among them by that.

Shape letters: **B** games, **N** worlds, **K** worlds kept.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slopes_envs import InformationSet
from slopes_envs.chance import UInt64, draw
from slopes_envs.games.sluff import SLUFF, TRICKS_BID, Sluff

from ..base import Agent

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Fit = Callable[[Any, Agent, Any, Ints], Floats]
"""How well worlds fit what was said: of a game, who bids, N worlds and the seats from which they were drawn
(``int64[N]``), the logarithms of weights, ``float64[N]``."""

TRICK_OFF, OTHER_PROMISE = 1.5, 4.0
"""What a bid costs that is a trick off (times the square of how far), and a sluff in place of a number or the reverse:
logarithms, which allow for bidders who think differently."""


def bids_in_sluff(game: Sluff, bidder: Agent, worlds: Any, seats: Ints) -> Floats:
    """How well the hands of the other seats in Sluff fit their bids, if they bid like ``bidder``: ``float64[N]``."""
    weights = np.zeros(len(worlds))
    for seat in range(game.num_players):
        rows = np.flatnonzero((worlds.bids[:, seat] >= 0) & (seats != seat))
        if not len(rows):
            continue
        part = worlds.take(rows)
        seat_there = np.full(len(rows), seat)
        would = bidder.act(InformationSet(game, game.before_bids(part, seat_there), seat_there))
        did = part.bids[:, seat].astype(np.int64)
        off = (TRICKS_BID[np.minimum(would, len(TRICKS_BID) - 1)] - TRICKS_BID[did]).astype(np.float64)
        weights[rows] -= np.where((would == SLUFF) == (did == SLUFF), TRICK_OFF * off**2, OTHER_PROMISE)
    return weights


def resampled(weights: Floats, count: int, keys: UInt64) -> Ints:
    """Which candidates are kept: ``int64[B, count]``, in random order.

    Systematic resampling (Kitagawa 1996): one random number a game places ``count`` marks at even distances on the
    cumulated weights, so that each candidate is kept as often as it should be but for less than one.

    Parameters
    ----------
    weights
        ``float64[B, N]``, logarithms.
    count
        K
    keys
        ``uint64[B]``: all chance comes from them.
    """
    chances = np.exp(weights - weights.max(axis=1, keepdims=True))
    ends = chances.cumsum(axis=1)
    ends /= ends[:, -1:]
    words = draw(keys, count + 1)
    start = (words[:, :1] >> np.uint64(11)).astype(np.float64) / 2**53
    marks = (np.arange(count) + start) / count
    kept = (ends[:, None, :] <= marks[:, :, None]).sum(axis=2)
    order = words[:, 1:].argsort(axis=1)
    result: Ints = np.take_along_axis(np.minimum(kept, weights.shape[1] - 1), order, axis=1)
    return result
