"""Training configurations: one YAML file a game, every field validated."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, PositiveFloat, PositiveInt, ValidationError

from slopes_envs import UnknownName, game_names, make_game


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True)


class Schedule(_Strict):
    """A number that goes evenly from ``start`` to ``end`` in the course of training."""

    start: float = Field(ge=0)
    end: float = Field(ge=0)

    def at(self, remaining: float) -> float:
        """The number when ``remaining`` (1 falling to 0) of the run is left."""
        return self.end + (self.start - self.end) * remaining


class Network(_Strict):
    """The network: widths of the hidden layers, and the planes of the observation it does not see."""

    layers: tuple[PositiveInt, ...] = Field((256, 256), min_length=1)
    left_out: tuple[str, ...] = ()


class Evaluation(_Strict):
    """How the policy is watched during training."""

    every: PositiveInt = Field(1_000_000, description="decisions between evaluations")
    deals: PositiveInt = Field(500, description="deals, each played with the policy in every seat")
    opponents: tuple[str, ...] = Field(("random",), description="agent specs; the last decides which policy is best")


class TrainingConfig(_Strict):
    """A training run, all but its folder."""

    game: str
    rules: dict[str, Any] = Field(default_factory=dict, description="options of the game")
    seed: int = Field(0, ge=0, description="of everything random in the run")
    decisions: PositiveInt = Field(12_000_000, description="length of the run, unless minutes are given")
    minutes: PositiveFloat | None = Field(None, description="length of the run in minutes of training")
    games: PositiveInt = Field(1024, description="games side by side")
    moves: PositiveInt = Field(66, description="moves of every game between two updates")
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
    reward_scale: PositiveFloat = Field(1.0, description="rewards are divided by it")
    evaluation: Evaluation = Evaluation()
    checkpoint_minutes: PositiveFloat = Field(5.0, description="minutes between checkpoints")
    threads: PositiveInt = Field(1, description="threads of PyTorch")


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
        problems = "; ".join(_problem(dict(problem)) for problem in error.errors())
        raise ValueError(f"configuration {path}: {problems}") from None
    if game is not None and config.game != game:
        raise ValueError(f"configuration {path}: is for {config.game}, asked to train {game}")
    made = make_game(config.game, **config.rules)  # an unknown game or option is an error here already
    unknown = [name for name in config.network.left_out if name not in made.observation.planes]
    if unknown:
        raise UnknownName("plane in network.left_out", unknown[0], made.observation.planes)
    return config


def _problem(problem: dict[str, Any]) -> str:
    field = ".".join(str(part) for part in problem["loc"])
    if problem["type"] == "extra_forbidden":
        return str(UnknownName("field", field, TrainingConfig.model_fields))
    return f"{field}: {problem['msg']}, got {problem['input']!r}"


def _override(data: dict[str, Any], text: str) -> None:
    key, equals, value = text.partition("=")
    if not equals or not key:
        raise ValueError(f"--set expected key=value, got {text!r}")
    *outer, last = key.split(".")
    for name in outer:
        data = data.setdefault(name, {})
        if not isinstance(data, dict):
            raise ValueError(f"--set {text!r}: {name} has no inner fields")
    try:
        data[last] = yaml.safe_load(value)
    except yaml.YAMLError as error:
        raise ValueError(f"--set {text!r}: the value is not YAML ({error})") from None


def dump_config(config: TrainingConfig) -> str:
    """The configuration as YAML, every field written out."""
    return yaml.safe_dump(config.model_dump(mode="json"), sort_keys=False, allow_unicode=True)
