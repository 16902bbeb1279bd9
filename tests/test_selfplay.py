"""Training: per-seat credit, saving and resuming, the network, configurations."""

from __future__ import annotations

import io
import os
import signal
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from rich.console import Console

from slopes_agents import make_agent
from slopes_agents.network import NetworkShape, masked_log_probabilities
from slopes_agents.weights_file import CheckpointError
from slopes_envs import InformationSet, game_names, make_game, match_seed
from slopes_training.advantages import seat_advantages
from slopes_training.config import TrainingConfig, default_config_path, dump_config, load_config
from slopes_training.policies import SelfPlayPolicy
from slopes_training.selfplay import Diverged, SelfPlayMaskablePPO
from slopes_training.tables import SelfPlayEnv, Tables
from slopes_training.train import prepare, run

SMALL = [
    "games=16",
    "moves=33",
    "network={layers: [16]}",
    "minibatch=256",
    "threads=1",
    "evaluation.every=100000",
    "evaluation.deals=20",
    "evaluation.opponents=[random]",
]
UPDATE = 16 * 33


def quiet() -> Console:
    return Console(file=io.StringIO())


def train(out: Path, updates: int, **options: Any) -> SelfPlayMaskablePPO:
    return run(
        "slippery_slope", out=out, decisions=UPDATE * updates, overrides=SMALL, seed=3, console=quiet(), **options
    )


def small_model(**changes: Any) -> SelfPlayMaskablePPO:
    env = SelfPlayEnv([Tables(make_game("slippery_slope", match="hand"), 16, seed=1)])
    options = {"network": NetworkShape((16,)), "n_steps": 33, "batch_size": 256, "seed": 1, "device": "cpu"}
    return SelfPlayMaskablePPO(SelfPlayPolicy, env, **(options | changes))


def same_weights(one: SelfPlayMaskablePPO, other: SelfPlayMaskablePPO) -> bool:
    left, right = one.policy.state_dict(), other.policy.state_dict()
    return all(torch.equal(left[name], right[name]) for name in left)


# -- credit ----------------------------------------------------------------------------------------------------------


def naive_advantages(rollout: Any, gamma: float, gae_lambda: float) -> dict[tuple[int, int], float]:
    """GAE written down seat by seat and match by match."""
    moves, games, seats = rollout.rewards.shape
    found = {}
    for game in range(games):
        ends = [t for t in range(moves) if rollout.ended[t, game]]
        starts = [0, *[t + 1 for t in ends]]
        for first, end in zip(starts, [*ends, None], strict=True):
            last = moves - 1 if end is None else end
            for seat in range(seats):
                own = [t for t in range(first, last + 1) if rollout.seats[t, game] == seat]
                advantage = 0.0
                for nth in range(len(own) - 1, -1, -1):
                    t, final = own[nth], nth == len(own) - 1
                    if final and end is None:
                        continue  # what comes of it is not known
                    until = last if final else own[nth + 1] - 1
                    earned = rollout.rewards[t : until + 1, game, seat].sum()
                    after = rollout.end_values[end, game, seat] if final else rollout.values[own[nth + 1], game]
                    error = earned + gamma * after - rollout.values[t, game]
                    advantage = error + gamma * gae_lambda * (0.0 if final else advantage)
                    found[t, game] = advantage
    return found


@pytest.mark.parametrize(("gamma", "gae_lambda"), [(1.0, 0.95), (0.9, 0.5), (1.0, 1.0), (0.99, 0.0)])
def test_advantages_follow_each_seat(gamma: float, gae_lambda: float) -> None:
    rng = np.random.default_rng(5)
    moves, games, seats = 23, 7, 3
    ended = rng.random((moves, games)) < 0.15
    rollout = SimpleNamespace(
        seats=rng.integers(0, seats, (moves, games)),
        learned=np.ones((moves, games), dtype=bool),
        values=rng.normal(size=(moves, games)).astype(np.float32),
        rewards=rng.normal(size=(moves, games, seats)).astype(np.float32),
        ended=ended,
        end_values=np.where(ended[:, :, None], rng.normal(size=(moves, games, seats)), 0).astype(np.float32),
    )
    result = seat_advantages(rollout, gamma, gae_lambda)
    expected = naive_advantages(rollout, gamma, gae_lambda)
    assert {(int(t), int(b)) for t, b in np.argwhere(result.used)} == set(expected)
    for place, advantage in expected.items():
        assert result.advantages[place] == pytest.approx(advantage, abs=1e-4)
        assert result.returns[place] == pytest.approx(advantage + rollout.values[place], abs=1e-4)


