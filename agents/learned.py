"""Agents that were trained: a network read from a file.

Two kinds of file are read here, neither of which can run code:

- a *checkpoint*, the zip file that training writes, of which two members count: ``slopes.json`` (the header: game,
  rules, network) and ``policy.pth`` (tensors, loaded with ``weights_only``);
- *weights*, which are small enough to ship: ``weights/<game>.slopes`` (:mod:`.weights_file`).
"""

from __future__ import annotations

import io
import json
import pickle
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from slopes_envs import Game, InformationSet
from slopes_envs.chance import Purpose, derive, draw

from .advice import Adviser, make_adviser, needed
from .base import Agent, parse_arguments, split_leading, where_free
from .network import NetworkShape, PolicyNetwork, masked, masked_log_probabilities
from .weights_file import WEIGHTS_FORMAT, CheckpointError, checked_header, read_weights, shipped_weights

BEST = "best.zip"
"""The checkpoint that the folder of a run stands for."""
HEADER = "slopes.json"
WEIGHTS = "policy.pth"
HEADER_FORMAT = "slopes-checkpoint/1"

Policy = Callable[[Tensor], tuple[Tensor, Tensor]]
"""What :func:`.advice.needed` gives, ``uint8[B, …]``, to logits ``float32[B, A]`` and values ``float32[B]``."""

_TRUNK = "features_extractor.trunk."


class LearnedAgent(Agent):
    """Plays from a network: the likeliest action (``mode=greedy``, the default), or sampled (``mode=sample``).

    Parameters
    ----------
    network
        What :func:`.advice.needed` gives to logits and values.
    adviser
        Whose advice the network sees.
    """

    def __init__(
        self, game: Game[Any, Any], network: Policy, mode: str = "greedy", adviser: Adviser | None = None
    ) -> None:
        super().__init__(game)
        if mode not in ("greedy", "sample"):
            raise ValueError(f"agent ppo: mode expected greedy or sample, got {mode!r}")
        self.network = network
        self.mode = mode
        self.adviser = adviser

    @classmethod
    def from_spec(cls, game: Game[Any, Any], arguments: str) -> Self:
        """From ``PATH``, ``PATH,mode=sample`` or, for the weights that ship with the game, nothing or ``mode=sample``.

        A folder means the ``best.zip`` in it.
        """
        path, rest = split_leading(arguments)
        options = parse_arguments(cls, rest)
        file = Path(path) if path else shipped_weights(game.name)
        network = load_network(file, game)
        return cls(game, network, **options, adviser=make_adviser(network.shape.advice, game))

    def probabilities(self, view: InformationSet) -> NDArray[np.float64]:
        """Chance of every action, ``float64[B, A]``; under ``mode=greedy`` all of it on one action."""
        chances = self._policy(view)
        if self.mode == "sample":
            return chances
        greedy: NDArray[np.float64] = np.eye(chances.shape[1])[chances.argmax(axis=1)]
        return greedy

    def act(self, view: InformationSet) -> NDArray[np.int64]:
        """Choose by one forward pass, where there is a choice."""
        return where_free(view, self._likeliest if self.mode == "greedy" else self._sampled)

    def _likeliest(self, view: InformationSet) -> NDArray[np.int64]:
        if isinstance(self.network, PolicyNetwork):
            with torch.inference_mode():
                best = self.network.likeliest(self._seen(view), torch.from_numpy(view.legal))
        else:
            best = masked(*self._logits(view)).argmax(dim=1)
        actions: NDArray[np.int64] = best.numpy()
        return actions

    def _sampled(self, view: InformationSet) -> NDArray[np.int64]:
        chances = self._policy(view)
        threshold = draw(derive(view.keys, Purpose.CHOICE), 1)[:, 0] * 2.0**-64 * chances.sum(axis=1)
        cumulative = chances.cumsum(axis=1)
        below: NDArray[np.int64] = (cumulative <= threshold[:, None]).sum(axis=1)
        last_legal = chances.shape[1] - 1 - (chances[:, ::-1] > 0).argmax(axis=1)
        sampled: NDArray[np.int64] = np.minimum(below, last_legal)
        return sampled

    def values(self, view: InformationSet) -> NDArray[np.float64]:
        """What the network expects for each seat from here on, in points of the game: ``float64[B]``.

        Of what it was trained for (its score, or its lead over the others) and to the end of what it was trained on
        (a hand or a match).
        """
        with torch.inference_mode():
            _, values = self.network(self._seen(view))
            points: NDArray[np.float64] = values.numpy().astype(np.float64) * getattr(self.network, "unit", 1.0)
        return points

    def _policy(self, view: InformationSet) -> NDArray[np.float64]:
        chances: NDArray[np.float64] = masked_log_probabilities(*self._logits(view)).exp().numpy().astype(np.float64)
        return chances

    def _logits(self, view: InformationSet) -> tuple[Tensor, Tensor]:
        """Logits ``float32[B, A]``, and which actions are legal, ``bool[B, A]``."""
        seen = self._seen(view)
        with torch.inference_mode():
            logits = self.network.logits(seen) if isinstance(self.network, PolicyNetwork) else self.network(seen)[0]
        return logits, torch.from_numpy(view.legal)

    def _seen(self, view: InformationSet) -> Tensor:
        return torch.from_numpy(needed(view, self.adviser))


