"""One match through every door: the same seed and the same actions are the same match in each view of a game.

The views have tests of their own for what each of them promises besides.  Here a whole match, long ones included, is
first played on the core alone, and then through all the others.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from functools import cache
from importlib import import_module
from typing import Any

import gymnasium
import numpy as np
import pettingzoo
import pytest
from numpy.typing import NDArray

from slopes_envs import Game, InformationSet, State, game_names, make_game, match_seed
from slopes_envs.registry import game_class
from slopes_envs.vector import TurnVectorEnv, gymnasium_id
from slopes_training.vec_env import SlopesVecEnv

SEED = 23
ROWS = 2
WHOLE, HANDS, CUT_OFF = {}, {"match": "hand"}, {"max_hands": 2, "max_turns": 15}
# The limits, and what counts towards each.
LIMITS = {"max_hands": "hand", "max_turns": "turns"}


def options(name: str, wanted: dict[str, Any]) -> dict[str, Any]:
    """Those of some options that a game has."""
    known = {spec.name for spec in fields(game_class(name).rules_type)}
    return {key: value for key, value in wanted.items() if key in known}


VARIANTS = [
    (name, tuple(options(name, wanted).items()))
    for name in game_names()
    for wanted in (WHOLE, HANDS, CUT_OFF)
    if wanted is not CUT_OFF or options(name, wanted)
]
every_game = pytest.mark.parametrize(
    ("name", "rules"), VARIANTS, ids=[f"{name}-{dict(rules) or 'whole match'}" for name, rules in VARIANTS]
)


@dataclass
class Move:
    """What the core tells before and after a move."""

    seat: int
    action: int
    legal: NDArray[np.bool_]  # [A]
    observations: NDArray[np.uint8]  # [P, D] before the move
    rewards: NDArray[np.float32]  # [P]
    ended: tuple[bool, bool]  # terminated, truncated


@dataclass
class Match:
    """A match of random players on the core, and how it ended."""

    moves: list[Move] = field(default_factory=list)
    final: NDArray[np.uint8] = field(default_factory=lambda: np.zeros(0, dtype=np.uint8))  # [P, D]
    scores: list[int] = field(default_factory=list)
    state: State | None = None

    def of(self, seat: int) -> Iterator[tuple[Move, float]]:
        """A seat's own moves, each with what the seat earned up to its next one or the end."""
        own = [number for number, move in enumerate(self.moves) if move.seat == seat]
        for number, following in itertools.pairwise([*own, len(self.moves)]):
            yield self.moves[number], float(sum(move.rewards[seat] for move in self.moves[number:following]))


def observed(game: Game[Any, Any], state: State) -> NDArray[np.uint8]:
    return np.concatenate([game.observe(state, np.array([seat])) for seat in range(game.num_players)])


@cache
def on_the_core(name: str, rules: tuple[tuple[str, Any], ...], row: int, episode: int) -> Match:
    """The match of a row and an episode; players draw from the keys of the match, as the agent ``random`` does."""
    game, match = make_game(name, **dict(rules)), Match()
    state = game.new(match_seed(SEED, row, episode))
    while state.seat[0] >= 0:
        action = InformationSet(game, state).sample_legal()
        before = int(state.seat[0]), int(action[0]), game.legal(state)[0], observed(game, state)
        outcome = game.step(state, action)
        match.moves.append(Move(*before, outcome.rewards[0], (bool(outcome.terminated[0]), bool(outcome.truncated[0]))))
    match.final, match.scores, match.state = observed(game, state), game.scores(state)[0].tolist(), state
    return match


def learners(name: str, rules: tuple[tuple[str, Any], ...], row: int) -> Iterator[tuple[int, Match]]:
    """Seats and matches of a rotating learner in a row: those in which it has a decision."""
    for episode in itertools.count():
        match = on_the_core(name, rules, row, episode)
        seat = (row + episode) % make_game(name).num_players
        if any(move.seat == seat for move in match.moves):
            yield seat, match


