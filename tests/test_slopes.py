"""Slopes, rule by rule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from helpers import assert_same, new_batch, random_actions, staggered
from hypothesis import given, settings
from hypothesis import strategies as st
from referees import slopes as referee
from scipy.stats import chisquare

from slopes_envs import DealError, ScriptExhausted, UnknownName, derive, make_game, match_seed
from slopes_envs.games import slopes
from slopes_envs.games.slopes import (
    CARDS,
    COPIES,
    DECK,
    EVENT_DRAW,
    EVENT_KNOWN,
    SIZE,
    TYPES,
    Filling,
    _counts,
    _passes_of,
    _tally,
    fits,
    hands_after_passes,
    takes_control,
)

WHOLE_DECK = Counter(DECK.names[card] for card in CARDS)
NO_MATTER = ["R1 R1 R2 R2 R3", "Y1 Y1 Y2 Y2 Y3"]


def deal(
    hands: list[str], piles: str, stock: str = "", reshuffles: tuple[str, ...] = (), first: int = 0
) -> dict[str, Any]:
    """A hand object with these cards; the stock goes on with what is left of the deck."""
    rest = WHOLE_DECK - Counter(" ".join([*hands, piles, stock]).split())
    left, right = piles.split()
    return {
        "first_player": first,
        "deal": {
            "hands": list(hands),
            "piles": [None, left, right, None],
            "stock": stock.split() + sorted(rest.elements()),
            "reshuffles": list(reshuffles),
        },
    }


def start(hands: list[str], piles: str, stock: str = "", first: int = 0, **rules: Any) -> tuple[Any, Any]:
    """One match with these hands and middle piles; the stock begins with ``stock``."""
    game = make_game("slopes", **rules)
    return game, game.from_deals([[deal(hands, piles, stock, first=first)]], then_seeds=[1])


def put_down(game: Any, state: Any, tops: str) -> None:
    """Put other cards on top of the piles, in seat 0's order; ``.`` makes a pile empty.  They come from nowhere."""
    state.tops[0] = [-1 if name == "." else DECK.parse(name) for name in tops.split()]
    state.legal_actions = game._legal(state)


def play(game: Any, state: Any, actions: str) -> Any:
    """Take actions separated by commas; returns the last outcome."""
    for name in actions.split(", "):
        outcome = game.step(state, [game.parse_action(state, 0, name)])
    return outcome


def legal(game: Any, state: Any) -> list[str]:
    return game.legal_names(state, 0)


def tops(game: Any, state: Any, seat: int | None = None) -> list[str | None]:
    return game.describe(state, 0, seat)["tops"]


def stock_of(state: Any, i: int = 0) -> list[str]:
    return [DECK.name(card) for card in state.stock[i, state.next_card[i] :]]


def all_cards(state: Any) -> Any:
    """How many there are of each card in hands, piles and stock, by match."""
    in_stock = _tally(state.stock.astype(np.int64), np.arange(SIZE) >= state.next_card[:, None])
    return _counts(state.hands[:, 0]) + _counts(state.hands[:, 1]) + _counts(state.played) + in_stock


# -- the deal


def test_r1_the_deck() -> None:
    assert sum(COPIES) == SIZE == 108
    numbers = Counter({f"{colour}{n}": 2 if n else 1 for colour in "RYGB" for n in range(10)})
    specials = Counter({f"{colour}{face}": 2 for colour in "RYGB" for face in "SRD"})
    assert numbers + specials + Counter(W=4, W4=4) == WHOLE_DECK


def test_r1_the_deal() -> None:
    state = new_batch(make_game("slopes", must_play=False), 2000)
    mover = state.first_player
    rows = np.arange(2000)
    assert np.array_equal(state.seat, mover)
    assert abs(mover.mean() - 0.5) < 0.05
    sizes = np.bitwise_count(state.hands).sum(axis=2)
    assert (sizes[rows, mover] == 6).all()  # one is drawn already
    assert (sizes[rows, 1 - mover] == 5).all()
    assert (state.next_card == 13).all()
    assert (state.tops[:, [0, 3]] == -1).all()
    assert (state.frozen_by == -1).all()
    assert (all_cards(state) == COPIES).all()
    for pile in (1, 2):  # any card, each copy equally often
        assert (
            chisquare(np.bincount(state.tops[:, pile], minlength=TYPES), np.array(COPIES) / SIZE * 2000).pvalue > 1e-4
        )


def test_r1_the_first_player_may_be_given() -> None:
    for seat in (0, 1):
        assert (new_batch(make_game("slopes", first_player=seat), 20).seat == seat).all()


def test_r2_piles_are_numbered_from_the_player_to_act() -> None:
    game, state = start(["R5 R1 R1 R2 R2", "Y5 Y1 Y1 Y2 Y2"], "W G7", "B3 B4")
    assert tops(game, state, 0) == [None, "W", "G7", None]
    assert tops(game, state, 1) == [None, "G7", "W", None]
    play(game, state, "R5 on 1, end")
    assert tops(game, state, 0) == ["R5", "W", "G7", None]
    assert tops(game, state, 1) == [None, "G7", "W", "R5"]
    play(game, state, "Y5 on 1")
    assert tops(game, state) == ["R5", "W", "G7", "Y5"]
    assert game.describe(state, 0, 1)["begun"] == 1
    assert game.describe(state, 0, 0)["begun"] == 4
    seen = game.observation.decode(game.observe(state, 1))
    assert list(seen["top_face"][0]) == [5, 7, slopes.WILD, 5]
    assert list(seen["top_colour"][0]) == ["RYGB".index("Y"), "RYGB".index("G"), -1, "RYGB".index("R")]
    assert seen["begun"][0] == 0


