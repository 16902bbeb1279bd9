"""Referee of Slopes, from the rules of Ben Diaczun's game (Wikipedia, "Slopes").

Headings in the comments are those of the rules page. Piles are kept in seat 0's order and counted from 0; the names of
actions count them from 1, beginning in front of the player to act.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from .base import Referee

COLOURS = "RYGB"
WILDS = ["W", "W4"]
# The 54 kinds of card in the order of action numbers.
KINDS = [colour + face for colour in COLOURS for face in "0123456789SRD"] + WILDS


def is_wild(card: str) -> bool:
    return card in WILDS


def is_number(card: str) -> bool:
    return not is_wild(card) and card[1].isdigit()


def colour_of(card: str) -> str | None:
    return None if is_wild(card) else card[0]


def kind_of(card: str) -> str:
    """The face of a coloured card; for a wild its name."""
    return card if is_wild(card) else card[1]


def is_skip(card: str) -> bool:
    return kind_of(card) == "S"


def number_fits_number(card: str, top: str) -> bool:
    n, t = int(kind_of(card)), int(kind_of(top))
    if n == t:
        return True
    if abs(n - t) == 1 or {n, t} == {0, 9}:  # neighbours on the ring 0-1-2-...-9-0
        return True
    return colour_of(card) == colour_of(top) and abs(n - t) == 2 and 0 not in (n, t)


def fits(card: str, top: str | None, after_duplicate: bool) -> bool:
    """The table "What may be played on an unfrozen pile".

    `after_duplicate`: the top card was just put there, in this turn, on an equal number.
    """
    if top is None:
        return is_number(card)
    if is_wild(top):
        return True
    if is_number(top):
        if is_number(card):
            return number_fits_number(card, top)
        return after_duplicate and (is_wild(card) or colour_of(card) == colour_of(top))
    # On a coloured special.
    if is_number(card):
        return colour_of(card) == colour_of(top)
    return is_wild(card) or colour_of(card) == colour_of(top) or kind_of(card) == kind_of(top)


def takes_control(card: str, top: str | None) -> bool:
    """Skip: what it may cover beyond that table, even on a frozen pile or beside the turn's own pile."""
    return is_skip(card) and top is not None and (is_wild(top) or colour_of(card) == colour_of(top))


def winner_of(tops: list[str | None]) -> int | None:
    """Winning: the seat from which four number cards, given in seat 0's order, rise strictly away."""
    numbers = [int(kind_of(top)) for top in tops if top is not None and is_number(top)]
    if len(numbers) < 4:
        return None
    steps = list(pairwise(numbers))
    if all(near < far for near, far in steps):
        return 0
    if all(near > far for near, far in steps):
        return 1
    return None


