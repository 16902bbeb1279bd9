"""Slippery Slope, rule by rule."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from referees import REFEREES

from slopes_envs import DealError, derive, make_game, match_seed
from slopes_envs.games.slippery_slope import DECK, score_hand

# Three hands that use up the deck, written so that single cards can be swapped between them.
EAST = "AC 2C 3C 4C JC QC KC AD 2D 3D"
SOUTH = "4D JD QD KD AH 2H 3H 4H JH QH"
WEST = "KH AS 2S 3S 4S JS QS KS LJ BJ"


def hands_with(first: str, second: str, third: str) -> list[str]:
    """Hands of ten that begin with the given cards; the rest of the deck fills them up."""
    wanted = [hand.split() for hand in (first, second, third)]
    rest = [card for card in DECK.names if not any(card in hand for hand in wanted)]
    filled = []
    for hand in wanted:
        missing = 10 - len(hand)
        filled.append(" ".join(hand + rest[:missing]))
        rest = rest[missing:]
    return filled


def start(hands: list[str], dealer: int = 2, **rules: Any) -> tuple[Any, Any]:
    """A single match with these hands; with dealer 2, seat 0 bids and leads first."""
    game = make_game("slippery_slope", **rules)
    return game, game.from_deals([[{"dealer": dealer, "deal": {"hands": hands}}]], then_seeds=[1])


def play(game: Any, state: Any, actions: str) -> Any:
    """Take actions written as names between commas; returns the last outcome."""
    for name in actions.split(","):
        outcome = game.step(state, [game.parse_action(state, 0, name.strip())])
    return outcome


BIDS = "bid 1,bid 1,bid 1"


def test_r1_thirty_cards_ten_each() -> None:
    game = make_game("slippery_slope")
    state = game.new(match_seed(1, np.arange(500)))
    assert (np.bitwise_count(state.hands) == 10).all()
    assert (np.bitwise_or.reduce(state.hands, axis=1) == 2**30 - 1).all()
    assert set(np.unique(state.dealer)) == {0, 1, 2}
    held = [np.mean((state.hands >> card & 1).astype(float), axis=0) for card in range(30)]
    assert np.abs(np.array(held) - 1 / 3).max() < 0.1


def test_r1_the_deal_passes_to_the_left() -> None:
    game = make_game("slippery_slope", first_dealer=1)
    state = game.new(match_seed(1, np.arange(20)))
    assert (state.dealer == 1).all()
    for step in range(33):
        game.step(state, game.sample_legal(state, derive(1, step, np.arange(20))))
    assert (state.dealer[state.seat >= 0] == 2).all()
    assert (state.seat[state.seat >= 0] == 0).all()


def test_r2_bids_go_round_from_the_dealers_left_and_stay_secret() -> None:
    game, state = start([EAST, SOUTH, WEST], dealer=0)
    assert state.seat[0] == 1
    assert game.legal_names(state, 0) == [f"bid {n}" for n in range(11)]
    play(game, state, "bid 3")
    assert state.seat[0] == 2
    for seat, own in ((0, {}), (1, {1: 3}), (2, {})):
        assert game.describe(state, 0, seat)["bids"] == own
    play(game, state, "bid 0, bid 7")
    assert game.describe(state, 0, 1)["bids"] == {1: 3}
    assert list(game.observation.decode(game.observe(state, 1))["bids"][0]) == [3, -1, -1]
    assert list(game.observation_all.decode(game.observe_all(state, 1))["all_bids"][0]) == [3, 0, 7]


def test_r2_bids_may_be_revealed_after_the_bidding() -> None:
    game, state = start([EAST, SOUTH, WEST], dealer=0, reveal_bids="after_bidding")
    play(game, state, "bid 3, bid 0")
    assert game.describe(state, 0, 0)["bids"] == {}
    play(game, state, "bid 7")
    assert game.describe(state, 0, 0)["bids"] == {0: 7, 1: 3, 2: 0}
    assert list(game.observation.decode(game.observe(state, 1))["bids"][0]) == [3, 0, 7]


def test_r2_scored_bids_are_seen_until_the_next_bidding_ends() -> None:
    game = make_game("slippery_slope", first_dealer=0, max_hands=5)
    state = game.new([3])
    play(game, state, "bid 1, bid 2, bid 3")
    while state.hand[0] == 0:
        game.step(state, game.sample_legal(state, derive(state.seed, state.move)))
    for bid in ("bid 4", "bid 5"):
        seen = game.observation.decode(game.observe(state, 2))
        assert list(seen["last_bids"][0]) == [2, 3, 1]
        play(game, state, bid)
    play(game, state, "bid 6")
    assert list(game.observation.decode(game.observe(state, 2))["last_bids"][0]) == [-1, -1, -1]


def test_r3_the_dealers_left_leads_and_winners_lead_on() -> None:
    game, state = start(hands_with("3C", "JC", "2C"))
    play(game, state, BIDS)
    assert state.seat[0] == 0
    play(game, state, "3C, JC, 2C")
    assert state.seat[0] == 2
    assert state.leader[0] == 2
    assert list(state.tricks[0]) == [0, 0, 1]


def test_r4_a_joker_is_led_only_when_nothing_else_is_left() -> None:
    game, state = start(hands_with("AC LJ BJ", "2C", "3C"))
    play(game, state, BIDS)
    assert not {"LJ", "BJ"} & set(game.legal_names(state, 0))
    # Strip the first hand to its jokers: both may then be led.
    state.hands[0, 0] = 0b11 << 28
    assert game.legal_names(state, 0) == ["LJ", "BJ"]
    play(game, state, "LJ")
    assert game.describe(state, 0)["follow"] is None
    assert game.describe(state, 0)["direction"] == "none"
    everything = [card for card in DECK.names if state.hands[0, 1] >> DECK.parse(card) & 1]
    assert game.legal_names(state, 0) == everything


def test_r5_the_led_suit_is_followed() -> None:
    game, state = start(hands_with("3C", "JC KC 2D LJ", "2H 3H 4H JH QH KH AH 2S 3S BJ"))
    play(game, state, BIDS)
    play(game, state, "3C")
    assert set(game.legal_names(state, 0)) == {
        card for card in DECK.names_of(int(state.hands[0, 1])) if card.endswith("C")
    }
    play(game, state, "JC")
    assert game.legal_names(state, 0) == DECK.names_of(int(state.hands[0, 2]))  # no clubs: anything, the joker too
    play(game, state, "2H")
    assert game.describe(state, 0)["voids"] == {0: [], 1: [], 2: ["C"]}


TRICKS = [
    # R7, R8: the examples of the source, by the seat that wins
    ("R7", "3C JC 2C", 2),
    ("R7", "3C JC AC", 2),
    ("R8", "KC JC 2C", 0),
    ("R8", "KC JC AC", 2),
    ("R9", "AC KH 2C", 2),
    ("R7", "2C 3C AC", 2),
    ("R7", "4C KC QC", 0),
    ("R7", "3C 2D 4C", 0),
    ("R7", "4C AD 3C", 2),
    ("R8", "JC QC KC", 2),
    ("R8", "QC JC KH", 0),
    ("R8", "JC KC AC", 2),
    # R9: an ace led; the second card's suit does not matter for the direction
    ("R9", "AC 2C 3C", 1),
    ("R9", "AC 3C 2C", 2),
    ("R9", "AC KC QC", 1),
    ("R9", "AC JC QC", 2),
    ("R9", "AC 2H KC", 2),
    ("R9", "AC 2H 3H", 0),
    ("R9", "AC AH 2C", 2),
    ("R9", "AC AH KH", 0),
    ("R9", "AC KC 2C", 1),
    # R6: jokers
    ("R6", "AC LJ BJ", 2),
    ("R6", "AC BJ LJ", 1),
    ("R6", "AC LJ KC", 1),
    ("R6", "AC KH LJ", 2),
    ("R6", "KC LJ AC", 1),
    ("R6", "2C AC BJ", 2),
    ("R6", "LJ KC AH", 0),
    ("R6", "LJ BJ AH", 1),
    ("R6", "BJ LJ 2C", 0),
]


@pytest.mark.parametrize(("rule", "cards", "winner"), TRICKS, ids=[f"{rule} {cards}" for rule, cards, _ in TRICKS])
def test_r6_r7_r8_r9_who_wins_a_trick(rule: str, cards: str, winner: int) -> None:
    game, state = start([EAST, SOUTH, WEST])
    play(game, state, BIDS)
    for seat, card in enumerate(cards.split()):  # hands of one card: whatever it is may be played
        state.hands[0, seat] = 1 << DECK.parse(card)
    play(game, state, cards.replace(" ", ","))
    assert list(state.tricks[0]) == [int(seat == winner) for seat in range(3)]


DIRECTIONS = [
    ("", "open"),
    ("3C", "down"),
    ("KC", "up"),
    ("AC", "open"),
    ("AC 2H", "down"),
    ("AC QC", "up"),
    ("AC AH", "none"),
    ("AC BJ", "none"),
    ("LJ", "none"),
    ("3C KC", "down"),
]


@pytest.mark.parametrize(("cards", "direction"), DIRECTIONS)
def test_r7_r8_r9_direction(cards: str, direction: str) -> None:
    game, state = start([EAST, SOUTH, WEST])
    play(game, state, BIDS)
    for seat, card in enumerate(cards.split()):
        state.hands[0, seat] = 1 << DECK.parse(card)
    if cards:
        play(game, state, cards.replace(" ", ","))
    assert game.describe(state, 0)["direction"] == direction
    names = ["open", "down", "up", "none"]
    assert names[game.observation.decode(game.observe(state, 0))["direction"][0]] == direction


@pytest.mark.parametrize(("bid", "tricks", "score"), [(3, 3, 3), (0, 0, 0), (10, 10, 10), (5, 2, -3), (0, 4, -4)])
def test_r10_score_of_a_hand(bid: int, tricks: int, score: int) -> None:
    assert score_hand(np.array([bid]), np.array([tricks])) == [score]


@pytest.mark.parametrize("target", [1, 10**6, 10**9, 2**31, 2**70])
def test_any_target_may_be_set(target: int) -> None:
    game = make_game("slippery_slope", target_score=target)
    seen = game.observation.decode(game.observe(game.new([1]), 0))
    assert list(seen["score_level"][0]) == [10, 10, 10]  # zero is half-way from -target to target


def finish(game: Any, state: Any) -> None:
    for step in range(4000):
        if (state.seat < 0).all():
            return
        game.step(state, game.sample_legal(state, derive(step, np.arange(len(state)))))


def test_r11_matches_end_at_the_target_or_at_the_limit() -> None:
    game = make_game("slippery_slope", target_score=4, max_hands=6)
    state = game.new(match_seed(2, np.arange(300)))
    finish(game, state)
    assert ((state.scores.max(axis=1) >= 4) == state.terminated).all()
    assert (state.hand[state.truncated] == 6).all()
    assert state.terminated.any()
    assert state.truncated.any()
    assert (state.hand[state.terminated] <= 6).all()


def test_r11_the_target_reached_in_the_last_hand_terminates() -> None:
    game = make_game("slippery_slope", target_score=1, max_hands=1)
    state = game.new(match_seed(2, np.arange(300)))
    finish(game, state)
    assert (state.terminated == (state.scores.max(axis=1) >= 1)).all()
    assert state.terminated.any()


def test_a_single_hand_knows_no_target_and_no_limit() -> None:
    game = make_game("slippery_slope", match="hand", max_hands=1, target_score=1)
    state = game.new(match_seed(2, np.arange(50)))
    finish(game, state)
    assert state.terminated.all()
    assert (state.hand == 1).all()


BROKEN_DEALS = [
    ({"dealer": 3}, "dealer: expected a seat"),
    ({"dealer": None}, "dealer: expected a seat"),
    ({"dealer": True}, "dealer: expected a seat"),
    ({"deal": {"hands": [EAST, SOUTH]}}, "hands"),
    ({"deal": {"hands": [EAST, SOUTH, WEST.replace("BJ", "AC")]}}, "AC"),
    ({"deal": {"hands": [EAST, SOUTH, WEST.replace("BJ", "10C")]}}, "unknown card '10C'"),
    ({"deal": {"hands": [EAST, SOUTH, WEST.replace(" BJ", "")]}}, "10 cards"),
    ({"deal": {}}, "hands"),
]


@pytest.mark.parametrize(("change", "reason"), BROKEN_DEALS)
def test_wrong_deals_are_refused(change: dict[str, Any], reason: str) -> None:
    entry = {"dealer": 0, "deal": {"hands": [EAST, SOUTH, WEST]}} | change
    with pytest.raises(DealError, match=reason) as caught:
        make_game("slippery_slope").from_deals([[entry]])
    assert str(caught.value).startswith("slippery_slope, match 1, hand 1: ")


def test_a_dealer_against_the_rules_is_refused() -> None:
    deal = {"dealer": 0, "deal": {"hands": [EAST, SOUTH, WEST]}}
    with pytest.raises(DealError, match="match 1, hand 1: the dealer is seat 1, got 0"):
        make_game("slippery_slope", first_dealer=1).from_deals([[deal]])
    game = make_game("slippery_slope")
    state = game.from_deals([[deal, deal]])
    with pytest.raises(DealError, match="match 1, hand 2: the dealer is seat 1, got 0"):
        finish(game, state)
    assert state.moves[0] == 32  # the step that needed the deal changed nothing


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**63))
def test_tricks_add_up_and_cards_are_conserved(seed: int) -> None:
    game = make_game("slippery_slope", match="hand")
    state = game.new([seed])
    while state.seat[0] >= 0:
        held, played = state.hands[0], state.seen[0]
        assert np.bitwise_or.reduce(held) ^ np.bitwise_or.reduce(played) == 2**30 - 1
        assert state.tricks[0].sum() == (max(int(state.moves[0]), 3) - 3) // 3
        game.step(state, game.sample_legal(state, derive(seed, state.move)))
    assert state.tricks[0].sum() == 10
    assert list(state.scores[0]) == list(score_hand(state.bids[0], state.tricks[0]))


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**63), reveal=st.sampled_from(["after_scoring", "after_bidding"]))
def test_everything_a_seat_should_know_is_in_its_observation(seed: int, reveal: str) -> None:
    """The decoded observation equals what an independent referee says is public."""
    game = make_game("slippery_slope", reveal_bids=reveal, max_hands=2)
    state = game.new([seed])
    referee = REFEREES["slippery_slope"](game.rules.record(), [game.deal_object(state, 0)])
    while state.seat[0] >= 0:
        for seat in range(3):
            seen = {name: value[0] for name, value in game.observation.decode(game.observe(state, seat)).items()}
            around = [(seat + k) % 3 for k in range(3)]
            names = np.array(DECK.names)
            assert set(names[seen["hand"]]) == set(referee.hands[seat])
            trick = dict(referee.trick)
            assert [set(names[cards]) for cards in seen["table"]] == [
                {trick[s]} if s in trick else set() for s in around
            ]
            assert list(seen["tricks"]) == [referee.tricks[s] for s in around]
            assert ["open", "down", "up", "none"][seen["direction"]] == referee.direction
            assert seen["dealer"] == (referee.dealer - seat) % 3
            assert seen["to_move"] == (referee.seat - seat) % 3
            own = referee.bids[seat]
            assert seen["needed"] == (-1 if own is None else own - referee.tricks[seat] + 10)
            assert seen["hand_number"] == referee.hand_number - 1
            assert list(seen["scores"]) == [referee.scores[s] for s in around]
        action = game.action_name(state, 0, int(game.sample_legal(state, derive(seed, state.move))[0]))
        hand = int(state.hand[0])
        game.step(state, [game.parse_action(state, 0, action)])
        if state.hand[0] > hand and state.seat[0] >= 0:
            referee.script.append(game.deal_object(state, 0))
        referee.play(action)
