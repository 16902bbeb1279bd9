"""What each part of a way to train is worth: the same short training without it, or with another, over several seeds.

``python -m slopes_benchmarks.ablation PLAN.yaml`` trains every variant of a plan with every seed and measures the last
policy of each, always by the same duplicate deals.  A plan names the ``config`` (a file beside the plan, or one that
ships), the ``seeds`` (how many), the ``decisions`` of a run, ``set`` (changes to all variants) and ``variants`` (a name
and its own changes; the first is what the others are compared with).

It writes ``PLAN.json`` and ``PLAN.md`` into a folder, and the runs below ``--runs``.  A run that is measured is not
trained again.

Shape letters: **D** deals, **P** seats.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
import yaml
from pydantic import BaseModel, ConfigDict, Field, PositiveInt, ValidationError
from rich.console import Console

from slopes_agents import Agent, make_agent
from slopes_agents.play import play_out
from slopes_envs import Game, __version__, match_seed
from slopes_training.config import TrainingConfig, default_config_path, load_config, problems
from slopes_training.provenance import commit, short_commit
from slopes_training.train import LAST, run
from slopes_training.watch import advantage_over

from .intervals import Interval, student_interval
from .keeping import write_bytes, write_json
from .machine import describe, versions
from .markdown import table
from .terminal import line

FOLDER = Path("benchmarks") / "results" / "ablation"
DEALS = 1000
SEED = 2**41  # of the deals that measure; neither those of training nor those that people use
OPPONENTS = ("heuristic", "random")
ALONE, CROSS = "self", "cross"
TITLES = {
    "heuristic": "above `heuristic`",
    "random": "above `random`",
    ALONE: "among its like",
    CROSS: "among other seeds",
}


class Variant(BaseModel):
    """One way to train."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    name: str
    set: tuple[str, ...] = Field((), description="changes to the configuration, key=value")


