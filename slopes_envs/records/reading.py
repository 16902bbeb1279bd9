"""Reading: a line of a file becomes a match, as far as it is right in form.

Whether what it tells can have happened is another matter, which takes a replay.
"""

from __future__ import annotations

import gc
import gzip
import json
import math
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache, partial
from pathlib import Path
from sys import intern
from typing import Any, NamedTuple, NoReturn

from ..cards import CardName
from ..errors import UnknownName, expect_keys, shown
from ..game import Game
from ..registry import game_class
from .form import ENDS, FORMAT, HAND_KEYS, KEYS, LEGAL, MOVE_KEYS, RecordError

MAX_LINE = 2**28
"""Longest line that is read, in bytes: a record is held in memory, a file is not."""


def file_lines(path: Path) -> Iterator[bytes]:
    """The lines of a file, each cut off where it is too long to be read."""
    with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as stream:
        yield from iter(partial(stream.readline, MAX_LINE + 1), b"")


# ---------------------------------------------------------------------------------------------------------- matches

# Seat, action, legal actions.  Tuples, because batches hold millions of moves: they are small, and the garbage
# collector leaves alone what can hold no cycle.
Move = tuple[int, str, tuple[str, ...] | None]


class Hand(NamedTuple):
    """One hand of a match."""

    deal: Any  # as the game parses it
    moves: list[Move]
    scores: list[int] | None  # None while the hand is open


class Match:
    """One line, read as far as it is right in form; ``problem`` is what comes after."""

    def __init__(self, line: int, text: bytes) -> None:
        self.line, self.text = line, text
        self.name = ""
        self.game: Game[Any, Any] | None = None
        self.hands: list[Hand] = []
        self.scores: list[int] = []
        self.end = ""
        self.problem: RecordError | None = None

    def fault(self, reason: object, hand: int | None = None, move: int | None = None) -> RecordError:
        """What is wrong with it, and where."""
        return RecordError(str(reason), line=self.line, hand=hand, move=move)


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


def read_line(line: int, text: bytes) -> Match:
    """Read a line, given with its number."""
    match = Match(line, text)
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


def _read_record(match: Match) -> None:
    """Fill in a match from its line; ValueError where it goes wrong."""
    record = parse_json(match.text)
    expect_keys(record, KEYS)
    if record["format"] != FORMAT:
        raise ValueError(f"format: expected {FORMAT!r}, got {shown(record['format'])}")
    game = read_game(record["game"], record["rules"])
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


def _read_hand(match: Match, game: Game[Any, Any], number: int, hand: Any) -> None:
    try:
        if not isinstance(hand, dict):
            raise ValueError(f"expected an object, got {shown(hand)}")
        for key in HAND_KEYS:
            if key not in hand:
                raise ValueError(f"the key {key!r} is missing")
        moves = _read_list(hand["moves"], "moves")
        entry = {key: value for key, value in hand.items() if key not in HAND_KEYS}
        if "deal" in entry:
            entry["deal"] = _without_text(entry["deal"])
        deal = game.parse_deal(entry)
    except ValueError as error:
        raise match.fault(error, number) from None
    read: list[Move] = []
    match.hands.append(Hand(deal, read, None))
    for place, move in enumerate(moves, 1):
        try:
            read.append(_read_move(move))
        except ValueError as error:
            raise match.fault(error, number, place) from None
    if hand["scores"] is not None:
        try:
            match.hands[-1] = Hand(deal, read, _read_scores(hand["scores"], game))
        except ValueError as error:
            raise match.fault(error, number) from None


def _read_move(move: Any) -> Move:
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


def _without_text(deal: Any) -> Any:
    """A deal whose cards stand in lists, one name a place: a text with several is for people who write deals."""
    if not isinstance(deal, dict):
        return deal  # refused by the game
    return {
        part: list(map(_one_name, value)) if isinstance(value, list) else _one_name(value)
        for part, value in deal.items()
    }


def _one_name(value: Any) -> Any:
    return CardName(value) if isinstance(value, str) else value


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


# ------------------------------------------------------------------------------------------------------------- rules


def read_game(name: Any, rules: Any) -> Game[Any, Any]:
    """The game of a record; ValueError unless exactly its options are given."""
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


# -------------------------------------------------------------------------------------------------------------- JSON


def parse_json(text: bytes) -> Any:
    """What a line holds; ValueError unless it is JSON, strictly, without a key that stands twice."""
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
