"""Train a policy by self-play: the run behind ``slopes train``.

A run lives in a folder: ``config.yaml`` (all of it), ``last.zip`` (to go on from), ``best.zip`` (the best policy so
far, by duplicate deals against the last opponent of the configuration), ``log.csv`` and TensorBoard events.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from pydantic import ValidationError
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import Logger, TensorBoardOutputFormat

from slopes_agents import Agent, make_agent
from slopes_agents.advice import Adviser, make_adviser
from slopes_agents.learned import BEST, LearnedAgent, file_of, make_network, read_file
from slopes_agents.weights_file import shipped_weights
from slopes_envs import Game
from slopes_envs.files import write_bytes

from .comparison import Comparison
from .config import (
    PAST,
    SHIPPED,
    Opponents,
    TrainingConfig,
    Variant,
    default_config_path,
    dump_config,
    load_config,
    problems,
)
from .log import CsvLog
from .policies import SelfPlayPolicy
from .provenance import commit, train_command
from .rollout import Phase
from .selfplay import SelfPlayMaskablePPO
from .tables import Against, SelfPlayEnv, Tables, apportion
from .watch import advantage_over

LAST, CONFIG, LOG = "last.zip", "config.yaml", "log.csv"
WATCH_SEED = 2**40  # deals of the evaluations during training; far from the seeds people use


def run(game: str, *, out: Path, **options: Any) -> SelfPlayMaskablePPO:
    """Train until the run's length is reached; Ctrl-C saves and stops.  :func:`prepare` tells what it takes."""
    return prepare(game, out=out, **options).go()


def prepare(
    game: str,
    *,
    config: Path | None = None,
    overrides: list[str] | None = None,
    rules: dict[str, Any] | None = None,
    minutes: float | None = None,
    decisions: int | None = None,
    seed: int | None = None,
    out: Path,
    resume: bool = False,
    console: Console | None = None,
    evaluated: Callable[[int, float], bool] | None = None,
) -> Training:
    """Make a run ready, so that nothing is wrong with what it was told when it begins.

    Parameters
    ----------
    game
        Name of a game.
    config, overrides
        A YAML file (by default the one that ships for the game) and ``key=value`` changes to it.
    rules
        Options of the game, over those of the configuration.
    minutes, decisions
        Length of the run, one or the other; by default the configuration's.  Only runs measured in decisions go on
        exactly when resumed.
    seed
        Of everything random in the run; by default the configuration's.
    out
        Folder of the run; it is made.
    resume
        Go on with the run in ``out``, whose configuration and seed then count.
    console
        Where progress is shown.
    evaluated
        Told the decisions so far and the result after every evaluation; the run ends when it answers False.

    Raises
    ------
    ValueError
        For anything that does not fit, before a file is touched.
    OSError
        If the folder cannot be made or read.
    """
    if resume:
        if config or overrides or rules or any(given is not None for given in (minutes, decisions, seed)):
            raise ValueError("--resume goes on with the run as it was configured; give no other options with it")
        settings = load_config(out / CONFIG, game=game)
        if not (out / LAST).exists():
            raise ValueError(f"{out}: there is no {LAST} to go on from")
    else:
        settings = _settings(game, config, overrides, rules, minutes, decisions, seed)
        if (out / LAST).exists():
            raise ValueError(f"{out} holds a run already; go on with it (--resume) or name another folder")
    torch.set_num_threads(settings.threads)
    evaluations = _evaluations(settings)
    env = environment(settings)
    if resume:
        model = SelfPlayMaskablePPO.load(out / LAST, env=env, device="cpu")
    else:
        command = train_command(
            game,
            config=config,
            overrides=overrides or [],
            rules=rules or {},
            minutes=minutes,
            decisions=decisions,
            seed=settings.seed,
            out=out,
        )
        model = new_model(settings, env, {"command": command, "commit": commit()})
    out.mkdir(parents=True, exist_ok=True)
    return Training(settings, out, model, evaluations, console or Console(), evaluated)