# -- turns


def test_r3_a_turn_begins_with_a_thaw_and_a_card() -> None:
    game, state = start(["RS R1 R1 R2 R2", "Y5 Y1 Y1 Y2 Y2"], "R9 G7", "B3 B4 B6")
    assert "B3" in game.describe(state, 0)["hands"][0]
    play(game, state, "RS on 2")
    assert game.describe(state, 0)["frozen_by"] == [None, 0, None, None]
    assert "B4" in game.describe(state, 0)["hands"][1]
    play(game, state, "Y5 on 1, end")
    assert game.describe(state, 0)["frozen_by"] == [None, None, None, None]
    assert game.describe(state, 0)["hand_sizes"] == [6, 5]
    assert stock_of(state)[0] != "B6"


def test_r4_any_number_of_cards_on_one_pile() -> None:
    game, state = start(["R5 Y6 G7 B9 W", NO_MATTER[1]], "R4 B1", "Y9")
    assert "end" not in legal(game, state)
    play(game, state, "R5 on 2, Y6 on 2, G7 on 2")
    assert legal(game, state) == ["end"]  # the other cards fit other piles only
    play(game, state, "end")
    assert state.seat[0] == 1
    assert state.turns[0] == 1


def test_r4_passing() -> None:
    hands = ["R5 R5 RD RD RR", "Y5 Y5 YD YD YR"]
    for must_play in (True, False):
        game, state = start(hands, "R4 B1", "RR", must_play=must_play)
        assert ("end" in legal(game, state)) == (not must_play)
        put_down(game, state, "B2 Y8 G1 B1")
        assert legal(game, state) == ["end"]
        play(game, state, "end")
        assert (state.turns[0], state.seat[0]) == (1, 1)
        assert _passes_of(0, state.passes[0]) == (((1, int(state.lacked[0, 0])),) if must_play else ())


def test_r4_a_skip_that_may_be_put_obliges() -> None:
    game, state = start(["RS RD RD RR RR", NO_MATTER[1]], "R4 B1", "Y9")
    put_down(game, state, "B2 Y1 R1 B1")
    assert legal(game, state) == ["RS on 3"]


EXAMPLES = [  # card, top, whether it may be put on an open pile, and whether after covering an equal number
    *((card, "", True, True) for card in ("R0", "B9", "G5")),  # R5
    *((card, "", False, False) for card in ("RS", "YR", "BD", "W", "W4")),
    ("R5", "R5", True, True),  # R6
    ("R5", "B5", True, True),
    ("R5", "Y4", True, True),
    ("R5", "Y6", True, True),
    ("R0", "Y9", True, True),
    ("Y9", "R0", True, True),
    ("R0", "Y1", True, True),
    ("R0", "B0", True, True),
    ("R5", "R7", True, True),
    ("R5", "R3", True, True),
    ("R3", "R1", True, True),
    ("R9", "R7", True, True),
    ("R5", "Y7", False, False),
    ("R5", "R8", False, False),
    ("R0", "R2", False, False),
    ("R2", "R0", False, False),
    ("R0", "R8", False, False),
    ("R8", "R0", False, False),
    ("R9", "R1", False, False),
    ("R1", "R9", False, False),
    ("RR", "R5", False, True),  # R7
    ("RD", "R5", False, True),
    ("W", "R5", False, True),
    ("W4", "R5", False, True),
    ("YD", "R5", False, False),
    ("R7", "RD", True, True),  # R8
    ("R0", "RS", True, True),
    ("Y7", "RD", False, False),
    ("RS", "RD", True, True),
    ("YD", "RD", True, True),
    ("YS", "RD", False, False),
    ("W", "RD", True, True),
    ("W4", "RR", True, True),
    *((card, top, True, True) for card in ("Y0", "G8", "BD", "RR", "W", "W4") for top in ("W", "W4")),  # R9
]


@pytest.mark.parametrize(("card", "top", "open_", "duplicate"), EXAMPLES)
def test_r5_r6_r7_r8_r9_what_may_be_put_where(card: str, top: str, open_: bool, duplicate: bool) -> None:
    under = DECK.parse(top) if top else -1
    assert fits(DECK.parse(card), under, False) == open_
    assert fits(DECK.parse(card), under, True) == duplicate


def test_r5_to_r11_as_the_referee_has_it() -> None:
    for top in (None, *DECK.names):
        number = -1 if top is None else DECK.parse(top)
        for card in DECK.names:
            for duplicate in (False, True):
                assert fits(DECK.parse(card), number, duplicate) == referee.fits(card, top, duplicate)
            assert takes_control(DECK.parse(card), number) == referee.takes_control(card, top)


def test_r7_an_equal_number_entitles_to_a_special_of_the_covering_card() -> None:
    game, state = start(["Y5 YR RD W BS", NO_MATTER[1]], "R5 B1", "G9")
    assert "YR on 2" not in legal(game, state)
    play(game, state, "Y5 on 2")
    assert legal(game, state) == ["YR on 2", "BS on 3", "W on 2", "end"]


def test_r7_only_right_after_it() -> None:
    game, state = start(["Y5 Y6 YR W R8", NO_MATTER[1]], "R5 B1", "G9")
    play(game, state, "Y5 on 2, Y6 on 2")
    assert legal(game, state) == ["end"]


def test_r7_not_after_one_that_the_other_put() -> None:
    game, state = start(["Y5 G8 G8 B8 B8", "YR YD W W4 W"], "R5 B1", "G9 W4")
    play(game, state, "Y5 on 2, end")
    assert legal(game, state) == ["end"]


