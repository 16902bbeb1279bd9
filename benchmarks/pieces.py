"""Long work in pieces: what is missing is played, and every piece kept as it comes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, TypeVar

from .duplicate import Interrupted
from .keeping import KeptPieces
from .workers import Stoppable, spread

Piece = dict[str, Any]
"""A finished piece as plain JSON values, ``start`` and ``stop`` (deals) among them."""

Item = TypeVar("Item", bound=Hashable)


def play_missing(
    kept: KeptPieces,
    wanted: Sequence[Item],
    item_of: Callable[[Piece], Item],
    play: Callable[[Item], Piece],
    code: str | None,
    workers: int,
    tell: Callable[[int], None],
) -> list[Piece]:
    """All pieces, in the order wanted: those that an earlier run kept, and the others played now.

    Parameters
    ----------
    kept
        Where finished pieces are kept; it is left open when all are there.
    wanted, item_of
        Which pieces there are to be, and which of them a piece is.
    play
        Plays one; other processes must be able to call it.
    code
        The commit that plays, noted in every piece.
    workers
        Processes; they do not bear on the pieces.
    tell
        Told how many deals are finished.

    Raises
    ------
    Interrupted
        On Ctrl-C; what was finished is kept.
    """
    finished = {item_of(piece): piece for piece in kept.pieces}
    done = sum(piece["stop"] - piece["start"] for piece in finished.values())
    tell(done)
    missing = [item for item in wanted if item not in finished]
    with Stoppable(spread(play, missing, workers, ordered=False)) as pieces:
        for played in pieces:
            piece = {**played, "commit": code}
            kept.add(piece)
            finished[item_of(piece)] = piece
            done += piece["stop"] - piece["start"]
            tell(done)
    if len(finished) < len(wanted):
        kept.close()
        raise Interrupted(done, None)
    return [finished[item] for item in wanted]


def commits_of(pieces: Sequence[Piece]) -> list[str | None]:
    """The commits that played some pieces, each once."""
    return sorted({piece["commit"] for piece in pieces}, key=str)
