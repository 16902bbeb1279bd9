"""Sluff, rule by rule."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from helpers import new_batch, random_actions, staggered
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from refereed import assert_referees_agree, referee_of
from referees.sluff import winning_position

from slopes_envs import DealError, RulesError, State, derive, make_game, match_seed
from slopes_envs.games.sluff import COPIES, DECK, score_hand

SIZES = {4: 14, 6: 14, 8: 14, 10: 11}
# The deck of four players, so that single cards can be swapped between hands: one R2, one R9, two of all others.
EAST = "R1 R1 R2 R9 R10 R10 R11 R11 R12 R12 R13 R13 R14 R14"
SOUTH = "B1 B1 B9 B9 B10 B10 B11 B11 B12 B12 B13 B13 B14 B14"
WEST = "G1 G1 G9 G9 G10 G10 G11 G11 G12 G12 G13 G13 G14 G14"
NORTH = "Y1 Y1 Y9 Y9 Y10 Y10 Y11 Y11 Y12 Y12 Y13 Y13 Y14 Y14"
FOUR_COLOURS = [EAST, SOUTH, WEST, NORTH]


def start(hands: list[str], dealer: int = 3, **rules: Any) -> tuple[Any, Any]:
    """A single match with these hands; with dealer 3, seat 0 bids first."""
    game = make_game("sluff", num_players=len(hands), first_dealer=None, **rules)
    return game, game.from_deals([[{"dealer": dealer, "deal": {"hands": hands}}]], then_seeds=[1])


def play(game: Any, state: Any, actions: str) -> Any:
    """Take actions written as names between commas; returns the last outcome."""
    for name in actions.split(","):
        outcome = game.step(state, [game.parse_action(state, 0, name.strip())])
    return outcome


def finish(game: Any, state: Any) -> None:
    step = 0
    while (state.seat >= 0).any():
        game.step(state, random_actions(game, state, step))
        step += 1


BIDS = "bid 1, bid 1, bid 1, bid 1"


def test_r1_teams_sit_alternately() -> None:
    assert make_game("sluff").teams == ((0, 2), (1, 3))
    assert make_game("sluff", num_players=10).teams == ((0, 2, 4, 6, 8), (1, 3, 5, 7, 9))


def dealt_cards(state: State, i: int) -> Counter[str]:
    game = make_game("sluff", num_players=state.scores.shape[1])
    return Counter(card for hand in game.deal_object(state, i)["deal"]["hands"] for card in hand)


def deck(low: int, **changed: int) -> Counter[str]:
    """Two of all numbers from ``low`` on and of the 1, then changed."""
    full = {f"{colour}{number}": 2 for colour in "RBGY" for number in range(1, 15) if number == 1 or number >= low}
    return Counter(full | changed)


@pytest.mark.parametrize(
    ("players", "cards"),
    [
        (4, deck(9, R9=1, R2=1)),
        (6, deck(6, R2=1, Y5=1, G5=1, B5=1)),
        (8, deck(2)),
        (10, deck(2, R5=1, G5=1)),
    ],
)
def test_r2_the_deck_and_the_hands(players: int, cards: Counter[str]) -> None:
    state = new_batch(make_game("sluff", num_players=players), 300)
    sizes = np.bitwise_count(state.hands) + np.bitwise_count(state.doubles)
    assert (sizes == SIZES[players]).all()
    for i in range(10):
        assert dealt_cards(state, i) == cards
    held = np.array([(state.hands >> np.uint64(card) & np.uint64(1)).mean(axis=0) for card in range(56)])
    twice = np.array([(state.doubles >> np.uint64(card) & np.uint64(1)).mean(axis=0) for card in range(56)])
    expected = np.array([cards[name] for name in DECK.names])[:, None] / players
    assert np.abs(held + twice - expected).max() < 0.15


def test_r3_seat_0_deals_first_and_the_deal_passes_to_the_left() -> None:
    game = make_game("sluff")
    state = new_batch(game, 10)
    for step in range(60):
        assert (state.dealer == 0).all()
        game.step(state, random_actions(game, state, step))
    assert (state.dealer == 1).all()
    assert (state.seat == 2).all()


def test_r4_bids_are_open_and_in_turn() -> None:
    game, state = start(FOUR_COLOURS, dealer=0)
    numbers = [f"bid {n}" for n in range(1, 15)]
    assert game.legal_names(state, 0) == ["sluff", *numbers]
    play(game, state, "bid 3, sluff")
    assert state.seat[0] == 3
    for seat in range(4):
        assert game.describe(state, 0, seat)["bids"] == {1: "bid 3", 2: "sluff"}
    seen = game.observation.decode(game.observe(state, 3))
    assert list(seen["bids"][0]) == [-1, -1, 3, 0, *[-1] * 6]
    assert list(seen["sluff_intact"][0, :, 0]) == [False, False, False, True, *[False] * 6]
    assert (seen["right_bid"][0], seen["right_intact"][0, 0]) == (0, True)
    assert list(seen["opener"]) == list(seen["leader"]) == [-1]


def test_r4_ten_players_bid_at_most_eleven() -> None:
    game = make_game("sluff", num_players=10)
    assert game.legal_names(new_batch(game, 1), 0) == ["sluff", *(f"bid {n}" for n in range(1, 12))]


def test_r4_zero_may_be_bid_where_allowed() -> None:
    game, state = start(FOUR_COLOURS, allow_zero_bid=True)
    assert game.num_actions == 72
    assert game.legal_names(state, 0) == ["sluff", *(f"bid {n}" for n in range(1, 15)), "bid 0"]
    play(game, state, "bid 0, sluff")
    assert game.describe(state, 0)["bids"] == {0: "bid 0", 1: "sluff"}
    assert game.describe(state, 0)["sluffs_intact"] == [1]
    assert list(game.observation.decode(game.observe(state, 0))["bids"][0, :3]) == [15, 0, -1]


def swapped(one: str, other: str) -> list[str]:
    """The four hands of one colour each, with one copy of a card exchanged for one copy of another."""
    hands = [hand.split() for hand in FOUR_COLOURS]
    first, second = (next(hand for hand in hands if card in hand) for card in (one, other))
    first[first.index(one)], second[second.index(other)] = other, one
    return [" ".join(hand) for hand in hands]


@pytest.mark.parametrize(("dealer", "holder", "passed"), [(3, 0, []), (0, 0, [1, 2, 3]), (0, 3, [1, 2]), (1, 3, [2])])
def test_r5_the_first_holder_of_a_red_two_leads_it(dealer: int, holder: int, passed: list[int]) -> None:
    hands = FOUR_COLOURS[-holder:] + FOUR_COLOURS[:-holder]
    game, state = start(hands, dealer=dealer)
    play(game, state, BIDS)
    assert (state.seat[0], state.opener[0], state.leader[0]) == (holder, holder, holder)
    assert game.legal_names(state, 0) == ["R2"]
    assert game.describe(state, 0)["without_R2"] == passed
    for seat in range(4):
        assert game.observation.decode(game.observe(state, seat))["opener"][0] == (holder - seat) % 4


@pytest.mark.parametrize("dealer", range(8))
def test_r5_with_two_red_twos_the_first_from_the_dealers_left_counts(dealer: int) -> None:
    game = make_game("sluff", num_players=8, first_dealer=dealer)
    state = new_batch(game, 50)
    red_two = np.uint64(1 << DECK.parse("R2"))
    for _ in range(8):
        game.step(state, np.ones(50, dtype=np.int64))
    for i in range(50):
        holders = [s for s in ((dealer + 1 + k) % 8 for k in range(8)) if state.hands[i, s] & red_two]
        assert state.seat[i] == holders[0]


def test_r5_winners_lead_on_and_any_card() -> None:
    game, state = start(FOUR_COLOURS)
    play(game, state, BIDS)
    play(game, state, "R2, B9, G1, Y1")
    assert (state.seat[0], state.leader[0]) == (1, 1)
    assert list(state.tricks[0]) == [0, 1, 0, 0]
    assert game.legal_names(state, 0) == list(dict.fromkeys(SOUTH.split()))  # two copies are one action


def test_r6_the_led_colour_is_followed() -> None:
    game, state = start(swapped("R9", "B9"))
    play(game, state, BIDS)
    play(game, state, "R2")
    assert game.legal_names(state, 0) == ["R9"]
    play(game, state, "R9")
    assert game.legal_names(state, 0) == list(dict.fromkeys(WEST.split()))
    play(game, state, "G9, Y9")
    assert game.describe(state, 0)["voids"] == {0: [], 1: [], 2: ["R"], 3: ["R"]}


def test_r6_black_led_is_followed_with_black() -> None:
    game, state = start(swapped("G9", "B9"))
    play(game, state, BIDS + ", R2, B14, G9, Y9, B1")
    assert game.describe(state, 0)["follow"] == "B"
    assert game.legal_names(state, 0) == ["B9"]


TRICKS = [
    ("highest of the led colour", "R2 R9 R14 R13", 2),
    ("the 1 is the highest", "R14 R1 R9 R13", 1),
    ("other colours do not win", "R2 G1 Y1 G14", 0),
    ("black is trump", "R1 B2 R14 R13", 1),
    ("the highest black", "R1 B9 B14 B13", 2),
    ("the 1 of black", "R1 B14 B1 B13", 2),
    ("black led", "B9 B10 R1 G1", 1),
    ("identical cards: the first", "R1 R9 R1 R2", 0),
    ("identical trumps: the first", "R1 B14 G9 B14", 1),
    ("identical cards later in the trick", "G2 G13 G13 Y1", 1),
]


@pytest.mark.parametrize(("cards", "winner"), [case[1:] for case in TRICKS], ids=[case[0] for case in TRICKS])
def test_r7_who_wins_a_trick(cards: str, winner: int) -> None:
    game, state = start(FOUR_COLOURS)
    play(game, state, BIDS + ", R2, B9, G9, Y9")
    for place, card in enumerate(cards.split()):  # hands of one card: whatever it is may be played
        state.hands[0, (1 + place) % 4] = 1 << DECK.parse(card)
        state.doubles[0, (1 + place) % 4] = 0
    play(game, state, cards.replace(" ", ","))
    assert state.seat[0] == (1 + winner) % 4


@settings(max_examples=200, deadline=None)
@given(cards=st.lists(st.sampled_from(DECK.names), min_size=4, max_size=4))
def test_r7_any_trick(cards: list[str]) -> None:
    game, state = start(FOUR_COLOURS)
    play(game, state, BIDS + ", R2, B9, G9, Y9")
    for place, card in enumerate(cards):
        state.hands[0, (1 + place) % 4] = 1 << DECK.parse(card)
    play(game, state, ",".join(cards))
    assert state.seat[0] == (1 + winning_position(cards)) % 4


# Bids and tricks of one team (the other bids 1 and takes the rest), and what it scores.
SCORES = [
    ("R9", ["bid 5", "sluff", "sluff"], [8, 0, 1], 54),  # the document's first example
    ("R8", ["bid 4", "bid 2", "sluff"], [3, 2, 0], 0),  # and its second
    ("R9", ["bid 3", "bid 2", "bid 1"], [0, 0, 6], 60),
    ("R8", ["bid 3", "bid 2", "bid 1"], [5, 0, 0], 0),
    ("R9", ["bid 1", "bid 1", "bid 1"], [2, 2, 3], 34),
    ("R8", ["bid 4", "sluff", "sluff"], [3, 1, 0], 90 - 50),  # the sluffer's trick makes the bid
    ("R9", ["sluff", "sluff", "sluff"], [0, 0, 0], 150),
    ("R9", ["sluff", "sluff", "sluff"], [1, 2, 3], 6 - 150),
    ("R9", ["sluff", "sluff", "sluff"], [0, 0, 2], 2 + 50),
    ("R9", ["bid 0", "bid 0", "bid 0"], [0, 1, 0], 1),
    ("R9", ["bid 0", "sluff", "bid 2"], [0, 0, 2], 70),
]


@pytest.mark.parametrize(("rule", "bids", "tricks", "score"), SCORES)
def test_r8_r9_r10_score_of_a_hand(rule: str, bids: list[str], tricks: list[int], score: int) -> None:
    number = {"sluff": 0, "bid 0": 15} | {f"bid {n}": n for n in range(1, 15)}
    for team in (0, 1):
        all_bids, all_tricks = np.ones((1, 6), np.int8), np.zeros((1, 6), np.int8)
        all_bids[0, team::2] = [number[bid] for bid in bids]
        all_tricks[0, team::2] = tricks
        all_tricks[0, 1 - team] = 14 - sum(tricks)
        others = 30 + 14 - sum(tricks) - 3
        scored = score_hand(all_bids, all_tricks)[0]
        assert list(scored[team::2]) == [score] * 3
        assert list(scored[1 - team :: 2]) == [others] * 3


def test_r8_r9_a_hand_played_out() -> None:
    """Everybody holds one colour, black takes all tricks after the first."""
    game, state = start(FOUR_COLOURS, match="hand")
    play(game, state, "sluff, bid 10, sluff, sluff")
    for trick in zip(*(hand.split() for hand in (SOUTH, WEST, NORTH)), strict=True):
        red = "R2" if trick[0] == "B1" and state.moves[0] == 4 else None
        if red:
            outcome = play(game, state, ", ".join([red, *trick]))
        else:
            rest = game.describe(state, 0, 0)["hands"][0]
            outcome = play(game, state, ", ".join([*trick, rest[0]]))
    # Even seats: two sluffs made. Odd seats: 10 bid and 4 beyond, one sluff made.
    assert list(outcome.rewards[0]) == [100, 154, 100, 154]
    assert state.terminated[0]


def test_r11_everybody_deals_once() -> None:
    for players in (4, 6):
        game = make_game("sluff", num_players=players)
        state = new_batch(game, 20)
        finish(game, state)
        assert (state.hand == players).all()
        assert state.terminated.all()
        assert not state.truncated.any()
        assert (state.move == players * players * (1 + SIZES[players])).all()
    game = make_game("sluff", match="hand")
    state = new_batch(game, 20)
    finish(game, state)
    assert (state.hand == 1).all()
    assert state.terminated.all()


def test_r11_a_win_is_shared_by_the_team() -> None:
    game = make_game("sluff", match="hand", reward="win")
    state = new_batch(game, 300)
    live = np.arange(300)
    while (state.seat >= 0).any():
        bidding = state.moves < 4
        actions = random_actions(game, state, int(state.move[0]), live)
        rewards = game.step(state, np.where(bidding, actions % 4, actions)).rewards
    better = np.sign(state.scores[:, 0] - state.scores[:, 1])
    assert set(better) == {-1, 0, 1}
    assert (rewards == np.stack([better, -better] * 2, axis=1) / 2).all()


# -- options -----------------------------------------------------------------------------------------------------------


def test_options_are_checked_together() -> None:
    assert (new_batch(make_game("sluff", num_players=10, first_dealer=9), 5).seat == 0).all()
    drawn = new_batch(make_game("sluff", first_dealer=None), 100).dealer
    assert set(drawn) == {0, 1, 2, 3}
    with pytest.raises(RulesError, match="first_dealer expected a seat from 0 to 3 with 4 players, or None, got 4"):
        make_game("sluff", first_dealer=4)
    with pytest.raises(RulesError, match="num_players expected 4 or 6 or 8 or 10, got 5"):
        make_game("sluff", num_players=5)
    with pytest.raises(RulesError, match="allow_zero_bid expected False or True, got 1"):
        make_game("sluff", allow_zero_bid=1)


BROKEN_DEALS = [
    ({"dealer": 4}, "dealer: expected a seat"),
    ({"dealer": 1}, "the dealer is seat 0, got 1"),
    ({"deal": {"hands": FOUR_COLOURS[:3]}}, "hands of 4 seats, got 3"),
    ({"deal": {"hands": [*FOUR_COLOURS[:3], NORTH.replace("Y9 Y9", "Y9 Y1")]}}, "Y1 is dealt 3 times"),
    ({"deal": {"hands": [EAST.replace("R10 R10", "R10 R9"), *FOUR_COLOURS[1:]]}}, "R9 is dealt 2 times"),
    ({"deal": {"hands": [EAST.replace("R10 R10", "R10 R3"), *FOUR_COLOURS[1:]]}}, "R3 is dealt 1 times"),
    ({"deal": {"hands": [*FOUR_COLOURS[:3], NORTH.replace("Y14 Y14", "Y14 Y15")]}}, "unknown card 'Y15'"),
    ({"deal": {"hands": [*FOUR_COLOURS[:3], NORTH.replace("Y14 Y14", "Y14")]}}, "seat 3: expected 14 cards, got 13"),
]


@pytest.mark.parametrize(("change", "reason"), BROKEN_DEALS)
def test_wrong_deals_are_refused(change: dict[str, Any], reason: str) -> None:
    entry = {"dealer": 0, "deal": {"hands": FOUR_COLOURS}} | change
    with pytest.raises(DealError, match=reason) as caught:
        make_game("sluff").from_deals([[entry]])
    assert str(caught.value).startswith("sluff, match 1, hand 1: ")


# -- everything else ---------------------------------------------------------------------------------------------------


def low_bids(state: State, actions: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sluffs and bids up to three, which are sometimes made."""
    bidding = state.moves < state.bids.shape[1]  # type: ignore[attr-defined]
    return np.where(bidding & (actions % 5 > 0), actions % 4, actions)