class AblationPlan(BaseModel):
    """What is compared."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    config: str
    seeds: PositiveInt = 3
    decisions: PositiveInt
    set: tuple[str, ...] = ()
    variants: tuple[Variant, ...] = Field(min_length=2)


def load_plan(path: Path) -> AblationPlan:
    """Read a plan.

    Raises
    ------
    ValueError
        Naming what was expected and what came.
    """
    try:
        plan = AblationPlan.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except (OSError, yaml.YAMLError, UnicodeDecodeError) as error:
        raise ValueError(f"plan {path}: cannot be read ({error})") from None
    except ValidationError as error:
        raise ValueError(f"plan {path}: {problems(error)}") from None
    names = [variant.name for variant in plan.variants]
    if len(set(names)) < len(names):
        raise ValueError(f"plan {path}: expected different names of variants, got {names}")
    for variant in plan.variants:
        load_config(_config(path, plan), [*plan.set, *variant.set])
    return plan


def _config(path: Path, plan: AblationPlan) -> Path:
    beside = path.parent / plan.config
    return beside if beside.is_file() else default_config_path("slopes").parent / plan.config


def trained(path: Path, plan: AblationPlan, variant: Variant, seed: int, out: Path) -> Path:
    """The last policy of a run, which is trained as far as it is not."""
    config, changes, console = _config(path, plan), [*plan.set, *variant.set], Console(file=io.StringIO())
    game = load_config(config, changes).game
    if (out / LAST).exists():
        run(game, out=out, resume=True, console=console)
    else:
        run(game, config=config, overrides=changes, decisions=plan.decisions, seed=seed, out=out, console=console)
    return out / LAST


def measured(game: Game[Any, Any], policy: Agent) -> dict[str, float]:
    """Points a match of one policy above opponents of each kind, and of a seat when it sits in all of them."""
    found = {}
    for spec in OPPONENTS:
        found[spec] = advantage_over(game, policy, make_agent(spec, game), DEALS, SEED)[0]
    return found | {ALONE: together(game, [policy])}


def together(game: Game[Any, Any], policies: Sequence[Agent]) -> float:
    """Mean score of a seat when policies sit side by side, in turns."""
    seating = (np.arange(DEALS)[:, None] + np.arange(game.num_players)) % len(policies)
    state = game.new(match_seed(SEED, np.arange(DEALS)))
    play_out(game, state, policies, seating)
    return float(game.scores(state).mean())


def ablate(path: Path, out: Path, runs: Path, tell: Callable[[str], None] = lambda text: None) -> dict[str, Any]:
    """Train and measure whatever is missing, writing the results after each run.

    Raises
    ------
    ValueError
        For a plan that does not fit, or results that belong to another one.
    """
    plan = load_plan(path)
    file = out / f"{path.stem}.json"
    settings = load_config(_config(path, plan), list(plan.set))
    results = _known(file, plan, settings)
    game = settings.made_games()[0]
    for seed in range(plan.seeds):  # all variants of a seed before the next, so that an early look is a fair one
        for number, variant in enumerate(plan.variants):
            rows = results["variants"].setdefault(variant.name, {})
            if str(seed) in rows:
                continue
            folder = runs / path.stem / f"{number}-{seed}"
            last = trained(path, plan, variant, seed, folder)
            rows[str(seed)] = measured(game, make_agent(f"ppo:{last}", game))
            _write(file, results, plan)
            tell(f"{variant.name}, seed {seed}: {rows[str(seed)]}")
    for number, variant in enumerate(plan.variants):
        if variant.name not in results[CROSS]:
            lasts = [runs / path.stem / f"{number}-{seed}" / LAST for seed in range(plan.seeds)]
            policies = [make_agent(f"ppo:{last}", game) for last in lasts if last.exists()]
            if len(policies) == plan.seeds > 1:
                results[CROSS][variant.name] = together(game, policies)
    _write(file, results, plan)
    return results


def _known(file: Path, plan: AblationPlan, settings: TrainingConfig) -> dict[str, Any]:
    """Results so far."""
    described = plan.model_dump(mode="json")
    if not file.exists():
        return {
            "plan": described,
            "configuration": settings.model_dump(mode="json"),  # for the file that the plan names may change
            "deals": DEALS,
            "version": __version__,
            "commit": commit(),
            "machine": describe(),
            "versions": versions(["numpy", "torch", "stable-baselines3"]),
            "variants": {},
            CROSS: {},
        }
    results: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    if results.get("plan") != described:
        raise ValueError(f"{file} holds results of another plan; name another folder")
    if TrainingConfig.model_validate(results.get("configuration")) != settings:
        raise ValueError(f"{file} holds results of another configuration than {plan.config} is now; name another one")
    return results


def _write(file: Path, results: dict[str, Any], plan: AblationPlan) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    write_json(file, results)
    write_bytes(file.with_suffix(".md"), report(results, plan).encode())


def report(results: dict[str, Any], plan: AblationPlan) -> str:
    """The results as a page of Markdown."""
    first = plan.variants[0].name
    columns = ["variant", *(TITLES[name] for name in (*OPPONENTS, ALONE, CROSS)), "heuristic, less the first's"]
    rows = []
    base = results["variants"].get(first, {})
    for variant in plan.variants:
        found = results["variants"].get(variant.name, {})
        cells = [_interval([row[name] for row in found.values()]) for name in (*OPPONENTS, ALONE)]
        cross = results[CROSS].get(variant.name)
        both = sorted(found.keys() & base.keys())
        less = [found[seed]["heuristic"] - base[seed]["heuristic"] for seed in both] if variant.name != first else []
        rows.append([variant.name, *cells, "" if cross is None else f"{cross:+.2f}", _interval(less)])
    changes = "\n".join(
        f"- {variant.name}: {' '.join(f'`{change}`' for change in variant.set) or 'nothing changed'}"
        for variant in plan.variants
    )
    common = f", with {' '.join(f'`{change}`' for change in plan.set)} everywhere" if plan.set else ""
    return (
        f"# What parts of the training are worth: `{plan.config}`\n\n"
        f"Runs of {plan.decisions:,} decisions{common}; the last policy's likeliest actions, in points a match, over "
        f"{results['deals']:,} duplicate deals that are the same for all. Means and 95 % intervals (Student's t) over "
        f"{plan.seeds} seeds; the last column pairs runs of the same seed. Among other seeds: all policies of the "
        f"variant at one table.\n\n{table(columns, rows)}\n\n{changes}\n\n"
        f"Version {results['version']}, commit {short_commit(results['commit'])}, "
        f"{results['machine']['processor']}.\n"
    )


def _interval(values: Sequence[float]) -> str:
    if not values:
        return ""
    if len(values) < 2:
        return f"{values[0]:+.2f}"
    found: Interval = student_interval(values)
    return f"{found.mean:+.2f} [{found.low:+.2f}, {found.high:+.2f}]"


def main(
    plan: Annotated[Path, typer.Argument(metavar="PLAN.yaml", help="What is compared.")],
    out: Annotated[Path, typer.Option(help="Folder of the results.")] = FOLDER,
    runs: Annotated[Path, typer.Option(help="Folder of the runs.")] = Path("runs") / "ablation",
) -> None:
    """Train variants of a configuration with several seeds, and compare what comes of them."""
    try:
        ablate(plan, out, runs, partial(line, Console()))
    except (ValueError, OSError) as error:
        typer.echo(f"Error: {error}", err=True)
        raise typer.Exit(2) from None


if __name__ == "__main__":
    typer.run(main)
