"""Game records: written while matches are played, read, verified, and shown.

A record is one match as a JSON object; a file holds one a line (``.jsonl``, or ``.jsonl.gz``).  It tells all that is
needed to check the match without this library: the options, every card dealt, every move, every score.

========== =============================================================================================
key        value
========== =============================================================================================
format     ``"slopes-record/1"``
game       name of the game
rules      every option that bears on the play
seed       match seed, or null where the deals did not come from one; readers do not check it
players    labels, seat by seat, or null
hands      objects with ``dealer`` or ``first_player``, ``deal``, ``moves`` and ``scores``
scores     at the end, seat by seat
end        ``"terminated"``, ``"truncated"`` or ``"unfinished"``
========== =============================================================================================

A move is ``{"seat": 0, "action": "bid 3", "legal": […]}``; the legal actions, in the order of their numbers, may be
left out.  The ``scores`` of a hand are the changes it brought.  In an unfinished record the hand that is still open
has null for its scores, and the final scores are those at the start of that hand.

What a game's deals look like and how chance comes into them is known to the game alone: ``deal_object``,
``extend_deal``, ``parse_deal`` and ``unused_deal`` of :class:`slopes_envs.Game`.

Shape letters: **B** matches played side by side, **P** seats, **A** actions.
"""

from __future__ import annotations

import gc
import gzip
import json
import math
import os
import zlib
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from operator import length_hint
from pathlib import Path
from sys import intern
from typing import IO, Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import DealError, ScriptExhausted, UnknownName, expect_keys, shown, suggestion
from .game import Game, Script, State
from .infoset import InformationSet
from .registry import game_class

FORMAT = "slopes-record/1"
KEYS = ("format", "game", "rules", "seed", "players", "hands", "scores", "end")
HAND_KEYS = ("moves", "scores")  # beside those of the deal
MOVE_KEYS = ("seat", "action")
LEGAL = "legal"
UNFINISHED = "unfinished"
ENDS = ("terminated", "truncated", UNFINISHED)

BATCH = 128
"""Matches that are recorded or verified side by side."""

MAX_LINE = 2**28
"""Longest line that is read, in bytes: a record is held in memory, a file is not."""

MAX_BATCH_TEXT = 2**25  # bytes of text that are verified together, lest many long records fill the memory
MAX_REASON = 500  # characters of a reason; names out of a hostile file may be of any length

Record = dict[str, Any]
Policy = Callable[[InformationSet], NDArray[np.int64]]
"""What chooses actions, ``int64[B]``, such as the ``act`` of an agent."""


