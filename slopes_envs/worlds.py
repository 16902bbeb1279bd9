"""Worlds: hidden cards dealt to seats of which it is known what they cannot hold, every such deal equally likely.

A deal gives every hidden card to a seat.  The two copies of a card type are two cards; one that has been played is no
longer hidden, whichever it was, and its seat may hold the other like any hidden card.

The deals are counted, and drawn by the counts.  Three things keep that small:

- Cards differ only by which seats can hold them: kinds of cards that the same seats can hold are one *class*.
- Cards that only one seat can hold are given to it at once.
- The seats that can hold the same classes, with most room together, are the *rest*: they get what is left when the
  others have been served, and there are simply ``F! / (f1! f2! …)`` ways to deal the ``F`` cards left to them.

The other seats are served place by place, a *place* being room for one card.  What matters at any moment is how many
cards of each class have been used, so a table over these numbers tells in how many ways the places from some place on
can be filled; it follows from the table of the next place by a sum over the classes that may come.  A world is drawn
from the first place to the last: a class, with chances by the ways that would be left, and of it any card.

The tables hold floating-point numbers.  None can exceed ``128! * 5**128``, so nothing overflows, and sums of positive
numbers lose no digits: chances are right to some 14.  :func:`count_deals` counts in whole numbers of any size by the
same tables.

Shape letters: **N** worlds, or different information sets among them, **P** seats, **W** copies of a card type, **K**
kinds of cards, also classes of kinds, **T** places of the seats that are not the rest, **M** hidden cards.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from math import factorial, perm, prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .cards import BIT, cards_in
from .chance import UInt64, derive, draw

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

MAX_CARDS, MAX_KINDS = 128, 5
"""Most hidden cards: a random word carries a number below it in its lowest bits; and most kinds of cards."""

TABLE_BUDGET = 1 << 20  # numbers held in tables at a time, 8 MB
WORLD_BUDGET = 1 << 13  # worlds drawn at a time, so that the arrays stay in the cache
SIZE_STEP = 2  # tables up to ``2**SIZE_STEP`` times as large as one another are made side by side

_LOW = np.uint64(MAX_CARDS - 1)
_LAST = np.uint64(2**64 - 1)
_CLASS_BITS, _CLASS_SHIFT = np.uint64(3), np.uint64(61)
_11 = np.uint64(11)
_CHOICE, _ORDER, _REST = range(3)  # what the random numbers of a world are for
_NO_CARD, _NO_CLASS, _NO_BITS = np.uint8(255), 7, np.uint64(0)
# The bit set of a card, by which copy it is and its code: number of the type + 64 for the second copy.
_CARD_BITS = np.zeros((2, 256), dtype=np.uint64)
_CARD_BITS[0, :64] = _CARD_BITS[1, 64:128] = BIT


@cache
def _falling(kind: type) -> NDArray[Any]:
    """``n (n - 1) … (n - u + 1)`` by ``n`` and ``u``: the ways to take ``u`` of ``n`` cards, one after the other."""
    table: NDArray[Any] = np.empty((MAX_CARDS + 1, MAX_CARDS + 1), dtype=kind)
    for n, u in np.ndindex(table.shape):
        table[n, u] = perm(n, u)
    return table


# ------------------------------------------------------------------------------------------------------- front doors


def deal_within(keys: UInt64, hidden: UInt64, sizes: Ints, cannot: UInt64, kinds: Sequence[int]) -> UInt64:
    """Deal hidden cards at random to seats that are known not to hold some of them.

    Each copy of a card type is a card of its own, and every deal of the cards that agrees with what is known is
    equally likely.  A world depends on its own key and information alone.  Neighbours with the same information
    share the work of counting.

    Parameters
    ----------
    keys
        ``uint64[N]``
    hidden
        ``uint64[N, W]``, the cards to deal, the copies of a card type in different words; W is 1 or 2.
    sizes
        ``int64[N, P]``, how many cards each seat gets; as many in all as there are hidden ones.
    cannot
        ``uint64[N, P]``, the cards that each seat does not hold.
    kinds
        At most five bit sets that divide the deck, such that a seat can hold either all cards of a kind or none.

    Returns
    -------
    uint64[N, P, W], the cards dealt to each seat.

    Raises
    ------
    ValueError
        If the cards cannot be dealt so, or there are more than 128.
    """
    hands = np.zeros((*sizes.shape, hidden.shape[1]), dtype=np.uint64)
    if not len(keys):
        return hands
    first, row_of = _different(hidden, sizes, cannot)
    plan = _Plan.make(hidden[first], sizes[first], cannot[first], kinds)
    if not plan.fits.all():
        raise _misfit()
    for worlds in _parts(plan, row_of):
        hands[worlds] = _draw_worlds(plan, row_of[worlds], keys[worlds])
    return hands


def count_deals(hidden: UInt64, sizes: Ints, cannot: UInt64, kinds: Sequence[int]) -> list[int]:
    """The exact number of deals from which :func:`deal_within` draws, with the same parameters: one number a row.

    It is 0 where the cards cannot be dealt so.
    """
    if not len(hidden):
        return []
    plan = _Plan.make(hidden, sizes, cannot, kinds)
    rows = np.argsort(-plan.places, kind="stable")
    ways = np.empty(len(rows), dtype=object)
    for part in _alike(plan, rows):
        table = _last_table(plan, part)
        _fill_backwards(plan, part, table)
        ways[part] = table.reshape(-1, len(part))[0]
    for row, room in enumerate(plan.room.tolist()):  # the order of the places of a seat does not matter
        rest = sum(room) - int(plan.places[row])
        ways[row] = ways[row] * factorial(rest)
        for size in room:
            ways[row] //= factorial(size)
    return [int(number) * fits for number, fits in zip(ways, plan.fits.tolist(), strict=True)]


def _misfit() -> ValueError:
    return ValueError("the hidden cards do not fit the seats that may hold them")


def _different(*arrays: NDArray[Any]) -> tuple[Ints, Ints]:
    """Runs of equal rows: the place of the first of each, and which run each row belongs to."""
    starts = np.zeros(len(arrays[0]), dtype=np.bool_)
    starts[:1] = True
    for array in arrays:
        starts[1:] |= (array[1:] != array[:-1]).any(axis=1)
    return np.flatnonzero(starts), np.cumsum(starts) - 1


# -------------------------------------------------------------------------------------------------------------- plan


@dataclass(frozen=True)
class _Plan:
    """How the cards of N different information sets are dealt.

    Seats stand in the order in which they are served, those of the rest last.  Classes stand by how many cards of
    them the others may take, the most first: their number follows from those of the other classes.
    """

    fits: Bools  # [N] False where some cards find no seat, and the row is left empty; not all such are found here
    given: UInt64  # [N, P, W] cards that only one seat can hold, by number of the seat
    seats: Ints  # [N, P] numbers of the seats in the order of service
    room: Ints  # [N, P] cards that each still gets, in this order
    holds: NDArray[np.uint8]  # [N, T] classes that may come to each place, one bit a class; 0 after the last place
    places: Ints  # [N] how many places there are
    rest_holds: Bools  # [K, N] whether a class may come to the rest
    count: Ints  # [K, N] cards of each class
    most: Ints  # [K, N] how many of them may be used before the rest
    begin: Ints  # [K, N] where the cards of each class begin in ``cards``
    cards: NDArray[np.uint8]  # [N, M] codes of the cards, class by class; `_NO_CARD` after the last
    class_of: NDArray[np.uint8]  # [N, M] their classes; `_NO_CLASS` after the last
    num_cards: Ints  # [N]

    @classmethod
    def make(cls, hidden: UInt64, sizes: Ints, cannot: UInt64, kinds: Sequence[int]) -> _Plan:
        words = np.array(kinds, dtype=np.uint64)
        count = np.bitwise_count(hidden[:, :, None] & words).sum(axis=1, dtype=np.int64)
        if count.sum(axis=1).max(initial=0) > MAX_CARDS:
            raise ValueError(f"expected at most {MAX_CARDS} hidden cards, got {count.sum(axis=1).max()}")
        if len(kinds) > MAX_KINDS:
            raise ValueError(f"expected at most {MAX_KINDS} kinds of cards, got {len(kinds)}")
        can = (cannot[:, :, None] & words) == 0
        given, room = _give_forced(hidden, sizes, can, count, words)
        fits = (count.sum(axis=1) == room.sum(axis=1)) & (room >= 0).all(axis=1)
        fits &= ((can * room[:, :, None]).sum(axis=1) >= count).all(axis=1)
        room[~fits] = count[~fits] = 0
        can &= (room > 0)[:, :, None] & (count > 0)[:, None, :]

        class_of, count = _classes(can, count)
        can = np.take_along_axis(can, class_of[:, None, :], axis=2)
        can &= (class_of == np.arange(len(kinds)))[:, None, :]
        rest = _rest(can, room)
        served = np.where(rest, 0, room)
        most = np.minimum(count, (served[:, :, None] * can).sum(axis=1))

        order = np.argsort(-most, axis=1, kind="stable")
        class_of = np.take_along_axis(np.argsort(order, axis=1), class_of, axis=1)
        count, most = (np.ascontiguousarray(np.take_along_axis(array, order, axis=1).T) for array in (count, most))
        can = np.take_along_axis(can, order[:, None, :], axis=2)

        # Who can hold the same comes one after the other: fewer numbers of cards are then possible at any place.
        holds = (can @ (1 << np.arange(len(kinds)))[::-1]) | rest * 256
        seats = np.argsort(holds, axis=1, kind="stable")
        can, rest = np.take_along_axis(can, seats[:, :, None], axis=1), np.take_along_axis(rest, seats, axis=1)
        room, served = (np.take_along_axis(array, seats, axis=1) for array in (room, served))
        cards, class_of_cards = _by_class(
            np.where(fits[:, None], hidden & ~np.bitwise_or.reduce(given, axis=1), _NO_BITS), class_of, kinds
        )
        return cls(
            fits=fits,
            given=given,
            seats=seats,
            room=room,
            holds=_place_by_place(can, served),
            places=served.sum(axis=1),
            rest_holds=np.ascontiguousarray((can & rest[:, :, None]).any(axis=1).T),
            count=count,
            most=most,
            begin=np.cumsum(count, axis=0) - count,
            cards=cards,
            class_of=class_of_cards,
            num_cards=(cards != _NO_CARD).sum(axis=1),
        )

    def table_shapes(self, rows: Ints) -> Ints:
        """Numbers of used cards that the tables of ``rows`` tell apart, by class but for the first, ``[K - 1, N]``."""
        return self.most[1:, rows] + 1


def _give_forced(hidden: UInt64, sizes: Ints, can: Bools, count: Ints, kinds: UInt64) -> tuple[UInt64, Ints]:
    """Give every kind of cards that only one seat can hold to that seat, which may make others such.

    Returns
    -------
    The cards given, ``uint64[N, P, W]``, and the room left; ``count`` is lowered in place.
    """
    given = np.zeros((*sizes.shape, hidden.shape[1]), dtype=np.uint64)
    room = sizes.copy()
    found = True
    while found:
        found = False
        for kind, cards in enumerate(kinds):
            holders = can[:, :, kind] & (room > 0)
            number = holders.sum(axis=1)
            rows = np.flatnonzero((number == 1) & (count[:, kind] > 0))
            if len(rows):
                found = True
                seat = holders[rows].argmax(axis=1)
                given[rows, seat] |= hidden[rows] & cards
                room[rows, seat] -= count[rows, kind]
                count[rows, kind] = 0
    return given, room


def _classes(can: Bools, count: Ints) -> tuple[Ints, Ints]:
    """Put kinds together that the same seats can hold: the class of each kind, and the cards of each class."""
    rows, class_of = np.arange(len(count)), np.zeros_like(count)
    class_count = np.zeros_like(count)
    for kind in range(count.shape[1]):
        same = (can[:, :, : kind + 1] == can[:, :, kind, None]).all(axis=1)
        class_of[:, kind] = same.argmax(axis=1)
        class_count[rows, class_of[:, kind]] += count[:, kind]
    return class_of, class_count


def _rest(can: Bools, room: Ints) -> Bools:
    """The seats that can hold the same classes as each other and have most room together, and those without room."""
    same = (can[:, :, None] == can[:, None]).all(axis=3)
    together = np.where(room > 0, (same * room[:, None]).sum(axis=2), -1)
    rest: Bools = np.take_along_axis(same, together.argmax(axis=1)[:, None, None], axis=1)[:, 0]
    rest |= room == 0
    return rest


def _place_by_place(can: Bools, served: Ints) -> NDArray[np.uint8]:
    """The classes that may come to each place, from those that may come to each seat and its number of places."""
    seat_holds = (can @ (1 << np.arange(can.shape[2]))).astype(np.uint8)
    places = served.sum(axis=1)
    holds = np.zeros((len(places), places.max(initial=0)), dtype=np.uint8)
    holds[np.arange(holds.shape[1]) < places[:, None]] = np.repeat(seat_holds.reshape(-1), served.reshape(-1))
    return holds


def _by_class(hidden: UInt64, class_of: Ints, kinds: Sequence[int]) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Codes of the hidden cards, class by class, and their classes: ``uint8[N, M]`` each."""
    pairs = sorted((card, kind) for kind, bits in enumerate(kinds) for card in cards_in(bits))
    cards, kind_of = np.array(pairs).T
    codes = (cards + 64 * np.arange(hidden.shape[1])[:, None]).astype(np.uint16)
    there = (hidden[:, :, None] & BIT[cards]) != 0
    sorted_codes = np.where(there, class_of.astype(np.uint16)[:, None, kind_of] << 8 | codes, 0xFFFF)
    sorted_codes = np.sort(sorted_codes.reshape(len(hidden), -1), axis=1)
    sorted_codes = sorted_codes[:, : there.sum(axis=(1, 2)).max(initial=0)]
    return (sorted_codes & 0xFF).astype(np.uint8), np.minimum(sorted_codes >> 8, _NO_CLASS).astype(np.uint8)


