"""What one seat may know: the only thing an agent is ever given.

Shape letters: **B** games, **A** actions, **D** features, **W** words of 64 features.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .chance import Purpose, UInt64, derive
from .features import Observation
from .game import BidModel, Game, State, as_seats


class InformationSet:
    """A batch of information sets, one a game: what the seat to move (or another) knows of it.

    It offers observations, features, legal actions, a description, keys for an agent's own chance, and worlds drawn
    from it; it never hands out the true state.

    Attributes
    ----------
    game
        The rules.
    seats
        ``int64[B]``, whose knowledge it is.
    keys
        ``uint64[B]``: an agent's only source of randomness, derived one way from match seed, seat and move, so that a
        choice does not depend on who else is in the batch, and tells nothing of the deal.
    """

    def __init__(
        self, game: Game[Any, Any], state: State, seats: ArrayLike | None = None, salt: ArrayLike | None = None
    ) -> None:
        """View ``state`` (not copied; use the view before the next step) from ``seats``, by default those to move.

        ``salt`` (whole numbers >= 0, one a game or one for all) gives players of the same deal, at the same seat and
        move, keys of their own; without it they share them.

        Raises
        ------
        ValueError
            If seats are left out and a game of the batch is over.
        """
        if seats is None and len(state) and state.seat.min() < 0:
            raise ValueError(f"{game.name}: no seat is to move in game {int(state.seat.argmin())}; name the seats")
        self.game = game
        self.seats = as_seats(state.seat if seats is None else seats, len(state), game.num_players)
        self.__state = state
        self.__salt = None if salt is None else np.broadcast_to(np.asarray(salt), self.seats.shape)

    def __len__(self) -> int:
        return len(self.seats)

    @cached_property
    def keys(self) -> UInt64:
        """Keys for the agent's own chance, ``uint64[B]``."""
        key = derive(self.__state.seed, Purpose.AGENT, self.seats, self.__state.move)
        if self.__salt is not None:
            key = derive(key, self.__salt)
        return key ^ derive(key, 1)  # not invertible, unlike the hash itself: the seed stays unknown

    @cached_property
    def observations(self) -> Observation:
        """``uint8[B, D]``, laid out by ``game.observation``."""
        if "words" in vars(self):  # found already
            return self.game.observation.unpacked(self.words)
        return self.game.observe(self.__state, self.seats)

    @cached_property
    def words(self) -> UInt64:
        """The observations as W words of 64 features, ``uint64[W, B]``; see :meth:`Game.observe_words`."""
        return self.game.observe_words(self.__state, self.seats)

    @cached_property
    def features(self) -> dict[str, Observation]:
        """The named planes of the observations."""
        return self.game.observation.split(self.observations)

    @cached_property
    def values(self) -> dict[str, NDArray[Any]]:
        """The observations decoded: sets as ``bool`` arrays, numbers as ``int64``."""
        return self.game.observation.decode(self.observations)

    @cached_property
    def legal(self) -> NDArray[np.bool_]:
        """Legal actions, ``bool[B, A]``; all False where another seat is to move."""
        mask = self.game.legal(self.__state)
        mask[self.__state.seat != self.seats] = False
        return mask

    def sample_legal(self, keys: UInt64 | None = None) -> NDArray[np.int64]:
        """One legal action of each game, uniformly, from ``keys`` (by default the view's own): ``int64[B]``.

        Where another seat is to move it is 0, as in a finished game: nothing is legal there.
        """
        drawn = self.game.sample_legal(self.__state, self.keys if keys is None else keys)
        return np.where(self.__state.seat == self.seats, drawn, 0)

    def describe(self, i: int) -> dict[str, Any]:
        """Game ``i`` in plain named values, as far as the seat may know."""
        return self.game.describe(self.__state, i, int(self.seats[i]))

    def action_name(self, i: int, action: int) -> str:
        """Name of an action in game ``i``."""
        return self.game.action_name(self.__state, i, action)

    def take(self, rows: NDArray[np.int64]) -> InformationSet:
        """The information sets in some places of the batch."""
        salt = None if self.__salt is None else self.__salt[rows]
        taken = InformationSet(self.game, self.__state.take(rows), self.seats[rows], salt)
        if "legal" in vars(self):  # found already, of the same position
            taken.legal = self.legal[rows]
        return taken

    def sample(self, k: int, keys: UInt64 | None = None, bids: BidModel | None = None) -> State:
        """``k`` worlds consistent with each information set, row-major ``B * k``; see :meth:`Game.resample`."""
        if k < 1:
            raise ValueError(f"sample: expected at least one world, got {k}")
        base = self.keys if keys is None else keys
        worlds = derive(base[:, None], Purpose.WORLD, np.arange(k)).reshape(-1)
        sampled: State = self.game.resample(self.__state.repeat(k), np.repeat(self.seats, k), worlds, bids)
        return sampled
