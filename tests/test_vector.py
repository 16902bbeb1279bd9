"""Gymnasium's views against the core, for every game of the registry."""

from __future__ import annotations

import copy
import itertools
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env, data_equivalence
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers.vector import RecordEpisodeStatistics
from numpy.typing import NDArray

from slopes_agents import make_agent
from slopes_envs import (
    Game,
    IllegalAction,
    InformationSet,
    RulesError,
    State,
    UnknownName,
    derive,
    game_names,
    make_game,
    match_seed,
)
from slopes_envs.registry import game_class
from slopes_envs.vector import (
    ENV_VERSION,
    MOST_UNDECIDED,
    SlopesEnv,
    SlopesVectorEnv,
    TurnVectorEnv,
    gymnasium_id,
    register_gymnasium,
)

NAMES = game_names()
SEED = 11


def options(name: str, **wanted: Any) -> dict[str, Any]:
    """Those of some options that a game has."""
    known = {spec.name for spec in fields(game_class(name).rules_type)}
    return {key: value for key, value in wanted.items() if key in known}


def hand(name: str) -> dict[str, Any]:
    """Single hands, short ones."""
    return options(name, match="hand", max_turns=12)


def limited(name: str) -> dict[str, Any]:
    """Short whole matches, of different length where they can be."""
    return options(name, max_hands=3, target_score=1, max_turns=11)


GAMES = [(name, rules) for name in NAMES for rules in (hand(name), limited(name))]
every_game = pytest.mark.parametrize(("name", "rules"), GAMES, ids=[f"{name}-{rules}" for name, rules in GAMES])
every_name = pytest.mark.parametrize("name", NAMES)


def pick(legal: NDArray[np.bool_], number: int) -> int:
    """What the learners of these tests play as the decision of that number in a match."""
    actions = np.flatnonzero(legal)
    return int(actions[(7 * number + 3) % len(actions)])


