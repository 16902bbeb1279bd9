"""Some hundred ways in which a game record can be wrong, each with where and why a reader must refuse it.

A corruption changes a right record in place, or turns its text into other bytes, and returns what is to be expected.
They fit every game; those that need a second hand or some kind of deal fit the records that have one.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

Record = dict[str, Any]


class Fault(NamedTuple):
    """Where the fault is, counted from 1, and what the reason says (a pattern)."""

    hand: int | None
    move: int | None
    reason: str


class Corruption(NamedTuple):
    name: str
    apply: Callable[[Record], tuple[bytes, Fault]]
    fits: Callable[[Record], bool]


CORRUPTIONS: list[Corruption] = []


def _anything(record: Record) -> bool:
    return True


def _several_hands(record: Record) -> bool:
    return len(record["hands"]) > 1


def in_record(change: Callable[[Record], Fault], fits: Callable[[Record], bool] = _anything, name: str = "") -> None:
    """Register a corruption that changes the record."""

    def apply(record: Record) -> tuple[bytes, Fault]:
        fault = change(record)
        return json.dumps(record).encode(), fault

    CORRUPTIONS.append(Corruption(name or change.__name__, apply, fits))


def in_text(change: Callable[[bytes], bytes], reason: str, name: str = "") -> None:
    """Register a corruption that changes the text of the record."""

    def apply(record: Record) -> tuple[bytes, Fault]:
        return change(json.dumps(record).encode()), Fault(None, None, reason)

    CORRUPTIONS.append(Corruption(name or change.__name__, apply, _anything))


def of_second_hand(change: Callable[[Record], Fault]) -> Callable[[Record], Fault]:
    """Register a corruption for records with several hands."""
    in_record(change, _several_hands)
    return change


def corruption(change: Callable[[Record], Fault]) -> Callable[[Record], Fault]:
    """Register a corruption for all records."""
    in_record(change)
    return change


def seat_key(record: Record) -> str:
    """``"dealer"`` or ``"first_player"``."""
    return next(key for key in record["hands"][0] if key not in ("deal", "moves", "scores"))


def first_moves(record: Record) -> list[dict[str, Any]]:
    return record["hands"][0]["moves"]


# ------------------------------------------------------------------------------------------------------------- text

in_text(lambda text: text[: len(text) // 2], "not JSON", "text_cut_off")
in_text(lambda text: b"", "the line is blank", "blank_line")
in_text(lambda text: b" \t ", "the line is blank", "line_of_spaces")
in_text(lambda text: text + b" " + text, "not JSON: Extra data", "two_records_on_a_line")
in_text(lambda text: text[:-1] + b",}", "not JSON", "trailing_comma")
in_text(lambda text: text.replace(b'"', b"'"), "not JSON", "single_quotes")
in_text(lambda text: text.replace(b'"seed": null', b'"seed": NaN'), "NaN is no number", "nan")
in_text(lambda text: text.replace(b'"seed": null', b'"seed": Infinity'), "Infinity is no number", "infinity")
in_text(lambda text: text.replace(b'"seed": null', b'"seed": -Infinity'), "-Infinity is no number", "minus_infinity")
in_text(lambda text: text.replace(b'"seed": null', b'"seed": 1e999'), "1e999.* is too large", "infinite_number")
in_text(lambda text: text.replace(b'"seed": null', b'"seed": ' + b"9" * 5000), "is too large", "endless_number")
in_text(lambda text: text[:-1] + b', "seed": null}', "'seed' stands twice", "key_twice")
in_text(lambda text: text.replace(b'"match":', b'"match": "game", "match":', 1), "'match' stands twice", "option_twice")
in_text(lambda text: text.replace(b'"action":', b'"seat": 0, "action":', 1), "'seat' stands twice", "key_twice_in_move")
in_text(lambda text: b"[" + text + b"]", "expected an object with format, game", "list")
in_text(lambda text: b"null", "expected an object with format, game", "null")
in_text(lambda text: b'"record"', "expected an object with format, game", "just_text")
in_text(lambda text: text.replace(b'"format"', b'"f\xffrmat"'), "not UTF-8: .* at byte", "not_utf8")
in_text(lambda text: text.decode().encode("utf-16"), "not UTF-8", "utf16")
in_text(lambda text: b"\xef\xbb\xbf" + text, "byte order mark", "byte_order_mark")
in_text(lambda text: b"[" * 100_000 + b"]" * 100_000, "nested too deeply", "deep_lists")
in_text(lambda text: b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "nested too deeply", "deep_objects")
in_text(
    lambda text: text.replace(b'"players"', b'"players": ' + b"[" * 900 + b"]" * 900 + b', "x"', 1),
    "unknown key 'x'|players|nested too deeply",
    "deep_players",
)

# -------------------------------------------------------------------------------------------------------- top level


@corruption
def unknown_key(record: Record) -> Fault:
    record["note"] = "for me"
    return Fault(None, None, "unknown key 'note'")


@corruption
def misspelt_key(record: Record) -> Fault:
    record["score"] = record.pop("scores")
    return Fault(None, None, "unknown key 'score'; did you mean 'scores'")


def _missing(key: str) -> Callable[[Record], Fault]:
    def change(record: Record) -> Fault:
        del record[key]
        return Fault(None, None, f"the key '{key}' is missing")

    return change


def _set(key: str, value: Any, reason: str) -> Callable[[Record], Fault]:
    def change(record: Record) -> Fault:
        record[key] = value
        return Fault(None, None, reason)

    return change


for key in ("format", "game", "rules", "seed", "players", "hands", "scores", "end"):
    in_record(_missing(key), name=f"no_{key}")
for name, key, value, reason in [
    ("other_format", "format", "slopes-record/2", "format: expected 'slopes-record/1', got 'slopes-record/2'"),
    ("format_null", "format", None, "format: expected"),
    ("unknown_game", "game", "slippery_slop", "unknown game 'slippery_slop'; did you mean"),
    ("game_null", "game", None, "game: expected a name, got None"),
    ("game_list", "game", ["slippery_slope"], "game: expected a name"),
    ("rules_list", "rules", [], "rules: expected an object"),
    ("rules_null", "rules", None, "rules: expected an object"),
    ("seed_negative", "seed", -1, "seed: expected null or a whole number from 0 .* got -1"),
    ("seed_too_large", "seed", 2**64, "seed: expected null or a whole number from 0"),
    ("seed_true", "seed", True, "seed: expected null or a whole number"),
    ("seed_real", "seed", 7.0, "seed: expected null or a whole number"),
    ("seed_text", "seed", "7", "seed: expected null or a whole number"),
    ("players_text", "players", "random", "players: expected a list"),
    ("players_too_few", "players", ["random"], "players: expected a list of"),
    ("hands_object", "hands", {}, "hands: expected a list"),
    ("hands_null", "hands", None, "hands: expected a list"),
]:
    in_record(_set(key, value, reason), name=name)


@corruption
def players_numbers(record: Record) -> Fault:
    record["players"] = list(range(len(record["scores"])))
    return Fault(None, None, "players: expected labels")


@corruption
def players_too_many(record: Record) -> Fault:
    record["players"] = ["random"] * (len(record["scores"]) + 1)
    return Fault(None, None, "players: expected a list of")


# ---------------------------------------------------------------------------------------------------------- options


@corruption
def unknown_option(record: Record) -> Fault:
    record["rules"]["mach"] = record["rules"].pop("match")
    return Fault(None, None, "unknown option of .* 'mach'; did you mean 'match'")


@corruption
def reward_among_options(record: Record) -> Fault:
    record["rules"]["reward"] = "score"
    return Fault(None, None, "unknown option of .* 'reward'")


@corruption
def option_missing(record: Record) -> Fault:
    del record["rules"]["match"]
    return Fault(None, None, "the option 'match' is missing")


@corruption
def option_of_players_missing(record: Record) -> Fault:
    del record["rules"]["num_players"]
    return Fault(None, None, "the option 'num_players' is missing")


def _option(key: str, value: Any) -> Callable[[Record], Fault]:
    def change(record: Record) -> Fault:
        record["rules"][key] = value
        return Fault(None, None, f"option {key} expected")

    return change


for name, key, value in [
    ("option_of_other_word", "match", "hands"),
    ("option_null", "match", None),
    ("option_out_of_range", "num_players", 1),
    ("option_too_large", "num_players", 10**30),
    ("option_real", "num_players", 3.0),
    ("option_text", "num_players", "3"),
    ("option_true", "num_players", True),
    ("option_object", "num_players", {"players": 3}),
    ("option_list", "match", ["game"]),
]:
    in_record(_option(key, value), name=name)


@corruption
def first_seat_out_of_range(record: Record) -> Fault:
    record["rules"]["first_" + seat_key(record).removeprefix("first_")] = 10
    return Fault(None, None, "option first_.* expected")


@corruption
def first_seat_not_as_the_option(record: Record) -> Fault:
    seat = record["hands"][0][seat_key(record)]
    record["rules"]["first_" + seat_key(record).removeprefix("first_")] = (seat + 1) % len(record["scores"])
    return Fault(1, None, f"{(seat + 1) % len(record['scores'])}.*got (seat )?{seat}")


# ------------------------------------------------------------------------------------------------------------- hands


def _hand(name: str, change: Callable[[Record, dict[str, Any]], str]) -> None:
    """Register a corruption of the first hand, before its first move."""
    in_record(lambda record: Fault(1, None, change(record, record["hands"][0])), name=name)


def _replace(key: str, value: Any, reason: str) -> Callable[[Record, dict[str, Any]], str]:
    def change(record: Record, hand: dict[str, Any]) -> str:
        hand[seat_key(record) if key == "seat" else key] = value
        return reason

    return change


def _remove(key: str) -> Callable[[Record, dict[str, Any]], str]:
    def change(record: Record, hand: dict[str, Any]) -> str:
        removed = seat_key(record) if key == "seat" else key
        del hand[removed]
        return f"the key '{removed}' is missing"

    return change


_hand("hand_without_moves", _remove("moves"))
_hand("hand_without_scores", _remove("scores"))
_hand("hand_without_deal", _remove("deal"))
_hand("hand_without_first_seat", _remove("seat"))
_hand("hand_with_unknown_key", _replace("winner", 0, "unknown key 'winner'"))
_hand("moves_null", _replace("moves", None, "moves: expected a list"))
_hand("moves_object", _replace("moves", {}, "moves: expected a list"))
_hand("first_seat_text", _replace("seat", "0", "expected a seat from 0 to"))
_hand("first_seat_true", _replace("seat", True, "expected a seat from 0 to"))
_hand("first_seat_real", _replace("seat", 1.0, "expected a seat from 0 to"))
_hand("first_seat_negative", _replace("seat", -1, "expected a seat from 0 to"))
_hand("first_seat_too_large", _replace("seat", 99, "expected a seat from 0 to"))
_hand("first_seat_null", _replace("seat", None, "expected a seat from 0 to"))
_hand("deal_null", _replace("deal", None, "deal: expected an object with hands"))
_hand("deal_list", _replace("deal", [], "deal: expected an object with hands"))
_hand("hand_scores_too_few", _replace("scores", [0], "scores: expected a list of"))
_hand("hand_scores_text", _replace("scores", "0", "scores: expected a list of"))


@corruption
def hand_not_an_object(record: Record) -> Fault:
    record["hands"][0] = []
    return Fault(1, None, "expected an object, got")


def _deal(name: str, change: Callable[[dict[str, Any], int], str]) -> None:
    """Register a corruption of the first deal; the seat is one that holds cards."""

    def of_hand(record: Record, hand: dict[str, Any]) -> str:
        held = next(seat for seat, cards in enumerate(hand["deal"]["hands"]) if cards)
        return change(hand["deal"], held)

    _hand(name, of_hand)


def _deal_change(
    statement: Callable[[dict[str, Any], int], object], reason: str
) -> Callable[[dict[str, Any], int], str]:
    def change(deal: dict[str, Any], seat: int) -> str:
        statement(deal, seat)
        return reason

    return change


def _part(name: str, part: str, given: Callable[[Any], Any], reason: str) -> None:
    """Register a corruption of a part of the first deal, for the games that have it."""

    def change(record: Record) -> Fault:
        deal = record["hands"][0]["deal"]
        deal[part] = given(deal[part])
        return Fault(1, None, reason)

    in_record(change, lambda record: part in record["hands"][0]["deal"], name)


def _cards(deal: dict[str, Any], seat: int) -> list[Any]:
    return deal["hands"][seat]


for name, statement, reason in [
    ("deal_with_unknown_key", lambda deal, seat: deal.update(kitty=[]), "deal: unknown key 'kitty'"),
    ("deal_without_hands", lambda deal, seat: deal.pop("hands"), "the key 'hands' is missing"),
    ("hands_of_deal_null", lambda deal, seat: deal.update(hands=None), "hands"),
    ("hands_of_deal_text", lambda deal, seat: deal.update(hands="AC"), "hands: expected the hands of .* got 'AC'"),
    ("hand_for_nobody", lambda deal, seat: deal["hands"].append([]), "hands: expected the hands of"),
    ("hand_for_too_few", lambda deal, seat: deal["hands"].pop(), "hands: expected the hands of"),
    ("card_too_few", lambda deal, seat: _cards(deal, seat).pop(), "seat .* expected .* cards, got"),
    ("card_too_many", lambda deal, seat: _cards(deal, seat).append(_cards(deal, seat)[0]), "expected .* cards, got"),
    ("card_unknown", lambda deal, seat: _cards(deal, seat).__setitem__(0, "ZZ"), "unknown card 'ZZ'"),
    ("card_number", lambda deal, seat: _cards(deal, seat).__setitem__(0, 7), "unknown card 7"),
    ("card_null", lambda deal, seat: _cards(deal, seat).__setitem__(0, None), "unknown card None"),
    ("card_list", lambda deal, seat: _cards(deal, seat).__setitem__(0, ["AC"]), r"unknown card \['AC'\]"),
    (
        "card_in_small_letters",
        lambda deal, seat: _cards(deal, seat).__setitem__(0, _cards(deal, seat)[0].lower()),
        "unknown card",
    ),
    (
        "card_again_and_again",
        lambda deal, seat: _cards(deal, seat).__setitem__(
            slice(None), [_cards(deal, seat)[0]] * len(_cards(deal, seat))
        ),
        "dealt .* times",
    ),
    (
        "hand_as_text",
        lambda deal, seat: deal["hands"].__setitem__(seat, " ".join(_cards(deal, seat))),
        "seat .: expected a list of card names, got '",
    ),
    (
        "hand_as_text_of_one_card",
        lambda deal, seat: deal["hands"].__setitem__(seat, _cards(deal, seat)[0]),
        "seat .: expected a list of card names, got '",
    ),
    ("hand_as_empty_text", lambda deal, seat: deal["hands"].__setitem__(seat, ""), "expected a list of card names"),
    (
        "hand_as_object",
        lambda deal, seat: deal["hands"].__setitem__(seat, dict.fromkeys(_cards(deal, seat), 1)),
        "expected a list of card names",
    ),
    ("hand_null", lambda deal, seat: deal["hands"].__setitem__(seat, None), "expected a list of card names"),
]:
    _deal(name, _deal_change(statement, reason))


for name, part, given, reason in [
    ("stock_as_text", "stock", lambda stock: " ".join(stock), "stock: expected a list of card names, got '"),
    ("stock_as_text_of_one_card", "stock", lambda stock: stock[0], "stock: expected a list of card names, got '"),
    ("two_cards_in_one_text", "stock", lambda stock: [" ".join(stock[:2]), *stock[2:]], "stock: unknown card '.* .*'"),
    ("piles_as_text", "piles", lambda piles: " ".join(filter(None, piles)), "piles: expected .* got '"),
    ("reshuffle_as_text", "reshuffles", lambda _: ["R1 R1"], "reshuffle 1: expected a list of card names, got 'R1 R1'"),
    ("reshuffle_as_one_card", "reshuffles", lambda _: ["R1"], "reshuffle 1: expected a list of card names, got 'R1'"),
    ("reshuffle_as_empty_text", "reshuffles", lambda _: [""], "reshuffle 1: expected a list of card names, got ''"),
]:
    _part(name, part, given, reason)


@of_second_hand
def rotation_wrong(record: Record) -> Fault:
    hand = record["hands"][1]
    hand[seat_key(record)] = (hand[seat_key(record)] + 1) % len(record["scores"])
    return Fault(2, None, "dealer|banker")


@of_second_hand
def second_deal_wrong(record: Record) -> Fault:
    hands = record["hands"][1]["deal"]["hands"]
    next(cards for cards in hands if cards)[0] = "ZZ"
    return Fault(2, None, "unknown card 'ZZ'")


@of_second_hand
def dealer_and_scores_wrong(record: Record) -> Fault:
    rotation_wrong(record)
    record["hands"][0]["scores"][0] += 1
    return Fault(1, None, "scores: expected")


@of_second_hand
def second_hand_broken_and_first_illegal(record: Record) -> Fault:
    record["hands"][1] = None
    first_moves(record)[1]["action"] = "nonsense"
    return Fault(1, 2, "unknown action 'nonsense'")


# ------------------------------------------------------------------------------------------------------------- moves


def _move(name: str, number: int, change: Callable[[dict[str, Any]], object], reason: str) -> None:
    """Register a corruption of a move of the first hand."""

    def of_record(record: Record) -> Fault:
        change(first_moves(record)[number - 1])
        return Fault(1, number, reason)

    in_record(of_record, name=name)


_move("seat_next", 1, lambda move: move.update(seat=1 - min(move["seat"], 1)), "seat . is to move, got .")
_move("seat_large", 2, lambda move: move.update(seat=10**40), "is to move, got 1000")
_move("seat_negative", 2, lambda move: move.update(seat=-1), "is to move, got -1")
_move("seat_real", 1, lambda move: move.update(seat=float(move["seat"])), "seat: expected a whole number")
_move("seat_text", 1, lambda move: move.update(seat=str(move["seat"])), "seat: expected a whole number")
_move("seat_true", 1, lambda move: move.update(seat=bool(move["seat"])), "seat: expected a whole number")
_move("seat_null", 1, lambda move: move.update(seat=None), "seat: expected a whole number")
_move("action_unknown", 1, lambda move: move.update(action="nonsense"), "unknown action 'nonsense'")
_move("action_empty", 1, lambda move: move.update(action=""), "unknown action ''")
_move("action_padded", 1, lambda move: move.update(action=move["action"] + " "), "unknown action")
_move("action_number", 1, lambda move: move.update(action=3), "action: expected a name, got 3")
_move("action_null", 1, lambda move: move.update(action=None), "action: expected a name, got None")
_move("action_list", 1, lambda move: move.update(action=[move["action"]]), "action: expected a name")
_move("action_endless", 1, lambda move: move.update(action="x" * 100_000), "unknown action 'xxx")
_move("move_without_seat", 2, lambda move: move.pop("seat"), "the key 'seat' is missing")
_move("move_without_action", 2, lambda move: move.pop("action"), "the key 'action' is missing")
_move("move_with_unknown_key", 2, lambda move: move.update(time=3), "unknown key 'time'")
_move("legal_misspelt", 2, lambda move: move.update(legl=move.pop("legal")), "unknown key 'legl'; did you mean 'legal'")
_move("legal_null", 2, lambda move: move.update(legal=None), "legal: expected a list of names, got None")
_move("legal_text", 2, lambda move: move.update(legal=move["action"]), "legal: expected a list of names")
_move("legal_too_few", 1, lambda move: move["legal"].pop(), "legal: expected")
_move("legal_too_many", 1, lambda move: move["legal"].append("pass on"), "legal: expected")
_move("legal_twice", 1, lambda move: move["legal"].append(move["legal"][-1]), "legal: expected")
_move("legal_out_of_order", 1, lambda move: move["legal"].reverse(), "legal: expected")
_move("legal_numbers", 1, lambda move: move.update(legal=list(range(len(move["legal"])))), "legal: expected")
_move("legal_nested", 1, lambda move: move.update(legal=[move["legal"]]), "legal: expected")
_move("legal_empty", 1, lambda move: move.update(legal=[]), "legal: expected")


@corruption
def move_not_an_object(record: Record) -> Fault:
    first_moves(record)[1] = "pass"
    return Fault(1, 2, "expected an object with seat, action")


@corruption
def action_of_another_time(record: Record) -> Fault:
    """Some action that was legal at another move is not legal at this one."""
    moves = first_moves(record)
    known = [name for move in moves for name in move["legal"]]
    number, name = next(
        (number, name) for number, move in enumerate(moves, 1) for name in known if name not in move["legal"]
    )
    moves[number - 1]["action"] = name
    return Fault(1, number, "is not legal for seat .; legal: |unknown action")


@corruption
def first_move_missing(record: Record) -> Fault:
    """Nobody moves twice in a row at the beginning of these records, or the legal actions differ."""
    del first_moves(record)[0]
    return Fault(1, 1, "is to move, got|unknown action|not legal|legal: expected")


@corruption
def last_move_of_a_hand_missing(record: Record) -> Fault:
    first_moves(record).pop()
    return Fault(1, len(first_moves(record)) + 1, "a move is missing: seat . is to move")


@corruption
def no_moves(record: Record) -> Fault:
    first_moves(record).clear()
    return Fault(1, 1, "a move is missing: seat . is to move")


@corruption
def move_after_the_end_of_a_hand(record: Record) -> Fault:
    moves = first_moves(record)
    moves.append(moves[-1])
    return Fault(1, len(moves), f"the hand was over after move {len(moves) - 1}")


@corruption
def broken_move_after_the_end_of_a_hand(record: Record) -> Fault:
    moves = first_moves(record)
    moves += [moves[-1], None]
    return Fault(1, len(moves) - 1, f"the hand was over after move {len(moves) - 2}")


# ------------------------------------------------------------------------------------------------- scores and the end


def _scores(name: str, change: Callable[[list[Any]], object], reason: str) -> None:
    """Register the same corruption of the scores of the first hand and of those at the end."""

    def of_hand(record: Record) -> Fault:
        change(record["hands"][0]["scores"])
        return Fault(1, None, reason)

    def of_end(record: Record) -> Fault:
        change(record["scores"])
        return Fault(None, None, reason)

    in_record(of_hand, name=f"hand_{name}")
    in_record(of_end, name=f"final_{name}")


_scores("scores_wrong", lambda scores: scores.__setitem__(0, scores[0] + 1), "scores: expected .* got")
_scores("scores_very_wrong", lambda scores: scores.__setitem__(0, 10**30), "scores: expected .* got")
_scores("scores_real", lambda scores: scores.__setitem__(0, float(scores[0])), "scores: expected whole numbers")
_scores("scores_true", lambda scores: scores.__setitem__(0, bool(scores[0])), "scores: expected whole numbers")
_scores("score_null", lambda scores: scores.__setitem__(0, None), "scores: expected whole numbers")
_scores("score_too_few", lambda scores: scores.pop(), "scores: expected a list of")
_scores("score_too_many", lambda scores: scores.append(0), "scores: expected a list of")


@corruption
def scores_of_a_finished_hand_null(record: Record) -> Fault:
    record["hands"][0]["scores"] = None
    return Fault(1, None, "scores: expected .* got null")


@corruption
def last_hand_said_to_be_open(record: Record) -> Fault:
    record["hands"][-1]["scores"] = None
    record["end"] = "unfinished"
    return Fault(len(record["hands"]), None, "scores: expected .* got null")


@corruption
def hand_after_the_end(record: Record) -> Fault:
    record["hands"].append(record["hands"][-1])
    return Fault(len(record["hands"]), None, "the match was over .* after hand")


@corruption
def broken_hand_after_the_end(record: Record) -> Fault:
    record["hands"].append(None)
    return Fault(len(record["hands"]), None, "the match was over .* after hand")


@of_second_hand
def last_hand_missing(record: Record) -> Fault:
    record["hands"].pop()
    return Fault(len(record["hands"]) + 1, None, "the match is not over after hand .* a hand is missing")


@corruption
def all_hands_missing(record: Record) -> Fault:
    record["hands"].clear()
    return Fault(1, None, "the match is not over, so a hand is missing")


@corruption
def other_end(record: Record) -> Fault:
    record["end"] = "truncated" if record["end"] == "terminated" else "terminated"
    return Fault(None, None, f"end: expected '.*', got '{record['end']}'")


@corruption
def finished_match_said_to_be_unfinished(record: Record) -> Fault:
    record["end"] = "unfinished"
    return Fault(None, None, "end: expected '.*', got 'unfinished'")


for name, value in [("end_unknown", "resigned"), ("end_null", None), ("end_true", True), ("end_list", ["terminated"])]:
    in_record(_set("end", value, "end: expected 'terminated' or 'truncated' or 'unfinished', got"), name=name)


# --------------------------------------------------------------------------------------------------------- unfinished


def _open(record: Record) -> dict[str, Any]:
    """Leave the last hand open before its last move; the record is then right, and this is that hand."""
    hand = record["hands"][-1]
    hand["moves"].pop()
    record["scores"] = [now - change for now, change in zip(record["scores"], hand["scores"], strict=True)]
    hand["scores"], record["end"] = None, "unfinished"
    return hand


@corruption
def open_hand_with_scores(record: Record) -> Fault:
    hand = _open(record)
    hand["scores"] = [0] * len(record["scores"])
    return Fault(len(record["hands"]), len(hand["moves"]) + 1, "a move is missing")


@corruption
def open_hand_in_a_finished_match(record: Record) -> Fault:
    hand = _open(record)
    record["end"] = "terminated"
    return Fault(len(record["hands"]), len(hand["moves"]) + 1, "a move is missing")


@corruption
def open_hand_in_the_final_scores(record: Record) -> Fault:
    _open(record)
    record["scores"][0] += 1
    return Fault(None, None, "final scores: expected")


@corruption
def open_hand_with_a_wrong_move(record: Record) -> Fault:
    hand = _open(record)
    hand["moves"][-1]["action"] = "nonsense"
    return Fault(len(record["hands"]), len(hand["moves"]), "unknown action 'nonsense'")


@corruption
def hand_after_an_open_one(record: Record) -> Fault:
    hand = _open(record)
    record["hands"].append(record["hands"][0])
    return Fault(len(record["hands"]) - 1, len(hand["moves"]) + 1, "a move is missing")


@corruption
def open_hand_and_an_unknown_end(record: Record) -> Fault:
    _open(record)
    record["end"] = "unfinshed"
    return Fault(None, None, "end: expected")
