"""A short-sighted player of Sluff: bids its sure high cards, and takes what it can take.

Bidding: one for each 1, and for each black 14 and 13; sluff with none of them.  Playing: the highest card to lead; then
the lowest card that takes the trick, by the cards on the table; otherwise the lowest.  As a sluffer, as long as it has
no trick, the highest card that does not take the trick, and the lowest where it leads or cannot help taking it.  It
minds neither its partners nor what has been played before.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from slopes_envs import InformationSet
from slopes_envs.cards import bits_of
from slopes_envs.games.sluff import BIDS, BLACK, CARDS, DECK, NUMBERS, SLUFF, ZERO_BID

from ..base import DeterministicAgent
from ..heuristic.sluff import COLOUR, HEIGHT, Knowledge, read

SURE = np.uint64(bits_of(DECK.parse_set("R1 B1 G1 Y1 B14 B13")))
# Ranks of cards within a choice: trumps are dearer than all others.
DEAR = HEIGHT + NUMBERS * (COLOUR == BLACK)


class GreedySluff(DeterministicAgent):
    """The player; see the module for what it does.  Deterministic: it never uses ``view.keys``."""

    def act(self, view: InformationSet) -> NDArray[np.int64]:
        """Choose the bid by sure cards, the card by its rank; of equal ones that with the lowest number."""
        best: NDArray[np.int64] = self._rating(view).argmax(axis=1)
        return best

    def _rating(self, view: InformationSet) -> NDArray[np.float64]:
        """How much it likes each action, ``float64[B, A]``; minus infinity for bids not chosen and illegal cards."""
        legal, know = view.legal, read(view)
        rating = np.full(legal.shape, -np.inf)
        bidding = np.flatnonzero(legal[:, SLUFF])
        sure = np.bitwise_count(know.hand & SURE) + np.bitwise_count(know.twice & SURE)
        rating[bidding, sure[bidding]] = 0  # as numbers are actions, and none is SLUFF
        row, card = np.divmod(np.flatnonzero(legal[:, BIDS:ZERO_BID]), CARDS)
        rating[row, card + BIDS] = self._rate_cards(know, row, card)
        return rating

    def _rate_cards(self, know: Knowledge, row: NDArray[np.int64], card: NDArray[np.int64]) -> NDArray[np.int64]:
        top, leads, dear = know.top[row], know.led[row] < 0, DEAR[card]
        beats = np.where(COLOUR[card] == COLOUR[top], HEIGHT[card] > HEIGHT[top], COLOUR[card] == BLACK)
        takes = np.where(leads, dear, 100 * beats - dear)
        ducks = np.where(leads | beats, -dear, dear)
        rating: NDArray[np.int64] = np.where(know.is_sluffer[0][row], ducks, takes)
        return rating


AGENT = GreedySluff
