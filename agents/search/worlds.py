"""The worlds that a search tries its actions in.

All deals that agree with what was seen are equally likely before anybody has said anything.  Once seats have bid, those
are likelier in which they would have bid so: Bayes' rule, with a player's way of bidding for the chances of the bids.
Worlds are drawn from there by sampling importance resampling (Rubin 1987): several candidates for every world, drawn
uniformly, of which some are kept by chances in proportion to their weights.

Bids that are still hidden are drawn as the same player would bid on the sampled hands.

Shape letters: **B** games, **K** worlds.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from slopes_envs import Game, InformationSet, State
from slopes_envs.chance import UInt64, derive

from ..base import Agent, make_agent
from ..heuristic import HeuristicAgent
from .hearing import Fit, resampled

CANDIDATES = 12
"""Worlds drawn for each that is kept, where seats have spoken."""
_KEEPING = 1 << 32  # tells the random numbers of the choice from those of the worlds


class Worlds:
    """Draws worlds from information sets.

    Attributes
    ----------
    bidder
        By whose way of bidding: the roll-out agent, or a better player if that is random.
    """

    def __init__(self, game: Game[Any, Any], agent: Agent, fit: Fit | None) -> None:
        knows_better = agent.blind and game.name in HeuristicAgent.games()
        self.bidder = make_agent("heuristic", game) if knows_better else agent
        self._game, self._fit = game, fit

    def draw(self, view: InformationSet, count: int, keys: UInt64) -> State:
        """``count`` worlds of each of B information sets, row-major: ``B * count`` of them.

        ``keys`` (``uint64[B]``) is where all chance comes from.
        """
        if self._fit is None:
            return view.sample(count, keys, self.hidden_bids)
        several = count * CANDIDATES
        worlds = view.sample(several, keys, self.hidden_bids)
        weights = self._fit(view.game, self.bidder, worlds, np.repeat(view.seats, several))
        kept = resampled(weights.reshape(len(view), several), count, derive(keys, _KEEPING))
        return worlds.take((kept + several * np.arange(len(view))[:, None]).reshape(-1))

    def hidden_bids(self, state: State, keys: UInt64) -> NDArray[np.int64]:
        """What the seats to move would bid, ``int64[N]``: a model of hidden bids, which needs no chance."""
        return self.bidder.act(InformationSet(self._game, state))
