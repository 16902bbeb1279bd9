"""The games there are: one line each."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from .errors import UnknownName
from .game import Game

GAMES: dict[str, str] = {
    "slippery_slope": ".games.slippery_slope",
    "sloppy_seconds": ".games.sloppy_seconds",
    "sluff": ".games.sluff",
    "slopes": ".games.slopes",
    "slippery_sam": ".games.slippery_sam",
}
"""Module of each game, by name; the module holds the game's class as ``GAME``."""


def game_names() -> list[str]:
    """Names of all games."""
    return list(GAMES)


def game_class(name: str) -> type[Game[Any, Any]]:
    """The class of a game.

    Raises
    ------
    UnknownName
        If there is no game called ``name``.
    """
    if name not in GAMES:
        raise UnknownName("game", name, GAMES)
    game: type[Game[Any, Any]] = import_module(GAMES[name], __package__).GAME
    return game


def make_game(name: str, **rules: Any) -> Game[Any, Any]:
    """A game by name, with options.

    >>> make_game("slippery_slope", target_score=10).num_actions
    41

    Raises
    ------
    UnknownName
        For a game or an option that does not exist.
    RulesError
        For an option with a value that is not allowed.
    """
    game = game_class(name)
    return game(game.rules_type.make(rules))
