"""Agents that are a family: one player a game, each in a module of its own.

A family is a package with a file ``<game>.py`` for every game it plays, which holds the player's class as ``AGENT``; a
new player is such a file and nothing else.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from slopes_envs import Game, InformationSet, game_names

from .base import Agent


class AgentFamily(Agent):
    """The player that a family has for the game it is made for.

    Attributes
    ----------
    player
        That player: an instance of the ``AGENT`` of the game's module.
    """

    family: ClassVar[str]
    """Name of the family, as in specs."""
    package: ClassVar[str]
    """The package that holds its players."""

    def __init__(self, game: Game[Any, Any], arguments: str = "") -> None:
        """Make the player of ``game`` from ``arguments``, as in its spec.

        Raises
        ------
        ValueError
            If the family has no player of the game, or for arguments that the player does not take.
        """
        super().__init__(game)
        known = self.games()
        if game.name not in known:
            raise ValueError(f"agent {self.family!r} has no player of {game.name!r} (it plays: {', '.join(known)})")
        agent_class: type[Agent] = import_module(f".{game.name}", self.package).AGENT
        self.player = agent_class.from_spec(game, arguments)

    @classmethod
    def games(cls) -> list[str]:
        """Names of the games that the family plays."""
        return [name for name in game_names() if find_spec(f"{cls.package}.{name}") is not None]

    @classmethod
    def from_spec(cls, game: Game[Any, Any], arguments: str) -> Self:
        """The player of ``game``; what follows the family's name in the spec is handed on to it."""
        return cls(game, arguments)

    def act(self, view: InformationSet) -> NDArray[np.int64]:
        """Choose as the game's player does."""
        return self.player.act(view)

    @property
    def blind(self) -> bool:  # type: ignore[override]  # of the player, not of the family
        """Whether the game's player does not look at the game."""
        return self.player.blind

    @property
    def has_probabilities(self) -> bool:
        """Whether the game's player tells its probabilities."""
        return self.player.has_probabilities

    def probabilities(self, view: InformationSet) -> NDArray[np.float64]:
        """The probabilities of the game's player; TypeError if it does not tell them."""
        return self.player.probabilities(view)
