"""Referee of Sloppy Seconds, from the rules by Peter Schell. "Hand" and "score" numbers: the rules page's."""

from __future__ import annotations

from typing import Any

from .base import FRENCH_SUITS, Referee

RANKS = ["A", "2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K"]
DECK = [rank + suit for suit in FRENCH_SUITS for rank in RANKS]  # in the order of action numbers
LOW_TO_HIGH = ["2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K", "A"]  # hand 3
POINTS = {rank: points for points, rank in enumerate(RANKS, 1)}
LEAST = 5  # what a hand scores at least


def suit_of(card: str) -> str:
    return card[-1]


def strength(card: str) -> int:
    return LOW_TO_HIGH.index(card[:-1])


def points_of(card: str) -> int:
    return POINTS[card[:-1]]


def broken_by(card: str, led: str, broken: list[str]) -> list[str]:
    """Hand 4: the suits broken so far, oldest first, after `card` was played to a trick in which `led` was led."""
    suit = suit_of(card)
    return [*broken, suit] if suit != suit_of(led) and suit not in broken else broken


def trump_of(broken: list[str]) -> str | None:
    """Hand 4: the second suit broken, for good."""
    return broken[1] if len(broken) >= 2 else None


def winning_position(cards: list[str], trump: str | None) -> int:
    """Hand 5: which card of a full trick wins; `trump` as it stands after the trick's last card."""
    contenders = [card for card in cards if suit_of(card) == trump]
    if not contenders:
        contenders = [card for card in cards if suit_of(card) == suit_of(cards[0])]
    return cards.index(max(contenders, key=strength))


def score_of_suit(totals: list[int], tie_ranking: str) -> list[int]:
    """What each player scores for one suit, given everybody's points in it."""
    first = max(totals)
    if tie_ranking == "competition" and totals.count(first) > 1:
        return [0] * len(totals)  # those who share the first place hold the second as well
    second = max((total for total in totals if total < first), default=0)
    return [total if total == second else 0 for total in totals]


def score(points: list[dict[str, int]], tie_ranking: str) -> list[int]:
    """The scores of a hand, given each player's points by suit."""
    sums = [0] * len(points)
    for suit in FRENCH_SUITS:
        scored = score_of_suit([taken[suit] for taken in points], tie_ranking)
        sums = [total + more for total, more in zip(sums, scored, strict=True)]
    return [max(total, LEAST) for total in sums]


class SloppySecondsReferee(Referee):
    game = "sloppy_seconds"

    hands: list[set[str]]
    trick: list[tuple[int, str]]  # the trick on the table: seats and cards in the order of play
    past_tricks: list[tuple[list[tuple[int, str]], int]]  # the finished tricks of the hand and who won them
    tricks: list[int]  # tricks won, by seat
    points: list[dict[str, int]]  # points taken, by seat and suit
    broken: list[str]  # the broken suits, oldest first
    voids: list[set[str]]  # suits that each seat has shown not to hold

    def begin_hand(self, deal: dict[str, Any]) -> None:
        assert self.dealer is not None
        self.hands = [set(cards) for cards in deal["hands"]]
        self.trick = []
        self.past_tricks = []
        self.tricks = [0] * self.num_players
        self.points = [dict.fromkeys(FRENCH_SUITS, 0) for _ in range(self.num_players)]
        self.broken = []
        self.voids = [set() for _ in range(self.num_players)]
        self.seat = self.left_of(self.dealer)  # hand 1

    @property
    def trump(self) -> str | None:
        return trump_of(self.broken)

    def legal(self) -> list[str]:
        if self.seat is None:
            return []
        hand = [card for card in DECK if card in self.hands[self.seat]]
        if not self.trick:
            return hand
        led_suit = suit_of(self.trick[0][1])
        return [card for card in hand if suit_of(card) == led_suit] or hand  # hand 2

    def apply(self, action: str) -> None:
        assert self.seat is not None
        self.hands[self.seat].remove(action)
        self.trick.append((self.seat, action))
        led = self.trick[0][1]
        self.broken = broken_by(action, led, self.broken)
        if suit_of(action) != suit_of(led):
            self.voids[self.seat].add(suit_of(led))
        if len(self.trick) < self.num_players:
            self.seat = self.left_of(self.seat)
            return

        cards = [card for _, card in self.trick]
        winner = self.trick[winning_position(cards, self.trump)][0]
        self.tricks[winner] += 1
        for card in cards:
            self.points[winner][suit_of(card)] += points_of(card)
        self.past_tricks.append((self.trick, winner))
        self.trick = []
        self.seat = winner  # hand 1
        if not any(self.hands):
            self.finish_hand(score(self.points, self.rules["tie_ranking"]))

    def public(self, seat: int) -> dict[str, Any]:
        return {
            "hand": set(self.hands[seat]),
            "trick": list(self.trick),
            "past_tricks": list(self.past_tricks),
            "tricks": list(self.tricks),
            "points": [dict(taken) for taken in self.points],
            "broken": list(self.broken),
            "trump": self.trump,
            "voids": [set(suits) for suits in self.voids],
            "dealer": self.dealer,
            "scores": list(self.scores),
        }
