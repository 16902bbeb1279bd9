"""Files that are never half-written: written beside their place, under another name, and moved there when whole."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import BinaryIO, cast


@contextmanager
def written_beside(path: str | Path) -> Iterator[BinaryIO]:
    """A binary stream whose content becomes the file ``path`` when the block ends.

    Until then, and for good if the block fails, ``path`` stays as it is; no other file is left.  A link is followed.
    What is not a regular file, such as a device or a pipe, is written to directly.

    Raises
    ------
    OSError
        If the folder is missing, ``path`` is a folder, or the file cannot be written.
    """
    path = Path(path)
    if path.exists() and not path.is_file():  # a folder is refused by open
        with path.open("wb") as stream:
            yield stream
        return
    place = path.resolve()
    # A random name: several processes, or threads, may write the same file.
    beside = place.with_name(f".{place.name}.{token_hex(4)}.part")
    try:
        with beside.open("xb") as stream:
            yield cast(BinaryIO, stream)
            stream.flush()
            os.fsync(stream.fileno())
        beside.replace(place)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def write_bytes(path: str | Path, content: bytes) -> None:
    """Write a whole file as :func:`written_beside` does."""
    with written_beside(path) as stream:
        stream.write(content)
