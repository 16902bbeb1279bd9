"""Training configurations: one YAML file a game, every field validated."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, Self, get_args

import yaml
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PositiveFloat,
    PositiveInt,
    ValidationError,
    model_validator,
)

from slopes_agents.advice import AFTERSTATES, REASONS, AdviserName
from slopes_agents.network import NetworkShape, SuitShape
from slopes_envs import Game, UnknownName, game_names, make_game


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True)


class Schedule(_Strict):
    """A number that goes evenly from ``start`` to ``end`` in the course of training."""

    start: float = Field(ge=0)
    end: float = Field(ge=0)

    def at(self, remaining: float) -> float:
        """The number when ``remaining`` (1 falling to 0) of the run is left."""
        return self.end + (self.start - self.end) * remaining


class Suits(_Strict):
    """Which planes and actions belong to suits; see :class:`slopes_agents.network.SuitShape`."""

    cards: tuple[str, ...] = Field(min_length=1, description="planes with a bit for every card, suit by suit")
    marks: tuple[str, ...] = Field((), description="planes that begin with a bit for every suit")
    lanes: tuple[str, ...] = Field((), description="planes with a group for every seat and suit")
    first: int = Field(0, ge=0, description="the first action that is a card")
    alike: bool = Field(True, description="whether the suits are all alike; false where one is always trump")


class Network(_Strict):
    """The network: widths of the hidden layers, the planes of the observation it does not see, and suits."""

    layers: tuple[PositiveInt, ...] = Field((256, 256), min_length=1)
    left_out: tuple[str, ...] = ()
    suits: Suits | None = Field(None, description="what is shared over the suits; layers: one of a suit, one of all")
    advice: AdviserName | None = Field(
        None,
        description="whose choice the network sees; or nothing but afterstates: how the turn can end (Slopes); "
        "or reasons: what the rule-based player makes of every action (all games but Slopes)",
    )
    sharpness: PositiveFloat = Field(1.0, description="logits are so many times what the last layer gives")

    @model_validator(mode="after")
    def _layers_fit(self) -> Network:
        if self.advice == AFTERSTATES and (self.suits is not None or self.sharpness != 1):
            raise ValueError("a network that sees afterstates has neither suits nor sharpness")
        if self.advice == REASONS and self.suits is not None:
            raise ValueError("a network that sees reasons has no suits")
        if self.suits is not None and len(self.layers) != 2:
            raise ValueError(
                f"layers: with suits expected two, of a suit and of the whole, got {list(self.layers)} "
                "(suits: null makes it a plain network)"
            )
        return self

    def shape(self) -> NetworkShape:
        """The same for the network."""
        suits = None if self.suits is None else SuitShape(**self.suits.model_dump())
        return NetworkShape(self.layers, self.left_out, suits, self.advice, self.sharpness)


class Evaluation(_Strict):
    """How the policy is watched during training."""

    every: PositiveInt = Field(1_000_000, description="decisions between evaluations")
    deals: PositiveInt = Field(500, description="deals, each played with the policy in every seat")
    opponents: tuple[str, ...] = Field(("random",), description="agent specs; the last decides which policy is best")


PAST = "past"
"""In place of an agent's spec: past selves of the policy."""


SHIPPED = "ppo"
"""In place of a file to begin with: the weights that ship with the game."""


class Variant(_Strict):
    """One of several sets of options that are played side by side."""

    rules: dict[str, Any] = Field(default_factory=dict, description="options, over those of the run")
    share: PositiveFloat = Field(1.0, description="of the games, against those of the other variants")


class Opponents(_Strict):
    """Games in which one side learns and the others are played by an agent."""

    agent: str = Field(description="an agent's spec, or 'past'")
    share: float = Field(gt=0, le=1, description="of the games of every variant")
    partner: bool = Field(False, description="the agent plays the learner's partners, too")
    every: PositiveInt = Field(1_000_000, description="'past' only: decisions between two past selves")
    keep: PositiveInt = Field(8, description="'past' only: how many past selves are kept, the latest")

    @model_validator(mode="after")
    def _only_past_selves_are_kept(self) -> Opponents:
        given = self.model_fields_set & {"every", "keep"}
        defaults = {name: type(self).model_fields[name].default for name in given}
        if self.agent != PAST and any(getattr(self, name) != default for name, default in defaults.items()):
            raise ValueError(f"every and keep are for agent {PAST!r} only")
        return self


