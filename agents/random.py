"""The agent that plays every legal action equally often: the floor of every comparison."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from slopes_envs import InformationSet

from .base import Agent


class RandomAgent(Agent):
    """Uniform over the legal actions."""

    blind = True

    def act(self, view: InformationSet) -> NDArray[np.int64]:
        """Choose uniformly among the legal actions, from the view's own keys."""
        return view.sample_legal()

    def probabilities(self, view: InformationSet) -> NDArray[np.float64]:
        """Equal chances for the legal actions; rows of seats that are not to move are zero."""
        legal = view.legal
        chances: NDArray[np.float64] = legal / np.maximum(legal.sum(axis=1, keepdims=True), 1)
        return chances
