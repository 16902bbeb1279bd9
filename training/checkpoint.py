"""Checkpoint files: a Stable-Baselines3 zip with a header that can be read without unpickling anything."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from slopes_agents.learned import HEADER, HEADER_FORMAT
from slopes_agents.network import NetworkShape
from slopes_envs import Game, __version__
from slopes_envs.files import write_bytes


def write_checkpoint(
    path: Path, save: Callable[[io.BytesIO], None], game: Game[Any, Any], network: NetworkShape
) -> None:
    """Write what ``save`` writes to a stream (a Stable-Baselines3 zip) together with the header for agents.

    The folder is made if it is not there.
    """
    stream = io.BytesIO()
    save(stream)
    header = {
        "format": HEADER_FORMAT,
        "game": game.name,
        "game_version": game.version,
        "rules": game.rules.record(),
        "features": game.observation.size,
        "actions": game.num_actions,
        "network": network.as_json(),
        "version": __version__,
    }
    with zipfile.ZipFile(stream, "a") as archive:
        archive.writestr(HEADER, json.dumps(header, indent=1))
    path.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(path, stream.getvalue())
