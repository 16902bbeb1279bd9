"""What matters in each game besides the score, hand by hand.

A game's metrics are one pure function of a *finished hand*: the state as it stands when that hand ends with
``match="hand"``, whose cards, bids and tricks are still there.  In a whole match the next hand has been dealt by
then, so the state before the hand's last action is kept and that action taken once more under ``match="hand"``.

Shape letters: **B** games, **P** seats, **N** finished hands.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slopes_envs import Game, State

HandMetrics = Callable[[Any, NDArray[np.int32]], dict[str, NDArray[Any]]]
"""From N finished hands and the change of every seat's score in them (``int32[N, P]``) to metrics by name, each
``[N, P]``; NaN where a metric does not apply to a seat."""


@dataclass(frozen=True)
class Reading:
    """What evaluation reads off a game: its metrics, and the ``match`` it is evaluated with unless told otherwise."""

    of_hand: HandMetrics
    match: str = "hand"


def _slippery_slope(hand: Any, change: NDArray[np.int32]) -> dict[str, NDArray[Any]]:
    return {"bid_made": hand.bids == hand.tricks, "bid": hand.bids, "tricks": hand.tricks}


READINGS: dict[str, Reading] = {
    "slippery_slope": Reading(_slippery_slope),
}
"""By game.  A game that is not listed has no metrics and is evaluated hand by hand."""


def default_match(game: str) -> str:
    """The option ``match`` that a game is evaluated with unless told otherwise."""
    return READINGS[game].match if game in READINGS else "hand"


class MetricsWatch:
    """Sums up the metrics of every hand that ends in a batch, apart for some groups of seats.

    Call :meth:`before` and :meth:`after` around every step.

    Parameters
    ----------
    game, state
        The rules, and the batch before its first action.
    groups
        ``int[B, P]``: the group of each seat, from 0; -1 leaves a seat out.
    count
        Number of groups.
    """

    def __init__(self, game: Game[Any, Any], state: State, groups: NDArray[np.int64], count: int) -> None:
        self._reading = READINGS.get(game.name)
        self._groups = groups
        self._count = count
        self._one_hand = type(game)(replace(game.rules, match="hand"))
        self._deals_on = game.rules.match != "hand"
        self._at_start = state.scores.copy()  # when each game's present hand began
        self._before: State | None = None
        self._hands_before = state.hand
        self.sums: dict[str, list[list[float]]] = {}
        """For each metric: for each group, the sum over its seats' hands and their number."""

    def before(self, state: State) -> None:
        """Look at some games of the batch before they step."""
        if self._reading is None:
            return
        self._hands_before = state.hand.copy()
        self._before = state.copy() if self._deals_on else None

    def after(self, state: State, rows: NDArray[np.int64], actions: NDArray[np.int64]) -> None:
        """Look at the same games after they took ``actions``; ``rows`` are their places in the batch."""
        if self._reading is None:
            return
        ended = np.flatnonzero((state.hand != self._hands_before) | (state.seat < 0))
        if not len(ended):
            return
        if self._before is None:
            hands = state.take(ended)
        else:
            hands = self._before.take(ended)
            self._one_hand.step(hands, actions[ended])
        which = rows[ended]
        change = hands.scores - self._at_start[which]
        self._at_start[which] = hands.scores
        for name, values in self._reading.of_hand(hands, change).items():
            self._add(name, np.asarray(values, np.float64), self._groups[which])

    def _add(self, name: str, values: NDArray[np.float64], groups: NDArray[np.int64]) -> None:
        sums = self.sums.setdefault(name, [[0.0, 0] for _ in range(self._count)])
        for group, total in enumerate(sums):
            counted = values[(groups == group) & ~np.isnan(values)]
            total[0] += float(counted.sum())
            total[1] += len(counted)
