"""What the rule-based player of Sloppy Seconds makes of cards.

Shape letters: **B** games, **P** seats, **L** legal cards of all games together.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slopes_envs import Game, InformationSet
from slopes_envs.games.sloppy_seconds import CARDS, FIRST_BROKEN, FOLLOW, RANKS, SUITS, TRUMP

from ..heuristic.sloppy_seconds import (
    BLOCK,
    HIGHER,
    NO_SUIT,
    POINTS_OF,
    VALUE,
    Choices,
    Reasons,
    Sight,
    SloppySecondsPlayer,
    consider,
    read,
)
from ..ragged import behind, first_of_the_best
from ..shown import as_bytes, one_hot
from .scales import Bytes, Floats, Weighed, at_scales, signed

PLAYERS = tuple(CARDS)
SEATS = max(PLAYERS)
MOST_CARDS = max(len(CARDS[players]) // players for players in PLAYERS)
NEAR = (2.0, 10.0, 50.0)  # points: units of how far cards are behind the best
ALL_POINTS = RANKS * (RANKS + 1) // 2  # of a suit
MANY = 60.0  # points, as many as are seldom in one trick


def weigher(game: Game[Any, Any]) -> Callable[[InformationSet], Weighed]:
    """A function that tells what the player makes of the legal cards in a view of the game."""
    player = SloppySecondsPlayer(game)

    def weigh(view: InformationSet) -> Weighed:
        if len(view) <= BLOCK:
            return _weigh(player, view)
        rows = np.arange(len(view))
        starts = range(0, len(view), BLOCK)
        weighed = [_weigh(player, view.take(rows[start : start + BLOCK])) for start in starts]
        shifted = [each._replace(row=each.row + start) for each, start in zip(weighed, starts, strict=True)]
        return Weighed(*(np.concatenate(part) for part in zip(*shifted, strict=True)))

    return weigh


def _weigh(player: SloppySecondsPlayer, view: InformationSet) -> Weighed:
    sight = read(view)
    choices = consider(sight, view.legal)
    reasons = player.reasons_for(sight, choices)
    batch = len(view)
    return Weighed(
        row=choices.row,
        action=choices.card,
        of_action=_of_cards(sight, choices, reasons, batch),
        of_game=_of_games(sight, player.game.num_players),
    )


def _of_cards(sight: Sight, choices: Choices, reasons: Reasons, batch: int) -> Bytes:
    """Features of cards, ``uint8[L, …]``."""
    c, row = choices, choices.row
    every = np.arange(len(row))
    distance = behind(row, reasons.worth, batch)
    held, others = sight.held[c.suit, row], sight.unseen[c.suit, row]
    height = VALUE[c.card].astype(np.int64)
    height = np.where(height == 1, RANKS, height - 1)  # the ace is the highest
    higher = HIGHER[c.suit, height]
    standing = _standing(sight)
    parts = [
        first_of_the_best(row, distance),
        at_scales(distance, NEAR),
        _for_all_seats(reasons.win),
        _for_all_seats(signed(reasons.by_winner - reasons.by_winner.mean(axis=0), 30)),
        c.holder == 0,
        reasons.points[c.suit, every] / MANY,
        reasons.points[c.led, every] / MANY,
        reasons.points.sum(axis=0) / MANY,
        VALUE[c.card] / RANKS,
        height / RANKS,
        c.suit == c.trump,
        c.suit == c.led,
        np.bitwise_count(held) / RANKS,
        np.bitwise_count(held) == 1,
        np.bitwise_count(others) / RANKS,
        np.bitwise_count(sight.hand[row] & higher) / RANKS,
        np.bitwise_count(sight.out[row] & higher) / RANKS,
        reasons.share[c.suit, every],
        reasons.share.mean(axis=0),
        standing[:, c.suit, row],
        standing[:, c.led, row],
    ]
    return as_bytes(parts, len(row))


def _for_all_seats(by_seat: NDArray[Any]) -> Floats:
    """The same with zeros for a seat that smaller tables lack: ``float32[SEATS, …]``."""
    padded = np.zeros((SEATS, *by_seat.shape[1:]), dtype=np.float32)
    padded[: len(by_seat)] = by_seat
    return padded


def _standing(sight: Sight) -> Floats:
    """Points taken in each suit, own first and then the others' from the most down, and what is to come.

    Returns
    -------
    float32[SEATS + 1, SUITS, B]
    """
    taken = sight.points
    others = -np.sort(-taken[1:], axis=0)
    left = POINTS_OF[sight.held | sight.unseen] + sight.pot
    shown = np.concatenate([taken[:1], _for_all_seats(others)[: SEATS - 1], left[None]])
    return (shown / ALL_POINTS).astype(np.float32)


def _of_games(sight: Sight, players: int) -> Bytes:
    """Features of games, ``uint8[B, …]``."""
    batch = len(sight.hand)
    cards = np.bitwise_count(sight.hand)
    trump = TRUMP[sight.context].astype(np.int64)
    with_trump = trump != NO_SUIT
    at = np.maximum(trump, 0), np.arange(batch)
    trumps, trumps_out = (np.bitwise_count(ranks[at]) * with_trump for ranks in (sight.held, sight.unseen))
    ahead = np.sort(sight.points, axis=0)
    own = sight.points[0]
    lead = np.sort(own - sight.points[1:].max(axis=0), axis=0)  # suits are alike: only their order counts
    parts = [
        cards / MOST_CARDS,
        one_hot(sight.to_come, SEATS),
        with_trump,
        FOLLOW[sight.context] != NO_SUIT,
        FIRST_BROKEN[sight.context] != NO_SUIT,
        trumps / RANKS,
        trumps_out / RANKS,
        (own == ahead[-1]).sum(axis=0) / SUITS,
        (own == ahead[-2]).sum(axis=0) / SUITS,
        own.sum(axis=0) / (2 * ALL_POINTS),
        sight.pot.sum(axis=0) / MANY,
        signed(lead, ALL_POINTS),
        one_hot(np.full(batch, PLAYERS.index(players)), len(PLAYERS)),
    ]
    return as_bytes(parts, batch)