@dataclass
class Training:
    """A run that is ready.

    Attributes
    ----------
    stopped
        Whether it was stopped by Ctrl-C, and can be resumed.
    """

    settings: TrainingConfig
    out: Path
    model: SelfPlayMaskablePPO
    evaluations: list[_Evaluation]
    console: Console
    evaluated: Callable[[int, float], bool] | None
    stopped: bool = False

    def go(self) -> SelfPlayMaskablePPO:
        """Train.

        Raises
        ------
        Diverged
            If the loss is not a finite number.
        OSError
            If something cannot be written.
        """
        settings, out, model = self.settings, self.out, self.model
        write_bytes(out / CONFIG, dump_config(settings).encode())
        log = CsvLog(out / LOG, keep_until=model.num_timesteps)
        model.set_logger(Logger(str(out), [log, TensorBoardOutputFormat(str(out))]))
        with _progress(self.console, settings, model) as progress, _stop_on_interrupt(self.console) as interrupted:
            watcher = _Run(settings, out, self.evaluations, progress, interrupted, self.evaluated)
            total = settings.decisions if settings.minutes is None else 2**62
            try:
                with suppress(_Finished):
                    # With reset_num_timesteps=False, Stable-Baselines3 adds what is done already.
                    model.learn(max(total - model.num_timesteps, 0), callback=watcher, reset_num_timesteps=False)
                watcher.finish()
            finally:
                model.logger.close()
        self.stopped = interrupted()
        if self.stopped:
            self.console.print(f"Stopped at {model.num_timesteps:,} decisions; go on with --resume.")
        elif watcher.settled():
            self.console.print(
                f"No better result in the last {model.evaluations_since_best} evaluations: the run is over."
            )
        return model


def _settings(
    game: str,
    config: Path | None,
    overrides: list[str] | None,
    rules: dict[str, Any] | None,
    minutes: float | None,
    decisions: int | None,
    seed: int | None,
) -> TrainingConfig:
    if minutes is not None and decisions is not None:
        raise ValueError("give the length of the run in minutes or in decisions, not both")
    settings = load_config(config or default_config_path(game), overrides, game)
    changes: dict[str, Any] = {} if seed is None else {"seed": seed}
    if rules:
        changes["rules"] = settings.rules | rules
        changes["variants"] = _without(settings.variants, rules)
    if minutes is not None:
        changes["minutes"] = minutes
    if decisions is not None:
        changes |= {"decisions": decisions, "minutes": None}
    try:
        settings = TrainingConfig.model_validate(settings.model_dump() | changes)
    except ValidationError as error:
        raise ValueError(problems(error)) from None
    settings.made_games()
    return settings


def _without(variants: Sequence[Variant], rules: dict[str, Any]) -> list[dict[str, Any]]:
    """The variants as far as they still differ when some options are given for all of them."""
    shares: dict[str, tuple[dict[str, Any], float]] = {}
    for variant in variants:
        kept = {key: value for key, value in variant.rules.items() if key not in rules}
        _, share = shares.get(repr(kept), (kept, 0.0))
        shares[repr(kept)] = (kept, share + variant.share)
    left = [{"rules": kept, "share": share} for kept, share in shares.values()]
    return left if len(left) > 1 or any(entry["rules"] for entry in left) else []


@dataclass(frozen=True)
class _Evaluation:
    """What the policy is measured in: one variant of the game, against each opponent of the configuration."""

    label: str  # of the variant
    game: Game[Any, Any]
    opponents: list[Agent]
    adviser: Adviser | None  # of the policy


def _evaluations(settings: TrainingConfig) -> list[_Evaluation]:
    specs = settings.evaluation.opponents
    return [
        _Evaluation(
            label, game, [make_agent(spec, game) for spec in specs], make_adviser(settings.network.advice, game)
        )
        for label, game in zip(settings.labels(), settings.made_games(), strict=True)
    ]


def environment(settings: TrainingConfig) -> SelfPlayEnv:
    """The games of a run, at their beginning.

    Raises
    ------
    ValueError
        For agents, shares or variants that do not fit.
    """
    games = settings.made_games()
    weights = [variant.share for variant in settings.variants] or [1.0]
    counts = apportion(settings.games, [weight / sum(weights) for weight in weights])
    if min(counts) == 0:
        raise ValueError(f"variants: expected a share for each that is at least one of {settings.games} games")
    tables: list[Tables] = []
    for game, count in zip(games, counts, strict=True):
        guide = None if settings.warm_start is None else make_agent(settings.warm_start.agent, game)
        ahead = settings.look_ahead
        comparison = None if ahead is None else Comparison(game, make_agent(ahead.agent, game))
        against = _against(game, settings.opponents)
        first = sum(map(len, tables))
        tables.append(
            Tables(
                game,
                count,
                seed=settings.seed,
                first=first,
                against=against,
                guide=guide,
                comparison=comparison,
                adviser=make_adviser(settings.network.advice, game),
            )
        )
    return SelfPlayEnv(tables)


