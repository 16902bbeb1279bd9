"""What the rule-based player makes of every action, as the input of a network.

A rule-based player weighs actions by a few numbers: who is likely to win the trick, what it is worth, what the card
would be worth later; or how likely a bet is to win.  It adds them up in one fixed way.  A network that sees these
numbers of every legal action, and what the player makes of the position, has to learn no more than how to add them up
better; the same weights look at every action.

Shape letters: **B** games, **K** actions that are shown of a game (:data:`WAYS`), **L** legal actions of all games
together, **F** features of an action (:data:`OF_ACTION`), **G** of a game (:data:`OF_GAME`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slopes_envs import Game, InformationSet

from ..ragged import place_of
from ..shown import NO_ACTION
from . import slippery_sam, slippery_slope, sloppy_seconds, sluff
from .scales import WAYS, Weighed

OF_ACTION, OF_GAME = 48, 64
"""F and G, at least as many features as any of the games has; what a game lacks is zero."""
SIZE = WAYS * (1 + OF_ACTION) + OF_GAME
"""Bytes that are shown of a game: numbers of the legal actions, their features action by action, those of the game."""
CHOSEN = 0
"""The feature of an action that is 1 for the one that the rule-based player chooses."""

_PLAYERS: dict[str, Callable[[Game[Any, Any]], Callable[[InformationSet], Weighed]]] = {
    "slippery_sam": slippery_sam.weigher,
    "slippery_slope": slippery_slope.weigher,
    "sloppy_seconds": sloppy_seconds.weigher,
    "sluff": sluff.weigher,
}
GAMES = tuple(_PLAYERS)
"""Games whose rule-based players tell their reasons."""


class ReasonAdviser:
    """Shows what the rule-based player makes of every legal action.

    Attributes
    ----------
    size
        Bytes that it shows of a game.
    alone
        True: networks look at nothing else.

    Raises
    ------
    ValueError
        For a game whose rule-based player does not tell its reasons, or with too many actions to show.
    """

    size = SIZE
    alone = True

    def __init__(self, game: Game[Any, Any]) -> None:
        if game.name not in _PLAYERS:
            raise ValueError(f"advice reasons: expected a game of {' or '.join(GAMES)}, got {game.name}")
        self._weigh = _PLAYERS[game.name](game)

    def advise(self, view: InformationSet) -> NDArray[np.uint8]:
        """The legal actions with what speaks for them, ``uint8[B, SIZE]``; of seats that are not to move, none."""
        weighed = self._weigh(view)
        batch, row = len(view), weighed.row
        place = place_of(row)
        advice = np.zeros((batch, SIZE), dtype=np.uint8)
        actions, shown, of_game = parts(advice)
        actions[:] = NO_ACTION
        actions[row, place] = weighed.action
        shown[row, place, : weighed.of_action.shape[1]] = weighed.of_action
        of_game[:, : weighed.of_game.shape[1]] = weighed.of_game
        return advice


def parts(advice: Any) -> tuple[Any, Any, Any]:
    """Views of advice ``[B, SIZE]``, an array or a tensor.

    Returns
    -------
    Actions ``[B, K]``, their features ``[B, K, F]``, and those of games ``[B, G]``.
    """
    end = WAYS * (1 + OF_ACTION)
    return advice[:, :WAYS], advice[:, WAYS:end].reshape(-1, WAYS, OF_ACTION), advice[:, end:]
