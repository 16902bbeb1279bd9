"""A search through configurations by Optuna: many short runs of ``slopes train``, and the best one as its options.

Install Optuna with ``pip install 'slopes-envs[sweep]'``; then::

    python -m slopes_training.examples.sweep sloppy_seconds --trials 40 --decisions 500000 --out runs/sweep

Every trial is a run of so many decisions in a folder of its own, with the same seed, so on the same deals.  What counts
is the advantage of the policy at its end over ``--against``, on duplicate deals that are the same for every trial and
that training does not see.  During a run the policy is measured ``--evaluations`` times; one that is then below the
median of the earlier trials is given up (``--no-prune`` lets all of them finish).

Results go to ``sweep.jsonl``, a journal that Optuna reads too.  The same command goes on with a sweep that was stopped,
and comes to what it would have come to otherwise: a trial that was broken off is made again.  One process at a time
works on a sweep.

What is varied is said by ``--vary NAME=WHAT``, where NAME is a field of a configuration and WHAT

- ``1..4``, a whole number, or ``0.8..1.0``, a number between these;
- ``log:1e-4..3e-3``, a number that is as likely to fall between 1e-4 and 1e-3 as between 1e-3 and 1e-2;
- ``512|1024|2048``, one of these; anything that YAML can say, such as ``[128,128]|[256,256]``.

``share`` is no field, but the share of games that ``--opponent`` plays in: it stands for ``opponents``.
"""

from __future__ import annotations

import io
import json
import math
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import optuna
import typer
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from optuna.trial import FrozenTrial, Trial, TrialState
from rich.console import Console

from slopes_agents import make_agent
from slopes_agents.advice import make_adviser
from slopes_agents.learned import LearnedAgent
from slopes_envs import game_names

from ..config import TrainingConfig, default_config_path, load_config
from ..selfplay import Diverged, SelfPlayMaskablePPO
from ..train import CONFIG, run
from ..watch import advantage_over

JOURNAL = "sweep.jsonl"
SHARE = "share"
DEALS_SEED = 2**41  # of the deals that decide; far from the seeds people use, and from those of `train.WATCH_SEED`
VARIED = (
    "learning_rate.start=log:1e-4..3e-3",
    "entropy.start=log:1e-3..5e-2",
    "minibatch=512|1024|2048|4096",
    "epochs=1..4",
    "share=0..0.5",
)
FEWEST = 5  # trials before any is given up

DONE = (TrialState.COMPLETE, TrialState.PRUNED)


# ------------------------------------------------------------------------------------------------------ what is varied


@dataclass(frozen=True)
class Varied:
    """A field and what it may be: one of ``choices``, or a number from ``low`` to ``high``."""

    name: str
    choices: tuple[str, ...] = ()
    low: float = 0.0
    high: float = 0.0
    whole: bool = False
    log: bool = False

    @classmethod
    def parse(cls, text: str) -> Varied:
        """Read ``NAME=WHAT``; see the module.

        Raises
        ------
        ValueError
            For anything else.
        """
        name, equals, what = text.partition("=")
        if not name or not equals or not what:
            raise ValueError(f"--vary expected NAME=WHAT, got {text!r}")
        ends = what.removeprefix("log:").split("..")
        if len(ends) != 2:
            if what.startswith("log:"):
                raise ValueError(f"--vary {name}: expected log:LOW..HIGH, got {what!r}")
            return cls(name, choices=tuple(what.split("|")))
        try:
            low, high = map(float, ends)
        except ValueError:
            raise ValueError(f"--vary {name}: expected numbers as LOW..HIGH, got {what!r}") from None
        log = what.startswith("log:")
        if not (math.isfinite(low) and math.isfinite(high)) or low >= high or (log and low <= 0):
            raise ValueError(f"--vary {name}: expected LOW{' above 0' if log else ''} and a larger HIGH, got {what!r}")
        return cls(name, low=low, high=high, whole=all(end.strip("+-").isdecimal() for end in ends), log=log)

    def draw(self, trial: Trial) -> str:
        """What a trial takes, as text; numbers have three digits, so that what is printed is what was run."""
        if self.choices:
            return str(trial.suggest_categorical(self.name, self.choices))
        if self.whole and self.name != SHARE:
            return str(trial.suggest_int(self.name, int(self.low), int(self.high), log=self.log))
        return f"{trial.suggest_float(self.name, self.low, self.high, log=self.log):.3g}"


def override(name: str, value: str, opponent: str, games: int) -> str:
    """What ``--set`` takes for a value that was drawn; a share that comes to none of the games has no opponents."""
    if name != SHARE:
        return f"{name}={value}"
    if round(float(value) * games) == 0:
        return "opponents=[]"
    return f"opponents=[{{agent: {json.dumps(opponent)}, share: {value}}}]"


# ------------------------------------------------------------------------------------------------------------ the sweep