class _Phase(_Strict):
    """A part of the run before self-play, and how it is learned from."""

    agent: str = Field(description="an agent's spec")
    share: float | None = Field(None, gt=0, le=1, description="how much of the run's length it takes")
    decisions: PositiveInt | None = Field(
        None, description="or how many decisions it takes; they count among the run's"
    )
    epochs: PositiveInt = Field(1, description="passes over every rollout of them")
    learning_rate: PositiveFloat = 1e-3
    learning_rate_end: PositiveFloat | None = Field(None, description="what it falls to, evenly; by default it stays")

    def learning_rate_at(self, done: float) -> float:
        """The learning rate when so much of the phase is over, 0 to 1."""
        end = self.learning_rate if self.learning_rate_end is None else self.learning_rate_end
        return self.learning_rate + (end - self.learning_rate) * done

    @model_validator(mode="after")
    def _length_is_given_once(self) -> Self:
        if (self.share is None) == (self.decisions is None):
            raise ValueError("expected either share or decisions")
        return self


class WarmStart(_Phase):
    """At first, choices of an agent are copied, and the value head learns what they bring."""

    smoothing: float = Field(
        0.05, ge=0, lt=1, description="part of the chances to copy that is spread evenly over the legal actions"
    )


class LookAhead(_Phase):
    """After the warm start, all actions of a decision are compared: an agent plays the same hand on from each."""

    part: float = Field(0.25, gt=0, le=1, description="of the decisions with a choice that are looked at")
    learn: Literal["choice", "worth"] = Field(
        "choice", description="a choice that brings much, or what each action is worth, which the logits then tell"
    )
    entropy: float = Field(0.02, ge=0, description="'choice': bonus for entropy, in units of the rewards after scaling")
    doubt: float = Field(
        0.0, ge=0, description="'worth': by how much, in the same units, an action must be better than the advice"
    )

    @model_validator(mode="after")
    def _fits_what_is_learned(self) -> Self:
        other = {"choice": "doubt", "worth": "entropy"}[self.learn]
        if getattr(self, other) != type(self).model_fields[other].default:
            raise ValueError(f"{other} is not for learn: {self.learn}")
        return self


class Mirror(_Strict):
    """Self-play improves the policy by mirror descent on what afterstates are worth, instead of clipped steps.

    After every rollout the policy is drawn towards ``policy ** (1 - decay) * rules ** decay * exp(rate * worth)`` over
    the ends of each turn, and what they are worth towards what came of them (Abdolmaleki et al. 2018; Tomar et al.
    2020); ``rules`` is the policy before it had learned anything.
    """

    rate: PositiveFloat = Field(40.0, description="how much what an end is worth adds to its logit")
    decay: float = Field(0.1, ge=0, lt=1, description="part of the way back to the rules")


class Magnet(_Strict):
    """The policy is drawn towards a copy of itself that follows it slowly (magnetic mirror descent)."""

    weight: PositiveFloat = Field(description="of the divergence from the copy in the loss")
    tau: float = Field(0.05, gt=0, le=1, description="part of the way to the policy that the copy goes in an update")


class Stop(_Strict):
    """When a run ends before its time."""

    patience: PositiveInt = Field(description="evaluations without a new best result")


