"""What a turn of Slopes can come to, as the input of a network: its afterstates.

A turn is many small decisions, and most sequences of them make no sense.  What counts is how the turn ends: an
*afterstate* (Sutton and Barto 2018, section 6.8).  The rule-based player knows all of them; a network that sees the
few that this player thinks best has to judge and not to plan, as backgammon programs do (Tesauro 1995).  An action is
as good as the best end of the turn that it begins.

Shape letters: **B** games, **K** ends of the turn that are shown (:data:`WAYS`), **L** ends of all games together,
**F** features of one (:data:`FEATURES`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from slopes_envs import Game, InformationSet
from slopes_envs.games.slopes import COLOURED, COLOURS, NUMBERS, PILES, SKIP, WILD

from ..heuristic.slopes import (
    KINDS,
    LANE,
    NO_CARDS,
    NO_KIND,
    NUMBER_CARDS,
    SHOWS,
    UNSET,
    WILDS,
    Ends,
    Floats,
    Ints,
    Plan,
    Reasons,
    Words,
    begun_by,
    chains,
    ends_of,
    experience,
    judged,
    look,
    numbers_of,
    plan,
    ranked,
    reasons_for,
)
from ..planes import ONE
from ..shown import NO_ACTION, as_bytes, one_hot

Bytes = NDArray[np.uint8]

GAME = "slopes"
WAYS = 6
"""K, ends of the turn that are shown at most: the best ones by the rule-based player's judgement, best first.

