"""Model cards: what the policies that ship can do, measured and written down.

``python -m slopes_benchmarks.cards GAME`` plays a fixed set of evaluations with the policy of a game
(:mod:`~slopes_benchmarks.card_rows` lists them), times it, and writes

- ``benchmarks/results/policies/GAME.json``: what was found, the same whatever the workers and the interruptions;
- ``benchmarks/results/policies/GAME.timings.json``: how fast the policy answers, and the machine;
- ``agents/weights/GAME.md``: the card;

and the table of policies in the README of the checkout it is run in.  A row that is there is not played again,
whichever commit played it, unless its weights, options, deals or seed are other ones.  What a policy does not do well
is written by hand, in ``agents/weights/limits.toml``.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from slopes_agents.weights_file import WEIGHTS_SUFFIX
from slopes_envs import UnknownName, game_names

from .card_report import FOLDER, LIMITS, card, read_limits, renewed, stored_policies
from .card_rows import Policy, play_rows, read_stored, rows_of, time_policy
from .duplicate import Interrupted
from .keeping import write_bytes
from .terminal import line

SEED = 100
"""Of the deals; far from the seeds that people train with."""
SECONDS = 2.0
"""Processor time that one timing takes at least."""


def weights_of(games: Sequence[str], folder: Path | None) -> list[Path]:
    """The files of weights of some games, by default of all that have one, in the order of the games.

    Parameters
    ----------
    games
        Their names.
    folder
        Where the files are; by default those that ship.

    Raises
    ------
    UnknownName, ValueError
        If a game is not known, or a wanted file or all files are missing.
    """
    for game in games:
        if game not in game_names():
            raise UnknownName("game", game, game_names())
    if folder is None:
        folder = Path(str(files("slopes_agents") / "weights"))
    found = [folder / f"{game}{WEIGHTS_SUFFIX}" for game in game_names() if game in games or not games]
    missing = [path for path in found if not path.is_file()]
    if games and missing:
        raise ValueError(f"{missing[0]}: there is no such file; python -m slopes_training.ship makes it")
    if len(missing) == len(found):
        raise ValueError(f"{folder}: expected weights of a game, found none")
    return [path for path in found if path not in missing]


def command_of(game: str, deals: int, seed: int, others: Sequence[Path], searches: Sequence[str], number: int) -> str:
    """The command that plays the rows of one game, without what does not bear on them."""
    words = ["python", "-m", "slopes_benchmarks.cards", game, "--deals", str(deals), "--seed", str(seed)]
    for other in others:
        words += ["--other", str(other)]
    for search in searches:
        words += ["--search", search]
    words += ["--search-deals", str(number)] if searches else []
    return shlex.join(words)


def main(
    games: Annotated[list[str] | None, typer.Argument(metavar="[GAME]...", help="By default all with weights.")] = None,
    deals: Annotated[int, typer.Option(min=2, help="Duplicate deals of a row.")] = 1000,
    seed: Annotated[int, typer.Option(help="Decides every deal; none that a policy was trained with.")] = SEED,
    other: Annotated[
        list[Path] | None,
        typer.Option(metavar="PATH", help="A policy of another seed: a run, a checkpoint or weights, of any GAME."),
    ] = None,
    search: Annotated[
        list[str] | None, typer.Option(metavar="SPEC", help="An agent that searches with the policy: search:ppo.")
    ] = None,
    search_deals: Annotated[int, typer.Option(min=2, help="Duplicate deals of its rows, which take long.")] = 200,
    seconds: Annotated[float, typer.Option(min=0, help="Of each timing; 0 for none.")] = SECONDS,
    workers: Annotated[int, typer.Option(min=1, help="Processes; they do not bear on results.")] = 1,
    weights: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Of the weights and the cards; by default those that ship.")
    ] = None,
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Of the results.")] = FOLDER,
    limits: Annotated[
        Path | None, typer.Option(metavar="FILE", help="What policies do not do well; by default beside the weights.")
    ] = None,
    readme: Annotated[Path, typer.Option(metavar="FILE", help="Whose table is renewed.")] = Path("README.md"),
    report_only: Annotated[bool, typer.Option("--report-only", help="Play nothing: renew cards and README.")] = False,
) -> None:
    """Measure the policies that ship and write their model cards."""
    console = Console(stderr=True)
    others, searches = list(other or []), list(search or [])
    try:
        jobs = []
        companions = [(Policy.of(path), path) for path in others]
        policies = [Policy.of(path) for path in weights_of(games or [], weights)]
        strangers = [str(path) for one, path in companions if one.game not in {policy.game for policy in policies}]
        if strangers:
            raise ValueError(f"--other {strangers[0]}: a policy of another game than those asked for")
        for policy in policies:
            texts = read_limits(limits or policy.path.with_name(LIMITS), policy.game)
            own = [(one, path) for one, path in companions if one.game == policy.game]
            command = command_of(policy.game, deals, seed, [path for _, path in own], searches, search_deals)
            rows = []
            if not report_only:
                rows = rows_of(
                    policy,
                    deals=deals,
                    seed=seed,
                    others=[one for one, _ in own],
                    searches=searches,
                    search_deals=search_deals,
                )
            elif read_stored(out, policy.game).results.get("policy", {}).get("digest") != policy.digest:
                raise ValueError(f"{policy.path}: nothing is stored of these weights in {out}")
            jobs.append((policy, rows, command, texts))
        text = readme.read_text(encoding="utf-8")
        renewed(text, [], out)  # so that a README without the marks is refused before anything is played
    except (ValueError, OSError) as error:
        typer.echo(f"Error: {error}", err=True)
        raise typer.Exit(2) from None
    for policy, rows, command, texts in jobs:
        if not report_only:
            try:
                play_rows(policy, rows, out, workers=workers, command=command, console=console)
            except Interrupted as stop:
                line(console, f"stopped after {stop.done} deals of a row; the same command goes on from there")
                raise typer.Exit(1) from None
            if seconds > 0:
                time_policy(policy, out, seconds=seconds, seed=seed)
        page = policy.path.with_suffix(".md")
        write_bytes(page, card(read_stored(out, policy.game), texts).encode())
        line(console, f"written: {page}")
    write_bytes(readme, renewed(readme.read_text(encoding="utf-8"), stored_policies(out), out).encode())
    line(console, f"renewed: the table of policies in {readme}")


if __name__ == "__main__":
    typer.run(main)
