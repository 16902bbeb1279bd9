"""Verifying: what the lines of a file tell, replayed by the rules."""

from __future__ import annotations

import gzip
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from .form import BATCH, Record
from .reading import Match, file_lines, parse_json, read_line
from .replaying import Replay

MAX_BATCH_TEXT = 2**25
"""Bytes of text that are verified together, lest many long records fill the memory."""


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
        record: Record = parse_json(self.text)
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
    return verify_lines(file_lines(Path(path)))


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
        problem = matches[0].problem if game is None else Replay(game, matches).run()
        for match in matches:
            if problem is not None and match.line == problem.line:
                raise problem
            moves = sum(len(hand.moves) for hand in match.hands)
            yield Verified(match.line, match.name, len(match.hands), moves, match.end, match.text)
        matches.clear()  # lest they fill the memory while the next ones are read


def _read(lines: Iterable[bytes]) -> Iterator[Match]:
    line = 0
    try:
        for line, text in enumerate(lines, 1):
            yield read_line(line, text)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        yield _broken(line + 1, f"the compressed data is damaged: {error}")
        return
    if line == 0:
        yield _broken(1, "expected a record, and the file is empty")


def _broken(line: int, reason: str) -> Match:
    match = Match(line, b"")
    match.problem = match.fault(reason)
    return match


def _batches(matches: Iterable[Match], batch: int) -> Iterator[list[Match]]:
    """Neighbours with the same rules; a line of which not even the rules could be read stands alone."""
    held: list[Match] = []
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
