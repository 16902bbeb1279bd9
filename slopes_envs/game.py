"""The contract of a game, and the shell that every game shares.

A :class:`Game` is an immutable table of rules over NumPy arrays that hold B matches at once.  A :class:`State` is
those arrays.  Games of different length and phase lie side by side in one batch, and game ``i`` depends on its own
seed and actions alone: a batch is exactly its games played one by one.

Shape letters: **B** games in the batch, **P** seats, **A** actions, **W** words of 64 actions, **D** features.
"""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Generic, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .cards import select_bit
from .chance import Purpose, UInt64, below, derive
from .errors import DealError, IllegalAction, RulesError, ScriptExhausted, UnknownName, expect_keys, shown
from .features import Layout, Observation
from .seats import Rows, row_starts

_64 = np.uint64(64)
_63 = np.uint64(63)
_6 = np.uint64(6)
_ONE = np.uint64(1)


# ---------------------------------------------------------------------------------------------------------- options


def option(
    default: Any,
    about: str,
    *,
    choices: Sequence[Any] | None = None,
    at_least: int | None = None,
    at_most: int | None = None,
    nullable: bool = False,
    parse: Callable[[Any], Any] | None = None,
) -> Any:
    """Declare an option of a game: a field of its :class:`Rules` with what values it may have.

    Either ``choices``, or a whole number from ``at_least`` to ``at_most``, or anything that ``parse`` accepts (it
    returns the value to keep and raises ValueError with what was expected).
    """
    return field(
        default=default,
        metadata={
            "about": about,
            "choices": None if choices is None else tuple(choices),
            "at_least": at_least,
            "at_most": at_most,
            "nullable": nullable,
            "parse": parse,
        },
    )


def allowed(metadata: Mapping[str, Any]) -> str:
    """What an option may be, in words."""
    if metadata["choices"] is not None:
        text = " or ".join(repr(choice) for choice in metadata["choices"])
    elif metadata["parse"] is not None:
        text = str(metadata["parse"].__doc__)
    elif metadata["at_most"] is not None:
        text = f"a whole number from {metadata['at_least']} to {metadata['at_most']}"
    else:
        text = f"a whole number of at least {metadata['at_least']}"
    return f"{text}, or None" if metadata["nullable"] else text


def _checked(value: Any, metadata: Mapping[str, Any]) -> Any:
    """The value to keep; ValueError if it is not allowed."""
    if value is None and metadata["nullable"]:
        return None
    if metadata["parse"] is not None:
        return metadata["parse"](value)
    if metadata["choices"] is not None:
        for choice in metadata["choices"]:
            # 1 == True: a truth value is no number here, and the other way round.
            if value == choice and isinstance(value, bool | np.bool_) == isinstance(choice, bool):
                return choice
        raise ValueError
    if isinstance(value, bool | np.bool_):
        raise ValueError
    try:
        number = operator.index(value)
    except TypeError:
        raise ValueError from None
    if number < metadata["at_least"] or (metadata["at_most"] is not None and number > metadata["at_most"]):
        raise ValueError
    return number


@dataclass(frozen=True, kw_only=True)
class Rules:
    """The options of a game; each is checked when the game is made."""

    game: ClassVar[str] = ""

    match: str = option("game", "whole match, or one hand as the episode", choices=("game", "hand"))
    reward: str = option("score", "changes of score, or the result at the end", choices=("score", "win"))

    def __post_init__(self) -> None:
        for spec in fields(self):
            value = getattr(self, spec.name)
            try:
                object.__setattr__(self, spec.name, _checked(value, spec.metadata))
            except ValueError:
                raise RulesError(
                    f"{self.game}: option {spec.name} expected {allowed(spec.metadata)}, got {value!r}"
                ) from None

    @classmethod
    def make(cls, options: Mapping[str, Any]) -> Self:
        """Rules from options by name.

        Raises
        ------
        UnknownName
            For an option this game does not have.
        RulesError
            For a value that is not allowed.
        """
        known = [spec.name for spec in fields(cls)]
        for name in options:
            if name not in known:
                raise UnknownName(f"option of {cls.game}", name, known)
        return cls(**options)

    def record(self) -> dict[str, Any]:
        """Every option that bears on the play, as it stands in game records (``reward`` does not)."""
        listed = {spec.name: getattr(self, spec.name) for spec in fields(self) if spec.name != "reward"}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in listed.items()}


