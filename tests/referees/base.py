"""What the five referees share: the order of a match, and the check of every action.

A referee is slow and plain on purpose: lists, sets, dicts and card names, one rule after the other. It is told the
options and the deals, never draws anything itself, and says who moves, what is legal and what it scored.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

FRENCH_SUITS = "CDHS"


class Referee(ABC):
    """One match. Subclasses fill in `begin_hand`, `legal`, `apply`, and where it differs `after_hand`."""

    game: ClassVar[str]

    def __init__(self, rules: dict[str, Any], hands: list[dict[str, Any]]) -> None:
        """`rules` as in a record; of `hands` only the dealer (or first player) and the deal are read.

        A hand is read when it begins, so hands (and, in Slopes, reshuffles) may be appended while the match goes on,
        as long as they are there before the `play` that needs them; otherwise see `go_on`.
        """
        self.rules = rules
        self.num_players: int = rules["num_players"]
        self.script = hands
        self.hand_number = 0  # the hand being played (or the last one), counted from 1; 0 before the first
        self.dealer: int | None = None
        self.seat: int | None = None  # the seat to move
        self.waiting = False  # a new hand must begin, but the script holds no further one
        self.over = False
        self.end = "unfinished"
        self.hand_scores: list[list[int]] = []  # score changes of the finished hands, seat by seat
        self.starting_scores = self.scores_at_start()
        self.scores = list(self.starting_scores)
        self.next_hand()

    # ---- for each game to fill in

    def scores_at_start(self) -> list[int]:
        return [0] * self.num_players

    @abstractmethod
    def begin_hand(self, deal: dict[str, Any]) -> None:
        """Take up the cards and set `seat`."""

    @abstractmethod
    def legal(self) -> list[str]:
        """The names of the legal actions, in the order of their numbers; empty when nobody is to move."""

    @abstractmethod
    def apply(self, action: str) -> None:
        """Carry out a legal action."""

    def public(self, seat: int) -> dict[str, Any]:
        """What this seat may know, for cross-checks (from the first deal on)."""
        return {}

    # ---- the same in every game

    def left_of(self, seat: int) -> int:
        return (seat + 1) % self.num_players

    def clockwise_from(self, seat: int) -> list[int]:
        """All seats, beginning with this one."""
        return [(seat + i) % self.num_players for i in range(self.num_players)]

    def play(self, action: str) -> None:
        legal = self.legal()
        if action not in legal:
            raise ValueError(
                f"{self.game}: seat {self.seat} may not play {action!r}; legal: {', '.join(legal) or 'nothing'}"
            )
        self.apply(action)

    def next_hand(self) -> None:
        """Begin the next hand of the script, or wait for one."""
        if self.hand_number == len(self.script):
            self.waiting = True
            self.seat = None
            return
        self.waiting = False
        hand = self.script[self.hand_number]
        self.hand_number += 1
        self.set_dealer(hand)
        self.begin_hand(hand["deal"])

    def go_on(self, hand: dict[str, Any]) -> None:
        """Give a waiting referee its next hand."""
        if not self.waiting:
            raise ValueError(f"{self.game}: no hand is awaited")
        self.script.append(hand)
        self.next_hand()

    def set_dealer(self, hand: dict[str, Any]) -> None:
        """The first dealer is an option or drawn; then the deal passes to the left."""
        expected = self.rules["first_dealer"] if self.dealer is None else self.left_of(self.dealer)
        self.check_dealer(hand["dealer"], expected)
        self.dealer = hand["dealer"]

    def check_dealer(self, dealer: int, expected: int | None) -> None:
        if expected is not None and dealer != expected:
            raise ValueError(f"{self.game}: hand {self.hand_number} has dealer {dealer}, expected {expected}")

    def finish_hand(self, changes: list[int]) -> None:
        """Score the hand, then end the match or begin the next hand."""
        self.seat = None
        self.hand_scores.append(list(changes))
        self.scores = [score + change for score, change in zip(self.scores, changes, strict=True)]
        if self.rules["match"] == "hand":
            self.finish_match("terminated")
        else:
            self.after_hand()

    def after_hand(self) -> None:
        """The usual end: somebody reached the target, else the limit of hands cuts the match off."""
        if max(self.scores) >= self.rules["target_score"]:
            self.finish_match("terminated")
        elif len(self.hand_scores) == self.rules["max_hands"]:
            self.finish_match("truncated")
        else:
            self.next_hand()

    def finish_match(self, end: str) -> None:
        self.seat = None
        self.over = True
        self.end = end

    def check_script_used(self) -> None:
        """Complain about deals that were never needed."""
        if self.hand_number != len(self.script):
            raise ValueError(f"{self.game}: over after hand {self.hand_number}, but {len(self.script)} hands are given")
