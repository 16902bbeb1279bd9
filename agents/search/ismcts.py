"""Information-set Monte Carlo tree search from one seat's view (SO-ISMCTS), a tree a game, all games as one batch.

The algorithm is that of Cowling, Powley and Whitehouse, "Information Set Monte Carlo Tree Search" (IEEE Transactions
on Computational Intelligence and AI in Games 4(2), 2012): every iteration draws a world, goes down the tree by the
actions that are legal in *that* world, adds one node, plays the hand on, and counts for every node how often it was
visited and how often it was *available*:

    mean lead of the seat that moves + c * sqrt(log(availability) / visits)

Every seat goes for its own lead (max^n, Luckhardt and Irani 1986).  The tree has no nodes for what its seat does not
see: cards drawn or dealt within a hand differ from world to world below the same node, and so do bids that others make
in secret, which are drawn as in sampled worlds.

Descents of a few iterations are made one after another and their hands then played on as one batch.  An iteration that
is under way counts as a visit but not in the mean, as in Liu et al., "Watch the Unobserved" (ICLR 2020).

The answer is the most visited action.

Shape letters: **G** games, **N** nodes of a tree, **A** actions, **P** seats, **W** iterations under way.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from slopes_envs import Game, InformationSet, State
from slopes_envs.chance import below, derive

from ..base import Agent, make_agent, where_free
from .rollouts import Rollouts
from .stakes import Floats, reach_of
from .worlds import Worlds

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

UNDER_WAY = 8
"""Iterations whose hands are played on together."""
MOST_EDGES = 1 << 25
"""Places for children in all trees of a batch, which bounds the memory: 128 MiB."""


class IsmctsAgent(Agent):
    """Information-set Monte Carlo tree search; see the module for how it decides.

    Parameters
    ----------
    iterations
        Worlds drawn, and nodes added, for a decision.
    rollout
        Spec of the agent that plays on from a new node.
    c
        Exploration, in standard deviations of a hand's lead.
    """

    def __init__(self, game: Game[Any, Any], iterations: int = 1000, rollout: str = "random", c: float = 0.7) -> None:
        """Make the agent.

        Raises
        ------
        ValueError
            For fewer than one iteration, an exploration below zero, or as :func:`slopes_agents.make_agent`.
        """
        super().__init__(game)
        if iterations < 1:
            raise ValueError(f"agent ismcts: iterations expected a whole number of at least 1, got {iterations}")
        if not 0 <= c < np.inf:
            raise ValueError(f"agent ismcts: c expected a finite number of at least 0, got {c}")
        self.iterations = iterations
        reach = reach_of(game)
        self.exploration, self.unseen = c * reach.unit, reach.unseen
        self.rollouts = Rollouts(game, make_agent(rollout, game), reach)
        self.drawn = Worlds(game, self.rollouts.agent, reach.fit)

    def act(self, view: InformationSet) -> NDArray[np.int64]:
        """Choose an action in every game."""
        at_once = max(1, MOST_EDGES // ((self.iterations + 1) * self.game.num_actions))
        return where_free(view, lambda games: self.search(games).most_visited(), at_once)

    def search(self, view: InformationSet) -> Trees:
        """The trees that the iterations grow, one for every game of the view."""
        trees = Trees(len(view), self.iterations + 1, self.game.num_actions)
        for first in range(0, self.iterations, UNDER_WAY):
            count = min(UNDER_WAY, self.iterations - first)
            worlds = self.drawn.draw(view, count, derive(view.keys, first))
            begun = self.rollouts.start(worlds)
            keys = derive(worlds.seed, first)
            paths = [
                self._descend(trees, view.seats, worlds, np.arange(len(view)) * count + number, keys)
                for number in range(count)
            ]
            values = self.rollouts.values(worlds, begun)
            for number, path in enumerate(paths):
                trees.learn(path, values[number::count])
        return trees

    def _descend(self, trees: Trees, seats: Ints, worlds: State, places: Ints, keys: NDArray[np.uint64]) -> list[Path]:
        """Go down every tree in its world, add a node, and leave the worlds, in place, where that node is."""
        game = self.game
        path: list[Path] = []
        rows = np.arange(len(places))
        node = np.zeros(len(places), dtype=np.int64)
        going = worlds.take(places)
        hands = going.hand.copy()
        while len(rows):
            self._take_unseen(going, seats[rows])
            legal = game.legal(going)
            children = trees.children[rows, node]
            known = children >= 0
            untried = legal & ~known
            adds = untried.any(axis=1)
            available_row, available_action = np.nonzero(legal & known)
            trees.available[rows[available_row], children[available_row, available_action]] += 1
            action = np.empty(len(rows), dtype=np.int64)
            new, old = np.flatnonzero(adds), np.flatnonzero(~adds)
            if len(new):
                untried = untried[new]
                chance = derive(keys[places[rows[new]]], len(path))
                action[new] = nth_true(untried, below(chance, untried.sum(axis=1)))
            if len(old):
                action[old] = trees.promising(rows[old], children[old], legal[old], self.exploration)
            node = trees.enter(rows, node, action, going.seat)
            path.append(Path(rows, node))
            game.step(going, action, check=False)
            leaves = adds | (going.seat < 0) | (going.hand != hands)
            if leaves.any():
                stay = np.flatnonzero(~leaves)
                done = np.flatnonzero(leaves)
                worlds.put(places[rows[done]], going.take(done))
                going, rows, node, hands = going.take(stay), rows[stay], node[stay], hands[stay]
        return path

    def _take_unseen(self, state: State, seats: Ints) -> None:
        """Take, in place, the actions to come that ``seats`` do not see."""
        if self.unseen is None:
            return
        while len(rows := np.flatnonzero(self.unseen(state) & (state.seat != seats))):
            part = state.take(rows)
            self.game.step(part, self.drawn.hidden_bids(part, part.seed), check=False)
            state.put(rows, part)


class Path:
    """One step down the trees: which games made it (``int64[n]``), and to which nodes (``int64[n]``)."""

    __slots__ = ("nodes", "rows")

    def __init__(self, rows: Ints, nodes: Ints) -> None:
        self.rows, self.nodes = rows, nodes


class Trees:
    """G trees of up to N nodes.  Node 0 is the root; what a node holds is of the action that led to it.

    Attributes
    ----------
    children
        ``int32[G, N, A]``, node that an action leads to, or -1.
    visits
        ``int32[G, N]``, iterations that went through a node, those under way included.
    returned
        ``int32[G, N]``, those that are done.
    available
        ``int32[G, N]``, how often the action could have been taken when its parent was visited.
    total
        ``float64[G, N]``, sum of the leads of the seat that took the action.
    """

    def __init__(self, games: int, nodes: int, actions: int) -> None:
        self.children = np.full((games, nodes, actions), -1, dtype=np.int32)
        self.visits = np.zeros((games, nodes), dtype=np.int32)
        self.returned = np.zeros((games, nodes), dtype=np.int32)
        self.available = np.ones((games, nodes), dtype=np.int32)
        self.total = np.zeros((games, nodes))
        self._mover = np.zeros((games, nodes), dtype=np.int8)
        self._size = np.ones(games, dtype=np.int64)

    def promising(self, rows: Ints, children: NDArray[np.int32], legal: Bools, exploration: float) -> Ints:
        """The action with the highest upper confidence bound among legal ones that have a node: ``int64[n]``."""
        at = rows[:, None], np.maximum(children, 0)
        visits, returned = self.visits[at], self.returned[at]
        mean = self.total[at] / np.maximum(returned, 1)
        bound = mean + exploration * np.sqrt(np.log(self.available[at]) / np.maximum(visits, 1))
        best: Ints = np.where(legal & (children >= 0), bound, -np.inf).argmax(axis=1)
        return best

    def enter(self, rows: Ints, node: Ints, action: Ints, seat: NDArray[np.int8]) -> Ints:
        """Go from ``node`` by ``action``, which ``seat`` takes, to a node that is made if there is none yet."""
        child = self.children[rows, node, action].astype(np.int64)
        new = np.flatnonzero(child < 0)
        at = rows[new]
        child[new] = self._size[at]
        self.children[at, node[new], action[new]] = child[new]
        self._mover[at, child[new]] = seat[new]
        self._size[at] += 1
        self.visits[rows, child] += 1
        return child

    def learn(self, path: list[Path], values: Floats) -> None:
        """Book what one iteration brought: ``float64[G, P]``, the lead of every seat in each game."""
        for step in path:
            at = step.rows, step.nodes
            self.total[at] += values[step.rows, self._mover[at]]
            self.returned[at] += 1

    def root_visits(self) -> Ints:
        """How often each action was tried at the root, ``int64[G, A]``."""
        children = self.children[:, 0]
        visits = np.take_along_axis(self.visits, np.maximum(children, 0), axis=1)
        return np.where(children >= 0, visits, 0).astype(np.int64)

    def root_means(self) -> Floats:
        """Mean lead of each action at the root, ``float64[G, A]``; minus infinity where it was never tried."""
        children = np.maximum(self.children[:, 0], 0)
        returned = np.take_along_axis(self.returned, children, axis=1)
        total = np.take_along_axis(self.total, children, axis=1)
        return np.where(self.children[:, 0] >= 0, total / np.maximum(returned, 1), -np.inf)

    def most_visited(self) -> Ints:
        """The most visited action of each root, of equal ones the one with the best mean: ``int64[G]``."""
        visits, means = self.root_visits(), self.root_means()
        best: Ints = np.where(visits == visits.max(axis=1, keepdims=True), means, -np.inf).argmax(axis=1)
        return best


def nth_true(mask: Bools, nth: Ints) -> Ints:
    """Where the ``nth`` True (from 0) of each row stands, ``int64[n]``; 0 in rows with fewer."""
    position: Ints = (mask & (mask.cumsum(axis=1) == nth[:, None] + 1)).argmax(axis=1)
    return position
