"""Observations read plane by plane as whole numbers: for players to whom single features would be too many.

Shape letters: **B** games, **G** groups of a plane.
"""

from __future__ import annotations

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
        size = self._layout.planes[name].bits if size is None else size
        word, shift = divmod(self._layout.slices[name].start + number * size, 64)
        value = self._words[word] >> np.uint64(shift)
        if shift + size > 64:
            value |= self._words[word + 1] << np.uint64(64 - shift)
        bits: Words = value & np.uint64((1 << size) - 1)
        return bits

    def groups(self, name: str, count: int | None = None, size: int | None = None) -> Words:
        """The first ``count`` groups of a plane, by default all, ``uint64[G, B]``; see :meth:`group`."""
        count = self._layout.planes[name].lanes if count is None else count
        return np.stack([self.group(name, number, size) for number in range(count)])
