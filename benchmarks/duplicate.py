"""Duplicate deals: the same deals with the agents in every seat, and what that says about an agent.

Every deal is played once for every place the agent can take (in team games: once for each side, which it fills as a
whole).  Luck of the deal and of the seat then cancels within a deal, and the deal is the independent unit of all
intervals.  Where everybody else is the same kind of agent, one more table without the agent shows what those score
in the agent's own seats.

The deals are played in chunks of a fixed size, all tables of a chunk in one batch, since what a network answers can
vary in its last bits with the size of a batch.  So neither the number of workers nor an interruption bears on a
result.

Shape letters: **N** deals, **T** tables a deal, **R** of them with the agent, **P** seats.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slopes_agents import Agent, make_agent
from slopes_agents.play import AgentFault, choose
from slopes_envs import Game, IllegalAction, __version__, make_game, match_seed

from .intervals import student_interval
from .keeping import KeptPieces
from .metrics import MetricsWatch, default_match
from .provenance import commit
from .workers import Stoppable, spread

CHUNK_DEALS = 250
"""Deals that are played in one batch."""

AGENT, AGAINST = 0, 1
"""Whose a seat is.  It also salts the player's own chance: two copies of an agent must not make the same random
choices, or `random` against itself would show no spread at all."""

Player = str | Agent
"""A spec, or an agent."""

Progress = Callable[[int], None]
"""Told how many deals are finished."""


class Interrupted(Exception):
    """The evaluation was stopped by Ctrl-C.

    Attributes
    ----------
    result
        What the finished deals say, like the result of an evaluation of these alone; None when they are too few.
    done
        Number of finished deals.
    """

    def __init__(self, done: int, result: dict[str, Any] | None) -> None:
        super().__init__(f"interrupted after {done} deals")
        self.done, self.result = done, result


# ------------------------------------------------------------------------------------------------------------ plans


def evaluated_game(name: str, rules: dict[str, Any]) -> Game[Any, Any]:
    """A game with the options it is evaluated with: those given, and ``match`` as is usual for it unless given.

    Raises
    ------
    UnknownName, RulesError
        As :func:`slopes_envs.make_game` does.
    """
    game = make_game(name, **rules)
    return game if "match" in rules else type(game)(replace(game.rules, match=default_match(name)))


@dataclass(frozen=True)
class Plan:
    """What is to be played; all of it checked.

    Attributes
    ----------
    game
        The rules.
    agent
        Whom it is about.
    against
        The others, cyclically from the agent's left: one for all seats, or one for each.
    deals
        N, at least two.
    seed
        Deal ``i`` has the match seed ``match_seed(seed, i)``.

    Raises
    ------
    ValueError
        For a number of others or of deals that does not fit, or a spec that names no agent of this game.
    """

    game: Game[Any, Any]
    agent: Player
    against: tuple[Player, ...]
    deals: int
    seed: int

    def __post_init__(self) -> None:
        if self.deals < 2:
            raise ValueError(f"deals expected at least 2, since one alone has no interval, got {self.deals}")
        others = self.game.num_players - len(self.game.teams[0])
        if len(self.against) not in (1, others):
            one_each = f" or {others}, one for each of the others" if others > 1 else ""
            raise ValueError(f"{self.game.name}: against expected one agent for all{one_each}, got {len(self.against)}")
        _ = self.agents  # a spec that names no agent of this game is refused here

    def __reduce__(self) -> tuple[Any, ...]:
        return Plan, (self.game, self.agent, self.against, self.deals, self.seed)  # workers make their own agents

    @property
    def players(self) -> tuple[Player, ...]:
        """Everybody at the table: the agent, then the others."""
        return (self.agent, *self.against)

    @property
    def alike(self) -> bool:
        """Whether the others are all the same, so that a table without the agent makes sense."""
        return all(player == self.against[0] for player in self.against)

    @cached_property
    def agent_seats(self) -> NDArray[np.bool_]:
        """``bool[R, P]``: the agent's seats at each of its tables."""
        return np.array([[seat in side for seat in range(self.game.num_players)] for side in self.game.teams])

    @cached_property
    def seating(self) -> NDArray[np.int64]:
        """``int64[T, P]``: who sits where, as numbers of :attr:`players`; the agent's R tables first."""
        seats = self.game.num_players
        tables = np.zeros((len(self.agent_seats), seats), np.int64)
        for table, own in zip(tables, self.agent_seats, strict=True):
            first = int(own.argmax())
            others = [seat % seats for seat in range(first, first + seats) if not own[seat % seats]]
            for place, seat in enumerate(others):
                table[seat] = 1 + place % len(self.against)
        return np.concatenate([tables, np.ones((1, seats), np.int64)]) if self.alike else tables

    @cached_property
    def groups(self) -> NDArray[np.int64]:
        """``int64[T, P]``: whose each seat is, AGENT or AGAINST; -1 at the table that only serves the gain."""
        groups = np.where(self.seating == 0, AGENT, AGAINST)
        groups[len(self.agent_seats) :] = -1
        return groups

    @property
    def chunks(self) -> list[tuple[int, int]]:
        """First deal and the one after the last of every chunk."""
        return [(start, min(start + CHUNK_DEALS, self.deals)) for start in range(0, self.deals, CHUNK_DEALS)]

    @cached_property
    def agents(self) -> list[Agent]:
        """The agents that :attr:`players` stand for, in that order; equal specs share one."""
        made = {spec: make_agent(spec, self.game) for spec in self.players if isinstance(spec, str)}
        return [made[player] if isinstance(player, str) else player for player in self.players]

    @cached_property
    def work(self) -> dict[str, Any]:
        """All that the result depends on, as plain JSON values."""
        return {
            "game": self.game.name,
            "rules": self.game.rules.record(),
            "agent": label(self.agent),
            "against": [label(player) for player in self.against],
            "seed": self.seed,
            "version": __version__,
            "commit": commit(),
        }


