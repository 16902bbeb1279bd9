"""The referees against recorded games and against the examples and numbered rules of the rules pages."""

from __future__ import annotations

import copy
import gzip
import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from referees import REFEREES, replay, slippery_sam, slippery_slope, slopes, sloppy_seconds, sluff

RECORDS = Path(__file__).parent / "records"


def records_of(game: str) -> Iterator[dict[str, Any]]:
    with gzip.open(RECORDS / f"{game}.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def referee_of(game: str, rules: dict[str, Any], hands: list[dict[str, Any]]) -> Any:
    return REFEREES[game](rules, hands)


def hand(dealer: int, *cards: str, **more: Any) -> dict[str, Any]:
    """A hand of a script: the cards of each seat as text. (Referees do not check deals, so examples may be small.)"""
    return {"dealer": dealer, "deal": {"hands": [text.split() for text in cards], **more}}


def play(referee: Any, actions: str) -> None:
    """Play actions separated by commas."""
    for action in actions.split(", "):
        referee.play(action)


# ---- recorded games


@pytest.mark.parametrize("game", REFEREES)
def test_every_record_replays(game: str) -> None:
    count = 0
    for count, record in enumerate(records_of(game), 1):
        try:
            replay(record)
        except (AssertionError, ValueError) as error:
            pytest.fail(f"line {count}: {error}")
    assert count


def action_order(game: str) -> Callable[[str], tuple[int, ...]]:
    """A key that sorts names of actions by their numbers."""
    if game == "slippery_slope":
        return lambda name: (0, int(name[4:])) if name.startswith("bid") else (1, slippery_slope.DECK.index(name))
    if game == "sloppy_seconds":
        return lambda name: (sloppy_seconds.DECK.index(name),)
    if game == "sluff":
        special = {"sluff": (0, 0), "bid 0": (3, 0)}
        bid = {f"bid {number}": (1, number) for number in range(1, 15)}
        return lambda name: special.get(name) or bid.get(name) or (2, sluff.DECK.index(name))
    if game == "slopes":

        def key(name: str) -> tuple[int, ...]:
            if " on " in name:
                card, pile = name.split(" on ")
                return slopes.KINDS.index(card), int(pile)
            return (100,) if name == "end" else (101,)

        return key
    last = {"redraw": (1, 0), "pass": (2, 0)}
    return lambda name: last.get(name) or (0, int(name.split()[1]))


@pytest.mark.parametrize("game", REFEREES)
def test_what_holds_after_every_move(game: str) -> None:
    """Legal actions come in order and once each, cards stay the same cards, chips stay as many."""
    key = action_order(game)
    for _, record in zip(range(4), records_of(game), strict=False):
        referee = referee_of(game, record["rules"], record["hands"])
        for number, dealt in enumerate(record["hands"], 1):
            deal = dealt["deal"]
            cards = Counter(card for cards in deal["hands"] for card in cards)
            cards += Counter(deal.get("stock", []) + [card for card in deal.get("piles", []) if card is not None])
            for move in dealt["moves"]:
                names = referee.legal()
                assert names and len(set(names)) == len(names)
                if "keep" not in names:
                    assert names == sorted(names, key=key)
                referee.play(move["action"])
                for seat in range(referee.num_players):
                    assert referee.public(seat)["scores"] == referee.scores
                if game == "slippery_sam":
                    assert sum(referee.scores) == sum(referee.chips) + referee.bank == sum(referee.starting_scores)
                if referee.hand_number != number:
                    break
                held = Counter(card for cards in referee.hands for card in cards)
                if game == "slopes":
                    seen = Counter(referee.stock + [card for pile in referee.piles for card in pile])
                elif game == "slippery_sam":
                    continue
                else:
                    seen = Counter(card for _, card in referee.trick)
                    seen += Counter(card for trick, _ in referee.past_tricks for _, card in trick)
                    assert sum(referee.tricks) == len(referee.past_tricks)
                assert held + seen == cards
        assert referee.over and referee.seat is None and referee.legal() == []


def change_seat(record: dict[str, Any]) -> None:
    record["hands"][0]["moves"][2]["seat"] += 1


def change_legal(record: dict[str, Any]) -> None:
    record["hands"][0]["moves"][2]["legal"].pop()


def change_action(record: dict[str, Any]) -> None:
    record["hands"][0]["moves"][2]["action"] = "nonsense"


def drop_last_move(record: dict[str, Any]) -> None:
    record["hands"][-1]["moves"].pop()


def repeat_last_move(record: dict[str, Any]) -> None:
    record["hands"][-1]["moves"].append(record["hands"][-1]["moves"][-1])


def change_hand_score(record: dict[str, Any]) -> None:
    record["hands"][0]["scores"][0] += 1


def change_final_score(record: dict[str, Any]) -> None:
    record["scores"][0] += 1


def change_end(record: dict[str, Any]) -> None:
    record["end"] = "truncated" if record["end"] == "terminated" else "terminated"


def repeat_last_hand(record: dict[str, Any]) -> None:
    record["hands"].append({**record["hands"][-1], "moves": []})


TAMPERINGS = [
    (change_seat, "hand 1, move 3: seat"),
    (change_legal, "hand 1, move 3: legal"),
    (change_action, "hand 1, move 3: .*'nonsense'"),
    (drop_last_move, "after its last move: finished hands"),
    (repeat_last_move, "move .*: finished hands"),
    (change_hand_score, "hand 1, after its last move: scores"),
    (change_final_score, "final scores"),
    (change_end, "end"),
    (repeat_last_hand, "after its last move: finished hands"),
]


@pytest.mark.parametrize("game", REFEREES)
@pytest.mark.parametrize(("tamper", "message"), TAMPERINGS, ids=[tamper.__name__ for tamper, _ in TAMPERINGS])
def test_a_changed_record_is_refused(game: str, tamper: Callable[[dict[str, Any]], None], message: str) -> None:
    record = next(record for record in records_of(game) if len(record["hands"][0]["moves"]) > 2)
    replay(record)
    tamper(record)
    with pytest.raises((AssertionError, ValueError), match=message):
        replay(record)


@pytest.mark.parametrize("game", ["slippery_slope", "sloppy_seconds", "sluff", "slippery_sam"])
def test_the_deal_passes_to_the_left(game: str) -> None:
    record = next(record for record in records_of(game) if len(record["hands"]) > 1)
    record["hands"][1]["dealer"] = record["hands"][0]["dealer"]
    with pytest.raises(ValueError, match="hand 2 has dealer"):
        replay(record)


@pytest.mark.parametrize("game", REFEREES)
def test_an_unfinished_record_replays(game: str) -> None:
    """The open hand's scores are null; the final scores are those of the finished hands."""
    record = next(records_of(game))
    last = record["hands"][-1]
    record["scores"] = [total - change for total, change in zip(record["scores"], last["scores"], strict=True)]
    record["end"] = "unfinished"
    last["scores"] = None
    last["moves"].pop()
    replay(record)


def test_a_referee_without_a_further_deal_waits() -> None:
    record = next(record for record in records_of("sluff") if len(record["hands"]) > 1)
    first, second = copy.deepcopy(record["hands"][:2])
    referee = referee_of("sluff", record["rules"], [])
    assert (referee.waiting, referee.seat, referee.legal()) == (True, None, [])
    referee.go_on(first)
    for move in first["moves"]:
        referee.play(move["action"])
    assert (referee.waiting, referee.seat, referee.over, referee.end) == (True, None, False, "unfinished")
    referee.go_on(second)
    assert (referee.waiting, referee.seat) == (False, (second["dealer"] + 1) % referee.num_players)
    with pytest.raises(ValueError, match="no hand is awaited"):
        referee.go_on(second)


# ---- Slippery Slope

SLOPE_RULES = {
    "num_players": 3,
    "target_score": 20,
    "max_hands": 100,
    "reveal_bids": "after_scoring",
    "match": "game",
    "first_dealer": None,
}


def slope(*cards: str, bids: str = "bid 3, bid 3, bid 3", **rules: Any) -> Any:
    """Seat 0 leads."""
    referee = slippery_slope.SlipperySlopeReferee({**SLOPE_RULES, **rules}, [hand(2, *cards)])
    play(referee, bids)
    return referee


@pytest.mark.parametrize(
    ("cards", "winner"),
    [
        # the worked examples
        ("3C JC 2C", 2),
        ("3C JC AC", 2),
        ("KC JC 2C", 0),
        ("KC JC AC", 2),
        ("AC KH 2C", 2),
        # downhill and uphill, only the led suit
        ("2C 3C 4C", 0),
        ("4C AC 2C", 1),
        ("3C 2D KC", 0),
        ("3C KD 2C", 2),
        ("2C AD AH", 0),
        ("JC KC QC", 1),
        ("JC AC KC", 1),
        ("JC 2C AD", 0),
        # an ace led: the second card decides
        ("AC 2C KC", 1),
        ("AC 3C 2C", 2),
        ("AC KC 2C", 1),
        ("AC JC KC", 2),
        ("AC 2H KC", 2),
        ("AC KC 2H", 1),
        ("AC AH 2C", 2),
        ("AC KH 2H", 0),
        ("AC AH AD", 0),
        # jokers
        ("3C LJ 2C", 1),
        ("3C BJ LJ", 1),
        ("KC LJ BJ", 2),
        ("KC AC LJ", 2),
        ("AC LJ BJ", 2),
        ("AC BJ LJ", 1),
        ("AC LJ KC", 1),
        ("AC KC LJ", 2),
        ("LJ 2C AC", 0),
        ("LJ AC BJ", 2),
        ("BJ LJ AC", 0),
    ],
)
def test_slippery_slope_trick(cards: str, winner: int) -> None:
    referee = slope(*cards.split())
    play(referee, cards.replace(" ", ", "))
    assert referee.past_tricks[-1][1] == winner
    assert referee.tricks == [int(seat == winner) for seat in range(3)]
    assert referee.seat == winner and referee.trick == [] and referee.direction == "open"


@pytest.mark.parametrize(
    ("cards", "direction"),
    [
        ("", "open"),
        ("AC", "open"),
        ("2C", "down"),
        ("4C", "down"),
        ("JC", "up"),
        ("LJ", "none"),
        ("3C KC", "down"),
        ("KC 2C", "up"),
        ("AC KH", "up"),
        ("AC 2D", "down"),
        ("AC AH", "none"),
        ("AC BJ", "none"),
    ],
)
def test_slippery_slope_direction(cards: str, direction: str) -> None:
    played = cards.split()
    referee = slope(*played, *["2S"] * (3 - len(played)))
    for card in played:
        referee.play(card)
    assert referee.direction == direction


@pytest.mark.parametrize(
    ("holding", "led", "legal"),
    [
        ("AC KH LJ", None, "AC KH"),  # rule 3
        ("LJ BJ", None, "LJ BJ"),
        ("BJ", None, "BJ"),
        ("AC 2C KH LJ", "3C", "AC 2C"),  # rule 4
        ("KH 2S LJ BJ", "3C", "KH 2S LJ BJ"),
        ("AC KH LJ", "BJ", "AC KH LJ"),
    ],
)
def test_slippery_slope_legal_cards(holding: str, led: str | None, legal: str) -> None:
    referee = slope(holding, "2D", "2D") if led is None else slope(led, holding, "2D")
    if led is not None:
        referee.play(led)
    assert referee.legal() == legal.split()


@pytest.mark.parametrize(("bid", "tricks", "score"), [(0, 0, 0), (3, 3, 3), (10, 10, 10), (4, 2, -2), (0, 3, -3)])
def test_slippery_slope_score(bid: int, tricks: int, score: int) -> None:
    assert slippery_slope.score(bid, tricks) == score


def test_slippery_slope_bids_are_hidden() -> None:
    hidden = slope("2C", "3C", "4C", bids="bid 1, bid 2, bid 3")
    assert hidden.bids == [1, 2, 3] and hidden.public(1)["bids"] == [None, 2, None]
    shown = slope("2C", "3C", "4C", bids="bid 1, bid 2", reveal_bids="after_bidding")
    assert shown.public(1)["bids"] == [None, 2, None]
    shown.play("bid 3")
    assert shown.public(1)["bids"] == [1, 2, 3]


def test_slippery_slope_voids() -> None:
    referee = slope("2C", "3D", "LJ")
    play(referee, "2C, 3D, LJ")
    assert referee.voids == [set(), {"C"}, {"C"}]
    referee = slope("BJ", "3D", "4D")
    play(referee, "BJ, 3D")
    assert referee.voids == [set("CDHS"), set(), set()]


# ---- Sloppy Seconds

SECONDS_RULES = {
    "num_players": 4,
    "target_score": 300,
    "max_hands": 100,
    "tie_ranking": "dense",
    "match": "game",
    "first_dealer": None,
}


def seconds(*cards: str, more: tuple[dict[str, Any], ...] = (), **rules: Any) -> Any:
    """Seat 0 leads."""
    rules = {**SECONDS_RULES, "num_players": len(cards), **rules}
    return sloppy_seconds.SloppySecondsReferee(rules, [hand(len(cards) - 1, *cards), *more])


@pytest.mark.parametrize(
    ("cards", "winner", "broken"),
    [
        ("KC 2C AC QC", 2, ""),  # hand 3: aces are high
        ("KC AD QC AS", 3, "DS"),  # the second suit broken is trump at once
        ("KC 2D 2H 3C", 2, "DH"),
        ("KC 2D AD 3C", 0, "D"),  # one broken suit is no trump
        ("KC 2D 2H AH", 3, "DH"),
        ("KC 2D 2H AD", 2, "DH"),  # the first broken suit never is
        ("KC 2D 2H AS", 2, "DHS"),  # nor the third
        ("2C KD QD", 0, "D"),
    ],
)
def test_sloppy_seconds_trick(cards: str, winner: int, broken: str) -> None:
    referee = seconds(*cards.split())
    play(referee, cards.replace(" ", ", "))
    assert referee.past_tricks[-1][1] == winner
    assert referee.broken == list(broken)
    assert referee.trump == (broken[1] if len(broken) > 1 else None)


def test_sloppy_seconds_trump_over_several_tricks() -> None:
    referee = seconds("KC 3D AH 4C", "QC 4D 2S 2H", "2D 5D 3H 5S", "JC 6D 4S 3S")
    play(referee, "KC, QC, 2D, JC")
    assert (referee.seat, referee.broken, referee.trump) == (0, ["D"], None)
    play(referee, "3D, 4D, 5D, 6D")  # leading a suit does not break it, nor does following
    assert (referee.seat, referee.broken, referee.trump) == (3, ["D"], None)
    play(referee, "3S, AH, 2S, 5S")
    assert (referee.seat, referee.broken, referee.trump) == (0, ["D", "H"], "H")
    play(referee, "4C, 2H, 3H, 4S")
    assert referee.past_tricks[-1][1] == 2
    assert referee.broken == ["D", "H", "S"] and referee.trump == "H"
    assert referee.voids == [{"S"}, {"C"}, {"C"}, {"C"}]


@pytest.mark.parametrize(
    ("totals", "ranking", "scores"),
    [
        ([50, 30, 11, 0], "dense", [0, 30, 0, 0]),
        ([31, 30, 30, 0], "dense", [0, 30, 30, 0]),
        ([40, 40, 11, 0], "dense", [0, 0, 11, 0]),
        ([40, 40, 11, 0], "competition", [0, 0, 0, 0]),
        ([31, 30, 30, 0], "competition", [0, 30, 30, 0]),
        ([91, 0, 0, 0], "dense", [0, 0, 0, 0]),
        ([45, 44, 0], "dense", [0, 44, 0]),
    ],
)
def test_sloppy_seconds_score_of_a_suit(totals: list[int], ranking: str, scores: list[int]) -> None:
    assert sloppy_seconds.score_of_suit(totals, ranking) == scores


def test_sloppy_seconds_score_of_a_hand() -> None:
    points = [
        {"C": 50, "D": 1, "H": 0, "S": 4},
        {"C": 41, "D": 0, "H": 0, "S": 87},
        {"C": 0, "D": 90, "H": 91, "S": 0},
    ]
    assert sloppy_seconds.score(points, "dense") == [5, 41, 5]  # 1 + 4 is five; nothing counts as five


def test_sloppy_seconds_points_in_the_deck() -> None:
    for suit in "CDHS":
        assert sum(sloppy_seconds.points_of(card) for card in sloppy_seconds.DECK if card[-1] == suit) == 91


def test_target_and_limit_together_terminate() -> None:
    deal = ("2C", "3C", "4C")
    cases: list[tuple[dict[str, Any], str]] = [
        ({"target_score": 5, "max_hands": 1}, "terminated"),
        ({"target_score": 6, "max_hands": 1}, "truncated"),
        ({"target_score": 6, "max_hands": 1, "match": "hand"}, "terminated"),
        ({"target_score": 6, "max_hands": 2}, "unfinished"),
    ]
    for rules, end in cases:
        referee = seconds(*deal, **rules)
        play(referee, "2C, 3C, 4C")
        assert referee.end == end and referee.over == (end != "unfinished") and referee.scores == [5, 5, 5]


# ---- Sluff


def sluff_game(dealer: int, *cards: str, **rules: Any) -> Any:
    rules = {"num_players": len(cards), "allow_zero_bid": False, "match": "hand", "first_dealer": 0, **rules}
    return sluff.SluffReferee({**rules, "first_dealer": dealer}, [hand(dealer, *cards)])


@pytest.mark.parametrize(
    ("cards", "position"),
    [
        ("R2 R14 R1 R13", 2),  # 1 is high
        ("R2 R14 B2 R1", 2),  # black is trump
        ("B14 B1 R1 B2", 1),
        ("R2 G1 Y1 R3", 3),
        ("R1 R1 R2 R2", 0),  # of two identical cards the first
        ("R2 B1 B1 R2", 1),
        ("Y2 G1 R1 R1", 0),
    ],
)
def test_sluff_trick(cards: str, position: int) -> None:
    assert sluff.winning_position(cards.split()) == position


@pytest.mark.parametrize(
    ("bids", "tricks", "score"),
    [
        ([5, "sluff", "sluff"], [8, 0, 1], 54),  # the source's first example
        ([3, "sluff", 3], [4, 0, 1], 0),  # and the second
        ([5, 4], [5, 4], 90),
        ([5, 4], [8, 4], 93),
        ([5, 4], [5, 3], 0),
        (["sluff", "sluff"], [0, 0], 100),
        (["sluff", "sluff"], [1, 0], 1),
        (["sluff", "sluff"], [2, 3], -95),
        ([0, 0], [2, 3], 5),  # a bid of zero promises nothing
        ([0, "sluff"], [0, 0], 50),
        ([9, "sluff"], [3, 2], 0),  # a missed bid: a lost sluff costs nothing either
    ],
)
def test_sluff_score(bids: list[int | str], tricks: list[int], score: int) -> None:
    assert sluff.team_score(bids, tricks) == score


def test_sluff_scoring_examples_played_out() -> None:
    """Both examples of the source in one hand of six: 9 tricks to seats 0 2 4, 5 to seats 1 3 5."""
    yellow = "Y2 Y3 Y4 Y5 Y6 Y7 Y8 Y9 Y10 Y11 Y12 Y13 Y14"  # not a real deck
    referee = sluff_game(
        5,
        "R2 B1 B14 B13 B12 B11 B10 B9 B8 G2 G2 G3 G3 G4",
        "R3 G13 G14 G14 G1 G1 Y2 Y3 Y4 Y5 Y6 Y7 Y8 Y9",
        f"R1 {yellow}",
        *[f"R3 {yellow}"] * 3,
    )
    play(referee, "bid 5, bid 3, sluff, sluff, sluff, bid 3")
    while not referee.over:
        referee.play(referee.legal()[0 if referee.seat == 0 else -1])
    assert referee.tricks == [8, 5, 1, 0, 0, 0]
    assert referee.scores == [54, 0, 54, 0, 54, 0]


def test_sluff_bids() -> None:
    numbers = [f"bid {number}" for number in range(1, 15)]
    assert sluff_game(3, *["R2"] * 4).legal() == ["sluff", *numbers]
    assert sluff_game(3, *["R2"] * 4, allow_zero_bid=True).legal() == ["sluff", *numbers, "bid 0"]
    assert sluff_game(3, *["R2"] * 10).legal() == ["sluff", *numbers[:11]]


@pytest.mark.parametrize(
    ("dealer", "holders", "leader"), [(0, {0}, 0), (0, {0, 3}, 3), (0, {1, 2}, 1), (2, {1, 2}, 1), (2, {2, 3}, 3)]
)
def test_sluff_opening_lead(dealer: int, holders: set[int], leader: int) -> None:
    """Hand 2: from the dealer's left, the dealer last; it must lead the red 2."""
    referee = sluff_game(dealer, *["B1 R2" if seat in holders else "B1 R3" for seat in range(4)])
    play(referee, "bid 1, bid 1, bid 1, sluff")
    assert referee.seat == leader and referee.legal() == ["R2"]
    referee.play("R2")
    assert referee.legal() == ["R2" if referee.seat in holders else "R3"]  # hand 3


def test_sluff_everybody_deals_once() -> None:
    """A hand of one trick each, four times; scores are the team's."""
    hands = [hand(dealer, "R2", "R3", "R1", "R4") for dealer in range(4)]
    rules = {"num_players": 4, "allow_zero_bid": False, "match": "game", "first_dealer": 0}
    referee = sluff.SluffReferee(rules, hands)
    for number in range(1, 5):
        assert (referee.hand_number, referee.dealer, referee.over) == (number, number - 1, False)
        for _ in range(4):  # seats 1 and 2 bid one trick, seats 0 and 3 sluff
            referee.play("bid 1" if referee.seat in (1, 2) else "sluff")
        play(referee, "R2, R3, R1, R4")
        assert referee.hand_scores[-1] == [60, 0, 60, 0]
    assert referee.end == "terminated" and referee.scores == [240, 0, 240, 0]


# ---- Slopes


def slopes_game(
    own: str, other: str = "", piles: str = "- B5 G2 -", stock: str = "R9 R9 R9 R9", first: int = 0, **more: Any
) -> Any:
    """Piles as seat 0 sees them. `more` are options, and `reshuffles` as texts."""
    reshuffles = [text.split() for text in more.pop("reshuffles", [])]
    rules = {"num_players": 2, "must_play": True, "max_turns": 500, "match": "game", "first_player": None, **more}
    deal = {
        "hands": [own.split(), other.split()] if first == 0 else [other.split(), own.split()],
        "piles": [None if card == "-" else card for card in piles.split()],
        "stock": stock.split(),
        "reshuffles": reshuffles,
    }
    return slopes.SlopesReferee(rules, [{"first_player": first, "deal": deal}])


@pytest.mark.parametrize(
    ("card", "top", "after_duplicate", "expected"),
    [
        # on nothing
        ("R0", None, False, True),
        ("RS", None, False, False),
        ("W", None, False, False),
        # number on number
        ("R7", "B7", False, True),
        ("R7", "B8", False, True),
        ("R7", "B6", False, True),
        ("R7", "B5", False, False),
        ("R7", "R5", False, True),
        ("R7", "R9", False, True),
        ("R7", "R4", False, False),
        ("R0", "B9", False, True),
        ("R9", "B0", False, True),
        ("R0", "B1", False, True),
        ("R1", "B0", False, True),
        ("R0", "B0", False, True),
        ("R0", "R2", False, False),
        ("R2", "R0", False, False),
        ("R0", "R8", False, False),
        ("R8", "R0", False, False),
        ("R1", "R9", False, False),
        ("R9", "R1", False, False),
        ("R3", "R1", False, True),
        # special on number
        ("RD", "R7", False, False),
        ("RD", "R7", True, True),
        ("BD", "R7", True, False),
        ("W", "R7", False, False),
        ("W", "R7", True, True),
        ("W4", "R7", True, True),
        # on a coloured special
        ("R0", "RS", False, True),
        ("R0", "BS", False, False),
        ("RD", "RR", False, True),
        ("RD", "BD", False, True),
        ("RD", "BR", False, False),
        ("W", "BD", False, True),
        ("W4", "BD", False, True),
        # on a wild
        ("R0", "W", False, True),
        ("RD", "W4", False, True),
        ("W", "W4", False, True),
        ("W4", "W4", False, True),
    ],
)
def test_slopes_table(card: str, top: str | None, after_duplicate: bool, expected: bool) -> None:
    assert slopes.fits(card, top, after_duplicate) is expected


@pytest.mark.parametrize(
    ("tops", "winner"),
    [
        ("R1 G4 B5 R9", 0),
        ("R9 B5 G4 R1", 1),
        ("R0 G1 B2 R3", 0),
        ("R1 G4 B4 R9", None),
        ("R1 G4 BS R9", None),
        ("R1 W B5 R9", None),
        ("- G4 B5 R9", None),
        ("R1 G5 B4 R9", None),
        ("R8 G9 B0 R1", None),  # the ring of neighbours does not order the numbers
    ],
)
def test_slopes_winner(tops: str, winner: int | None) -> None:
    assert slopes.winner_of([None if top == "-" else top for top in tops.split()]) == winner


@pytest.mark.parametrize("first", [0, 1])
def test_slopes_win_of_either_seat_by_either_seat(first: int) -> None:
    """Seat 0's row rises when it reads upwards in seat 0's order, whoever completes it."""
    for piles, missing, winner in [("R1 G3 B5 -", "R7", 0), ("R9 G7 B5 -", "R1", 1)]:
        referee = slopes_game(missing, piles=piles, stock="W W", first=first)
        referee.play(f"{missing} on {4 if first == 0 else 1}")
        assert not referee.over
        referee.play("end")
        assert referee.end == "terminated"
        assert referee.scores == ([1, -1] if winner == 0 else [-1, 1])
        assert referee.hand_scores == [referee.scores]


def test_slopes_piles_are_numbered_from_the_player_to_act() -> None:
    assert slopes_game("R6", piles="- B5 G2 -", stock="W", first=0).legal() == ["R6 on 1", "R6 on 2", "R6 on 4"]
    assert slopes_game("R6", piles="- B5 G2 -", stock="W", first=1).legal() == ["R6 on 1", "R6 on 3", "R6 on 4"]


def test_slopes_one_pile_and_a_special_after_a_duplicate() -> None:
    referee = slopes_game("R5 R6 RD W B9", other="G9", piles="R1 B5 G2 Y1", stock="W4 Y9 Y9 Y9")
    assert referee.legal() == ["R5 on 2", "R6 on 2"]  # must_play: no end; no special
    referee.play("R5 on 2")
    assert referee.legal() == ["R6 on 2", "RD on 2", "W on 2", "W4 on 2", "end"]
    referee.play("R6 on 2")
    assert referee.legal() == ["end"]  # R6 is no duplicate of R5
    referee.play("end")
    assert referee.seat == 1 and referee.turns == 1 and sorted(referee.hands[1]) == ["G9", "Y9"]


def test_slopes_a_duplicate_of_the_opponent_entitles_to_nothing() -> None:
    referee = slopes_game("R5", other="RD W", piles="R1 B5 G2 Y1", stock="G9 G9")
    play(referee, "R5 on 2, end")
    assert referee.legal() == ["end"]


def test_slopes_zero_on_zero_is_a_duplicate() -> None:
    referee = slopes_game("R0 RR", piles="R5 B0 G5 Y5", stock="Y2")
    play(referee, "R0 on 2")
    assert referee.legal() == ["RR on 2", "end"]


def test_slopes_must_play() -> None:
    cards: dict[str, Any] = {"own": "R6", "piles": "R1 B5 G2 Y1", "stock": "W W"}
    assert slopes_game(**cards).legal() == ["R6 on 2"]
    assert slopes_game(**cards, must_play=False).legal() == ["R6 on 2", "end"]
    cards["own"] = "R8"
    assert slopes_game(**cards).legal() == ["end"]
    cards["own"] = "BS"  # a skip that takes control is owed like any card
    assert slopes_game(**cards).legal() == ["BS on 2"]


def test_slopes_freeze_and_thaw() -> None:
    referee = slopes_game("B5 BD B1", other="B4 BS BR W4 G1", piles="R1 B5 G2 Y1", stock="Y9 G7 G8 Y7 Y6 Y5")
    play(referee, "B5 on 2, BD on 2")
    assert referee.seat == 1 and referee.frozen_by == [None, 0, None, None]
    assert sorted(referee.hands[0]) == ["B1", "G7", "G8", "Y9"]  # drew two
    # Pile 3 of seat 1 is frozen: neither number nor special, a skip excepted.
    assert [name for name in referee.legal() if name.endswith("on 3")] == ["BS on 3"]
    referee.play("G1 on 4")
    assert "BS on 3" in referee.legal()  # also beside the turn's own pile
    referee.play("BS on 3")
    assert referee.seat == 0 and referee.frozen_by == [None, 1, None, None] and referee.tops[1] == "BS"
    assert "B1 on 2" not in referee.legal() and "B1 on 1" in referee.legal()
    play(referee, "B1 on 1, end")
    assert referee.seat == 1 and referee.frozen_by == [None] * 4  # thawed with the turn of the seat that froze it
    assert {"B4 on 3", "BR on 3", "W4 on 3"} <= set(referee.legal())


@pytest.mark.parametrize(
    ("top", "allowed"),
    [("B7", True), ("R7", False), ("BD", True), ("W", True), ("W4", True), ("RS", False), ("-", False)],
)
def test_slopes_taking_control(top: str, allowed: bool) -> None:
    """A blue skip on another pile than the turn's own, and on a frozen one."""
    beside = slopes_game("Y1 BS", piles=f"Y1 G2 {top} Y9", stock="R4")
    beside.play("Y1 on 1")
    assert ("BS on 3" in beside.legal()) is allowed
    frozen = slopes_game("BS", piles=f"Y1 G2 {top} Y9", stock="R4")
    frozen.frozen_by[2] = 1
    assert ("BS on 3" in frozen.legal()) is allowed


def test_slopes_skip_on_a_skip_of_another_colour_is_ordinary() -> None:
    referee = slopes_game("BS Y1", piles="Y1 G2 RS Y9", stock="R4")
    assert "BS on 3" in referee.legal()
    referee.play("Y1 on 1")
    assert "BS on 3" not in referee.legal()


def test_slopes_swap() -> None:
    referee = slopes_game("G2 GR", piles="- B5 G2 W", stock="Y9 Y9")
    referee.frozen_by[3] = 1
    play(referee, "G2 on 3, GR on 3")
    assert referee.seat == 0 and referee.legal() == ["swap 2", "keep", "swap 4"]  # pile 1 is empty; pile 4 is frozen
    referee.frozen_by[3] = 1
    referee.play("swap 4")
    assert referee.tops == [None, "B5", "W", "GR"]
    assert referee.seat == 1 and referee.frozen_by == [None, None, None, 0]  # seat 1's own freeze moved and thawed

    referee = slopes_game("G2 GR", piles="- B5 G2 -", stock="Y9 Y9", first=1)
    play(referee, "G2 on 2, GR on 2")
    assert referee.legal() == ["keep", "swap 3"]
    referee.play("keep")
    assert referee.tops == [None, "B5", "GR", None] and referee.frozen_by == [None, None, 1, None]


@pytest.mark.parametrize(("card", "drawn"), [("W", 0), ("W4", 4), ("GD", 2), ("GS", 0)])
def test_slopes_draws(card: str, drawn: int) -> None:
    referee = slopes_game(f"G2 {card}", piles="- B5 G2 -", stock="Y1 Y2 Y3 Y4 Y5 Y6")
    play(referee, f"G2 on 3, {card} on 3")
    assert referee.hands == [["Y1", "Y2", "Y3", "Y4", "Y5"][: 1 + drawn], [f"Y{2 + drawn}"]]


def test_slopes_new_stock() -> None:
    """It holds what lies under the tops, also of a frozen pile, and comes only when a card is needed."""
    referee = slopes_game("B5 BD", piles="- B5 G2 -", stock="Y9", reshuffles=["B5 B5"])
    referee.play("B5 on 2")
    assert referee.stock == [] and referee.reshuffles_used == 0
    referee.play("BD on 2")
    assert referee.hands[0] == ["Y9", "B5", "B5"] and referee.piles == [[], ["BD"], ["G2"], []]
    assert referee.frozen_by == [None, 0, None, None]
    assert referee.seat == 1 and referee.hands[1] == []  # nothing is left to draw
    referee.play("end")
    assert referee.hands[0] == ["Y9", "B5", "B5"] and referee.reshuffles_used == 1
    referee.check_script_used()

    referee = slopes_game("B5 W4", piles="- B5 G2 -", stock="Y9", reshuffles=["B5 B5"])
    play(referee, "B5 on 2, W4 on 2")
    assert referee.hands[0] == ["Y9", "B5", "B5"]  # the rest of the draw is dropped

    referee = slopes_game("B5 BD", piles="- B5 G2 -", stock="Y9", reshuffles=["B5 B6"])
    with pytest.raises(ValueError, match="reshuffle 1 is not"):
        play(referee, "B5 on 2, BD on 2")
    referee = slopes_game("B5 BD", piles="- B5 G2 -", stock="Y9")
    with pytest.raises(ValueError, match="needs reshuffle 1"):
        play(referee, "B5 on 2, BD on 2")


def test_slopes_limit_of_turns() -> None:
    referee = slopes_game("R8", piles="R1 B5 G2 Y1", stock="W W W", max_turns=2)
    play(referee, "end, end")  # passes count
    assert referee.end == "truncated" and referee.scores == [0, 0] and referee.turns == 2
    referee = slopes_game("R7", piles="R1 G3 B5 -", stock="W", max_turns=1)
    play(referee, "R7 on 4, end")  # a win on the last turn is a win
    assert referee.end == "terminated" and referee.scores == [1, -1]


# ---- Slippery Sam

QUARTERS = [0, 0.25, 0.5, 0.75, 1]


def sam(*hands: dict[str, Any], players: int, **rules: Any) -> Any:
    rules = {
        "num_players": players,
        "starting_chips": 100,
        "min_stake": 10,
        "min_bet": 1,
        "fee": "fifth",
        "rounds": 1,
        "bet_levels": "all",
        "match": "game",
        "first_dealer": None,
        **rules,
    }
    return slippery_sam.SlipperySamReferee(rules, list(hands))


def bank(dealer: int, *cards: str, stock: str) -> dict[str, Any]:
    return hand(dealer, *cards, stock=stock.split())


@pytest.mark.parametrize(
    ("low", "high", "levels", "amounts"),
    [
        (10, 100, QUARTERS, [10, 33, 55, 78, 100]),
        (1, 10, QUARTERS, [1, 3, 6, 8, 10]),
        (1, 3, QUARTERS, [1, 2, 3]),  # an amount is offered once
        (7, 7, QUARTERS, [7]),
        (0, 50, [0.29], [15]),  # 14.5 as written
        (1, 4, "all", [1, 2, 3, 4]),
    ],
)
def test_slippery_sam_amounts(low: int, high: int, levels: str | list[float], amounts: list[int]) -> None:
    assert slippery_sam.amounts_offered(low, high, levels) == amounts


@pytest.mark.parametrize(
    ("cards", "exposed", "shown", "change"),
    [
        ("3S 2H 2D", "2S", "3S", 8),
        ("AS KS 2D", "QS", "KS", 8),  # the lowest card that wins
        ("AH AD AC", "2S", "AH AD AC", -8),
        ("JS AD AC", "QS", "JS AD AC", -8),
        ("KS AD AC", "AS", "KS AD AC", -8),
    ],
)
def test_slippery_sam_bet(cards: str, exposed: str, shown: str, change: int) -> None:
    referee = sam(bank(1, cards, "", "2C 3C 4C", stock=f"{exposed} 2D"), players=3)
    play(referee, "stake 40")
    assert (referee.seat, referee.chips, referee.bank, referee.scores) == (2, [100, 60, 100], 40, [100, 100, 100])
    referee.play("bet 1")  # lost: seat 2 has clubs only
    assert referee.bank == 41 and referee.exposed == exposed  # the exposed card stays
    referee.play("bet 8")
    assert referee.hand_scores == [[change, 1 - change, -1]]
    assert referee.shown[0] == shown.split() and referee.shown[2] == ["2C", "3C", "4C"]
    assert referee.scores == referee.chips == [100 + change, 101 - change, 99] and referee.bank == 0
    assert referee.waiting and not referee.over


def test_slippery_sam_stakes_and_bets() -> None:
    referee = sam(bank(1, "AS AH AD", "", stock="2C 3C 4C 5C"), players=2, bet_levels=QUARTERS)
    assert referee.legal() == ["stake 10", "stake 33", "stake 55", "stake 78", "stake 100"]
    with pytest.raises(ValueError, match="seat 1 may not play 'stake 9'"):
        referee.play("stake 9")
    referee.play("stake 10")
    assert referee.legal() == ["bet 1", "bet 3", "bet 6", "bet 8", "bet 10", "redraw"]


def test_slippery_sam_redraws() -> None:
    """The fee is a fifth of the bank rounded up, fixed for the turn; three redraws, then a pass is allowed."""
    deal = bank(0, "", "AS AH AD", "KS KH KD", stock="2C 3C 4C 5C 6C")
    referee = sam(deal, players=3, min_stake=11, bet_levels=[0, 1])
    play(referee, "stake 11, redraw")
    assert (referee.bank, referee.fee, referee.exposed, referee.seat) == (14, 3, "3C", 1)
    assert referee.legal() == ["bet 1", "bet 14", "redraw"]
    play(referee, "redraw, redraw")
    assert (referee.bank, referee.exposed) == (20, "5C") and referee.legal() == ["bet 1", "bet 20", "pass"]
    assert referee.discards == [(1, "2C"), (1, "3C"), (1, "4C")]
    referee.play("pass")
    assert (referee.seat, referee.fee, referee.exposed) == (2, None, "5C")
    referee.play("redraw")
    assert (referee.bank, referee.fee) == (24, 4)  # a fifth of the bank as it is in this turn
    assert referee.shown == [[], [], []]


def test_slippery_sam_fixed_fee() -> None:
    referee = sam(bank(1, "AS AH AD", "", stock="2C 3C 4C 5C 6C"), players=2, bet_levels=[0, 1], fee=7)
    play(referee, "stake 10, redraw, redraw")
    assert referee.bank == 24
    referee = sam(bank(1, "AS AH AD", "", stock="2C 3C 4C 5C 6C"), players=2, bet_levels=[0, 1], fee=0)
    play(referee, "stake 10, redraw, redraw, redraw")
    assert referee.bank == 10 and referee.legal() == ["bet 1", "bet 10", "pass"]


def test_slippery_sam_without_chips_for_fee_or_bet() -> None:
    deal = bank(0, "", "AS AH AD", stock="2C 3C 4C 5C 6C")
    must_bet = sam(deal, players=2, starting_chips=10, fee=11, bet_levels=[0])
    must_bet.play("stake 10")
    assert must_bet.legal() == ["bet 1"]
    broke = sam(deal, players=2, starting_chips=10, fee=5, bet_levels=[0])
    play(broke, "stake 10, redraw, redraw")
    assert broke.chips == [0, 0] and broke.legal() == ["pass"]
    broke.play("pass")
    assert broke.scores == [20, 0] and broke.end == "terminated"  # fewer than two can bet
    free = sam(deal, players=2, starting_chips=10, fee=5, min_bet=6, bet_levels=[0])
    play(free, "stake 10, redraw")
    assert free.chips == [0, 5] and free.legal() == ["redraw", "pass"]


def test_slippery_sam_bank_below_the_least_bet() -> None:
    deal = bank(0, "", "AS AH AC", "KS KH KC", stock="2C 3C 4C 5C 6C")
    referee = sam(deal, players=3, min_bet=12, fee=1)
    play(referee, "stake 20, bet 12")
    assert referee.bank == 8 and referee.legal() == ["bet 8", "redraw"]
    play(referee, "bet 8")
    assert referee.hand_scores == [[-20, 12, 8]]


def test_slippery_sam_an_empty_bank_ends_at_once() -> None:
    referee = sam(bank(0, "", "AS AH AC", "KS KH KC", stock="2C 3C"), players=3)
    play(referee, "stake 20, bet 20")
    assert referee.hand_scores == [[-20, 20, 0]] and referee.waiting


def test_slippery_sam_passed_over_and_dealt_out() -> None:
    """Seat 1 loses all, is passed over as banker without a second chance, and gets no cards."""
    hands = [
        bank(0, "", "2S 2H 2D", "KS KH AC", stock="3C"),
        bank(2, "AS AH AC", "", "", stock="3C"),
    ]
    referee = sam(*hands, players=3, starting_chips=20)
    play(referee, "stake 20, bet 20, bet 1")
    assert referee.chips == [39, 0, 21] and referee.banker == 2
    play(referee, "stake 10")
    assert referee.seat == 0
    referee.play("bet 10")
    assert referee.end == "terminated" and referee.scores == [49, 0, 11]

    wrong = sam(hands[0], bank(1, "AS AH AC", "", "KS KH KC", stock="3C"), players=3, starting_chips=20)
    with pytest.raises(ValueError, match="hand 2 has dealer 1, expected 2"):
        play(wrong, "stake 20, bet 20, bet 1")


@pytest.mark.parametrize(("rules", "banks"), [({}, 2), ({"rounds": 2}, 4), ({"rounds": 2, "match": "hand"}, 1)])
def test_slippery_sam_length_of_a_match(rules: dict[str, Any], banks: int) -> None:
    hands = [bank(number % 2, *(["", "AS AH AC"][:: 1 - 2 * (number % 2)]), stock="3C") for number in range(banks)]
    referee = sam(*hands, players=2, **rules)
    for _ in range(banks):
        assert not referee.over
        play(referee, "stake 10, bet 10")
    assert referee.end == "terminated" and len(referee.hand_scores) == banks
