"""Any deck of cards: numbering and names, bit sets, deals.

A card is a whole number, its place in the deck's list of names; a set of cards is a word with one bit a card
(``uint32`` or ``uint64``), so union, removal and following suit are single operations on whole batches.

Shape letters: **B** games, **P** seats, **C** cards, **N** keys or words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .chance import UInt64, draw, shuffle
from .errors import UnknownName, shown

Card = int
Suit = int


class CardName(str):
    """Text that is the name of one card and never stands for several, as it does where all cards are given in lists."""

    __slots__ = ()


BIT: UInt64 = np.left_shift(np.uint64(1), np.arange(64, dtype=np.uint64))
"""``BIT[c]`` is the word with only bit ``c`` set (``uint64[64]``)."""


@dataclass(frozen=True)
class Deck:
    """The card types of a game, in the order of their numbers.

    ``suits`` and ``ranks`` give the suited cards (number ``len(ranks) * suit + rank``, named by ``rank_first`` either
    ``"10C"`` or ``"R10"``); ``extras`` follow them (jokers, wild cards) and belong to no suit.
    """

    suits: tuple[str, ...]
    ranks: tuple[str, ...]
    extras: tuple[str, ...] = ()
    rank_first: bool = True
    names: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        suited = [rank + suit if self.rank_first else suit + rank for suit in self.suits for rank in self.ranks]
        object.__setattr__(self, "names", (*suited, *self.extras))
        if len(set(self.names)) != len(self.names) or len(self.names) > 64:
            raise ValueError(f"a deck needs at most 64 card types with different names, got {self.names}")

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def _numbers(self) -> dict[str, Card]:
        return {name: number for number, name in enumerate(self.names)}

    def name(self, card: Card) -> str:
        """Name of a card number, such as ``"10C"``."""
        return self.names[card]

    def parse(self, text: str) -> Card:
        """Card number of a name; the inverse of :meth:`name`.

        Raises
        ------
        UnknownName
            If no card of this deck is called ``text``.
        """
        try:
            return self._numbers[text]
        except (KeyError, TypeError):
            raise UnknownName("card", text, self.names) from None

    def suit(self, card: Card) -> Suit | None:
        """Suit number of a card; None for an extra."""
        suit = card // len(self.ranks)
        return suit if suit < len(self.suits) else None

    def rank(self, card: Card) -> int | None:
        """Place of a card's rank in ``ranks``; None for an extra."""
        return card % len(self.ranks) if self.suit(card) is not None else None

    def suit_bits(self, suit: Suit) -> int:
        """All cards of a suit, as a bit set."""
        return ((1 << len(self.ranks)) - 1) << (len(self.ranks) * suit)

    def suits_bits(self, suits: int) -> int:
        """All cards of some suits (one bit a suit), as a bit set."""
        return sum(self.suit_bits(suit) for suit in cards_in(suits))

    def parse_set(self, cards: str | Sequence[str]) -> list[Card]:
        """Card numbers of a list of names, or of one text with names between spaces."""
        return [self.parse(name) for name in (cards.split() if isinstance(cards, str) else cards)]

    def parse_cards(self, cards: Any, size: int | None, what: str) -> list[Card]:
        """Card numbers of cards that come from outside.

        Parameters
        ----------
        cards
            A list of names, or one text with names between spaces, unless it is a :class:`CardName`.
        size
            How many cards are expected; None for any number.
        what
            What they are, for messages: ``"seat 2"``, ``"stock"``.

        Raises
        ------
        ValueError
            If they are not a list of names of this deck, or not as many as expected.
        """
        if not isinstance(cards, str | list | tuple) or isinstance(cards, CardName):
            raise ValueError(f"{what}: expected a list of card names, got {shown(cards)}")
        try:
            numbers = self.parse_set(cards)
        except UnknownName as error:
            raise ValueError(f"{what}: {error}") from None
        if size is not None and len(numbers) != size:
            raise ValueError(f"{what}: expected {size} cards, got {len(numbers)}")
        return numbers

    def parse_hands(self, hands: Any, sizes: Sequence[int], copies: int | Sequence[int] = 1) -> list[list[Card]]:
        """Card numbers of the hands of all seats, each as for :meth:`parse_cards`.

        Parameters
        ----------
        hands
            A list, one hand a seat.
        sizes
            Cards of each seat.
        copies
            How often each card is in the deck: one number for all cards, or one a card.

        Raises
        ------
        ValueError
            If they are not such hands.
        """
        if not isinstance(hands, list | tuple) or len(hands) != len(sizes):
            got = f"{len(hands)}" if isinstance(hands, list | tuple) else shown(hands)
            raise ValueError(f"hands: expected the hands of {len(sizes)} seats, got {got}")
        pairs = enumerate(zip(hands, sizes, strict=True))
        numbers = [self.parse_cards(hand, size, f"seat {seat}") for seat, (hand, size) in pairs]
        self.check_copies([card for hand in numbers for card in hand], copies)
        return numbers

    def check_copies(self, cards: Sequence[Card], copies: int | Sequence[int] = 1) -> None:
        """Check that no card is there more often than the deck has it (``copies`` as for :meth:`parse_hands`).

        Raises
        ------
        ValueError
            Names the cards.
        """
        if copies == 1 and len(set(cards)) == len(cards):
            return
        limits = [copies] * len(self) if isinstance(copies, int) else copies
        for card, count in sorted(Counter(cards).items()):
            if count > limits[card]:
                raise ValueError(f"{self.name(card)} is dealt {count} times, but the deck has it {limits[card]} times")

    def names_of(self, bits: int) -> list[str]:
        """Names of the cards in a bit set, in the order of their numbers."""
        return [self.names[card] for card in cards_in(bits)]


