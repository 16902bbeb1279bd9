"""Slopes: two players build four piles of number cards that fall towards them, with a deck of Uno cards.

The rules are those of the document "Slopes", a game invented by Ben Diaczun, in our own words and with its open
questions settled.

Rules
-----
R1. Two players and the 108 cards of an Uno deck: in red, yellow, green and blue one 0, two each of 1 to 9, and two
    each of the specials skip, reverse and draw two; four wilds and four wild draw fours.  Five cards each.  Four
    piles lie in a row between the players.  The middle two begin with one card of the stock, of whatever kind and not
    frozen; the end ones are empty.  The first player is drawn, or given by ``first_player``.
R2. Piles are numbered 1 to 4 from the player to act, whose pile 1 lies in front of him.  Seat 0's pile 1 is seat 1's
    pile 4.
R3. A turn begins with the thaw of all piles that this player froze, and with the draw of one card.
R4. Then any number of cards are put on one pile, one action each, and ``end``.  With ``must_play`` a player who can
    put a card must put at least one; otherwise he may pass.  (``end`` without a card is a pass.)
R5. On an empty pile: any number card, and no special.
R6. On a number: the same number; its neighbours, 9 and 0 being neighbours too; and in the same colour the numbers two
    above and two below, 0 neither reaching nor being reached that way.
R7. A special may be put on a number only right after its player has, in this turn, covered an equal number there: one
    of the colour of the covering card, or a wild of either kind.
R8. On a coloured special: any card of its colour, the same special of any colour, wilds.
R9. On a wild of either kind: any card.
R10. Nothing may be put on a frozen pile, nor on another than the pile begun in this turn, but for R11.
R11. A skip may be put at any moment of its player's turn on any pile that shows its colour or a wild, frozen or not,
    begun or not.
R12. A special freezes its pile until the next turn of its player (R3), and ends the turn once it has had its effect.
R13. A reverse lets its player exchange the places of its pile and of another that has a card, also a frozen one, or
    keep them.  A freeze goes with its pile.
R14. A draw two makes its player draw two cards, a wild draw four draw four; a skip and a wild do nothing more.
R15. Cards are drawn one by one.  When one is needed and the stock is empty, all cards under the tops of the piles are
    shuffled into a new stock.  If there are none, the rest of the draw is dropped.
R16. When at the end of any turn all four piles show numbers that rise strictly away from a player, he wins.
R17. After ``max_turns`` turns of both players together, passes included, the match is a draw (truncated), unless the
    last of them won it.  A win is worth 1, a loss -1, a draw 0; ``reward`` and ``match`` make no difference.

Observation
-----------
``make_game("slopes").observation.table()`` prints the layout.  Piles are numbered and seats are told as the observer
sees them: own pile 1 first, own seat first.  Many cards of a kind are counted by *counting bits*: of a card that the
deck has n times n bits, as many of them set as there are such cards.

What a player can know of the other's hand by counting is there too (``known``): at a reshuffle the whole of it, since
the stock was empty then; later what is left of those cards; all of it whenever the stock is empty.

Actions: Discrete(221)
----------------------
======== ==============================================================================================
number   action
======== ==============================================================================================
0..215   ``R0 on 1`` …: 4 * card + pile - 1; cards R0 … R9 RS RR RD, then Y, G and B likewise, then W, W4
216      ``end``
217..220 ``swap 1`` … ``swap 4``: of the reverse's pile with that one; ``keep`` at the place of its own pile
======== ==============================================================================================

Version history
---------------
0: first version.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, combinations, pairwise, product
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..cards import BIT, Deck, cards_in
from ..chance import Purpose, UInt64, derive, draw, shuffle
from ..errors import DealError, ScriptExhausted, UnknownName, shown
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
from ..seats import Rows, row_starts

COLOURS, NUMBERS = 4, 10
FACES = (*"0123456789", "S", "R", "D")  # of a coloured card: a number, skip, reverse, draw two
SKIP, REVERSE, DRAW_TWO, WILD, WILD_DRAW = range(10, 15)  # faces after the numbers; the wilds are faces of their own
DECK = Deck(suits=("R", "Y", "G", "B"), ranks=FACES, extras=("W", "W4"), rank_first=False)
TYPES = len(DECK)
COLOURED = TYPES - 2  # card types before the wilds
COPIES = tuple(4 if card >= COLOURED else 1 if card % len(FACES) == 0 else 2 for card in range(TYPES))  # R1
CARDS = np.repeat(np.arange(TYPES, dtype=np.int8), COPIES)  # int8[108], the deck
SIZE = len(CARDS)

P = 2
HAND = 5  # cards dealt to each
PILES = 4
DEALT = P * HAND  # cards that lie in hands at the beginning
TO_STOCK = DEALT + 2  # and before the stock: two more on the middle piles

END = PILES * TYPES  # actions before it put cards
SWAP = END + 1  # the first of four
A = SWAP + PILES
ACTIONS = (
    *(f"{name} on {number}" for name in DECK.names for number in range(1, PILES + 1)),
    "end",
    *(f"swap {number}" for number in range(1, PILES + 1)),
)
ACTION_NUMBERS = {name: number for number, name in enumerate(ACTIONS)}
EMPTY = [True, False, False, True]  # which piles are empty at the beginning (R1)


def _face(card: int) -> int:
    return card % len(FACES) if card < COLOURED else WILD + card - COLOURED


def _colour(card: int) -> int:
    return card // len(FACES) if card < COLOURED else -1


FACE = np.array([*(_face(card) for card in range(TYPES)), -1], dtype=np.int8)  # by card; -1 for none, which is last
COLOUR = np.array([*(_colour(card) for card in range(TYPES)), -1], dtype=np.int8)
IS_SPECIAL = FACE[:TYPES] >= NUMBERS
EQUAL = (FACE[:, None] == FACE[:TYPES]) & (FACE[:TYPES] < NUMBERS)  # by top and card: a number on an equal one (R7)
# By action: whether it ends the turn (R4, R12, R13), and how many cards its player draws then (R14).
ENDS_TURN = np.array([_face(a // PILES) in (SKIP, DRAW_TWO, WILD, WILD_DRAW) for a in range(END)] + [True] * 5)
DRAWS = np.array([{DRAW_TWO: 2, WILD_DRAW: 4}.get(_face(a // PILES), 0) for a in range(END)] + [0] * 5)


# ------------------------------------------------------------------------------------------------ what may be put where


# How far a pile is open to the player to act: DUPLICATE if he has just covered an equal number there, CLOSED if it is
# frozen or another has been begun.  Being frozen adds CLOSED to the mode that it would have else, hence five modes.
OPEN, DUPLICATE, CLOSED = range(3)
MODES = 5
TOPS = TYPES + 1  # tops of a pile, none included: it comes first


def fits(card: int, top: int, duplicate: bool) -> bool:
    """Whether a card may be put on an open pile (R5-R9); ``top`` is -1 for an empty one."""
    face, colour = _face(card), _colour(card)
    if top < 0:
        return face < NUMBERS
    under, ground = _face(top), _colour(top)
    if under >= WILD:
        return True
    same_colour = colour == ground
    if under >= NUMBERS:
        return same_colour or face == under or face >= WILD
    if face >= NUMBERS:
        return duplicate and (same_colour or face >= WILD)
    apart = abs(face - under)
    return apart in (0, 1, 9) or (same_colour and apart == 2 and face > 0 and under > 0)


def takes_control(card: int, top: int) -> bool:
    """Whether a card may be put on a pile even if it is closed (R11)."""
    return _face(card) == SKIP and top >= 0 and _colour(top) in (-1, _colour(card))


def _playable() -> NDArray[np.uint64]:
    """Cards that may be put on a pile, as bit sets, by mode and top: ``uint64[modes, tops]``."""
    table = np.zeros((MODES, TOPS), dtype=np.uint64)
    for mode, top, card in product(range(MODES), range(-1, TYPES), range(TYPES)):
        if takes_control(card, top) or (mode < CLOSED and fits(card, top, mode == DUPLICATE)):
            table[mode, top + 1] |= BIT[card]
    return table


PLAYABLE = _playable().reshape(-1)
# Which pile an action means, by ``4 * seat + number - 1`` (R2); its own inverse.
PILE = np.array([0, 1, 2, 3, 3, 2, 1, 0], dtype=np.int64)
ACTION_WORDS = 4


def _words_of(actions: Sequence[int]) -> list[int]:
    bits = sum(1 << action for action in actions)
    return [bits >> 64 * word & (1 << 64) - 1 for word in range(ACTION_WORDS)]


def _allowed() -> NDArray[np.uint64]:
    """The same as actions: ``uint64[seats * piles * modes * tops, W]``."""
    table = np.array(
        [
            _words_of([PILES * card + int(PILE[PILES * seat + pile]) for card in cards_in(int(cards))])
            for seat, pile, cards in product(range(P), range(PILES), PLAYABLE)
        ],
        dtype=np.uint64,
    )
    table.flags.writeable = False
    return table


ALLOWED = _allowed()
# The same as whole numbers.
ALLOWED_ONE = tuple(sum(word << 64 * at for at, word in enumerate(words)) for words in ALLOWED.tolist())
FROZEN = np.int64(CLOSED * TOPS)  # to add to the place of a pile in ``PLAYABLE`` if it is frozen


def _places() -> NDArray[np.int64]:
    """Where the piles stand in ``ALLOWED``, for the top 0 and not frozen, by turn (below): ``int64[piles, turns]``."""
    table = np.empty((P, PILES + 1, 2, PILES), dtype=np.int64)
    for seat, begun, duplicate, pile in product(range(P), range(-1, PILES), range(2), range(PILES)):
        mode = OPEN if begun < 0 else CLOSED if begun != pile else DUPLICATE if duplicate else OPEN
        table[seat, begun + 1, duplicate, pile] = ((PILES * seat + pile) * MODES + mode) * TOPS + 1
    return np.ascontiguousarray(table.reshape(-1, PILES).T)


PLACES = _places()  # by turn: ``10 * seat + 2 * (begun + 1) + duplicate``
LAST_WORD = END // 64  # of the action words; `end` and the swaps stand there


# ----------------------------------------------------------------------------------------------- many cards of a kind

# Cards are counted by counting bits in two words: two bits a coloured card, four a wild, filled from the lowest.  So
# adding and removing a card are shifts within its field, and the words are features as they stand.
WORD = np.array([card // 32 for card in range(TYPES)] + [0], dtype=np.int64)  # by card, -1 for none as above
_SHIFT = [2 * (card % 32) if card < COLOURED else 40 + 4 * (card - COLOURED) for card in range(TYPES)]
_WIDTH = [2 if card < COLOURED else 4 for card in range(TYPES)]
LOW = np.array([1 << shift for shift in _SHIFT] + [0], dtype=np.uint64)
FIELD = np.array([(1 << w) - 1 << s for w, s in zip(_WIDTH, _SHIFT, strict=True)] + [0], dtype=np.uint64)
BITS = 128
ONE = np.uint64(1)
# The 112 bits in use as two observation groups of 56.
HALF, SHIFT_OUT, SHIFT_IN = np.uint64((1 << 56) - 1), np.uint64(56), np.uint64(8)


def _bit_cards() -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Which card each of the 128 counting bits stands for, and which of its copies, from 1 (99 for bits unused)."""
    card_of, copy_of = np.zeros(BITS, dtype=np.int64), np.full(BITS, 99, dtype=np.int64)
    for card in range(TYPES):
        for copy in range(COPIES[card]):
            bit = 64 * WORD[card] + _SHIFT[card] + copy
            card_of[bit], copy_of[bit] = card, copy + 1
    return card_of, copy_of