@pytest.mark.parametrize("players", [4, 6, 8, 10])
@pytest.mark.parametrize("zero", [False, True])
def test_the_referee_agrees(players: int, zero: bool) -> None:
    game = make_game("sluff", num_players=players, allow_zero_bid=zero, match="hand", first_dealer=None)
    assert_referees_agree(game, 40, seed=5, choose=low_bids)
    if players == 4:
        assert_referees_agree(make_game("sluff", allow_zero_bid=zero), 10, seed=6, choose=low_bids)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**63), players=st.sampled_from([4, 6, 8, 10]))
def test_tricks_add_up_and_cards_are_conserved(seed: int, players: int) -> None:
    game = make_game("sluff", num_players=players, match="hand")
    state = game.new([seed])
    while state.seat[0] >= 0:
        assert dealt_cards(state, 0) == {DECK.name(card): n for card, n in enumerate(COPIES[players]) if n}
        assert state.tricks[0].sum() == (max(int(state.moves[0]), players) - players) // players
        assert not (state.doubles & ~state.hands).any()
        assert not (state.gone_twice & ~state.gone).any()
        actions = game.sample_legal(state, derive(seed, state.move))
        game.step(state, low_bids(state, actions))
    assert not state.hands.any()
    assert not state.doubles.any()
    assert state.tricks[0].sum() == SIZES[players]
    assert list(state.scores[0]) == list(score_hand(state.bids, state.tricks)[0])


