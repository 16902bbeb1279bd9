"""Means with intervals: how far a published figure can be trusted.

The values given must be independent of each other; in this package they are one number a deal.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

CONFIDENCE = 0.95


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
    sample = np.asarray(values, dtype=np.float64)
    if sample.ndim != 1 or len(sample) < 2:
        raise ValueError(f"an interval expected at least 2 values in a row, got an array of shape {sample.shape}")
    if (sample == sample[0]).all():
        return Interval(*[float(sample[0])] * 3)
    mean = float(sample.mean())
    quantile = stdtrit(len(sample) - 1, (1 + CONFIDENCE) / 2)
    margin = float(quantile * sample.std(ddof=1) / np.sqrt(len(sample)))
    return Interval(mean, mean - margin, mean + margin)
