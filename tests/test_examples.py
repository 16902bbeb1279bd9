"""The examples of training: each runs, learns, and says what is wrong with its arguments."""

from __future__ import annotations

import io
import itertools
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import optuna
import pytest
import torch
from numpy.typing import NDArray
from rich.console import Console
from sb3_contrib import MaskablePPO
from tensordict import TensorDict
from typer.testing import CliRunner

from slopes_agents import Agent, make_agent
from slopes_envs import Game, InformationSet, make_game
from slopes_training.config import load_config
from slopes_training.examples import maskable_ppo, sweep
from slopes_training.train import _Run
from slopes_training.vec_env import SlopesVecEnv
from slopes_training.watch import advantage_over

# -- stock MaskablePPO -----------------------------------------------------------------------------------------------


class Stock(Agent):
    """Plays the likeliest action of a model of sb3-contrib."""

    def __init__(self, game: Game[Any, Any], model: MaskablePPO) -> None:
        super().__init__(game)
        self.model = model

    def act(self, view: InformationSet) -> NDArray[np.int64]:
        return self.model.predict(view.observations, action_masks=view.legal, deterministic=True)[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "decisions", "margin"), [("slippery_slope", 20_000, 1.5), ("slippery_sam", 10_000, 2.0)]
)
def test_stock_maskable_ppo_beats_random(name: str, decisions: int, margin: float) -> None:
    """In points a hand above random players, at three standard errors below the mean."""
    env = SlopesVecEnv(name, 64, opponents="random", match="hand")
    model = maskable_ppo.make_model(env, seed=1)
    model.verbose = 0
    model.learn(decisions)
    mean, error, _ = advantage_over(env.game, Stock(env.game, model), make_agent("random", env.game), 1_000, 1)
    assert mean - 3 * error > margin


def test_stock_maskable_ppo_as_a_command(tmp_path: Path) -> None:
    out = tmp_path / "made" / "model.zip"
    arguments = ["--decisions", "256", "--num-envs", "8", "--hands", "16", "--out", str(out)]
    run = CliRunner().invoke(maskable_ppo.app, ["slippery_slope", *arguments])
    assert run.exit_code == 0, run.output
    assert "before training: " in run.output and "after training: " in run.output
    assert MaskablePPO.load(out, device="cpu").num_timesteps >= 256
    wrong = CliRunner().invoke(maskable_ppo.app, ["slippery_slope", "--opponents", "randum"])
    assert wrong.exit_code == 2 and "did you mean" in wrong.output


# -- TorchRL on the PettingZoo environment -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def torchrl_aec() -> ModuleType:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # importing it, TorchRL warns of its own code
        from slopes_training.examples import torchrl_aec
    return torchrl_aec


@pytest.mark.slow
def test_torchrl_beats_random(torchrl_aec: ModuleType) -> None:
    """In chips a bank above random players, at three standard errors below the mean."""
    player = torchrl_aec.train("slippery_sam", 1_500, seed=1, steps=300, reward_scale=30.0, match="hand")
    mean, error, _ = advantage_over(player.game, player, make_agent("random", player.game), 2_000, 1)
    assert mean - 3 * error > 2.0


