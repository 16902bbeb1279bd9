"""Duplicate deals: the same deals with the agents in every seat, and what that says about an agent.

Every deal is played once for every place the agent can take (in team games: once for each side, which it fills as a
whole).  Luck of the deal and of the seat then cancels within a deal, and the deal is the independent unit of all
intervals.  Where everybody else is the same kind of agent, one more table without the agent shows what those score
in the agent's own seats.

The deals are played in chunks of a fixed size, all tables of a chunk in one batch, since what a network answers can
vary in its last bits with the size of a batch.  So neither the number of workers nor an interruption bears on a
result.

Where a value is given, control variates take out what was luck in the agents' own choices; see
:mod:`~slopes_benchmarks.control`.

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
from slopes_agents.play import Watch, play_out
from slopes_envs import Game, __version__, make_game, match_seed
from slopes_training.provenance import commit

from .control import ControlWatch, controlled
from .intervals import interval_kind
from .keeping import KeptPieces
from .metrics import MetricsWatch, default_match
from .values import Value, make_value
from .workers import Stoppable, spread

CHUNK_DEALS = 50
"""Deals that are played in one batch."""

AGENT, AGAINST = 0, 1
"""Whose a seat is."""

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
    value
        Spec of the value for control variates, or None for none.

    Raises
    ------
    ValueError
        For a number of others or of deals that does not fit, or a spec that names no agent or value of this game.
    """

    game: Game[Any, Any]
    agent: Player
    against: tuple[Player, ...]
    deals: int
    seed: int
    value: str | None = None

    def __post_init__(self) -> None:
        if self.deals < 2:
            raise ValueError(f"deals expected at least 2, since one alone has no interval, got {self.deals}")
        others = self.game.num_players - len(self.game.teams[0])
        if len(self.against) not in (1, others):
            one_each = f" or {others}, one for each of the others" if others > 1 else ""
            raise ValueError(f"{self.game.name}: against expected one agent for all{one_each}, got {len(self.against)}")
        _ = self.agents, self.made_value  # a spec that names no agent or value of this game is refused here

    def __reduce__(self) -> tuple[Any, ...]:
        # Workers make their own agents.
        return Plan, (self.game, self.agent, self.against, self.deals, self.seed, self.value)

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

    @cached_property
    def salts(self) -> NDArray[np.int64]:
        """``int64[T, P]``: what salts the own chance of each seat's player.

        Two copies of an agent must not make the same random choices, or `random` against itself would show no spread at
        all; and what is drawn must not be the same at all tables of a deal, or its luck would not average out.
        """
        salts: NDArray[np.int64] = 2 * np.arange(len(self.seating))[:, None] + np.where(
            self.seating == 0, AGENT, AGAINST
        )
        return salts

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
    def made_value(self) -> Value | None:
        """What :attr:`value` stands for."""
        return None if self.value is None else make_value(self.value, self.game)

    @cached_property
    def work(self) -> dict[str, Any]:
        """All that the result depends on, as plain JSON values."""
        return {
            "game": self.game.name,
            "rules": self.game.rules.record(),
            "agent": label(self.agent),
            "against": [label(player) for player in self.against],
            "seed": self.seed,
            "value": self.value,
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
    controls: list[list[list[float]]] | None  # [deals, T, P] corrections of these scores, where a value was given
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
    salts = np.tile(plan.salts, (len(numbers), 1))
    metrics = MetricsWatch(game, np.tile(plan.groups, (len(numbers), 1)), 2)
    watches: list[Watch] = [metrics]
    control = None
    if plan.made_value is not None:
        control = ControlWatch(game, plan.agents, seating, salts, plan.made_value)
        watches.append(control)
    with one_thread():
        decisions = play_out(game, state, plan.agents, seating, salts=salts, watches=watches)
    by_table = (len(numbers), tables, game.num_players)
    return Chunk(
        *deals,
        scores=state.scores.reshape(by_table).tolist(),
        metrics=metrics.sums,
        controls=None if control is None else control.sums.reshape(by_table).tolist(),
        decisions=decisions,
    )


@contextmanager
def one_thread() -> Iterator[None]:
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
    interval: str = "student",
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
    interval
        Kind of the intervals, one of :data:`~slopes_benchmarks.intervals.INTERVALS`.
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
    ValueError
        For an unknown kind of interval, or if there is no such interval of what was found.
    Interrupted
        On Ctrl-C; what was finished is kept, and in the exception.
    """
    interval_kind(interval)
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
    result = summary(plan, finished.values(), decisions, seconds, interval) if done >= 2 else None
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
    value: str | None = None,
    interval: str = "student",
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
    value
        Spec of a value for control variates; see :mod:`~slopes_benchmarks.values`.
    interval, workers, progress
        As in :func:`run`.

    Returns
    -------
    Plain JSON values.  ``difference``: the agent's score less the mean of the others at its table (in team games: of
    the other team).  ``gain``: its score less what ``against`` score in the same seats of the same deal at a table
    without it; None unless all of them are the same.  Each is the mean over the agent's places in a deal, then over
    deals, with a 95 % interval over deals.  ``agent_score``, ``against_score``: mean score of a hand (or match);
    ``win_share``, with ``match="game"``: matches won, ties shared; ``metrics``: means over hands and seats.  With a
    value, these figures are those with control variates, and ``control`` holds the ``value``, the ``plain`` figures
    without them, and of each the ``variance_ratio``, with to without.

    Raises
    ------
    ValueError
        For arguments that do not fit (its subclass AgentFault for an agent that makes an illegal move).
    """
    if isinstance(game, str):
        game = evaluated_game(game, {})
    others = (against,) if isinstance(against, str | Agent) else tuple(against)
    plan = Plan(game, agent, others, deals, seed, value)
    return run(plan, workers=workers, interval=interval, progress=progress)


# ---------------------------------------------------------------------------------------------------------- figures


def summary(
    plan: Plan, finished: Iterable[Chunk], decisions: int, seconds: float, interval: str = "student"
) -> dict[str, Any]:
    """The result of some finished chunks; ``decisions`` were taken in ``seconds``."""
    chunks = sorted(finished, key=lambda chunk: chunk.start)
    scores = np.concatenate([np.asarray(chunk.scores, np.int64) for chunk in chunks])
    plain = figures(plan, scores)
    shown, control = plain, None
    if plan.value is not None:
        shown = controlled_figures(plan, plain, np.concatenate([np.asarray(chunk.controls) for chunk in chunks]))
        control = {
            "value": plan.value,
            "plain": _intervals(plain, interval),
            "variance_ratio": {name: _variance_ratio(shown[name], values) for name, values in plain.items()},
        }
    work = plan.work
    return {
        **{name: work[name] for name in ("game", "rules", "agent", "against")},
        "deals": len(scores),
        "seed": work["seed"],
        "interval": interval,
        **_intervals(shown, interval),
        "control": control,
        "metrics": _metrics(chunks),
        "decisions_per_second": decisions / seconds if decisions else None,
        "seconds": seconds,
        "version": work["version"],
        "commit": work["commit"],
    }


Figures = dict[str, NDArray[np.float64] | None]
"""By name, the figure of every deal, ``float64[N]``; None for one that makes no sense here."""


def _intervals(found: Figures, interval: str) -> dict[str, dict[str, Any] | None]:
    kind = interval_kind(interval)
    return {name: None if values is None else kind(values).as_json() for name, values in found.items()}


def _variance_ratio(with_it: NDArray[np.float64] | None, without: NDArray[np.float64] | None) -> float | None:
    """Variance of the first over that of the second; None where there is none."""
    if with_it is None or without is None or (without == without[0]).all():
        return None
    return float(with_it.var() / without.var())


def figures(plan: Plan, scores: NDArray[np.int64]) -> Figures:
    """The figures of every deal from final scores ``int64[N, T, P]``."""
    found = _linear_figures(plan, scores)
    if plan.game.rules.match == "game":
        found["win_share"] = _win_shares(plan, scores[:, : len(plan.agent_seats)]).mean(axis=1)
    return found


def controlled_figures(plan: Plan, plain: Figures, controls: NDArray[np.float64]) -> Figures:
    """The figures of every deal with control variates: ``controls`` (``float64[N, T, P]``) correct the scores.

    A figure that is linear in the scores is controlled by the same figure of the corrections.  The win share is none;
    since corrections of any kind have mean zero, it is controlled by those of the difference.
    """
    of_controls = _linear_figures(plan, controls)
    found: Figures = {}
    for name, values in plain.items():
        control = of_controls.get(name, of_controls["difference"])
        found[name] = None if values is None or control is None else controlled(values, control)
    return found


def _linear_figures(plan: Plan, scores: NDArray[Any]) -> Figures:
    """The figures that are linear in the scores (or corrections of them) ``[N, T, P]``."""
    own = plan.agent_seats
    tables = scores[:, : len(own)]
    # Sums of whole numbers, divided once at the end: so what cancels within a deal does so exactly.
    rotations, seats, others = len(own), int(own[0].sum()), int((~own[0]).sum())
    own_sum = (tables * own).sum(axis=(1, 2))
    other_sum = (tables * ~own).sum(axis=(1, 2))
    found: Figures = {
        "difference": (own_sum * others - other_sum * seats) / (rotations * seats * others),
        "gain": None,
        "agent_score": own_sum / (rotations * seats),
        "against_score": other_sum / (rotations * others),
    }
    if plan.alike:
        without = (scores[:, len(own) :] * own).sum(axis=(1, 2))
        found["gain"] = (own_sum - without) / (rotations * seats)
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
