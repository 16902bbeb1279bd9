"""A club player of Slopes: plans whole turns, knows what a row of piles is worth, and saves its cards.

What it goes by
---------------
1. **Chains.**  Number cards that fit on each other form chains, and a pile can be turned into whatever the cards
   connected with its top show (:func:`plan`).  So a turn ends with one pile changed to one of a few numbers, for a
   certain number of cards; or with a special on it, after an equal number has been covered; or as it began.
2. **Rows of piles.**  How good a row is for a seat is known for all of them, colours left aside: a simplified game in
   which both seats always hold hands of the same size, drawn afresh every turn, is solved by looking further and
   further ahead (:func:`experience`).  That takes care of both slopes, of gaps that are wide enough to be safe, and of
   the tempo.  It also tells which numbers would complete a slope, and how often such a need outlives the other's turn.
3. **Danger.**  Every unseen card that could win for the other seat at once is counted, by the place it would have to go
   to; what the other is known to hold counts more, and so do large hands.
4. **Threats.**  What its own cards could complete in its next turn, by how likely the other is to let it.
5. **Cards.**  Among good players most attacks are parried, and whoever has more cards parries more and attacks more.
   So it plays no more cards than a better row is worth, draws with specials whenever the row allows it, and keeps its
   wild draw fours for that.

How it decides
--------------
Each end of the turn is judged by the sum of these (:data:`JUDGEMENT`); a win at once beats them all, and a gift of one
loses to all.  Then the first card of a shortest way to the best end is put.  Having put it, the player thinks again.
It does not matter to it how many turns are left, nor which colours the piles show, but for its own chains.

Shape letters: **B** games, **L** ends of turns under consideration in all games together, **N** some rows of piles,
**R** all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from slopes_envs import InformationSet
from slopes_envs.cards import bits_of
from slopes_envs.chance import derive, shuffle
from slopes_envs.games.slopes import (
    CARDS,
    COLOURED,
    COLOURS,
    DISTANCE,
    DRAW_TWO,
    END,
    FACES,
    NUMBERS,
    PILES,
    SIZE,
    SKIP,
    SWAP,
    TYPES,
    WILD,
    WILD_DRAW,
)

from ..base import DeterministicAgent, where_free
from ..planes import ONE, place_of_bit, read_planes
from ..ragged import behind, best_first, best_of, place_of

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]
Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]

# --------------------------------------------------------------------------------------------------- sets of cards

LANE = len(FACES)  # a set of coloured cards is a word with a lane for each colour, as the deck numbers them
ALL = (1 << NUMBERS) - 1  # the set of all numbers


def _u(number: int) -> np.uint64:
    return np.uint64(number)


def _in_lanes(bits: int) -> int:
    return sum(bits << LANE * colour for colour in range(COLOURS))


NO_CARDS, PAIR, TEN_BITS = _u(0), _u(2), _u(ALL)
ANY_CARD = ~NO_CARDS
NUMBER_CARDS = _u(_in_lanes(ALL))
STEPPERS = _u(_in_lanes(ALL - 1))  # cards that take and bear steps of two: all numbers but 0
OF_NUMBER: Words = np.array([_in_lanes(1 << number) for number in range(NUMBERS)], dtype=np.uint64)
OF_COLOUR: Words = np.array([ALL << LANE * colour for colour in range(COLOURS)] + [int(NUMBER_CARDS)], dtype=np.uint64)
ANY_COLOUR = COLOURS  # of wilds: every number card may follow


def _ring(numbers: int) -> int:
    return bits_of((n + step) % NUMBERS for n in range(NUMBERS) if numbers >> n & 1 for step in (-1, 0, 1))


NEAR: Words = np.array([_in_lanes(_ring(numbers)) for numbers in range(ALL + 1)], dtype=np.uint64)
MEMBERS: Bools = (np.arange(ALL + 1)[:, None] >> np.arange(NUMBERS) & 1).astype(np.bool_)  # by set of numbers


def numbers_of(cards: Words) -> Ints:
    """The numbers that sets of cards show, as sets of ten bits."""
    halves = cards | cards >> _u(2 * LANE)
    numbers: Ints = ((halves | halves >> _u(LANE)) & TEN_BITS).view(np.int64)
    return numbers


def beside(cards: Words) -> Words:
    """All number cards that fit on one of ``cards``, which are number cards themselves (R6)."""
    steppers = cards & STEPPERS
    return NEAR.take(numbers_of(cards)) | ((steppers << PAIR | steppers >> PAIR) & STEPPERS)


def connected(start: Words, hand: Words) -> Words:
    """All cards that chains from ``hand`` can end with whose first card is one of ``start``."""
    while True:
        grown = start | beside(start) & hand
        if np.array_equal(grown, start):
            return start
        start = grown


def lowest(cards: Words) -> Ints:
    """Number of the first card of each set; the sets must not be empty."""
    card: Ints = np.bitwise_count((cards & ~(cards - ONE)) - ONE).astype(np.int64)
    return card


# ------------------------------------------------------------------------------------------------- what a seat sees

# What a pile shows, as far as slopes go: a number; a special with a colour; a wild or nothing, where any number goes;
# or a special that keeps the other seat off the pile in its next turn.
COLOURED_SPECIAL, ANY_NUMBER, CLOSED = range(NUMBERS, NUMBERS + 3)
SHOWS = NUMBERS + 3
NOTHING = WILD_DRAW + 1  # the face of an empty pile
SHOWN: Ints = np.array([*range(NUMBERS), *[COLOURED_SPECIAL] * 3, *[ANY_NUMBER] * 3])  # by face
PLACE_VALUE: Ints = SHOWS ** np.arange(PILES - 1, -1, -1)  # rows of piles are numbered by what they show
ROWS = SHOWS**PILES

KINDS = 5  # of specials, from skip to wild draw four
DRAWN: Ints = np.array([{DRAW_TWO: 2, WILD_DRAW: 4}.get(face, 0) for face in range(SKIP, WILD_DRAW + 1)])

# Counting bits come in halves of 28 coloured cards at two bits each; the second one ends with four bits a wild.
HALF_CARDS = 28
COLOURED_BITS = (_u((1 << 56) - 1), _u((1 << 2 * (COLOURED - HALF_CARDS)) - 1))
WILD_SHIFTS = (_u(48), _u(52))
COPIES_OF_NUMBER: Ints = np.array([4] + [8] * 9)


def _counting_bits(face: int) -> tuple[int, int]:
    """The counting bits of the coloured cards with a face, by half."""
    cards = range(face, COLOURED, LANE)
    return (
        sum(0b11 << 2 * card for card in cards if card < HALF_CARDS),
        sum(0b11 << 2 * (card - HALF_CARDS) for card in cards if card >= HALF_CARDS),
    )


BITS_OF_NUMBER: Words = np.array([_counting_bits(number) for number in range(NUMBERS)], dtype=np.uint64)
BITS_OF_KIND: Words = np.array([_counting_bits(face) for face in range(SKIP, WILD)], dtype=np.uint64)


EACH_PILE: Words = np.arange(PILES, dtype=np.uint64)[:, None]
PLANES = (
    "hand",
    "played",
    "known",
    "hand_sizes",
    "stock",
    "top_face",
    "top_colour",
    "frozen",
    "begun",
    "phase",
    "to_move",
    "turns",
)


@dataclass(frozen=True)
class Sight:
    """What the seats see of B games.  Own pile and own seat come first."""

    hand: Words  # [B] coloured cards held, at least one of each
    twins: Words  # [B] those held twice
    specials: Ints  # [5, B] specials held, by kind
    face: Ints  # [4, B] on top; NOTHING for an empty pile
    colour: Ints  # [4, B] on top; ANY_COLOUR for wilds and empty piles
    frozen: Words  # [4, B] bit 0: by oneself, bit 1: by the other
    begun: Words  # [4, B] 1 for the pile begun in this turn
    swapping: Bools  # [B] a reverse awaits its swap
    to_move: Bools  # [B]
    cards: Ints  # [2, B] cards held, by seat
    likely: NDArray[np.float32]  # [B, 10] expected cards of each number in the other's hand, as far as they count
    turns: Ints  # [B] finished


def _even_bits(words: Words) -> Words:
    """Every other bit from the lowest on, moved together."""
    words = words & EVEN_BITS
    for shift, mask in MOVES_TOGETHER:
        words = (words | words >> shift) & mask
    return words


EVEN_BITS = _u(0x5555555555555555)
MOVES_TOGETHER = [
    (_u(shift), _u(mask))
    for shift, mask in (
        (1, 0x3333333333333333),
        (2, 0x0F0F0F0F0F0F0F0F),
        (4, 0x00FF00FF00FF00FF),
        (8, 0x0000FFFF0000FFFF),
        (16, 0x00000000FFFFFFFF),
    )
]


def _counts(halves: Words, bits: Words) -> NDArray[np.uint8]:
    """How many cards of a count ``uint64[2, B]`` are among each of some sets, ``uint64[N, 2]``: ``uint8[N, B]``."""
    counts: NDArray[np.uint8] = np.bitwise_count(halves & bits[:, :, None]).sum(axis=1, dtype=np.uint8)
    return counts


def look(view: InformationSet) -> Sight:
    """Put together what the seats see, all of it from their observations."""
    planes = read_planes(view, PLANES)
    hand, played, known = planes["hand"], planes["played"], planes["known"]
    (low, high), (low_twins, high_twins) = (
        [_even_bits((half & coloured) >> shift) for half, coloured in zip(hand, COLOURED_BITS, strict=True)]
        for shift in (_u(0), ONE)
    )
    wilds = [np.bitwise_count(hand[1] >> shift & _u(15)) for shift in WILD_SHIFTS]
    cards = planes["hand_sizes"].view(np.int64)
    return Sight(
        hand=low | high << _u(HALF_CARDS),
        twins=low_twins | high_twins << _u(HALF_CARDS),
        specials=np.concatenate([_counts(hand, BITS_OF_KIND), wilds]).astype(np.int64),
        face=place_of_bit(planes["top_face"], NOTHING),
        colour=place_of_bit(planes["top_colour"], ANY_COLOUR),
        frozen=planes["frozen"],
        begun=planes["begun"][0] >> EACH_PILE & ONE,
        swapping=planes["phase"][0] == 2,
        to_move=planes["to_move"][0] == 1,
        cards=cards,
        likely=_likely(hand, played, known, cards[1], planes["stock"][0].view(np.int64)),
        turns=planes["turns"][0].view(np.int64),
    )


SURE = 1.5  # how much more than one card a known card counts for: enough to make a danger near certain


def _likely(hand: Words, played: Words, known: Words, other: Ints, stock: Ints) -> NDArray[np.float32]:
    """How many cards of each number the other will hold in its turn, ``float32[B, 10]``, unseen ones by their chance.

    That is minus the logarithm of the chance that a card is not among so many, for the other draws one more.
    """
    seen = _counts(hand, BITS_OF_NUMBER) + _counts(played, BITS_OF_NUMBER)
    sure = _counts(known, BITS_OF_NUMBER)
    unknown = other - np.bitwise_count(known).sum(axis=0)
    chance = np.minimum((unknown + 1) / np.maximum(unknown + stock, 1), 0.9)
    rate = -np.log1p(-chance)
    likely = (COPIES_OF_NUMBER[:, None] - seen - sure) * rate + sure * SURE
    return np.ascontiguousarray(likely.T, dtype=np.float32)


# ------------------------------------------------------------------------------------- rows of piles and their worth

USUAL_CARDS = 9  # in hands of the simplified game: about what good players hold
SPECIAL_CHANCE = 0.22  # that such a hand can put a special on a pile
SAMPLE = 4000  # hands
ROUNDS = 5  # turns that the simplified game is looked ahead; with more the log odds change by less than 0.05
LEAST_CHANCE = 0.002


@dataclass(frozen=True)
class Experience:
    """What rows of piles are worth to a seat when the *other* one is to move, by their number."""

    decided: NDArray[np.int8]  # [R] 1 for slopes of this seat, -1 for those of the other, else 0
    worth: NDArray[np.float32]  # [R] log odds of winning the simplified game
    distance: NDArray[np.float32]  # [R] piles that differ from the nearest slope
    needs: NDArray[np.int16]  # [R, 4] numbers that would make a slope, by pile
    holds: NDArray[np.float32]  # [R, 4] chance that a pile still needs one of them after the turn of a usual hand
    dangers: NDArray[np.float32]  # [R, 10] how likely a card of each number makes the other win, against any fitting

    @cached_property
    def needy(self) -> Bools:
        """Rows that one pile could turn into a slope of this seat, ``bool[R]``."""
        needy: Bools = np.logical_or.reduce(self.needs != 0, axis=1)
        return needy

    @cached_property
    def endangered(self) -> Bools:
        """Rows that one pile could turn into a slope of the other, ``bool[R]``."""
        endangered: Bools = np.logical_or.reduce(self.dangers != 0, axis=1)
        return endangered

    @cached_property
    def judged(self) -> NDArray[np.float32]:
        """What the row itself adds to the judgement of an end, ``float32[R]``."""
        judged: NDArray[np.float32] = JUDGEMENT.worth * self.worth + JUDGEMENT.distance * self.distance
        return judged


def reach_of_hands(size: int) -> Floats:
    """How likely a random hand turns a pile into one of some numbers, ``float64[13, 1024]``.

    By what the pile shows and by the set of numbers; counted over hands from a fixed key.
    """
    cards = CARDS[shuffle(derive(np.uint64(1), np.arange(SAMPLE)), SIZE)[:, :size]].astype(np.int64)
    bits = np.where(cards < COLOURED, ONE << np.minimum(cards, COLOURED).astype(np.uint64), NO_CARDS)
    hand = np.bitwise_or.reduce(bits, axis=1) & NUMBER_CARDS
    colour = np.arange(SAMPLE) % COLOURS
    reach = np.zeros((SHOWS, ALL + 1))
    for shown in range(CLOSED):
        if shown < NUMBERS:
            first = beside(ONE << (LANE * colour + shown).astype(np.uint64))
        else:
            first = OF_COLOUR[colour] if shown == COLOURED_SPECIAL else np.full(SAMPLE, NUMBER_CARDS)
        found = numbers_of(connected(first & hand, hand))
        # Hands that reach numbers of a set only, added up over its subsets; the others reach one of the rest.
        only = np.bincount(found, minlength=ALL + 1).reshape((2,) * NUMBERS)
        for number in range(NUMBERS):
            only = only.cumsum(axis=number)
        reach[shown] = 1 - only.reshape(-1)[::-1] / SAMPLE
    return reach


def distance_of(shows: Ints) -> NDArray[np.int8]:
    """In how many piles rows ``int64[4, N]`` differ from this seat's nearest slope."""
    distance: NDArray[np.int8] = DISTANCE.take(PLACES_OF_ELEVEN @ np.minimum(shows, NUMBERS))
    return distance


