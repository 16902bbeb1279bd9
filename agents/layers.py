"""Pieces that networks share.

Shape letters: **B** games, **K** what is shown of a game at most, **L** what is there of all games together, **F**
features of one, **A** actions.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple, Self

from torch import Tensor, nn

from .shown import NO_ACTION


def hidden_layers(widths: Sequence[int]) -> nn.Sequential:
    """Linear layers with a ReLU behind each: ``float32[…, widths[0]]`` to ``float32[…, widths[-1]]``."""
    layers: list[nn.Module] = []
    for before, after in pairwise(widths):
        layers += [nn.Linear(before, after), nn.ReLU(inplace=True)]
    return nn.Sequential(*layers)


class Places(NamedTuple):
    """Where what is shown of B games stands: some games have more of it than others."""

    actions: Tensor  # uint8[B, K], numbers of actions; NO_ACTION where fewer are shown
    at: Tensor  # int64[L], where in [B, K], row by row, those that are there stand

    @classmethod
    def of(cls, actions: Tensor) -> Self:
        """Those of some actions, ``uint8[B, K]``."""
        return cls(actions, (actions.reshape(-1) != NO_ACTION).nonzero().squeeze(1))

    @property
    def row(self) -> Tensor:
        """The games of what is there, ``int64[L]``."""
        return self.at.div(self.actions.shape[1], rounding_mode="floor")

    def gather(self, features: Tensor) -> Tensor:
        """Features of what is there, ``float32[L, F]`` in units of a byte, from ``uint8[B, K, F]``."""
        return features.reshape(-1, features.shape[2]).index_select(0, self.at).float()

    def spread(self, values: Tensor, missing: float) -> Tensor:
        """A number for each that is there, ``float32[L]``, in its place: ``float32[B, K]``."""
        spread = values.new_full((self.actions.numel(),), missing)
        return spread.index_put((self.at,), values).view(self.actions.shape)


def best_by_action(actions: Tensor, values: Tensor, num_actions: int, least: float) -> Tensor:
    """The highest value of every action, ``float32[B, A]``; ``least``, which no value is below, where there is none.

    Parameters
    ----------
    actions
        ``int64[B, K]``, numbers of actions; ``NO_ACTION`` where fewer are shown.
    values
        ``float32[B, K]``.
    """
    columns = actions.where(actions != NO_ACTION, num_actions)  # one more column for those that are not there
    spread = values.new_full((len(values), num_actions + 1), least)
    return spread.scatter_reduce(1, columns, values, "amax")[:, :num_actions]