def test_with_lambda_one_the_target_is_what_the_seat_still_scores() -> None:
    model = small_model(gae_lambda=1.0, gamma=1.0, n_steps=66)
    model._setup_learn(10_000)
    model.collect_rollouts(model.env, model._init_callback(None), None, 66)
    result = seat_advantages(model._rollout, 1.0, 1.0)
    assert result.used.all()  # the rollout is exactly two hands
    for t in range(66):
        end = 32 if t < 33 else 65
        scores = model._rollout.rewards[end, np.arange(16), model._rollout.seats[t]]
        assert np.allclose(result.returns[t], scores, atol=1e-4)


@pytest.mark.parametrize("used", [1, 2, 255, 257, 512])
def test_minibatches_of_any_size_keep_the_network_finite(used: int) -> None:
    model = small_model(batch_size=256)
    model._setup_learn(10_000)
    model.collect_rollouts(model.env, model._init_callback(None), None, 33)
    whole = seat_advantages(model._rollout, 1.0, 0.95)
    kept = np.zeros(33 * 16, dtype=bool)
    kept[:used] = True
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("slopes_training.clipped.seat_advantages", lambda *_: whole._replace(used=kept.reshape(33, 16)))
        model.train()
    assert all(torch.isfinite(tensor).all() for tensor in model.policy.state_dict().values())


def test_a_loss_that_is_not_finite_stops_the_run() -> None:
    model = small_model()
    model._setup_learn(10_000)
    model.collect_rollouts(model.env, model._init_callback(None), None, 33)
    model._rollout.rewards[5, 3] = np.nan
    with pytest.raises(Diverged, match="training has diverged: the loss is nan after 528 decisions"):
        model.train()
    assert all(torch.isfinite(tensor).all() for tensor in model.policy.state_dict().values())


def test_reward_kinds() -> None:
    rewards = np.array([[3, -1, -2], [0, 0, 6]], dtype=np.float32)
    (tables,) = small_model().env.tables
    assert np.allclose(small_model(reward_scale=2.0)._shaped(tables, rewards), rewards / 2)
    assert np.allclose(small_model(reward_kind="difference")._shaped(tables, rewards), [[4.5, -1.5, -3], [-3, -3, 6]])
    half = small_model(reward_kind="difference", rivalry=0.5)
    assert np.allclose(half._shaped(tables, rewards), [[3.75, -1.25, -2.5], [-1.5, -1.5, 6]])


def test_the_difference_is_between_teams() -> None:
    """A side's mean less that of the other sides: partners do not count against each other."""
    tables = Tables(make_game("sluff", match="hand"), 4)
    own = [seat in tables.game.teams[0] for seat in range(4)]
    rewards = np.where(own, 30.0, 10.0).astype(np.float32)[None]
    expected = np.where(own, 20.0, -20.0)[None]
    assert np.allclose(small_model(reward_kind="difference")._shaped(tables, rewards), expected)


# -- runs ------------------------------------------------------------------------------------------------------------


def test_a_resumed_run_goes_on_exactly(tmp_path: Path) -> None:
    whole = train(tmp_path / "whole", 4)

    class Stop:
        updates = 0

    def stop_after_two(self: Any) -> None:
        Stop.updates += 1
        if Stop.updates == 3:
            os.kill(os.getpid(), signal.SIGINT)
        original(self)

    from slopes_training.train import _Run

    original = _Run._on_rollout_start
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_Run, "_on_rollout_start", stop_after_two)
        stopped = train(tmp_path / "parts", 4)
    assert stopped.num_timesteps == 2 * UPDATE
    assert not same_weights(stopped, whole)
    resumed = run("slippery_slope", out=tmp_path / "parts", resume=True, console=quiet())
    assert resumed.num_timesteps == whole.num_timesteps == 4 * UPDATE
    assert same_weights(resumed, whole)
    assert np.array_equal(resumed.env.tables[0].state.hands, whole.env.tables[0].state.hands)
    lines = [(tmp_path / part / "log.csv").read_text().splitlines() for part in ("whole", "parts")]
    assert [line.split(",")[0] for line in lines[0]] == [line.split(",")[0] for line in lines[1]]


def test_the_same_seed_trains_the_same_policy(tmp_path: Path) -> None:
    torch.manual_seed(1)  # the state of global generators does not matter
    one = train(tmp_path / "one", 2)
    torch.manual_seed(2)
    np.random.seed(2)  # noqa: NPY002 - on purpose: nothing may depend on it
    state = torch.random.get_rng_state()
    other = train(tmp_path / "other", 2)
    assert torch.equal(torch.random.get_rng_state(), state)
    assert same_weights(one, other)


