"""Slow referees in plain Python, one a game, written from the rules alone: an independent check of the real games."""

from __future__ import annotations

from typing import Any

from .base import Referee
from .slippery_sam import SlipperySamReferee
from .slippery_slope import SlipperySlopeReferee
from .slopes import SlopesReferee
from .sloppy_seconds import SloppySecondsReferee
from .sluff import SluffReferee

REFEREES: dict[str, type[Referee]] = {
    referee.game: referee
    for referee in [SlipperySlopeReferee, SloppySecondsReferee, SluffReferee, SlopesReferee, SlipperySamReferee]
}

__all__ = ["REFEREES", "Referee", "replay"]


def replay(record: dict[str, Any]) -> None:
    """Play a whole record; raise at the first discrepancy, naming hand and move (counted from 1).

    AssertionError: the record says one thing and the referee another. ValueError: an action (or deal) is not legal.
    """
    try:
        referee = REFEREES[record["game"]](record["rules"], record["hands"])
    except ValueError as error:
        raise ValueError(f"hand 1: {error}") from error
    for number, hand in enumerate(record["hands"], 1):
        finished = number - 1
        for move_number, move in enumerate(hand["moves"], 1):
            where = f"hand {number}, move {move_number}"
            same(f"{where}: finished hands", finished, len(referee.hand_scores))
            same(f"{where}: seat to move", move["seat"], referee.seat)
            if "legal" in move:
                same(f"{where}: legal actions", move["legal"], referee.legal())
            try:
                referee.play(move["action"])
            except ValueError as error:
                raise ValueError(f"{where}: {error}") from error
        where = f"hand {number}, after its last move"
        if hand["scores"] is None:
            same(f"{where}: end of a record with an open hand", record["end"], "unfinished")
            same(f"{where}: an open hand is the last", number, len(record["hands"]))
            same(f"{where}: finished hands", finished, len(referee.hand_scores))
        else:
            same(f"{where}: finished hands", number, len(referee.hand_scores))
            same(f"{where}: scores of the hand", hand["scores"], referee.hand_scores[-1])
    changes = zip(*referee.hand_scores, strict=True) if referee.hand_scores else [()] * referee.num_players
    scores = [start + sum(seat) for start, seat in zip(referee.starting_scores, changes, strict=True)]
    same("final scores", record["scores"], scores)
    same("end", record["end"], referee.end)
    referee.check_script_used()


def same(what: str, recorded: object, refereed: object) -> None:
    if recorded != refereed:
        raise AssertionError(f"{what}: the record has {recorded!r}, the referee {refereed!r}")
