"""Proximal policy optimisation (Schulman et al. 2017): clipped steps towards what turned out better than expected.

With a magnet, the divergence from a copy of the policy that follows it slowly is part of the loss (magnetic mirror
descent, Sokota et al. 2023).

Shape letters: **N** decisions, **A** actions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from slopes_agents.network import PolicyNetwork, masked_log_probabilities

from .advantages import seat_advantages
from .config import Magnet
from .rollout import Rollout, Samples

if TYPE_CHECKING:
    from .selfplay import SelfPlayMaskablePPO


def take_clipped_steps(
    model: SelfPlayMaskablePPO, rollout: Rollout, clip_range: float, settings: Magnet | None
) -> None:
    """Improve the network with a rollout of self-play; ratios of chances are clipped by ``clip_range``."""
    advantages = seat_advantages(rollout, model.gamma, model.gae_lambda)
    samples = Samples.of(rollout, advantages)
    if model.magnet is not None:
        samples.attraction = _log_probabilities(model.magnet, samples)
    weight = 0.0 if settings is None else settings.weight
    losses = [_clipped_step(model, batch, clip_range, weight) for batch in model.batches(samples, model.n_epochs)]
    if settings is not None:
        model.move_magnet(settings.tau)
    model.log_means("train", losses)
    model.log_play(rollout, advantages)
    model.logger.record("train/entropy_coefficient", model.ent_coef)
    model.logger.record("train/clip_range", clip_range)


def _clipped_step(
    model: SelfPlayMaskablePPO, batch: Samples, clip_range: float, magnet_weight: float
) -> dict[str, float]:
    """One step of the optimiser on one minibatch; returns what is logged."""
    logits, values = model.policy.logits_and_values(batch.observations)
    logs = masked_log_probabilities(logits, batch.legal)
    chances = logs.exp()
    log_ratio = logs.gather(1, batch.actions[:, None]).squeeze(1) - batch.log_probs
    ratio = log_ratio.exp()
    advantages = _normalised(batch.advantages)
    clipped = ratio.clamp(1 - clip_range, 1 + clip_range)
    policy_loss = -torch.min(advantages * ratio, advantages * clipped).mean()
    value_loss = model.value_loss(values, batch)
    entropy = -(chances * logs).sum(dim=1).mean()  # an illegal action has chance 0 and a finite logarithm
    loss = policy_loss + model.vf_coef * value_loss - model.ent_coef * entropy
    logged = {"policy_gradient_loss": policy_loss, "value_loss": value_loss, "entropy": entropy}
    if batch.attraction is not None:
        divergence = (chances * (logs - batch.attraction)).sum(dim=1).mean()
        loss = loss + magnet_weight * divergence
        logged["magnet_kl"] = divergence
    model.step(loss)
    with torch.no_grad():
        logged["approx_kl"] = (ratio - 1 - log_ratio).mean()  # Schulman's low-variance estimate
        logged["clip_fraction"] = ((ratio - 1).abs() > clip_range).float().mean()
    return {name: float(value.detach()) for name, value in {"loss": loss, **logged}.items()}


def _normalised(advantages: torch.Tensor) -> torch.Tensor:
    """Advantages of a minibatch with mean 0 and deviation 1; a single one is 0, having no deviation."""
    if len(advantages) < 2:
        return torch.zeros_like(advantages)
    return (advantages - advantages.mean()) / (advantages.std() + 1e-8)


def _log_probabilities(network: PolicyNetwork, samples: Samples, at_once: int = 8192) -> torch.Tensor:
    """The network's log-probabilities for all decisions, ``float32[N, A]``."""
    parts = []
    with torch.no_grad():
        for start in range(0, len(samples.actions), at_once):
            rows = slice(start, start + at_once)
            logits, _ = network(samples.observations[rows])
            parts.append(masked_log_probabilities(logits, samples.legal[rows]))
    return torch.cat(parts)
