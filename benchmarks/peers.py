"""Other card-game environments, where they are installed, measured the same way: uniformly random legal play.

=============== ========= =========================================================================================
library         layer     what is timed
=============== ========= =========================================================================================
``open_spiel``  python    from Python, deals included: ``legal_actions`` and ``apply_action``, for chance, too
                observed  the same, with a reused observer buffer and mask filled before every decision
                dealt     as python, but from copies of games that have been dealt already; likewise
                          ``dealt observed``
                cpp       inside C++, deals included: ``evaluate_bots`` with its own random bots
                rollout   inside C++, after the deal: its random roll-outs under a search of one simulation
``rlcard``      env       ``step``, which gives observation and legal actions
``pettingzoo``  aec_raw   ``raw_env``, by the loop that measures ours
                aec       ``env``, likewise
``pgx``         observed  compiled steps of a batch on the CPU, with observations and masks, finished games restarted
=============== ========= =========================================================================================

Only decisions of players count, never the moves of chance.  Each library is used in the quickest way that was found;
what it can leave out (copying an observation, building lists) is left out.
"""

from __future__ import annotations

import os
import random
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from .layers import AEC, AEC_RAW, OBSERVED, Aec
from .timing import Subject

PYTHON, CPP, ROLLOUT, ENV = "python", "cpp", "rollout", "env"
DEALT, DEALT_OBSERVED = "dealt", "dealt observed"

OPEN_SPIEL: dict[str, dict[str, Any]] = {
    "oh_hell": {"players": 3},
    "hearts": {},
    "spades": {},
    "crazy_eights": {},
}
"""OpenSpiel's card games of the kinds that ours are, with their parameters."""

RLCARD = ("bridge", "uno")
PETTINGZOO = {"leduc_holdem": "leduc_holdem_v4", "texas_holdem": "texas_holdem_v4"}
PGX = ("leduc_holdem", "kuhn_poker", "sparrow_mahjong")

DEALS = 64
"""Dealt starts of a game that are played again and again where deals are not to count."""

GAMES_A_PLAY = 200
ROLLOUTS = 50
PLAYS_TO_COUNT = 40
"""Games from one deal whose mean length stands for that of roll-outs, which do not tell their own."""

PGX_BATCH, PGX_STEPS = 4096, 64


class Peers(NamedTuple):
    """What was found."""

    subjects: list[Subject]
    missing: dict[str, str]
    """Libraries that cannot be measured here, with the reason."""


def find(seed: int) -> Peers:
    """All peers that are installed, ready to be timed."""
    found = Peers([], {})
    for library, (make, _) in PEERS.items():
        try:
            with _quiet():
                found.subjects.extend(make(seed))
        except ImportError as error:
            found.missing[library] = f"not installed ({error})"
    return found


def distributions() -> list[str]:
    """Names under which the peers' versions are known."""
    return [name for _, names in PEERS.values() for name in names]


@contextmanager
def _quiet() -> Iterator[None]:
    """Warnings and greetings of other libraries are none of ours."""
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


# ------------------------------------------------------------------------------------------------------- OpenSpiel


class _Starts:
    """A game of OpenSpiel, its first state, and starts of it in which everything has been dealt."""

    def __init__(self, name: str, parameters: dict[str, Any], seed: int) -> None:
        self.spiel = import_module("pyspiel")
        self.game = self.spiel.load_game(name, parameters)
        self.seed = seed
        self.random = random.Random(seed)
        self.dealt = [self._deal() for _ in range(DEALS)]
        self.next = 0

    def _deal(self) -> Any:
        state = self.first()
        while state.is_chance_node():
            outcomes, chances = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(self.random.choices(outcomes, chances)[0])
        return state

    def first(self) -> Any:
        """A game before its deal."""
        return self.game.new_initial_state()

    def next_dealt(self) -> Any:
        """A copy of the next of the dealt starts."""
        self.next = (self.next + 1) % DEALS
        return self.dealt[self.next].clone()

    def play_bare(self, state: Any) -> int:
        """Play a game to its end; returns the number of decisions."""
        chance = self.random.random
        decisions = 0
        while not state.is_terminal():
            legal = state.legal_actions()  # of chance, too: every card that is left is as likely to be drawn
            if state.current_player() >= 0:
                decisions += 1
            state.apply_action(legal[int(chance() * len(legal))])
        return decisions


def _python(starts: _Starts) -> Callable[[], int]:
    return lambda: starts.play_bare(starts.first())


def _dealt(starts: _Starts) -> Callable[[], int]:
    return lambda: starts.play_bare(starts.next_dealt())


def _python_observed(starts: _Starts) -> Callable[[], int]:
    return _observed(starts, starts.first)


def _dealt_observed(starts: _Starts) -> Callable[[], int]:
    return _observed(starts, starts.next_dealt)


def _observed(starts: _Starts, start: Callable[[], Any]) -> Callable[[], int]:
    observation = import_module("open_spiel.python.observation")
    kind = starts.game.get_type()
    recall = None if kind.provides_observation_tensor else starts.spiel.IIGObservationType(perfect_recall=True)
    observer = observation.make_observation(starts.game, recall)
    mask = np.zeros(starts.game.num_distinct_actions(), np.int8)
    chance = starts.random.random

    def play() -> int:
        state = start()
        decisions = 0
        while not state.is_terminal():
            legal = state.legal_actions()
            player = state.current_player()
            if player >= 0:
                observer.set_from(state, player)
                mask.fill(0)
                for action in legal:  # quicker than an index array for so few
                    mask[action] = 1
                decisions += 1
            state.apply_action(legal[int(chance() * len(legal))])
        return decisions

    return play


