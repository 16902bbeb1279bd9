"""A league: all-play-all among any agents over duplicate deals, which can be stopped, and grow, at any time.

The line-ups are those of :mod:`~slopes_benchmarks.lineups`.  What is kept is one line for every deal of every group,
appended to ``results.jsonl`` as they are finished; a later run in the same folder plays only what is not there.  When
all is there, the file is put into one order, so that in the end it is the same whatever the workers and the
interruptions.

Deals are played in chunks, one group at a time, so that what a network answers, whose last bits can vary with the size
of a batch, does not depend on who else is in the league.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from slopes_agents import Agent, make_agent
from slopes_agents.play import play_out
from slopes_envs import Game, __version__, match_seed
from slopes_envs.errors import shown
from slopes_training.provenance import commit

from .duplicate import CHUNK_DEALS, one_thread
from .keeping import KeptPieces
from .lineups import Group, groups, tables
from .workers import Stoppable, spread

FORMAT = "slopes-league/1"
RESULTS = "results.jsonl"

Result = dict[str, Any]
"""One deal of one group, as it stands in the file: ``agents``, ``deal``, ``seats`` (``[T][P]``, who sat where, as
places in ``agents``), ``scores`` (``[T][P]``, at the end) and ``commit`` (of the code that played it)."""

Results = dict[tuple[Group, int], Result]
"""By group and deal."""


class Part(NamedTuple):
    """Some deals of a group, played in one batch."""

    group: Group
    deals: tuple[int, ...]


class Stopped(Exception):
    """The league was stopped by Ctrl-C; what was finished is kept.

    Attributes
    ----------
    done
        How many deals of groups are finished.
    """

    def __init__(self, done: int) -> None:
        super().__init__(f"stopped after {done} deals of groups")
        self.done = done


@dataclass(frozen=True)
class League:
    """What is to be played; all of it checked.

    Attributes
    ----------
    game
        The rules.
    agents
        Specs, all different.
    deals
        N, at least two; every group plays each.
    seed
        Deal ``i`` has the match seed ``match_seed(seed, i)``, for every group.

    Raises
    ------
    ValueError
        For a number of agents or of deals that does not fit, an agent that stands twice, or a spec that names no agent
        of this game.
    """

    game: Game[Any, Any]
    agents: tuple[str, ...]
    deals: int
    seed: int

    def __post_init__(self) -> None:
        if self.deals < 2:
            raise ValueError(f"deals expected at least 2, since one alone has no interval, got {self.deals}")
        if len(self.agents) < 2:
            raise ValueError(f"agents of a league expected at least 2, got {len(self.agents)}")
        for agent in self.agents:
            if self.agents.count(agent) > 1:
                raise ValueError(f"agents of a league expected once each, got {agent!r} twice")
        _ = self.made

    def __reduce__(self) -> tuple[Any, ...]:
        return League, (self.game, self.agents, self.deals, self.seed)  # workers make their own agents

    @cached_property
    def made(self) -> dict[str, Agent]:
        """The agents that :attr:`agents` stand for."""
        return {spec: make_agent(spec, self.game) for spec in self.agents}

    @cached_property
    def groups(self) -> list[Group]:
        """Who plays together."""
        return groups(self.agents, len(self.game.teams))

    @property
    def size(self) -> int:
        """How many deals of groups there are in all."""
        return self.deals * len(self.groups)

    @cached_property
    def work(self) -> dict[str, Any]:
        """What all results in one file have in common: what they depend on, but for the agents and the deal."""
        return {
            "format": FORMAT,
            "game": self.game.name,
            "game_version": self.game.version,
            "rules": self.game.rules.record(),
            "seed": self.seed,
        }

    @cached_property
    def provenance(self) -> dict[str, Any]:
        """Version and commit of the code."""
        return {"version": __version__, "commit": commit()}

    def seating(self, size: int, deals: NDArray[np.int64]) -> NDArray[np.int64]:
        """``int64[N, T, P]``: who sits where in a group of that size, as places in the group."""
        of_sides = tables(size, len(self.game.teams), self.seed, deals)
        seats = np.empty((*of_sides.shape[:2], self.game.num_players), np.int64)
        for side, members in enumerate(self.game.teams):
            seats[:, :, members] = of_sides[:, :, [side]]
        return seats

    def missing(self, results: Results) -> list[Part]:
        """What is still to be played; the first deals of all groups come first."""
        parts = []
        for start in range(0, self.deals, CHUNK_DEALS):
            chunk = range(start, min(start + CHUNK_DEALS, self.deals))
            for group in self.groups:
                deals = tuple(deal for deal in chunk if (group, deal) not in results)
                if deals:
                    parts.append(Part(group, deals))
        return parts


def _salts(group: Group) -> NDArray[np.int64]:
    """``int64[T, g]``: what salts the own chance of each agent of a group at each table, so that its luck averages out.

    It hangs on the specs, not on their places, since those change with the league.
    """
    texts = [["\n".join([*group, str(table), spec]) for spec in group] for table in range(len(group))]
    return np.array([[zlib.crc32(text.encode()) for text in row] for row in texts])


def play_part(league: League, part: Part) -> list[Result]:
    """Play some deals of a group in one batch; the results have no commit yet.

    Raises
    ------
    AgentFault
        If an agent answers with something that is no legal action.
    """
    game, (group, numbers) = league.game, part
    deals = np.array(numbers)
    seating = league.seating(len(group), deals)
    seats = seating.reshape(-1, game.num_players)
    state = game.new(np.repeat(match_seed(league.seed, deals), len(group)))
    salts = np.tile(_salts(group), (len(deals), 1))[np.arange(len(seats))[:, None], seats]
    with one_thread():
        play_out(game, state, [league.made[spec] for spec in group], seats, salts=salts)
    scores = state.scores.reshape(seating.shape)
    return [
        {"agents": list(group), "deal": deal, "seats": seated.tolist(), "scores": won.tolist()}
        for deal, seated, won in zip(numbers, seating, scores, strict=True)
    ]


class ResultsFile:
    """The results of a league on disk; those that are there are read and checked.

    Raises
    ------
    ValueError
        If the file belongs to another league or holds something that is no result of this one.
    """

    def __init__(self, path: Path, league: League) -> None:
        self._work, self._kept = league.work, KeptPieces(path, league.work, resume=True)
        self.results: Results = {}
        """All that are there, those of agents that are not in this league too."""
        try:
            for line, result in enumerate(self._kept.pieces, 2):
                self._take(result, f"{path}, line {line}")
            self._check_seats(league, path)
        except ValueError:
            self._kept.close()
            raise

    def _take(self, result: Any, where: str) -> None:
        if not _is_result(result):
            raise ValueError(f"{where}: expected a result of a league, got {shown(result)}")
        key = (tuple(result["agents"]), result["deal"])
        if key in self.results:
            raise ValueError(f"{where}: deal {key[1]} of {', '.join(key[0])} expected once, got it again")
        self.results[key] = result

    def _check_seats(self, league: League, path: Path) -> None:
        """Whether everybody sat where these line-ups would have them sit."""
        by_group: dict[Group, list[Result]] = {}
        for (group, _), result in self.results.items():
            by_group.setdefault(group, []).append(result)
        for group, results in by_group.items():
            expected = league.seating(len(group), np.array([result["deal"] for result in results]))
            for result, seats in zip(results, expected, strict=True):
                if result["seats"] != seats.tolist() or np.shape(result["scores"]) != seats.shape:
                    raise ValueError(
                        f"{path}: deal {result['deal']} of {', '.join(group)} expected seats {seats.tolist()} and a "
                        f"score for each, got seats {result['seats']} and scores {result['scores']}"
                    )

    def add(self, results: Iterable[Result]) -> None:
        """Keep finished results."""
        added = list(results)
        self._kept.add(*added)
        for result in added:
            self.results[tuple(result["agents"]), result["deal"]] = result

    def close(self, *, in_order: bool) -> None:
        """Leave the file as it is, or put into one order: by group as they are listed, then by deal."""
        self._kept.close()
        if in_order:
            ordered = sorted(self.results.items(), key=lambda item: (len(item[0][0]), item[0]))
            self._kept.rewrite([self._work, *(result for _, result in ordered)])


def _is_result(found: Any) -> bool:
    return (
        isinstance(found, dict)
        and found.keys() == {"agents", "deal", "seats", "scores", "commit"}
        and isinstance(found["agents"], list)
        and all(isinstance(agent, str) for agent in found["agents"])
        and isinstance(found["deal"], int)
    )


def run(league: League, folder: Path, *, workers: int = 1, progress: Callable[[int], None] | None = None) -> Results:
    """Play what is missing of a league, and keep it.

    Parameters
    ----------
    league
        What to play.
    folder
        Where ``results.jsonl`` is; made if it does not exist.
    workers
        Number of processes; it does not bear on the results.
    progress
        Called with the number of finished deals of groups, at the beginning and after every part.

    Returns
    -------
    The results of this league's agents and deals, all of them.

    Raises
    ------
    ValueError
        If the folder belongs to another league (its subclass AgentFault for an agent that makes an illegal move).
    Stopped
        On Ctrl-C.
    """
    folder.mkdir(parents=True, exist_ok=True)
    code = league.provenance["commit"]  # that of the beginning
    file = ResultsFile(folder / RESULTS, league)
    missing = league.missing(file.results)
    done = league.size - sum(len(part.deals) for part in missing)
    if progress is not None:
        progress(done)
    try:
        with Stoppable(spread(partial(play_part, league), missing, workers, ordered=False)) as parts:
            for part in parts:
                file.add({**result, "commit": code} for result in part)
                done += len(part)
                if progress is not None:
                    progress(done)
    finally:
        file.close(in_order=done == league.size)
    if done < league.size:
        raise Stopped(done)
    return {(group, deal): file.results[group, deal] for group in league.groups for deal in range(league.deals)}