# ------------------------------------------------------------------------------------------------------------ tables


def _alike(plan: _Plan, rows: Ints) -> list[Ints]:
    """``rows`` in groups whose tables are of similar size."""
    size = plan.table_shapes(rows).prod(axis=0)
    step = np.frexp(size)[1] // SIZE_STEP
    return [rows[step == value] for value in np.unique(step)]


def _last_table(plan: _Plan, rows: Ints, kind: type = object) -> NDArray[Any]:
    """In how many ways the places can have been filled, by how many cards of each class have been used.

    In which order the classes came is left to the other tables: here their cards come one after the other, so many
    out of ``count``.  No way leads to numbers that leave the rest cards which it cannot hold.

    Returns
    -------
    Floating-point or whole numbers, one axis a class but for the first, before that of the rows.
    """
    shape = (*plan.table_shapes(rows).max(axis=1, initial=1).tolist(), len(rows))
    table = np.ones(shape, dtype=kind)
    first_used = np.broadcast_to(plan.places[rows], shape)
    for number, size in enumerate(shape[:-1], 1):
        used = np.arange(size).reshape(-1, *[1] * (len(shape) - number))
        table *= _last_ways(plan, rows, number, used, kind)
        first_used = first_used - used
    table *= np.where(first_used < 0, 0, _last_ways(plan, rows, 0, np.maximum(first_used, 0), kind))
    return table