# ---------------------------------------------------------------------------------------------------------- the limits


@every_game
def test_a_match_is_cut_off_at_its_limit_and_never_before(name: str, rules: tuple[tuple[str, Any], ...]) -> None:
    game = make_game(name, **dict(rules))
    for row in range(ROWS):
        match = on_the_core(name, rules, row, 0)
        assert [any(move.ended) for move in match.moves] == [False] * (len(match.moves) - 1) + [True]
        if match.moves[-1].ended[1]:
            ((limit, count),) = [(limit, count) for limit, count in LIMITS.items() if hasattr(game.rules, limit)]
            assert int(getattr(match.state, count)[0]) == getattr(game.rules, limit)
    spec = gymnasium.spec(gymnasium_id(name))
    assert spec.max_episode_steps is None and not spec.additional_wrappers


# ----------------------------------------------------------------------------------------------------------- the doors


@every_game
def test_the_batched_core(name: str, rules: tuple[tuple[str, Any], ...]) -> None:
    game = make_game(name, **dict(rules))
    matches = [on_the_core(name, rules, row, 0) for row in range(ROWS)]
    state = game.new(match_seed(SEED, np.arange(ROWS)))
    for number in range(max(len(match.moves) for match in matches)):
        moves = [match.moves[number] if number < len(match.moves) else None for match in matches]
        legal = game.legal(state)
        seen = np.stack([game.observe(state, np.full(ROWS, seat)) for seat in range(game.num_players)], axis=1)
        outcome = game.step(state, np.array([0 if move is None else move.action for move in moves]))
        for row, move in enumerate(moves):
            assert np.array_equal(legal[row], np.zeros(game.num_actions) if move is None else move.legal)
            assert np.array_equal(seen[row], matches[row].final if move is None else move.observations)
            assert np.array_equal(outcome.rewards[row], np.zeros(game.num_players) if move is None else move.rewards)
            ended = matches[row].moves[-1].ended if move is None else move.ended
            assert (outcome.terminated[row], outcome.truncated[row]) == ended
    assert game.scores(state).tolist() == [match.scores for match in matches]


@every_game
@pytest.mark.parametrize("door", ["registry", "env", "raw_env"])
def test_pettingzoo(name: str, rules: tuple[tuple[str, Any], ...], door: str) -> None:
    versioned = f"{name}_v{make_game(name).version}"
    if door == "registry":
        table = pettingzoo.make("aec", f"slopes/{versioned}", **dict(rules))
    else:
        table = getattr(import_module(f"slopes_envs.{versioned}"), door)(**dict(rules))
    for episode in range(2):
        match = on_the_core(name, rules, 0, episode)
        table.reset(seed=SEED if episode == 0 else None)
        for move in match.moves:
            agent = f"player_{move.seat}"
            observation, _, terminated, truncated, _ = table.last()
            assert table.agent_selection == agent and not terminated and not truncated
            assert np.array_equal(observation["observation"], move.observations[move.seat])
            assert np.array_equal(observation["action_mask"], move.legal)
            table.step(move.action)
            assert list(table.rewards.values()) == move.rewards.tolist()
        for flags, ended in zip((table.terminations, table.truncations), match.moves[-1].ended, strict=True):
            assert flags == dict.fromkeys(table.possible_agents, ended)
        for seat, agent in enumerate(table.possible_agents):
            assert np.array_equal(table.observe(agent)["observation"], match.final[seat])


