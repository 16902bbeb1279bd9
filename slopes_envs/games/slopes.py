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
from itertools import combinations, product
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..cards import BIT, Deck, cards_in
from ..chance import Purpose, UInt64, below, derive, draw, shuffle
from ..errors import DealError, ScriptExhausted, UnknownName, shown
from ..game import Game, Rows, Rules, State, option, parse_hand_object, row_starts

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


def _face(card: int) -> int:
    return card % len(FACES) if card < COLOURED else WILD + card - COLOURED


def _colour(card: int) -> int:
    return card // len(FACES) if card < COLOURED else -1


FACE = np.array([*(_face(card) for card in range(TYPES)), -1], dtype=np.int8)  # by card; -1 for none, which is last
COLOUR = np.array([*(_colour(card) for card in range(TYPES)), -1], dtype=np.int8)
IS_SPECIAL = FACE[:TYPES] >= NUMBERS
DRAWS = np.select([FACE[:TYPES] == DRAW_TWO, FACE[:TYPES] == WILD_DRAW], [2, 4], 0).astype(np.int8)  # R14
# By ``56 * top + card``: whether a card covers an equal number (R7).
EQUAL = ((FACE[:, None] == FACE) & (FACE[:, None] >= 0) & (FACE[:, None] < NUMBERS)).reshape(-1)
ENDS_TURN = np.array([_face(a // PILES) >= NUMBERS and _face(a // PILES) != REVERSE for a in range(END)] + [True] * 5)


# ------------------------------------------------------------------------------------------------ what may be put where


class Mode:
    """How far a pile is open to the player to act."""

    OPEN = 0
    DUPLICATE = 1  # he has just covered an equal number there
    CLOSED = 2  # frozen, or another pile has been begun
    COUNT = 5  # tables add 2 to the mode of a frozen pile, so modes 3 and 4 are closed as well


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


TOPS = TYPES + 1  # tops of a pile, none included: it comes first


def _playable() -> NDArray[np.uint64]:
    """Cards that may be put on a pile, as bit sets, by mode and top: ``uint64[modes, tops]``."""
    table = np.zeros((Mode.COUNT, TOPS), dtype=np.uint64)
    for mode, top, card in product(range(Mode.COUNT), range(-1, TYPES), range(TYPES)):
        open_ = mode < Mode.CLOSED and fits(card, top, mode == Mode.DUPLICATE)
        if open_ or takes_control(card, top):
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
FROZEN = np.int64(Mode.CLOSED * TOPS)  # to add to the place of a pile in ``PLAYABLE`` if it is frozen


def _places() -> NDArray[np.int64]:
    """Where the piles stand in ``ALLOWED``, for the top 0 and not frozen, by turn (below): ``int64[turns, piles]``."""
    table = np.empty((P, PILES + 1, 2, PILES), dtype=np.int64)
    for seat, begun, duplicate, pile in product(range(P), range(-1, PILES), range(2), range(PILES)):
        mode = Mode.OPEN if begun < 0 else Mode.CLOSED if begun != pile else Mode.DUPLICATE if duplicate else Mode.OPEN
        table[seat, begun + 1, duplicate, pile] = ((PILES * seat + pile) * Mode.COUNT + mode) * TOPS + 1
    return table.reshape(-1, PILES)


PLACES = _places()  # by turn: ``10 * seat + 2 * (begun + 1) + duplicate``
END_BIT = np.array(_words_of([END]), dtype=np.uint64)


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


def _remove(words: UInt64, at: Rows, cards: NDArray[Any]) -> NDArray[np.bool_]:
    """Remove one card from each of the counts at ``at`` that has it; which had it."""
    at = at + WORD[cards]
    field = FIELD[cards]
    word = words[at]
    held = word & field
    words[at] = word ^ held ^ ((held >> ONE) & field)
    return held != 0


def _counting_bits(words: UInt64) -> NDArray[np.uint8]:
    """``uint8[N, 128]`` of counts ``uint64[N, 2]``."""
    little = np.ascontiguousarray(words).astype("<u8", copy=False)
    return np.unpackbits(little.view(np.uint8), axis=1, bitorder="little")


def _count(cards: NDArray[np.int64], many: NDArray[np.bool_]) -> UInt64:
    """Counts ``uint64[N, 2]`` of the cards ``int64[N, K]`` where ``many`` is true."""
    flat = (cards + row_starts(len(cards), TYPES)[:, None])[many]
    counts = np.bincount(flat, minlength=len(cards) * TYPES).reshape(-1, TYPES)
    bits = counts[:, BIT_CARD] >= BIT_COPY
    return np.packbits(bits, axis=1, bitorder="little").view("<u8").astype(np.uint64)


def _cards(words: UInt64) -> list[int]:
    """Cards of one count ``uint64[2]``, in order, each as often as it is there."""
    return [int(card) for card in BIT_CARD[np.flatnonzero(_counting_bits(words[None])[0])]]


def _spread() -> NDArray[np.uint16]:
    """By a byte of counts: four action bits for each card that is there; from 256 on for the byte of the wilds."""
    table = np.zeros(512, dtype=np.uint16)
    for byte in range(256):
        table[byte] = sum(0b1111 << 4 * field for field in range(4) if byte >> 2 * field & 3)
        table[256 + byte] = sum(0b1111 << 4 * field for field in range(2) if byte >> 4 * field & 15)
    return table


SPREAD = _spread()
WILDS_BYTE = 13


# ------------------------------------------------------------------------------------------------------- the slopes

# The numbers on four piles as one index: ``sum(number * 11**(3 - place))``, 10 for whatever is no number.
_NO_NUMBER = NUMBERS
NUMBER = np.array([n if 0 <= n < NUMBERS else _NO_NUMBER for n in FACE], dtype=np.int64)  # by card
WEIGHTS = np.array([11**3, 11**2, 11, 1], dtype=np.int64)


def _slopes() -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    """By the numbers shown: the winner (R16, -1 for none), and how many piles differ from the nearest rising slope."""
    shown_ = np.indices((11,) * PILES).reshape(PILES, -1)
    winner = np.full(11**PILES, -1, dtype=np.int8)
    distance = np.full(11**PILES, PILES, dtype=np.int8)
    for rising in combinations(range(NUMBERS), PILES):
        winner[np.dot(WEIGHTS, rising)] = 0
        winner[np.dot(WEIGHTS, rising[::-1])] = 1
        np.minimum(distance, sum((shown_[k] != rising[k]).astype(np.int8) for k in range(PILES)), out=distance)
    return winner, distance


WINNER, DISTANCE = _slopes()


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

    *Counts* are counting bits (above).  The last three fields are the public history since the last reshuffle that
    tells what a pass has shown under ``must_play``.
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
    next_card: NDArray[np.int16]  # [B] place in ``stock`` of the next card; 108 when the stock is empty
    reshuffles: NDArray[np.int32]  # [B] how often the stock was renewed
    orders: NDArray[np.object_]  # [B] the deck as dealt and every new stock, a tuple of bytes; None in sampled worlds


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

    # -- beginning -------------------------------------------------------------------------------------------------

    def _start(self, seeds: UInt64, scripts: NDArray[np.object_] | None) -> SlopesState:
        b = len(seeds)
        state = SlopesState(
            seed=seeds.copy(),
            hand=np.zeros(b, np.int32),
            move=np.zeros(b, np.int32),
            seat=np.zeros(b, np.int8),
            scores=np.zeros((b, P), np.int32),
            terminated=np.zeros(b, np.bool_),
            truncated=np.zeros(b, np.bool_),
            scripts=scripts,
            first_player=np.zeros(b, np.int8),
            turns=np.zeros(b, np.int32),
            hands=np.zeros((b, P, 2), np.uint64),
            shown=np.zeros((b, P, 2), np.uint64),
            played=np.zeros((b, 2), np.uint64),
            tops=np.full((b, PILES), -1, np.int8),
            frozen_by=np.full((b, PILES), -1, np.int8),
            begun=np.full(b, -1, np.int8),
            duplicate=np.zeros(b, np.bool_),
            swapping=np.zeros(b, np.bool_),
            stock=np.zeros((b, SIZE), np.int8),
            next_card=np.full(b, TO_STOCK, np.int16),
            reshuffles=np.zeros(b, np.int32),
            orders=np.full(b, None, dtype=object),
        )
        if self.rules.first_player is None:
            state.first_player[:] = below(derive(seeds, Purpose.FIRST_SEAT), P)
        else:
            state.first_player[:] = self.rules.first_player
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
        hands, played = state.hands.reshape(-1), state.played.reshape(-1)
        for place in range(DEALT):
            _add(hands, 2 * (P * rows + place // HAND), order[:, place])
        for pile in (1, 2):
            card = order[:, DEALT + pile - 1]
            state.tops[:, pile] = card
            _add(played, 2 * rows, card)
        state.stock[...] = order
        for row in range(b):
            state.orders[row] = (order[row].tobytes(),)
        state.seat[:] = state.first_player
        self._draw(state, rows)

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
        """The seats to move in some games draw one card each (R15)."""
        place = state.next_card[rows]
        empty = place == SIZE
        if empty.any():
            self._reshuffle(state, rows[empty])
            rows = rows[state.next_card[rows] < SIZE]
            place = state.next_card[rows]
        card = state.stock.reshape(-1)[rows * SIZE + place]
        state.next_card[rows] = place + 1
        _add(state.hands.reshape(-1), 2 * (P * rows + state.seat[rows]), card)

    def _reshuffle(self, state: SlopesState, rows: Rows) -> None:
        """Renew the empty stocks of some games, where there is a card under the tops (R15)."""
        under = state.played[rows]
        tops = state.tops[rows]
        for pile in range(PILES):
            _remove(under.reshape(-1), row_starts(len(rows), 2), tops[:, pile])
        some = np.flatnonzero(under.any(axis=1))
        if not len(some):
            return
        rows, under = rows[some], under[some]
        sizes = np.bitwise_count(under).sum(axis=1, dtype=np.int16)
        keys = derive(state.seed[rows], Purpose.RESHUFFLE, state.hand[rows], state.reshuffles[rows])
        stock = _shuffled(keys, under)
        for place, new in self._scripted_reshuffles(state, rows, under):
            stock[place, SIZE - len(new) :] = new
        state.stock[rows] = stock
        state.next_card[rows] = SIZE - sizes
        for place, row in enumerate(rows):
            if state.orders[row] is not None:
                state.orders[row] += (stock[place, SIZE - sizes[place] :].tobytes(),)
        played = np.zeros_like(under)
        for pile in range(PILES):
            _add(played.reshape(-1), row_starts(len(rows), 2), state.tops[rows, pile])
        state.played[rows] = played
        state.reshuffles[rows] += 1
        state.shown[rows] = state.hands[rows]  # with no stock, all that a seat does not see is in the other's hand

    def _scripted_reshuffles(
        self, state: SlopesState, rows: Rows, under: UInt64
    ) -> list[tuple[int, NDArray[np.int8]]]:
        """Which of ``rows`` take their new stock from a script: places in ``rows``, with the cards."""
        found: list[tuple[int, NDArray[np.int8]]] = []
        if state.scripts is None:
            return found
        for place, row in enumerate(rows):
            script, number = state.scripts[row], int(state.reshuffles[row])
            if script is None or not script.deals:
                continue
            where = {"game": self.name, "match": int(row) + 1, "hand": 1}
            given = script.deals[0].reshuffles
            if number < len(given):
                if sorted(given[number].tolist()) != _cards(under[place]):
                    raise DealError(f"reshuffle {number + 1} is not of the cards under the tops", **where)
                found.append((place, given[number]))
            elif not script.goes_on:
                raise ScriptExhausted(
                    f"the deal has no reshuffle {number + 1}, and no seed to go on from was given", **where
                )
        return found

    # -- what may be done ------------------------------------------------------------------------------------------

    def legal_words(self, state: SlopesState) -> UInt64:
        b = len(state)
        seat = np.maximum(state.seat, 0).astype(np.int64)  # for finished games any seat will do
        place = PLACES.take(10 * seat + 2 * state.begun + 2 + state.duplicate, axis=0)
        place += state.tops
        place += (state.frozen_by >= 0) * FROZEN
        allowed = ALLOWED.take(place, axis=0)
        words = allowed[:, 0] | allowed[:, 1]
        words |= allowed[:, 2]
        words |= allowed[:, 3]
        words &= _held(state.hands.reshape(-1, 2)[seat + row_starts(b, P)])
        can_end = state.begun >= 0
        if self.rules.must_play:
            can_end |= (words[:, 0] | words[:, 1] | words[:, 2] | words[:, 3]) == 0
        else:
            can_end[:] = True
        words[:, 3] |= can_end * END_BIT[3]
        swapping = np.flatnonzero(state.swapping)
        if len(swapping):
            words[swapping] = self._swaps(state, swapping)
        if state.seat.min(initial=0) < 0:
            words[state.seat < 0] = 0
        return words

    def _swaps(self, state: SlopesState, rows: Rows) -> UInt64:
        """Legal actions after a reverse: every pile that has a card, its own for ``keep`` (R13)."""
        filled = state.tops[rows[:, None], PILE.reshape(P, PILES)[state.seat[rows]]] >= 0
        words = np.zeros((len(rows), ACTION_WORDS), dtype=np.uint64)
        words[:, SWAP // 64] = (filled * BIT[SWAP % 64 : SWAP % 64 + PILES]).sum(axis=1, dtype=np.uint64)
        return words

    def _apply(self, state: SlopesState, actions: NDArray[np.int64], rewards: NDArray[np.float32]) -> None:
        state.move += 1
        cards = np.flatnonzero(actions < END)
        if len(cards):
            self._put(state, cards, actions[cards])
        swaps = np.flatnonzero(actions > END)
        if len(swaps):
            self._swap(state, swaps, actions[swaps] - SWAP)
        ended = np.flatnonzero(ENDS_TURN[actions])
        if len(ended):
            self._end_turn(state, ended, rewards)

    def _put(self, state: SlopesState, rows: Rows, actions: NDArray[np.int64]) -> None:
        """Put a card on a pile (R4 to R12)."""
        seat = state.seat[rows].astype(np.int64)
        card = actions // PILES
        pile = PILE[PILES * seat + actions % PILES]
        spot = PILES * rows + pile
        tops = state.tops.reshape(-1)
        state.duplicate[rows] = EQUAL[(TYPES + 1) * tops[spot].astype(np.int64) + card]
        state.begun[rows] = pile
        tops[spot] = card
        held = 2 * (P * rows + seat)
        _remove(state.hands.reshape(-1), held, card)
        _remove(state.shown.reshape(-1), held, card)
        _add(state.played.reshape(-1), 2 * rows, card)
        special = np.flatnonzero(IS_SPECIAL[card])
        if len(special):
            state.frozen_by.reshape(-1)[spot[special]] = seat[special]
            face = FACE[card[special]]
            state.swapping[rows[special[face == REVERSE]]] = True
            self._draw_many(state, rows[special], DRAWS[card[special]])

    def _draw_many(self, state: SlopesState, rows: Rows, counts: NDArray[np.int8]) -> None:
        for drawn in range(int(counts.max())):
            self._draw(state, rows[counts > drawn])

    def _swap(self, state: SlopesState, rows: Rows, numbers: NDArray[np.int64]) -> None:
        """Exchange the begun pile with another, or with itself (R13)."""
        here = PILES * rows + state.begun[rows]
        there = PILES * rows + PILE[PILES * state.seat[rows] + numbers]
        for flat in (state.tops.reshape(-1), state.frozen_by.reshape(-1)):
            flat[here], flat[there] = flat[there], flat[here]

    def _end_turn(self, state: SlopesState, rows: Rows, rewards: NDArray[np.float32]) -> None:
        """See who has won, and begin the next turn (R3, R16, R17)."""
        turns = state.turns[rows] + 1
        state.turns[rows] = turns
        state.begun[rows] = -1
        state.duplicate[rows] = False
        state.swapping[rows] = False
        winner = WINNER[NUMBER[state.tops[rows]] @ WEIGHTS]
        over = (winner >= 0) | (turns >= self.rules.max_turns)
        if over.any():
            self._end_match(state, rows[over], winner[over], rewards)
            rows = rows[~over]
        seat = 1 - state.seat[rows]
        state.seat[rows] = seat
        frozen_by = state.frozen_by[rows]
        frozen_by[frozen_by == seat[:, None]] = -1
        state.frozen_by[rows] = frozen_by
        self._draw(state, rows)

    def _end_match(
        self, state: SlopesState, rows: Rows, winner: NDArray[np.int8], rewards: NDArray[np.float32]
    ) -> None:
        state.hand[rows] += 1
        state.seat[rows] = -1
        state.terminated[rows] = winner >= 0
        state.truncated[rows] = winner < 0
        result = RESULT[winner]
        state.scores[rows] = result
        rewards[rows] = result

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

    def observe(self, state, seats, out=None):
        raise NotImplementedError

    def observe_all(self, state, seats, out=None):
        raise NotImplementedError

    def resample(self, state, seats, keys, bids=None):
        raise NotImplementedError

    def parse_action(self, state: SlopesState, i: int, text: str) -> int:
        if text == "keep" and state.swapping[i]:
            return self._keep(state, i)
        action = ACTION_NUMBERS.get(text, -1) if isinstance(text, str) else -1
        if action < 0 or action == self._keep(state, i):
            raise UnknownName("action", text, [*ACTIONS, *(["keep"] if state.swapping[i] else [])])
        return action

    def describe(self, state, i, seat=None):
        raise NotImplementedError


def _held(counts: UInt64) -> UInt64:
    """Four action bits for each card that is there, ``uint64[B, 4]``, of counts ``uint64[B, 2]``."""
    index = counts.view(np.uint8).astype(np.int64)
    index[:, WILDS_BYTE] += 256
    return SPREAD.take(index).view(np.uint64)


def _shuffled(keys: UInt64, words: UInt64) -> NDArray[np.int8]:
    """A random order of counted cards, ``int8[N, 108]``: at the end of each row, whatever before."""
    order = draw(keys, BITS)
    order &= ~np.uint64(BITS - 1)
    order |= np.arange(BITS, dtype=np.uint64)
    order[_counting_bits(words) == 0] = 0
    order.sort(axis=1)
    return BIT_CARD.take((order[:, BITS - SIZE :] & np.uint64(BITS - 1)).view(np.int64)).astype(np.int8)


ACTIONS = (
    *(f"{name} on {number}" for name in DECK.names for number in range(1, PILES + 1)),
    "end",
    *(f"swap {number}" for number in range(1, PILES + 1)),
)
ACTION_NUMBERS = {name: number for number, name in enumerate(ACTIONS)}
EMPTY = [True, False, False, True]  # which piles are empty at the beginning
RESULT = np.array([[1, -1], [-1, 1], [0, 0]], dtype=np.int8)  # scores by winner; a draw is -1, which is last

GAME = Slopes