def _last_ways(plan: _Plan, rows: Ints, number: int, used: Ints, kind: type) -> NDArray[Any]:
    """Ways to take ``used`` cards of a class, so that the rest can hold the others."""
    count = plan.count[number, rows]
    ways: NDArray[Any] = _falling(kind)[count, used] * (plan.rest_holds[number, rows] | (used == count))
    return ways


def _fill_backwards(plan: _Plan, rows: Ints, table: NDArray[Any], keep: NDArray[Any] | None = None) -> None:
    """Go from the last place to the first.

    Parameters
    ----------
    rows
        Ordered by falling numbers of places.
    table
        :func:`_last_table` of ``rows``; in the end, at no cards used, in how many ways all places can be filled.
    keep
        Zeros, one axis before those of ``table``; takes the table of what comes after each place.
    """
    possible = _possible(plan, rows, table.ndim)
    classes = np.arange(table.ndim, dtype=np.uint8)[:, None]
    places = plan.places[rows]
    for place in reversed(range(int(places[0]))):
        active = slice(int(np.searchsorted(-places, -place)))  # the rows that have this place
        if keep is not None:
            reached = (*(slice(low, high) for low, high in possible[place + 1]), active)
            keep[place][reached] = table[reached]
        before = table[(*(slice(low, high) for low, high in possible[place]), active)]
        after = table[(*(slice(low, high + 1) for low, high in possible[place]), active)].copy()
        may = (plan.holds[rows[active], place] >> classes & 1).astype(table.dtype)
        here = [slice(size) for size in before.shape]
        np.multiply(after[tuple(here)], may[0], out=before)
        for axis in range(table.ndim - 1):
            size = after.shape[axis] - 1  # one less than in ``before`` where no card more can be used
            fewer, more = here.copy(), here.copy()
            fewer[axis], more[axis] = slice(size), slice(1, size + 1)
            before[tuple(fewer)] += after[tuple(more)] * may[axis + 1]


