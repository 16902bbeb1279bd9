"""Referee of Sluff, from "Rules of Sluff" (Sluff Scorecard). "Hand" numbers: the rules page's."""

from __future__ import annotations

from typing import Any

from .base import Referee

COLOURS = "RBGY"
TRUMP = "B"
DECK = [f"{colour}{number}" for colour in COLOURS for number in range(1, 15)]  # each twice; order of action numbers
LOW_TO_HIGH = [*range(2, 15), 1]
CARDS_EACH = {4: 14, 6: 14, 8: 14, 10: 11}
OPENING_CARD = "R2"
SLUFF = "sluff"


def colour_of(card: str) -> str:
    return card[0]


def strength(card: str) -> int:
    return LOW_TO_HIGH.index(int(card[1:]))


def winning_position(cards: list[str]) -> int:
    """Hand 4: which card of a full trick wins."""
    contenders = [card for card in cards if colour_of(card) == TRUMP]
    if not contenders:
        contenders = [card for card in cards if colour_of(card) == colour_of(cards[0])]
    return cards.index(max(contenders, key=strength))  # `index` finds the first of two identical cards


def opening_leader(hands: list[list[str]], dealer: int) -> int:
    """Hand 2: who holds the first red 2, looking clockwise from the dealer's left, the dealer last."""
    seats = range(len(hands))
    clockwise = [(dealer + 1 + i) % len(seats) for i in seats]
    return next(seat for seat in clockwise if OPENING_CARD in hands[seat])


def team_score(bids: list[int | str], tricks: list[int]) -> int:
    """The score of a team, given its members' bids (a number or "sluff") and tricks."""
    bid = sum(number for number in bids if isinstance(number, int))
    taken = sum(tricks)
    if taken < bid:
        return 0
    score = 10 * bid + (taken - bid)
    for member_bid, member_tricks in zip(bids, tricks, strict=True):
        if member_bid == SLUFF:
            score += 50 if member_tricks == 0 else -50
    return score


class SluffReferee(Referee):
    game = "sluff"

    hands: list[list[str]]  # a card may be there twice
    bids: list[int | str | None]  # a number, "sluff", or None: not yet bid
    tricks: list[int]  # tricks won, by seat
    trick: list[tuple[int, str]]  # the trick on the table: seats and cards in the order of play
    past_tricks: list[tuple[list[tuple[int, str]], int]]  # the finished tricks of the hand and who won them
    voids: list[set[str]]  # colours that each seat has shown not to hold
    without_red_two: set[int]  # seats that were passed over when the opening leader was sought

    def begin_hand(self, deal: dict[str, Any]) -> None:
        assert self.dealer is not None
        self.hands = [list(cards) for cards in deal["hands"]]
        self.bids = [None] * self.num_players
        self.tricks = [0] * self.num_players
        self.trick = []
        self.past_tricks = []
        self.voids = [set() for _ in range(self.num_players)]
        self.without_red_two = set()
        self.seat = self.left_of(self.dealer)  # hand 1

    def bidding(self) -> bool:
        return None in self.bids

    def legal(self) -> list[str]:
        if self.seat is None:
            return []
        if self.bidding():  # hand 1
            numbers = [f"bid {number}" for number in range(1, CARDS_EACH[self.num_players] + 1)]
            return [SLUFF, *numbers] + (["bid 0"] if self.rules["allow_zero_bid"] else [])
        hand = [card for card in DECK if card in self.hands[self.seat]]  # two copies are one action
        if not self.trick:
            return hand if self.past_tricks else [OPENING_CARD]  # hand 2
        led_colour = colour_of(self.trick[0][1])
        return [card for card in hand if colour_of(card) == led_colour] or hand  # hand 3

    def apply(self, action: str) -> None:
        assert self.seat is not None and self.dealer is not None
        if self.bidding():
            self.bids[self.seat] = SLUFF if action == SLUFF else int(action.removeprefix("bid "))
            if self.bidding():
                self.seat = self.left_of(self.seat)
            else:
                self.seat = opening_leader(self.hands, self.dealer)
                for seat in self.clockwise_from(self.left_of(self.dealer)):
                    if seat == self.seat:
                        break
                    self.without_red_two.add(seat)
            return

        self.hands[self.seat].remove(action)  # one copy
        self.trick.append((self.seat, action))
        led_colour = colour_of(self.trick[0][1])
        if colour_of(action) != led_colour:
            self.voids[self.seat].add(led_colour)
        if len(self.trick) < self.num_players:
            self.seat = self.left_of(self.seat)
            return

        winner = self.trick[winning_position([card for _, card in self.trick])][0]
        self.tricks[winner] += 1
        self.past_tricks.append((self.trick, winner))
        self.trick = []
        self.seat = winner  # hand 2
        if not any(self.hands):
            self.finish_hand(self.score())

    def score(self) -> list[int]:
        """Each player scores what the team scores; a team is every other seat."""
        bids = [bid for bid in self.bids if bid is not None]
        teams = [team_score(bids[first::2], self.tricks[first::2]) for first in (0, 1)]
        return [teams[seat % 2] for seat in range(self.num_players)]

    def after_hand(self) -> None:
        """Everybody deals once; no target and no limit."""
        if len(self.hand_scores) == self.num_players:
            self.finish_match("terminated")
        else:
            self.next_hand()

    def public(self, seat: int) -> dict[str, Any]:
        return {
            "hand": sorted(self.hands[seat], key=DECK.index),
            "bids": list(self.bids),
            "trick": list(self.trick),
            "past_tricks": list(self.past_tricks),
            "tricks": list(self.tricks),
            "voids": [set(colours) for colours in self.voids],
            "without_red_two": set(self.without_red_two),
            "dealer": self.dealer,
            "scores": list(self.scores),
        }
