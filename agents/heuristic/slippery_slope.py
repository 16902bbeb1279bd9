"""A club player of Slippery Slope: counts cards, knows what hands are worth, and plays for exactly its bid.

What it goes by
---------------
1. **The cards that are out.**  Every card not in its hand and not yet played is with one of the two others, each as
   likely as its number of cards says, and nowhere that a shown void excludes (:func:`read`).
2. **Floor and ceiling.**  Few cards are plain winners or losers: a king takes a trick uphill and loses one downhill, an
   ace takes one when it follows and throws one away when it leads, a joker nearly always takes one.  So every card has
   two values: what it adds to the tricks of a hand that tries to take none, and of one that tries to take all.  They
   depend on how many cards that are out beat it in the direction it sets when led and in the other one, on the length
   of its suit, and on how far the hand has been played.  Their sums are the *floor* and the *ceiling* of a hand.
3. **Prospects.**  Whether so many tricks, neither more nor fewer, will be taken with a hand depends on how far they lie
   above its floor and below its ceiling, on the number of cards, on who leads, and on how many of them are aces, with
   which a leader can lose a trick at will, and jokers, which leave no choice.
4. **Who wins this trick.**  The last to play knows.  Before that, the chance that nobody *can* beat a card and the
   chance that nobody *must* are counted from the cards that are out; between them lies what the others want, and
   experience says how often they beat a card that they could let through.

How it decides
--------------
*Bidding*: the bid with the best expected score, ``bid * P(made) - E|bid - tricks|``, by its prospects with ten cards.
*Playing*: for each legal card the prospects of the rest of the hand if the card takes this trick, needing one less and
leading next, and if it does not, weighed by the chance that it does; the best expected score again.  So it takes
tricks it needs with the card it can best do without, ducks once the bid is made, throws off what would still take
tricks, keeps a joker for when it is wanted, and limits the loss when the bid is beyond reach.

It judges hands one by one: neither the scores of the match nor bids that ``reveal_bids="after_bidding"`` shows change
what it does.

The numbers of 2, 3 and 4 are a trained table, ``slippery_slope_table.npz``, fitted to what this very player takes
among its own kind; ``fit_slippery_slope.py`` makes it.

Shape letters: **B** games, **A** actions, **H** cards held in all games together, **L** legal ones among them.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property, lru_cache
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slopes_envs import InformationSet
from slopes_envs.cards import bits_of
from slopes_envs.files import written_beside
from slopes_envs.games.slippery_slope import (
    ACE,
    BIDS,
    CANNOT,
    DECK,
    FOLLOW,
    FOUR,
    HAND,
    JOKER_LED,
    LITTLE,
    RANKS,
    SUITS,
    TRICKS,
    A,
    P,
)

from ..base import DeterministicAgent
from ..planes import ONE, place_of_bit, read_planes

Ints = NDArray[np.int64]
Bits = NDArray[np.uint32]
Floats = NDArray[np.float64]

UNIT = 1000
"""The trained tables hold thousandths: of a trick, or of certainty."""

TABLE = Path(__file__).with_name("slippery_slope_table.npz")


# ------------------------------------------------------------------------------------------------ cards and beaters

CARDS = len(DECK)
ALL_CARDS = np.uint32((1 << CARDS) - 1)
BIG = LITTLE + 1  # the big joker
NO_SUIT = SUITS  # of the jokers, and of a trick that a joker led
CARD_BIT: Bits = np.array([1 << card for card in range(CARDS)], dtype=np.uint32)
JOKERS = np.uint32(bits_of([LITTLE, BIG]))
ACES = np.uint32(bits_of(RANKS * suit + ACE for suit in range(SUITS)))
SUIT: Ints = np.array([*(card // RANKS for card in range(LITTLE)), NO_SUIT, NO_SUIT])
SUIT_CARDS: Bits = np.array([*(DECK.suit_bits(suit) for suit in range(SUITS)), 0], dtype=np.uint32)


def _better(card: int, uphill: bool) -> int:
    """The cards of a card's suit that beat it in a trick of the given direction which neither of them led."""
    if card >= LITTLE or card % RANKS == ACE:
        return 0
    ace = card - card % RANKS
    others = range(card + 1, ace + RANKS) if uphill else range(ace + 1, card)
    return bits_of([ace, *others])