def picks(masks: NDArray[Any], numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.array([pick(mask.astype(bool), int(number)) for mask, number in zip(masks, numbers, strict=True)])


class Chooser:
    """Uniformly random legal actions for the rows of a batch."""

    def __init__(self) -> None:
        self.rng = np.random.default_rng(SEED)

    def __call__(self, masks: NDArray[Any]) -> NDArray[np.int64]:
        return np.where(masks, self.rng.random(masks.shape), -1).argmax(axis=1)


@dataclass
class Episode:
    """What a learner saw of one match."""

    seed: int
    seat: int
    observations: list[NDArray[np.uint8]] = field(default_factory=list)  # the final one included
    masks: list[NDArray[np.bool_]] = field(default_factory=list)
    rewards: list[float] = field(default_factory=list)
    ended: tuple[bool, bool] = (False, False)
    scores: list[int] = field(default_factory=list)


def assert_same_episode(one: Episode, other: Episode) -> None:
    assert (one.seed, one.seat, one.ended, one.scores) == (other.seed, other.seat, other.ended, other.scores)
    assert one.rewards == pytest.approx(other.rewards, abs=1e-6)
    assert np.array_equal(one.observations, other.observations)
    assert np.array_equal(one.masks, other.masks)


def played_on_core(game: Game[Any, Any], seed: int, seat: int) -> Episode:
    """A match of a learner against random opponents, played move by move on the core."""
    episode, earned = Episode(seed, seat), 0.0
    state = game.new(np.array([seed], dtype=np.uint64))
    while state.seat[0] >= 0:
        if state.seat[0] == seat:
            if episode.masks:
                episode.rewards.append(earned)
                earned = 0.0
            episode.observations.append(game.observe(state, np.array([seat]))[0])
            episode.masks.append(game.legal(state)[0])
            action = pick(episode.masks[-1], len(episode.masks) - 1)
        else:
            action = int(InformationSet(game, state).sample_legal()[0])
        earned += float(game.step(state, np.array([action])).rewards[0, seat])
    episode.rewards.append(earned)
    episode.observations.append(game.observe(state, np.array([seat]))[0])
    episode.ended = bool(state.terminated[0]), bool(state.truncated[0])
    episode.scores = state.scores[0].tolist()
    return episode


def episodes_on_core(game: Game[Any, Any], row: int, seat: Any = "rotate") -> Iterator[Episode]:
    """The matches of a row one after the other, without those in which the learner has no decision."""
    for number in itertools.count():
        learner = (row + number) % game.num_players if seat == "rotate" else seat
        episode = played_on_core(game, int(match_seed(SEED, row, number)[0]), learner)
        if episode.masks:
            yield episode


def played_in_batch(env: SlopesVectorEnv, steps: int, seed: int = SEED) -> list[list[Episode]]:
    """The finished matches of every row."""
    observations, infos = env.reset(seed=seed)
    rows = range(env.num_envs)
    done: list[list[Episode]] = [[] for _ in rows]
    now = [Episode(int(match), int(seat)) for match, seat in zip(env.match_seeds, infos["seat"], strict=True)]
    for _ in range(steps):
        for i in rows:
            now[i].observations.append(observations[i])
            now[i].masks.append(infos["action_mask"][i].astype(bool))
        numbers = np.array([len(episode.masks) - 1 for episode in now])
        observations, rewards, terminated, truncated, infos = env.step(picks(infos["action_mask"], numbers))
        for i in rows:
            now[i].rewards.append(float(rewards[i]))
            if terminated[i] or truncated[i]:
                assert infos["_final_obs"][i] and infos["_final_info"][i] and infos["final_info"]["_scores"][i]
                now[i].observations.append(infos["final_obs"][i])
                now[i].ended = bool(terminated[i]), bool(truncated[i])
                now[i].scores = infos["final_info"]["scores"][i].tolist()
                assert infos["final_info"]["seat"][i] == now[i].seat
                assert not infos["final_info"]["action_mask"][i].any()
                done[i].append(now[i])
                now[i] = Episode(int(env.match_seeds[i]), int(infos["seat"][i]))
            elif "_final_obs" in infos:
                assert not infos["_final_obs"][i] and not infos["_final_info"][i] and infos["final_obs"][i] is None
    return done


# -------------------------------------------------------------------------------------------------------- Gymnasium


@every_name
def test_making_by_id(name: str) -> None:
    env = gymnasium.make(gymnasium_id(name), **hand(name)).unwrapped
    assert isinstance(env, SlopesEnv) and env.game == make_game(name, **hand(name))
    assert isinstance(env.action_space, gymnasium.spaces.Discrete) and env.action_space.n == env.game.num_actions
    batch = gymnasium.make_vec(gymnasium_id(name), num_envs=3, seat=1, **hand(name))
    assert isinstance(batch, SlopesVectorEnv) and batch.num_envs == 3 and batch.seats.tolist() == [1, 1, 1]
    assert batch.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    assert batch.single_observation_space == env.observation_space
    assert batch.single_action_space == env.action_space
    observations, infos = batch.reset(seed=1)
    assert observations.dtype == np.uint8 and observations in batch.observation_space
    assert infos["action_mask"].dtype == np.int8 and infos["action_mask"].shape == (3, env.game.num_actions)


def test_ids() -> None:
    assert gymnasium_id("slippery_slope") == "slopes/SlipperySlope-v0"
    register_gymnasium()  # again: no warning of an id that is there
    assert all(gymnasium_id(name) in gymnasium.registry for name in NAMES)
    assert all(game_class(name).version == ENV_VERSION for name in NAMES)


def test_importing_the_package_is_enough() -> None:
    code = f"import slopes_envs, gymnasium; print(gymnasium.make({gymnasium_id(NAMES[0])!r}).reset(seed=1)[1]['seat'])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "0"


def test_agents_are_loaded_only_when_asked_for() -> None:
    code = "import sys, slopes_envs.vector; print('slopes_agents' in sys.modules, 'torch' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["False", "False"]


@every_game
@pytest.mark.parametrize("seat", ["rotate", 0])
def test_gymnasium_finds_nothing_wrong(name: str, rules: dict[str, Any], seat: Any) -> None:
    check_env(gymnasium.make(gymnasium_id(name), seat=seat, **rules).unwrapped)


@every_game
def test_a_match_through_make_and_its_wrappers(name: str, rules: dict[str, Any]) -> None:
    env = gymnasium.make(gymnasium_id(name), **rules)
    _, info = env.reset(seed=SEED)
    env.action_space.seed(SEED)
    for _ in range(2000):
        _, reward, terminated, truncated, info = env.step(env.action_space.sample(info["action_mask"]))
        assert type(reward) is float and type(terminated) is bool and type(truncated) is bool
        if terminated or truncated:
            break
    assert (terminated or truncated) and info["scores"].shape == (make_game(name, **rules).num_players,)
    assert not info["illegal"] and not info["action_mask"].any() and not env.get_wrapper_attr("action_masks")().any()


# ------------------------------------------------------------------------------------------------- the same as the core


@every_game
@pytest.mark.parametrize("seat", ["rotate", 1])
def test_every_row_plays_the_matches_of_the_core(name: str, rules: dict[str, Any], seat: Any) -> None:
    game = make_game(name, **rules)
    done = played_in_batch(SlopesVectorEnv(game, 3, seat=seat), steps=75)
    assert sum(map(len, done)) >= 3
    for row, episodes in enumerate(done):
        for episode, expected in zip(episodes, episodes_on_core(game, row, seat), strict=False):
            assert_same_episode(episode, expected)


@every_game
def test_rewards_sum_to_the_score(name: str, rules: dict[str, Any]) -> None:
    game = make_game(name, **rules)
    for episodes in played_in_batch(SlopesVectorEnv(game, 4), steps=75):
        for episode in episodes:
            at_first = game.new(np.array([episode.seed], dtype=np.uint64)).scores[0, episode.seat]
            assert sum(episode.rewards) == episode.scores[episode.seat] - at_first


@every_game
def test_a_batch_is_its_singles(name: str, rules: dict[str, Any]) -> None:
    """Gymnasium's own vectorisation of single environments gives the same, down to the infos."""
    size = 3
    batch = SlopesVectorEnv(name, size, **rules)
    singles = SyncVectorEnv(
        [lambda row=row: SlopesEnv(name, row=row, **rules) for row in range(size)],
        autoreset_mode=AutoresetMode.SAME_STEP,
    )
    one, other = batch.reset(seed=SEED), singles.reset(seed=[SEED] * size)
    choose, ends = Chooser(), 0
    for step in range(45):
        assert np.array_equal(one[0], other[0]) and one[0].dtype == other[0].dtype
        assert all(np.array_equal(mine, theirs) for mine, theirs in zip(one[1:-1], other[1:-1], strict=True))
        assert data_equivalence(one[-1], other[-1], exact=True)
        ends += int(one[-1].get("_final_obs", np.zeros(size)).sum())
        actions = choose(one[-1]["action_mask"])
        if step % 9 == 4:
            actions[step % size] = 0  # often illegal
        one, other = batch.step(actions), singles.step(actions)
    assert ends >= 3
    assert batch.match_seeds.tolist() == [env.match_seed for env in singles.envs]


@every_game
def test_rows_do_not_depend_on_the_size_of_the_batch(name: str, rules: dict[str, Any]) -> None:
    small = played_in_batch(SlopesVectorEnv(name, 2, **rules), steps=40)
    large = played_in_batch(SlopesVectorEnv(name, 17, **rules), steps=40)
    for few, many in zip(small, large[:2], strict=True):
        for one, other in zip(few, many, strict=True):
            assert_same_episode(one, other)


@every_name
def test_seeds(name: str) -> None:
    env = SlopesVectorEnv(name, 3)
    rows = np.arange(3)
    env.reset(seed=5)
    assert np.array_equal(env.match_seeds, match_seed(5, rows, 0))
    env.reset()
    assert np.array_equal(env.match_seeds, match_seed(5, rows, 1))
    env.reset(seed=6)
    assert np.array_equal(env.match_seeds, match_seed(6, rows, 0))
    unseeded = [SlopesVectorEnv(name, 3) for _ in range(2)]
    for one in unseeded:
        one.reset()
    assert not np.array_equal(*(one.match_seeds for one in unseeded))
    single = SlopesEnv(name)
    single.reset(seed=5)
    single.reset()
    assert single.match_seed == match_seed(5, 0, 1)[0]


@every_game
@pytest.mark.parametrize("again", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))], ids=["copy", "pickle"])
def test_copies_in_mid_play_go_on_alike(name: str, rules: dict[str, Any], again: Callable[[Any], Any]) -> None:
    for env in (SlopesVectorEnv(name, 3, **rules), TurnVectorEnv(name, 3, **rules)):
        env.reset(seed=SEED)
        choose = Chooser()
        for _ in range(4):
            env.step(choose(env.action_masks()))
        twin = again(env)
        for _ in range(30):
            actions = choose(env.action_masks())
            assert data_equivalence(env.step(actions), twin.step(actions), exact=True)