# ------------------------------------------------------------------------------------------------------------ state


@dataclass(slots=True, eq=False, kw_only=True)
class State:
    """B matches.  Every field is an array with leading axis B, changed in place by ``step``.

    Subclasses add the fields of their game.
    """

    seed: NDArray[np.uint64]  # [B] match seed: the key of all chance in this match
    hand: NDArray[np.int32]  # [B] number of the present hand, from 0
    move: NDArray[np.int32]  # [B] actions taken so far in the match
    seat: NDArray[np.int8]  # [B] seat to move; -1 in a finished game
    scores: NDArray[np.int32]  # [B, P] running scores
    terminated: NDArray[np.bool_]  # [B] ended by the rules
    truncated: NDArray[np.bool_]  # [B] ended by a limit
    scripts: NDArray[np.object_] | None = None  # [B] Script or None; None when no game has scripted deals

    def __len__(self) -> int:
        return len(self.seed)

    def _with(self, change: Callable[[NDArray[Any]], NDArray[Any]]) -> Self:
        values: dict[str, Any] = {}
        for name in self.__dataclass_fields__:
            value = getattr(self, name)
            values[name] = None if value is None else change(value)
        return type(self)(**values)

    def copy(self) -> Self:
        """An independent copy."""
        return self._with(lambda array: array.copy())

    def take(self, rows: Rows) -> Self:
        """A new state of some games of this one, in the order given."""
        places = np.asarray(rows)
        if places.dtype == np.bool_:
            places = np.flatnonzero(places)
        return self._with(lambda array: array.take(places, axis=0))  # several times faster than indexing

    def repeat(self, count: int) -> Self:
        """A new state with every game ``count`` times, copies of a game side by side (row-major ``B * count``)."""
        return self._with(lambda array: np.repeat(array, count, axis=0))

    @classmethod
    def joined(cls, states: Sequence[Self]) -> Self:
        """A new state of the games of several, in their order.

        Raises
        ------
        ValueError
            For no states at all.
        """
        if not states:
            raise ValueError("states to join: expected at least one, got none")
        names = [name for name in cls.__dataclass_fields__ if name != "scripts"]
        values: dict[str, Any] = {name: np.concatenate([getattr(state, name) for state in states]) for name in names}
        if any(state.scripts is not None for state in states):
            values["scripts"] = np.concatenate([state._scripts_of_all() for state in states])
        return cls(**values)

    def _scripts_of_all(self) -> NDArray[np.object_]:
        return np.full(len(self), None, dtype=object) if self.scripts is None else self.scripts

    def put(self, rows: Rows, other: Self) -> None:
        """Replace the games in places ``rows`` by the games of ``other``."""
        if other.scripts is not None:
            self.scripts = self._scripts_of_all()
        for name in self.__dataclass_fields__:
            array: NDArray[Any] | None = getattr(self, name)
            if array is not None:
                _put_rows(array, rows, getattr(other, name))


_MANY = 256  # rows from which on it pays to put them as single items


