"""Make the weights that ship from a checkpoint.

The command is::

    python -m slopes_training.ship runs/first/best.zip --out agents/weights/slippery_slope.slopes

What the file tells of itself is what the checkpoint does; :mod:`slopes_agents.learned` describes the format.
"""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from slopes_agents.advice import make_adviser
from slopes_agents.learned import LearnedAgent, file_of, make_network, read_file
from slopes_agents.weights_file import WEIGHTS_SUFFIX, pack_weights
from slopes_envs import Game, InformationSet, derive, make_game, match_seed
from slopes_envs.files import write_bytes

CHECKED_MATCHES, CHECKED_MOVES = 512, 200
CHECK_SEED = 2**41


def ship(checkpoint: Path, out: Path, dtype: str = "float16") -> dict[str, Any]:
    """Write a checkpoint's network as a file of weights.

    Parameters
    ----------
    checkpoint
        A checkpoint, or a folder with a ``best.zip`` in it.
    out
        The file; its folder must be there.
    dtype
        Of the numbers in the file, ``"float16"`` or ``"float32"``.

    Returns
    -------
    ``bytes``, the size of the file; ``agreement``, the part of the decisions of matches, played at random, in which
    the network of the file would choose as that of the checkpoint; ``header``, that of the file.

    Raises
    ------
    ValueError
        If the checkpoint cannot be read, the name is none for weights, or the file would be too large.
    """
    if out.suffix != WEIGHTS_SUFFIX:
        raise ValueError(f"--out {out}: expected a file whose name ends in {WEIGHTS_SUFFIX}")
    source = file_of(checkpoint)
    header, weights = read_file(source)
    rules = header.get("rules")
    if not isinstance(rules, list) or not rules or "provenance" not in header:
        raise ValueError(f"checkpoint {source}: its header does not tell the rules and where it comes from")
    if "trained_seconds" not in header["provenance"]:
        header["provenance"] |= _trained_seconds(source)
    game = make_game(header["game"], **_from_record(rules[0]))
    network = make_network(header, weights, game, source)
    write_bytes(out, pack_weights(header, network.state_dict(), dtype))
    written, packed = read_file(out)
    shipped = make_network(written, packed, game, out)
    adviser = make_adviser(network.shape.advice, game)
    agreement = _agreement(game, *[LearnedAgent(game, one, adviser=adviser) for one in (network, shipped)])
    return {"bytes": out.stat().st_size, "agreement": agreement, "header": written}


def _trained_seconds(source: Path) -> dict[str, float]:
    """How long a run took, from a checkpoint whose header does not tell yet; nothing where it is not known."""
    try:
        with zipfile.ZipFile(source) as archive:
            seconds = json.loads(archive.read("data")).get("trained_seconds")
    except (zipfile.BadZipFile, KeyError, ValueError):
        return {}
    return {"trained_seconds": round(seconds, 1)} if isinstance(seconds, int | float) else {}


def _from_record(rules: dict[str, Any]) -> dict[str, Any]:
    """Options as they stand in a header, lists being tuples there."""
    return {name: tuple(value) if isinstance(value, list) else value for name, value in rules.items()}


def _agreement(game: Game[Any, Any], one: LearnedAgent, other: LearnedAgent) -> float:
    """In what part of the decisions of random matches two agents choose the same."""
    state = game.new(match_seed(CHECK_SEED, np.arange(CHECKED_MATCHES)))
    same = decisions = 0
    for move in range(CHECKED_MOVES):
        live = np.flatnonzero(state.seat >= 0)
        if not len(live):
            break
        state = state.take(live)
        view = InformationSet(game, state)
        same += int((one.act(view) == other.act(view)).sum())
        decisions += len(state)
        game.step(state, game.sample_legal(state, derive(CHECK_SEED, move, np.arange(len(state)))))
    return same / decisions


def main(
    checkpoint: Annotated[Path, typer.Argument(metavar="CHECKPOINT", help="A checkpoint, or the folder of a run.")],
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="agents/weights/<game>.slopes")],
    dtype: Annotated[str, typer.Option("--dtype", help="float16, or float32.")] = "float16",
) -> None:
    """Make the weights that ship from a checkpoint."""
    try:
        made = ship(checkpoint, out, dtype)
    except (ValueError, OSError) as error:
        typer.echo(f"Error: {error}", err=True)
        raise typer.Exit(2) from None
    typer.echo(f"{out}: {made['bytes']:,} bytes, the same choice in {made['agreement']:.2%} of random decisions")
    typer.echo(json.dumps(made["header"]["provenance"], indent=1))


if __name__ == "__main__":
    typer.run(main)
