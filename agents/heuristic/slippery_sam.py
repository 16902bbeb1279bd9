"""A club player of Slippery Sam: counts the cards that are out, bets on even chances, and runs large banks.

How it decides
--------------
1. *The chance.*  Three cards that nobody knows, from those not seen in this bank: how many of these beat the exposed
   card says how likely the bet is to win.
2. *Betting.*  More likely won than lost: as much as it can; else as little as it may.  With all cards of the suit out
   that means high bets against a 2 or a 3, and it is the better cards seen and not seen that move the line.
3. *Redrawing.*  It looks one card ahead: what a bet against the average next card is worth, less the fee, against what
   the bet on the table is worth.  With the usual fee of a fifth of the bank that hardly ever pays; with a low fixed
   one it often does.  After the third redraw it passes unless the bet is a good one.
4. *Banking.*  Most bets lose: against a card in the middle of its suit seven of ten do.  So the bank lives on every bet
   that is larger than it must be, and a table that bets by feel makes many: it stakes all it has.  Only against
   seats that count cards as well as it does is a large bank a gift to them; ``heuristic:stake=least`` stakes as
   little as possible, which also lets its betting be judged apart from its banking.

The other chips on the table, and how the match stands, do not change what it does.

Shape letters: **B** games, **N** turns.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from slopes_envs import Game, InformationSet, UnknownName
from slopes_envs.games.slippery_sam import REDRAWS

from ..base import DeterministicAgent
from ..optimal import GAINS, GREATEST, LEAST, LOSSES, PASS, REDRAW, Amounts, Sight, Turns, chosen_actions

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

STAKES = {"least": LEAST, "greatest": GREATEST}


class Stakes(DeterministicAgent):
    """A player that stakes the least or the greatest there is; subclasses say how it bets.

    Parameters
    ----------
    stake
        What it stakes as a banker, ``"greatest"`` or ``"least"``.
    """

    family: ClassVar[str]
    """What its specs begin with."""

    def __init__(self, game: Game[Any, Any], stake: str = "greatest") -> None:
        """Make the player.

        Raises
        ------
        UnknownName
            For another stake.
        """
        super().__init__(game)
        if stake not in STAKES:
            raise UnknownName(f"stake of agent {self.family!r}", stake, STAKES)
        self.stake = STAKES[stake]

    def act(self, view: InformationSet) -> NDArray[np.int64]:
        """Choose an action in every game."""
        sight = Sight(view)
        return self.action(sight, self.bets(sight))

    def action(self, sight: Sight, bets: Ints) -> Ints:
        """Numbers of actions, ``int64[B]``, for what :meth:`bets` said; stakes where a banker is to stake."""
        choice = np.where(sight.staking, self.stake, bets)
        return chosen_actions(sight.view, choice, sight.number("least"), sight.number("most"))

    @abstractmethod
    def bets(self, sight: Sight) -> Ints:
        """What to do in every game, ``int64[B]``: one of the four choices of :mod:`slopes_agents.optimal`.

        Anything where a banker is to stake.
        """


class Reasons(NamedTuple):
    """What the player makes of N turns, in chips; meaningless where a banker is to stake."""

    least: Ints  # [N] bets that can be made; 0 if none
    most: Ints
    edge: Floats  # [N] of a chip bet now
    may_pass: Bools  # [N]
    now: Floats  # [N] the best bet, or a pass
    redraw: Floats  # [N] a bet against the average next card, less the fee; minus infinity where it is not allowed
    hope: Floats  # [N] the same if a bad bet need not be made then: for networks, the player leaves it aside


class SlipperySamPlayer(Stakes):
    """The player; see the module for how it decides.  Deterministic: it never uses ``view.keys``."""

    family = "heuristic"

    def __init__(self, game: Game[Any, Any], stake: str = "greatest") -> None:
        """Make the player; see :class:`Stakes`."""
        super().__init__(game, stake)
        self.amounts = Amounts(game.rules)

    def bets(self, sight: Sight) -> Ints:
        """By the chances from the cards seen."""
        return self.bet(sight.turns(self.amounts))

    def bet(self, turns: Turns) -> Ints:
        """What to do in each turn, ``int64[N]``: one of the four choices of :mod:`slopes_agents.optimal`."""
        return self.choice(turns, self.reasons(turns))

    def choice(self, turns: Turns, reasons: Reasons) -> Ints:
        """What to do in each turn for these reasons, ``int64[N]``, as :meth:`bet` says it."""
        good = reasons.edge > 0
        choice = np.where(reasons.may_pass & ~(good & (reasons.most > 0)), PASS, np.where(good, GREATEST, LEAST))
        choice[reasons.redraw > reasons.now] = REDRAW
        return choice

    def reasons(self, turns: Turns) -> Reasons:
        """What speaks for bets and for a redraw in each turn."""
        least, most = self.amounts.bets(turns.bank, turns.chips)
        edge = turns.edge
        may_pass = (most == 0) | (turns.redraws == REDRAWS)
        now = np.where(edge > 0, most, least) * edge
        now[may_pass] = np.maximum(now[may_pass], 0)
        may_redraw = (turns.redraws < REDRAWS) & (turns.chips >= turns.fee)
        redraw, hope = (np.where(may_redraw, worth - turns.fee, -np.inf) for worth in self.next_card_worth(turns))
        return Reasons(least, most, edge, may_pass, now, redraw, hope)

    def next_card_worth(self, turns: Turns) -> tuple[Floats, Floats]:
        """Chips that a bet against the average next card brings once the fee has been paid, twice ``float64[N]``.

        If a bad bet must be made then, and if it need not.
        """
        least, most = self.amounts.bets(turns.bank + turns.fee, turns.chips - turns.fee)
        unseen = turns.unseen
        gains, losses = (table[unseen - 1, turns.counts].sum(axis=0) for table in (GAINS, LOSSES))
        good = most * gains
        return (good + least * losses) / unseen, good / unseen


AGENT = SlipperySamPlayer