# What beats a card in the direction that it sets when led (R7, R8), and in the opposite one.
BETTER_OWN_WAY: Bits = np.array([_better(card, card % RANKS > FOUR) for card in range(CARDS)], dtype=np.uint32)
BETTER_OTHER_WAY: Bits = np.array([_better(card, card % RANKS <= FOUR) for card in range(CARDS)], dtype=np.uint32)


def _trick_tables() -> tuple[Bits, Ints]:
    """By ``context * A + action``: the cards that would still beat the card just played, and the suit to follow."""
    contexts = JOKER_LED + 1
    strength = TRICKS.strength.reshape(contexts, A)
    after = TRICKS.context.reshape(contexts, A)
    beaten_by = np.zeros((contexts, A), dtype=np.uint32)
    for context in range(contexts):
        for action in range(BIDS, A):
            replies = strength[after[context, action], BIDS:]
            beaten_by[context, action] = bits_of(np.flatnonzero(replies > strength[context, action]).tolist())
    suit = FOLLOW[after].astype(np.int64)
    return beaten_by.reshape(-1), np.where(suit < 0, NO_SUIT, suit).reshape(-1)


BEATEN_BY, SUIT_AFTER = _trick_tables()

# NONE_OF[free, held, wanted]: the chance that a seat, of whose cards `held` are from the `free` ones, has none of
# `wanted` of them (hypergeometric).
NONE_OF: Floats = np.array(
    [
        [[comb(max(free - wanted, 0), held) / comb(free, held) if held <= free else 0.0 for wanted in range(RANKS + 3)]
         for held in range(HAND + 1)]
        for free in range(2 * HAND + 1)
    ]
)  # fmt: skip


# ---------------------------------------------------------------------------------------------- what the seat knows


@dataclass(frozen=True)
class Knowledge:
    """What the seats know of B games; every field has its games on the last axis.  Seats are relative, own seat 0."""

    hand: Bits  # [B] own cards
    out: Bits  # [B] cards in the two other hands
    cards_left: Ints  # [P, B]
    voids: Ints  # [P, B] suits shown to be void, one bit a suit
    context: Ints  # [B] of the trick, as in the game's trick tables
    best: Ints  # [B] strength of the card that is winning the trick, 0 before the first
    to_come: Ints  # [B] how many play to this trick after this seat: seat 1, or seats 1 and 2, or none
    leads: NDArray[np.bool_]  # [B] this seat leads, or led, the trick
    bid: Ints  # [B] own bid, meaningless before it
    needed: Ints  # [B] tricks still needed, meaningless before the bid

    def take(self, rows: Ints) -> Knowledge:
        """Some of the games."""
        return Knowledge(**{spec.name: getattr(self, spec.name)[..., rows] for spec in fields(self)})

    @cached_property
    def certain(self) -> Ints:
        """``int64[P, B]``: how many cards are with seat 1, and with seat 2, because the other one cannot hold them."""
        elsewhere = np.stack([np.zeros_like(self.out, dtype=np.uint64), CANNOT[self.voids[2]], CANNOT[self.voids[1]]])
        return _count(self.out & elsewhere)


def _count(bits: NDArray[Any]) -> Ints:
    counts: Ints = np.bitwise_count(bits).astype(np.int64)
    return counts


def _as_action(card: Bits) -> Ints:
    """Action numbers of sets of one card; 0, which is a bid and changes no trick, for the empty set."""
    return np.where(card == 0, 0, _count(card - np.uint32(1)) + BIDS)