# --------------------------------------------------------------------------------------------------------- opponents


def uniformly(view: InformationSet) -> NDArray[np.int64]:
    return view.sample_legal()


@every_name
def test_opponents_of_every_kind(name: str) -> None:
    game = make_game(name, **hand(name))
    kinds = ["random", make_agent("random", game), uniformly, [uniformly] * (game.num_players - 1)]
    played = [played_in_batch(SlopesVectorEnv(game, 3, opponents=kind), steps=25) for kind in kinds]
    for other in played[1:]:
        for mine, theirs in zip(played[0], other, strict=True):
            for one, two in zip(mine, theirs, strict=True):
                assert_same_episode(one, two)


class Noting:
    """A random opponent that notes who it was asked for."""

    def __init__(self) -> None:
        self.seats: list[NDArray[np.int64]] = []

    def __call__(self, view: InformationSet) -> NDArray[np.int64]:
        self.seats.append(view.seats.copy())
        return view.sample_legal()


@every_name
def test_every_opponent_has_its_place_from_the_learners_left(name: str) -> None:
    game = make_game(name)
    players = [Noting() for _ in range(game.num_players - 1)]
    env = SlopesVectorEnv(game, 8, seat=1, opponents=players)
    env.reset(seed=SEED)
    choose = Chooser()
    for _ in range(30):
        env.step(choose(env.action_masks()))
    for place, player in enumerate(players):
        assert player.seats
        assert set(np.concatenate(player.seats).tolist()) == {(2 + place) % game.num_players}
    assert max(len(seats) for player in players for seats in player.seats) > 1  # asked for many matches at once


