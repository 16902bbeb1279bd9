"""The network of a learned agent: observation in, action logits and a value out.

Plain PyTorch, so that a trained agent needs nothing of the training extras.

Shape letters: **B** observations, **D** features, **A** actions, **H** width of the last hidden layer.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any, Self

import torch
from torch import Tensor, nn

from slopes_envs import Layout

MASKED = -1e9  # logit of an action that is not legal: its chance is exactly zero in float32


@dataclass(frozen=True)
class NetworkShape:
    """What a network is made of; kept as JSON beside its weights.

    ``left_out`` names planes of the observation that the network does not see (such as the scores of a match, for a
    policy that was trained on single hands).
    """

    layers: tuple[int, ...]
    left_out: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Plain lists and numbers."""
        return {name: list(value) for name, value in asdict(self).items()}

    @classmethod
    def from_json(cls, data: Any) -> Self:
        """The inverse of :meth:`as_json`.

        Raises
        ------
        ValueError
            For anything that does not come from there.
        """
        layers = data.get("layers") if isinstance(data, dict) else None
        left_out = data.get("left_out", []) if isinstance(data, dict) else None
        if (
            not (isinstance(layers, list) and layers and all(type(width) is int and width > 0 for width in layers))
            or not isinstance(left_out, list)
            or not all(isinstance(name, str) for name in left_out)
        ):
            raise ValueError(
                f"network: expected {{'layers': [widths], 'left_out': [names of planes]}}, got {str(data)[:200]}"
            )
        return cls(tuple(layers), tuple(left_out))

    def tensors(self, layout: Layout, num_actions: int) -> dict[str, tuple[int, ...]]:
        """Names and shapes of the tensors of a :class:`PolicyNetwork`, in the order of its state."""
        widths = [len(self.seen(layout)), *self.layers]
        shapes: dict[str, tuple[int, ...]] = {}
        for number, (before, after) in enumerate(pairwise(widths)):
            shapes[f"trunk.layers.{2 * number}.weight"] = (after, before)
            shapes[f"trunk.layers.{2 * number}.bias"] = (after,)
        for head, size in (("action_net", num_actions), ("value_net", 1)):
            shapes[f"{head}.weight"] = (size, widths[-1])
            shapes[f"{head}.bias"] = (size,)
        return shapes

    def seen(self, layout: Layout) -> list[int]:
        """Numbers of the features that the network sees.

        Raises
        ------
        ValueError
            If a plane to leave out is not in the layout.
        """
        unknown = [name for name in self.left_out if name not in layout.planes]
        if unknown:
            raise ValueError(f"planes to leave out: {unknown} are not in the observation ({list(layout.planes)})")
        return [
            feature
            for plane in layout
            if plane.name not in self.left_out
            for feature in range(layout.slices[plane.name].start, layout.slices[plane.name].stop)
        ]


class Trunk(nn.Module):
    """The hidden layers, shared by policy and value: ``uint8[B, D]`` to ``float32[B, H]``."""

    seen: Tensor

    def __init__(self, shape: NetworkShape, layout: Layout) -> None:
        super().__init__()
        seen = shape.seen(layout)
        self.register_buffer("seen", torch.tensor(seen, dtype=torch.int64), persistent=False)
        self.sees_all = len(seen) == layout.size
        widths = [len(seen), *shape.layers]
        layers: list[nn.Module] = []
        for before, after in pairwise(widths):
            layers += [nn.Linear(before, after), nn.ReLU()]
        self.layers = nn.Sequential(*layers)
        self.width = widths[-1]

    def forward(self, observations: Tensor) -> Tensor:
        """Encode observations."""
        if not self.sees_all:
            observations = observations.index_select(1, self.seen)
        encoded: Tensor = self.layers(observations.float())
        return encoded


def masked_log_probabilities(logits: Tensor, legal: Tensor) -> Tensor:
    """Log-probabilities ``float32[B, A]`` over the legal actions (``bool[B, A]``)."""
    return torch.log_softmax(torch.where(legal, logits, MASKED), dim=1)


class PolicyNetwork(nn.Module):
    """Trunk with a policy head and a value head.

    Attributes
    ----------
    unit
        Points of the game that a value of one stands for.
    """

    unit: float = 1.0

    def __init__(self, shape: NetworkShape, layout: Layout, num_actions: int) -> None:
        super().__init__()
        self.trunk = Trunk(shape, layout)
        self.action_net = nn.Linear(self.trunk.width, num_actions)
        self.value_net = nn.Linear(self.trunk.width, 1)

    def forward(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        """Logits ``float32[B, A]`` and values ``float32[B]``."""
        hidden = self.trunk(observations)
        return self.action_net(hidden), self.value_net(hidden).squeeze(1)