@dataclass(frozen=True)
class Sweep:
    """What is searched, and how a configuration is judged.

    Attributes
    ----------
    game
        Name of a game.
    vary
        ``NAME=WHAT`` texts.
    decisions
        Length of a run.
    config, fixed
        What is not varied: a YAML file (None is the one that ships) and ``key=value`` changes to it.
    opponent
        Spec of the agent that plays in the share of the games that is drawn.
    against, deals
        Spec of the agent that the advantage is measured over, and on how many duplicate deals.
    evaluations
        How often a run is measured, its end included.
    prune
        Whether runs below the median are given up.
    seed
        Of every run, and of what is tried.

    Raises
    ------
    ValueError
        For anything that does not fit, before anything is run.
    """

    game: str
    vary: tuple[str, ...] = VARIED
    decisions: int = 500_000
    config: Path | None = None
    fixed: tuple[str, ...] = ()
    opponent: str = "heuristic"
    against: str = "heuristic"
    deals: int = 1_000
    evaluations: int = 4
    prune: bool = True
    seed: int = 0

    def __post_init__(self) -> None:
        names = [varied.name for varied in self.varied]
        if repeated := {name for name in names if names.count(name) > 1}:
            raise ValueError(f"--vary expected every name once, got {sorted(repeated)[0]} again")
        for made in self.settings(self.fixed).made_games():
            make_agent(self.against, made)
            make_agent(self.opponent, made)
        # Each of the ends and choices alone: the search should not come upon one that is refused.
        for varied in self.varied:
            ends = varied.choices or [f"{end:.0f}" if varied.whole else f"{end:g}" for end in (varied.low, varied.high)]
            for value in ends:
                self.settings([*self.fixed, self._override(varied.name, value)])

    @property
    def varied(self) -> list[Varied]:
        """What is varied."""
        return [Varied.parse(text) for text in self.vary]

    def settings(self, overrides: Sequence[str]) -> TrainingConfig:
        """A configuration with changes."""
        return load_config(self.config or default_config_path(self.game), list(overrides), self.game)

    def told(self) -> dict[str, Any]:
        """What must be the same for results to be comparable."""
        known = {key: str(value) for key, value in vars(self).items()}
        return known | {"config": self.settings(self.fixed).model_dump_json()}

    def _override(self, name: str, value: str) -> str:
        return override(name, value, self.opponent, self.settings(self.fixed).games)

    def overrides(self, trial: Trial) -> list[str]:
        """What a trial changes."""
        return [self._override(varied.name, varied.draw(trial)) for varied in self.varied]

    def advantage(self, model: SelfPlayMaskablePPO, settings: TrainingConfig) -> tuple[float, float]:
        """Points above ``against`` on the deals that decide, over all variants, and the standard error."""
        found = []
        for game in settings.made_games():
            policy = LearnedAgent(
                game, model.policy.logits_and_values, adviser=make_adviser(settings.network.advice, game)
            )
            found.append(advantage_over(game, policy, make_agent(self.against, game), self.deals, DEALS_SEED)[:2])
        means, errors = np.array(found).T
        return float(means.mean()), float(np.sqrt((errors**2).sum()) / len(errors))


class Stopped(Exception):
    """Ctrl-C ended a run; what was finished before is kept."""


def search(sweep: Sweep, trials: int, out: Path, console: Console) -> optuna.Study:
    """Go on until so many trials are done, those of earlier calls included.

    Parameters
    ----------
    sweep
        What is searched.
    trials
        How many in all; those that were given up count, those that were broken off do not.
    out
        Folder of the journal and the runs.
    console
        Where a line is shown for every trial.

    Raises
    ------
    ValueError
        If the folder holds another sweep.
    Stopped
        After Ctrl-C.
    """
    study = _study(sweep, out)
    while (done := len(study.get_trials(deepcopy=False, states=DONE))) < trials:
        # A generator of its own for every trial: a sweep that was stopped goes on as it would have gone on.
        seed = int(np.random.SeedSequence([sweep.seed, done]).generate_state(1)[0])
        study.sampler = optuna.samplers.TPESampler(seed=seed)
        trial = study.ask()
        try:
            value = _run(sweep, trial, out / f"trial-{trial.number:03}")
        except (Stopped, KeyboardInterrupt):  # the second where no run is under way, or at a second Ctrl-C
            study.tell(trial, state=TrialState.FAIL)
            raise Stopped from None
        study.tell(trial, value, state=TrialState.PRUNED if value is None else TrialState.COMPLETE)
        console.print(_line(study.trials[trial.number]), highlight=False, soft_wrap=True, markup=False)
    return study


def _study(sweep: Sweep, out: Path) -> optuna.Study:
    out.mkdir(parents=True, exist_ok=True)
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    pruner = optuna.pruners.MedianPruner(FEWEST) if sweep.prune else optuna.pruners.NopPruner()
    study = optuna.create_study(
        study_name="sweep",
        storage=JournalStorage(JournalFileBackend(str(out / JOURNAL))),
        pruner=pruner,
        direction="maximize",
        load_if_exists=True,
    )
    for name, value in sweep.told().items():
        before = study.user_attrs.get(name)
        if before is None:
            study.set_user_attr(name, value)
        elif before != value:
            raise ValueError(f"{out} holds another sweep: {name} was {before}, now {value}; name another folder")
    for trial in study.get_trials(deepcopy=False, states=(TrialState.RUNNING,)):  # of a process that ended meanwhile
        study.tell(trial.number, state=TrialState.FAIL)
    return study