PLACES_OF_ELEVEN: Ints = 11 ** np.arange(PILES - 1, -1, -1)  # as the game's own table of distances is numbered


@lru_cache(maxsize=1)
def experience() -> Experience:
    """Solve the simplified game; takes half a second, once."""
    reach = reach_of_hands(USUAL_CARDS)
    shown = np.indices((SHOWS,) * PILES).reshape(PILES, -1)
    thawed = np.where(shown == CLOSED, COLOURED_SPECIAL, shown)  # what the other leaves as it is
    emptied = np.stack([PLACE_VALUE @ thawed - PLACE_VALUE[pile] * thawed[pile] for pile in range(PILES)])
    mirrored = PLACE_VALUE @ shown[::-1]
    is_slope: Bools = np.logical_and.reduce(np.diff(shown, axis=0) > 0) & (shown[-1] < NUMBERS)

    def needed(shown: Ints) -> Ints:
        """Numbers that would make a slope for this seat, ``int64[4, N]``, as sets, by pile."""
        needs = np.zeros_like(shown)
        for pile in range(PILES):
            rest = PLACE_VALUE @ shown - PLACE_VALUE[pile] * shown[pile]
            for number in range(NUMBERS):
                needs[pile] |= is_slope[rest + PLACE_VALUE[pile] * number].astype(np.int64) << number
        return needs

    needs = needed(thawed)
    holds = np.where(needs > 0, 1.0, 0.0)
    for pile in range(PILES):
        spoilers = np.zeros((PILES, ROWS), dtype=np.int64)  # numbers on `pile` that end the need of each pile
        for number in range(NUMBERS):
            spoils = needs[:, emptied[pile] + PLACE_VALUE[pile] * number] == 0
            spoils[pile] = True
            spoilers |= (spoils & (number != shown[pile])).astype(np.int64) << number
        holds *= 1 - reach[shown[pile], spoilers]

    single = np.minimum(reach[:, 1 << np.arange(NUMBERS)], 0.999)
    weight = np.log1p(-single) / np.log1p(-single[ANY_NUMBER])
    other_needs = needed(shown[::-1])[::-1]
    dangers = sum(MEMBERS[other_needs[pile]] * weight[shown[pile]] for pile in range(PILES))

    to_move = _solved(reach, shown, emptied, mirrored, is_slope)
    chance = np.clip(_after(to_move, mirrored, is_slope), LEAST_CHANCE, 1 - LEAST_CHANCE)
    return Experience(
        decided=is_slope.astype(np.int8) - is_slope[mirrored],
        worth=np.log(chance / (1 - chance)).astype(np.float32),
        distance=distance_of(shown).astype(np.float32),
        needs=np.ascontiguousarray(needs.T, dtype=np.int16),
        holds=np.ascontiguousarray(holds.T, dtype=np.float32),
        dangers=np.ascontiguousarray(dangers, dtype=np.float32),
    )


