"""A club player of Sloppy Seconds: counts cards, knows what standings are worth, and would rather be second than first.

What it goes by
---------------
1. **What a standing is worth.**  In every suit the player with the most points gets nothing and the next one all of
   its own.  So with much still to come a lead is no danger and no gain; with little to come it is the worst place, and
   the best is just below somebody who cannot fall back.  What is still to come in a suit falls in lumps, a trick at a
   time: dealing these lumps out at random, to each seat by its *share*, tells what a standing is worth on average
   (:class:`Outlook`).  Worth counts both ways: one's own score less the mean score of the others, so that keeping
   others from being second pays too.
2. **One's own share.**  Every seat gets the same share of what is to come, unless its cards say otherwise
   (:func:`share_to_come`): more with high cards of the suit and many trumps, less with low cards and few.
3. **The cards that are out.**  Every card not in its hand and not yet played is with one of the others, each as likely
   as its number of cards says, and not with who has shown to be void in its suit.
4. **Who wins this trick.**  The last to play knows.  Before that, what the players to come can and must beat is counted
   from the cards that are out (:func:`chances`).

How it decides
--------------
It looks at this trick and no further.  For each legal card: who takes the trick, with which chance, and which points
will be in it; what all standings are worth then; and what the hand that is left will draw in.  The best average is
played.  So it takes the trick that lifts it to second place and no other, loads points on the leader of a suit, keeps
high cards where it lags and gets rid of them where it leads.  It breaks a suit when that suits it: the second suit
broken is trump, and a hand with many of them will take a larger share of every suit.

It judges hands one by one: the scores of the match do not change what it does, nor does it tell players who tie for the
first place from those who nearly do (so both ways of ``tie_ranking`` are the same to it).

It needs no training.  What raises a share was fitted once, by least squares, to the points that players like it took in
2000 hands each of three and four; then each of the few numbers below was varied by itself, up and down by 8 to 33 %,
and the variant played against copies of the player as it is, over 1500 duplicate deals each of three and four: none
gained twice its standard error, which was 0.1 to 0.6 points a hand.

Shape letters: **B** games, **P** seats, **L** legal cards of all games together, **N** standings.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slopes_envs import Game, InformationSet
from slopes_envs.cards import bits_of
from slopes_envs.games.sloppy_seconds import (
    CARDS,
    FOLLOW,
    NUMBER,
    RANKS,
    SUITS,
    TRICKS,
    TRUMP,
    A,
    Context,
)

from ..base import DeterministicAgent
from ..planes import place_of_bit, read_planes

Ints = NDArray[np.int64]
Small = NDArray[np.int32]
Bits = NDArray[np.uint64]
Floats = NDArray[np.float32]

# ------------------------------------------------------------------------------------------------ what was fitted

LUMP = 0.72  # chance that a lump of points goes on by another UNIT, so that lumps have 11 points on average
TOP_CARD = 0.7  # each card of a suit counts so much as the next higher one that is left
HIGH_CARDS = 0.9  # by how much high cards, rather than many, raise one's share
HIGH_TRUMPS = 1.0  # by how much high trumps raise one's share of the trump suit
MANY_TRUMPS = 0.55  # by how much trumps raise one's share of the other suits
WILLING = 0.75  # how often a player who can beat a card does so, when it need not
RUFFS = 0.3  # how often a player who can take a trick with a trump does so

# ------------------------------------------------------------------------------------------------------- the cards

SUIT_MASK = np.uint64((1 << RANKS) - 1)
SHIFT: Bits = np.array([[RANKS * suit] for suit in range(SUITS)], dtype=np.uint64)
SUIT = np.arange(SUITS, dtype=np.uint8)[:, None]
VALUE: Floats = np.array([card % RANKS + 1 for card in range(A)], dtype=np.float32)
# HIGHER[suit, height]: the cards of a suit above a height, 1 for the 2 to 13 for the ace (0: all of them).
HIGHER: Bits = np.array(
    [
        [
            bits_of(RANKS * suit + rank for rank in range(RANKS) if (rank or RANKS) > height)
            for height in range(RANKS + 1)
        ]
        for suit in range(SUITS)
    ],
    dtype=np.uint64,
)
# Of the 2**13 sets of ranks: their points, and their number in the notation to the base of three (below).
_HELD: Ints = np.arange(1 << RANKS)[:, None] >> np.arange(RANKS) & 1
POINTS_OF: Floats = (_HELD @ np.arange(1, RANKS + 1)).astype(np.float32)
TERNARY: Small = (_HELD @ 3 ** ((np.arange(RANKS) - 1) % RANKS)).astype(np.int32)
NO_SUIT = -1
# CONTEXT[led, first broken, trump], each counted from -1 for none; 0 where a trump would be without a suit broken first
CONTEXT: Ints = np.array(
    [
        [[NUMBER.get(Context(led, first, trump), 0) for trump in range(-1, SUITS)] for first in range(-1, SUITS)]
        for led in range(-1, SUITS)
    ]
)


@lru_cache(maxsize=1)
def _high_cards() -> Floats:
    """How much better than average one's cards of a suit are, ``float32[3**13]``.

    Indexed by ``TERNARY[mine] + 2 * TERNARY[others']``.  The highest card that is left counts 1, each further one
    ``TOP_CARD`` of the one above: one's share of that, less one's share of the cards.
    """
    counted = total = mine = cards = np.zeros(1, dtype=np.float32)
    for _ in range(RANKS):  # from the 2 up: each new rank is gone, mine, or with the others
        counted = np.concatenate([counted, 1 + TOP_CARD * counted, TOP_CARD * counted])
        total = np.concatenate([total, 1 + TOP_CARD * total, 1 + TOP_CARD * total])
        mine = np.concatenate([mine, 1 + mine, mine])
        cards = np.concatenate([cards, 1 + cards, 1 + cards])
    better: Floats = (counted / np.maximum(total, 1) - mine / np.maximum(cards, 1)).astype(np.float32)
    return better


# ------------------------------------------------------------------------------------------- what a standing is worth

UNIT = 3  # points; standings are told apart by so many
ALL = 30  # units of a suit
SIDE = 32  # rounding may give a suit two more than it has
SHARES = 11  # one's own share of what is to come: in tenths


@dataclass(frozen=True)
class Outlook:
    """What standings in a suit are worth to a seat: its score there less the mean of the others', on average."""

    first: (
        Small  # [SIDE**P] where in `worth` the standing begins in which seat p has u(p) units, at sum(u(p) * SIDE**p)
    )
    worth: Floats  # [N * SHARES] by standing and own share of what is to come


@lru_cache(maxsize=2)
def outlook(num_players: int) -> Outlook:
    """The worth of all standings: what is to come is dealt out in lumps, at random.

    A lump goes to this seat with the chance of its share, else to any other, and goes on by another unit with the
    chance ``LUMP``.  Seats with equally many units at the end are ranked at random.
    """
    sides = np.indices((SIDE,) * num_players).reshape(num_players, -1)
    units = sides[:, sides.sum(axis=0) < SIDE]
    step = SIDE ** np.arange(num_players)
    number = np.zeros(SIDE**num_players, dtype=np.int32)
    number[step @ units] = np.arange(units.shape[1])
    share = np.linspace(0, 1, SHARES)
    shares = [share] + [(1 - share) / (num_players - 1)] * (num_players - 1)
    left = np.maximum(ALL - units.sum(axis=0), 0)
    # Worth when a new lump begins, and when the last unit went to a seat whose lump may go on.
    fresh = np.empty((units.shape[1], SHARES))
    going = np.empty((num_players, units.shape[1], SHARES))
    over = left == 0
    fresh[over] = going[:, over] = _final_worth(units[:, over])[:, None]
    for units_left in range(1, ALL + 1):
        at = np.flatnonzero(left == units_left)
        after = [number[step @ units[:, at] + step[seat]] for seat in range(num_players)]
        fresh[at] = sum(shares[seat] * going[seat][after[seat]] for seat in range(num_players))
        for seat in range(num_players):
            going[seat][at] = LUMP * going[seat][after[seat]] + (1 - LUMP) * fresh[at]
    return Outlook(number * np.int32(SHARES), fresh.astype(np.float32).reshape(-1))


def _final_worth(units: Ints) -> NDArray[np.float64]:
    """Own score less the mean of the others' of final standings, ``[P, N]`` units, over all ways to break ties."""
    num_players = len(units)
    orders = list(permutations(range(num_players)))
    scores = np.zeros(units.shape)
    for order in orders:
        place = units * num_players + np.array(order)[:, None]
        scores += np.where(place == np.sort(place, axis=0)[-2], units * UNIT, 0)
    scores /= len(orders)
    worth: NDArray[np.float64] = scores[0] - scores[1:].mean(axis=0)
    return worth


# ---------------------------------------------------------------------------------------------- what the seat knows


@dataclass(frozen=True)
class Sight:
    """What the seats know of B games; every field has its games on the last axis.  Seats are relative, own seat 0."""

    hand: Bits  # [B] own cards
    out: Bits  # [B] cards in the other hands
    holds: Floats  # [P, 4, B] chance that a card of a suit that is out is with each seat
    points: Floats  # [P, 4, B] taken so far
    pot: Floats  # [4, B] points in the trick
    to_come: Ints  # [B] how many play to this trick after this seat: seat 1 and so on
    context: Ints  # [B] of the trick, as in the game's trick tables
    winner: Ints  # [B] whose card is winning the trick, -1 before the first
    best: Ints  # [B] strength of that card, 0 before the first

    @cached_property
    def held(self) -> Ints:
        """The ranks held of each suit, ``int64[4, B]``, as sets."""
        return suits_of(self.hand)

    @cached_property
    def unseen(self) -> Ints:
        """The ranks in the other hands, likewise."""
        return suits_of(self.out)


def suits_of(cards: Bits) -> Ints:
    """The ranks held of each suit, ``int64[4, …]``, from bit sets of cards ``uint64[…]``."""
    ranks: Ints = ((cards >> SHIFT) & SUIT_MASK).view(np.int64)
    return ranks


def _count(bits: NDArray[Any]) -> Ints:
    counts: Ints = np.bitwise_count(bits).astype(np.int64)
    return counts


PLANES = ("hand", "seen", "table", "follow", "first_broken", "trump", "winning", "voids", "points")


def read(view: InformationSet) -> Sight:
    """Put together what the seats know, all of it from their observations."""
    planes, batch, p = read_planes(view, PLANES), len(view), view.game.num_players
    hand, seen, table = planes["hand"][0], planes["seen"], planes["table"]
    on_table = np.bitwise_or.reduce(table, axis=0)
    led, first_broken, trump, winner = (
        place_of_bit(planes[name][0], NO_SUIT) for name in ("follow", "first_broken", "trump", "winning")
    )
    # A card that is out is with the seats that may hold its suit, in proportion to their cards.
    may_hold = ~(planes["voids"].astype(np.uint8)[:, None] >> SUIT) & 1
    may_hold[0] = 0
    room = (len(CARDS[p]) // p - np.bitwise_count(seen)).astype(np.float32)[:, None] * may_hold
    winning = table[np.maximum(winner, 0), np.arange(batch)]
    suit, rank = np.divmod(place_of_bit(winning, 0), RANKS)
    height = np.where(rank == 0, RANKS, rank)
    return Sight(
        hand=hand,
        out=_all_cards(p) & ~(hand | np.bitwise_or.reduce(seen, axis=0)),
        holds=(room / np.maximum(room.sum(axis=0), 1)).astype(np.float32),
        points=planes["points"].reshape(p, SUITS, batch).astype(np.float32),
        pot=POINTS_OF[suits_of(on_table)],
        to_come=p - 1 - _count(on_table),
        context=CONTEXT[led + 1, first_broken + 1, trump + 1],
        winner=winner,
        best=np.where(winner < 0, 0, height + RANKS * (suit == trump)),
    )


@lru_cache(maxsize=2)
def _all_cards(num_players: int) -> np.uint64:
    return np.uint64(bits_of(CARDS[num_players]))


# ------------------------------------------------------------------------------------------------------- this trick


@dataclass(frozen=True)
class Choices:
    """The legal cards of all games together, L of them, and the trick as each leaves it."""

    row: Ints  # game
    card: Ints
    suit: Ints  # of the card
    led: Ints  # suit
    trump: Ints  # suit, -1 for none
    best: Ints  # strength of the card that is winning now
    holder: Ints  # whose card that is


def consider(sight: Sight, legal: NDArray[np.bool_]) -> Choices:
    """List the cards that ``legal`` (``bool[B, A]``) allows."""
    at = np.flatnonzero(legal)
    row = at // A
    card = at - row * A
    code = sight.context[row] * A + card
    strength = TRICKS.strength[code].astype(np.int64)
    context = TRICKS.context[code]
    best = sight.best[row]
    return Choices(
        row=row,
        card=card,
        suit=card // RANKS,
        led=FOLLOW[context].astype(np.int64),
        trump=TRUMP[context].astype(np.int64),
        best=np.maximum(best, strength),
        holder=np.where(strength > best, 0, sight.winner[row]),
    )


def chances(sight: Sight, choices: Choices) -> tuple[Floats, Floats]:
    """Who will take the trick, and how many points of the suit led the players to come will add.

    Returns
    -------
    float32[P, L]
        Chance of each seat to take the trick.
    float32[L]
        Points.
    """
    c = choices
    p, batch = len(sight.holds), len(sight.hand)
    out = sight.out[c.row]
    trumped = c.best > RANKS
    height = np.where(trumped, c.best - RANKS, c.best)
    trump = np.maximum(c.trump, 0)
    # What is out of the suit led: how many cards, their points, and how many beat the best card.
    ranks = (out >> SHIFT[c.led, 0]) & SUIT_MASK
    cards = np.bitwise_count(ranks).astype(np.float32)
    mean = POINTS_OF[ranks.view(np.int64)] / np.maximum(cards, 1)
    higher = np.bitwise_count(out & HIGHER[c.led, height]) * (~trumped | (c.trump == c.led)).astype(np.float32)
    higher_trumps = np.bitwise_count(out & HIGHER[trump, height * trumped]) * (
        (c.trump != NO_SUIT) & (c.trump != c.led)
    ).astype(np.float32)

    win = np.zeros((p, len(c.row)), dtype=np.float32)
    held = np.ones(len(c.row), dtype=np.float32)
    points = np.zeros(len(c.row), dtype=np.float32)
    lacks = np.log(np.maximum(1 - sight.holds, 1e-6)).reshape(p, -1)  # log of the chance not to hold a card
    to_come = sight.to_come[c.row]
    for seat in range(1, p):
        comes = to_come >= seat
        lack, lack_trump = lacks[seat][c.led * batch + c.row], lacks[seat][trump * batch + c.row]
        void = np.exp(lack * cards)
        can = 1 - np.exp(lack * higher)
        must = np.exp(lack * (cards - higher)) * can
        ruffs = RUFFS * void * (1 - np.exp(lack_trump * higher_trumps))
        win[seat] = (WILLING * can + (1 - WILLING) * must + ruffs) * comes
        held *= 1 - win[seat]
        points += (1 - void) * mean * comes
    # Several may beat the card: each of them takes the trick as often as the others.
    win *= (1 - held) / np.maximum(win.sum(axis=0), 1e-9)
    win[c.holder, np.arange(len(c.row))] += held
    return win, points


# --------------------------------------------------------------------------------------------------- after this trick


def share_to_come(sight: Sight, choices: Choices) -> Floats:
    """Share of what is to come that the rest of the hand should draw in, ``float32[4, L]``, for each legal card."""
    c = choices
    p, batch, every = len(sight.holds), len(sight.hand), np.arange(len(c.row))
    hand, out = sight.held, sight.unseen
    better = _high_cards()[TERNARY[hand] + 2 * TERNARY[out]].take(c.row, axis=1)
    mine, others = np.bitwise_count(hand).astype(np.float32), np.bitwise_count(out).astype(np.float32)
    # Of the card's suit one is gone.
    at = c.suit * batch + c.row
    less = hand.reshape(-1)[at] ^ (1 << (c.card - c.suit * RANKS))
    better[c.suit, every] = _high_cards()[TERNARY[less] + 2 * TERNARY[out.reshape(-1)[at]]]
    # Trumps, if there are any left.
    trump = np.maximum(c.trump, 0)
    at = trump * batch + c.row
    trumps = mine.reshape(-1)[at] - (c.suit == c.trump)
    all_trumps = trumps + others.reshape(-1)[at]
    edge = trumps / np.maximum(all_trumps, 1) - 1 / p
    edge[(c.trump == NO_SUIT) | (all_trumps == 0)] = 0
    share: Floats = HIGH_CARDS * better + (1 / p + MANY_TRUMPS * edge)
    with_trump = np.flatnonzero(c.trump != NO_SUIT)
    trump = trump[with_trump]
    share[trump, with_trump] = (
        1 / p + (HIGH_CARDS + HIGH_TRUMPS) * better[trump, with_trump] + HIGH_TRUMPS * edge[with_trump]
    )
    return share


BLOCK = 2048  # information sets that are looked at together: what is in work stays in the processor's cache


@dataclass(frozen=True)
class Reasons:
    """What speaks for each of L cards."""

    worth: Floats  # [L] what all standings will be worth, on average
    win: Floats  # [P, L] chance of each seat to take the trick
    by_winner: Floats  # [P, L] what the standings will be worth if it does
    points: Floats  # [4, L] points in the trick
    share: Floats  # [4, L] own share of what is to come after it


class SloppySecondsPlayer(DeterministicAgent):
    """The player; see the module for how it thinks.  Deterministic: it never uses ``view.keys``."""

    def __init__(self, game: Game[Any, Any]) -> None:
        super().__init__(game)
        self.outlook = outlook(game.num_players)

    def act(self, view: InformationSet) -> NDArray[np.int64]:
        """Choose the card after which the standings are worth most on average; of equal ones the lowest number."""
        best: Ints = self.worth(view).argmax(axis=1)
        return best

    def worth(self, view: InformationSet) -> Floats:
        """What all standings will be worth, by card, ``float32[B, A]``; minus infinity where a card is not legal."""
        if len(view) > BLOCK:
            starts = range(0, len(view), BLOCK)
            return np.concatenate(
                [self.worth(view.take(np.arange(len(view))[start : start + BLOCK])) for start in starts]
            )
        legal = view.legal
        sight = read(view)
        choices = consider(sight, legal)
        worth = np.full(legal.shape, -np.inf, dtype=np.float32)
        worth[choices.row, choices.card] = self.reasons_for(sight, choices).worth
        return worth

    def reasons_for(self, sight: Sight, choices: Choices) -> Reasons:
        """What speaks for each of L legal cards of B games."""
        win, added = chances(sight, choices)
        every = np.arange(len(choices.row))
        points = sight.pot.take(choices.row, axis=1)
        points[choices.suit, every] += VALUE[choices.card]
        points[choices.led, every] += added
        share = share_to_come(sight, choices)
        by_winner = self.worth_of_tricks(sight, choices.row, points, share)
        return Reasons(_on_average(win, by_winner), win, by_winner, points, share)

    def worth_of_tricks(self, sight: Sight, row: Ints, points: Floats, share: Floats) -> Floats:
        """What the standings are worth after tricks, by the seat that takes them, ``float32[P, L]``.

        Parameters
        ----------
        sight
            What the seats know.
        row
            ``int64[L]``, the game of each trick.
        points
            ``float32[4, L]``, points in it.
        share
            ``float32[4, L]``, own share of what is to come after it.
        """
        p = self.game.num_players
        # Standings in whole units, rounded, and what is left of a unit after that.
        exact = sight.points * np.float32(1 / UNIT) + np.float32(0.5)
        units = exact.astype(np.int64)
        exact -= units
        steps = SIDE ** np.arange(p)
        standing = (units * steps[:, None, None]).sum(axis=0).take(row, axis=1)
        column = (np.clip(share, 0, 1) * (SHARES - 1) + np.float32(0.5)).astype(np.int64)
        points = points * np.float32(1 / UNIT)
        worth = np.empty((p, len(row)), dtype=np.float32)
        for seat in range(p):
            more = (exact[seat].take(row, axis=1) + points).astype(np.int64)
            more *= steps[seat]
            more += standing
            at = self.outlook.first.take(more) + column
            worth[seat] = self.outlook.worth.take(at).sum(axis=0)
        return worth


def _on_average(win: Floats, worth: Floats) -> Floats:
    """Worth over who takes the tricks, ``float32[L]``; added up seat by seat, so that no trick bears on another."""
    total = np.zeros(worth.shape[1], dtype=np.float32)
    for chance, value in zip(win, worth, strict=True):
        total += chance * value
    return total


AGENT = SloppySecondsPlayer