def test_r7_not_on_another_pile() -> None:
    game, state = start(["Y5 YR Y8 G8 G8", NO_MATTER[1]], "R5 Y5", "G9")
    play(game, state, "Y5 on 2")
    assert legal(game, state) == ["YR on 2", "end"]
    play(game, state, "end, Y1 on 1, end")
    assert "YR on 2" not in legal(game, state)
    assert "YR on 3" not in legal(game, state)


def test_r10_frozen_piles_are_closed_to_the_other() -> None:
    game, state = start(["RS R1 R1 R2 R2", "R8 Y1 Y1 Y2 GS"], "R9 G7", "B3 B4")
    play(game, state, "RS on 2")
    open_to_r8 = [name for name in legal(game, state) if name.startswith("R8")]
    assert open_to_r8 == ["R8 on 1", "R8 on 2", "R8 on 4"]  # but not seat 1's pile 3


def test_r11_a_skip_goes_on_any_pile_of_its_colour_at_any_moment() -> None:
    game, state = start(["R5 RS BS RS YS", NO_MATTER[1]], "R9 W4", "B3")
    put_down(game, state, ". R9 W4 YD")
    state.frozen_by[0] = [-1, 1, 1, -1]
    state.legal_actions = game._legal(state)
    assert legal(game, state) == ["R5 on 1", "RS on 2", "RS on 3", "YS on 3", "YS on 4", "B3 on 1", "BS on 3"]
    play(game, state, "R5 on 1")  # the skips may still leave the pile begun
    assert legal(game, state) == ["RS on 1", "RS on 2", "RS on 3", "YS on 3", "YS on 4", "BS on 3", "end"]
    play(game, state, "RS on 2")
    assert state.seat[0] == 1
    assert list(state.frozen_by[0]) == [-1, 0, -1, -1]  # what seat 1 froze has thawed


def test_r11_skips_of_other_colours_are_ordinary_specials() -> None:
    game, state = start(["BS B1 B1 B2 B2", NO_MATTER[1]], "RS RS", "B3")
    put_down(game, state, "RS RS G9 G9")
    state.frozen_by[0] = [-1, 1, -1, -1]
    state.legal_actions = game._legal(state)
    assert [name for name in legal(game, state) if "S" in name] == ["BS on 1"]


@pytest.mark.parametrize("special", ["RS", "RR", "RD", "W", "W4"])
def test_r12_specials_freeze_and_end_the_turn(special: str) -> None:
    game, state = start([f"R5 {special} G8 G8 B8", NO_MATTER[1]], "B5 B1", "G9")
    play(game, state, f"R5 on 2, {special} on 2")
    if special == "RR":
        assert legal(game, state) == ["keep", "swap 3"]
        play(game, state, "keep")
    assert state.seat[0] == 1
    assert list(state.frozen_by[0]) == [-1, 0, -1, -1]


def test_r12_a_skip_on_a_frozen_pile_makes_it_the_others() -> None:
    game, state = start(["RS R1 R1 R2 R2", "RS Y1 Y1 Y2 Y2"], "R9 G7", "B3 B4")
    play(game, state, "RS on 2, RS on 3")
    assert game.describe(state, 0)["frozen_by"] == [None, 1, None, None]
    assert "R1 on 2" not in legal(game, state)
    play(game, state, "R1 on 1, end")
    assert game.describe(state, 0)["frozen_by"] == [None, None, None, None]


def test_r13_a_reverse_swaps_piles_with_their_freezes() -> None:
    game, state = start(["R5 RR G8 G8 B8", NO_MATTER[1]], "B5 B1", "G9")
    state.frozen_by[0, 2] = 1
    state.legal_actions = game._legal(state)
    play(game, state, "R5 on 2, RR on 2")
    assert game.describe(state, 0)["phase"] == "swap"
    assert legal(game, state) == ["keep", "swap 3"]  # the end piles are empty
    assert [game.action_name(state, 0, action) for action in range(217, 221)] == ["swap 1", "keep", "swap 3", "swap 4"]
    with pytest.raises(UnknownName):
        game.parse_action(state, 0, "swap 2")
    swapped = state.copy()
    play(game, swapped, "swap 3")
    assert tops(game, swapped) == [None, "B1", "RR", None]
    assert list(swapped.frozen_by[0]) == [-1, -1, 0, -1]  # and seat 1's own freeze thawed at once
    play(game, state, "keep")
    assert tops(game, state) == [None, "RR", "B1", None]


def test_r13_frozen_piles_move_with_their_freeze() -> None:
    game, state = start(["RR G8 G8 B8 B8", NO_MATTER[1]], "B5 RD", "G9", must_play=False)
    play(game, state, "RR on 3")  # on a special of its colour; seat 0 freezes it
    play(game, state, "swap 2")
    assert list(state.frozen_by[0]) == [-1, 0, -1, -1]
    play(game, state, "end")
    assert list(state.frozen_by[0]) == [-1, -1, -1, -1]
    put_down(game, state, "B3 B4 RD RD")
    state.frozen_by[0] = [-1, 1, -1, -1]
    state.hands[0, 0] = slopes._words(_tally(np.array([[DECK.parse("RR")]])))
    state.legal_actions = game._legal(state)
    play(game, state, "RR on 3, swap 2")
    assert tops(game, state) == ["B3", "RR", "B4", "RD"]
    assert list(state.frozen_by[0]) == [-1, 0, -1, -1]  # seat 1's went to the third pile, and thaws with its turn