@every_name
def test_one_opponent_is_asked_once_for_all_its_seats(name: str) -> None:
    game = make_game(name)
    once, twice = Noting(), Noting()
    for opponents in (once, [twice] * (game.num_players - 1)):
        env = SlopesVectorEnv(game, 16, seat=0, opponents=opponents)
        env.reset(seed=SEED)
        for number in range(3):
            env.step(picks(env.action_masks(), np.full(16, number)))
    assert [seats.tolist() for seats in once.seats] == [seats.tolist() for seats in twice.seats]
    assert game.num_players == 2 or max(len(set(seats.tolist())) for seats in once.seats) > 1


@every_name
def test_agents_by_module_and_class(name: str) -> None:
    env = SlopesEnv(name, opponents="slopes_agents.random:RandomAgent:")
    env.reset(seed=SEED)
    for spec in ("slopes_agents.random:Rand", "no_such_module:RandomAgent", "slopes_agents.random", "random_agent:"):
        with pytest.raises(UnknownName, match=f"unknown agent '{spec}'.*module:Class"):
            SlopesEnv(name, opponents=spec)


class _Stranger:
    """An agent of another table."""

    def __init__(self, game: Any) -> None:
        self.game = game

    def act(self, view: InformationSet) -> NDArray[np.int64]:
        return view.sample_legal()


@every_name
def test_who_cannot_play_is_refused(name: str) -> None:
    game = make_game(name)
    others = game.num_players - 1
    with pytest.raises(UnknownName, match="unknown agent 'randum'; did you mean 'random'"):
        SlopesEnv(game, opponents="randum")
    with pytest.raises(ValueError, match=rf"opponents: expected one, or {others} .*got {others + 1}"):
        SlopesEnv(game, opponents=["random"] * (others + 1))
    with pytest.raises(TypeError, match=r"opponent: expected an agent's spec .* got 7"):
        SlopesEnv(game, opponents=7)
    with pytest.raises(TypeError, match=r"opponent: expected an agent's spec .* got <class"):
        SlopesEnv(game, opponents=_Stranger)
    with pytest.raises(ValueError, match="plays None, this is make_game"):
        SlopesEnv(game, opponents=_Stranger(None))
    with pytest.raises(UnknownName, match="unknown argument of agent RandomAgent 'worlds'"):
        SlopesEnv(game, opponents="random:worlds=3")


def test_an_agent_of_another_game_is_refused() -> None:
    class Other(game_class(NAMES[0])):  # type: ignore[misc]
        name = "another_game"

    agent = _Stranger(Other(game_class(NAMES[0]).rules_type()))
    with pytest.raises(ValueError, match=r"plays make_game\('another_game'\), this is make_game"):
        SlopesEnv(NAMES[0], opponents=agent)


