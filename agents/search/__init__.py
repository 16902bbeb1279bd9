"""Agents that search: they draw worlds from what their seat knows, and try their actions in these.

======================= ==============================================================================================
module                  holds
======================= ==============================================================================================
:mod:`.stakes`          what a searching seat wants: the unit of all values, and how far ahead a game is played out
:mod:`.rollouts`        hands played on by an agent, all of them as one batch
:mod:`.pimc`            ``pimc``: flat Monte Carlo over determinised worlds
:mod:`.ismcts`          ``ismcts``: information-set Monte Carlo tree search, a tree a game, all games as one batch
:mod:`.policy`          ``search``: a learned policy that looks one move further; it needs torch, so import it by itself
======================= ==============================================================================================
"""

from .ismcts import IsmctsAgent
from .pimc import PimcAgent

__all__ = ["IsmctsAgent", "PimcAgent"]