def test_r13_keep_is_no_name_but_after_a_reverse() -> None:
    game, state = start(NO_MATTER, "B5 B1", "G9")
    with pytest.raises(UnknownName):
        game.parse_action(state, 0, "keep")
    assert game.action_name(state, 0, 218) == "swap 2"


@pytest.mark.parametrize(("special", "drawn"), [("RS", 0), ("RR", 0), ("RD", 2), ("W", 0), ("W4", 4)])
def test_r14_what_specials_draw(special: str, drawn: int) -> None:
    coming = ["Y9", "Y8", "Y7", "Y6", "Y5"]
    game, state = start([f"R5 {special} G8 G8 B8", NO_MATTER[1]], "B5 B1", f"G9 {' '.join(coming)}")
    play(game, state, f"R5 on 2, {special} on 2" + (", keep" if special == "RR" else ""))
    described = game.describe(state, 0)
    assert described["hand_sizes"] == [4 + drawn, 6]
    assert {"G8", "B8", "G9", *coming[:drawn]} == set(described["hands"][0])
    assert coming[drawn] in described["hands"][1]


# -- the stock


def short_stock(left: int, **rules: Any) -> tuple[Any, Any]:
    """A match whose stock has so many cards left; the others lie under the second pile.  Seat 0 is to move."""
    game, state = start(["R5 RD W4 R8 G8", NO_MATTER[1]], "B5 B1", "G9", **rules)
    taken = state.stock[0, state.next_card[0] : SIZE - left].astype(np.int64)
    counts = _counts(state.played) + _tally(taken[None])
    state.played = slopes._words(counts)
    state.next_card[0] = SIZE - left
    return game, state


def test_r15_cards_under_the_tops_make_the_new_stock() -> None:
    game, state = short_stock(1)
    known = game.describe(state, 0)["hands"]
    play(game, state, "R5 on 2, end")  # seat 1 takes the last card
    assert state.next_card[0] == SIZE
    assert state.reshuffles[0] == 0  # an empty stock waits until a card is needed
    play(game, state, "Y1 on 1, end")
    assert state.reshuffles[0] == 1
    assert (all_cards(state) == COPIES).all()
    assert tops(game, state) == [None, "R5", "B1", "Y1"]
    assert [name for name, count in zip(DECK.names, _counts(state.played)[0], strict=True) if count] == [
        "R5",
        "Y1",
        "B1",
    ]
    assert len(known[0]) == 6


def test_r15_a_draw_goes_on_after_the_reshuffle() -> None:
    game, state = short_stock(2)
    before = Counter(stock_of(state))
    play(game, state, "R5 on 2, W4 on 2")
    described = game.describe(state, 0)
    assert described["hand_sizes"] == [8, 6]
    assert described["reshuffles"] == 1
    assert before <= Counter(described["hands"][0])
    assert len(described["known"][0]) == 6  # what seat 0 held when the stock was empty
    assert described["known"][1] == NO_MATTER[1].split()
    assert (all_cards(state) == COPIES).all()


def test_r15_without_cards_the_draw_is_dropped() -> None:
    game, state = short_stock(1)
    state.played = slopes._words(_tally(np.array([[DECK.parse("B5"), DECK.parse("B1")]])))  # nothing under the tops
    play(game, state, "R5 on 1, end")  # seat 1 takes the last card
    play(game, state, "Y1 on 1, end")
    described = game.describe(state, 0)
    assert (described["reshuffles"], described["stock_size"], described["hand_sizes"]) == (0, 0, [5, 5])
    play(game, state, "end")  # the match goes on without a stock
    assert game.describe(state, 0)["hand_sizes"] == [5, 5]


def test_r15_the_new_stock_is_shuffled_evenly() -> None:
    game, state = short_stock(1)
    play(game, state, "R5 on 2, end, Y1 on 1")
    many = state.repeat(4000)
    many.seed = match_seed(3, np.arange(4000))
    game.step(many, np.full(4000, game.parse_action(state, 0, "end")))
    assert (many.reshuffles == 1).all()
    assert len(set(many.next_card)) == 1
    first = many.stock[:, many.next_card[0]].astype(np.int64)
    under = _counts(state.played)[0].copy()
    for card in ("R5", "Y1", "B1"):
        under[DECK.parse(card)] -= 1
    drawn = np.bincount(first, minlength=TYPES)
    assert (drawn[under == 0] == 0).all()
    assert chisquare(drawn[under > 0], (under / under.sum() * 4000)[under > 0]).pvalue > 1e-4


def recorded_match(**rules: Any) -> tuple[Any, Any, list[str]]:
    """A whole match with a reshuffle, the hand object of its deal, and what was played."""
    game = make_game("slopes", **rules)
    for seed in range(100):
        state = new_batch(game, 1, seed)
        actions, step = [], 0
        while state.seat[0] >= 0:
            action = random_actions(game, state, step)
            actions.append(game.action_name(state, 0, int(action[0])))
            game.step(state, action)
            step += 1
        if state.reshuffles[0] >= 2:
            return game, game.deal_object(state, 0), actions
    raise AssertionError("no match with two reshuffles")


def test_r15_scripted_reshuffles() -> None:
    game, entry, actions = recorded_match()
    assert len(entry["deal"]["reshuffles"]) >= 2
    state = game.from_deals([[entry]])
    kept = game.deal_object(state, 0)
    assert kept["deal"]["reshuffles"] == []
    for action in actions:
        play(game, state, action)
        game.extend_deal(state, 0, kept)
    assert kept == entry == game.deal_object(state, 0)
    assert game.unused_deal(state, 0) is None


