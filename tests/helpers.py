"""What several tests do with the core."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slopes_envs import Game, State, derive, match_seed


def new_batch(game: Game[Any, Any], batch: int, seed: int = 1) -> State:
    """Fresh matches with seeds of their own."""
    return game.new(match_seed(seed, np.arange(batch)))


def random_actions(game: Game[Any, Any], state: State, step: int, rows: NDArray[np.int64] | None = None) -> Any:
    """Uniformly random legal actions that depend on the place in the batch and the step alone."""
    rows = np.arange(len(state)) if rows is None else rows
    return game.sample_legal(state, derive(99, step, rows))


def staggered(game: Game[Any, Any], batch: int, most: int, seed: int = 1) -> State:
    """Matches of which each has been played a different number of moves, so that their phases are mixed."""
    state = new_batch(game, batch, seed)
    ahead = (derive(7, np.arange(batch)) % np.uint64(most)).astype(np.int64)
    for step in range(most):
        rows = np.flatnonzero((ahead > step) & (state.seat >= 0))
        if len(rows):
            part = state.take(rows)
            game.step(part, random_actions(game, part, step, rows))
            state.put(rows, part)
    return state


def assert_same(one: State, other: State, leave_out: tuple[str, ...] = ()) -> None:
    """Every field of two states is equal."""
    for spec in fields(one):
        if spec.name in leave_out:
            continue
        left, right = getattr(one, spec.name), getattr(other, spec.name)
        assert (left is None) == (right is None), spec.name
        if left is not None:
            assert np.array_equal(left, right), spec.name
