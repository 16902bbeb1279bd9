"""Control variates: what was luck in the agents' own choices, measured and taken out without moving the mean.

An agent that draws its actions is lucky or unlucky in what it draws.  Where it offers the probabilities it draws
from, that luck can be measured: by how much a *value* (see :mod:`~slopes_benchmarks.values`) of what comes after the
chosen action exceeds the mean of that value over all the actions it might have drawn.  This is the correction that
AIVAT (Burch, Schmid, Moravcik, Morrill and Bowling, "AIVAT: a new variance reduction technique for agent evaluation
in imperfect information games", AAAI 2018) makes at the nodes of known players.  Its corrections at the nodes of
chance are not made, since the mean of a value over all deals is not known; the duplicate deals stand in for them.

Why the mean stays.  Fix everything that chance will do in a match, which hangs on the match seed alone, and call it
w.  Given w a table is a finite tree; at a node s of it the seat to move draws action a with the known probability
p(a|s), from keys that serve for nothing else.  The correction there is

    c(s, a) = b(s, a) - sum over a' of p(a'|s) b(s, a'),        b(s, a) = value of the state after a in s,

and sum over a of p(a|s) c(s, a) = 0 at *every* node, whatever b may be, even if it looks at all hands and at the
deals to come.  The sum C of the corrections along a path is thus a martingale: its mean is zero given w, hence zero,
and the mean of X - beta C is that of X for every number beta and every figure X.  Agents that do not tell their
probabilities, or that have only one action to draw, add nothing to C.

Beta is estimated, so it could depend on the very luck it is meant to take out.  Therefore the deals are divided into
:data:`FOLDS`, and the beta of a deal comes from the deals of the other folds, which are independent of it: then
E[X - beta C] = E[X] - E[beta] E[C] = E[X] exactly.  A bad value makes beta small, and can do no harm beyond that.

Shape letters: **B** games, **P** seats, **A** actions, **N** deals, **S** successors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slopes_agents import Agent
from slopes_agents.play import AgentFault
from slopes_envs import Game, IllegalAction, InformationSet, State

from .values import Value

FOLDS = 5
"""Parts that the deals are divided into, deal ``i`` into part ``i % FOLDS``."""

TOLERANCE = 1e-5
"""By how much probabilities may miss a sum of one; a network's are float32."""


def corrections(
    game: Game[Any, Any],
    state: State,
    actions: NDArray[np.int64],
    probabilities: NDArray[np.float64],
    value: Value,
) -> NDArray[np.float64]:
    """How much the drawn actions were worth above the mean of what might have been drawn, for every seat.

    Parameters
    ----------
    state
        B games that go on; left as it is.
    actions
        ``int64[B]``, drawn from ``probabilities``.
    probabilities
        ``float64[B, A]``; rows with fewer than two positive entries are corrected by nothing.
    value
        What states are worth.

    Returns
    -------
    ``float64[B, P]``; for every game its mean over ``probabilities`` is zero.

    Raises
    ------
    IllegalAction
        If an action that is not legal has a positive probability.
    """
    found = np.zeros((len(state), game.num_players))
    possible = probabilities > 0
    rows, tried = np.nonzero(possible & (possible.sum(axis=1) > 1)[:, None])
    if not len(rows):
        return found
    successors = state.take(rows)
    game.step(successors, tried)
    worth = value.of(successors)
    starts = np.flatnonzero(np.diff(rows, prepend=-1))  # rows come in order: where each game's successors start
    mean = np.add.reduceat(probabilities[rows, tried, None] * worth, starts)
    drawn = worth[tried == actions[rows]]
    found[rows[starts]] = drawn - mean
    return found


class ControlWatch:
    """Sums up the corrections of a batch while it is played.

    A :class:`slopes_agents.play.Watch`.

    Parameters
    ----------
    game
        The rules.
    agents, seating, salts
        As for :func:`slopes_agents.play.play_out`, in which it looks on.
    value
        What states are worth.
    """

    def __init__(
        self,
        game: Game[Any, Any],
        agents: Sequence[Agent],
        seating: NDArray[np.int64],
        salts: NDArray[Any],
        value: Value,
    ) -> None:
        self._game, self._agents, self._seating, self._salts, self._value = game, agents, seating, salts, value
        self.sums = np.zeros(seating.shape)
        """``float64[B, P]``: for every seat of every game, its corrections so far."""

    def before(self, state: State, places: NDArray[np.int64], actions: NDArray[np.int64]) -> None:
        """Add the corrections of the actions that are about to be taken."""
        acting = self._seating[places, state.seat]
        for number in np.unique(acting):
            agent = self._agents[number]
            if not agent.has_probabilities:
                continue
            rows = np.flatnonzero(acting == number)
            part = state.take(rows)
            view = InformationSet(self._game, part, salt=self._salts[places[rows], part.seat])
            chances = told_probabilities(agent, view, actions[rows])
            try:
                self.sums[places[rows]] += corrections(self._game, part, actions[rows], chances, self._value)
            except IllegalAction as error:
                raise AgentFault(f"{agent!r}: probabilities expected 0 for illegal actions; {error}") from error

    def after(self, state: State, places: NDArray[np.int64], actions: NDArray[np.int64]) -> None:
        """Nothing is seen only after a step."""


def told_probabilities(agent: Agent, view: InformationSet, actions: NDArray[np.int64]) -> NDArray[np.float64]:
    """The probabilities an agent tells, ``float64[B, A]``, summing to one exactly, and checked against its actions.

    Raises
    ------
    AgentFault
        If they are no probabilities, or an action was chosen (``int64[B]``) that has none.
    """
    told = np.asarray(agent.probabilities(view), np.float64)
    expected = (len(view), agent.game.num_actions)
    if told.shape != expected:
        raise AgentFault(f"{agent!r}: probabilities expected shape {expected}, got {told.shape}")
    sums = told.sum(axis=1, keepdims=True)
    if not (np.abs(sums - 1) < TOLERANCE).all() or (told < 0).any():
        raise AgentFault(f"{agent!r}: probabilities expected none below 0 and a sum of 1, got sums of {sums.ravel()}")
    if not (told[np.arange(len(view)), actions] > 0).all():
        raise AgentFault(f"{agent!r}: act chose an action to which its probabilities give no chance")
    normalised: NDArray[np.float64] = told / sums
    return normalised


def controlled(values: NDArray[np.float64], control: NDArray[np.float64]) -> NDArray[np.float64]:
    """Values of the same mean and, as far as the control tells of their luck, with less spread.

    Parameters
    ----------
    values
        ``float64[N]``: a figure of every deal, in the order of the deals.
    control
        ``float64[N]``: numbers of mean zero, independent from deal to deal.

    Returns
    -------
    ``float64[N]``: ``values - beta * control``, the beta of each deal being the regression coefficient of the deals in
    the other folds (0 where their control is constant).
    """
    folds = np.arange(len(values)) % FOLDS
    corrected = values.copy()
    for fold in range(FOLDS):
        here = folds == fold
        corrected[here] -= _coefficient(values[~here], control[~here]) * control[here]
    return corrected


def _coefficient(values: NDArray[np.float64], control: NDArray[np.float64]) -> float:
    if not len(values):
        return 0.0
    centred = control - control.mean()
    spread = float(centred @ centred)
    return float(centred @ values) / spread if spread > 0 else 0.0