def play_until_refused(game: Any, state: Any, actions: list[str]) -> DealError:
    for action in actions:
        before = state.copy()
        try:
            play(game, state, action)
        except DealError as error:
            assert_same(state, before)
            return error
    raise AssertionError("nothing was refused")


def test_r15_wrong_reshuffles_are_refused_and_change_nothing() -> None:
    game, entry, actions = recorded_match()
    reshuffles = entry["deal"]["reshuffles"]
    for wrong, error, reason in (
        ([reshuffles[0], [*reshuffles[1][1:], "W"]], DealError, "reshuffle 2 is not of the cards under the tops"),
        ([reshuffles[0], reshuffles[1][:-1]], DealError, "reshuffle 2 is not of the cards under the tops"),
        ([reshuffles[0]], ScriptExhausted, "the deal has no reshuffle 2"),
    ):
        entry["deal"]["reshuffles"] = wrong
        state = game.from_deals([[entry]])
        refused = play_until_refused(game, state, actions)
        assert type(refused) is error
        assert str(refused).startswith(f"slopes, match 1, hand 1: {reason}")
    entry["deal"]["reshuffles"] = [*reshuffles, ["R1"]]
    state = game.from_deals([[entry]])
    for action in actions:
        play(game, state, action)
    assert (
        game.unused_deal(state, 0) == f"{len(reshuffles) + 1} reshuffles are given, but {len(reshuffles)} were needed"
    )


def test_r15_a_script_goes_on_from_its_seed() -> None:
    game, entry, actions = recorded_match()
    entry["deal"]["reshuffles"] = entry["deal"]["reshuffles"][:1]
    state = game.from_deals([[entry]], then_seeds=[5])
    step = 0
    while state.reshuffles[0] < 2 and state.seat[0] >= 0:
        known = step < len(actions) and actions[step] in legal(game, state)
        play(game, state, actions[step] if known else legal(game, state)[0])
        step += 1
    assert game.deal_object(state, 0)["deal"]["reshuffles"][0] == entry["deal"]["reshuffles"][0]


# -- winning


@pytest.mark.parametrize(
    ("final", "winner"),
    [
        ("R0 Y1 G2 B3", 0),
        ("R1 R4 R6 R9", 0),
        ("R9 R6 R4 R1", 1),
        ("B3 G2 Y1 R0", 1),
        ("R1 R4 R4 R9", None),
        ("R4 R1 R6 R9", None),
        ("R1 R4 R6 .", None),
        (". R4 R6 R9", None),
        ("R1 R4 W R9", None),
        ("RS R4 R6 R9", None),
    ],
)
@pytest.mark.parametrize("mover", [0, 1])
def test_r16_slopes(final: str, winner: int | None, mover: int) -> None:
    game, state = start(NO_MATTER, "B5 B1", "G9", first=mover, must_play=False)
    put_down(game, state, final)
    outcome = play(game, state, "end")
    assert bool(outcome.terminated[0]) == (winner is not None)
    assert not outcome.truncated[0]
    wins = [0, 0] if winner is None else [1 if seat == winner else -1 for seat in (0, 1)]
    assert list(outcome.rewards[0]) == wins
    assert list(game.scores(state)[0]) == wins
    assert state.seat[0] == (1 - mover if winner is None else -1)


def test_r16_a_slope_counts_at_the_end_of_the_turn_only() -> None:
    game, state = start(["R7 R8 R9 G1 G1", NO_MATTER[1]], "B5 B1", "G9")
    put_down(game, state, "B3 B4 B6 B9")
    assert not play(game, state, "R7 on 3").terminated[0]
    assert not play(game, state, "R8 on 3, R9 on 3, end").terminated[0]  # 3 4 9 9


def test_r16_the_next_player_draws_nothing_after_a_win() -> None:
    game, state = start(["R7 R8 R9 G1 G1", NO_MATTER[1]], "B5 B1", "G9")
    put_down(game, state, "B3 B4 B6 B9")
    play(game, state, "R7 on 3, end")
    assert state.terminated[0]
    assert game.describe(state, 0)["hand_sizes"] == [5, 5]


@pytest.mark.parametrize("reward", ["score", "win"])
@pytest.mark.parametrize("match", ["game", "hand"])
def test_r17_the_limit_of_turns(reward: str, match: str) -> None:
    for final, winner in (("B3 B4 B4 B9", None), ("B3 B4 B5 B9", 0), ("B9 B6 B5 B0", 1)):
        game, state = start(NO_MATTER, "B5 B1", "G9", must_play=False, max_turns=4, reward=reward, match=match)
        for _ in range(3):
            outcome = play(game, state, "end")
            assert not outcome.truncated[0]
        put_down(game, state, final)
        outcome = play(game, state, "end")
        assert bool(outcome.truncated[0]) == (winner is None)
        assert bool(outcome.terminated[0]) == (winner is not None)
        assert list(outcome.rewards[0]) == ([0, 0] if winner is None else [1 - 2 * winner, 2 * winner - 1])
        assert state.turns[0] == 4


def test_r17_the_last_special_still_draws() -> None:
    game, state = start(["R5 W4 G8 G8 B8", NO_MATTER[1]], "B5 B1", "G9", max_turns=1)
    play(game, state, "R5 on 2, W4 on 2")
    assert state.truncated[0]
    assert game.describe(state, 0)["hand_sizes"] == [8, 5]


# -- actions and deals