None is further behind than ``FARTHEST``.  When they were shown, the policy that ships went for such an end in one
decision of five hundred, and they were a third of those that it had to judge.
"""

PLANES = {
    "wins": 1,
    "loses": 1,
    "behind": 1,  # the best end, by the judgement of the rule-based player
    "shows": SHOWS * PILES,  # what the piles show
    "colours": (COLOURS + 1) * PILES,
    "special": KINDS + 1,  # put last, by kind; or none
    "hand": COLOURS * NUMBERS,  # number cards held, at least one of each; those that will be drawn are not known
    "twins": COLOURS * NUMBERS,  # those held twice
    "specials": COLOURS * (WILD - SKIP),  # held
    "wilds": 2,  # held
    "numbers": NUMBERS,  # cards held of each, in all colours
    "reach": NUMBERS * PILES,  # what the hand could turn each pile into in its next turn
    "needs": NUMBERS * PILES,  # what would complete a slope
    "threats": NUMBERS * PILES,  # both
    "likely": NUMBERS,  # cards of each number that the other may hold
    "dangers": NUMBERS,  # how likely a card of each number makes the other win
    "endangered": NUMBERS,  # the product of both
    "reasons": 5,  # of the rule-based player: worth, danger, hold, threats, distance
    "cards": 5,  # of both seats
    "time": 2,  # left
}
"""Features of an end of the turn, in order.  Each is a byte for a number from 0 to 1; piles change fastest."""
FEATURES = sum(PLANES.values())
"""F"""
SIZE = WAYS * (1 + FEATURES)
"""Bytes that are shown of a game: the numbers of the actions that begin the ends, and the features end by end."""

WINS, LOSES, BEHIND_BY = (list(PLANES).index(name) for name in ("wins", "loses", "behind"))
"""Where these features stand, of one byte each."""

BEHIND = 2.55
"""How far behind the best end, in units of the judgement, is 1: more than any end that is shown."""

JUDGED = 12.0
"""How much a unit of the judgement counts in the logits of a policy: at first it follows it most of the time."""
SURE = 50.0
"""How much more a policy goes for a win than for other ends of the turn, and less for a loss."""

# Sets of one card or number each.
_NUMBERS_HELD: Words = ONE << np.array([LANE * c + n for c in range(COLOURS) for n in range(NUMBERS)], dtype=np.uint64)
_SPECIALS_HELD: Words = ONE << np.array([LANE * c + f for c in range(COLOURS) for f in range(SKIP, WILD)], np.uint64)
_SINGLE_NUMBERS = 1 << np.arange(NUMBERS)
# What makes 1 of a feature.
_LOG_ODDS, _MOST_CARDS, _LEAD, _COPIES, _LIKELY = 6.5, 40.0, 20.0, 8.0, 3.0
_LONG, _SHORT = 100.0, 20.0  # turns


class Afterstates:
    """Shows the ends of turns that are worth a thought.

    Attributes
    ----------
    size
        Bytes that it shows of a game.
    alone
        True: networks look at nothing else.

    Raises
    ------
    ValueError
        For another game than Slopes.
    """

    size = SIZE
    alone = True

    def __init__(self, game: Game[Any, Any]) -> None:
        if game.name != GAME:
            raise ValueError(f"advice afterstates: expected a game of {GAME}, got {game.name}")
        self._turns = game.rules.max_turns

    def advise(self, view: InformationSet) -> Bytes:
        """The best ends of the turn, ``uint8[B, SIZE]``; of seats that are not to move there are none."""
        plans = plan(look(view))
        ends = ends_of(plans, view.legal)
        reasons = reasons_for(plans.sight, ends)
        values = judged(ends, reasons)
        which, place, behind = ranked(ends, values, len(view), WAYS)
        ends = ends.take(which)
        actions = np.full((len(view), WAYS), NO_ACTION, dtype=np.uint8)
        actions[ends.row, place] = begun_by(plans, ends, np.arange(len(which)))
        shown = np.zeros((len(view), WAYS, FEATURES), dtype=np.uint8)
        left = np.maximum(self._turns - plans.sight.turns, 0)
        shown[ends.row, place] = features(plans, ends, reasons.take(which), behind, left)
        return np.concatenate([actions, shown.reshape(len(view), WAYS * FEATURES)], axis=1)


def features(plans: Plan, ends: Ends, reasons: Reasons, behind: Floats, left: Ints) -> Bytes:
    """What a network sees of some ends of turns, ``uint8[L, F]``.

    Parameters
    ----------
    reasons
        For these ends.
    behind
        The best end of the same turn, by the judgement of the rule-based player: ``float64[L]``.
    left
        Turns left, ``int64[B]``.
    """
    known = experience()
    chain, last = chains_of(plans, ends)
    hand, twins, wilds = held_after(plans, ends, chain)
    colours = ends.colours.copy()
    for_number = np.flatnonzero((ends.action == UNSET) & (ends.kind == NO_KIND))
    colours[ends.pile[for_number], for_number] = last[for_number] // LANE
    reach = ends.reach & numbers_of(hand & NUMBER_CARDS)
    needs = known.needs.take(reasons.index, axis=0).T.astype(np.int64)
    likely = plans.sight.likely.take(ends.row, axis=0).T
    dangers = known.dangers.take(reasons.index, axis=0).T
    decided = known.decided.take(reasons.index)
    own, other = ends.cards, plans.sight.cards[1].take(ends.row)
    turns = left.take(ends.row)
    held = np.stack([hand, twins])[:, None]  # at least one of each card, and two
    numbers = (held & _NUMBERS_HELD[:, None]) != 0
    specials = ((held & _SPECIALS_HELD[:, None]) != 0).sum(axis=0)
    parts = [
        decided > 0,
        decided < 0,
        behind / BEHIND,
        one_hot(ends.shows, SHOWS),
        one_hot(colours, COLOURS + 1),
        one_hot(ends.kind, KINDS + 1),
        numbers,
        specials / 2,
        wilds / 4,
        numbers.reshape(2 * COLOURS, NUMBERS, -1).sum(axis=0) / _COPIES,
        *(_bits(sets) for sets in (reach, needs, reach & needs)),
        likely / _LIKELY,
        dangers,
        likely * dangers / _LIKELY,
        0.5 + known.worth.take(reasons.index) / (2 * _LOG_ODDS),
        reasons.danger,
        reasons.hold,
        reasons.threats / PILES,
        known.distance.take(reasons.index) / PILES,
        *(np.log1p(cards) / np.log1p(_MOST_CARDS) for cards in (own, other)),
        *(cards / _MOST_CARDS for cards in (own, other)),
        0.5 + (own - other) / (2 * _LEAD),
        *(np.exp(-turns / scale) for scale in (_LONG, _SHORT)),
    ]
    return as_bytes(parts, len(own))


def _bits(sets: Ints) -> NDArray[np.bool_]:
    """Members of sets of numbers, ``bool[numbers, …]``."""
    bits: NDArray[np.bool_] = (sets & _SINGLE_NUMBERS.reshape(-1, *[1] * sets.ndim)) != 0
    return bits


def chains_of(plans: Plan, ends: Ends) -> tuple[Words, Ints]:
    """The chains to the goals of ends, sets of cards ``uint64[L]``, and their last cards, ``int64[L]``; 0 for none."""
    chain, last = np.zeros(len(ends.row), dtype=np.uint64), np.zeros(len(ends.row), dtype=np.int64)
    on_the_way = np.flatnonzero(ends.action == UNSET)
    chain[on_the_way], last[on_the_way] = chains(plans, ends, on_the_way)
    return chain, last


def held_after(plans: Plan, ends: Ends, chain: Words) -> tuple[Words, Words, Ints]:
    """The hands that are left when turns end so, by :func:`chains_of`, without cards that will be drawn.

    Returns
    -------
    Coloured cards held, at least one of each; those held twice (``uint64[L]``, sets); wilds, ``int64[2, L]`` by kind
    """
    sight = plans.sight
    hand, twins = sight.hand.take(ends.row), sight.twins.take(ends.row)
    coloured = ends.special < COLOURED
    special = np.where(coloured, ONE << np.where(coloured, ends.special, 0).astype(np.uint64), NO_CARDS)
    for cards in (chain, ends.cover, special):
        second = cards & twins
        twins ^= second
        hand &= ~(cards ^ second)
    put = ends.kind == np.array([[WILDS], [WILDS + 1]])
    wilds: Ints = sight.specials[WILDS:].take(ends.row, axis=1) - put
    return hand, twins, wilds
