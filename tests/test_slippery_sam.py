"""Slippery Sam, rule by rule."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from math import floor
from typing import Any

import numpy as np
import pytest
from helpers import assert_same, new_batch, random_actions, staggered
from hypothesis import given, settings
from hypothesis import strategies as st
from referees.slippery_sam import SlipperySamReferee, beats
from scipy.stats import chisquare

from slopes_envs import DealError, IllegalAction, RulesError, UnknownName, derive, make_game
from slopes_envs.games import slippery_sam
from slopes_envs.games.slippery_sam import DECK, HIGHER, TABLE, Levels

# Cards for seats of which it does not matter what they hold; none of them is a spade.
PLAIN = ["2C 3C 4C", "2D 3D 4D", "2H 3H 4H", "5C 6C 7C", "5D 6D 7D", "5H 6H 7H"]


def bank(hands: list[str], stock: str, dealer: int = 0) -> dict[str, Any]:
    """A hand object: cards of each seat, and how the stock begins; it goes on with what is left of the deck."""
    used = " ".join([*hands, stock]).split()
    return {
        "dealer": dealer,
        "deal": {
            "hands": [hand.split() for hand in hands],
            "stock": stock.split() + [card for card in DECK.names if card not in used],
        },
    }


def start(hands: list[str], stock: str, dealer: int = 0, **rules: Any) -> tuple[Any, Any]:
    """One match whose first bank is dealt like this."""
    game = make_game("slippery_sam", **{"num_players": len(hands)} | rules)
    return game, game.from_deals([[bank(hands, stock, dealer)]], then_seeds=[1])


def play(game: Any, state: Any, actions: str) -> Any:
    """Take actions separated by commas; returns the last outcome."""
    for name in actions.split(", "):
        outcome = game.step(state, [game.parse_action(state, 0, name)])
    return outcome


def legal(game: Any, state: Any) -> list[str]:
    return game.legal_names(state, 0)


def told(game: Any, state: Any) -> dict[str, Any]:
    return game.describe(state, 0, 0)


def give(state: Any, *chips: int) -> None:
    """Let the seats have so many chips."""
    state.scores[0] = chips


# -- the deal and the stake


def test_r1_the_deal() -> None:
    for players in range(2, 10):
        game = make_game("slippery_sam", num_players=players)
        state = new_batch(game, 300)
        assert (state.scores == 100).all()
        assert (np.sort(state.deck, axis=1) == np.arange(52)).all()
        sizes = np.bitwise_count(state.hands)
        assert (sizes[np.arange(300), state.dealer] == 0).all()
        assert (sizes.sum(axis=1) == 3 * (players - 1)).all()
        assert set(np.unique(state.dealer)) == set(range(players))
        assert np.array_equal(state.seat, state.dealer)
        assert chisquare(np.bincount(state.deck[:, 27], minlength=52)).pvalue > 1e-4


def test_r1_every_bank_has_a_fresh_deck() -> None:
    game = make_game("slippery_sam", num_players=2, rounds=3)
    state = new_batch(game, 1)
    decks = {0: state.deck[0].copy()}
    while state.seat[0] >= 0:
        play(game, state, legal(game, state)[0])
        decks.setdefault(int(state.hand[0]), state.deck[0].copy())
    assert len({deck.tobytes() for hand, deck in decks.items() if hand < 6}) == 6


def test_r1_ten_players_are_too_many() -> None:
    with pytest.raises(RulesError, match=r"num_players expected .* from 2 to 9, got 10: .* need 55 cards, .* has 52"):
        make_game("slippery_sam", num_players=10)
    for wrong in (1, 0, True, 6.0, "6", None):
        with pytest.raises(RulesError, match="num_players expected a whole number from 2 to 9"):
            make_game("slippery_sam", num_players=wrong)


def test_r2_the_stake() -> None:
    game, state = start(["", *PLAIN[:2]], "9S", min_stake=20)
    assert legal(game, state) == ["stake 20", "stake 40", "stake 60", "stake 80", "stake 100"]
    outcome = play(game, state, "stake 60")
    assert (state.bank[0], state.seat[0]) == (60, 1)
    assert not outcome.rewards.any()  # the bank still counts as the banker's
    assert list(game.scores(state)[0]) == [100, 100, 100]
    assert told(game, state)["chips"] == [40, 100, 100]


def test_r3_who_is_dealt_in() -> None:
    game, state = start(["", *PLAIN[:3]], "9S", min_bet=20, min_stake=5, rounds=2)
    give(state, 300, 19, 61, 20)
    play(game, state, "stake 5, bet 5, bet 10, bet 20")
    assert state.dealer[0] == 1
    assert list(state.scores[0]) == [335, 14, 51, 0]
    assert told(game, state)["dealt_in"] == [True, False, True, False]  # the banker has no cards
    play(game, state, "stake 5")
    assert state.seat[0] == 2


def test_r3_a_card_is_exposed_after_the_stake() -> None:
    game, state = start(["", *PLAIN[:2]], "9S 10S")
    hidden = game.observation.decode(game.observe(state, 0))
    assert told(game, state)["exposed"] is None
    assert hidden["exposed_suit"][0] == hidden["exposed_rank"][0] == -1
    assert not hidden["seen"].any()
    play(game, state, "stake 10")
    assert told(game, state)["exposed"] == "9S"
    seen = game.observation.decode(game.observe(state, 0))
    assert (seen["exposed_suit"][0], seen["exposed_rank"][0]) == (3, 7)
    assert (seen["better"][0], seen["unseen"][0]) == (5, 51)


# -- turns


def test_r4_turns_go_round_from_the_bankers_left() -> None:
    game, state = start([PLAIN[0], PLAIN[1], "", PLAIN[2]], "9S 10S", dealer=2)
    assert told(game, state)["waiting"] == [3, 0, 1]
    play(game, state, "stake 10, bet 1")
    assert told(game, state)["waiting"] == [1]
    assert (told(game, state)["to_move"], told(game, state)["exposed"]) == (0, "9S")
    play(game, state, "redraw, bet 1")
    assert (told(game, state)["to_move"], told(game, state)["exposed"]) == (1, "10S")  # it stays for the next seat


def test_r5_limits_of_a_bet() -> None:
    game, state = start(["", *PLAIN[:2]], "9S", min_bet=5)
    play(game, state, "stake 100")
    assert legal(game, state) == ["bet 5", "bet 29", "bet 53", "bet 76", "bet 100", "redraw"]
    give(state, 100, 7, 193)
    assert legal(game, state) == ["bet 5", "bet 6", "bet 7"]  # 5.5 and 6.5 are rounded up; no chips for the fee
    give(state, 100, 5, 195)
    assert legal(game, state) == ["bet 5"]


def test_r5_a_bank_below_the_least_bet_is_bet_whole() -> None:
    game, state = start(["", "AS 2C 3C", "KS 4C 5C", "QS 6C 7C"], "9S", min_bet=8, min_stake=10)
    play(game, state, "stake 10, bet 8")
    assert state.bank[0] == 2
    assert legal(game, state) == ["bet 2", "redraw"]
    give(state, 92, 108, 1, 199)
    assert legal(game, state) == ["redraw", "pass"]  # it cannot cover the bank
    give(state, 93, 108, 0, 199)
    assert legal(game, state) == ["pass"]


@pytest.mark.parametrize(
    ("hand", "exposed", "shown"),
    [
        ("10S 2C 3C", "9S", "10S"),
        ("AS 10S JS", "9S", "10S"),  # the lowest that wins
        ("8S AS 2C", "9S", "AS"),
        ("2S 3S 4S", "9S", None),
        ("AC AD AH", "9S", None),
        ("9C 9D 9H", "9S", None),
        ("QS JS KS", "AS", None),  # the ace is high
        ("2C 3C 4C", "AC", None),
        ("3C AD KD", "2C", "3C"),
    ],
)
def test_r6_winning_and_losing(hand: str, exposed: str, shown: str | None) -> None:
    other = next(cards for cards in PLAIN if not set(cards.split()) & {*hand.split(), exposed})
    game, state = start(["", hand, other], exposed)
    outcome = play(game, state, "stake 100, bet 26")
    change = 26 if shown else -26
    assert list(outcome.rewards[0]) == [-change, change, 0]
    assert list(game.scores(state)[0]) == [100 - change, 100 + change, 100]
    assert state.bank[0] == 100 - change
    described = told(game, state)
    assert described["shown"][1] == ([shown] if shown else sorted(hand.split(), key=DECK.parse))
    assert described["results"] == {1: "won" if shown else "lost"}
    assert described["bets"] == {1: 26}


def test_r6_as_the_referee_has_it() -> None:
    for exposed in DECK.names:
        higher = DECK.names_of(int(HIGHER[DECK.parse(exposed)]))
        assert higher == [card for card in DECK.names if beats(card, exposed)]


def test_r7_redraws() -> None:
    game, state = start(["", *PLAIN[:2]], "9S 10S JS QS")
    play(game, state, "stake 33")
    for number in range(3):
        assert told(game, state)["fee"] == 7  # a fifth of 33, rounded up, each time the same
        outcome = play(game, state, "redraw")
        assert list(outcome.rewards[0]) == [7, -7, 0]
        assert state.bank[0] == 33 + 7 * (number + 1)
    assert "redraw" not in legal(game, state)
    described = told(game, state)
    assert described["discards"] == [(1, "9S"), (1, "10S"), (1, "JS")]
    assert described["exposed"] == "QS"
    play(game, state, "pass")
    assert told(game, state)["fee"] == 11  # a fifth of 54


def test_r7_a_fee_by_number() -> None:
    for fee in (0, 1, 30):
        game, state = start(["", *PLAIN[:2]], "9S", fee=fee)
        play(game, state, "stake 100, redraw")
        assert list(state.scores[0]) == [100 + fee, 100 - fee, 100]
        assert told(game, state)["fee"] == fee
    game, state = start(["", *PLAIN[:2]], "9S", fee=10**30)
    play(game, state, "stake 100")
    assert "redraw" not in legal(game, state)
    assert told(game, state)["fee"] == 10**30


def test_r7_a_redraw_must_be_paid() -> None:
    game, state = start(["", *PLAIN[:2]], "9S")
    play(game, state, "stake 100")
    give(state, 181, 19, 100)
    assert "redraw" not in legal(game, state)
    with pytest.raises(IllegalAction, match=r"seat 1: action 'redraw' \(5\) is not legal; legal: bet 1, .*bet 19$"):
        play(game, state, "redraw")
    give(state, 180, 20, 100)
    play(game, state, "redraw")
    assert state.scores[0, 1] == 0
    assert legal(game, state) == ["pass"]


def test_r8_passing() -> None:
    game, state = start(["", *PLAIN[:2]], "9S", fee=0)
    play(game, state, "stake 100")
    for _ in range(3):
        assert "pass" not in legal(game, state)
        play(game, state, "redraw")
    assert legal(game, state)[-1] == "pass"
    play(game, state, "pass")
    assert told(game, state)["results"] == {1: "passed"}
    assert "pass" not in legal(game, state)
    assert state.seat[0] == 2


def test_r8_a_seat_that_redraws_its_last_chips_away_may_pass() -> None:
    game, state = start(["", *PLAIN[:2]], "9S", min_bet=5)
    play(game, state, "stake 10")
    give(state, 194, 6, 100)
    play(game, state, "redraw")
    assert state.scores[0, 1] == 4
    assert legal(game, state) == ["redraw", "pass"]


# -- the end of a bank and of the match


def test_r9_an_empty_bank_ends_at_once() -> None:
    game, state = start(["", "AS 2C 3C", *PLAIN[3:5]], "9S")
    outcome = play(game, state, "stake 100, bet 100")
    assert list(outcome.rewards[0]) == [-100, 100, 0, 0]
    assert (state.hand[0], state.dealer[0], state.seat[0], state.bank[0]) == (1, 1, 1, 0)


def test_r9_the_banker_takes_what_is_left() -> None:
    game, state = start(["", *PLAIN[:2]], "9S")
    play(game, state, "stake 33, bet 33")
    outcome = play(game, state, "bet 66")
    assert list(outcome.rewards[0]) == [66, 0, -66]
    assert told(game, state)["chips"] == [199, 67, 34]
    assert state.dealer[0] == 1


def test_r10_bankers_without_a_stake_are_passed_over() -> None:
    game, state = start(["", *PLAIN[:4]], "9S", min_stake=50)
    play(game, state, "stake 100")
    give(state, 200, 49, 101, 49, 101)
    play(game, state, ", ".join(["bet 1"] * 4))
    assert state.dealer[0] == 2
    assert state.chances[0] == 2
    seen = game.observation.decode(game.observe(state, 0))
    assert seen["bankers_left"][0] == seen["last_bankers"][0] == 2
    play(game, state, "stake 50")
    for _ in range(4):
        play(game, state, legal(game, state)[0])
    assert state.dealer[0] == 4  # seat 3 is passed over as well, without a second chance
    assert game.observation.decode(game.observe(state, 0))["bankers_left"][0] == 0
    play(game, state, "stake 50")
    for _ in range(4):
        play(game, state, legal(game, state)[0])
    assert state.terminated[0]


@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_r11_every_seat_is_banker_so_often(rounds: int) -> None:
    game = make_game("slippery_sam", num_players=3, rounds=rounds, first_dealer=2, starting_chips=1000)
    state = new_batch(game, 1)
    bankers = []
    while state.seat[0] >= 0:
        if state.seat[0] == state.dealer[0]:
            bankers.append(int(state.dealer[0]))
        play(game, state, legal(game, state)[0])  # the least amounts: nobody is ruined
    assert bankers == [2, 0, 1] * rounds
    assert state.terminated[0]
    assert not state.truncated[0]
    assert state.hand[0] == 3 * rounds


def test_r11_one_seat_that_can_bet_is_not_enough() -> None:
    game, state = start(["", "AS 2C 3C"], "9S", rounds=5)
    outcome = play(game, state, "stake 100, bet 100")
    assert outcome.terminated[0]
    assert list(game.scores(state)[0]) == [0, 200]


def test_r11_a_single_bank_may_be_the_match() -> None:
    game, state = start(["", *PLAIN[:2]], "9S", match="hand")
    assert not play(game, state, "stake 10, bet 1").terminated[0]
    assert play(game, state, "bet 1").terminated[0]
    assert told(game, state)["bank"] == 0
    assert told(game, state)["chips"] == [102, 99, 99]


def test_r12_rewards_are_chips() -> None:
    game = make_game("slippery_sam", num_players=4, rounds=3)
    state = new_batch(game, 40)
    before = game.scores(state)
    for step in range(60):
        rewards = game.step(state, random_actions(game, state, step)).rewards
        assert (rewards.sum(axis=1) == 0).all()
        assert np.array_equal(game.scores(state) - before, rewards)
        before = game.scores(state)


def test_r12_the_result_as_reward() -> None:
    game, state = start(["", "AS 2C 3C", PLAIN[1]], "9S", match="hand", reward="win")
    assert not play(game, state, "stake 100").rewards.any()
    assert not play(game, state, "bet 26").rewards.any()
    outcome = play(game, state, "bet 74")
    assert list(game.scores(state)[0]) == [148, 126, 26]
    assert list(outcome.rewards[0]) == [1, -0.5, -0.5]


# -- amounts


def test_levels_are_taken_as_the_decimals_that_are_written() -> None:
    assert Levels((0.29,), 100).parts(np.array([50]), np.array([0]))[0] == 15  # 14.5; a float's 0.29 is a little less
    game, state = start(["", *PLAIN[:2]], "9S", bet_levels=[0, 0.29, 1], starting_chips=51, min_stake=1)
    assert legal(game, state) == ["stake 1", "stake 16", "stake 51"]


@settings(max_examples=200, deadline=None)
@given(
    decimals=st.sets(st.integers(0, 10**18), min_size=1, max_size=70),
    digits=st.integers(1, 18),
    chips=st.lists(st.integers(0, 9 * 10**8), min_size=1, max_size=5),
)
def test_amounts_are_exact(decimals: set[int], digits: int, chips: list[int]) -> None:
    exact = sorted({Fraction(number // 10 ** (18 - digits), 10**digits) for number in decimals})
    levels = tuple(float(Decimal(level.numerator) / level.denominator) for level in exact)
    exact = [Fraction(str(level)) for level in levels]
    if len(set(levels)) < len(levels) or any(10**18 % level.denominator for level in exact):
        return  # too fine for floats
    offered = Levels(levels, TABLE)
    ranges = np.array(chips)
    words = offered.words(ranges)
    for i, span in enumerate(chips):
        parts = [floor(level * span + Fraction(1, 2)) for level in exact]
        assert [int(offered.parts(ranges[i : i + 1], np.array([k]))[0]) for k in range(len(levels))] == parts
        new = [k for k in range(len(parts)) if k == 0 or parts[k] > parts[k - 1]]
        assert [k for k in range(64 * words.shape[1]) if int(words[i, k // 64]) >> k % 64 & 1] == new


def test_amounts_looked_up_are_those_computed() -> None:
    levels = (0, 0.05, 0.29, 1 / 3, 0.5, 2 / 3, 1)
    small, large = Levels(levels, 900), Levels(levels, TABLE)
    assert small._table is not None
    assert large._table is None
    ranges = np.arange(901)
    assert np.array_equal(small.words(ranges), large.words(ranges))
    for which in range(len(levels)):
        index = np.full(901, which)
        assert np.array_equal(small.parts(ranges, index), large.parts(ranges, index))


def test_levels_that_give_the_same_amount_are_left_out() -> None:
    game, state = start(["", *PLAIN[:2]], "9S", min_stake=98)
    assert legal(game, state) == ["stake 98", "stake 99", "stake 100"]  # levels 0.25 and 0.5 both give 99
    assert list(np.flatnonzero(game.legal(state)[0])) == [0, 1, 3]
    assert game.parse_action(state, 0, "stake 99") == 1
    game, state = start(["", *PLAIN[:2]], "9S", min_stake=100)
    assert list(np.flatnonzero(game.legal(state)[0])) == [0]


def test_all_amounts() -> None:
    game, state = start(["", *PLAIN[:2]], "9S", bet_levels="all", starting_chips=30)
    assert game.num_actions == 3 * 30 + 3
    assert legal(game, state) == [f"stake {amount}" for amount in range(10, 31)]
    play(game, state, "stake 30")
    assert legal(game, state) == [*(f"bet {amount}" for amount in range(1, 31)), "redraw"]
    assert game.action_name(state, 0, 91) == "redraw"
    assert game.action_name(state, 0, 92) == "pass"
    give(state, 89, 1, 0)
    assert legal(game, state) == ["bet 1"]
    give(state, 90, 0, 0)
    assert legal(game, state) == ["pass"]


def test_amounts_are_named_by_their_chips() -> None:
    game, state = start(["", *PLAIN[:2]], "9S")
    for wrong in ("bet 10", "stake 11", "stake 010", "stake", "stake 10.0", "stake -10", "stake \u0661", "bet", ""):
        with pytest.raises(UnknownName, match="unknown action"):
            game.parse_action(state, 0, wrong)
    play(game, state, "stake 100")
    for wrong in ("stake 1", "bet 2", "bet 101", "bet 0"):
        with pytest.raises(UnknownName, match="unknown action"):
            game.parse_action(state, 0, wrong)
    assert [game.action_name(state, 0, action) for action in range(7)] == [
        *(f"bet {amount}" for amount in (1, 26, 51, 75, 100)),
        "redraw",
        "pass",
    ]


# -- options and deals


WRONG_OPTIONS: list[tuple[dict[str, Any], str]] = [
    ({"bet_levels": ()}, "bet_levels expected 'all' or rising numbers from 0 to 1"),
    ({"bet_levels": (0, 0.5, 0.5, 1)}, "bet_levels expected"),
    ({"bet_levels": (1, 0)}, "bet_levels expected"),
    ({"bet_levels": (-0.1, 1)}, "bet_levels expected"),
    ({"bet_levels": (0, 1.1)}, "bet_levels expected"),
    ({"bet_levels": (0, float("nan"), 1)}, "bet_levels expected"),
    ({"bet_levels": (False, True)}, "bet_levels expected"),
    ({"bet_levels": ("0", "1")}, "bet_levels expected"),
    ({"bet_levels": (0, 1e-19, 1)}, "bet_levels expected .* with at most 18 decimals"),
    ({"bet_levels": "every"}, "bet_levels expected"),
    ({"bet_levels": 0.5}, "bet_levels expected"),
    ({"fee": -1}, "fee expected 'fifth' or a whole number of at least 0, got -1"),
    ({"fee": 1.0}, "fee expected"),
    ({"fee": True}, "fee expected"),
    ({"fee": None}, "fee expected"),
    ({"fee": "tenth"}, "fee expected"),
    ({"starting_chips": 9}, "starting_chips expected at least min_stake, which is 10, got 9"),
    ({"starting_chips": 20, "min_bet": 21}, "starting_chips expected at least min_bet, which is 21, got 20"),
    ({"starting_chips": 10**9}, "starting_chips expected a whole number from 1 to 100000000"),
    ({"num_players": 4, "first_dealer": 4}, "first_dealer expected a seat from 0 to 3 with 4 players"),
]


@pytest.mark.parametrize(("options", "reason"), WRONG_OPTIONS)
def test_wrong_options_are_refused(options: dict[str, Any], reason: str) -> None:
    with pytest.raises(RulesError, match=f"slippery_sam: option {reason}"):
        make_game("slippery_sam", **options)


def test_options_as_they_stand_in_records() -> None:
    options = {"bet_levels": [0, np.float64(0.5), 1], "fee": np.int64(3)}
    rules = make_game("slippery_sam", **options).rules.record()
    assert rules["bet_levels"] == [0, 0.5, 1]
    assert [type(level) for level in rules["bet_levels"]] == [int, float, int]
    assert type(rules["fee"]) is int
    assert make_game("slippery_sam", bet_levels="all").rules.record()["bet_levels"] == "all"
    assert make_game("slippery_sam").rules.record()["fee"] == "fifth"


WRONG_DEALS: list[tuple[Callable[[dict[str, Any]], Any], str]] = [
    (lambda d: d["hands"].pop(), "hands: expected the hands of 3 seats, got 2"),
    (lambda d: d["hands"][1].pop(), "seat 1: expected 3 cards, got 2"),
    (lambda d: d["hands"][1].__setitem__(0, "1C"), "seat 1: unknown card '1C'"),
    (lambda d: d["hands"][1].__setitem__(0, "2D"), "2D is dealt 2 times"),
    (lambda d: d["stock"].pop(), "stock: expected 46 cards, got 45"),
    (lambda d: d["stock"].__setitem__(9, "2C"), "2C is dealt 2 times"),
    (lambda d: d.__setitem__("stock", 3), "stock: expected a list of card names, got 3"),
    (lambda d: d.__setitem__("hands", None), "hands: expected the hands of 3 seats, got None"),
    (lambda d: d.pop("stock"), "deal: the key 'stock' is missing"),
    (lambda d: d.__setitem__("reshuffles", []), "deal: unknown key 'reshuffles'"),
    (lambda d: d["stock"].extend(d["hands"][2]) or d["hands"][2].clear(), "seat 2 expected three cards, got 0"),
    (lambda d: d["hands"][0].extend(d["stock"].pop() for _ in range(3)), "seat 0 expected no cards, got 3"),
]


@pytest.mark.parametrize(("spoil", "reason"), WRONG_DEALS)
def test_wrong_deals_are_refused(spoil: Callable[[dict[str, Any]], Any], reason: str) -> None:
    entry = bank(["", *PLAIN[:2]], "9S")
    spoil(entry["deal"])
    with pytest.raises(DealError, match=f"slippery_sam, match 1, hand 1: .*{reason}"):
        make_game("slippery_sam", num_players=3).from_deals([[entry]])


def test_a_bank_by_the_wrong_banker_is_refused_and_changes_nothing() -> None:
    game = make_game("slippery_sam", num_players=3)
    hands = ["", *PLAIN[:2]]
    for second in (bank([PLAIN[0], "", PLAIN[1]], "9S", 2), bank(hands, "9S", 0), bank(hands, "9S", 1)):
        state = game.from_deals([[bank(hands, "9S"), second]])
        play(game, state, "stake 10, bet 1")
        before = state.copy()
        with pytest.raises(DealError, match=r"slippery_sam, match 1, hand 2: (the dealer is seat 1|hands: seat)"):
            play(game, state, "bet 1")
        assert_same(state, before)
    state = game.from_deals([[bank(hands, "9S"), bank([PLAIN[0], "", PLAIN[1]], "AS", 1)]])
    play(game, state, "stake 10, bet 1, bet 1, stake 10")
    assert told(game, state)["exposed"] == "AS"


def test_deals_are_told_as_they_were() -> None:
    entry = bank(["", "AC 5D 9H", "2C 2D 2H"], "9S KD 3C QH")
    game = make_game("slippery_sam", num_players=3)
    state = game.from_deals([[entry]])
    assert game.deal_object(state, 0) == entry
    play(game, state, "stake 100, redraw, bet 1")
    assert game.deal_object(state, 0) == entry


# -- what a seat knows


def names_in(bits: Any) -> list[str]:
    return [name for name, there in zip(DECK.names, bits, strict=True) if there]


@pytest.mark.parametrize("players", [2, 5, 9])
def test_observations_tell_all_that_a_seat_may_know(players: int) -> None:
    game = make_game("slippery_sam", num_players=players, min_bet=7, rounds=2, fee=2)
    state = staggered(game, 120, 60)
    for seat in range(players):
        seen = game.observation.decode(game.observe(state, seat))
        everything = game.observation_all.decode(game.observe_all(state, seat))
        order = [(seat + k) % players for k in range(players)]
        for i in range(120):
            known = game.describe(state, i, seat)
            assert "hands" not in known
            mover, banker, absent = known["to_move"], known["banker"], [0] * (9 - players)

            def relative(other: int | None, order: list[int] = order) -> int:
                return -1 if other is None else order.index(other)

            exposed = known["exposed"]
            suit, rank = (-1, -1) if exposed is None else divmod(DECK.parse(exposed), 13)
            assert (seen["exposed_suit"][i], seen["exposed_rank"][i]) == (suit, rank)
            shown = [names_in(seen["shown"][i, k]) for k in range(players)]
            assert shown == [known["shown"][s] for s in order]
            discarded = {(s, name) for k, s in enumerate(order) for name in names_in(seen["discarded"][i, k])}
            assert discarded == set(known["discards"])
            faces = {name for cards in shown for name in cards} | {name for _, name in discarded} | {exposed} - {None}
            assert set(names_in(seen["seen"][i])) == faces
            assert seen["unseen"][i] == 52 - len(faces)
            better = [card for card in DECK.names if exposed and card not in faces and beats(card, exposed)]
            assert seen["better"][i] == len(better)
            results = ["won", "lost", "passed"]
            assert list(seen["results"][i]) == [
                *(results.index(known["results"][s]) if s in known["results"] else -1 for s in order),
                *(-1 for _ in absent),
            ]
            assert list(seen["bets"][i]) == [known["bets"].get(s, 0) for s in order] + absent
            assert list(seen["chips"][i]) == [known["chips"][s] for s in order] + absent
            assert list(seen["chips_level"][i]) == [min(n // 10, 20) for n in seen["chips"][i]]
            assert [bool(n) for n in seen["dealt_in"][i, :players, 0]] == [known["dealt_in"][s] for s in order]
            assert [s for k, s in enumerate(order) if seen["waiting"][i, k, 0]] == [
                s for s in order if s in known["waiting"]
            ]
            assert seen["turns_left"][i] == len(known["waiting"])
            turns = known["waiting"] if known["phase"] == "stake" else [mover, *known["waiting"]]
            assert seen["own_turn"][i] == (turns.index(seat) if seat in turns else -1)
            assert (seen["banker"][i], seen["to_move"][i]) == (relative(banker), relative(mover))
            assert seen["phase"][i] == ["stake", "bet", "over"].index(known["phase"])
            assert seen["players"][i] == players - 2
            assert (seen["redraws"][i], seen["bank"][i]) == (known["redraws"], known["bank"])
            assert seen["fee"][i] == (known["fee"] or 0)
            amounts = [int(name.split()[1]) for name in game.legal_names(state, i) if " " in name] or [0]
            assert (seen["least"][i], seen["most"][i]) == (amounts[0], amounts[-1])
            assert seen["most_level"][i] == min(amounts[-1] // 10, 20)
            left = 0 if mover is None else 2 * players - 1 - int(state.chances[i])
            assert (seen["bankers_left"][i], seen["last_bankers"][i]) == (left, min(left, 9))
            hands = game.describe(state, i)["hands"]
            assert [names_in(everything["all_hands"][i, k]) for k in range(players)] == [hands[s] for s in order]
            stock = game.deal_object(state, i)["deal"]["stock"]
            coming = stock[int(state.exposures[i]) :][:3]
            assert [DECK.names[card] for card in everything["next_cards"][i] if card >= 0][: len(coming)] == coming[:3]


def test_the_layout_is_the_same_for_all_numbers_of_players() -> None:
    layouts = [make_game("slippery_sam", num_players=players).observation for players in range(2, 10)]
    assert all(list(layout) == list(layouts[0]) for layout in layouts)


def test_no_seat_sees_its_own_cards() -> None:
    game = make_game("slippery_sam")
    state = staggered(game, 200, 30)
    for seat in range(6):
        world = game.resample(state, seat, derive(seat, np.arange(200)))
        hidden = (np.bitwise_count(state.hands[:, seat]) == 3) & (state.shown[:, seat] == 0)
        assert (world.hands[hidden, seat] != state.hands[hidden, seat]).mean() > 0.9
        for other in range(6):
            assert np.array_equal(game.observe(world, other), game.observe(state, other))


# -- worlds


def test_worlds_agree_with_what_was_shown() -> None:
    game = make_game("slippery_sam", num_players=9, fee=1)
    state = staggered(game, 400, 40)
    world = game.resample(state, 0, derive(3, np.arange(400)))
    assert (np.sort(world.deck, axis=1) == np.arange(52)).all()
    assert np.array_equal(world.hands != 0, state.hands != 0)
    for i in range(400):
        for seat, cards in enumerate(state.shown[i]):
            if cards:
                winning = int(world.hands[i, seat]) & int(HIGHER[state.against[i, seat]])
                won = state.results[i, seat] == slippery_sam.WON
                assert (winning & -winning == cards) if won else (not winning and world.hands[i, seat] == cards)
    before = state.exposures
    told_true = [game.deal_object(state, i)["deal"]["stock"][: before[i]] for i in range(400)]
    told_world = [game.deal_object(world, i)["deal"]["stock"][: before[i]] for i in range(400)]
    assert told_true == told_world
    for step in range(200):
        game.step(world, random_actions(game, world, step))  # and can be played to the end
    assert (world.seat < 0).all()


def test_worlds_are_drawn_evenly() -> None:
    game, state = start(["", "KS 2C 3C", *PLAIN[1:3]], "4S 5S")
    play(game, state, "stake 100, redraw, bet 1")  # seat 1 shows the king over the five
    count = 6000
    worlds = game.resample(state.repeat(count), np.zeros(count, np.int64), derive(4, np.arange(count)))
    banned = {DECK.parse(name) for name in "6S 7S 8S 9S 10S JS QS".split()}  # noqa: SIM905 -- reads better
    unseen = [card for card in range(52) if DECK.name(card) not in ("4S", "5S", "KS")]
    free = [card for card in unseen if card not in banned]
    others = [card for hand in worlds.hands[:, 1] for card in range(52) if int(hand) >> card & 1]
    held = np.bincount(others, minlength=52)
    assert (held[list(banned)] == 0).all()
    assert held[DECK.parse("KS")] == count
    assert chisquare(held[free]).pvalue > 1e-4
    # Any other place is one of 47, and the winner's two places take two of the free cards away.
    chance = np.array([1 / 47 if card in banned else (1 - 2 / len(free)) / 47 for card in unseen])
    for place in (27 + 2, 3 * 2, 51):
        drawn = np.bincount(worlds.deck[:, place], minlength=52)[unseen]
        assert chisquare(drawn, chance / chance.sum() * count).pvalue > 1e-4


def test_worlds_have_chances_of_their_own() -> None:
    game = make_game("slippery_sam", num_players=2)
    state = new_batch(game, 30)
    world = game.resample(state, 0, derive(8, np.arange(30)))
    assert not (world.seed == state.seed).any()
    assert not (world.deck == state.deck).all(axis=1).any()


# -- whole matches


def assert_referee_agrees(
    matches: int, seed: int, prefer: Callable[[list[str]], list[str]] = list, **rules: Any
) -> Any:
    """Play whole matches at random, mostly actions that are preferred, beside the referee."""
    game = make_game("slippery_sam", **rules)
    state = new_batch(game, matches, seed)
    rng = np.random.default_rng(seed)
    judges = [SlipperySamReferee(game.rules.record(), [game.deal_object(state, i)]) for i in range(matches)]
    total = np.zeros(state.scores.shape)
    while (live := np.flatnonzero(state.seat >= 0)).size:
        actions, names = np.zeros(matches, np.int64), {}
        for i in live:
            legal_names = game.legal_names(state, i)
            assert (judges[i].seat, judges[i].legal()) == (state.seat[i], legal_names)
            choice = prefer(legal_names) if rng.random() < 0.8 else legal_names
            names[i] = choice[rng.integers(len(choice))]
            actions[i] = game.parse_action(state, i, names[i])
        hands = state.hand.copy()
        total += game.step(state, actions).rewards
        for i in live:
            if state.hand[i] > hands[i] and state.seat[i] >= 0:
                judges[i].script.append(game.deal_object(state, i))
            judges[i].play(names[i])
            assert judges[i].scores == list(state.scores[i])
            known, described = judges[i].public(0), game.describe(state, i, 0)
            if state.seat[i] >= 0:
                for key in ("exposed", "discards", "bank", "banker", "dealt_in", "redraws", "fee", "chips"):
                    assert known[key] == described[key]
                assert [set(cards) for cards in known["shown"]] == [set(cards) for cards in described["shown"]]
    for i, judge in enumerate(judges):
        assert judge.over
        assert len(judge.hand_scores) == state.hand[i]
    assert np.array_equal(total, game.scores(state) - game.rules.starting_chips)
    return state


def boldly(names: list[str]) -> list[str]:
    """The greatest amount."""
    return [name for name in names if " " in name][-1:] or names


def timidly(names: list[str]) -> list[str]:
    return names[:1]


def choosily(names: list[str]) -> list[str]:
    return ["redraw"] if "redraw" in names else names


def test_random_matches_as_the_referee_has_them() -> None:
    assert_referee_agrees(40, 1)
    assert_referee_agrees(40, 2, num_players=2, rounds=4)
    assert_referee_agrees(12, 3, choosily, num_players=9, fee=0, min_bet=3)
    assert_referee_agrees(12, 4, num_players=3, bet_levels="all", starting_chips=30, rounds=3, fee=2)
    assert_referee_agrees(20, 5, timidly, bet_levels=(0, 0.29, 1), starting_chips=51, rounds=2)
    poor = assert_referee_agrees(30, 6, boldly, num_players=5, min_stake=40, min_bet=17, rounds=4)
    assert (poor.scores < 17).any()
    assert_referee_agrees(30, 7, choosily, num_players=6, min_bet=20, starting_chips=60, rounds=2)
    assert_referee_agrees(20, 8, num_players=4, match="hand", first_dealer=3)
    assert_referee_agrees(10, 9, num_players=3, starting_chips=20_000, bet_levels=(1 / 3, 2 / 3, 1))


RULES = st.fixed_dictionaries(
    {
        "num_players": st.integers(2, 9),
        "starting_chips": st.integers(10, 300),
        "min_stake": st.integers(1, 10),
        "min_bet": st.integers(1, 10),
        "fee": st.sampled_from(["fifth", 0, 1, 5, 50]),
        "rounds": st.integers(1, 4),
        "bet_levels": st.sampled_from(["all", (0, 0.25, 0.5, 0.75, 1), (0.5,), (0, 1)]),
        "match": st.sampled_from(["game", "hand"]),
    }
)


@settings(max_examples=40, deadline=None)
@given(rules=RULES, seed=st.integers(0, 2**32))
def test_what_holds_in_any_match(rules: dict[str, Any], seed: int) -> None:
    game = make_game("slippery_sam", **rules)
    state = new_batch(game, 20, seed)
    chips = rules["num_players"] * rules["starting_chips"]
    for step in range(3 * 4 * 9 * 9 * 4):
        if (state.seat < 0).all():
            break
        game.step(state, random_actions(game, state, step))
        assert (state.scores.sum(axis=1) == chips).all()
        assert (state.scores >= 0).all()
        live = state.seat >= 0
        assert (state.bank >= 0).all()
        assert (state.bank <= state.scores[np.arange(20), state.dealer]).all()
        assert (game.legal(state).any(axis=1) == live).all()
        if rules["bet_levels"] == "all":
            assert not game.legal(state)[:, 0].any()
    assert state.terminated.all()
    assert not state.truncated.any()
