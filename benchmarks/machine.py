"""The machine a speed was measured on: what it is, how to keep to one core of it, and how fast that core is.

Speeds of different machines, or of one machine on different days, are compared through :class:`Calibration`, a fixed
NumPy workload that is timed in the same run as everything else.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

OWN_PACKAGES = ("slopes-envs", "numpy", "gymnasium", "pettingzoo", "stable-baselines3", "torch")
"""Distributions whose versions bear on speed."""

CPUINFO = Path("/proc/cpuinfo")
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
ONE_THREAD_XLA = "--xla_cpu_multi_thread_eigen=false"


def processor() -> str:
    """Name of the processor."""
    if CPUINFO.exists():
        for line in CPUINFO.read_text(encoding="utf-8").splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                return value.strip()
    return platform.processor() or platform.machine()


def cores() -> list[int]:
    """The cores this process may use, by number."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def load() -> float | None:
    """Mean number of busy processes over the last minute; None where the system does not tell."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None


def describe() -> dict[str, Any]:
    """The machine as plain JSON values."""
    return {
        "processor": processor(),
        "architecture": platform.machine(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.release()}",
    }


def versions(packages: Sequence[str] = ()) -> dict[str, str]:
    """Versions of Python and of those distributions that are installed: our own, and ``packages``."""
    found = {"python": platform.python_version()}
    for package in (*OWN_PACKAGES, *packages):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


@contextmanager
def one_core(core: int | None = None) -> Iterator[int | None]:
    """Keep this process on one core and libraries to one thread while the block runs.

    Parameters
    ----------
    core
        Its number; by default the last that is allowed, since the first serves most interrupts.

    Yields
    ------
    The number of the core, or None on systems that cannot pin a process.
    """
    variables = {name: os.environ.get(name) for name in (*THREAD_VARIABLES, "XLA_FLAGS")}
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, "1"))
    os.environ["XLA_FLAGS"] = f"{variables['XLA_FLAGS'] or ''} {ONE_THREAD_XLA}".strip()
    before = cores()
    pinned = hasattr(os, "sched_setaffinity")
    if pinned:
        core = before[-1] if core is None else core
        os.sched_setaffinity(0, {core})
    try:
        yield core if pinned else None
    finally:
        if pinned:
            os.sched_setaffinity(0, before)
        for name, value in variables.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


class Calibration:
    """A fixed workload of the kind a batched game is made of: arithmetic, look-ups and selections on arrays.

    Half of its time goes to short arrays, where calling NumPy is what costs, and half to long ones.  It must never be
    changed: stored results are relative to it.
    """

    LONG, SHORT_CALLS, TABLE = 4096, 3, 1024

    def __init__(self) -> None:
        words = np.arange(1, self.LONG + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        self._long = words
        self._short = words[:1].copy()
        self._table = (words[: self.TABLE] >> np.uint64(32)).astype(np.int64)

    def _work(self, words: NDArray[np.uint64]) -> None:
        mixed = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        found = self._table[(mixed >> np.uint64(54)).view(np.int64)]
        chosen = np.where(found & 1 == 0, found, -found)
        words += chosen.view(np.uint64)
        np.flatnonzero(np.bitwise_count(words) > 40)

    def play(self) -> int:
        """Do the work once; gives 1, so that it is measured like everything else."""
        self._work(self._long)
        for _ in range(self.SHORT_CALLS):
            self._work(self._short)
        return 1
