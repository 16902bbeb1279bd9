"""The errors users meet.  Each says what was expected, what came, and where."""

from __future__ import annotations

import difflib
import reprlib
from collections.abc import Collection, Iterable, Mapping
from typing import Any

_brief = reprlib.Repr()
_brief.maxstring = _brief.maxother = 60


def shown(value: object) -> str:
    """A value for a message: its ``repr``, shortened where it is long or deep."""
    return _brief.repr(value)


def suggestion(word: object, known: Iterable[str]) -> str:
    """``"; did you mean 'x'?"`` for the nearest known name, or nothing."""
    near = difflib.get_close_matches(str(word), list(known), n=1)
    return f"; did you mean {near[0]!r}?" if near else ""


class SlopesError(ValueError):
    """What all errors of this library are; each may be pickled, and so passes from one process to another."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (type(self), self.args, self.__dict__)


def _again(kind: type[SlopesError], args: tuple[Any, ...], attributes: dict[str, Any]) -> SlopesError:
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(attributes)
    return error


class UnknownName(SlopesError):
    """A name that is not in a list of known names."""

    def __init__(self, kind: str, name: object, known: Iterable[str]) -> None:
        known = list(known)
        listed = ", ".join(known) if len(known) <= 60 else ", ".join(known[:60]) + ", …"
        super().__init__(f"unknown {kind} {name!r}{suggestion(name, known)} (known: {listed})")


def expect_keys(found: object, required: Collection[str], optional: Collection[str] = ()) -> None:
    """Check that ``found`` is an object (a mapping) with all required keys, and no others than the optional ones.

    Raises
    ------
    ValueError
        Says which key is unknown or missing.
    """
    if not isinstance(found, Mapping):
        raise ValueError(f"expected an object with {', '.join(required)}, got {shown(found)}")
    if found.keys() == set(required):
        return
    known = [*required, *optional]
    for key in found:
        if key not in known:
            raise UnknownName("key", key, known)
    for key in required:
        if key not in found:
            raise ValueError(f"the key {key!r} is missing")


class RulesError(SlopesError):
    """An option of a game with a value that is not allowed."""


class DealError(SlopesError):
    """A scripted deal that does not fit its rules; ``hand`` counts from 1."""

    def __init__(self, reason: str, *, game: str, match: int | None = None, hand: int | None = None) -> None:
        where = "".join((f", match {match}" if match is not None else "", f", hand {hand}" if hand is not None else ""))
        super().__init__(f"{game}{where}: {reason}")
        self.reason, self.match, self.hand = reason, match, hand


class ScriptExhausted(DealError):
    """The scripted deals have run out and no seed was given to go on from."""


class IllegalAction(SlopesError):
    """An action that the rules do not allow; the batch it was meant for is unchanged."""

    def __init__(self, game: str, index: int, seat: int, action: str, legal: list[str]) -> None:
        super().__init__(
            f"{game}, game {index} of the batch, seat {seat}: {action} is not legal; legal: {', '.join(legal)}"
        )
        self.index, self.seat, self.legal = index, seat, legal
