"""What the rule-based player of Slippery Slope makes of bids and cards.

Shape letters: **B** games, **P** seats, **L** legal actions of all games together.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from slopes_envs import Game, InformationSet
from slopes_envs.games.slippery_slope import BIDS, DIRECTION, FOLLOW, HAND, LITTLE, RANKS, SUITS, A, Direction, P

from ..heuristic.slippery_slope import (
    ACES,
    BEATEN_BY,
    BETTER_OTHER_WAY,
    BETTER_OWN_WAY,
    JOKERS,
    NO_SUIT,
    SUIT,
    SUIT_CARDS,
    UNIT,
    BidReasons,
    Choices,
    Knowledge,
    Reasons,
    SlipperySlopePlayer,
    read,
)
from ..planes import place_of_bit, read_planes
from ..ragged import behind, first_of_the_best
from ..shown import as_bytes, one_hot
from .scales import Bytes, Ints, Weighed, at_scales, merged, signed

NEAR = (0.3, 1.5, 6.0)  # points: units of how far actions are behind the best


def weigher(game: Game[Any, Any]) -> Callable[[InformationSet], Weighed]:
    """A function that tells what the player makes of the legal actions in a view of the game."""
    player = SlipperySlopePlayer(game)

    def weigh(view: InformationSet) -> Weighed:
        know, legal = read(view), view.legal
        bidding = np.flatnonzero(legal[:, 0])
        cards = legal.copy()
        cards[:, :BIDS] = False
        choices = player.consider(know, cards)
        of_cards = _of_cards(know, choices, player.reasons_for(choices), len(view))
        bounds = player.experience.bounds(know.hand, know.out)
        of_games = _of_games(know, view, *bounds)
        if not len(bidding):
            return merged((choices.row, choices.action, of_cards), None, of_games)
        floor, ceiling = (each[bidding] for each in bounds)
        of_bids = _of_bids(player.reasons_for_bids(know.take(bidding), floor, ceiling), floor, ceiling)
        bids = np.tile(np.arange(BIDS), len(bidding))
        return merged(
            (choices.row, choices.action, of_cards),
            (bidding.repeat(BIDS), bids, of_bids),
            of_games,
        )

    return weigh


def _count(bits: Any) -> Any:
    return np.bitwise_count(bits).astype(np.float32)


def _of_cards(know: Knowledge, choices: Choices, reasons: Reasons, batch: int) -> Bytes:
    """Features of cards, with that of the choice, ``uint8[L, …]``."""
    c, row, card = choices, choices.row, choices.action - BIDS
    hand, out, suit = know.hand[row], know.out[row], SUIT[card]
    distance = behind(row, reasons.worth, batch)
    of_suit, out_of_suit = hand & SUIT_CARDS[suit], out & SUIT_CARDS[suit]
    void = know.voids[1:, row] >> suit & (suit != NO_SUIT)
    rank = np.where(suit == NO_SUIT, RANKS + card - LITTLE, card % RANKS)
    left = np.maximum(c.left, 1)
    parts = [
        first_of_the_best(row, distance),
        at_scales(distance, NEAR),
        reasons.chance,
        signed(reasons.if_won - reasons.if_lost, 8),
        reasons.made_won,
        reasons.made_lost,
        c.nobody_can,
        c.nobody_must,
        c.floor / UNIT / left,
        c.ceiling / UNIT / left,
        signed(c.needed - c.floor / UNIT, 5),
        signed(c.needed - c.ceiling / UNIT, 5),
        one_hot(rank, RANKS + 2),
        FOLLOW[know.context[row]] == suit,
        _count(of_suit) / RANKS,
        _count(of_suit) == 1,
        _count(out_of_suit) / RANKS,
        _count(out & BETTER_OWN_WAY[card]) / RANKS,
        _count(out & BETTER_OTHER_WAY[card]) / RANKS,
        _count(hand & BETTER_OWN_WAY[card]) / RANKS,
        _count(hand & BETTER_OTHER_WAY[card]) / RANKS,
        _count(out & BEATEN_BY[know.context[row] * A + c.action]) / 9,
        (out_of_suit & ACES) != 0,
        void,
    ]
    return as_bytes(parts, len(row))


def _of_bids(reasons: BidReasons, floor: Ints, ceiling: Ints) -> Bytes:
    """Features of the eleven bids of games, with that of the choice, ``uint8[B * 11, …]``."""
    batch = len(floor)
    floors, ceilings = (np.repeat(each / UNIT, BIDS) for each in (floor, ceiling))
    bids = np.tile(np.arange(BIDS), batch)
    row = np.arange(batch).repeat(BIDS)
    distance = behind(row, reasons.worth.reshape(-1), batch)
    parts = [
        first_of_the_best(row, distance),
        np.ones(batch * BIDS),
        bids / HAND,
        at_scales(distance, NEAR[1:]),
        reasons.made.reshape(-1),
        reasons.miss.reshape(-1) / 5,
        signed(bids - floors, HAND),
        signed(bids - ceilings, HAND),
    ]
    return as_bytes(parts, len(row))


def _of_games(know: Knowledge, view: InformationSet, floor: Ints, ceiling: Ints) -> Bytes:
    """Features of games, ``uint8[B, …]``."""
    batch = len(view)
    planes = read_planes(view, ("bids", "tricks"))
    bids = place_of_bit(planes["bids"])  # -1 where there are none, or they are hidden
    cards = know.cards_left[0]
    low, high = floor / UNIT, ceiling / UNIT
    bidding = bids[0] < 0  # has not bid
    bid, needed = (np.where(bidding, 0, each) for each in (know.bid, know.needed))
    tricks = np.bitwise_count(planes["tricks"])
    lengths = np.sort([_count(know.hand & SUIT_CARDS[suit]) for suit in range(SUITS)], axis=0)
    parts = [
        bidding,
        cards / HAND,
        bid / HAND,
        signed(needed, HAND),
        (needed == 0) & ~bidding,
        needed < 0,
        low / HAND,
        high / HAND,
        signed(needed - low, 5),
        signed(needed - high, 5),
        one_hot(know.to_come, P),
        know.leads,
        one_hot(DIRECTION[know.context].astype(np.int64), len(Direction)),
        tricks / HAND,
        bids[1:] / HAND,
        bids[1:] >= 0,
        _count(know.hand & JOKERS) / 2,
        _count(know.out & JOKERS) / 2,
        _count(know.hand & ACES) / SUITS,
        _count(know.out & ACES) / SUITS,
        lengths / RANKS,
        know.certain[1:] / HAND,
        np.bitwise_count(know.voids[1:].astype(np.uint64)) / SUITS,
    ]
    return as_bytes(parts, batch)