def sets_of(cards: Counter[str]) -> tuple[set[str], set[str]]:
    """Cards that are there at least once, and twice."""
    return set(cards), {card for card, count in cards.items() if count == 2}


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 2**63), players=st.sampled_from([4, 6, 8, 10]), zero=st.booleans())
def test_everything_a_seat_should_know_is_in_its_observation(seed: int, players: int, zero: bool) -> None:
    """The decoded observation equals what an independent referee says is public."""
    game = make_game("sluff", num_players=players, allow_zero_bid=zero, match="hand" if players > 4 else "game")
    state = game.new([seed])
    referee = referee_of(game, state, 0)
    names = np.array(DECK.names)
    code = {"sluff": 0, None: -1, 0: 15} | {n: n for n in range(1, 15)}
    while state.seat[0] >= 0:
        for seat in {int(state.seat[0]), (int(state.move[0]) * 3 + seed) % players}:
            known = referee.public(seat)
            seen = {name: value[0] for name, value in game.observation.decode(game.observe(state, seat)).items()}
            around = [(seat + k) % players for k in range(players)]
            absent = 10 - players
            assert [set(names[cards]) for cards in seen["hand"]] == list(sets_of(Counter(known["hand"])))
            trick = dict(known["trick"])
            faces = np.array([*"RBGY", *(str(number) for number in range(1, 15))])
            assert ["".join(faces[face]) for face in seen["table"]] == [trick.get(s, "") for s in around] + [
                ""
            ] * absent
            cards = [pair for past, _ in known["past_tricks"] for pair in past] + known["trick"]
            played = [sets_of(Counter(card for s, card in cards if s == at)) for at in around]
            assert [set(names[cards]) for cards in seen["seen"]] == [once for once, _ in played] + [set()] * absent
            twice = seen["gone"][1] & seen["seen"] & (seen["seen"].sum(axis=0) == 1)
            assert [set(names[cards]) for cards in twice] == [two for _, two in played] + [set()] * absent
            assert [set(names[cards]) for cards in seen["gone"]] == list(sets_of(Counter(card for _, card in cards)))
            assert seen["follow"] == ("RBGY".index(known["trick"][0][1][0]) if trick else -1)
            voids = [{"RBGY".index(colour) for colour in known["voids"][s]} for s in around]
            assert [set(np.flatnonzero(colours)) for colours in seen["voids"]] == voids + [set()] * absent
            assert set(np.flatnonzero(seen["right_voids"])) == voids[-1]
            bids, tricks = known["bids"], known["tricks"]
            assert list(seen["bids"]) == [code[bids[s]] for s in around] + [-1] * absent
            assert seen["right_bid"] == code[bids[around[-1]]]
            intact = [bids[s] == "sluff" and tricks[s] == 0 for s in around]
            assert list(seen["sluff_intact"][:, 0]) == intact + [False] * absent
            assert seen["right_intact"][0] == intact[-1]
            assert list(seen["tricks"]) == [tricks[s] for s in around] + [0] * absent
            for team in (0, 1):
                members = around[team::2]
                bid = sum(bids[s] for s in members if isinstance(bids[s], int))
                taken = sum(tricks[s] for s in members)
                assert (seen["team_bid"][team], seen["team_tricks"][team]) == (bid, taken)
                assert seen["team_bid_level"][team] == min(bid, 14)
                assert seen["team_needs"][team] == bid - taken
                assert seen["team_needs_level"][team] == min(max(bid - taken, 0), 14)
                assert seen["team_over"][team] == max(taken - bid, 0)
                assert seen["team_scores"][team] == known["scores"][members[0]]
            assert seen["tricks_left"] == SIZES[players] - sum(tricks)
            assert seen["players"] == [4, 6, 8, 10].index(players)
            bidding = None in bids
            assert seen["phase"] == (0 if bidding else 1)
            assert seen["to_move"] == (referee.seat - seat) % players
            assert seen["dealer"] == (known["dealer"] - seat) % players
            if bidding:
                assert seen["opener"] == seen["leader"] == -1
            else:
                opener = (known["dealer"] + 1 + len(known["without_red_two"])) % players
                assert seen["opener"] == (opener - seat) % players
                leader = known["trick"][0][0] if trick else referee.seat
                assert seen["leader"] == (leader - seat) % players
                place = winning_position([card for _, card in known["trick"]]) if trick else None
                assert seen["winning"] == (-1 if place is None else (leader + place - seat) % players)
            assert seen["hand_number"] == referee.hand_number - 1
            assert seen["hands_left"] == (players if game.rules.match == "game" else 1) - referee.hand_number + 1
        action = low_bids(state, game.sample_legal(state, derive(seed, state.move)))
        hand, name = int(state.hand[0]), game.action_name(state, 0, int(action[0]))
        game.step(state, action)
        if state.hand[0] > hand and state.seat[0] >= 0:
            referee.script.append(game.deal_object(state, 0))
        referee.play(name)
    seen = game.observation.decode(game.observe(state, 1))
    assert (seen["phase"][0], seen["to_move"][0], seen["hands_left"][0]) == (2, -1, 0)


