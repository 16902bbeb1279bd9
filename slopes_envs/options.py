"""Options of games as text, as a command line takes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from .errors import UnknownName
from .registry import game_class

_WORDS = {"true": True, "false": False, "none": None, "null": None}


def parse_rules(game: str, rules: Sequence[str]) -> dict[str, Any]:
    """Options of a game from texts ``key=value``.

    Values are ``true``, ``false``, ``none``, numbers, lists of these by comma, or else words as they are; a single
    number for an option that is a list is a list of one.

    Raises
    ------
    ValueError
        For a text of another form, an option the game does not have, or one given twice.
    """
    defaults = {spec.name: spec.default for spec in fields(game_class(game).rules_type)}
    parsed: dict[str, Any] = {}
    for text in rules:
        key, equals, value = text.partition("=")
        if not equals:
            raise ValueError(f"--rule expected key=value, got {text!r}")
        if key not in defaults:
            raise UnknownName(f"option of {game}", key, defaults)
        if key in parsed:
            raise ValueError(f"--rule {key} expected once, got {parsed[key]!r} and {value!r}")
        parsed[key] = parse_value(value, is_list=isinstance(defaults[key], tuple))
    return parsed


def parse_value(text: str, *, is_list: bool = False) -> Any:
    """One value of :func:`parse_rules`."""
    values = tuple(_parse_scalar(part) for part in text.split(","))
    single = len(values) == 1 and not (is_list and isinstance(values[0], int | float))
    return values[0] if single else values


def _parse_scalar(text: str) -> Any:
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text
