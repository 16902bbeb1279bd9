"""Agents that were trained: a network read from a file.

Two kinds of file are read here, neither of which can run code:

- a *checkpoint*, the zip file that training writes, of which two members count: ``slopes.json`` (the header: game,
  rules, network) and ``policy.pth`` (tensors, loaded with ``weights_only``);
- *weights*, which are small enough to ship: ``weights/<game>.slopes``.  Such a file is a line of ASCII,
  ``slopes-weights/1 N`` with N the length of the header in bytes, then the header (JSON in UTF-8: what a checkpoint's
  says, and ``dtype`` and ``tensors``, a list of names and shapes), then the tensors in that order, little-endian and
  with nothing between or behind them.
"""

from __future__ import annotations

import io
import json
import pickle
import re
import zipfile
from collections.abc import Callable, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from slopes_envs import Game, InformationSet
from slopes_envs.chance import Purpose, derive, draw

from .advice import Adviser, make_adviser, observed
from .base import Agent, parse_arguments, split_leading
from .network import NetworkShape, PolicyNetwork, masked_log_probabilities

HEADER = "slopes.json"
WEIGHTS = "policy.pth"
HEADER_FORMAT = "slopes-checkpoint/1"

WEIGHTS_FORMAT = "slopes-weights/1"
WEIGHTS_SUFFIX = ".slopes"
WEIGHTS_LIMIT = 4_000_000
"""Bytes that a file of weights has at most."""
WEIGHTS_TYPES = {"float16": "<f2", "float32": "<f4"}

Policy = Callable[[Tensor], tuple[Tensor, Tensor]]
"""``uint8[B, D]``, with advice behind, to logits ``float32[B, A]`` and values ``float32[B]``."""

_TRUNK = "features_extractor.trunk."


class CheckpointError(ValueError):
    """A file that is not a checkpoint, or one of another game."""