@every_game
def test_self_play(name: str, rules: tuple[tuple[str, Any], ...]) -> None:
    env = TurnVectorEnv(name, ROWS, **dict(rules))
    observations, infos = env.reset(seed=SEED)
    numbers, episodes = [0] * ROWS, [0] * ROWS
    while min(episodes) < 1:
        matches = [on_the_core(name, rules, row, episodes[row]) for row in range(ROWS)]
        moves = [match.moves[number] for match, number in zip(matches, numbers, strict=True)]
        for row, move in enumerate(moves):
            assert infos["seat"][row] == move.seat
            assert np.array_equal(infos["action_mask"][row], move.legal)
            assert np.array_equal(observations[row], move.observations[move.seat])
        observations, _, terminated, truncated, infos = env.step(np.array([move.action for move in moves]))
        for row, move in enumerate(moves):
            assert np.array_equal(infos["rewards"][row], move.rewards)
            assert (terminated[row], truncated[row]) == move.ended
            numbers[row] += 1
            if any(move.ended):
                assert np.array_equal(infos["final_obs"][row], matches[row].final[move.seat])
                assert infos["final_info"]["scores"][row].tolist() == matches[row].scores
                numbers[row], episodes[row] = 0, episodes[row] + 1


@every_game
def test_one_learner(name: str, rules: tuple[tuple[str, Any], ...]) -> None:
    """Gymnasium's single environment, against players that draw as the core's do."""
    env = gymnasium.make(gymnasium_id(name), opponents="random", row=1, **dict(rules))
    for episode, (seat, match) in enumerate(itertools.islice(learners(name, rules, 1), 2)):
        observation, info = env.reset(seed=SEED if episode == 0 else None)
        own = list(match.of(seat))
        for number, (move, earned) in enumerate(own):
            assert info["seat"] == seat
            assert np.array_equal(observation, move.observations[seat])
            assert np.array_equal(info["action_mask"], move.legal)
            observation, reward, terminated, truncated, info = env.step(move.action)
            assert reward == pytest.approx(earned)
            last = number == len(own) - 1
            assert (terminated, truncated) == (match.moves[-1].ended if last else (False, False))
        assert np.array_equal(observation, match.final[seat]) and info["scores"].tolist() == match.scores


@every_game
@pytest.mark.parametrize("door", ["gymnasium", "stable-baselines3"])
def test_learners_side_by_side(name: str, rules: tuple[tuple[str, Any], ...], door: str) -> None:
    """The vector environments of Gymnasium and Stable-Baselines3."""
    env: Any
    if door == "gymnasium":
        env = gymnasium.make_vec(gymnasium_id(name), num_envs=ROWS, opponents="random", **dict(rules))
        observations = env.reset(seed=SEED)[0]
    else:
        env = SlopesVecEnv(name, ROWS, opponents="random", seed=SEED, **dict(rules))
        observations = env.reset()
    following = [learners(name, rules, row) for row in range(ROWS)]
    now = [next(each) for each in following]
    own = [list(match.of(seat)) for seat, match in now]
    ends, numbers = [0] * ROWS, [0] * ROWS
    while min(ends) < 1:
        moves = [own[row][numbers[row]] for row in range(ROWS)]
        masks = env.action_masks()
        for row, (move, _) in enumerate(moves):
            assert np.array_equal(observations[row], move.observations[now[row][0]])
            assert np.array_equal(masks[row], move.legal)
        told = env.step(np.array([move.action for move, _ in moves]))
        observations, rewards = told[:2]
        for row, (_, earned) in enumerate(moves):
            seat, match = now[row]
            assert rewards[row] == pytest.approx(earned)
            numbers[row] += 1
            over = numbers[row] == len(own[row])
            ended = match.moves[-1].ended if over else (False, False)
            if door == "gymnasium":
                assert (told[2][row], told[3][row]) == ended
                final = told[4]["final_obs"][row] if over else None
            else:
                assert told[2][row] == over and told[3][row].get("TimeLimit.truncated", False) == (
                    ended == (False, True)
                )
                final = told[3][row].get("terminal_observation")
            if over:
                assert np.array_equal(final, match.final[seat])
                now[row] = next(following[row])
                own[row], numbers[row] = list(now[row][1].of(now[row][0])), 0
                ends[row] += 1
