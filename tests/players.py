"""Agents with plain habits, named in tests as ``players:Lowest`` and so on."""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from slopes_agents import Agent
from slopes_envs import InformationSet


class Lowest(Agent):
    """The legal action of the lowest number."""

    def act(self, view: InformationSet) -> NDArray[np.int64]:
        return view.legal.argmax(axis=1)


class Highest(Agent):
    """The legal action of the highest number."""

    def act(self, view: InformationSet) -> NDArray[np.int64]:
        return view.legal.shape[1] - 1 - view.legal[:, ::-1].argmax(axis=1)


class Middle(Agent):
    """The legal action in the middle of those there are."""

    def act(self, view: InformationSet) -> NDArray[np.int64]:
        count = view.legal.sum(axis=1, keepdims=True)
        return (view.legal.cumsum(axis=1) > count // 2).argmax(axis=1)


class Modest(Agent):
    """In Slippery Slope bids three, and plays at random."""

    def act(self, view: InformationSet) -> NDArray[np.int64]:
        return np.where(view.legal[:, 3], 3, view.sample_legal())


class Sleepy(Lowest):
    """Takes its time."""

    def act(self, view: InformationSet) -> NDArray[np.int64]:
        time.sleep(0.01)
        return super().act(view)


class Cheat(Lowest):
    """Plays the last action of all, legal or not."""

    def act(self, view: InformationSet) -> NDArray[np.int64]:
        return np.full(len(view), self.game.num_actions - 1)


class Skewed(Agent):
    """Draws from the legal actions, one of number a with a chance in proportion to a + 1."""

    def probabilities(self, view: InformationSet) -> NDArray[np.float64]:
        weights = view.legal * np.arange(1.0, self.game.num_actions + 1)
        return weights / weights.sum(axis=1, keepdims=True)

    def act(self, view: InformationSet) -> NDArray[np.int64]:
        threshold = (view.keys >> np.uint64(11)) * 2.0**-53
        return (self.probabilities(view).cumsum(axis=1) > threshold[:, None]).argmax(axis=1)


class Mumbler(Agent):
    """Answers with something that is no action."""

    def act(self, view: InformationSet) -> NDArray[np.int64]:
        return view.legal  # type: ignore[return-value]  # that is the point
