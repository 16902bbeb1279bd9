"""Actions compared by playing the same hand on from each: the second phase of a run.

Self-play tells of one action a decision what it brought, with all the luck of the hand in it.  Here a decision is
stopped at, *every* legal action is taken in a copy of the game, and an agent plays each copy to the end of the hand.
Cards and the agent's chance are the same in all copies, so their luck falls out of the comparison.  (In Slopes, whose
matches are long, it plays on to the end of the opponent's turn, and what the position is worth then is judged, as in a
search: :mod:`slopes_agents.search.stakes`.)

The copies are of the true game, with hands that the seat does not see.  A network that sees only what the seat does
learns the mean over all hands that are as likely as they are *after this very play*: bids and cards of the others
count for what they show, which worlds drawn afresh would not know.  What is reached is one step of policy improvement
over the agent, as by a search with any number of worlds, in one forward pass.

This is imitation by cost-to-go: AggreVaTe (Ross and Bagnell 2014), with the gradient of Sun et al. (2017), for the
learner itself plays up to the decisions that are looked at.

Shape letters: **N** decisions, **A** actions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from slopes_agents.network import advised, masked_log_probabilities

from .config import LookAhead
from .rollout import Rollout, Samples

if TYPE_CHECKING:
    from .selfplay import SelfPlayMaskablePPO


def learn_from_comparison(model: SelfPlayMaskablePPO, rollout: Rollout, settings: LookAhead) -> None:
    """Learn from what the actions of some decisions of a rollout are worth."""
    model.set_learning_rate(settings.learning_rate_at(rollout.done))
    if not rollout.compared.any():
        return
    batches = model.batches(Samples.compared(rollout), settings.epochs)
    losses = [_comparison_step(model, batch, settings) for batch in batches]
    model.move_magnet(1.0)  # self-play is to begin where it is
    model.log_means("look_ahead", losses)
    model.logger.record("look_ahead/compared", int(rollout.compared.sum()))


def _comparison_step(model: SelfPlayMaskablePPO, batch: Samples, settings: LookAhead) -> dict[str, float]:
    """One step of the optimiser on one minibatch; returns what is logged."""
    assert batch.targets is not None
    logits, values = model.policy.logits_and_values(batch.observations)
    if settings.learn == "worth":
        shape, favoured = model.policy.shape, None
        if settings.doubt:
            favoured = advised(shape, batch.observations, logits.shape[1]) * settings.doubt
        loss, batch.returns, gain = worth_loss(logits, batch.legal, batch.targets, shape.sharpness, favoured)
    else:
        loss, batch.returns, gain = improvement_loss(logits, batch.legal, batch.targets, settings.entropy)
    value_loss = model.value_loss(values, batch)
    model.step(loss + model.vf_coef * value_loss)
    return {name: float(value.detach()) for name, value in (("loss", loss), ("value_loss", value_loss), ("gain", gain))}


def worth_loss(
    logits: Tensor, legal: Tensor, worth: Tensor, sharpness: float, favoured: Tensor | None
) -> tuple[Tensor, Tensor, Tensor]:
    """The loss that makes logits tell what actions are worth.

    A policy that is to *choose* well from single worlds leaves off trying what is seldom better; estimates go on
    learning from all actions alike, and are right on the average however noisy the worlds are.

    Parameters
    ----------
    logits, legal
        ``float32[N, A]``, ``bool[N, A]``.
    worth
        ``float32[N, A]``, what every action brings.
    sharpness
        Logits are this many times the estimates.
    favoured
        ``float32[N, A]``: what the policy adds to the estimates of some actions; None for nothing.

    Returns
    -------
    the loss, as a squared error a decision; what the policy brings and how much more that is than an even choice would
    bring, as :func:`improvement_loss`
    """
    estimates = logits / sharpness
    if favoured is not None:
        estimates = estimates - favoured
    even, advantages = _over_even(worth, legal)
    _, estimated = _over_even(estimates, legal)
    gain = (masked_log_probabilities(logits.detach(), legal).exp() * advantages).sum(dim=1)
    return (estimated - advantages).square().sum(dim=1).mean(), even + gain, gain.mean()


def improvement_loss(
    logits: Tensor, legal: Tensor, worth: Tensor, entropy_weight: float
) -> tuple[Tensor, Tensor, Tensor]:
    """The loss that makes a policy choose what is worth most.

    Parameters
    ----------
    logits, legal
        ``float32[N, A]``, ``bool[N, A]``.
    worth
        ``float32[N, A]``, what every action brings.
    entropy_weight
        Of the entropy bonus.

    Returns
    -------
    the loss; what the policy brings, ``float32[N]``, without gradient; how much more that is on the average than an
    even choice would bring
    """
    logs = masked_log_probabilities(logits, legal)
    chances = logs.exp()
    even, advantages = _over_even(worth, legal)
    gain = (chances * advantages).sum(dim=1)
    entropy = -(chances * logs).sum(dim=1)  # an illegal action has chance 0 and a finite logarithm
    loss = -gain.mean() - entropy_weight * entropy.mean()
    return loss, (even + gain).detach(), gain.mean().detach()


def _over_even(worth: Tensor, legal: Tensor) -> tuple[Tensor, Tensor]:
    """What an even choice brings, ``float32[N]``, and how much more each action does, 0 where illegal.

    Only differences between actions bear on a gradient; small numbers keep it exact.
    """
    even = (worth * legal).sum(dim=1) / legal.sum(dim=1)
    return even, torch.where(legal, worth - even[:, None], 0.0)