@pytest.mark.parametrize("rules", [{"match": "hand"}, {"max_hands": 1}], ids=["ended", "cut off"])
def test_torchrl_learns_from_each_seats_own_decisions(torchrl_aec: ModuleType, rules: dict[str, Any]) -> None:
    """The record of some matches, taken apart by its definition: seat by seat and match by match."""
    env = torchrl_aec.make_env("slippery_slope", 5, **rules)
    torch.manual_seed(5)
    record = env.rollout(3 * 33 + 10, break_when_any_done=False)
    record["seats", "action_log_prob"] = torch.arange(record["seats", "action"].numel()).reshape(-1, 3).float()
    expected = []
    steps = len(record)
    ended = record["next", "done"].flatten().tolist()
    acted = record["seats", "mask"].int().argmax(dim=1).tolist()
    rewards = record["next", "seats", "reward"][:, :, 0]
    for seat in range(3):
        own = [t for t in range(steps) if acted[t] == seat]
        found = []
        for t, following in itertools.pairwise([*own, steps]):
            end = next((s for s in range(t, following) if ended[s]), None)
            if end is None and following == steps:
                continue
            until = following if end is None else end + 1
            moment = ("seats", following) if end is None else ("next", end)
            found.append((t, rewards[t:until, seat].sum().item(), moment, end is not None))
        expected += [(seat, *each, number == len(found) - 1) for number, each in enumerate(found)]
    batch: TensorDict = torchrl_aec.seat_by_seat(record)
    assert len(batch) == len(expected)
    truncated = bool(record["next", "truncated"].any())
    assert truncated is ("max_hands" in rules)
    for row, (seat, t, earned, (where, at), over, last) in zip(batch, expected, strict=True):
        assert row["observation"].equal(record["seats", "observation", "observation"][t, seat])
        assert row["action_mask"].equal(record["seats", "action_mask"][t, seat])
        assert row["action_mask"][row["action"]]
        assert row["action_log_prob"] == record["seats", "action_log_prob"][t, seat]
        assert row["next", "reward"].item() == pytest.approx(earned)
        place = ("seats",) if where == "seats" else ("next", "seats")
        assert row["next", "observation"].equal(record[(*place, "observation", "observation")][at, seat])
        assert row["next", "terminated"].item() == (over and not truncated)
        assert row["next", "done"].item() == (over or last)


def test_torchrl_as_a_command(torchrl_aec: ModuleType) -> None:
    arguments = ["--decisions", "40", "--steps", "40", "--deals", "4"]
    run = CliRunner().invoke(torchrl_aec.app, ["slippery_slope", *arguments])
    assert run.exit_code == 0, run.output
    assert "points a hand above random players (4 deals)" in run.output
    wrong = CliRunner().invoke(torchrl_aec.app, ["slipery_slope"])
    assert wrong.exit_code == 2 and "did you mean" in wrong.output


# -- the sweep ---------------------------------------------------------------------------------------------------------

TINY = ["games=32", "moves=33", "network={layers: [8], suits: null}", "threads=1"]
VARY = ["minibatch=256|512", "learning_rate.start=log:1e-4..1e-2", "epochs=1..2", "share=0..0.5"]


def small(**changes: Any) -> sweep.Sweep:
    settings = {
        "vary": tuple(VARY),
        "decisions": 2_000,
        "fixed": tuple(TINY),
        "opponent": "random",
        "against": "random",
    }
    return sweep.Sweep("slippery_slope", **(settings | {"deals": 10, "evaluations": 2} | changes))


def told(study: optuna.Study) -> list[Any]:
    return [(trial.state.name, trial.value, trial.params) for trial in study.trials if trial.state.name != "FAIL"]


def quiet() -> Console:
    return Console(file=io.StringIO())


def test_a_sweep_as_a_command_that_goes_on(tmp_path: Path) -> None:
    arguments = ["slippery_slope", "--out", str(tmp_path / "sweep"), "--decisions", "2000", "--deals", "10"]
    arguments += ["--opponent", "random", "--against", "random", "--evaluations", "2"]
    arguments += [word for text in TINY for word in ("--set", text)]
    arguments += [word for text in VARY for word in ("--vary", text)]
    one = CliRunner().invoke(sweep.app, [*arguments, "--trials", "1"])
    assert one.exit_code == 0, one.output
    assert "best of 1: trial 0, " in one.output
    two = CliRunner().invoke(sweep.app, [*arguments, "--trials", "2"])
    assert two.exit_code == 0, two.output
    assert "trial 1: " in two.output and "trial 0: " not in two.output and "best of 2: " in two.output
    (command,) = (line for line in two.output.splitlines() if line.startswith("slopes train slippery_slope "))
    for text in ("--set games=32", "--set minibatch=", "--set learning_rate.start=", "--set epochs=", "opponents=["):
        assert text in command
    # Under other conditions results could not be compared.
    other = CliRunner().invoke(sweep.app, [*arguments, "--trials", "2", "--seed", "1"])
    assert other.exit_code == 2 and "seed was 0, now 1" in " ".join(other.output.split())
    # What was run is what is printed.
    study = sweep._study(small(), tmp_path / "sweep")
    for trial in study.trials:
        ran = load_config(tmp_path / "sweep" / f"trial-{trial.number:03}" / "config.yaml")
        wanted = small().settings([*TINY, *trial.user_attrs["set"]])
        assert ran.model_copy(update={name: getattr(wanted, name) for name in ("decisions", "evaluation")}) == wanted


