"""A greedy player of Slippery Sam: bets by the exposed card alone, and stakes all it has.

How it decides
--------------
*Betting*: as much as it can where that card would more likely lose than win against a fresh deck (a 2 or a 3), else as
little as it may.  It counts no cards, never pays for another one, and passes only when it must.
*Banking*: it stakes all it has, or with ``greedy:stake=least`` as little as it may, which lets its betting be judged
apart from its banking.

Shape letters: **B** games.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from slopes_envs.games.slippery_sam import RANKS, SIZE

from ..heuristic.slippery_sam import Stakes
from ..optimal import EDGE, GREATEST, LEAST, PASS, Sight
from ..planes import place_of_bit

GOOD = EDGE[SIZE - 1, RANKS - 1 - np.arange(RANKS)] > 0  # by rank of the exposed card


class GreedyPlayer(Stakes):
    """The player; see the module for how it thinks.  Deterministic: it never uses ``view.keys``."""

    family = "greedy"

    def bets(self, sight: Sight) -> NDArray[np.int64]:
        """By the rank of the exposed card."""
        good = GOOD[place_of_bit(sight.planes["exposed_rank"][0], 0)]
        return np.where(sight.number("most") == 0, PASS, np.where(good, GREATEST, LEAST))


AGENT = GreedyPlayer
