"""Sloppy Seconds: a trick-taking game in which the second most points of a suit score, and play itself makes the trump.

The rules are those of the document "Sloppy Seconds", contributed by Peter Schell, in our own words and with its open
questions settled.

Rules
-----
R1. Three or four players and a deck of 52 cards: with four players 13 cards each; with three the ``2C`` is left out,
    17 cards each.  The deal passes to the left after each hand.
R2. The dealer's left leads to the first trick, and the winner of a trick to the next.  Any card may be led.
R3. A seat that holds the led suit must play it; any other seat plays what it likes.
R4. Within a suit the 2 is the lowest card and the ace, above the king, the highest.
R5. A suit is broken when a card of it is played to a trick in which another suit was led; leading a suit does not
    break it.  The first suit broken in a hand can not be trump in that hand.
R6. The second suit broken, another than the first, is trump from the very card that broke it, and for the rest of the
    hand.  A hand may end without a trump.  (No card played before in the same trick can turn into a trump: it would
    have had to be of the led suit, which that trick cannot break, or have broken the suit itself.)
R7. The highest trump in a trick wins it; without a trump, the highest card of the led suit.
R8. Cards are worth points, to whoever takes the trick: ace 1, 2 to 10 as they say, jack 11, queen 12, king 13.
R9. In every suit, the players with the most points in it are first and score nothing.  Those with the second highest
    total score that total (which may be 0), and nobody else scores.  With ``tie_ranking="dense"`` that is the second
    highest *different* total; with ``"competition"`` players who share the first place leave nobody second.
R10. A player's score of a hand is the sum over the four suits; less than 5 counts as 5.
R11. The match ends after the hand in which somebody reaches ``target_score``; the highest score wins, equal ones
    share.  It is cut off (truncated) after ``max_hands``.

Observation
-----------
``make_game("sloppy_seconds").observation.table()`` prints the layout.  Seats are relative: own seat first, then
clockwise.  It is the same for three and four players; the planes of the absent fourth seat are then zero.

Actions: Discrete(52)
---------------------
====== ======================================================================================
number action
====== ======================================================================================
0..51  a card: 13 * suit + rank, suits C D H S, ranks A 2 3 4 5 6 7 8 9 10 J Q K
====== ======================================================================================

Version history
---------------
0: first version.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import permutations
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..cards import BIT, Deck, bits_of, cards_in, deal_from
from ..chance import Purpose, UInt64, derive
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
from ..seats import Rows, all_from, clockwise, from_seat, relative_lists, relative_to, row_starts
from ..tricks import Played, TrickTables
from ..worlds import count_deals, deal_within

DECK = Deck(suits=("C", "D", "H", "S"), ranks=("A", "2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K"))
SUITS, RANKS = 4, 13
A = len(DECK)
MAX_SEATS = 4
CARDS = {3: tuple(card for card in range(A) if card != DECK.parse("2C")), 4: tuple(range(A))}  # R1
MAX_HAND = 17  # cards of a seat, and tricks, with three players
SUIT_POINTS = 91  # points of a suit
LEAST = 5  # what a hand scores at least (R10)
MOST = SUITS * (SUIT_POINTS // 2)  # and at most: second in every suit, just below the first


# ------------------------------------------------------------------------------------------------------- the trick


class Context(NamedTuple):
    """What matters of a trick and of the tricks before it (R3, R5, R6); suits, or -1 for none."""

    led: int
    first_broken: int  # can not be trump
    trump: int


_BROKEN = [(-1, -1), *((suit, -1) for suit in range(SUITS)), *permutations(range(SUITS), 2)]
CONTEXTS = tuple(Context(led, first, trump) for first, trump in _BROKEN for led in range(-1, SUITS))
NUMBER = {context: number for number, context in enumerate(CONTEXTS)}
FRESH = NUMBER[Context(-1, -1, -1)]  # the context in which a hand begins


def _strength(context: Context, suit: int, rank: int) -> int:
    """How strong a card is in the context that it has brought about (R4, R7)."""
    height = rank or RANKS  # the ace above the king
    if suit == context.trump:
        return RANKS + height
    return height if suit == context.led else 0


def _play(number: int, card: int) -> Played:
    context = CONTEXTS[number]
    suit, rank = divmod(card, RANKS)
    void = 0
    if context.led < 0:
        context = context._replace(led=suit)
    elif suit != context.led:
        void = 1 << context.led
        if context.first_broken < 0:
            context = context._replace(first_broken=suit)
        elif context.trump < 0 and suit != context.first_broken:
            context = context._replace(trump=suit)
    return Played(NUMBER[context], _strength(context, suit, rank), void)


TRICKS = TrickTables.build(
    num_actions=A,
    must=[0 if context.led < 0 else DECK.suit_bits(context.led) for context in CONTEXTS],
    lead=[NUMBER[context._replace(led=-1)] for context in CONTEXTS],
    play=_play,
)
SUIT_BIT = np.array([1 << suit for suit in range(SUITS)], dtype=np.uint8)
FOLLOW, FIRST_BROKEN, TRUMP = np.array(CONTEXTS, dtype=np.int8).T
CANNOT = np.array([DECK.suits_bits(voids) for voids in range(1 << SUITS)], dtype=np.uint64)  # by voids
KINDS = tuple(DECK.suit_bits(suit) for suit in range(SUITS))  # of cards, which voids do not tell apart


def _points() -> NDArray[np.uint8]:
    """Points of every card, in the column of its suit (R8)."""
    points = np.zeros((A, SUITS), dtype=np.uint8)
    for card in range(A):
        points[card, card // RANKS] = card % RANKS + 1
    return points


POINTS = _points()
# Points are added four suits at once: no sum exceeds 91, so nothing is carried from one byte to the next.
FOUR_SUITS = np.uint32
POINTS_WORD = POINTS.view(FOUR_SUITS)[:, 0]


# ------------------------------------------------------------------------------------------------- options, state


@dataclass(frozen=True, kw_only=True)
class SloppySecondsRules(Rules):
    """Options of Sloppy Seconds."""

    game: ClassVar[str] = "sloppy_seconds"

    num_players: int = option(4, "seats", choices=(3, 4))
    target_score: int = option(300, "the match ends after the hand in which a seat reaches it", at_least=1)
    max_hands: int = option(100, "the match is truncated after so many hands", at_least=1)
    tie_ranking: str = option(
        "dense", "who is second where the first place of a suit is shared", choices=("dense", "competition")
    )
    first_dealer: int | None = option(
        None, "dealer of the first hand; None draws it from the seed", at_least=0, at_most=3, nullable=True
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
class SloppySecondsState(State):
    """B matches of Sloppy Seconds.  Bit sets of cards have bit ``card`` set; -1 stands for none."""

    dealer: NDArray[np.int8]  # [B]
    moves: NDArray[np.int8]  # [B] cards played in the present hand
    hands: NDArray[np.uint64]  # [B, P] cards held, bit sets
    seen: NDArray[np.uint64]  # [B, P] cards played in this hand by each seat, bit sets
    table: NDArray[np.uint64]  # [B, P] card of each seat in the present trick, bit sets
    points: NDArray[np.uint8]  # [B, P, 4] points taken in this hand, by suit
    pot: NDArray[np.uint8]  # [B, 4] points in the present trick, by suit
    tricks: NDArray[np.int8]  # [B, P] tricks taken in this hand
    leader: NDArray[np.int8]  # [B] who leads or led the present trick
    context: NDArray[np.uint8]  # [B] number of the trick's context (above): suit led, first suit broken, trump
    best: NDArray[np.uint8]  # [B] strength of the winning card so far, 0 before the first
    winner: NDArray[np.int8]  # [B] seat of the winning card so far, -1 before the first
    voids: NDArray[np.uint8]  # [B, P] suits each seat has shown to be void in, one bit a suit


def places(points: NDArray[np.uint8], tie_ranking: str) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Who is first and who scores, in every suit (R9).

    Parameters
    ----------
    points
        ``uint8[P, …]``, points of each seat.
    tie_ranking
        ``"dense"`` or ``"competition"``.

    Returns
    -------
    first, second: bool[P, …]
    """
    first = points == points.max(axis=0)
    others = ~first
    second_total = (points * others).max(axis=0)
    second = (points == second_total) & others
    if tie_ranking == "competition":
        second &= first.sum(axis=0, dtype=np.uint8) == 1
    return first, second


