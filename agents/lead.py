"""Leads: what a side scores less what the others do on the average, which is what wins a match.

Shape letters: **N** games, **P** seats, **S** sides.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from slopes_envs import Game, State

Floats = NDArray[np.float64]


class Lead:
    """Turns scores into leads, for the seats of one game."""

    def __init__(self, game: Game[Any, Any]) -> None:
        sides = np.zeros((len(game.teams), game.num_players))
        for side, seats in enumerate(game.teams):
            sides[side, list(seats)] = 1 / len(seats)
        own = np.argmax(sides > 0, axis=0)
        others = len(game.teams) - 1
        # [P, P]: of the mean score of the own side, less that of each other side shared out.
        self._weights = (sides[own] * (1 + 1 / others) - sides.sum(axis=0) / others).T
        self._game = game

    def all_seats(self, scores: NDArray[Any]) -> Floats:
        """The lead of every seat, ``float64[N, P]``, from scores ``[N, P]``."""
        leads: Floats = scores @ self._weights
        return leads

    def of(self, state: State) -> Floats:
        """The lead of every seat in the match so far, ``float64[N, P]``."""
        return self.all_seats(self._game.scores(state))
