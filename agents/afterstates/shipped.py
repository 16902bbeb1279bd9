"""The network of Slopes that ships, with nothing but NumPy: a player, and what positions are worth to search.

Shape letters: **B** games, **K** ends of the turn that are shown at most, **L** those that are there in all games,
**F** features of one.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from slopes_envs import Game, InformationSet

from ..base import DeterministicAgent, where_free
from ..shown import FULL, NO_ACTION, NOT_THERE
from ..weights_file import Arrays, CheckpointError, read_weights, shipped_weights
from . import (
    BEHIND,
    BEHIND_BY,
    FEATURES,
    GAME,
    JUDGED,
    LOSES,
    SURE,
    WAYS,
    WINS,
    Afterstates,
)

Floats = NDArray[np.float32]

WORTH = 300.0
"""How much what an end is worth counts in the logits of the policy: ``rate / decay`` of its training."""


class _Layers(NamedTuple):
    """Hidden layers and the last one, as ``network.AfterstateTrunk`` has them."""

    hidden: list[tuple[Floats, Floats]]  # weights [in, out] and biases
    last: Floats  # [in + 1], the bias behind the weights

    @classmethod
    def of(cls, arrays: Arrays, name: str) -> _Layers:
        """Those of a trunk, by name."""
        start, end = f"trunk.{name}.hidden.", ".weight"
        keys = [key for key in arrays if key.startswith(start) and key.endswith(end)]
        numbers = sorted(int(key[len(start) : -len(end)]) for key in keys)
        hidden = [(arrays[f"{start}{number}.weight"].T, arrays[f"{start}{number}.bias"]) for number in numbers]
        return cls(hidden, arrays[f"trunk.{name}.last"])

    def __call__(self, ends: Floats) -> Floats:
        """Judge ends ``float32[L, F]``: ``float32[L]``."""
        judged = ends
        for weights, biases in self.hidden:
            judged = np.maximum(judged @ weights + biases, 0)
        scores: Floats = judged @ self.last[:-1] + self.last[-1]
        return scores


class Network(NamedTuple):
    """What ends of the turn are worth, and how gladly the policy goes for them."""

    worth: _Layers
    score: _Layers

    @classmethod
    def read(cls, path: Path) -> Network:
        """That of a file of weights.

        Raises
        ------
        CheckpointError
            If there is no such network in it.
        """
        header, arrays = read_weights(path, path.read_bytes())
        if header["game"] != GAME or "trunk.worth.last" not in arrays:
            raise CheckpointError(f"weights {path}: expected a network that sees afterstates of {GAME}")
        return cls.of(arrays)

    @classmethod
    def of(cls, arrays: Arrays) -> Network:
        """That of a policy's arrays, by name."""
        return cls(_Layers.of(arrays, "worth"), _Layers.of(arrays, "score"))


_read = lru_cache(Network.read)


class _Shown(NamedTuple):
    """The ends of B turns."""

    actions: NDArray[np.uint8]  # [B, K], what begins them; NO_ACTION where there are fewer
    at: NDArray[np.int64]  # [L], where in [B, K], row by row, those that are there stand
    ends: Floats  # [L, F], features of those

    @classmethod
    def of(cls, advice: NDArray[np.uint8]) -> _Shown:
        """What is shown in advice, ``uint8[B, SIZE]``."""
        actions = advice[:, :WAYS]
        at = np.flatnonzero(actions != NO_ACTION)
        ends = advice[:, WAYS:].reshape(-1, FEATURES)[at].astype(np.float32)
        ends /= np.float32(FULL)
        return cls(actions, at, ends)

    def spread(self, judged: Floats, missing: float) -> Floats:
        """What ends that are there were judged, ``float32[L]``, each in its place: ``float32[B, K]``."""
        spread = np.full(self.actions.size, missing, dtype=np.float32)
        spread[self.at] = judged
        return spread.reshape(self.actions.shape)


class AfterstateAgent(DeterministicAgent):
    """The policy of Slopes that ships: ``ppo`` without PyTorch.  It goes for the end of the turn that it likes best.

    Parameters
    ----------
    network
        Another network than the one that ships.

    Raises
    ------
    ValueError
        For another game than Slopes, or if the weights that ship are none of such a network.
    """

    def __init__(self, game: Game[Any, Any], network: Network | None = None) -> None:
        super().__init__(game)
        self._afterstates = Afterstates(game)
        self._network = network or _read(shipped_weights(GAME))

    def act(self, view: InformationSet) -> NDArray[np.int64]:
        """Choose the action that begins the best end of the turn, where there is a choice."""
        return where_free(view, self._choose)

    def _choose(self, view: InformationSet) -> NDArray[np.int64]:
        shown = self._shown(view)
        best = self._scores(shown).argmax(axis=1)
        chosen: NDArray[np.int64] = shown.actions[np.arange(len(view)), best].astype(np.int64)
        return chosen

    def reasons(self, view: InformationSet) -> NDArray[np.float64]:
        """What speaks for actions besides what a search finds, ``float64[B, A]``, from 0 for the best one downwards.

        In units of the final reward: how the policy judges the best end that an action begins, and the judgement of
        the rules once more.  The policy weighs these against *one* estimate of what ends are worth; a search that adds
        its own has two.  -1 for actions that begin none of the ends that are shown.
        """
        shown = self._shown(view)
        judged = (self._scores(shown) + shown.spread(_by_the_rules(shown.ends), 0)) / WORTH
        reasons = np.full((len(view), NO_ACTION + 1), -1.0)
        each = np.arange(len(view))[:, None], shown.actions
        np.maximum.at(reasons, each, judged - judged.max(axis=1, keepdims=True))
        return reasons[:, : self.game.num_actions]

    def values(self, view: InformationSet) -> NDArray[np.float64]:
        """The expected final reward of seats that are to move, ``float64[B]``, from -1 to 1; of others, 0.

        It is what the ends of the turn are worth, as often as the policy goes for them.
        """
        shown = self._shown(view)
        scores, sure = self._scores(shown), _sure(shown.ends)
        chances = np.exp(scores - scores.max(axis=1, keepdims=True))
        worths = shown.spread(np.where(sure == 0, np.tanh(self._network.worth(shown.ends)), sure), 0)
        values: NDArray[np.float64] = ((chances * worths).sum(axis=1) / chances.sum(axis=1)).astype(np.float64)
        return values

    def _shown(self, view: InformationSet) -> _Shown:
        return _Shown.of(self._afterstates.advise(view))

    def _scores(self, shown: _Shown) -> Floats:
        """Logits of the policy, ``float32[B, K]``."""
        ends = shown.ends
        return shown.spread(self._network.score(ends) + _by_the_rules(ends) + SURE * _sure(ends), NOT_THERE)


def _by_the_rules(ends: Floats) -> Floats:
    """The judgement of the rule-based player, in logits: 0 for the end that it likes best."""
    judged: Floats = -JUDGED * BEHIND * ends[:, BEHIND_BY]
    return judged


def _sure(ends: Floats) -> Floats:
    """1 for wins, -1 for losses, 0 for all other ends."""
    return ends[:, WINS] - ends[:, LOSES]