class SlopesReferee(Referee):
    game = "slopes"

    hands: list[list[str]]
    piles: list[list[str]]  # each from the bottom to the top
    frozen_by: list[int | None]  # pile by pile: the seat that froze it
    stock: list[str]  # the next card first
    reshuffles: list[list[str]]  # the new stocks of the script
    reshuffles_used: int
    first_player: int
    turns: int  # finished turns of both players
    pile_in_play: int | None  # the pile begun in this turn
    duplicate_on: int | None  # the pile whose top this turn's latest card is, put there on an equal number
    swapping: int | None  # the pile of a reverse that awaits `swap` or `keep`

    def set_dealer(self, hand: dict[str, Any]) -> None:
        """Nobody deals; the first player is an option or drawn."""
        expected = self.rules["first_player"]
        if expected is not None and hand["first_player"] != expected:
            raise ValueError(f"slopes: the first player is {hand['first_player']}, expected {expected}")
        self.first_player = hand["first_player"]

    def begin_hand(self, deal: dict[str, Any]) -> None:
        """Set-up. The piles at the start are not frozen."""
        self.hands = [list(cards) for cards in deal["hands"]]
        self.piles = [[] if card is None else [card] for card in deal["piles"]]
        self.frozen_by = [None] * 4
        self.stock = list(deal["stock"])
        self.reshuffles = deal["reshuffles"]  # not a copy: it may grow while the match goes on
        self.reshuffles_used = 0
        self.turns = 0
        self.begin_turn(self.first_player)

    @property
    def tops(self) -> list[str | None]:
        return [pile[-1] if pile else None for pile in self.piles]

    def pile_at(self, seat: int, number: int) -> int:
        """The pile that this seat calls `number` (1 to 4)."""
        return number - 1 if seat == 0 else 4 - number

    # ---- a turn

    def begin_turn(self, seat: int) -> None:
        """A turn, 1 and 2."""
        self.seat = seat
        self.frozen_by = [None if by == seat else by for by in self.frozen_by]
        self.pile_in_play = None
        self.duplicate_on = None
        self.swapping = None
        self.draw(seat, 1)

    def may_play(self, card: str, pile: int) -> bool:
        top = self.tops[pile]
        if takes_control(card, top):
            return True
        if self.pile_in_play not in (None, pile):  # A turn, 3: one pile
            return False
        if self.frozen_by[pile] is not None:
            return False
        return fits(card, top, after_duplicate=self.duplicate_on == pile)

    def legal(self) -> list[str]:
        if self.seat is None:
            return []
        names = []
        if self.swapping is not None:
            for number in (1, 2, 3, 4):
                pile = self.pile_at(self.seat, number)
                if pile == self.swapping:
                    names.append("keep")
                elif self.piles[pile]:
                    names.append(f"swap {number}")
            return names

        for card in KINDS:
            if card in self.hands[self.seat]:
                for number in (1, 2, 3, 4):
                    if self.may_play(card, self.pile_at(self.seat, number)):
                        names.append(f"{card} on {number}")
        # A turn, 3: the first card of a turn is owed if there is one, all others are free.
        if self.pile_in_play is not None or not names or not self.rules["must_play"]:
            names.append("end")
        return names

    def apply(self, action: str) -> None:
        assert self.seat is not None
        if action in ("end", "keep"):
            self.end_turn()
        elif action.startswith("swap "):
            assert self.swapping is not None
            here, there = self.swapping, self.pile_at(self.seat, int(action.removeprefix("swap ")))
            self.piles[here], self.piles[there] = self.piles[there], self.piles[here]
            # Freezes travel with their piles.
            self.frozen_by[here], self.frozen_by[there] = self.frozen_by[there], self.frozen_by[here]
            self.end_turn()
        else:
            card, number = action.split(" on ")
            self.put(card, self.pile_at(self.seat, int(number)))

    def put(self, card: str, pile: int) -> None:
        assert self.seat is not None
        top = self.tops[pile]
        equal = top is not None and is_number(card) and is_number(top) and kind_of(card) == kind_of(top)
        self.hands[self.seat].remove(card)
        self.piles[pile].append(card)
        self.pile_in_play = pile
        self.duplicate_on = pile if equal else None
        if is_number(card):
            return

        # After a special.
        self.frozen_by[pile] = self.seat
        if kind_of(card) == "R":
            self.swapping = pile
            return
        self.draw(self.seat, {"D": 2, "W4": 4}.get(kind_of(card), 0))
        self.end_turn()

    def end_turn(self) -> None:
        """A turn, 4, and Winning."""
        assert self.seat is not None
        self.turns += 1
        winner = winner_of(self.tops)
        if winner is not None:
            self.finish([1 if seat == winner else -1 for seat in (0, 1)], "terminated")
        elif self.turns == self.rules["max_turns"]:
            self.finish([0, 0], "truncated")
        else:
            self.begin_turn(self.left_of(self.seat))

    def finish(self, result: list[int], end: str) -> None:
        self.hand_scores.append(result)
        self.scores = list(result)
        self.finish_match(end)

    # ---- the stock

    def draw(self, seat: int, count: int) -> None:
        """Stock: one card at a time; what cannot be drawn is dropped."""
        for _ in range(count):
            if not self.stock:
                self.renew_stock()
            if not self.stock:
                return
            self.hands[seat].append(self.stock.pop(0))

    def renew_stock(self) -> None:
        """All cards under the tops become the new stock, in the order that the script tells."""
        under_the_tops = [card for pile in self.piles for card in pile[:-1]]
        if not under_the_tops:
            return
        if self.reshuffles_used == len(self.reshuffles):
            raise ValueError(f"slopes: turn {self.turns + 1} needs reshuffle {self.reshuffles_used + 1}, not given")
        new_stock = self.reshuffles[self.reshuffles_used]
        self.reshuffles_used += 1
        if sorted(new_stock) != sorted(under_the_tops):
            raise ValueError(f"slopes: reshuffle {self.reshuffles_used} is not of the cards under the tops")
        self.piles = [pile[-1:] for pile in self.piles]
        self.stock = list(new_stock)

    def check_script_used(self) -> None:
        super().check_script_used()
        if self.hand_number and self.reshuffles_used != len(self.reshuffles):
            raise ValueError(f"slopes: {self.reshuffles_used} reshuffles were needed, {len(self.reshuffles)} are given")

    def public(self, seat: int) -> dict[str, Any]:
        """Piles in this seat's order."""
        order = [self.pile_at(seat, number) for number in (1, 2, 3, 4)]
        return {
            "hand": sorted(self.hands[seat], key=KINDS.index),
            "hand_sizes": [len(hand) for hand in self.hands],
            "tops": [self.tops[pile] for pile in order],
            "heights": [len(self.piles[pile]) for pile in order],
            "frozen_by": [self.frozen_by[pile] for pile in order],
            "stock_size": len(self.stock),
            "turns": self.turns,
            "scores": list(self.scores),
        }