class LearnedAgent(Agent):
    """Plays from a network: the likeliest action (``mode=greedy``, the default), or sampled (``mode=sample``).

    Parameters
    ----------
    network
        Observations, with advice behind them if there is an adviser, to logits and values.
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

    def values(self, view: InformationSet) -> NDArray[np.float64]:
        """What the network expects for each seat from here on, in points of the game: ``float64[B]``.

        Of what it was trained for (its score, or its lead over the others) and to the end of what it was trained on
        (a hand or a match).
        """
        with torch.inference_mode():
            _, values = self.network(torch.from_numpy(observed(view, self.adviser)))
            points: NDArray[np.float64] = values.numpy().astype(np.float64) * getattr(self.network, "unit", 1.0)
        return points

    def _policy(self, view: InformationSet) -> NDArray[np.float64]:
        with torch.inference_mode():
            logits, _ = self.network(torch.from_numpy(observed(view, self.adviser)))
            logs = masked_log_probabilities(logits, torch.from_numpy(view.legal))
            chances: NDArray[np.float64] = logs.exp().numpy().astype(np.float64)
        return chances


# ------------------------------------------------------------------------------------------------------------ files


def shipped_weights(game: str) -> Path:
    """The file of weights that ships for a game.

    Raises
    ------
    CheckpointError
        If none does.
    """
    folder = Path(str(files(__package__) / "weights"))
    path = folder / f"{game}{WEIGHTS_SUFFIX}"
    if not path.is_file():
        known = ", ".join(sorted(file.stem for file in folder.glob(f"*{WEIGHTS_SUFFIX}"))) or "none"
        raise CheckpointError(
            f"agent ppo: no weights ship for {game} (they do for: {known}); "
            "name a checkpoint, as in ppo:runs/first or ppo:runs/first/last.zip"
        )
    return path


def load_network(path: Path, game: Game[Any, Any]) -> PolicyNetwork:
    """The network of a checkpoint or a file of weights, or of the ``best.zip`` in a folder.

    Raises
    ------
    CheckpointError
        If there is no such file, it is neither, or it was trained on another game or observation.
    """
    file = path / "best.zip" if path.is_dir() else path
    header, weights = read_file(file)
    return make_network(header, weights, game, file)


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
        return _read_weights(file, content)
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
    return _checked_header(file, header, HEADER_FORMAT), weights


def _checked_header(file: Path, header: Any, form: str) -> dict[str, Any]:
    found = header.get("format") if isinstance(header, dict) else header
    if not isinstance(header, dict) or found != form:
        raise CheckpointError(f"checkpoint {file}: expected format {form!r}, got {found!r}")
    missing = [name for name in ("game", "features", "actions", "network") if name not in header]
    if missing:
        raise CheckpointError(f"checkpoint {file}: its header lacks {', '.join(missing)}")
    return header


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
    return network.eval()


def _read_weights(file: Path, content: bytes) -> tuple[dict[str, Any], dict[str, Tensor]]:
    line, newline, rest = content.partition(b"\n")
    first = re.fullmatch(rb"(slopes-weights/\d+) (\d{1,9})", line)
    if not newline or first is None:
        raise CheckpointError(f"weights {file}: expected a first line '{WEIGHTS_FORMAT} LENGTH', got {line[:60]!r}")
    if first[1].decode() != WEIGHTS_FORMAT:
        raise CheckpointError(f"weights {file}: expected format {WEIGHTS_FORMAT!r}, got {first[1].decode()!r}")
    length = int(first[2])
    try:
        header = _checked_header(file, json.loads(rest[:length]), WEIGHTS_FORMAT)
    except ValueError as error:
        if isinstance(error, CheckpointError):
            raise
        raise CheckpointError(f"weights {file}: its header is not JSON ({error})") from None
    kind = WEIGHTS_TYPES.get(str(header.get("dtype")))
    if kind is None:
        raise CheckpointError(
            f"weights {file}: dtype expected {' or '.join(WEIGHTS_TYPES)}, got {header.get('dtype')!r}"
        )
    sizes = _sizes(file, header.get("tensors"))
    expected, got = sum(map(int, map(np.prod, sizes.values()))) * np.dtype(kind).itemsize, len(rest) - length
    if expected != got:
        raise CheckpointError(f"weights {file}: expected {expected} bytes of tensors behind the header, got {got}")
    numbers = np.frombuffer(rest, dtype=kind, offset=length).astype(np.float32)
    if not np.isfinite(numbers).all():
        raise CheckpointError(f"weights {file}: holds numbers that are not finite")
    weights: dict[str, Tensor] = {}
    start = 0
    for name, shape in sizes.items():
        stop = start + int(np.prod(shape))
        weights[name] = torch.from_numpy(numbers[start:stop].reshape(shape))
        start = stop
    return header, weights


def _sizes(file: Path, tensors: Any) -> dict[str, tuple[int, ...]]:
    """Shapes of tensors by name, in order."""
    sizes: dict[str, tuple[int, ...]] = {}
    for entry in tensors if isinstance(tensors, list) else [tensors]:
        pair = entry if isinstance(entry, list) and len(entry) == 2 else (None, None)
        name, shape = pair
        if not isinstance(name, str) or not isinstance(shape, list) or name in sizes:
            raise CheckpointError(f"weights {file}: tensors expected [[name, [sizes]], …], got {str(entry)[:80]}")
        if not all(type(size) is int and 0 < size < 2**24 for size in shape):
            raise CheckpointError(f"weights {file}: tensor {name}: expected sizes above 0, got {shape}")
        sizes[name] = tuple(shape)
    return sizes


def pack_weights(header: Mapping[str, Any], weights: Mapping[str, Tensor], dtype: str = "float16") -> bytes:
    """A file of weights, as :func:`read_file` reads it.

    Parameters
    ----------
    header
        That of a checkpoint.
    weights
        Tensors by their names in a :class:`PolicyNetwork`.
    dtype
        ``"float16"`` or ``"float32"``.

    Raises
    ------
    ValueError
        For another dtype, for numbers that it does not hold, or if the file would be larger than is allowed.
    """
    if dtype not in WEIGHTS_TYPES:
        raise ValueError(f"dtype expected {' or '.join(WEIGHTS_TYPES)}, got {dtype!r}")
    arrays = {name: tensor.detach().numpy().astype(np.float32) for name, tensor in weights.items()}
    limit = float(np.finfo(WEIGHTS_TYPES[dtype]).max)
    for name, array in arrays.items():
        if not (np.abs(array) <= limit).all():
            raise ValueError(f"tensor {name} holds numbers that {dtype} does not")
    head = {
        **header,
        "format": WEIGHTS_FORMAT,
        "dtype": dtype,
        "tensors": [[name, list(array.shape)] for name, array in arrays.items()],
    }
    text = json.dumps(head, indent=1, ensure_ascii=False).encode() + b"\n"
    body = b"".join(array.astype(WEIGHTS_TYPES[dtype]).tobytes() for array in arrays.values())
    content = f"{WEIGHTS_FORMAT} {len(text)}\n".encode() + text + body
    if len(content) > WEIGHTS_LIMIT:
        raise ValueError(f"a file of weights has at most {WEIGHTS_LIMIT:,} bytes, this one would have {len(content):,}")
    return content
