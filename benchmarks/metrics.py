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

HandMetrics = Callable[[Game[Any, Any], Any, NDArray[np.int32]], dict[str, NDArray[Any]]]
"""From a game, N finished hands and the change of scores in them (``int32[N, P]``) to metrics by name, each
``[N, P]``; NaN where one does not apply to a seat."""


@dataclass(frozen=True)
class Reading:
    """What evaluation reads off a game: its metrics, and the ``match`` it is evaluated with unless told otherwise."""

    of_hand: HandMetrics
    match: str = "hand"


def slippery_slope(game: Game[Any, Any], hand: Any, change: NDArray[np.int32]) -> dict[str, NDArray[Any]]:
    """Whether the bid was made, the bid, and the tricks taken."""
    return {"bid_made": hand.bids == hand.tricks, "bid": hand.bids, "tricks": hand.tricks}


def sloppy_seconds(game: Game[Any, Any], hand: Any, change: NDArray[np.int32]) -> dict[str, NDArray[Any]]:
    """Suits in which a seat was second (with points), and whether its hand was lifted to the least score."""
    from slopes_envs.games.sloppy_seconds import LEAST, places

    _, second = places(hand.points.swapaxes(0, 1), game.rules.tie_ranking)
    won = hand.points * second.swapaxes(0, 1)
    return {"seconds_won": (won > 0).sum(axis=2), "floor": won.sum(axis=2) < LEAST}


def sluff(game: Game[Any, Any], hand: Any, change: NDArray[np.int32]) -> dict[str, NDArray[Any]]:
    """Whether the team made its bid, whether a seat sluffed, and, if so, whether it took no trick."""
    from slopes_envs.games.sluff import SLUFF, TRICKS_BID

    made = np.empty(hand.bids.shape, np.bool_)
    for team in game.teams:
        bid = TRICKS_BID[hand.bids[:, team]].sum(axis=1)
        made[:, team] = (hand.tricks[:, team].sum(axis=1) >= bid)[:, None]
    sluffs = hand.bids == SLUFF
    return {
        "team_bid_made": made,
        "sluff_made": np.where(sluffs, hand.tricks == 0, np.nan),
        "sluff_bid": sluffs,
    }


def slopes(game: Game[Any, Any], hand: Any, change: NDArray[np.int32]) -> dict[str, NDArray[Any]]:
    """Whether the match was won, and how many turns both players took."""
    return {"win": change > 0, "turns": np.repeat(hand.turns[:, None], change.shape[1], axis=1)}


def slippery_sam(game: Game[Any, Any], hand: Any, change: NDArray[np.int32]) -> dict[str, NDArray[Any]]:
    """Chips won in a bank by those who may bet and by the banker, and whether a bet was won."""
    from slopes_envs.games.slippery_sam import WON

    banker = np.arange(change.shape[1]) == hand.dealer[:, None]
    return {
        "chips_betting": np.where(hand.hands > 0, change, np.nan),
        "chips_banking": np.where(banker, change, np.nan),
        "bet_won": np.where(hand.bets > 0, hand.results == WON, np.nan),
    }


READINGS: dict[str, Reading] = {
    "slippery_slope": Reading(slippery_slope),
    "sloppy_seconds": Reading(sloppy_seconds),
    "sluff": Reading(sluff),
    "slopes": Reading(slopes, match="game"),
    "slippery_sam": Reading(slippery_sam, match="game"),
}
"""By game.  A game that is not listed has no metrics and is evaluated hand by hand."""


def default_match(game: str) -> str:
    """The option ``match`` that a game is evaluated with unless told otherwise."""
    return READINGS[game].match if game in READINGS else "hand"


class MetricsWatch:
    """Sums up the metrics of every hand that ends in a batch, apart for some groups of seats.

    A :class:`slopes_agents.play.Watch`.

    Parameters
    ----------
    game
        The rules.
    groups
        ``int[B, P]``: the group of each seat, from 0; -1 leaves a seat out.
    count
        Number of groups.
    """

    def __init__(self, game: Game[Any, Any], groups: NDArray[np.int64], count: int) -> None:
        self._game = game
        self._reading = READINGS.get(game.name)
        self._groups = groups
        self._count = count
        self._one_hand = type(game)(replace(game.rules, match="hand"))
        self._deals_on = game.rules.match != "hand"
        self._before: State | None = None
        self._hands_before = np.zeros(0, np.int32)
        self._at_beginning = np.zeros(groups.shape, np.int32)  # scores when the present hand began
        self.sums: dict[str, list[list[float]]] = {}
        """For each metric: for each group, the sum over its seats' hands and their number."""

    def before(self, state: State, places: NDArray[np.int64], actions: NDArray[np.int64]) -> None:
        """Look at some games of the batch before they step."""
        if self._reading is None:
            return
        first = state.move == 0
        if first.any():
            self._at_beginning[places[first]] = state.scores[first]
        self._hands_before = state.hand.copy()
        self._before = state.copy() if self._deals_on else None

    def after(self, state: State, places: NDArray[np.int64], actions: NDArray[np.int64]) -> None:
        """Look at the same games after the step."""
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
        rows = places[ended]
        change = hands.scores - self._at_beginning[rows]
        self._at_beginning[rows] = hands.scores
        for name, values in self._reading.of_hand(self._game, hands, change).items():
            self._add(name, np.asarray(values, np.float64), self._groups[rows])

    def _add(self, name: str, values: NDArray[np.float64], groups: NDArray[np.int64]) -> None:
        sums = self.sums.setdefault(name, [[0.0, 0] for _ in range(self._count)])
        counted = ~np.isnan(values) & (groups >= 0)
        present, which = np.unique(groups[counted], return_inverse=True)  # few of the groups, where there are many
        totals = np.bincount(which, weights=values[counted], minlength=len(present))
        counts = np.bincount(which, minlength=len(present))
        for group, total, count in zip(present, totals, counts, strict=True):
            sums[group][0] += float(total)
            sums[group][1] += int(count)
