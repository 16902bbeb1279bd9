"""Self-play with all seats learning: MaskablePPO over the batched core.

One network plays every seat.  The trajectories are *per seat*: a seat's reward is what it earned between two of its
own decisions, and its value bootstraps to the same seat's next decision (:mod:`.advantages`).

Everything random in training (deals, sampled actions, the order of minibatches) is derived from the seed and from
counters, so a run that is stopped and resumed goes on exactly as if it had not been stopped.

Shape letters: **T** moves of a rollout, **B** games, **P** seats, **A** actions, **D** features.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.utils import explained_variance
from stable_baselines3.common.vec_env import VecEnv

from slopes_agents.network import NetworkShape
from slopes_envs import Game, Outcome, State, match_seed

from .advantages import Advantages, seat_advantages
from .checkpoint import write_checkpoint
from .policies import SelfPlayPolicy


@dataclass
class Snapshot:
    """Where the games of a run stand: all that a resumed run needs of its environment."""

    state: State
    episodes: NDArray[np.int64]


class SelfPlayEnv(VecEnv):
    """B games of self-play as a Stable-Baselines3 environment: it always shows the seat to move.

    The learner below reads the batched core through it; to Stable-Baselines3's own tools it looks like any ``VecEnv``
    whose reward is what the seat that has just moved got at once.
    """

    def __init__(self, game: Game[Any, Any], num_games: int, seed: int = 0) -> None:
        self.game = game
        self.seed_value = seed
        self.episodes = np.zeros(num_games, dtype=np.int64)
        self.state: State = game.new(match_seed(seed, np.arange(num_games)))
        self._actions = np.zeros(num_games, dtype=np.int64)
        self.render_mode = None
        observed = spaces.Box(0, 1, (game.observation.size,), np.uint8)
        super().__init__(num_games, observed, spaces.Discrete(game.num_actions))

    def advance(self, actions: NDArray[np.int64]) -> tuple[Outcome, NDArray[np.int64], State | None]:
        """Take one action in every game, and start new matches where one has ended.

        Returns
        -------
        The outcome, the places of the games that ended, and these games as they ended (None if there are none).
        """
        outcome = self.game.step(self.state, actions, check=False)
        ended = np.flatnonzero(outcome.terminated | outcome.truncated)
        if not len(ended):
            return outcome, ended, None
        last = self.state.take(ended)
        self.episodes[ended] += 1
        self.game.restart(self.state, ended, match_seed(self.seed_value, ended, self.episodes[ended]))
        return outcome, ended, last

    def observe(self) -> NDArray[np.uint8]:
        """Observations of the seats to move, ``uint8[B, D]``."""
        return self.game.observe(self.state, self.state.seat)

    def snapshot(self) -> Snapshot:
        """A copy of where the games stand."""
        return Snapshot(self.state.copy(), self.episodes.copy())

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to a snapshot."""
        self.state, self.episodes = snapshot.state.copy(), snapshot.episodes.copy()

    # -- VecEnv ----------------------------------------------------------------------------------------------------

    def reset(self) -> NDArray[np.uint8]:
        """Start afresh from the first match of every game."""
        self.episodes[:] = 0
        self.state = self.game.new(match_seed(self.seed_value, np.arange(self.num_envs)))
        return self.observe()

    def step_async(self, actions: NDArray[np.int64]) -> None:
        """Keep the actions for :meth:`step_wait`."""
        self._actions = np.asarray(actions, dtype=np.int64)

    def step_wait(self) -> Any:
        """Observations, rewards of the seats that moved, ends of matches, infos."""
        movers = self.state.seat.astype(np.int64)
        outcome, ended, last = self.advance(self._actions)
        rewards = outcome.rewards[np.arange(self.num_envs), movers]
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        if last is not None:
            final = self.game.observe(last, movers[ended])
            for place, row in enumerate(ended):
                infos[row] = {
                    "terminal_observation": final[place],
                    "TimeLimit.truncated": bool(outcome.truncated[row]),
                }
        return self.observe(), rewards, outcome.terminated | outcome.truncated, infos

    def close(self) -> None:
        """Nothing to release."""

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """The attribute, once for every game asked for."""
        return [getattr(self, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Set an attribute of the whole batch."""
        setattr(self, attr_name, value)

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
        """Call a method of the batch; ``action_masks`` gives one ``(B, A)`` array."""
        if method_name == "action_masks":
            return self.game.legal(self.state)  # type: ignore[return-value]
        return [getattr(self, method_name)(*args, **kwargs)]

    def has_attr(self, attr_name: str) -> bool:
        """Whether the batch has an attribute; masks are offered through :meth:`env_method`."""
        return attr_name == "action_masks" or hasattr(self, attr_name)

    def env_is_wrapped(self, wrapper_class: type, indices: Any = None) -> list[bool]:
        """No game is wrapped."""
        return [False for _ in self._get_indices(indices)]


class Diverged(ValueError):
    """The loss is not a finite number; nothing of it has reached the network."""


class Rollout:
    """What was seen and done in T moves of B games.  Observations and masks stay one byte an entry."""

    def __init__(self, moves: int, games: int, game: Game[Any, Any]) -> None:
        self.observations = np.zeros((moves, games, game.observation.size), dtype=np.uint8)
        self.legal = np.zeros((moves, games, game.num_actions), dtype=np.bool_)
        self.actions = np.zeros((moves, games), dtype=np.int64)
        self.seats = np.zeros((moves, games), dtype=np.int64)
        self.values = np.zeros((moves, games), dtype=np.float32)
        self.log_probs = np.zeros((moves, games), dtype=np.float32)
        self.rewards = np.zeros((moves, games, game.num_players), dtype=np.float32)
        self.ended = np.zeros((moves, games), dtype=np.bool_)
        # Value of the end of a match, by seat: zero, or where it was truncated the network's.
        self.end_values = np.zeros((moves, games, game.num_players), dtype=np.float32)


class SelfPlayMaskablePPO(MaskablePPO):
    """MaskablePPO that learns from all seats of self-play.

    Saving, loading, logging and callbacks are those of Stable-Baselines3; only how experience is collected and used
    differs.  A timestep is one decision of one seat.

    Parameters
    ----------
    env
        The games to learn from.
    network
        Layers of the network, and what planes it does not see.
    n_steps
        T, moves of every game between two updates; some multiple of the moves of a hand wastes least.
    ent_coef_end
        The entropy bonus falls from ``ent_coef`` to this, in step with the learning rate.
    reward_scale
        Rewards are divided by it, so that values are of the order of one.
    reward_kind
        ``"score"``: a seat's own rewards; ``"difference"``: less the mean of the others', which is what wins matches.
    """

    policy: SelfPlayPolicy
    env: SelfPlayEnv

    def __init__(
        self,
        policy: str | type[SelfPlayPolicy],
        env: SelfPlayEnv,
        *,
        network: NetworkShape | None = None,
        n_steps: int = 66,
        batch_size: int = 1024,
        n_epochs: int = 2,
        gamma: float = 1.0,
        gae_lambda: float = 0.95,
        ent_coef: float = 0.02,
        ent_coef_end: float = 0.001,
        reward_scale: float = 1.0,
        reward_kind: str = "score",
        policy_kwargs: dict[str, Any] | None = None,
        _init_setup_model: bool = True,
        **kwargs: Any,
    ) -> None:
        self.ent_coef_start, self.ent_coef_end = ent_coef, ent_coef_end
        self.reward_scale, self.reward_kind = reward_scale, reward_kind
        self.iteration = 0  # rollouts collected; the counter of all chance in training
        self.snapshot: Snapshot | None = None
        self.minutes: float | None = None  # length of the run in time, instead of decisions
        self.trained_seconds = 0.0
        self.evaluations = 0  # evaluations done in the run
        self.best_result = -float("inf")  # of these
        if policy_kwargs is None and network is not None:
            policy_kwargs = {"shape": network, "layout": env.game.observation}
        super().__init__(
            policy,
            env,
            n_steps=n_steps,
            batch_size=batch_size,
            n_epochs=n_epochs,
            gamma=gamma,
            gae_lambda=gae_lambda,
            ent_coef=ent_coef,
            policy_kwargs=policy_kwargs,
            _init_setup_model=_init_setup_model,
            **kwargs,
        )

    def _setup_model(self) -> None:
        # The weights are drawn from the seed without touching anybody else's generators.
        with torch.random.fork_rng():
            torch.manual_seed(self.seed or 0)
            super()._setup_model()
        self.rollout_buffer = None  # type: ignore[assignment]  # a Rollout is made for every update instead

    def set_random_seed(self, seed: int | None = None) -> None:
        """Keep the seed; nothing global is seeded."""
        self.seed = seed

    def _generator(self, purpose: int) -> torch.Generator:
        """A generator for one use in one iteration, derived from the seed."""
        key = int(match_seed(self.seed or 0, purpose, self.iteration)[0])
        return torch.Generator().manual_seed(key % 2**63)

    # -- collecting ------------------------------------------------------------------------------------------------

    def collect_rollouts(  # type: ignore[override]
        self,
        env: SelfPlayEnv,
        callback: BaseCallback,
        rollout_buffer: Any,
        n_rollout_steps: int,
        use_masking: bool = True,
    ) -> bool:
        """Play T moves in every game; returns False if the callback asked to stop."""
        self.policy.set_training_mode(False)
        callback.on_rollout_start()
        generator = self._generator(1)
        game, rollout = env.game, Rollout(n_rollout_steps, env.num_envs, env.game)
        for t in range(n_rollout_steps):
            state = env.state
            game.observe(state, state.seat, out=rollout.observations[t])
            game.legal(state, out=rollout.legal[t])
            rollout.seats[t] = state.seat
            with torch.inference_mode():
                actions, values, log_probs = self.policy.sample(
                    torch.from_numpy(rollout.observations[t]), torch.from_numpy(rollout.legal[t]), generator
                )
            rollout.actions[t] = actions.numpy()
            rollout.values[t] = values.numpy()
            rollout.log_probs[t] = log_probs.numpy()
            outcome, ended, last = env.advance(rollout.actions[t])
            rollout.rewards[t] = self._shaped(outcome.rewards)
            if last is not None:
                rollout.ended[t, ended] = True
                self._value_truncated(rollout.end_values[t], outcome, ended, last)
            self.num_timesteps += env.num_envs
            callback.update_locals(locals())
            if not callback.on_step():
                return False
        self._last_obs = env.observe()
        self.iteration += 1
        self._rollout = rollout
        callback.on_rollout_end()
        return True

    def _shaped(self, rewards: NDArray[np.float32]) -> NDArray[np.float32]:
        """Rewards as the learner sees them."""
        if self.reward_kind == "difference":
            others = rewards.shape[1] - 1
            rewards = rewards - (rewards.sum(axis=1, keepdims=True) - rewards) / others
        return rewards / np.float32(self.reward_scale)

    def _value_truncated(
        self, end_values: NDArray[np.float32], outcome: Outcome, ended: NDArray[np.int64], last: State
    ) -> None:
        """A truncated match would have gone on: its end is worth what the network says, seat by seat."""
        cut = np.flatnonzero(outcome.truncated[ended])
        if not len(cut):
            return
        game, state = self.env.game, last.take(cut)
        for seat in range(game.num_players):
            with torch.inference_mode():
                _, values = self.policy.logits_and_values(torch.from_numpy(game.observe(state, seat)))
            end_values[ended[cut], seat] = values.numpy()

    # -- how far the run is ----------------------------------------------------------------------------------------

    def progress(self, total: int) -> float:
        """How much of the run is done, 0 to 1, of ``total`` decisions or of its minutes."""
        if self.minutes is None:
            return min(self.num_timesteps / total, 1.0)
        return min(self.trained_seconds / (60 * self.minutes), 1.0)

    def out_of_time(self) -> bool:
        """Whether a run measured in minutes is at its end."""
        return self.minutes is not None and self.trained_seconds >= 60 * self.minutes

    def _update_current_progress_remaining(self, num_timesteps: int, total_timesteps: int) -> None:
        self._current_progress_remaining = 1.0 - self.progress(total_timesteps)

    # -- learning --------------------------------------------------------------------------------------------------

    def _annealed(self, start: float, end: float) -> float:
        return end + (start - end) * self._current_progress_remaining

    def train(self) -> None:
        """Improve the network with the last rollout (clipped PPO objective)."""
        self.policy.set_training_mode(True)
        self._update_learning_rate(self.policy.optimizer)
        clip_range = self.clip_range(self._current_progress_remaining)  # type: ignore[operator]
        self.ent_coef = self._annealed(self.ent_coef_start, self.ent_coef_end)
        rollout = self._rollout
        advantages = seat_advantages(rollout, self.gamma, self.gae_lambda)
        data = _Samples.of(rollout, advantages)
        generator = self._generator(2)
        losses: list[tuple[float, ...]] = []
        for _ in range(self.n_epochs):
            order = torch.randperm(len(data.actions), generator=generator)
            # Of nearly equal sizes: a last one of a few decisions would weigh as much as a whole one.
            count = max(round(len(order) / (self.batch_size or len(order))), 1)
            for rows in torch.tensor_split(order, count):
                losses.append(self._update(data.take(rows), clip_range))
            self._n_updates += 1
        self._log(losses, rollout, advantages, clip_range)

    def _update(self, batch: _Samples, clip_range: float) -> tuple[float, ...]:
        """One step of the optimiser on one minibatch; returns what is logged."""
        values, log_probs, entropy = self.policy.evaluate_actions(batch.observations, batch.actions, batch.legal)
        log_ratio = log_probs - batch.log_probs
        ratio = log_ratio.exp()
        advantages = _normalised(batch.advantages)
        clipped = ratio.clamp(1 - clip_range, 1 + clip_range)
        policy_loss = -torch.min(advantages * ratio, advantages * clipped).mean()
        value_loss = torch.nn.functional.mse_loss(values.squeeze(1), batch.returns)
        mean_entropy = entropy.mean()
        loss = policy_loss + self.vf_coef * value_loss - self.ent_coef * mean_entropy
        if not torch.isfinite(loss):
            raise Diverged(
                f"training has diverged: the loss is {loss.item()} after {self.num_timesteps} decisions "
                "(try a smaller learning rate); the last checkpoint was written before that"
            )
        self.policy.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.policy.parameters(), self.max_grad_norm)
        self.policy.optimizer.step()
        with torch.no_grad():
            kl = (ratio - 1 - log_ratio).mean()  # Schulman's low-variance estimate
            clip_fraction = ((ratio - 1).abs() > clip_range).float().mean()
        logged = (loss, policy_loss, value_loss, mean_entropy, kl, clip_fraction)
        return tuple(float(value.detach()) for value in logged)

    def _log(
        self, losses: list[tuple[float, ...]], rollout: Rollout, advantages: Advantages, clip_range: float
    ) -> None:
        names = ("loss", "policy_gradient_loss", "value_loss", "entropy", "approx_kl", "clip_fraction")
        for name, value in zip(names, np.mean(losses, axis=0), strict=True):
            self.logger.record(f"train/{name}", float(value))
        used = advantages.used
        self.logger.record(
            "train/explained_variance", float(explained_variance(rollout.values[used], advantages.returns[used]))
        )
        self.logger.record("train/entropy_coefficient", self.ent_coef)
        self.logger.record("train/clip_range", clip_range)
        self.logger.record("train/n_updates", self._n_updates)
        hands = max(int(rollout.ended.sum()), 1)
        self.logger.record("rollout/match_reward", float(rollout.rewards.sum()) * self.reward_scale / hands)

    # -- saving ----------------------------------------------------------------------------------------------------

    def _excluded_save_params(self) -> list[str]:
        return [*super()._excluded_save_params(), "_rollout"]

    def save(self, path: Any, exclude: Iterable[str] | None = None, include: Iterable[str] | None = None) -> None:
        """Save to a file, beside first and then renamed; a file of the same name is never half-written."""
        self.snapshot = self.env.snapshot()
        write_checkpoint(
            Path(os.fspath(path)),
            lambda stream: super(SelfPlayMaskablePPO, self).save(stream, exclude=exclude, include=include),
            self.env.game,
            self.policy.shape,
        )

    @classmethod
    def load(cls, path: Any, env: SelfPlayEnv | None = None, **kwargs: Any) -> Self:  # type: ignore[override]
        """Load a saved run; with ``env`` its games are put back where they stood."""
        model: Self = super().load(path, env=env, force_reset=False, **kwargs)
        if env is not None and model.snapshot is not None:
            env.restore(model.snapshot)
            model._last_obs = env.observe()
        return model


def _normalised(advantages: torch.Tensor) -> torch.Tensor:
    """Advantages of a minibatch with mean 0 and deviation 1; a single one is 0, having no deviation."""
    if len(advantages) < 2:
        return torch.zeros_like(advantages)
    return (advantages - advantages.mean()) / (advantages.std() + 1e-8)


@dataclass(frozen=True)
class _Samples:
    """Decisions to learn from, flattened over moves and games."""

    observations: torch.Tensor
    legal: torch.Tensor
    actions: torch.Tensor
    log_probs: torch.Tensor
    advantages: torch.Tensor
    returns: torch.Tensor

    @classmethod
    def of(cls, rollout: Rollout, advantages: Advantages) -> _Samples:
        used = advantages.used
        arrays = (
            rollout.observations[used],
            rollout.legal[used],
            rollout.actions[used],
            rollout.log_probs[used],
            advantages.advantages[used],
            advantages.returns[used],
        )
        return cls(*(torch.from_numpy(array) for array in arrays))

    def take(self, rows: torch.Tensor) -> _Samples:
        return _Samples(
            self.observations[rows],
            self.legal[rows],
            self.actions[rows],
            self.log_probs[rows],
            self.advantages[rows],
            self.returns[rows],
        )


SelfPlayMaskablePPO.policy_aliases["SelfPlayPolicy"] = SelfPlayPolicy
