"""A club player of Sluff: bids for the team, covers its sluffers, attacks the others', and counts both copies of cards.

What it goes by
---------------
1. **The cards that are out.**  Of every card the copies neither in its hand nor yet played are with the other seats,
   each as likely as its number of cards says, and nowhere that a shown void excludes (:func:`read`).
2. **Who wins this trick.**  Going round the seats that are to come: each *can* beat the winning card with some chance,
   *must* with a smaller one, and does so by what it is after.  Opponents beat the own team, but gladly leave a trick to
   its sluffer; the own team does the same the other way round; a sluffer wins only what it must
   (:meth:`SluffPlayer.winners`).
3. **What a trick is worth.**  The chance of either team to make its bid, if this trick goes to the one or to the other,
   times what the bid scores; and the 100 points between a sluff kept and a sluff lost, as far as the bid of the
   sluffer's team will be made, since otherwise it counts for nothing (:func:`prices`).
4. **What a card is worth later.**  A high card will take another trick: less likely the more cards beat it, and in a
   side colour the fewer cards of it are out, for then it will be trumped (:func:`later_tricks`).  For a sluffer high
   cards are a danger instead: the more so, the fewer lower cards of the colour are there to play first
   (:func:`danger`).

How it decides
--------------
*Bidding* (:meth:`SluffPlayer.bids`): its hand tells how many tricks it will take, and how likely it is to take none if
it tries to.  Early seats bid a little less than their tricks, or sluff if that is likely enough to succeed.  The last
of a team knows what its partners and most opponents have bid, and with that how many tricks the team will take, with
a number from this seat or with a sluff; it takes the bid with the best expected score.

*Playing* (:meth:`SluffPlayer.reasons_for`): for each legal card the worth of the trick by who is likely to win it,
less what the card would be worth later, and a little for having the lead.  So it ducks under the highest card as a
sluffer and throws off what is dangerous, overtakes a partner who must not win, leads low where an opponent's sluff may
be caught, cashes high cards before they are trumped, and lets a trick go when no bid hangs on it.

It judges hands one by one: the scores of the match do not change what it does.  Deterministic: it never uses
``view.keys``.

The numbers were tuned in play of this very player against its own kind, on 1,000 to 4,000 deals a comparison, each
played both ways; the factors of the bids (:data:`EXPERIENCE`) are least squares and logistic regressions over 8,000 to
16,000 deals for each number of players, in which three bids in ten were varied at random.

Shape letters: **B** games, **P** seats (relative, own seat first), **H** cards held in all games together, **L** legal
ones among them.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import lru_cache
from math import erf, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from slopes_envs import Game, InformationSet
from slopes_envs.cards import bits_of
from slopes_envs.games.sluff import (
    BIDS,
    BLACK,
    CARDS,
    COLOURS,
    COPIES,
    DECK,
    EXTRA,
    MADE,
    MAX_HAND,
    NUMBERS,
    SLUFF,
    SLUFFED,
    ZERO_BID,
)

from ..base import DeterministicAgent
from ..planes import ONE, place_of_bit, read_planes

Ints = NDArray[np.int64]
Bits = NDArray[np.uint64]
Bools = NDArray[np.bool_]
Floats = NDArray[np.float32]
Counts = NDArray[np.int16]  # small, so that products with float32 stay that
Numbers = NDArray[np.float64]


# ------------------------------------------------------------------------------------------------------------ cards

COLOUR: Ints = np.arange(CARDS) // NUMBERS
HEIGHT: Ints = np.where(np.arange(CARDS) % NUMBERS == 0, NUMBERS, np.arange(CARDS) % NUMBERS)  # the 1 is the highest
COLOUR_CARDS: Bits = np.array([DECK.suit_bits(colour) for colour in range(COLOURS)], dtype=np.uint64)
_SAME_COLOUR = COLOUR[:, None] == COLOUR
HIGHER: Bits = np.array([bits_of(np.flatnonzero(row)) for row in _SAME_COLOUR & (HEIGHT[:, None] < HEIGHT)], np.uint64)
LOWER: Bits = np.array([bits_of(np.flatnonzero(row)) for row in _SAME_COLOUR & (HEIGHT[:, None] > HEIGHT)], np.uint64)
# A card on the table is seen as a set of 4 + 14: its colour and its number.
COLOUR_BITS = np.uint64((1 << COLOURS) - 1)
EACH_COLOUR: Bits = np.arange(COLOURS, dtype=np.uint64)[:, None]
PLANES = (
    "hand",
    "gone",
    "table",
    "winning",
    "follow",
    "bids",
    "sluff_intact",
    "voids",
    "team_bid",
    "team_needs",
    "tricks_left",
)


def held(cards: Bits) -> tuple[Ints, Ints]:
    """Game and card number of every member of ``uint64[B]`` card sets: two ``int64[H]``."""
    bits = np.unpackbits(cards[:, None].astype("<u8").view(np.uint8), axis=1, count=CARDS, bitorder="little")
    at = np.flatnonzero(bits)
    row = at // CARDS
    return row, at - row * CARDS


# ---------------------------------------------------------------------------------------------- what the seat knows

OURS, OUR_SLUFFER, THEIRS, THEIR_SLUFFER = range(4)
"""Roles of a seat: which team it plays for, and whether as a sluffer that has taken no trick."""


@dataclass(frozen=True)
class Knowledge:
    """What the seats know of B games; every field has its games on the last axis.  Teams: own, other."""

    hand: Bits  # [B] own cards held at least once
    twice: Bits  # [B] and twice
    out: Bits  # [B] cards of which at least one copy is with the other seats
    out_twice: Bits  # [B] and two
    led: Ints  # [B] colour led, -1 for none
    top: Ints  # [B] card that is winning the trick, -1 for none
    winner: Ints  # [B] seat of that card, 0 without
    to_come: Bools  # [P, B] seats that play to this trick after this one
    cards_left: Counts  # [B] cards of the own hand; other seats have as many, or one less after playing to this trick
    void: Bools  # [P, COLOURS, B] shown to be void
    is_sluffer: Bools  # [P, B] has bid sluff and taken no trick
    tricks_left: Ints  # [B] this one included
    bid: Ints  # [2, B] sum of each team's numbers
    needs: Ints  # [2, B] that less the tricks taken
    intact: Ints  # [2, B] sluffers without a trick
    broken: Ints  # [2, B] sluffers with one
    numbers: Ints  # [2, B] seats that have bid a number

    def take(self, rows: Ints) -> Knowledge:
        """Some of the games."""
        return Knowledge(**{spec.name: getattr(self, spec.name)[..., rows] for spec in fields(self)})

    def count_hand(self, row: Ints, cards: Bits) -> Counts:
        """How many cards of some sets are in the hand, both copies counted."""
        return _count(self.hand[row] & cards, self.twice[row] & cards)

    def count_out(self, row: Ints, cards: Bits | np.uint64) -> Counts:
        """How many cards of some sets are out, both copies counted."""
        return _count(self.out[row] & cards, self.out_twice[row] & cards)


def _count(once: Bits, twice: Bits) -> Counts:
    counts: Counts = (np.bitwise_count(once) + np.bitwise_count(twice)).astype(np.int16)
    return counts


@lru_cache(maxsize=4)
def _deck(players: int) -> tuple[np.uint64, np.uint64]:
    """The cards of which the deck has one copy, and two."""
    one, two = (bits_of(card for card in range(CARDS) if COPIES[players][card] == copies) for copies in (1, 2))
    return np.uint64(one), np.uint64(two)


def _by_team(seats: NDArray[Any]) -> Ints:
    return np.stack([seats[0::2].sum(axis=0), seats[1::2].sum(axis=0)])


def read(view: InformationSet) -> Knowledge:
    """Put together what the seats know, all of it from their observations."""
    planes, batch = read_planes(view, PLANES), len(view)
    hand, twice = planes["hand"]
    gone, gone_twice = planes["gone"]
    one, two = _deck(view.game.num_players)
    seen_once, seen_twice = hand | gone, twice | gone_twice | (hand & gone)
    table = planes["table"]
    to_come = table == 0
    to_come[0] = False
    winner = place_of_bit(planes["winning"][0], 0)
    best = table[winner, np.arange(batch)]
    top = NUMBERS * place_of_bit(best & COLOUR_BITS) + place_of_bit(best >> np.uint64(COLOURS))
    bids = planes["bids"]
    sluffed = bids >> np.uint64(SLUFF) & ONE != 0
    intact = planes["sluff_intact"] != 0
    team_bid, team_needs = (planes[name].astype(np.uint8).view(np.int8) for name in ("team_bid", "team_needs"))
    return Knowledge(
        hand=hand,
        twice=twice,
        out=(two & ~seen_twice) | (one & ~seen_once),
        out_twice=two & ~seen_once,
        led=place_of_bit(planes["follow"][0]),
        top=np.where(best == 0, -1, top),
        winner=winner,
        to_come=to_come,
        cards_left=_count(hand, twice),
        void=planes["voids"][:, None] >> EACH_COLOUR & ONE != 0,
        is_sluffer=intact,
        tricks_left=np.bitwise_count(planes["tricks_left"][0]).astype(np.int64),
        bid=team_bid.astype(np.int64),
        needs=team_needs.astype(np.int64),
        intact=_by_team(intact),
        broken=_by_team(sluffed & ~intact),
        numbers=_by_team((bids != 0) & ~sluffed),
    )


# ---------------------------------------------------------------------------------------------------------- bidding


@dataclass(frozen=True)
class Experience:
    """Factors by which a hand is judged in the bidding; :data:`EXPERIENCE` has them by number of players."""

    tricks: tuple[float, ...]  # own tricks: a constant, and the five counts of a hand's strength
    team: tuple[float, ...]  # tricks of the team of which this seat, the last, bids a number: as :func:`_team_counts`
    team_sluff: tuple[float, ...]  # the same if it sluffs
    sluff: tuple[float, ...]  # log odds to take no trick: a constant, the five counts of danger, and the partners' bids


EXPERIENCE = {
    4: Experience(
        tricks=(-1.9, 0.97, 0.55, 0.74, 0.69, 0.02),
        team=(1.41, 0.81, 0.77, 0.53, 0.88, -0.21, 0.58, 0.73),
        team_sluff=(1.45, 0.67, 0.74, 0.18, 1.27, -0.2, 0.57, 1.0),
        sluff=(3.16, -0.51, -0.78, -2.14, 0.42, -0.18, -1.04, 0.16, -0.51),
    ),
    6: Experience(
        tricks=(-1.26, 0.9, 0.51, 0.63, 0.8, 0.05),
        team=(0.98, 0.7, 0.62, 0.9, 1.06, -0.31, 0.6, 0.66),
        team_sluff=(1.02, 0.43, 0.63, 0.9, 1.13, -0.31, 0.58, 0.64),
        sluff=(3.54, -0.71, -0.96, -2.76, 0.43, -0.17, -0.67, 0.07, 0.04),
    ),
    8: Experience(
        tricks=(-0.92, 0.9, 0.48, 0.55, 0.87, 0.06),
        team=(0.61, 0.64, 0.53, 0.91, 0.92, -0.34, 0.48, 0.57),
        team_sluff=(0.69, 0.3, 0.54, 1.0, 1.08, -0.35, 0.42, 0.52),
        sluff=(3.33, -0.68, -1.14, -3.3, 0.42, -0.15, -0.26, 0.04, 0.16),
    ),
    10: Experience(
        tricks=(-0.72, 0.83, 0.41, 0.47, 0.67, 0.06),
        team=(0.32, 0.55, 0.5, 0.65, 0.64, -0.39, 0.37, 0.37),
        team_sluff=(0.36, 0.26, 0.52, 0.7, 0.74, -0.4, 0.3, 0.34),
        sluff=(3.5, -0.29, -1.53, -3.74, 0.27, -0.16, -0.15, 0.04, 0.19),
    ),
}

EARLY_CAUTION = 0.8  # how far early seats bid below their tricks: the last of the team makes up for it
SURE_ENOUGH = 0.62  # chance from which early seats sluff; a half would break even
SLUFF_MARGIN = 4.0  # points by which a sluff must promise more than the best number
PARTNERS_SLUFF = 30.0  # points that a partner's sluff is expected to bring, if the bid is made
SPREAD = 1.7  # deviation of the team's tricks from what the last seat expects, as the bid must stand it


def _weighted(factors: tuple[float, ...], counts: list[Any]) -> Any:
    """A constant and a weighted sum; added up one by one, so that no game's result depends on the others'."""
    total = factors[0]
    for factor, number in zip(factors[1:], counts, strict=True):
        total = total + factor * number
    return total


def hand_counts(know: Knowledge, players: int) -> tuple[list[Numbers], list[Numbers]]:
    """Ten counts of hands before play.

    Returns
    -------
    Two lists of five ``float64[B]``.  Strength: high trumps, trumps, top cards of side colours, other high ones, short
    side colours to trump in.  Danger for a sluffer: of side colours seen narrowly and widely, of high trumps, number of
    trumps, its square.
    """
    batch = len(know.hand)
    pairs = held(know.hand), held(know.twice)
    row, card = (np.concatenate(part) for part in zip(*pairs, strict=True))
    above = know.count_out(row, HIGHER[card])
    of_colour = np.maximum(know.count_out(row, COLOUR_CARDS[COLOUR[card]]), 1)
    below = know.count_hand(row, LOWER[card])
    trump = COLOUR[card] == BLACK
    not_above = (of_colour - above) / of_colour

    def total(weights: NDArray[Any]) -> Numbers:
        sums: Numbers = np.bincount(row, weights, batch).astype(np.float64)
        return sums

    trumps, short = np.zeros(batch), np.zeros(batch)
    for colour, cards in enumerate(COLOUR_CARDS):
        length = _count(know.hand & cards, know.twice & cards)
        if colour == BLACK:
            trumps = length.astype(np.float64)
        else:
            short += np.maximum(2 - length, 0)
    narrowly = not_above ** (players - 1) * 0.75**below
    widely = not_above ** ((players - 1) / 2) * 0.6**below
    strength = [
        total(trump * 0.8**above),
        trumps,
        total(~trump & (above == 0)),
        total((~trump & (above > 0)) * 0.6**above),
        short * np.minimum(trumps, 3),
    ]
    return strength, [total(~trump * narrowly), total(~trump * widely), total(trump * narrowly), trumps, trumps**2]


def _chance(deviations: Any) -> Any:
    """The normal distribution, nearly."""
    return 1 / (1 + np.exp(-1.7 * deviations))


# ----------------------------------------------------------------------------------------- what a trick is worth


def _chances_to_make() -> Floats:
    """Chance to make a bid by tricks left, tricks needed, and tricks that the other team needs; ``[15, 17, 17]``.

    The tricks are taken to be shared evenly but for a quarter of the difference between the needs: bids tell who is
    strong, though not all of it.
    """
    most = MAX_HAND + 2
    chances = np.zeros((MAX_HAND + 1, most + 1, most + 1), dtype=np.float32)
    chances[:, 0] = 1
    for left in range(1, MAX_HAND + 1):
        for needed in range(1, left + 1):
            for others in range(most + 1):
                mean = min(max(left / 2 + (needed - min(others, left)) / 4, 0), left)
                deviations = (mean - needed + 0.5) / (0.6 * sqrt(left))
                chances[left, needed, others] = (1 + erf(deviations / sqrt(2))) / 2
    return chances


MAKES: Floats = _chances_to_make()
LEAST_PRICE = 3.0  # points by which a trick is worth having, at least


class Prices(NamedTuple):
    """What the present trick of B games is worth."""

    worth: Floats  # [4, B] the expected score, own team's less the other's, when it goes to a seat of each role
    alive: Floats  # [B] the chance that the own team makes its bid


def prices(know: Knowledge) -> Prices:
    """What the present trick is worth."""
    most = MAKES.shape[1] - 1
    ours, theirs = np.clip(know.needs, 0, most)
    ours_after, theirs_after = np.clip(know.needs - 1, 0, most)
    left, left_after = know.tricks_left, np.maximum(know.tricks_left - 1, 0)
    stake, stake_against = (MADE * know.bid + SLUFFED * (know.intact - know.broken)).astype(np.float32)
    if_won, if_lost = MAKES[left_after, ours_after, theirs], MAKES[left_after, ours, theirs_after]
    theirs_if_won, theirs_if_lost = MAKES[left_after, theirs_after, ours], MAKES[left_after, theirs, ours_after]
    worth_ours = (stake + EXTRA) * if_won - stake_against * theirs_if_lost
    worth_theirs = stake * if_lost - (stake_against + EXTRA) * theirs_if_won
    worth = np.stack(
        [
            worth_ours,
            worth_ours - 2 * SLUFFED * if_won,
            worth_theirs,
            worth_theirs + 2 * SLUFFED * theirs_if_won,
        ]
    ).astype(np.float32)
    return Prices(worth, MAKES[left, ours, theirs])


# ------------------------------------------------------------------------------------- what a card is worth later


@dataclass(frozen=True)
class Choices:
    """The legal cards of all games together, L of them."""

    row: Ints  # game
    card: Ints
    colour: Ints
    above: Counts  # cards that are out and higher in the colour
    colour_out: Counts  # cards that are out of the colour
    trumps_out: Counts  # and of black

    @classmethod
    def of(cls, know: Knowledge, row: Ints, card: Ints) -> Choices:
        """Count what is out for cards of the games ``row``."""
        colour = COLOUR[card]
        return cls(
            row=row,
            card=card,
            colour=colour,
            above=know.count_out(row, HIGHER[card]),
            colour_out=know.count_out(row, COLOUR_CARDS[colour]),
            trumps_out=know.count_out(row, COLOUR_CARDS[BLACK]),
        )


def takes_the_lead(know: Knowledge, choices: Choices) -> Bools:
    """Whether cards win the trick as it lies, ``bool[L]``."""
    row, card, colour = choices.row, choices.card, choices.colour
    led, top = know.led[row], know.top[row]
    return (led < 0) | np.where(colour == COLOUR[top], HEIGHT[card] > HEIGHT[top], colour == BLACK)


def later_tricks(choices: Choices, players: int) -> Floats:
    """How many tricks a card is good for later if it is kept, ``float32[L]`` from 0 to 1."""
    c = choices
    trump = np.where(c.above == 0, np.float32(1), 0.3 + 0.7 * _power(0.77, c.above))
    not_trumped = np.where(c.trumps_out == 0, np.float32(1), np.minimum(np.float32(0.75 / players) * c.colour_out, 1))
    side = not_trumped * _power(0.62, c.above)
    return np.where(c.colour == BLACK, trump, side)


def danger(know: Knowledge, choices: Choices) -> Floats:
    """How likely a card, kept by a sluffer, is to take a trick some day: ``float32[L]``, only to compare.

    All others play below it if they have nothing higher of the colour, and those with lower cards of it can wait.
    """
    c = choices
    below = know.count_hand(c.row, LOWER[c.card])
    share = (c.colour_out - c.above) / np.maximum(c.colour_out, 1)
    caught = share ** (len(know.is_sluffer) - 1) * _power(0.75, below)
    trump = np.where(c.colour == BLACK, np.float32(0.2), 0)  # it may have to be played to another colour, too
    return (np.where(c.colour_out == 0, 0, caught) + trump).astype(np.float32)


def _power(base: float, exponents: Counts) -> Floats:
    """Powers with whole exponents up to the number of cards, from a table."""
    return _powers(base).take(exponents)


@lru_cache(maxsize=8)
def _powers(base: float) -> Floats:
    return (base ** np.arange(2 * NUMBERS + 1)).astype(np.float32)


# ------------------------------------------------------------------------------------------------------- the player

# Whether a seat of either team that is no sluffer is after the trick, by the role of the seat that is winning it:
# nobody overtakes a partner who may win, or a sluffer of the other team.
WANTS: Bools = np.zeros((2, 4), dtype=np.bool_)
WANTS[0, [THEIRS, OUR_SLUFFER]] = True
WANTS[1, [OURS, THEIR_SLUFFER]] = True

AFTER_ANOTHER = np.float32(0.4)  # a trick that has been overtaken is as much harder to overtake again
OWN_LEAD, TEAM_LEAD = np.float32(0.2), np.float32(0.15)  # what the next lead is worth to a seat and its team, in tricks
SHORTEN = np.float32(0.03)  # what a card less in a side colour is worth to a seat with trumps, in tricks
TIE = np.float32(0.001)  # of cards of equal worth the lowest is played
SHED = np.float32(0.5)  # how much danger that is got rid of counts against danger now


@dataclass(frozen=True)
class Prospects:
    """What seats expect that are to bid in B games."""

    strength: list[Numbers]  # as :func:`hand_counts`
    dangers: list[Numbers]
    tricks: Numbers  # [B] that the seat will take itself
    safe: Numbers  # [B] chance to take none as a sluffer
    is_last: Bools  # [B] no partner is to bid after it
    scores: Numbers  # [B, N] expected score with each number, from the least on, of a seat that is the last
    score_sluff: Numbers  # [B] and with a sluff, in case the partners' bid is made and otherwise nothing


@dataclass(frozen=True)
class Reasons:
    """What speaks for each of L cards, in points of the hand where nothing else is said."""

    worth: Floats  # [L] all together
    trick: Floats  # [L] of the trick, by who will win it
    roles: Floats  # [4, L] the chance that a seat of each role wins it
    own: Floats  # [L] the chance that this seat does
    later: Floats  # [L] tricks that the card is good for if it is kept
    wins: Bools  # [L] whether it wins the trick as it lies
    danger: Floats  # [L] what it is to a sluffer who keeps it


class SluffPlayer(DeterministicAgent):
    """The player; see the module for how it thinks.  Deterministic: it never uses ``view.keys``."""

    def __init__(self, game: Game[Any, Any]) -> None:
        super().__init__(game)
        self.players = game.num_players
        self.hand_size = sum(COPIES[self.players]) // self.players
        self.least_bid = 0 if game.num_actions > ZERO_BID else 1

    def act(self, view: InformationSet) -> NDArray[np.int64]:
        """Choose the bid by the hand, the card by its worth; of equal ones that with the lowest number."""
        best: Ints = self.worth(view).argmax(axis=1)
        return best

    def worth(self, view: InformationSet) -> Floats:
        """Worth of each legal card in points of the hand, and 0 for the bid chosen; all else is minus infinity.

        Returns
        -------
        float32[B, A]
        """
        legal = view.legal
        know = read(view)
        worth = np.full(legal.shape, -np.inf, dtype=np.float32)
        bidding = np.flatnonzero(legal[:, SLUFF])
        if len(bidding):
            worth[bidding, self.bids(self.prospects(know.take(bidding)))] = 0
        at = np.flatnonzero(legal[:, BIDS:ZERO_BID])
        if len(at):
            row, card = np.divmod(at, CARDS)
            worth[row, card + BIDS] = self.reasons_for(know, Choices.of(know, row, card), prices(know)).worth
        return worth

    # -- bidding ---------------------------------------------------------------------------------------------------

    def bids(self, seen: Prospects) -> Ints:
        """The actions chosen in B games in which the seat is to bid, ``int64[B]``."""
        early = np.clip(np.rint(seen.tricks - EARLY_CAUTION), self.least_bid, self.hand_size)
        early_sluff = seen.safe > SURE_ENOUGH
        last = seen.scores.argmax(axis=1) + self.least_bid
        last_sluff = seen.score_sluff > seen.scores.max(axis=1) + SLUFF_MARGIN
        number = np.where(seen.is_last, last, early).astype(np.int64)
        sluff = np.where(seen.is_last, last_sluff, early_sluff)
        return np.where(sluff, SLUFF, np.where(number == 0, ZERO_BID, number))

    def prospects(self, know: Knowledge) -> Prospects:
        """What the seats of B games that are to bid expect of their hands."""
        experience = EXPERIENCE[self.players]
        strength, dangers = hand_counts(know, self.players)
        sluffs = know.intact + know.broken
        tricks = _weighted(experience.tricks, strength)
        odds = _weighted(experience.sluff, [*dangers, sluffs[0], know.bid[0], know.numbers[0]])
        safe = 1 / (1 + np.exp(-odds))
        scores, score_sluff = self._last_bids(know, tricks, safe)
        is_last = know.numbers[0] + sluffs[0] == self.players // 2 - 1
        return Prospects(strength, dangers, tricks, safe, is_last, scores, score_sluff)

    def _last_bids(self, know: Knowledge, tricks: Numbers, safe: Numbers) -> tuple[Numbers, Numbers]:
        """What the last seat of a team expects of every number, ``float64[B, N]``, and of a sluff, ``float64[B]``."""
        experience = EXPERIENCE[self.players]
        (partners_bid, others_bid), (numbers, others_numbers) = know.bid, know.numbers
        sluffs, others_sluffs = know.intact + know.broken
        others_bid = np.minimum(others_bid, self.hand_size // 2 + 2)  # more than that is not believed
        heard = [tricks, partners_bid, numbers, sluffs, others_bid, others_numbers, others_sluffs]
        team, team_sluff = _weighted(experience.team, heard), _weighted(experience.team_sluff, heard)
        beside = PARTNERS_SLUFF * sluffs
        total = partners_bid[:, None] + np.arange(self.least_bid, self.hand_size + 1)
        scores = (MADE * total + beside[:, None]) * _chance((team[:, None] - total + 0.5) / SPREAD)
        score_sluff = MADE * partners_bid + beside + SLUFFED * (2 * safe - 1)
        # Nobody can miss a bid of nothing (R9).
        makes = np.where(partners_bid == 0, 1.0, _chance((team_sluff - partners_bid + 0.5) / SPREAD))
        return scores, makes * score_sluff

    # -- playing ---------------------------------------------------------------------------------------------------

    def reasons_for(self, know: Knowledge, choices: Choices, priced: Prices) -> Reasons:
        """What speaks for each of L legal cards of B games: the trick by who will win it, less the card kept."""
        row, card, colour = choices.row, choices.card, choices.colour
        worth, alive = priced
        wins = takes_the_lead(know, choices)
        roles, own = self.winners(know, choices, wins)
        price = np.maximum(worth[OURS] - worth[THEIRS], LEAST_PRICE)[row]
        trick = (roles * worth[:, row]).sum(axis=0) + price * (OWN_LEAD * own + TEAM_LEAD * roles[OURS])

        has_trumps = (know.hand & COLOUR_CARDS[BLACK]) != 0
        shortens = has_trumps[row] & (colour != BLACK)
        side_length = know.count_hand(row, COLOUR_CARDS[colour]) * shortens
        later = later_tricks(choices, self.players)
        kept = -price * (later + SHORTEN * side_length)
        dangers = danger(know, choices)
        kept = np.where(know.is_sluffer[0][row], 2 * SLUFFED * SHED * alive[row] * dangers, kept)
        return Reasons((trick + kept - TIE * HEIGHT[card]).astype(np.float32), trick, roles, own, later, wins, dangers)

    def winners(self, know: Knowledge, choices: Choices, wins: Bools) -> tuple[Floats, Floats]:
        """Who will win the trick if a card is played to it that wins it as it lies, or does not (``bool[L]``).

        Returns
        -------
        roles
            ``float32[4, L]``: the chance that a seat of each role wins.
        own
            ``float32[L]``: the chance that this seat does.
        """
        row, card, colour = choices.row, choices.card, choices.colour
        top, led = know.top[row], know.led[row]
        leads = led < 0
        led = np.where(leads, colour, led)
        top = np.where(wins, card, top)
        top_colour = COLOUR[top]
        winner = np.where(wins, 0, know.winner[row])
        first_role = winner % 2 * THEIRS + know.is_sluffer[winner, row]

        # Cards that beat the winning one: of the colour led, or trumps played by those who are out of it.
        led_out = know.count_out(row, COLOUR_CARDS[led])
        above = know.count_out(row, HIGHER[top])
        beat_following = np.where(top_colour == led, above, 0)
        beat_trumping = np.where(led == BLACK, 0, np.where(top_colour == BLACK, above, choices.trumps_out))

        roles = (np.arange(4)[:, None] == first_role).astype(np.float32)
        harder = np.where(roles == 1, np.float32(1), AFTER_ANOTHER)
        stays = wins.astype(np.float32)
        last_trick = know.cards_left[row] == 1
        without = self._log_without(know)
        for seat in range(1, self.players):
            without_led, without_trump = without[seat, led, row], without[seat, BLACK, row]
            is_void = np.exp(without_led * led_out)
            only_lower = np.exp(without_led * beat_following)
            can = 1 - only_lower + is_void * (1 - np.exp(without_trump * beat_trumping))
            must = np.where(last_trick, can, np.exp(without_led * (led_out - beat_following)) - is_void)
            team, is_sluffer, comes = seat % 2, know.is_sluffer[seat][row], know.to_come[seat][row]
            must = must * comes
            would = np.where(is_sluffer, must, can * comes)
            stays *= 1 - np.where(WANTS[team, first_role], would, must)
            taken = roles * (np.where(WANTS[team, :, None], would, must) * harder)
            roles -= taken
            gained = taken.sum(axis=0)
            by_sluffer = gained * is_sluffer
            roles[2 * team] += gained - by_sluffer
            roles[2 * team + 1] += by_sluffer
        return roles, stays

    def _log_without(self, know: Knowledge) -> Floats:
        """Logarithm of the chance that a seat does not hold a certain card that is out, ``float32[P, COLOURS, B]``.

        A card is with any seat that may hold its colour, in proportion to the cards these have left.
        """
        room = (know.cards_left - 1 + know.to_come).astype(np.float32)
        room[0] = 0
        share = room[:, None] * ~know.void
        share /= np.maximum(share.sum(axis=0), 1)
        without: Floats = np.log(1 - np.minimum(share, np.float32(0.9999)))
        return without


AGENT = SluffPlayer
