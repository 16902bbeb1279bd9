"""Files that lose nothing: results written beside and renamed, and finished pieces kept until the whole is there."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from slopes_envs.files import write_bytes

__all__ = ["KeptPieces", "write_bytes", "write_json"]


def write_json(path: Path, data: Any) -> None:
    """Write a JSON file as :func:`write_bytes` does."""
    write_bytes(path, json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False).encode() + b"\n")


class KeptPieces:
    """Finished pieces of some long work, appended to a file as they come, so that it can be resumed.

    The file is JSON Lines: first what work it is, then one piece a line.  A last line that was cut short when the
    work was stopped is not a finished piece and is written over.

    Parameters
    ----------
    path
        The file; its folder must exist.
    work
        Everything the pieces depend on, as plain JSON values.
    resume
        Whether to go on from a file that is there.

    Raises
    ------
    ValueError
        If the file is there and ``resume`` is false, or if it belongs to other work.
    """

    def __init__(self, path: Path, work: dict[str, Any], *, resume: bool) -> None:
        self.path = path
        self.pieces: list[Any] = []
        """Pieces that were there already."""
        whole = _whole_lines(path.read_bytes()) if path.exists() else b""
        if whole:
            found, *self.pieces = self._parse(whole)
            self._check(work, found, resume)
        if not self.pieces:
            whole = b""
        self._file = path.open("ab")
        self._file.truncate(len(whole))
        if not whole:
            self.add(work)

    def _parse(self, whole: bytes) -> list[Any]:
        try:
            return [json.loads(line) for line in whole.splitlines()]
        except ValueError as error:
            raise ValueError(
                f"{self.path}: expected finished pieces as JSON Lines, got something else ({error})"
            ) from None

    def _check(self, work: dict[str, Any], found: Any, resume: bool) -> None:
        """Whether the file is one of these at all, may be gone on from, and belongs to this work."""
        if not isinstance(found, dict) or found.keys() != work.keys():
            raise ValueError(f"{self.path}: expected finished pieces of an earlier run, got something else")
        if not self.pieces:
            return
        if not resume:
            raise ValueError(
                f"{self.path} holds what an earlier run finished: expected --resume to go on from there, "
                "or the file removed to begin anew"
            )
        for name, value in work.items():
            if found[name] != value:
                raise ValueError(
                    f"{self.path} belongs to other work: {name} expected {value!r}, got {found[name]!r}; "
                    "remove it to begin anew"
                )

    def add(self, *pieces: Any) -> None:
        """Keep more finished pieces."""
        self._file.write(_as_lines(pieces))
        self._file.flush()

    def close(self) -> None:
        """Close the file and leave it."""
        self._file.close()

    def rewrite(self, lines: Iterable[Any]) -> None:
        """Close the file and replace its lines, the first of which says what work it is."""
        self.close()
        write_bytes(self.path, _as_lines(lines))

    def remove(self) -> None:
        """Close the file and remove it: the whole work is done and safe elsewhere."""
        self.close()
        self.path.unlink()


def _as_lines(values: Iterable[Any]) -> bytes:
    return b"".join(json.dumps(value, ensure_ascii=False, allow_nan=False).encode() + b"\n" for value in values)


def _whole_lines(data: bytes) -> bytes:
    """Without a last line that was cut short."""
    return data[: data.rfind(b"\n") + 1]
