"""Slippery Sam: bets against the banker's exposed card, on three cards that nobody has looked at.

The rules are those of "Slippery Sam" in "The Official World Encyclopedia of Sports and Games", in our own words and
with its open questions settled.

Rules
-----
R1. Two to nine players and 52 cards, ace high, suits all alike.  Everybody begins with ``starting_chips``; chips are
    whole numbers, and nobody goes into debt.  Every bank is dealt from a freshly shuffled deck.  (Ten players could
    need 55 cards.)
R2. The banker puts a stake in the bank: at least ``min_stake``, at most all his chips.
R3. Each other seat that has at least ``min_bet`` chips is dealt three cards, which stay face down.  Then a card is
    exposed for the banker.
R4. From the banker's left each seat with cards has a turn against the exposed card.  Having bet or passed, it leaves
    that card to the next seat.
R5. A bet is at least ``min_bet`` and at most what is in the bank and what the seat has.  If the bank holds less than
    ``min_bet``, the bet is the whole bank.
R6. The three cards are then turned.  A card of the exposed card's suit that is higher wins as much as was bet from
    the bank, and the seat shows the lowest card that wins; otherwise the bet goes into the bank, and all three cards
    are shown.
R7. Instead of betting a seat may redraw, up to three times in its turn: it pays the fee into the bank, the exposed
    card is put away face up, and the next card is exposed.  The fee is a fifth of the bank, rounded up, at the first
    redraw of the turn and the same at the later ones, or the number that ``fee`` gives.  It must be able to pay it.
R8. A seat may pass only after its third redraw, or when it cannot bet.
R9. The bank ends at once when it is empty, and otherwise after the last turn; what is in it goes to the banker.
R10. The bank passes to the left.  A seat with less than ``min_stake`` is passed over, and has had its chance.
R11. The match ends when every seat has had ``rounds`` chances to be banker, or when fewer than two seats hold
    ``min_bet``.  Most chips win, equal ones share.
R12. Rewards are the chips won or lost.  What is in the bank counts as the banker's, so they always sum to zero.

Observation
-----------
``make_game("slippery_sam").observation.table()`` prints the layout.  Seats are relative: own seat first, then
clockwise.  It is the same for two to nine players; the planes of absent seats are zero.  No seat ever sees its own
three cards before they are turned, so all seats know the same.

Actions: Discrete(L + 2) with L amounts
---------------------------------------
======== ==============================================================================================
number   action
======== ==============================================================================================
0..L-1   an amount: the banker's stake, or a bet; named ``stake 40``, ``bet 12``
L        ``redraw``
L+1      ``pass``
======== ==============================================================================================

With ``bet_levels`` as numbers from 0 to 1 there is an action for each: of the amounts allowed now, from the least
(0) to the most (1), that part of the way, rounded half up.  A level that gives the same amount as a lower one is not
legal.  With ``bet_levels="all"`` action k is the amount k, from 0 (never legal) to all the chips there are.

Version history
---------------
0: first version.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..cards import BIT, Deck, bits_of, cards_in
from ..chance import Purpose, UInt64, derive, draw, shuffle
from ..errors import DealError, RulesError, UnknownName
from ..features import Layout, Observation, Plane
from ..game import (
    THE_ONE,
    BidModel,
    Game,
    Rules,
    State,
    as_seats,
    common_fields,
    first_seats,
    option,
    parse_hand_object,
)
from ..seats import Rows, all_from, clockwise, from_seat, relative_lists, relative_seats, relative_to, row_starts

DECK = Deck(suits=("C", "D", "H", "S"), ranks=("2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K", "A"))
SIZE = len(DECK)
SUITS, RANKS = 4, 13
MAX_SEATS = 9
HAND = 3
REDRAWS = 3  # at most, in a turn
# Nine hands and, for eight turns, as many cards as can be exposed are just the whole deck (R1).
FIRST_EXPOSED = HAND * MAX_SEATS  # place in the deck
ONE, _63 = np.uint64(1), np.uint64(63)
LEVELS = 20  # bits of thermometers

HIGHER = np.array(
    [*(DECK.suit_bits(card // RANKS) >> card + 1 << card + 1 for card in range(SIZE)), 0], dtype=np.uint64
)  # cards that beat a card (R6); none for no card, which is last
CARD_BIT = np.array([*BIT[:SIZE], 0], dtype=np.uint64)  # by card; none for no card
SEAT_BIT = np.array([1 << place for place in range(MAX_SEATS)], dtype=np.uint16)
TRIES = 10_000  # for one world
ALL = slice(None)


# ------------------------------------------------------------------------------------------------- options, state

DECIMALS = 18  # of a bet level; every float of ordinary size has fewer
HALF_DECIMALS = 10**9  # such numbers are kept in two halves, so that products with chips fit 64 bits


def _fee(value: Any) -> Any:
    """'fifth' or a whole number of at least 0"""  # noqa: D400 -- the words of an error message
    if isinstance(value, str) and value == "fifth":
        return value
    if isinstance(value, bool | np.bool_):
        raise ValueError
    try:
        number = operator.index(value)
    except TypeError:
        raise ValueError from None
    if number < 0:
        raise ValueError
    return number


def _bet_levels(value: Any) -> Any:
    """'all' or rising numbers from 0 to 1 with at most 18 decimals"""  # noqa: D400 -- the words of an error message
    if isinstance(value, str) and value == "all":
        return value
    if not isinstance(value, list | tuple) or not value:
        raise ValueError
    levels = tuple(_level(level) for level in value)
    exact = [exact_level(level) for level in levels]
    if exact[0] < 0 or exact[-1] > 1 or any(low >= high for low, high in pairwise(exact)):
        raise ValueError
    return levels


def _level(value: Any) -> int | float:
    number = value.item() if isinstance(value, np.generic) else value
    if isinstance(number, bool) or not isinstance(number, int | float):
        raise ValueError
    if 10**DECIMALS % exact_level(number).denominator:
        raise ValueError
    return number


def exact_level(level: int | float) -> Fraction:
    """A bet level as the decimal that is written: 0.29 is 29/100, and not the binary fraction next to it."""
    return Fraction(str(level))


@dataclass(frozen=True, kw_only=True)
class SlipperySamRules(Rules):
    """Options of Slippery Sam."""

    game: ClassVar[str] = "slippery_sam"

    num_players: int = option(6, "seats", at_least=2, at_most=MAX_SEATS)
    starting_chips: int = option(100, "chips of each seat at the beginning", at_least=1, at_most=10**8)
    min_stake: int = option(10, "least stake of a banker", at_least=1)
    min_bet: int = option(1, "least bet", at_least=1)
    fee: int | str = option("fifth", "price of a redraw: a fifth of the bank, or so many chips", parse=_fee)
    rounds: int = option(1, "how often every seat has the chance to be banker", at_least=1)
    bet_levels: tuple[float, ...] | str = option(
        (0, 0.25, 0.5, 0.75, 1), "amounts that are offered, or all of them", parse=_bet_levels
    )
    first_dealer: int | None = option(
        None, "first banker; None draws it from the seed", at_least=0, at_most=MAX_SEATS - 1, nullable=True
    )

    def __post_init__(self) -> None:
        """Check the options, one by one and together."""
        players: Any = self.num_players
        if isinstance(players, int) and players > MAX_SEATS:
            others = players - 1
            raise RulesError(
                f"{self.game}: option num_players expected a whole number from 2 to {MAX_SEATS}, got {players}: three "
                f"cards for each of {others} seats, the first exposed card and three redraws each could need "
                f"{(HAND + REDRAWS) * others + 1} cards, and the deck has {SIZE}"
            )
        super().__post_init__()
        for name in ("min_stake", "min_bet"):
            least = getattr(self, name)
            if self.starting_chips < least:
                raise RulesError(
                    f"{self.game}: option starting_chips expected at least {name}, which is {least}, "
                    f"got {self.starting_chips}"
                )
        if self.first_dealer is not None and self.first_dealer >= self.num_players:
            raise RulesError(
                f"{self.game}: option first_dealer expected a seat from 0 to {self.num_players - 1} with "
                f"{self.num_players} players, or None, got {self.first_dealer!r}"
            )


# ------------------------------------------------------------------------------------------------------ amounts

TABLE = 10_000  # up to so many chips the amounts of every range are looked up


class Levels:
    """Which amounts the levels offer of a range of so many chips, least amount left out, in exact arithmetic."""

    def __init__(self, levels: tuple[int | float, ...], chips: int) -> None:
        """Take levels from 0 to 1, for ranges up to ``chips``."""
        scaled = [int(exact_level(level) * 10**DECIMALS) for level in levels]
        self._high, self._low = np.array([divmod(level, HALF_DECIMALS) for level in scaled], dtype=np.int64).T
        self._num_words = (len(levels) + 2 + 63) // 64
        self._table: tuple[NDArray[np.int64], UInt64] | None = None
        if chips < TABLE:
            self._table = self._offered(np.arange(chips + 1))

    def __len__(self) -> int:
        return len(self._high)

    def _offered(self, ranges: NDArray[Any]) -> tuple[NDArray[np.int64], UInt64]:
        """What every level gives, ``int64[N, L]``, and those that give more than the one before, bit sets.

        A level is ``high / 10**9 + low / 10**18``; the level times the range is rounded half up.
        """
        wide = ranges.astype(np.int64)[:, None]
        carry, rest = np.divmod(wide * self._low, HALF_DECIMALS)
        billionths = wide * self._high + carry  # and rest / 10**9 of one
        parts = (2 * billionths + HALF_DECIMALS + 2 * rest // HALF_DECIMALS) // (2 * HALF_DECIMALS)
        new = np.zeros((len(ranges), 64 * self._num_words), dtype=np.bool_)
        new[:, 0] = True
        new[:, 1 : len(self)] = parts[:, 1:] > parts[:, :-1]
        return parts, np.packbits(new, axis=1, bitorder="little").view("<u8").astype(np.uint64, copy=False)

    def words(self, ranges: NDArray[Any]) -> UInt64:
        """Levels that are offered, as bit sets, ``uint64[N, W]``."""
        if self._table is None:
            return self._offered(ranges)[1]
        return self._table[1].take(ranges, axis=0)

    def bits(self, chips: int) -> int:
        """Levels that are offered of one range, as one bit set."""
        words = self.words(np.array([chips]))[0] if self._table is None else self._table[1][chips]
        return sum(word << 64 * at for at, word in enumerate(words.tolist()))

    def part(self, chips: int, which: int) -> int:
        """What one level of one range gives."""
        parts = self._offered(np.array([chips]))[0][0] if self._table is None else self._table[0][chips]
        return int(parts.item(which))

    def parts(self, ranges: NDArray[Any], which: NDArray[np.int64]) -> NDArray[np.int64]:
        """What one level of each range gives, ``int64[N]``."""
        if self._table is None:
            return self._offered(ranges)[0][np.arange(len(ranges)), which]
        return self._table[0].reshape(-1).take(ranges * np.int64(len(self)) + which)


FIRST_BITS = np.array([(1 << count) - 1 for count in range(65)], dtype=np.uint64)


def _range_words(least: NDArray[Any], most: NDArray[Any], num_actions: int) -> UInt64:
    """Bit sets of the numbers from ``least`` to ``most``, none if there are none, ``uint64[N, W]``."""
    before = 64 * np.arange((num_actions + 63) // 64)
    upto = np.clip(np.maximum(most, least - 1)[:, None] + 1 - before, 0, 64)
    words: UInt64 = FIRST_BITS[upto] & ~FIRST_BITS[np.clip(least[:, None] - before, 0, 64)]
    return words


# ------------------------------------------------------------------------------------------------------- the state

WON, LOST, PASSED = range(3)
RESULTS = ("won", "lost", "passed")


@dataclass(slots=True, eq=False, kw_only=True)
class SlipperySamState(State):
    """B matches of Slippery Sam; a hand is a bank, the dealer is the banker.  -1 stands for none.

    ``scores`` are the chips, those in the bank being the banker's.  The banker is to move exactly when he is to stake.
    """

    dealer: NDArray[np.int8]  # [B] the banker
    chances: NDArray[np.int32]  # [B] chances to be banker that were taken or passed over before this bank
    bank: NDArray[np.int32]  # [B] chips in the bank, 0 before the stake
    deck: NDArray[np.int8]  # [B, 52] three cards for each of nine seats, then those to be exposed, in order
    hands: NDArray[np.uint64]  # [B, P] cards dealt, bit sets; 0 for the banker and seats that are not dealt in
    waiting: NDArray[np.uint16]  # [B] seats that have a turn yet to come, one bit a seat from the banker's left
    exposures: NDArray[np.int8]  # [B] cards exposed in this bank; the last of them is the exposed card
    redraws: NDArray[np.int8]  # [B] in the present turn
    fee: NDArray[np.int32]  # [B] paid at the first redraw of the present turn, -1 before it
    bets: NDArray[np.int32]  # [B, P] chips bet in this bank, 0 for no bet
    results: NDArray[np.int8]  # [B, P] of the turns in this bank: won, lost, passed
    shown: NDArray[np.uint64]  # [B, P] cards shown after a bet, bit sets
    against: NDArray[np.int8]  # [B, P] exposed card that was bet against
    discarded: NDArray[np.uint64]  # [B, P] exposed cards that each seat had put away, bit sets


class Deal(NamedTuple):
    """A scripted bank."""

    dealer: int
    hands: tuple[tuple[int, ...], ...]  # cards of each seat
    stock: tuple[int, ...]


# ------------------------------------------------------------------------------------------------------- the game


class SlipperySam(Game[SlipperySamState, SlipperySamRules]):
    """The rules of Slippery Sam; see the module for what they are."""

    name = "slippery_sam"
    title = "Slippery Sam"
    kind = "banking, blind bets"
    rules_type = SlipperySamRules
    zero_sum = True

    def __init__(self, rules: SlipperySamRules) -> None:
        super().__init__(rules)
        p = self.num_players = rules.num_players
        self._chips = p * rules.starting_chips  # all there are
        self.reward_range = (-1.0, 1.0) if rules.reward == "win" else (float(-self._chips), float(self._chips))
        self._clockwise = clockwise(p)
        self._from_left = np.roll(self._clockwise, -1, axis=1)  # seats from the banker's left on, the banker last
        self._relative = relative_seats(p)
        self._fee = None if rules.fee == "fifth" else np.int32(min(int(rules.fee), self._chips + 1))
        self._levels = None if isinstance(rules.bet_levels, str) else Levels(rules.bet_levels, self._chips)
        self._amounts = self._chips + 1 if self._levels is None else len(self._levels)  # actions that are amounts
        self.num_actions = self._amounts + 2
        planes = self._planes()
        self.observation = Layout(planes)
        self.observation_all = Layout(
            [
                *planes,
                Plane("all_hands", "set", SIZE, MAX_SEATS, "three cards face down, by seat", present=p),
                Plane("next_cards", "one_hot", SIZE, REDRAWS, "next cards that will be exposed, in order"),
            ]
        )

    def _planes(self) -> list[Plane]:
        p, rules = self.num_players, self.rules
        chip_bits = 1 + (MAX_SEATS * rules.starting_chips).bit_length()
        chance_bits = min(1 + (MAX_SEATS * rules.rounds).bit_length(), 32)

        def by_seat(name: str, kind: Any, bits: int, about: str) -> Plane:
            return Plane(name, kind, bits, MAX_SEATS, f"{about}, by seat", present=p)

        return [
            Plane("exposed_suit", "one_hot", SUITS, about="suit of the exposed card: clubs, diamonds, hearts, spades"),
            Plane("exposed_rank", "one_hot", RANKS, about="rank of the exposed card: 2 to ace"),
            Plane("seen", "set", SIZE, about="all cards seen in this bank, the exposed one included"),
            Plane("better", "thermometer", RANKS - 1, about="cards not seen that beat the exposed card"),
            Plane("unseen", "integer", 7, about="cards not seen"),
            by_seat("shown", "set", SIZE, "cards shown after a bet"),
            by_seat("discarded", "set", SIZE, "exposed cards that it had put away"),
            by_seat("results", "one_hot", len(RESULTS), "turns in this bank: won, lost, passed"),
            by_seat("bets", "integer", chip_bits, "chips bet in this bank"),
            by_seat("dealt_in", "set", 1, "whether it has cards in this bank"),
            by_seat("waiting", "set", 1, "whether it has a turn yet to come"),
            Plane("own_turn", "one_hot", MAX_SEATS, about="turns of others before the own one, if that is to come"),
            Plane("turns_left", "thermometer", MAX_SEATS - 1, about="turns to come after the present one"),
            Plane("banker", "one_hot", MAX_SEATS, about="the banker"),
            Plane("to_move", "one_hot", MAX_SEATS, about="seat to move"),
            Plane("phase", "one_hot", 3, about="stake, bet, over"),
            Plane("players", "one_hot", MAX_SEATS - 1, about="two to nine players"),
            Plane("redraws", "thermometer", REDRAWS, about="redraws in the present turn"),
            Plane("fee", "integer", chip_bits, about="what a redraw costs now, no more than all chips and one"),
            Plane("bank", "integer", chip_bits, about="chips in the bank"),
            Plane("bank_level", "thermometer", LEVELS, about="the same in tenths of the starting chips, clipped"),
            Plane("least", "integer", chip_bits, about="least amount allowed now; 0 if none is"),
            Plane("most", "integer", chip_bits, about="greatest amount allowed now; 0 if none is"),
            Plane("most_level", "thermometer", LEVELS, about="the same in tenths of the starting chips, clipped"),
            by_seat("chips", "integer", chip_bits, "chips, the bank left out"),
            by_seat("chips_level", "thermometer", LEVELS, "the same in tenths of the starting chips, clipped"),
            Plane("bankers_left", "integer", chance_bits, about="chances to be banker yet to come"),
            Plane("last_bankers", "thermometer", MAX_SEATS, about="the same, clipped"),
        ]

    # -- beginning -------------------------------------------------------------------------------------------------

    def _start(self, seeds: UInt64, scripts: NDArray[np.object_] | None) -> SlipperySamState:
        b, p = len(seeds), self.num_players
        state = SlipperySamState(
            **common_fields(seeds, p, scripts),
            dealer=first_seats(seeds, p, self.rules.first_dealer),
            chances=np.zeros(b, np.int32),
            bank=np.zeros(b, np.int32),
            deck=np.zeros((b, SIZE), np.int8),
            hands=np.zeros((b, p), np.uint64),
            waiting=np.zeros(b, np.uint16),
            exposures=np.zeros(b, np.int8),
            redraws=np.zeros(b, np.int8),
            fee=np.full(b, -1, np.int32),
            bets=np.zeros((b, p), np.int32),
            results=np.full((b, p), -1, np.int8),
            shown=np.zeros((b, p), np.uint64),
            against=np.full((b, p), -1, np.int8),
            discarded=np.zeros((b, p), np.uint64),
        )
        state.scores[:] = self.rules.starting_chips
        self._deal(state, np.arange(b))
        return state

    def _deal(self, state: SlipperySamState, rows: Rows) -> None:
        """Begin a bank in some games, whose ``hand`` and ``dealer`` are set (R3, R4)."""
        n, p = len(rows), self.num_players
        if len(state) == 1 and state.scripts is None:
            self._deal_to_one(state)
            return
        deck = shuffle(derive(state.seed[rows], Purpose.DEAL, state.hand[rows]), SIZE)
        scripted = self._scripted(state, rows)
        for place, deal in scripted:
            self._take_dealer(state, int(rows[place]), deal.dealer)
        dealer = state.dealer[rows]
        dealt_in = state.scores.take(rows, axis=0) >= self.rules.min_bet
        dealt_in[np.arange(n), dealer] = False
        for place, deal in scripted:
            deck[place] = self._scripted_deck(state, int(rows[place]), dealt_in[place], deal)
        hands = np.bitwise_or.reduce(BIT[deck[:, : HAND * p]].reshape(n, p, HAND), axis=2)
        from_left = self._from_left.take(dealer, axis=0) + row_starts(n, p)[:, None]
        state.waiting[rows] = dealt_in.reshape(-1)[from_left] @ SEAT_BIT[:p]
        state.deck[rows] = deck
        state.hands[rows] = np.where(dealt_in, hands, 0)
        state.seat[rows] = dealer
        self._clear(state, rows)

    def _deal_to_one(self, state: SlipperySamState) -> None:
        """The same in a batch of one, from its seed."""
        p, dealer, least = self.num_players, state.dealer.item(), self.rules.min_bet
        (deck,) = shuffle(derive(state.seed, Purpose.DEAL, state.hand), SIZE)
        hands, waiting = [0] * p, 0
        for seat, chips in enumerate(state.scores.tolist()[0]):
            if chips >= least and seat != dealer:
                hands[seat] = bits_of(deck[HAND * seat : HAND * seat + HAND].tolist())
                waiting |= 1 << (seat - dealer - 1) % p
        state.deck[0] = deck
        state.hands[0] = hands
        state.waiting[0] = waiting
        state.seat[0] = dealer
        self._clear(state, ALL)

    def _clear(self, state: SlipperySamState, rows: Rows | slice) -> None:
        """Forget the bank before."""
        for zero in (state.bank, state.exposures, state.bets, state.shown, state.discarded):
            zero[rows] = 0
        for none in (state.results, state.against):
            none[rows] = -1

    def _scripted_deck(
        self, state: SlipperySamState, row: int, dealt_in: NDArray[np.bool_], deal: Deal
    ) -> NDArray[np.int64]:
        """A scripted bank in the order of ``deck``: cards that cannot be exposed fill the places of empty hands."""
        wrong = [seat for seat, hand in enumerate(deal.hands) if bool(hand) != dealt_in[seat]]
        if wrong:
            expected = "three cards" if dealt_in[wrong[0]] else "no cards"
            raise DealError(
                f"hands: seat {wrong[0]} expected {expected}, got {len(deal.hands[wrong[0]])}",
                game=self.name,
                match=row + 1,
                hand=int(state.hand[row]) + 1,
            )
        exposed, rest = deal.stock[: SIZE - FIRST_EXPOSED], list(deal.stock[SIZE - FIRST_EXPOSED :])
        deck: list[int] = []
        for seat in range(MAX_SEATS):
            hand = deal.hands[seat] if seat < self.num_players else ()
            deck += hand or [rest.pop(0) for _ in range(HAND)]
        return np.array([*deck, *exposed], dtype=np.int64)

    def parse_deal(self, entry: Mapping[str, Any]) -> Deal:
        p = self.num_players
        dealer, deal = parse_hand_object(entry, "dealer", p, ("hands", "stock"))
        sizes = [HAND if hand else 0 for hand in deal["hands"]] if isinstance(deal["hands"], list | tuple) else []
        hands = DECK.parse_hands(deal["hands"], sizes if len(sizes) == p else [HAND] * p)
        stock = DECK.parse_cards(deal["stock"], SIZE - sum(sizes), "stock")
        DECK.check_copies([*(card for hand in hands for card in hand), *stock])
        return Deal(dealer, tuple(tuple(hand) for hand in hands), tuple(stock))

    def deal_object(self, state: SlipperySamState, i: int) -> dict[str, Any]:
        deck = [int(card) for card in state.deck[i]]
        hands = [deck[HAND * seat : HAND * seat + HAND] for seat in range(MAX_SEATS)]
        dealt_in = [seat < self.num_players and bool(state.hands[i, seat]) for seat in range(MAX_SEATS)]
        undealt = [card for seat, hand in enumerate(hands) if not dealt_in[seat] for card in hand]
        return {
            "dealer": int(state.dealer[i]),
            "deal": {
                "hands": [
                    [DECK.name(card) for card in hands[seat]] if dealt_in[seat] else []
                    for seat in range(self.num_players)
                ],
                "stock": [DECK.name(card) for card in [*deck[FIRST_EXPOSED:], *undealt]],
            },
        }

    # -- what may be done ------------------------------------------------------------------------------------------

    def _limits(
        self, state: SlipperySamState, rows: Rows | slice = ALL
    ) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
        """Chips of the seat to move, and the least and the most it may put in; the most is less if none (R2, R5)."""
        bank = state.bank[rows]
        seat = np.maximum(state.seat[rows], 0)  # for finished games any seat will do
        own = state.scores[rows].reshape(-1)[row_starts(len(bank), self.num_players) + seat]
        staking = state.seat[rows] == state.dealer[rows]
        least = np.where(staking, np.int32(self.rules.min_stake), np.minimum(bank, np.int32(self.rules.min_bet)))
        most = np.where(staking, own, np.minimum(bank, own))
        return own, least, most

    def _limits_of_one(self, state: SlipperySamState) -> tuple[int, int, int]:
        """The same of the only game of a batch."""
        bank, seat = state.bank.item(), state.seat.item()
        own = state.scores.item(max(seat, 0))
        if seat == state.dealer.item():
            return own, self.rules.min_stake, own
        return own, min(bank, self.rules.min_bet), min(bank, own)

    def _fee_of_one(self, state: SlipperySamState) -> int:
        """What a redraw costs the seat to move in the only game of a batch (R7)."""
        if self._fee is not None:
            return int(self._fee)
        fee: int = state.fee.item()
        return (state.bank.item() + 4) // 5 if fee < 0 else fee

    def _legal_of_one(self, state: SlipperySamState) -> int:
        seat = state.seat.item()
        if seat < 0:
            return 0
        own, least, most = self._limits_of_one(state)
        able, betting = least <= most, seat != state.dealer.item()
        bits, redraws = 0, state.redraws.item()
        if able:
            bits = (2 << most) - (1 << least) if self._levels is None else self._levels.bits(most - least)
        if betting and redraws < REDRAWS and own >= self._fee_of_one(state):
            bits |= 1 << self._amounts
        if betting and (redraws == REDRAWS or not able):
            bits |= 2 << self._amounts
        return bits

    def _fee_now(self, state: SlipperySamState) -> NDArray[np.int32]:
        """What a redraw costs the seat to move, ``int32[B]`` (R7)."""
        if self._fee is not None:
            return np.full(len(state), self._fee, np.int32)
        return np.where(state.fee < 0, (state.bank + 4) // 5, state.fee)

    def legal_words(self, state: SlipperySamState) -> UInt64:
        own, least, most = self._limits(state)
        betting = state.seat != state.dealer
        able = least <= most
        if self._levels is None:
            words = _range_words(least, most, self.num_actions)
        else:
            words = self._levels.words(np.maximum(most - least, 0))
            words[~able] = 0
        redraw = betting & (state.redraws < REDRAWS) & (own >= self._fee_now(state))
        passing = betting & ((state.redraws == REDRAWS) | ~able)
        for action, allowed in ((self._amounts, redraw), (self._amounts + 1, passing)):
            words[:, action // 64] |= allowed * BIT[action % 64]
        if state.seat.min(initial=0) < 0:
            words[state.seat < 0] = 0
        return words

    def _apply_to_one(self, state: SlipperySamState, action: int, rewards: NDArray[np.float32]) -> None:
        seat, dealer = state.seat.item(), state.dealer.item()
        state.move[0] += 1
        if action == self._amounts:
            self._redraw_one(state, seat, rewards)
            return
        if action > self._amounts:
            state.results[0, seat] = PASSED
        else:
            chips = action
            if self._levels is not None:
                _, least, most = self._limits_of_one(state)
                chips = least + self._levels.part(most - least, action)
            if seat == dealer:
                state.bank[0] = chips
                state.exposures[0] = 1
            else:
                self._bet_one(state, seat, chips, rewards)
        waiting = state.waiting.item()
        following = waiting & -waiting
        state.waiting[0] = waiting ^ following
        state.seat[0] = (dealer + following.bit_length()) % self.num_players
        state.redraws[0] = 0
        state.fee[0] = -1
        if waiting == 0 or state.bank.item() == 0:
            self._end_bank_of_one(state, rewards)

    def _redraw_one(self, state: SlipperySamState, seat: int, rewards: NDArray[np.float32]) -> None:
        """The same as :meth:`_redraw` in a batch of one."""
        fee = self._fee_of_one(state)
        state.fee[0] = fee
        state.redraws[0] += 1
        state.discarded[0, seat] = state.discarded.item(seat) | 1 << _exposed_of_one(state)
        state.exposures[0] += 1
        self._pay_one(state, seat, fee, rewards)

    def _bet_one(self, state: SlipperySamState, seat: int, chips: int, rewards: NDArray[np.float32]) -> None:
        """The same as :meth:`_bet` in a batch of one."""
        hand, exposed = state.hands.item(seat), _exposed_of_one(state)
        winning = hand & HIGHER.item(exposed)
        state.bets[0, seat] = chips
        state.results[0, seat] = WON if winning else LOST
        state.shown[0, seat] = winning & -winning if winning else hand
        state.against[0, seat] = exposed
        self._pay_one(state, seat, -chips if winning else chips, rewards)

    def _end_bank_of_one(self, state: SlipperySamState, rewards: NDArray[np.float32]) -> None:
        """The same as :meth:`_end_bank` in a batch of one."""
        rules, p, scores = self.rules, self.num_players, state.scores.tolist()[0]
        dealer, chances = (state.dealer.item() + 1) % p, state.chances.item() + 1
        while scores[dealer] < rules.min_stake:
            dealer, chances = (dealer + 1) % p, chances + 1
        state.hand[0] += 1
        able = sum(chips >= rules.min_bet for chips in scores)
        if rules.match == "hand" or chances >= rules.rounds * p or able < 2:
            state.seat[0] = -1
            state.terminated[0] = True
            state.waiting[0] = 0
            state.bank[0] = 0
            if rules.reward == "win":
                rewards[:] = self._win_rewards(state.scores)
            return
        state.chances[0] = chances
        state.dealer[0] = dealer
        self._deal(state, THE_ONE)

    def _pay_one(self, state: SlipperySamState, seat: int, chips: int, rewards: NDArray[np.float32]) -> None:
        """A seat pays chips into the bank of the only game of a batch, or takes them if negative (R12)."""
        banker = state.dealer.item()
        state.scores[0, seat] -= chips
        state.scores[0, banker] += chips
        state.bank[0] += chips
        if self.rules.reward == "score":
            rewards[0, seat] -= chips
            rewards[0, banker] += chips

    def _apply(self, state: SlipperySamState, actions: NDArray[np.int64], rewards: NDArray[np.float32]) -> None:
        state.move += 1
        staking = state.seat == state.dealer
        moved = actions < self._amounts
        amounts = self._amounts_of(state, actions)
        redraws = np.flatnonzero(actions == self._amounts)
        if len(redraws):
            self._redraw(state, redraws, rewards)
        bets = np.flatnonzero(moved & ~staking)
        if len(bets):
            self._bet(state, bets, amounts[bets], rewards)
        passes = np.flatnonzero(actions > self._amounts)
        if len(passes):
            state.results[passes, state.seat[passes]] = PASSED
        stakes = np.flatnonzero(staking)
        if len(stakes):
            state.bank[stakes] = amounts[stakes]
            state.exposures[stakes] = 1
        done = np.flatnonzero(actions != self._amounts)
        if len(done):
            self._end_turn(state, done, rewards)

    def _amounts_of(
        self, state: SlipperySamState, actions: NDArray[np.int64], rows: Rows | slice = ALL
    ) -> NDArray[np.int64]:
        """Chips that the actions mean in some games, ``int64[N]``; whatever where they are no amounts."""
        if self._levels is None:
            return actions
        _, least, most = self._limits(state, rows)
        return self.amounts_of(actions, least, most)

    def amounts_of(self, actions: NDArray[np.int64], least: NDArray[Any], most: NDArray[Any]) -> NDArray[np.int64]:
        """Chips that N actions mean where amounts from ``least`` to ``most`` are allowed: ``int64[N]``.

        Whatever where they are no amounts.
        """
        if self._levels is None:
            return actions
        return least + self._levels.parts(np.maximum(most - least, 0), np.minimum(actions, self._amounts - 1))

    def _pay_bank(self, state: SlipperySamState, rows: Rows, chips: NDArray[Any], rewards: NDArray[np.float32]) -> None:
        """The seats to move pay chips into the bank, or take them if negative (R12)."""
        payers = rows * self.num_players + state.seat[rows]
        bankers = rows * self.num_players + state.dealer[rows]
        state.scores.reshape(-1)[payers] -= chips
        state.scores.reshape(-1)[bankers] += chips
        state.bank[rows] += chips
        if self.rules.reward == "score":
            rewards.reshape(-1)[payers] -= chips
            rewards.reshape(-1)[bankers] += chips

    def _redraw(self, state: SlipperySamState, rows: Rows, rewards: NDArray[np.float32]) -> None:
        """Pay for another exposed card (R7)."""
        fee = self._fee_now(state)[rows]
        state.fee[rows] = fee
        state.redraws[rows] += 1
        state.discarded[rows, state.seat[rows]] |= BIT[_exposed(state, rows)]
        state.exposures[rows] += 1
        self._pay_bank(state, rows, fee, rewards)

    def _bet(
        self, state: SlipperySamState, rows: Rows, amounts: NDArray[np.int64], rewards: NDArray[np.float32]
    ) -> None:
        """Turn the cards and settle (R6)."""
        at = rows * self.num_players + state.seat[rows]
        hand = state.hands.reshape(-1)[at]
        exposed = _exposed(state, rows)
        winning = hand & HIGHER[exposed]
        won = winning > 0
        state.bets.reshape(-1)[at] = amounts
        state.results.reshape(-1)[at] = np.where(won, WON, LOST)
        state.shown.reshape(-1)[at] = np.where(won, _lowest(winning), hand)
        state.against.reshape(-1)[at] = exposed
        self._pay_bank(state, rows, np.where(won, -amounts, amounts).astype(np.int32), rewards)

    def _end_turn(self, state: SlipperySamState, rows: Rows, rewards: NDArray[np.float32]) -> None:
        """Go on to the next seat with cards, or end the bank (R4, R9)."""
        state.redraws[rows] = 0
        state.fee[rows] = -1
        waiting = state.waiting[rows]
        over = (waiting == 0) | (state.bank[rows] == 0)
        following = _lowest(waiting)
        state.waiting[rows] = waiting ^ following
        nth = np.bitwise_count(following - np.uint16(1))
        state.seat[rows] = (state.dealer[rows] + 1 + nth) % self.num_players
        ended = rows[over]
        if len(ended):
            self._end_bank(state, ended, rewards)

    def _end_bank(self, state: SlipperySamState, rows: Rows, rewards: NDArray[np.float32]) -> None:
        """Pass the bank on, or end the match (R9 to R11)."""
        rules = self.rules
        scores = state.scores.take(rows, axis=0)
        from_left = self._from_left.take(state.dealer[rows], axis=0)
        can_stake = np.take_along_axis(scores, from_left, axis=1) >= rules.min_stake
        passed_over = can_stake.argmax(axis=1)  # somebody can: all chips together are enough for every seat's stake
        chances = state.chances[rows] + 1 + passed_over
        over = (chances >= rules.rounds * self.num_players) | ((scores >= rules.min_bet).sum(axis=1) < 2)
        if rules.match == "hand":
            over[:] = True
        state.hand[rows] += 1
        ended, on = rows[over], ~over
        if len(ended):
            state.seat[ended] = -1
            state.terminated[ended] = True
            state.waiting[ended] = 0
            state.bank[ended] = 0
            if rules.reward == "win":
                rewards[ended] = self._win_rewards(state.scores[ended])
        if on.any():
            rows = rows[on]
            state.chances[rows] = chances[on]
            state.dealer[rows] = from_left[on, passed_over[on]]
            self._deal(state, rows)

    # -- what a seat knows -----------------------------------------------------------------------------------------

    def observe_all(self, state: SlipperySamState, seats: ArrayLike, out: Observation | None = None) -> Observation:
        seats = as_seats(seats, len(state), self.num_players)
        values = self._values(state, seats)
        values["all_hands"] = state.hands.take(all_from(seats, self.num_players))
        place = FIRST_EXPOSED + state.exposures + np.arange(REDRAWS)[:, None]
        cards = state.deck.reshape(-1)[np.minimum(place, SIZE - 1) + row_starts(len(state), SIZE)]
        values["next_cards"] = np.where(place < SIZE, cards, -1)
        return self.observation_all.pack(len(state), values, out)

    def _values(self, state: SlipperySamState, seats: NDArray[np.int64]) -> dict[str, Any]:
        b, p, start = len(state), self.num_players, self.rules.starting_chips
        rotated = all_from(seats, p)
        relative = relative_to(seats, p)
        over = state.seat < 0
        exposed = _exposed(state, np.arange(b))
        shown, discarded = state.shown.take(rotated), state.discarded.take(rotated)
        seen = np.bitwise_or.reduce(shown | discarded, axis=0) | CARD_BIT[exposed]
        # Places from the banker's left; the banker's own is the last, and never waits.
        place = self._clockwise.take(self._relative[state.dealer, seats] - 1, axis=1, mode="wrap")
        turns = state.waiting.astype(np.int64)
        waiting = turns >> place & 1
        before = np.bitwise_count(turns & ((1 << place[0]) - 1)).astype(np.int64) + (state.seat != state.dealer)
        own_turn = np.where(waiting[0] > 0, before, -1)
        own_turn[(state.seat == seats) & (state.seat != state.dealer)] = 0
        _, least, most = self._limits(state)
        able = (least <= most) & ~over
        most = np.where(able, most, 0)
        chips = state.scores.copy()
        chips.reshape(-1)[row_starts(b, p) + state.dealer] -= state.bank
        chips = chips.take(rotated)
        bankers_left = np.where(over, 0, min(self.rules.rounds * p, 2**31 - 1) - 1 - state.chances)
        return {
            "exposed_suit": np.where(exposed < 0, -1, exposed // RANKS),
            "exposed_rank": np.where(exposed < 0, -1, exposed % RANKS),
            "seen": seen,
            "better": np.bitwise_count(HIGHER[exposed] & ~seen),
            "unseen": SIZE - np.bitwise_count(seen).astype(np.int64),
            "shown": shown,
            "discarded": discarded,
            "results": state.results.take(rotated),
            "bets": state.bets.take(rotated),
            "dealt_in": state.hands.take(rotated) != 0,
            "waiting": waiting,
            "own_turn": own_turn,
            "turns_left": np.bitwise_count(state.waiting),
            "banker": relative(state.dealer),
            "to_move": relative(state.seat),
            "phase": np.where(over, 2, state.seat != state.dealer),
            "players": np.full(b, p - 2),
            "redraws": state.redraws,
            "fee": np.where(over | (state.seat == state.dealer), 0, self._fee_now(state)),
            "bank": state.bank,
            "bank_level": np.minimum(state.bank * np.int64(10) // start, LEVELS),
            "least": np.where(able, least, 0),
            "most": most,
            "most_level": np.minimum(most * np.int64(10) // start, LEVELS),
            "chips": chips,
            "chips_level": np.minimum(chips * np.int64(10) // start, LEVELS),
            "bankers_left": bankers_left,
            "last_bankers": np.minimum(bankers_left, MAX_SEATS),
        }

    def _values_of_one(self, state: SlipperySamState, seat: int) -> dict[str, int | list[int]]:
        """The same of the only game of a batch, in plain numbers."""
        p, start = self.num_players, self.rules.starting_chips
        mover, banker, turns, bank = (field.item() for field in (state.seat, state.dealer, state.waiting, state.bank))
        over, staking = mover < 0, mover == banker
        exposed = _exposed_of_one(state)
        shown, discarded = from_seat(state.shown, seat), from_seat(state.discarded, seat)
        seen = CARD_BIT.item(exposed)
        for cards in (*shown, *discarded):
            seen |= cards
        first = (seat - banker - 1) % p  # own place from the banker's left; the banker's is the last, and never waits
        waiting = [turns >> (first + place) % p & 1 for place in range(p)]
        own_turn = (turns & (1 << first) - 1).bit_count() + (not staking) if waiting[0] else -1
        if mover == seat and not staking:
            own_turn = 0
        _, least, most = self._limits_of_one(state)
        if over or least > most:
            least = most = 0
        chips = from_seat(state.scores, seat)
        chips[(banker - seat) % p] -= bank
        bankers_left = 0 if over else min(self.rules.rounds * p, 2**31 - 1) - 1 - state.chances.item()
        relative = relative_lists(p)[seat]
        return {
            "exposed_suit": -1 if exposed < 0 else exposed // RANKS,
            "exposed_rank": -1 if exposed < 0 else exposed % RANKS,
            "seen": seen,
            "better": (HIGHER.item(exposed) & ~seen).bit_count(),
            "unseen": SIZE - seen.bit_count(),
            "shown": shown,
            "discarded": discarded,
            "results": from_seat(state.results, seat),
            "bets": from_seat(state.bets, seat),
            "dealt_in": [int(hand != 0) for hand in from_seat(state.hands, seat)],
            "waiting": waiting,
            "own_turn": own_turn,
            "turns_left": turns.bit_count(),
            "banker": relative[banker],
            "to_move": relative[mover],
            "phase": 2 if over else int(not staking),
            "players": p - 2,
            "redraws": state.redraws.item(),
            "fee": 0 if over or staking else self._fee_of_one(state),
            "bank": bank,
            "bank_level": min(bank * 10 // start, LEVELS),
            "least": least,
            "most": most,
            "most_level": min(most * 10 // start, LEVELS),
            "chips": chips,
            "chips_level": [min(number * 10 // start, LEVELS) for number in chips],
            "bankers_left": bankers_left,
            "last_bankers": min(bankers_left, MAX_SEATS),
        }

    def resample(
        self, state: SlipperySamState, seats: ArrayLike, keys: UInt64, bids: BidModel | None = None
    ) -> SlipperySamState:
        """Deal all cards afresh that have not been seen: the same for every seat, since none sees its own.

        Exact: a winner has shown its lowest card that wins, so its other two are none between that and the card bet
        against; deals in which one is are drawn again.

        Raises
        ------
        RuntimeError
            If no such deal has come up in 10,000 tries.
        """
        b, p = len(state), self.num_players
        as_seats(seats, b, p)
        world = state.copy()
        world.scripts = None
        world.seed = derive(keys, Purpose.WORLD, 0)
        exposed = _exposed(state, np.arange(b))
        seen = np.bitwise_or.reduce(state.shown | state.discarded, axis=1) | CARD_BIT[exposed]
        known = self._known_places(world)
        won = state.results == WON
        banned = np.where(won, HIGHER[state.against] & (state.shown - np.where(won, ONE, 0).astype(np.uint64)), 0)
        rows = np.arange(b)
        for number in range(TRIES):
            order = draw(derive(keys[rows], Purpose.WORLD, 1, number), SIZE) & ~_63
            order |= np.arange(SIZE, dtype=np.uint64)
            order[seen[rows, None] & BIT[:SIZE] != 0] = np.uint64(2**64 - 1)  # sorted to the end
            order.sort(axis=1)
            places = known[rows]
            nth = np.cumsum(~places, axis=1) - 1
            unseen = (np.take_along_axis(order, np.maximum(nth, 0), axis=1) & _63).astype(np.int8)
            deck = np.where(places, world.deck[rows], unseen)
            hands = np.bitwise_or.reduce(BIT[deck[:, : HAND * p]].reshape(-1, p, HAND), axis=2)
            world.deck[rows] = deck
            world.hands[rows] = np.where(state.hands[rows] == 0, 0, hands)
            rows = rows[(world.hands[rows] & banned[rows]).any(axis=1)]
            if not len(rows):
                return world
        raise RuntimeError(f"{self.name}, game {rows[0]}: no world that agrees with what was shown in {TRIES} tries")

    def _known_places(self, world: SlipperySamState) -> NDArray[np.bool_]:
        """Which places of ``world.deck`` hold cards that all have seen, ``bool[B, 52]``.

        Cards that a seat has shown are moved to the front of its three.
        """
        known = np.zeros(world.deck.shape, dtype=np.bool_)
        known[:, FIRST_EXPOSED:] = np.arange(SIZE - FIRST_EXPOSED) < world.exposures[:, None]
        left = world.shown.copy()
        for nth in range(HAND):
            card = _lowest(left)
            here = np.s_[:, nth : HAND * self.num_players : HAND]
            known[here] = card != 0
            world.deck[here] = np.where(card != 0, np.bitwise_count(card - ONE), world.deck[here])
            left ^= card
        return known

    # -- names -----------------------------------------------------------------------------------------------------

    def action_name(self, state: SlipperySamState, i: int, action: int) -> str:
        self._known_action(action)
        if action >= self._amounts:
            return "redraw" if action == self._amounts else "pass"
        amount = self._amounts_of(state, np.array([action]), np.array([i]))[0]
        return f"{self._verb(state, i)} {amount}"

    def _verb(self, state: SlipperySamState, i: int) -> str:
        return "stake" if state.seat[i] == state.dealer[i] else "bet"

    def parse_action(self, state: SlipperySamState, i: int, text: str) -> int:
        if text == "redraw":
            return self._amounts
        if text == "pass":
            return self._amounts + 1
        found = AMOUNT.fullmatch(str(text))
        if found and found[1] == self._verb(state, i):
            number = self._action_for(state, i, int(found[2]))
            if number is not None:
                return number
        raise UnknownName("action", text, self.legal_names(state, i))

    def _action_for(self, state: SlipperySamState, i: int, amount: int) -> int | None:
        """The action that is this amount in game ``i``; None if it is not offered."""
        if self._levels is None:
            return amount if amount <= self._chips else None
        _, least, most = self._limits(state, np.array([i]))
        actions = np.arange(self._amounts)
        same = np.flatnonzero(self._amounts_of(state, actions, np.full(self._amounts, i)) == amount)
        return int(same[0]) if len(same) and least[0] <= most[0] else None

    def describe(self, state: SlipperySamState, i: int, seat: int | None = None) -> dict[str, Any]:
        """Game ``i`` in plain named values.  What a seat may know is the same for all seats."""
        p = self.num_players
        over, staking = bool(state.seat[i] < 0), bool(state.seat[i] == state.dealer[i])
        banker = int(state.dealer[i])
        chips = [int(n) for n in state.scores[i]]
        chips[banker] -= int(state.bank[i])
        exposed = [int(card) for card in state.deck[i, FIRST_EXPOSED:][: state.exposures[i]]]
        by = [next((s for s in range(p) if int(state.discarded[i, s]) >> card & 1), None) for card in exposed]
        told = {
            "game": self.name,
            "bank_number": int(state.hand[i]) + (not over),
            "phase": "over" if over else "stake" if staking else "bet",
            "to_move": None if over else int(state.seat[i]),
            "banker": banker,
            "chips": chips,
            "bank": int(state.bank[i]),
            "exposed": DECK.name(exposed[-1]) if exposed else None,
            "discards": [(s, DECK.name(card)) for s, card in zip(by, exposed, strict=True) if s is not None],
            "dealt_in": [bool(hand) for hand in state.hands[i]],
            "waiting": [int(self._from_left[banker, place]) for place in cards_in(int(state.waiting[i]))],
            "redraws": int(state.redraws[i]),
            "fee": None if over or staking else self._fee_in_words(state, i),
            "bets": {s: int(state.bets[i, s]) for s in range(p) if state.bets[i, s]},
            "results": {s: RESULTS[state.results[i, s]] for s in range(p) if state.results[i, s] >= 0},
            "shown": [DECK.names_of(int(cards)) for cards in state.shown[i]],
            "scores": [int(n) for n in state.scores[i]],
        }
        if seat is None:
            told["hands"] = {s: DECK.names_of(int(state.hands[i, s])) for s in range(p)}
        return told

    def _fee_in_words(self, state: SlipperySamState, i: int) -> int:
        return int(self._fee_now(state)[i]) if self.rules.fee == "fifth" else int(self.rules.fee)


AMOUNT = re.compile(r"(stake|bet) (0|[1-9][0-9]*)", flags=re.ASCII)


def _lowest(words: NDArray[Any]) -> NDArray[Any]:
    """The lowest bit of each word, alone."""
    lowest: NDArray[Any] = words & (~words + words.dtype.type(1))
    return lowest


def _exposed(state: SlipperySamState, rows: Rows) -> NDArray[np.int8]:
    """The exposed card in some games, -1 before the stake."""
    exposures = state.exposures[rows]
    cards = state.deck.reshape(-1)[SIZE * rows + (FIRST_EXPOSED - 1) + exposures]
    return np.where(exposures > 0, cards, np.int8(-1))


def _exposed_of_one(state: SlipperySamState) -> int:
    """The exposed card in the only game of a batch, -1 before the stake."""
    exposures = state.exposures.item()
    return int(state.deck.item(FIRST_EXPOSED - 1 + exposures)) if exposures else -1


GAME = SlipperySam
