"""Greedy players, one module a game: each takes what looks best at once, and never thinks of the next trick.

They are a rung between random play and the rule-based players: simple, and still far better than random.
"""

from __future__ import annotations

from ..per_game import AgentFamily


class GreedyAgent(AgentFamily):
    """The greedy player of whichever game it is made for."""

    family = "greedy"
    package = __name__
