"""How good the policy is now: quick measurements during training.

They steer a run (which policy is best, when it stops getting better); published figures come from ``slopes evaluate``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from slopes_agents import Agent
from slopes_agents.play import play_out
from slopes_envs import Game, match_seed


def advantage_over(
    game: Game[Any, Any], policy: Agent, opponent: Agent, deals: int, seed: int
) -> tuple[float, float, NDArray[np.float64]]:
    """Mean difference between the policy's score and its opponents', over duplicate deals.

    Every deal is played with the policy's side in every place (``game.teams``) and copies of ``opponent`` in the
    other seats.

    Returns
    -------
    The mean, its standard error over deals, and the differences by deal (``float64[deals]``).
    """
    sides = game.teams
    differences = np.zeros(deals)
    for side in sides:
        state = game.new(match_seed(seed, np.arange(deals)))
        seating = np.ones((deals, game.num_players), dtype=np.int64)
        seating[:, side] = 0
        play_out(game, state, [policy, opponent], seating)
        scores = game.scores(state).astype(np.float64)
        others = [seat for seat in range(game.num_players) if seat not in side]
        differences += (scores[:, list(side)].mean(axis=1) - scores[:, others].mean(axis=1)) / len(sides)
    spread = float(differences.std(ddof=1) / np.sqrt(deals)) if deals > 1 else float("nan")
    return float(differences.mean()), spread, differences
