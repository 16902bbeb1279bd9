"""Rule-based players, one module a game: what a good club player would do, without training or search."""

from __future__ import annotations

from ..per_game import AgentFamily


class HeuristicAgent(AgentFamily):
    """The rule-based player of whichever game it is made for."""

    family = "heuristic"
    package = __name__