class RecordError(ValueError):
    """A record that is not right.  Line, hand and move count from 1; None where the fault belongs to no single one."""

    def __init__(self, reason: str, *, line: int, hand: int | None = None, move: int | None = None) -> None:
        if len(reason) > MAX_REASON:
            reason = reason[: MAX_REASON // 2] + " … " + reason[-MAX_REASON // 2 :]
        where = [f"line {line}", f"hand {hand}" if hand is not None else "", f"move {move}" if move is not None else ""]
        super().__init__(f"{', '.join(filter(None, where))}: {reason}")
        self.reason, self.line, self.hand, self.move = reason, line, hand, move


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Without the garbage collector: a record has tens of thousands of small objects and not one cycle.

    Looking for some took longer than reading the record.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


# ---------------------------------------------------------------------------------------------------------- actions


def _chosen_names(game: Game[Any, Any], state: State, actions: NDArray[np.int64]) -> list[str]:
    """Names of one action in every match."""
    fixed = game.action_names
    if fixed is not None:
        return [fixed[action] for action in actions.tolist()]
    return [game.action_name(state, i, action) for i, action in enumerate(actions.tolist())]


def _legal_names(game: Game[Any, Any], state: State, legal: NDArray[np.bool_]) -> list[tuple[str, ...]]:
    """Names of the legal actions (``bool[B, A]``) of every match, in the order of their numbers."""
    rows, actions = np.nonzero(legal)
    ends = np.cumsum(np.count_nonzero(legal, axis=1)).tolist()
    fixed = game.action_names
    if fixed is not None:
        names = tuple([fixed[action] for action in actions.tolist()])
    else:
        pairs = zip(rows.tolist(), actions.tolist(), strict=True)
        names = tuple([game.action_name(state, row, action) for row, action in pairs])
    return [names[start:end] for start, end in zip([0, *ends], ends, strict=False)]


# ---------------------------------------------------------------------------------------------------------- writing

# Seat, action, legal actions.  Tuples, and objects made of them for one match at a time, because batches hold millions
# of moves: they are small, and the garbage collector leaves alone what can hold no cycle.
_Move = tuple[int, str, tuple[str, ...] | None]


@dataclass(slots=True)
class _Transcript:
    """What has been taken down of one match."""

    seed: int | None
    scores: list[int]  # at the start of the open hand
    entry: dict[str, Any] | None  # the open hand's object; None once the match is over
    end: str = UNFINISHED
    hands: list[tuple[dict[str, Any], list[_Move], list[int]]] = field(default_factory=list)
    moves: list[_Move] = field(default_factory=list)

    def close_hand(self, scores: list[int]) -> None:
        changes = [now - then for now, then in zip(scores, self.scores, strict=True)]
        self.hands.append((self.entry or {}, self.moves, changes))
        self.scores, self.entry, self.moves = scores, None, []

    def hand_objects(self) -> list[dict[str, Any]]:
        open_hand = [] if self.entry is None else [(deepcopy(self.entry), self.moves, None)]  # a deal may yet go on
        with _collector_paused():
            return [
                {**entry, "moves": _move_objects(moves), "scores": changes}
                for entry, moves, changes in [*self.hands, *open_hand]
            ]


def _move_objects(moves: list[_Move]) -> list[dict[str, Any]]:
    return [
        {"seat": seat, "action": action} if legal is None else {"seat": seat, "action": action, LEGAL: list(legal)}
        for seat, action, legal in moves
    ]


class Recorder:
    """Takes down the matches of a batch while they are played.

    Parameters
    ----------
    game
        The rules.
    state
        B matches before their first action, none of them over.  They belong to the recorder from then on.
    seeds
        Match seeds to be noted, one a match; by default null.
    players
        Labels, seat by seat; by default null.
    legal
        Whether the legal actions are noted at every move.

    Attributes
    ----------
    state
        The matches that are still going on, in their order.
    """

    def __init__(
        self,
        game: Game[Any, Any],
        state: State,
        *,
        seeds: Sequence[int] | None = None,
        players: Sequence[str | None] | None = None,
        legal: bool = False,
    ) -> None:
        if players is not None and len(players) != game.num_players:
            raise ValueError(f"players: expected {game.num_players} labels, one a seat, got {len(players)}")
        if seeds is not None and len(seeds) != len(state):
            raise ValueError(f"seeds: expected {len(state)}, one a match, got {len(seeds)}")
        self.game, self.state = game, state
        self._players, self._legal = None if players is None else list(players), legal
        scores = game.scores(state).tolist()
        self._all = [
            _Transcript(None if seeds is None else int(seeds[i]), scores[i], game.deal_object(state, i))
            for i in range(len(state))
        ]
        self._live = list(self._all)
        self._deals_go_on = type(game).extend_deal is not Game.extend_deal

    def step(self, actions: ArrayLike) -> None:
        """Take one action in every match that is still going on, ``int[len(recorder.state)]``.

        Raises
        ------
        IllegalAction
            Nothing is then taken, nor noted.
        """
        game, state = self.game, self.state
        chosen = game._as_actions(state, actions)
        game._check(state, chosen)
        names = _chosen_names(game, state, chosen)
        legal = _legal_names(game, state, game.legal(state)) if self._legal else [None] * len(names)
        seats, hand = state.seat.tolist(), state.hand.copy()
        game.step(state, chosen, check=False)
        for transcript, move in zip(self._live, zip(seats, names, legal, strict=True), strict=True):
            transcript.moves.append(move)
        self._follow_chance()
        self._close_hands(np.flatnonzero((state.hand != hand) | (state.seat < 0)))

    def _follow_chance(self) -> None:
        if self._deals_go_on:
            for i, transcript in enumerate(self._live):
                if transcript.entry is not None:
                    self.game.extend_deal(self.state, i, transcript.entry)

    def _close_hands(self, rows: NDArray[np.int64]) -> None:
        if not len(rows):
            return
        state, scores = self.state, self.game.scores(self.state)
        for i in rows.tolist():
            transcript = self._live[i]
            transcript.close_hand(scores[i].tolist())
            if state.seat[i] < 0:
                transcript.end = _end(state, i)
            else:
                transcript.entry = self.game.deal_object(state, i)
        going = np.flatnonzero(state.seat >= 0)
        if len(going) < len(state):
            self.state = state.take(going)
            self._live = [self._live[i] for i in going]

    def records(self) -> Iterator[Record]:
        """The records of all matches, in their order; those that are still going on come out unfinished."""
        for transcript in self._all:
            yield {
                "format": FORMAT,
                "game": self.game.name,
                "rules": self.game.rules.record(),
                "seed": transcript.seed,
                "players": None if self._players is None else list(self._players),
                "hands": transcript.hand_objects(),
                "scores": list(transcript.scores),
                "end": transcript.end,
            }


def _end(state: State, i: int) -> str:
    return "terminated" if state.terminated[i] else "truncated"


def record_matches(
    game: Game[Any, Any],
    policies: Policy | Sequence[Policy],
    seeds: ArrayLike,
    *,
    players: Sequence[str | None] | None = None,
    legal: bool = False,
    max_moves: int | None = None,
    batch: int = BATCH,
) -> Iterator[Record]:
    """Play matches and give their records, one after the other.

    A record depends on its own seed and the policies alone, whatever ``batch`` is.

    Parameters
    ----------
    game
        The rules.
    policies
        One for all seats, or one a seat.
    seeds
        ``uint64[N]``, the match seeds (see :func:`slopes_envs.match_seed`).
    players
        Labels, seat by seat; by default null.
    legal
        Whether the legal actions are noted at every move.
    max_moves
        Leave matches unfinished after so many moves; by default they are played to their end.
    batch
        How many matches are played side by side.

    Raises
    ------
    IllegalAction
        If a policy chooses one.
    """
    seated = _seated(game, policies)
    if batch < 1:
        raise ValueError(f"batch: expected at least 1 match, got {batch}")
    array = np.atleast_1d(np.asarray(seeds))
    parts = (array[start : start + batch] for start in range(0, len(array), batch))

    def play(part: NDArray[Any]) -> Iterator[Record]:
        state = game.new(part)
        recorder = Recorder(game, state, seeds=state.seed.tolist(), players=players, legal=legal)
        moves = 0
        while len(recorder.state) and (max_moves is None or moves < max_moves):
            recorder.step(_choose(game, recorder.state, seated))
            moves += 1
        return recorder.records()

    return (record for part in parts for record in play(part))


def _seated(game: Game[Any, Any], policies: Policy | Sequence[Policy]) -> list[Policy]:
    """One policy a seat."""
    seated = [policies] * game.num_players if callable(policies) else list(policies)
    if len(seated) != game.num_players:
        raise ValueError(f"{game.name}: expected one policy or {game.num_players}, one a seat, got {len(seated)}")
    return seated


def _choose(game: Game[Any, Any], state: State, policies: list[Policy]) -> NDArray[np.int64]:
    """Actions of the seats to move, ``int64[B]``; seats with the same policy are asked together."""
    acting = np.array([policies.index(policy) for policy in policies])[state.seat]
    actions = np.empty(len(state), dtype=np.int64)
    for number in np.unique(acting):
        rows = np.flatnonzero(acting == number)
        asked = state if len(rows) == len(state) else state.take(rows)
        actions[rows] = game._as_actions(asked, policies[number](InformationSet(game, asked)))
    return actions


# ------------------------------------------------------------------------------------------------------------ files

_encode = json.JSONEncoder(allow_nan=False, check_circular=False).encode


def write_records(target: str | Path | IO[bytes], records: Iterable[Record]) -> int:
    """Write records as JSON Lines, one by one as they come.

    Parameters
    ----------
    target
        A path, compressed if it ends in ``.gz``; or a binary stream, such as ``sys.stdout.buffer``.  A file is
        written beside its place and moved there when it is whole, so that what was there before stays until then.
        The same records make the same bytes.
    records
        What to write.

    Returns
    -------
    How many records were written.
    """
    if not isinstance(target, str | Path):
        return _write_lines(target, records)
    path = Path(target)
    if path.exists() and not path.is_file():  # a device or a pipe; a folder is refused by open
        with path.open("wb") as stream:
            return _write_lines(stream, records)
    with _written_beside(path.resolve()) as stream:
        if path.suffix != ".gz":
            return _write_lines(stream, records)
        # No name and no time in the header: both would make the bytes differ.
        with gzip.GzipFile("", "wb", compresslevel=6, fileobj=stream, mtime=0) as compressed:
            return _write_lines(compressed, records)


def _write_lines(stream: IO[bytes] | gzip.GzipFile, records: Iterable[Record]) -> int:
    count = 0
    for record in records:
        stream.write(_encode(record).encode() + b"\n")
        count += 1
    return count


@contextmanager
def _written_beside(path: Path) -> Iterator[IO[bytes]]:
    """A new file that takes its place at ``path`` when all went well, and is removed otherwise."""
    beside = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with beside.open("wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def _lines(path: Path) -> Iterator[bytes]:
    """The lines of a file, each cut off where it is too long to be read."""
    with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as stream:
        yield from iter(partial(stream.readline, MAX_LINE + 1), b"")


# ---------------------------------------------------------------------------------------------------------- reading


class _Hand(NamedTuple):
    deal: Any  # as the game parses it
    moves: list[_Move]
    scores: list[int] | None  # None while the hand is open


class _Match:
    """One line, read as far as it is right in form; ``problem`` is what comes after."""

    def __init__(self, line: int, text: bytes) -> None:
        self.line, self.text = line, text
        self.name = ""
        self.game: Game[Any, Any] | None = None
        self.hands: list[_Hand] = []
        self.scores: list[int] = []
        self.end = ""
        self.problem: RecordError | None = None

    def fault(self, reason: object, hand: int | None = None, move: int | None = None) -> RecordError:
        return RecordError(str(reason), line=self.line, hand=hand, move=move)


def _read_line(line: int, text: bytes) -> _Match:
    match = _Match(line, text)
    try:
        with _collector_paused():
            _read_record(match)
    except RecordError as problem:
        match.problem = problem
    except ValueError as error:
        match.problem = match.fault(error)
    except RecursionError:
        match.problem = match.fault("not a record: lists or objects are nested too deeply")
    return match


def _read_record(match: _Match) -> None:
    """Fill in a match from its line; ValueError where it goes wrong."""
    record = _parse_json(match.text)
    expect_keys(record, KEYS)
    if record["format"] != FORMAT:
        raise ValueError(f"format: expected {FORMAT!r}, got {shown(record['format'])}")
    game = _read_game(record["game"], record["rules"])
    seed, players = record["seed"], record["players"]
    if seed is not None and not (type(seed) is int and 0 <= seed < 2**64):
        raise ValueError(f"seed: expected null or a whole number from 0 to 2**64 - 1, got {shown(seed)}")
    if players is not None:
        labels = _read_list(players, "players", game.num_players)
        if not all(label is None or isinstance(label, str) for label in labels):
            raise ValueError(f"players: expected labels (text or null), got {shown(players)}")
    hands = _read_list(record["hands"], "hands")
    match.name, match.game = game.name, game
    for number, hand in enumerate(hands, 1):
        _read_hand(match, game, number, hand)
    match.scores = _read_scores(record["scores"], game)
    if record["end"] not in ENDS:
        raise ValueError(f"end: expected {' or '.join(map(repr, ENDS))}, got {shown(record['end'])}")
    match.end = record["end"]


def _read_hand(match: _Match, game: Game[Any, Any], number: int, hand: Any) -> None:
    try:
        if not isinstance(hand, dict):
            raise ValueError(f"expected an object, got {shown(hand)}")
        for key in HAND_KEYS:
            if key not in hand:
                raise ValueError(f"the key {key!r} is missing")
        moves = _read_list(hand["moves"], "moves")
        entry = {key: value for key, value in hand.items() if key not in HAND_KEYS}
        _expect_no_text(entry.get("deal"))
        deal = game.parse_deal(entry)
    except ValueError as error:
        raise match.fault(error, number) from None
    read: list[_Move] = []
    match.hands.append(_Hand(deal, read, None))
    for place, move in enumerate(moves, 1):
        try:
            read.append(_read_move(move))
        except ValueError as error:
            raise match.fault(error, number, place) from None
    if hand["scores"] is not None:
        try:
            match.hands[-1] = _Hand(deal, read, _read_scores(hand["scores"], game))
        except ValueError as error:
            raise match.fault(error, number) from None


def _read_move(move: Any) -> _Move:
    try:
        seat, action = move["seat"], intern(move["action"])  # the same few names over and over: one object each
        if len(move) == len(MOVE_KEYS) and type(seat) is int:
            return seat, action, None
        legal = move[LEGAL]
        if len(move) == len(MOVE_KEYS) + 1 and type(seat) is int and type(legal) is list:
            return seat, action, tuple(map(intern, legal))
    except (KeyError, TypeError):
        pass  # told apart below
    expect_keys(move, MOVE_KEYS, (LEGAL,))
    if type(move["seat"]) is not int:
        raise ValueError(f"seat: expected a whole number, got {shown(move['seat'])}")
    if type(move["action"]) is not str:
        raise ValueError(f"action: expected a name, got {shown(move['action'])}")
    raise ValueError(f"{LEGAL}: expected a list of names, got {shown(move[LEGAL])}")


def _expect_no_text(deal: Any) -> None:
    """In a record cards stand in lists, one name a place; a text with several is for people who write deals."""
    if not isinstance(deal, dict):
        return  # refused by the game
    for part, value in deal.items():
        parts = value if isinstance(value, list) else [value]
        if isinstance(value, str) or any(isinstance(text, str) and len(text.split()) != 1 for text in parts):
            raise ValueError(f"deal: {part}: expected lists of card names, got {shown(value)}")


def _read_list(value: Any, what: str, size: int | None = None) -> list[Any]:
    if not isinstance(value, list) or (size is not None and len(value) != size):
        wanted = "a list" if size is None else f"a list of {size}, one a seat"
        raise ValueError(f"{what}: expected {wanted}, got {shown(value)}")
    return value


def _read_scores(value: Any, game: Game[Any, Any]) -> list[int]:
    scores = _read_list(value, "scores", game.num_players)
    if not all(type(score) is int for score in scores):
        raise ValueError(f"scores: expected whole numbers, got {shown(scores)}")
    return scores


def _read_game(name: Any, rules: Any) -> Game[Any, Any]:
    if not isinstance(name, str):
        raise ValueError(f"game: expected a name, got {shown(name)}")
    known = game_class(name).rules_type().record()
    if not isinstance(rules, dict):
        raise ValueError(f"rules: expected an object, got {shown(rules)}")
    for option in rules:
        if option not in known:
            raise UnknownName(f"option of {name}", option, known)
    for option in known:
        if option not in rules:
            raise ValueError(f"rules: the option {option!r} is missing")
    return _game_of(name, json.dumps(rules, sort_keys=True))


@lru_cache(maxsize=64)
def _game_of(name: str, rules: str) -> Game[Any, Any]:
    """One game for all records with the same rules; the text tells 1, 1.0 and true apart."""
    options = json.loads(rules)
    kind = game_class(name)
    made = kind.rules_type.make(options)
    for option, value in made.record().items():
        given = options[option]
        if given != value or type(given) is not type(value):  # what makes the same game, such as 3.0 players
            raise ValueError(f"rules: option {option} expected as {value!r}, got {shown(given)}")
    return kind(made)


def _parse_json(text: bytes) -> Any:
    if len(text) > MAX_LINE:
        raise ValueError(f"expected a record of at most {MAX_LINE} bytes, and the line is longer")
    if text.startswith(BOM_UTF8):
        raise ValueError("not a record: the line begins with a byte order mark")
    if not text.strip():
        raise ValueError("expected a record, and the line is blank")
    try:
        return _decoder.decode(text.rstrip(b"\r\n").decode())
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8: {error.reason} at byte {error.start + 1} of the line") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error.msg} at character {error.pos + 1} of the line") from None
    except ValueError as error:
        if "integer string conversion" in str(error):  # Python's own bound on digits
            raise ValueError("a number is too large") from None
        raise


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        twice = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        raise ValueError(f"the key {shown(twice)} stands twice in one object")
    return made


def _real(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"the number {shown(text)} is too large")
    return number


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"not JSON: {name} is no number")