PLANES = ("hand", "seen", "table", "voids", "leader", "bids", "needed")


def read(view: InformationSet) -> Knowledge:
    """Put together what the seats know, all of it from their observations."""
    planes = read_planes(view, PLANES)
    hand = planes["hand"][0].astype(np.uint32)
    seen, table = (planes[name].astype(np.uint32) for name in ("seen", "table"))
    # Who is to play third sees the cards of seats 1 and 2, in this order; who is second sees the card of seat 2.
    third = table[1] != 0
    first_card = _as_action(np.where(third, table[1], table[2]))
    second_card = _as_action(np.where(third, table[2], 0))
    after_first = TRICKS.context[first_card].astype(np.int64)  # context 0: nothing has been led
    second_code = after_first * A + second_card
    return Knowledge(
        hand=hand,
        out=ALL_CARDS & ~(hand | np.bitwise_or.reduce(seen, axis=0)),
        cards_left=HAND - _count(seen),
        voids=planes["voids"].astype(np.int64),
        context=TRICKS.context[second_code].astype(np.int64),
        best=np.maximum(TRICKS.strength[first_card], TRICKS.strength[second_code]).astype(np.int64),
        to_come=2 - (table[1:] != 0).sum(axis=0),
        leads=planes["leader"][0] & ONE != 0,
        bid=place_of_bit(planes["bids"][0], 0),
        needed=place_of_bit(planes["needed"][0], 0) - HAND,
    )


# ------------------------------------------------------------------------------------------------ kinds of cards

# A card's kind is what its floor and ceiling depend on.  Suited cards but aces: the length of the suit in the hand
# (1-7), how many cards that are out beat it its own way (0-3) and the other way (0-6), whether the ace is out.  Aces:
# the length of the suit, and how many others of it are out (0-6).  The little joker: whether the big one is out.
OWN_WAYS, OTHER_WAYS = 4, 7
_PER_LENGTH = OWN_WAYS * OTHER_WAYS * 2
FIRST_ACE = RANKS * _PER_LENGTH
FIRST_JOKER = FIRST_ACE + RANKS * RANKS
KINDS = FIRST_JOKER + 3
# How far a card's kind is from that of the same card in a suit that is shorter by one.
SHORTER: Ints = np.array([RANKS if card % RANKS == ACE else _PER_LENGTH for card in range(LITTLE)] + [0, 0])

# How far the hand has been played, by the cards left in it: values of cards are fitted to each stage.
STAGE: Ints = np.array([0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 3])
STAGES = 4

MAKEUPS = (3, 3)  # aces: none, one, more; jokers: none, one, both


def kinds(row: Ints, card: Ints, hand: Bits, out: Bits) -> Ints:
    """The kind of each card held.

    Parameters
    ----------
    row, card
        ``int64[H]``, game and card number.
    hand, out
        ``uint32[B]``, the hands, and the cards that are out.

    Returns
    -------
    int64[H], from 0 to ``KINDS - 1``.
    """
    suit = SUIT[card]
    suit_cards = SUIT_CARDS[suit]
    out = out[row]
    shortness = _count(hand[row] & suit_cards) - 1
    own, other = _count(out & BETTER_OWN_WAY[card]), _count(out & BETTER_OTHER_WAY[card])
    suit_out = out & suit_cards
    plain = shortness * _PER_LENGTH + (own * OTHER_WAYS + other) * 2 + ((suit_out & ACES) != 0)
    ace = FIRST_ACE + shortness * RANKS + _count(suit_out)
    joker = np.where(card == BIG, KINDS - 1, FIRST_JOKER + ((out & CARD_BIT[BIG]) != 0))
    return np.where(suit == NO_SUIT, joker, np.where(CARD_BIT[card] & ACES, ace, plain))


