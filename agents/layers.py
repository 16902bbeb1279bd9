"""Pieces that networks share.

Shape letters: **B** games, **K** what is shown of a game, **A** actions.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from torch import Tensor, nn

from .shown import NO_ACTION


def hidden_layers(widths: Sequence[int]) -> nn.Sequential:
    """Linear layers with a ReLU behind each: ``float32[…, widths[0]]`` to ``float32[…, widths[-1]]``."""
    layers: list[nn.Module] = []
    for before, after in pairwise(widths):
        layers += [nn.Linear(before, after), nn.ReLU()]
    return nn.Sequential(*layers)


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