_decoder = json.JSONDecoder(object_pairs_hook=_object, parse_float=_real, parse_constant=_no_number)


# -------------------------------------------------------------------------------------------------------- verifying


@dataclass(frozen=True, slots=True)
class Verified:
    """A record that was found right: its line in the file, and what it holds."""

    line: int
    game: str
    hands: int
    moves: int
    end: str
    text: bytes

    def record(self) -> Record:
        """The record itself."""
        record: Record = _parse_json(self.text)
        return record


@dataclass(slots=True)
class Summary:
    """What a verified file holds."""

    records: int = 0
    hands: int = 0
    moves: int = 0
    games: Counter[str] = field(default_factory=Counter)
    ends: Counter[str] = field(default_factory=Counter)

    def add(self, found: Verified) -> None:
        """Count one more record."""
        self.records += 1
        self.hands += found.hands
        self.moves += found.moves
        self.games[found.game] += 1
        self.ends[found.end] += 1


def verify_file(path: str | Path) -> Summary:
    """Check every record of a file, move by move.

    Raises
    ------
    RecordError
        For the first thing in the file that is not right; a file without any record is not right either.
    OSError
        If it cannot be read.
    """
    summary = Summary()
    for found in verify_records(path):
        summary.add(found)
    return summary


def verify_records(path: str | Path) -> Iterator[Verified]:
    """The records of a file, each as soon as it is verified; otherwise as :func:`verify_file`."""
    return verify_lines(_lines(Path(path)))