def held(hand: Bits) -> tuple[Ints, Ints]:
    """Game and card number of every card in ``uint32[B]`` hands: two ``int64[H]``."""
    bits = np.unpackbits(hand[:, None].astype("<u4").view(np.uint8), axis=1, count=CARDS, bitorder="little")
    at = np.flatnonzero(bits)
    row = at // CARDS
    return row, at - row * CARDS


def makeup(hand: Bits) -> Ints:
    """The make-up of hands: how many aces and how many jokers, as one number from 0 to 8."""
    most_aces = MAKEUPS[0] - 1
    return np.minimum(_count(hand & ACES), most_aces) * MAKEUPS[1] + _count(hand & JOKERS)


# ------------------------------------------------------------------------------------------------------ experience

# Prospects are known at points of a grid, half a trick apart: how far what is needed lies above the floor, and how far
# the ceiling lies above what is needed.
GRID_STEP = UNIT // 2
LEAST, GRID = -4 * UNIT, (19, 21)
# The chance of a trick is known by the chance that nobody can beat a card and the chance that nobody must, in tenths.
CHANCES = 11


@dataclass(frozen=True)
class Experience:
    """The trained tables, in thousandths."""

    floor: NDArray[np.int16]  # [STAGES, KINDS] what a card adds to the tricks of a hand that tries to take none
    ceiling: NDArray[np.int16]  # [STAGES, KINDS] and of one that tries to take all
    made: NDArray[np.int16]  # [11, 2, 9, *GRID] by cards left, whether leading, make-up: chance to take what is needed
    miss: NDArray[np.int16]  # [11, 2, 9, *GRID] expected difference from what is needed
    wins: NDArray[np.int16]  # [2, 10, CHANCES, CHANCES] by players to come and cards left: chance of a trick

    @classmethod
    def load(cls, path: Path) -> Experience:
        """Read what :meth:`save` wrote."""
        with np.load(path, allow_pickle=False) as tables:
            return cls(**{spec.name: tables[spec.name] for spec in fields(cls)})

    def save(self, path: Path) -> None:
        """Write the tables to ``path``, whole or not at all."""
        with written_beside(path) as file:
            np.savez_compressed(file, **{spec.name: getattr(self, spec.name) for spec in fields(self)})

    def bounds(self, hand: Bits, out: Bits) -> tuple[Ints, Ints]:
        """Floor and ceiling of hands ``uint32[B]``, given the cards that are out: two ``int64[B]``, thousandths."""
        row, card = held(hand)
        size = _count(hand)
        at = STAGE[size][row] * KINDS + kinds(row, card, hand, out)
        floor, ceiling = (
            np.bincount(row, table.reshape(-1)[at], len(hand)).astype(np.int64) for table in (self.floor, self.ceiling)
        )
        return _in_range(floor, size), _in_range(ceiling, size)

    def prospects(
        self, left: Ints, leads: NDArray[np.bool_] | bool, needed: Ints, floor: Ints, ceiling: Ints, makeup: Ints
    ) -> tuple[Floats, Floats]:
        """How likely it is that exactly what is needed will be taken, and how far from it one will be on average.

        Parameters
        ----------
        left
            Cards left.
        leads
            Whether this seat leads the next trick.
        needed
            Tricks needed from these cards; any whole number.
        floor, ceiling
            Of these cards, in thousandths.
        makeup
            Of these cards.

        Returns
        -------
        Two ``float64`` arrays of the shape to which all of them broadcast.
        """
        at, weights = grid_corners(left, leads, needed, floor, ceiling, makeup)
        made = _interpolate(self.made, at, weights)
        miss = _interpolate(self.miss, at, weights)
        # Out of reach: what is left is to come as near as the cards allow.
        made = np.where((needed < 0) | (needed > left), 0.0, made)
        miss = np.where(needed < 0, floor / UNIT - needed, np.where(needed > left, needed - ceiling / UNIT, miss))
        over = left == 0
        return np.where(over, needed == 0, made), np.where(over, np.abs(needed), miss)

    def chance_to_win(self, to_come: Ints, left: Ints, nobody_can: Floats, nobody_must: Floats) -> Floats:
        """The chance that a card takes the trick, ``float64[L]``.

        Parameters
        ----------
        to_come
            Players to come, 0 to 2.
        left
            Cards left in the hand after this one.
        nobody_can, nobody_must
            The chance that none of them can beat the card, and that none of them must.
        """
        undecided = np.flatnonzero((to_come > 0) & (nobody_must > nobody_can))
        chance = nobody_can.copy()
        at, weights = chance_corners(to_come[undecided], left[undecided], nobody_can[undecided], nobody_must[undecided])
        chance[undecided] = _interpolate(self.wins, at, weights)
        return chance


