"""The first phase of a run: an agent's choices are copied, and the values of what they bring are learned."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from slopes_agents.network import masked_log_probabilities

from .advantages import seat_advantages
from .config import WarmStart
from .rollout import Rollout, Samples

if TYPE_CHECKING:
    from .selfplay import SelfPlayMaskablePPO


def copy_choices(model: SelfPlayMaskablePPO, rollout: Rollout, settings: WarmStart) -> None:
    """Learn the agent's choices in a rollout that it played."""
    model.set_learning_rate(settings.learning_rate_at(rollout.done))
    samples = Samples.of(rollout, seat_advantages(rollout, model.gamma, 1.0))
    losses = [_copy_step(model, batch, settings.smoothing) for batch in model.batches(samples, settings.epochs)]
    model.move_magnet(1.0)  # self-play is to begin where it is
    model.agreement = model.log_means("warm_start", losses)["agreement"]


def _copy_step(model: SelfPlayMaskablePPO, batch: Samples, smoothing: float) -> dict[str, float]:
    """One step of the optimiser on one minibatch; returns what is logged."""
    assert batch.targets is not None
    logits, values = model.policy.logits_and_values(batch.observations)
    logs = masked_log_probabilities(logits, batch.legal)
    even = batch.legal / batch.legal.sum(dim=1, keepdim=True)
    targets = (1 - smoothing) * batch.targets + smoothing * even
    cross_entropy = -(targets * logs).sum(dim=1).mean()
    value_loss = model.value_loss(values, batch)
    model.step(cross_entropy + model.vf_coef * value_loss)
    with torch.no_grad():
        agreement = (logs.argmax(dim=1) == batch.targets.argmax(dim=1)).float().mean()
    logged = {"cross_entropy": cross_entropy, "value_loss": value_loss, "agreement": agreement}
    return {name: float(value.detach()) for name, value in logged.items()}
