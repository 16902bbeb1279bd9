"""Sloppy Seconds, rule by rule."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers import new_batch, random_actions, staggered
from hypothesis import given, settings
from hypothesis import strategies as st
from refereed import assert_referees_agree, referee_of
from referees.sloppy_seconds import winning_position

from slopes_envs import DealError, RulesError, derive, make_game, match_seed
from slopes_envs.games.sloppy_seconds import CARDS, DECK, POINTS, score_hand

CLUBS, DIAMONDS, HEARTS, SPADES = (
    " ".join(f"{rank}{suit}" for rank in ("A", *range(2, 11), "J", "Q", "K")) for suit in "CDHS"
)
FOUR_SUITS = [CLUBS, DIAMONDS, HEARTS, SPADES]


def start(hands: list[str], dealer: int = 3, **rules: Any) -> tuple[Any, Any]:
    """A single match with these hands; with dealer 3, seat 0 leads first."""
    game = make_game("sloppy_seconds", **rules)
    return game, game.from_deals([[{"dealer": dealer, "deal": {"hands": hands}}]], then_seeds=[1])


def play(game: Any, state: Any, cards: str) -> Any:
    """Play cards written as names between spaces; returns the last outcome."""
    for name in cards.split():
        outcome = game.step(state, [game.parse_action(state, 0, name)])
    return outcome


def play_tricks(*tricks: str) -> tuple[Any, Any, list[int]]:
    """Play tricks by seats that hold nothing but the card they play; returns who won them, by place in the trick."""
    game, state = start(FOUR_SUITS)
    winners = []
    for cards in tricks:
        leader = int(state.seat[0])
        for place, card in enumerate(cards.split()):
            state.hands[0, (leader + place) % 4] = 1 << DECK.parse(card)
        play(game, state, cards)
        winners.append((int(state.seat[0]) - leader) % 4)
    return game, state, winners


def test_r1_the_deck_and_the_hands() -> None:
    for players, size in ((4, 13), (3, 17)):
        game = make_game("sloppy_seconds", num_players=players)
        state = new_batch(game, 500)
        assert (np.bitwise_count(state.hands) == size).all()
        whole = 2**52 - 1 if players == 4 else 2**52 - 1 - (1 << DECK.parse("2C"))
        assert (np.bitwise_or.reduce(state.hands, axis=1) == whole).all()
        held = [(state.hands >> np.uint64(card) & np.uint64(1)).mean(axis=0) for card in CARDS[players]]
        assert np.abs(np.array(held) - 1 / players).max() < 0.1
        assert set(np.unique(state.dealer)) == set(range(players))


def test_r1_the_deal_passes_to_the_left() -> None:
    game = make_game("sloppy_seconds", first_dealer=3, target_score=10_000)
    state = new_batch(game, 10)
    for step in range(52):
        assert (state.dealer == 3).all()
        game.step(state, random_actions(game, state, step))
    assert (state.dealer == 0).all()
    assert (state.seat == 1).all()


def test_r2_the_dealers_left_leads_and_winners_lead_on() -> None:
    game, state = start([HEARTS, CLUBS, SPADES, DIAMONDS], dealer=1)
    assert state.seat[0] == 2
    assert game.legal_names(state, 0) == SPADES.split()  # any card may be led
    play(game, state, "5S 3D 4H 6C")  # diamonds are broken, hearts become trump
    assert (state.seat[0], state.leader[0]) == (0, 0)
    assert list(state.tricks[0]) == [1, 0, 0, 0]
    assert game.legal_names(state, 0) == [card for card in HEARTS.split() if card != "4H"]


def test_r3_the_led_suit_is_followed() -> None:
    hands = [CLUBS, DIAMONDS, HEARTS, SPADES]
    hands[0] = hands[0].replace("AC", "AD")
    hands[1] = hands[1].replace("AD", "AC")
    game, state = start(hands)
    play(game, state, "2C")
    assert game.legal_names(state, 0) == ["AC"]
    play(game, state, "AC")
    assert game.legal_names(state, 0) == HEARTS.split()
    play(game, state, "2H")
    assert game.describe(state, 0)["voids"] == {0: [], 1: [], 2: ["C"], 3: []}


TRICKS = [
    ("ranks of the led suit", ["2C KC AC QC"], [2]),
    ("number cards", ["9C 10C 3C 2C"], [1]),
    ("ace above king", ["KC AC 2C 3C"], [1]),
    ("the first suit broken is no trump", ["2C AH 3C 4C"], [3]),
    ("not afterwards either", ["2C KH 3C 4C", "2D AH 3D 4D"], [3, 3]),
    ("breaking a suit again makes no trump", ["2C AH KH 5C", "2D QH 3D 4D"], [3, 3]),
    ("the second suit broken is trump at once", ["2C AH 2S KC"], [2]),
    ("in a later trick", ["2C 3H 4C 5C", "QD KD 2S AD"], [3, 2]),
    ("the higher trump", ["2C AH 2S KS"], [3]),
    ("and not the later one", ["2C AH KS 2S"], [2]),
    ("trump for the rest of the hand", ["2C 3H 2S 4C", "KD 2S AD QD"], [2, 1]),
    ("later broken suits are no trump", ["2C 3H 2S 4D", "KC AD QC 2S", "5C KD 6C 7C"], [2, 3, 3]),
    ("trump may be led", ["2C 3H 2S 4C", "AH 2S KS 3H", "3S QS AH JS"], [2, 2, 1]),
    ("the suit led may be the first broken", ["2C 3H 4C 5C", "KH 2H AH 3H"], [3, 2]),
    ("the suit that is not followed stays unbroken", ["2S 3H 4S 5D"], [3]),
]


@pytest.mark.parametrize(("tricks", "winners"), [case[1:] for case in TRICKS], ids=[case[0] for case in TRICKS])
def test_r4_r5_r6_r7_who_wins_a_trick(tricks: list[str], winners: list[int]) -> None:
    assert play_tricks(*tricks)[2] == winners


BROKEN = [
    (["2C 3C 4C 5C"], None, None),
    (["2C 3C 4C 5C", "2D 3D 4D 5D"], None, None),
    (["2C 3D 4C 5C"], "D", None),
    (["2C 3D 4D 5D"], "D", None),
    (["2C 3D 4H 5S"], "D", "H"),
    (["2C 3D 4C 5C", "2D 3C 4D 5D"], "D", "C"),  # a suit that was led before can become trump
    (["2C 3D 4C 5C", "2D 3D 4H 5D", "2S 6C 7D 3S"], "D", "H"),
]


@pytest.mark.parametrize(("tricks", "first_broken", "trump"), BROKEN)
def test_r5_r6_broken_suits_and_trump(tricks: list[str], first_broken: str | None, trump: str | None) -> None:
    game, state, _ = play_tricks(*tricks)
    shown = game.describe(state, 0)
    assert (shown["first_broken"], shown["trump"]) == (first_broken, trump)
    seen = game.observation.decode(game.observe(state, 1))
    assert seen["first_broken"][0] == (-1 if first_broken is None else "CDHS".index(first_broken))
    assert seen["trump"][0] == (-1 if trump is None else "CDHS".index(trump))


def test_r5_r6_a_new_hand_begins_without_broken_suits() -> None:
    game = make_game("sloppy_seconds", max_hands=2)
    state = new_batch(game, 20)
    for step in range(52):
        game.step(state, random_actions(game, state, step))
    seen = game.observation.decode(game.observe(state, 0))
    assert (seen["first_broken"] == -1).all()
    assert (seen["trump"] == -1).all()
    assert not seen["voids"].any()
    assert not seen["points"].any()


@settings(max_examples=200, deadline=None)
@given(cards=st.permutations(DECK.names).map(lambda names: names[:12]))
def test_r6_r7_the_trump_of_a_trick_is_never_retroactive(cards: list[str]) -> None:
    """The winner so far, kept card by card, is the winner among the whole trick under the trump at its end."""
    game, state = start(FOUR_SUITS)
    for first in (0, 4, 8):
        leader, trick = int(state.seat[0]), cards[first : first + 4]
        for place, card in enumerate(trick):
            state.hands[0, (leader + place) % 4] = 1 << DECK.parse(card)
        play(game, state, " ".join(trick))
        assert (state.seat[0] - leader) % 4 == winning_position(trick, game.describe(state, 0)["trump"])


def test_r8_card_points() -> None:
    worth = {"A": 1, "J": 11, "Q": 12, "K": 13} | {str(n): n for n in range(2, 11)}
    for card, name in enumerate(DECK.names):
        assert list(POINTS[card]) == [worth[name[:-1]] * (name[-1] == suit) for suit in "CDHS"]
    assert list(POINTS.sum(axis=0)) == [91] * 4
    assert list(POINTS[list(CARDS[3])].sum(axis=0)) == [89, 91, 91, 91]


def test_r8_points_go_to_the_winner_of_the_trick() -> None:
    game, state, winners = play_tricks("KC AC 2C 10C", "JD 3H 4S QD")
    assert winners == [1, 2]
    assert list(state.points[0, 1]) == [26, 0, 0, 0]
    assert list(state.points[0, 3]) == [0, 23, 3, 4]
    assert game.describe(state, 0)["points"][3] == {"C": 0, "D": 23, "H": 3, "S": 4}


# Points of four seats in one suit; what they score with "dense" and with "competition".
PLACES = [
    ([50, 30, 11, 0], [0, 30, 0, 0], [0, 30, 0, 0]),
    ([50, 20, 20, 1], [0, 20, 20, 0], [0, 20, 20, 0]),
    ([40, 40, 11, 0], [0, 0, 11, 0], [0, 0, 0, 0]),
    ([40, 40, 5, 6], [0, 0, 0, 6], [0, 0, 0, 0]),
    ([30, 30, 30, 1], [0, 0, 0, 1], [0, 0, 0, 0]),
    ([91, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]),
    ([45, 46, 0, 0], [45, 0, 0, 0], [45, 0, 0, 0]),
    ([20, 21, 25, 25], [0, 21, 0, 0], [0, 0, 0, 0]),
]


@pytest.mark.parametrize(("points", "dense", "competition"), PLACES)
def test_r9_only_the_second_place_of_a_suit_scores(points: list[int], dense: list[int], competition: list[int]) -> None:
    taken = np.zeros((1, 4, 4), dtype=np.uint8)
    taken[0, :, 2] = points
    taken[0, :, 0] = [5, 5, 5, 76]  # five more for seats 0 to 2, so that R10 does not come in; 0 for the last
    base = np.array([5, 5, 5, 0])
    assert list(score_hand(taken, "dense")[0]) == list(np.maximum(base + dense, 5))
    assert list(score_hand(taken, "competition")[0]) == list(np.maximum(base + competition, 5))


def test_r10_a_hand_is_the_sum_over_suits_and_at_least_five() -> None:
    taken = np.array([[[50, 30, 0, 4], [41, 61, 0, 3], [0, 0, 91, 0], [0, 0, 0, 84]]], dtype=np.uint8)
    # clubs: seat 1 is second with 41; diamonds: seat 0 with 30; hearts: nobody has anything; spades: seat 0 with 4
    assert list(score_hand(taken, "dense")[0]) == [34, 41, 5, 5]
    low = np.array([[[4, 91, 91, 91], [87, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]], dtype=np.uint8)
    assert list(score_hand(low, "dense")[0]) == [5, 5, 5, 5]


def finish(game: Any, state: Any) -> None:
    step = 0
    while (state.seat >= 0).any():
        game.step(state, random_actions(game, state, step))
        step += 1


def test_r10_a_hand_played_out() -> None:
    """Everybody holds one suit: who leads takes every trick of it unless trumped."""
    game, state = start([CLUBS, DIAMONDS, HEARTS, SPADES], match="hand")
    for rank in ("A", *range(2, 11), "J", "Q", "K"):
        # Diamonds are broken first, hearts are trump: seat 2 wins the first trick and leads its hearts from then on.
        order = "CDHS" if rank == "A" else "HSCD"
        outcome = play(game, state, " ".join(f"{rank}{suit}" for suit in order))
    assert list(state.tricks[0]) == [0, 0, 13, 0]
    assert list(outcome.rewards[0]) == [5, 5, 5, 5]  # seat 2 is first everywhere; all others are second with nothing
    assert state.terminated[0]


def test_r11_matches_end_at_the_target_or_at_the_limit() -> None:
    game = make_game("sloppy_seconds", target_score=100, max_hands=3)
    state = new_batch(game, 300)
    finish(game, state)
    assert ((state.scores.max(axis=1) >= 100) == state.terminated).all()
    assert (state.hand[state.truncated] == 3).all()
    assert state.terminated.any()
    assert state.truncated.any()
    assert (state.terminated & (state.hand == 3)).any()  # the target reached in the last hand terminates
    assert (state.terminated & (state.hand < 3)).any()


def test_a_single_hand_knows_no_target_and_no_limit() -> None:
    game = make_game("sloppy_seconds", match="hand", max_hands=1, target_score=1)
    state = new_batch(game, 30)
    finish(game, state)
    assert state.terminated.all()
    assert (state.hand == 1).all()


def test_r11_a_target_beyond_all_reach_is_allowed() -> None:
    game = make_game("sloppy_seconds", target_score=10**30, max_hands=2)
    state = new_batch(game, 4)
    finish(game, state)
    assert state.truncated.all()
    assert not game.observation.decode(game.observe(state, 0))["score_level"].any()


# -- options -----------------------------------------------------------------------------------------------------------


def test_tie_ranking_changes_scores() -> None:
    scores = []
    for ranking in ("dense", "competition"):
        state = new_batch(game := make_game("sloppy_seconds", match="hand", tie_ranking=ranking), 1000)
        finish(game, state)
        scores.append(state.scores)
    assert (scores[0] >= scores[1]).all()
    assert (scores[0] > scores[1]).any()


def test_the_first_dealer_is_one_of_the_players() -> None:
    assert (new_batch(make_game("sloppy_seconds", first_dealer=2), 5).seat == 3).all()
    with pytest.raises(RulesError, match="first_dealer expected a seat from 0 to 2 with 3 players, or None, got 3"):
        make_game("sloppy_seconds", num_players=3, first_dealer=3)
    with pytest.raises(RulesError, match="first_dealer expected a whole number from 0 to 3, or None, got 4"):
        make_game("sloppy_seconds", first_dealer=4)
    with pytest.raises(RulesError, match="num_players expected 3 or 4, got 5"):
        make_game("sloppy_seconds", num_players=5)


BROKEN_DEALS = [
    ({"dealer": 4}, "dealer: expected a seat"),
    ({"deal": {"hands": FOUR_SUITS[:3]}}, "hands of 4 seats, got 3"),
    ({"deal": {"hands": [*FOUR_SUITS[:3], SPADES.replace("2S", "2C")]}}, "2C is dealt 2 times"),
    ({"deal": {"hands": [*FOUR_SUITS[:3], SPADES.replace("2S", "LJ")]}}, "unknown card 'LJ'"),
    ({"deal": {"hands": [*FOUR_SUITS[:3], SPADES.replace(" 2S", "")]}}, "seat 3: expected 13 cards, got 12"),
]


@pytest.mark.parametrize(("change", "reason"), BROKEN_DEALS)
def test_wrong_deals_are_refused(change: dict[str, Any], reason: str) -> None:
    entry = {"dealer": 0, "deal": {"hands": FOUR_SUITS}} | change
    with pytest.raises(DealError, match=reason) as caught:
        make_game("sloppy_seconds").from_deals([[entry]])
    assert str(caught.value).startswith("sloppy_seconds, match 1, hand 1: ")


def test_three_players_have_no_two_of_clubs() -> None:
    cards = [name for name in DECK.names if name != "2S"]
    hands = [cards[:17], cards[17:34], cards[34:]]
    with pytest.raises(DealError, match="2C is dealt 1 times, but the deck has it 0 times"):
        make_game("sloppy_seconds", num_players=3).from_deals([[{"dealer": 0, "deal": {"hands": hands}}]])


def test_a_dealer_against_the_rules_is_refused() -> None:
    deal = {"dealer": 0, "deal": {"hands": FOUR_SUITS}}
    with pytest.raises(DealError, match="match 1, hand 1: the dealer is seat 1, got 0"):
        make_game("sloppy_seconds", first_dealer=1).from_deals([[deal]])


# -- everything else ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("players", [3, 4])
@pytest.mark.parametrize("ranking", ["dense", "competition"])
def test_the_referee_agrees(players: int, ranking: str) -> None:
    options = {"num_players": players, "tie_ranking": ranking}
    assert_referees_agree(make_game("sloppy_seconds", **options, match="hand"), 40, seed=3)
    assert_referees_agree(make_game("sloppy_seconds", **options, target_score=100, max_hands=4), 8, seed=4)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**63), players=st.sampled_from([3, 4]))
def test_points_and_tricks_add_up_and_cards_are_conserved(seed: int, players: int) -> None:
    game = make_game("sloppy_seconds", match="hand", num_players=players)
    state = game.new([seed])
    whole = int(np.bitwise_or.reduce(state.hands[0]))
    while state.seat[0] >= 0:
        held, played = np.bitwise_or.reduce(state.hands[0]), np.bitwise_or.reduce(state.seen[0])
        assert int(held ^ played) == whole
        assert state.tricks[0].sum() == state.moves[0] // players
        gone = POINTS[[card for card in range(52) if int(played) >> card & 1]].sum(axis=0)
        assert list(state.points[0].sum(axis=0) + state.pot[0]) == list(gone)
        game.step(state, game.sample_legal(state, derive(seed, state.move)))
    assert not state.hands.any()
    assert state.points.sum() == (362 if players == 3 else 364)
    assert state.tricks[0].sum() == len(CARDS[players]) // players
    assert list(state.scores[0]) == list(score_hand(state.points, "dense")[0])


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**63), players=st.sampled_from([3, 4]), ranking=st.sampled_from(["dense", "competition"]))
def test_everything_a_seat_should_know_is_in_its_observation(seed: int, players: int, ranking: str) -> None:
    """The decoded observation equals what an independent referee says is public."""
    game = make_game("sloppy_seconds", num_players=players, tie_ranking=ranking, max_hands=2)
    state = game.new([seed])
    referee = referee_of(game, state, 0)
    names, absent = np.array(DECK.names), [set()] * (4 - players)
    while state.seat[0] >= 0:
        for seat in range(players):
            known = referee.public(seat)
            seen = {name: value[0] for name, value in game.observation.decode(game.observe(state, seat)).items()}
            around = [(seat + k) % players for k in range(players)]
            assert set(names[seen["hand"]]) == known["hand"]
            trick = dict(known["trick"])
            assert [set(names[cards]) for cards in seen["table"]] == [
                {trick[s]} if s in trick else set() for s in around
            ] + absent
            cards = [pair for past, _ in known["past_tricks"] for pair in past] + known["trick"]
            played = [{card for s, card in cards if s == at} for at in around]
            assert [set(names[cards]) for cards in seen["seen"]] == played + absent
            assert seen["follow"] == ("CDHS".index(known["trick"][0][1][-1]) if trick else -1)
            broken = ["CDHS".index(suit) for suit in known["broken"]] + [-1, -1]
            assert [seen["first_broken"], seen["trump"]] == broken[:2]
            voids = [{"CDHS".index(suit) for suit in known["voids"][s]} for s in around]
            assert [set(np.flatnonzero(suits)) for suits in seen["voids"]] == voids + absent
            assert set(np.flatnonzero(seen["right_voids"])) == voids[-1]
            points = [[known["points"][s][suit] for suit in "CDHS"] for s in around]
            assert seen["points"].reshape(4, 4).tolist() == points + [[0] * 4] * (4 - players)
            assert seen["points_level"].reshape(4, 4).tolist() == (seen["points"] // 7).reshape(4, 4).tolist()
            totals = np.array(points)
            for suit in range(4):
                first = {s for s in range(players) if totals[s, suit] == totals[:, suit].max()}
                lower = [n for n in totals[:, suit] if n < totals[:, suit].max()]
                nobody = not lower or (ranking == "competition" and len(first) > 1)
                second = set() if nobody else set(np.flatnonzero(totals[:, suit] == max(lower)))
                assert set(np.flatnonzero(seen["first"][:, suit])) == first
                assert set(np.flatnonzero(seen["second"][:, suit])) == second
            now = (totals * seen["second"][:players]).sum(axis=1)
            assert list(seen["hand_score"]) == [n // 10 for n in now] + [0] * (4 - players)
            assert list(seen["tricks"]) == [known["tricks"][s] for s in around] + [0] * (4 - players)
            assert seen["players"] == players - 3
            assert seen["phase"] == 0
            assert seen["dealer"] == (known["dealer"] - seat) % players
            assert seen["to_move"] == (referee.seat - seat) % players
            leader = known["trick"][0][0] if trick else referee.seat
            assert seen["leader"] == (leader - seat) % players
            winner = winning_position([card for _, card in known["trick"]], referee.trump) if trick else None
            assert seen["winning"] == (-1 if winner is None else (leader + winner - seat) % players)
            assert list(seen["scores"]) == [known["scores"][s] for s in around] + [0] * (4 - players)
            assert list(seen["score_level"][:players]) == [min(known["scores"][s] // 15, 20) for s in around]
            assert seen["hand_number"] == referee.hand_number - 1
        action = game.action_name(state, 0, int(game.sample_legal(state, derive(seed, state.move))[0]))
        hand = int(state.hand[0])
        play(game, state, action)
        if state.hand[0] > hand and state.seat[0] >= 0:
            referee.script.append(game.deal_object(state, 0))
        referee.play(action)
    seen = game.observation.decode(game.observe(state, 1))
    assert (seen["phase"][0], seen["to_move"][0], seen["hand_number"][0]) == (1, -1, 2)


def test_one_layout_for_three_and_four_players() -> None:
    three, four = (make_game("sloppy_seconds", num_players=players) for players in (3, 4))
    assert list(three.observation) == list(four.observation)
    assert list(three.observation_all) == list(four.observation_all)
    assert list(make_game("sloppy_seconds", match="hand").observation) == list(four.observation)
    state = staggered(three, 50, 100)
    for name, value in three.observation_all.split(three.observe_all(state, 1)).items():
        if three.observation_all.planes[name].groups == 4:
            assert not value[:, 3].any()


def test_perfect_information_shows_all_hands() -> None:
    game = make_game("sloppy_seconds")
    state = staggered(game, 30, 52)
    seen = game.observation_all.decode(game.observe_all(state, 1))
    for i in range(30):
        hands = game.describe(state, i)["hands"]
        assert [set(np.array(DECK.names)[cards]) for cards in seen["all_hands"][i]] == [
            set(hands[(1 + k) % 4]) for k in range(4)
        ]


@pytest.mark.parametrize("players", [3, 4])
def test_worlds_respect_what_play_has_shown(players: int) -> None:
    game = make_game("sloppy_seconds", num_players=players)
    state = staggered(game, 300, 51)
    for seat in range(players):
        world = game.resample(state, seat, derive(5, seat, np.arange(300)))
        assert (np.bitwise_count(world.hands) == np.bitwise_count(state.hands)).all()
        assert (np.bitwise_or.reduce(world.hands, axis=1) == np.bitwise_or.reduce(state.hands, axis=1)).all()
        assert (world.hands[:, seat] == state.hands[:, seat]).all()
        for suit in range(4):
            void = state.voids >> suit & 1 == 1
            assert not (world.hands[void] & np.uint64(DECK.suit_bits(suit))).any()


def test_without_voids_every_world_is_equally_likely() -> None:
    game = make_game("sloppy_seconds")
    state = game.new(match_seed(1, [0])).repeat(4000)
    world = game.resample(state, 0, derive(5, np.arange(4000)))
    hidden = [card for card in range(52) if not int(state.hands[0, 0]) >> card & 1]
    for seat in (1, 2, 3):
        held = [(world.hands[:, seat] >> np.uint64(card) & np.uint64(1)).mean() for card in hidden]
        assert np.abs(np.array(held) - 1 / 3).max() < 0.04
