"""Policy and value network in the form Stable-Baselines3 wants.

Shape letters: **B** observations, **D** features, **A** actions.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import Tensor, nn

from slopes_agents.afterstates.network import AfterstateTrunk
from slopes_agents.network import (
    NetworkShape,
    PolicyNetwork,
    make_action_head,
    make_trunk,
    make_value_head,
    masked_log_probabilities,
)
from slopes_agents.reasons.network import ReasonTrunk
from slopes_envs import Layout

from .past import sample


class TrunkExtractor(BaseFeaturesExtractor):
    """The hidden layers of :class:`slopes_agents.network.PolicyNetwork`, as a features extractor."""

    def __init__(
        self, observation_space: spaces.Space[Any], shape: NetworkShape, layout: Layout, num_actions: int
    ) -> None:
        trunk = make_trunk(shape, layout, num_actions)
        super().__init__(observation_space, trunk.width)
        self.trunk = trunk

    def forward(self, observations: Tensor) -> Tensor:
        """Encode ``uint8[B, D]``."""
        encoded: Tensor = self.trunk(observations)
        return encoded


def _seeing_all(shape: NetworkShape, layout: Layout) -> NetworkShape:
    """The same for all there is, without advice: what only a critic sees of cards belongs to suits, too."""
    shape = replace(shape, advice=None)
    if shape.suits is None:
        return shape
    bits = layout.planes[shape.suits.cards[0]].bits
    hands = [plane.name for plane in layout if plane.name.startswith("all_") and plane.bits == bits]
    return replace(shape, suits=replace(shape.suits, cards=(*shape.suits.cards, *hands)))


class Critic(nn.Module):
    """A value network of its own: ``uint8[B, D]`` of all there is to ``float32[B]``."""

    def __init__(self, shape: NetworkShape, layout: Layout) -> None:
        super().__init__()
        self.trunk = make_trunk(_seeing_all(shape, layout), layout, num_actions=0)
        self.head = nn.Linear(self.trunk.width, 1)

    def forward(self, observations: Tensor) -> Tensor:
        """Values."""
        values: Tensor = self.head(self.trunk(observations)).squeeze(1)
        return values


class SelfPlayPolicy(MaskableActorCriticPolicy):
    """Actor-critic over packed observations.

    The stock maskable policy with two differences, both for speed: observations stay ``uint8`` until the network
    reads them, and masked log-probabilities are computed once, without distribution objects.

    Parameters
    ----------
    shape, layout
        Of the network, and of the observations.
    critic_layout
        Layout of what a critic sees that judges the policy in training from all there is; None for none.  It is a
        network of its own with layers of the same widths, and no part of a policy that plays.
    """

    def __init__(
        self,
        observation_space: spaces.Space[Any],
        action_space: spaces.Space[Any],
        lr_schedule: Any,
        shape: NetworkShape,
        layout: Layout,
        critic_layout: Layout | None = None,
        **kwargs: Any,
    ) -> None:
        self.shape = shape
        self.layout = layout
        self.critic_layout = critic_layout
        self.num_actions = int(action_space.n)  # type: ignore[attr-defined]
        super().__init__(
            observation_space,
            action_space,
            lr_schedule,
            net_arch=[],
            features_extractor_class=TrunkExtractor,
            features_extractor_kwargs={"shape": shape, "layout": layout, "num_actions": self.num_actions},
            **kwargs,
        )

    def _build(self, lr_schedule: Any) -> None:
        self.critic: Critic | None = None
        if self.critic_layout is not None:  # made first: the optimiser is to know it
            self.critic = Critic(self.shape, self.critic_layout)
            self.critic.trunk.apply(lambda module: self.init_weights(module, gain=2**0.5))
            self.critic.head.apply(lambda module: self.init_weights(module, gain=1))
        super()._build(lr_schedule)
        head = make_action_head(self.shape, self.layout, self.features_dim, self.num_actions)
        if not isinstance(head, nn.Linear):
            # The stock head is one layer; made anew, and the optimiser with it.
            self.action_net = head
            self.action_net.apply(lambda module: self.init_weights(module, gain=0.01))
            self.value_net = make_value_head(self.shape, self.features_dim)  # type: ignore[assignment]
            self.value_net.apply(lambda module: self.init_weights(module, gain=1))
            self.optimizer = self.optimizer_class(self.parameters(), lr=lr_schedule(1), **self.optimizer_kwargs)  # type: ignore[call-arg]

    def _get_constructor_parameters(self) -> dict[str, Any]:
        parameters = super()._get_constructor_parameters()
        for fixed in ("net_arch", "features_extractor_class", "features_extractor_kwargs"):
            parameters.pop(fixed)
        return parameters | {
            "shape": self.shape,
            "layout": self.layout,
            "critic_layout": self.critic_layout,
        }

    def blank(self) -> PolicyNetwork:
        """A plain network of the policy's shape."""
        return PolicyNetwork(self.shape, self.layout, self.num_actions)

    def network(self) -> PolicyNetwork:
        """The policy as a plain network: a copy."""
        network = self.blank()
        for own, theirs in self._beside(network):
            theirs.load_state_dict(own.state_dict())
        return network.eval()

    def copy_from(self, network: PolicyNetwork) -> None:
        """Take over the numbers of a plain network of the policy's shape."""
        for own, theirs in self._beside(network):
            own.load_state_dict(theirs.state_dict())

    def _beside(self, network: PolicyNetwork) -> list[tuple[nn.Module, nn.Module]]:
        """The policy's parts, each with that of a plain network."""
        return [
            (self.features_extractor.trunk, network.trunk),  # type: ignore[list-item]
            (self.action_net, network.action_net),
            (self.value_net, network.value_net),
        ]

    def extract_features(self, obs: Any, features_extractor: BaseFeaturesExtractor | None = None) -> Tensor:
        """Encode observations without the stock conversion to float."""
        encoded: Tensor = (features_extractor or self.features_extractor)(obs)
        return encoded

    def logits_and_values(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        """Action logits ``float32[B, A]`` and values ``float32[B]``."""
        hidden = self.extract_features(observations)
        return self.action_net(hidden), self.value_net(hidden).squeeze(1)

    @property
    def afterstates(self) -> AfterstateTrunk:
        """The layers of a network that sees afterstates; TypeError if it sees something else."""
        trunk: Any = self.features_extractor.trunk
        if not isinstance(trunk, AfterstateTrunk):
            raise TypeError(f"expected a network that sees afterstates, got {type(trunk).__name__}")
        return trunk

    def settle(self, observations: Tensor) -> bool:
        """Let a network that counts by means and spreads take them from what a run has seen first.

        What it makes of actions does not change by that, for it has learned nothing yet.

        Returns
        -------
        Whether they were taken: it is such a network, and had none yet.
        """
        trunk: Any = self.features_extractor.trunk
        if not isinstance(trunk, ReasonTrunk) or trunk.settled:
            return False
        trunk.settle(observations)
        return True

    def sample(self, encoded: Tensor, legal: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
        """Sample actions, from what :meth:`extract_features` gives.

        Returns
        -------
        actions ``int64[B]``, values ``float32[B]``, log-probabilities of the actions ``float32[B]``
        """
        logs = masked_log_probabilities(self.action_net(encoded), legal)
        actions = sample(logs, generator)
        return actions, self.value_net(encoded).squeeze(1), logs.gather(1, actions[:, None]).squeeze(1)

    def evaluate_actions(
        self, obs: Tensor, actions: Tensor, action_masks: Tensor | NDArray[np.bool_] | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Values ``[B, 1]``, log-probabilities of ``actions`` ``[B]`` and entropies ``[B]``, as the stock policy."""
        logits, values = self.logits_and_values(obs)
        legal = torch.ones_like(logits, dtype=torch.bool) if action_masks is None else torch.as_tensor(action_masks)
        logs = masked_log_probabilities(logits, legal.bool())
        entropy = -(logs.exp() * logs).sum(dim=1)  # an illegal action has chance 0 and a finite logarithm
        return values[:, None], logs.gather(1, actions.long()[:, None]).squeeze(1), entropy
