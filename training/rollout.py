"""What a rollout is remembered by, and the decisions in it that are learned from.

Shape letters: **T** moves of a rollout, **B** games, **P** seats, **A** actions, **N** decisions.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import Enum
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from slopes_agents.afterstates.network import AfterstateTrunk

from .advantages import Advantages

if TYPE_CHECKING:
    from .tables import SelfPlayEnv


class Phase(Enum):
    """What is done with a rollout."""

    COPY = "warm_start"
    COMPARE = "look_ahead"
    PLAY = "self_play"


class Rollout:
    """What was seen and done in T moves of B games.  Observations and masks stay one byte an entry.

    Where the seat to move does not learn, there is no value and no log-probability.

    Parameters
    ----------
    critic
        Whether what a critic sees is kept, too.
    mirror
        Whether what the policy makes of afterstates is kept, too.
    phase
        What it is for: where an agent is copied, its chances are kept as ``targets``; where actions are compared,
        what they are worth.
    done
        How much of a phase before self-play is over when it begins, 0 to 1.
    """

    def __init__(
        self,
        moves: int,
        env: SelfPlayEnv,
        *,
        critic: bool = False,
        mirror: bool = False,
        phase: Phase = Phase.PLAY,
        done: float = 0.0,
    ) -> None:
        self.phase, self.done = phase, done
        game, games = env.game, env.num_envs
        self.observations = np.zeros((moves, games, env.features), dtype=np.uint8)
        self.everything = np.zeros((moves, games, game.observation_all.size), dtype=np.uint8) if critic else None
        self.legal = np.zeros((moves, games, game.num_actions), dtype=np.bool_)
        aimed = phase is not Phase.PLAY
        self.targets = np.zeros((moves, games, game.num_actions), dtype=np.float32) if aimed else None
        self.compared = np.zeros((moves, games), dtype=np.bool_)  # where targets are what actions are worth
        self.actions = np.zeros((moves, games), dtype=np.int64)
        self.seats = np.zeros((moves, games), dtype=np.int64)
        self.learned = np.ones((moves, games), dtype=np.bool_)
        self.values = np.zeros((moves, games), dtype=np.float32)
        self.log_probs = np.zeros((moves, games), dtype=np.float32)
        self.rewards = np.zeros((moves, games, env.num_players), dtype=np.float32)
        self.ended = np.zeros((moves, games), dtype=np.bool_)
        # Value of the end of a match, by seat: zero, or where it was truncated the network's.
        self.end_values = np.zeros((moves, games, env.num_players), dtype=np.float32)
        # What the policy made of the ends of turns.
        self.judged = np.zeros((moves, games, AfterstateTrunk.width), dtype=np.float32) if mirror else None


@dataclass
class Samples:
    """Decisions to learn from, flattened over moves and games."""

    observations: torch.Tensor
    legal: torch.Tensor
    actions: torch.Tensor
    log_probs: torch.Tensor
    advantages: torch.Tensor
    returns: torch.Tensor
    everything: torch.Tensor | None = None  # what a critic sees
    targets: torch.Tensor | None = None  # chances to copy, or what actions are worth
    attraction: torch.Tensor | None = None  # the magnet's log-probabilities
    judged: torch.Tensor | None = None  # what the policy made of afterstates
    aims: torch.Tensor | None = None  # of mirror descent

    @classmethod
    def compared(cls, rollout: Rollout) -> Samples:
        """The decisions that were looked at; what they return depends on the policy that learns from them."""
        unknown = np.zeros(rollout.compared.shape, dtype=np.float32)
        return cls.of(rollout, Advantages(unknown, unknown, rollout.compared))

    @classmethod
    def of(cls, rollout: Rollout, advantages: Advantages) -> Samples:
        """The decisions that are used."""

        def kept(array: NDArray[Any]) -> torch.Tensor:
            return torch.from_numpy(array[advantages.used])

        return cls(
            kept(rollout.observations),
            kept(rollout.legal),
            kept(rollout.actions),
            kept(rollout.log_probs),
            kept(advantages.advantages),
            kept(advantages.returns),
            None if rollout.everything is None else kept(rollout.everything),
            None if rollout.targets is None else kept(rollout.targets),
            judged=None if rollout.judged is None else kept(rollout.judged),
        )

    def take(self, rows: torch.Tensor) -> Samples:
        """Some of them."""
        taken: dict[str, Any] = {}
        for spec in fields(self):
            tensor: torch.Tensor | None = getattr(self, spec.name)
            taken[spec.name] = None if tensor is None else tensor[rows]
        return Samples(**taken)