def test_score_levels() -> None:
    game = make_game("sluff")
    state = new_batch(game, 5)
    state.scores[:, 0::2] = np.array([0, -250, 199, 1800, 5000])[:, None]
    state.scores[:, 1::2] = np.array([0, 0, 250, 1200, 5000])[:, None]
    seen = game.observation.decode(game.observe(state, 0))
    assert [list(levels) for levels in seen["team_score_level"]] == [[2, 2], [0, 2], [3, 4], [20, 14], [20, 20]]
    assert list(seen["lead_level"]) == [10, 5, 8, 20, 10]


def test_one_layout_for_all_numbers_of_players() -> None:
    layouts = [make_game("sluff", num_players=players) for players in (4, 6, 8, 10)]
    for game in layouts:
        assert list(game.observation) == list(layouts[-1].observation)
        assert list(game.observation_all) == list(layouts[-1].observation_all)
        assert game.num_actions == 71
    assert list(make_game("sluff", match="hand").observation) == list(layouts[0].observation)
    six = layouts[1]
    state = staggered(six, 50, 90)
    for name, value in six.observation_all.split(six.observe_all(state, 1)).items():
        if six.observation_all.planes[name].groups == 10:
            assert not value[:, 6:].any()


def test_absent_seats_can_hold_nothing() -> None:
    layout = make_game("sluff").observation
    values = {
        name: np.zeros((1,) if plane.groups is None else (plane.groups, 1), dtype=np.int64)
        for name, plane in layout.planes.items()
    }
    values["bids"][4:] = -1
    assert not layout.split(layout.pack(1, values))["bids"][0, 4:].any()
    values["tricks"][4] = 1
    with pytest.raises(ValueError, match="plane 'tricks': expected nothing in the groups from 4 on"):
        layout.pack(1, values)


