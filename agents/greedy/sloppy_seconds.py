"""A greedy player of Sloppy Seconds: plays as if this trick were over with its card, and the hand over with this trick.

For each legal card it adds the trick, as it lies on the table then, to the points of whoever is winning it, and scores
the hand: its own score less the mean of the others' is to be as high as possible.  Of equal cards it plays the one of
least points, of these that with the lowest number.  It thinks neither of players who are still to come nor of what is
left in its hand.

Shape letters: **B** games, **P** seats, **A** actions, **L** legal cards of all games together.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from slopes_envs import InformationSet
from slopes_envs.games.sloppy_seconds import RANKS, places

from ..base import DeterministicAgent
from ..heuristic.sloppy_seconds import VALUE, consider, read


class GreedySloppySecondsPlayer(DeterministicAgent):
    """The player; see the module for how it decides.  Deterministic: it never uses ``view.keys``."""

    def act(self, view: InformationSet) -> NDArray[np.int64]:
        """Choose the card with which the hand would be worth most if it ended with it."""
        sight, legal = read(view), view.legal
        cards = consider(sight, legal)
        each = np.arange(len(cards.row))
        trick = sight.pot.take(cards.row, axis=1)
        trick[cards.suit, each] += VALUE[cards.card]
        points = sight.points.take(cards.row, axis=2)
        points[cards.holder, :, each] += trick.T
        second = places(points.astype(np.uint8), self.game.rules.tie_ranking)[1]
        scores = (points * second).sum(axis=1)
        lead = scores[0] - scores[1:].mean(axis=0)
        # Scores first; they differ by a third of a point at least, points of cards by less than RANKS + 1.
        order = np.full(legal.shape, -np.inf)
        order[cards.row, cards.card] = lead * 3 * (RANKS + 1) - VALUE[cards.card]
        best: NDArray[np.int64] = order.argmax(axis=1)
        return best


AGENT = GreedySloppySecondsPlayer