Corners = tuple[tuple[Any, ...], tuple[Any, ...]]
"""The four points of a grid around a place: flat indices, and weights that sum to one."""


def _corners(start: Any, x: Any, y: Any, width: int) -> Corners:
    """Around ``(x, y)``, in steps of a grid with rows of ``width`` points that begins at ``start``."""
    column, row = y.astype(np.int64), x.astype(np.int64)
    right, down = y - column, x - row
    at = start + row * width + column
    left, up = 1 - right, 1 - down
    return (at, at + 1, at + width, at + width + 1), (up * left, up * right, down * left, down * right)


def _interpolate(table: NDArray[np.int16], at: tuple[Any, ...], weights: tuple[Any, ...]) -> Any:
    flat = table.reshape(-1)
    return sum(flat[corner] * weight for corner, weight in zip(at, weights, strict=True)) / UNIT


def grid_corners(left: Any, leads: Any, needed: Any, floor: Any, ceiling: Any, makeup: Any) -> Corners:
    """Where prospects stand in ``made`` and ``miss``; arguments as for :meth:`Experience.prospects`."""
    height, width = GRID
    above = np.clip((needed * UNIT - floor - LEAST) / GRID_STEP, 0, height - 1.001)
    below = np.clip((ceiling - needed * UNIT - LEAST) / GRID_STEP, 0, width - 1.001)
    block = (left * 2 + leads) * np.prod(MAKEUPS) + makeup
    return _corners(block * (height * width), above, below, width)


def chance_corners(to_come: Any, left: Any, nobody_can: Any, nobody_must: Any) -> Corners:
    """Where a chance stands in ``wins``; arguments as for :meth:`Experience.chance_to_win`."""
    scale = CHANCES - 1
    block = (to_come - 1) * HAND + left
    can, must = np.minimum(nobody_can * scale, scale - 0.001), np.minimum(nobody_must * scale, scale - 0.001)
    return _corners(block * CHANCES**2, can, must, CHANCES)


def _in_range(thousandths: Ints, size: Ints) -> Ints:
    """No hand takes fewer tricks than none or more than it has cards."""
    return np.minimum(np.maximum(thousandths, 0), size * UNIT)


@lru_cache(maxsize=1)
def _shipped_experience() -> Experience:
    return Experience.load(TABLE)


# ------------------------------------------------------------------------------------------------------- the player


@dataclass(frozen=True)
class Choices:
    """The legal cards of all games together, L of them, and what the player thinks of each."""

    row: Ints  # game
    action: Ints
    to_come: Ints  # players who play to this trick after it
    nobody_can: Floats  # chance that none of them can beat it
    nobody_must: Floats  # chance that none of them must
    left: Ints  # cards left after it
    floor: Ints  # of those
    ceiling: Ints
    makeup: Ints  # of those
    bid: Ints
    needed: Ints  # tricks, this one included


@dataclass(frozen=True)
class Reasons:
    """What speaks for each of L cards: expected scores of the hand, and chances."""

    worth: Floats  # [L] all together
    chance: Floats  # [L] that it takes the trick
    if_won: Floats  # [L] expected score if it does
    if_lost: Floats  # [L] and if it does not
    made_won: Floats  # [L] chance to make the bid if it does
    made_lost: Floats  # [L] and if it does not


