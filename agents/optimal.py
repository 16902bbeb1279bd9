"""The player of Slippery Sam that bets by exact expectation: the yardstick for learning in that game.

What it maximises
-----------------
It is risk-neutral, and looks at one thing at a time.  As a bettor it makes the expected chips of its own turn as many
as it can, and as a banker those of its own bank.  What comes later in the match bears on neither.

Bets and redraws
----------------
Nobody has seen the three cards that are bet on, so they are any three of the U cards that have not been seen in this
bank.  If m of these beat the exposed card, the chance to win is ``1 - C(U - m, 3) / C(U, 3)``; a chip that is bet then
brings ``2 * chance - 1`` on the average, its *edge*.  A bet is worth its chips times the edge, so the greatest one is
best if the edge is positive, else the least.  A redraw costs the fee, makes the bank larger by it, and exposes any of
the unseen cards, with the best decision to follow: an exact recursion, up to three redraws deep, over how many cards
of each suit have not been seen, for nothing else matters.  It is cut short where no distribution of the unseen cards
over the suits could make a redraw pay (:meth:`Turns.redraw_bound`): with the usual fee nearly everywhere.

That a winner shows the *lowest* card that wins tells a little about its two other cards; this rule leaves it aside.

Stakes
------
The least or the greatest stake, by the exact value of the bank **against seats that bet by this same rule**, in the
order of their turns and with the chips they have.  Without redraws the number of unseen cards and of better ones
follows from who has won and who has lost, so all courses of a bank are gone through, with their true chances.  That
is exact as long as no redraw pays, which is looked into at every turn of every course: for any spread of the unseen
cards over the suits by the bound, or where that does not tell, for an even one.  Where redraws do pay (a low fixed
fee, or a high ``min_bet``), suits matter and the courses are too many.  Then what redraws change is measured in
:data:`WORLDS` worlds, the same ones for both stakes: each bank is played with them and without, and what the seats can
expect at the beginning of their turns is added up and compared.  That alone uses ``view.keys``.

Against seats that bet worse than this rule, the greatest stake can be much better than the one chosen here.

Shape letters: **B** games, **A** actions, **N** turns or banks, **T** seats that have a turn in a bank.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from functools import cache, cached_property
from math import comb
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from slopes_envs import Game, InformationSet
from slopes_envs.games.slippery_sam import (
    DECK,
    FIRST_EXPOSED,
    HAND,
    HIGHER,
    RANKS,
    REDRAWS,
    SIZE,
    SUITS,
    Levels,
    SlipperySamRules,
)

from .base import DeterministicAgent
from .planes import Words, read_planes

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Number = TypeVar("Number", np.int64, np.float64)

GAME = "slippery_sam"
MARGIN = 1e-9  # chips by which a redraw or a greater stake must be better, so that rounding decides nothing
WORLDS = 100
"""Worlds in which a bank is played where redraws pay."""
COURSES = 1 << 14  # of all banks gone through at a time, so that the arrays stay in the cache

LEAST, GREATEST, REDRAW, PASS = range(4)
"""What there is to decide between."""


# --------------------------------------------------------------------------------------------------- chances of cards


def win_chance(unseen: int, better: int) -> float:
    """The chance that three of ``unseen`` cards are not all among those that do not beat the exposed card."""
    if unseen < HAND:
        return float(better > 0)
    return 1 - comb(unseen - better, HAND) / comb(unseen, HAND) if better <= unseen else 1.0


EDGE: Floats = np.array([[2 * win_chance(unseen, better) - 1 for better in range(RANKS)] for unseen in range(SIZE + 1)])
"""``[53, 13]``: what a chip bet brings on the average, by unseen cards and by those of them that win."""
EDGE_BY_BETTER: Floats = np.ascontiguousarray(EDGE.T)


def _sums(table: Floats) -> Floats:
    """Sums of the first 0, 1, … 13 entries of every row."""
    return np.concatenate([np.zeros((len(table), 1)), np.cumsum(table, axis=1)], axis=1)


# An unseen card that is exposed is beaten by 0, 1, … of the others of its suit, each number equally likely: sums of
# the positive and the negative edges over a suit, by unseen cards (after it) and cards of the suit (with it).
GAINS, LOSSES = _sums(np.maximum(EDGE, 0)), _sums(np.minimum(EDGE, 0))

# So many unseen cards spread evenly over the suits, ``[4, 53]``.
EVEN: Ints = (np.arange(SIZE + 1) + np.arange(SUITS)[:, None]) // SUITS

# So many unseen cards in as few suits as can hold them: how many suits have more than 0, 1, … 12 of them, ``[13, 53]``.
CROWDED: Floats = np.array(
    [[unseen // RANKS + (nth < unseen % RANKS) for unseen in range(SIZE + 1)] for nth in range(RANKS)], dtype=np.float64
)
# The mean positive edge after one more card is exposed of that many, crowded like this, ``[53]``.
CROWDED_GAIN: Floats = np.array(
    [0.0, *((CROWDED[:, unseen] @ np.maximum(EDGE[unseen - 1], 0)) / unseen for unseen in range(1, SIZE + 1))]
)


# ------------------------------------------------------------------------------------------------------ what is offered


class Amounts:
    """What may be bet or staked, as far as the options of a game offer it, and what a redraw costs."""

    def __init__(self, rules: SlipperySamRules) -> None:
        self.min_bet, self.min_stake = rules.min_bet, rules.min_stake
        self._fee = None if rules.fee == "fifth" else min(int(rules.fee), rules.num_players * rules.starting_chips + 1)
        self._levels: Levels | None = None
        if not isinstance(rules.bet_levels, str) and (rules.bet_levels[0], rules.bet_levels[-1]) != (0, 1):
            self._levels = Levels((rules.bet_levels[0], rules.bet_levels[-1]), rules.num_players * rules.starting_chips)

    def _offered(self, least: Ints, most: Ints) -> tuple[Ints, Ints]:
        if self._levels is None:
            return least, most
        room = most - least
        first, last = np.zeros(room.size, np.int64), np.ones(room.size, np.int64)
        parts = [self._levels.parts(room.reshape(-1), which).reshape(room.shape) for which in (first, last)]
        return least + parts[0], least + parts[1]

    def bets(self, bank: Ints, chips: Ints) -> tuple[Ints, Ints]:
        """The least and the greatest bet of seats with so many chips; 0 and 0 where none can be made."""
        least = np.minimum(bank, self.min_bet)
        most = np.minimum(bank, chips)
        able = least <= most
        return self._offered(least * able, most * able)

    def stakes(self, chips: Ints) -> tuple[Ints, Ints]:
        """The least and the greatest stake of bankers with so many chips."""
        return self._offered(np.full_like(chips, self.min_stake), chips)

    def fee(self, bank: Ints) -> Ints:
        """What the first redraw of a turn costs; more than all chips if nobody can ever pay it."""
        return (bank + 4) // 5 if self._fee is None else np.full_like(bank, self._fee)


# --------------------------------------------------------------------------------------------------------------- turns


@dataclass(frozen=True)
class Turns:
    """N moments at which a seat is to bet, redraw or pass, and what each is worth to it in chips."""

    amounts: Amounts
    counts: Ints  # [4, N] cards not seen, by suit
    better: Ints  # [N] those that beat the exposed card
    bank: Ints  # [N]
    chips: Ints  # [N] of the seat
    fee: Ints  # [N] of a redraw
    redraws: Ints  # [N] in this turn so far

    def __len__(self) -> int:
        return len(self.better)

    def take(self, rows: Ints) -> Turns:
        """Some of the turns."""
        arrays = {spec.name: getattr(self, spec.name)[..., rows] for spec in fields(self) if spec.name != "amounts"}
        return Turns(self.amounts, **arrays)

    @property
    def unseen(self) -> Ints:
        """``int64[N]``, the number of cards not seen."""
        return _over_suits(self.counts)

    @property
    def edge(self) -> Floats:
        """``float64[N]``, what a chip bet now brings on the average."""
        edge: Floats = EDGE[self.unseen, self.better]
        return edge

    def choices(self) -> Floats:
        """Expected chips of the turn from here on, ``float64[4, N]``: least bet, greatest bet, redraw, pass.

        Minus infinity where the rules do not allow it.  Where a redraw cannot be best, a bound of its worth stands in.
        """
        least, most = self.amounts.bets(self.bank, self.chips)
        able = most > 0
        worth = np.full((4, len(self)), -np.inf)
        worth[LEAST], worth[GREATEST] = np.where(able, np.stack([least, most]) * self.edge, -np.inf)
        worth[PASS] = np.where(~able | (self.redraws == REDRAWS), 0, -np.inf)
        best = worth.max(axis=0)
        for done in range(REDRAWS):
            rows = np.flatnonzero((self.redraws == done) & (self.chips >= self.fee))
            if not len(rows):
                continue
            part = self.take(rows)
            worth[REDRAW, rows] = part.redraw_bound(done)
            hopeful = np.flatnonzero(worth[REDRAW, rows] > best[rows] + MARGIN)
            if len(hopeful):
                worth[REDRAW, rows[hopeful]] = part.take(hopeful).redraw_worth(done)
        return worth

    def redraw_worth(self, done: int) -> Floats:
        """Expected chips of a redraw and the best decisions after it, where ``done`` of three have been made."""
        return self._after(done + 1, done, self.counts) - self.fee

    def redraw_bound(self, done: int) -> Floats:
        """No less than :meth:`redraw_worth`, at a fraction of its cost: as if the unseen cards filled few suits.

        At every step the worth is a sum over suits of numbers that rise with the place of the exposed card in its suit,
        so no distribution over the suits makes it greater than the one that fills suit after suit.
        """
        return self._after_at_best(done + 1, done, self.unseen) - self.fee

    def _offer(self, redraws: int, done: int) -> tuple[Ints, Ints]:
        """The least and the greatest bet after some redraws in all, ``done`` of which have been made and paid."""
        paid = (redraws - done) * self.fee
        return self.amounts.bets(self.bank + paid, self.chips - paid)

    def _payable(self, redraws: int, done: int) -> Bools:
        """Whether the fee can be paid for that many redraws in all."""
        return self.chips >= (redraws - done) * self.fee

    def _after(self, redraws: int, done: int, counts: Ints) -> Floats:
        """Worth when a redraw has been paid and the next card is not exposed yet; the fees paid so far are left out."""
        least, most = self._offer(redraws, done)
        unseen = _over_suits(counts)
        if redraws == REDRAWS:  # then a bad bet need not be made
            return most * _over_suits(GAINS[unseen - 1, counts]) / unseen
        payable = self._payable(redraws + 1, done)
        again = np.empty(counts.shape)
        for suit in range(SUITS):
            left = counts.copy()
            left[suit] -= 1
            again[suit] = np.where(payable, self._after(redraws + 1, done, left) - self.fee, -np.inf)
        total: Floats = np.zeros(len(self))
        for better in range(RANKS):
            best = np.maximum(_bet_worth(least, most, unseen - 1, better), again)
            total += _over_suits(np.where(better < counts, best, 0.0))
        return total / unseen

    def _after_at_best(self, redraws: int, done: int, unseen: Ints) -> Floats:
        """No less than :meth:`_after` for any distribution of the unseen cards over the suits."""
        least, most = self._offer(redraws, done)
        if redraws == REDRAWS:
            return most * CROWDED_GAIN.take(unseen)
        again = self._after_at_best(redraws + 1, done, unseen - 1) - self.fee
        again[~self._payable(redraws + 1, done)] = -np.inf
        total: Floats = np.zeros(len(self))
        for better in range(RANKS):
            total += CROWDED[better].take(unseen) * np.maximum(_bet_worth(least, most, unseen - 1, better), again)
        return total / unseen


def _bet_worth(least: Ints, most: Ints, unseen: Ints, better: int) -> Floats:
    """Worth of the better bet where so many cards win, ``float64[N]``; 0, a pass, where none can be made."""
    edge = EDGE_BY_BETTER[better].take(unseen)
    worth: Floats = np.maximum(least * edge, most * edge)
    return worth


def _over_suits(numbers: NDArray[Number]) -> NDArray[Number]:
    """The sum over the suits, in a fixed order, so that rounding does not depend on the size of the batch."""
    total: NDArray[Number] = numbers[0] + numbers[1] + numbers[2] + numbers[3]
    return total


# --------------------------------------------------------------------------------------------------------------- banks


@dataclass(frozen=True)
class Courses:
    """Who may have won and who lost before the turn of one seat of a bank in which nobody redraws.

    The last axis are the courses: a binary number, the first turn its highest digit, 1 for a win.
    """

    unseen: Ints  # [2**turn] cards not seen
    edge: Floats  # [13, 2**turn] of this seat, by the cards that beat the exposed card at the beginning
    lead: Floats  # [13, 2**turn] chance of the course and a loss of this seat, less that of the course and a win


@cache
def courses(turns: int) -> tuple[Courses, ...]:
    """The courses of a bank with so many turns, turn by turn.

    A winner shows one card that wins and a loser three that do not: from that follows what the seats see.  How many
    cards that win are really gone, unseen ones of winners among them, decides about the chances.
    """
    ranks = np.arange(RANKS)
    wins = np.zeros(1, dtype=np.int64)
    # Chance of a course in which so many cards that win are gone, by those there were: [13, gone, course].
    chances = np.zeros((RANKS, RANKS, 1))
    chances[:, 0] = 1 / RANKS
    found = []
    for turn in range(turns):
        dealt = HAND * turn
        seen = 1 + wins + HAND * (turn - wins)
        better = np.maximum(ranks[:, None] - wins, 0)
        lost, won = np.zeros_like(chances), np.zeros_like(chances)
        for there, gone in np.ndindex(RANKS, RANKS):
            for taken in range(min(HAND, there - gone) + 1):
                chance = _taken_chance(SIZE - 1 - dealt, there - gone, taken)
                (won if taken else lost)[there, gone + taken] += chance * chances[there, gone]
        edge = EDGE[SIZE - seen, better]
        found.append(Courses(SIZE - seen, edge, lost.sum(axis=1) - won.sum(axis=1)))
        chances = np.stack([lost, won], axis=-1).reshape(RANKS, RANKS, -1)
        wins = np.stack([wins, wins + 1], axis=-1).reshape(-1)
    return tuple(found)


def _taken_chance(cards: int, better: int, taken: int) -> float:
    """The chance that of three cards from ``cards``, ``better`` of which win, so many win (hypergeometric)."""
    return comb(better, taken) * comb(cards - better, HAND - taken) / comb(cards, HAND)


def bank_worth(amounts: Amounts, stakes: Ints, chips: Ints) -> tuple[Floats, Bools]:
    """What banks bring their bankers on the average if all seats bet by the rule and none redraws.

    Parameters
    ----------
    amounts
        What is offered.
    stakes
        ``int64[N]``
    chips
        ``int64[N, T]``, of the seats that have cards, from the banker's left.

    Returns
    -------
    Chips, ``float64[N]``, and whether redraws really do not pay, ``bool[N]``: see :func:`_redraws_pay`.
    """
    batch, turns = chips.shape
    worth, plain = np.zeros(batch), np.ones(batch, dtype=np.bool_)
    bank = np.broadcast_to(stakes[:, None, None], (batch, RANKS, 1))
    for turn, course in enumerate(courses(turns)):
        own = np.broadcast_to(chips[:, turn, None, None], bank.shape)
        least, most = amounts.bets(bank, own)
        bet = np.where(course.edge > 0, most, least)
        worth += (bet * course.lead).sum(axis=(1, 2))
        at = np.nonzero((bank > 0) & (course.lead != 0) & (amounts.fee(bank) <= own))
        pays = _redraws_pay(amounts, course.unseen[at[2]], bank[at], own[at], (bet * course.edge)[at])
        plain[at[0][pays]] = False
        bank = np.stack([bank + bet, bank - bet], axis=-1).reshape(batch, RANKS, -1)
    return worth, plain


def _redraws_pay(amounts: Amounts, unseen: Ints, bank: Ints, chips: Ints, bet_worth: Floats) -> Bools:
    """Whether seats had better redraw than bet, ``bool[N]``.

    False if no spread of the unseen cards over the suits makes a redraw better, or if an even one does not.
    """
    none = np.zeros_like(unseen)
    seats = Turns(
        amounts, counts=EVEN[:, unseen], better=none, bank=bank, chips=chips, fee=amounts.fee(bank), redraws=none
    )
    pays = seats.redraw_bound(0) > bet_worth + MARGIN
    open_ones = np.flatnonzero(pays)
    if len(open_ones):
        pays[open_ones] = seats.take(open_ones).redraw_worth(0) > bet_worth[open_ones] + MARGIN
    return pays


# --------------------------------------------------------------------------------------------------------- what is seen


PLANES = (
    "phase",
    "exposed_rank",
    "seen",
    "better",
    "bank",
    "fee",
    "redraws",
    "least",
    "most",
    "chips",
    "dealt_in",
)
CARDS_OF_SUIT: Words = np.array([[DECK.suit_bits(suit)] for suit in range(SUITS)], dtype=np.uint64)


@dataclass(frozen=True)
class Sight:
    """What a view of Slippery Sam holds, as whole numbers."""

    view: InformationSet

    @cached_property
    def planes(self) -> dict[str, Words]:
        """Planes of the observations, as :func:`.planes.read_planes` gives them."""
        return read_planes(self.view, PLANES)

    def number(self, plane: str) -> Ints:
        """The value of an integer plane that is never negative, in its first group: ``int64[B]``."""
        number: Ints = self.planes[plane][0].view(np.int64)
        return number

    def level(self, plane: str) -> Ints:
        """The value of a thermometer plane, ``int64[B]``."""
        level: Ints = np.bitwise_count(self.planes[plane][0]).astype(np.int64)
        return level

    @property
    def staking(self) -> Bools:
        """Where a banker is to stake, ``bool[B]``."""
        staking: Bools = self.planes["phase"][0] == 1
        return staking

    def turns(self, amounts: Amounts) -> Turns:
        """The moments of the seats to move; meaningless where a banker is to stake."""
        return Turns(
            amounts,
            counts=RANKS - np.bitwise_count(self.planes["seen"] & CARDS_OF_SUIT).astype(np.int64),
            better=self.level("better"),
            bank=self.number("bank"),
            chips=self.number("chips"),
            fee=self.number("fee"),
            redraws=self.level("redraws"),
        )

    def bettors(self) -> Ints:
        """Chips of the seats dealt in, from the left of the seat that looks on, ``int64[B, P - 1]``; 0 for others."""
        chips = self.planes["chips"] * self.planes["dealt_in"]
        return np.ascontiguousarray(chips[1:].view(np.int64).T)


def chosen_actions(view: InformationSet, choice: Ints, least: Ints, most: Ints) -> Ints:
    """Numbers of the actions for choices between :data:`LEAST`, :data:`GREATEST`, :data:`REDRAW` and :data:`PASS`.

    ``least`` and ``most`` are the amounts (``int64[B]``), which number the actions with ``bet_levels="all"``.
    """
    num_amounts = view.game.num_actions - 2
    if view.game.rules.bet_levels != "all":  # the first level that is offered is always legal, the last one need not be
        least = np.zeros_like(choice)
        most = num_amounts - 1 - view.legal[:, num_amounts - 1 :: -1].argmax(axis=1)
    return np.choose(choice, [least, most, np.int64(num_amounts), np.int64(num_amounts + 1)])


# -------------------------------------------------------------------------------------------------------------- player


def expect_slippery_sam(agent: str, game: Game[Any, Any]) -> None:
    """Refuse other games with a ValueError."""
    if game.name != GAME:
        raise ValueError(f"agent {agent!r} plays {GAME} alone, got {game.name}")


class OptimalAgent(DeterministicAgent):
    """The player; see the module for what it maximises and what its stakes are measured by.

    Attributes
    ----------
    amounts
        What the game offers.
    """

    def __init__(self, game: Game[Any, Any]) -> None:
        """Make the player.

        Raises
        ------
        ValueError
            For another game than Slippery Sam.
        """
        super().__init__(game)
        expect_slippery_sam("optimal", game)
        self.amounts = Amounts(game.rules)
        self._one_bank: Game[Any, Any] = type(game)(replace(game.rules, match="hand"))

    def act(self, view: InformationSet) -> NDArray[np.int64]:
        """The best decision; of equal ones the least bet or stake, then the greatest, a redraw, a pass."""
        sight = Sight(view)
        staking = sight.staking
        turns = sight.turns(self.amounts)
        choice = np.zeros(len(view), dtype=np.int64)
        betting = np.flatnonzero(~staking)
        if len(betting):
            choice[betting] = best_choice(turns.take(betting).choices())
        bankers = np.flatnonzero(staking)
        if len(bankers):
            worth = self.stake_worth(view if len(bankers) == len(view) else view.take(bankers))
            choice[bankers] = np.where(worth[GREATEST] > worth[LEAST] + MARGIN, GREATEST, LEAST)
        least, most = sight.number("least"), sight.number("most")
        return chosen_actions(view, choice, least, most)

    # -- banking ---------------------------------------------------------------------------------------------------

    def stake_worth(self, view: InformationSet) -> Floats:
        """Chips that the least and the greatest stake bring on the average, ``float64[2, B]``; all are to stake."""
        sight = Sight(view)
        stakes = np.stack(self.amounts.stakes(sight.number("chips")))
        worth, plain = self._gone_through(stakes, sight.bettors())
        rows = np.flatnonzero(~plain)
        if len(rows):
            worth[:, rows] -= self._gained_by_redraws(view.take(rows), stakes[:, rows])
        return worth

    def _gone_through(self, stakes: Ints, bettors: Ints) -> tuple[Floats, Bools]:
        """Worth of ``stakes`` ``[2, B]`` by :func:`bank_worth`, and where both are plain."""
        banks, place = np.unique(np.concatenate([stakes, bettors.T]), axis=1, return_inverse=True)
        worth, plain = np.zeros((2, banks.shape[1])), np.zeros(banks.shape[1], dtype=np.bool_)
        for turns, rows in _by_turns(banks[2:]):
            chips = banks[2:, rows].T
            chips = chips[chips > 0].reshape(len(rows), turns)
            results = [bank_worth(self.amounts, stake, chips) for stake in banks[:2, rows]]
            worth[:, rows] = [result[0] for result in results]
            plain[rows] = results[0][1] & results[1][1]
        return worth[:, place], plain[place]

    def _gained_by_redraws(self, view: InformationSet, stakes: Ints) -> Floats:
        """Chips that all seats together gain if they redraw where it pays, on the average: ``float64[2, B]``."""
        sampled: Any = view.sample(WORLDS)
        worlds = sampled.take(np.tile(np.arange(len(sampled)), 2))
        staked = np.repeat(stakes, WORLDS, axis=1).reshape(-1)
        least, greatest = np.repeat(np.tile(stakes, 2), WORLDS, axis=1)
        gained = -_expected_without_redraws(self.amounts, worlds, staked)
        choice = np.repeat([LEAST, GREATEST], len(sampled))
        self._one_bank.step(worlds, chosen_actions(InformationSet(self._one_bank, worlds), choice, least, greatest))
        going = np.arange(len(worlds))
        while len(going):
            now = InformationSet(self._one_bank, worlds)
            sight = Sight(now)
            turns = sight.turns(self.amounts)
            worth = turns.choices()
            gained[going] += np.where(turns.redraws == 0, worth.max(axis=0), 0)
            actions = chosen_actions(now, best_choice(worth), sight.number("least"), sight.number("most"))
            self._one_bank.step(worlds, actions)
            stay = np.flatnonzero(worlds.seat >= 0)
            worlds, going = worlds.take(stay), going[stay]
        mean: Floats = gained.reshape(2, len(view), WORLDS).mean(axis=2)
        return mean


def _expected_without_redraws(amounts: Amounts, worlds: Any, stakes: Ints) -> Floats:
    """What the seats can expect in their turns, added up, in banks of known cards where they bet by the rule.

    Parameters
    ----------
    worlds
        N worlds of bankers who are to stake.
    stakes
        ``int64[N]``
    """
    rows, players = np.arange(len(worlds)), worlds.scores.shape[1]
    winning = HIGHER[worlds.deck[:, FIRST_EXPOSED]]
    better = np.bitwise_count(winning).astype(np.int64)
    unseen = np.full(len(rows), SIZE - 1)
    bank, total = stakes.copy(), np.zeros(len(rows))
    for place in range(1, players):
        seats = (worlds.dealer + place) % players
        hand = worlds.hands[rows, seats]
        plays = (hand != 0) & (bank > 0)
        least, most = amounts.bets(bank, worlds.scores[rows, seats] * plays)
        edge = EDGE[unseen, better]
        bet = np.where(edge > 0, most, least)
        total += bet * edge
        won = (hand & winning) != 0
        bank += np.where(won, -bet, bet)
        unseen -= plays * np.where(won, 1, HAND)
        better -= plays & won
    return total


def best_choice(worth: Floats) -> Ints:
    """The best of the choices ``float64[4, N]``; an earlier one unless a later one is better by more than rounding."""
    choice = np.zeros(worth.shape[1], dtype=np.int64)
    best = worth[0].copy()
    for number in range(1, len(worth)):
        better = worth[number] > best + MARGIN
        choice[better] = number
        best[better] = worth[number, better]
    return choice


def _by_turns(bettors: Ints) -> Iterator[tuple[int, Ints]]:
    """Banks ``[P - 1, N]`` by the number of seats that have cards, in parts whose courses fit into memory."""
    turns = (bettors > 0).sum(axis=0)
    for number in np.unique(turns):
        rows = np.flatnonzero(turns == number)
        at_once = max(COURSES // (RANKS << int(number)), 1)
        for start in range(0, len(rows), at_once):
            yield int(number), rows[start : start + at_once]
