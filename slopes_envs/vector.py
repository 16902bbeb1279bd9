"""Gymnasium views of a game.

======================== =======================================================================================
:class:`SlopesEnv`       one learner against opponents, one match: ``gymnasium.make("slopes/SlipperySlope-v0")``
:class:`SlopesVectorEnv` the same over B matches: ``gymnasium.make_vec("slopes/SlipperySlope-v0", num_envs=B)``
:class:`TurnVectorEnv`   self-play over B matches: whoever is to move is asked
======================== =======================================================================================

All three show observations ``uint8[D]`` laid out by ``game.observation`` and take action numbers.  Legal actions are
in ``infos["action_mask"]`` (``int8``, as ``action_space.sample`` wants it) and from ``action_masks()`` (``bool``, as
sb3-contrib wants it), never among the features.

The match in place ``row`` that begins with the ``episode``-th reset of that place since the last ``reset(seed=seed)``
(automatic resets count) has the seed :func:`slopes_envs.match_seed` ``(seed, row, episode)``.  ``reset()`` without a
seed goes on to the next episode; if none was ever given, one is drawn from the system's entropy.

One learner among opponents
---------------------------
The learner sits in a given ``seat``, or in seat ``(row + episode) % P`` (``"rotate"``).  The others move inside
``reset`` and ``step``, in all matches that wait for them at once.  The reward is what the learner's seat has earned
since its last decision, up to its next one or to the end of the match; what it earned before its first decision is
part of its first reward, so the rewards of an episode sum to the seat's score.  A match that is over before the
learner ever had a decision is no episode: the next one is begun in its place, and what the seat earned in it is
reported nowhere.

Gymnasium wants every action of the space to be taken.  One that the mask forbids ends the match for the learner
(``illegal="end"``, as PettingZoo's ``TerminateIllegal`` does): terminated, with the least reward that a step of the
game can bring, and at most -1, and with ``illegal`` true in the last infos.  With ``illegal="raise"`` it raises
:class:`slopes_envs.IllegalAction` and changes nothing, as everywhere else; so do, always, numbers that are no actions.

Shape letters: **B** matches, **P** seats, **A** actions, **D** features, **N** some of the matches.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from .chance import UInt64, match_seed
from .errors import IllegalAction
from .features import Observation
from .game import Game, Outcome, State
from .infoset import InformationSet
from .registry import game_names, make_game
from .seats import Rows, row_starts
from .specs import resolve_agent

NAMESPACE = "slopes"
ENV_VERSION = 0
"""The number behind ``-v`` in Gymnasium's ids: the version of every game so far."""

ROTATE = "rotate"

ILLEGAL = ("end", "raise")
"""What an illegal action of the learner does."""

MOST_UNDECIDED = 1000
"""After so many matches in a row without a decision for the learner, it is taken to have none at all."""

Policy = Callable[[InformationSet], Any]
"""Chooses the actions ``int[N]`` of the seats to move."""

Infos = dict[str, Any]


# ------------------------------------------------------------------------------------------------------- registration


def gymnasium_id(game: str) -> str:
    """Gymnasium's id of a game: ``"slopes/SlipperySlope-v0"`` for ``"slippery_slope"``."""
    return f"{NAMESPACE}/{''.join(word.capitalize() for word in game.split('_'))}-v{ENV_VERSION}"


def register_gymnasium() -> None:
    """Make every game known to ``gymnasium.make`` and ``gymnasium.make_vec``; calling it again does nothing."""
    for name in game_names():
        if gymnasium_id(name) not in gymnasium.registry:
            gymnasium.register(
                gymnasium_id(name),
                entry_point=f"{__name__}:{SlopesEnv.__name__}",
                vector_entry_point=f"{__name__}:{SlopesVectorEnv.__name__}",
                kwargs={"game": name},
            )


def _as_game(game: str | Game[Any, Any], rules: Mapping[str, Any]) -> Game[Any, Any]:
    """A game from its name and options, or as it is."""
    if isinstance(game, str):
        return make_game(game, **rules)
    if rules:
        raise ValueError(f"{game.name}: options {sorted(rules)} beside a game that is made; give its name instead")
    return game


# --------------------------------------------------------------------------------------------------------- opponents


