"""Agents that were trained: a network read from a checkpoint.

A checkpoint is the zip file that training writes.  Two of its members are read here, neither of which can run code:
``slopes.json`` (game, rules, network) and ``policy.pth`` (tensors, loaded with ``weights_only``).
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from slopes_envs import Game, InformationSet
from slopes_envs.chance import Purpose, derive, draw

from .base import Agent, parse_arguments
from .network import NetworkShape, PolicyNetwork, masked_log_probabilities

HEADER = "slopes.json"
WEIGHTS = "policy.pth"
HEADER_FORMAT = "slopes-checkpoint/1"

Policy = Callable[[Tensor], tuple[Tensor, Tensor]]
"""Observations ``uint8[B, D]`` to logits ``float32[B, A]`` and values ``float32[B]``."""

_TRUNK = "features_extractor.trunk."


class CheckpointError(ValueError):
    """A file that is not a checkpoint, or one of another game."""


class LearnedAgent(Agent):
    """Plays from a network: the likeliest action (``mode=greedy``, the default), or sampled (``mode=sample``)."""

    def __init__(self, game: Game[Any, Any], network: Policy, mode: str = "greedy") -> None:
        super().__init__(game)
        if mode not in ("greedy", "sample"):
            raise ValueError(f"agent ppo: mode expected greedy or sample, got {mode!r}")
        self.network = network
        self.mode = mode

    @classmethod
    def from_spec(cls, game: Game[Any, Any], arguments: str) -> Self:
        """From ``PATH`` or ``PATH,mode=sample``; a folder means the ``best.zip`` in it."""
        path, _, rest = arguments.partition(",")
        if not path:
            raise ValueError("agent ppo: expected a checkpoint, as in ppo:runs/first or ppo:runs/first/last.zip")
        options = parse_arguments(cls, rest)
        options.pop("network", None)
        return cls(game, load_network(Path(path), game), **options)

    def probabilities(self, view: InformationSet) -> NDArray[np.float64]:
        """Chance of every action, ``float64[B, A]``; under ``mode=greedy`` all of it on one action."""
        chances = self._policy(view)
        if self.mode == "sample":
            return chances
        greedy: NDArray[np.float64] = np.eye(chances.shape[1])[chances.argmax(axis=1)]
        return greedy

    def act(self, view: InformationSet) -> NDArray[np.int64]:
        """Choose by one forward pass."""
        chances = self._policy(view)
        best: NDArray[np.int64] = chances.argmax(axis=1)
        if self.mode == "greedy":
            return best
        threshold = draw(derive(view.keys, Purpose.CHOICE), 1)[:, 0] * 2.0**-64 * chances.sum(axis=1)
        cumulative = chances.cumsum(axis=1)
        below: NDArray[np.int64] = (cumulative <= threshold[:, None]).sum(axis=1)
        last_legal = chances.shape[1] - 1 - (chances[:, ::-1] > 0).argmax(axis=1)
        sampled: NDArray[np.int64] = np.minimum(below, last_legal)
        return sampled

    def _policy(self, view: InformationSet) -> NDArray[np.float64]:
        with torch.inference_mode():
            logits, _ = self.network(torch.from_numpy(view.observations))
            logs = masked_log_probabilities(logits, torch.from_numpy(view.legal))
            chances: NDArray[np.float64] = logs.exp().numpy().astype(np.float64)
        return chances


def load_network(path: Path, game: Game[Any, Any]) -> PolicyNetwork:
    """The network of a checkpoint file, or of the ``best.zip`` in a folder.

    Raises
    ------
    CheckpointError
        If there is no such file, it is no checkpoint, or it was trained on another game or observation.
    """
    file = path / "best.zip" if path.is_dir() else path
    try:
        with zipfile.ZipFile(file) as archive:
            header = json.loads(archive.read(HEADER))
            weights = torch.load(io.BytesIO(archive.read(WEIGHTS)), map_location="cpu", weights_only=True)
    except FileNotFoundError:
        raise CheckpointError(f"checkpoint {file}: there is no such file") from None
    except (zipfile.BadZipFile, KeyError, json.JSONDecodeError, OSError) as error:
        raise CheckpointError(f"checkpoint {file}: not a checkpoint of this project ({error})") from None
    if header.get("format") != HEADER_FORMAT:
        raise CheckpointError(f"checkpoint {file}: expected format {HEADER_FORMAT!r}, got {header.get('format')!r}")
    if header["game"] != game.name:
        raise CheckpointError(f"checkpoint {file}: trained on {header['game']}, asked to play {game.name}")
    if header["features"] != game.observation.size or header["actions"] != game.num_actions:
        raise CheckpointError(
            f"checkpoint {file}: expects {header['features']} features and {header['actions']} actions, "
            f"the game with these options has {game.observation.size} and {game.num_actions}"
        )
    network = PolicyNetwork(NetworkShape.from_json(header["network"]), game.observation, game.num_actions)
    renamed = {
        name.replace(_TRUNK, "trunk."): tensor
        for name, tensor in weights.items()
        if name.startswith((_TRUNK, "action_net.", "value_net."))
    }
    network.load_state_dict(renamed)
    return network.eval()