class TrainingConfig(_Strict):
    """A training run, all but its folder."""

    game: str
    rules: dict[str, Any] = Field(default_factory=dict, description="options of the game")
    variants: tuple[Variant, ...] = Field((), description="several sets of options side by side, for one network")
    seed: int = Field(0, ge=0, description="of everything random in the run")
    decisions: PositiveInt = Field(12_000_000, description="length of the run, unless minutes are given")
    minutes: PositiveFloat | None = Field(None, description="length of the run in minutes of training")
    games: PositiveInt = Field(1024, description="games side by side")
    moves: PositiveInt = Field(66, description="moves of every game between two updates")
    opponents: tuple[Opponents, ...] = Field((), description="in the other games every seat learns")
    start: str | None = Field(
        None,
        description="what the network begins with: a checkpoint, the folder of a run or a file of weights; "
        "or ppo: the weights that ship",
    )
    warm_start: WarmStart | None = None
    look_ahead: LookAhead | None = None
    magnet: Magnet | None = None
    mirror: Mirror | None = None
    critic: Literal["own", "all"] = Field("own", description="'all': a value network apart that sees all hands")
    network: Network = Network()
    learning_rate: Schedule = Schedule(start=1e-3, end=1e-5)
    entropy: Schedule = Schedule(start=0.02, end=0.001)
    epochs: PositiveInt = 2
    minibatch: PositiveInt = 1024
    gamma: float = Field(1.0, gt=0, le=1)
    gae_lambda: float = Field(0.95, ge=0, le=1)
    clip: PositiveFloat = 0.2
    value_weight: PositiveFloat = 0.5
    max_grad_norm: PositiveFloat = 0.5
    reward: Literal["score", "difference"] = Field("score", description="own score, or less the mean of the others'")
    rivalry: float = Field(1.0, gt=0, le=1, description="how much of the others' mean a difference takes off")
    reward_scale: PositiveFloat = Field(1.0, description="rewards are divided by it")
    evaluation: Evaluation = Evaluation()
    stop: Stop | None = None
    checkpoint_minutes: PositiveFloat = Field(5.0, description="minutes between checkpoints")
    threads: PositiveInt = Field(1, description="threads of PyTorch")

    @model_validator(mode="after")
    def _fits_together(self) -> TrainingConfig:
        pools = {(entry.every, entry.keep) for entry in self.opponents if entry.agent == PAST}
        if len(pools) > 1:
            raise ValueError("opponents: there is one pool of past selves, so all give the same every and keep")
        self._check_phases()
        if self.mirror is not None and (self.network.advice != AFTERSTATES or self.critic != "own" or self.magnet):
            raise ValueError("mirror is for network.advice: afterstates, without magnet and with critic: own")
        return self

    def _check_phases(self) -> None:
        phases = {"warm_start": self.warm_start, "look_ahead": self.look_ahead}
        given = {name: phase for name, phase in phases.items() if phase is not None}
        if len({phase.share is None for phase in given.values()}) > 1:
            raise ValueError("warm_start and look_ahead: expected both in share or both in decisions")
        if sum(phase.share or 0.0 for phase in given.values()) > 1:
            raise ValueError("warm_start.share and look_ahead.share: expected at most 1 together")
        taken = sum(phase.decisions or 0 for phase in given.values())
        if self.minutes is None and taken > self.decisions:
            names = " and ".join(f"{name}.decisions" for name in given)
            raise ValueError(
                f"{names}: expected at most the {self.decisions} of the run, among which they count, got {taken}"
            )
        if self.look_ahead is not None and self.reward != "difference":
            raise ValueError(
                f"look_ahead compares by what is gained on the others: expected reward: difference, got {self.reward}"
            )
        if self.rivalry != 1 and (self.reward != "difference" or self.look_ahead is not None):
            raise ValueError("rivalry is for reward: difference, without a look_ahead, which compares by all of it")
        if self.look_ahead is not None and self.look_ahead.doubt and self.network.advice in (None, AFTERSTATES):
            raise ValueError("look_ahead.doubt is about departing from a choice: expected one as network.advice")

    @property
    def past(self) -> tuple[int, int] | None:
        """``every`` and ``keep`` of past selves, if there are any among the opponents."""
        return next(((entry.every, entry.keep) for entry in self.opponents if entry.agent == PAST), None)

    def made_games(self) -> list[Game[Any, Any]]:
        """The game of every variant, or the one game."""
        variants = self.variants or (Variant(),)
        return [make_game(self.game, **self.rules | variant.rules) for variant in variants]

    def labels(self) -> list[str]:
        """What tells the variants apart, in words; empty for an only one."""
        if len(self.variants) < 2:
            return [""]
        return [
            ",".join(f"{key}={value}" for key, value in variant.rules.items()) or "plain" for variant in self.variants
        ]