class Opponent(NamedTuple):
    """Who fills a seat, and what to call it in errors."""

    label: str
    act: Policy


def _agent_of(spec: str, game: Game[Any, Any]) -> Any:
    """The agent that a spec names."""
    agent_class, arguments = resolve_agent(spec)
    return agent_class.from_spec(game, arguments)


def _same_table(game: Game[Any, Any], other: Any) -> bool:
    """Whether an agent made for ``other`` understands the views and numbers of ``game``."""
    return isinstance(other, Game) and (
        (game.name, game.num_players, game.num_actions, game.observation.size)
        == (other.name, other.num_players, other.num_actions, other.observation.size)
    )


def _opponent(given: Any, game: Game[Any, Any]) -> Opponent:
    """An opponent from an agent's spec, an agent, or a callable.

    Raises
    ------
    UnknownName
        If no agent is called so.
    TypeError, ValueError
        For a thing that cannot play, or an agent of another game.
    """
    label = repr(given)
    agent = _agent_of(given, game) if isinstance(given, str) else given
    if hasattr(agent, "game") and not _same_table(game, agent.game):
        raise ValueError(f"opponent {label} plays {agent.game!r}, this is {game!r}")
    policy = getattr(agent, "act", agent)
    if not callable(policy) or isinstance(agent, type):
        raise TypeError(
            "opponent: expected an agent's spec such as 'random', an agent, or a callable from an InformationSet to "
            f"actions, got {label}"
        )
    return Opponent(label, policy)


def _opponents(given: Any, game: Game[Any, Any]) -> tuple[list[Opponent], NDArray[np.int64]]:
    """The different opponents, and which of them sits in each seat from the learner's left on (``int64[P - 1]``).

    What is given more than once is one opponent, asked once for all its seats.
    """
    others = game.num_players - 1
    listed = list(given) if isinstance(given, Sequence) and not isinstance(given, str) else [given] * others
    if len(listed) != others:
        raise ValueError(
            f"opponents: expected one, or {others} from the learner's left on, one a seat of {game!r}; "
            f"got {len(listed)}"
        )
    keys = [one if isinstance(one, str) else id(one) for one in listed]
    places = list(dict.fromkeys(keys))
    different = [_opponent(listed[keys.index(key)], game) for key in places]
    return different, np.array([places.index(key) for key in keys], dtype=np.int64)


def _fixed_seat(seat: Any, num_players: int) -> int | None:
    """The learner's seat; None if it rotates."""
    if seat is None or (isinstance(seat, str) and seat == ROTATE):
        return None
    if isinstance(seat, bool) or not isinstance(seat, int | np.integer) or not 0 <= seat < num_players:
        raise ValueError(f"seat: expected 0 to {num_players - 1}, {ROTATE!r} or None, got {seat!r}")
    return int(seat)


# ----------------------------------------------------------------------------------------------------------- matches


def _whole(name: str, number: Any, least: int) -> int:
    if isinstance(number, bool) or not isinstance(number, int | np.integer) or number < least:
        raise ValueError(f"{name}: expected a whole number of at least {least}, got {number!r}")
    return int(number)


