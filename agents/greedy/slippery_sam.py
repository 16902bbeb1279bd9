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

from typing import Any

import numpy as np
from numpy.typing import NDArray

from slopes_envs import Game, InformationSet, UnknownName
from slopes_envs.games.slippery_sam import RANKS, SIZE

from ..base import Agent
from ..heuristic.slippery_sam import STAKES
from ..optimal import EDGE, GREATEST, LEAST, PASS, Sight, chosen_actions

GOOD = EDGE[SIZE - 1, RANKS - 1 - np.arange(RANKS)] > 0  # by rank of the exposed card


class GreedyPlayer(Agent):
    """The player; see the module for how it thinks.  Deterministic: it never uses ``view.keys``.

    Parameters
    ----------
    stake
        What it stakes as a banker, ``"greatest"`` or ``"least"``.
    """

    def __init__(self, game: Game[Any, Any], stake: str = "greatest") -> None:
        """Make the player.

        Raises
        ------
        UnknownName
            For another stake.
        """
        super().__init__(game)
        if stake not in STAKES:
            raise UnknownName("stake of agent 'greedy'", stake, STAKES)
        self.stake = STAKES[stake]

    def act(self, view: InformationSet) -> NDArray[np.int64]:
        """Choose an action in every game."""
        sight = Sight(view)
        least, most = sight.number("least"), sight.number("most")
        good = GOOD[view.features["exposed_rank"].argmax(axis=1)]
        bet = np.where(most == 0, PASS, np.where(good, GREATEST, LEAST))
        return chosen_actions(view, np.where(sight.staking, self.stake, bet), least, most)

    def probabilities(self, view: InformationSet) -> NDArray[np.float64]:
        """One for the chosen action; rows of seats that are not to move are zero."""
        chosen = np.zeros(view.legal.shape)
        chosen[np.arange(len(view)), self.act(view)] = 1.0
        chosen[~view.legal] = 0.0
        return chosen


AGENT = GreedyPlayer
