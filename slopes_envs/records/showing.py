"""Showing: a record as text for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..game import Game, State
from .form import HAND_KEYS, Record
from .reading import read_game


def show(record: Record) -> Iterator[str]:
    """A verified record as lines for people: hand by hand, and trick by trick where a game has tricks."""
    game = read_game(record["game"], record["rules"])
    seats = [f"seat {seat}" for seat in range(game.num_players)]
    if record["players"] is not None:
        labels = ["?" if label is None else _printable(label) for label in record["players"]]
        seats = [f"{seat} ({label})" for seat, label in zip(seats, labels, strict=True)]
    yield f"{game.title}: {', '.join(seats)}"
    yield ", ".join(f"{option}={value}" for option, value in record["rules"].items())
    entries = [{key: value for key, value in hand.items() if key not in HAND_KEYS} for hand in record["hands"]]
    state = game.from_deals([entries], then_seeds=0)  # an unfinished record may stop before a deal
    for number, (entry, hand) in enumerate(zip(entries, record["hands"], strict=True), 1):
        yield ""
        yield f"Hand {number}"
        yield from _shown_deal(entry, seats)
        yield from _shown_moves(game, state, hand["moves"])
        if hand["scores"] is None:
            yield "  not finished"
        else:
            changes, scores = (" ".join(map(str, values)) for values in (hand["scores"], game.scores(state)[0]))
            yield f"  scores {changes}; now {scores}"
    yield ""
    yield f"{record['end'].capitalize()} with scores {' '.join(map(str, record['scores']))}"


def _printable(text: str) -> str:
    """Text without anything that could upset a terminal or an encoding."""
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)


def _shown_deal(entry: dict[str, Any], seats: list[str]) -> Iterator[str]:
    for key, seat in entry.items():
        if key != "deal":
            yield f"  {key.replace('_', ' ')}: {seats[seat]}"
    for part, value in entry["deal"].items():
        if part == "hands":
            yield from (f"  {seat} holds {_listed(hand)}" for seat, hand in zip(seats, value, strict=True))
        elif any(isinstance(item, list) for item in value):
            yield from (f"  {part} {number}: {_listed(item)}" for number, item in enumerate(value, 1))
        else:
            yield f"  {part}: {_listed(value)}"


def _listed(cards: Sequence[str | None]) -> str:
    return " ".join("-" if card is None else card for card in cards) or "nothing"


def _shown_moves(game: Game[Any, Any], state: State, moves: list[dict[str, Any]]) -> Iterator[str]:
    """The moves of one hand, as many on a line as belong together; plays them on ``state``."""
    # With one hand as the match, the last move does not deal the next hand, and what it brought can still be seen.
    one_hand = type(game)(replace(game.rules, match="hand"))
    heading, held, trick = "", list[str](), 0
    for move in moves:
        action = np.array([game.parse_action(state, 0, move["action"])])
        before, after = one_hand.describe(state, 0), state.copy()
        one_hand.step(after, action)
        then = one_hand.describe(after, 0)
        game.step(state, action)
        tricks = "trick" in before
        taken = [seat for seat, count in enumerate(then["tricks"]) if count > before["tricks"][seat]] if tricks else []
        if taken or (tricks and then["trick"]):
            new_heading = f"trick {trick + 1}"
        else:
            new_heading = before["phase"] if tricks else f"seat {move['seat']}"
        if new_heading != heading and held:
            yield f"  {heading}: {', '.join(held)}"
            held = []
        heading = new_heading
        held.append(f"{move['seat']} {move['action']}" if tricks else move["action"])
        if taken:
            yield f"  {heading}: {', '.join(held)}; won by {taken[0]}"
            held, trick = [], trick + 1
    if held:
        yield f"  {heading}: {', '.join(held)}"