@every_name
@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        (lambda view: np.zeros(len(view) + 1, dtype=int), ValueError, r"opponent <function.*whole-number actions"),
        (lambda view: np.zeros(len(view)), ValueError, "opponent <function.*got float64"),
        (lambda view: None, ValueError, "opponent <function.*whole-number actions"),
        (lambda view: np.full(len(view), 10_000), RuntimeError, "opponent <function.*action 10000 is not legal"),
        (lambda view: np.full(len(view), -1), RuntimeError, "opponent <function.*action -1 is not legal"),
    ],
)
def test_wrong_answers_of_opponents_are_told(
    name: str, answer: Callable[[InformationSet], Any], error: type[Exception], message: str
) -> None:
    env = SlopesVectorEnv(name, 4, opponents=answer)

    def play() -> None:
        env.reset(seed=SEED)
        for number in range(20):
            env.step(picks(env.action_masks(), np.full(4, number)))

    with pytest.raises(error, match=message):
        play()
    with pytest.raises(ResetNeeded):
        env.step(np.zeros(4, dtype=np.int64))


@every_name
def test_an_opponent_that_fails_within_a_step_leaves_a_reset_to_be_made(name: str) -> None:
    calls = []

    def fail_later(view: InformationSet) -> NDArray[np.int64]:
        calls.append(len(view))
        if len(calls) == 20:
            raise KeyError("lost my notes")
        return view.sample_legal()

    def play(steps: int) -> None:
        for number in range(steps):
            env.step(picks(env.action_masks(), np.full(2, number)))

    env = SlopesVectorEnv(name, 2, opponents=fail_later)
    env.reset(seed=SEED)
    assert len(calls) < 10
    with pytest.raises(KeyError, match="lost my notes"):
        play(40)
    with pytest.raises(ResetNeeded):
        play(1)
    env.reset()
    play(3)


# ---------------------------------------------------------------------------------------------- illegal actions, errors


