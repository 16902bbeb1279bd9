"""Sampled worlds: each replays legally to the present, and the consistent deals are equally likely."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from itertools import combinations, islice, permutations
from math import comb, factorial, inf, prod
from typing import Any

import numpy as np
import pytest
from helpers import assert_same, new_batch, random_actions, staggered
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare
from variants import all_variants, made, variant_id

from slopes_envs import Game, IllegalAction, InformationSet, State, derive, make_game
from slopes_envs import worlds as worlds_module
from slopes_envs.games import slippery_sam, slopes, sluff
from slopes_envs.records import Recorder, verify_lines
from slopes_envs.registry import game_class
from slopes_envs.worlds import count_deals, deal_within

MOMENTS = (1, 3, 5, 9, 17, 35, 75, 150, 300, 440)  # moves after which worlds are drawn
UNLIKELY = 1e-4  # the keys are fixed: a test that passes once always does


# -- every world replays, by the record reader -----------------------------------------------------------------------


@pytest.mark.parametrize("variant", all_variants(), ids=variant_id)
def test_every_world_replays_to_the_present(variant: tuple[str, dict[str, Any]]) -> None:
    game = made(variant)
    recorder = Recorder(game, new_batch(game, 10))
    follower = SlopesFollower(recorder.state) if game.name == "slopes" else None
    lines = []
    for step in range(MOMENTS[-1] + 1):
        if step in MOMENTS:
            lines += list(records_of_worlds(game, recorder, step, follower))
        before, actions = recorder.state.copy(), random_actions(game, recorder.state, step)
        recorder.step(actions)
        if follower:
            follower.follow(game, before, actions)
        if not len(recorder.state):
            break
    assert len(lines) >= 30
    assert sum(1 for _ in verify_lines(lines)) == len(lines)


def records_of_worlds(
    game: Game[Any, Any], recorder: Recorder, step: int, follower: SlopesFollower | None
) -> Iterator[bytes]:
    """Records of one world of every match that is going on, as its seat to move and some other seat see it."""
    state = recorder.state
    records = [record for record in recorder.records() if record["end"] == "unfinished"]
    for ahead in (0, 1 + step % (game.num_players - 1)):
        seats = (state.seat + ahead) % game.num_players
        world = game.resample(state, seats, derive(5, step, ahead, np.arange(len(state))))
        assert np.array_equal(world.seat, state.seat)
        for i, record in enumerate(records):
            hand = dict(record["hands"][-1])
            if follower:
                hand["deal"] = follower.deal_of_world(state, world, i, int(seats[i]))
            else:
                hand |= game.deal_object(world, i)
            if game.name == "slippery_slope":  # hidden bids are drawn afresh
                hand["moves"] = [
                    move | {"action": f"bid {world.bids[i, move['seat']]}"} if nth < game.num_players else move
                    for nth, move in enumerate(hand["moves"])
                ]
            hands = [*record["hands"][:-1], hand]
            yield json.dumps(record | {"hands": hands}).encode() + b"\n"


@dataclass
class Segment:
    """What one match of Slopes has shown since its last reshuffle; times count what happened."""

    known: list[Counter[int]]  # by seat: cards that all know of, at the beginning
    time: int = 0
    slots: list[list[tuple[int, int]]] = field(default_factory=lambda: [[], []])  # time and place of hidden cards drawn
    puts: list[list[tuple[int, int]]] = field(default_factory=lambda: [[], []])  # time and card
    passes: list[list[tuple[int, set[int]]]] = field(default_factory=lambda: [[], []])  # time and cards not held


class SlopesFollower:
    """Follows matches of Slopes, so that a sampled world can be told as a whole deal.

    A world tells who holds what now.  That it can have come to this is shown by giving every card that the other has
    held to one of the places from which it drew, such that it never passed with a card that it could have put.
    """

    def __init__(self, state: Any) -> None:
        self.segments = []
        for first in state.first_player:
            slots = [[(0, slopes.HAND * seat + nth) for nth in range(slopes.HAND)] for seat in (0, 1)]
            slots[first].append((0, slopes.TO_STOCK))
            self.segments.append(Segment([Counter(), Counter()], slots=slots))

    def follow(self, game: Game[Any, Any], before: Any, actions: Any) -> None:
        after = before.copy()
        game.step(after, actions)
        for i, action in enumerate(actions.tolist()):
            self._note(game, before, after, i, action)
        self.segments = [segment for segment, seat in zip(self.segments, after.seat, strict=True) if seat >= 0]

    def _note(self, game: Game[Any, Any], before: Any, after: Any, i: int, action: int) -> None:
        segment, seat = self.segments[i], int(before.seat[i])
        segment.time += 1
        if action < slopes.END:
            segment.puts[seat].append((segment.time, action // slopes.PILES))
        elif action == slopes.END and before.begun[i] < 0 and game.rules.must_play:
            segment.passes[seat].append((segment.time, could_be_put(before, i)))
        if not slopes.ENDS_TURN[action]:
            return
        place = int(before.next_card[i])
        for taker in [seat] * int(slopes.DRAWS[action]) + [1 - seat] * bool(after.seat[i] >= 0):
            if place == slopes.SIZE and after.reshuffles[i] > before.reshuffles[i]:  # so all know all
                known = [Counter(cards_of(after.shown[i, who])) for who in (0, 1)]
                self.segments[i] = segment = Segment(known, time=segment.time)
                place = slopes.SIZE - len(after.orders[i][-1])
            if place < slopes.SIZE:
                segment.time += 1
                segment.slots[taker].append((segment.time, place))
                place += 1

    def deal_of_world(self, state: Any, world: Any, i: int, seat: int) -> dict[str, Any]:
        """The deal of a world that ``seat`` imagines, with all that has been played."""
        segment, other = self.segments[i], 1 - seat
        known = segment.known[other].copy()
        cards: list[tuple[int, float]] = []  # those that came from hidden places: which, and when they were put
        for time, card in segment.puts[other]:
            if known[card] > 0:
                known[card] -= 1
            else:
                cards.append((card, time))
        unknown = Counter(cards_of(world.hands[i, other]))
        unknown.subtract(known)
        assert min(unknown.values(), default=0) >= 0, "a card that is known to be in the hand is not in it"
        cards += [(card, inf) for card in unknown.elements()]
        slots = segment.slots[other]
        assert len(slots) == len(cards)

        def fits(slot: int, number: int) -> bool:
            (drawn, _), (card, put) = slots[slot], cards[number]
            held_at = (lacked for time, lacked in segment.passes[other] if drawn < time < put)
            return drawn < put and not any(card in lacked for lacked in held_at)

        orders = [list(order) for order in state.orders[i]]
        beyond = slopes.SIZE - len(orders[-1])
        for slot, number in matched(len(slots), fits).items():
            orders[-1][slots[slot][1] - beyond] = cards[number][0]
        stock = [int(card) for card in world.stock[i, world.next_card[i] :]]
        if stock:
            orders[-1][-len(stock) :] = stock
        names = [[slopes.DECK.name(card) for card in order] for order in orders]
        return {
            "hands": [names[0][:5], names[0][5:10]],
            "piles": [None, *names[0][10:12], None],
            "stock": names[0][12:],
            "reshuffles": names[1:],
        }


def cards_of(words: Any) -> list[int]:
    return np.repeat(np.arange(slopes.TYPES), slopes._counts(words[None])[0]).tolist()


def could_be_put(state: Any, i: int) -> set[int]:
    """Cards that a player who begins his turn can put somewhere."""
    piles = list(zip(state.tops[i].tolist(), (state.frozen_by[i] >= 0).tolist(), strict=True))
    return {
        card
        for card in range(slopes.TYPES)
        for top, frozen in piles
        if slopes.takes_control(card, top) or (not frozen and slopes.fits(card, top, duplicate=False))
    }


def matched(size: int, fits: Callable[[int, int], bool]) -> dict[int, int]:
    """One to one from ``range(size)`` to itself, as ``fits`` allows (augmenting paths)."""
    owner: dict[int, int] = {}

    def place(one: int, seen: set[int]) -> bool:
        for two in range(size):
            if two not in seen and fits(one, two):
                seen.add(two)
                if two not in owner or place(owner[two], seen):
                    owner[two] = one
                    return True
        return False

    assert all(place(one, set()) for one in range(size)), "this world cannot have come about"
    return {one: two for two, one in owner.items()}


# -- trick games: every consistent deal is equally likely ------------------------------------------------------------

Deal = tuple[tuple[str, ...], ...]
"""Names of the cards that each of the other seats holds, in the order of seats and of the deck."""

ENDGAMES: list[tuple[str, dict[str, Any], int]] = [  # and how many moves before the end of the hand
    ("slippery_slope", {}, 11),
    ("slippery_slope", {"reveal_bids": "after_bidding"}, 9),
    ("sloppy_seconds", {}, 10),
    ("sloppy_seconds", {}, 7),
    ("sloppy_seconds", {"num_players": 3}, 11),
    ("sluff", {}, 10),
    ("sluff", {}, 7),
    ("sluff", {"num_players": 6}, 8),
    ("sluff", {"num_players": 8}, 7),
    ("sluff", {"num_players": 10}, 7),
]


@dataclass
class Endgame:
    """The end of a hand: what ``seat`` may know of it is its own cards and the moves."""

    game: Game[Any, Any]
    state: State  # one game
    seat: int
    actions: list[tuple[int, int]]  # seat and action of every move of the hand

    @property
    def others(self) -> list[int]:
        return [seat for seat in range(self.game.num_players) if seat != self.seat]

    def held(self) -> Deal:
        hands = self.game.describe(self.state, 0)["hands"]
        return tuple(tuple(hands[seat]) for seat in self.others)

    def consistent_deals(self) -> Counter[Deal]:
        """All deals of the hidden cards with which the hand can have gone as it has, by replaying it with each.

        The two copies of a card are two cards, so a deal is counted as often as they can be told apart.
        """
        held = self.held()
        cards = [card for hand in held for card in hand]
        deals: Counter[Deal] = Counter()
        for dealt in splits(tuple(range(len(cards))), [len(hand) for hand in held]):
            deals[tuple(tuple(sorted(cards[number] for number in hand)) for hand in dealt)] += 1
        candidates = list(deals)
        told = self.game.describe(self.state, 0)
        scripts = []
        for deal in candidates:
            hands = dict(zip(self.others, deal, strict=True)) | {self.seat: tuple(told["hands"][self.seat])}
            full = [[*hands[seat], *told["played"][seat]] for seat in range(self.game.num_players)]
            scripts.append([{"dealer": told["dealer"], "deal": {"hands": full}}])
        state, alive = self.game.from_deals(scripts), np.arange(len(candidates))
        for seat, action in self.actions:
            able = self.game.legal(state)[:, action] & (state.seat == seat)
            state, alive = state.take(np.flatnonzero(able)), alive[able]
            self.game.step(state, np.full(len(state), action))
        return Counter({candidates[number]: deals[candidates[number]] for number in alive})

    def sampled_deals(self, number: int) -> Counter[Deal]:
        worlds = InformationSet(self.game, self.state, [self.seat]).sample(number)
        parts = [worlds.hands, worlds.doubles] if hasattr(worlds, "doubles") else [worlds.hands]
        _, first, counts = np.unique(np.hstack(parts), axis=0, return_index=True, return_counts=True)
        deals: Counter[Deal] = Counter()
        for world, count in zip(first.tolist(), counts.tolist(), strict=True):
            end = Endgame(self.game, worlds.take(np.array([world])), self.seat, self.actions)
            deals[tuple(tuple(sorted(hand)) for hand in end.held())] += count
        return deals


def splits(items: tuple[int, ...], sizes: Sequence[int]) -> Iterator[tuple[tuple[int, ...], ...]]:
    """All ways to deal items to hands of these sizes."""
    if not sizes:
        yield ()
        return
    for hand in combinations(items, sizes[0]):
        rest = tuple(item for item in items if item not in hand)
        yield from ((hand, *others) for others in splits(rest, sizes[1:]))


def endgames(
    name: str, rules: dict[str, Any], moves_left: int, wanted: Callable[[Endgame], bool], batch: int = 400
) -> Iterator[Endgame]:
    """Ends of hands of which play has shown something, but not all."""
    game = make_game(name, match="hand", **rules)
    state = new_batch(game, batch)
    dealt = sum(len(hand) for hand in game.describe(state, 0)["hands"].values())
    bids = game.num_players if hasattr(state, "bids") else 0
    actions = []
    for step in range(bids + dealt - moves_left):
        chosen = random_actions(game, state, step)
        actions.append(np.stack([state.seat, chosen], axis=1))
        game.step(state, chosen)
    for i in range(batch):
        seat = (int(state.seat[i]) + i) % game.num_players
        end = Endgame(game, state.take(np.array([i])), seat, [tuple(move[i].tolist()) for move in actions])
        if wanted(end):
            sizes = [len(hand) for hand in end.held()]
            deals = factorial(sum(sizes)) // prod(map(factorial, sizes))
            if deals <= 5000 and 3 < game.count_worlds(end.state, [seat])[0] < min(deals, 120):
                yield end


def has_conflicting_voids(end: Endgame) -> bool:
    """Whether other seats that still have cards have shown different voids."""
    voids = [int(end.state.voids[0, seat]) for seat, hand in zip(end.others, end.held(), strict=True) if hand]
    return len({shown for shown in voids if shown}) >= 2


def has_opening_card_hidden(end: Endgame) -> bool:
    """Sluff: whether an ``R2`` is hidden, and a seat that has none for sure still has cards."""
    told = end.game.describe(end.state, 0)
    return any("R2" in hand for hand in end.held()) and any(told["hands"][seat] for seat in told["without_R2"])


@pytest.mark.parametrize(("name", "rules", "moves_left"), ENDGAMES, ids=str)
def test_worlds_of_endgames_are_drawn_evenly(name: str, rules: dict[str, Any], moves_left: int) -> None:
    ends = list(islice(endgames(name, rules, moves_left, has_conflicting_voids), 4))
    assert len(ends) == 4
    for end in ends:
        assert_drawn_evenly(end)


@pytest.mark.parametrize("players", [8, 10])
def test_worlds_of_sluff_with_the_second_opening_card_hidden(players: int) -> None:
    """Seats before the opener hold none."""
    ends = list(islice(endgames("sluff", {"num_players": players}, 7, has_opening_card_hidden, batch=1000), 3))
    assert len(ends) == 3
    for end in ends:
        assert_drawn_evenly(end)


def assert_drawn_evenly(end: Endgame) -> None:
    deals = end.consistent_deals()
    total = sum(deals.values())
    assert end.game.count_worlds(end.state, [end.seat]) == [total]
    number = 40 * total
    drawn = end.sampled_deals(number)
    assert set(drawn) <= set(deals)
    expected = [number * ways / total for ways in deals.values()]
    assert chisquare([drawn[deal] for deal in deals], expected).pvalue > UNLIKELY


def test_an_opener_still_to_lead_holds_an_opening_card() -> None:
    """Sluff before its first lead, in small: seat 0 was passed over, seat 1 is to open, seats 2 and 3 come after."""
    names = ["R2", "R2", "B1", "G1", "Y1", "Y1"]
    sizes, number = [1, 2, 2, 1], 8000
    deals: Counter[Deal] = Counter()
    for dealt in splits(tuple(range(6)), sizes):
        hands = tuple(tuple(sorted(names[card] for card in hand)) for hand in dealt)
        if "R2" not in hands[0] and "R2" in hands[1]:
            deals[hands] += 1
    hidden = np.zeros((number, 2), dtype=np.uint64)
    for name in set(names):
        hidden[:, : names.count(name)] |= np.uint64(1 << sluff.DECK.parse(name))
    room, cannot = np.tile(sizes, (number, 1)), np.zeros((number, 4), dtype=np.uint64)
    cannot[:, 0] = sluff.OPENING_BIT
    keys, opener = derive(3, np.arange(number)), np.ones(number, dtype=np.int8)
    opening = sluff._deal_opening_cards(keys, np.arange(number), opener, hidden, room, cannot)
    dealt_words = opening | deal_within(derive(keys, 9), hidden, room, cannot, sluff.KINDS)
    drawn: Counter[Deal] = Counter()
    for once, twice in zip(dealt_words[:, :, 0], dealt_words[:, :, 1], strict=True):
        parts = [sluff.DECK.names_of(int(words)) for words in (*once, *twice)]
        drawn[tuple(tuple(sorted(parts[seat] + parts[seat + 4])) for seat in range(4))] += 1
    assert set(drawn) == set(deals)
    expected = np.array(list(deals.values())) * number / sum(deals.values())
    assert chisquare([drawn[deal] for deal in deals], expected).pvalue > UNLIKELY


@pytest.mark.parametrize("players", [8, 10])
def test_the_second_opening_card_in_whole_hands(players: int) -> None:
    """Before the lead the other may be either copy, if it lies apart; after it, it is one card among the hidden."""
    game = make_game("sluff", num_players=players, match="hand")
    state = new_batch(game, 60)
    for step in range(players):
        game.step(state, random_actions(game, state, step))
    number = 6000
    for to_lead in (True, False):
        opener, dealer = state.opener.astype(np.int64), state.dealer.astype(np.int64)
        hidden = (state.hands[np.arange(60), dealer] & sluff.OPENING_BIT) == 0
        i = int(np.where(hidden, (dealer - opener) % players, 0).argmax())
        later = [seat % players for seat in range(opener[i] + 1, dealer[i] + players * (dealer[i] < opener[i]))]
        assert len(later) >= 3  # the dealer, who looks on, comes after them
        chances = {int(opener[i]): game.hand_size - 1}
        chances |= dict.fromkeys(later, (2 if to_lead else 1) * game.hand_size)
        world = game.resample(state.take(np.full(number, i)), int(dealer[i]), derive(8, np.arange(number)))
        holders = (world.hands & sluff.OPENING_BIT) != 0
        if to_lead:
            assert holders[:, opener[i]].all()
            holders[:, opener[i]] = (world.doubles[:, opener[i]] & sluff.OPENING_BIT) != 0
        counts = holders.sum(axis=0)
        assert counts.sum() == number and set(np.flatnonzero(counts)) <= set(chances)
        expected = np.array(list(chances.values())) * number / sum(chances.values())
        assert chisquare(counts[list(chances)], expected).pvalue > UNLIKELY
        game.step(state, random_actions(game, state, 99))


# -- counting --------------------------------------------------------------------------------------------------------


@st.composite
def puzzles(draw: st.DrawFn) -> tuple[list[int], list[int], list[int]]:
    """Cards of each kind, kinds that each seat can hold (bit sets), and room of each seat; mostly some deal fits."""
    kinds, seats = draw(st.integers(1, 5)), draw(st.integers(1, 4))
    lie = draw(st.lists(st.lists(st.integers(0, 2), min_size=kinds, max_size=kinds), min_size=seats, max_size=seats))
    open_to = draw(st.lists(st.integers(0, 2**kinds - 1), min_size=seats, max_size=seats))
    held = [sum(1 << kind for kind, number in enumerate(hand) if number) for hand in lie]
    room = [sum(hand) for hand in lie]
    if draw(st.booleans()) and room[0]:  # somebody has more room than we thought, and another less
        room[0] -= 1
        room[-1] += 1
    count = [sum(hand[kind] for hand in lie) for kind in range(kinds)]
    return count, [can | has for can, has in zip(open_to, held, strict=True)], room


def deals_by_kind(count: Sequence[int], can: Sequence[int], room: Sequence[int]) -> int:
    """How many deals there are: kind by kind and seat by seat, so many of the cards left of a kind."""

    @cache
    def ways(kind: int, seat: int, left: int, room: tuple[int, ...]) -> int:
        if seat == len(room):
            if left:
                return 0
            return ways(kind + 1, 0, count[kind + 1], room) if kind + 1 < len(count) else int(not any(room))
        most = min(left, room[seat]) if can[seat] >> kind & 1 else 0
        return sum(
            comb(left, n) * ways(kind, seat + 1, left - n, (*room[:seat], room[seat] - n, *room[seat + 1 :]))
            for n in range(most + 1)
        )

    return ways(0, 0, count[0], tuple(room))


WIDTH = 12  # cards of a kind, in one word; a second copy of each type in the other


def as_arrays(count: Sequence[int], can: Sequence[int], room: Sequence[int]) -> tuple[Any, Any, Any, list[int]]:
    """A puzzle as :func:`deal_within` takes it; every other card is a second copy."""
    kinds = [((1 << WIDTH) - 1) << WIDTH * kind for kind in range(len(count))]
    hidden = np.zeros((1, 2), dtype=np.uint64)
    for kind, number in enumerate(count):
        for nth in range(number):
            hidden[0, nth % 2] |= np.uint64(1 << (WIDTH * kind + nth // 2))
    cannot = [sum(cards for kind, cards in enumerate(kinds) if not holds >> kind & 1) for holds in can]
    return hidden, np.array([room]), np.array([cannot], dtype=np.uint64), kinds


@settings(max_examples=80, deadline=None)
@given(puzzle=puzzles())
def test_deals_are_counted_exactly(puzzle: tuple[list[int], list[int], list[int]]) -> None:
    count, can, room = puzzle
    hidden, sizes, cannot, kinds = as_arrays(count, can, room)
    number = deals_by_kind(count, can, room)
    assert count_deals(hidden, sizes, cannot, kinds) == [number]
    keys = derive(5, np.arange(20))
    many = [np.repeat(array, 20, axis=0) for array in (hidden, sizes, cannot)]
    if number == 0:
        with pytest.raises(ValueError, match="do not fit the seats"):
            deal_within(keys, *many, kinds)
        return
    hands = deal_within(keys, *many, kinds)
    assert np.array_equal(np.bitwise_or.reduce(hands, axis=1), many[0])
    assert np.array_equal(np.bitwise_count(hands).sum(axis=2), many[1])
    assert not (hands & many[2][:, :, None]).any()


def test_large_numbers_of_deals_are_exact() -> None:
    hidden = np.full((1, 2), (1 << 56) - 1, dtype=np.uint64)
    colours = [((1 << 14) - 1) << 14 * colour for colour in range(4)]
    no_one_is_void = np.zeros((1, 8), dtype=np.uint64)
    assert count_deals(hidden, np.full((1, 8), 14), no_one_is_void, colours) == [factorial(112) // factorial(14) ** 8]
    one_is_void = no_one_is_void.copy()
    one_is_void[0, 3] = colours[2]
    expected = comb(84, 14) * factorial(98) // factorial(14) ** 7
    assert count_deals(hidden, np.full((1, 8), 14), one_is_void, colours) == [expected]


@pytest.mark.parametrize(
    ("name", "rules", "moves"),
    [
        ("slippery_slope", {}, 12),
        ("sloppy_seconds", {}, 22),
        ("sluff", {"num_players": 6}, 50),
        ("sluff", {"num_players": 8}, 80),
    ],
)
def test_in_mid_hand_cards_lie_where_the_counts_say(name: str, rules: dict[str, Any], moves: int) -> None:
    """The chance of a card to be a seat's is the share of the deals in which it is."""
    game = make_game(name, match="hand", **rules)
    state = new_batch(game, 40)
    for step in range(moves):
        game.step(state, random_actions(game, state, step))
    module, number = import_module(game_class(name).__module__), 4000
    for i in np.argsort(-np.bitwise_count(state.voids).sum(axis=1))[:3]:  # where most has been shown
        one = state.take(np.array([i]))
        seat = int(one.seat[0])
        hidden, sizes, cannot = game._hidden(one, np.array([seat]))
        (total,) = game.count_worlds(one, [seat])
        world = InformationSet(game, one).sample(number)
        once, twice = world.hands.astype(np.uint64), getattr(world, "doubles", np.zeros_like(world.hands))
        for cards in (np.uint64(kind) for kind in module.KINDS if hidden[0, 0] & np.uint64(kind)):
            card = hidden[0, 0] & cards & (~(hidden[0, 0] & cards) + np.uint64(1))  # any of its kind
            for other in np.flatnonzero(sizes[0]):
                fewer, rest = sizes.copy(), hidden.copy()
                fewer[0, other] -= 1
                rest[0, 0] ^= card
                (with_it,) = count_deals(rest, fewer, cannot, module.KINDS) if not cannot[0, other] & card else [0]
                held = np.bitwise_count(once[:, other] & cards) + np.bitwise_count(twice[:, other] & cards)
                expected = int(np.bitwise_count(hidden[0] & cards).sum()) * with_it / total
                assert abs(held.mean() - expected) <= 4.5 * held.std() / number**0.5 + 1e-9


