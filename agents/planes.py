"""Observations read plane by plane as whole numbers: for players to whom single features would be too many.

Shape letters: **B** games, **G** groups of a plane that are present, **N** groups of all planes together.
"""

from __future__ import annotations

from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from slopes_envs import InformationSet, Layout

Words = NDArray[np.uint64]
ONE = np.uint64(1)


def read_planes(view: InformationSet, names: tuple[str, ...]) -> dict[str, Words]:
    """Some planes of the observations of a view, in one go.

    Returns
    -------
    By name ``uint64[G, B]``, the first feature of a group as the lowest bit.
    """
    layout = view.game.observation
    known = _KNOWN.setdefault(layout, {})
    where = known.get(names)
    if where is None:
        where = known[names] = _groups_of(layout, names)
    words = view.words
    groups = words.take(where.words, axis=0)
    groups >>= where.shifts
    if len(where.beyond):
        groups[where.beyond] |= words[where.words[where.beyond] + 1] << where.rest
    groups &= where.masks
    return {name: groups[part] for name, part in where.parts}


def place_of_bit(sets: Words, none: int = -1) -> NDArray[np.int64]:
    """The only member of each set, ``none`` if it is empty: ``int64[…]``."""
    places: NDArray[np.int64] = np.bitwise_count(sets - ONE).astype(np.int64)
    places[sets == 0] = none
    return places


class _Groups(NamedTuple):
    """Where groups of bits stand among the words of an observation."""

    words: NDArray[np.int64]  # [N] in which they begin
    shifts: Words  # [N, 1] at which bit
    masks: Words  # [N, 1]
    beyond: NDArray[np.int64]  # groups that go on in the next word
    rest: Words  # [len(beyond), 1] at which of their bits
    parts: tuple[tuple[str, slice], ...]  # those of each plane


_KNOWN: WeakKeyDictionary[Layout, dict[tuple[str, ...], _Groups]] = WeakKeyDictionary()
"""Found once for every layout, as long as there is one."""


def _groups_of(layout: Layout, names: tuple[str, ...]) -> _Groups:
    starts: list[int] = []
    bits: list[int] = []
    parts: list[tuple[str, slice]] = []
    for name in names:
        plane = layout.planes[name]
        parts.append((name, slice(len(starts), len(starts) + plane.filled)))
        starts += [layout.slices[name].start + group * plane.bits for group in range(plane.filled)]
        bits += [plane.bits] * plane.filled
    words, shifts = np.divmod(np.array(starts), 64)
    beyond = np.flatnonzero(shifts + bits > 64)
    masks = np.array([(1 << size) - 1 for size in bits], dtype=np.uint64)
    rest = (64 - shifts[beyond, None]).astype(np.uint64)
    return _Groups(words, shifts[:, None].astype(np.uint64), masks[:, None], beyond, rest, tuple(parts))
