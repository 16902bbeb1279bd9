"""OpenSpiel's own information-set search as a player of Slippery Slope, to check ours against it.

OpenSpiel's ``ISMCTSBot`` (``open_spiel.python.algorithms.ismcts``) asks of a state no more than a few methods.
:class:`Table` has them for one hand, in plain numbers since the bot goes through it card by card; the worlds are drawn
by the core, all those of a decision at once, and handed to the bot by its resampler.  OpenSpiel need not be installed
until a bot is made.

Where the two searches differ:

- OpenSpiel keeps a node for every information state of whoever is to move.  The other seats thus know their cards in
  the tree, and since those differ from world to world, their nodes are hardly ever met again until few cards are
  hidden.  Ours keeps one node for what the searching seat sees: the actions themselves.
- It adds a node's actions one by one, in an order of its own, and counts the visits of a node where ours counts how
  often an action was available; where nothing is hidden these are the same.
- Its first simulation of a decision evaluates the root and tries no action.
- It answers with the most visited action, as ours does, but draws among equals.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from importlib import import_module
from types import SimpleNamespace
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from slopes_agents import Agent
from slopes_agents.search import IsmctsAgent
from slopes_envs import Game, InformationSet
from slopes_envs.games.slippery_slope import BIDS, HAND, MOVES, TRICKS, A, P

Item = TypeVar("Item")

GAME = "slippery_slope"
_MUST, _LEAD = TRICKS.must.tolist(), TRICKS.lead.tolist()
_CONTEXT, _STRENGTH = TRICKS.context.tolist(), TRICKS.strength.tolist()
_ACTION = {1 << card: BIDS + card for card in range(A - BIDS)}
_NEXT = (1, 2, 0)


class Table:
    """One hand of Slippery Slope as OpenSpiel's search wants a state: public methods are those of its states.

    Attributes
    ----------
    hands
        Bit sets of cards, by seat.
    dealt
        What each seat held at first.
    bids
        By seat, -1 before the seat has bid.
    public
        What everybody has seen: where the table began, then one character for every action.
    """

    __slots__ = (
        "best",
        "bids",
        "context",
        "dealt",
        "game",
        "hands",
        "moves",
        "open_bids",
        "public",
        "seat",
        "tricks",
        "winner",
    )

    game: SpielGame
    open_bids: bool
    hands: list[int]
    dealt: tuple[int, ...]
    bids: list[int]
    tricks: list[int]
    seat: int
    moves: int
    context: int
    best: int
    winner: int
    public: str

    @classmethod
    def of(cls, game: SpielGame, state: Any) -> list[Self]:
        """Tables of all games of a batch that are in the middle of a hand."""
        shown = np.concatenate([state.seen, state.table, state.tricks, state.leader[:, None]], axis=1).tolist()
        fields = ("hands", "seen", "bids", "tricks", "seat", "moves", "context", "best", "winner")
        found = []
        for now, *values in zip(shown, *(getattr(state, name).tolist() for name in fields), strict=True):
            table = cls()
            table.game, table.open_bids = game, game.open_bids
            table.hands, seen, table.bids, table.tricks, table.seat, table.moves, *trick = values
            table.context, table.best, table.winner = trick
            table.dealt = tuple(held | played for held, played in zip(table.hands, seen, strict=True))
            table.public = f"{now}{table.moves}:"
            found.append(table)
        return found

    def clone(self) -> Self:
        """An independent copy."""
        other = type(self)()
        other.game, other.open_bids, other.dealt, other.public = self.game, self.open_bids, self.dealt, self.public
        other.hands, other.bids, other.tricks = self.hands[:], self.bids[:], self.tricks[:]
        other.seat, other.moves = self.seat, self.moves
        other.context, other.best, other.winner = self.context, self.best, self.winner
        return other

    def get_game(self) -> SpielGame:
        """The game."""
        return self.game

    def num_players(self) -> int:
        """Number of seats."""
        return P

    def is_chance_node(self) -> bool:
        """Never: the worlds are dealt by the core."""
        return False

    def is_terminal(self) -> bool:
        """Whether the hand is over."""
        return self.moves == MOVES

    def current_player(self) -> int:
        """The seat to move."""
        return self.seat

    def legal_actions(self, player: int | None = None) -> list[int]:
        """Actions of the seat to move, in the order of their numbers."""
        if self.moves < P:
            return list(range(BIDS))
        hand = self.hands[self.seat]
        cards = hand & _MUST[self.context] or hand
        found = []
        while cards:
            lowest = cards & -cards
            found.append(_ACTION[lowest])
            cards ^= lowest
        return found

    def apply_action(self, action: int) -> None:
        """Take a legal action."""
        seat = self.seat
        self.seat = _NEXT[seat]
        self.moves += 1
        if action < BIDS:
            self.bids[seat] = action
            self.public += "?"
            return
        self.hands[seat] ^= 1 << (action - BIDS)
        self.public += chr(ord("A") + action)
        code = self.context * A + action
        self.context = _CONTEXT[code]
        if _STRENGTH[code] > self.best:
            self.best, self.winner = _STRENGTH[code], seat
        if self.moves % P == 0:
            self.tricks[self.winner] += 1
            self.seat = self.winner
            self.context, self.best, self.winner = _LEAD[self.context], 0, -1

    def returns(self) -> list[float]:
        """Score of every seat less the mean of the others, once the hand is over."""
        scores = [won if bid == won else -abs(bid - won) for bid, won in zip(self.bids, self.tricks, strict=True)]
        total = sum(scores)
        return [score - (total - score) / (P - 1) for score in scores]

    def information_state_string(self, player: int | None = None) -> str:
        """All that a seat (by default that to move) may know, and nothing else: own cards and bid, what all saw."""
        seat = self.seat if player is None else player
        bids = self.bids if self.open_bids and self.moves >= P else self.bids[seat]
        return f"{seat} {self.dealt[seat]} {bids} {self.public}"


class SpielGame:
    """What OpenSpiel's search asks of a game; ``open_bids`` says whether bids are shown once all have bid."""

    def __init__(self, game: Game[Any, Any]) -> None:
        self.open_bids = game.rules.reveal_bids == "after_bidding"
        kind = import_module("pyspiel").GameType
        self._type = SimpleNamespace(
            dynamics=kind.Dynamics.SEQUENTIAL, information=kind.Information.IMPERFECT_INFORMATION
        )

    def get_type(self) -> Any:
        """Sequential, with imperfect information."""
        return self._type

    def num_players(self) -> int:
        """Number of seats."""
        return P

    def num_distinct_actions(self) -> int:
        """Number of actions."""
        return A

    def max_game_length(self) -> int:
        """Actions of a hand."""
        return P + P * HAND


