"""The network of a learned agent: observation in, action logits and a value out.

Plain PyTorch, so that a trained agent needs nothing of the training extras.

Shape letters: **B** observations, **D** features, **A** actions, **H** width of the last hidden layer.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from typing import Any, Self

import torch
from torch import Tensor, nn

from slopes_envs import Layout, UnknownName

from .advice import ADVISERS, AFTERSTATES, REASONS
from .afterstates import SIZE as AFTERSTATES_SIZE
from .afterstates.network import AfterstateHead, AfterstateTrunk, AfterstateValue
from .layers import hidden_layers
from .reasons import SIZE as REASONS_SIZE
from .reasons.network import ReasonHead, ReasonTrunk, ReasonValue, chosen

TRUST = 3.0
"""By how much the logit of what is advised is larger at first: it is 20 times as likely as another action."""
MASKED = -1e9  # logit of an action that is not legal: its chance is exactly zero in float32


@dataclass(frozen=True)
class SuitShape:
    """Which features and actions belong to which suit, for a network that looks at all suits with the same eyes.

    In most trick games suits are names: what is learned of one holds for every other.  A network that shares its
    weights over them learns that from the rules rather than from many times the games.

    Attributes
    ----------
    cards
        Planes with a bit for every card, suit by suit (jokers may follow).
    marks
        Planes that begin with a bit for every suit, in each of their groups.
    lanes
        Planes with a group for every seat and suit, those of a seat side by side.
    first
        The first of the actions that are cards, suit by suit.
    alike
        Whether the suits are all alike; otherwise (a standing trump) each has a bias of its own.
    count
        Number of suits.
    """

    cards: tuple[str, ...]
    marks: tuple[str, ...] = ()
    lanes: tuple[str, ...] = ()
    first: int = 0
    alike: bool = True
    count: int = 4


@dataclass(frozen=True)
class NetworkShape:
    """What a network is made of; kept as JSON beside its weights.

    Attributes
    ----------
    layers
        Widths of the hidden layers; with ``suits`` two of them, of a suit and of the whole.
    left_out
        Planes of the observation that the network does not see (such as the scores of a match, for a policy that was
        trained on single hands).
    suits
        What is shared between suits; None for a plain network.
    advice
        What the network sees behind the observation (:mod:`.advice`); None for nothing.  A network that sees
        afterstates or reasons looks at nothing else, with ``layers`` for each of them.
    sharpness
        Logits are this many times what the last layer gives: a large one where that is what actions are worth, which
        differs by little.
    """

    layers: tuple[int, ...]
    left_out: tuple[str, ...] = ()
    suits: SuitShape | None = None
    advice: str | None = None
    sharpness: float = 1.0

    def __post_init__(self) -> None:
        if not 0 < self.sharpness < float("inf"):
            raise ValueError(f"network: sharpness expected a number above 0, got {self.sharpness}")
        if self.advice is not None and self.advice not in ADVISERS:
            raise UnknownName("adviser of a network", str(self.advice), ADVISERS)
        if self.advice == AFTERSTATES and (self.suits is not None or self.sharpness != 1):
            raise ValueError("network: a network that sees afterstates has neither suits nor sharpness")
        if self.advice == REASONS and self.suits is not None:
            raise ValueError("network: a network that sees reasons has no suits")
        if self.suits is not None and len(self.layers) != 2:
            raise ValueError(f"network: with suits expected two layers, of a suit and of the whole, got {self.layers}")

    def as_json(self) -> dict[str, Any]:
        """Plain lists, numbers and texts."""
        data = asdict(self)
        for option in ("suits", "advice", "sharpness"):
            if data[option] == getattr(type(self), option):  # its default
                del data[option]
        plain: dict[str, Any] = json.loads(json.dumps(data))
        return plain

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
        suits, sharpness = data.get("suits"), data.get("sharpness", 1.0)
        if type(sharpness) not in (int, float):
            raise ValueError(f"network: sharpness expected a number above 0, got {str(sharpness)[:200]}")
        shared = None if suits is None else _suits_from_json(suits)
        return cls(tuple(layers), tuple(left_out), shared, data.get("advice"), float(sharpness))

    def inputs(self, layout: Layout, num_actions: int) -> int:
        """Number of features that the network is given: D, and those of the advice."""
        sizes = {None: 0, AFTERSTATES: AFTERSTATES_SIZE, REASONS: REASONS_SIZE}
        return layout.size + sizes.get(self.advice, num_actions)

    def tensors(self, layout: Layout, num_actions: int) -> dict[str, tuple[int, ...]]:
        """Names and shapes of the tensors of a :class:`PolicyNetwork`, in the order of its state."""
        with torch.device("meta"):  # nothing is allocated, whatever the widths
            network = PolicyNetwork(self, layout, num_actions)
        return {name: tuple(tensor.shape) for name, tensor in network.state_dict().items()}

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


def _suits_from_json(data: Any) -> SuitShape:
    known = {spec.name: spec for spec in fields(SuitShape)}
    try:
        if data.keys() - known:
            raise TypeError
        values: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in data.items()
        }
        suits = SuitShape(**values)
    except (AttributeError, TypeError):
        raise ValueError(f"network: suits expected some of {sorted(known)}, got {str(data)[:200]}") from None
    texts = (*suits.cards, *suits.marks, *suits.lanes)
    if not (all(isinstance(text, str) for text in texts) and type(suits.first) is int and type(suits.count) is int):
        raise ValueError(f"network: suits expected names of planes and whole numbers, got {str(data)[:200]}")
    return suits


class Trunk(nn.Module):
    """The hidden layers of a plain network, shared by policy and value: ``uint8[B, D]`` to ``float32[B, H]``."""

    seen: Tensor

    def __init__(self, shape: NetworkShape, layout: Layout, num_actions: int) -> None:
        super().__init__()
        inputs = shape.inputs(layout, num_actions)
        seen = [*shape.seen(layout), *range(layout.size, inputs)]
        self.register_buffer("seen", torch.tensor(seen, dtype=torch.int64), persistent=False)
        self.sees_all = len(seen) == inputs
        self.layers = hidden_layers([len(seen), *shape.layers])
        self.width = shape.layers[-1]

    def forward(self, observations: Tensor) -> Tensor:
        """Encode observations."""
        if not self.sees_all:
            observations = observations.index_select(1, self.seen)
        encoded: Tensor = self.layers(observations.float())
        return encoded


def _by_suit(shape: NetworkShape, suits: SuitShape, layout: Layout) -> tuple[list[list[int]], list[int], int]:
    """Features of every suit, in the same order for each; those of none; and the number of ranks.

    Raises
    ------
    ValueError
        If a plane that is named is not in the layout, or has no bit for every suit.
    """
    named = {*suits.cards, *suits.marks, *suits.lanes}
    unknown = sorted(named - set(layout.planes))
    small = [name for name in (*suits.cards, *suits.marks) if name not in unknown]
    if unknown or not suits.cards or any(layout.planes[name].bits < suits.count for name in small):
        raise ValueError(f"network: suits expected planes of {list(layout.planes)}, got {unknown or sorted(named)}")
    ranks = {layout.planes[name].bits // suits.count for name in suits.cards}
    if len(ranks) != 1 or suits.count < 1:
        raise ValueError(f"network: suits expected card planes of one deck, got {list(suits.cards)}")
    (size,) = ranks
    own: list[list[int]] = [[] for _ in range(suits.count)]
    common: list[int] = []
    shape.seen(layout)  # refuses planes to leave out that are not there
    for plane in layout:
        if plane.name in shape.left_out:
            continue
        for lane in range(plane.lanes):
            at = layout.slices[plane.name].start + lane * plane.bits
            if plane.name in suits.lanes:
                own[lane % suits.count] += range(at, at + plane.bits)
                continue
            width = size if plane.name in suits.cards else 1 if plane.name in suits.marks else 0
            for suit in range(suits.count):
                own[suit] += range(at + suit * width, at + (suit + 1) * width)
            common += range(at + suits.count * width, at + plane.bits)
    return own, common, size


class SuitTrunk(nn.Module):
    """Hidden layers that every suit shares: ``uint8[B, D]`` to ``float32[B, whole + suits * suit]``.

    Each suit is encoded by the same weights, beside what belongs to none; mean and maximum over the suits and the rest
    make the *whole*; and each suit is looked at once more in the light of it.
    """

    own: Tensor
    common: Tensor

    def __init__(self, shape: NetworkShape, suits: SuitShape, layout: Layout, num_actions: int) -> None:
        super().__init__()
        own, common, ranks = _by_suit(shape, suits, layout)
        advised = range(layout.size, shape.inputs(layout, num_actions))
        cards = advised[suits.first : suits.first + suits.count * ranks]
        for suit in range(suits.count):
            own[suit] += cards[suit * ranks : (suit + 1) * ranks]
        common += [feature for feature in advised if feature not in cards]
        self.register_buffer("own", torch.tensor(own, dtype=torch.int64).reshape(-1), persistent=False)
        self.register_buffer("common", torch.tensor(common, dtype=torch.int64), persistent=False)
        self.count = suits.count
        suit, whole = shape.layers
        self.rest = nn.Linear(len(common), whole)
        self.first = nn.Linear(len(own[0]), suit)
        self.first_rest = nn.Linear(whole, suit, bias=False)
        self.apart = None if suits.alike else nn.Parameter(torch.zeros(suits.count, suit))
        self.whole = nn.Linear(2 * suit + whole, whole)
        self.second = nn.Linear(suit, suit)
        self.second_whole = nn.Linear(whole, suit, bias=False)
        self.width = whole + suits.count * suit

    def forward(self, observations: Tensor) -> Tensor:
        """Encode observations: the whole, then suit by suit."""
        batch = len(observations)
        own = observations.index_select(1, self.own).view(batch, self.count, -1).float()
        rest = torch.relu(self.rest(observations.index_select(1, self.common).float()))
        suits = self.first(own) + self.first_rest(rest)[:, None]
        if self.apart is not None:
            suits = suits + self.apart
        suits = torch.relu(suits)
        whole = torch.relu(self.whole(torch.cat([suits.mean(dim=1), suits.amax(dim=1), rest], dim=1)))
        suits = suits + torch.relu(self.second(suits) + self.second_whole(whole)[:, None])
        return torch.cat([whole, suits.reshape(batch, -1)], dim=1)


class SuitHead(nn.Module):
    """Action logits from what a :class:`SuitTrunk` gives: ``float32[B, A]``."""

    def __init__(self, shape: NetworkShape, suits: SuitShape, layout: Layout, num_actions: int) -> None:
        super().__init__()
        _, _, ranks = _by_suit(shape, suits, layout)
        cards = suits.count * ranks
        if not 0 <= suits.first <= num_actions - cards:
            raise ValueError(f"network: suits.first expected 0 to {num_actions - cards}, got {suits.first}")
        self.suit, self.whole = shape.layers
        self.before = suits.first
        self.cards = nn.Linear(self.suit, ranks)
        self.others = nn.Linear(self.whole, num_actions - cards) if num_actions > cards else None

    def forward(self, encoded: Tensor) -> Tensor:
        """Logits."""
        batch = len(encoded)
        cards: Tensor = self.cards(encoded[:, self.whole :].reshape(batch, -1, self.suit)).reshape(batch, -1)
        if self.others is None:
            return cards
        others = self.others(encoded[:, : self.whole])
        return torch.cat([others[:, : self.before], cards, others[:, self.before :]], dim=1)


class AdvisedTrunk(nn.Module):
    """Hidden layers with the advice itself behind them: ``uint8[B, D + A]`` to ``float32[B, H + A]``."""

    def __init__(self, trunk: Trunk | SuitTrunk, num_actions: int) -> None:
        super().__init__()
        self.inner = trunk
        self.num_actions = num_actions
        self.width = trunk.width + num_actions

    def forward(self, observations: Tensor) -> Tensor:
        """Encode observations and advice."""
        return torch.cat([self.inner(observations), observations[:, -self.num_actions :].float()], dim=1)


class AdvisedHead(nn.Module):
    """Action logits from what an :class:`AdvisedTrunk` gives: what is advised begins with so much more."""

    def __init__(self, head: nn.Linear | SuitHead, num_actions: int, trust: float) -> None:
        super().__init__()
        self.inner = head
        self.num_actions = num_actions
        self.trust = nn.Parameter(torch.tensor([trust]))

    def forward(self, encoded: Tensor) -> Tensor:
        """Logits."""
        logits: Tensor = self.inner(encoded[:, : -self.num_actions])
        return logits + self.trust * encoded[:, -self.num_actions :]


class SharpHead(nn.Module):
    """Action logits that are many times what a head gives."""

    def __init__(self, head: nn.Linear | SuitHead | AdvisedHead | ReasonHead, sharpness: float) -> None:
        super().__init__()
        self.inner = head
        self.sharpness = sharpness

    def forward(self, encoded: Tensor) -> Tensor:
        """Logits."""
        logits: Tensor = self.sharpness * self.inner(encoded)
        return logits


AnyTrunk = Trunk | SuitTrunk | AdvisedTrunk | AfterstateTrunk | ReasonTrunk
AnyHead = nn.Linear | SuitHead | AdvisedHead | AfterstateHead | ReasonHead | SharpHead


def make_trunk(shape: NetworkShape, layout: Layout, num_actions: int) -> AnyTrunk:
    """The hidden layers of a network."""
    if shape.advice == AFTERSTATES:
        return AfterstateTrunk(shape.layers)
    if shape.advice == REASONS:
        return ReasonTrunk(shape.layers)
    if shape.suits is None:
        trunk: Trunk | SuitTrunk = Trunk(shape, layout, num_actions)
    else:
        trunk = SuitTrunk(shape, shape.suits, layout, num_actions)
    return trunk if shape.advice is None else AdvisedTrunk(trunk, num_actions)


def make_action_head(shape: NetworkShape, layout: Layout, width: int, num_actions: int) -> AnyHead:
    """What turns the last hidden layer, ``width`` wide, into action logits."""
    if shape.advice == AFTERSTATES:
        return AfterstateHead(num_actions)
    head = _head(shape, layout, width, num_actions)
    return head if shape.sharpness == 1 else SharpHead(head, shape.sharpness)


def _head(
    shape: NetworkShape, layout: Layout, width: int, num_actions: int
) -> nn.Linear | SuitHead | AdvisedHead | ReasonHead:
    trust = TRUST / shape.sharpness
    if shape.advice == REASONS:
        return ReasonHead(num_actions, trust)
    inner = width if shape.advice is None else width - num_actions
    if shape.suits is None:
        plain: nn.Linear | SuitHead = nn.Linear(inner, num_actions)
    else:
        plain = SuitHead(shape, shape.suits, layout, num_actions)
    return plain if shape.advice is None else AdvisedHead(plain, num_actions, trust)


def make_value_head(shape: NetworkShape, width: int) -> nn.Linear | AfterstateValue | ReasonValue:
    """What turns the last hidden layer, ``width`` wide, into a value."""
    if shape.advice == REASONS:
        return ReasonValue(width)
    return AfterstateValue() if shape.advice == AFTERSTATES else nn.Linear(width, 1)


def advised(shape: NetworkShape, observations: Tensor, num_actions: int) -> Tensor:
    """What the player chooses whose advice is behind observations, ``float32[B, A]``: one for its choice.

    Raises
    ------
    ValueError
        For a network that sees nobody's choice.
    """
    if shape.advice in (None, AFTERSTATES):
        raise ValueError(f"network: expected advice with a choice in it, got {shape.advice}")
    if shape.advice == REASONS:
        return chosen(observations, num_actions)
    return observations[:, -num_actions:].float()


def masked_log_probabilities(logits: Tensor, legal: Tensor) -> Tensor:
    """Log-probabilities ``float32[B, A]`` over the legal actions (``bool[B, A]``)."""
    return torch.log_softmax(masked(logits, legal), dim=1)


def masked(logits: Tensor, legal: Tensor) -> Tensor:
    """Logits ``float32[B, A]`` with :data:`MASKED` in place of those of actions that are not legal."""
    return torch.where(legal, logits, MASKED)


class PolicyNetwork(nn.Module):
    """Trunk with a policy head and a value head.

    Attributes
    ----------
    shape
        What it is made of.
    unit
        Points of the game that a value of one stands for.
    """

    shape: NetworkShape
    unit: float = 1.0

    def __init__(self, shape: NetworkShape, layout: Layout, num_actions: int) -> None:
        super().__init__()
        self.shape = shape
        self.trunk = make_trunk(shape, layout, num_actions)
        self.action_net = make_action_head(shape, layout, self.trunk.width, num_actions)
        self.value_net = make_value_head(shape, self.trunk.width)

    def forward(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        """Logits ``float32[B, A]`` and values ``float32[B]``."""
        hidden = self.trunk(observations)
        return self.action_net(hidden), self.value_net(hidden).squeeze(1)

    def logits(self, observations: Tensor) -> Tensor:
        """Logits alone, ``float32[B, A]``: what a move takes."""
        logits: Tensor = self.action_net(self._for_policy(observations))
        return logits

    def _for_policy(self, observations: Tensor) -> Tensor:
        trunk = self.trunk
        hidden: Tensor
        if isinstance(trunk, AfterstateTrunk | ReasonTrunk):
            hidden = trunk.for_policy(observations)
        else:
            hidden = trunk(observations)
        return hidden

    def likeliest(self, observations: Tensor, legal: Tensor) -> Tensor:
        """The likeliest of the legal actions (``bool[B, A]``) of each game, which has one at least: ``int64[B]``.

        Of equal ones it is the first, or the one that is shown first.
        """
        head = self.action_net.inner if isinstance(self.action_net, SharpHead) else self.action_net
        if not isinstance(head, AfterstateHead | ReasonHead):
            return masked(self.logits(observations), legal).argmax(dim=1)
        # What is shown is legal, and need not be spread over all actions.
        actions, scores = head.scored(self._for_policy(observations))
        return actions.gather(1, scores.argmax(dim=1, keepdim=True)).squeeze(1).long()

    def ready(self) -> Self:
        """Prepare it to play, with weights that change no more."""
        self.eval()
        if isinstance(self.trunk, ReasonTrunk):
            self.trunk.fold()
        return self
