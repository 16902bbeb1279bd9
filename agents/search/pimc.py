"""Flat Monte Carlo over determinised worlds (perfect-information Monte Carlo, PIMC).

How it decides
--------------
1. It draws worlds from the information set: uniform over what its seat cannot tell apart; where seats have bid openly,
   by how well the sampled hands fit the bids; hidden bids as its bidder would bid on these hands (:mod:`.worlds`).  A
   few at first, and twice as many each time.
2. Every action that is still in the running is tried in *the same* worlds and played on to the end of the hand by the
   roll-out agent: all worlds and actions of all games of the batch at once.  In copies of a world the agents' chance
   is the same as well, so what differs between two actions is as far as possible what they do.
3. An action is dropped once it is worse than the best one by more than chance explains; a game whose choice is settled
   costs no more.
4. It takes the action with the best mean lead, unless the roll-out agent's own choice is as good within some standard
   errors (``doubt``): the best of many noisy means is not often the best action, and the roll-out agent has reasons of
   its own.  Where partners read what is done (bids in Sluff), its own choice stands at once; and where roll-outs are
   cut off (Slopes), the roll-out agent's own judgement of actions is added to what they bring (:class:`.stakes.Reach`).

Known limits (Frank and Basin 1998; Long et al. 2010): it acts as if it would know the world from the next move on
(strategy fusion), so it never plays to find something out or to keep something hidden.

Shape letters: **B** games, **G** games being searched, **W** worlds, **A** actions, **N** roll-outs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slopes_envs import Game, InformationSet, State
from slopes_envs.chance import derive

from ..base import Agent, make_agent, where_free
from .rollouts import Rollouts
from .stakes import Floats, Reach, reach_of
from .worlds import Worlds

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

GAMES = 64
"""Games searched at a time, so that memory is bounded whatever the batch."""
FIRST_WORLDS = 8
SETTLED = 2.5
"""Standard errors of the difference in the same worlds beyond which an action is dropped."""


class PimcAgent(Agent):
    """Flat Monte Carlo; see the module for how it decides.

    Parameters
    ----------
    worlds
        W, the most worlds an action is tried in.
    rollout
        The agent, or its spec, that plays hands on, and that bids where bids are hidden; where none is named,
        ``heuristic``, in Slopes ``afterstates``.
    reach
        How far hands are played on; by default as is usual for the game.
    """

    def __init__(
        self, game: Game[Any, Any], worlds: int = 32, rollout: str | Agent = "", reach: Reach | None = None
    ) -> None:
        """Make the agent.

        Raises
        ------
        ValueError
            For fewer than one world, or as :func:`slopes_agents.make_agent` for the roll-out agent.
        """
        super().__init__(game)
        if worlds < 1:
            raise ValueError(f"agent pimc: worlds expected a whole number of at least 1, got {worlds}")
        self.worlds = worlds
        reach = reach or reach_of(game)
        agent = rollout if isinstance(rollout, Agent) else make_agent(rollout or reach.rollout, game)
        self.rollouts = Rollouts(game, agent, reach)
        self.drawn = Worlds(game, agent, reach.fit)

    def act(self, view: InformationSet) -> NDArray[np.int64]:
        """Choose an action in every game."""
        return where_free(view, self._search, GAMES)

    def candidates(self, view: InformationSet) -> tuple[Bools, Ints]:
        """Actions worth trying, ``bool[G, A]``, and what the roll-out agent would do, ``int64[G]``."""
        promising = self.rollouts.reach.promising
        tried = view.legal.copy() if promising is None else view.legal & promising(view)
        habit = self.rollouts.agent.act(view)
        tried[np.arange(len(habit)), habit] = True
        return tried, habit

    def _search(self, view: InformationSet) -> Ints:
        legal = view.legal
        tried, habit = self.candidates(view)
        reach, doubt = self.rollouts.reach, 0.0
        if not self.rollouts.agent.blind:  # a blind one has no reasons, and means nothing by its bids
            doubt = reach.doubt
            if reach.spoken is not None:
                settled = np.flatnonzero(reach.spoken(legal))
                tried[settled] = False
                tried[settled, habit[settled]] = True
        tally, reasons = Tally(tried), np.zeros(legal.shape)
        if reach.reasons is not None:
            reasons = reach.reasons(view)
        for number, count in enumerate(rounds(self.worlds)):
            rows = np.flatnonzero(tally.running.sum(axis=1) > 1)
            if not len(rows):
                break
            searched = view.take(rows)
            worlds = self.drawn.draw(searched, count, derive(searched.keys, number))
            values = try_actions(self.rollouts, worlds, searched.seats, tally.running[rows], count)
            tally.add(rows, values + reasons[rows, None])
            tally.drop_the_worse(max(SETTLED, doubt))
        return tally.best(habit, doubt)


def rounds(worlds: int) -> Iterator[int]:
    """How many worlds each round adds, ``worlds`` in all: a few, then as many again as there are."""
    done = 0
    while done < worlds:
        count = min(max(done, FIRST_WORLDS), worlds - done)
        yield count
        done += count


def try_actions(rollouts: Rollouts, worlds: State, seats: Ints, running: Bools, count: int) -> Floats:
    """What every running action brings its seat in each world: ``float64[G, count, A]``, NaN for other actions.

    Parameters
    ----------
    worlds
        ``G * count`` worlds, those of a game side by side.
    seats
        ``int64[G]``, whose move it is.
    running
        ``bool[G, A]``.
    """
    game = rollouts.game
    values = np.full((len(seats), count, running.shape[1]), np.nan)
    which, world, action = np.nonzero(np.broadcast_to(running[:, None], values.shape))
    at = which * count + world
    tried = worlds.take(at)
    begun = rollouts.start(worlds).take(at)
    game.step(tried, action, check=False)
    values[which, world, action] = rollouts.values(tried, begun)[np.arange(len(at)), seats[which]]
    return values


class Tally:
    """What the actions of G games have brought so far.

    Attributes
    ----------
    running
        ``bool[G, A]``: the actions not dropped yet.
    """

    def __init__(self, legal: Bools) -> None:
        self.running = legal.copy()
        self._values: Floats = np.empty((len(legal), 0, legal.shape[1]))  # [G, W, A], NaN where nothing was tried

    def add(self, rows: Ints, values: Floats) -> None:
        """Add what was seen in some of the games, ``float64[len(rows), count, A]``, NaN where nothing was tried."""
        full = np.full((len(self.running), *values.shape[1:]), np.nan)
        full[rows] = values
        self._values = np.concatenate([self._values, full], axis=1)

    def _differences(self, leader: Ints) -> tuple[Floats, Floats, Floats]:
        """How far each running action is behind ``leader`` in the same worlds.

        Returns means and standard errors, ``float64[G, A]``, and the number of worlds, ``float64[G, 1]``.
        """
        best = np.take_along_axis(self._values, leader[:, None, None], axis=2)
        behind = best - self._values
        worlds = np.maximum((~np.isnan(best)).sum(axis=1), 1)
        mean = np.nansum(behind, axis=1) / worlds
        square = np.nansum((behind - mean[:, None]) ** 2, axis=1) / np.maximum(worlds - 1, 1)
        return mean, np.sqrt(square / worlds), worlds.astype(np.float64)

    def _leader(self) -> Ints:
        total = np.where(self.running, np.nansum(self._values, axis=1), -np.inf)
        leader: Ints = total.argmax(axis=1)
        return leader

    def drop_the_worse(self, errors: float) -> None:
        """Drop actions that are behind the best by more than so many standard errors, or that are never better."""
        behind, error, worlds = self._differences(self._leader())
        # With a spread of zero there is nothing to wait for; a few worlds more guard against a lucky start.
        error = error + 1e-9
        self.running &= ~((behind > errors * error) & (worlds >= FIRST_WORLDS))

    def best(self, habit: Ints, errors: float) -> Ints:
        """The best running action of each game; ``habit``, if it is within so many standard errors of it."""
        if not self._values.size:  # no game had two actions to try
            only: Ints = self.running.argmax(axis=1)
            return only
        leader = self._leader()
        behind, error, _ = self._differences(leader)
        games = np.arange(len(habit))
        close = behind[games, habit] <= errors * error[games, habit]
        return np.where(self.running[games, habit] & close, habit, leader)
