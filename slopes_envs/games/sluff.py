"""Sluff: two teams bid tricks for the team, or each player for itself to take none at all.

The rules are those of the document "Rules of Sluff" (Sluff Scorecard), in our own words and with its open questions
settled.

Rules
-----
R1. Four, six, eight or ten players in two teams that sit alternately: the seats of even number against those of odd
    number.
R2. Two Rook decks without the birds: colours red, black, green and yellow, numbers 1 to 14, two of each card.  Four
    players leave out all 2 to 8, and one ``R9`` becomes an ``R2``; six leave out all 2 to 5, but add one ``R2``,
    ``Y5``, ``G5`` and ``B5``; eight play with all cards; ten leave out one ``R5`` and one ``G5``.  The whole deck is
    dealt: 14 cards each, 11 with ten players.
R3. Seat 0 deals first (``first_dealer``), and the deal passes to the left after each hand.
R4. From the dealer's left on, everybody bids in turn and openly: a number of tricks from 1 to the number of cards, or
    Sluff, the promise to take none.  With ``allow_zero_bid`` zero may also be bid without that promise.
R5. The first seat that holds an ``R2``, from the dealer's left on and the dealer last, leads it to the first trick.
    So everybody knows that the seats passed over hold none.  The winner of a trick leads to the next, any card.
R6. A seat that holds the led colour must play it; any other seat plays what it likes.
R7. Cards rank 1 (high), 14, 13 and so on down to 2.  Black is trump: the highest black card wins, without one the
    highest card of the led colour, and of two identical cards the one played first.
R8. A team bids the sum of its numbers, and takes the tricks of all its members, sluffers included.  If it takes fewer
    than it bid, it scores 0.
R9. Otherwise it scores 10 for each trick bid, 1 for each trick beyond, 50 for each sluffer without a trick and -50 for
    each sluffer with one.  A team of sluffers alone has bid 0, which it always makes.
R10. A hand scores for every member what it scores for the team.
R11. The match ends when everybody has dealt once; the higher score wins, equal ones share.

Observation
-----------
``make_game("sluff").observation.table()`` prints the layout.  Seats are relative: own seat first, then clockwise, so
that seats of even relative number are one's own team.  It is the same for all numbers of players; the planes of absent
seats are zero.

Actions: Discrete(71), or Discrete(72) with ``allow_zero_bid``
--------------------------------------------------------------
====== =================================================================================================
number action
====== =================================================================================================
0      ``sluff``
1..14  ``bid 1`` … ``bid 14``; those above the number of cards are never legal
15..70 a card: 15 + 14 * colour + number - 1, colours R B G Y; the two copies of a card are one action
71     ``bid 0``, with ``allow_zero_bid``
====== =================================================================================================

Version history
---------------
0: first version.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..cards import BIT, Deck, bits_of, cards_in, deal_from
from ..chance import Purpose, UInt64, below, derive
from ..errors import RulesError, UnknownName
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
from ..tricks import Played, TrickTables
from ..worlds import count_deals, deal_within

DECK = Deck(suits=("R", "B", "G", "Y"), ranks=tuple(str(number) for number in range(1, 15)), rank_first=False)
COLOURS, NUMBERS = 4, 14
BLACK = 1
CARDS = len(DECK)
PLAYERS = (4, 6, 8, 10)
MAX_SEATS = 10
MAX_HAND = 14  # most cards of a seat, and tricks
SLUFF = 0
ZERO_BID = CARDS + MAX_HAND + 1  # the action ``bid 0``
BID_ZERO = 15  # the bid of zero among the bids of a state; the others are numbered as the actions
BIDS = 15  # without the bid of zero
OPENING_CARD = DECK.parse("R2")
MADE, EXTRA, SLUFFED = 10, 1, 50  # scores for a trick bid, a trick beyond the bid, a sluff (R9)


def _copies(players: int) -> tuple[int, ...]:
    """How often each card is in the deck (R2)."""
    lowest = {4: 9, 6: 6, 8: 2, 10: 2}[players]
    copies = dict.fromkeys(DECK.names, 2)
    for name in DECK.names:
        if 1 < int(name[1:]) < lowest:
            copies[name] = 0
    changed: dict[int, dict[str, int]] = {
        4: {"R9": 1, "R2": 1},
        6: {"R2": 1, "Y5": 1, "G5": 1, "B5": 1},
        8: {},
        10: {"R5": 1, "G5": 1},
    }
    copies.update(changed[players])
    return tuple(copies.values())


COPIES = {players: _copies(players) for players in PLAYERS}


# ------------------------------------------------------------------------------------------------------- the trick

# Contexts of a trick: nothing led; then one for each colour led; then the opening lead, still to come (R5).
NOTHING_LED = 0
OPENING = 1 + COLOURS


def _strength(led: int, card: int) -> int:
    """How strong a card is in a trick (R7)."""
    colour, place = divmod(card, NUMBERS)
    height = place or NUMBERS  # the 1 above the 14
    if colour == BLACK:
        return NUMBERS + height
    return height if colour == led else 0


def _play(context: int, action: int) -> Played | None:
    card = action - BIDS
    if not 0 <= card < CARDS:
        return None
    colour = card // NUMBERS
    if context in (NOTHING_LED, OPENING):
        return Played(1 + colour, _strength(colour, card))
    led = context - 1
    return Played(context, _strength(led, card), void=0 if colour == led else 1 << led)


TRICKS = TrickTables.build(
    num_actions=ZERO_BID + 1,
    must=[0, *(DECK.suit_bits(colour) for colour in range(COLOURS)), 1 << OPENING_CARD],
    lead=[NOTHING_LED] * (OPENING + 1),
    play=_play,
)
FOLLOW = np.array([-1, *range(COLOURS), -1], dtype=np.int8)  # by context

ACTIONS = ("sluff", *(f"bid {number}" for number in range(1, BIDS)), *DECK.names, "bid 0")
CARD_BIT = np.concatenate([np.zeros(BIDS, np.uint64), BIT[:CARDS], np.zeros(1, np.uint64)])  # by action
ON_TABLE = np.array([0] * BIDS + list(range(1, CARDS + 1)) + [0], dtype=np.int8)  # by action: card + 1, 0 for a bid
# Colour and number of a card on the table (card + 1) as a set of 4 + 14.
COLOUR_AND_NUMBER = np.array(
    [0, *(1 << card // NUMBERS | 1 << COLOURS + card % NUMBERS for card in range(CARDS))], dtype=np.uint64
)
# The actions are two words: the bids and the first 49 cards; the other cards and the bid of zero.
SHIFT, IN_FIRST = np.uint64(BIDS), np.uint64(64 - BIDS)
ZERO_BID_WORD = np.uint64(1 << (ZERO_BID - 64))
TRICKS_BID = np.array([0, *range(1, BIDS), 0, 0], dtype=np.int8)  # by bid; the last, for no bid (-1), too
CANNOT = np.array([DECK.suits_bits(voids) for voids in range(1 << COLOURS)], dtype=np.uint64)  # by voids
OPENING_BIT = BIT[OPENING_CARD]
# Kinds of cards that what is known of a hand (voids; no opening card) does not tell apart.
KINDS = (
    1 << OPENING_CARD,
    DECK.suit_bits(0) & ~(1 << OPENING_CARD),
    *(DECK.suit_bits(colour) for colour in range(1, COLOURS)),
)


# ------------------------------------------------------------------------------------------------- options, state


@dataclass(frozen=True, kw_only=True)
class SluffRules(Rules):
    """Options of Sluff."""

    game: ClassVar[str] = "sluff"

    num_players: int = option(4, "seats", choices=PLAYERS)
    allow_zero_bid: bool = option(False, "whether zero may be bid without the promise of Sluff", choices=(False, True))
    first_dealer: int | None = option(
        0, "dealer of the first hand; None draws it from the seed", at_least=0, at_most=9, nullable=True
    )

    def __post_init__(self) -> None:
        """Check the options, one by one and together."""
        super().__post_init__()
        if self.first_dealer is not None and self.first_dealer >= self.num_players:
            raise RulesError(
                f"{self.game}: option first_dealer expected a seat from 0 to {self.num_players - 1} with "
                f"{self.num_players} players, or None, got {self.first_dealer!r}"
            )


@dataclass(slots=True, eq=False, kw_only=True)
class SluffState(State):
    """B matches of Sluff.  Bit sets have bit ``card`` set, of the card types; -1 stands for none.

    There are two of most cards, so a seat's cards are two sets: those it has at least once, and those it has twice.
    """

    dealer: NDArray[np.int8]  # [B]
    moves: NDArray[np.int8]  # [B] actions taken in the present hand: a bid each, then all cards
    hands: NDArray[np.uint64]  # [B, P] cards held at least once
    doubles: NDArray[np.uint64]  # [B, P] cards held twice
    seen: NDArray[np.uint64]  # [B, P] cards played in this hand by each seat at least once
    seen_twice: NDArray[np.uint64]  # [B, P] cards played in this hand by each seat twice
    gone: NDArray[np.uint64]  # [B] cards played in this hand at least once, by whomever
    gone_twice: NDArray[np.uint64]  # [B] cards played in this hand twice, by whomever
    table: NDArray[np.int8]  # [B, P] card of each seat in the present trick plus 1, 0 for none
    bids: NDArray[np.int8]  # [B, P] 0 for sluff, 1 … 14, 15 for a bid of zero, -1 before the seat has bid
    tricks: NDArray[np.int8]  # [B, P] tricks taken in this hand
    opener: NDArray[np.int8]  # [B] who leads or led to the first trick; seats before it held no R2 (R5); -1 in bidding
    leader: NDArray[np.int8]  # [B] who leads or led the present trick, -1 in bidding
    context: NDArray[np.uint8]  # [B] context of the present trick (above)
    best: NDArray[np.uint8]  # [B] strength of the winning card so far, 0 before the first
    winner: NDArray[np.int8]  # [B] seat of the winning card so far, -1 before the first
    voids: NDArray[np.uint8]  # [B, P] colours each seat has shown to be void in, one bit a colour


def score_hand(bids: NDArray[np.int8], tricks: NDArray[np.int8]) -> NDArray[np.int32]:
    """Score of a hand, ``int32[N, P]``, from the bids (as in a state) and tricks of each seat (R8 to R10)."""
    n, p = bids.shape
    scores = np.empty((n, p), dtype=np.int32)
    for team in (0, 1):
        members = slice(team, None, 2)
        bid = TRICKS_BID[bids[:, members]].sum(axis=1, dtype=np.int32)
        over = tricks[:, members].sum(axis=1, dtype=np.int32) - bid
        sluff, without = bids[:, members] == SLUFF, tricks[:, members] == 0
        kept = np.where(without, 1, -1) * sluff
        made = MADE * bid + EXTRA * over + SLUFFED * kept.sum(axis=1, dtype=np.int32)
        scores[:, members] = np.where(over < 0, 0, made)[:, None]
    return scores


# ------------------------------------------------------------------------------------------------------- the game


class Sluff(Game[SluffState, SluffRules]):
    """The rules of Sluff; see the module for what they are."""

    name = "sluff"
    title = "Sluff"
    kind = "trick taking in teams, bids and promises of no trick"
    rules_type = SluffRules

    def __init__(self, rules: SluffRules) -> None:
        super().__init__(rules)
        p = self.num_players = rules.num_players
        self.hand_size = sum(COPIES[p]) // p
        self.num_actions = ZERO_BID + rules.allow_zero_bid
        self.action_names = ACTIONS[: self.num_actions]
        self.num_hands = p if rules.match == "game" else 1
        members = p // 2
        if rules.reward == "win":
            self.reward_range = (-1.0, 1.0)
        else:
            self.reward_range = (
                -float(SLUFFED * members),
                float(MADE * self.hand_size + SLUFFED * (members - 1)),
            )
        self._moves_a_hand = p + p * self.hand_size
        self._trick_done = np.array([moves > p and moves % p == 0 for moves in range(self._moves_a_hand + 1)])
        self._bid_words = np.uint64((1 << (1 + self.hand_size)) - 1), ZERO_BID_WORD * np.uint64(rules.allow_zero_bid)
        self._deck = np.array(
            [
                (1 << card, 0) if copy == 0 else (0, 1 << card)
                for card in range(CARDS)
                for copy in range(COPIES[p][card])
            ],
            dtype=np.uint64,
        )
        self._clockwise = clockwise(p)
        self._relative = relative_seats(p)
        self._next_seat = self._clockwise[:, 1].astype(np.int8)
        planes = self._planes()
        self.observation = Layout(planes)
        self.observation_all = Layout(
            [
                *planes,
                Plane("all_hands", "set", CARDS, MAX_SEATS, "cards held at least once, by seat", present=p),
                Plane("all_doubles", "set", CARDS, MAX_SEATS, "cards held twice, by seat", present=p),
            ]
        )

    @property
    def teams(self) -> tuple[tuple[int, ...], ...]:
        """Seats of each side: the even and the odd ones (R1)."""
        return tuple(range(0, self.num_players, 2)), tuple(range(1, self.num_players, 2))

    def _planes(self) -> list[Plane]:
        bids = BIDS + self.rules.allow_zero_bid

        def by_seat(name: str, kind: Any, bits: int, about: str) -> Plane:
            return Plane(name, kind, bits, MAX_SEATS, about, present=self.num_players)

        def by_team(name: str, kind: Any, bits: int, about: str) -> Plane:
            return Plane(name, kind, bits, 2, about + ", own team and the other")

        return [
            Plane("hand", "set", CARDS, 2, "own cards: held at least once, held twice"),
            by_seat("table", "set", COLOURS + NUMBERS, "colour and number of the card in the present trick, by seat"),
            # A card that is gone twice and was played by one seat alone was played by it twice.
            by_seat("seen", "set", CARDS, "cards played in this hand at least once, by seat"),
            Plane("gone", "set", CARDS, 2, "cards played in this hand by all: at least once, twice"),
            Plane("follow", "one_hot", COLOURS, about="colour to follow"),
            Plane("winning", "one_hot", MAX_SEATS, about="seat that wins the present trick so far"),
            by_seat("voids", "set", COLOURS, "colours shown to be void, by seat"),
            by_seat("bids", "one_hot", bids, "bids of this hand, by seat: sluff, 1 to 14"),
            by_seat("sluff_intact", "set", 1, "seats that have bid sluff and taken no trick"),
            Plane(
                "right_voids", "set", COLOURS, about="colours shown to be void by the right neighbour, who plays last"
            ),
            Plane("right_bid", "one_hot", bids, about="bid of the right neighbour"),
            Plane("right_intact", "set", 1, about="whether the right neighbour has bid sluff and taken no trick"),
            by_seat("tricks", "thermometer", MAX_HAND, "tricks taken, by seat"),
            by_team("team_bid", "integer", 8, "tricks bid so far"),
            by_team("team_bid_level", "thermometer", MAX_HAND, "tricks bid so far, clipped"),
            by_team("team_tricks", "thermometer", MAX_HAND, "tricks taken"),
            by_team("team_needs", "integer", 8, "tricks bid less tricks taken"),
            by_team("team_needs_level", "thermometer", MAX_HAND, "tricks still needed, clipped"),
            by_team("team_over", "thermometer", MAX_HAND, "tricks beyond the bid"),
            Plane("tricks_left", "thermometer", MAX_HAND, about="tricks of this hand that nobody has yet"),
            Plane("players", "one_hot", len(PLAYERS), about="four, six, eight or ten players"),
            Plane("phase", "one_hot", 3, about="bidding, play, over"),
            Plane("to_move", "one_hot", MAX_SEATS, about="seat to move"),
            Plane("dealer", "one_hot", MAX_SEATS, about="dealer"),
            Plane("opener", "one_hot", MAX_SEATS, about="leader of the first trick; seats before it held no R2"),
            Plane("leader", "one_hot", MAX_SEATS, about="leader of the present trick"),
            by_team("team_score_level", "thermometer", 20, "score from -200 to 1800 in hundreds, clipped"),
            Plane(
                "lead_level",
                "thermometer",
                20,
                about="score less the other team's, from -500 to 500 in fifties, clipped",
            ),
            # A hand scores at most 10 * 14 + 50 * 4 for a team and at least -50 * 5, and there are at most ten.
            by_team("team_scores", "integer", 13, "scores of the match"),
            Plane("hand_number", "thermometer", MAX_SEATS, about="hands finished"),
            Plane("hands_left", "thermometer", MAX_SEATS, about="hands not finished"),
        ]

    # -- beginning -------------------------------------------------------------------------------------------------

    def _start(self, seeds: UInt64, scripts: NDArray[np.object_] | None) -> SluffState:
        b, p = len(seeds), self.num_players
        state = SluffState(
            **common_fields(seeds, p, scripts),
            dealer=first_seats(seeds, p, self.rules.first_dealer),
            moves=np.zeros(b, np.int8),
            hands=np.zeros((b, p), np.uint64),
            doubles=np.zeros((b, p), np.uint64),
            seen=np.zeros((b, p), np.uint64),
            seen_twice=np.zeros((b, p), np.uint64),
            gone=np.zeros(b, np.uint64),
            gone_twice=np.zeros(b, np.uint64),
            table=np.zeros((b, p), np.int8),
            bids=np.full((b, p), -1, np.int8),
            tricks=np.zeros((b, p), np.int8),
            opener=np.full(b, -1, np.int8),
            leader=np.full(b, -1, np.int8),
            context=np.full(b, NOTHING_LED, np.uint8),
            best=np.zeros(b, np.uint8),
            winner=np.full(b, -1, np.int8),
            voids=np.zeros((b, p), np.uint8),
        )
        self._deal(state, np.arange(b))
        return state

    def _deal(self, state: SluffState, rows: Rows) -> None:
        """Begin a hand in some games, whose ``hand`` and ``dealer`` are set (R2 to R4)."""
        keys = derive(state.seed[rows], Purpose.DEAL, state.hand[rows])
        dealt = deal_from(keys, self._deck, (self.hand_size,) * self.num_players)
        for place, (dealer, scripted) in self._scripted(state, rows):
            self._take_dealer(state, int(rows[place]), dealer)
            dealt[place] = scripted
        state.hands[rows] = dealt[:, :, 0] | dealt[:, :, 1]
        state.doubles[rows] = dealt[:, :, 0] & dealt[:, :, 1]
        self._forget(state, rows)
        state.seat[rows] = self._next_seat[state.dealer[rows]]

    def _forget(self, state: SluffState, rows: Rows | slice) -> None:
        """Forget all that was bid and played before the present trick."""
        for cleared in (
            state.moves,
            state.seen,
            state.seen_twice,
            state.gone,
            state.gone_twice,
            state.tricks,
            state.voids,
        ):
            cleared[rows] = 0
        state.bids[rows] = -1
        state.opener[rows] = -1
        state.leader[rows] = -1

    def parse_deal(self, entry: Mapping[str, Any]) -> tuple[int, list[tuple[int, int]]]:
        p = self.num_players
        dealer, deal = parse_hand_object(entry, "dealer", p, ("hands",))
        hands = DECK.parse_hands(deal["hands"], (self.hand_size,) * p, COPIES[p])
        return dealer, [(bits_of(hand), bits_of(card for card in hand if hand.count(card) == 2)) for hand in hands]

    def deal_object(self, state: SluffState, i: int) -> dict[str, Any]:
        hands = []
        for seat in range(self.num_players):
            held, played = int(state.hands[i, seat]), int(state.seen[i, seat])
            twice = int(state.doubles[i, seat]) | int(state.seen_twice[i, seat]) | held & played
            hands.append(_names(held | played, twice))
        return {"dealer": int(state.dealer[i]), "deal": {"hands": hands}}

    # -- bids and cards --------------------------------------------------------------------------------------------

    def legal_words(self, state: SluffState) -> UInt64:
        # A finished game (seat -1) has no cards and no bids to make, so seat 0 may stand in for it.
        at = row_starts(len(state), self.num_players) + np.maximum(state.seat, 0)
        hand = state.hands.reshape(-1)[at]
        bound = hand & TRICKS.must[state.context]
        cards = np.where(bound == 0, hand, bound)
        bidding = state.moves < self.num_players
        first, second = self._bid_words
        words = np.empty((len(state), 2), dtype=np.uint64)
        words[:, 0] = np.where(bidding, first, cards << SHIFT)
        words[:, 1] = np.where(bidding, second, cards >> IN_FIRST)
        return words

    def _legal_of_one(self, state: SluffState) -> int:
        if state.moves.item() < self.num_players:
            first, second = self._bid_words
            return int(first) | int(second) << 64
        hand = state.hands.item(max(state.seat.item(), 0))
        return (hand & TRICKS.must.item(state.context.item()) or hand) << BIDS

    def _apply_to_one(self, state: SluffState, action: int, rewards: NDArray[np.float32]) -> None:
        seat, moves = state.seat.item(), state.moves.item() + 1
        if moves <= self.num_players:
            state.bids[0, seat] = min(action, BID_ZERO)
        else:
            bit = 1 << action - BIDS
            left = state.doubles if state.doubles.item(seat) & bit else state.hands
            left[0, seat] = left.item(seat) ^ bit
            for once, twice, place in ((state.seen[0], state.seen_twice[0], seat), (state.gone, state.gone_twice, 0)):
                before = once.item(place)
                twice[place] = twice.item(place) | before & bit
                once[place] = before | bit
            state.table[0, seat] = ON_TABLE.item(action)
            TRICKS.play_one(state, seat, action)
        state.seat[0] = self._next_seat.item(seat)
        state.move[0] += 1
        state.moves[0] = moves
        if moves == self.num_players:
            self._open(state, THE_ONE)
        if self._trick_done.item(moves):
            TRICKS.finish_one(state)
            if moves == self._moves_a_hand:
                self._end_hand(state, THE_ONE, rewards)

    def _apply(self, state: SluffState, actions: NDArray[np.int64], rewards: NDArray[np.float32]) -> None:
        at = row_starts(len(state), self.num_players) + state.seat
        bit = CARD_BIT[actions]  # no bit for a bid
        _remove(state.hands.reshape(-1), state.doubles.reshape(-1), at, bit)
        _add(state.seen.reshape(-1), state.seen_twice.reshape(-1), at, bit)
        state.gone_twice |= state.gone & bit
        state.gone |= bit
        state.table.reshape(-1)[at] = ON_TABLE[actions]
        TRICKS.play(state, at, actions)
        state.seat = self._next_seat[state.seat]
        state.move += 1
        state.moves += 1

        bidding = np.flatnonzero(bit == 0)
        if len(bidding):
            state.bids.reshape(-1)[at[bidding]] = np.minimum(actions[bidding], BID_ZERO)
            ended = bidding[state.moves[bidding] == self.num_players]
            if len(ended):
                self._open(state, ended)
        done = np.flatnonzero(self._trick_done[state.moves])
        if len(done):
            self._end_trick(state, done, rewards)

    def _open(self, state: SluffState, rows: Rows) -> None:
        """Find who leads to the first trick (R5)."""
        in_turn = self._clockwise[self._next_seat[state.dealer[rows]]]
        holds = (state.hands[rows[:, None], in_turn] & OPENING_BIT) != 0
        opener = in_turn[np.arange(len(rows)), holds.argmax(axis=1)]
        state.opener[rows] = opener
        state.leader[rows] = opener
        state.seat[rows] = opener
        state.context[rows] = OPENING

    def _end_trick(self, state: SluffState, rows: Rows, rewards: NDArray[np.float32]) -> None:
        TRICKS.finish(state, rows)
        over = rows[state.moves[rows] == self._moves_a_hand]
        if len(over):
            self._end_hand(state, over, rewards)

    def _end_hand(self, state: SluffState, rows: Rows, rewards: NDArray[np.float32]) -> None:
        """Score a hand, then begin the next or end the match (R8 to R11)."""
        change = score_hand(state.bids[rows], state.tricks[rows])
        on = self._finish_hand(state, rows, change, rewards)
        if len(on):
            state.dealer[on] = self._next_seat[state.dealer[on]]
            self._deal(state, on)

    def _match_over(self, state: SluffState, rows: Rows) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """R11: every seat has dealt; there is no limit."""
        return state.hand[rows] >= self.num_players, np.zeros(len(rows), np.bool_)

    # -- what a seat knows -----------------------------------------------------------------------------------------

    def observe_all(self, state: SluffState, seats: ArrayLike, out: Observation | None = None) -> Observation:
        seats = as_seats(seats, len(state), self.num_players)
        values = self._values(state, seats)
        rotated = all_from(seats, self.num_players)
        values["all_hands"] = state.hands.reshape(-1)[rotated]
        values["all_doubles"] = state.doubles.reshape(-1)[rotated]
        return self.observation_all.pack(len(state), values, out)

    def _values(self, state: SluffState, seats: NDArray[np.int64]) -> dict[str, Any]:
        b, p = len(state), self.num_players
        rotated = all_from(seats, p)
        own = rotated[0]
        bids, tricks = state.bids.reshape(-1)[rotated], state.tricks.reshape(-1)[rotated]
        intact = (bids == SLUFF) & (tricks == 0)
        team_bid, team_tricks = _by_team(TRICKS_BID[bids]), _by_team(tricks)
        team_needs = team_bid - team_tricks
        voids = state.voids.reshape(-1)[rotated]
        over = state.seat < 0
        scores = state.scores.reshape(-1)[rotated[:2]]
        relative = relative_to(seats, p)
        return {
            "hand": np.stack([state.hands.reshape(-1)[own], state.doubles.reshape(-1)[own]]),
            "table": COLOUR_AND_NUMBER[state.table.reshape(-1)[rotated]],
            "seen": state.seen.reshape(-1)[rotated],
            "gone": np.stack([state.gone, state.gone_twice]),
            "follow": FOLLOW[state.context],
            "winning": relative(state.winner),
            "voids": voids,
            "bids": bids,
            "sluff_intact": intact,
            "right_voids": voids[p - 1],
            "right_bid": bids[p - 1],
            "right_intact": intact[p - 1],
            "tricks": tricks,
            "team_bid": team_bid,
            "team_bid_level": np.minimum(team_bid, MAX_HAND),
            "team_tricks": team_tricks,
            "team_needs": team_needs,
            "team_needs_level": np.clip(team_needs, 0, MAX_HAND),
            "team_over": np.maximum(-team_needs, 0),
            "tricks_left": self.hand_size - team_tricks.sum(axis=0),
            "players": np.full(b, PLAYERS.index(p)),
            "phase": np.where(over, 2, state.moves >= p),
            "to_move": relative(state.seat),
            "dealer": relative(state.dealer),
            "opener": relative(state.opener),
            "leader": relative(state.leader),
            "team_score_level": np.clip((scores + 200) // 100, 0, 20),
            "lead_level": np.clip((scores[0] - scores[1] + 500) // 50, 0, 20),
            "team_scores": scores,
            "hand_number": state.hand,
            "hands_left": self.num_hands - state.hand,
        }

    def _values_of_one(self, state: SluffState, seat: int) -> dict[str, int | list[int]]:
        """The same of the only game of a batch, in plain numbers."""
        p = self.num_players
        bids, tricks, voids = (from_seat(field, seat) for field in (state.bids, state.tricks, state.voids))
        intact = [int(bid == SLUFF and not taken) for bid, taken in zip(bids, tricks, strict=True)]
        team_bid = [sum(TRICKS_BID.item(bid) for bid in bids[team::2]) for team in (0, 1)]
        team_tricks = [sum(tricks[team::2]) for team in (0, 1)]
        team_needs = [team_bid[team] - team_tricks[team] for team in (0, 1)]
        over = state.seat.item() < 0
        scores = from_seat(state.scores, seat)[:2]
        relative = relative_lists(p)[seat]
        hand_number = state.hand.item()
        return {
            "hand": [state.hands.item(seat), state.doubles.item(seat)],
            "table": [COLOUR_AND_NUMBER.item(card) for card in from_seat(state.table, seat)],
            "seen": from_seat(state.seen, seat),
            "gone": [state.gone.item(), state.gone_twice.item()],
            "follow": FOLLOW.item(state.context.item()),
            "winning": relative[state.winner.item()],
            "voids": voids,
            "bids": bids,
            "sluff_intact": intact,
            "right_voids": voids[-1],
            "right_bid": bids[-1],
            "right_intact": intact[-1],
            "tricks": tricks,
            "team_bid": team_bid,
            "team_bid_level": [min(bid, MAX_HAND) for bid in team_bid],
            "team_tricks": team_tricks,
            "team_needs": team_needs,
            "team_needs_level": [min(max(needs, 0), MAX_HAND) for needs in team_needs],
            "team_over": [max(-needs, 0) for needs in team_needs],
            "tricks_left": self.hand_size - sum(tricks),
            "players": PLAYERS.index(p),
            "phase": 2 if over else int(state.moves.item() >= p),
            "to_move": relative[state.seat.item()],
            "dealer": relative[state.dealer.item()],
            "opener": relative[state.opener.item()],
            "leader": relative[state.leader.item()],
            "team_score_level": [min(max((score + 200) // 100, 0), 20) for score in scores],
            "lead_level": min(max((scores[0] - scores[1] + 500) // 50, 0), 20),
            "team_scores": scores,
            "hand_number": hand_number,
            "hands_left": self.num_hands - hand_number,
        }

    def resample(self, state: SluffState, seats: ArrayLike, keys: UInt64, bids: BidModel | None = None) -> SluffState:
        """Deal the hidden cards among the other seats.

        No seat gets a card of a colour in which it has shown to be void, and none before the opener an ``R2``; an
        opener still to lead holds one (R5).  Exact: every deal that agrees with that is equally likely, the two copies
        of a card being two cards.
        """
        b, p = len(state), self.num_players
        rows, seats = np.arange(b), as_seats(seats, b, p)
        world = state.copy()
        world.scripts = None
        world.seed = derive(keys, Purpose.WORLD, 0)
        hidden, sizes, cannot = self._hidden(state, seats)
        to_lead = rows[(state.context == OPENING) & (state.opener != seats)]
        opening = _deal_opening_cards(
            derive(keys[to_lead], Purpose.WORLD, 2), to_lead, state.opener[to_lead], hidden, sizes, cannot
        )
        dealt = deal_within(derive(keys, Purpose.WORLD, 1), hidden, sizes, cannot, KINDS)
        dealt[to_lead] |= opening
        world.hands = dealt[:, :, 0] | dealt[:, :, 1]
        world.doubles = dealt[:, :, 0] & dealt[:, :, 1]
        world.hands[rows, seats] = state.hands[rows, seats]
        world.doubles[rows, seats] = state.doubles[rows, seats]
        return world

    def before_bids(self, state: SluffState, seats: ArrayLike) -> SluffState:
        """The present hands as they stood when each of ``seats`` was to bid, which it has done since.

        A copy: every seat with the cards it was dealt, and the bids of those before it in turn.

        Raises
        ------
        ValueError
            For a seat that has not bid yet.
        """
        b, p = len(state), self.num_players
        rows, seats = np.arange(b), as_seats(seats, b, p)
        if b and state.bids[rows, seats].min() < 0:
            row = int(state.bids[rows, seats].argmin())
            raise ValueError(f"{self.name}: expected seats that have bid, got seat {seats[row]} in game {row}")
        turns = self._relative[self._next_seat[state.dealer], :-1]  # [B, P] whose turn it is first, second …
        turn = turns[rows, seats]
        past = state.copy()
        past.doubles |= past.seen_twice | past.hands & past.seen
        past.hands |= past.seen
        past.move += turn - past.moves
        self._forget(past, slice(None))
        past.bids[:] = np.where(turns < turn[:, None], state.bids, -1)
        past.moves[:] = turn
        past.seat[:] = seats
        past.context[:] = NOTHING_LED
        past.table[:] = past.best[:] = 0
        past.winner[:] = -1
        return past

    def count_worlds(self, state: SluffState, seats: ArrayLike) -> list[int]:
        """How many deals of the hidden cards agree with what each of ``seats`` knows: one number a game."""
        seats = as_seats(seats, len(state), self.num_players)
        hidden, sizes, cannot = self._hidden(state, seats)
        to_lead = np.flatnonzero((state.context == OPENING) & (state.opener != seats))
        all_deals = np.array(count_deals(hidden, sizes, cannot, KINDS), dtype=object)
        cannot[to_lead, state.opener[to_lead]] |= OPENING_BIT
        all_deals[to_lead] -= count_deals(hidden[to_lead], sizes[to_lead], cannot[to_lead], KINDS)
        return [int(deals) for deals in all_deals]

    def _hidden(self, state: SluffState, seats: NDArray[np.int64]) -> tuple[UInt64, NDArray[np.int64], UInt64]:
        """What ``seats`` do not see: the cards, how many each seat has of them, and which it cannot."""
        rows = np.arange(len(state))
        others, others_twice = state.hands.copy(), state.doubles.copy()
        others[rows, seats] = others_twice[rows, seats] = 0
        hidden = np.zeros((len(state), 2), dtype=np.uint64)
        for seat in range(self.num_players):
            hidden[:, 1] |= others_twice[:, seat] | hidden[:, 0] & others[:, seat]
            hidden[:, 0] |= others[:, seat]
        sizes = np.bitwise_count(others).astype(np.int64) + np.bitwise_count(others_twice)
        return hidden, sizes, CANNOT[state.voids] | np.where(self._before_opener(state), OPENING_BIT, np.uint64(0))

    def _before_opener(self, state: SluffState) -> NDArray[np.bool_]:
        """Seats that were passed over when the opener was sought, ``bool[B, P]``: they held no ``R2`` (R5)."""
        first = self._next_seat[state.dealer]
        turn = self._relative[first, state.opener]  # -1 while there is no opener
        return self._relative[first, :-1] < turn[:, None]

    # -- names -----------------------------------------------------------------------------------------------------

    def action_name(self, state: SluffState, i: int, action: int) -> str:
        self._known_action(action)
        return ACTIONS[action]

    def parse_action(self, state: SluffState, i: int, text: str) -> int:
        try:
            return ACTIONS[: self.num_actions].index(text)
        except ValueError:
            raise UnknownName("action", text, ACTIONS[: self.num_actions]) from None

    def describe(self, state: SluffState, i: int, seat: int | None = None) -> dict[str, Any]:
        p = self.num_players
        over = bool(state.seat[i] < 0)
        bidding = not over and bool(state.moves[i] < p)
        leader, opener, follow = int(state.leader[i]), int(state.opener[i]), int(FOLLOW[state.context[i]])
        scores = state.scores[i]
        bids, tricks = state.bids[i], state.tricks[i]
        passed_over = np.flatnonzero(self._before_opener(state.take(np.array([i])))[0])
        return {
            "game": self.name,
            "hand_number": int(state.hand[i]) + (not over),
            "phase": "over" if over else "bidding" if bidding else "play",
            "to_move": None if over else int(state.seat[i]),
            "dealer": int(state.dealer[i]),
            "hands": {
                s: _names(int(state.hands[i, s]), int(state.doubles[i, s]))
                for s in range(p)
                if seat is None or s == seat
            },
            "bids": {s: _bid_name(int(bids[s])) for s in range(p) if bids[s] >= 0},
            "sluffs_intact": [s for s in range(p) if bids[s] == SLUFF and tricks[s] == 0],
            "opener": None if opener < 0 else opener,
            "without_R2": [int(s) for s in passed_over],
            "leader": None if leader < 0 else leader,
            "trick": {
                s: DECK.name(int(state.table[i, s]) - 1)
                for s in (int(s) for s in self._clockwise[leader])
                if state.table[i, s]
            },
            "follow": None if follow < 0 else DECK.suits[follow],
            "tricks": [int(n) for n in tricks],
            "teams": {
                name: {
                    "seats": list(seats),
                    "bid": int(TRICKS_BID[bids[list(seats)]].sum()),
                    "tricks": int(tricks[list(seats)].sum()),
                }
                for name, seats in zip(("even", "odd"), self.teams, strict=True)
            },
            "voids": {s: [DECK.suits[colour] for colour in cards_in(int(state.voids[i, s]))] for s in range(p)},
            "played": {s: _names(int(state.seen[i, s]), int(state.seen_twice[i, s])) for s in range(p)},
            "scores": [int(n) for n in scores],
        }


def _deal_opening_cards(
    keys: UInt64, rows: Rows, opener: NDArray[np.int8], hidden: UInt64, sizes: NDArray[np.int64], cannot: UInt64
) -> UInt64:
    """Deal the hidden opening cards (R5) of games whose opener, another seat's, has yet to lead one of them.

    The opener gets one.  Nothing but these cards has been shown as yet, so with a second hidden one there are
    ``n!/(h1! h2! …)`` deals of the ``n`` others to hands with room for ``h1, h2, …``, which is in proportion to the
    room that its seat had.  Either card may be the opener's if they lie apart, which counts double.

    Parameters
    ----------
    keys, rows, opener
        One a game.
    hidden, sizes, cannot
        As for :func:`deal_within`, of all games.  What is dealt is taken from the first two.

    Returns
    -------
    uint64[N, P, 2], the cards dealt in the games ``rows``.
    """
    dealt = np.zeros((len(rows), sizes.shape[1], 2), dtype=np.uint64)
    games = np.arange(len(rows))
    dealt[games, opener, 0] = OPENING_BIT
    sizes[rows, opener] -= 1
    chances = np.where((cannot[rows] & OPENING_BIT) == 0, 2 * sizes[rows], 0)
    chances[games, opener] //= 2
    chances = chances.cumsum(axis=1)
    seat = (chances <= below(keys, np.maximum(chances[:, -1], 1))[:, None]).sum(axis=1)
    second = np.flatnonzero(hidden[rows, 1] & OPENING_BIT)
    seat = seat[second]
    dealt[second, seat, np.where(seat == opener[second], 1, 0)] = OPENING_BIT
    sizes[rows[second], seat] -= 1
    hidden[rows] &= ~OPENING_BIT
    return dealt


def _remove(once: UInt64, twice: UInt64, at: Rows, bit: UInt64) -> None:
    """Take one copy of a card from each of some seats' cards, which are sets held once and twice."""
    second = twice[at] & bit
    twice[at] ^= second
    once[at] ^= bit ^ second


def _add(once: UInt64, twice: UInt64, at: Rows, bit: UInt64) -> None:
    """Add one copy of a card to each of some seats' cards, which are sets held once and twice."""
    before = once[at]
    twice[at] |= before & bit
    once[at] = before | bit


def _by_team(values: NDArray[np.int8]) -> NDArray[np.int8]:
    """Sums over the own team and the other, ``int8[2, B]``, of values by relative seat, ``int8[P, B]``."""
    return np.stack([values[0::2].sum(axis=0, dtype=np.int8), values[1::2].sum(axis=0, dtype=np.int8)])


def _names(once: int, twice: int) -> list[str]:
    """Names of cards that are held at least once and twice, in the order of their numbers."""
    return [DECK.name(card) for card in cards_in(once) for _ in range(1 + (twice >> card & 1))]


def _bid_name(bid: int) -> str:
    return "bid 0" if bid == BID_ZERO else ACTIONS[bid]


GAME = Sluff