def label(player: Player) -> str:
    """What a player is called in results."""
    return player if isinstance(player, str) else player.spec or type(player).__name__


# ---------------------------------------------------------------------------------------------------------- playing


@dataclass(frozen=True)
class Chunk:
    """What some deals brought; plain numbers, so that it can be kept as JSON."""

    start: int
    stop: int
    scores: list[list[list[int]]]  # [deals, T, P] at the end of every table
    metrics: dict[str, list[list[float]]]  # for each metric and group: sum over hands and seats, and their number
    decisions: int


def play_chunk(plan: Plan, deals: tuple[int, int]) -> Chunk:
    """Play all tables of some deals (the first, and the one after the last) in one batch.

    Raises
    ------
    AgentFault
        If an agent answers with something that is no legal action.
    """
    game, tables = plan.game, len(plan.seating)
    numbers = np.arange(*deals)
    state = game.new(np.repeat(match_seed(plan.seed, numbers), tables))
    seating = np.tile(plan.seating, (len(numbers), 1))
    salts = np.where(seating == 0, AGENT, AGAINST)
    watch = MetricsWatch(game, np.tile(plan.groups, (len(numbers), 1)), 2)
    scores = np.zeros((len(state), game.num_players), np.int32)
    live = np.arange(len(state))
    decisions = 0
    with _one_thread():
        while len(live):
            actions = choose(game, state, plan.agents, seating[live], salts[live, state.seat])
            watch.before(state)
            try:
                game.step(state, actions)
            except IllegalAction as error:
                culprit = plan.agents[seating[live[error.index], error.seat]]
                raise AgentFault(f"{culprit!r}: {error}") from error
            watch.after(state, live, actions)
            decisions += len(live)
            over = state.seat < 0
            if over.any():
                scores[live[over]] = state.scores[over]
                live, state = live[~over], state.take(np.flatnonzero(~over))
    return Chunk(*deals, scores.reshape(len(numbers), tables, -1).tolist(), watch.sums, decisions)


