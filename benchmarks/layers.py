"""The layers of this library whose speed is measured, each played by uniformly random legal actions.

============ ======================================================================================================
``core``     ``sample_legal`` and ``step``, with the action check on
``observed`` the same, with ``observe`` and ``legal`` of the seat to move before every decision
``vector``   Gymnasium's ``TurnVectorEnv``; actions are chosen from its mask
``sb3``      Stable-Baselines3's ``SlopesVecEnv`` against ``random`` opponents; decisions of all seats count
``aec_raw``  PettingZoo's ``raw_env``: ``last``, an action from its mask, ``step``; one game
``aec``      the same of ``env``, with PettingZoo's usual wrappers
============ ======================================================================================================

Finished games are restarted, and their deals are part of the time.  In a batch the games are staggered: each is a
random number of moves ahead, up to the length of a match, so that every phase is always there.

Shape letters: **B** games, **A** actions.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from copy import copy
from dataclasses import Field, dataclass, fields
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slopes_agents.random import RandomAgent
from slopes_envs import Game, InformationSet, State, UnknownName, derive, make_game, match_seed
from slopes_envs.chance import UInt64, below
from slopes_envs.registry import game_class
from slopes_envs.vector import TurnVectorEnv

from .timing import Subject

CORE, OBSERVED, VECTOR, SB3, AEC_RAW, AEC = "core", "observed", "vector", "sb3", "aec_raw", "aec"
BATCHED = (CORE, OBSERVED, VECTOR, SB3)
SINGLE = (AEC_RAW, AEC)
LAYERS = BATCHED + SINGLE

MATCHES = 512
"""Matches that are played to their end to learn how long they are, and then to stagger a batch."""

FEW = 32
"""Up to so many rows, a random number for every action is the quickest way to choose from a mask."""

_KEY_STEP = np.uint64(0x9E3779B97F4A7C15)  # odd, so that keys that are stepped by it come round only after 2**64


# ------------------------------------------------------------------------------------------------------------ games


def player_counts(name: str) -> list[int]:
    """Numbers of players that a game may be played with, in order."""
    allowed = _num_players(name).metadata
    return sorted(allowed["choices"] or range(allowed["at_least"], allowed["at_most"] + 1))


def usual_player_counts(name: str) -> list[int]:
    """Those that are measured in every layer: all choices, or of a range the least, the default and the greatest."""
    option = _num_players(name)
    if option.metadata["choices"]:
        return player_counts(name)
    return sorted({option.metadata["at_least"], option.default, option.metadata["at_most"]})


def _num_players(name: str) -> Field[Any]:
    (option,) = [option for option in fields(game_class(name).rules_type) if option.name == "num_players"]
    return option


@dataclass(frozen=True)
class Table:
    """A game with its options, and a seed from which everything random in its measurement follows."""

    name: str
    options: tuple[tuple[str, Any], ...] = ()
    seed: int = 0

    @classmethod
    def of(cls, name: str, options: dict[str, Any], seed: int) -> Table:
        """The table of a game with options by name."""
        return cls(name, tuple(sorted(options.items())), seed)

    @cached_property
    def game(self) -> Game[Any, Any]:
        """The rules."""
        return make_game(self.name, **dict(self.options))

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """Decisions in each of some matches played to their end, ``int64[MATCHES]``."""
        state = self.game.new(match_seed(self.seed, np.arange(MATCHES), 0))
        keys = derive(self.seed, np.arange(MATCHES))
        while (state.seat >= 0).any():
            _random_step(self.game, state, keys)
        lengths: NDArray[np.int64] = state.move.astype(np.int64)
        return lengths

    @cached_property
    def _pool(self) -> State:
        """The same matches, each at a random moment before its end."""
        ahead = below(derive(self.seed, 1, np.arange(MATCHES)), self.lengths)
        state = self.game.new(match_seed(self.seed, np.arange(MATCHES), 0))
        keys = derive(self.seed, np.arange(MATCHES))
        pool: State = state.copy()
        for moves in range(1, int(ahead.max()) + 1):
            _random_step(self.game, state, keys)
            due = np.flatnonzero(ahead == moves)
            if len(due):
                pool.put(due, state.take(due))
        return pool

    def staggered(self, batch: int) -> State:
        """``batch`` matches under way, whose later deals are their own."""
        state: State = self._pool.take(np.arange(batch) % MATCHES)
        state.seed[:] = match_seed(self.seed, np.arange(batch), 1)
        return state


def _random_step(game: Game[Any, Any], state: State, keys: UInt64) -> Any:
    """A legal action in every game, from keys that are stepped on; returns the outcome."""
    keys += _KEY_STEP
    return game.step(state, game.sample_legal(state, keys))


def bytes_a_game(state: State) -> float:
    """Memory that one game of a batch takes."""
    arrays = [getattr(state, spec.name) for spec in fields(state)]
    return float(sum(array.nbytes for array in arrays if array is not None)) / len(state)


# ----------------------------------------------------------------------------------------------------------- layers


class Core:
    """Layers ``core`` and, with ``observed``, ``observed``: the batched game itself."""

    def __init__(self, table: Table, batch: int, *, observed: bool = False) -> None:
        self.game = table.game
        self.state = table.staggered(batch)
        self._keys = derive(table.seed, 2, np.arange(batch))
        self._observations = np.empty((batch, self.game.observation.size), np.uint8) if observed else None
        self._mask = np.empty((batch, self.game.num_actions), np.bool_)

    def play(self) -> int:
        """One decision in every game."""
        game, state = self.game, self.state
        if self._observations is not None:
            game.observe(state, state.seat, out=self._observations)
            game.legal(state, out=self._mask)
        outcome = _random_step(game, state, self._keys)
        over = outcome.terminated | outcome.truncated
        if over.any():
            game.restart(state, over, self._keys[over])
        return len(state)


class MaskedChoice:
    """Uniform choice among the legal actions of a mask, in the quickest way there is without a compiler."""

    def __init__(self, seed: int, batch: int) -> None:
        self._generator = np.random.default_rng(seed)
        self._keys = derive(seed, np.arange(batch))

    def __call__(self, mask: NDArray[Any]) -> NDArray[np.int64]:
        """Actions ``int64[B]`` from ``bool[B, A]`` or ``int8[B, A]``; every row must have a legal one."""
        batch, actions = mask.shape
        if batch <= FEW:
            drawn = np.where(mask, self._generator.random(mask.shape, np.float32), -1)
            return np.asarray(drawn.argmax(axis=1), np.int64)
        places = np.flatnonzero(mask.view(np.bool_))
        row_starts = np.arange(0, batch * actions, actions)
        starts = np.searchsorted(places, row_starts)
        counts = np.diff(starts, append=len(places))
        self._keys += _KEY_STEP
        chosen: NDArray[np.int64] = places[starts + below(self._keys, counts)] - row_starts
        return chosen


def beginning_with(game: Game[Any, Any], state: State) -> Game[Any, Any]:
    """The same rules, but the first matches that are started are those of ``state``.

    So an environment that makes its own matches begins with staggered ones.
    """
    twin = copy(game)
    waiting = [state]

    def new(seeds: Any) -> State:
        return waiting.pop() if waiting else game.new(seeds)

    twin.new = new  # type: ignore[method-assign]
    return twin


class Vector:
    """Layer ``vector``: self-play through Gymnasium's view."""

    def __init__(self, table: Table, batch: int) -> None:
        self.env = TurnVectorEnv(beginning_with(table.game, table.staggered(batch)), batch)
        self._choose = MaskedChoice(table.seed, batch)
        _, infos = self.env.reset(seed=table.seed)
        self._mask = infos["action_mask"]

    def play(self) -> int:
        """One decision in every game."""
        infos = self.env.step(self._choose(self._mask))[-1]
        self._mask = infos["action_mask"]
        return self.env.num_envs


