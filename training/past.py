"""Past selves of a policy, as opponents in its own training."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from slopes_agents.network import PolicyNetwork, masked_log_probabilities


class PastSelves:
    """A pool of networks: the policy as it began, and as it was after every so many decisions.

    Saved and loaded as one of the modules of a Stable-Baselines3 model.

    Parameters
    ----------
    every
        Decisions between two of them.
    keep
        How many; the oldest makes room for the newest.
    blank
        Makes a network of the policy's shape.
    """

    def __init__(self, every: int, keep: int, blank: Callable[[], PolicyNetwork]) -> None:
        self.every, self.keep, self.blank = every, keep, blank
        self.networks: list[PolicyNetwork] = []
        self.taken = 0  # networks that were ever added

    def due(self, decisions: int) -> bool:
        """Whether another one is to be added after so many decisions."""
        return decisions // self.every >= self.taken

    def add(self, network: PolicyNetwork, decisions: int) -> None:
        """Add a network, which is kept and not copied."""
        self.networks = [*self.networks, network.eval()][-self.keep :]
        self.taken = decisions // self.every + 1

    def act(
        self, which: NDArray[np.int64], observations: Tensor, legal: Tensor, generator: torch.Generator
    ) -> NDArray[np.int64]:
        """Sample actions ``int64[N]``, each from the network that ``which`` (``int64[N]``) numbers."""
        actions = np.zeros(len(which), dtype=np.int64)
        with torch.inference_mode():
            for number in np.unique(which):
                rows = np.flatnonzero(which == number)
                places = torch.from_numpy(rows)
                logits, _ = self.networks[number](observations[places])
                actions[rows] = sample(masked_log_probabilities(logits, legal[places]), generator).numpy()
        return actions

    def state_dict(self) -> dict[str, Any]:
        """All networks as one flat dictionary of tensors."""
        state: dict[str, Any] = {"taken": torch.tensor(self.taken)}
        for number, network in enumerate(self.networks):
            state |= {f"{number}.{name}": tensor for name, tensor in network.state_dict().items()}
        return state

    def load_state_dict(self, state: dict[str, Any], strict: bool = True) -> None:
        """The inverse of :meth:`state_dict`."""
        self.taken = int(state["taken"])
        self.networks = []
        for number in range(1 + max((int(name.partition(".")[0]) for name in state if name != "taken"), default=-1)):
            network = self.blank()
            start = f"{number}."
            own = {name.removeprefix(start): tensor for name, tensor in state.items() if name.startswith(start)}
            network.load_state_dict(own, strict=strict)
            self.networks.append(network.eval())


def sample(logs: Tensor, generator: torch.Generator) -> Tensor:
    """Actions ``int64[B]`` drawn from log-probabilities ``float32[B, A]``.

    The Gumbel-max trick: the argmax of log-probabilities plus Gumbel noise is a sample.
    """
    noise = torch.empty_like(logs).exponential_(generator=generator).clamp_min_(1e-30).log_()
    return (logs - noise).argmax(dim=1)
