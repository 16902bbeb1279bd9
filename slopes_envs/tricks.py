"""Any trick: follow suit, strength tables, who wins.  Knows no bids and no points.

A trick is a small automaton.  Its *context* says all that matters for the cards still to come (which suit was led,
the direction or the trump, …); one table, computed at import, tells for every context and action what the next
context is, how strong the card is, and which suits it shows its player to be void in.  The highest strength wins, and
of equal ones the first played.

Shape letters: **B** games, **P** seats, **A** actions, **K** contexts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray


class Played(NamedTuple):
    """What one card does to a trick in some context."""

    context: int  # the context after the card
    strength: int  # 1 … 255; the highest wins the trick; must not depend on later cards
    void: int = 0  # suits the player is shown to be void in, one bit a suit


class TrickState(Protocol):
    """The arrays of a state that :meth:`TrickTables.play` reads and writes in place."""

    context: NDArray[np.uint8]  # [B]
    best: NDArray[np.uint8]  # [B] strength of the winning card so far, 0 before the first
    winner: NDArray[np.int8]  # [B] seat of the winning card so far
    voids: NDArray[np.uint8]  # [B, P] suits each seat has shown to be void in, one bit a suit


class TricksState(TrickState, Protocol):
    """What :meth:`TrickTables.finish` reads and writes in place beside that."""

    seat: NDArray[np.int8]  # [B] seat to move
    leader: NDArray[np.int8]  # [B] who leads or led the present trick
    table: NDArray[Any]  # [B, P] card of each seat in the present trick, in the game's own form, 0 for none
    tricks: NDArray[np.int8]  # [B, P] tricks taken in this hand


@dataclass(frozen=True)
class TrickTables:
    """The tables of one game's tricks; flat ones are indexed ``context * A + action``."""

    num_actions: int
    must: NDArray[np.uint64]  # [K] cards one of which must be played by a seat that holds any of them
    lead: NDArray[np.uint8]  # [K] the context of the next trick, once the present one is complete
    context: NDArray[np.uint8]  # [K * A]
    strength: NDArray[np.uint8]  # [K * A]
    void: NDArray[np.uint8]  # [K * A]

    @classmethod
    def build(
        cls,
        num_actions: int,
        must: Sequence[int],
        lead: Sequence[int],
        play: Callable[[int, int], Played | None],
    ) -> TrickTables:
        """Fill the tables from ``play(context, action)``; None leaves the context as it is, with strength 0."""
        table = np.zeros((3, len(must), num_actions), dtype=np.uint8)
        for context in range(len(must)):
            for action in range(num_actions):
                table[:, context, action] = play(context, action) or Played(context, 0)
        flat = table.reshape(3, -1)
        flat.flags.writeable = False
        return cls(
            num_actions, np.array(must, dtype=np.uint64), np.array(lead, dtype=np.uint8), flat[0], flat[1], flat[2]
        )

    def play(self, state: TrickState, at: NDArray[np.int64], actions: NDArray[np.int64]) -> None:
        """Play one card in every game of the batch.

        Parameters
        ----------
        state
            Changed in place: ``context``, ``best``, ``winner`` and ``voids``.
        at
            ``int64[B]``, flat index ``game * P + seat`` of the seat that plays.
        actions
            ``int64[B]``; actions that are no cards leave the trick as it is.
        """
        code = state.context * np.int64(self.num_actions) + actions
        state.context = self.context.take(code)
        strength = self.strength.take(code)
        better = strength > state.best
        state.best = np.maximum(state.best, strength)
        num_seats = state.voids.shape[1]
        state.winner = np.where(better, (at % num_seats).astype(np.int8), state.winner)
        state.voids.reshape(-1)[at] |= self.void.take(code)

    def play_one(self, state: TrickState, seat: int, action: int) -> None:
        """The same as :meth:`play` in a batch of one game."""
        code = state.context.item() * self.num_actions + action
        state.context[0] = self.context.item(code)
        strength = self.strength.item(code)
        if strength > state.best.item():
            state.best[0] = strength
            state.winner[0] = seat
        void = self.void.item(code)
        if void:
            state.voids[0, seat] |= void

    def finish_one(self, state: TricksState) -> int:
        """The same as :meth:`finish` in a batch of one game; returns the winner."""
        winner = state.winner.item()
        state.tricks[0, winner] += 1
        state.seat[0] = winner
        state.leader[0] = winner
        state.table[0] = 0
        state.context[0] = self.lead.item(state.context.item())
        state.best[0] = 0
        state.winner[0] = -1
        return winner

    def finish(self, state: TricksState, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Give the complete tricks of some games to their winners, who lead the next.

        Parameters
        ----------
        state
            Changed in place: the winners' ``tricks``, and all that belongs to the present trick.
        rows
            ``int64[N]``, the games.

        Returns
        -------
        int64[N], flat index ``game * P + seat`` of each winner.
        """
        winner = state.winner[rows]
        at: NDArray[np.int64] = rows * state.tricks.shape[1] + winner
        state.tricks.reshape(-1)[at] += 1
        state.seat[rows] = winner
        state.leader[rows] = winner
        state.table[rows] = 0
        state.context[rows] = self.lead.take(state.context[rows])
        state.best[rows] = 0
        state.winner[rows] = -1
        return at
