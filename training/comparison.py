"""What every action of a decision brings if the same hand is played on from it; :mod:`.look_ahead` learns from that.

Shape letters: **N** decisions, **A** actions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from slopes_agents import Agent
from slopes_agents.search.pimc import try_actions
from slopes_agents.search.rollouts import Rollouts
from slopes_agents.search.stakes import reach_of
from slopes_envs import Game, State


class Comparison:
    """Tells what every action brings if an agent plays on from it.

    Parameters
    ----------
    game
        The rules.
    agent
        Plays the hands on, in all seats.
    """

    def __init__(self, game: Game[Any, Any], agent: Agent) -> None:
        self._rollouts = Rollouts(game, agent, reach_of(game))

    def values(self, state: State, legal: NDArray[np.bool_]) -> NDArray[np.float64]:
        """What is brought to the seat to move, by every action: leads in points, ``float64[N, A]``, 0 where illegal.

        Parameters
        ----------
        state
            Games that stand at N decisions; they are left as they are.
        legal
            ``bool[N, A]``.
        """
        leads = try_actions(self._rollouts, state, state.seat.astype(np.int64), legal, 1)[:, 0]
        return np.where(legal, leads, 0.0)