class _Matches:
    """B matches, one after the other in each place, seeded one way."""

    state: State
    legal: NDArray[np.bool_]  # [B, A] what those may play who are to move, as it was last looked at

    def __init__(self, game: Game[Any, Any], size: int, first_row: int = 0) -> None:
        self.game = game
        self.size = _whole("num_envs", size, 1)
        self.all = np.arange(self.size)
        self.numbers = self.all + _whole("row", first_row, 0)  # what each place counts as in match seeds and rotation
        self.seed = 0
        self.seeded = False
        self.episode = np.full(self.size, -1, dtype=np.int64)
        self.ready = False  # whether step may be called; false, too, after an error in the middle of a step

    def reseed(self, seed: int) -> None:
        """Count episodes from the beginning, under another seed."""
        self.seed, self.seeded = seed, True
        self.episode[:] = -1

    def start(self, rows: Rows) -> None:
        """Begin the next match in some places; the first time, in all of them."""
        self.episode[rows] += 1
        seeds = match_seed(self.seed, self.numbers[rows], self.episode[rows])
        if len(rows) == self.size:
            self.state = self.game.new(seeds)
        else:
            self.game.restart(self.state, rows, seeds)

    def expect_ready(self) -> None:
        """Raise ResetNeeded where there is nothing to step."""
        if not self.ready:
            raise ResetNeeded(f"{self.game.name}: expected reset before step")

    def look(self) -> NDArray[np.bool_]:
        """Legal actions of those to move, ``bool[B, A]``; kept as :attr:`legal`."""
        self.legal = self.game.legal(self.state)
        return self.legal

    def allowed(self, actions: NDArray[Any]) -> NDArray[np.bool_] | None:
        """Which actions are legal, ``bool[B]``; None unless all are numbers of actions, one a match."""
        if actions.shape != (self.size,) or actions.dtype.kind not in "iu":
            return None
        if not ((actions >= 0) & (actions < self.game.num_actions)).all():
            return None
        at = row_starts(self.size, self.game.num_actions) + actions.astype(np.int64, copy=False)
        return self.legal.reshape(-1).take(at)


