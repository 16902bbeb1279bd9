"""The games of a run: batches of the core side by side, and who sits where in them.

A run may play several variants of a game (other numbers of players, say), each of which is a batch of its own
(:class:`Tables`); together they are one batch to the learner (:class:`SelfPlayEnv`).  In most games every seat learns.
In fixed places of the batch one side alone does, and the others are played by opponents.

Everything here is a function of the seed, the place in the batch and the number of the episode.

Shape letters: **B** games, **P** seats, **A** actions, **D** features.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv

from slopes_agents import Agent
from slopes_agents.advice import Adviser, observed
from slopes_agents.lead import Lead
from slopes_agents.play import AgentFault, choose
from slopes_envs import Game, InformationSet, Outcome, State, match_seed

from .comparison import Comparison


@dataclass(frozen=True)
class Against:
    """Opponents in a share of the games.

    Attributes
    ----------
    label
        What they are called in the log.
    agent
        Who they are; None for past selves, whom the learner plays itself.
    share
        Of the games, 0 to 1.
    partner
        Whether the agent also plays the learner's partners, so that one seat alone learns.
    """

    label: str
    agent: Agent | None
    share: float
    partner: bool = False


def apportion(count: int, shares: Sequence[float]) -> list[int]:
    """How many of ``count`` places each share gets; sums of shares are rounded, so none is off by more than one."""
    ends = [round(count * end) for end in np.cumsum(shares)]
    return [end - start for start, end in zip([0, *ends], ends, strict=False)]


class Ended(NamedTuple):
    """Matches that ended with a step."""

    rows: NDArray[np.int64]  # [N] their places in the batch
    last: State  # the matches as they ended


class Tables:
    """Games of one kind side by side: a batch of the core that goes on for ever.

    Parameters
    ----------
    game
        The rules.
    count
        B, the number of games.
    seed
        Match seeds follow from it, the place and the number of the episode.
    first
        Place of the first game among all games of the run.
    against
        Opponents, in the last places; in the others every seat learns.
    guide
        Whom a warm start copies, if there is one.
    comparison
        What looks ahead, if anything does.
    adviser
        Whose advice is seen behind the observation, if anybody's.

    Attributes
    ----------
    part
        Where these games stand in the batch of the run.
    entry
        ``int64[B]``: number of the opponents in ``against``, -1 where every seat learns.
    learns
        ``bool[B, P]``: the seats that learn.  The side that does changes with every episode.
    margins
        ``float64[N, 2]``: for each of ``against``, the sum of the learner's scores less the others' in matches that
        have ended since :meth:`forget`, and their number.

    Raises
    ------
    ValueError
        For shares that come to no game, or to more than all of them; for partners in a game without teams.
    """

    def __init__(
        self,
        game: Game[Any, Any],
        count: int,
        *,
        seed: int = 0,
        first: int = 0,
        against: Sequence[Against] = (),
        guide: Agent | None = None,
        comparison: Comparison | None = None,
        adviser: Adviser | None = None,
    ) -> None:
        self.game, self.seed, self.guide, self.comparison, self.adviser = game, seed, guide, comparison, adviser
        self.lead = Lead(game)
        self.against = tuple(against)
        self.part = slice(first, first + count)
        self._places = np.arange(first, first + count)
        self._rows = np.arange(count)
        self.entry = _entries(game, count, self.against)
        self._learning, self._sides = _seats(game, self.against)
        self.margins = np.zeros((len(self.against), 2))
        self.reset()

    def __len__(self) -> int:
        return len(self._rows)

    def reset(self) -> None:
        """Start afresh from the first match in every place."""
        self.place_at(self.game.new(match_seed(self.seed, self._places)), np.zeros(len(self), dtype=np.int64))

    def place_at(self, state: State, episodes: NDArray[np.int64]) -> None:
        """Go on from a state (kept, not copied) and the numbers of its episodes."""
        self.state, self.episodes = state, episodes
        self.learns = np.ones((len(self), self.game.num_players), dtype=np.bool_)
        self._take_seats(self._rows)

    def _turn(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Which side's turn it is to learn, before it is taken modulo the number of sides."""
        turn: NDArray[np.int64] = self._places[rows] + self.episodes[rows]
        return turn

    def _take_seats(self, rows: NDArray[np.int64]) -> None:
        for number, seats in enumerate(self._learning):
            own = rows[self.entry[rows] == number]
            self.learns[own] = seats[self._turn(own) % len(seats)]

    def learners(self) -> NDArray[np.bool_]:
        """Whether the seat to move learns, ``bool[B]``."""
        learns: NDArray[np.bool_] = self.learns[self._rows, self.state.seat]
        return learns

    def observe(self, state: State, seats: NDArray[Any]) -> NDArray[np.uint8]:
        """What a network is shown of any states of the game, ``uint8[N, D]``, with advice behind."""
        return observed(InformationSet(self.game, state, seats), self.adviser)

    def followers(self) -> NDArray[np.bool_]:
        """Whether the seat to move follows the guide in a warm start, ``bool[B]``.

        That is where it learns, and in all games with past selves, for there are none yet.
        """
        with_past = np.array([against.agent is None for against in self.against] + [False])
        follows: NDArray[np.bool_] = self.learners() | with_past[self.entry]  # -1 is the last
        return follows

    def advance(self, actions: NDArray[np.int64]) -> tuple[Outcome, Ended | None]:
        """Take one action in every game, unchecked, and start new matches where one has ended."""
        outcome = self.game.step(self.state, actions, check=False)
        rows = np.flatnonzero(outcome.terminated | outcome.truncated)
        if not len(rows):
            return outcome, None
        last = self.state.take(rows)
        self._note(rows, last)
        self.episodes[rows] += 1
        self.game.restart(self.state, rows, match_seed(self.seed, self._places[rows], self.episodes[rows]))
        self._take_seats(rows)
        return outcome, Ended(rows, last)

    def _note(self, rows: NDArray[np.int64], last: State) -> None:
        """Add matches that have ended to the margins."""
        for number, sides in enumerate(self._sides):
            here = self.entry[rows] == number
            if here.any():
                own = sides[self._turn(rows[here]) % len(sides)]
                scores = last.scores[here].astype(np.float64)
                mine = (scores * own).sum(axis=1) / own.sum(axis=1)
                theirs = (scores * ~own).sum(axis=1) / (~own).sum(axis=1)
                self.margins[number] += (mine - theirs).sum(), here.sum()

    def forget(self) -> None:
        """Begin new margins."""
        self.margins[:] = 0

    def ask(self, agent: Agent, rows: NDArray[np.int64], legal: NDArray[np.bool_]) -> NDArray[np.int64]:
        """What an agent chooses in some games, ``int64[N]``; ``legal`` (``bool[B, A]``) holds for all of them.

        Raises
        ------
        AgentFault
            If it answers with something that is no legal action.
        """
        part = self.state if len(rows) == len(self) else self.state.take(rows)
        seating = np.zeros((len(rows), self.game.num_players), dtype=np.int64)
        actions = choose(self.game, part, [agent], seating)
        known = (actions >= 0) & (actions < legal.shape[1])
        wrong = np.flatnonzero(~(known & legal[rows, np.where(known, actions, 0)]))
        if len(wrong):
            first = int(wrong[0])
            raise AgentFault(f"{agent!r}: action {actions[first]} is not legal in game {rows[first]} of the batch")
        return actions

    def follow(
        self, agent: Agent, rows: NDArray[np.int64], legal: NDArray[np.bool_]
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """What an agent does in some games: its actions ``int64[N]``, and its chances ``float32[N, A]``.

        The chances of an agent that does not tell them are all on its action.
        """
        actions = self.ask(agent, rows, legal)
        if agent.has_probabilities:
            view = InformationSet(self.game, self.state.take(rows))
            return actions, agent.probabilities(view).astype(np.float32)
        return actions, np.eye(legal.shape[1], dtype=np.float32)[actions]


def _entries(game: Game[Any, Any], count: int, against: Sequence[Against]) -> NDArray[np.int64]:
    """Opponents of every place, ``int64[count]``: the first places have none."""
    shares = [entry.share for entry in against]
    if sum(shares) > 1 + 1e-9:
        raise ValueError(f"opponents: expected shares that sum to at most 1, got {sum(shares):g}")
    numbers = apportion(count, shares)
    for entry, number in zip(against, numbers, strict=True):
        if number == 0:
            raise ValueError(f"opponents: {entry.label} has a share of {entry.share:g}, which is none of {count} games")
        if entry.partner and len(game.teams[0]) == 1:
            raise ValueError(f"opponents: {entry.label} cannot be a partner, {game!r} has no teams")
    played = np.repeat(np.arange(len(against)), numbers)
    return np.concatenate([np.full(count - len(played), -1), played])


def _seats(game: Game[Any, Any], against: Sequence[Against]) -> tuple[list[NDArray[np.bool_]], list[NDArray[np.bool_]]]:
    """For each of ``against``, by turn (``bool[turns, P]``): the seats that learn, and all seats of their side."""
    learning, sides = [], []
    for entry in against:
        turns = [(seat, side) for side in game.teams for seat in side] if entry.partner else list(enumerate(game.teams))
        own = np.array([np.isin(np.arange(game.num_players), side) for _, side in turns])
        sides.append(own)
        learning.append(np.array([np.arange(game.num_players) == seat for seat, _ in turns]) if entry.partner else own)
    return learning, sides


@dataclass
class Snapshot:
    """Where the games of a run stand: all that a resumed run needs of its environment."""

    states: list[State]  # one for each of the tables
    episodes: list[NDArray[np.int64]]


class SelfPlayEnv(VecEnv):
    """The games of a run as a Stable-Baselines3 environment: it always shows the seat to move.

    The learner reads the batched core through it; to Stable-Baselines3's own tools it looks like any ``VecEnv`` whose
    reward is what the seat that has just moved got at once, and they move the opponents' seats themselves.

    Parameters
    ----------
    tables
        Batches of the core, whose games have one layout of observations and as many actions.

    Raises
    ------
    ValueError
        If the layouts or numbers of actions differ.
    """

    def __init__(self, tables: Sequence[Tables]) -> None:
        self.tables = tuple(tables)
        self.game = self.tables[0].game
        for other in self.tables[1:]:
            check_one_layout(self.game, other.game)
        self.num_players = max(part.game.num_players for part in self.tables)
        self._actions = np.zeros(0, dtype=np.int64)
        self.render_mode = None
        self.features = self.game.observation.size
        highest = np.ones(self.features, dtype=np.uint8)
        adviser = self.tables[0].adviser
        if adviser is not None:
            self.features += adviser.size
            highest = np.concatenate([highest, np.full(adviser.size, 255, dtype=np.uint8)])
        seen = spaces.Box(np.zeros_like(highest), highest, dtype=np.uint8)
        super().__init__(sum(map(len, self.tables)), seen, spaces.Discrete(self.game.num_actions))

    def observe(self, out: NDArray[np.uint8] | None = None) -> NDArray[np.uint8]:
        """Observations of the seats to move, with advice if there is any: ``uint8[B, features]``."""
        out = np.empty((self.num_envs, self.features), dtype=np.uint8) if out is None else out
        for tables in self.tables:
            if tables.adviser is None:
                tables.game.observe(tables.state, tables.state.seat, out=out[tables.part])
            else:
                out[tables.part] = tables.observe(tables.state, tables.state.seat)
        return out

    def observe_all(self, out: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Observations of all there is, from the seats to move."""
        for tables in self.tables:
            tables.game.observe_all(tables.state, tables.state.seat, out=out[tables.part])
        return out

    def legal(self, out: NDArray[np.bool_] | None = None) -> NDArray[np.bool_]:
        """Legal actions, ``bool[B, A]``."""
        out = np.empty((self.num_envs, self.game.num_actions), dtype=np.bool_) if out is None else out
        for tables in self.tables:
            tables.game.legal(tables.state, out=out[tables.part])
        return out

    def seats(self) -> NDArray[np.int64]:
        """The seats to move, ``int64[B]``."""
        return np.concatenate([tables.state.seat for tables in self.tables]).astype(np.int64)

    def learners(self) -> NDArray[np.bool_]:
        """Whether the seats to move learn, ``bool[B]``."""
        return np.concatenate([tables.learners() for tables in self.tables])

    def snapshot(self) -> Snapshot:
        """A copy of where the games stand."""
        return Snapshot(
            [tables.state.copy() for tables in self.tables], [tables.episodes.copy() for tables in self.tables]
        )

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to a snapshot."""
        for tables, state, episodes in zip(self.tables, snapshot.states, snapshot.episodes, strict=True):
            tables.place_at(state.copy(), episodes.copy())

    # -- VecEnv ----------------------------------------------------------------------------------------------------

    def reset(self) -> NDArray[np.uint8]:
        """Start afresh from the first match of every game."""
        for tables in self.tables:
            tables.reset()
        return self.observe()

    def step_async(self, actions: NDArray[np.int64]) -> None:
        """Keep the actions for :meth:`step_wait`."""
        self._actions = np.asarray(actions, dtype=np.int64)

    def step_wait(self) -> Any:
        """Observations, rewards of the seats that moved, ends of matches, infos."""
        movers = self.seats()
        rewards = np.zeros(self.num_envs, dtype=np.float32)
        ended = np.zeros(self.num_envs, dtype=np.bool_)
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for tables in self.tables:
            seats = movers[tables.part]
            outcome, over = tables.advance(self._actions[tables.part])
            rewards[tables.part] = outcome.rewards[np.arange(len(tables)), seats]
            ended[tables.part] = outcome.terminated | outcome.truncated
            if over is not None:
                final = tables.observe(over.last, seats[over.rows])
                for place, row in enumerate(over.rows):
                    infos[tables.part.start + row] = {
                        "terminal_observation": final[place],
                        "TimeLimit.truncated": bool(outcome.truncated[row]),
                    }
        return self.observe(), rewards, ended, infos

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
            return self.legal()  # type: ignore[return-value]
        return [getattr(self, method_name)(*args, **kwargs)]

    def has_attr(self, attr_name: str) -> bool:
        """Whether the batch has an attribute; masks are offered through :meth:`env_method`."""
        return attr_name == "action_masks" or hasattr(self, attr_name)

    def env_is_wrapped(self, wrapper_class: type, indices: Any = None) -> list[bool]:
        """No game is wrapped."""
        return [False for _ in self._get_indices(indices)]


def check_one_layout(one: Game[Any, Any], other: Game[Any, Any]) -> None:
    """ValueError unless one network can play both."""
    if list(one.observation) != list(other.observation) or one.num_actions != other.num_actions:
        raise ValueError(
            f"variants: {one!r} and {other!r} differ in the layout of observations or in the number of actions, "
            "so that no one network plays both"
        )
