"""Referee of Slippery Sam, from "The Official World Encyclopedia of Sports and Games".

"Bank" numbers: the rules page's. A "hand" of the record is one bank.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor
from typing import Any

from .base import Referee

LOW_TO_HIGH = ["2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K", "A"]
MOST_REDRAWS = 3


def strength(card: str) -> int:
    return LOW_TO_HIGH.index(card[:-1])


def beats(card: str, exposed: str) -> bool:
    """Bank 3: the same suit and higher."""
    return card[-1] == exposed[-1] and strength(card) > strength(exposed)


def amounts_offered(low: int, high: int, bet_levels: str | list[float]) -> list[int]:
    """Actions: the amounts between low and high that the levels offer, each once, from the lowest."""
    if bet_levels == "all":
        return list(range(low, high + 1))
    amounts = []
    for level in bet_levels:
        exact = low + Fraction(str(level)) * (high - low)  # the level as the decimal that is written
        amount = floor(exact + Fraction(1, 2))  # half up
        if amount not in amounts:
            amounts.append(amount)
    return amounts


class SlipperySamReferee(Referee):
    game = "slippery_sam"

    chips_before: list[int]  # by seat, when the bank began
    chips: list[int]  # by seat; while a bank is open, the banker's without the bank
    bank: int
    dealt_in: list[bool]
    hands: list[list[str]]  # three cards face down; empty once they are turned, for the banker and those not dealt in
    stock: list[str]  # the next card to be exposed first
    exposed: str | None  # None until the stake is made
    discards: list[tuple[int, str]]  # exposed cards that were bought off: by whom, and the card
    shown: list[list[str]]  # by seat: the cards shown after its bet
    staked: bool
    turns_left: list[int]  # the seats still to have a turn, the one to move first
    redraws: int  # of the seat to move, in this turn
    fee: int | None  # what its first redraw of this turn cost; None before it
    chances: int  # how many seats have been banker or were passed over, one after the other

    def scores_at_start(self) -> list[int]:
        self.chances = 0
        self.chips = [self.rules["starting_chips"]] * self.num_players
        self.bank = 0
        return list(self.chips)

    @property
    def banker(self) -> int | None:
        return self.dealer

    def set_dealer(self, hand: dict[str, Any]) -> None:
        if self.dealer is None:
            self.check_dealer(hand["dealer"], self.rules["first_dealer"])
        else:
            self.check_dealer(hand["dealer"], self.next_banker())
        self.dealer = hand["dealer"]

    def next_banker(self) -> int:
        """Bank 1 and 5: the next seat to the left that can make the least stake."""
        assert self.dealer is not None
        return next(seat for seat in self.clockwise_from(self.left_of(self.dealer)) if self.can_be_banker(seat))

    def can_be_banker(self, seat: int) -> bool:
        least: int = self.rules["min_stake"]
        return self.chips[seat] >= least

    def begin_hand(self, deal: dict[str, Any]) -> None:
        assert self.dealer is not None
        self.chips_before = list(self.chips)
        self.bank = 0
        self.staked = False
        self.exposed = None
        self.discards = []
        self.shown = [[] for _ in range(self.num_players)]
        self.redraws = 0
        self.fee = None
        # Bank 2: who is dealt in.
        self.dealt_in = [
            seat != self.dealer and self.chips[seat] >= self.rules["min_bet"] for seat in range(self.num_players)
        ]
        self.hands = [list(cards) for cards in deal["hands"]]
        if [len(hand) for hand in self.hands] != [3 if dealt else 0 for dealt in self.dealt_in]:
            raise ValueError(
                f"slippery_sam: hand {self.hand_number} does not deal three cards to each of {self.dealt_in}"
            )
        self.stock = list(deal["stock"])
        self.turns_left = [seat for seat in self.clockwise_from(self.dealer) if self.dealt_in[seat]]
        self.seat = self.dealer

    # ---- what the seat to move may do

    def amounts(self) -> list[int]:
        """The stakes or bets that are offered; none if the seat cannot bet."""
        assert self.seat is not None
        own = self.chips[self.seat]
        if not self.staked:  # bank 1
            low, high = self.rules["min_stake"], own
        elif self.bank >= self.rules["min_bet"]:  # bank 3
            low, high = self.rules["min_bet"], min(self.bank, own)
        else:  # bank 3: a bank below the least bet can only be bet whole
            low, high = self.bank, min(self.bank, own)
        if high < low:
            return []
        return amounts_offered(low, high, self.rules["bet_levels"])

    def fee_now(self) -> int:
        """Bank 3: fixed by the first redraw of a turn."""
        if self.fee is not None:
            return self.fee
        option = self.rules["fee"]
        return ceil(Fraction(self.bank, 5)) if option == "fifth" else option

    def legal(self) -> list[str]:
        if self.seat is None:
            return []
        amounts = self.amounts()
        if not self.staked:
            return [f"stake {amount}" for amount in amounts]
        names = [f"bet {amount}" for amount in amounts]
        if self.redraws < MOST_REDRAWS and self.chips[self.seat] >= self.fee_now():
            names.append("redraw")
        if self.redraws == MOST_REDRAWS or not amounts:
            names.append("pass")
        return names

    # ---- what happens

    def apply(self, action: str) -> None:
        assert self.seat is not None
        if action.startswith("stake "):
            self.pay_bank(self.seat, int(action.removeprefix("stake ")))
            self.staked = True
            self.exposed = self.stock.pop(0)  # bank 2
            self.next_turn()
        elif action == "redraw":
            self.redraw()
        elif action == "pass":
            self.next_turn()
        else:
            self.settle_bet(int(action.removeprefix("bet ")))
            self.next_turn()
        # The bank counts as the banker's while it is his.
        self.scores = [chips + (self.bank if seat == self.dealer else 0) for seat, chips in enumerate(self.chips)]

    def pay_bank(self, seat: int, amount: int) -> None:
        self.chips[seat] -= amount
        self.bank += amount

    def redraw(self) -> None:
        assert self.seat is not None and self.exposed is not None
        self.fee = self.fee_now()
        self.pay_bank(self.seat, self.fee)
        self.redraws += 1
        self.discards.append((self.seat, self.exposed))
        self.exposed = self.stock.pop(0)

    def settle_bet(self, amount: int) -> None:
        """Bank 3. A winner shows the lowest card that wins, a loser all three."""
        assert self.seat is not None and self.exposed is not None
        exposed = self.exposed
        winning = [card for card in self.hands[self.seat] if beats(card, exposed)]
        if winning:
            self.pay_bank(self.seat, -amount)
            self.shown[self.seat] = [min(winning, key=strength)]
        else:
            self.pay_bank(self.seat, amount)
            self.shown[self.seat] = list(self.hands[self.seat])
        self.hands[self.seat] = []

    def next_turn(self) -> None:
        """Bank 4: the exposed card stays; an empty bank or the last turn ends the bank."""
        self.redraws = 0
        self.fee = None
        if self.bank == 0 or not self.turns_left:
            self.close_bank()
        else:
            self.seat = self.turns_left.pop(0)

    def close_bank(self) -> None:
        assert self.dealer is not None
        self.pay_bank(self.dealer, -self.bank)  # bank 5
        changes = [now - before for now, before in zip(self.chips, self.chips_before, strict=True)]
        self.scores = list(self.chips_before)  # `finish_hand` adds the changes
        self.finish_hand(changes)

    def after_hand(self) -> None:
        """The match: over when everybody had his chances, or fewer than two can bet."""
        assert self.dealer is not None
        self.chances += 1
        seat = self.left_of(self.dealer)
        while self.chances < self.rules["rounds"] * self.num_players and not self.can_be_banker(seat):
            self.chances += 1  # passed over
            seat = self.left_of(seat)
        able_to_bet = [seat for seat, chips in enumerate(self.chips) if chips >= self.rules["min_bet"]]
        if self.chances == self.rules["rounds"] * self.num_players or len(able_to_bet) < 2:
            self.finish_match("terminated")
        else:
            self.next_hand()

    def public(self, seat: int) -> dict[str, Any]:
        """No seat sees its own three cards before they are turned, so this is the same for all."""
        return {
            "exposed": self.exposed,
            "discards": list(self.discards),
            "shown": [list(cards) for cards in self.shown],
            "chips": list(self.chips),
            "bank": self.bank,
            "banker": self.dealer,
            "dealt_in": list(self.dealt_in),
            "redraws": self.redraws,
            "fee": self.fee_now() if self.staked else None,
            "scores": list(self.scores),
        }