def _against(game: Game[Any, Any], opponents: Sequence[Opponents]) -> list[Against]:
    return [
        Against(
            entry.agent + (" (partner)" if entry.partner else ""),
            None if entry.agent == PAST else make_agent(entry.agent, game),
            entry.share,
            entry.partner,
        )
        for entry in opponents
    ]


def new_model(settings: TrainingConfig, env: SelfPlayEnv, provenance: dict[str, Any]) -> SelfPlayMaskablePPO:
    """The learner of a run, at its beginning.

    Raises
    ------
    ValueError
        If it is to begin with numbers of a file that cannot be read, or that are those of another network or game.
    """
    model = SelfPlayMaskablePPO(
        SelfPlayPolicy,
        env,
        network=settings.network.shape(),
        learning_rate=settings.learning_rate.at,
        n_steps=settings.moves,
        batch_size=settings.minibatch,
        n_epochs=settings.epochs,
        gamma=settings.gamma,
        gae_lambda=settings.gae_lambda,
        clip_range=settings.clip,
        ent_coef=settings.entropy.start,
        ent_coef_end=settings.entropy.end,
        vf_coef=settings.value_weight,
        max_grad_norm=settings.max_grad_norm,
        reward_kind=settings.reward,
        rivalry=settings.rivalry,
        reward_scale=settings.reward_scale,
        past=settings.past,
        warm_start=settings.warm_start,
        look_ahead=settings.look_ahead,
        magnet=settings.magnet,
        mirror=settings.mirror,
        critic=settings.critic,
        provenance=provenance,
        seed=settings.seed,
        device="cpu",
    )
    if settings.start is not None:
        file = shipped_weights(settings.game) if settings.start == SHIPPED else file_of(Path(settings.start))
        header, weights = read_file(file)
        model.begin_with(make_network(header, weights, env.game, file))
        model.provenance["start"] = header.get("provenance", {})
    model.minutes = settings.minutes
    model._last_obs = env.observe()  # the games have begun: learn() must not start them again
    return model


class _Finished(Exception):
    """The run's time is up, or the user stopped it; raised between two updates."""


class _Run(BaseCallback):
    """What happens between updates: evaluations, checkpoints, the end.

    All of it where a rollout begins: only there is the run in a state that can be saved and resumed exactly.
    """

    def __init__(
        self,
        settings: TrainingConfig,
        out: Path,
        evaluations: list[_Evaluation],
        progress: _Progress,
        interrupted: Callable[[], bool],
        evaluated: Callable[[int, float], bool] | None = None,
    ) -> None:
        super().__init__()
        self.settings, self.out, self.evaluations = settings, out, evaluations
        self.progress, self.interrupted = progress, interrupted
        self.evaluated, self.given_up = evaluated, False
        self.saved_at = self.tick = time.monotonic()
        self.was: Phase | None = None

    def _on_step(self) -> bool:
        return True

    def _on_rollout_start(self) -> None:
        model: Any = self.model
        now = time.monotonic()
        model.trained_seconds += now - self.tick
        due = model.num_timesteps // self.settings.evaluation.every
        if due > model.evaluations:
            model.evaluations = due
            self._evaluate()
        phase = model.phase
        if self.was is Phase.COPY and phase is not Phase.COPY:
            self.progress.copied(model)
        if self.was is Phase.COMPARE and phase is not Phase.COMPARE:
            self.progress.compared(model)
        self.was = phase
        if now - self.saved_at > 60 * self.settings.checkpoint_minutes:
            self._save()
        self.tick = time.monotonic()  # evaluations and checkpoints are no training time
        self.progress.update(model)
        if self.interrupted() or model.out_of_time() or self.settled() or self.given_up:
            raise _Finished

    def _save(self) -> None:
        self.model.save(self.out / LAST)
        self.saved_at = time.monotonic()

    def _evaluate(self) -> None:
        model: Any = self.model
        results, decisive = [], []
        for evaluation in self.evaluations:
            policy = LearnedAgent(evaluation.game, model.policy.logits_and_values, adviser=evaluation.adviser)
            for spec, opponent in zip(self.settings.evaluation.opponents, evaluation.opponents, strict=True):
                mean, error, _ = advantage_over(
                    evaluation.game, policy, opponent, self.settings.evaluation.deals, WATCH_SEED
                )
                label = f"{spec} ({evaluation.label})" if evaluation.label else spec
                model.logger.record(f"eval/{label}", mean)
                model.logger.record(f"eval/{label}_error", error)
                results.append((label, mean, error))
            decisive.append(results[-1][1])
        self.progress.evaluated(model, results)
        model.evaluated_at = model.num_timesteps
        result = sum(decisive) / len(decisive)
        model.evaluations_since_best += 1
        if result > model.best_result:
            model.best_result = result
            model.evaluations_since_best = 0
            model.save(self.out / BEST)
        if self.evaluated is not None:
            self.given_up = not self.evaluated(model.num_timesteps, result)

    def settled(self) -> bool:
        """Whether the run is over because the policy has stopped getting better."""
        model: Any = self.model
        return self.settings.stop is not None and model.evaluations_since_best >= self.settings.stop.patience

    def finish(self) -> None:
        """Evaluate and save at the end of the run."""
        model: Any = self.model
        if not self.interrupted():
            if model.evaluated_at < model.num_timesteps:
                self._evaluate()
                model.evaluations += 1
            if model.logger.name_to_value:  # what came after the line of the last update
                model.logger.dump(model.num_timesteps)
        if not (self.out / BEST).exists():
            model.save(self.out / BEST)
        self._save()
        self.progress.update(model)


