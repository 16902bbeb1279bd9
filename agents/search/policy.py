"""A learned policy that looks one move further: ``search:ppo``.

How it decides
--------------
As :mod:`.pimc` does, with the policy in all its parts: actions that the policy would hardly take are not tried; hands
are played on by the policy, which samples its actions as it did while it learned; its bids are the hidden bids of
sampled worlds; and its own first choice stands unless another action is better by more than the noise.

``depth`` cuts the hands off after so many decisions, the tried one included, and takes the policy's own value from
there on; without it turns of Slopes are cut off at their end in this way, and hands of other games played out.  That
value is of what the policy was trained for, its score or its lead, at the end of what it was trained on: a hand or a
match.

Shape letters: **B** games, **G** games being searched, **A** actions.
"""

from __future__ import annotations

from dataclasses import replace
from operator import attrgetter
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from slopes_envs import Game, InformationSet

from ..afterstates import Afterstates
from ..afterstates.shipped import AfterstateAgent, Network
from ..base import make_agent, parse_arguments, split_leading
from ..learned import LearnedAgent
from ..network import PolicyNetwork
from .pimc import Bools, PimcAgent
from .stakes import Reach, by_movers, by_seats, reach_of


class PolicySearchAgent(PimcAgent):
    """A one-ply search over a learned policy; see the module for how it decides.

    Parameters
    ----------
    policy
        Spec of the policy: ``ppo``, or ``ppo:PATH``.
    worlds
        The most worlds an action is tried in.
    least
        Actions that the policy takes less often than this are not tried.
    depth
        Decisions after which the policy's value stands for the rest of a hand; 0 for as far as is usual for the game.
    """

    def __init__(
        self, game: Game[Any, Any], policy: str = "ppo", worlds: int = 32, least: float = 0.02, depth: int = 0
    ) -> None:
        """Make the agent.

        Raises
        ------
        ValueError
            For a number out of its range, or a policy that is no learned one.
        """
        if not 0 <= least < 1:
            raise ValueError(f"agent search: least expected a share from 0 to 1, got {least}")
        if depth < 0:
            raise ValueError(f"agent search: depth expected a whole number of at least 0, got {depth}")
        agent = make_agent(policy, game)
        if not isinstance(agent, LearnedAgent):
            raise ValueError(f"agent search: expected a learned policy, as in search:ppo, got {policy!r}")
        super().__init__(game, worlds, LearnedAgent(game, agent.network, "sample", agent.adviser), _reach(agent, depth))
        self.least = least

    @classmethod
    def from_spec(cls, game: Game[Any, Any], arguments: str) -> Self:
        """From ``POLICY`` or ``POLICY,key=value,…``."""
        policy, rest = split_leading(arguments)
        options = parse_arguments(cls, rest)
        if policy and "policy" in options:
            raise ValueError(f"agent search: expected one policy, got {policy!r} and {options['policy']!r}")
        if policy:
            options["policy"] = policy
        return cls(game, **options)

    def candidates(self, view: InformationSet) -> tuple[Bools, NDArray[np.int64]]:
        """Actions the policy may take, ``bool[G, A]``, and the one it likes best, ``int64[G]``."""
        policy = self.rollouts.agent
        chances = policy.probabilities(view)
        habit: NDArray[np.int64] = chances.argmax(axis=1)
        tried = view.legal & (chances >= self.least)
        tried[np.arange(len(habit)), habit] = True
        return tried, habit


def _reach(agent: LearnedAgent, depth: int) -> Reach:
    """How far the game is searched, where the policy itself judges what is cut off."""
    game = agent.game
    if isinstance(agent.adviser, Afterstates):  # which has nothing to say of seats that wait
        assert isinstance(agent.network, PolicyNetwork)
        arrays = {name: tensor.numpy() for name, tensor in agent.network.state_dict().items()}
        reach, evaluate = reach_of(game, AfterstateAgent(game, Network.of(arrays))), by_movers(agent.values)
    else:
        reach, evaluate = reach_of(game), by_seats(agent.values)
        if reach.evaluate is not None:
            reach = replace(reach, evaluate=evaluate, reasons=None)
    return replace(reach, depth=depth, clock=attrgetter("move"), evaluate=evaluate) if depth else reach
