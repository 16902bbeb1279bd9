"""The ladder of strength: agents in order, each measured against the one below it, and what a decision of each costs.

``python -m slopes_benchmarks.ladder GAME`` plays every rung against the rung below over duplicate deals, times all of
them, and writes into a folder, for each game and its options:

- ``NAME.json``: the rungs and the pairs, the same whatever the workers and the interruptions;
- ``NAME.timings.json``: milliseconds a decision, and the machine;
- ``NAME.HASH.playing.jsonl``: finished deals of a pair that is not finished;

and ``ladder.md``, which shows all ladders of the folder.  A pair that is there is not played again, whichever commit
played it, unless its options, agents, deals or seed are other ones; nor is a rung timed again.
"""

from __future__ import annotations

import json
import sys
import time
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, fields
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console

from slopes_agents import Agent, make_agent
from slopes_agents.play import play_out, seated
from slopes_envs import Game, InformationSet, State, UnknownName, __version__, derive, game_names, match_seed
from slopes_envs.chance import below
from slopes_envs.options import parse_rules
from slopes_training.provenance import commit, short_commit

from .duplicate import Chunk, Interrupted, Plan, evaluated_game, play_chunk, summary
from .keeping import KeptPieces, write_bytes, write_json
from .league_report import unit, with_interval
from .machine import describe, one_core, versions
from .markdown import table
from .pieces import Piece, commits_of, play_missing
from .terminal import line, progress

REPORT, TIMINGS, PLAYING = "ladder.md", ".timings.json", "playing.jsonl"
FOLDER = Path("benchmarks") / "results" / "ladder"

USUAL = ("random", "greedy", "heuristic", "pimc:worlds=32", "ismcts:iterations=1000")
RUNGS = {"slippery_sam": (*USUAL, "optimal")}
"""Rungs of a game, weakest first, where they are not the usual ones."""

KEPT = ("difference", "gain", "win_share", "metrics")
"""Figures of an evaluation that stand in a ladder."""

TOGETHER = 64
"""Games whose decisions are timed as one batch."""
SECONDS = 2.0
"""Processor time that one timing takes at least, though it ends with a decision."""
FROM, TO = 0.25, 0.75
"""Between which parts of a match it is timed."""


# ------------------------------------------------------------------------------------------------------------- rungs


def rungs_of(game: Game[Any, Any], wanted: Sequence[str] | None = None) -> list[str]:
    """The rungs of a game's ladder, weakest first: those wanted, or those of the usual ones that play it.

    Raises
    ------
    ValueError
        For fewer than two, one that stands twice, or a wanted one that does not play the game.
    """
    if wanted is not None:
        rungs = list(wanted)
        for spec in rungs:
            make_agent(spec, game)
    else:
        rungs = [spec for spec in RUNGS.get(game.name, USUAL) if _plays(spec, game)]
    if len(rungs) < 2 or len(set(rungs)) < len(rungs):
        raise ValueError(f"rungs of a ladder expected at least two different ones, got {', '.join(rungs)}")
    return rungs


def _plays(spec: str, game: Game[Any, Any]) -> bool:
    try:
        make_agent(spec, game)
    except UnknownName:
        raise
    except ValueError:
        return False
    return True


def ladder_name(game: Game[Any, Any]) -> str:
    """Name of a ladder's files: the game, then its options where they are not the usual ones of an evaluation."""
    usual = evaluated_game(game.name, {}).rules
    changed = [
        f"{spec.name}={_plain(getattr(game.rules, spec.name))}"
        for spec in fields(game.rules)
        if getattr(game.rules, spec.name) != getattr(usual, spec.name)
    ]
    return "_".join([game.name, *changed])


