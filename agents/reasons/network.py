"""A network that weighs actions by what a rule-based player makes of them.

Shape letters: **B** games, **K** actions that are shown, **L** those that are there, **F** features of one, **G** of a
game, **A** actions, **H** width of the last hidden layer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import torch
from torch import Tensor, nn

from ..layers import Places, best_by_action, hidden_layers
from ..shown import FULL, NO_ACTION, NOT_THERE
from . import CHOSEN, OF_ACTION, OF_GAME, SIZE, parts
from .scales import WAYS

LEAST_SPREAD = 0.05
"""What counts as the spread of a feature at least."""


class ReasonTrunk(nn.Module):
    """Weighs every action: ``uint8[B, D + SIZE]`` to ``float32[B, 3 K + H]``; the D features may be left out.

    That is their scores (zero for all that are shown, before anything was learned), whether each is the rule-based
    player's choice, and their numbers; and behind it a hidden layer that sees the game alone, for the value.
    """

    mean: Tensor
    spread: Tensor
    _folded: tuple[Tensor, Tensor, Tensor] | None = None

    def __init__(self, widths: Sequence[int]) -> None:
        super().__init__()
        # Of the features of actions and games, as :meth:`settle` finds them.
        self.register_buffer("mean", torch.zeros(OF_ACTION + OF_GAME))
        self.register_buffer("spread", torch.ones(OF_ACTION + OF_GAME))
        self.action = nn.Linear(OF_ACTION, widths[0])
        self.game = nn.Linear(OF_GAME, widths[0], bias=False)
        self.hidden = hidden_layers(widths)
        self.last = nn.Parameter(torch.zeros(widths[-1] + 1))  # the bias behind the weights
        self.whole = hidden_layers([OF_GAME, *widths])
        self.width = 3 * WAYS + widths[-1]

    @property
    def settled(self) -> bool:
        """Whether features count by means and spreads that were found once."""
        return bool(self.mean.any())

    def settle(self, observations: Tensor) -> None:
        """Take the means and spreads of features over ``uint8[B, D + SIZE]``: what is seen from now on counts by them.

        Features that are nearly constant are not blown up.
        """
        self._folded = None
        actions, of_actions, of_games = parts(observations[:, -SIZE:])
        for seen, place in ((of_actions[actions != NO_ACTION], slice(OF_ACTION)), (of_games, slice(OF_ACTION, None))):
            spread, mean = torch.std_mean(seen.float() / FULL, dim=0, correction=0)
            self.mean[place], self.spread[place] = mean, spread.clamp(min=LEAST_SPREAD)

    def forward(self, observations: Tensor) -> Tensor:
        """Weigh what is shown behind the observations."""
        return torch.cat([self.for_policy(observations), self.whole(self._of_games(observations))], dim=1)

    def _of_games(self, observations: Tensor) -> Tensor:
        seen: Tensor = parts(observations[:, -SIZE:])[2].float() / FULL
        return (seen - self.mean[OF_ACTION:]) / self.spread[OF_ACTION:]

    def _for_bytes(self, weights: Tensor, features: slice) -> tuple[Tensor, Tensor]:
        """Weights ``[H, F]`` that take bytes instead of what these count, and the biases that go with them, ``[H]``."""
        for_bytes = weights / (FULL * self.spread[features])
        return for_bytes, -FULL * (for_bytes @ self.mean[features])

    def _fold(self) -> tuple[Tensor, Tensor, Tensor]:
        """The first layer's weights for bytes of actions and of games, and its biases."""
        by_action, bias = self._for_bytes(self.action.weight, slice(OF_ACTION))
        by_game, more = self._for_bytes(self.game.weight, slice(OF_ACTION, None))
        return by_action, by_game, bias + more + self.action.bias

    def fold(self) -> None:
        """Do once what is done for every move otherwise, until weights are loaded, moved, settled or trained.

        Whoever changes them in another way calls ``train()``.
        """
        with torch.no_grad():
            self._folded = self._fold()

    def train(self, mode: bool = True) -> Self:
        """Begin or end training; weights may change."""
        self._folded = None
        return super().train(mode)

    def _apply(self, *args: Any, **kwargs: Any) -> Self:
        self._folded = None
        return super()._apply(*args, **kwargs)  # type: ignore[no-untyped-call, no-any-return]

    def _load_from_state_dict(self, *args: Any, **kwargs: Any) -> None:
        self._folded = None
        super()._load_from_state_dict(*args, **kwargs)

    def for_policy(self, observations: Tensor) -> Tensor:
        """The same without the layer for the value, ``float32[B, 3 K]``: what a move takes."""
        actions, of_actions, of_games = parts(observations[:, -SIZE:])
        places = Places.of(actions)
        folded = None if torch.is_grad_enabled() else self._folded
        by_action, by_game, bias = folded or self._fold()
        games = nn.functional.linear(of_games.float(), by_game, bias)
        hidden = games.index_select(0, places.row).addmm_(places.gather(of_actions), by_action.T).relu_()
        scores = places.spread(self.hidden(hidden) @ self.last[:-1] + self.last[-1], NOT_THERE)
        return torch.cat([scores, of_actions[..., CHOSEN].float() / FULL, actions.float()], dim=1)


def chosen(observations: Tensor, num_actions: int) -> Tensor:
    """What the rule-based player chooses, ``float32[B, A]``: one for its choice."""
    actions, of_actions, _ = parts(observations[:, -SIZE:])
    return best_by_action(actions.long(), of_actions[..., CHOSEN].float() / FULL, num_actions, 0.0)


class ReasonHead(nn.Module):
    """Action logits: the scores, and so much more for what the rule-based player chooses."""

    def __init__(self, num_actions: int, trust: float) -> None:
        super().__init__()
        self.num_actions = num_actions
        self.trust = nn.Parameter(torch.tensor([trust]))

    def forward(self, encoded: Tensor) -> Tensor:
        """Logits, ``float32[B, A]``."""
        actions, scores = self.scored(encoded)
        return best_by_action(actions.long(), scores, self.num_actions, NOT_THERE)

    def scored(self, encoded: Tensor) -> tuple[Tensor, Tensor]:
        """Numbers of the actions that are shown and their logits, each ``float32[B, K]``."""
        scores, choices, actions = encoded[:, : 3 * WAYS].reshape(-1, 3, WAYS).unbind(dim=1)
        return actions, scores + self.trust * choices


class ReasonValue(nn.Module):
    """The value of a position, by what the rule-based player makes of it: ``float32[B, 1]``."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.inner = nn.Linear(width - 3 * WAYS, 1)

    def forward(self, encoded: Tensor) -> Tensor:
        """Values, from what a :class:`ReasonTrunk` gives."""
        values: Tensor = self.inner(encoded[:, 3 * WAYS :])
        return values
