"""Slippery Slope: three players bid the exact number of tricks they will take, up hill or down.

The rules are those of the document "Slippery Slope", contributed by Brien Patterson and Vicki Jackson, in our own
words and with its open questions settled.

Rules
-----
R1. Three players, 30 cards: A 2 3 4 J Q K in clubs, diamonds, hearts and spades, a little and a big joker.  Ten cards
    each.  The deal passes to the left after each hand.
R2. Everybody bids 0 to 10 tricks, in secret.  Bids are chosen in seat order from the dealer's left, and no seat sees
    another's before the hand has been scored (``reveal_bids="after_scoring"``) or before all have bid
    (``"after_bidding"``).
R3. The dealer's left leads to the first trick, and the winner of a trick to the next.
R4. A joker may be led only by a seat that holds nothing but jokers.  A led joker sets no suit.
R5. A seat that holds the led suit must play it; any other seat plays what it likes, a joker too.
R6. A joker beats every suited card, and the big joker the little one.  Without a joker only cards of the led suit win.
R7. A number card led (2 3 4): the trick goes downhill, the lowest card of the suit wins, the ace below the 2.
R8. A face card led (J Q K): the trick goes uphill, the highest card of the suit wins, the ace above the king.
R9. An ace led loses to every other card of its suit.  The second card, of whatever suit, sets the direction: a number
    downhill, a face uphill; another ace or a joker sets none, and none is then needed.  The ace wins a trick with no
    other card of its suit and no joker.
R10. A seat that takes as many tricks as it bid scores that number; any other loses the difference.
R11. The match ends after the hand in which somebody reaches ``target_score``; the highest score wins, equal ones
    share.  It is cut off (truncated) after ``max_hands``.

Observation
-----------
``make_game("slippery_slope").observation.table()`` prints the layout.  Seats are relative: own seat first, then
clockwise.

Actions: Discrete(41)
---------------------
====== =======================================================================
number action
====== =======================================================================
0..10  ``bid 0`` … ``bid 10``
11..40 a card: 11 + 7 * suit + rank, suits C D H S, ranks A 2 3 4 J Q K; ``LJ`` 39, ``BJ`` 40
====== =======================================================================

Version history
---------------
0: first version.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..cards import BIT, Deck, bits_of, cards_in, deal_hands, random_subset
from ..chance import Purpose, UInt64, below, derive
from ..errors import UnknownName
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
from ..seats import Rows, all_from, from_seat, relative_lists, relative_to, row_starts
from ..tricks import Played, TrickTables
from ..worlds import count_deals

DECK = Deck(suits=("C", "D", "H", "S"), ranks=("A", "2", "3", "4", "J", "Q", "K"), extras=("LJ", "BJ"))
P = 3
HAND = 10  # cards a hand, and tricks
SUITS, RANKS = 4, 7
ACE, FOUR = 0, 3  # ranks
LITTLE = 28  # the little joker; the big one is next
BIDS = 11
A = BIDS + len(DECK)
MOVES = P + P * HAND  # actions a hand


# ------------------------------------------------------------------------------------------------------- the trick


class Direction(IntEnum):
    """Which way a trick goes (R7-R9)."""

    OPEN = 0  # nothing decides it yet: no card led, or an ace alone
    DOWN = 1
    UP = 2
    NONE = 3  # never needed: joker led, or ace then ace or joker


# Contexts of a trick: nothing led; then four for each direction, one a suit; then a joker led.
NOTHING_LED = 0
JOKER_LED = 17


def _context(direction: Direction, suit: int) -> int:
    return 1 + SUITS * direction + suit


def _direction(context: int) -> Direction:
    if context == NOTHING_LED:
        return Direction.OPEN
    return Direction.NONE if context == JOKER_LED else Direction((context - 1) // SUITS)


def _suit(context: int) -> int:
    return -1 if context in (NOTHING_LED, JOKER_LED) else (context - 1) % SUITS


def _turns(rank: int | None) -> Direction:
    """The direction that a card of some rank (None for a joker) gives a trick."""
    if rank is None or rank == ACE:
        return Direction.NONE
    return Direction.DOWN if rank <= FOUR else Direction.UP


def _strength(direction: Direction, suit: int, card: int) -> int:
    """How strong a card that follows is (R6-R9); a led ace has strength 1, so that every other card beats it."""
    if card >= LITTLE:
        return 20 + card - LITTLE
    if DECK.suit(card) != suit:
        return 0
    rank = card % RANKS
    if direction == Direction.DOWN:
        return 9 - rank  # A 9, 2 8, … K 3
    if direction == Direction.UP:
        return 9 if rank == ACE else 2 + rank  # 2 3, … K 8, A 9
    return 2  # R9: at most one more card of the suit can then come


def _play(context: int, action: int) -> Played | None:
    if action < BIDS:
        return None
    card = action - BIDS
    suit, rank = DECK.suit(card), DECK.rank(card)
    if context == NOTHING_LED:
        if suit is None:  # R4: only jokers were left
            return Played(JOKER_LED, 20 + card - LITTLE, void=0b1111)
        direction = Direction.OPEN if rank == ACE else _turns(rank)
        return Played(_context(direction, suit), 1 if rank == ACE else _strength(direction, suit, card))
    if context == JOKER_LED:
        return Played(context, 20 + card - LITTLE if suit is None else 0)
    led, direction = _suit(context), _direction(context)
    if direction == Direction.OPEN:
        direction = _turns(rank)
    void = 0 if suit == led else 1 << led
    return Played(_context(direction, led), _strength(direction, led, card), void)


_SUITED = bits_of(range(LITTLE))
TRICKS = TrickTables.build(
    num_actions=A,
    # R4 and R5 are one rule: who holds a card of this set must play one of it.
    must=[_SUITED] + [DECK.suit_bits(suit) for _ in Direction for suit in range(SUITS)] + [0],
    lead=[NOTHING_LED] * (JOKER_LED + 1),
    play=_play,
)
MUST = TRICKS.must.astype(np.uint32)
DIRECTION = np.array([_direction(context) for context in range(JOKER_LED + 1)], dtype=np.int8)
FOLLOW = np.array([_suit(context) for context in range(JOKER_LED + 1)], dtype=np.int8)

ACTIONS = tuple([f"bid {bid}" for bid in range(BIDS)] + list(DECK.names))
ACTION_NUMBERS = {name: number for number, name in enumerate(ACTIONS)}
# By actions taken in the hand: bidding, play, over (a hand that is played out stays only where the match has ended).
PHASE = np.array([0] * P + [1] * (MOVES - P) + [2], dtype=np.int8)
# By bid and tricks: what is still needed, plus ten; -1 without a bid (its index, -1, is the last row).
NEEDED = np.array([[bid - tricks + HAND for tricks in range(HAND + 1)] for bid in range(BIDS)] + [[-1] * BIDS], np.int8)

CARD_BIT = np.concatenate([np.zeros(BIDS, np.uint32), BIT[: len(DECK)].astype(np.uint32)])  # by action
BID_WORD = np.uint64((1 << BIDS) - 1)
SHIFT = np.uint64(BIDS)
NEXT_SEAT = np.array([1, 2, 0], dtype=np.int8)
KINDS = (*(DECK.suit_bits(suit) for suit in range(SUITS)), 0b11 << LITTLE)  # of cards, for what a seat cannot hold
TRICK_DONE = np.array([moves > P and moves % P == 0 for moves in range(MOVES + 1)])
# Cards that a seat with some shown voids cannot hold; void in all four suits means jokers only (R4).
CANNOT = np.array(
    [sum(DECK.suit_bits(suit) for suit in range(SUITS) if voids >> suit & 1) for voids in range(16)], dtype=np.uint64
)


# ------------------------------------------------------------------------------------------------- options, state


@dataclass(frozen=True, kw_only=True)
class SlipperySlopeRules(Rules):
    """Options of Slippery Slope."""

    game: ClassVar[str] = "slippery_slope"

    num_players: int = option(3, "seats", choices=(3,))
    target_score: int = option(20, "the match ends after the hand in which a seat reaches it", at_least=1)
    max_hands: int = option(100, "the match is truncated after so many hands", at_least=1)
    reveal_bids: str = option(
        "after_scoring", "when bids are shown to the others", choices=("after_scoring", "after_bidding")
    )
    first_dealer: int | None = option(
        None, "dealer of the first hand; None draws it from the seed", at_least=0, at_most=2, nullable=True
    )


@dataclass(slots=True, eq=False, kw_only=True)
class SlipperySlopeState(State):
    """B matches of Slippery Slope.  Bit sets of cards have bit ``card`` set; -1 stands for none."""

    dealer: NDArray[np.int8]  # [B]
    moves: NDArray[np.int8]  # [B] actions taken in the present hand: three bids, then thirty cards
    hands: NDArray[np.uint32]  # [B, P] cards held, bit sets
    seen: NDArray[np.uint32]  # [B, P] cards played in this hand by each seat, bit sets
    table: NDArray[np.uint32]  # [B, P] card of each seat in the present trick, bit sets
    bids: NDArray[np.int8]  # [B, P] bids of this hand, -1 before the seat has bid
    last_bids: NDArray[np.int8]  # [B, P] bids of the hand before until this bidding ends, -1 otherwise (R2)
    tricks: NDArray[np.int8]  # [B, P] tricks taken in this hand
    leader: NDArray[np.int8]  # [B] who leads or led the present trick
    context: NDArray[np.uint8]  # [B] context of the present trick (above)
    best: NDArray[np.uint8]  # [B] strength of the winning card so far, 0 before the first
    winner: NDArray[np.int8]  # [B] seat of the winning card so far, -1 before the first
    voids: NDArray[np.uint8]  # [B, P] suits each seat has shown to be void in, one bit a suit


def score_hand(bids: NDArray[Any], tricks: NDArray[Any]) -> NDArray[np.int32]:
    """Score of a hand from bids and tricks, of equal shape (R10)."""
    bids, tricks = bids.astype(np.int32), tricks.astype(np.int32)
    return np.where(bids == tricks, tricks, -np.abs(bids - tricks))


# ------------------------------------------------------------------------------------------------------- the game


class SlipperySlope(Game[SlipperySlopeState, SlipperySlopeRules]):
    """The rules of Slippery Slope; see the module for what they are."""

    name = "slippery_slope"
    title = "Slippery Slope"
    kind = "trick taking, exact bids"
    rules_type = SlipperySlopeRules

    num_players = P
    num_actions = A
    action_names = ACTIONS
    reward_range = (-10.0, 10.0)

    def __init__(self, rules: SlipperySlopeRules) -> None:
        super().__init__(rules)
        self._target = np.int64(min(rules.target_score, 2**40))  # beyond, no score is anywhere near it
        # A score moves by at most ten a hand, so this many bits hold it exactly.
        score_bits = min(1 + (HAND * rules.max_hands).bit_length(), 32)
        planes = [
            Plane("hand", "set", 30, about="own cards"),
            Plane("table", "set", 30, P, "card in the present trick, by seat"),
            Plane("seen", "set", 30, P, "cards played in this hand, by seat"),
            Plane("follow", "one_hot", SUITS, about="suit to follow"),
            Plane("direction", "one_hot", len(Direction), about="open, down, up, none"),
            Plane("voids", "set", SUITS, P, "suits shown to be void, by seat"),
            Plane("bids", "one_hot", BIDS, P, "bids of this hand: own, and others' where revealed"),
            Plane("last_bids", "one_hot", BIDS, P, "bids of the hand before, until this bidding ends"),
            Plane("needed", "one_hot", 2 * HAND + 1, about="own bid less own tricks, plus 10"),
            Plane("tricks", "thermometer", HAND, P, "tricks taken, by seat"),
            Plane("phase", "one_hot", 3, about="bidding, play, over"),
            Plane("to_move", "one_hot", P, about="seat to move"),
            Plane("dealer", "one_hot", P, about="dealer"),
            Plane("leader", "one_hot", P, about="leader of the present trick"),
            Plane("score_level", "thermometer", 20, P, "score from -target to target in twentieths, clipped"),
            Plane("scores", "integer", score_bits, P, "scores of the match"),
            Plane("hand_number", "integer", min(1 + rules.max_hands.bit_length(), 32), about="hands finished"),
        ]
        self.observation = Layout(planes)
        self.observation_all = Layout(
            [
                *planes,
                Plane("all_hands", "set", 30, P, "cards held, by seat"),
                Plane("all_bids", "one_hot", BIDS, P, "bids of this hand, by seat"),
            ]
        )

    # -- beginning -------------------------------------------------------------------------------------------------

    def _start(self, seeds: UInt64, scripts: NDArray[np.object_] | None) -> SlipperySlopeState:
        b = len(seeds)
        state = SlipperySlopeState(
            **common_fields(seeds, P, scripts),
            dealer=first_seats(seeds, P, self.rules.first_dealer),
            moves=np.zeros(b, np.int8),
            hands=np.zeros((b, P), np.uint32),
            seen=np.zeros((b, P), np.uint32),
            table=np.zeros((b, P), np.uint32),
            bids=np.full((b, P), -1, np.int8),
            last_bids=np.full((b, P), -1, np.int8),
            tricks=np.zeros((b, P), np.int8),
            leader=np.zeros(b, np.int8),
            context=np.full(b, NOTHING_LED, np.uint8),
            best=np.zeros(b, np.uint8),
            winner=np.full(b, -1, np.int8),
            voids=np.zeros((b, P), np.uint8),
        )
        self._deal(state, np.arange(b))
        return state

    def _deal(self, state: SlipperySlopeState, rows: Rows) -> None:
        """Begin a hand in some games, whose ``hand`` and ``dealer`` are set (R1, R3)."""
        hands = deal_hands(derive(state.seed[rows], Purpose.DEAL, state.hand[rows]), len(DECK), (HAND,) * P)
        for place, (dealer, scripted) in self._scripted(state, rows):
            self._take_dealer(state, int(rows[place]), dealer)
            hands[place] = scripted
        state.hands[rows] = hands
        state.moves[rows] = 0
        state.seen[rows] = 0
        state.bids[rows] = -1
        state.tricks[rows] = 0
        state.voids[rows] = 0
        first = NEXT_SEAT[state.dealer[rows]]
        state.leader[rows] = first
        state.seat[rows] = first

    def parse_deal(self, entry: Mapping[str, Any]) -> tuple[int, list[int]]:
        dealer, deal = parse_hand_object(entry, "dealer", P, ("hands",))
        return dealer, [bits_of(hand) for hand in DECK.parse_hands(deal["hands"], (HAND,) * P)]

    def deal_object(self, state: SlipperySlopeState, i: int) -> dict[str, Any]:
        hands = [DECK.names_of(int(held | played)) for held, played in zip(state.hands[i], state.seen[i], strict=True)]
        return {"dealer": int(state.dealer[i]), "deal": {"hands": hands}}

    # -- bids and cards --------------------------------------------------------------------------------------------

    def legal_words(self, state: SlipperySlopeState) -> UInt64:
        # A finished game (seat -1) has no cards and no bids to make, so seat 0 may stand in for it.
        at = row_starts(len(state), P) + np.maximum(state.seat, 0)
        hand = state.hands.reshape(-1)[at]
        bound = hand & MUST[state.context]
        cards = np.where(bound == 0, hand, bound).astype(np.uint64) << SHIFT
        return np.where(state.moves < P, BID_WORD, cards)[:, None]

    def _legal_of_one(self, state: SlipperySlopeState) -> int:
        if state.moves.item() < P:
            return int(BID_WORD)
        hand = state.hands.item(max(state.seat.item(), 0))
        return (hand & MUST.item(state.context.item()) or hand) << BIDS

    def _apply_to_one(self, state: SlipperySlopeState, action: int, rewards: NDArray[np.float32]) -> None:
        seat, moves = state.seat.item(), state.moves.item() + 1
        if action < BIDS:
            state.bids[0, seat] = action
            if moves == P:
                state.last_bids[0] = -1
        else:
            bit = 1 << action - BIDS
            state.hands[0, seat] = state.hands.item(seat) ^ bit
            state.seen[0, seat] = state.seen.item(seat) | bit
            state.table[0, seat] = bit
            TRICKS.play_one(state, seat, action)
        state.seat[0] = NEXT_SEAT.item(seat)
        state.move[0] += 1
        state.moves[0] = moves
        if TRICK_DONE.item(moves):
            TRICKS.finish_one(state)
            if moves == MOVES:
                self._end_hand(state, THE_ONE, rewards)

    def _apply(self, state: SlipperySlopeState, actions: NDArray[np.int64], rewards: NDArray[np.float32]) -> None:
        at = row_starts(len(state), P) + state.seat
        bit = CARD_BIT[actions]  # no bit for a bid
        state.hands.reshape(-1)[at] ^= bit
        state.seen.reshape(-1)[at] |= bit
        state.table.reshape(-1)[at] |= bit
        TRICKS.play(state, at, actions)
        state.seat = NEXT_SEAT[state.seat]
        state.move += 1
        state.moves += 1

        bidding = np.flatnonzero(actions < BIDS)
        if len(bidding):
            state.bids.reshape(-1)[at[bidding]] = actions[bidding]
            state.last_bids[bidding[state.moves[bidding] == P]] = -1
        done = np.flatnonzero(TRICK_DONE[state.moves])
        if len(done):
            self._end_trick(state, done, rewards)

    def _end_trick(self, state: SlipperySlopeState, rows: Rows, rewards: NDArray[np.float32]) -> None:
        TRICKS.finish(state, rows)
        over = rows[state.moves[rows] == MOVES]
        if len(over):
            self._end_hand(state, over, rewards)

    def _end_hand(self, state: SlipperySlopeState, rows: Rows, rewards: NDArray[np.float32]) -> None:
        """Score a hand, then begin the next or end the match (R10, R11)."""
        change = score_hand(state.bids[rows], state.tricks[rows])
        state.last_bids[rows] = state.bids[rows]
        on = self._finish_hand(state, rows, change, rewards)
        if len(on):
            state.dealer[on] = NEXT_SEAT[state.dealer[on]]
            self._deal(state, on)

    # -- what a seat knows -----------------------------------------------------------------------------------------

    def observe_all(self, state: SlipperySlopeState, seats: ArrayLike, out: Observation | None = None) -> Observation:
        seats = as_seats(seats, len(state), P)
        values = self._values(state, seats)
        rotated = all_from(seats, P)
        values["all_hands"] = state.hands.reshape(-1)[rotated]
        values["all_bids"] = state.bids.reshape(-1)[rotated]
        return self.observation_all.pack(len(state), values, out)

    def _values(self, state: SlipperySlopeState, seats: NDArray[np.int64]) -> dict[str, Any]:
        """What ``seats`` know, as :meth:`Layout.pack` takes it.  Tables stand for branches: they cost one look-up."""
        rotated = all_from(seats, P)
        relative = relative_to(seats, P)
        bids = state.bids.reshape(-1)[rotated]
        tricks = state.tricks.reshape(-1)[rotated]
        needed = NEEDED[bids[0], tricks[0]]
        hidden = state.moves < (P if self.rules.reveal_bids == "after_bidding" else MOVES)
        bids[1:] |= np.negative(hidden.view(np.int8))  # -1 has all bits
        scores = state.scores.reshape(-1)[rotated]
        return {
            "hand": state.hands.reshape(-1)[rotated[0]],
            "table": state.table.reshape(-1)[rotated],
            "seen": state.seen.reshape(-1)[rotated],
            "follow": FOLLOW[state.context],
            "direction": DIRECTION[state.context],
            "voids": state.voids.reshape(-1)[rotated],
            "bids": bids,
            "last_bids": state.last_bids.reshape(-1)[rotated],
            "needed": needed,
            "tricks": tricks,
            "phase": PHASE[state.moves],
            "to_move": relative(state.seat),
            "dealer": relative(state.dealer),
            "leader": relative(state.leader),
            "score_level": np.minimum(np.maximum((scores + self._target) * 10 // self._target, 0), 20),
            "scores": scores,
            "hand_number": state.hand,
        }

    def _values_of_one(self, state: SlipperySlopeState, seat: int) -> dict[str, int | list[int]]:
        """The same of the only game of a batch, in plain numbers."""
        context, moves = state.context.item(), state.moves.item()
        bids, tricks = from_seat(state.bids, seat), from_seat(state.tricks, seat)
        scores, target = from_seat(state.scores, seat), int(self._target)
        relative = relative_lists(P)[seat]
        needed = NEEDED.item(bids[0], tricks[0])
        if moves < (P if self.rules.reveal_bids == "after_bidding" else MOVES):
            bids[1:] = [-1] * (P - 1)
        return {
            "hand": state.hands.item(seat),
            "table": from_seat(state.table, seat),
            "seen": from_seat(state.seen, seat),
            "follow": FOLLOW.item(context),
            "direction": DIRECTION.item(context),
            "voids": from_seat(state.voids, seat),
            "bids": bids,
            "last_bids": from_seat(state.last_bids, seat),
            "needed": needed,
            "tricks": tricks,
            "phase": PHASE.item(moves),
            "to_move": relative[state.seat.item()],
            "dealer": relative[state.dealer.item()],
            "leader": relative[state.leader.item()],
            "score_level": [min(max((score + target) * 10 // target, 0), 20) for score in scores],
            "scores": scores,
            "hand_number": state.hand.item(),
        }

    def resample(
        self, state: SlipperySlopeState, seats: ArrayLike, keys: UInt64, bids: BidModel | None = None
    ) -> SlipperySlopeState:
        """Deal the two hidden hands and draw the hidden bids afresh.

        Exact: each card goes where only one seat can hold it, and the rest is split uniformly, so every deal that
        agrees with what play has shown is equally likely.  A hidden bid is then the one that ``bids`` makes on the
        hand dealt: it is given the world as it was when that seat was to bid (without the bids of others where those
        are hidden, too), and one key for each game.  Hands are not weighed by how well they fit the bids.

        Raises
        ------
        IllegalAction
            If ``bids`` gives what is no bid.
        """
        seats = as_seats(seats, len(state), P)
        world = state.copy()
        world.scripts = None
        world.seed = derive(keys, Purpose.WORLD, 0)
        rows = np.arange(len(state))
        left, right = (seats + 1) % P, (seats + 2) % P
        hidden = state.hands[rows, left].astype(np.uint64) | state.hands[rows, right]
        only_right = hidden & CANNOT[state.voids[rows, left]]
        only_left = hidden & CANNOT[state.voids[rows, right]] & ~only_right
        free = hidden & ~(only_left | only_right)
        wanted = np.bitwise_count(state.hands[rows, left]).astype(np.int64) - np.bitwise_count(only_left)
        chosen = only_left | random_subset(derive(keys, Purpose.WORLD, 1), free, wanted)
        world.hands[rows, left] = chosen
        world.hands[rows, right] = hidden & ~chosen
        if self.rules.reveal_bids == "after_bidding":
            secret = state.moves < P
        else:
            secret = state.seat >= 0
        for other in (left, right):
            self._resample_bids(world, rows[secret & (state.bids[rows, other] >= 0)], other, keys, bids)
        return world

    def count_worlds(self, state: SlipperySlopeState, seats: ArrayLike) -> list[int]:
        """How many deals of the hidden cards agree with what each of ``seats`` knows: one number a game."""
        return count_deals(*self._hidden(state, as_seats(seats, len(state), P)), KINDS)

    def _hidden(self, state: SlipperySlopeState, seats: NDArray[np.int64]) -> tuple[UInt64, NDArray[np.int64], UInt64]:
        """What ``seats`` do not see: the cards, how many each seat has of them, and which it cannot."""
        others = state.hands.astype(np.uint64)
        others[np.arange(len(state)), seats] = 0
        hidden = np.bitwise_or.reduce(others, axis=1)[:, None]
        return hidden, np.bitwise_count(others).astype(np.int64), CANNOT[state.voids]

    def _resample_bids(
        self, world: SlipperySlopeState, rows: Rows, seats: NDArray[np.int64], keys: UInt64, bids: BidModel | None
    ) -> None:
        """Draw the hidden bids of ``seats`` in some games afresh."""
        if not len(rows):
            return
        seats = seats[rows]
        fresh = derive(keys[rows], Purpose.WORLD, 2 + seats)
        if bids is None:
            world.bids[rows, seats] = below(fresh, BIDS)
            return
        asked = self._as_when_bidding(world.take(rows), seats)
        chosen = self._as_actions(asked, bids(asked, fresh))
        self._check(asked, chosen)
        world.bids[rows, seats] = chosen

    def _as_when_bidding(self, state: SlipperySlopeState, seats: NDArray[np.int64]) -> SlipperySlopeState:
        """Turn a state back to where ``seats`` were to bid; hidden bids of the others are left out."""
        rows = np.arange(len(state))
        first = NEXT_SEAT[state.dealer]
        state.hands |= state.seen
        for cleared in (state.seen, state.table, state.tricks, state.voids, state.best):
            cleared[...] = 0
        state.bids[...] = -1
        state.context[...] = NOTHING_LED
        state.winner[...] = -1
        state.leader[...] = first
        state.move -= state.moves
        state.moves[...] = (seats - first) % P
        state.move += state.moves
        state.seat[...] = seats
        for earlier in range(P - 1):  # who has bid is public, what is not: any bid stands for it
            bid = earlier < state.moves
            state.bids[rows[bid], (first[bid] + earlier) % P] = 0
        return state

    # -- names -----------------------------------------------------------------------------------------------------

    def action_name(self, state: SlipperySlopeState | None, i: int, action: int) -> str:
        self._known_action(action)
        return ACTIONS[action]

    def parse_action(self, state: SlipperySlopeState | None, i: int, text: str) -> int:
        try:
            return ACTION_NUMBERS[text]
        except (KeyError, TypeError):
            raise UnknownName("action", text, ACTIONS) from None

    def describe(self, state: SlipperySlopeState, i: int, seat: int | None = None) -> dict[str, Any]:
        over = bool(state.seat[i] < 0)
        bidding = not over and bool(state.moves[i] < P)
        shown_after = P if self.rules.reveal_bids == "after_bidding" else MOVES
        shown = seat is None or state.moves[i] >= shown_after
        context = int(state.context[i])
        return {
            "game": self.name,
            "hand_number": int(state.hand[i]) + (not over),
            "phase": "over" if over else "bidding" if bidding else "play",
            "to_move": None if over else int(state.seat[i]),
            "dealer": int(state.dealer[i]),
            "hands": {s: DECK.names_of(int(state.hands[i, s])) for s in range(P) if seat is None or s == seat},
            "bids": {s: int(state.bids[i, s]) for s in range(P) if state.bids[i, s] >= 0 and (shown or s == seat)},
            "last_bids": {s: int(state.last_bids[i, s]) for s in range(P) if state.last_bids[i, s] >= 0},
            "leader": int(state.leader[i]),
            "trick": {
                s: DECK.name(cards_in(int(state.table[i, s]))[0])
                for s in ((int(state.leader[i]) + k) % P for k in range(P))
                if state.table[i, s]
            },
            "follow": None if _suit(context) < 0 else DECK.suits[_suit(context)],
            "direction": _direction(context).name.lower(),
            "tricks": [int(n) for n in state.tricks[i]],
            "voids": {
                s: [DECK.suits[suit] for suit in range(SUITS) if state.voids[i, s] >> suit & 1] for s in range(P)
            },
            "played": {s: DECK.names_of(int(state.seen[i, s])) for s in range(P)},
            "scores": [int(n) for n in state.scores[i]],
        }


GAME = SlipperySlope