class _CountedRandom(RandomAgent):
    """The agent ``random``, which counts its decisions."""

    decisions = 0

    def act(self, view: InformationSet) -> NDArray[np.int64]:
        self.decisions += len(view)
        return super().act(view)


class StableBaselines:
    """Layer ``sb3``: one learner against random opponents in every match."""

    def __init__(self, table: Table, batch: int) -> None:
        from slopes_training.vec_env import MASKS, SlopesVecEnv

        self._masks = MASKS  # the name of the method that sb3-contrib calls
        self._others = _CountedRandom(table.game)
        game = beginning_with(table.game, table.staggered(batch))
        self.env = SlopesVecEnv(game, batch, opponents=self._others, seed=table.seed)
        self._choose = MaskedChoice(table.seed, batch)
        self.env.reset()

    def play(self) -> int:
        """One decision of the learner in every match, and what the others decide up to its next."""
        before = self._others.decisions
        self.env.step(self._choose(self.env.env_method(self._masks)))
        return self.env.num_envs + self._others.decisions - before


class Aec:
    """A PettingZoo environment, ours or another's, turn by turn.

    Parameters
    ----------
    env
        Its observations hold an ``action_mask``.
    seed
        Of the first reset, and of the actions.
    """

    def __init__(self, env: Any, seed: int) -> None:
        self.env = env
        self._random = random.Random(seed).random
        env.reset(seed=seed)

    def play(self) -> int:
        """One decision; or an agent whose match is over is stepped out, which is none."""
        env = self.env
        observation, _, terminated, truncated, _ = env.last()
        if terminated or truncated:
            env.step(None)
            if not env.agents:
                env.reset()
            return 0
        legal = observation["action_mask"].nonzero()[0]
        env.step(int(legal[int(self._random() * len(legal))]))
        return 1


# --------------------------------------------------------------------------------------------------------- subjects


def available_layers() -> dict[str, str | None]:
    """All layers, with the reason why one cannot be measured here, or None."""
    missing = None if find_spec("stable_baselines3") else "stable_baselines3 is not installed"
    return {layer: missing if layer == SB3 else None for layer in LAYERS}


def subject(table: Table, layer: str, batch: int) -> Subject:
    """A layer of a game, ready to be timed; PettingZoo's are of one game whatever ``batch`` is."""
    game = table.game
    played: Any
    if layer in (CORE, OBSERVED):
        played = Core(table, batch, observed=layer == OBSERVED)
    elif layer == VECTOR:
        played = Vector(table, batch)
    elif layer == SB3:
        played = StableBaselines(table, batch)
    elif layer in SINGLE:
        module = import_module(f"slopes_envs.{game.name}_v{game.version}")
        make = module.env if layer == AEC else module.raw_env
        played, batch = Aec(make(**dict(table.options)), table.seed), 1
    else:
        raise UnknownName("layer", layer, LAYERS)
    return Subject(game.name, game.rules.record(), layer, batch, played.play)


def subjects(table: Table, layers: Sequence[str], batches: Sequence[int]) -> list[Subject]:
    """The subjects of one game: batched layers for every batch, PettingZoo's once."""
    return [
        subject(table, layer, batch) for layer in layers for batch in (batches if layer in BATCHED else batches[:1])
    ]