@dataclass(frozen=True)
class BidReasons:
    """What speaks for each bid of B games."""

    worth: Floats  # [B, 11] expected score
    made: Floats  # [B, 11] chance that it is made
    miss: Floats  # [B, 11] how far from it the tricks will be on average


class SlipperySlopePlayer(DeterministicAgent):
    """The player; see the module for how it thinks.  Deterministic: it never uses ``view.keys``."""

    @cached_property
    def experience(self) -> Experience:
        """What it has learned: the shipped table, or what it is set to."""
        return _shipped_experience()

    def act(self, view: InformationSet) -> NDArray[np.int64]:
        """Choose the action with the best expected score of this hand; of equal ones that with the lowest number."""
        best: Ints = self.worth(view).argmax(axis=1)
        return best

    def worth(self, view: InformationSet) -> Floats:
        """Expected score of this hand by action, ``float64[B, A]``; minus infinity where an action is not legal."""
        legal = view.legal
        know = read(view)
        worth = np.full(legal.shape, -np.inf)
        bidding = np.flatnonzero(legal[:, 0])
        if len(bidding):
            asked = know.take(bidding)
            bounds = self.experience.bounds(asked.hand, asked.out)
            worth[bidding, :BIDS] = self.reasons_for_bids(asked, *bounds).worth
        if len(bidding) < len(view):
            choices = self.consider(know, legal)
            worth[choices.row, choices.action] = self.reasons_for(choices).worth
        return worth

    # -- bidding ---------------------------------------------------------------------------------------------------

    def reasons_for_bids(self, know: Knowledge, floor: Ints, ceiling: Ints) -> BidReasons:
        """What speaks for each bid, by the bounds (:meth:`Experience.bounds`) of the hands."""
        bids = np.arange(BIDS)
        made, miss = self.experience.prospects(
            np.full((len(floor), 1), HAND),
            know.leads[:, None],
            bids,
            floor[:, None],
            ceiling[:, None],
            makeup(know.hand)[:, None],
        )
        return BidReasons(bids * made - miss, made, miss)

    # -- playing ---------------------------------------------------------------------------------------------------

    def reasons_for(self, choices: Choices) -> Reasons:
        """What speaks for each of L legal cards of B games: what it brings if it takes this trick, and if not."""
        c, experience = choices, self.experience
        chance = experience.chance_to_win(c.to_come, c.left, c.nobody_can, c.nobody_must)
        made_won, miss = experience.prospects(c.left, True, c.needed - 1, c.floor, c.ceiling, c.makeup)
        if_won = c.bid * made_won - miss
        made_lost, miss = experience.prospects(c.left, False, c.needed, c.floor, c.ceiling, c.makeup)
        if_lost = c.bid * made_lost - miss
        return Reasons(chance * if_won + (1 - chance) * if_lost, chance, if_won, if_lost, made_won, made_lost)

    def consider(self, know: Knowledge, legal: NDArray[np.bool_]) -> Choices:
        """Count for every legal card who could beat it, and what the hand is without it.

        Parameters
        ----------
        know
            What the seats know.
        legal
            ``bool[B, A]``; games without a legal card are left out.
        """
        row, card = held(know.hand)
        floor, ceiling = self._bounds_without(know, row, card)
        allowed = np.flatnonzero(legal.reshape(-1)[row * A + (card + BIDS)])
        row, card = row[allowed], card[allowed]
        nobody_can, nobody_must = _nobody_beats(know, row, card)
        left = know.cards_left[0][row] - 1
        return Choices(
            row=row,
            action=card + BIDS,
            to_come=know.to_come[row],
            nobody_can=nobody_can,
            nobody_must=nobody_must,
            left=left,
            floor=_in_range(floor[allowed], left),
            ceiling=_in_range(ceiling[allowed], left),
            makeup=makeup(know.hand[row] ^ CARD_BIT[card]),
            bid=know.bid[row],
            needed=know.needed[row],
        )

    def _bounds_without(self, know: Knowledge, row: Ints, card: Ints) -> tuple[Ints, Ints]:
        """Floor and ceiling of the hand without each of its cards, in a suit shorter by one: two ``int64[H]``."""
        batch = len(know.hand)
        kind = kinds(row, card, know.hand, know.out)
        stage = STAGE[np.maximum(know.cards_left[0] - 1, 0)][row] * KINDS
        # Without itself a lone card has no suit left to shorten: any value will do, it cancels below.
        shorter = np.maximum(kind - SHORTER[card], 0)
        of_suit = row * (SUITS + 1) + SUIT[card]
        bounds = []
        for table in (self.experience.floor.reshape(-1), self.experience.ceiling.reshape(-1)):
            now, then = table[stage + kind].astype(np.float64), table[stage + shorter].astype(np.float64)
            total = np.bincount(row, now, batch)
            change = np.bincount(of_suit, then - now, batch * (SUITS + 1))
            bounds.append((total[row] + change[of_suit] - then).astype(np.int64))
        return bounds[0], bounds[1]