BIT_CARD, BIT_COPY = _bit_cards()


def _add(words: UInt64, at: Rows, cards: NDArray[Any]) -> None:
    """Add one card to each of the counts at ``at`` (``2 * place``, in flattened words)."""
    at = at + WORD[cards]
    field = FIELD[cards]
    word = words[at]
    words[at] = word | LOW[cards] | (((word & field) << ONE) & field)


def _whole(words: UInt64) -> int:
    """The bits of one count ``uint64[2]`` as one number."""
    low, high = words.tolist()
    return int(low | high << 64)


def _add_one(words: UInt64, card: int) -> None:
    """Add one card to a count ``uint64[2]``."""
    at, field = WORD.item(card), FIELD.item(card)
    word = words.item(at)
    words[at] = word | LOW.item(card) | (word & field) << 1 & field


def _remove_one(words: UInt64, card: int) -> bool:
    """Remove one card from a count ``uint64[2]`` that has it; whether it had it."""
    at, field = WORD.item(card), FIELD.item(card)
    word = words.item(at)
    held = word & field
    words[at] = word ^ held ^ (held >> 1 & field)
    return held != 0


def _remove(words: UInt64, at: Rows, cards: NDArray[Any]) -> NDArray[np.bool_]:
    """Remove one card from each of the counts at ``at`` that has it; which had it."""
    at = at + WORD[cards]
    field = FIELD[cards]
    word = words[at]
    held = word & field
    words[at] = word ^ held ^ ((held >> ONE) & field)
    had_it: NDArray[np.bool_] = held != 0
    return had_it


def _words(counts: NDArray[np.int64]) -> UInt64:
    """Counting bits ``uint64[N, 2]`` of counts ``int64[N, 54]``."""
    bits = counts.take(BIT_CARD, axis=1) >= BIT_COPY
    return np.packbits(bits, axis=1, bitorder="little").view("<u8").astype(np.uint64, copy=False)


def _counts(words: UInt64) -> NDArray[np.int64]:
    """The inverse of :func:`_words`."""
    counts: NDArray[np.int64] = np.bitwise_count(words.take(WORD[:TYPES], axis=1) & FIELD[:TYPES]).astype(np.int64)
    return counts


def _tally(cards: NDArray[np.int64], there: NDArray[np.bool_] | None = None) -> NDArray[np.int64]:
    """How many there are of each card, ``int64[N, 54]``, among ``cards`` ``int64[N, K]``, or among those ``there``."""
    flat = cards + row_starts(len(cards), TYPES)[:, None]
    flat = flat.reshape(-1) if there is None else flat[there]
    return np.bincount(flat, minlength=len(cards) * TYPES).reshape(-1, TYPES)


def _spread() -> NDArray[np.uint32]:
    """By two bytes of counting bits: four action bits for each card there; from 65536 on for those of the wilds."""
    cards = np.zeros(512, dtype=np.uint32)  # by one byte; from 256 on for that of the wilds
    for byte in range(256):
        cards[byte] = sum(0b1111 << 4 * field for field in range(4) if byte >> 2 * field & 0b11)
        cards[256 + byte] = sum(0b1111 << 4 * field for field in range(2) if byte >> 4 * field & 0b1111)
    low, high = np.arange(256), np.arange(512)[:, None]
    return (cards[low] | cards[high] << np.uint32(16)).reshape(-1)


SPREAD = _spread()
WILDS = 6  # place of the two bytes that hold the wilds


# ------------------------------------------------------------------------------------------------------- the slopes

# Numbers on the piles; 10 stands for whatever is none.
_NO_NUMBER = NUMBERS
NUMBER = np.array([n if 0 <= n < NUMBERS else _NO_NUMBER for n in FACE], dtype=np.int64)  # by card


def _index(numbers: NDArray[np.int64] | Sequence[int]) -> Any:
    """The index of the numbers on the four piles."""
    first, second, third, fourth = numbers
    return ((first * 11 + second) * 11 + third) * 11 + fourth


