"""Little-known card games as multi-agent environments over a vectorised NumPy core.

The front door is :func:`make_game`; :mod:`slopes_envs.aec` and :mod:`slopes_envs.vector` hold the PettingZoo and
Gymnasium views of it.
"""

from .aec import register as _register_with_pettingzoo
from .chance import derive, match_seed
from .errors import DealError, IllegalAction, RulesError, ScriptExhausted, UnknownName
from .features import Layout, Plane
from .game import Game, Outcome, Rules, State
from .infoset import InformationSet
from .registry import game_names, make_game
from .vector import register_gymnasium as _register_with_gymnasium

__all__ = [
    "DealError",
    "Game",
    "IllegalAction",
    "InformationSet",
    "Layout",
    "Outcome",
    "Plane",
    "Rules",
    "RulesError",
    "ScriptExhausted",
    "State",
    "UnknownName",
    "derive",
    "game_names",
    "make_game",
    "match_seed",
]

__version__ = "0.1.0"

_register_with_pettingzoo()
_register_with_gymnasium()