def test_the_action_table() -> None:
    game = make_game("slopes")
    state = new_batch(game, 1)
    assert game.num_actions == 221
    names = [game.action_name(state, 0, action) for action in range(221)]
    cards = [f"{colour}{face}" for colour in "RYGB" for face in (*"0123456789", "S", "R", "D")] + ["W", "W4"]
    assert names[:216] == [f"{card} on {pile}" for card in cards for pile in (1, 2, 3, 4)]
    assert names[216:] == ["end", "swap 1", "swap 2", "swap 3", "swap 4"]


WRONG_DEALS: list[tuple[Callable[[dict[str, Any]], Any], str]] = [
    (lambda d: d["hands"].pop(), "expected the hands of 2 seats, got 1"),
    (lambda d: d["hands"].__setitem__(0, "R1 R1"), "seat 0: expected 5 cards, got 2"),
    (lambda d: d["hands"].__setitem__(0, "R1 R1 R2 R2 X3"), "unknown card 'X3'"),
    (lambda d: d["hands"].__setitem__(0, "R1 R1 R1 R2 R2"), "R1 is dealt 3 times, but the deck has it 2 times"),
    (lambda d: d["piles"].__setitem__(0, "B6"), "piles: expected null, a card, a card, null"),
    (lambda d: d["piles"].__setitem__(1, None), "piles: expected null, a card, a card, null"),
    (lambda d: d.__setitem__("piles", "B5 B1"), "piles: expected null, a card, a card, null"),
    (lambda d: d["piles"].__setitem__(1, "R1"), "R1 is dealt 3 times"),
    (lambda d: d["stock"].pop(), "stock: expected 96 cards, got 95"),
    (lambda d: d["stock"].__setitem__(95, "R0"), "R0 is dealt 2 times, but the deck has it 1 times"),
    (lambda d: d.__setitem__("reshuffles", None), "reshuffles: expected a list of stocks, got None"),
    (lambda d: d["reshuffles"].append("R1 X"), "reshuffle 1: unknown card 'X'"),
    (lambda d: d.pop("reshuffles"), "deal: the key 'reshuffles' is missing"),
    (lambda d: d.__setitem__("deck", []), "deal: unknown key 'deck'"),
]


@pytest.mark.parametrize(("spoil", "reason"), WRONG_DEALS)
def test_wrong_deals_are_refused(spoil: Callable[[dict[str, Any]], Any], reason: str) -> None:
    entry = deal(NO_MATTER, "B5 B1")
    spoil(entry["deal"])
    with pytest.raises(DealError, match=f"slopes, match 1, hand 1: .*{reason}"):
        make_game("slopes").from_deals([[entry]])


def test_a_wrong_first_player_is_refused() -> None:
    with pytest.raises(DealError, match="the first player is seat 0, got 1"):
        make_game("slopes", first_player=0).from_deals([[deal(NO_MATTER, "B5 B1", first=1)]])
    with pytest.raises(DealError, match="first_player: expected a seat from 0 to 1, got 2"):
        make_game("slopes").from_deals([[deal(NO_MATTER, "B5 B1", first=2)]])


# -- what a seat knows


def bits_of_cards(cards: list[str]) -> list[bool]:
    """112 counting bits of card names."""
    counts = Counter(cards)
    bits: list[bool] = []
    for card in DECK.names:
        width = 4 if card in ("W", "W4") else 2
        bits += [counts[card] > copy for copy in range(width)]
    return bits