class _Progress:
    """Progress on a terminal as a bar, elsewhere as a line for every evaluation."""

    def __init__(self, console: Console, settings: TrainingConfig, model: SelfPlayMaskablePPO) -> None:
        self.console, self.settings = console, settings
        self.begun = time.monotonic()
        self.begun_at = model.num_timesteps
        self.bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[shown]}"),
            TimeRemainingColumn(),
            console=console,
            disable=not console.is_terminal,
        )
        self.task = self.bar.add_task(f"training {settings.game}", total=1.0, shown="")

    def rate(self, model: SelfPlayMaskablePPO) -> float:
        """Decisions a second since this run began or was resumed, evaluations included."""
        return (model.num_timesteps - self.begun_at) / max(time.monotonic() - self.begun, 1e-9)

    def update(self, model: SelfPlayMaskablePPO) -> None:
        """Show how far the run is."""
        shown = f"{model.num_timesteps:,} decisions, {self.rate(model):,.0f}/s"
        doing = f"training {self.settings.game}"
        phase = model.phase
        if phase is Phase.COPY and model.warm_start is not None:
            doing = f"copying {model.warm_start.agent}"
            shown += f", agreement {model.agreement:.1%}"
        if phase is Phase.COMPARE and model.look_ahead is not None:
            doing = f"looking ahead with {model.look_ahead.agent}"
        done = model.progress(self.settings.decisions)
        self.bar.update(self.task, description=doing, completed=done, shown=shown)

    def copied(self, model: SelfPlayMaskablePPO) -> None:
        """Print that the warm start is over."""
        assert model.warm_start is not None
        self._say(
            f"{model.num_timesteps:>12,} decisions: {model.warm_start.agent} is copied, "
            f"the likeliest action is its own in {model.agreement:.1%} of its decisions"
        )

    def compared(self, model: SelfPlayMaskablePPO) -> None:
        """Print that the run goes on without looking ahead."""
        assert model.look_ahead is not None
        self._say(f"{model.num_timesteps:>12,} decisions: the look ahead with {model.look_ahead.agent} is over")

    def evaluated(self, model: SelfPlayMaskablePPO, results: list[tuple[str, float, float]]) -> None:
        """Print an evaluation."""
        against = ", ".join(f"{mean:+.2f} ± {1.96 * error:.2f} against {spec}" for spec, mean, error in results)
        self._say(f"{model.num_timesteps:>12,} decisions ({self.rate(model):,.0f}/s): {against}")

    def _say(self, text: str) -> None:
        self.console.print(text, highlight=False, soft_wrap=True)  # one line where it is read by programs


@contextmanager
def _progress(console: Console, settings: TrainingConfig, model: SelfPlayMaskablePPO) -> Iterator[_Progress]:
    progress = _Progress(console, settings, model)
    with progress.bar:
        yield progress


@contextmanager
def _stop_on_interrupt(console: Console) -> Iterator[Callable[[], bool]]:
    """Turn the first Ctrl-C into a wish to stop at the next update; a second one stops at once.

    Yields a function that tells whether the wish was made.
    """
    wished = False

    def handler(number: int, frame: Any) -> None:
        nonlocal wished
        if wished:
            raise KeyboardInterrupt
        wished = True
        console.print("Stopping after the present update, to save; Ctrl-C again stops at once.")

    try:
        before = signal.signal(signal.SIGINT, handler)
    except ValueError:  # not in the main thread, where signals do not come
        yield lambda: False
        return
    try:
        yield lambda: wished
    finally:
        signal.signal(signal.SIGINT, before)