@contextmanager
def _one_thread() -> Iterator[None]:
    """Keep PyTorch, where it is loaded, to one thread: its last bits can vary with their number."""
    torch = sys.modules.get("torch")
    if torch is None:
        yield
        return
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def run(
    plan: Plan,
    *,
    workers: int = 1,
    kept: KeptPieces | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Play a plan.

    Parameters
    ----------
    plan
        What to play.
    workers
        Number of processes; it does not bear on the result.
    kept
        Where finished chunks are kept, and taken from if they are there already.
    progress
        Called with the number of finished deals, at the beginning and after every chunk.

    Returns
    -------
    The result as plain JSON values; only ``seconds`` and ``decisions_per_second`` differ from run to run.

    Raises
    ------
    AgentFault
        If an agent answers with something that is no legal action.
    Interrupted
        On Ctrl-C; what was finished is kept, and in the exception.
    """
    _ = plan.work  # the commit is that of the beginning
    kept_chunks = [] if kept is None else [Chunk(**piece) for piece in kept.pieces]
    finished = {(chunk.start, chunk.stop): chunk for chunk in kept_chunks if (chunk.start, chunk.stop) in plan.chunks}
    missing = [chunk for chunk in plan.chunks if chunk not in finished]
    done = sum(chunk.stop - chunk.start for chunk in finished.values())
    decisions = 0
    begun = time.perf_counter()
    if progress is not None:
        progress(done)
    with Stoppable(spread(partial(play_chunk, plan), missing, workers, ordered=False)) as chunks:
        for chunk in chunks:
            if kept is not None:
                kept.add(asdict(chunk))
            finished[chunk.start, chunk.stop] = chunk
            decisions += chunk.decisions
            done += chunk.stop - chunk.start
            if progress is not None:
                progress(done)
    seconds = time.perf_counter() - begun
    result = summary(plan, finished.values(), decisions, seconds) if done >= 2 else None
    if chunks.stopped and done < plan.deals:
        raise Interrupted(done, result)
    assert result is not None
    return result


def evaluate(
    game: str | Game[Any, Any],
    agent: Player,
    against: Player | Sequence[Player],
    deals: int,
    seed: int,
    *,
    workers: int = 1,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Measure an agent against others over duplicate deals.

    Parameters
    ----------
    game
        A game with its options, or a name: then with the options that are usual for an evaluation (in most games
        ``match="hand"``).
    agent, against
        Specs, or agents.  Several ``against`` sit cyclically from the agent's left, one in each seat.
    deals
        Number of deals, at least two; each is played with the agent in every place.
    seed
        Deal ``i`` has the match seed ``match_seed(seed, i)``.
    workers, progress
        As in :func:`run`.

    Returns
    -------
    Plain JSON values.  ``difference``: the agent's score less the mean of the others at its table (in team games: of
    the other team).  ``gain``: its score less what ``against`` score in the same seats of the same deal at a table
    without it; None unless all of them are the same.  Each is the mean over the agent's places in a deal, then over
    deals, with a 95 % interval over deals.  ``agent_score``, ``against_score``: mean score of a hand (or match);
    ``win_share``, with ``match="game"``: matches won, ties shared; ``metrics``: means over hands and seats.

    Raises
    ------
    ValueError
        For arguments that do not fit (its subclass AgentFault for an agent that makes an illegal move).
    """
    if isinstance(game, str):
        game = evaluated_game(game, {})
    others = (against,) if isinstance(against, str | Agent) else tuple(against)
    return run(Plan(game, agent, others, deals, seed), workers=workers, progress=progress)


# ---------------------------------------------------------------------------------------------------------- figures


def summary(plan: Plan, finished: Iterable[Chunk], decisions: int, seconds: float) -> dict[str, Any]:
    """The result of some finished chunks; ``decisions`` were taken in ``seconds``."""
    chunks = sorted(finished, key=lambda chunk: chunk.start)
    scores = np.concatenate([np.asarray(chunk.scores, np.int64) for chunk in chunks])
    work = plan.work
    return {
        **{name: work[name] for name in ("game", "rules", "agent", "against")},
        "deals": len(scores),
        "seed": work["seed"],
        **{
            name: None if values is None else student_interval(values).as_json()
            for name, values in figures(plan, scores).items()
        },
        "metrics": _metrics(chunks),
        "decisions_per_second": decisions / seconds if decisions else None,
        "seconds": seconds,
        "version": work["version"],
        "commit": work["commit"],
    }


def figures(plan: Plan, scores: NDArray[np.int64]) -> dict[str, NDArray[np.float64] | None]:
    """The figures of every deal, ``float64[N]`` each, from final scores ``int64[N, T, P]``."""
    own = plan.agent_seats
    tables = scores[:, : len(own)]
    # Sums of whole numbers, divided once at the end: so what cancels within a deal does so exactly.
    rotations, seats, others = len(own), int(own[0].sum()), int((~own[0]).sum())
    own_sum = (tables * own).sum(axis=(1, 2))
    other_sum = (tables * ~own).sum(axis=(1, 2))
    found: dict[str, NDArray[np.float64] | None] = {
        "difference": (own_sum * others - other_sum * seats) / (rotations * seats * others),
        "gain": None,
        "agent_score": own_sum / (rotations * seats),
        "against_score": other_sum / (rotations * others),
    }
    if plan.alike:
        without = (scores[:, len(own) :] * own).sum(axis=(1, 2))
        found["gain"] = (own_sum - without) / (rotations * seats)
    if plan.game.rules.match == "game":
        found["win_share"] = _win_shares(plan, tables).mean(axis=1)
    return found


def _win_shares(plan: Plan, tables: NDArray[np.int64]) -> NDArray[np.float64]:
    """What part of each match the agent won, ``float64[N, R]``; the sides with the highest score share the match."""
    sides = tables[:, :, [side[0] for side in plan.game.teams]]  # the score of a side is that of each of its seats
    best = sides == sides.max(axis=2, keepdims=True)
    own = np.diagonal(best, axis1=1, axis2=2)  # at table r the agent is side r
    shares: NDArray[np.float64] = own / best.sum(axis=2)
    return shares


def _metrics(chunks: Iterable[Chunk]) -> dict[str, dict[str, float | None]]:
    """Mean of every metric over hands and seats, for the agent and for those against it."""
    totals: dict[str, NDArray[np.float64]] = {}
    for chunk in chunks:
        for name, sums in chunk.metrics.items():
            totals[name] = totals.get(name, np.zeros((2, 2))) + np.asarray(sums, np.float64)
    return {
        name: {
            group: float(total / count) if count else None
            for group, (total, count) in zip(("agent", "against"), sums, strict=True)
        }
        for name, sums in totals.items()
    }
