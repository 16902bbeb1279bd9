"""A short-sighted player of Slopes: it ends every turn as near to its own slope as it can.

Of ends that are equally near it takes the one that leaves it most cards.  It does not see what it opens to the other
seat, never parries, and does not plan a turn ahead.
"""

from __future__ import annotations

from ..heuristic.slopes import Ends, Floats, Sight, SlopesPlayer, distance_of

NEARER = 200  # more than any number of cards counts


class GreedySlopesPlayer(SlopesPlayer):
    """The player.  Deterministic: it never uses ``view.keys``."""

    def judge(self, sight: Sight, ends: Ends) -> Floats:
        """Nearness of the ends of turns, then cards kept: ``float64[L]``."""
        nearness: Floats = ends.cards - NEARER * distance_of(ends.shows).astype(float)
        return nearness


AGENT = GreedySlopesPlayer
