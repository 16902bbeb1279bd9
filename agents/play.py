"""Whole batches of matches played by agents.

Shape letters: **B** games, **P** seats, **N** agents.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from slopes_envs import Game, IllegalAction, InformationSet, State

from .base import Agent


class Watch(Protocol):
    """Looks on while a batch is played.

    Both methods are given the games that were going before the step, their places in the batch (``int64[G]``) and the
    actions they take (``int64[G]``), and leave all of it as it is.
    """

    def before(self, state: State, places: NDArray[np.int64], actions: NDArray[np.int64]) -> None:
        """Look at the games before the step."""

    def after(self, state: State, places: NDArray[np.int64], actions: NDArray[np.int64]) -> None:
        """Look at the same games after it; some may have ended."""


class AgentFault(ValueError):
    """An agent's answer that is no action at all, or none that is legal."""


def seated(agents: ArrayLike, batch: int) -> NDArray[np.int64]:
    """One line-up of agent numbers (``int[P]``) for every game: ``int64[B, P]``."""
    return np.tile(np.asarray(agents, dtype=np.int64), (batch, 1))


def choose(
    game: Game[Any, Any],
    state: State,
    agents: Sequence[Agent],
    seating: NDArray[np.int64],
    salt: NDArray[Any] | None = None,
) -> NDArray[np.int64]:
    """Actions of the seats to move, ``int64[B]``, from a batch in which every game goes on.

    Parameters
    ----------
    agents
        N agents.
    seating
        ``int64[B, P]``: which agent sits where.
    salt
        ``int[B]``, for chance of its own; see :class:`slopes_envs.InformationSet`.

    Raises
    ------
    AgentFault
        If an agent answers with anything but whole numbers, one a game.
    """
    acting = seating[np.arange(len(state)), state.seat]
    present = np.unique(acting)
    actions = np.zeros(len(state), dtype=np.int64)
    for number in present:
        rows = np.flatnonzero(acting == number)
        part = state if len(rows) == len(state) else state.take(rows)
        view = InformationSet(game, part, salt=None if salt is None else salt[rows])
        actions[rows] = _answer(agents[number], view)
    return actions


def _answer(agent: Agent, view: InformationSet) -> NDArray[np.int64]:
    answer = np.asarray(agent.act(view))
    if answer.shape != (len(view),) or answer.dtype.kind not in "iu":
        raise AgentFault(
            f"{agent!r}: act expected to give whole numbers of shape ({len(view)},), "
            f"got {answer.dtype} of shape {answer.shape}"
        )
    return answer


def play_out(
    game: Game[Any, Any],
    state: State,
    agents: Sequence[Agent],
    seating: NDArray[np.int64],
    *,
    salts: NDArray[Any] | None = None,
    watches: Sequence[Watch] = (),
) -> int:
    """Play every game of a batch to its end, in place.

    Parameters
    ----------
    state
        The games; changed in place, finished ones are left as they are.
    agents, seating
        As for :func:`choose`.
    salts
        ``int[B, P]``: the salt of each seat, as for :func:`choose`.
    watches
        Look on at every step.

    Returns
    -------
    How many decisions were made.

    Raises
    ------
    AgentFault
        If an agent answers with something that is no legal action.
    """
    places = np.flatnonzero(state.seat >= 0)
    going = state.take(places)
    decisions = 0
    while len(places):
        salt = None if salts is None else salts[places, going.seat]
        actions = choose(game, going, agents, seating[places], salt)
        for watch in watches:
            watch.before(going, places, actions)
        try:
            outcome = game.step(going, actions)
        except IllegalAction as error:
            culprit = agents[seating[places[error.index], error.seat]]
            raise AgentFault(f"{culprit!r}: {error}") from error
        for watch in watches:
            watch.after(going, places, actions)
        decisions += len(places)
        ended = outcome.terminated | outcome.truncated
        if ended.any():
            over = np.flatnonzero(ended)
            state.put(places[over], going.take(over))
            stay = np.flatnonzero(~ended)
            going, places = going.take(stay), places[stay]
    return decisions
