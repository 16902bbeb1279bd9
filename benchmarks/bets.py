"""What the bets of Slippery Sam cost against the exact best decisions of :mod:`slopes_agents.optimal`.

The worth of a decision is what it brings in its own turn on the average, in chips, if the turn goes on with the best
decisions.  Its *regret* is how much less that is than the worth of the best one.  Banks differ in size, so regrets are
counted in parts of the bank.

Shape letters: **B** games, **N** turns.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from slopes_agents.optimal import Amounts, Sight, Turns, expect_slippery_sam
from slopes_envs import Game, InformationSet, State

CLOSE = 0.001
"""Part of the bank within which a decision counts as the best one."""
ROUNDING = 1e-9
"""Chips by which a worth may be wrong."""


class Regrets:
    """Sums up the regrets of all bets, redraws and passes in a batch, match by match.

    A :class:`slopes_agents.play.Watch`.  Stakes are left out, and turns in which a seat has no choice.

    Parameters
    ----------
    game
        Slippery Sam.
    batch
        B.

    Attributes
    ----------
    decisions
        ``int64[B]``, decisions that were looked at.
    close
        ``int64[B]``, those of a worth within :data:`CLOSE` of the best one.
    regret
        ``float64[B]``, sum of the regrets in parts of the bank.

    Raises
    ------
    ValueError
        For another game.
    """

    def __init__(self, game: Game[Any, Any], batch: int) -> None:
        expect_slippery_sam("optimal", game)
        self._game: Any = game
        self._amounts = Amounts(game.rules)
        self.decisions = np.zeros(batch, np.int64)
        self.close = np.zeros(batch, np.int64)
        self.regret = np.zeros(batch)

    def before(self, state: State, places: NDArray[np.int64], actions: NDArray[np.int64]) -> None:
        """Look at the decisions of some games of the batch."""
        view = InformationSet(self._game, state)
        rows = np.flatnonzero(~Sight(view).staking & (view.legal.sum(axis=1) > 1))
        if not len(rows):
            return
        regret, bank = self.of(view.take(rows), actions[rows])
        at = places[rows]  # a game is in a batch once, so no place stands twice
        self.decisions[at] += 1
        self.close[at] += regret <= CLOSE * bank + ROUNDING
        self.regret[at] += regret / bank

    def after(self, state: State, places: NDArray[np.int64], actions: NDArray[np.int64]) -> None:
        """Nothing is left to look at."""

    def of(self, view: InformationSet, actions: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Regrets in chips, ``float64[N]``, and the banks, ``int64[N]``, of turns in which seats are to bet."""
        sight = Sight(view)
        turns = sight.turns(self._amounts)
        worth = self._worth(view, sight, turns, actions)
        return np.maximum(turns.choices().max(axis=0) - worth, 0.0), turns.bank

    def _worth(
        self, view: InformationSet, sight: Sight, turns: Turns, actions: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        redraw = view.legal.shape[1] - 2  # behind the amounts; a pass, worth nothing, comes last
        worth = np.zeros(len(view))
        bets = np.flatnonzero(actions < redraw)
        amounts = self._game.amounts_of(actions, sight.number("least"), sight.number("most"))
        worth[bets] = amounts[bets] * turns.edge[bets]
        for done in np.unique(turns.redraws[actions == redraw]):
            rows = np.flatnonzero((actions == redraw) & (turns.redraws == done))
            worth[rows] = turns.take(rows).redraw_worth(int(done))
        return worth
