"""Policy and value network in the form Stable-Baselines3 wants.

Shape letters: **B** observations, **D** features, **A** actions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import Tensor

from slopes_agents.network import NetworkShape, Trunk, masked_log_probabilities
from slopes_envs import Layout


class TrunkExtractor(BaseFeaturesExtractor):
    """The hidden layers of :class:`slopes_agents.network.PolicyNetwork`, as a features extractor."""

    def __init__(self, observation_space: spaces.Space[Any], shape: NetworkShape, layout: Layout) -> None:
        trunk = Trunk(shape, layout)
        super().__init__(observation_space, trunk.width)
        self.trunk = trunk

    def forward(self, observations: Tensor) -> Tensor:
        """Encode ``uint8[B, D]``."""
        encoded: Tensor = self.trunk(observations)
        return encoded


class SelfPlayPolicy(MaskableActorCriticPolicy):
    """Actor-critic over packed observations.

    The stock maskable policy with two differences, both for speed: observations stay ``uint8`` until the network
    reads them, and masked log-probabilities are computed once, without distribution objects.
    """

    def __init__(
        self,
        observation_space: spaces.Space[Any],
        action_space: spaces.Space[Any],
        lr_schedule: Any,
        shape: NetworkShape,
        layout: Layout,
        **kwargs: Any,
    ) -> None:
        self.shape = shape
        self.layout = layout
        super().__init__(
            observation_space,
            action_space,
            lr_schedule,
            net_arch=[],
            features_extractor_class=TrunkExtractor,
            features_extractor_kwargs={"shape": shape, "layout": layout},
            **kwargs,
        )

    def _get_constructor_parameters(self) -> dict[str, Any]:
        parameters = super()._get_constructor_parameters()
        for fixed in ("net_arch", "features_extractor_class", "features_extractor_kwargs"):
            parameters.pop(fixed)
        return parameters | {"shape": self.shape, "layout": self.layout}

    def extract_features(self, obs: Any, features_extractor: BaseFeaturesExtractor | None = None) -> Tensor:
        """Encode observations without the stock conversion to float."""
        encoded: Tensor = (features_extractor or self.features_extractor)(obs)
        return encoded

    def logits_and_values(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        """Action logits ``float32[B, A]`` and values ``float32[B]``."""
        hidden = self.extract_features(observations)
        return self.action_net(hidden), self.value_net(hidden).squeeze(1)

    def sample(self, observations: Tensor, legal: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
        """Sample actions.

        Returns
        -------
        actions ``int64[B]``, values ``float32[B]``, log-probabilities of the actions ``float32[B]``
        """
        logits, values = self.logits_and_values(observations)
        logs = masked_log_probabilities(logits, legal)
        # The Gumbel-max trick: the argmax of log-probabilities plus Gumbel noise is a sample.
        noise = torch.empty_like(logs).exponential_(generator=generator).clamp_min_(1e-30).log_()
        actions = (logs - noise).argmax(dim=1)
        return actions, values, logs.gather(1, actions[:, None]).squeeze(1)

    def evaluate_actions(
        self, obs: Tensor, actions: Tensor, action_masks: Tensor | NDArray[np.bool_] | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Values ``[B, 1]``, log-probabilities of ``actions`` ``[B]`` and entropies ``[B]``, as the stock policy."""
        logits, values = self.logits_and_values(obs)
        legal = torch.ones_like(logits, dtype=torch.bool) if action_masks is None else torch.as_tensor(action_masks)
        logs = masked_log_probabilities(logits, legal.bool())
        entropy = -(logs.exp() * logs).sum(dim=1)  # an illegal action has chance 0 and a finite logarithm
        return values[:, None], logs.gather(1, actions.long()[:, None]).squeeze(1), entropy