def _possible(plan: _Plan, rows: Ints, num_classes: int) -> list[list[tuple[int, int]]]:
    """How many cards may have been used before each place and after the last.

    Beyond these numbers tables are 0, or not asked for.

    Returns
    -------
    For each place and class but the first, the least number and one more than the greatest, in any of ``rows``.
    """
    places = plan.places[rows]
    rest = (plan.room[rows].sum(axis=1) - places)[:, None]
    steps = np.arange(int(places[0]) + 1)
    bounds = []
    for number in range(1, num_classes):
        count, most = plan.count[number, rows, None], plan.most[number, rows, None]
        used = np.zeros((len(rows), len(steps)), dtype=np.int64)
        np.cumsum(plan.holds[rows, : steps[-1]] >> number & 1, axis=1, out=used[:, 1:])
        to_come = used[:, -1:] - used + rest * plan.rest_holds[number, rows, None]
        there = steps <= places[:, None]
        low = np.where(there, np.maximum(count - to_come, 0), MAX_CARDS).min(axis=0)
        high = np.where(there, np.minimum(used, most), 0).max(axis=0) + 1
        bounds.append(zip(low.tolist(), high.tolist(), strict=True))
    return [list(place) for place in zip(*bounds, strict=True)] if bounds else [[] for _ in steps]


