"""A greedy player of Slippery Slope: bids by its high cards, then takes or ducks each trick as it comes.

How it decides
--------------
*Bidding*: a trick for every joker and half a one for every ace, two and king, rounded down.
*Playing*: while it needs tricks, the strongest card if that would win so far, else the weakest; once it has what it
bid, the strongest card that does not win so far, else the strongest.  It counts no cards and looks at no other trick.

Shape letters: **B** games, **H** cards held in all games together.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from slopes_envs import InformationSet
from slopes_envs.cards import bits_of
from slopes_envs.games.slippery_slope import BIDS, RANKS, SUITS, TRICKS, A

from ..base import DeterministicAgent
from ..heuristic.slippery_slope import JOKERS, held, read

HIGH = np.uint32(bits_of(RANKS * suit + rank for suit in range(SUITS) for rank in (0, 1, 6)))  # A, 2, K
STRONGEST = int(TRICKS.strength.max())


class GreedyPlayer(DeterministicAgent):
    """The player; see the module for how it thinks.  Deterministic: it never uses ``view.keys``."""

    def act(self, view: InformationSet) -> NDArray[np.int64]:
        """Choose an action in every game; of equal cards that with the lowest number."""
        know, legal = read(view), view.legal
        bid = np.bitwise_count(know.hand & JOKERS) + np.bitwise_count(know.hand & HIGH) // 2
        row, card = held(know.hand)
        action = card + BIDS
        strength = TRICKS.strength[know.context[row] * A + action].astype(np.int64)
        wins, wanted = strength > know.best[row], know.needed[row] > 0
        liking = np.where(wins == wanted, STRONGEST + 1, 0) + np.where(wanted & ~wins, -strength, strength)
        likings = np.full(legal.shape, -STRONGEST - 1)
        likings[row, action] = liking
        likings[~legal] = -STRONGEST - 1
        chosen: NDArray[np.int64] = np.where(legal[:, 0], bid, likings.argmax(axis=1))
        return chosen


AGENT = GreedyPlayer