def _put_rows(array: NDArray[Any], rows: Rows, values: NDArray[Any]) -> None:
    """``array[rows] = values``; many rows of several numbers are put as single items, which is some times faster."""
    if array.ndim > 1 and len(values) >= _MANY and array.size and array.dtype == values.dtype != object:
        item = np.dtype((np.void, array.nbytes // len(array)))
        whole, new = (np.ascontiguousarray(each).reshape(len(each), -1) for each in (array, values))
        if np.may_share_memory(whole, array):  # it is no copy
            array, values = whole.view(item)[:, 0], new.view(item)[:, 0]
    array[rows] = values


THE_ONE: Rows = np.zeros(1, dtype=np.int64)
"""The place of the only game of a batch, read-only."""
THE_ONE.flags.writeable = False


class Script(NamedTuple):
    """Deals that a match takes from a list rather than from its seed."""

    deals: tuple[Any, ...]  # one entry a hand, as parsed by the game
    goes_on: bool  # whether later hands come from the seed


class Outcome(NamedTuple):
    """What one batched step brought."""

    rewards: NDArray[np.float32]  # [B, P]
    terminated: NDArray[np.bool_]  # [B]
    truncated: NDArray[np.bool_]  # [B]


StateT = TypeVar("StateT", bound=State)
RulesT = TypeVar("RulesT", bound=Rules)

BidModel = Callable[[Any, UInt64], NDArray[np.int64]]
"""Chooses hidden bids in sampled worlds: a state whose seats are about to bid, and keys, give actions ``int64[B]``."""


# ------------------------------------------------------------------------------------------------------------- game


class Game(ABC, Generic[StateT, RulesT]):
    """The rules of one game with one set of options.

    Attributes
    ----------
    name, version
        Of the game; a change of behaviour raises the version.
    title, kind
        For tables of games: the name in print, and what sort of game it is.
    rules
        The options.
    num_players, num_actions
        P and A.
    action_names
        Names of all actions by number, in a game where they are the same in every state; else None.
    observation, observation_all
        Layouts of :meth:`observe` and :meth:`observe_all`.
    teams
        The seats of each side; in most games every seat is a side of its own.
    zero_sum
        Whether the rewards of every step sum to zero under ``reward="score"``.
    reward_range
        Least and greatest reward of one step.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    kind: ClassVar[str]
    version: ClassVar[int] = 0
    rules_type: ClassVar[type[Rules]]
    zero_sum: ClassVar[bool] = False

    num_players: int
    num_actions: int
    action_names: tuple[str, ...] | None = None
    observation: Layout
    observation_all: Layout
    reward_range: tuple[float, float]

    def __init__(self, rules: RulesT) -> None:
        self.rules = rules

    def __repr__(self) -> str:
        default = type(self.rules)()
        changed = {spec.name: getattr(self.rules, spec.name) for spec in fields(self.rules)}
        shown = [f"{key}={value!r}" for key, value in changed.items() if value != getattr(default, key)]
        return f"make_game({', '.join([repr(self.name), *shown])})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Game) and type(self) is type(other) and self.rules == other.rules

    def __hash__(self) -> int:
        return hash((type(self), self.rules))

    @property
    def teams(self) -> tuple[tuple[int, ...], ...]:
        """Seats of each side."""
        return tuple((seat,) for seat in range(self.num_players))

    # -- what a game supplies -------------------------------------------------------------------------------------

    @abstractmethod
    def _start(self, seeds: UInt64, scripts: NDArray[np.object_] | None) -> StateT:
        """Matches before their first action."""

    @abstractmethod
    def legal_words(self, state: StateT) -> UInt64:
        """Legal actions of the seat to move as bit sets, ``uint64[B, W]``; empty in finished games."""

    @abstractmethod
    def _apply(self, state: StateT, actions: NDArray[np.int64], rewards: NDArray[np.float32]) -> None:
        """Take legal actions in a batch without finished games, adding to ``rewards``."""

    @abstractmethod
    def _values(self, state: StateT, seats: NDArray[np.int64]) -> dict[str, Any]:
        """What each of ``seats`` (``int64[B]``) knows, as :meth:`Layout.pack` takes it."""

    @abstractmethod
    def _values_of_one(self, state: StateT, seat: int) -> dict[str, int | list[int]]:
        """The same in a batch of one game, as :meth:`Layout.pack_one` takes it."""

    @abstractmethod
    def observe_all(self, state: StateT, seats: ArrayLike, out: Observation | None = None) -> Observation:
        """The same with perfect information, as laid out by ``observation_all``: for critics, never for agents."""

    @abstractmethod
    def resample(self, state: StateT, seats: ArrayLike, keys: UInt64, bids: BidModel | None = None) -> StateT:
        """A world that each seat of ``seats`` cannot tell from the true one.

        Everything that seat cannot know is drawn afresh from ``keys`` (``uint64[B]``), consistent with all it has
        seen and with all that play has shown.  The copy has a chance key of its own and no script, so that it tells
        nothing of later hands.  ``bids`` chooses hidden bids where a game has such; by default every legal bid is
        equally likely.
        """

    @abstractmethod
    def parse_deal(self, entry: Mapping[str, Any]) -> Any:
        """One hand object of a script (``dealer`` or ``first_player``, and ``deal``) in the game's own form.

        Raises ValueError saying what is wrong with it.
        """

    @abstractmethod
    def deal_object(self, state: StateT, i: int) -> dict[str, Any]:
        """The present hand of game ``i`` as a hand object, as it was dealt; the inverse of :meth:`parse_deal`."""

    # A single game, as PettingZoo plays it, is a few plain numbers, and NumPy's calls cost many times what is done with
    # them.  So a game may also take them by themselves, to the same result as in any batch: whoever changes one of the
    # two ways changes the other.

    def _legal_of_one(self, state: StateT) -> int:
        """Legal actions in a batch of one game as one bit set, empty in a finished game."""
        words = self.legal_words(state).astype("<u8", copy=False)
        return int.from_bytes(words.tobytes(), "little")

    def _apply_to_one(self, state: StateT, action: int, rewards: NDArray[np.float32]) -> None:
        """Take a legal action in a batch of one unfinished game, adding to ``rewards``."""
        self._apply(state, np.array([action]), rewards)

    def extend_deal(self, state: StateT, i: int, entry: dict[str, Any]) -> None:
        """Add to the hand object of game ``i`` what chance has brought since it was taken.

        Called after every action of a hand, the last one included, with what :meth:`deal_object` gave when the hand
        began.  Only games whose deal goes on within a hand (reshuffles) do anything here; in these the state must
        still tell of a hand when its last action has been taken.
        """

    def unused_deal(self, state: StateT, i: int) -> str | None:
        """What the scripted deal of the present hand holds that play did not need, in words; None for nothing.

        Asked when a hand has ended the match or an unfinished record stops.  Only games whose deal goes on within a
        hand have anything to say here.
        """
        return None

    @abstractmethod
    def action_name(self, state: StateT, i: int, action: int) -> str:
        """Name of an action in game ``i`` of the batch; it need not be legal now.

        Raises
        ------
        UnknownName
            For a number that is no action of this game.
        """

    @abstractmethod
    def parse_action(self, state: StateT, i: int, text: str) -> int:
        """Number of the action called ``text`` in game ``i``; the inverse of :meth:`action_name`.

        Raises
        ------
        UnknownName
            If no action is called so.
        """

    @abstractmethod
    def describe(self, state: StateT, i: int, seat: int | None = None) -> dict[str, Any]:
        """Game ``i`` in plain named values: all of it, or only what ``seat`` may know."""

    # -- what all games share -------------------------------------------------------------------------------------

    def new(self, seeds: ArrayLike) -> StateT:
        """Start matches; match ``i`` depends on ``seeds[i]`` alone.

        Parameters
        ----------
        seeds
            ``uint64[B]`` (see :func:`slopes_envs.match_seed`), or one number.
        """
        return self._start(_as_seeds(seeds), None)

    def from_deals(self, scripts: Sequence[Sequence[Mapping[str, Any]]], then_seeds: ArrayLike | None = None) -> StateT:
        """Start matches whose deals are given.

        Parameters
        ----------
        scripts
            One a match: a list of hand objects ``{"dealer" or "first_player": …, "deal": …}`` as in game records.
            Cards of a hand are a list of names, or one text with names between spaces.
        then_seeds
            ``uint64[B]`` from which matches go on when their script has run out.  Without it, that raises.

        Raises
        ------
        DealError
            For a deal that does not fit the rules.
        ScriptExhausted
            From the ``step`` that needs a deal there is none for; the batch is then unchanged.
        """
        parsed = []
        for i, script in enumerate(scripts):
            deals = []
            for number, entry in enumerate(script):
                try:
                    deals.append(self.parse_deal(entry))
                except ValueError as error:
                    raise DealError(str(error), game=self.name, match=i + 1, hand=number + 1) from None
            parsed.append(Script(tuple(deals), then_seeds is not None))
        seeds = np.zeros(len(scripts), np.uint64) if then_seeds is None else _as_seeds(then_seeds)
        if len(seeds) != len(scripts):
            raise ValueError(f"{self.name}: expected one seed a script, got {len(seeds)} for {len(scripts)} scripts")
        return self.from_scripts(parsed, seeds)

    def from_scripts(self, scripts: Sequence[Script], seeds: UInt64) -> StateT:
        """Start matches whose deals are parsed already; errors are those of :meth:`from_deals`."""
        array = np.full(len(scripts), None, dtype=object)
        for i, script in enumerate(scripts):
            array[i] = script
        return self._start(seeds, array)

    def legal(self, state: StateT, out: NDArray[np.bool_] | None = None) -> NDArray[np.bool_]:
        """Legal actions of the seat to move, ``bool[B, A]``; all False in a finished game."""
        if len(state) == 1:
            bits = self._legal_of_one(state).to_bytes((self.num_actions + 7) // 8, "little")
            packed = np.frombuffer(bits, np.uint8)[None]
        else:
            packed = np.ascontiguousarray(self.legal_words(state)).astype("<u8", copy=False).view(np.uint8)
        mask = np.unpackbits(packed, axis=1, count=self.num_actions, bitorder="little").view(np.bool_)
        if out is None:
            return mask
        np.copyto(out, mask)
        return out

    def sample_legal(self, state: StateT, keys: UInt64) -> NDArray[np.int64]:
        """One of the legal actions of each game, every one equally likely: ``int64[B]``.

        A pure function of the state and ``keys`` (``uint64[B]``).  In a finished game the answer is 0.
        """
        words = self.legal_words(state)
        counts = np.bitwise_count(words)
        if words.shape[1] == 1:
            word, total = words[:, 0], counts[:, 0]
            nth = below(keys, np.maximum(total, 1)).view(np.uint64)
            return np.where(total > 0, select_bit(word, nth), 0)
        ends = np.cumsum(counts, axis=1, dtype=np.int64)
        pick = below(keys, np.maximum(ends[:, -1], 1))
        column = np.zeros(len(words), dtype=np.int64)
        for end in ends.T[:-1]:
            column += end <= pick
        rows = row_starts(len(words), words.shape[1]) + column
        nth = pick - (ends.reshape(-1)[rows] - counts.reshape(-1)[rows])
        chosen = select_bit(words.reshape(-1)[rows], nth.astype(np.uint64)) + 64 * column
        return np.where(ends[:, -1] > 0, chosen, 0)

    def step(self, state: StateT, actions: ArrayLike, check: bool = True) -> Outcome:
        """Take one action in every game, in place; finished games ignore theirs.

        Parameters
        ----------
        state
            Changed in place.
        actions
            ``int[B]``.
        check
            Whether actions are checked.  Turn it off only where they come from ``legal`` or ``sample_legal``; an
            illegal action then leaves the state meaningless.

        Raises
        ------
        IllegalAction
            Names the first game with an illegal action; the whole batch is then untouched.
        """
        actions = self._as_actions(state, actions)
        if check:
            self._check(state, actions)
        rewards = np.zeros((len(state), self.num_players), dtype=np.float32)
        alone = len(state) == 1
        if (state.seat.item() if alone else state.seat.min(initial=0)) >= 0:
            backup = None if state.scripts is None else state.copy()
            try:
                if alone:
                    self._apply_to_one(state, actions.item(), rewards)
                else:
                    self._apply(state, actions, rewards)
            except DealError:
                if backup is not None:
                    state.put(np.arange(len(state)), backup)
                raise
        else:
            live = np.flatnonzero(state.seat >= 0)
            if len(live):
                part = state.take(live)
                part_rewards = np.zeros((len(live), self.num_players), dtype=np.float32)
                try:
                    self._apply(part, actions[live], part_rewards)
                except DealError as error:  # its match counts among the live ones
                    match = None if error.match is None else int(live[error.match - 1]) + 1
                    raise type(error)(error.reason, game=self.name, match=match, hand=error.hand) from None
                state.put(live, part)
                rewards[live] = part_rewards
        return Outcome(rewards, state.terminated.copy(), state.truncated.copy())

    def restart(self, state: StateT, which: ArrayLike, seeds: ArrayLike) -> None:
        """Start new matches in some places of the batch.

        Parameters
        ----------
        state
            Changed in place.
        which
            ``bool[B]``, or places in the batch.
        seeds
            One seed a restarted match.
        """
        rows = np.asarray(which)
        if rows.dtype == np.bool_:
            if rows.shape != (len(state),):
                raise ValueError(f"{self.name}: restart expected bool[{len(state)}] or places, got shape {rows.shape}")
            rows = np.flatnonzero(rows)
        rows = np.atleast_1d(rows)
        fresh = _as_seeds(seeds)
        if len(fresh) != len(rows):
            raise ValueError(f"{self.name}: restart expected {len(rows)} seeds, one a match, got {len(fresh)}")
        if len(rows):
            state.put(rows, self.new(fresh))

    def scores(self, state: StateT) -> NDArray[np.int32]:
        """Running scores, ``int32[B, P]``."""
        return state.scores.copy()

    def observe(self, state: StateT, seats: ArrayLike, out: Observation | None = None) -> Observation:
        """What each of ``seats`` (``int[B]``) knows, seat-relative: ``uint8[B, D]`` as laid out by ``observation``.

        Any seat may be asked for at any time, in finished games too.  ``out`` is written into and returned if given.
        """
        if len(state) == 1:
            return self.observation.pack_one(self._known_to_one(state, seats), out)
        return self.observation.pack(len(state), self._known(state, seats), out)

    def observe_words(self, state: StateT, seats: ArrayLike) -> UInt64:
        """What seats know as words of 64 features, ``uint64[words, B]``, as :meth:`Layout.words` gives them.

        For players that compute with sets: nothing is unpacked.
        """
        if len(state) == 1:
            return self.observation.words_of_one(self._known_to_one(state, seats))
        return self.observation.words(len(state), self._known(state, seats))

    def _known(self, state: StateT, seats: ArrayLike) -> dict[str, Any]:
        return self._values(state, as_seats(seats, len(state), self.num_players))

    def _known_to_one(self, state: StateT, seats: ArrayLike) -> dict[str, int | list[int]]:
        return self._values_of_one(state, one_seat(seats, self.num_players))

    def features(self, state: StateT, seats: ArrayLike) -> dict[str, Observation]:
        """The named pieces of :meth:`observe`, unpacked."""
        return self.observation.split(self.observe(state, seats))

    # -- for the games ---------------------------------------------------------------------------------------------

    def _as_actions(self, state: StateT, actions: ArrayLike) -> NDArray[np.int64]:
        array = np.asarray(actions)
        if array.shape != (len(state),) or array.dtype.kind not in "iu":
            raise ValueError(
                f"{self.name}: step expected whole-number actions of shape ({len(state)},), "
                f"got {array.dtype} of shape {array.shape}"
            )
        return array.astype(np.int64, copy=False)

    def _check(self, state: StateT, actions: NDArray[np.int64]) -> None:
        words = self.legal_words(state)
        unsigned = actions.astype(np.uint64)  # a negative action becomes a huge one
        if words.shape[1] == 1:
            legal = (words[:, 0] >> np.minimum(unsigned, _63)) & (unsigned < _64)
        else:
            column = np.minimum(unsigned >> _6, np.uint64(words.shape[1] - 1)).astype(np.int64)
            word = words.reshape(-1)[row_starts(len(words), words.shape[1]) + column]
            legal = (word >> (unsigned & _63)) & (unsigned < np.uint64(self.num_actions))
        if legal.all():
            return
        for i in np.flatnonzero(legal == 0):
            if state.seat[i] >= 0:
                raise self._illegal(state, int(i), int(actions[i]))

    def _illegal(self, state: StateT, i: int, action: int) -> IllegalAction:
        known = 0 <= action < self.num_actions
        shown = f"action {self.action_name(state, i, action)!r} ({action})" if known else f"action {action}"
        return IllegalAction(self.name, i, int(state.seat[i]), shown, self.legal_names(state, i))

    def legal_names(self, state: StateT, i: int) -> list[str]:
        """Names of the legal actions of game ``i``, in the order of their numbers."""
        words = self.legal_words(state)[i].astype("<u8")
        numbers = np.flatnonzero(np.unpackbits(words.view(np.uint8), bitorder="little"))
        return [self.action_name(state, i, int(action)) for action in numbers]

    def _known_action(self, action: int) -> None:
        if not 0 <= action < self.num_actions:
            raise UnknownName("action", action, [f"0 to {self.num_actions - 1}"])

    def _scripted(self, state: StateT, rows: Rows) -> list[tuple[int, Any]]:
        """Which of ``rows`` take their present hand from a script: places in ``rows``, with the parsed deal."""
        found: list[tuple[int, Any]] = []
        if state.scripts is None:
            return found
        for place, row in enumerate(rows):
            script, number = state.scripts[row], int(state.hand[row])
            if script is None:
                continue
            if number < len(script.deals):
                found.append((place, script.deals[number]))
            elif not script.goes_on:
                raise ScriptExhausted(
                    "the script has no deal for this hand, and no seed to go on from was given",
                    game=self.name,
                    match=int(row) + 1,
                    hand=number + 1,
                )
        return found

    def _take_dealer(self, state: Any, row: int, dealer: int) -> None:
        """Take the dealer of a scripted hand: the first one is free unless the rules name it, later ones rotate."""
        if state.hand[row] == 0 and self.rules.first_dealer is None:  # type: ignore[attr-defined]
            state.dealer[row] = dealer
        elif state.dealer[row] != dealer:
            raise DealError(
                f"the dealer is seat {state.dealer[row]}, got {dealer}",
                game=self.name,
                match=row + 1,
                hand=int(state.hand[row]) + 1,
            )

    def _finish_hand(self, state: StateT, rows: Rows, change: NDArray[np.int32], rewards: NDArray[np.float32]) -> Rows:
        """Book a hand that is over in some games: scores, rewards, ends of matches.

        Parameters
        ----------
        state, rewards
            Changed in place.
        rows
            Games whose hand is over.
        change
            ``int32[N, P]``, what it changed in the scores.

        Returns
        -------
        The games that go on with another hand.
        """
        state.scores[rows] += change
        state.hand[rows] += 1
        if self.rules.match == "hand":
            terminated, truncated = np.ones(len(rows), np.bool_), np.zeros(len(rows), np.bool_)
        else:
            terminated, truncated = self._match_over(state, rows)
        state.terminated[rows] = terminated
        state.truncated[rows] = truncated
        ended = terminated | truncated
        state.seat[rows[ended]] = -1
        if self.rules.reward == "score":
            rewards[rows] = change
        elif ended.any():
            rewards[rows[ended]] = self._win_rewards(state.scores[rows[ended]])
        return rows[~ended]

    def _match_over(self, state: StateT, rows: Rows) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Whether matches end with the hand just booked: by the rules, or cut off at a limit; ``bool[N]`` each.

        As it stands: at ``target_score`` and, failing that, at ``max_hands``.
        """
        rules: Any = self.rules
        reached = (state.scores[rows] >= rules.target_score).any(axis=1)
        return reached, ~reached & (state.hand[rows] >= rules.max_hands)

    def _win_rewards(self, scores: NDArray[np.int32]) -> NDArray[np.float32]:
        """Rewards of finished matches under ``reward="win"``, ``float32[N, P]``.

        +1 shared equally by the seats with the highest score, -1 shared equally by the others; all equal: zeros.
        """
        best = scores == scores.max(axis=1, keepdims=True)
        winners = best.sum(axis=1, keepdims=True)
        losers = np.maximum(scores.shape[1] - winners, 1)
        shared = np.where(best, 1 / winners, -1 / losers)
        return np.where(winners == scores.shape[1], 0, shared).astype(np.float32)


def common_fields(seeds: UInt64, num_players: int, scripts: NDArray[np.object_] | None) -> dict[str, Any]:
    """The fields that every :class:`State` has, before the first hand."""
    b = len(seeds)
    return {
        "seed": seeds.copy(),
        "hand": np.zeros(b, np.int32),
        "move": np.zeros(b, np.int32),
        "seat": np.zeros(b, np.int8),
        "scores": np.zeros((b, num_players), np.int32),
        "terminated": np.zeros(b, np.bool_),
        "truncated": np.zeros(b, np.bool_),
        "scripts": scripts,
    }


def first_seats(seeds: UInt64, num_players: int, given: int | None) -> NDArray[np.int8]:
    """The first dealer (or player) of every match, ``int8[B]``: the one given, or drawn from the seed."""
    if given is not None:
        return np.full(len(seeds), given, np.int8)
    return below(derive(seeds, Purpose.FIRST_SEAT), num_players).astype(np.int8)


def parse_hand_object(
    entry: Any, seat_key: str, num_players: int, parts: Sequence[str]
) -> tuple[int, Mapping[str, Any]]:
    """Take a hand object apart, for :meth:`Game.parse_deal`.

    Parameters
    ----------
    entry
        ``{seat_key: seat, "deal": {part: …}}``
    seat_key
        ``"dealer"`` or ``"first_player"``.
    num_players
        P
    parts
        The keys of a deal.

    Returns
    -------
    The seat, and the deal with exactly these parts.

    Raises
    ------
    ValueError
        If it is not of this form.
    """
    expect_keys(entry, (seat_key, "deal"))
    seat, deal = entry[seat_key], entry["deal"]
    if isinstance(seat, bool) or not isinstance(seat, int) or not 0 <= seat < num_players:
        raise ValueError(f"{seat_key}: expected a seat from 0 to {num_players - 1}, got {shown(seat)}")
    try:
        expect_keys(deal, parts)
    except ValueError as error:
        raise ValueError(f"deal: {error}") from None
    return seat, deal


def _as_seeds(seeds: ArrayLike) -> UInt64:
    array = np.atleast_1d(np.asarray(seeds))
    if array.ndim != 1 or array.dtype.kind not in "iu" or (array.dtype.kind == "i" and (array < 0).any()):
        raise ValueError(f"seeds: expected whole numbers from 0 to 2**64 - 1, one a match, got {seeds!r}")
    return array.astype(np.uint64)


def one_seat(seats: ArrayLike, num_players: int) -> int:
    """The seat of a batch of one game, checked as :func:`as_seats` does."""
    seat: int = seats.item() if isinstance(seats, np.ndarray) and seats.size == 1 else -1
    if 0 <= seat < num_players and seats.dtype.kind in "iu":  # type: ignore[union-attr]  # an array, as just seen
        return seat
    return int(as_seats(seats, 1, num_players)[0])


def as_seats(seats: ArrayLike, batch: int, num_players: int) -> NDArray[np.int64]:
    """Seats as ``int64[B]``, checked; one number stands for all games."""
    array = np.asarray(seats)
    if array.ndim == 0:
        array = np.full(batch, array)
    if array.shape != (batch,) or array.dtype.kind not in "iu":
        raise ValueError(f"seats: expected whole numbers of shape ({batch},), got {array.dtype} of {array.shape}")
    array = array.astype(np.int64, copy=False)
    if batch and array.view(np.uint64).max() >= num_players:  # a negative one becomes a huge one
        raise ValueError(
            f"seats: expected 0 to {num_players - 1}, got {array[(array < 0) | (array >= num_players)][0]}"
        )
    return array