def _slopes() -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    """By the numbers shown: the winner (R16, -1 for none), and how many piles differ from the nearest rising slope."""
    shown_ = np.indices((11,) * PILES).reshape(PILES, -1)
    winner = np.full(11**PILES, -1, dtype=np.int8)
    distance = np.full(11**PILES, PILES, dtype=np.int8)
    for rising in combinations(range(NUMBERS), PILES):
        winner[_index(rising)] = 0
        winner[_index(rising[::-1])] = 1
        np.minimum(distance, sum((shown_[k] != rising[k]).astype(np.int8) for k in range(PILES)), out=distance)
    return winner, distance


WINNER, DISTANCE = _slopes()
RESULT = np.array([[1, -1], [-1, 1], [0, 0]], dtype=np.int8)  # scores by winner; a draw is -1, which is last

HAND_LEVELS, DRAWN_LEVELS, TURN_LEVELS = 20, 5, 20  # bits of thermometers


# ------------------------------------------------------------------------------------------------- options, state


@dataclass(frozen=True, kw_only=True)
class SlopesRules(Rules):
    """Options of Slopes."""

    game: ClassVar[str] = "slopes"

    must_play: bool = option(True, "a player who can put a card must put one", choices=(True, False))
    max_turns: int = option(500, "the match is a draw after so many turns of both players", at_least=1)
    num_players: int = option(2, "seats", choices=(2,))
    first_player: int | None = option(
        None, "who moves first; None draws it from the seed", at_least=0, at_most=1, nullable=True
    )


@dataclass(slots=True, eq=False, kw_only=True)
class SlopesState(State):
    """B matches of Slopes.  Piles are numbered from 0 in seat 0's order; -1 stands for none.

    *Counts* are counting bits (above).  The fields from ``lacked`` on are public history since the last reshuffle,
    from which follows what passes have shown under ``must_play``; without it they stay empty.
    """

    first_player: NDArray[np.int8]  # [B]
    turns: NDArray[np.int32]  # [B] turns finished
    hands: NDArray[np.uint64]  # [B, P, 2] counts of the cards held
    shown: NDArray[np.uint64]  # [B, P, 2] counts of those that the opponent knows by counting
    played: NDArray[np.uint64]  # [B, 2] counts of the cards on the piles, tops included
    tops: NDArray[np.int8]  # [B, 4] card on top of each pile, -1 for an empty one
    frozen_by: NDArray[np.int8]  # [B, 4] seat that froze the pile, -1 if it is not frozen
    begun: NDArray[np.int8]  # [B] pile begun in this turn, -1 for none
    duplicate: NDArray[np.bool_]  # [B] whether the last card of this turn covered an equal number
    swapping: NDArray[np.bool_]  # [B] whether a reverse on the begun pile awaits its swap
    stock: NDArray[np.int8]  # [B, 108] cards in the order of drawing; the stock ends at the end
    legal_actions: NDArray[np.uint64]  # [B, 4] of the seat to move, bit sets; follow from the other fields
    next_card: NDArray[np.int16]  # [B] place in ``stock`` of the next card; 108 when the stock is empty
    reshuffles: NDArray[np.int32]  # [B] how often the stock was renewed
    orders: NDArray[np.object_]  # [B] the deck as dealt and every new stock, a tuple of bytes; None in sampled worlds
    lacked: NDArray[np.uint64]  # [B, P] cards each seat could have put when it last passed, bit sets; 0: no pass
    drawn_since: NDArray[np.int8]  # [B, P] cards it has drawn since then, or since the last reshuffle
    events: NDArray[np.uint8]  # [B, 256] cards put and drawn, in order; see `EVENT_…`
    num_events: NDArray[np.int16]  # [B]
    passes: NDArray[np.object_]  # [B] the last `Pass`, or None


# An event is a card put, ``card + 54 * seat``, with `EVENT_KNOWN` added if the opponent knew by counting that the seat
# had it; or ``EVENT_DRAW + seat``.  Between two reshuffles no card is put or drawn twice, so there is room for all.
EVENT_KNOWN, EVENT_DRAW = P * TYPES, 2 * P * TYPES
EVENTS = 256


class Pass(NamedTuple):
    """A pass under ``must_play``: the seat held none of the cards that could have been put."""

    earlier: Pass | None  # the pass before it, of either seat
    after: int  # number of events before it
    seat: int
    lacked: int  # bit set of cards


class Deal(NamedTuple):
    """A scripted deal."""

    first_player: int
    order: NDArray[np.int8]  # [108] hand of seat 0, of seat 1, the two middle piles, the stock
    reshuffles: tuple[NDArray[np.int8], ...]  # new stocks


# ------------------------------------------------------------------------------------------------------- the game