def test_a_run_leaves_what_the_interface_says(tmp_path: Path) -> None:
    model = train(tmp_path / "run", 2)
    names = {path.name.split(".")[0] for path in (tmp_path / "run").iterdir()}
    assert names == {"last", "best", "config", "log", "events"}
    config = load_config(tmp_path / "run" / "config.yaml")
    assert (config.seed, config.decisions, config.games) == (3, 2 * UPDATE, 16)
    assert load_config(tmp_path / "run" / "config.yaml", game="slippery_slope") == config
    game = model.env.game
    view = InformationSet(game, game.new(match_seed(9, np.arange(50))))
    for spec in (f"ppo:{tmp_path / 'run'}", f"ppo:{tmp_path / 'run' / 'last.zip'}"):
        agent = make_agent(spec, game)
        assert game.legal(game.new(match_seed(9, np.arange(50))))[np.arange(50), agent.act(view)].all()
        assert np.allclose(agent.probabilities(view).sum(axis=1), 1)


def test_a_run_is_never_written_over(tmp_path: Path) -> None:
    train(tmp_path / "run", 1)
    before = (tmp_path / "run" / "last.zip").read_bytes()
    with pytest.raises(ValueError, match="holds a run already"):
        train(tmp_path / "run", 1)
    assert (tmp_path / "run" / "last.zip").read_bytes() == before
    with pytest.raises(ValueError, match="give no other options"):
        run("slippery_slope", out=tmp_path / "run", resume=True, decisions=5, console=quiet())
    with pytest.raises(ValueError, match="no such file"):
        run("slippery_slope", out=tmp_path / "none", resume=True, console=quiet())
    with pytest.raises(ValueError, match="not both"):
        run("slippery_slope", out=tmp_path / "none", minutes=1, decisions=1, console=quiet())
    assert not (tmp_path / "none").exists()


def test_a_run_in_minutes_ends_in_time(tmp_path: Path) -> None:
    model = run("slippery_slope", out=tmp_path / "run", minutes=0.02, overrides=SMALL, console=quiet())
    assert model.trained_seconds >= 1.2
    assert model._current_progress_remaining < 0.5


def test_stable_baselines_saves_and_loads_it(tmp_path: Path) -> None:
    model = small_model()
    model.learn(2 * UPDATE)
    model.save(tmp_path / "model.zip")
    env = SelfPlayEnv([Tables(model.env.game, 16, seed=1)])
    loaded = SelfPlayMaskablePPO.load(tmp_path / "model.zip", env=env)
    assert same_weights(model, loaded)
    assert np.array_equal(env.tables[0].state.hands, model.env.tables[0].state.hands)
    observations = model.env.observe()
    masks = model.env.env_method("action_masks")
    assert np.array_equal(
        model.predict(observations, deterministic=True, action_masks=masks)[0],
        loaded.predict(observations, deterministic=True, action_masks=masks)[0],
    )


