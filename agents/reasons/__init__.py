"""What the rule-based player makes of every action, as the input of a network.

A rule-based player weighs actions by a few numbers: who is likely to win the trick, what it is worth, what the card
would be worth later.  It adds them up in one fixed way.  A network that sees these numbers of every legal action, and
what the player makes of the position, has to learn no more than how to add them up better; the same weights look at
every action.

Shape letters: **B** games, **K** actions that are shown of a game (:data:`WAYS`), **L** legal actions of all games
together, **F** features of an action, **G** of a game (:class:`Form`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from slopes_envs import Game, InformationSet

from ..ragged import place_of
from ..shown import NO_ACTION
from . import slippery_slope, sloppy_seconds, sluff
from .scales import Weighed

WAYS = 17
"""K, at least as many as there are legal actions in any of the games."""
CHOSEN = 0
"""The feature of an action that is 1 for the one that the rule-based player chooses."""


class Form(NamedTuple):
    """How advice is laid out: numbers of the legal actions, their features action by action, those of the game."""

    of_action: int
    """F, at least as many as any of the games has; what a game lacks is zero."""
    of_game: int
    """G, likewise."""

    @property
    def size(self) -> int:
        """Bytes that are shown of a game."""
        return WAYS * (1 + self.of_action) + self.of_game

    def parts(self, shown: Any) -> tuple[Any, Any, Any]:
        """Views of what ends with advice, ``[B, D + size]``, an array or a tensor.

        Returns
        -------
        Actions ``[B, K]``, their features ``[B, K, F]``, and those of games ``[B, G]``.
        """
        advice = shown[:, shown.shape[1] - self.size :]
        end = WAYS * (1 + self.of_action)
        return advice[:, :WAYS], advice[:, WAYS:end].reshape(-1, WAYS, self.of_action), advice[:, end:]


Weigher = Callable[[InformationSet], Weighed]

REASONS, CARDS_TOO = "reasons", "reasons_and_cards"
FORMS = {REASONS: Form(48, 64), CARDS_TOO: Form(80, 112)}
"""Names of the advice: what the player goes by; and the cards themselves behind that, suit by suit."""
_PLAYERS: dict[str, dict[str, Callable[[Game[Any, Any]], Weigher]]] = {
    REASONS: {
        "slippery_slope": slippery_slope.weigher,
        "sloppy_seconds": sloppy_seconds.weigher,
        "sluff": sluff.weigher,
    },
    CARDS_TOO: {"sloppy_seconds": sloppy_seconds.weigher_with_cards},
}
GAMES = {name: tuple(players) for name, players in _PLAYERS.items()}
"""Games whose rule-based players tell so much, by the name of the advice."""


class ReasonAdviser:
    """Shows what the rule-based player makes of every legal action.

    Parameters
    ----------
    name
        What is shown: a key of :data:`FORMS`.

    Attributes
    ----------
    size
        Bytes that it shows of a game.

    Raises
    ------
    ValueError
        For a game whose rule-based player does not tell that.
    """

    def __init__(self, game: Game[Any, Any], name: str = REASONS) -> None:
        if game.name not in _PLAYERS[name]:
            raise ValueError(f"advice {name}: expected a game of {' or '.join(GAMES[name])}, got {game.name}")
        self.form = FORMS[name]
        self.size = self.form.size
        self._weigh = _PLAYERS[name][game.name](game)

    def advise(self, view: InformationSet) -> NDArray[np.uint8]:
        """The legal actions with what speaks for them, ``uint8[B, SIZE]``; of seats that are not to move, none."""
        weighed = self._weigh(view)
        batch, row = len(view), weighed.row
        place = place_of(row)
        advice = np.zeros((batch, self.size), dtype=np.uint8)
        actions, shown, of_game = self.form.parts(advice)
        actions[:] = NO_ACTION
        actions[row, place] = weighed.action
        shown[row, place, : weighed.of_action.shape[1]] = weighed.of_action
        of_game[:, : weighed.of_game.shape[1]] = weighed.of_game
        return advice