def test_perfect_information_shows_all_hands() -> None:
    game = make_game("sluff", num_players=6)
    state = staggered(game, 30, 90)
    seen = game.observation_all.decode(game.observe_all(state, 1))
    names = np.array(DECK.names)
    for i in range(30):
        hands = game.describe(state, i)["hands"]
        for k in range(6):
            shown = set(names[seen["all_hands"][i, k]]), set(names[seen["all_doubles"][i, k]])
            assert shown == sets_of(Counter(hands[(1 + k) % 6]))


@pytest.mark.parametrize("players", [4, 6, 8, 10])
def test_worlds_respect_what_play_has_shown(players: int) -> None:
    game = make_game("sluff", num_players=players, match="hand")
    state = staggered(game, 200, players * (1 + SIZES[players]))
    red_two = np.uint64(1 << DECK.parse("R2"))
    sizes = np.bitwise_count(state.hands) + np.bitwise_count(state.doubles)
    for seat in range(players):
        world = game.resample(state, seat, derive(5, seat, np.arange(200)))
        assert (np.bitwise_count(world.hands) + np.bitwise_count(world.doubles) == sizes).all()
        assert (world.hands[:, seat] == state.hands[:, seat]).all()
        assert (world.doubles[:, seat] == state.doubles[:, seat]).all()
        for i in range(0, 200, 20):
            assert dealt_cards(world, i) == dealt_cards(state, i)
        for colour in range(4):
            void = state.voids >> colour & 1 == 1
            assert not (world.hands[void] & np.uint64(DECK.suit_bits(colour))).any()
        for i in range(200):
            if state.opener[i] < 0:
                continue
            first = (state.dealer[i] + 1) % players
            turns = (state.opener[i] - first) % players
            assert not any(world.hands[i, (first + k) % players] & red_two for k in range(turns))
            if state.moves[i] == players:  # the opener has yet to lead it
                assert world.hands[i, state.opener[i]] & red_two


def test_without_voids_every_world_is_equally_likely() -> None:
    game = make_game("sluff", num_players=6)
    state = game.new(match_seed(1, [0])).repeat(4000)
    world = game.resample(state, 0, derive(5, np.arange(4000)))
    own = Counter(game.describe(state, 0, 0)["hands"][0])
    for card, copies in enumerate(COPIES[6]):
        held = (world.hands[:, 1:] >> np.uint64(card) & np.uint64(1)).mean(axis=0)
        twice = (world.doubles[:, 1:] >> np.uint64(card) & np.uint64(1)).mean(axis=0)
        hidden = copies - own[DECK.name(card)]
        assert np.abs(held + twice - hidden / 5).max() < 0.04
        # Two physical cards: the chance that one seat of 14 cards gets both of two among 70.
        assert np.abs(twice - (hidden == 2) * 14 / 70 * 13 / 69).max() < 0.03