def _after(to_move: Floats, mirrored: Ints, is_slope: Bools) -> Floats:
    """The chance to win of the seat that has just moved, ``float64[R]``."""
    return np.where(is_slope, 1.0, np.where(is_slope[mirrored], 0.0, 1 - to_move[mirrored]))


def _solved(reach: Floats, shown: Ints, emptied: Ints, mirrored: Ints, is_slope: Bools) -> Floats:
    """The chance to win of the seat to move in the simplified game, ``float64[R]``.

    It turns one pile into the best number, or special, that its hand allows.  Whether a hand reaches one pile is
    independent of the others; within a pile the chances are those of whole sets of numbers.
    """
    shows = np.array([*range(NUMBERS), CLOSED])
    results = np.concatenate([emptied[pile][:, None] + PLACE_VALUE[pile] * shows for pile in range(PILES)], axis=1)
    as_it_is = emptied[0] + PLACE_VALUE[0] * np.where(shown[0] == CLOSED, COLOURED_SPECIAL, shown[0])
    rows = np.arange(ROWS)
    to_move = np.full(ROWS, 0.5)
    for _ in range(ROUNDS):
        after = _after(to_move, mirrored, is_slope)
        values = after[results]
        best_first = np.argsort(-values, axis=1, kind="stable")
        tried = np.zeros((PILES, ROWS), dtype=np.int64)
        nothing_yet = np.ones(ROWS)  # the chance that nothing tried so far can be had
        to_move = np.zeros(ROWS)
        for place in best_first.T:
            pile, end = np.divmod(place, len(shows))
            is_number = end < NUMBERS
            before = tried[pile, rows]
            tried[pile, rows] = before | is_number * (1 << end)
            before_reach, with_it = (reach[shown[pile, rows], numbers] for numbers in (before, tried[pile, rows]))
            number_chance = (with_it - before_reach) / np.maximum(1 - before_reach, LEAST_CHANCE)
            chance = np.where(is_number, number_chance, SPECIAL_CHANCE * (shown[pile, rows] != CLOSED))
            to_move += nothing_yet * chance * values[rows, place]
            nothing_yet *= 1 - chance
        to_move += nothing_yet * after[as_it_is]
    return to_move


