"""Generalised advantages along each seat's own decisions.

Shape letters: **T** moves, **B** games, **P** seats.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray


class Decisions(Protocol):
    """What is needed of a rollout."""

    seats: NDArray[np.int64]  # [T, B] who decided
    learned: NDArray[np.bool_]  # [T, B] whether that seat learns; it does so in a whole match or not at all
    values: NDArray[np.float32]  # [T, B] value of the decision to its seat
    rewards: NDArray[np.float32]  # [T, B, P] rewards that followed the move, to every seat
    ended: NDArray[np.bool_]  # [T, B] whether the match ended with the move
    end_values: NDArray[np.float32]  # [T, B, P] value of the end, to every seat


class Advantages(NamedTuple):
    """Advantages and value targets of decisions.

    ``used`` is False for decisions of seats that do not learn, and for the last decision of each seat in a match that
    goes on after the rollout: what follows it is not known yet, so it serves the decision before it as a bootstrap and
    is not learned from.
    """

    advantages: NDArray[np.float32]  # [T, B]
    returns: NDArray[np.float32]  # [T, B]
    used: NDArray[np.bool_]  # [T, B]


def seat_advantages(decisions: Decisions, gamma: float, gae_lambda: float) -> Advantages:
    """Advantages by GAE (Schulman et al. 2016), where "next" means the same seat's next decision.

    A seat's reward for a decision is all it gets up to its next one, whoever's moves brought it.  ``gamma`` and
    ``gae_lambda`` count the seat's own decisions.  Seats do not meet in this, so what is found for those that do not
    learn bears on nothing.
    """
    moves, games = decisions.seats.shape
    seats = decisions.rewards.shape[2]
    rows = np.arange(games)
    advantages = np.zeros((moves, games), dtype=np.float32)
    used = np.zeros((moves, games), dtype=np.bool_)
    # Of each seat's next decision, going backwards: its value, its advantage, the rewards before it, and whether it
    # is known at all.
    next_value = np.zeros((games, seats), dtype=np.float32)
    next_advantage = np.zeros((games, seats), dtype=np.float32)
    earned = np.zeros((games, seats), dtype=np.float32)
    known = np.zeros((games, seats), dtype=np.bool_)
    for t in range(moves - 1, -1, -1):
        ended = decisions.ended[t]
        if ended.any():
            next_value[ended] = decisions.end_values[t, ended]
            next_advantage[ended] = 0
            earned[ended] = 0
            known[ended] = True
        earned += decisions.rewards[t]
        at = (rows, decisions.seats[t])
        value = decisions.values[t]
        error = earned[at] + gamma * next_value[at] - value
        advantage = np.where(known[at], error + gamma * gae_lambda * next_advantage[at], 0)
        advantages[t] = advantage
        used[t] = known[at] & decisions.learned[t]
        next_value[at] = value
        next_advantage[at] = advantage
        earned[at] = 0
        known[at] = True
    return Advantages(advantages, advantages + decisions.values, used)
