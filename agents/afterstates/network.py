"""A network that judges afterstates: what each is worth, and how gladly the policy goes for it.

Shape letters: **B** games, **K** ends of the turn that are shown, **L** those that are there, **F** features of one,
**A** actions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from ..layers import Places, best_by_action, hidden_layers
from ..shown import FULL, NO_ACTION, NOT_THERE
from . import BEHIND, BEHIND_BY, FEATURES, JUDGED, LOSES, SIZE, SURE, WAYS, WINS


class Judged(NamedTuple):
    """What a network makes of the ends of B turns."""

    worth: Tensor  # float32[B, K], from -1 to 1; 0 where there are fewer ends
    scores: Tensor  # float32[B, K], logits of the policy
    before: Tensor  # float32[B, K], what they were before anything was learned
    actions: Tensor  # int64[B, K], what begins them; NO_ACTION where there are fewer
    there: Tensor  # bool[B, K]

    @classmethod
    def of(cls, encoded: Tensor) -> Judged:
        """From what the trunk gives."""
        worth, scores, before, actions = encoded.reshape(-1, 4, WAYS).unbind(dim=1)
        return cls(worth, scores, before, actions.long(), actions != NO_ACTION)


class _Layers(nn.Module):
    """The same layers for every end: ``float32[…, F]`` to ``float32[…]``, all zeros at first."""

    def __init__(self, widths: Sequence[int]) -> None:
        super().__init__()
        self.hidden = hidden_layers([FEATURES, *widths])
        self.last = nn.Parameter(torch.zeros(widths[-1] + 1))  # the bias behind the weights

    def forward(self, ends: Tensor) -> Tensor:
        """Judge."""
        hidden: Tensor = self.hidden(ends)
        return hidden @ self.last[:-1] + self.last[-1]


class AfterstateTrunk(nn.Module):
    """Judges every end of the turn: ``uint8[B, D + SIZE]`` to ``float32[B, 4 K]``, read by :class:`Judged`.

    It looks at nothing but the advice; the D features before it may be left out.

    Worth and score have layers of their own, of the same widths.  A score is added to the judgement of the rule-based
    player.
    """

    width = 4 * WAYS

    def __init__(self, widths: Sequence[int]) -> None:
        super().__init__()
        self.worth = _Layers(widths)
        self.score = _Layers(widths)

    def forward(self, observations: Tensor) -> Tensor:
        """Judge what is shown behind the observations."""
        seen = Shown.of(observations)
        return self._encoded(seen, seen.places.spread(self.worths(seen.ends), 0.0))

    def for_policy(self, observations: Tensor) -> Tensor:
        """The same without worths, which are zero then: what a move takes."""
        seen = Shown.of(observations)
        return self._encoded(seen, torch.zeros(seen.places.actions.shape))

    def _encoded(self, seen: Shown, worths: Tensor) -> Tensor:
        before = judged_before(seen.ends)
        scores = seen.places.spread(self.score(seen.ends) + before, NOT_THERE)
        return torch.cat([worths, scores, seen.places.spread(before, NOT_THERE), seen.places.actions.float()], dim=1)

    def worths(self, ends: Tensor) -> Tensor:
        """What ends are worth, ``float32[…]``, by their features ``float32[…, F]``."""
        sure = _sure(ends)
        return torch.where(sure == 0, torch.tanh(self.worth(ends)), sure)


class Shown(NamedTuple):
    """The ends behind B observations."""

    places: Places  # with what begins them
    ends: Tensor  # float32[L, F], features of those that are there

    @classmethod
    def of(cls, observations: Tensor) -> Shown:
        """What stands behind observations, or alone: ``uint8[B, D + SIZE]``."""
        behind = observations[:, -SIZE:]
        places = Places.of(behind[:, :WAYS])
        return cls(places, places.gather(behind[:, WAYS:].reshape(-1, WAYS, FEATURES)).div_(FULL))


def judged_before(ends: Tensor) -> Tensor:
    """Scores by the rule-based player's judgement, ``float32[L]``: wins before all, and losses after all."""
    return SURE * _sure(ends) - JUDGED * BEHIND * ends[..., BEHIND_BY]


def _sure(ends: Tensor) -> Tensor:
    """1 for wins, -1 for losses, 0 for all other ends."""
    return ends[..., WINS] - ends[..., LOSES]


class AfterstateHead(nn.Module):
    """Action logits: the score of the best end of the turn that an action begins."""

    def __init__(self, num_actions: int) -> None:
        super().__init__()
        self.num_actions = num_actions

    def forward(self, encoded: Tensor) -> Tensor:
        """Logits, ``float32[B, A]``."""
        return best_by_action(*self.scored(encoded), self.num_actions, NOT_THERE)

    def scored(self, encoded: Tensor) -> tuple[Tensor, Tensor]:
        """Numbers of the actions that begin the ends, ``int64[B, K]``, and their scores, ``float32[B, K]``."""
        judged = Judged.of(encoded)
        return judged.actions, judged.scores


class AfterstateValue(nn.Module):
    """The value of a position: what its ends are worth, as often as the policy goes for them; 0 if there are none."""

    def forward(self, encoded: Tensor) -> Tensor:
        """Values, ``float32[B, 1]``."""
        judged = Judged.of(encoded)
        chances = torch.softmax(judged.scores, dim=1)
        return (chances * judged.worth).sum(dim=1, keepdim=True)
