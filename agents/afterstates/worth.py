"""What positions of Slopes are worth, by the network that ships, with nothing but NumPy: where a search stops.

Shape letters: **B** games, **K** ends of the turn that are shown, **F** features of one.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from slopes_envs import InformationSet

from ..heuristic.slopes import evaluate
from ..weights_file import Arrays, CheckpointError, read_weights, shipped_weights
from . import BEHIND, FEATURES, FULL, GAME, JUDGED, NO_ACTION, NOT_THERE, PLANES, SURE, WAYS, Afterstates

Floats = NDArray[np.float32]

_WINS, _LOSES, _BEHIND = (list(PLANES).index(name) for name in ("wins", "loses", "behind"))  # one feature each


class _Layers(NamedTuple):
    """Hidden layers and the last one, as ``network.AfterstateTrunk`` has them."""

    hidden: list[tuple[Floats, Floats]]  # weights [out, in] and biases
    last: Floats  # [in + 1], the bias behind the weights

    @classmethod
    def of(cls, arrays: Arrays, name: str) -> _Layers:
        """Those of a trunk, by name."""
        start, end = f"trunk.{name}.hidden.", ".weight"
        numbers = sorted(
            int(key[len(start) : -len(end)]) for key in arrays if key.startswith(start) and key.endswith(end)
        )
        hidden = [(arrays[f"{start}{number}.weight"], arrays[f"{start}{number}.bias"]) for number in numbers]
        return cls(hidden, arrays[f"trunk.{name}.last"])

    def __call__(self, ends: Floats) -> Floats:
        """Judge ends ``float32[…, F]``: ``float32[…]``."""
        for weights, biases in self.hidden:
            ends = np.maximum(ends @ weights.T + biases, 0)
        judged: Floats = ends @ self.last[:-1] + self.last[-1]
        return judged


@lru_cache
def _shipped(path: Path) -> tuple[_Layers, _Layers]:
    """What ends are worth, and how gladly the policy goes for them, by the network of a file of weights."""
    header, arrays = read_weights(path, path.read_bytes())
    if header["game"] != GAME or "trunk.worth.last" not in arrays:
        raise CheckpointError(f"weights {path}: expected a network that sees afterstates of {GAME}")
    return _Layers.of(arrays, "worth"), _Layers.of(arrays, "score")


def worth(view: InformationSet) -> NDArray[np.float64]:
    """The expected final reward of the seats of a view, ``float64[B]``, from -1 to 1.

    Of seats that are to move: what the ends of the turn are worth, as often as the policy goes for them.  Of others,
    and of matches that are over: :func:`slopes_agents.heuristic.slopes.evaluate`.

    Raises
    ------
    CheckpointError
        If the weights that ship are none of such a network.
    """
    found = np.empty(len(view))
    to_move = view.legal.any(axis=1)
    rows = np.flatnonzero(~to_move)
    if len(rows):
        found[rows] = evaluate(view.take(rows))
    rows = np.flatnonzero(to_move)
    if len(rows):
        found[rows] = _of_movers(view.take(rows))
    return found


def _of_movers(view: InformationSet) -> Floats:
    worths, scores = _shipped(shipped_weights(GAME))
    shown = Afterstates(view.game).advise(view)
    there = shown[:, :WAYS] != NO_ACTION
    ends = shown[:, WAYS:].reshape(len(view), WAYS, FEATURES).astype(np.float32) / np.float32(FULL)
    sure = ends[:, :, _WINS] - ends[:, :, _LOSES]
    logits = np.where(there, scores(ends) - JUDGED * BEHIND * ends[:, :, _BEHIND] + SURE * sure, NOT_THERE)
    chances = np.exp(logits - logits.max(axis=1, keepdims=True))
    values = np.where(sure == 0, np.tanh(worths(ends)), sure)
    expected: Floats = (chances * values * there).sum(axis=1) / chances.sum(axis=1)
    return expected