class _Tables(NamedTuple):
    """The tables of some information sets, all in one array."""

    numbers: NDArray[np.float64]
    start: Ints  # [N] where the first number of the first table of each row is
    next_place: Ints  # [N] how far from there that of the next place is
    stride: Ints  # [K, N] how far one more card used of each class is


def _make_tables(plan: _Plan, rows: Ints) -> _Tables:
    """The tables that tell in how many ways it may go on after every place, for ``rows`` by falling places."""
    parts = _alike(plan, rows)
    shapes = [
        (int(plan.places[part[0]]), *plan.table_shapes(part).max(axis=1, initial=1).tolist(), len(part))
        for part in parts
    ]
    ends = np.cumsum([prod(shape) for shape in shapes])
    numbers = np.zeros(ends[-1])
    start, next_place = np.zeros_like(plan.places), np.zeros_like(plan.places)
    stride = np.zeros_like(plan.count)
    for part, shape, end in zip(parts, shapes, ends, strict=True):
        keep = numbers[end - prod(shape) : end].reshape(shape)
        table = _last_table(plan, part, float)
        _fill_backwards(plan, part, table, keep)
        if not table.reshape(-1, len(part))[0].all():
            raise _misfit()
        steps = np.array(keep.strides) // keep.itemsize
        start[part] = end - keep.size + np.arange(len(part))
        next_place[part] = steps[0]
        stride[1:, part] = steps[1:-1, None]
    return _Tables(numbers, start, next_place, stride)


# ------------------------------------------------------------------------------------------------------------- draws