def _run(sweep: Sweep, trial: Trial, out: Path) -> float | None:
    """The advantage of one trial, None if it was given up; notes what was run and the error."""
    overrides = sweep.overrides(trial)
    trial.set_user_attr("set", overrides)
    every = max(sweep.decisions // sweep.evaluations, 1)
    watched = [
        f"evaluation={{every: {every}, deals: {sweep.deals}, opponents: {json.dumps([sweep.against])}}}",
        "stop=null",
    ]
    given_up = False

    def evaluated(decisions: int, result: float) -> bool:
        nonlocal given_up
        trial.report(result, decisions // every)
        given_up = sweep.prune and decisions < sweep.decisions and trial.should_prune()
        return not given_up

    try:
        model = run(
            sweep.game,
            config=sweep.config,
            overrides=[*sweep.fixed, *overrides, *watched],
            decisions=sweep.decisions,
            seed=sweep.seed,
            out=out,
            console=Console(file=io.StringIO()),
            evaluated=evaluated,
        )
    except Diverged as why:
        trial.set_user_attr("diverged", str(why))
        return None
    if given_up:
        return None
    if model.num_timesteps < sweep.decisions:
        raise Stopped
    mean, error = sweep.advantage(model, load_config(out / CONFIG))
    trial.set_user_attr("error", error)
    return mean


def _line(trial: FrozenTrial) -> str:
    if trial.state is TrialState.COMPLETE:
        result = f"{trial.value:+.3f} ± {1.96 * trial.user_attrs['error']:.3f}"
    else:
        result = "diverged" if "diverged" in trial.user_attrs else "given up"
    return f"trial {trial.number}: {result}  {' '.join(trial.user_attrs['set'])}"


def command(sweep: Sweep, trial: FrozenTrial) -> str:
    """The command that trains with what a trial found."""
    config = [] if sweep.config is None else ["--config", str(sweep.config)]
    changes = [word for each in (*sweep.fixed, *trial.user_attrs["set"]) for word in ("--set", each)]
    return shlex.join(["slopes", "train", sweep.game, *config, *changes, "--out", "DIR"])


app = typer.Typer(add_completion=False)


@app.command()
def main(
    game: Annotated[str, typer.Argument(help=f"One of {', '.join(game_names())}.")],
    out: Annotated[Path, typer.Option(help="Folder of the sweep; one that was stopped is gone on with.")],
    trials: Annotated[int, typer.Option(min=1, help="Trials in all, those done before included.")] = 40,
    decisions: Annotated[int, typer.Option(min=1, help="Decisions of a run.")] = 500_000,
    vary: Annotated[list[str] | None, typer.Option(metavar="NAME=WHAT", help="What to vary. Repeatable.")] = None,
    config: Annotated[Path | None, typer.Option(help="Configuration; by default the one that ships.")] = None,
    fixed: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="A value that is not varied. Repeatable.")
    ] = None,
    opponent: Annotated[str, typer.Option(help="Agent that plays in the share of the games.")] = "heuristic",
    against: Annotated[str, typer.Option(help="Agent over which the advantage is measured.")] = "heuristic",
    deals: Annotated[int, typer.Option(min=2, help="Duplicate deals to measure on.")] = 1_000,
    evaluations: Annotated[int, typer.Option(min=1, help="How often a run is measured.")] = 4,
    prune: Annotated[bool, typer.Option(help="Whether runs below the median are given up.")] = True,
    seed: Annotated[int, typer.Option(min=0, help="Of every run, and of what is tried.")] = 0,
) -> None:
    """Search a configuration by short runs, and print the best as a command.  Stops with Ctrl-C, and goes on."""
    console = Console()
    try:
        sweep = Sweep(
            game, tuple(vary or VARIED), decisions, config, tuple(fixed or ()), opponent, against, deals, evaluations,
            prune, seed,
        )  # fmt: skip
        study = search(sweep, trials, out, console)
    except ValueError as wrong:
        raise typer.BadParameter(str(wrong)) from None
    except Stopped:
        console.print("Stopped; the same command goes on.")
        raise typer.Exit(130) from None
    finished = study.get_trials(states=(TrialState.COMPLETE,))
    if not finished:
        console.print("No trial came to its end.")
        raise typer.Exit(1)
    best = study.best_trial
    console.print(
        f"best of {len(study.get_trials(states=DONE))}: trial {best.number}, {best.value:+.3f} ± "
        f"{1.96 * best.user_attrs['error']:.3f} above {against} on {deals} deals\n{command(sweep, best)}",
        highlight=False,
        soft_wrap=True,
        markup=False,
    )


if __name__ == "__main__":
    app()
