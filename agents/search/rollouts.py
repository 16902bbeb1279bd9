"""Hands played on by an agent, all of them as one batch.

Shape letters: **N** games, **P** seats.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from slopes_envs import Game, InformationSet, State

from ..base import Agent, where_free
from ..lead import Lead
from .stakes import Floats, Reach

Ints = NDArray[np.int64]

SLICE = 1 << 13
"""Games that are played on at a time: so many that a step costs little a game, and few enough for the caches."""


class Start(NamedTuple):
    """How N games stood at the decisions that are searched."""

    hands: NDArray[np.int32]  # [N] number of the hand to be played out
    leads: Floats  # [N, P]
    clock: Ints | None  # [N] by the clock of the reach; None where hands are played to their end

    def take(self, rows: Ints) -> Start:
        """Some of them."""
        return Start(self.hands[rows], self.leads[rows], None if self.clock is None else self.clock[rows])


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

    def start(self, state: State) -> Start:
        """What has to be known of games at the decisions that are searched, to value what comes of them."""
        clock = None if self.reach.depth is None else np.array(self.reach.clock(state), dtype=np.int64)
        return Start(np.array(state.hand), self.lead.of(state), clock)

    def values(self, state: State, start: Start) -> Floats:
        """What each game brings every seat until its hand is over: leads in the game's points, ``float64[N, P]``.

        Parameters
        ----------
        state
            Games to play on; their arrays are used up.  Some may be over, or in the next hand, already.
        start
            How each of them stood at the decision that is searched: hands and leads count from there.  So does the
            depth, by which games are cut off at the same time whatever was done at first; those that are beyond it
            already go on by as much again.
        """
        leads = np.empty((len(state), self.game.num_players))
        until = None if start.clock is None else self._until(state, start.clock)
        for first in range(0, len(state), SLICE):
            rows = np.arange(first, min(first + SLICE, len(state)))
            part = state if len(rows) == len(state) else state.take(rows)
            leads[rows] = self._play_on(part, start.hands[rows], None if until is None else until[rows])
        return leads - start.leads

    def _until(self, state: State, clock: Ints) -> Ints:
        assert self.reach.depth is not None
        beyond = np.maximum(self.reach.clock(state) - clock - 1, 0)
        until: Ints = clock + self.reach.depth * (1 + beyond // self.reach.depth)
        return until

    def _play_on(self, state: State, hands: NDArray[np.int32], until: Ints | None) -> Floats:
        """The leads at the end of the hands, or where they are cut off: ``float64[N, P]``."""
        game, going, places = self.game, state, np.arange(len(state))
        leads = np.empty((len(state), game.num_players))
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
            game.step(going, self._actions(going), check=False)
        return leads

    def _actions(self, state: State) -> Ints:
        """What is done in games that go on, ``int64[N]``; the agent is not asked where there is no choice."""
        view = InformationSet(self.game, state)
        return self.agent.act(view) if self.agent.blind else where_free(view, self.agent.act)

    def _evaluated(self, state: State) -> Floats:
        """What games that are cut off are expected to bring from there on: ``float64[N, P]``, zero without a guess."""
        if self.reach.evaluate is None:
            return np.zeros((len(state), self.game.num_players))
        return self.reach.evaluate(self.game, state)