# ----------------------------------------------------------------------------------------------- ends of the turn


@dataclass(frozen=True)
class Ends:
    """Ways in which the turn may end, of all games together."""

    row: Ints  # [L] game
    pile: Ints  # [L] the pile that is played on, as numbered now
    goal: Ints  # [L] the number to make for with the first cards, where `action` is unset
    action: Ints  # [L] what to do first; UNSET if it is to make for the goal
    kind: Ints  # [L] of the special put last; NO_KIND for none
    special: Ints  # [L] the special itself; TYPES for none
    cover: Words  # [L] the card, as a set, that is put on an equal number before it
    cards: Ints  # [L] cards held in the end
    shows: Ints  # [4, L] what the piles show in the end; CLOSED for the special put
    colours: Ints  # [4, L] what colours they show; for a number that is made for, the one before
    reach: Ints  # [4, L] numbers, as sets, that this hand could turn each pile into in its next turn

    def take(self, which: Ints) -> Ends:
        """Some of them."""
        return Ends(**{field.name: getattr(self, field.name).take(which, axis=-1) for field in fields(self)})

    @classmethod
    def joined(cls, parts: list[Ends]) -> Ends:
        """All of several."""
        return cls(**{f.name: np.concatenate([getattr(part, f.name) for part in parts], axis=-1) for f in fields(cls)})


