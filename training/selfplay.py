"""Self-play: MaskablePPO over the batched core.

One network plays every seat, or in some games one side against opponents (:mod:`.tables`).  The trajectories are *per
seat*: a seat's reward is what it earned between two of its own decisions, and its value bootstraps to the same seat's
next decision (:mod:`.advantages`).

Everything random in training (deals, sampled actions, the order of minibatches) is derived from the seed and from
counters, so a run that is stopped and resumed goes on exactly as if it had not been stopped.

Shape letters: **T** moves of a rollout, **B** games, **P** seats, **A** actions, **D** features.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import torch
from numpy.typing import NDArray
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.utils import explained_variance

from slopes_agents.network import NetworkShape, PolicyNetwork
from slopes_envs import Outcome, State, match_seed
from slopes_envs.chance import below, derive

from .advantages import Advantages
from .checkpoint import header, write_checkpoint
from .clipped import take_clipped_steps
from .config import LookAhead, Magnet, Mirror, WarmStart
from .look_ahead import learn_from_comparison
from .mirror import follow_mirror
from .past import PastSelves
from .policies import SelfPlayPolicy
from .rollout import Phase, Rollout, Samples
from .tables import Ended, SelfPlayEnv, Snapshot, Tables
from .warm_start import copy_choices


class Diverged(ValueError):
    """The loss is not a finite number; nothing of it has reached the network."""


class Waiting(NamedTuple):
    """Decisions of N games at one move of a rollout that are to be looked ahead in."""

    move: int
    places: NDArray[np.int64]  # [N] in the batch of the run
    state: State


class SelfPlayMaskablePPO(MaskablePPO):
    """MaskablePPO that learns from all seats of self-play, but those of opponents.

    Saving, loading, logging and callbacks are those of Stable-Baselines3; only how experience is collected and used
    differs.  A timestep is one decision of a seat that learns.

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
    rivalry
        How much of the others' mean ``"difference"`` takes off.
    past
        ``every`` and ``keep`` of past selves; needed where the games of ``env`` have such among their opponents.
    warm_start
        An agent to copy first: the ``guide`` of the games.
    look_ahead
        Then, how actions are compared by the ``comparison`` of the games.
    magnet
        A slowly following copy that the policy is drawn to.
    mirror
        How the policy is improved over afterstates, if it sees them; None for PPO's clipped steps.
    critic
        ``"own"``, or ``"all"``: advantages by a critic that sees all there is.
    provenance
        Where the run comes from, as plain JSON values, for the headers of checkpoints; ``start`` is that of the network
        it began with.
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
        rivalry: float = 1.0,
        past: tuple[int, int] | None = None,
        warm_start: WarmStart | None = None,
        look_ahead: LookAhead | None = None,
        magnet: Magnet | None = None,
        mirror: Mirror | None = None,
        critic: str = "own",
        provenance: dict[str, Any] | None = None,
        policy_kwargs: dict[str, Any] | None = None,
        _init_setup_model: bool = True,
        **kwargs: Any,
    ) -> None:
        self.ent_coef_start, self.ent_coef_end = ent_coef, ent_coef_end
        self.reward_scale, self.reward_kind, self.rivalry = reward_scale, reward_kind, rivalry
        self.past_settings, self.warm_start, self.look_ahead, self.magnet_settings = (
            past,
            warm_start,
            look_ahead,
            magnet,
        )
        self.mirror = mirror
        self.past: PastSelves | None = None
        self.magnet: PolicyNetwork | None = None
        self.provenance = provenance or {}
        self.iteration = 0  # rollouts collected; the counter of all chance in training
        self.snapshot: Snapshot | None = None
        self.minutes: float | None = None  # length of the run in time, instead of decisions
        self.trained_seconds = 0.0
        self.evaluations = 0  # evaluations done in the run
        self.evaluated_at = -1  # decisions at the last of them
        self.best_result = -float("inf")  # of these
        self.evaluations_since_best = 0
        self.agreement = 0.0  # of the policy with the agent it copies, in the last update of a warm start
        if policy_kwargs is None and network is not None:
            critic_layout = env.game.observation_all if critic == "all" else None
            policy_kwargs = {"shape": network, "layout": env.game.observation, "critic_layout": critic_layout}
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
        if self.past_settings is not None:
            self.past = PastSelves(*self.past_settings, self.policy.blank)
        if self.magnet_settings is not None:
            self.magnet = self.policy.network()

    def set_random_seed(self, seed: int | None = None) -> None:
        """Keep the seed; nothing global is seeded."""
        self.seed = seed

    def _generator(self, purpose: int) -> torch.Generator:
        """A generator for one use in one iteration, derived from the seed."""
        return torch.Generator().manual_seed(int(self._key(purpose)[0]) % 2**63)

    def _key(self, purpose: int) -> NDArray[np.uint64]:
        """The key of all chance of one use in one iteration, ``uint64[1]``."""
        return match_seed(self.seed or 0, purpose, self.iteration)

    # -- collecting ------------------------------------------------------------------------------------------------

    @property
    def phase(self) -> Phase:
        """What the run is at."""
        return self._stage()[0]

    def _stage(self) -> tuple[Phase, float]:
        """What the run is at, and how much of that is done before self-play, 0 to 1."""
        share, decisions = 0.0, 0
        for phase, settings in ((Phase.COPY, self.warm_start), (Phase.COMPARE, self.look_ahead)):
            if settings is None:
                continue
            if settings.decisions is not None:
                done = (self.num_timesteps - decisions) / settings.decisions
                decisions += settings.decisions
            else:
                assert settings.share is not None
                done = (self.progress(max(self._total_timesteps, 1)) - share) / settings.share
                share += settings.share
            if done < 1:
                return phase, done
        return Phase.PLAY, 0.0

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
        phase, done = self._stage()
        if phase is not Phase.COPY and self.past is not None and self.past.due(self.num_timesteps):
            self.past.add(self.policy.network(), self.num_timesteps)
        critic = self.policy.critic is not None
        mirror = self.mirror is not None
        rollout = Rollout(n_rollout_steps, env, critic=critic, mirror=mirror, phase=phase, done=done)
        own, others = self._generator(1), self._generator(3)
        waiting: list[list[Waiting]] = [[] for _ in env.tables]
        for tables in env.tables:
            tables.forget()
        for t in range(n_rollout_steps):
            env.observe(out=rollout.observations[t])
            env.legal(out=rollout.legal[t])
            rollout.seats[t] = env.seats()
            if rollout.everything is not None:
                env.observe_all(out=rollout.everything[t])
            if phase is Phase.COPY:
                self._follow(env, rollout, t)
                self._let_others_decide(env, rollout, t, others)
            else:
                rollout.learned[t] = env.learners()
                if phase is Phase.COMPARE:
                    self._pick(env, rollout, t, waiting)
                self._decide(rollout, t, own)
                self._let_others_decide(env, rollout, t, others)
            for tables in env.tables:
                outcome, ended = tables.advance(rollout.actions[t, tables.part])
                rollout.rewards[t, tables.part, : tables.game.num_players] = self._shaped(tables, outcome.rewards)
                if ended is not None:
                    rollout.ended[t, tables.part][ended.rows] = True
                    self._value_truncated(rollout.end_values[t, tables.part], tables, outcome, ended)
            self.num_timesteps += int(rollout.learned[t].sum())
            callback.update_locals(locals())
            if not callback.on_step():
                return False
        self._compare(env, rollout, waiting)
        self._last_obs = env.observe()
        self.iteration += 1
        self._rollout = rollout
        callback.on_rollout_end()
        return True

    def _decide(self, rollout: Rollout, t: int, generator: torch.Generator) -> None:
        """The moves of the seats that learn."""
        learned = rollout.learned[t]
        rows = slice(None) if learned.all() else np.flatnonzero(learned)
        with torch.inference_mode():
            encoded = self.policy.extract_features(torch.from_numpy(rollout.observations[t][rows]))
            legal = torch.from_numpy(rollout.legal[t][rows])
            actions, values, log_probs = self.policy.sample(encoded, legal, generator)
            if self.policy.critic is not None and rollout.everything is not None:
                values = self.policy.critic(torch.from_numpy(rollout.everything[t][rows]))
        rollout.actions[t][rows] = actions.numpy()
        rollout.values[t][rows] = values.numpy()
        rollout.log_probs[t][rows] = log_probs.numpy()
        if rollout.judged is not None:
            rollout.judged[t][rows] = encoded.numpy()

    def _let_others_decide(self, env: SelfPlayEnv, rollout: Rollout, t: int, generator: torch.Generator) -> None:
        """The moves of opponents."""
        if rollout.learned[t].all():
            return
        by_past: list[NDArray[np.int64]] = []
        for tables in env.tables:
            waiting = np.flatnonzero(~rollout.learned[t, tables.part])
            for number, against in enumerate(tables.against):
                rows = waiting[tables.entry[waiting] == number]
                if against.agent is None:
                    by_past.append(rows + tables.part.start)
                elif len(rows):
                    legal = rollout.legal[t, tables.part]
                    rollout.actions[t, tables.part][rows] = tables.ask(against.agent, rows, legal)
        rows = np.concatenate([np.zeros(0, dtype=np.int64), *by_past])
        if len(rows):
            rollout.actions[t, rows] = self._past_actions(rows, rollout, t, generator)

    def _past_actions(
        self, rows: NDArray[np.int64], rollout: Rollout, t: int, generator: torch.Generator
    ) -> NDArray[np.int64]:
        """What past selves do; which of them is another one in every place and every rollout."""
        if self.past is None:
            raise ValueError("the games have past selves as opponents, but the learner was given none to keep")
        which = below(derive(self._key(4), rows), len(self.past.networks))
        observations, legal = rollout.observations[t][rows], rollout.legal[t][rows]
        return self.past.act(which, torch.from_numpy(observations), torch.from_numpy(legal), generator)

    def _follow(self, env: SelfPlayEnv, rollout: Rollout, t: int) -> None:
        """The moves of the agent that is copied, in the seats that learn."""
        assert rollout.targets is not None
        for tables in env.tables:
            assert tables.guide is not None
            follows = tables.followers()
            rollout.learned[t, tables.part] = follows
            rows = np.flatnonzero(follows)
            if not len(rows):
                continue
            actions, chances = tables.follow(tables.guide, rows, rollout.legal[t, tables.part])
            rollout.actions[t, tables.part][rows] = actions
            rollout.targets[t, tables.part][rows] = chances
        with torch.inference_mode():
            if self.policy.critic is not None and rollout.everything is not None:
                values = self.policy.critic(torch.from_numpy(rollout.everything[t]))
            else:
                _, values = self.policy.logits_and_values(torch.from_numpy(rollout.observations[t]))
        rollout.values[t] = values.numpy()

    def _pick(self, env: SelfPlayEnv, rollout: Rollout, t: int, waiting: Sequence[list[Waiting]]) -> None:
        """Keep a part of the decisions of seats that learn, to look ahead in when the rollout is over."""
        assert self.look_ahead is not None
        chance = below(derive(self._key(5), t, np.arange(env.num_envs)), 1 << 20)
        compared = (chance < self.look_ahead.part * (1 << 20)) & rollout.learned[t] & (rollout.legal[t].sum(axis=1) > 1)
        rollout.compared[t] = compared
        for tables, kept in zip(env.tables, waiting, strict=True):
            rows = np.flatnonzero(compared[tables.part])
            if len(rows):
                kept.append(Waiting(t, rows + tables.part.start, tables.state.take(rows)))

    def _compare(self, env: SelfPlayEnv, rollout: Rollout, waiting: Sequence[list[Waiting]]) -> None:
        """Look ahead in all decisions that were kept: together, for a batch costs little more than a few games."""
        for tables, kept in zip(env.tables, waiting, strict=True):
            if not kept:
                continue
            assert rollout.targets is not None and tables.comparison is not None
            moves = np.repeat([each.move for each in kept], [len(each.places) for each in kept])
            places = np.concatenate([each.places for each in kept])
            state = type(kept[0].state).joined([each.state for each in kept])
            worth = tables.comparison.values(state, rollout.legal[moves, places])
            rollout.targets[moves, places] = worth / self.reward_scale

    def _shaped(self, tables: Tables, rewards: NDArray[np.float32]) -> NDArray[np.float32]:
        """Rewards as the learner sees them."""
        if self.reward_kind == "difference":
            lead = tables.lead.all_seats(rewards)
            rewards = (rewards + self.rivalry * (lead - rewards)).astype(np.float32)
        return rewards / np.float32(self.reward_scale)

    def _value_truncated(self, end_values: NDArray[np.float32], tables: Tables, outcome: Outcome, ended: Ended) -> None:
        """A truncated match would have gone on: its end is worth what the network says, seat by seat."""
        cut = np.flatnonzero(outcome.truncated[ended.rows])
        if not len(cut):
            return
        game, state = tables.game, ended.last.take(cut)
        for seat in range(game.num_players):
            with torch.inference_mode():
                if self.policy.critic is not None:
                    values = self.policy.critic(torch.from_numpy(game.observe_all(state, seat)))
                else:
                    _, values = self.policy.logits_and_values(
                        torch.from_numpy(tables.observe(state, np.full(len(cut), seat)))
                    )
            end_values[ended.rows[cut], seat] = values.numpy()

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
        """Improve the network with the last rollout: by an agent's choices, by what actions are worth, or by PPO."""
        self.policy.set_training_mode(True)
        self._update_learning_rate(self.policy.optimizer)
        self.ent_coef = self._annealed(self.ent_coef_start, self.ent_coef_end)
        rollout = self._rollout
        if self.iteration == 1:
            seen = torch.from_numpy(rollout.observations.reshape(-1, rollout.observations.shape[-1]))
            if self.policy.settle(seen) and self.magnet is not None:
                self.magnet = self.policy.network()
        if rollout.phase is Phase.COPY:
            assert self.warm_start is not None
            copy_choices(self, rollout, self.warm_start)
        elif rollout.phase is Phase.COMPARE:
            assert self.look_ahead is not None
            learn_from_comparison(self, rollout, self.look_ahead)
        elif self.mirror is not None:
            follow_mirror(self, rollout, self.mirror)
        else:
            clip_range: float = self.clip_range(self._current_progress_remaining)  # type: ignore[operator]
            take_clipped_steps(self, rollout, clip_range, self.magnet_settings)

    def batches(self, samples: Samples, epochs: int) -> Iterator[Samples]:
        """Minibatches, shuffled anew in every epoch.

        Raises
        ------
        ValueError
            If there are no decisions to learn from.
        """
        if not len(samples.actions):
            raise ValueError(
                f"moves: in {self.n_steps} moves no seat that learns came to move twice, so there is nothing to learn; "
                "expected more"
            )
        generator = self._generator(2)
        for _ in range(epochs):
            order = torch.randperm(len(samples.actions), generator=generator)
            # Of nearly equal sizes: a last one of a few decisions would weigh as much as a whole one.
            count = max(round(len(order) / (self.batch_size or len(order))), 1)
            for rows in torch.tensor_split(order, count):
                yield samples.take(rows)
            self._n_updates += 1

    def value_loss(self, values: torch.Tensor, batch: Samples) -> torch.Tensor:
        """Mean squared error of the values; where there is a critic apart, of its values too."""
        loss = torch.nn.functional.mse_loss(values, batch.returns)
        if self.policy.critic is not None and batch.everything is not None:
            loss = loss + torch.nn.functional.mse_loss(self.policy.critic(batch.everything), batch.returns)
        return loss

    def step(self, loss: torch.Tensor) -> None:
        """One step of the optimiser.

        Raises
        ------
        Diverged
            If the loss is not a finite number.
        """
        if not torch.isfinite(loss):
            raise Diverged(
                f"training has diverged: the loss is {loss.item()} after {self.num_timesteps} decisions "
                "(try a smaller learning rate); the last checkpoint was written before that"
            )
        self.policy.optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.policy.parameters(), self.max_grad_norm)
        self.policy.optimizer.step()

    def begin_with(self, network: PolicyNetwork) -> None:
        """Begin with the numbers of a network that was trained before; a critic that sees all begins from chance.

        Raises
        ------
        ValueError
            If it is not of the policy's shape, or tells values in another unit.
        """
        if network.shape != self.policy.shape:
            raise ValueError(
                f"start: expected a network as that of the configuration, {self.policy.shape}, got {network.shape}"
            )
        if network.unit != self.reward_scale:
            raise ValueError(
                f"start: the network tells values in units of {network.unit:g} points, "
                f"expected those of the configuration's reward_scale, {self.reward_scale:g}"
            )
        self.policy.copy_from(network)
        if self.magnet is not None:
            self.magnet = self.policy.network()

    def set_learning_rate(self, rate: float) -> None:
        """What the optimiser goes by in a phase before self-play."""
        for group in self.policy.optimizer.param_groups:
            group["lr"] = rate
        self.logger.record("train/learning_rate", rate)

    def move_magnet(self, part: float) -> None:
        """Move the magnet, if there is one, some part of the way to the policy."""
        if self.magnet is None:
            return
        with torch.no_grad():
            for own, other in zip(self.magnet.parameters(), self.policy.network().parameters(), strict=True):
                own.lerp_(other, part)

    def log_means(self, group: str, losses: Sequence[Mapping[str, float]]) -> dict[str, float]:
        """Log the means over minibatches of what each gave, and return them."""
        means = {name: float(np.mean([loss[name] for loss in losses])) for name in losses[0]}
        for name, value in means.items():
            self.logger.record(f"{group}/{name}", value)
        return means

    def log_play(self, rollout: Rollout, advantages: Advantages) -> None:
        """Log how well values foretold what came, and how the learner fared."""
        used = advantages.used
        self.logger.record(
            "train/explained_variance", float(explained_variance(rollout.values[used], advantages.returns[used]))
        )
        self.logger.record("train/n_updates", self._n_updates)
        hands = max(int(rollout.ended.sum()), 1)
        self.logger.record("rollout/match_reward", float(rollout.rewards.sum()) * self.reward_scale / hands)
        for number, against in enumerate(self.env.tables[0].against):
            margin, matches = sum(tables.margins[number] for tables in self.env.tables)
            if matches:
                self.logger.record(f"against/{against.label}", margin / matches)

    # -- saving ----------------------------------------------------------------------------------------------------

    def _excluded_save_params(self) -> list[str]:
        return [*super()._excluded_save_params(), "_rollout", "past", "magnet"]

    def _get_torch_save_params(self) -> tuple[list[str], list[str]]:
        states, variables = super()._get_torch_save_params()
        kept = [name for name in ("past", "magnet") if getattr(self, name, None) is not None]
        return [*states, *kept], variables

    def save(self, path: Any, exclude: Iterable[str] | None = None, include: Iterable[str] | None = None) -> None:
        """Save to a file, beside first and then renamed; a file of the same name is never half-written."""
        self.snapshot = self.env.snapshot()
        write_checkpoint(
            Path(os.fspath(path)),
            lambda stream: super(SelfPlayMaskablePPO, self).save(stream, exclude=exclude, include=include),
            self._header(),
        )

    def _header(self) -> dict[str, Any]:
        """What a checkpoint tells of itself."""
        return header(
            [tables.game for tables in self.env.tables],
            self.policy.shape,
            reward=self.reward_kind,
            reward_scale=self.reward_scale,
            provenance=self.provenance
            | {"seed": self.seed, "decisions": self.num_timesteps, "trained_seconds": round(self.trained_seconds, 1)},
        )

    @classmethod
    def load(cls, path: Any, env: SelfPlayEnv | None = None, **kwargs: Any) -> Self:  # type: ignore[override]
        """Load a saved run; with ``env`` its games are put back where they stood."""
        model: Self = super().load(path, env=env, force_reset=False, **kwargs)
        if env is not None and model.snapshot is not None:
            env.restore(model.snapshot)
            model._last_obs = env.observe()
        return model


SelfPlayMaskablePPO.policy_aliases["SelfPlayPolicy"] = SelfPlayPolicy
