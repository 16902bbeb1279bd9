"""What writing and reading share: the keys of a record, its errors, and the names of actions."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import SlopesError
from ..game import Game, State

FORMAT = "slopes-record/1"
KEYS = ("format", "game", "rules", "seed", "players", "hands", "scores", "end")
HAND_KEYS = ("moves", "scores")  # beside those of the deal
MOVE_KEYS = ("seat", "action")
LEGAL = "legal"
UNFINISHED = "unfinished"
ENDS = ("terminated", "truncated", UNFINISHED)

BATCH = 128
"""Matches that are recorded or verified side by side."""

MAX_REASON = 500  # characters of a reason; names out of a hostile file may be of any length

Record = dict[str, Any]

encode = json.JSONEncoder(allow_nan=False, check_circular=False).encode


class RecordError(SlopesError):
    """A record that is not right.  Line, hand and move count from 1; None where the fault belongs to no single one."""

    def __init__(self, reason: str, *, line: int, hand: int | None = None, move: int | None = None) -> None:
        if len(reason) > MAX_REASON:
            reason = reason[: MAX_REASON // 2] + " … " + reason[-MAX_REASON // 2 :]
        where = [f"line {line}", f"hand {hand}" if hand is not None else "", f"move {move}" if move is not None else ""]
        super().__init__(f"{', '.join(filter(None, where))}: {reason}")
        self.reason, self.line, self.hand, self.move = reason, line, hand, move


def end_of(state: State, i: int) -> str:
    """How match ``i``, which is over, came to its end."""
    return "terminated" if state.terminated[i] else "truncated"


class ActionNames:
    """Names of actions, for whole batches at once.

    Parameters
    ----------
    game
        The rules.
    written
        The form that each name is given in; by default as it is.
    """

    def __init__(self, game: Game[Any, Any], written: Callable[[str], str] = str) -> None:
        self._game, self._written = game, written
        self._fixed = None if game.action_names is None else [written(name) for name in game.action_names]

    def chosen(self, state: State, actions: NDArray[np.int64]) -> list[str]:
        """Names of one action in every match (``int64[B]``)."""
        return self._names(state, np.arange(len(actions)), actions)

    def legal(self, state: State, legal: NDArray[np.bool_]) -> list[tuple[str, ...]]:
        """Names of the legal actions (``bool[B, A]``) of every match, in the order of their numbers."""
        names = tuple(self._names(state, *np.nonzero(legal)))
        ends = np.cumsum(np.count_nonzero(legal, axis=1)).tolist()
        return [names[start:end] for start, end in zip([0, *ends], ends, strict=False)]

    def _names(self, state: State, rows: NDArray[np.int64], actions: NDArray[np.int64]) -> list[str]:
        fixed = self._fixed
        if fixed is not None:
            return [fixed[action] for action in actions.tolist()]
        name, written = self._game.action_name, self._written
        pairs = zip(rows.tolist(), actions.tolist(), strict=True)
        return [written(name(state, row, action)) for row, action in pairs]