class Chance:
    """The few calls of NumPy's old generator that OpenSpiel makes, from a generator that is quicker one by one."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def choice(self, items: Sequence[Item], p: Sequence[float] | None = None) -> Item:
        """One of the items, equally likely or with chances ``p``."""
        if p is None:
            return items[int(self._random.random() * len(items))]
        return self._random.choices(items, p)[0]

    def randint(self, below: int) -> int:
        """A whole number from 0."""
        return int(self._random.random() * below)

    def uniform(self) -> float:
        """A number from 0 to 1."""
        return self._random.random()

    def shuffle(self, items: list[Any]) -> None:
        """Put a list into a random order."""
        self._random.shuffle(items)


class Root(NamedTuple):
    """What a search found for the actions at its root."""

    visits: NDArray[np.int64]
    """``int64[A]``"""
    means: NDArray[np.float64]
    """``float64[A]``, mean lead; minus infinity where an action was never tried."""
    chosen: int
    """The action it answers with."""


class OpenSpielIsmcts(Agent):
    """OpenSpiel's information-set search with random roll-outs, in the worlds and for the stakes of ours.

    Parameters
    ----------
    iterations
        Simulations of a decision, each in a world of its own.
    c
        Exploration, as that of :class:`slopes_agents.search.IsmctsAgent`.
    """

    def __init__(self, game: Game[Any, Any], iterations: int = 1000, c: float = 0.7) -> None:
        """Make the agent.

        Raises
        ------
        ValueError
            For another game, or as the agent that it is to be like.
        ImportError
            If OpenSpiel is not installed.
        """
        super().__init__(game)
        if game.name != GAME:
            raise ValueError(f"the bridge to OpenSpiel expected the game {GAME!r}, got {game.name!r}")
        self.like = IsmctsAgent(game, iterations, c=c)
        self.spiel_game = SpielGame(game)
        self._search = import_module("open_spiel.python.algorithms.ismcts")
        self._evaluators = import_module("open_spiel.python.algorithms.mcts")

    def act(self, view: InformationSet) -> NDArray[np.int64]:
        """Choose an action in every game, one after the other."""
        chosen: NDArray[np.int64] = view.legal.argmax(axis=1)
        for i in np.flatnonzero(view.legal.sum(axis=1) > 1):
            chosen[i] = self.root(view.take(np.array([i]))).chosen
        return chosen

    def root(self, view: InformationSet) -> Root:
        """Search a batch of one."""
        iterations = self.like.iterations
        tables = Table.of(self.spiel_game, view.sample(iterations, bids=self.like.drawn.hidden_bids))
        worlds: Iterator[Table] = iter(tables)
        chance = Chance(int(view.keys[0]))
        bot = self._search.ISMCTSBot(
            self.spiel_game,
            self._evaluators.RandomRolloutEvaluator(1, chance),
            self.like.exploration,
            iterations,
            random_state=chance,
            final_policy_type=self._search.ISMCTSFinalPolicyType.MAX_VISIT_COUNT,
        )
        bot.set_resampler(lambda state, player: next(worlds))
        # Of the state to decide in, the bot takes what the seat knows: any world has that.
        action = int(bot.step(tables[0].clone()))
        visits, means = np.zeros(A, np.int64), np.full(A, -np.inf)
        for tried, child in bot._root_node.child_info.items():
            visits[tried], means[tried] = child.visits, child.value()
        return Root(visits, means, action)