# ------------------------------------------------------------------------------------------------------------ files


def load_network(path: Path, game: Game[Any, Any]) -> PolicyNetwork:
    """The network of a checkpoint or a file of weights, or of the ``best.zip`` in a folder.

    Raises
    ------
    CheckpointError
        If there is no such file, it is neither, or it was trained on another game or observation.
    """
    file = file_of(path)
    header, weights = read_file(file)
    return make_network(header, weights, game, file)


def file_of(path: Path) -> Path:
    """The file that a path means: in the folder of a run, its ``best.zip``."""
    return path / BEST if path.is_dir() else path


def read_file(file: Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """The header of a checkpoint or a file of weights, and its tensors by their names in a :class:`PolicyNetwork`.

    Raises
    ------
    CheckpointError
        If there is no such file, or it is neither.
    """
    try:
        content = file.read_bytes()
    except FileNotFoundError:
        raise CheckpointError(f"checkpoint {file}: there is no such file") from None
    except OSError as error:
        raise CheckpointError(f"checkpoint {file}: cannot be read ({error})") from None
    if content.startswith(WEIGHTS_FORMAT.partition("/")[0].encode()):
        header, arrays = read_weights(file, content)
        return header, {name: torch.from_numpy(array) for name, array in arrays.items()}
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            header = json.loads(archive.read(HEADER))
            state = torch.load(io.BytesIO(archive.read(WEIGHTS)), map_location="cpu", weights_only=True)
        weights = {
            name.replace(_TRUNK, "trunk."): tensor.float()
            for name, tensor in state.items()
            if name.startswith((_TRUNK, "action_net.", "value_net."))
        }
    except (zipfile.BadZipFile, KeyError, ValueError, RuntimeError, EOFError, AttributeError) as error:
        raise CheckpointError(f"checkpoint {file}: not a checkpoint of this project ({error})") from None
    except pickle.UnpicklingError:
        raise CheckpointError(f"checkpoint {file}: its {WEIGHTS} holds other things than tensors") from None
    return checked_header(file, header, HEADER_FORMAT), weights


def planes_of(game: Game[Any, Any]) -> list[list[Any]]:
    """Names and sizes of the planes of a game's observation, in order: ``[[name, features], …]``."""
    return [[plane.name, plane.size] for plane in game.observation]


def make_network(
    header: dict[str, Any], weights: Mapping[str, Tensor], game: Game[Any, Any], file: Path
) -> PolicyNetwork:
    """The network of a file, for a game.

    Raises
    ------
    CheckpointError
        If it was trained on another game or observation, or if header and tensors do not fit.
    """
    if header["game"] != game.name:
        raise CheckpointError(f"checkpoint {file}: trained on {header['game']}, asked to play {game.name}")
    if header.get("game_version", game.version) != game.version:
        raise CheckpointError(
            f"checkpoint {file}: trained on version {header['game_version']} of {game.name}, this is {game.version}"
        )
    if header["features"] != game.observation.size or header["actions"] != game.num_actions:
        raise CheckpointError(
            f"checkpoint {file}: expects {header['features']} features and {header['actions']} actions, "
            f"the game with these options has {game.observation.size} and {game.num_actions}"
        )
    planes = planes_of(game)
    trained = header.get("planes", planes)
    if trained != planes:
        theirs = trained if isinstance(trained, list) else []
        wrong = next((pair for pair in zip(theirs, planes, strict=False) if pair[0] != pair[1]), (trained, planes))
        raise CheckpointError(f"checkpoint {file}: expects an observation with {wrong[0]}, the game has {wrong[1]}")
    try:
        shape = NetworkShape.from_json(header["network"])
        expected = shape.tensors(game.observation, game.num_actions)
    except ValueError as error:
        raise CheckpointError(f"checkpoint {file}: {error}") from None
    found = {name: tuple(tensor.shape) for name, tensor in weights.items()}
    for name in expected | found:
        if expected.get(name) != found.get(name):
            raise CheckpointError(
                f"checkpoint {file}: tensor {name} expected {expected.get(name)} by its header, got {found.get(name)}"
            )
    network = PolicyNetwork(shape, game.observation, game.num_actions)
    network.unit = float(header.get("reward_scale", 1.0))
    network.load_state_dict(dict(weights))
    return network.ready()