def interrupted(*_: Any, **__: Any) -> None:
    raise KeyboardInterrupt


def test_a_sweep_that_was_stopped_comes_to_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = sweep.search(small(), 3, tmp_path / "whole", quiet())
    sweep.search(small(), 1, tmp_path / "parts", quiet())
    with monkeypatch.context() as patch:
        patch.setattr(_Run, "settled", lambda _: True)  # ends the run after its first update, as Ctrl-C does
        with pytest.raises(sweep.Stopped):
            sweep.search(small(), 3, tmp_path / "parts", quiet())
    with monkeypatch.context() as patch:
        patch.setattr(sweep, "run", interrupted)
        with pytest.raises(sweep.Stopped):
            sweep.search(small(), 3, tmp_path / "parts", quiet())
    parts = sweep.search(small(), 3, tmp_path / "parts", quiet())
    assert [trial.state.name for trial in parts.trials].count("FAIL") == 2
    assert told(parts) == told(whole)
    assert len({str(trial.params) for trial in whole.trials}) == 3


def test_a_trial_is_judged_by_the_advantage_on_the_same_deals(tmp_path: Path) -> None:
    study = sweep.search(small(), 1, tmp_path / "sweep", quiet())
    game = make_game("slippery_slope", match="hand")
    player = make_agent(f"ppo:{tmp_path / 'sweep' / 'trial-000' / 'last.zip'}", game)
    mean, error, _ = advantage_over(game, player, make_agent("random", game), 10, sweep.DEALS_SEED)
    assert study.best_value == pytest.approx(mean)
    assert study.best_trial.user_attrs["error"] == pytest.approx(error)
    assert list(study.best_trial.intermediate_values) == [1, 2]


def test_a_run_below_the_median_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(optuna.Trial, "should_prune", lambda trial: trial.number == 1)
    study = sweep.search(small(), 2, tmp_path / "sweep", quiet())
    assert [trial.state.name for trial in study.trials] == ["COMPLETE", "PRUNED"]
    assert "given up" in sweep._line(study.trials[1]) and "given up" not in sweep._line(study.trials[0])
    assert [list(trial.intermediate_values) for trial in study.trials] == [[1, 2], [1]]
    kept = sweep.search(small(prune=False), 2, tmp_path / "kept", quiet())
    assert [trial.state.name for trial in kept.trials] == ["COMPLETE"] * 2


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"vary": ("epohcs=1..3",)}, "unknown field 'epohcs'; did you mean 'epochs'"),
        ({"vary": ("epochs=0..3",)}, "epochs: Input should be greater than 0, got 0"),
        ({"vary": ("epochs=3..1",)}, "expected LOW and a larger HIGH, got '3..1'"),
        ({"vary": ("clip=log:0..1",)}, "expected LOW above 0 and a larger HIGH, got 'log:0..1'"),
        ({"vary": ("clip=log:0.1",)}, "expected log:LOW..HIGH, got 'log:0.1'"),
        ({"vary": ("clip=a..b",)}, "expected numbers as LOW..HIGH, got 'a..b'"),
        ({"vary": ("minibatch",)}, "expected NAME=WHAT, got 'minibatch'"),
        ({"vary": ("epochs=1..2", "epochs=1|2")}, "expected every name once, got epochs again"),
        ({"vary": ("reward=score|points",)}, "reward: Input should be 'score' or 'difference', got 'points'"),
        ({"vary": ("share=0.5..2",)}, "share: Input should be less than or equal to 1, got 2"),
        ({"against": "randum"}, "unknown agent 'randum'; did you mean 'random'"),
        ({"opponent": "randum"}, "unknown agent 'randum'; did you mean 'random'"),
        ({"fixed": ("games=0",)}, "games: Input should be greater than 0, got 0"),
    ],
)
def test_wrong_sweeps_are_refused(changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValueError) as caught:
        small(**changes)
    assert reason in str(caught.value)
