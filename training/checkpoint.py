"""Checkpoint files: a Stable-Baselines3 zip with a header that can be read without unpickling anything."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from slopes_agents.learned import HEADER, HEADER_FORMAT, planes_of
from slopes_agents.network import NetworkShape
from slopes_envs import Game, __version__
from slopes_envs.files import write_bytes


def header(
    games: Sequence[Game[Any, Any]],
    network: NetworkShape,
    *,
    reward: str,
    reward_scale: float,
    provenance: dict[str, Any],
) -> dict[str, Any]:
    """What a checkpoint tells of itself, as plain JSON values.

    Parameters
    ----------
    games
        The variants that were played, of one layout.
    network, reward, reward_scale
        As in the run.
    provenance
        Where it comes from.
    """
    game = games[0]
    return {
        "format": HEADER_FORMAT,
        "game": game.name,
        "game_version": game.version,
        "rules": [variant.rules.record() for variant in games],
        "features": game.observation.size,
        "planes": planes_of(game),
        "actions": game.num_actions,
        "network": network.as_json(),
        "reward": reward,
        "reward_scale": reward_scale,
        "provenance": {**provenance, "version": __version__},
    }


def write_checkpoint(path: Path, save: Callable[[io.BytesIO], None], head: dict[str, Any]) -> None:
    """Write what ``save`` writes to a stream (a Stable-Baselines3 zip) together with the header for agents.

    The folder is made if it is not there.
    """
    stream = io.BytesIO()
    save(stream)
    with zipfile.ZipFile(stream, "a") as archive:
        archive.writestr(HEADER, json.dumps(head, indent=1))
    path.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(path, stream.getvalue())
