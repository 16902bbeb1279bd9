"""What a rule-based player would do, as an input of a network.

A network with an *adviser* sees, behind the observation, which action the adviser chooses, and its policy begins close
to that choice: it learns where to depart from it (residual policy learning, Silver et al. 2018).

Shape letters: **B** games, **D** features of the observation, **A** actions.
"""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from slopes_envs import Game, InformationSet

from .base import Agent, make_agent

Adviser = Literal["greedy", "heuristic"]
"""Who can be asked: players of this library alone, so that no file of weights makes anything else run."""
ADVISERS: tuple[str, ...] = get_args(Adviser)


def make_adviser(name: str | None, game: Game[Any, Any]) -> Agent | None:
    """The adviser of a name, for a game; None for none."""
    return None if name is None else make_agent(name, game)


def advice(adviser: Agent, view: InformationSet) -> NDArray[np.uint8]:
    """One for the adviser's choice, ``uint8[B, A]``; rows of seats that are not to move are zero."""
    return adviser.probabilities(view).astype(np.uint8)  # all advisers are certain of what they do


def observed(view: InformationSet, adviser: Agent | None) -> NDArray[np.uint8]:
    """What a network sees: the observation, ``uint8[B, D]``; with an adviser its advice behind, ``uint8[B, D + A]``."""
    if adviser is None:
        return view.observations
    return np.concatenate([view.observations, advice(adviser, view)], axis=1)