def read_records(path: str | Path) -> Iterator[Record]:
    """The records of a file as objects, each as soon as it is verified; otherwise as :func:`verify_file`."""
    return (found.record() for found in verify_records(path))


def verify_lines(lines: Iterable[bytes], batch: int = BATCH) -> Iterator[Verified]:
    """Check records that come as lines of JSON; otherwise as :func:`verify_file`.

    Only some lines are held in memory.  Neighbours with the same rules are played side by side, at most ``batch`` of
    them; what is found does not depend on that.
    """
    for matches in _batches(_read(lines), batch):
        game = matches[0].game
        problem = matches[0].problem if game is None else _Replay(game, matches).run()
        for match in matches:
            if problem is not None and match.line == problem.line:
                raise problem
            moves = sum(len(hand.moves) for hand in match.hands)
            yield Verified(match.line, match.name, len(match.hands), moves, match.end, match.text)
        matches.clear()  # lest they fill the memory while the next ones are read


def _read(lines: Iterable[bytes]) -> Iterator[_Match]:
    line = 0
    try:
        for line, text in enumerate(lines, 1):
            yield _read_line(line, text)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        yield _broken(line + 1, f"the compressed data is damaged: {error}")
        return
    if line == 0:
        yield _broken(1, "expected a record, and the file is empty")