def default_config_path(game: str) -> Path:
    """The configuration that ships for a game.

    Raises
    ------
    ValueError
        If there is none.
    """
    if game not in game_names():
        raise UnknownName("game", game, game_names())
    path = Path(str(files(__package__) / "configs" / f"{game}.yaml"))
    if not path.exists():
        raise ValueError(f"there is no training configuration for {game}; give one with --config")
    return path


def load_config(path: Path, overrides: list[str] | None = None, game: str | None = None) -> TrainingConfig:
    """Read a configuration and change some of its fields.

    Parameters
    ----------
    path
        A YAML file.
    overrides
        ``key=value`` texts; keys of inner fields are dotted (``network.layers=[128,128]``), values are YAML.
    game
        The game it must be for, if given.

    Raises
    ------
    ValueError
        Naming the file or override, the field, what was expected and what came.
    """
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ValueError(f"configuration {path}: there is no such file") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ValueError(f"configuration {path}: not YAML ({error})") from None
    if not isinstance(data, dict):
        raise ValueError(f"configuration {path}: expected fields with values, got {data!r}")
    for override in overrides or []:
        _override(data, override)
    try:
        config = TrainingConfig.model_validate(data)
    except ValidationError as error:
        raise ValueError(f"configuration {path}: {problems(error)}") from None
    if game is not None and config.game != game:
        raise ValueError(f"configuration {path}: is for {config.game}, asked to train {game}")
    for made in config.made_games():  # an unknown game or option is an error here already
        unknown = [name for name in config.network.left_out if name not in made.observation.planes]
        if unknown:
            raise UnknownName("plane in network.left_out", unknown[0], made.observation.planes)
    return config


def problems(error: ValidationError) -> str:
    """What is wrong with a configuration, in words."""
    return "; ".join(_problem(dict(problem)) for problem in error.errors())


def _problem(problem: dict[str, Any]) -> str:
    *outer, last = problem["loc"] or ("",)
    field = ".".join(map(str, problem["loc"]))
    if problem["type"] == "extra_forbidden":
        inside = f" of {'.'.join(map(str, outer))}" if outer else ""
        return str(UnknownName(f"field{inside}", str(last), _fields_at(outer)))
    if problem["type"] == "value_error":  # from a validator above, which says it all
        return ": ".join(filter(None, [field, problem["msg"].removeprefix("Value error, ")]))
    return f"{field}: {problem['msg']}, got {problem['input']!r}"


def _fields_at(path: Sequence[Any]) -> list[str]:
    """Names of the fields of an inner part of a configuration."""
    model: Any = TrainingConfig
    for part in path:
        if part in model.model_fields:
            annotation = model.model_fields[part].annotation
            model = next(kind for kind in (annotation, *get_args(annotation)) if hasattr(kind, "model_fields"))
    return list(model.model_fields)


def _override(data: dict[str, Any], text: str) -> None:
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise ValueError(f"--set expected key=value, got {text!r}")
    *outer, last = key.split(".")
    for name in outer:
        if data.get(name) is None:  # not there, or there as an option that is off
            data[name] = {}
        data = data[name]
        if not isinstance(data, dict):
            raise ValueError(f"--set {text!r}: {name} has no inner fields")
    try:
        data[last] = yaml.safe_load(value)
    except yaml.YAMLError as error:
        raise ValueError(f"--set {text!r}: the value is not YAML ({error})") from None


def dump_config(config: TrainingConfig) -> str:
    """The configuration as YAML, every field written out."""
    return yaml.safe_dump(config.model_dump(mode="json"), sort_keys=False, allow_unicode=True)