class Slopes(Game[SlopesState, SlopesRules]):
    """The rules of Slopes; see the module for what they are."""

    name = "slopes"
    title = "Slopes"
    kind = "shedding to four piles"
    rules_type = SlopesRules
    zero_sum = True

    num_players = P
    num_actions = A
    reward_range = (-1.0, 1.0)

    def __init__(self, rules: SlopesRules) -> None:
        super().__init__(rules)
        self._max_turns = min(rules.max_turns, 2**40)  # far out of reach: the level is 0 all the same
        planes = [
            Plane("hand", "set", 56, 2, "own cards, in counting bits"),
            Plane("known", "set", 56, 2, "cards certainly in the other's hand, in counting bits"),
            Plane("shown", "set", 56, 2, "own cards that the other knows of, in counting bits"),
            Plane("played", "set", 56, 2, "cards on the piles, tops included, in counting bits"),
            Plane("top_face", "one_hot", 15, PILES, "0 to 9, skip, reverse, draw two, W, W4 on top, by pile"),
            Plane("top_colour", "one_hot", COLOURS, PILES, "colour on top (red, yellow, green, blue), by pile"),
            Plane("frozen", "one_hot", P, PILES, "who froze it: oneself, the other; by pile"),
            Plane("begun", "one_hot", PILES, about="pile begun in this turn"),
            Plane("duplicate", "set", 1, about="whether the last card of this turn covered an equal number"),
            Plane("phase", "one_hot", 3, about="play, swap, over"),
            Plane("to_move", "one_hot", P, about="seat to move"),
            Plane("distance", "one_hot", PILES + 1, P, "piles that differ from the nearest winning slope, by seat"),
            Plane("hand_level", "thermometer", HAND_LEVELS, P, "cards held, clipped, by seat"),
            Plane("hand_sizes", "integer", 8, P, "cards held, by seat"),
            Plane("stock_level", "thermometer", 14, about="cards in the stock by eights, rounded up"),
            Plane("stock", "integer", 8, about="cards in the stock"),
            Plane("lacked", "set", TYPES, about="cards that the other did not hold when it last passed"),
            Plane("drawn_since", "thermometer", DRAWN_LEVELS, about="cards that it has drawn since, clipped"),
            Plane("turn_level", "thermometer", TURN_LEVELS, about="turns finished, in twentieths of the limit"),
            Plane("turns", "integer", min(1 + rules.max_turns.bit_length(), 32), about="turns finished"),
        ]
        self.observation = Layout(planes)
        self.observation_all = Layout(
            [
                *planes,
                Plane("other_hand", "set", 56, 2, "cards in the other's hand, in counting bits"),
                Plane("next_card", "one_hot", TYPES, about="next card of the stock"),
            ]
        )

    # -- beginning -------------------------------------------------------------------------------------------------

    def _start(self, seeds: UInt64, scripts: NDArray[np.object_] | None) -> SlopesState:
        b = len(seeds)
        state = SlopesState(
            **common_fields(seeds, P, scripts),
            first_player=first_seats(seeds, P, self.rules.first_player),
            turns=np.zeros(b, np.int32),
            hands=np.zeros((b, P, 2), np.uint64),
            shown=np.zeros((b, P, 2), np.uint64),
            played=np.zeros((b, 2), np.uint64),
            tops=np.full((b, PILES), -1, np.int8),
            frozen_by=np.full((b, PILES), -1, np.int8),
            begun=np.full(b, -1, np.int8),
            duplicate=np.zeros(b, np.bool_),
            swapping=np.zeros(b, np.bool_),
            legal_actions=np.zeros((b, ACTION_WORDS), np.uint64),
            stock=np.zeros((b, SIZE), np.int8),
            next_card=np.full(b, TO_STOCK, np.int16),
            reshuffles=np.zeros(b, np.int32),
            orders=np.full(b, None, dtype=object),
            lacked=np.zeros((b, P), np.uint64),
            drawn_since=np.zeros((b, P), np.int8),
            events=np.zeros((b, EVENTS if self.rules.must_play else 0), np.uint8),
            num_events=np.zeros(b, np.int16),
            passes=np.full(b, None, dtype=object),
        )
        self._deal(state)
        return state

    def _deal(self, state: SlopesState) -> None:
        """Deal the cards of new matches and begin the first turns (R1, R3)."""
        b = len(state)
        rows = np.arange(b)
        order = CARDS.take(shuffle(derive(state.seed, Purpose.DEAL, state.hand), SIZE))
        for row, deal in self._scripted(state, rows):
            if self.rules.first_player not in (None, deal.first_player):
                raise DealError(
                    f"the first player is seat {self.rules.first_player}, got {deal.first_player}",
                    game=self.name,
                    match=row + 1,
                    hand=1,
                )
            state.first_player[row] = deal.first_player
            order[row] = deal.order
        cards = order.astype(np.int64)
        state.hands = _words(_tally(cards[:, :DEALT].reshape(P * b, HAND))).reshape(b, P, 2)
        state.played = _words(_tally(cards[:, DEALT:TO_STOCK]))
        state.tops[:, 1:3] = order[:, DEALT:TO_STOCK]
        state.stock = order
        for row in range(b):
            state.orders[row] = (order[row].tobytes(),)
        state.seat[:] = state.first_player
        self._draw(state, rows)
        state.legal_actions = self._legal(state)

    def parse_deal(self, entry: Mapping[str, Any]) -> Deal:
        first, deal = parse_hand_object(entry, "first_player", P, ("hands", "piles", "stock", "reshuffles"))
        hands = DECK.parse_hands(deal["hands"], (HAND,) * P, COPIES)
        piles = deal["piles"]
        if not isinstance(piles, list | tuple) or len(piles) != PILES or [pile is None for pile in piles] != EMPTY:
            raise ValueError(f"piles: expected null, a card, a card, null, got {shown(piles)}")
        middle = DECK.parse_cards([piles[1], piles[2]], 2, "piles")
        stock = DECK.parse_cards(deal["stock"], SIZE - TO_STOCK, "stock")
        order = [*hands[0], *hands[1], *middle, *stock]
        DECK.check_copies(order, COPIES)
        if not isinstance(deal["reshuffles"], list | tuple):
            raise ValueError(f"reshuffles: expected a list of stocks, got {shown(deal['reshuffles'])}")
        reshuffles = [DECK.parse_cards(new, None, f"reshuffle {k + 1}") for k, new in enumerate(deal["reshuffles"])]
        return Deal(first, np.array(order, np.int8), tuple(np.array(new, np.int8) for new in reshuffles))

    def deal_object(self, state: SlopesState, i: int) -> dict[str, Any]:
        orders = state.orders[i]
        if orders is None:
            raise ValueError(f"{self.name}: game {i} is a sampled world, which tells nothing of how it was dealt")
        names = [DECK.name(card) for card in orders[0]]
        entry = {
            "first_player": int(state.first_player[i]),
            "deal": {
                "hands": [names[:HAND], names[HAND:DEALT]],
                "piles": [None, names[DEALT], names[DEALT + 1], None],
                "stock": names[TO_STOCK:],
                "reshuffles": [],
            },
        }
        self.extend_deal(state, i, entry)
        return entry

    def extend_deal(self, state: SlopesState, i: int, entry: dict[str, Any]) -> None:
        """Add the reshuffles since ``entry`` was taken."""
        reshuffles = entry["deal"]["reshuffles"]
        for order in state.orders[i][1 + len(reshuffles) :]:
            reshuffles.append([DECK.name(card) for card in order])

    def unused_deal(self, state: SlopesState, i: int) -> str | None:
        """Reshuffles that the script gives and play did not need."""
        script = None if state.scripts is None else state.scripts[i]
        if script is None or not script.deals:
            return None
        given, used = len(script.deals[0].reshuffles), int(state.reshuffles[i])
        return f"{given} reshuffles are given, but {used} were needed" if given > used else None

    # -- the stock -------------------------------------------------------------------------------------------------

    def _draw(self, state: SlopesState, rows: Rows) -> None:
        """The seats to move draw one card each, of stocks that are not empty (R15)."""
        place = state.next_card[rows]
        state.next_card[rows] = place + 1
        seat = state.seat[rows].astype(np.int64)
        hand = P * rows + seat
        _add(state.hands.reshape(-1), 2 * hand, state.stock.reshape(-1)[SIZE * rows + place])
        if self.rules.must_play:
            state.drawn_since.reshape(-1)[hand] += 1
            self._note(state, rows, EVENT_DRAW + seat)

    def _draw_many(
        self, state: SlopesState, rows: Rows, seats: NDArray[np.int64], counts: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Some seats draw several cards each, as far as the stocks go; how many more are due (R14, R15)."""
        next_card = state.next_card[rows]
        taken = np.minimum(counts, SIZE - next_card)
        state.next_card[rows] = next_card + taken
        of = np.repeat(np.arange(len(rows)), taken)  # one entry a card: whose it is, and the how manieth
        nth = np.arange(len(of)) - np.repeat(np.cumsum(taken) - taken, taken)
        cards = state.stock.reshape(-1)[(SIZE * rows + next_card)[of] + nth]
        hand = P * rows + seats
        hands = state.hands.reshape(-1, 2)
        drawn = np.bincount(TYPES * of + cards, minlength=TYPES * len(rows)).reshape(-1, TYPES)
        hands[hand] = _words(_counts(hands[hand]) + drawn)
        if self.rules.must_play:
            state.drawn_since.reshape(-1)[hand] += taken.astype(np.int8)
            number = state.num_events[rows]
            state.events.reshape(-1)[(EVENTS * rows + number)[of] + nth] = (EVENT_DRAW + seats)[of]
            state.num_events[rows] = number + taken
        return counts - taken

    def _draw_between(
        self,
        state: SlopesState,
        rows: Rows,
        mover: NDArray[np.int64],
        draws: NDArray[np.int64],
        goes_on: NDArray[np.bool_],
    ) -> None:
        """Draw what the mover has to for a special, then the next player's card where the match ``goes_on``."""
        owed = draws.copy()
        some = np.flatnonzero(owed)
        if len(some):
            owed[some] = self._draw_many(state, rows[some], mover[some], owed[some])
        empty = np.flatnonzero((owed > 0) | (goes_on & (state.next_card[rows] == SIZE)))
        if len(empty):  # a reshuffle takes all cards under the tops, so there is never a second one
            self._reshuffle(state, rows[empty])
            some = np.flatnonzero(owed)
            if len(some):
                self._draw_many(state, rows[some], mover[some], owed[some])
        self._draw(state, rows[goes_on & (state.next_card[rows] < SIZE)])

    def _reshuffle(self, state: SlopesState, rows: Rows) -> None:
        """Renew the empty stocks of some games, where there is a card under the tops (R15)."""
        tops = state.tops[rows].astype(np.int64)
        tops = _tally(tops, tops >= 0)
        under = _counts(state.played[rows]) - tops
        sizes = under.sum(axis=1)
        some = np.flatnonzero(sizes)
        if not len(some):
            return
        rows, tops, under, sizes = rows[some], tops[some], under[some], sizes[some]
        keys = derive(state.seed[rows], Purpose.RESHUFFLE, state.hand[rows], state.reshuffles[rows])
        stock = _shuffled(keys, under)
        for place, new in self._scripted_reshuffles(state, rows, under):
            stock[place, SIZE - len(new) :] = new
        state.stock[rows] = stock
        state.next_card[rows] = SIZE - sizes
        state.played[rows] = _words(tops)
        state.shown[rows] = state.hands[rows]  # with no stock, all that a seat does not see is in the other's hand
        state.reshuffles[rows] += 1
        state.lacked[rows] = 0
        state.drawn_since[rows] = 0
        state.num_events[rows] = 0
        state.passes[rows] = None
        for place, row in enumerate(rows):
            if state.orders[row] is not None:
                state.orders[row] += (stock[place, SIZE - sizes[place] :].tobytes(),)

    def _scripted_reshuffles(
        self, state: SlopesState, rows: Rows, under: NDArray[np.int64]
    ) -> list[tuple[int, NDArray[np.int8]]]:
        """Which of ``rows`` take their new stock from a script: places in ``rows``, with the cards."""
        found: list[tuple[int, NDArray[np.int8]]] = []
        if state.scripts is None:
            return found
        for place, row in enumerate(rows):
            script, number = state.scripts[row], int(state.reshuffles[row])
            if script is None or not script.deals:
                continue
            given = script.deals[0].reshuffles
            if number < len(given):
                if not np.array_equal(np.bincount(given[number], minlength=TYPES), under[place]):
                    wrong = f"reshuffle {number + 1} is not of the cards under the tops"
                    raise DealError(wrong, game=self.name, match=int(row) + 1, hand=1)
                found.append((place, given[number]))
            elif not script.goes_on:
                missing = f"the deal has no reshuffle {number + 1}, and no seed to go on from was given"
                raise ScriptExhausted(missing, game=self.name, match=int(row) + 1, hand=1)
        return found

    # -- what may be done ------------------------------------------------------------------------------------------

    def legal_words(self, state: SlopesState) -> UInt64:
        words = state.legal_actions.view()
        words.flags.writeable = False
        return words

    def _legal(self, state: SlopesState) -> UInt64:
        """Legal actions (R4 to R11, R13)."""
        b = len(state)
        seat = np.maximum(state.seat, 0).astype(np.int64)  # for finished games any seat will do
        place = PLACES.take(10 * seat + 2 * state.begun + 2 + state.duplicate, axis=1)
        place += state.tops.T
        place += (state.frozen_by.T >= 0) * FROZEN
        allowed = ALLOWED.take(place, axis=0)
        words: UInt64 = allowed[0] | allowed[1]
        words |= allowed[2]
        words |= allowed[3]
        words &= _held(state.hands.reshape(-1, 2).take(seat + row_starts(b, P), axis=0))
        can_end = state.begun >= 0
        if self.rules.must_play:
            can_end |= (words[:, 0] | words[:, 1] | words[:, 2] | words[:, 3]) == 0
        else:
            can_end[:] = True
        words[:, LAST_WORD] |= can_end * BIT[END % 64]
        swapping = np.flatnonzero(state.swapping)
        if len(swapping):
            words[swapping] = self._swaps(state, swapping)
        if state.seat.min(initial=0) < 0:
            words[state.seat < 0] = 0
        return words

    def _legal_of_one(self, state: SlopesState) -> int:
        return int.from_bytes(state.legal_actions.astype("<u8", copy=False).tobytes(), "little")

    def _find_legal_of_one(self, state: SlopesState) -> int:
        """What :meth:`_legal` finds, for the only game of a batch, as one bit set."""
        seat, begun = state.seat.item(), state.begun.item()
        if seat < 0:
            return 0
        tops = state.tops.tolist()[0]
        if state.swapping.item():
            return sum(1 << SWAP + number for number in range(PILES) if tops[PILE.item(PILES * seat + number)] >= 0)
        turn = 10 * seat + 2 * begun + 2 + state.duplicate.item()
        bits = 0
        for pile, (top, frozen_by) in enumerate(zip(tops, state.frozen_by.tolist()[0], strict=True)):
            place = PLACES.item(pile, turn) + top
            bits |= ALLOWED_ONE[place if frozen_by < 0 else place + CLOSED * TOPS]
        held, counts = 0, _whole(state.hands[0, seat])
        for piece in range(WILDS + 1):
            index = counts >> 16 * piece & 0xFFFF
            held |= SPREAD.item(index if piece < WILDS else index + (1 << 16)) << 32 * piece
        bits &= held
        if begun >= 0 or not (self.rules.must_play and bits):
            bits |= 1 << END
        return bits

    def _swaps(self, state: SlopesState, rows: Rows) -> UInt64:
        """Legal actions after a reverse: every pile that has a card, its own for ``keep`` (R13)."""
        filled = state.tops[rows[:, None], PILE.reshape(P, PILES)[state.seat[rows]]] >= 0
        words = np.zeros((len(rows), ACTION_WORDS), dtype=np.uint64)
        words[:, LAST_WORD] = (filled * BIT[SWAP % 64 : SWAP % 64 + PILES]).sum(axis=1, dtype=np.uint64)
        return words

    def _apply(self, state: SlopesState, actions: NDArray[np.int64], rewards: NDArray[np.float32]) -> None:
        state.move += 1
        if self.rules.must_play:
            passing = np.flatnonzero((actions == END) & (state.begun < 0))
            if len(passing):
                self._note_pass(state, passing)
        cards = np.flatnonzero(actions < END)
        if len(cards):
            self._put(state, cards, actions[cards])
        swaps = np.flatnonzero(actions > END)
        if len(swaps):
            self._swap(state, swaps, actions[swaps] - SWAP)
        ended = np.flatnonzero(ENDS_TURN[actions])
        if len(ended):
            self._end_turn(state, ended, DRAWS[actions[ended]], rewards)
        state.legal_actions = self._legal(state)

    def _apply_to_one(self, state: SlopesState, action: int, rewards: NDArray[np.float32]) -> None:
        seat = state.seat.item()
        state.move[0] += 1
        if action < END:
            self._put_one(state, seat, action)
        elif action > END:
            here, there = state.begun.item(), PILE.item(PILES * seat + action - SWAP)
            for row in (state.tops[0], state.frozen_by[0]):
                row[here], row[there] = row.item(there), row.item(here)
        elif self.rules.must_play and state.begun.item() < 0:
            self._note_pass(state, THE_ONE)
        if ENDS_TURN.item(action):
            self._end_turn_of_one(state, seat, DRAWS.item(action), rewards)
        words = self._find_legal_of_one(state).to_bytes(8 * ACTION_WORDS, "little")
        state.legal_actions = np.frombuffer(words, "<u8")[None].astype(np.uint64)

    def _end_turn_of_one(self, state: SlopesState, seat: int, draws: int, rewards: NDArray[np.float32]) -> None:
        """End a turn in the only game of a batch; what is rare (the end, an empty stock) as in any batch."""
        won = WINNER.item(_index([NUMBER.item(top) for top in state.tops.tolist()[0]])) >= 0
        turns, other = state.turns.item() + 1, 1 - seat
        if won or turns >= self.rules.max_turns or state.next_card.item() + draws >= SIZE:
            self._end_turn(state, THE_ONE, np.array([draws]), rewards)
            return
        state.turns[0] = turns
        state.begun[0] = -1
        state.duplicate[0] = False
        state.swapping[0] = False
        state.seat[0] = other
        for pile, frozen_by in enumerate(state.frozen_by.tolist()[0]):
            if frozen_by == other:
                state.frozen_by[0, pile] = -1
        for drawer in (*[seat] * draws, other):
            self._draw_one(state, drawer)

    def _put_one(self, state: SlopesState, seat: int, action: int) -> None:
        """Put a card on a pile in the only game of a batch."""
        card, pile = action // PILES, PILE.item(PILES * seat + action % PILES)
        state.duplicate[0] = EQUAL.item(state.tops.item(pile), card)
        state.begun[0] = pile
        state.tops[0, pile] = card
        _remove_one(state.hands[0, seat], card)
        known = _remove_one(state.shown[0, seat], card)
        if self.rules.must_play:
            self._note_one(state, card + TYPES * seat + EVENT_KNOWN * known)
        _add_one(state.played[0], card)
        if IS_SPECIAL.item(card):
            state.frozen_by[0, pile] = seat
            state.swapping[0] = FACE.item(card) == REVERSE

    def _draw_one(self, state: SlopesState, seat: int) -> None:
        """Draw a card of a stock that is not empty in the only game of a batch."""
        place = state.next_card.item()
        state.next_card[0] = place + 1
        _add_one(state.hands[0, seat], state.stock.item(place))
        if self.rules.must_play:
            state.drawn_since[0, seat] += 1
            self._note_one(state, EVENT_DRAW + seat)

    def _note_one(self, state: SlopesState, event: int) -> None:
        number = state.num_events.item()
        state.events[0, number] = event
        state.num_events[0] = number + 1

    def _put(self, state: SlopesState, rows: Rows, actions: NDArray[np.int64]) -> None:
        """Put a card on a pile (R4 to R12)."""
        seat = state.seat[rows].astype(np.int64)
        card = actions // PILES
        pile = PILE[PILES * seat + actions % PILES]
        spot = PILES * rows + pile
        tops = state.tops.reshape(-1)
        state.duplicate[rows] = EQUAL[tops[spot], card]
        state.begun[rows] = pile
        tops[spot] = card
        held = 2 * (P * rows + seat)
        _remove(state.hands.reshape(-1), held, card)
        known = _remove(state.shown.reshape(-1), held, card)
        if self.rules.must_play:
            self._note(state, rows, card + TYPES * seat + EVENT_KNOWN * known)
        _add(state.played.reshape(-1), 2 * rows, card)
        special = np.flatnonzero(IS_SPECIAL[card])
        if len(special):
            state.frozen_by.reshape(-1)[spot[special]] = seat[special]
            state.swapping[rows[special]] = FACE[card[special]] == REVERSE

    def _note(self, state: SlopesState, rows: Rows, events: NDArray[Any]) -> None:
        number = state.num_events[rows]
        state.events.reshape(-1)[EVENTS * rows + number] = events
        state.num_events[rows] = number + 1

    def _note_pass(self, state: SlopesState, rows: Rows) -> None:
        """Keep what a pass shows: that nothing could be put (R4)."""
        seat = state.seat[rows]
        place = state.tops.take(rows, axis=0) + np.where(state.frozen_by.take(rows, axis=0) < 0, 1, FROZEN + 1)
        lacked = np.bitwise_or.reduce(PLAYABLE.take(place), axis=1)
        state.lacked[rows, seat] = lacked
        state.drawn_since[rows, seat] = 0
        some = np.flatnonzero(state.next_card[rows] < SIZE)  # with no stock, all is known anyway
        rows, seat, lacked = rows[some], seat[some], lacked[some]
        after, passes = state.num_events[rows], state.passes
        for row, number, who, cards in zip(rows.tolist(), after.tolist(), seat.tolist(), lacked.tolist(), strict=True):
            passes[row] = Pass(passes[row], number, who, cards)

    def _swap(self, state: SlopesState, rows: Rows, numbers: NDArray[np.int64]) -> None:
        """Exchange the begun pile with another, or with itself (R13)."""
        here = PILES * rows + state.begun[rows]
        there = PILES * rows + PILE[PILES * state.seat[rows] + numbers]
        for flat in (state.tops.reshape(-1), state.frozen_by.reshape(-1)):
            flat[here], flat[there] = flat[there], flat[here]

    def _end_turn(self, state: SlopesState, rows: Rows, draws: NDArray[np.int64], rewards: NDArray[np.float32]) -> None:
        """Draw for a special, see who has won, and begin the next turn (R3, R14, R16, R17)."""
        mover = state.seat[rows].astype(np.int64)
        turns = state.turns[rows] + 1
        state.turns[rows] = turns
        state.begun[rows] = -1
        state.duplicate[rows] = False
        state.swapping[rows] = False
        winner = WINNER[_index(NUMBER.take(state.tops.take(rows, axis=0).T))]
        over = (winner >= 0) | (turns >= self.rules.max_turns)
        state.seat[rows] = np.where(over, -1, 1 - mover)
        frozen_by = state.frozen_by.take(rows, axis=0)
        thawed = (frozen_by == (1 - mover)[:, None]) & ~over[:, None]
        state.frozen_by[rows] = np.where(thawed, -1, frozen_by)
        self._draw_between(state, rows, mover, draws, ~over)
        if over.any():
            self._end_match(state, rows[over], winner[over], rewards)

    def _end_match(
        self, state: SlopesState, rows: Rows, winner: NDArray[np.int8], rewards: NDArray[np.float32]
    ) -> None:
        state.hand[rows] += 1
        state.terminated[rows] = winner >= 0
        state.truncated[rows] = winner < 0
        result = RESULT[winner]
        state.scores[rows] = result
        rewards[rows] = result

    # -- what a seat knows -----------------------------------------------------------------------------------------

    def observe_all(self, state: SlopesState, seats: ArrayLike, out: Observation | None = None) -> Observation:
        seats = as_seats(seats, len(state), P)
        values = self._values(state, seats)
        own = row_starts(len(state), P) + seats
        values["other_hand"] = _halves(state.hands.reshape(-1, 2).take(own ^ 1, axis=0))
        next_card = np.minimum(state.next_card, SIZE - 1) + row_starts(len(state), SIZE)
        values["next_card"] = np.where(state.next_card < SIZE, state.stock.reshape(-1)[next_card], -1)
        return self.observation_all.pack(len(state), values, out)

    def _values(self, state: SlopesState, seats: NDArray[np.int64]) -> dict[str, Any]:
        b = len(state)
        own = row_starts(b, P) + seats
        both = np.stack([own, own ^ 1])  # places of the own seat and of the other
        piles = PILE.reshape(P, PILES).T.take(seats, axis=1)
        spots = piles + row_starts(b, PILES)
        hands = state.hands.reshape(-1, 2).take(both, axis=0)
        counts = np.bitwise_count(hands)
        sizes = np.add(counts[..., 0], counts[..., 1], dtype=np.int64)
        known = state.shown.reshape(-1, 2).take(both, axis=0)
        stock = SIZE - state.next_card
        empty = np.flatnonzero(stock == 0)
        known[:, empty] = hands[:, empty]
        tops = state.tops.take(spots)
        numbers = NUMBER.take(tops)
        frozen_by = state.frozen_by.take(spots)
        lacked = state.lacked.take(both[1])
        drawn_since = state.drawn_since.take(both[1])
        over = state.seat < 0
        return {
            "hand": _halves(hands[0]),
            "known": _halves(known[1]),
            "shown": _halves(known[0]),
            "played": _halves(state.played),
            "top_face": FACE.take(tops),
            "top_colour": COLOUR.take(tops),
            "frozen": np.where(frozen_by < 0, -1, frozen_by ^ seats),
            "begun": np.where(state.begun < 0, -1, PILE[PILES * seats + state.begun]),
            "duplicate": state.duplicate,
            "phase": np.where(over, 2, state.swapping),
            "to_move": np.where(over, -1, state.seat ^ seats),
            "distance": DISTANCE.take(np.stack([_index(numbers), _index(numbers[::-1])])),
            "hand_level": np.minimum(sizes, HAND_LEVELS),
            "hand_sizes": sizes,
            "stock_level": (stock + 7) // 8,
            "stock": stock,
            "lacked": lacked,
            "drawn_since": np.where(lacked == 0, 0, np.minimum(drawn_since, DRAWN_LEVELS)),
            "turn_level": state.turns * np.int64(TURN_LEVELS) // self._max_turns,
            "turns": state.turns,
        }

    def _values_of_one(self, state: SlopesState, seat: int) -> dict[str, int | list[int]]:
        """The same of the only game of a batch, in plain numbers."""
        hands = [_whole(state.hands[0, who]) for who in (seat, 1 - seat)]
        sizes = [hand.bit_count() for hand in hands]
        stock = SIZE - state.next_card.item()
        told, known = [_whole(state.shown[0, who]) for who in (seat, 1 - seat)] if stock else hands
        tops, frozen_by = state.tops.tolist()[0], state.frozen_by.tolist()[0]
        if seat:  # R2
            tops.reverse()
            frozen_by.reverse()
        numbers = [NUMBER.item(top) for top in tops]
        lacked = state.lacked.item(1 - seat)
        begun, mover, turns = state.begun.item(), state.seat.item(), state.turns.item()
        return {
            "hand": _halves_of_one(hands[0]),
            "known": _halves_of_one(known),
            "shown": _halves_of_one(told),
            "played": _halves_of_one(_whole(state.played[0])),
            "top_face": [FACE.item(top) for top in tops],
            "top_colour": [COLOUR.item(top) for top in tops],
            "frozen": [-1 if by < 0 else by ^ seat for by in frozen_by],
            "begun": -1 if begun < 0 else PILE.item(PILES * seat + begun),
            "duplicate": int(state.duplicate.item()),
            "phase": 2 if mover < 0 else int(state.swapping.item()),
            "to_move": -1 if mover < 0 else mover ^ seat,
            "distance": [DISTANCE.item(_index(numbers)), DISTANCE.item(_index(numbers[::-1]))],
            "hand_level": [min(size, HAND_LEVELS) for size in sizes],
            "hand_sizes": sizes,
            "stock_level": (stock + 7) // 8,
            "stock": stock,
            "lacked": lacked,
            "drawn_since": min(state.drawn_since.item(1 - seat), DRAWN_LEVELS) if lacked else 0,
            "turn_level": turns * TURN_LEVELS // self._max_turns,
            "turns": turns,
        }

    def resample(self, state: SlopesState, seats: ArrayLike, keys: UInt64, bids: BidModel | None = None) -> SlopesState:
        """Draw the other's hand afresh, but for what is known of it, and the order of the stock.

        Exact: every physical deal that agrees with all the seat has seen is equally likely.  A pass under
        ``must_play`` binds the cards held then, and when a card put later had been drawn is hidden; see
        :class:`Filling`.
        """
        b = len(state)
        rows = np.arange(b)
        other = 1 - as_seats(seats, b, P)
        world = state.copy()
        world.scripts = None
        world.seed = derive(keys, Purpose.WORLD, 0)
        world.orders[:] = None
        known = _counts(state.shown[rows, other])
        hidden = _counts(state.hands[rows, other]) - known
        sizes = hidden.sum(axis=1)
        hidden += _tally(state.stock.astype(np.int64), np.arange(SIZE) >= state.next_card[:, None])
        hand = _some_of(derive(keys, Purpose.WORLD, 1), hidden, sizes)
        passed, fillings, which = _fillings_of(state, other, hidden)
        if len(passed):
            hand[passed] = hands_after_passes(keys[passed], fillings, which)
        world.hands[rows, other] = _words(hand + known)
        world.stock = _shuffled(derive(keys, Purpose.WORLD, 2), hidden - hand)
        world.legal_actions = self._legal(world)
        return world

    # -- names -----------------------------------------------------------------------------------------------------

    def action_name(self, state: SlopesState, i: int, action: int) -> str:
        self._known_action(action)
        if action < END:
            return f"{DECK.name(action // PILES)} on {action % PILES + 1}"
        if action == END:
            return "end"
        return "keep" if action == self._keep(state, i) else f"swap {action - END}"

    def _keep(self, state: SlopesState, i: int) -> int:
        """Number of ``keep`` in game ``i``; -1 if no reverse awaits its swap."""
        if not state.swapping[i]:
            return -1
        return SWAP + int(PILE[PILES * int(state.seat[i]) + int(state.begun[i])])

    def parse_action(self, state: SlopesState, i: int, text: str) -> int:
        if text == "keep" and state.swapping[i]:
            return self._keep(state, i)
        action = ACTION_NUMBERS.get(str(text))
        if action is None or action == self._keep(state, i):
            raise UnknownName("action", text, [*ACTIONS, *(["keep"] if state.swapping[i] else [])])
        return action

    def describe(self, state: SlopesState, i: int, seat: int | None = None) -> dict[str, Any]:
        """Game ``i`` in plain named values; piles from pile 1 of ``seat``, or of seat 0 if all is told."""
        over = bool(state.seat[i] < 0)
        known = state.hands[i] if state.next_card[i] == SIZE else state.shown[i]
        order = [int(pile) for pile in PILE[PILES * (seat or 0) :][:PILES]]

        def number(pile: int) -> int | None:
            return None if pile < 0 else order.index(pile) + 1

        return {
            "game": self.name,
            "turn_number": int(state.turns[i]) + (not over),
            "phase": "over" if over else "swap" if state.swapping[i] else "play",
            "to_move": None if over else int(state.seat[i]),
            "first_player": int(state.first_player[i]),
            "hands": {s: _names(state.hands[i, s]) for s in range(P) if seat is None or s == seat},
            "hand_sizes": [int(n) for n in np.bitwise_count(state.hands[i]).sum(axis=1)],
            "known": {s: _names(known[s]) for s in range(P)},
            "tops": [DECK.name(state.tops[i, pile]) if state.tops[i, pile] >= 0 else None for pile in order],
            "frozen_by": [int(state.frozen_by[i, pile]) if state.frozen_by[i, pile] >= 0 else None for pile in order],
            "begun": number(int(state.begun[i])),
            "duplicate": bool(state.duplicate[i]),
            "played": _names(state.played[i]),
            "stock_size": SIZE - int(state.next_card[i]),
            "reshuffles": int(state.reshuffles[i]),
            "lacked": {s: DECK.names_of(int(state.lacked[i, s])) for s in range(P)},
            "scores": [int(n) for n in state.scores[i]],
        }


class Filling(NamedTuple):
    """How the unknown part of a hand can be made up whose seat has passed under ``must_play``.

    The cards that the seat drew between two of its passes form a group; those of one group have been there at the
    same passes.  A card put came from some group that may have held it.  Counting the ways for every number of cards
    left in the groups, event by event, gives the chances of those numbers.  Then the groups are filled from the
    oldest on: what a group must not hold, no older one may hold either, so the number of ways to fill the next place
    never depends on how the places before were filled, and each filling is drawn uniformly.
    """

    left: NDArray[np.int64]  # [ways, groups] numbers of cards left in the groups that are possible
    chances: NDArray[np.float64]  # [ways] of these numbers, added up
    open_to: NDArray[np.int64]  # [groups, 54] counts of the cards that may be in each group

    @classmethod
    def make(
        cls, hidden: NDArray[np.int64], seat: int, dealt: int, events: bytes, passes: tuple[tuple[int, int], ...]
    ) -> Filling:
        """Count the ways.

        Parameters
        ----------
        hidden
            ``int64[54]``, counts of the cards that may be in the hand.
        seat
            Whose hand it is.
        dealt
            How many unknown cards it had when the events begin.
        events
            As in :class:`SlopesState`.
        passes
            Its passes: after how many events, and what was lacked.
        """
        put = {event % TYPES for event in events if event < EVENT_KNOWN and event // TYPES == seat}
        relevant = sum(1 << card for card in {*np.flatnonzero(hidden).tolist(), *put})
        banned, ways = _groups_after_passes(seat, dealt, events, passes, relevant)
        allowed = (np.array(banned, dtype=np.uint64)[:, None] & BIT[:TYPES]) == 0
        open_to = hidden * allowed
        totals = open_to.sum(axis=1).tolist()
        ends = list(accumulate(number * _fillings(left, totals) for left, number in ways.items()))
        return cls(np.array(list(ways)), np.array([end / ends[-1] for end in ends]), open_to)


def hands_after_passes(keys: UInt64, fillings: Sequence[Filling], which: NDArray[np.int64]) -> NDArray[np.int64]:
    """Draw the unknown parts of hands whose seats have passed, exactly: counts ``int64[N, 54]``.

    Parameters
    ----------
    keys
        ``uint64[N]``
    fillings
        Those of different information sets.
    which
        ``int64[N]``, which of them each hand belongs to; rising.
    """
    point = (draw(keys, 1)[:, 0] >> np.uint64(11)) * 2.0**-53
    ends = np.searchsorted(which, np.arange(len(fillings) + 1))
    groups = max(len(filling.open_to) for filling in fillings)
    left = np.zeros((len(keys), groups), dtype=np.int64)
    open_to = np.zeros((len(fillings), groups, TYPES), dtype=np.int64)
    for number, filling in enumerate(fillings):
        here = slice(ends[number], ends[number + 1])
        chosen = filling.left[np.searchsorted(filling.chances, point[here], side="right")]
        left[here, : chosen.shape[1]] = chosen
        open_to[number, : chosen.shape[1]] = filling.open_to
    hands = np.zeros((len(keys), TYPES), dtype=np.int64)
    for group in range(groups):
        some = np.flatnonzero(left[:, group])
        if len(some):
            free = np.maximum(open_to[which[some], group] - hands[some], 0)
            hands[some] += _some_of(derive(keys[some], Purpose.WORLD, 3, group), free, left[some, group])
    return hands


def _fillings_of(
    state: SlopesState, seats: NDArray[np.int64], hidden: NDArray[np.int64]
) -> tuple[Rows, list[Filling], NDArray[np.int64]]:
    """The games in which one of ``seats`` has passed and may hold unknown cards, their fillings, and which is whose.

    Neighbours with the same history share a filling.
    """
    noted = [row for row, last in enumerate(state.passes) if last is not None]
    rows = np.array(noted, dtype=np.int64)
    rows = rows[state.next_card[rows] < SIZE]
    new = np.ones(len(rows), dtype=np.bool_)
    new[1:] = [state.passes[row] is not state.passes[before] for before, row in pairwise(rows.tolist())]
    for array in (seats[:, None], state.num_events[:, None], state.reshuffles[:, None], state.events, hidden):
        new[1:] |= (array[rows[1:]] != array[rows[:-1]]).any(axis=1)
    found: list[Filling] = []
    which = np.full(len(rows), -1, dtype=np.int64)
    for start, end in pairwise([*np.flatnonzero(new).tolist(), len(rows)]):
        row = rows[start]
        passes = _passes_of(int(seats[row]), state.passes[row])
        if passes:
            dealt, events = 0 if state.reshuffles[row] else HAND, state.events[row, : state.num_events[row]].tobytes()
            which[start:end] = len(found)
            found.append(Filling.make(hidden[row], int(seats[row]), dealt, events, passes))
    return rows[which >= 0], found, which[which >= 0]


def _passes_of(seat: int, last: Pass | None) -> tuple[tuple[int, int], ...]:
    """The passes of one seat, in order: after how many events, and what was lacked."""
    passes = []
    while last is not None:
        if last.seat == seat:
            passes.append((last.after, last.lacked))
        last = last.earlier
    return tuple(reversed(passes))


@lru_cache(maxsize=256)
def _groups_after_passes(
    seat: int, dealt: int, events: bytes, passes: tuple[tuple[int, int], ...], relevant: int = (1 << TYPES) - 1
) -> tuple[list[int], dict[tuple[int, ...], int]]:
    """What each group must not hold, as bit sets, and in how many ways so many cards are left in the groups.

    Only cards of ``relevant`` (a bit set) can be in the groups.  Groups that must not hold the same are one.
    """
    lacked = list(passes)
    banned = [0]
    ways: dict[tuple[int, ...], int] = {(dealt,): 1}
    for number in range(len(events) + 1):
        while lacked and lacked[0][0] == number:
            cards = lacked.pop(0)[1] & relevant
            banned, ways = _one_of_each([*(group | cards for group in banned), 0], ways)
        if number == len(events):
            break
        event = events[number]
        if event == EVENT_DRAW + seat:
            ways = {(*left[:-1], left[-1] + 1): count for left, count in ways.items()}
        elif event < EVENT_KNOWN and event // TYPES == seat:
            sources = [group for group, cards in enumerate(banned) if not cards >> event % TYPES & 1]
            ways = _after_putting(ways, sources)
    return banned, ways


def _one_of_each(banned: list[int], ways: dict[tuple[int, ...], int]) -> tuple[list[int], dict[tuple[int, ...], int]]:
    """Put groups together that must not hold the same, which are neighbours, and add an empty group at the end."""
    starts = [group for group, cards in enumerate(banned) if group == 0 or cards != banned[group - 1]]
    together: dict[tuple[int, ...], int] = {}
    for left, count in ways.items():
        merged = tuple(sum((*left, 0)[start:end]) for start, end in pairwise([*starts, len(banned)]))
        together[merged] = together.get(merged, 0) + count
    return [banned[start] for start in starts], together


def _after_putting(ways: dict[tuple[int, ...], int], sources: Sequence[int]) -> dict[tuple[int, ...], int]:
    """The ways after a card has been put that may have come from one of some groups."""
    after: dict[tuple[int, ...], int] = {}
    for left, count in ways.items():
        for group in sources:
            if left[group]:
                rest = (*left[:group], left[group] - 1, *left[group + 1 :])
                after[rest] = after.get(rest, 0) + count * left[group]
    return after


def _fillings(left: Sequence[int], open_to: Sequence[int]) -> int:
    """In how many ways the places left in the groups, in order, can be filled, so many cards being open to each."""
    ways, placed = 1, 0
    for size, cards in zip(left, open_to, strict=True):
        for _ in range(size):
            ways *= max(cards - placed, 0)
            placed += 1
    return ways


def _some_of(keys: UInt64, counts: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Counts of ``sizes`` cards drawn at random from ``counts`` ``int64[N, 54]``."""
    return _tally(_shuffled(keys, counts).astype(np.int64), np.arange(SIZE) >= SIZE - sizes[:, None])


def _halves(words: UInt64) -> UInt64:
    """The 112 bits of counts ``uint64[B, 2]`` as two words of 56, ``uint64[2, B]``."""
    return np.stack([words[:, 0] & HALF, words[:, 0] >> SHIFT_OUT | words[:, 1] << SHIFT_IN])


def _halves_of_one(bits: int) -> list[int]:
    """The same of one count, as one number."""
    return [bits & int(HALF), bits >> 56]


def _names(words: UInt64) -> list[str]:
    """Names of the cards of one count ``uint64[2]``, each as often as it is there."""
    return [DECK.name(card) for card, count in enumerate(_counts(words[None])[0]) for _ in range(count)]


def _held(counts: UInt64) -> UInt64:
    """Four action bits for each card that is there, ``uint64[B, 4]``, of counts ``uint64[B, 2]``."""
    index = counts.astype("<u8", copy=False).view("<u2").astype(np.int64)
    index[:, WILDS] += 1 << 16
    return SPREAD.take(index).astype("<u4", copy=False).view("<u8").astype(np.uint64, copy=False)


def _shuffled(keys: UInt64, counts: NDArray[np.int64]) -> NDArray[np.int8]:
    """The cards of ``counts`` ``int64[N, 54]`` in random order: at the end of ``int8[N, 108]``, after whatever."""
    order = draw(keys, BITS)
    order &= ~np.uint64(BITS - 1)
    order |= np.arange(BITS, dtype=np.uint64)
    order[counts.take(BIT_CARD, axis=1) < BIT_COPY] = 0
    order.sort(axis=1)
    return BIT_CARD.take((order[:, BITS - SIZE :] & np.uint64(BITS - 1)).view(np.int64)).astype(np.int8)


GAME = Slopes