def cards_in(bits: int) -> list[Card]:
    """Card numbers of a bit set, rising."""
    bits = int(bits)
    return [card for card in range(bits.bit_length()) if bits >> card & 1]


def bits_of(cards: Iterable[Card]) -> int:
    """The bit set of some card numbers."""
    bits = 0
    for card in cards:
        bits |= 1 << card
    return bits


def deal_hands(keys: UInt64, num_cards: int, sizes: Sequence[int]) -> UInt64:
    """Shuffle ``num_cards`` different cards and deal hands of the given sizes.

    Returns
    -------
    uint64[N, P], the hand of each seat as a bit set; every deal is equally likely.
    """
    return deal_from(keys, BIT[:num_cards], sizes)


def deal_from(keys: UInt64, deck: UInt64, sizes: Sequence[int]) -> UInt64:
    """Shuffle any deck and deal hands of the given sizes.

    Parameters
    ----------
    keys
        ``uint64[N]``
    deck
        ``uint64[C]``, each card as a bit set; or ``uint64[C, W]``, where the copies of a card type are told apart by
        the word in which they stand.
    sizes
        Cards of each seat, at most C in all.

    Returns
    -------
    uint64[N, P] or uint64[N, P, W], the hand of each seat; every deal of the C cards is equally likely.
    """
    dealt = deck[shuffle(keys, len(deck))]
    hands = np.empty((len(keys), len(sizes), *deck.shape[1:]), dtype=np.uint64)
    start = 0
    for seat, size in enumerate(sizes):
        np.bitwise_or.reduce(dealt[:, start : start + size], axis=1, out=hands[:, seat])
        start += size
    return hands


_L8 = np.uint64(0x0101010101010101)
_H8 = np.uint64(0x8080808080808080)
_M1, _M2, _M4 = (np.uint64(m) for m in (0x5555555555555555, 0x3333333333333333, 0x0F0F0F0F0F0F0F0F))
_ONE, _TWO, _THREE, _FOUR, _EIGHT = (np.uint64(n) for n in (1, 2, 3, 4, 8))
_BYTE, _63 = np.uint64(255), np.uint64(63)


def _select_in_byte() -> NDArray[np.uint64]:
    table = np.zeros((8, 256), dtype=np.uint64)
    for byte in range(256):
        for nth, bit in enumerate(cards_in(byte)):
            table[nth, byte] = bit
    return table.reshape(-1)


_SELECT_IN_BYTE = _select_in_byte()


def select_bit(words: UInt64, nth: UInt64) -> NDArray[np.int64]:
    """Number of the ``nth`` set bit (from 0) of each word, ``int64[N]``.

    Broadword selection: running counts of the bytes by one multiplication, compared with ``nth`` all at once (Vigna,
    "Broadword implementation of rank/select queries", 2008).  ``nth`` must be less than the number of bits set.
    """
    sums = words - ((words >> _ONE) & _M1)
    sums = (sums & _M2) + ((sums >> _TWO) & _M2)
    sums = ((sums + (sums >> _FOUR)) & _M4) * _L8
    before = ((((nth * _L8) | _H8) - sums) & _H8).view(np.uint64)
    place = np.bitwise_count(before).astype(np.uint64) * _EIGHT
    nth = nth - (((sums << _EIGHT) >> place) & _BYTE)
    byte = (words >> place) & _BYTE
    number: NDArray[np.int64] = (place + _SELECT_IN_BYTE[((nth << _EIGHT) | byte).view(np.int64)]).view(np.int64)
    return number


def random_subset(keys: UInt64, words: UInt64, sizes: NDArray[np.int64]) -> UInt64:
    """A uniformly random subset of given size of each bit set, ``uint64[N]``.

    ``sizes`` (``int64[N]``) must be from 0 to the number of bits set.
    """
    width = max(int(words.max(initial=np.uint64(0))).bit_length(), 1)
    order = draw(keys, width) & ~_63
    order |= np.arange(width, dtype=np.uint64)
    order[(words[:, None] & BIT[:width]) == 0] = np.uint64(2**64 - 1)  # not a member: sorted to the end
    order.sort(axis=1)
    chosen = np.where(np.arange(width) < sizes[:, None], BIT[(order & _63).view(np.int64)], np.uint64(0))
    subset: UInt64 = np.bitwise_or.reduce(chosen, axis=1)
    return subset
