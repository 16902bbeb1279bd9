"""Counter-based randomness: every random number is a pure function of what it is for.

There is no generator object anywhere in the library.  A number is the hash of a *key* (match seed, hand number,
purpose, counter), in the manner of Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (SC 2011), with the
64-bit finaliser of Steele, Lea and Flood's SplitMix (OOPSLA 2014).  So game ``i`` of a batch does not depend on who
else is in the batch, copies of a state share no randomness, and a seed gives the same deal on every platform.

Shape letters: **N** keys, **C** numbers drawn from each.
"""

from __future__ import annotations

from enum import IntEnum
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

UInt64 = NDArray[np.uint64]

_CONSTANTS = (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
_GOLDEN, _MIX_1, _MIX_2 = (np.uint64(constant) for constant in _CONSTANTS)
# The first is 2**64 / golden ratio, odd: the Weyl increment of SplitMix64.
_ONE = np.uint64(1)
_ALL, _LEAST = 2**64 - 1, -(2**63)  # the numbers that a word holds
_INDEX = np.uint64(127)  # the bits of a word that tell its place
_FIRST = np.arange(128, dtype=np.uint64)
_S27, _S30, _S31, _S32 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)


class Purpose(IntEnum):
    """What a random number is for; part of its key, so that no two uses ever share one."""

    MATCH = 1
    FIRST_SEAT = 2
    DEAL = 3
    RESHUFFLE = 4
    AGENT = 5
    WORLD = 6
    CHOICE = 7


def mix(words: UInt64) -> UInt64:
    """Scramble 64-bit words, one to one (the SplitMix64 finaliser); returns a new array."""
    z = words ^ (words >> _S30)
    z *= _MIX_1
    z ^= z >> _S27
    z *= _MIX_2
    z ^= z >> _S31
    return z


def derive(key: ArrayLike, *counters: ArrayLike) -> UInt64:
    """Derive new keys from ``key`` and whole numbers ``counters``, all broadcast together; returns ``uint64`` arrays.

    Order matters: ``derive(k, 1, 2)`` and ``derive(k, 2, 1)`` are unrelated.
    """
    numbers = [_number(value) for value in (key, *counters)]
    if None not in numbers:
        return np.array([_derive_one(*numbers)], dtype=np.uint64)  # type: ignore[arg-type]  # there is no None
    out = np.atleast_1d(np.asarray(key)).astype(np.uint64)
    for counter in counters:
        step = np.atleast_1d(np.asarray(counter)).astype(np.uint64) + _ONE
        out = mix(out ^ mix(step * _GOLDEN))
    return out


def _number(value: Any) -> int | None:
    """A whole number that stands alone, modulo 2**64; None for anything else."""
    if isinstance(value, int):
        number: int = value
    elif isinstance(value, np.integer) or (isinstance(value, np.ndarray) and value.shape == (1,)):
        number = value.item() if value.dtype.kind in "iu" else _ALL + 1
    else:
        return None
    return number & _ALL if _LEAST <= number <= _ALL else None


def _derive_one(key: int, *counters: int) -> int:
    """The same as :func:`derive` for one key in plain numbers, where NumPy's calls would cost most."""
    golden, _, _ = _CONSTANTS
    for counter in counters:
        key = _mix_one(key ^ _mix_one((counter + 1) * golden & _ALL))
    return key


def _mix_one(word: int) -> int:
    _, mix_1, mix_2 = _CONSTANTS
    word = (word ^ word >> 30) * mix_1 & _ALL
    word = (word ^ word >> 27) * mix_2 & _ALL
    return word ^ word >> 31


def match_seed(seed: int, row: ArrayLike, episode: ArrayLike = 0) -> UInt64:
    """Seed of the match that is number ``episode`` in place ``row``, for a run started with ``seed``.

    The one rule by which every part of the suite (environments, records, evaluation, training) turns a user's seed
    into match seeds.

    Parameters
    ----------
    seed
        A whole number; negative ones and those above 64 bits are taken modulo 2**64.
    row, episode
        Whole numbers >= 0, broadcast together.

    Returns
    -------
    uint64 array of the broadcast shape (at least one-dimensional).
    """
    key = np.uint64(int(seed) % 2**64)
    return derive(key, int(Purpose.MATCH), row, episode)


@lru_cache(maxsize=64)
def _weyl(count: int) -> UInt64:
    steps = np.arange(1, count + 1, dtype=np.uint64) * _GOLDEN
    steps.flags.writeable = False
    return steps


def draw(keys: UInt64, count: int) -> UInt64:
    """``count`` independent 64-bit words from each key: ``uint64[N, count]``."""
    return mix(keys[:, None] + _weyl(count))


def below(keys: UInt64, bounds: ArrayLike) -> NDArray[np.int64]:
    """One whole number in ``[0, bound)`` from each key, ``int64[N]``; ``bounds`` up to 2**31, at least 1.

    Uses the upper half of a multiplication (Lemire 2019) without rejection: the bias is below 2**-32 * bound.
    """
    bound = _number(bounds) if keys.shape == (1,) else None
    if bound is not None:
        return np.array([(_mix_one(keys.item()) >> 32) * bound >> 32], dtype=np.int64)
    return ((mix(keys) >> _S32) * np.asarray(bounds).astype(np.uint64) >> _S32).astype(np.int64)


def shuffle(keys: UInt64, count: int) -> NDArray[np.int64]:
    """A uniformly random order of ``0 … count-1`` from each key: ``int64[N, count]``, ``count`` up to 128.

    Random words that carry their index in the low seven bits are sorted; 57 random bits decide the order.
    """
    if not 0 < count <= 128:
        raise ValueError(f"shuffle: expected between 1 and 128 items, got {count}")
    words = draw(keys, count)
    words &= ~_INDEX
    words |= _FIRST[:count]
    words.sort(axis=1)
    words &= _INDEX
    return words.view(np.int64)
