"""Slippery Slope in scalar C, compiled when it is needed: how far plain NumPy is from what the hardware can do.

``reference/slippery_slope.c`` plays whole matches by the same rules, deals included: layer ``core`` the bare game,
layer ``observed`` with an observation of the same features as ours and a mask before every decision.  Without a C
compiler there is no reference, and the benchmark says so.
"""

from __future__ import annotations

import ctypes
import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .layers import CORE, OBSERVED
from .timing import Subject

GAME = "slippery_slope"
LIBRARY = "c"
NAME = f"{LIBRARY}/{GAME}"
SOURCE = Path(__file__).parent / "reference" / f"{GAME}.c"
COMPILERS = ("cc", "gcc", "clang")
FLAGS = ("-O3", "-march=native", "-std=c11", "-shared", "-fPIC")

HANDS_A_PLAY = 1000
SEATS, MOVES, ACTIONS = 3, 33, 41  # of a hand
STRIDE = 512  # bytes between the rows that the reference writes

PLANES: dict[str, int] = {
    "hand": 30,
    "table": 90,
    "seen": 90,
    "follow": 4,
    "direction": 4,
    "voids": 12,
    "bids": 33,
    "last_bids": 33,
    "needed": 21,
    "tricks": 30,
    "phase": 3,
    "to_move": 3,
    "dealer": 3,
    "leader": 3,
    "score_level": 60,
    "scores": 33,
    "hand_number": 8,
}
"""Planes of an observation in the reference, in order, with their sizes; they mean what those of the game mean."""

FEATURES = sum(PLANES.values())

TRACE = np.dtype(
    [
        ("dealt", np.uint32, SEATS),  # bit sets of cards
        ("dealer", np.int32),
        ("change", np.int32, SEATS),  # of the scores
        ("seat", np.int32, MOVES),
        ("action", np.int32, MOVES),
        ("legal", np.uint64, MOVES),  # bit sets of actions
        ("rows", np.uint8, (MOVES, FEATURES + ACTIONS)),  # observation and mask
    ],
    align=True,
)
"""One hand written down, as the C structure ``Trace`` has it."""


class NoReference(RuntimeError):
    """There is no compiler, or it failed; says which."""


def compiler() -> str | None:
    """The C compiler: ``$CC``, or the first of the usual ones that is there."""
    chosen = os.environ.get("CC")
    return chosen or next((found for name in COMPILERS if (found := shutil.which(name))), None)


class Reference:
    """The compiled reference."""

    def __init__(self, library: ctypes.CDLL) -> None:
        count, seed = ctypes.c_uint64, ctypes.c_uint64
        self._play, self._play_observed, self._trace = library.play, library.play_observed, library.trace_match
        self._play.argtypes = [count, seed, ctypes.c_void_p]
        self._play_observed.argtypes = [count, seed, ctypes.c_void_p, ctypes.c_void_p]
        self._trace.argtypes = [seed, count, ctypes.c_void_p]
        self._play.restype = self._play_observed.restype = None
        self._trace.restype = count

    def play(self, hands: int, seed: int) -> NDArray[np.int64]:
        """Play hands; gives the sum of every seat's scores, ``int64[3]``."""
        totals = np.zeros(SEATS, np.int64)
        self._play(hands, seed, totals.ctypes.data)
        return totals

    def play_observed(self, hands: int, seed: int, rows: NDArray[np.uint8]) -> NDArray[np.int64]:
        """The same, with a row of ``rows`` (``uint8[33, 512]``) written before every decision."""
        totals = np.zeros(SEATS, np.int64)
        self._play_observed(hands, seed, totals.ctypes.data, rows.ctypes.data)
        return totals

    def trace(self, seed: int, most: int) -> NDArray[Any]:
        """The hands of one match, at most ``most``, written down as :data:`TRACE`."""
        traces = np.zeros(most, TRACE)
        return traces[: self._trace(seed, most, traces.ctypes.data)]

    def subjects(self, seed: int) -> list[Subject]:
        """What is timed of it."""
        rows = np.zeros((MOVES, STRIDE), np.uint8)
        hands, decisions = HANDS_A_PLAY, HANDS_A_PLAY * MOVES

        def bare() -> int:
            self.play(hands, seed)
            return decisions

        def observed() -> int:
            self.play_observed(hands, seed, rows)
            return decisions

        return [Subject(NAME, {}, CORE, 1, bare), Subject(NAME, {}, OBSERVED, 1, observed)]


@contextmanager
def compiled() -> Iterator[Reference]:
    """Compile the reference into a temporary folder and load it.

    Raises
    ------
    NoReference
        Without a compiler, or if it fails.
    """
    found = compiler()
    if found is None:
        raise NoReference(f"no C compiler: expected $CC or one of {', '.join(COMPILERS)}")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:  # some systems keep a loaded library
        library = Path(folder) / "reference.so"
        build = [*shlex.split(found), *FLAGS, "-o", str(library), str(SOURCE)]
        try:
            subprocess.run(build, check=True, capture_output=True, text=True)
            loaded = ctypes.CDLL(str(library))
        except subprocess.CalledProcessError as error:
            raise NoReference(f"{found} failed: {error.stderr.strip()}") from None
        except OSError as error:
            raise NoReference(f"{found}: {error}") from None
        yield Reference(loaded)