def test_observations_tell_all_that_a_seat_may_know() -> None:
    game = make_game("slopes", max_turns=60)
    state = staggered(game, 200, 150)
    for seat in (0, 1):
        seen = game.observation.decode(game.observe(state, seat))
        everything = game.observation_all.decode(game.observe_all(state, seat))
        for i in range(200):
            told = game.describe(state, i, seat)
            other = 1 - seat
            assert list(told["hands"]) == [seat]
            assert list(seen["hand"][i].reshape(-1)) == bits_of_cards(told["hands"][seat])
            assert list(seen["known"][i].reshape(-1)) == bits_of_cards(told["known"][other])
            assert list(seen["shown"][i].reshape(-1)) == bits_of_cards(told["known"][seat])
            assert list(seen["played"][i].reshape(-1)) == bits_of_cards(told["played"])
            cards = [None if top is None else DECK.parse(top) for top in told["tops"]]
            assert list(seen["top_face"][i]) == [-1 if card is None else slopes._face(card) for card in cards]
            assert list(seen["top_colour"][i]) == [-1 if card is None else slopes._colour(card) for card in cards]
            assert list(seen["frozen"][i]) == [-1 if by is None else int(by != seat) for by in told["frozen_by"]]
            assert seen["begun"][i] == (-1 if told["begun"] is None else told["begun"] - 1)
            assert bool(seen["duplicate"][i, 0]) == told["duplicate"]
            assert seen["phase"][i] == ["play", "swap", "over"].index(told["phase"])
            assert seen["to_move"][i] == (-1 if told["to_move"] is None else int(told["to_move"] != seat))
            assert list(seen["hand_sizes"][i]) == [told["hand_sizes"][seat], told["hand_sizes"][other]]
            assert list(seen["hand_level"][i]) == [min(size, 20) for size in seen["hand_sizes"][i]]
            assert seen["stock"][i] == told["stock_size"]
            assert seen["stock_level"][i] == -(-told["stock_size"] // 8)
            assert [name for name, there in zip(DECK.names, seen["lacked"][i], strict=True) if there] == (
                told["lacked"][other]
            )
            assert seen["turns"][i] == told["turn_number"] - (told["phase"] != "over")
            assert seen["turn_level"][i] == seen["turns"][i] * 20 // 60
            held = game.describe(state, i)["hands"][other]
            assert list(everything["other_hand"][i].reshape(-1)) == bits_of_cards(held)
            coming = stock_of(state, i)
            assert everything["next_card"][i] == (DECK.parse(coming[0]) if coming else -1)


@pytest.mark.parametrize(
    ("final", "distances"),
    [
        ("R1 R4 R6 R9", [0, 3]),
        ("R1 R4 R4 R9", [1, 3]),
        (". R4 R6 .", [2, 3]),
        ("R9 W R8 .", [3, 3]),
        ("R0 RS W YD", [3, 4]),  # a 0 stands nowhere but at the foot
        ("R8 W . .", [4, 3]),
        ("W W W W", [4, 4]),
        ("R0 . . R2", [3, 3]),  # no room for two numbers between 0 and 2
    ],
)
def test_distance_to_a_slope(final: str, distances: list[int]) -> None:
    game, state = start(NO_MATTER, "B5 B1", "G9")
    put_down(game, state, final)
    for seat in (0, 1):
        seen = game.observation.decode(game.observe(state, seat))
        assert list(seen["distance"][0]) == distances[:: 1 - 2 * seat]


def test_counting_makes_hands_known() -> None:
    game, state = short_stock(1)
    assert game.describe(state, 0, 0)["known"] == {0: [], 1: []}
    play(game, state, "R5 on 2, end")
    told = game.describe(state, 0, 0)  # the stock is empty: all is known
    assert told["known"] == game.describe(state, 0)["hands"]
    play(game, state, "Y1 on 1, end")
    told = game.describe(state, 0, 1)  # a card of the new stock has been drawn since
    assert told["known"][1] == game.describe(state, 0)["hands"][1]
    assert len(told["known"][0]) == 5
    play(game, state, "R8 on 1")
    assert len(game.describe(state, 0, 1)["known"][0]) == 4


def test_what_a_pass_shows() -> None:
    game, state = start(["R5 R5 RD RD RR", "Y5 Y5 YD YD YR"], "R4 B1", "RR")
    put_down(game, state, "B2 Y8 G1 B1")
    play(game, state, "end")
    lacked = game.describe(state, 0)["lacked"][0]
    assert lacked == [
        card for card in DECK.names if any(referee.fits(card, top, False) or referee.takes_control(card, top)
                                           for top in ("B2", "Y8", "G1", "B1"))
    ]  # fmt: skip
    assert {"B0", "B4", "G0", "YS", "Y6"} <= set(lacked)
    seen = game.observation.decode(game.observe(state, 1))
    assert list(seen["lacked"][0]) == [card in lacked for card in DECK.names]
    assert seen["drawn_since"][0] == 0
    for step in range(200):  # no world gives the passer one of those cards
        world = game.resample(state, np.array([1]), derive(step, [1]))
        assert not set(game.describe(world, 0)["hands"][0]) & set(lacked)


# -- worlds


def test_worlds_agree_with_what_is_known() -> None:
    game = make_game("slopes")
    state = staggered(game, 300, 300)
    for seat in (0, 1):
        world = game.resample(state, np.full(300, seat), derive(8, np.arange(300)))
        assert (all_cards(world) == COPIES).all()
        assert np.array_equal(world.hands[:, seat], state.hands[:, seat])
        assert np.array_equal(world.played, state.played)
        assert np.array_equal(world.next_card, state.next_card)
        other = _counts(world.hands[:, 1 - seat])
        assert (other >= _counts(state.shown[:, 1 - seat])).all()
        assert np.array_equal(other.sum(axis=1), _counts(state.hands[:, 1 - seat]).sum(axis=1))
        empty = state.next_card == SIZE
        assert np.array_equal(world.hands[empty], state.hands[empty])
        assert np.array_equal(world.legal_actions, game._legal(world))
        while (live := np.flatnonzero(world.seat >= 0)).size:  # and can be played to the end
            game.step(world, random_actions(game, world, int(world.move[live].max())))


def test_worlds_do_not_tell_how_the_match_goes_on() -> None:
    game = make_game("slopes")
    state = new_batch(game, 50)
    world = game.resample(state, state.seat, derive(8, np.arange(50)))
    assert (world.stock[:, 13:] != state.stock[:, 13:]).any(axis=1).all()
    assert not (world.seed == state.seed).any()
    with pytest.raises(ValueError, match="game 3 is a sampled world"):
        game.deal_object(world, 3)


def test_worlds_deal_every_physical_card_equally_often() -> None:
    game, state = start(NO_MATTER, "B5 W", "W4 W4")
    worlds = game.resample(state.repeat(4000), np.zeros(4000, np.int64), derive(4, np.arange(4000)))
    unseen = np.array(COPIES) - _counts(state.hands[:, 0])[0] - _counts(state.played)[0]
    held = _counts(worlds.hands[:, 1]).sum(axis=0)
    assert (held[unseen == 0] == 0).all()
    assert chisquare(held[unseen > 0], (5 * 4000 * unseen / unseen.sum())[unseen > 0]).pvalue > 1e-4
    last = np.bincount(worlds.stock[:, -1], minlength=TYPES)
    assert chisquare(last[unseen > 0], (4000 * unseen / unseen.sum())[unseen > 0]).pvalue > 1e-4


def test_a_hand_that_has_passed_is_drawn_exactly() -> None:
    """Against every order in which the physical cards can have come, where that can be listed."""
    a, b, c, d, e = range(5)
    hidden = [a, c, c, d, e]  # who holds them is hidden: the hand or the stock
    banned = 1 << a | 1 << c
    # Two cards are dealt, one is drawn, b is put, a pass without a and c, one is drawn, e is put, one is drawn.
    mine, other = EVENT_DRAW, EVENT_DRAW + 1
    events = bytes([mine, other, b, EVENT_KNOWN + d, mine, TYPES + a, e, mine])
    chances: Counter[tuple[int, ...]] = Counter()
    pool = [*((card, copy) for copy, card in enumerate(hidden)), (b, 9), (e, 9)]
    for first, second, third, fourth, fifth in permutations(pool, 5):
        held = [first, second, third]
        if (b, 9) not in held:
            continue
        held.remove((b, 9))
        if any(banned >> card & 1 for card, _ in held):
            continue
        held.append(fourth)
        if (e, 9) not in held:
            continue
        held.remove((e, 9))
        chances[tuple(sorted(card for card, _ in [*held, fifth]))] += 1
    counts = _tally(np.array([hidden]))[0]
    drawn: Counter[tuple[int, ...]] = Counter()
    filling = Filling.make(counts, 0, 2, events, ((4, banned),))
    for hand in hands_after_passes(derive(5, np.arange(3000)), [filling], np.zeros(3000, dtype=np.int64)):
        drawn[tuple(np.repeat(np.arange(TYPES), hand).tolist())] += 1
    assert set(drawn) == set(chances)
    expected = np.array([chances[hand] for hand in chances]) / sum(chances.values()) * 3000
    assert chisquare([drawn[hand] for hand in chances], expected).pvalue > 1e-4


def test_the_events_since_the_last_reshuffle_account_for_every_hand() -> None:
    game = make_game("slopes")
    state = staggered(game, 200, 300)
    for step in range(60):
        live = np.flatnonzero((state.seat >= 0) & (state.next_card < SIZE))
        for i in live[:: 1 + len(live) // 20]:
            events = state.events[i, : state.num_events[i]].tobytes()
            for seat in (0, 1):
                unknown = int((_counts(state.hands[i, seat][None]) - _counts(state.shown[i, seat][None])).sum())
                dealt = 0 if state.reshuffles[i] else 5
                _, ways = slopes._groups_after_passes(seat, dealt, events, _passes_of(seat, state.passes[i]))
                assert {sum(left) for left in ways} == {unknown}
        game.step(state, random_actions(game, state, step))


# -- whole matches


def assert_referee_agrees(matches: int, seed: int, prefer: str = "", **rules: Any) -> Any:
    """Play whole matches at random, often the actions whose names contain one of some words, beside the referee."""
    game = make_game("slopes", **rules)
    state = new_batch(game, matches, seed)
    rng = np.random.default_rng(seed)
    entries = [game.deal_object(state, i) for i in range(matches)]
    judges = [referee.SlopesReferee(game.rules.record(), [entry]) for entry in entries]
    total = np.zeros((matches, 2))
    while (live := np.flatnonzero(state.seat >= 0)).size:
        actions, names = np.zeros(matches, np.int64), {}
        for i in live:
            choice = legal_names = game.legal_names(state, i)
            assert (judges[i].seat, judges[i].legal()) == (state.seat[i], legal_names)
            if rng.random() < 0.8:
                choice = [name for name in legal_names if any(word in name for word in prefer.split())] or choice
            names[i] = choice[rng.integers(len(choice))]
            actions[i] = game.parse_action(state, i, names[i])
        total += game.step(state, actions).rewards
        for i in live:
            game.extend_deal(state, i, entries[i])  # the referee reads reshuffles from there
            judges[i].play(names[i])
            known, told = judges[i].public(1), game.describe(state, i, 1)
            assert sorted(known["hand"]) == sorted(told["hands"][1])
            assert known["hand_sizes"] == told["hand_sizes"]
            assert (known["tops"], known["frozen_by"]) == (told["tops"], told["frozen_by"])
            assert (known["stock_size"], known["scores"]) == (told["stock_size"], told["scores"])
    for i, judge in enumerate(judges):
        judge.check_script_used()
        assert judge.end == ("terminated" if state.terminated[i] else "truncated")
        assert judge.scores == list(total[i]) == list(state.scores[i])
    return state


def test_random_matches_as_the_referee_has_them() -> None:
    state = assert_referee_agrees(12, 1)
    assert (state.reshuffles > 0).any()
    assert_referee_agrees(12, 2, must_play=False)
    assert_referee_agrees(12, 3, "S swap", max_turns=150)
    assert_referee_agrees(40, 4, max_turns=6, first_player=1)
    assert_referee_agrees(12, 5, "W4 D", max_turns=200)
    hoarded = assert_referee_agrees(8, 6, "end", must_play=False, max_turns=250)
    assert hoarded.reshuffles.max() > 4  # hardly anything lies under the tops


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32), must_play=st.booleans(), steps=st.integers(1, 300))
def test_what_holds_after_any_play(seed: int, must_play: bool, steps: int) -> None:
    game = make_game("slopes", must_play=must_play)
    state = new_batch(game, 16, seed)
    for step in range(steps):
        game.step(state, random_actions(game, state, step))
    assert (all_cards(state) == COPIES).all()
    assert (_counts(state.hands[:, 0]) >= _counts(state.shown[:, 0])).all()
    assert (_counts(state.played) >= _tally(state.tops.astype(np.int64), state.tops >= 0)).all()
    assert np.array_equal(state.legal_actions, game._legal(state))
    assert (game.legal(state).any(axis=1) == (state.seat >= 0)).all()
    assert (state.frozen_by[state.tops < 0] == -1).all()
    again = game.from_deals([[game.deal_object(state, i)] for i in range(16)], then_seeds=state.seed)
    for step in range(steps):
        game.step(again, random_actions(game, again, step))
    assert_same(again, state, leave_out=("scripts",))