# -- what a world depends on -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", all_variants(), ids=variant_id)
def test_a_world_depends_on_its_own_information_and_key_alone(variant: tuple[str, dict[str, Any]]) -> None:
    game = made(variant)
    state = staggered(game, 40, 90)
    seats, keys = np.arange(40) % game.num_players, derive(4, np.arange(40))
    together = game.resample(state, seats, keys)
    order = np.random.default_rng(1).permutation(40)[:25]
    assert_same(game.resample(state.take(order), seats[order], keys[order]), together.take(order))
    for i in (0, 17, 39):
        row = np.array([i])
        assert_same(game.resample(state.take(row), seats[row], keys[row]), together.take(row))


def test_many_worlds_at_once_are_those_of_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether they share their tables, and however the work is cut up."""
    game = make_game("sluff", num_players=6, match="hand")
    state = new_batch(game, 6)
    for step in range(60):
        game.step(state, random_actions(game, state, step))
    worlds = InformationSet(game, state).sample(50)
    monkeypatch.setattr(worlds_module, "TABLE_BUDGET", 500)
    monkeypatch.setattr(worlds_module, "WORLD_BUDGET", 64)
    monkeypatch.setattr(worlds_module, "SIZE_STEP", 30)
    assert_same(InformationSet(game, state).sample(50), worlds)


def test_no_more_cards_than_can_be_numbered() -> None:
    hidden = np.full((1, 2), 2**64 - 1, dtype=np.uint64)
    kinds = [2**64 - 1]
    hands = deal_within(derive(1, [0]), hidden, np.array([[100, 28]]), np.zeros((1, 2), dtype=np.uint64), kinds)
    assert np.bitwise_count(hands).sum(axis=2).tolist() == [[100, 28]]
    assert deal_within(derive(1, []), *(np.zeros((0, 2), dtype=np.uint64),) * 3, kinds).shape == (0, 2, 2)


# -- hidden bids -----------------------------------------------------------------------------------------------------


def test_hidden_bids_are_those_of_the_model_on_the_hands_dealt() -> None:
    game = make_game("slippery_slope")
    state = staggered(game, 200, 33)
    asked: list[Any] = []

    def high_cards(world: Any, keys: Any) -> Any:
        asked.append(world)
        assert len(keys) == len(world)
        return np.bitwise_count(world.hands[np.arange(len(world)), world.seat] >> np.uint32(24)).astype(np.int64)

    seats = (state.dealer + 2) % 3
    world = game.resample(state, seats, derive(6, np.arange(200)), high_cards)
    full = world.hands | world.seen
    for ahead in (1, 2):
        other = (seats + ahead) % 3
        rows = np.flatnonzero(state.bids[np.arange(200), other] >= 0)
        expected = np.bitwise_count(full[rows, other[rows]] >> np.uint32(24))
        assert np.array_equal(world.bids[rows, other[rows]], expected)
    for bidding in asked:
        assert (bidding.moves < 3).all() and not bidding.seen.any()
        assert (np.bitwise_count(bidding.hands[np.arange(len(bidding)), bidding.seat]) == 10).all()
        assert (game.legal(bidding)[:, :11]).all()
    assert np.array_equal(world.bids[np.arange(200), seats], state.bids[np.arange(200), seats])
    with pytest.raises(IllegalAction, match="slippery_slope"):
        game.resample(state, seats, derive(6, np.arange(200)), lambda world, keys: np.full(len(world), 12))


def test_without_a_model_every_hidden_bid_is_equally_likely() -> None:
    for reveal, hidden in (("after_scoring", True), ("after_bidding", False)):
        game = make_game("slippery_slope", reveal_bids=reveal)
        state = new_batch(game, 1)
        for _ in range(3):
            game.step(state, np.array([4]))
        bids = InformationSet(game, state).sample(5500).bids
        for seat in range(3):
            if hidden and seat != state.seat[0]:
                assert chisquare(np.bincount(bids[:, seat], minlength=11)).pvalue > UNLIKELY
            else:
                assert (bids[:, seat] == 4).all()


# -- Slopes ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(8))
def test_hands_of_slopes_after_passes_are_drawn_evenly(seed: int) -> None:
    """Against every order in which the cards can have come, for histories in small: two cards dealt, four drawn."""
    random = np.random.default_rng(seed)
    one, two, wild = (slopes.DECK.parse(name) for name in ("R1", "R2", "W"))
    order = random.permutation([one, one, two, two, wild, wild, wild])  # two are dealt, then comes the stock
    hand, place, put = order[:2].tolist(), 2, list[int]()
    history: list[tuple[str, Any]] = []
    for happened in ("draw", "pass", "draw", "put", "pass", "draw", "put", "draw", "pass")[: 6 + seed % 4]:
        if happened == "draw":
            hand.append(int(order[place]))
            place += 1
            history.append(("draw", None))
        elif happened == "put":
            put.append(hand.pop(int(random.integers(len(hand)))))
            history.append(("put", put[-1]))
        else:
            history.append(("pass", {card for card in (one, two, wild) if card not in hand}))
    hidden = [*hand, *order[place:].tolist()]

    possible: Counter[tuple[int, ...]] = Counter()
    for dealt in permutations([*enumerate(hidden), *((-1 - nth, card) for nth, card in enumerate(put))], place):
        held = hand_after(list(dealt), history)
        if held is not None:
            possible[held] += 1

    events, passes = bytearray(), list[tuple[int, int]]()
    for happened, what in history:
        if happened == "pass":
            passes.append((len(events), sum(1 << card for card in what)))
        else:
            events.append(slopes.EVENT_DRAW if happened == "draw" else what)
    counts = np.bincount(hidden, minlength=slopes.TYPES)
    filling = slopes.Filling.make(counts, 0, 2, bytes(events), tuple(passes))
    hands = slopes.hands_after_passes(derive(seed, np.arange(4000)), [filling], np.zeros(4000, dtype=np.int64))
    drawn = Counter(tuple(np.repeat(np.arange(slopes.TYPES), cards).tolist()) for cards in hands)
    assert set(drawn) <= set(possible)
    expected = np.array(list(possible.values())) * 4000 / sum(possible.values())
    assert len(possible) > 1
    assert chisquare([drawn[held] for held in possible], expected).pvalue > UNLIKELY


def hand_after(cards: list[tuple[int, int]], history: list[tuple[str, Any]]) -> tuple[int, ...] | None:
    """Types held after a history, if the cards come in this order; None if it cannot go so.

    Cards are pairs of a number and a type; the nth card that was put has the number -n.
    """
    hand, drawn, number = cards[:2], 2, 0
    for happened, what in history:
        if happened == "draw":
            hand.append(cards[drawn])
            drawn += 1
        elif happened == "put":
            number -= 1
            if (number, what) not in hand:
                return None
            hand.remove((number, what))
        elif any(card in what for _, card in hand):
            return None
    return tuple(sorted(card for _, card in hand))


# -- Slippery Sam ----------------------------------------------------------------------------------------------------


def test_the_hidden_cards_of_winners_are_drawn_evenly() -> None:
    """A winner has shown its lowest card that wins, so none of its other two lies between that and the card bet on."""
    game = make_game("slippery_sam", num_players=5, match="hand")
    state = staggered(game, 3000, 16)
    winners = state.results == slippery_sam.WON
    below = np.where(winners, slippery_sam.HIGHER[state.against] & (state.shown - np.uint64(1)), 0)
    two = np.flatnonzero(((below != 0).sum(axis=1) == 2) & (state.seat >= 0))
    i = int(two[np.bitwise_count(below[two]).sum(axis=1).argmax()])
    number = 30_000
    world = game.resample(state.take(np.full(number, i)), 0, derive(4, np.arange(number)))
    told = game.describe(state, i)
    seen = {
        told["exposed"],
        *(card for _, card in told["discards"]),
        *(card for hand in told["shown"] for card in hand),
    }
    unseen = [card for card, name in enumerate(slippery_sam.DECK.names) if name not in seen]
    first, second = np.flatnonzero(below[i])
    open_to = [{card for card in unseen if not int(below[i, seat]) >> card & 1} for seat in (first, second)]
    weights = {
        pair: comb(len(open_to[1] - set(pair)), 2) for pair in combinations(sorted(open_to[0]), 2)
    }  # ways to give the other winner two of the rest; what is left falls anyhow
    pairs = world.hands[:, first] & ~state.shown[i, first]
    drawn = Counter(tuple(slippery_sam.cards_in(int(cards))) for cards in pairs)
    assert set(drawn) <= set(weights)
    expected = np.array(list(weights.values())) * number / sum(weights.values())
    assert chisquare([drawn[pair] for pair in weights], expected).pvalue > UNLIKELY
