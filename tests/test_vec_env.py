"""The native VecEnv of Stable-Baselines3, for every game of the registry."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv, VecMonitor, VecNormalize

from slopes_envs import IllegalAction, InformationSet, RulesError, UnknownName, game_names, make_game, match_seed
from slopes_envs.registry import game_class
from slopes_envs.vector import SlopesEnv, SlopesVectorEnv, gymnasium_id
from slopes_training.vec_env import SlopesVecEnv

NAMES = game_names()
SEED = 11
every_name = pytest.mark.parametrize("name", NAMES)


class Chooser:
    """Uniformly random legal actions for the rows of a batch."""

    def __init__(self) -> None:
        self.rng = np.random.default_rng(SEED)

    def __call__(self, masks: NDArray[Any]) -> NDArray[np.int64]:
        return np.where(masks, self.rng.random(masks.shape), -1).argmax(axis=1)


def options(name: str, **wanted: Any) -> dict[str, Any]:
    """Those of some options that a game has."""
    known = {spec.name for spec in fields(game_class(name).rules_type)}
    return {key: value for key, value in wanted.items() if key in known}


def hand(name: str) -> dict[str, Any]:
    """Single hands, short ones."""
    return options(name, match="hand", max_turns=12)


def cut_off(name: str) -> dict[str, Any]:
    """Matches that are truncated as early as can be."""
    return options(name, max_hands=1, max_turns=1)


# ---------------------------------------------------------------------------------------------- the same as other views


@every_name
@pytest.mark.parametrize("rules_of", [hand, lambda name: {}], ids=["hand", "match"])
def test_it_is_the_gymnasium_view(name: str, rules_of: Callable[[str], dict[str, Any]]) -> None:
    size, rules = 5, rules_of(name)
    env, view = SlopesVecEnv(name, size, seed=SEED, **rules), SlopesVectorEnv(name, size, **rules)
    choose, returns, lengths = Chooser(), np.zeros(size), np.zeros(size, dtype=int)
    assert np.array_equal(env.reset(), view.reset(seed=SEED)[0])
    for _ in range(60):
        masks = env.action_masks()
        assert np.array_equal(masks, view.action_masks())
        actions = choose(masks)
        observations, rewards, dones, infos = env.step(actions)
        expected = view.step(actions)
        returns += expected[1]
        lengths += 1
        assert observations.dtype == np.uint8 and np.array_equal(observations, expected[0])
        assert rewards.dtype == np.float32 and np.array_equal(rewards, expected[1])
        assert np.array_equal(dones, expected[2] | expected[3])
        for row, info in enumerate(infos):
            if not dones[row]:
                assert info == {}
                continue
            assert sorted(info) == ["TimeLimit.truncated", "episode", "terminal_observation"]
            assert np.array_equal(info["terminal_observation"], expected[4]["final_obs"][row])
            assert info["TimeLimit.truncated"] is bool(expected[3][row])
            assert info["episode"] == {"r": pytest.approx(returns[row]), "l": lengths[row]}
            returns[row] = lengths[row] = 0


@pytest.mark.parametrize("name", [name for name in NAMES if cut_off(name)])
def test_truncation_is_told_apart(name: str) -> None:
    env = SlopesVecEnv(name, 4, seed=SEED, **cut_off(name))
    view = SlopesVectorEnv(name, 4, **cut_off(name))
    env.reset()
    view.reset(seed=SEED)
    choose, told = Chooser(), set()
    for _ in range(40):
        actions = choose(env.action_masks())
        _, _, dones, infos = env.step(actions)
        truncated = view.step(actions)[3]
        for row in np.flatnonzero(dones):
            assert infos[row]["TimeLimit.truncated"] == truncated[row]
            told.add(infos[row]["TimeLimit.truncated"])
    assert True in told


@every_name
def test_seeding(name: str) -> None:
    rows = np.arange(3)
    env = SlopesVecEnv(name, 3, seed=5)

    def seeds() -> NDArray[np.uint64]:
        env.reset()
        return env.env.match_seeds

    assert np.array_equal(seeds(), match_seed(5, rows, 0))
    assert np.array_equal(seeds(), match_seed(5, rows, 1))
    assert env.seed(6) == [6, 6, 6]
    assert np.array_equal(seeds(), match_seed(6, rows, 0))
    drawn = env.seed()
    assert len(set(drawn)) == 1
    assert np.array_equal(seeds(), match_seed(drawn[0], rows, 0))
    assert env.seed() != drawn
    unseeded = [SlopesVecEnv(name, 3) for _ in range(2)]
    first = [(other.reset(), other.env.match_seeds)[1] for other in unseeded]
    assert not np.array_equal(*first)


@every_name
def test_a_reset_in_mid_play_begins_new_episodes(name: str) -> None:
    env = SlopesVecEnv(name, 2, seed=SEED, **hand(name))
    env.reset()
    choose = Chooser()
    env.step(choose(env.action_masks()))
    env.reset()
    steps = 0
    while True:
        _, _, dones, infos = env.step(choose(env.action_masks()))
        steps += 1
        if dones[0]:
            assert infos[0]["episode"]["l"] == steps
            break


@every_name
def test_infos_are_the_callers(name: str) -> None:
    env = SlopesVecEnv(name, 3, seed=SEED)
    env.reset()
    choose = Chooser()
    _, _, dones, infos = env.step(choose(env.action_masks()))
    assert not dones.any()
    infos[0]["mine"] = 1
    assert infos[1] == {} and infos[2] == {}
    assert env.step(choose(env.action_masks()))[3] == [{}, {}, {}]


# -------------------------------------------------------------------------------------------- what SB3 asks of a VecEnv


@every_name
def test_action_masks_come_as_one_array(name: str) -> None:
    env = SlopesVecEnv(name, 4, seed=SEED)
    env.reset()
    assert is_masking_supported(env)
    masks = env.env_method("action_masks")
    assert isinstance(masks, np.ndarray) and masks.dtype == bool and masks.shape == (4, env.game.num_actions)
    stacked = get_action_masks(env)
    assert stacked.shape == masks.shape and np.array_equal(stacked, masks)
    assert np.array_equal(env.env_method("action_masks", indices=[3, 0]), masks[[3, 0]])
    assert np.array_equal(env.env_method("action_masks", indices=-1), masks[[-1]])
    masks[:] = False
    assert env.action_masks().any(axis=1).all()
    with pytest.raises(IndexError, match="indices: expected rows of a batch of 4, got 4"):
        env.env_method("action_masks", indices=[4])


@every_name
def test_attributes_and_methods(name: str) -> None:
    env = SlopesVecEnv(name, 3, seed=SEED)
    env.reset()
    assert env.get_attr("game") == [env.game] * 3 and env.get_attr("game", indices=1) == [env.game]
    assert env.get_attr("render_mode") == [None] * 3 and env.render_mode is None
    assert env.has_attr("spec") and not env.has_attr("no_such_thing")
    with pytest.raises(AttributeError):
        env.get_attr("no_such_thing")
    env.set_attr("label", "mine")
    env.set_attr("label", "ours", indices=[2, 0, 1])
    assert env.get_attr("label", indices=[0, 2]) == ["ours", "ours"]
    with pytest.raises(ValueError, match=r"set_attr\('label'\): expected all 3 rows, which are one environment, got 1"):
        env.set_attr("label", "theirs", indices=1)
    assert env.get_attr("label") == ["ours"] * 3
    assert env.env_method("__repr__") == [repr(env.env)] * 3
    with pytest.raises(ValueError, match=r"env_method\('reset'\): expected all 3 rows"):
        env.env_method("reset", indices=[0])
    assert env.env_is_wrapped(Monitor) == [True] * 3 and env.env_is_wrapped(Monitor, indices=[0]) == [True]
    assert env.env_is_wrapped(gymnasium.wrappers.TimeLimit) == [False] * 3
    env.close()
    env.close()


@every_name
def test_wrappers_of_stable_baselines3(name: str) -> None:
    plain = SlopesVecEnv(name, 3, seed=SEED, **hand(name))
    with pytest.warns(UserWarning, match="already wrapped with a `Monitor`"):
        monitored = VecMonitor(SlopesVecEnv(name, 3, seed=SEED, **hand(name)))
    normalised = VecNormalize(SlopesVecEnv(name, 3, seed=SEED, **hand(name)), norm_obs=False, gamma=1.0)
    choose, ends = Chooser(), 0
    for env in (plain, monitored, normalised):
        env.reset()
    for _ in range(40):
        actions = choose(get_action_masks(plain))
        assert np.array_equal(get_action_masks(normalised), get_action_masks(monitored))
        mine, theirs, scaled = (env.step(actions) for env in (plain, monitored, normalised))
        for row in np.flatnonzero(mine[2]):
            episode = mine[3][row]["episode"]
            assert {key: theirs[3][row]["episode"][key] for key in "rl"} == pytest.approx(episode)
            assert scaled[3][row]["episode"] == episode
            ends += 1
    assert ends > 0


@every_name
def test_errors(name: str) -> None:
    with pytest.raises(UnknownName, match="unknown agent 'randum'; did you mean 'random'"):
        SlopesVecEnv(name, 2, opponents="randum")
    with pytest.raises(RulesError, match="option match"):
        SlopesVecEnv(name, 2, match="round")
    with pytest.raises(ValueError, match="num_envs: expected a whole number of at least 1, got 0"):
        SlopesVecEnv(name, 0)
    env = SlopesVecEnv(name, 2, seed=SEED)
    with pytest.raises(ResetNeeded):
        env.step(np.zeros(2, dtype=np.int64))
    env.reset()
    masks = env.action_masks()
    wrong = masks.argmax(axis=1)
    wrong[1] = (~masks[1]).argmax()
    with pytest.raises(IllegalAction, match="game 1 of the batch"):
        env.step(wrong)
    assert np.array_equal(env.action_masks(), masks)
    env.step(masks.argmax(axis=1))
    env.set_options({"deal": 1})
    with pytest.raises(ValueError, match=r"reset: expected no options, got \['deal'\]"):
        env.reset()


@every_name
def test_copies_in_mid_play_go_on_alike(name: str) -> None:
    env = SlopesVecEnv(name, 3, seed=SEED, **hand(name))
    env.reset()
    choose = Chooser()
    for _ in range(3):
        env.step(choose(env.action_masks()))
    twin = copy.deepcopy(env)
    for _ in range(20):
        actions = choose(env.action_masks())
        for mine, theirs in zip(env.step(actions)[:3], twin.step(actions)[:3], strict=True):
            assert np.array_equal(mine, theirs)


# ------------------------------------------------------------------------------------------------------------- learning


def learner(env: Any, **settings: Any) -> MaskablePPO:
    settings = {"n_steps": 16, "batch_size": 64, "n_epochs": 1, "seed": 3, "device": "cpu", **settings}
    return MaskablePPO("MlpPolicy", env, policy_kwargs={"net_arch": [8]}, **settings)


@every_name
@pytest.mark.parametrize(
    ("make", "decisions"),
    [
        (lambda name: SlopesVecEnv(name, 8, **hand(name)), 384),
        (lambda name: DummyVecEnv([lambda: gymnasium.make(gymnasium_id(name), **hand(name))]), 64),
    ],
    ids=["native", "gymnasium"],
)
def test_stock_maskable_ppo_learns(name: str, make: Callable[[str], Any], decisions: int, tmp_path: Path) -> None:
    model = learner(make(name))
    before = {key: value.clone() for key, value in model.policy.state_dict().items()}
    model.learn(decisions)
    assert model.num_timesteps >= decisions
    assert any(not value.equal(before[key]) for key, value in model.policy.state_dict().items())
    model.save(tmp_path / "model.zip")
    again = MaskablePPO.load(tmp_path / "model.zip", env=make(name), device="cpu")
    assert again.num_timesteps == model.num_timesteps


@every_name
def test_learning_repeats_itself_and_keeps_statistics(name: str) -> None:
    models = [learner(SlopesVecEnv(name, 8, **hand(name)), n_steps=32).learn(256) for _ in range(2)]
    one, other = (model.policy.state_dict() for model in models)
    assert all(value.equal(other[key]) for key, value in one.items())
    assert models[0].ep_info_buffer and list(models[0].ep_info_buffer) == list(models[1].ep_info_buffer)


@every_name
def test_evaluating_needs_no_monitor_and_a_model_can_be_an_opponent(name: str) -> None:
    game = make_game(name, **hand(name))
    model = learner(SlopesVecEnv(game, 4))

    def play(view: InformationSet) -> Any:
        return model.predict(view.observations, action_masks=view.legal, deterministic=True)[0]

    judge = SlopesVecEnv(game, 4, opponents=play, seed=SEED)
    returns, lengths = evaluate_policy(model, judge, n_eval_episodes=8, return_episode_rewards=True)
    assert len(returns) == len(lengths) == 8 and min(lengths) >= 1
    single = SlopesEnv(game, opponents=play, illegal="raise")
    _, info = single.reset(seed=SEED)
    earned = 0.0
    while info["action_mask"].any():
        action = model.predict(single._observation(), action_masks=single.action_masks(), deterministic=True)[0]
        _, reward, _, _, info = single.step(int(action))
        earned += reward
    assert earned == pytest.approx(returns[0])