def test_a_save_that_fails_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = small_model()
    model.save(tmp_path / "model.zip")
    before = (tmp_path / "model.zip").read_bytes()
    monkeypatch.setattr(zipfile.ZipFile, "writestr", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        model.save(tmp_path / "model.zip")
    assert (tmp_path / "model.zip").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["model.zip"]


def test_truncated_matches_are_valued_by_the_network() -> None:
    env = SelfPlayEnv([Tables(make_game("slippery_slope", max_hands=1, target_score=1000), 16, seed=1)])
    model = SelfPlayMaskablePPO(SelfPlayPolicy, env, network=NetworkShape((16,)), n_steps=33, device="cpu")
    model._setup_learn(10_000)
    model.collect_rollouts(env, model._init_callback(None), None, 33)
    assert model._rollout.ended[32].all()
    assert (model._rollout.end_values[32] != 0).all()
    assert not model._rollout.end_values[:32].any()


def test_rollouts_keep_one_byte_a_feature() -> None:
    model = small_model()
    model._setup_learn(10_000)
    model.collect_rollouts(model.env, model._init_callback(None), None, 33)
    assert model._rollout.observations.dtype == np.uint8
    assert model._rollout.legal.dtype == np.bool_
    acted = np.take_along_axis(model._rollout.legal, model._rollout.actions[:, :, None], axis=2)
    assert acted.all()


# -- network and checkpoints -----------------------------------------------------------------------------------------


def test_illegal_actions_have_no_chance() -> None:
    logits = torch.randn(50, 9, generator=torch.Generator().manual_seed(1)) * 30
    legal = torch.rand(50, 9, generator=torch.Generator().manual_seed(2)) < 0.4
    legal[:, 0] = True
    chances = masked_log_probabilities(logits, legal).exp()
    assert torch.allclose(chances.sum(dim=1), torch.ones(50))
    assert not chances[~legal].any()


def test_sampling_follows_the_policy() -> None:
    policy = small_model().policy
    game = make_game("slippery_slope", match="hand")
    state = game.new(match_seed(1, np.zeros(20_000, dtype=int)))
    observations, legal = torch.from_numpy(game.observe(state, state.seat)), torch.from_numpy(game.legal(state))
    with torch.no_grad():
        policy.action_net.weight.mul_(100)
        encoded = policy.extract_features(observations)
        actions, _, log_probs = policy.sample(encoded, legal, torch.Generator().manual_seed(1))
        _, again, entropy = policy.evaluate_actions(observations, actions, legal)
        logits, _ = policy.logits_and_values(observations[:1])
    chances = masked_log_probabilities(logits, legal[:1]).exp()[0].numpy()
    frequencies = np.bincount(actions.numpy(), minlength=41) / 20_000
    assert np.abs(frequencies - chances).max() < 0.015
    assert torch.allclose(log_probs, again, atol=1e-5)
    assert entropy[0].item() == pytest.approx(-(chances * np.log(np.maximum(chances, 1e-30))).sum(), abs=1e-4)


def test_planes_can_be_left_out() -> None:
    game = make_game("slippery_slope")
    shape = NetworkShape((8,), ("scores", "hand_number"))
    seen = shape.seen(game.observation)
    assert len(seen) == game.observation.size - sum(game.observation.planes[name].size for name in shape.left_out)
    assert NetworkShape.from_json(shape.as_json()) == shape
    with pytest.raises(ValueError, match="not in the observation"):
        NetworkShape((8,), ("score",)).seen(game.observation)


@pytest.mark.parametrize("content", [b"", b"not a zip", None])
def test_wrong_checkpoints_are_refused(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "some.zip"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(CheckpointError, match=r"checkpoint .*some\.zip: "):
        make_agent(f"ppo:{path}", make_game("slippery_slope"))
    small_model().save(path)
    with pytest.raises(ValueError, match="mode expected greedy or sample, got 'best'"):
        make_agent(f"ppo:{path},mode=best", make_game("slippery_slope"))


# -- configurations --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in game_names() if default_config_path(name)])
def test_shipped_configurations_are_right(name: str, tmp_path: Path) -> None:
    config = load_config(default_config_path(name), game=name)
    (tmp_path / "again.yaml").write_text(dump_config(config))
    assert load_config(tmp_path / "again.yaml") == config


def test_the_seed_is_the_configuration_s_unless_one_is_given(tmp_path: Path) -> None:
    for given, expected in ((None, 5), (3, 3)):
        out = tmp_path / str(given)
        prepared = prepare("slippery_slope", out=out, overrides=["seed=5", "games=8"], seed=given, console=quiet())
        assert prepared.model.seed == prepared.settings.seed == expected
        assert f"--seed {expected}" in prepared.model.provenance["command"]


@pytest.mark.parametrize(
    ("override", "reason"),
    [
        ("epohcs=3", "unknown field 'epohcs'; did you mean 'epochs'"),
        ("games=0", "games: Input should be greater than 0, got 0"),
        ("games", "--set expected key=value, got 'games'"),
        ("network={layers: []}", "network.layers"),
        ("network.left_out=[score]", "unknown plane in network.left_out 'score'"),
        ("network.layers.x=3", "layers has no inner fields"),
        ("rules.match=day", "option match expected"),
        ("entropy.start=-1", "entropy.start: Input should be greater than or equal to 0, got -1"),
        ("reward=points", "reward: Input should be 'score' or 'difference', got 'points'"),
        ("rivalry=0.5", "rivalry is for reward: difference"),
        ("game=chess", "unknown game 'chess'"),
    ],
)
def test_wrong_configurations_are_refused(override: str, reason: str) -> None:
    with pytest.raises(ValueError) as caught:
        load_config(default_config_path("slippery_slope"), [override])
    assert reason in str(caught.value)


@pytest.mark.parametrize("text", ["", "- a", "a: [", "game: 3"])
def test_files_that_are_no_configuration_are_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "config.yaml").write_text(text)
    with pytest.raises(ValueError, match=r"configuration .*config\.yaml: "):
        load_config(tmp_path / "config.yaml")


def test_schedules_go_evenly() -> None:
    config = TrainingConfig(game="slippery_slope")
    assert config.learning_rate.at(1.0) == config.learning_rate.start
    assert config.learning_rate.at(0.0) == config.learning_rate.end
    assert config.entropy.at(0.5) == pytest.approx((config.entropy.start + config.entropy.end) / 2)