def _broken(line: int, reason: str) -> _Match:
    match = _Match(line, b"")
    match.problem = match.fault(reason)
    return match


def _batches(matches: Iterable[_Match], batch: int) -> Iterator[list[_Match]]:
    """Neighbours with the same rules; a line of which not even the rules could be read stands alone."""
    held: list[_Match] = []
    text = 0
    for match in matches:
        fits = match.game is not None and len(held) < batch and text + len(match.text) <= MAX_BATCH_TEXT
        if held and not (fits and match.game == held[0].game):
            yield held
            held, text = [], 0
        held.append(match)
        text += len(match.text)
    if held:
        yield held


@dataclass(slots=True)
class _Place:
    """How far the replay of one match has come."""

    match: _Match
    scores: list[int] = field(default_factory=list)  # at the start of the open hand
    hand: int = 0  # number of the open hand, from 1
    moves: Iterator[_Move] = field(default_factory=lambda: iter(()))  # what is still to come of it
    first_move: int = 0  # moves of the match before it
    wrong_deal: str = ""  # why the next hand cannot be dealt as the record says

    @property
    def open_hand(self) -> _Hand:
        return self.match.hands[self.hand - 1]

    @property
    def is_last(self) -> bool:
        return self.hand == len(self.match.hands)

    def next_hand(self, scores: list[int], first_move: int) -> None:
        self.hand += 1
        self.scores, self.first_move = scores, first_move
        self.moves = iter(self.open_hand.moves)


