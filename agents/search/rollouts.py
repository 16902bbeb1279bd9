"""Hands played on by an agent, all of them as one batch.

Shape letters: **N** games, **P** seats.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from slopes_envs import Game, InformationSet, State

from ..base import Agent
from .stakes import Floats, Lead, Reach

Ints = NDArray[np.int64]

SLICE = 1 << 13
"""Games that are played on at a time: so many that a step costs little a game, and few enough for the caches."""


class Rollouts:
    """Plays hands on, and says what they brought.

    Attributes
    ----------
    agent
        Plays all seats.
    lead
        What the values are in.
    reach
        How far; see :class:`.stakes.Reach`.
    """

    def __init__(self, game: Game[Any, Any], agent: Agent, reach: Reach) -> None:
        self.game, self.agent, self.reach = game, agent, reach
        self.lead = Lead(game)

    def values(self, state: State, hands: NDArray[np.int32], before: Floats) -> Floats:
        """What each game brings every seat until its hand is over: leads in the game's points, ``float64[N, P]``.

        Parameters
        ----------
        state
            Games to play on; their arrays are used up.  Some may be over, or in the next hand, already.
        hands
            ``int32[N]``, the number of the hand to be played out.
        before
            ``float64[N, P]``, the leads to count from.
        """
        leads = np.empty((len(state), self.game.num_players))
        for start in range(0, len(state), SLICE):
            rows = np.arange(start, min(start + SLICE, len(state)))
            part = state if len(rows) == len(state) else state.take(rows)
            leads[rows] = self._play_on(part, hands[rows])
        return leads - before

    def _play_on(self, state: State, hands: NDArray[np.int32]) -> Floats:
        """The leads at the end of the hands, or where they are cut off: ``float64[N, P]``."""
        game, going, places = self.game, state, np.arange(len(state))
        leads = np.empty((len(state), game.num_players))
        until = None if self.reach.depth is None else self.reach.clock(state) + self.reach.depth
        while len(places):
            over = (going.seat < 0) | (going.hand != hands[places])
            cut = over if until is None else over | (self.reach.clock(going) >= until[places])
            if cut.any():
                done = np.flatnonzero(cut)
                ended = going.take(done)
                leads[places[done]] = self.lead.of(ended)
                unfinished = np.flatnonzero(~over[done])
                if len(unfinished):
                    leads[places[done[unfinished]]] += self._evaluated(ended.take(unfinished))
                stay = np.flatnonzero(~cut)
                going, places = going.take(stay), places[stay]
                if not len(places):
                    break
            game.step(going, self.agent.act(InformationSet(game, going)), check=False)
        return leads

    def _evaluated(self, state: State) -> Floats:
        """What games that are cut off are expected to bring from there on: ``float64[N, P]``, zero without a guess."""
        expected = np.zeros((len(state), self.game.num_players))
        if self.reach.evaluate is not None:
            for seat in range(self.game.num_players):
                expected[:, seat] = self.reach.evaluate(InformationSet(self.game, state, np.full(len(state), seat)))
        return expected