UNSET, NO_KIND = -1, KINDS
SPECIALS: Ints = np.array([card for card in range(TYPES) if card >= COLOURED or card % LANE >= NUMBERS])
SPECIAL_ACTIONS: Ints = np.array([PILES * card + pile for card in SPECIALS for pile in range(PILES)])
SKIPS, REVERSES, DRAW_TWOS, WILDS, WILD_DRAWS = (face - SKIP for face in range(SKIP, WILD_DRAW + 1))
ALL_KINDS: Ints = np.arange(KINDS)
DRAWING: Ints = np.array([DRAW_TWOS, WILD_DRAWS])
KIND_OF: Ints = np.array([card % LANE - SKIP if card < COLOURED else card - COLOURED + WILDS for card in range(TYPES)])
COLOUR_OF: Ints = np.array([card // LANE if card < COLOURED else ANY_COLOUR for card in range(TYPES)])


@dataclass(frozen=True)
class Plan:
    """What the hands could do on each pile if it were open, and what is open."""

    sight: Sight
    first: Words  # [4, B] number cards that could be put next
    span: Words  # [4, B] number cards that could come to lie on top
    reach: Ints  # [4, B] their numbers, as sets
    levels: list[Ints]  # of [4, B]: numbers within reach with one card, with two and not fewer, …
    shows: Ints  # [4, B] what the piles show if the turn ended now
    open: Bools  # [4, B] piles on which number cards may be put
    lone: Ints  # [B] numbers of which the hand has no two cards, as sets


def plan(sight: Sight) -> Plan:
    """Follow the chains of all piles, card by card."""
    numbers = sight.hand & NUMBER_CARDS
    top = np.where(sight.face < NUMBERS, ONE << (sight.face + LANE * sight.colour).astype(np.uint64), NO_CARDS)
    first = np.where(sight.face < NUMBERS, beside(top), OF_COLOUR.take(sight.colour)) & numbers
    span = first.reshape(-1).copy()
    reach = numbers_of(span)
    levels = [reach.reshape(first.shape).copy()]
    at = np.flatnonzero(span)  # chains that may go on
    cards, hand = span[at], np.tile(numbers, PILES)[at]
    while len(at):
        grown = cards | beside(cards) & hand
        more = np.flatnonzero(grown != cards)
        at, cards, hand = at[more], grown[more], hand[more]
        found = numbers_of(cards)
        level = np.zeros_like(reach)
        level[at] = found & ~reach[at]
        span[at], reach[at] = cards, found
        levels.append(level.reshape(first.shape))
    no_other_begun = (sight.begun | ~sight.begun.any(axis=0)) != 0
    return Plan(
        sight=sight,
        first=first,
        span=span.reshape(first.shape),
        reach=reach.reshape(first.shape),
        levels=levels,
        shows=np.where(sight.frozen & ONE, CLOSED, SHOWN.take(sight.face)),
        open=((sight.frozen >> ONE) == 0) & no_other_begun & ~sight.swapping & sight.to_move,
        lone=_lone_numbers(sight),
    )


def _lone_numbers(sight: Sight) -> Ints:
    one, other = sight.hand, sight.hand >> _u(2 * LANE)
    both, either = one & other, one | other
    several = both | both >> _u(LANE) | either & either >> _u(LANE)
    lone: Ints = numbers_of(sight.hand) & ~(several & TEN_BITS).view(np.int64) & ~numbers_of(sight.twins)
    return lone


def ends_of(plan: Plan, legal: Bools) -> Ends:
    """All ends of the turn that the player considers; there is one at least where its seat is to move.

    Of ends that are as good as each other those before count as better: to end it now, then numbers, those of the
    fewest cards first, then specials and swaps.

    ``legal`` are the legal actions, ``bool[B, A]``.
    """
    sight = plan.sight
    numbers = _within_reach(plan)
    parts = [_as_it_is(plan, np.flatnonzero(legal[:, END])), _with_number(plan, numbers)]
    specials = _with_special(plan, Puts.joined([_at_once(legal), *_on_equals(plan, numbers)]))
    parts += [specials, _with_swap(plan, specials)]
    row, partner = np.nonzero(legal[:, SWAP : SWAP + PILES])
    if len(row):  # a reverse has been put
        swap = _as_it_is(plan, row)
        swap.pile[:], swap.action[:] = sight.begun.argmax(axis=0)[row], SWAP + partner
        parts.append(_swapped(swap, partner))
    return Ends.joined(parts)


class Numbers(NamedTuple):
    """Numbers that N piles may be turned into."""

    row: Ints  # game
    pile: Ints
    goal: Ints  # the number
    used: Ints  # cards that it takes; 0 if it lies on top already

    def take(self, which: Ints) -> Numbers:
        """Some of them."""
        return Numbers(*(each.take(which) for each in self))


class Puts(NamedTuple):
    """N specials that may be put, and what is put before."""

    row: Ints  # game
    pile: Ints
    goal: Ints  # the number to make for first, where `action` is unset
    cover: Words  # the card, as a set, that is put on an equal number before the special; none for one put at once
    special: Ints
    used: Ints  # cards put in all
    action: Ints  # what to do first; UNSET if it is to make for the goal

    @classmethod
    def joined(cls, parts: Sequence[Puts]) -> Puts:
        """All of several."""
        return cls(*(np.concatenate(each) for each in zip(*parts, strict=True)))


def _within_reach(plan: Plan) -> Numbers:
    """The numbers that open piles may be turned into, those of the fewest cards first."""
    levels = np.stack(plan.levels) * plan.open
    at = np.flatnonzero(levels)
    place, goal = np.nonzero(MEMBERS.take(levels.take(at), axis=0))
    level, pile, row = np.unravel_index(at[place], levels.shape)
    return Numbers(row, pile, goal, level + 1)


def _at_once(legal: Bools) -> Puts:
    """Specials that may be put now."""
    row, place = np.divmod(np.flatnonzero(legal.take(SPECIAL_ACTIONS, axis=1)), len(SPECIAL_ACTIONS))
    which, pile = np.divmod(place, PILES)
    none = np.zeros(len(row), dtype=np.uint64)
    return Puts(row, pile, np.zeros_like(row), none, SPECIALS[which], np.ones_like(row), SPECIAL_ACTIONS[place])


def _on_equals(plan: Plan, numbers: Numbers) -> list[Puts]:
    """Specials on numbers that are covered with an equal one first (R7), such as are on top or within reach.

    On numbers that have to be made for, only those that draw cards: others would cost three cards at least.
    """
    face = plan.sight.face
    several = np.flatnonzero((plan.lone[numbers.row] >> numbers.goal & 1) == 0)
    pile, row = np.nonzero(plan.open & (face < NUMBERS))
    on_top = Numbers(row, pile, face[pile, row], np.zeros_like(row))
    return [_covering(plan, numbers.take(several), DRAWING), _covering(plan, on_top, ALL_KINDS)]


def _covering(plan: Plan, numbers: Numbers, kinds: Ints) -> Puts:
    """The specials of some kinds that can be put on numbers after a card that covers them; ``numbers`` by each kind."""
    kind = np.repeat(kinds, len(numbers.row))
    row, pile, number, used = (np.tile(each, len(kinds)) for each in numbers)
    hand, coloured = plan.sight.hand[row], kind < WILDS
    wild = np.where(plan.sight.specials[kind, row] > 0, ANY_CARD, NO_CARDS)  # goes with every colour
    with_special = np.where(coloured, hand >> np.where(coloured, SKIP + kind, 0).astype(np.uint64), wild)
    # Cards that cover, each at the place of the 0 of its colour.
    covers = (hand & OF_NUMBER[number]) >> number.astype(np.uint64) & with_special
    some = np.flatnonzero(covers)
    row, pile, number, used, kind = (each.take(some) for each in (row, pile, number, used, kind))
    zero = lowest(covers.take(some))
    cover = zero + number
    special = np.where(kind < WILDS, zero + SKIP + kind, COLOURED + kind - WILDS)
    action = np.where(used == 0, PILES * cover + pile, UNSET)
    return Puts(row, pile, number, ONE << cover.astype(np.uint64), special, used + 2, action)


def _as_it_is(plan: Plan, row: Ints) -> Ends:
    """Ending the turn now, in some games."""
    return Ends(
        row=row,
        pile=np.zeros_like(row),
        goal=np.zeros_like(row),
        action=np.full_like(row, END),
        kind=np.full_like(row, NO_KIND),
        special=np.full_like(row, TYPES),
        cover=np.zeros(len(row), dtype=np.uint64),
        cards=plan.sight.cards[0].take(row),
        shows=plan.shows.take(row, axis=1),
        colours=plan.sight.colour.take(row, axis=1),
        reach=plan.reach.take(row, axis=1),
    )


def _with_number(plan: Plan, numbers: Numbers) -> Ends:
    """Making for numbers."""
    row, pile, goal, used = numbers
    ends = _as_it_is(plan, row)
    ends.pile[:], ends.goal[:], ends.action[:] = pile, goal, UNSET
    ends.cards[:] -= used
    ends.shows[pile, np.arange(len(row))] = goal
    ends.reach[:] &= ~(plan.lone[row] & 1 << goal)  # the only card of its number cannot be put again
    return ends


def _with_special(plan: Plan, puts: Puts) -> Ends:
    """Putting specials; reverses without a swap."""
    row, pile, special = puts.row, puts.pile, puts.special
    kind, colour = KIND_OF.take(special), COLOUR_OF.take(special)
    ends = _as_it_is(plan, row)
    ends.pile[:], ends.goal[:], ends.action[:], ends.kind[:] = pile, puts.goal, puts.action, kind
    ends.special[:], ends.cover[:] = special, puts.cover
    ends.cards[:] += DRAWN[kind] - puts.used
    here = np.arange(len(row))
    ends.shows[pile, here], ends.colours[pile, here] = CLOSED, colour
    ends.reach[pile, here] = numbers_of(plan.sight.hand[row] & OF_COLOUR[colour])
    return ends


def _with_swap(plan: Plan, specials: Ends) -> Ends:
    """The reverses among some specials, with all their swaps."""
    reverses = np.flatnonzero(specials.kind == REVERSES)
    row, pile = specials.row[reverses], specials.pile[reverses]
    partners = np.arange(PILES)[:, None]
    partner, which = np.nonzero((plan.sight.face.take(row, axis=1) != NOTHING) & (pile != partners))
    return _swapped(specials.take(reverses[which]), partner)


def _swapped(ends: Ends, partner: Ints) -> Ends:
    """The same with the pile exchanged for another (R13); changes ``ends``."""
    here = np.arange(len(partner))
    for array in (ends.shows, ends.colours, ends.reach):
        array[ends.pile, here], array[partner, here] = array[partner, here], array[ends.pile, here]
    return ends


# ------------------------------------------------------------------------------------------------------ judgement


@dataclass(frozen=True)
class Judgement:
    """What the reasons for an end of the turn weigh, in log odds of winning."""

    worth: float  # log odds of the simplified game
    distance: float  # a pile that differs from the nearest slope
    danger: float  # a sure win of the other
    hold: float  # a sure win in the next turn
    threat: float  # a pile that can be completed in the next turn, if the other lets it
    log_cards: float  # the logarithm of one more than the cards held
    card: float  # a card held
    specials: tuple[float, ...]  # a special held, by kind


# Tuned by matches against itself, in each of which one side weighed every reason a little more and the other a little
# less, or the other way round, by lot: 33,000 matches of at most 200 turns, each step towards what had won more often.
# Then a few single changes in 1,000 matches each, of which those to cards and wild draw fours were kept: together they
# score 0.035 +- 0.019 a match against the weights before, over 700 fresh deals played both ways.
JUDGEMENT = Judgement(
    worth=2.4, distance=-0.35, danger=-2.8, hold=2.7, threat=0.3, log_cards=4.0, card=0.13,
    specials=(0.1, -0.1, 0.1, 0.0, 0.8),
)  # fmt: skip
MOST_CARDS = 109
WORTH_OF_CARDS: Floats = JUDGEMENT.log_cards * np.log1p(np.arange(MOST_CARDS)) + JUDGEMENT.card * np.arange(MOST_CARDS)
WORTH_OF_SPECIAL: Floats = np.array([*JUDGEMENT.specials, 0.0])  # by kind: what putting it gives away
SURE_WIN = 1000.0


@dataclass(frozen=True)
class Reasons:
    """What there is to be said about L ends of turns, or positions after them."""

    index: Ints  # [L] row of piles
    danger: Floats  # [L] chance that the other wins at once
    hold: Floats  # [L] chance that the best threat outlives the other's turn
    threats: Ints  # [L] piles that can be completed in the next turn

    def take(self, which: Ints) -> Reasons:
        """Those for some of them."""
        index, danger, hold, threats = self.index, self.danger, self.hold, self.threats
        return Reasons(index.take(which), danger.take(which), hold.take(which), threats.take(which))


def reasons_for(sight: Sight, ends: Ends) -> Reasons:
    """Count dangers and threats."""
    known = experience()
    index = PLACE_VALUE @ ends.shows
    danger, hold = np.zeros(len(index)), np.zeros(len(index))
    threats = np.zeros(len(index), dtype=np.int64)
    # Most ends neither endanger nor threaten anything.
    some = np.flatnonzero(known.endangered.take(index))
    cards, places = sight.likely.take(ends.row[some], axis=0), known.dangers.take(index[some], axis=0)
    danger[some] = -np.expm1(-np.einsum("ij,ij->i", cards, places))
    some = np.flatnonzero(known.needy.take(index))
    threat = (known.needs.take(index[some], axis=0) & ends.reach.take(some, axis=1).T) != 0
    threats[some] = threat.sum(axis=1)
    usual = (known.holds.take(index[some], axis=0) * threat).max(axis=1, initial=0)
    hold[some] = usual ** ((sight.cards[1, ends.row[some]] + 1) / USUAL_CARDS)  # more cards, more ways to parry
    return Reasons(index, danger, hold, threats)


def judged(ends: Ends, reasons: Reasons) -> Floats:
    """What the reasons for ends of turns come to, comparable within a game: ``float64[L]``."""
    known = experience()
    value = known.judged.take(reasons.index).astype(np.float64)
    value += JUDGEMENT.danger * reasons.danger + JUDGEMENT.hold * reasons.hold + JUDGEMENT.threat * reasons.threats
    value += WORTH_OF_CARDS.take(ends.cards) - WORTH_OF_SPECIAL.take(ends.kind)
    return value + SURE_WIN * known.decided.take(reasons.index)


# ------------------------------------------------------------------------------------------------------- the player


class SlopesPlayer(DeterministicAgent):
    """The player; see the module for how it decides.  Deterministic: it never uses ``view.keys``."""

    def act(self, view: InformationSet) -> NDArray[np.int64]:
        """Choose the first step to the best end of the turn, where there is a choice."""
        return where_free(view, self._choose)

    def _choose(self, view: InformationSet) -> Ints:
        plans = plan(look(view))
        ends = ends_of(plans, view.legal)
        return begun_by(plans, ends, best_of(ends.row, self.judge(plans.sight, ends), len(view)))

    def judge(self, sight: Sight, ends: Ends) -> Floats:
        """How good the ends of turns are, comparable within a game: ``float64[L]``."""
        return judged(ends, reasons_for(sight, ends))


FARTHEST = 0.5
"""How far behind the best end of its turn, by the judgement, another is still worth a thought."""


def ranked(ends: Ends, value: Floats, batch: int, count: int) -> tuple[Ints, Ints, Floats]:
    """The ends of each of B games that are worth a thought, the best ``count`` at most, game by game and best first.

    Returns
    -------
    Which they are, their places from 0 on, ``int64[N]``, and how far behind the best they are, ``float64[N]``
    """
    distance = behind(ends.row, value, batch)
    near = np.flatnonzero(distance <= FARTHEST)
    order = near[best_first(ends.row[near], value[near])]
    place = place_of(ends.row[order])
    few = np.flatnonzero(place < count)
    return order[few], place[few], distance[order[few]]


def promising(view: InformationSet, count: int) -> Bools:
    """The actions that lead to the ends of the turn that are worth a thought, ``count`` at most: ``bool[B, A]``."""
    legal = view.legal
    plans = plan(look(view))
    ends = ends_of(plans, legal)
    which, _, _ = ranked(ends, judged(ends, reasons_for(plans.sight, ends)), len(view), count)
    chosen = np.zeros_like(legal)
    chosen[ends.row[which], begun_by(plans, ends, which)] = True
    return chosen


def begun_by(plan: Plan, ends: Ends, which: Ints) -> Ints:
    """What to do first to come to some ends, ``int64[N]``."""
    action = ends.action[which]
    paths = np.flatnonzero(action == UNSET)
    action[paths] = first_steps(plan, ends, which[paths])
    return action


def first_steps(plan: Plan, ends: Ends, which: Ints) -> Ints:
    """The actions that begin a shortest chain to the goals of some ends, ``int64[N]``."""
    row, pile = ends.row[which], ends.pile[which]
    return PILES * lowest(_towards(plan, ends, which)[-1] & plan.first[pile, row]) + pile


def _towards(plan: Plan, ends: Ends, which: Ints) -> list[Words]:
    """Backwards from the goals of some ends: cards that are no more than 0, 1, 2, … cards away from them, as sets.

    Each game stops when there is one among them that fits on its pile.
    """
    row, pile = ends.row[which], ends.pile[which]
    first, span = plan.first[pile, row], plan.span[pile, row]
    goals = span & OF_NUMBER[ends.goal[which]]
    others = goals & ~ends.cover[which]
    steps = [np.where(others != 0, others, goals)]
    while len(short := np.flatnonzero((steps[-1] & first) == 0)):
        cards = steps[-1].copy()
        cards[short] |= beside(cards[short]) & span[short]
        steps.append(cards)
    return steps


def chains(plan: Plan, ends: Ends, which: Ints) -> tuple[Words, Ints]:
    """The shortest chains to the goals of some ends: the cards in them, as sets, and the last one, ``int64[N]``."""
    row, pile = ends.row[which], ends.pile[which]
    fitting, span = plan.first[pile, row], plan.span[pile, row]
    steps = _towards(plan, ends, which)
    away = np.sum([(cards & fitting) == 0 for cards in steps], axis=0)
    chain, last = np.zeros(len(which), dtype=np.uint64), np.zeros(len(which), dtype=np.int64)
    for distance in range(len(steps) - 1, -1, -1):
        on = np.flatnonzero(away >= distance)
        last[on] = lowest(steps[distance][on] & fitting[on])
        card = ONE << last[on].astype(np.uint64)
        chain[on] |= card
        fitting[on] = beside(card) & span[on]
    return chain, last


AGENT = SlopesPlayer