def _parts(plan: _Plan, row_of: Ints) -> Iterator[Ints]:
    """Worlds by falling numbers of places, in parts of which neither tables nor worlds take much memory."""
    by_places = np.argsort(-plan.places, kind="stable")
    rank = np.empty_like(by_places)
    rank[by_places] = np.arange(len(by_places))
    size = plan.table_shapes(by_places).prod(axis=0) * plan.places[by_places]
    worlds = np.bincount(row_of, minlength=len(rank))[by_places]
    part = np.maximum(np.cumsum(size) // TABLE_BUDGET, np.cumsum(worlds) // WORLD_BUDGET)
    order = np.argsort(rank[row_of], kind="stable")
    ends = np.cumsum(worlds)[np.flatnonzero(np.diff(part, append=-1))]
    return (order[start:end] for start, end in zip([0, *ends[:-1]], ends, strict=True))


def _draw_worlds(plan: _Plan, row: Ints, keys: UInt64) -> UInt64:
    """Worlds of the information sets ``row`` (by falling numbers of places), ``uint64[N, P, W]``."""
    num_cards = plan.num_cards[row]
    width, bound = int(num_cards.max()), int(np.searchsorted(-plan.places[row], 0))
    cards, class_of = plan.cards[row, :width], plan.class_of[row, :width]
    taken = np.zeros(cards.shape, dtype=np.bool_)
    served = np.zeros((bound, 0), dtype=np.uint8)
    if bound:  # these worlds have places, the others but a rest
        cards[:bound] = _shuffled_by_class(derive(keys[:bound], _ORDER), cards[:bound], class_of[:bound])
        served, used = _serve(plan, row[:bound], derive(keys[:bound], _CHOICE), cards[:bound])
        taken[:bound] = np.arange(width) < used[class_of[:bound], np.arange(bound)[:, None]]

    words = draw(derive(keys, _REST), width) | _LOW
    words[np.arange(width) >= num_cards[:, None]] = _LAST
    words[taken] = _LOW  # first
    words ^= _LOW ^ np.arange(width, dtype=np.uint64)
    words.sort(axis=1)
    cards = np.take_along_axis(cards, (words & _LOW).view(np.int64), axis=1)
    np.copyto(cards[:bound, : served.shape[1]], served, where=served != _NO_CARD)
    return _hands(plan, row, cards)


def _shuffled_by_class(keys: UInt64, cards: NDArray[np.uint8], class_of: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Cards in random order within each class."""
    words = draw(keys, cards.shape[1]) >> _CLASS_BITS
    words |= class_of.astype(np.uint64) << _CLASS_SHIFT
    words &= ~_LOW
    words |= np.arange(cards.shape[1], dtype=np.uint64)
    words.sort(axis=1)
    return np.take_along_axis(cards, (words & _LOW).view(np.int64), axis=1)


def _serve(plan: _Plan, row: Ints, keys: UInt64, cards: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], Ints]:
    """Fill the places of all worlds, one after the other.

    Parameters
    ----------
    row
        By falling numbers of places, none of them 0.
    cards
        ``uint8[N, M]``, in the order of classes and within a class in that in which they come.

    Returns
    -------
    The card of each place, ``uint8[N, T]``, ``_NO_CARD`` after the last place; and where in ``cards`` those of each
    class begin that are left, ``int64[K + 1, N]``.
    """
    tables = _make_tables(plan, row[np.flatnonzero(np.diff(row, prepend=-1))])
    num_worlds, width = cards.shape
    num_places, places = int(plan.places[row[0]]), plan.places[row]
    num_classes = int(plan.most[:, row].any(axis=1).sum())  # the others come to the rest alone
    classes = np.arange(num_classes, dtype=np.uint8)[:, None]
    offsets = np.arange(num_worlds) * width
    left = plan.begin[:num_classes].take(row, axis=1)
    end = left + plan.count[:num_classes].take(row, axis=1)
    stride, next_place = tables.stride[:num_classes].take(row, axis=1), tables.next_place[row]
    at = tables.start[row]
    holds = np.ascontiguousarray(plan.holds[row, :num_places].T)
    chance = np.ascontiguousarray((draw(keys, num_places) >> _11).T) * 2.0**-53
    picked = np.full((num_places, num_worlds), _NO_CARD, dtype=np.uint8)
    for place in range(num_places):
        n = int(np.searchsorted(-places, -place))  # so many worlds have this place
        may = (holds[place, :n] >> classes & 1) & (left[:, :n] < end[:, :n])
        ways = tables.numbers[at[:n] + stride[:, :n] * may] * may
        ways = ways.cumsum(axis=0)
        chosen = (ways[:-1] <= chance[place, :n] * ways[-1]).sum(axis=0) * num_worlds + np.arange(n)
        card = left.reshape(-1)[chosen]
        left.reshape(-1)[chosen] += 1
        at[:n] += stride.reshape(-1)[chosen] + next_place[:n]
        picked[place, :n] = cards.reshape(-1)[card + offsets[:n]]
    used = np.zeros((_NO_CLASS + 1, num_worlds), dtype=np.int64)
    used[:num_classes] = left
    return np.ascontiguousarray(picked.T), used


def _hands(plan: _Plan, row: Ints, cards: NDArray[np.uint8]) -> UInt64:
    """The hands of the seats, ``uint64[N, P, W]``, when all get their cards from ``cards`` one after the other."""
    num_worlds, width = cards.shape
    room = plan.room[row]
    start = np.cumsum(room, axis=1) - room + (np.arange(num_worlds) * width)[:, None]
    hands = plan.given[row]
    at = (np.arange(num_worlds)[:, None], plan.seats[row])
    for copy in range(hands.shape[2]):
        bits = np.append(_CARD_BITS[copy].take(cards.reshape(-1)), _NO_BITS)
        dealt = np.bitwise_or.reduceat(bits, start.reshape(-1)).reshape(start.shape)
        hands[(*at, copy)] |= np.where(room > 0, dealt, _NO_BITS)
    return hands
