"""Speeds measured side by side: everything is timed in turn, round after round, so that all meet the same machine.

A machine grows faster and slower while it is measured.  Subjects of one comparison are therefore not timed one after
the other but in rounds, each of which gives every subject one slice of time, in an order of its own.
"""

from __future__ import annotations

import gc
import json
import random
import statistics
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

DECISIONS, GAMES, LENGTH, MEMORY = "decisions/s", "games/s", "decisions/game", "bytes/game"
"""Units of results; a game is a whole match."""


@dataclass(frozen=True)
class Subject:
    """Something whose speed is measured.

    Attributes
    ----------
    game
        Name of the game; of a game of another library ``library/game``.
    rules
        Its options.
    layer
        What is done: see :mod:`slopes_benchmarks.layers` and :mod:`slopes_benchmarks.peers`.
    batch
        B, games at once.
    play
        Plays on a little and returns the number of decisions taken; called again and again.
    """

    game: str
    rules: dict[str, Any] = field(hash=False)
    layer: str
    batch: int
    play: Callable[[], int] = field(compare=False)


def identity(game: str, rules: Mapping[str, Any]) -> str:
    """A game and its options as one text."""
    return f"{game} {json.dumps(rules, sort_keys=True)}"


class Speed(NamedTuple):
    """Speeds of several runs, in what is counted per second."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, runs: Sequence[float]) -> Speed:
        """Median, least and greatest of the runs."""
        return cls(statistics.median(runs), min(runs), max(runs))


def speed(play: Callable[[], int], seconds: float) -> float:
    """Decisions a second of one slice of time, which goes on to the end of the play it falls into."""
    clock = time.perf_counter
    begun = now = clock()
    end = begun + seconds
    decisions = 0
    while now < end:
        decisions += play()
        now = clock()
    return decisions / (now - begun)


def rounds(
    subjects: Sequence[Subject], runs: int, seconds: float, seed: int, progress: Callable[[int], None] | None = None
) -> Generator[list[float]]:
    """Measure all subjects, round by round.

    Parameters
    ----------
    subjects
        Each is played once before the first round, so that nothing is made or compiled in measured time.
    runs
        Number of rounds.
    seconds
        Of one slice.
    seed
        Of the order in each round.
    progress
        Called with the number of slices done.

    Yields
    ------
    A round: the speed of every subject, in the order of ``subjects``.
    """
    for subject in subjects:
        subject.play()
    gc.collect()
    gc.freeze()  # a subject's collections should not go through the objects of all the others
    try:
        done = 0
        for number in range(runs):
            found = [0.0] * len(subjects)
            order = list(range(len(subjects)))
            random.Random(f"{seed} {number}").shuffle(order)
            for place in order:
                found[place] = speed(subjects[place].play, seconds)
                done += 1
                if progress is not None:
                    progress(done)
            yield found
    finally:
        gc.unfreeze()