class _Replay:
    """Plays matches with the same rules side by side and compares what comes out with what they say.

    A match whose record proves wrong leaves the batch, and with it all that stand further down in the file: only the
    first problem counts.
    """

    def __init__(self, game: Game[Any, Any], matches: list[_Match]) -> None:
        numbers = None if game.action_names is None else {name: n for n, name in enumerate(game.action_names)}
        self.game, self.numbers = game, numbers
        self.problem: RecordError | None = None
        self.places: list[_Place] = []
        self.state: Any = None
        self._start(matches)

    def run(self) -> RecordError | None:
        """Play all matches to their end; the first problem, or None."""
        while self.places:
            self._step()
        return self.problem

    def _start(self, matches: list[_Match]) -> None:
        """Deal the first hands."""
        for match in matches:
            with self._noted():
                if not match.hands:
                    self._between_hands(match, 0, self.game.scores(self.game.new(0))[0].tolist())
        matches = [match for match in matches if match.hands and self._counts(match)]
        while matches:
            scripts = [Script(tuple(hand.deal for hand in match.hands), goes_on=False) for match in matches]
            try:
                self.state = self.game.from_scripts(scripts, np.zeros(len(scripts), np.uint64))
                break
            except DealError as error:
                row = _row(error)
                self._note(matches[row].fault(error.reason, 1))
                del matches[row:]
        if matches:
            self.places = [_Place(match) for match in matches]
            for place, scores in zip(self.places, self.game.scores(self.state).tolist(), strict=True):
                place.next_hand(scores, 0)

    # -- problems

    def _note(self, problem: RecordError) -> None:
        if self.problem is None or problem.line < self.problem.line:
            self.problem = problem

    @contextmanager
    def _noted(self) -> Iterator[None]:
        try:
            yield
        except RecordError as problem:
            self._note(problem)

    def _counts(self, match: _Match) -> bool:
        return self.problem is None or match.line < self.problem.line

    def _keep(self, stay: list[int]) -> None:
        """Go on with some of the matches, of these only those that stand before the first problem."""
        stay = [i for i in stay if self._counts(self.places[i].match)]
        if len(stay) < len(self.places):
            self.state = self.state.take(np.array(stay, dtype=np.int64))
            self.places = [self.places[i] for i in stay]

    # -- one move

    def _step(self) -> None:
        actions = self._next_actions()
        if not self.places:
            return
        hand = self._take(actions)
        ended = np.flatnonzero((self.state.hand != hand) | (self.state.seat < 0)).tolist() if self.places else []
        if ended:
            scores = self.game.scores(self.state)
            going = set(range(len(self.places)))
            for i in ended:
                going.discard(i)
                with self._noted():
                    if self._end_hand(i, scores[i].tolist()):
                        going.add(i)
            self._keep(sorted(going))

    def _next_actions(self) -> NDArray[np.int64]:
        """The next action of every match; those without a right one leave."""
        game, state = self.game, self.state
        moves = [next(place.moves, None) for place in self.places]
        legal = game.legal(state)
        noted = any(move is not None and move[2] is not None for move in moves)
        names = _legal_names(game, state, legal) if noted else [None] * len(moves)
        chosen = [
            -1 if move is None or move[0] != seat or move[2] not in (None, listed) else self._number(i, move[1])
            for i, (move, seat, listed) in enumerate(zip(moves, state.seat.tolist(), names, strict=True))
        ]
        actions = np.array(chosen, dtype=np.int64)
        right = (actions >= 0) & legal[np.arange(len(actions)), actions]
        if not right.all():
            for i in np.flatnonzero(~right).tolist():
                with self._noted():
                    self._wrong_move(i, moves[i])
            stay = np.flatnonzero(right)
            self._keep(stay.tolist())
            actions = actions[stay[: len(self.places)]]
        return actions

    def _number(self, i: int, name: str) -> int:
        """Number of an action; -1 if there is none of exactly this name."""
        if self.numbers is not None:
            return self.numbers.get(name, -1)
        try:
            number = self.game.parse_action(self.state, i, name)
        except UnknownName:
            return -1
        return number if self.game.action_name(self.state, i, number) == name else -1

    def _wrong_move(self, i: int, move: _Move | None) -> None:
        """Say what is wrong with a move, or with its missing."""
        game, place, seat = self.game, self.places[i], int(self.state.seat[i])
        if move is None:
            self._moves_run_out(i)
            return
        number = int(self.state.move[i]) - place.first_move + 1
        fault = partial(place.match.fault, hand=place.hand, move=number)
        if move[0] != seat:
            raise fault(f"seat {seat} is to move, got {shown(move[0])}")
        if self._number(i, move[1]) < 0:
            raise fault(f"unknown action {shown(move[1])}{suggestion(move[1], game.legal_names(self.state, i))}")
        legal = game.legal_names(self.state, i)
        if move[1] not in legal:
            raise fault(f"{move[1]} is not legal for seat {seat}; legal: {', '.join(legal)}")
        raise fault(f"{LEGAL}: expected {json.dumps(legal)}, got {shown(move[2])}")

    def _take(self, actions: NDArray[np.int64]) -> NDArray[np.int32]:
        """Take actions; returns the number of the hand in which each match was before."""
        while True:
            hand: NDArray[np.int32] = self.state.hand.copy()
            try:
                self.game.step(self.state, actions, check=False)
                return hand
            except DealError as error:
                actions = self._wrong_deal(error, actions)
                if not self.places:
                    return hand

    def _wrong_deal(self, error: DealError, actions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Go around a deal that the next action would need and that cannot be; returns what is left of the actions."""
        row = _row(error)
        place = self.places[row]
        if error.hand == place.hand:  # a deal that goes on within the hand
            number = int(self.state.move[row]) - place.first_move + 1
            self._note(place.match.fault(error.reason, place.hand, number))
            self._keep(list(range(row)))
            return actions[:row]
        # The hand before may be wrong too, and comes first: let it end, with some other deal to follow.
        if self.state.scripts[row].goes_on:
            raise error  # it does not come from the record
        if not isinstance(error, ScriptExhausted):
            place.wrong_deal = error.reason
        deals = tuple(hand.deal for hand in place.match.hands[: place.hand])
        self.state.scripts[row] = Script(deals, goes_on=True)
        return actions

    # -- ends

    def _end_hand(self, i: int, scores: list[int]) -> bool:
        """Compare a hand that is over with what the record says; whether the match goes on.

        Raises RecordError.
        """
        place = self.places[i]
        match, number, hand = place.match, place.hand, place.open_hand
        if next(place.moves, None) is not None:
            extra = len(hand.moves) - length_hint(place.moves)
            raise match.fault(f"the hand was over after move {extra - 1}", number, extra)
        if match.problem is not None and match.problem.hand == number:
            raise match.problem
        changes = [now - then for now, then in zip(scores, place.scores, strict=True)]
        if hand.scores != changes:
            raise match.fault(f"scores: expected {changes}, got {json.dumps(hand.scores)}", number)
        if self.state.seat[i] < 0:
            self._end_match(i, scores)
            return False
        if place.wrong_deal:
            raise match.fault(place.wrong_deal, number + 1)
        if place.is_last:
            self._between_hands(match, number, scores)
            return False
        place.next_hand(scores, int(self.state.move[i]))
        return True

    def _end_match(self, i: int, scores: list[int]) -> None:
        place = self.places[i]
        match, number, end = place.match, place.hand, _end(self.state, i)
        if not place.is_last or (match.problem is not None and match.problem.hand is not None):
            raise match.fault(f"the match was over ({end}) after hand {number}", number + 1)
        if match.problem is not None:
            raise match.problem
        self._deal_used(i)
        _compare_end(match, end, scores)

    def _moves_run_out(self, i: int) -> None:
        """A hand is not over and has no further move: right only at the end of an unfinished record."""
        place = self.places[i]
        match, number, hand, problem = place.match, place.hand, place.open_hand, place.match.problem
        if problem is not None and problem.hand == number:
            raise problem
        if hand.scores is None and place.is_last and (problem is None or problem.hand is None):
            if problem is not None:
                raise problem
            if match.end == UNFINISHED:
                self._deal_used(i)
                _compare_end(match, UNFINISHED, place.scores)
                return
        seat, missing = int(self.state.seat[i]), len(hand.moves) + 1
        raise match.fault(f"a move is missing: seat {seat} is to move", number, missing)

    def _between_hands(self, match: _Match, number: int, scores: list[int]) -> None:
        """The match goes on after hand ``number``, the last of the record: right only if that is unfinished."""
        if match.problem is not None:
            raise match.problem
        if match.end != UNFINISHED:
            after = f" after hand {number}" if number else ""
            raise match.fault(f"the match is not over{after}, so a hand is missing; end is {match.end!r}", number + 1)
        _compare_end(match, UNFINISHED, scores)

    def _deal_used(self, i: int) -> None:
        place = self.places[i]
        unused = self.game.unused_deal(self.state, i)
        if unused is not None:
            raise place.match.fault(f"deal: {unused}", place.hand)


def _row(error: DealError) -> int:
    """Place in the batch of the match that an error is about."""
    if error.match is None:
        raise error
    return error.match - 1


def _compare_end(match: _Match, end: str, scores: list[int]) -> None:
    if match.scores != scores:
        raise match.fault(f"final scores: expected {scores}, got {shown(match.scores)}")
    if match.end != end:
        raise match.fault(f"end: expected {end!r}, got {match.end!r}")


# ---------------------------------------------------------------------------------------------------------- showing


def show(record: Record) -> Iterator[str]:
    """A verified record as lines for people: hand by hand, and trick by trick where a game has tricks."""
    game = _read_game(record["game"], record["rules"])
    seats = [f"seat {seat}" for seat in range(game.num_players)]
    if record["players"] is not None:
        labels = ["?" if label is None else _printable(label) for label in record["players"]]
        seats = [f"{seat} ({label})" for seat, label in zip(seats, labels, strict=True)]
    yield f"{game.title}: {', '.join(seats)}"
    yield ", ".join(f"{option}={value}" for option, value in record["rules"].items())
    entries = [{key: value for key, value in hand.items() if key not in HAND_KEYS} for hand in record["hands"]]
    state = game.from_deals([entries], then_seeds=0)  # an unfinished record may stop before a deal
    for number, (entry, hand) in enumerate(zip(entries, record["hands"], strict=True), 1):
        yield ""
        yield f"Hand {number}"
        yield from _shown_deal(entry, seats)
        yield from _shown_moves(game, state, hand["moves"])
        if hand["scores"] is None:
            yield "  not finished"
        else:
            changes, scores = (" ".join(map(str, values)) for values in (hand["scores"], game.scores(state)[0]))
            yield f"  scores {changes}; now {scores}"
    yield ""
    yield f"{record['end'].capitalize()} with scores {' '.join(map(str, record['scores']))}"


def _printable(text: str) -> str:
    """Text without anything that could upset a terminal or an encoding."""
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)


def _shown_deal(entry: dict[str, Any], seats: list[str]) -> Iterator[str]:
    for key, seat in entry.items():
        if key != "deal":
            yield f"  {key.replace('_', ' ')}: {seats[seat]}"
    for part, value in entry["deal"].items():
        if part == "hands":
            yield from (f"  {seat} holds {_listed(hand)}" for seat, hand in zip(seats, value, strict=True))
        elif any(isinstance(item, list) for item in value):
            yield from (f"  {part} {number}: {_listed(item)}" for number, item in enumerate(value, 1))
        else:
            yield f"  {part}: {_listed(value)}"


def _listed(cards: Sequence[str | None]) -> str:
    return " ".join("-" if card is None else card for card in cards) or "nothing"


def _shown_moves(game: Game[Any, Any], state: State, moves: list[dict[str, Any]]) -> Iterator[str]:
    """The moves of one hand, as many on a line as belong together; plays them on ``state``."""
    # With one hand as the match, the last move does not deal the next hand, and what it brought can still be seen.
    one_hand = type(game)(replace(game.rules, match="hand"))
    heading, held, trick = "", list[str](), 0
    for move in moves:
        action = np.array([game.parse_action(state, 0, move["action"])])
        before, after = one_hand.describe(state, 0), state.copy()
        one_hand.step(after, action)
        then = one_hand.describe(after, 0)
        game.step(state, action)
        tricks = "trick" in before
        taken = [seat for seat, count in enumerate(then["tricks"]) if count > before["tricks"][seat]] if tricks else []
        if taken or (tricks and then["trick"]):
            new_heading = f"trick {trick + 1}"
        else:
            new_heading = before["phase"] if tricks else f"seat {move['seat']}"
        if new_heading != heading and held:
            yield f"  {heading}: {', '.join(held)}"
            held = []
        heading = new_heading
        held.append(f"{move['seat']} {move['action']}" if tricks else move["action"])
        if taken:
            yield f"  {heading}: {', '.join(held)}; won by {taken[0]}"
            held, trick = [], trick + 1
    if held:
        yield f"  {heading}: {', '.join(held)}"
