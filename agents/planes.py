"""Observations read plane by plane as whole numbers: for players to whom single features would be too many.

Shape letters: **B** games, **G** groups of a plane.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from slopes_envs import InformationSet

Words = NDArray[np.uint64]


class PackedPlanes:
    """The observations of a view, packed once."""

    def __init__(self, view: InformationSet) -> None:
        packed = np.packbits(view.observations, axis=1, bitorder="little")
        padded = np.zeros((len(packed), -(-packed.shape[1] // 8) * 8), dtype=np.uint8)
        padded[:, : packed.shape[1]] = packed
        self._words: Words = np.ascontiguousarray(padded.view("<u8").T.astype(np.uint64, copy=False))
        self._layout = view.game.observation

    def group(self, name: str, number: int = 0, size: int | None = None) -> Words:
        """Features of a plane, the first one as the lowest bit: ``uint64[B]``.

        Parameters
        ----------
        name
            Of the plane.
        number, size
            Which of its groups; ``size``, at most 64, takes the plane apart into others than its own.
        """
        bits: Words = self.groups(name, 1, size, number)[0]
        return bits

    def groups(self, name: str, count: int | None = None, size: int | None = None, first: int = 0) -> Words:
        """``count`` groups of a plane from the ``first`` on, by default all, ``uint64[G, B]``; see :meth:`group`."""
        count = self._layout.planes[name].lanes - first if count is None else count
        size = self._layout.planes[name].bits if size is None else size
        return self._read(_places(self._layout.slices[name].start + first * size, count, size))

    def _read(self, places: _Places) -> Words:
        words, shifts, mask, beyond = places
        groups: Words = self._words[words] >> shifts
        if beyond is not None:
            which, rest = beyond
            groups[which] |= self._words[words[which] + 1] << rest
        groups &= mask
        return groups


class _Places(NamedTuple):
    """Where G groups of bits stand among words."""

    words: NDArray[np.int64]  # [G] in which they begin
    shifts: Words  # [G, 1] at which bit
    mask: np.uint64
    beyond: tuple[NDArray[np.int64], Words] | None  # groups that go on in the next word, and at which bit of them


@lru_cache(maxsize=1024)
def _places(start: int, count: int, size: int) -> _Places:
    words, shifts = np.divmod(start + size * np.arange(count), 64)
    which = np.flatnonzero(shifts + size > 64)
    beyond = (which, (64 - shifts[which, None]).astype(np.uint64)) if len(which) else None
    return _Places(words, shifts[:, None].astype(np.uint64), np.uint64((1 << size) - 1), beyond)
