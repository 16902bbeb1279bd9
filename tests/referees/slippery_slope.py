"""Referee of Slippery Slope, from the rules by Brien Patterson and Vicki Jackson. Numbers: the rules page's."""

from __future__ import annotations

from typing import Any

from .base import FRENCH_SUITS, Referee

RANKS = ["A", "2", "3", "4", "J", "Q", "K"]
NUMBERS = ["2", "3", "4"]
FACES = ["J", "Q", "K"]
JOKERS = ["LJ", "BJ"]
DECK = [rank + suit for suit in FRENCH_SUITS for rank in RANKS] + JOKERS  # in the order of action numbers
BEST_FIRST = {"down": ["A", "2", "3", "4", "J", "Q", "K"], "up": ["A", "K", "Q", "J", "4", "3", "2"]}
HAND_SIZE = 10


def suit_of(card: str) -> str | None:
    """C, D, H or S; None for a joker."""
    return None if card in JOKERS else card[-1]


def rank_of(card: str) -> str | None:
    return None if card in JOKERS else card[:-1]


def direction_of(cards: list[str]) -> str:
    """Rule 5: the direction of a trick so far: open, down, up, or none (it will never be needed)."""
    if not cards:
        return "open"
    deciding = cards[0]
    if rank_of(deciding) == "A":  # an ace leaves the decision to the second card, of whatever suit
        if len(cards) == 1:
            return "open"
        deciding = cards[1]
    if rank_of(deciding) in NUMBERS:
        return "down"
    if rank_of(deciding) in FACES:
        return "up"
    return "none"  # a joker was led, or an ace and then a joker or another ace


def winning_position(cards: list[str]) -> int:
    """Rule 5: which card of a full trick wins, counted from 0 in the order of play."""
    # A joker beats every suited card, the big one the little one.
    for joker in ["BJ", "LJ"]:
        if joker in cards:
            return cards.index(joker)

    # Otherwise only the led suit can win.
    contenders = [card for card in cards if suit_of(card) == suit_of(cards[0])]

    # A led ace loses to any other card of its suit.
    if rank_of(cards[0]) == "A" and len(contenders) > 1:
        contenders.remove(cards[0])

    if len(contenders) == 1:
        return cards.index(contenders[0])
    best_first = BEST_FIRST[direction_of(cards)]
    return cards.index(min(contenders, key=lambda card: best_first.index(card[:-1])))


def score(bid: int, tricks: int) -> int:
    """Rule 6."""
    return tricks if tricks == bid else -abs(bid - tricks)


class SlipperySlopeReferee(Referee):
    game = "slippery_slope"

    hands: list[set[str]]
    bids: list[int | None]  # None: not yet bid
    tricks: list[int]  # tricks won, by seat
    trick: list[tuple[int, str]]  # the trick on the table: seats and cards in the order of play
    past_tricks: list[tuple[list[tuple[int, str]], int]]  # the finished tricks of the hand and who won them
    voids: list[set[str]]  # suits that each seat has shown not to hold
    last_bids: list[int | None] | None  # the bids of the hand before, until the next bidding ends

    def begin_hand(self, deal: dict[str, Any]) -> None:
        assert self.dealer is not None
        self.last_bids = self.bids if self.hand_number > 1 else None
        self.hands = [set(cards) for cards in deal["hands"]]
        self.bids = [None] * 3
        self.tricks = [0] * 3
        self.trick = []
        self.past_tricks = []
        self.voids = [set() for _ in range(3)]
        self.seat = self.left_of(self.dealer)  # rule 1

    @property
    def direction(self) -> str:
        return direction_of([card for _, card in self.trick])

    def bidding(self) -> bool:
        return None in self.bids

    def legal(self) -> list[str]:
        if self.seat is None:
            return []
        if self.bidding():  # rule 1
            return [f"bid {number}" for number in range(HAND_SIZE + 1)]
        hand = [card for card in DECK if card in self.hands[self.seat]]
        if not self.trick:  # rule 3: jokers are led only when nothing else is left
            return [card for card in hand if card not in JOKERS] or hand
        led_suit = suit_of(self.trick[0][1])
        if led_suit is None:  # rule 4: a led joker sets no suit
            return hand
        return [card for card in hand if suit_of(card) == led_suit] or hand

    def apply(self, action: str) -> None:
        assert self.seat is not None and self.dealer is not None
        if self.bidding():
            self.bids[self.seat] = int(action.removeprefix("bid "))
            self.seat = self.left_of(self.seat)
            # After the last bid this is the dealer's left again: rule 2, he leads to the first trick.
            if not self.bidding():
                self.last_bids = None
            return

        if self.trick:
            led_suit = suit_of(self.trick[0][1])
            if led_suit is not None and suit_of(action) != led_suit:
                self.voids[self.seat].add(led_suit)
        elif action in JOKERS:
            self.voids[self.seat] |= set(FRENCH_SUITS)
        self.hands[self.seat].remove(action)
        self.trick.append((self.seat, action))
        if len(self.trick) < 3:
            self.seat = self.left_of(self.seat)
            return

        winner = self.trick[winning_position([card for _, card in self.trick])][0]
        self.tricks[winner] += 1
        self.past_tricks.append((self.trick, winner))
        self.trick = []
        self.seat = winner  # rule 2
        if len(self.past_tricks) == HAND_SIZE:
            bids = [bid for bid in self.bids if bid is not None]
            self.finish_hand([score(bid, won) for bid, won in zip(bids, self.tricks, strict=True)])

    def public(self, seat: int) -> dict[str, Any]:
        """Rule 1: without `reveal_bids="after_bidding"` a seat sees no bid but its own before the hand is scored."""
        seen_by_all = self.over or (self.rules["reveal_bids"] == "after_bidding" and not self.bidding())
        return {
            "hand": set(self.hands[seat]),
            "bids": [bid if seen_by_all or other == seat else None for other, bid in enumerate(self.bids)],
            "last_bids": self.last_bids,
            "trick": list(self.trick),
            "past_tricks": list(self.past_tricks),
            "tricks": list(self.tricks),
            "direction": self.direction,
            "voids": [set(suits) for suits in self.voids],
            "dealer": self.dealer,
            "scores": list(self.scores),
        }
