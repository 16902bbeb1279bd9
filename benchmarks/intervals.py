"""Means with intervals: how far a published figure can be trusted.

The values given must be independent of each other; in this package they are one number a deal.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtrit
from scipy.stats import bootstrap

from slopes_envs import UnknownName

CONFIDENCE = 0.95

RESAMPLES = 4999
"""Resamples of the bootstrap."""

BOOTSTRAP_SEED = 20
"""So that the same values always have the same interval."""

AT_ONCE = 2_000_000
"""Numbers that the bootstrap holds at a time."""


class Interval(NamedTuple):
    """A mean and the interval around it that holds the true mean with 95 % confidence."""

    mean: float
    low: float
    high: float

    def as_json(self) -> dict[str, Any]:
        """``{"mean": …, "ci95": [low, high]}``."""
        return {"mean": self.mean, "ci95": [self.low, self.high]}


def student_interval(values: ArrayLike) -> Interval:
    """Mean of independent values with Student's t interval.

    Parameters
    ----------
    values
        ``float[N]``, at least two.  The interval of a constant is that constant twice.

    Raises
    ------
    ValueError
        For fewer than two values: one alone says nothing about its own spread.
    """
    sample = _sample(values)
    if _constant(sample):
        return Interval(*[float(sample[0])] * 3)
    mean = float(sample.mean())
    quantile = stdtrit(len(sample) - 1, (1 + CONFIDENCE) / 2)
    margin = float(quantile * sample.std(ddof=1) / np.sqrt(len(sample)))
    return Interval(mean, mean - margin, mean + margin)


def bca_interval(values: ArrayLike) -> Interval:
    """Mean of independent values with the bias-corrected and accelerated bootstrap interval (Efron 1987), from SciPy.

    Parameters
    ----------
    values
        ``float[N]``, at least two.  The interval of a constant is that constant twice.

    Raises
    ------
    ValueError
        For fewer than two values, or where the bootstrap has no answer since too few of them differ.
    """
    sample = _sample(values)
    if _constant(sample):
        return Interval(*[float(sample[0])] * 3)
    found = bootstrap(
        (sample,),
        np.mean,
        n_resamples=RESAMPLES,
        batch=max(AT_ONCE // len(sample), 1),
        vectorized=True,
        confidence_level=CONFIDENCE,
        method="BCa",
        rng=np.random.default_rng(BOOTSTRAP_SEED),
    ).confidence_interval
    if not np.isfinite([found.low, found.high]).all():
        raise ValueError(f"a bootstrap interval expected more values that differ, got {len(sample)} values in all")
    return Interval(float(sample.mean()), float(found.low), float(found.high))


INTERVALS: dict[str, Callable[[ArrayLike], Interval]] = {"student": student_interval, "bca": bca_interval}
"""Kinds of intervals by name.

Student's is the usual one: figures of a deal are bounded and the mean of hundreds of deals is near to normal, so that
both hardly differ, and Student's allows for few deals, takes no time, and has no chance of its own.  The bootstrap is
there to check that, and for figures with a few very large values, such as chips."""


def interval_kind(name: str) -> Callable[[ArrayLike], Interval]:
    """One of :data:`INTERVALS`.

    Raises
    ------
    UnknownName
        If none is called so.
    """
    if name not in INTERVALS:
        raise UnknownName("interval", name, INTERVALS)
    return INTERVALS[name]


def _sample(values: ArrayLike) -> NDArray[np.float64]:
    sample = np.asarray(values, dtype=np.float64)
    if sample.ndim != 1 or len(sample) < 2:
        raise ValueError(f"an interval expected at least 2 values in a row, got an array of shape {sample.shape}")
    return sample


def _constant(sample: NDArray[np.float64]) -> bool:
    return bool((sample == sample[0]).all())
