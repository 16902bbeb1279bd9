"""Mirror descent over afterstates: a policy that sees how a turn can end is improved at all of these ends at once.

PPO learns of a turn by the one end that was tried, and a match of Slopes is so long that nearly all of what comes of
it is chance.  Here what ends are worth is learned from that, over all turns; and the policy goes more for what is worth
more, whether it was tried or not.

Shape letters: **N** decisions, **K** ends of the turn that are shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch
from torch import Tensor

from slopes_agents.afterstates import WAYS
from slopes_agents.afterstates.network import AfterstateTrunk, Judged, Shown, judged_before
from slopes_agents.shown import NOT_THERE

from .advantages import seat_advantages
from .config import Mirror
from .rollout import Rollout, Samples

if TYPE_CHECKING:
    from .selfplay import SelfPlayMaskablePPO


class Aims(NamedTuple):
    """What a policy is drawn to in N decisions, and by which end of the turn it is judged."""

    chances: Tensor  # float32[N, K]
    tried: Tensor  # int64[N], the best end that the action taken begins

    @classmethod
    def of(cls, judged: Judged, actions: Tensor, rate: float, decay: float) -> Aims:
        """From what the policy made of its decisions (no gradients), and the actions it took, ``int64[N]``."""
        logs = torch.log_softmax(judged.scores, dim=1)
        logits = (1 - decay) * logs + decay * judged.before + rate * judged.worth
        chances = torch.softmax(torch.where(judged.there, logits, -torch.inf), dim=1)
        begun = judged.there & (judged.actions == actions[:, None])
        return cls(chances, torch.where(begun, judged.scores, -torch.inf).argmax(dim=1))

    def packed(self) -> Tensor:
        """Both in one: ``float32[N, K + 1]``."""
        return torch.cat([self.chances, self.tried[:, None].float()], dim=1)

    @classmethod
    def unpacked(cls, packed: Tensor) -> Aims:
        """The inverse of :meth:`packed`."""
        return cls(packed[:, :-1], packed[:, -1].long())


class Losses(NamedTuple):
    """What is made small, and what is logged besides."""

    policy: Tensor
    value: Tensor
    entropy: Tensor
    kl: Tensor  # of the policy from what it is drawn to


def mirror_losses(trunk: AfterstateTrunk, observations: Tensor, aims: Aims, returns: Tensor) -> Losses:
    """Cross-entropy of the policy with its aims, and the squared error of what the ends that were tried are worth.

    Parameters
    ----------
    observations
        With afterstates behind, ``uint8[N, D + SIZE]``; of seats that were to move, so that there are some in each.
    returns
        What came of the ends that were tried, ``float32[N]``.
    """
    seen = Shown.of(observations)
    scores = trunk.score(seen.ends) + judged_before(seen.ends)
    logs = torch.log_softmax(seen.places.spread(scores, NOT_THERE), dim=1)
    cross_entropy = -(aims.chances * logs).sum(dim=1).mean()
    aimed = -torch.special.xlogy(aims.chances, aims.chances).sum(dim=1).mean()
    tried = torch.arange(len(observations)) * WAYS + aims.tried
    worth = trunk.worths(seen.ends[torch.searchsorted(seen.places.at, tried)])
    value = torch.nn.functional.mse_loss(worth, returns)
    entropy = -(logs.exp() * logs).sum(dim=1).mean()
    return Losses(cross_entropy, value, entropy, cross_entropy - aimed)


def follow_mirror(model: SelfPlayMaskablePPO, rollout: Rollout, settings: Mirror) -> None:
    """Draw the policy to what is better by what afterstates are worth, and that to what came of them."""
    advantages = seat_advantages(rollout, model.gamma, model.gae_lambda)
    samples = Samples.of(rollout, advantages)
    assert samples.judged is not None
    samples.aims = Aims.of(Judged.of(samples.judged), samples.actions, settings.rate, settings.decay).packed()
    losses = [_mirror_step(model, batch) for batch in model.batches(samples, model.n_epochs)]
    model.log_means("train", losses)
    model.log_play(rollout, advantages)


def _mirror_step(model: SelfPlayMaskablePPO, batch: Samples) -> dict[str, float]:
    """One step of the optimiser on one minibatch; returns what is logged."""
    assert batch.aims is not None
    losses = mirror_losses(model.policy.afterstates, batch.observations, Aims.unpacked(batch.aims), batch.returns)
    model.step(losses.policy + model.vf_coef * losses.value)
    logged = {
        "policy_loss": losses.policy,
        "value_loss": losses.value,
        "entropy": losses.entropy,
        "mirror_kl": losses.kl,
    }
    return {name: float(value.detach()) for name, value in logged.items()}
