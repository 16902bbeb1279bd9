"""Files of weights: numbers and a header, with nothing that could run, read with nothing but NumPy.

``weights/<game>.slopes`` is such a file: a line of ASCII, ``slopes-weights/1 N`` with N the length of the header in
bytes, then the header (JSON in UTF-8: what a checkpoint's says, and ``dtype`` and ``tensors``, a list of names and
shapes), then the tensors in that order, little-endian and with nothing between or behind them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Arrays = dict[str, NDArray[np.float32]]

WEIGHTS_FORMAT = "slopes-weights/1"
WEIGHTS_SUFFIX = ".slopes"
WEIGHTS_LIMIT = 4_000_000
"""Bytes that a file of weights has at most."""
WEIGHTS_TYPES = {"float16": "<f2", "float32": "<f4"}


class CheckpointError(ValueError):
    """A file that is not a checkpoint, or one of another game."""


def shipped_weights(game: str) -> Path:
    """The file of weights that ships for a game.

    Raises
    ------
    CheckpointError
        If none does.
    """
    folder = Path(str(files(__package__) / "weights"))
    path = folder / f"{game}{WEIGHTS_SUFFIX}"
    if not path.is_file():
        known = ", ".join(sorted(file.stem for file in folder.glob(f"*{WEIGHTS_SUFFIX}"))) or "none"
        raise CheckpointError(
            f"agent ppo: no weights ship for {game} (they do for: {known}); "
            "name a checkpoint, as in ppo:runs/first or ppo:runs/first/last.zip"
        )
    return path


def checked_header(file: Path, header: Any, form: str) -> dict[str, Any]:
    """The header of a file, which must be of a format and tell what it is for; CheckpointError if not."""
    found = header.get("format") if isinstance(header, dict) else header
    if not isinstance(header, dict) or found != form:
        raise CheckpointError(f"checkpoint {file}: expected format {form!r}, got {found!r}")
    missing = [name for name in ("game", "features", "actions", "network") if name not in header]
    if missing:
        raise CheckpointError(f"checkpoint {file}: its header lacks {', '.join(missing)}")
    return header


def read_weights(file: Path, content: bytes) -> tuple[dict[str, Any], Arrays]:
    """Header and tensors of a file of weights with this content.

    Raises
    ------
    CheckpointError
        If it is none.
    """
    line, newline, rest = content.partition(b"\n")
    first = re.fullmatch(rb"(slopes-weights/\d+) (\d{1,9})", line)
    if not newline or first is None:
        raise CheckpointError(f"weights {file}: expected a first line '{WEIGHTS_FORMAT} LENGTH', got {line[:60]!r}")
    if first[1].decode() != WEIGHTS_FORMAT:
        raise CheckpointError(f"weights {file}: expected format {WEIGHTS_FORMAT!r}, got {first[1].decode()!r}")
    length = int(first[2])
    try:
        header = checked_header(file, json.loads(rest[:length]), WEIGHTS_FORMAT)
    except ValueError as error:
        if isinstance(error, CheckpointError):
            raise
        raise CheckpointError(f"weights {file}: its header is not JSON ({error})") from None
    kind = WEIGHTS_TYPES.get(str(header.get("dtype")))
    if kind is None:
        raise CheckpointError(
            f"weights {file}: dtype expected {' or '.join(WEIGHTS_TYPES)}, got {header.get('dtype')!r}"
        )
    sizes = _sizes(file, header.get("tensors"))
    expected, got = sum(map(int, map(np.prod, sizes.values()))) * np.dtype(kind).itemsize, len(rest) - length
    if expected != got:
        raise CheckpointError(f"weights {file}: expected {expected} bytes of tensors behind the header, got {got}")
    numbers = np.frombuffer(rest, dtype=kind, offset=length).astype(np.float32)
    if not np.isfinite(numbers).all():
        raise CheckpointError(f"weights {file}: holds numbers that are not finite")
    weights: Arrays = {}
    start = 0
    for name, shape in sizes.items():
        stop = start + int(np.prod(shape))
        weights[name] = numbers[start:stop].reshape(shape)
        start = stop
    return header, weights


def _sizes(file: Path, tensors: Any) -> dict[str, tuple[int, ...]]:
    """Shapes of tensors by name, in order."""
    sizes: dict[str, tuple[int, ...]] = {}
    for entry in tensors if isinstance(tensors, list) else [tensors]:
        pair = entry if isinstance(entry, list) and len(entry) == 2 else (None, None)
        name, shape = pair
        if not isinstance(name, str) or not isinstance(shape, list) or name in sizes:
            raise CheckpointError(f"weights {file}: tensors expected [[name, [sizes]], …], got {str(entry)[:80]}")
        if not all(type(size) is int and 0 < size < 2**24 for size in shape):
            raise CheckpointError(f"weights {file}: tensor {name}: expected sizes above 0, got {shape}")
        sizes[name] = tuple(shape)
    return sizes


def pack_weights(header: Mapping[str, Any], weights: Mapping[str, ArrayLike], dtype: str = "float16") -> bytes:
    """The content of a file of weights, as :func:`read_weights` reads it.

    Parameters
    ----------
    header
        That of a checkpoint.
    weights
        Tensors by their names in a network.
    dtype
        ``"float16"`` or ``"float32"``.

    Raises
    ------
    ValueError
        For another dtype, for numbers that it does not hold, or if the file would be larger than is allowed.
    """
    if dtype not in WEIGHTS_TYPES:
        raise ValueError(f"dtype expected {' or '.join(WEIGHTS_TYPES)}, got {dtype!r}")
    arrays = {name: np.asarray(tensor, dtype=np.float32) for name, tensor in weights.items()}
    limit = float(np.finfo(WEIGHTS_TYPES[dtype]).max)
    for name, array in arrays.items():
        if not (np.abs(array) <= limit).all():
            raise ValueError(f"tensor {name} holds numbers that {dtype} does not")
    head = {
        **header,
        "format": WEIGHTS_FORMAT,
        "dtype": dtype,
        "tensors": [[name, list(array.shape)] for name, array in arrays.items()],
    }
    text = json.dumps(head, indent=1, ensure_ascii=False).encode() + b"\n"
    body = b"".join(array.astype(WEIGHTS_TYPES[dtype]).tobytes() for array in arrays.values())
    content = f"{WEIGHTS_FORMAT} {len(text)}\n".encode() + text + body
    if len(content) > WEIGHTS_LIMIT:
        raise ValueError(f"a file of weights has at most {WEIGHTS_LIMIT:,} bytes, this one would have {len(content):,}")
    return content