def illegal(masks: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Legal actions but for the last row."""
    actions = masks.argmax(axis=1)
    actions[-1] = np.flatnonzero(~masks[-1])[0]
    return actions


def raising(name: str, size: int) -> list[SlopesVectorEnv | TurnVectorEnv]:
    return [SlopesVectorEnv(name, size, illegal="raise"), TurnVectorEnv(name, size)]


@every_name
@pytest.mark.parametrize("view", [0, 1], ids=["learner", "self-play"])
def test_an_illegal_action_that_raises_changes_nothing(name: str, view: int) -> None:
    env, untouched = raising(name, 3)[view], raising(name, 3)[view]
    for one in (env, untouched):
        one.reset(seed=SEED)
    choose = Chooser()
    for _ in range(20):
        with pytest.raises(IllegalAction, match="game 2 of the batch"):
            env.step(illegal(env.action_masks()))
        actions = choose(env.action_masks())
        assert data_equivalence(env.step(actions), untouched.step(actions), exact=True)


@every_name
def test_what_is_no_action_always_raises(name: str) -> None:
    for env in (*raising(name, 3), SlopesVectorEnv(name, 3)):
        env.reset(seed=SEED)
        for wrong in (-1, env.game.num_actions):
            with pytest.raises(IllegalAction, match=f"game 1 of the batch, .*action {wrong} is not legal"):
                env.step(np.array([env.action_masks()[0].argmax(), wrong, env.action_masks()[2].argmax()]))
        for wrong in (np.zeros(3), np.zeros(2, dtype=int), 0, [[0, 0, 0]]):
            with pytest.raises(ValueError, match=r"step expected whole-number actions of shape \(3,\)"):
                env.step(wrong)
    single = SlopesEnv(name, illegal="raise")
    single.reset(seed=SEED)
    with pytest.raises(IllegalAction):
        single.step(int(np.flatnonzero(~single.action_masks())[0]))
    with pytest.raises(ValueError, match="whole-number actions"):
        single.step(0.5)
    single.step(single.action_masks().argmax())


@every_name
def test_an_illegal_action_ends_the_match_of_its_row(name: str) -> None:
    env, legal = SlopesVectorEnv(name, 3), SlopesVectorEnv(name, 3)
    for one in (env, legal):
        one.reset(seed=SEED)
    before = env.step(picks(env.action_masks(), np.zeros(3, dtype=np.int64)))[0]
    legal.step(picks(legal.action_masks(), np.zeros(3, dtype=np.int64)))
    scores = env._tables.state.scores.copy()
    actions = illegal(env.action_masks())
    observations, rewards, terminated, truncated, infos = env.step(actions)
    actions[2] = legal.action_masks()[2].argmax()
    expected = legal.step(actions)
    assert terminated.tolist() == [False, False, True] and not truncated.any()
    assert rewards[2] == min(-1, env.game.reward_range[0])
    assert np.array_equal(observations[:2], expected[0][:2]) and np.array_equal(rewards[:2], expected[1][:2])
    assert np.array_equal(infos["final_obs"][2], before[2]) and infos["_final_obs"].tolist() == [False, False, True]
    final = infos["final_info"]
    assert final["illegal"].tolist() == [False, False, True] and np.array_equal(final["scores"][2], scores[2])
    assert not final["action_mask"].any()
    assert env.match_seeds[2] == match_seed(SEED, 2, 1)[0] and infos["action_mask"][2].any()
    assert np.array_equal(env.match_seeds[:2], legal.match_seeds[:2])


@every_name
def test_all_rows_may_be_illegal_at_once(name: str) -> None:
    env = SlopesVectorEnv(name, 2)
    env.reset(seed=SEED)
    actions = (~env.action_masks()).argmax(axis=1)
    *_, terminated, truncated, infos = env.step(actions)
    assert terminated.all() and not truncated.any() and infos["final_info"]["illegal"].all()
    single = SlopesEnv(name)
    single.reset(seed=SEED)
    observation, _, terminated, truncated, info = single.step(int(actions[0]))
    assert np.array_equal(observation, infos["final_obs"][0]) and terminated and not truncated and info["illegal"]
    assert not info["action_mask"].any() and not single.action_masks().any()
    with pytest.raises(ResetNeeded):
        single.step(0)


@every_name
def test_a_reset_is_needed(name: str) -> None:
    for env in (SlopesVectorEnv(name, 2), TurnVectorEnv(name, 2)):
        with pytest.raises(ResetNeeded, match=f"{name}: expected reset before step"):
            env.step(np.zeros(2, dtype=np.int64))
    single = SlopesEnv(name, **hand(name))
    with pytest.raises(ResetNeeded):
        single.step(0)
    _, info = single.reset(seed=1)
    while info["action_mask"].any():
        *_, info = single.step(single.action_space.sample(info["action_mask"]))
    with pytest.raises(ResetNeeded):
        single.step(0)
    single.reset()
    single.step(single.action_masks().argmax())


@every_name
def test_arguments_are_checked(name: str) -> None:
    game = make_game(name)
    for seat in (-1, game.num_players, True, 1.0, "left"):
        with pytest.raises(ValueError, match=f"seat: expected 0 to {game.num_players - 1}, 'rotate' or None, got"):
            SlopesEnv(name, seat=seat)  # type: ignore[arg-type]
    for size in (0, 2.0, True):
        with pytest.raises(ValueError, match="num_envs: expected a whole number of at least 1"):
            SlopesVectorEnv(name, size)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="num_envs: expected a whole number of at least 1"):
            TurnVectorEnv(name, size)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="row: expected a whole number of at least 0"):
        SlopesEnv(name, row=-1)
    with pytest.raises(ValueError, match="illegal: expected 'end' or 'raise', got 'ignore'"):
        SlopesEnv(name, illegal="ignore")
    with pytest.raises(UnknownName, match=f"unknown option of {name} 'macth'; did you mean 'match'"):
        SlopesEnv(name, macth="hand")
    with pytest.raises(RulesError, match="option match expected 'game' or 'hand', got 'round'"):
        SlopesVectorEnv(name, 2, match="round")
    with pytest.raises(ValueError, match=r"options \['match'\] beside a game that is made"):
        TurnVectorEnv(game, 2, match="hand")
    with pytest.raises(UnknownName, match="unknown game"):
        SlopesEnv("slopery")
    with pytest.raises(TypeError, match="render_mode: expected None, got 'human'"):
        SlopesEnv(name, render_mode="human")  # type: ignore[arg-type]
    for env in (SlopesEnv(name), SlopesVectorEnv(name, 2), TurnVectorEnv(name, 2)):
        with pytest.raises(ValueError, match=r"reset: expected no options, got \['deal'\]"):
            env.reset(options={"deal": 1})


# --------------------------------------------------------------------------------------------- episodes that never were


def odd(seeds: NDArray[np.uint64]) -> NDArray[np.bool_]:
    return seeds % np.uint64(2) == 1


def with_sudden_ends(name: str) -> Game[Any, Any]:
    """A game in which every move pays every seat one more, and matches of odd seeds are over with their first move."""

    class Sudden(game_class(name)):  # type: ignore[misc]
        def _apply(self, state: State, actions: NDArray[np.int64], rewards: NDArray[np.float32]) -> None:
            super()._apply(state, actions, rewards)
            rewards += 1
            state.seat[odd(state.seed)] = -1
            state.terminated[odd(state.seed)] = True

        _apply_to_one = Game._apply_to_one  # a single match, too, as above

    return Sudden(game_class(name).rules_type(**hand(name)))


@every_name
def test_a_match_without_a_decision_is_no_episode(name: str) -> None:
    game = with_sudden_ends(name)
    done = played_in_batch(SlopesVectorEnv(game, 4), steps=60)
    assert sum(map(len, done)) >= 8
    for row, episodes in enumerate(done):
        for episode, expected in zip(episodes, episodes_on_core(game, row), strict=False):
            assert_same_episode(episode, expected)
    seeds = [[episode.seed for episode in episodes] for episodes in done]
    assert any(some != match_seed(SEED, row, np.arange(len(some))).tolist() for row, some in enumerate(seeds))


@every_name
def test_a_seat_that_never_decides_is_told(name: str) -> None:
    class Stillborn(game_class(name)):  # type: ignore[misc]
        def _start(self, seeds: NDArray[np.uint64], scripts: Any) -> State:
            state: State = super()._start(seeds, scripts)
            state.seat[:] = -1
            state.terminated[:] = True
            return state

    with pytest.raises(RuntimeError, match=f"had no decision in {MOST_UNDECIDED} matches on end"):
        SlopesVectorEnv(Stillborn(game_class(name).rules_type()), 2).reset(seed=SEED)


# ----------------------------------------------------------------------------------------------------------- self-play


def with_matches_under_way(name: str, rules: dict[str, Any]) -> Game[Any, Any]:
    """A game whose matches begin up to eight moves after the deal, by their seed: a batch is in mixed phases."""

    class UnderWay(game_class(name)):  # type: ignore[misc]
        def _start(self, seeds: NDArray[np.uint64], scripts: Any) -> State:
            state: State = super()._start(seeds, scripts)
            for move in range(8):
                rows = np.flatnonzero((seeds % np.uint64(9) > move) & (state.seat >= 0))
                if len(rows):
                    part = state.take(rows)
                    self.step(part, self.sample_legal(part, derive(part.seed, move)))
                    going = np.flatnonzero(part.seat >= 0)
                    state.put(rows[going], part.take(going))
            return state

    return UnderWay(game_class(name).rules_type(**rules))


@dataclass
class Seats:
    """A match of self-play, kept seat by seat on the core."""

    state: State
    earned: NDArray[np.float64]


@every_game
def test_self_play_is_the_core_seat_by_seat(name: str, rules: dict[str, Any]) -> None:
    game = with_matches_under_way(name, rules)
    size, episodes, lengths = 4, [0] * 4, [0] * 4
    env = TurnVectorEnv(game, size)

    def begin(row: int) -> Seats:
        state = game.new(match_seed(SEED, row, episodes[row]))
        return Seats(state, np.zeros(game.num_players))

    tables = [begin(row) for row in range(size)]
    observations, infos = env.reset(seed=SEED)
    assert len({int(table.state.move[0]) for table in tables}) > 2
    while sum(episodes) < 4:
        actions = picks(infos["action_mask"], np.array(lengths))
        moved = infos["seat"]
        for row, table in enumerate(tables):
            assert moved[row] == table.state.seat[0]
            assert np.array_equal(observations[row], game.observe(table.state, table.state.seat)[0])
            assert np.array_equal(infos["action_mask"][row], game.legal(table.state)[0])
        observations, rewards, terminated, truncated, infos = env.step(actions)
        for row, table in enumerate(tables):
            outcome = game.step(table.state, actions[row : row + 1])
            lengths[row] += 1
            table.earned += outcome.rewards[0]
            assert np.array_equal(infos["rewards"][row], outcome.rewards[0])
            assert (terminated[row], truncated[row]) == (outcome.terminated[0], outcome.truncated[0])
            over = table.state.seat[0] < 0
            shown = moved[row] if over else table.state.seat[0]
            assert rewards[row] == pytest.approx(table.earned[shown])
            if over:
                final = infos["final_info"]
                assert np.allclose(final["rewards"][row], table.earned)
                assert np.array_equal(final["scores"][row], table.state.scores[0])
                assert final["seat"][row] == moved[row] and not final["action_mask"][row].any()
                assert np.array_equal(infos["final_obs"][row], game.observe(table.state, moved[row : row + 1])[0])
                episodes[row] += 1
                lengths[row] = 0
                tables[row] = begin(row)
            else:
                table.earned[shown] = 0
                assert "_final_obs" not in infos or not infos["_final_obs"][row]


@every_game
def test_what_a_seat_is_told_it_earned_sums_to_its_score(name: str, rules: dict[str, Any]) -> None:
    env = TurnVectorEnv(name, 6, **rules)
    _, infos = env.reset(seed=SEED)
    choose = Chooser()
    scores = env.game.new(env.match_seeds).scores.astype(float)
    told, at_once, ends = scores.copy(), scores.copy(), 0
    while ends < 6:
        _, rewards, terminated, truncated, infos = env.step(choose(infos["action_mask"]))
        over = terminated | truncated
        at_once += infos["rewards"]
        on = np.flatnonzero(~over)
        told[on, infos["seat"][on]] += rewards[on]
        for row in np.flatnonzero(over):
            told[row] += infos["final_info"]["rewards"][row]
            assert np.array_equal(told[row], infos["final_info"]["scores"][row])
            assert np.array_equal(at_once[row], infos["final_info"]["scores"][row])
            told[row] = at_once[row] = env.game.new(env.match_seeds[row : row + 1]).scores[0]
            ends += 1


@every_game
def test_self_play_repeats_itself(name: str, rules: dict[str, Any]) -> None:
    runs = []
    for _ in range(2):
        env = TurnVectorEnv(name, 4, **rules)
        seen: list[Any] = [env.reset(seed=SEED)]
        choose = Chooser()
        seen += [env.step(choose(env.action_masks())) for _ in range(60)]
        runs.append(seen)
    assert data_equivalence(runs[0], runs[1], exact=True)
    env.reset()
    assert np.array_equal(env.match_seeds != match_seed(SEED, np.arange(4), 0), np.ones(4, dtype=bool))


# ------------------------------------------------------------------------------------------------ callers and wrappers


@every_name
def test_what_is_returned_is_the_callers(name: str) -> None:
    env = SlopesVectorEnv(name, 3, **hand(name))
    untouched = SlopesVectorEnv(name, 3, **hand(name))
    for one in (env, untouched):
        one.reset(seed=SEED)
    choose = Chooser()
    for _ in range(40):
        actions = choose(env.action_masks())
        result = env.step(actions)
        assert data_equivalence(result, untouched.step(actions), exact=True)
        env.action_masks()[:] = False
        env.seats[:] = 0
        env.match_seeds[:] = 0
        for array in (*result[:4], *(value for value in result[4].values() if isinstance(value, np.ndarray))):
            array[:] = 0
    single = SlopesEnv(name)
    single.reset(seed=SEED)
    action = int(single.action_masks().argmax())
    single.action_masks()[:] = False
    assert not single.step(action)[-1].get("illegal", False)


@every_game
def test_gymnasiums_statistics_agree(name: str, rules: dict[str, Any]) -> None:
    """Of the first episode of every row: Gymnasium 1.2 loses a step of later ones under SAME_STEP."""
    env = RecordEpisodeStatistics(SlopesVectorEnv(name, 3, **rules))
    done = played_in_batch(SlopesVectorEnv(name, 3, **rules), steps=60)
    _, infos = env.reset(seed=SEED)
    number, seen = 0, {}
    while len(seen) < 3:
        _, _, terminated, truncated, infos = env.step(picks(infos["action_mask"], np.full(3, number)))
        number += 1
        for row in np.flatnonzero(terminated | truncated):
            assert infos["_episode"][row]
            seen.setdefault(int(row), (infos["episode"]["r"][row], infos["episode"]["l"][row]))
    for row, statistics in seen.items():
        assert statistics == pytest.approx((sum(done[row][0].rewards), len(done[row][0].rewards)))
