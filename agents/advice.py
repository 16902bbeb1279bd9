"""What a network sees behind the observation, or in its place: what a rule-based player makes of it.

- ``greedy``, ``heuristic``: which action that player chooses.  The policy begins close to that choice and learns where
  to depart from it (residual policy learning, Silver et al. 2018).
- ``afterstates`` (Slopes): how the turn can end, the best ends by the judgement of ``heuristic``
  (:mod:`.afterstates`).  The policy begins close to that judgement.
- ``reasons`` (all games but Slopes): what ``heuristic`` makes of every action (:mod:`.reasons`).  The policy begins
  close to its choice.

Shape letters: **B** games, **D** features of the observation, **A** actions.
"""

from __future__ import annotations

from typing import Any, Literal, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from slopes_envs import Game, InformationSet

from .afterstates import Afterstates
from .base import Agent, make_agent
from .reasons import ReasonAdviser

AFTERSTATES, REASONS = "afterstates", "reasons"
AdviserName = Literal["greedy", "heuristic", "afterstates", "reasons"]
"""Who can be asked: players of this library alone, so that no file of weights makes anything else run."""
ADVISERS: tuple[str, ...] = get_args(AdviserName)


class Adviser(Protocol):
    """What a network sees of a game besides the observation."""

    @property
    def size(self) -> int:
        """Bytes of advice a game."""

    @property
    def alone(self) -> bool:
        """Whether networks look at nothing else."""

    def advise(self, view: InformationSet) -> NDArray[np.uint8]:
        """Advice for the seats of a view, ``uint8[B, size]``; rows of seats that are not to move do not matter."""


class Choice:
    """Advice of a player: one for what it would do, ``uint8[B, A]``; zero for seats that are not to move."""

    alone = False

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.size = agent.game.num_actions

    def advise(self, view: InformationSet) -> NDArray[np.uint8]:
        """Ask the player, who must be certain of what it does."""
        return self.agent.probabilities(view).astype(np.uint8)


def make_adviser(name: str | None, game: Game[Any, Any]) -> Adviser | None:
    """The adviser of a name, for a game; None for none.

    Raises
    ------
    ValueError
        If there is no such adviser for the game.
    """
    if name is None:
        return None
    if name == AFTERSTATES:
        return Afterstates(game)
    return ReasonAdviser(game) if name == REASONS else Choice(make_agent(name, game))


def observed(view: InformationSet, adviser: Adviser | None) -> NDArray[np.uint8]:
    """What a network sees: the observation, ``uint8[B, D]``, with the advice behind it."""
    if adviser is None:
        return view.observations
    advice = adviser.advise(view)  # first, for it may ask for the observations as words
    return np.concatenate([view.observations, advice], axis=1)


def needed(view: InformationSet, adviser: Adviser | None) -> NDArray[np.uint8]:
    """What a network uses of :func:`observed`: all of it, or the advice if that is meant to stand alone."""
    return adviser.advise(view) if adviser is not None and adviser.alone else observed(view, adviser)