def _nobody_beats(know: Knowledge, row: Ints, card: Ints) -> tuple[Floats, Floats]:
    """The chance that nobody to come can beat each legal card, and that nobody must: two ``float64[L]``."""
    code = know.context[row] * A + (card + BIDS)
    winning = TRICKS.strength[code] > know.best[row]
    nobody_can, nobody_must = winning.astype(np.float64), winning.astype(np.float64)
    for seat in range(1, P):
        at = np.flatnonzero(winning & (know.to_come[row] >= seat))
        if len(at):
            can, must = _can_and_must_beat(know, seat, row[at], code[at])
            nobody_can[at] *= 1 - can
            nobody_must[at] *= 1 - must
    return nobody_can, nobody_must


def _can_and_must_beat(know: Knowledge, seat: int, row: Ints, code: Ints) -> tuple[Floats, Floats]:
    """The chance that ``seat`` holds a card with which it may beat, or has no other choice: two ``float64[N]``.

    Exact for each seat by itself, given the voids shown.  ``code`` is the context and action of the card to beat.
    """
    out = know.out[row]
    suit = SUIT_AFTER[code]
    beaters = out & BEATEN_BY[code]
    of_suit = _count(out & SUIT_CARDS[suit])
    suit_beaters, joker_beaters = _count(beaters & ~JOKERS), _count(beaters & JOKERS)

    # Cards of the suit are all with the other seat, or all with this one, or free to be with either.
    suit_bit = np.array([1 << suit for suit in range(SUITS)] + [0])[suit]
    void = (know.voids[seat][row] & suit_bit) != 0
    all_here = ((know.voids[P - seat][row] & suit_bit) != 0) & ~void
    is_free = ~(void | all_here)
    free = (_count(know.out) - know.certain.sum(axis=0))[row]
    held_free = (know.cards_left[seat] - know.certain[seat])[row]
    first = (free * NONE_OF.shape[1] + held_free) * NONE_OF.shape[2]

    def none_of(of_suit: Ints, jokers: Ints | int = 0) -> Floats:
        """The chance that the seat has none of so many cards of the suit and so many jokers."""
        chance = NONE_OF.reshape(-1)[first + of_suit * is_free + jokers]
        return np.where(all_here & (of_suit > 0), 0.0, chance)

    no_suit = none_of(of_suit)
    only_beaters = np.where(void, 0.0, none_of(of_suit - suit_beaters) - no_suit)
    follows_and_can = np.where(void, 0.0, 1 - none_of(suit_beaters))
    joker_can = no_suit - none_of(of_suit, joker_beaters)
    last_card = know.cards_left[seat][row] == 1  # then it has no choice
    return follows_and_can + joker_can, only_beaters + np.where(last_card, joker_can, 0.0)


AGENT = SlipperySlopePlayer