class _Tables(_Matches):
    """B matches with one learner in each, against opponents."""

    def __init__(
        self,
        game: Game[Any, Any],
        size: int,
        opponents: Any,
        seat: int | str | None,
        illegal: str,
        first_row: int = 0,
    ) -> None:
        super().__init__(game, size, first_row)
        if illegal not in ILLEGAL:
            raise ValueError(f"illegal: expected {' or '.join(map(repr, ILLEGAL))}, got {illegal!r}")
        self.ends_illegal = illegal == "end"
        self.opponents, self.sitting = _opponents(opponents, game)
        self.fixed_seat = _fixed_seat(seat, game.num_players)
        self.learner = np.full(self.size, self.fixed_seat or 0, dtype=np.int64)  # [B] seat of the learner
        self.earned = np.zeros(self.size, dtype=np.float32)  # [B] by the learner since its last decision
        self.illegal = np.zeros(self.size, dtype=np.bool_)  # [B] ended by an illegal action of the learner

    def start(self, rows: Rows) -> None:
        super().start(rows)
        self.earned[rows] = 0
        self.illegal[rows] = False
        if self.fixed_seat is None:
            self.learner[rows] = (self.numbers[rows] + self.episode[rows]) % self.game.num_players

    def begin(self, rows: Rows) -> None:
        """Begin matches in some places and play them up to the learner's first decision."""
        self.ready = False
        waiting = rows
        for _ in range(MOST_UNDECIDED):
            self.start(waiting)
            self.play_on(waiting)
            waiting = waiting[self.state.seat[waiting] < 0]
            if not len(waiting):
                self.ready = True
                return
        raise RuntimeError(
            f"{self.game!r}: seat {self.learner[waiting[0]]} had no decision in {MOST_UNDECIDED} matches on end"
        )

    def look(self) -> NDArray[np.bool_]:
        super().look()[self.illegal] = False
        return self.legal

    def act(self, actions: Any) -> NDArray[np.float32]:
        """The learner's action in every match, and the opponents' up to its next decision or the end.

        Returns
        -------
        float32[B], what the learner has earned.
        """
        self.expect_ready()
        actions = np.asarray(actions)
        illegal = self._illegal(actions)
        going = np.flatnonzero(~illegal)
        if len(going):
            part = self._part(going)
            self._settle(going, part, self.game.step(part, actions[going], check=False))
        self.illegal = illegal
        self.earned[illegal] += min(-1.0, self.game.reward_range[0])
        self.ready = False
        self.play_on(going)
        earned, self.earned = self.earned, np.zeros(self.size, dtype=np.float32)
        self.ready = True
        return earned

    def ended(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Terminated and truncated, ``bool[B]`` each."""
        return self.state.terminated | self.illegal, self.state.truncated & ~self.illegal

    def _illegal(self, actions: NDArray[Any]) -> NDArray[np.bool_]:
        """Which actions end their match, ``bool[B]``; what is wrong with them otherwise, the core tells."""
        allowed = self.allowed(actions)
        if allowed is not None and (self.ends_illegal or allowed.all()):
            return ~allowed
        self.game.step(self.state, actions)
        raise AssertionError("unreachable: the core has refused the actions")

    def _part(self, rows: Rows) -> State:
        """The matches in some places, to be settled after their step."""
        return self.state if len(rows) == self.size else self.state.take(rows)

    def _settle(self, rows: Rows, part: State, outcome: Outcome) -> None:
        """Note what one action in each of some places has brought."""
        if part is not self.state:
            self.state.put(rows, part)
        self.earned[rows] += outcome.rewards[self.all[: len(rows)], self.learner[rows]]

    def play_on(self, rows: Rows) -> None:
        """Let opponents move until the learner is to move, or the match is over, in each of some places."""
        while True:
            seats = self.state.seat[rows]
            rows = rows[(seats >= 0) & (seats != self.learner[rows])]
            if not len(rows):
                return
            part = self._part(rows)
            self._settle(rows, part, self._move(part, rows))

    def _move(self, part: State, rows: Rows) -> Outcome:
        """One move of the opponents in ``part``, the matches in places ``rows``."""
        who = self.sitting[(part.seat - self.learner[rows]) % self.game.num_players - 1]
        if len(self.opponents) == 1:
            moves = self._ask(self.opponents[0], part)
        else:
            moves = np.empty(len(rows), dtype=np.int64)
            for number, opponent in enumerate(self.opponents):
                asked = np.flatnonzero(who == number)
                if len(asked):
                    moves[asked] = self._ask(opponent, part.take(asked))
        try:
            return self.game.step(part, moves)
        except IllegalAction as error:
            label = self.opponents[who[error.index]].label
            raise RuntimeError(f"opponent {label} in place {rows[error.index]} of the batch: {error}") from error

    def _ask(self, opponent: Opponent, part: State) -> NDArray[np.int64]:
        moves = np.asarray(opponent.act(InformationSet(self.game, part)))
        if moves.shape != (len(part),) or moves.dtype.kind not in "iu":
            raise ValueError(
                f"opponent {opponent.label}: expected whole-number actions of shape ({len(part)},), "
                f"got {moves.dtype} of shape {moves.shape}"
            )
        return moves.astype(np.int64, copy=False)


def _observation_space(game: Game[Any, Any]) -> spaces.Space[Observation]:
    space: spaces.Space[Any] = spaces.Box(0, 1, (game.observation.size,), np.uint8)
    return space


def _no_options(options: Mapping[str, Any] | None) -> None:
    if options:
        raise ValueError(f"reset: expected no options, got {sorted(options)}")


# -------------------------------------------------------------------------------------------------- a single learner


class SlopesEnv(gymnasium.Env[Observation, np.int64]):
    """One learner against opponents, a match an episode.

    ``info`` holds ``action_mask`` (``int8[A]``) and ``seat``, the learner's seat; at the end of a match also
    ``scores`` (``int32[P]``) of all seats, and ``illegal``, whether an illegal action of the learner ended it.

    Parameters
    ----------
    game
        Name of the game, or the game.
    seat
        The learner's seat; ``"rotate"`` or None to change it with every episode.
    opponents
        Who fills the other seats: one for all, or a list of one a seat from the learner's left on.  An agent's spec
        such as ``"random"``, ``"ppo:runs/first"`` or ``"my_bots:Careful"``, an agent, or a callable from an
        :class:`~slopes_envs.InformationSet` of N matches to actions ``int[N]``.
    illegal
        What an action does that the mask forbids: ``"end"`` the match, or ``"raise"``.
    row
        The place in a batch whose matches are played: with the same seed these are those of row ``row`` of
        :class:`SlopesVectorEnv`.
    render_mode
        Must be None: nothing is rendered.
    **rules
        Options of the game.

    Raises
    ------
    UnknownName
        For a game, an option or an agent that does not exist.
    RulesError, ValueError, TypeError
        For a value that is not allowed.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": []}  # type: ignore[misc]

    def __init__(
        self,
        game: str | Game[Any, Any],
        *,
        seat: int | str | None = ROTATE,
        opponents: Any = "random",
        illegal: str = "end",
        row: int = 0,
        render_mode: None = None,
        **rules: Any,
    ) -> None:
        if render_mode is not None:
            raise TypeError(f"render_mode: expected None, got {render_mode!r}; nothing is rendered")
        self.game = _as_game(game, rules)
        self._tables = _Tables(self.game, 1, opponents, seat, illegal, row)
        self.observation_space = _observation_space(self.game)
        self.action_space = spaces.Discrete(self.game.num_actions)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin the next match: the first one of ``seed``, if that is given.

        Raises
        ------
        ValueError
            For ``options``: there are none.
        """
        super().reset(seed=seed)
        _no_options(options)
        if seed is not None or not self._tables.seeded:
            self._tables.reseed(_seed_of(self, seed))
        self._tables.begin(self._tables.all)
        return self._observation(), self._info()

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Take the learner's action, and let the opponents move up to its next decision.

        Raises
        ------
        IllegalAction
            For a number that is no action and, with ``illegal="raise"``, for an action that the mask forbids; nothing
            has then changed.
        ResetNeeded
            Before a reset, and after the end of a match.
        RuntimeError, ValueError
            If an opponent chose no legal action; a reset is then needed.
        """
        reward = float(self._tables.act([action])[0])
        terminated, truncated = (bool(flags[0]) for flags in self._tables.ended())
        self._tables.ready = not (terminated or truncated)
        return self._observation(), reward, terminated, truncated, self._info()

    def action_masks(self) -> NDArray[np.bool_]:
        """Legal actions, ``bool[A]``; none at the end of a match."""
        legal: NDArray[np.bool_] = self._tables.legal[0].copy()
        return legal

    @property
    def match_seed(self) -> int:
        """Seed of the present match."""
        return int(self._tables.state.seed[0])

    def _observation(self) -> Observation:
        observation: Observation = self.game.observe(self._tables.state, self._tables.learner)[0]
        return observation

    def _info(self) -> dict[str, Any]:
        tables = self._tables
        legal = tables.look()[0]
        info = {"action_mask": legal.astype(np.int8), "seat": int(tables.learner[0])}
        if not tables.ready:
            info |= {"scores": tables.state.scores[0].copy(), "illegal": bool(tables.illegal[0])}
        return info


def _seed_of(env: gymnasium.Env[Any, Any] | VectorEnv[Any, Any, Any], seed: int | None) -> int:
    """The seed given, or one from the environment's own generator."""
    return int(env.np_random.integers(2**63)) if seed is None else seed


# ----------------------------------------------------------------------------------------------------------- batches


def _spread(batch: int, rows: Rows, values: Mapping[str, NDArray[Any]]) -> Infos:
    """Infos of some rows (arrays ``[N, …]``) as Gymnasium has them: of all rows, and ``_key`` for which they hold."""
    infos: Infos = {}
    for key, value in values.items():
        infos[key] = np.zeros((batch, *value.shape[1:]), dtype=value.dtype)
        infos[key][rows] = value
        infos[f"_{key}"] = np.zeros(batch, dtype=np.bool_)
        infos[f"_{key}"][rows] = True
    return infos


class _BatchEnv(VectorEnv[Observation, NDArray[np.int64], NDArray[Any]]):
    """What the two vector environments share."""

    metadata: ClassVar[dict[str, Any]] = {  # type: ignore[misc]
        "render_modes": [],
        "autoreset_mode": AutoresetMode.SAME_STEP,
    }

    def __init__(self, matches: _Matches) -> None:
        self.game = matches.game
        self.num_envs = matches.size
        self._matches = matches
        self.single_observation_space = _observation_space(self.game)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.single_action_space = spaces.Discrete(self.game.num_actions)
        self.action_space = batch_space(self.single_action_space, self.num_envs)

    def action_masks(self) -> NDArray[np.bool_]:
        """Legal actions, ``bool[B, A]``."""
        return self._matches.legal.copy()

    @property
    def match_seeds(self) -> UInt64:
        """Seeds of the present matches, ``uint64[B]``."""
        return self._matches.state.seed.copy()

    def _reseed(self, seed: int | None, options: Mapping[str, Any] | None) -> None:
        """What both resets do first."""
        super().reset(seed=seed)
        _no_options(options)
        if seed is not None or not self._matches.seeded:
            self._matches.reseed(_seed_of(self, seed))

    def _infos(self, seats: NDArray[np.int64], **more: NDArray[Any]) -> Infos:
        """Infos of all rows, with the legal actions of ``seats``, which are to move."""
        legal = self._matches.look()
        infos: Infos = {}
        for key, value in {"action_mask": legal.astype(np.int8), "seat": seats.copy(), **more}.items():
            infos[key] = value
            infos[f"_{key}"] = np.ones(self.num_envs, dtype=np.bool_)
        return infos

    def _final(self, rows: Rows, seats: NDArray[np.int64], **more: NDArray[Any]) -> Infos:
        """``final_obs`` and ``final_info`` of the matches that are over in places ``rows``, seen from ``seats``."""
        over = self._matches.state.take(rows)
        final_obs = np.full(self.num_envs, None, dtype=object)
        for row, observation in zip(rows, self.game.observe(over, seats), strict=True):
            final_obs[row] = observation
        last: dict[str, NDArray[Any]] = {
            "action_mask": np.zeros((len(rows), self.game.num_actions), dtype=np.int8),
            "seat": seats,
            "scores": over.scores,
        }
        ended = np.zeros(self.num_envs, dtype=np.bool_)
        ended[rows] = True
        return {
            "final_obs": final_obs,
            "_final_obs": ended,
            "final_info": _spread(self.num_envs, rows, {**last, **more}),
            "_final_info": ended.copy(),
        }


class SlopesVectorEnv(_BatchEnv):
    """One learner against opponents in each of B matches.

    Row ``i`` is :class:`SlopesEnv` with ``row=i`` and the same seed, whatever B.  A match that is over is followed by
    the next within the same step (``AutoresetMode.SAME_STEP``): ``infos["final_obs"]`` and ``infos["final_info"]``
    then hold the last observation and info of the match before.  All infos are arrays over the batch, ``key`` with
    ``_key`` for the rows it holds for: ``action_mask`` (``int8[B, A]``) and ``seat`` (``int64[B]``), and at the end
    of a match ``scores`` (``int32[B, P]``) and ``illegal`` (``bool[B]``).

    >>> env = SlopesVectorEnv("slippery_slope", 4, match="hand")
    >>> observations, infos = env.reset(seed=1)
    >>> actions = infos["action_mask"].argmax(axis=1)  # the first legal one of each match
    >>> observations, rewards, terminated, truncated, infos = env.step(actions)
    >>> rewards.shape, infos["seat"].tolist()
    ((4,), [0, 1, 2, 0])

    Parameters
    ----------
    game
        Name of the game, or the game.
    num_envs
        B, the number of matches.
    seat, opponents, illegal
        As for :class:`SlopesEnv`; a rotating learner sits in seat ``(row + episode) % P``.
    **rules
        Options of the game.

    Raises
    ------
    UnknownName
        For a game, an option or an agent that does not exist.
    RulesError, ValueError, TypeError
        For a value that is not allowed.
    """

    def __init__(
        self,
        game: str | Game[Any, Any],
        num_envs: int = 1,
        *,
        seat: int | str | None = ROTATE,
        opponents: Any = "random",
        illegal: str = "end",
        **rules: Any,
    ) -> None:
        self._tables = _Tables(_as_game(game, rules), num_envs, opponents, seat, illegal)
        super().__init__(self._tables)

    @property
    def seats(self) -> NDArray[np.int64]:
        """The learner's seat in each match, ``int64[B]``."""
        return self._tables.learner.copy()

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin the next match in every row: the first one of ``seed``, if that is given.

        Raises
        ------
        ValueError
            For ``options``: there are none.
        """
        self._reseed(seed, options)
        self._tables.begin(self._tables.all)
        return self._observations(), self._infos(self._tables.learner)

    def step(
        self, actions: Any
    ) -> tuple[Observation, NDArray[np.float32], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Take the learner's action in every match, and let the opponents move up to its next decision.

        Parameters
        ----------
        actions
            ``int[B]``.

        Returns
        -------
        observations ``uint8[B, D]``, rewards ``float32[B]``, terminated and truncated ``bool[B]``, infos.

        Raises
        ------
        IllegalAction
            For a number that is no action and, with ``illegal="raise"``, for an action that the mask forbids; nothing
            has then changed.
        ResetNeeded
            Before the first reset.
        RuntimeError, ValueError
            If an opponent chose no legal action; a reset is then needed.
        """
        tables = self._tables
        rewards = tables.act(actions)
        terminated, truncated = tables.ended()
        over = np.flatnonzero(terminated | truncated)
        final = {}
        if len(over):
            final = self._final(over, tables.learner[over], illegal=tables.illegal[over])
            tables.begin(over)
        return self._observations(), rewards, terminated, truncated, {**final, **self._infos(tables.learner)}

    def _observations(self) -> Observation:
        return self.game.observe(self._tables.state, self._tables.learner)


class TurnVectorEnv(_BatchEnv):
    """Self-play in B matches: every step shows the seat to move, and takes its action.

    The reward that comes with an observation is what *the seat shown* has earned since its own last decision, so a
    seat's rewards stand between its own decisions and a trajectory is to be kept for each seat.  ``infos`` holds
    ``seat`` (``int64[B]``, the seat to move), ``action_mask`` (``int8[B, A]``) and, after a step, ``rewards``
    (``float32[B, P]``), what each seat earned in that very step.

    A match that is over is followed by the next within the same step.  Its last reward and ``final_obs`` are then
    those of the seat that moved last, and ``final_info`` holds that ``seat``, ``scores`` (``int32[B, P]``), and in
    ``rewards`` (``float32[B, P]``) what *every* seat has earned since its own last decision, the reward of the last
    to move among them: a seat's rewards and its share in these sum to its score.

    Parameters
    ----------
    game
        Name of the game, or the game.
    num_envs
        B, the number of matches.
    **rules
        Options of the game.

    Raises
    ------
    UnknownName
        For a game or an option that does not exist.
    RulesError, ValueError
        For a value that is not allowed.
    """

    def __init__(self, game: str | Game[Any, Any], num_envs: int = 1, **rules: Any) -> None:
        super().__init__(_Matches(_as_game(game, rules), num_envs))
        self._seats = np.zeros(num_envs, dtype=np.int64)  # [B] seat to move
        self._outstanding = np.zeros((num_envs, self.game.num_players), dtype=np.float32)  # [B, P] since last shown

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin the next match in every row: the first one of ``seed``, if that is given.

        Raises
        ------
        ValueError
            For ``options``: there are none.
        """
        self._reseed(seed, options)
        self._matches.start(self._matches.all)
        self._matches.ready = True
        self._outstanding[:] = 0
        observations = self._show()
        return observations, self._infos(self._seats)

    def step(
        self, actions: Any
    ) -> tuple[Observation, NDArray[np.float32], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Take the action of the seat to move in every match.

        Parameters
        ----------
        actions
            ``int[B]``.

        Returns
        -------
        observations ``uint8[B, D]``, rewards ``float32[B]``, terminated and truncated ``bool[B]``, infos.

        Raises
        ------
        IllegalAction
            For an action that the mask forbids; nothing has then changed.
        ResetNeeded
            Before the first reset.
        """
        matches = self._matches
        matches.expect_ready()
        actions = np.asarray(actions)
        allowed = matches.allowed(actions)
        fine = allowed is not None and bool(allowed.all())  # otherwise the core tells what is wrong
        outcome = self.game.step(matches.state, actions, check=not fine)
        self._outstanding += outcome.rewards
        over = np.flatnonzero(outcome.terminated | outcome.truncated)
        shown = matches.state.seat.astype(np.int64)
        shown[over] = self._seats[over]  # who moved last
        rewards = self._outstanding[matches.all, shown]
        final = {}
        if len(over):
            final = self._final(over, shown[over], rewards=self._outstanding[over])
            self._outstanding[over] = 0
            matches.start(over)
        self._outstanding[matches.all, shown] = 0
        observations = self._show()
        infos = {**final, **self._infos(self._seats, rewards=outcome.rewards)}
        return observations, rewards, outcome.terminated, outcome.truncated, infos

    def _show(self) -> Observation:
        """Note who is to move, and what they see."""
        self._seats = self._matches.state.seat.astype(np.int64)
        return self.game.observe(self._matches.state, self._seats)