def score_hand(points: NDArray[np.uint8], tie_ranking: str) -> NDArray[np.int32]:
    """Score of a hand, ``int32[N, P]``, from the points taken by seat and suit, ``uint8[N, P, 4]`` (R9, R10)."""
    by_seat = points.swapaxes(0, 1)
    second = places(by_seat, tie_ranking)[1]
    total: NDArray[np.int32] = (by_seat * second).sum(axis=2, dtype=np.int32).T
    return np.maximum(total, LEAST)


# ------------------------------------------------------------------------------------------------------- the game


class SloppySeconds(Game[SloppySecondsState, SloppySecondsRules]):
    """The rules of Sloppy Seconds; see the module for what they are."""

    name = "sloppy_seconds"
    title = "Sloppy Seconds"
    kind = "trick taking, second place scores"
    rules_type = SloppySecondsRules

    num_actions = A
    action_names = DECK.names

    def __init__(self, rules: SloppySecondsRules) -> None:
        super().__init__(rules)
        p = self.num_players = rules.num_players
        self.hand_size = len(CARDS[p]) // p
        self.reward_range = (-1.0, 1.0) if rules.reward == "win" else (0.0, float(MOST))
        self._last_move = len(CARDS[p])
        self._level_target = min(rules.target_score, 2**40)  # far out of reach: the level is 0 all the same
        self._deck = BIT[list(CARDS[p])]
        self._trick_done = np.array([moves > 0 and moves % p == 0 for moves in range(self._last_move + 1)])
        self._clockwise = clockwise(p)
        self._next_seat = self._clockwise[:, 1].astype(np.int8)
        planes = self._planes()
        self.observation = Layout(planes)
        self.observation_all = Layout(
            [*planes, Plane("all_hands", "set", A, MAX_SEATS, "cards held, by seat", present=p)]
        )

    def _planes(self) -> list[Plane]:
        p, rules = self.num_players, self.rules
        # No match goes on beyond the target, nor beyond the last hand, so this many bits hold a score exactly.
        highest = min(rules.target_score - 1 + MOST, MOST * rules.max_hands)

        def by_seat(name: str, kind: Any, bits: int, about: str, *, suits: int = 1) -> Plane:
            return Plane(name, kind, bits, MAX_SEATS * suits, about, present=p * suits)

        return [
            Plane("hand", "set", A, about="own cards"),
            by_seat("table", "set", A, "card in the present trick, by seat"),
            by_seat("seen", "set", A, "cards played in this hand, by seat"),
            Plane("follow", "one_hot", SUITS, about="suit to follow"),
            Plane("first_broken", "one_hot", SUITS, about="suit broken first, which can not be trump"),
            Plane("trump", "one_hot", SUITS, about="suit broken second, which is trump"),
            Plane("winning", "one_hot", MAX_SEATS, about="seat that wins the present trick so far"),
            by_seat("voids", "set", SUITS, "suits shown to be void, by seat"),
            Plane("right_voids", "set", SUITS, about="suits shown to be void by the right neighbour, who plays last"),
            by_seat("points", "integer", 8, "points taken in this hand, by seat and suit", suits=SUITS),
            by_seat("points_level", "thermometer", 13, "points taken in sevenths, by seat and suit", suits=SUITS),
            by_seat("first", "set", SUITS, "suits in which a seat has most points now, by seat"),
            by_seat("second", "set", SUITS, "suits that a seat would score now, by seat"),
            by_seat("hand_score", "thermometer", MOST // 10, "what the hand would score now in tens, by seat"),
            by_seat("tricks", "thermometer", MAX_HAND, "tricks taken, by seat"),
            Plane("players", "one_hot", 2, about="three or four players"),
            Plane("phase", "one_hot", 2, about="play, over"),
            Plane("to_move", "one_hot", MAX_SEATS, about="seat to move"),
            Plane("dealer", "one_hot", MAX_SEATS, about="dealer"),
            Plane("leader", "one_hot", MAX_SEATS, about="leader of the present trick"),
            by_seat("score_level", "thermometer", 20, "score up to the target in twentieths, clipped"),
            by_seat("scores", "integer", min(1 + highest.bit_length(), 32), "scores of the match"),
            Plane("hand_number", "integer", min(1 + rules.max_hands.bit_length(), 32), about="hands finished"),
        ]

    # -- beginning -------------------------------------------------------------------------------------------------

    def _start(self, seeds: UInt64, scripts: NDArray[np.object_] | None) -> SloppySecondsState:
        b, p = len(seeds), self.num_players
        state = SloppySecondsState(
            **common_fields(seeds, p, scripts),
            dealer=first_seats(seeds, p, self.rules.first_dealer),
            moves=np.zeros(b, np.int8),
            hands=np.zeros((b, p), np.uint64),
            seen=np.zeros((b, p), np.uint64),
            table=np.zeros((b, p), np.uint64),
            points=np.zeros((b, p, SUITS), np.uint8),
            pot=np.zeros((b, SUITS), np.uint8),
            tricks=np.zeros((b, p), np.int8),
            leader=np.zeros(b, np.int8),
            context=np.full(b, FRESH, np.uint8),
            best=np.zeros(b, np.uint8),
            winner=np.full(b, -1, np.int8),
            voids=np.zeros((b, p), np.uint8),
        )
        self._deal(state, np.arange(b))
        return state

    def _deal(self, state: SloppySecondsState, rows: Rows) -> None:
        """Begin a hand in some games, whose ``hand`` and ``dealer`` are set (R1, R2)."""
        keys = derive(state.seed[rows], Purpose.DEAL, state.hand[rows])
        hands = deal_from(keys, self._deck, (self.hand_size,) * self.num_players)
        for place, (dealer, scripted) in self._scripted(state, rows):
            self._take_dealer(state, int(rows[place]), dealer)
            hands[place] = scripted
        state.hands[rows] = hands
        state.moves[rows] = 0
        state.seen[rows] = 0
        state.points[rows] = 0
        state.tricks[rows] = 0
        state.context[rows] = FRESH
        state.voids[rows] = 0
        first = self._next_seat[state.dealer[rows]]
        state.leader[rows] = first
        state.seat[rows] = first

    def parse_deal(self, entry: Mapping[str, Any]) -> tuple[int, list[int]]:
        p = self.num_players
        dealer, deal = parse_hand_object(entry, "dealer", p, ("hands",))
        copies = [int(card in CARDS[p]) for card in range(A)]
        return dealer, [bits_of(hand) for hand in DECK.parse_hands(deal["hands"], (self.hand_size,) * p, copies)]

    def deal_object(self, state: SloppySecondsState, i: int) -> dict[str, Any]:
        hands = [DECK.names_of(int(held | played)) for held, played in zip(state.hands[i], state.seen[i], strict=True)]
        return {"dealer": int(state.dealer[i]), "deal": {"hands": hands}}

    # -- cards -----------------------------------------------------------------------------------------------------

    def legal_words(self, state: SloppySecondsState) -> UInt64:
        # A finished game (seat -1) has no cards, so seat 0 may stand in for it.
        at = row_starts(len(state), self.num_players) + np.maximum(state.seat, 0)
        hand = state.hands.reshape(-1)[at]
        bound = hand & TRICKS.must[state.context]
        return np.where(bound == 0, hand, bound)[:, None]

    def _legal_of_one(self, state: SloppySecondsState) -> int:
        hand: int = state.hands.item(max(state.seat.item(), 0))
        return hand & TRICKS.must.item(state.context.item()) or hand

    def _apply_to_one(self, state: SloppySecondsState, action: int, rewards: NDArray[np.float32]) -> None:
        seat, bit = state.seat.item(), 1 << action
        moves = state.moves.item() + 1
        state.hands[0, seat] = state.hands.item(seat) ^ bit
        state.seen[0, seat] = state.seen.item(seat) | bit
        state.table[0, seat] = bit
        state.pot[0, action // RANKS] += action % RANKS + 1
        TRICKS.play_one(state, seat, action)
        state.seat[0] = self._next_seat.item(seat)
        state.move[0] += 1
        state.moves[0] = moves
        if self._trick_done.item(moves):
            winner = TRICKS.finish_one(state)
            state.points[0, winner] += state.pot[0]
            state.pot[0] = 0
            if moves == self._last_move:
                self._end_hand(state, THE_ONE, rewards)

    def _apply(self, state: SloppySecondsState, actions: NDArray[np.int64], rewards: NDArray[np.float32]) -> None:
        at = row_starts(len(state), self.num_players) + state.seat
        bit = BIT[actions]
        state.hands.reshape(-1)[at] ^= bit
        state.seen.reshape(-1)[at] |= bit
        state.table.reshape(-1)[at] = bit
        state.pot.view(FOUR_SUITS)[:, 0] += POINTS_WORD[actions]
        TRICKS.play(state, at, actions)
        state.seat = self._next_seat[state.seat]
        state.move += 1
        state.moves += 1

        done = np.flatnonzero(self._trick_done[state.moves])
        if len(done):
            self._end_trick(state, done, rewards)

    def _end_trick(self, state: SloppySecondsState, rows: Rows, rewards: NDArray[np.float32]) -> None:
        winner = TRICKS.finish(state, rows)
        pot = state.pot.view(FOUR_SUITS)[:, 0]
        state.points.view(FOUR_SUITS).reshape(-1)[winner] += pot[rows]
        pot[rows] = 0
        over = rows[state.moves[rows] == self._last_move]
        if len(over):
            self._end_hand(state, over, rewards)

    def _end_hand(self, state: SloppySecondsState, rows: Rows, rewards: NDArray[np.float32]) -> None:
        """Score a hand, then begin the next or end the match (R9 to R11)."""
        change = score_hand(state.points[rows], self.rules.tie_ranking)
        on = self._finish_hand(state, rows, change, rewards)
        if len(on):
            state.dealer[on] = self._next_seat[state.dealer[on]]
            self._deal(state, on)

    # -- what a seat knows -----------------------------------------------------------------------------------------

    def observe_all(self, state: SloppySecondsState, seats: ArrayLike, out: Observation | None = None) -> Observation:
        seats = as_seats(seats, len(state), self.num_players)
        values = self._values(state, seats)
        values["all_hands"] = state.hands.reshape(-1)[all_from(seats, self.num_players)]
        return self.observation_all.pack(len(state), values, out)

    def _values(self, state: SloppySecondsState, seats: NDArray[np.int64]) -> dict[str, Any]:
        b, p = len(state), self.num_players
        rotated = all_from(seats, p)
        points = state.points.view(FOUR_SUITS).reshape(-1)[rotated].view(np.uint8).reshape(p, b, SUITS)
        points = np.ascontiguousarray(points.swapaxes(1, 2))  # [P, 4, B]
        first, second = places(points, self.rules.tie_ranking)
        voids = state.voids.reshape(-1)[rotated]
        over = state.seat < 0
        scores = state.scores.reshape(-1)[rotated]
        relative = relative_to(seats, p)
        return {
            "hand": state.hands.reshape(-1)[rotated[0]],
            "table": state.table.reshape(-1)[rotated],
            "seen": state.seen.reshape(-1)[rotated],
            "follow": FOLLOW[state.context],
            "first_broken": FIRST_BROKEN[state.context],
            "trump": TRUMP[state.context],
            "winning": relative(state.winner),
            "voids": voids,
            "right_voids": voids[p - 1],
            "points": points.reshape(p * SUITS, b),
            "points_level": points.reshape(p * SUITS, b) // 7,
            "first": _sets_of_suits(first),
            "second": _sets_of_suits(second),
            "hand_score": (points * second).sum(axis=1, dtype=np.uint8) // 10,
            "tricks": state.tricks.reshape(-1)[rotated],
            "players": np.full(b, p - 3),
            "phase": over,
            "to_move": relative(state.seat),
            "dealer": relative(state.dealer),
            "leader": relative(state.leader),
            "score_level": np.minimum(scores * np.int64(20) // self._level_target, 20),
            "scores": scores,
            "hand_number": state.hand,
        }

    def _values_of_one(self, state: SloppySecondsState, seat: int) -> dict[str, int | list[int]]:
        """The same of the only game of a batch, in plain numbers."""
        p, context = self.num_players, state.context.item()
        (by_seat,) = state.points.tolist()
        points = by_seat[seat:] + by_seat[:seat]
        firsts, seconds, hand_scores = [0] * p, [0] * p, [0] * p
        for suit, taken in enumerate(zip(*points, strict=True)):
            first = max(taken)
            below = [number for number in taken if number != first]
            alone = len(below) == p - 1 or self.rules.tie_ranking == "dense"
            second = max(below) if below and alone else -1
            for place, number in enumerate(taken):
                if number == first:
                    firsts[place] |= 1 << suit
                elif number == second:
                    seconds[place] |= 1 << suit
                    hand_scores[place] += number
        voids, scores = from_seat(state.voids, seat), from_seat(state.scores, seat)
        flat_points = [number for of_seat in points for number in of_seat]
        relative = relative_lists(p)[seat]
        return {
            "hand": state.hands.item(seat),
            "table": from_seat(state.table, seat),
            "seen": from_seat(state.seen, seat),
            "follow": FOLLOW.item(context),
            "first_broken": FIRST_BROKEN.item(context),
            "trump": TRUMP.item(context),
            "winning": relative[state.winner.item()],
            "voids": voids,
            "right_voids": voids[-1],
            "points": flat_points,
            "points_level": [number // 7 for number in flat_points],
            "first": firsts,
            "second": seconds,
            "hand_score": [score // 10 for score in hand_scores],
            "tricks": from_seat(state.tricks, seat),
            "players": p - 3,
            "phase": int(state.seat.item() < 0),
            "to_move": relative[state.seat.item()],
            "dealer": relative[state.dealer.item()],
            "leader": relative[state.leader.item()],
            "score_level": [min(score * 20 // self._level_target, 20) for score in scores],
            "scores": scores,
            "hand_number": state.hand.item(),
        }

    def resample(
        self, state: SloppySecondsState, seats: ArrayLike, keys: UInt64, bids: BidModel | None = None
    ) -> SloppySecondsState:
        """Deal the hidden cards among the other seats, none to a seat that has shown to be void in its suit.

        Exact: every deal that agrees with that is equally likely.
        """
        rows, seats = np.arange(len(state)), as_seats(seats, len(state), self.num_players)
        world = state.copy()
        world.scripts = None
        world.seed = derive(keys, Purpose.WORLD, 0)
        world.hands = deal_within(derive(keys, Purpose.WORLD, 1), *self._hidden(state, seats), KINDS)[:, :, 0]
        world.hands[rows, seats] = state.hands[rows, seats]
        return world

    def count_worlds(self, state: SloppySecondsState, seats: ArrayLike) -> list[int]:
        """How many deals of the hidden cards agree with what each of ``seats`` knows: one number a game."""
        return count_deals(*self._hidden(state, as_seats(seats, len(state), self.num_players)), KINDS)

    def _hidden(self, state: SloppySecondsState, seats: NDArray[np.int64]) -> tuple[UInt64, NDArray[np.int64], UInt64]:
        """What ``seats`` do not see: the cards, how many each seat has of them, and which it cannot."""
        others = state.hands.copy()
        others[np.arange(len(state)), seats] = 0
        hidden = np.bitwise_or.reduce(others, axis=1)[:, None]
        return hidden, np.bitwise_count(others).astype(np.int64), CANNOT[state.voids]

    # -- names -----------------------------------------------------------------------------------------------------

    def action_name(self, state: SloppySecondsState, i: int, action: int) -> str:
        self._known_action(action)
        return DECK.names[action]

    def parse_action(self, state: SloppySecondsState, i: int, text: str) -> int:
        try:
            return DECK.parse(text)
        except UnknownName:
            raise UnknownName("action", text, DECK.names) from None

    def describe(self, state: SloppySecondsState, i: int, seat: int | None = None) -> dict[str, Any]:
        p = self.num_players
        over = bool(state.seat[i] < 0)
        context = CONTEXTS[int(state.context[i])]
        leader = int(state.leader[i])
        return {
            "game": self.name,
            "hand_number": int(state.hand[i]) + (not over),
            "phase": "over" if over else "play",
            "to_move": None if over else int(state.seat[i]),
            "dealer": int(state.dealer[i]),
            "hands": {s: DECK.names_of(int(state.hands[i, s])) for s in range(p) if seat is None or s == seat},
            "leader": leader,
            "trick": {
                s: DECK.name(cards_in(int(state.table[i, s]))[0])
                for s in (int(s) for s in self._clockwise[leader])
                if state.table[i, s]
            },
            "follow": _suit_name(context.led),
            "first_broken": _suit_name(context.first_broken),
            "trump": _suit_name(context.trump),
            "points": {
                s: {name: int(n) for name, n in zip(DECK.suits, state.points[i, s], strict=True)} for s in range(p)
            },
            "hand_scores_now": [int(n) for n in score_hand(state.points[i : i + 1], self.rules.tie_ranking)[0]],
            "tricks": [int(n) for n in state.tricks[i]],
            "voids": {s: [DECK.suits[suit] for suit in cards_in(int(state.voids[i, s]))] for s in range(p)},
            "played": {s: DECK.names_of(int(state.seen[i, s])) for s in range(p)},
            "scores": [int(n) for n in state.scores[i]],
        }


def _sets_of_suits(members: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """Bit sets of suits, ``uint8[P, B]``, from ``bool[P, 4, B]``."""
    sets: NDArray[np.uint8] = (members * SUIT_BIT[:, None]).sum(axis=1, dtype=np.uint8)
    return sets


def _suit_name(suit: int) -> str | None:
    return None if suit < 0 else DECK.suits[suit]


GAME = SloppySeconds