def _cpp(starts: _Starts) -> Callable[[], int]:
    spiel, game = starts.spiel, starts.game

    def games() -> Iterator[Any]:
        """The same games at every call: the bots begin with the same seeds."""
        bots = [spiel.make_uniform_random_bot(player, starts.seed + player) for player in range(game.num_players())]
        for number in range(GAMES_A_PLAY):
            state = game.new_initial_state()
            spiel.evaluate_bots(state, bots, starts.seed + number)
            yield state

    decisions = sum(1 for state in games() for move in state.full_history() if move.player >= 0)

    def play() -> int:
        for _ in games():
            pass
        return decisions

    return play


def _rollout(starts: _Starts) -> Callable[[], int]:
    spiel = starts.spiel
    evaluator = spiel.RandomRolloutEvaluator(ROLLOUTS, starts.seed)
    bot = spiel.MCTSBot(starts.game, evaluator, 1.0, 1, 100, False, starts.seed, False)
    lengths = [sum(starts.play_bare(state.clone()) for _ in range(PLAYS_TO_COUNT)) for state in starts.dealt]
    decisions = round(ROLLOUTS * sum(lengths) / PLAYS_TO_COUNT)

    def play() -> int:
        for state in starts.dealt:
            bot.step(state)
        return decisions

    return play


def _open_spiel(seed: int) -> list[Subject]:
    layers = {
        PYTHON: _python,
        OBSERVED: _python_observed,
        DEALT: _dealt,
        DEALT_OBSERVED: _dealt_observed,
        CPP: _cpp,
        ROLLOUT: _rollout,
    }
    return [
        Subject(f"open_spiel/{name}", parameters, layer, 1, make(_Starts(name, parameters, seed)))
        for name, parameters in OPEN_SPIEL.items()
        for layer, make in layers.items()
    ]


# ------------------------------------------------------------------------------------------------- the other three


class _RLCard:
    """A game of RLCard."""

    def __init__(self, name: str, seed: int) -> None:
        self.env = import_module("rlcard").make(name, config={"seed": seed})
        self.chance = random.Random(seed).random

    def play(self) -> int:
        """One game; returns the number of decisions."""
        env = self.env
        state, _ = env.reset()
        decisions = 0
        while not env.is_over():
            legal = list(state["legal_actions"])
            state, _ = env.step(legal[int(self.chance() * len(legal))])
            decisions += 1
        return decisions


def _rlcard(seed: int) -> list[Subject]:
    return [Subject(f"rlcard/{name}", {}, ENV, 1, _RLCard(name, seed).play) for name in RLCARD]


def _pettingzoo(seed: int) -> list[Subject]:
    subjects = []
    for name, module_name in PETTINGZOO.items():
        module = import_module(f"pettingzoo.classic.{module_name}")
        for layer, make in ((AEC_RAW, module.raw_env), (AEC, module.env)):
            subjects.append(Subject(f"pettingzoo/{name}", {}, layer, 1, Aec(make(), seed).play))
    return subjects


def _pgx_game(name: str, seed: int) -> Callable[[], int]:
    jax, pgx = import_module("jax"), import_module("pgx")
    env = pgx.make(name)
    step = jax.vmap(import_module("pgx.experimental").auto_reset(env.step, env.init))

    def advance(carry: Any, _: None) -> Any:
        states, key = carry
        key, chance, dealing = jax.random.split(key, 3)
        likelihoods = jax.numpy.log(states.legal_action_mask.astype(jax.numpy.float32))
        actions = jax.random.categorical(chance, likelihoods, axis=-1)
        states = step(states, actions, jax.random.split(dealing, PGX_BATCH))
        # Each of these would be used in training; without that the compiler leaves observations out.
        return (states, key), states.observation.sum(dtype=jax.numpy.float32)

    run = jax.jit(lambda carry: jax.lax.scan(advance, carry, None, length=PGX_STEPS))
    key = jax.random.PRNGKey(seed)
    carry = (jax.jit(jax.vmap(env.init))(jax.random.split(key, PGX_BATCH)), key)

    def play() -> int:
        nonlocal carry
        carry, _ = jax.block_until_ready(run(carry))
        return PGX_BATCH * PGX_STEPS

    return play


def _pgx(seed: int) -> list[Subject]:
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    return [Subject(f"pgx/{name}", {}, OBSERVED, PGX_BATCH, _pgx_game(name, seed)) for name in PGX]


PEERS: dict[str, tuple[Callable[[int], list[Subject]], tuple[str, ...]]] = {
    "open_spiel": (_open_spiel, ("open_spiel",)),
    "rlcard": (_rlcard, ("rlcard",)),
    "pettingzoo": (_pettingzoo, ()),  # whose version is among our own requirements
    "pgx": (_pgx, ("pgx", "jax")),
}
"""How the subjects of each library are made, and its distributions."""