def _plain(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def pair_key(plan: Plan) -> dict[str, Any]:
    """What decides the result of a pair, but for the code."""
    names = ("game", "rules", "agent", "against", "seed")
    return {name: plan.work[name] for name in names} | {"deals": plan.deals}


# ------------------------------------------------------------------------------------------------------------- pairs


def play_pair(
    plan: Plan, path: Path, code: str | None, workers: int = 1, tell: Callable[[int], None] = lambda done: None
) -> dict[str, Any]:
    """Play a rung against the one below, from where an earlier run was stopped.

    Parameters
    ----------
    plan
        The pair.
    path
        Where finished deals are kept until all are there.
    code
        The commit that plays.
    workers
        Processes; they do not bear on the result.
    tell
        Told how many deals are finished.

    Returns
    -------
    The key of the pair, its figures, ``decisions``, and the ``commits`` that played it.

    Raises
    ------
    Interrupted
        On Ctrl-C; what was finished is kept.
    """
    kept = KeptPieces(path, pair_key(plan), resume=True)
    pieces = play_missing(kept, plan.chunks, _deals, partial(_play, plan), code, workers, tell)
    found = summary(plan, [_chunk(piece) for piece in pieces], 0, 1.0)
    kept.remove()
    return {
        **pair_key(plan),
        **{name: found[name] for name in KEPT if name in found},
        "decisions": sum(piece["decisions"] for piece in pieces),
        "version": __version__,
        "commits": commits_of(pieces),
    }


def _play(plan: Plan, deals: tuple[int, int]) -> Piece:
    return asdict(play_chunk(plan, deals))


def _deals(piece: Piece) -> tuple[int, int]:
    return piece["start"], piece["stop"]


def _chunk(piece: dict[str, Any]) -> Chunk:
    return Chunk(**{name: value for name, value in piece.items() if name != "commit"})


def verdict(pair: dict[str, Any]) -> str:
    """What a pair says of the rung: ``"above"`` the one below, ``"tie"``, or ``"below"`` it."""
    low, high = pair["difference"]["ci95"]
    if low > 0:
        return "above"
    return "below" if high < 0 else "tie"


# ----------------------------------------------------------------------------------------------------------- timings


def positions(game: Game[Any, Any], player: Agent, count: int, seed: int) -> State:
    """Positions with a choice in the middle of matches that a player plays against itself.

    Every match gives one: the first with a choice from a moment on that is drawn from its middle half.
    """
    numbers = np.arange(2 * count)
    seating = seated(np.zeros(game.num_players), len(numbers))
    ended = game.new(match_seed(seed, numbers))
    play_out(game, ended, [player], seating)
    part = FROM + (TO - FROM) * below(derive(seed, numbers), 2**20) / 2**20
    moment = (ended.move * part).astype(np.int64)
    state = game.new(match_seed(seed, numbers))  # the same matches again
    found: State = state.copy()
    ready = np.zeros(len(numbers), np.bool_)
    while len(numbers):
        at = (state.move >= moment[numbers]) & (game.legal(state).sum(axis=1) > 1)
        found.put(numbers[at], state.take(at))
        ready[numbers[at]] = True
        on = np.flatnonzero(~at)
        state, numbers = state.take(on), numbers[on]
        if len(numbers):
            game.step(state, player.act(InformationSet(game, state)))
            on = np.flatnonzero(state.seat >= 0)
            state, numbers = state.take(on), numbers[on]
    taken = np.flatnonzero(ready)[:count]
    if len(taken) < count:
        raise ValueError(f"{game.name}: expected {count} matches with a choice from their middle on, got {len(taken)}")
    middle: State = found.take(taken)
    return middle


def milliseconds(agent: Agent, game: Game[Any, Any], state: State, batch: int, seconds: float) -> float:
    """Processor time of a decision, if so many are made at once."""
    agent.act(InformationSet(game, state.take(np.arange(1))))  # what is made or loaded once is not timed
    parts = [state.take(np.arange(start, start + batch)) for start in range(0, len(state) - batch + 1, batch)]
    decisions = number = 0
    begun = now = time.process_time()
    while now < begun + seconds:
        agent.act(InformationSet(game, parts[number % len(parts)]))
        decisions, number = decisions + batch, number + 1
        now = time.process_time()
    return 1e3 * (now - begun) / decisions


def timing(game: Game[Any, Any], spec: str, state: State, seconds: float) -> dict[str, Any]:
    """What a decision of a rung costs."""
    agent = make_agent(spec, game)
    return {
        "agent": spec,
        "together": TOGETHER,
        "ms_together": milliseconds(agent, game, state, TOGETHER, seconds),
        "ms_alone": milliseconds(agent, game, state, 1, seconds),
    }


# ----------------------------------------------------------------------------------------------------------- ladders


def _read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return found


def run(
    game: Game[Any, Any],
    rungs: Sequence[str],
    folder: Path,
    *,
    deals: int,
    seed: int,
    seconds: float = SECONDS,
    workers: int = 1,
    command: str = "",
    console: Console | None = None,
) -> dict[str, Any]:
    """Play and time what is missing of a ladder, and write it as it comes.

    Parameters
    ----------
    game, rungs
        What is played by whom, weakest first.
    folder
        Of the results; made if it does not exist.
    deals, seed
        Of every pair.
    seconds
        Of processor time, for each of two timings a rung; 0 for none.
    workers
        Processes; they do not bear on results.
    command
        How it was started.
    console
        Where progress is shown.

    Returns
    -------
    The ladder; its file also holds pairs of other rungs, deals or seeds that were played earlier.

    Raises
    ------
    Interrupted
        On Ctrl-C; what was finished is kept.
    """
    console = Console(stderr=True, quiet=True) if console is None else console
    folder.mkdir(parents=True, exist_ok=True)
    name, code = ladder_name(game), commit()
    path = folder / f"{name}.json"
    known = {_identity(pair): pair for pair in _read(path).get("pairs", [])}
    facts = {"game": game.name, "title": game.title, "rules": game.rules.record(), "deals": deals, "seed": seed}
    found = {**facts, "command": command, "rungs": list(rungs), "pairs": []}
    if seconds > 0:
        _time_rungs(game, rungs, folder / f"{name}{TIMINGS}", seed, seconds, code, console)
    for lower, upper in pairwise(rungs):
        plan = Plan(game, upper, (lower,), deals, seed)
        key = pair_key(plan)
        pair = known.get(_identity(key))
        if pair is None:
            playing = folder / f"{name}.{zlib.crc32(_identity(key).encode()):08x}.{PLAYING}"
            with progress(console, f"{name}: {upper} against {lower}", deals, "deals") as tell:
                pair = play_pair(plan, playing, code, workers, tell)
            known[_identity(key)] = pair
        found["pairs"].append(pair)
        # What was played of other ladders of this game stays: it may be a rung of this one, or of a later one.
        others = [known[text] for text in sorted(known) if known[text] not in found["pairs"]]
        write_json(path, {**found, "pairs": [*found["pairs"], *others]})
    return found


def _identity(key: dict[str, Any]) -> str:
    return json.dumps({name: key[name] for name in ("game", "rules", "agent", "against", "seed", "deals")})


def _time_rungs(
    game: Game[Any, Any],
    rungs: Sequence[str],
    path: Path,
    seed: int,
    seconds: float,
    code: str | None,
    console: Console,
) -> None:
    """Time the rungs that are not in the file yet."""
    timed = {entry["agent"]: entry for entry in _read(path).get("rungs", [])}
    missing = [spec for spec in rungs if spec not in timed]
    if not missing:
        return
    player = make_agent("heuristic" if _plays("heuristic", game) else "random", game)
    state = positions(game, player, TOGETHER, seed)
    facts = {"machine": describe(), "versions": versions(), "commit": code}
    with progress(console, f"{ladder_name(game)}: timing", len(missing), "rungs") as tell, one_core():
        for done, spec in enumerate(missing, 1):
            timed[spec] = {**timing(game, spec, state, seconds), **facts}
            write_json(path, {"rungs": list(timed.values())})
            tell(done)


# ------------------------------------------------------------------------------------------------------------ report


def stored_ladders(folder: Path) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """The ladders in a folder and their timings by rung, by game and name."""
    paths = [path for path in sorted(folder.glob("*.json")) if not path.name.endswith(TIMINGS)]
    found = []
    for path in paths:
        timings = _read(path.with_suffix(TIMINGS)).get("rungs", [])
        found.append((_read(path), {entry["agent"]: entry for entry in timings}))
    order = game_names()
    return sorted(found, key=lambda ladder: order.index(ladder[0]["game"]))


def ladder_section(ladder: dict[str, Any], timings: dict[str, Any]) -> str:
    """One ladder as Markdown."""
    pairs = _own_pairs(ladder)
    whole = any("win_share" in pair for pair in pairs.values())
    columns = ["rung", f"points a {unit(ladder)} above the rung below"]
    columns += ["matches won"] if whole else []
    columns += [f"ms a decision, {TOGETHER} games at once", "one game"]
    rows = []
    for spec in ladder["rungs"]:
        pair, cost = pairs.get(spec), timings.get(spec)
        row = [f"`{spec}`", "" if pair is None else with_interval(pair["difference"], 2)]
        if whole:
            row.append("" if pair is None else with_interval(pair["win_share"], 3, sign=False))
        row += ["", ""] if cost is None else [_ms(cost["ms_together"]), _ms(cost["ms_alone"])]
        rows.append(row)
    options = ", ".join(f"{name}={value}" for name, value in ladder["rules"].items())
    parts = [
        f"## {ladder['title']}, {ladder['rules']['num_players']} players",
        f"    {ladder['command']}",
        f"{ladder['deals']:,} duplicate deals a pair, seed {ladder['seed']}, {_played_by(pairs.values())}. "
        f"Options: {options}.",
        table(columns, rows),
        *_remarks(pairs),
        _timed_by(timings[spec] for spec in ladder["rungs"] if spec in timings),
    ]
    return "\n\n".join(filter(None, parts))


def _own_pairs(ladder: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The pairs of a ladder's own rungs, by the upper one; a file may hold others that were played earlier."""
    below_of = {upper: lower for lower, upper in pairwise(ladder["rungs"])}
    return {
        pair["agent"]: pair
        for pair in ladder["pairs"]
        if [below_of.get(pair["agent"])] == pair["against"]
        and (pair["deals"], pair["seed"]) == (ladder["deals"], ladder["seed"])
    }


def _remarks(pairs: dict[str, dict[str, Any]]) -> list[str]:
    """Ties, and rungs that stand too high, in words."""
    texts = []
    for spec, pair in pairs.items():
        (lower,) = pair["against"]
        if verdict(pair) == "tie":
            texts.append(f"Tie: `{spec}` and `{lower}` cannot be told apart by these deals.")
        elif verdict(pair) == "below":
            texts.append(f"**`{spec}` loses to `{lower}`**, the rung below it.")
    return texts


def _played_by(pairs: Iterable[dict[str, Any]]) -> str:
    found = [(pair["version"], code) for pair in pairs for code in pair["commits"]]
    codes = ", ".join(dict.fromkeys(short_commit(code) for _, code in found))
    return f"version {', '.join(dict.fromkeys(number for number, _ in found))}, commit {codes}"


def _timed_by(timings: Iterable[dict[str, Any]]) -> str:
    machines = dict.fromkeys(
        f"{entry['machine']['processor']}, numpy {entry['versions']['numpy']}, commit {short_commit(entry['commit'])}"
        for entry in timings
    )
    return f"Timed on one core of {'; '.join(machines)}." if machines else ""


def _ms(number: float) -> str:
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def report(ladders: Iterable[tuple[dict[str, Any], dict[str, Any]]]) -> str:
    """All ladders as a page of Markdown."""
    head = (
        "# Ladders of strength\n\n"
        "Every rung is measured against the one below it over duplicate deals: one at the table among others of the "
        "rung below (in team games: a team of each), in every seat in turn. Means with 95 % intervals over deals; an "
        "interval that holds zero is a tie. The time of a decision is processor time, in positions from the middle of "
        "matches of rule-based players, forced moves left out."
    )
    return "\n\n".join([head, *(ladder_section(*ladder) for ladder in ladders)]) + "\n"


def main(
    names: Annotated[list[str] | None, typer.Argument(metavar="[GAME]...", help="Games; by default all.")] = None,
    rung: Annotated[
        list[str] | None, typer.Option(metavar="SPEC", help="Weakest first; by default the usual that play the game.")
    ] = None,
    deals: Annotated[int, typer.Option(min=2, help="Duplicate deals of each pair.")] = 300,
    seed: Annotated[int, typer.Option(help="Decides every deal.")] = 1,
    rule: Annotated[
        list[str] | None, typer.Option(metavar="KEY=VALUE", help="Option of the game, as of the slopes command.")
    ] = None,
    seconds: Annotated[float, typer.Option(min=0, help="Of each timing; 0 for none.")] = SECONDS,
    workers: Annotated[int, typer.Option(min=1, help="Processes; they do not bear on results.")] = 1,
    out: Annotated[Path, typer.Option(help="Folder of the results.")] = FOLDER,
) -> None:
    """Measure every rung of a ladder of agents against the rung below."""
    console = Console(stderr=True)
    command = " ".join(["python -m slopes_benchmarks.ladder", *sys.argv[1:]])
    ladders = []
    try:
        for name in names or game_names():
            game = evaluated_game(name, parse_rules(name, rule or []))
            ladders.append((game, rungs_of(game, rung)))
    except ValueError as error:
        typer.echo(f"Error: {error}", err=True)
        raise typer.Exit(2) from None
    for game, of_game in ladders:
        try:
            run(
                game,
                of_game,
                out,
                deals=deals,
                seed=seed,
                seconds=seconds,
                workers=workers,
                command=command,
                console=console,
            )
        except Interrupted as stop:
            line(console, f"stopped after {stop.done} deals of a pair; the same command goes on from there")
            raise typer.Exit(1) from None
        write_bytes(out / REPORT, report(stored_ladders(out)).encode())
    line(console, f"written to {out} and {out / REPORT}")


if __name__ == "__main__":
    typer.run(main)
