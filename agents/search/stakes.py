"""What a searching seat wants: the unit of all values of a search, and how far ahead a game is played out.

A search looks no further than the end of the present hand (in Slopes: the turn), or than a game's depth.  What it
counts is the *lead* that the hand brings (:class:`slopes_agents.lead.Lead`): the change in the score of the own side
less the mean change of the other sides, for that is what wins a match, and what duplicate deals measure.

Shape letters: **N** games, **P** seats.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slopes_envs import Game, InformationSet, State
from slopes_envs.games.slippery_slope import P as SLIPPERY_SLOPE_SEATS
from slopes_envs.games.slippery_slope import SlipperySlopeState
from slopes_envs.games.sluff import BIDS, CARDS

from ..afterstates.shipped import AfterstateAgent
from ..heuristic.slopes import promising
from .hearing import Fit, bids_in_sluff

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

WAYS = 4
"""Ends of a turn of Slopes that are searched."""


@dataclass(frozen=True)
class Reach:
    """How a game is searched."""

    unit: float
    """Standard deviation of the lead of a hand among rule-based players: exploration is in this unit."""
    depth: int | None = None
    """How far by the clock, from the decision that is searched, games are played; None plays hands to their end."""
    clock: Callable[[Any], NDArray[Any]] = attrgetter("move")
    """What depth is counted in, ``int[N]`` of a state: decisions, or what makes cut-off games easier to compare."""
    evaluate: Callable[[Game[Any, Any], State], Floats] | None = None
    """Expected lead of every seat from there on, ``float64[N, P]``: what a roll-out that is cut off is worth."""
    rollout: str = "heuristic"
    """Spec of the agent that plays hands on, if the caller does not name one."""
    unseen: Callable[[Any], NDArray[np.bool_]] | None = None
    """Where the next action is seen by nobody but the seat to move, ``bool[N]`` of a state; None if nowhere."""
    promising: Callable[[InformationSet], Bools] | None = None
    """Which actions are worth a search, ``bool[N, A]``; None for all that are legal."""
    reasons: Callable[[InformationSet], Floats] | None = None
    """What speaks for actions besides what they bring in the search, in points of the game: ``float64[N, A]``."""
    doubt: float = 0.5
    """Standard errors that an action must be better than what the roll-out agent would do."""
    fit: Fit | None = None
    """How well worlds fit what other seats have said; None for worlds that are all equally likely."""
    spoken: Callable[[Bools], Bools] | None = None
    """Where actions tell partners something, ``bool[N]`` of the legal ones ``bool[N, A]``; None if nowhere.

    These are left to the roll-out agent: partners go by what its bids mean.
    """


def by_seats(values: Callable[[InformationSet], Floats]) -> Callable[[Game[Any, Any], State], Floats]:
    """Every seat expects what its own view is worth, of ``values`` in points of the game."""

    def evaluate(game: Game[Any, Any], state: State) -> Floats:
        seats = range(game.num_players)
        return np.stack([values(InformationSet(game, state, np.full(len(state), seat))) for seat in seats], axis=1)

    return evaluate


def by_movers(values: Callable[[InformationSet], Floats]) -> Callable[[Game[Any, Any], State], Floats]:
    """Of two sides the one to move expects what its view is worth, and the other one loses that."""

    def evaluate(game: Game[Any, Any], state: State) -> Floats:
        return np.where(np.arange(2) == state.seat[:, None], 1.0, -1.0) * values(InformationSet(game, state))[:, None]

    return evaluate


def _bids_in_secret(state: SlipperySlopeState) -> NDArray[np.bool_]:
    bidding: NDArray[np.bool_] = state.moves < SLIPPERY_SLOPE_SEATS
    return bidding


def _bids_in_sluff(legal: Bools) -> Bools:
    bidding: Bools = legal[:, BIDS : BIDS + CARDS].sum(axis=1) == 0
    return bidding


def reach_of(game: Game[Any, Any], player: AfterstateAgent | None = None) -> Reach:
    """How a game is searched; one that is not listed is played to the end of its hand in units of its rewards.

    ``player`` judges where turns of Slopes end; by default the policy that ships.
    """
    if game.name == "slopes":
        # Cut off when the turn is over: it is the other side's move then whatever was tried, and in a world it is
        # known what that side holds.
        player = player or AfterstateAgent(game)
        return Reach(
            unit=2.0,
            depth=1,
            clock=attrgetter("turns"),
            evaluate=by_movers(lambda view: 2 * player.values(view)),  # what one side wins the other loses
            rollout="afterstates",
            promising=partial(promising, count=WAYS),
            reasons=lambda view: 2 * player.reasons(view),
            doubt=3.0,  # most actions hardly differ, and worths are wrong by as much
        )
    if game.name == "slippery_slope" and game.rules.reveal_bids == "after_scoring":
        return Reach(unit=4.0, unseen=_bids_in_secret)
    if game.name == "sluff":
        # A sluff is worth a hundred points: in so much noise the best of many means is seldom the best action.
        return Reach(unit=40.0, fit=bids_in_sluff, spoken=_bids_in_sluff, doubt=1.5)
    units = {"slippery_slope": 4.0, "sloppy_seconds": 25.0, "slippery_sam": 30.0}
    return Reach(unit=units.get(game.name, game.reward_range[1] - game.reward_range[0]))
