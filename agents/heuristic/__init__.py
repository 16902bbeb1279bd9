"""Rule-based players, one module a game.

The player of a game is the class that ``slopes_agents/heuristic/<game>.py`` holds as ``AGENT``; a new one is such a
file and nothing else.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from slopes_envs import Game, InformationSet, game_names

from ..base import Agent


def heuristic_games() -> list[str]:
    """Names of the games that have a rule-based player."""
    return [name for name in game_names() if find_spec(f"{__name__}.{name}") is not None]


class HeuristicAgent(Agent):
    """The rule-based player of whichever game it is made for.

    Attributes
    ----------
    player
        That player: an instance of the ``AGENT`` of the game's module.
    """

    def __init__(self, game: Game[Any, Any], arguments: str = "") -> None:
        """Make the player of ``game`` from ``arguments``, as in its spec.

        Raises
        ------
        ValueError
            If the game has no rule-based player, or for arguments that the player does not take.
        """
        super().__init__(game)
        known = heuristic_games()
        if game.name not in known:
            raise ValueError(f"agent 'heuristic' has no player of {game.name!r} (it plays: {', '.join(known)})")
        agent_class: type[Agent] = import_module(f".{game.name}", __name__).AGENT
        self.player = agent_class.from_spec(game, arguments)

    @classmethod
    def from_spec(cls, game: Game[Any, Any], arguments: str) -> Self:
        """The player of ``game``; what follows ``heuristic:`` is handed on to it."""
        return cls(game, arguments)

    def act(self, view: InformationSet) -> NDArray[np.int64]:
        """Choose as the game's player does."""
        return self.player.act(view)

    @property
    def has_probabilities(self) -> bool:
        """Whether the game's player tells its probabilities."""
        return self.player.has_probabilities

    def probabilities(self, view: InformationSet) -> NDArray[np.float64]:
        """The probabilities of the game's player; TypeError if it does not tell them."""
        return self.player.probabilities(view)
