"""What every game promises, over the whole registry."""

from __future__ import annotations

import pickle
from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from helpers import assert_same, new_batch, random_actions, staggered
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare
from variants import VARIANTS, all_variants, made, variant_id

from slopes_envs import (
    DealError,
    IllegalAction,
    InformationSet,
    RulesError,
    ScriptExhausted,
    UnknownName,
    derive,
    game_names,
    make_game,
    match_seed,
)

every_variant = pytest.mark.parametrize("variant", all_variants(), ids=variant_id)
every_game = pytest.mark.parametrize("name", game_names())

GOLDEN_SEEDS = [9812462206582136293, 1581864501137093362, 680773348631194335]


# -- batches ---------------------------------------------------------------------------------------------------------


@every_variant
def test_a_batch_is_its_games_played_alone(variant: tuple[str, dict[str, Any]]) -> None:
    game = made(variant)
    batch, moves = 257, 60
    together = staggered(game, batch, 40)
    alone = [together.take(np.array([i])) for i in range(0, batch, 16)]
    for step in range(moves):
        actions = random_actions(game, together, step)
        outcome = game.step(together, actions)
        for nth, state in enumerate(alone):
            i = 16 * nth
            single = game.step(state, actions[i : i + 1])
            assert np.array_equal(single.rewards[0], outcome.rewards[i])
            assert (single.terminated[0], single.truncated[0]) == (outcome.terminated[i], outcome.truncated[i])
        if step % 20 == 19:
            for nth, state in enumerate(alone):
                assert_same(state, together.take(np.array([16 * nth])))
                seat = nth % game.num_players
                assert np.array_equal(game.observe(state, seat)[0], game.observe(together, seat)[16 * nth])
                assert np.array_equal(game.legal(state)[0], game.legal(together)[16 * nth])


@every_variant
def test_a_single_game_shows_every_seat_what_it_sees_in_company(variant: tuple[str, dict[str, Any]]) -> None:
    game = made(variant)
    together = staggered(game, 24, 60)
    for step in range(40):
        for seat in range(game.num_players):
            seen, legal = game.observe(together, seat), game.legal(together)
            for i in range(step % 4, 24, 4):
                alone = together.take(np.array([i]))
                out, mask = np.empty_like(seen[:1]), np.empty_like(legal[:1])
                assert game.observe(alone, np.array([seat]), out=out) is out
                assert game.legal(alone, out=mask) is mask
                assert np.array_equal(out[0], seen[i])
                assert np.array_equal(mask[0], legal[i])
                assert game.observe(alone, seat).dtype == seen.dtype
        game.step(together, random_actions(game, together, step))


@every_game
@pytest.mark.parametrize("seats", [-1, 99, [99], [0, 0], [0.0], np.array([-1]), np.array([0.0])])
def test_a_seat_that_is_none_is_refused_by_a_single_game(name: str, seats: Any) -> None:
    game = make_game(name)
    with pytest.raises(ValueError, match="seats: expected"):
        game.observe(new_batch(game, 1), seats)


@every_game
def test_a_single_observation_needs_a_number_for_every_lane(name: str) -> None:
    layout = make_game(name).observation
    values = {plane.name: 0 if plane.groups is None else [0] * (plane.present or plane.lanes) for plane in layout}
    assert layout.pack_one(values).shape == (1, layout.size)
    short = next(plane.name for plane in layout if plane.groups is not None)
    with pytest.raises(ValueError, match=r"expected \d+ numbers in all, got \d+"):
        layout.pack_one({**values, short: []})


def test_a_single_key_is_derived_as_in_company() -> None:
    keys = derive(3, np.arange(50))
    counters = np.array([0, 1, -1, 2**31, -(2**63), 2**63 - 1])
    for counter in counters.tolist():
        together = derive(keys, 7, np.full(50, counter))
        for i in (0, 17, 49):
            for one in (counter, np.int64(counter), np.array([counter])):
                assert derive(keys[i : i + 1], 7, one)[0] == derive(int(keys[i]), np.uint8(7), one)[0] == together[i]
    with pytest.raises(OverflowError):
        derive(3, 2**64)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("count", [3, 300])
def test_games_are_put_whole(order: Any, count: int) -> None:
    game = make_game("sloppy_seconds")
    state, other = new_batch(game, 400), staggered(game, count, 40, seed=2)
    for field in fields(state):
        if getattr(state, field.name) is not None:
            setattr(state, field.name, np.array(getattr(state, field.name), order=order))
    before, rows = state.copy(), np.arange(count) + 50
    state.put(rows, other)
    assert_same(state.take(rows), other)
    rest = np.setdiff1d(np.arange(400), rows)
    assert_same(state.take(rest), before.take(rest))


@every_variant
def test_batches_are_joined(variant: tuple[str, dict[str, Any]]) -> None:
    game = made(variant)
    whole = staggered(game, 12, 30)
    parts = [whole.take(np.arange(first, end)) for first, end in ((0, 1), (1, 7), (7, 7), (7, 12))]
    joined = type(whole).joined(parts)
    assert_same(joined, whole)
    game.restart(joined, [0], match_seed(9, [0]))
    assert_same(parts[0], whole.take(np.array([0])))  # nothing is shared


def test_scripted_games_are_joined_with_others() -> None:
    game = make_game("sloppy_seconds")
    plain, other = game.new(match_seed(1, [0, 1])), game.new(match_seed(2, [0]))
    other.scripts = np.array([None], dtype=object)
    other.scripts[0] = script = object()
    joined = type(plain).joined([plain, other])
    assert joined.scripts is not None and joined.scripts.tolist() == [None, None, script]
    with pytest.raises(ValueError, match="expected at least one, got none"):
        type(plain).joined([])


@every_variant
def test_copies_are_independent(variant: tuple[str, dict[str, Any]]) -> None:
    game = made(variant)
    state = staggered(game, 16, 30)
    before, copied, repeated = state.copy(), state.copy(), state.repeat(2)
    assert len(repeated) == 32
    assert_same(repeated.take(np.arange(0, 32, 2)), before)
    assert_same(repeated.take(np.arange(1, 32, 2)), before)
    for step in range(10):
        game.step(copied, random_actions(game, copied, step))
    assert_same(state, before)


@every_variant
def test_restart_touches_only_what_it_is_told(variant: tuple[str, dict[str, Any]]) -> None:
    game = made(variant)
    state = staggered(game, 12, 30)
    before = state.copy()
    which = np.zeros(12, dtype=bool)
    which[[2, 7]] = True
    seeds = match_seed(5, [0, 1])
    game.restart(state, which, seeds)
    assert_same(state.take(np.flatnonzero(which)), game.new(seeds))
    assert_same(state.take(np.flatnonzero(~which)), before.take(np.flatnonzero(~which)))
    with pytest.raises(ValueError, match="expected 2 seeds"):
        game.restart(state, which, seeds[:1])


@every_variant
def test_finished_games_stay_as_they_are(variant: tuple[str, dict[str, Any]]) -> None:
    game = made(variant)
    state = new_batch(game, 8)
    for step in range(40_000):
        if (state.seat < 0).all():
            break
        game.step(state, random_actions(game, state, step))
    assert (state.seat == -1).all()
    assert (state.terminated ^ state.truncated).all()
    assert not game.legal(state).any()
    before = state.copy()
    outcome = game.step(state, np.full(8, game.num_actions - 1))
    assert_same(state, before)
    assert not outcome.rewards.any()
    assert np.array_equal(outcome.terminated, state.terminated)


# -- actions ---------------------------------------------------------------------------------------------------------


@every_variant
def test_an_illegal_action_changes_nothing(variant: tuple[str, dict[str, Any]]) -> None:
    game = made(variant)
    state = staggered(game, 20, 50)
    state = state.take(np.flatnonzero(state.seat >= 0))
    actions = random_actions(game, state, 0)
    before = state.copy()
    illegal = np.flatnonzero(~game.legal(state)[3])
    for wrong in (int(illegal[0]), int(illegal[-1]), -1, game.num_actions, 10**6):
        actions[3] = wrong
        with pytest.raises(IllegalAction, match=rf"{game.name}, game 3 of the batch, seat {state.seat[3]}") as caught:
            game.step(state, actions)
        assert caught.value.legal == game.legal_names(state, 3)
        assert_same(state, before)


@every_game
@pytest.mark.parametrize("actions", [np.zeros(3), np.zeros(2, int), np.zeros((3, 1), int), [None] * 3])
def test_actions_of_a_wrong_shape_are_refused(name: str, actions: Any) -> None:
    game = make_game(name)
    with pytest.raises(ValueError, match="expected whole-number actions of shape"):
        game.step(new_batch(game, 3), actions)


@every_variant
def test_sampled_actions_are_legal_and_evenly_spread(variant: tuple[str, dict[str, Any]]) -> None:
    game = made(variant)
    state = staggered(game, 5, 40)
    state = state.take(np.flatnonzero(state.seat >= 0))
    for i in range(len(state)):
        many = state.take(np.full(4000, i))
        drawn = game.sample_legal(many, derive(3, i, np.arange(4000)))
        legal = np.flatnonzero(game.legal(state)[i])
        counts = np.array([(drawn == action).sum() for action in legal])
        assert counts.sum() == 4000
        if 1 < len(legal) <= 100:
            assert chisquare(counts).pvalue > 1e-6


@every_variant
def test_action_names_are_read_back(variant: tuple[str, dict[str, Any]]) -> None:
    game = made(variant)
    state = staggered(game, 6, 40)
    for i in range(len(state)):
        for action in np.flatnonzero(game.legal(state)[i]):
            name = game.action_name(state, i, int(action))
            assert game.parse_action(state, i, name) == action
    for wrong in ("nonsense", "", None):
        with pytest.raises(UnknownName):
            game.parse_action(state, 0, wrong)
    for number in (-1, game.num_actions):
        with pytest.raises(UnknownName):
            game.action_name(state, 0, number)


# -- rewards ---------------------------------------------------------------------------------------------------------


@every_variant
def test_rewards_sum_to_scores(variant: tuple[str, dict[str, Any]]) -> None:
    game = made(variant)
    state = new_batch(game, 24)
    start = game.scores(state).astype(np.float64)
    total = np.zeros(state.scores.shape)
    low, high = game.reward_range
    for step in range(40_000):
        outcome = game.step(state, random_actions(game, state, step))
        total += outcome.rewards
        assert outcome.rewards.min() >= low
        assert outcome.rewards.max() <= high
        if game.zero_sum or game.rules.reward == "win":
            assert np.allclose(outcome.rewards.sum(axis=1), 0, atol=1e-6)
        if (state.seat < 0).all():
            break
    scores = game.scores(state)
    if game.rules.reward == "score":
        assert np.array_equal(total, scores - start)
    else:
        best = scores == scores.max(axis=1, keepdims=True)
        level = best.all(axis=1)
        assert (total[level] == 0).all()
        assert ((total > 0) == best)[~level].all()
        assert np.allclose(np.where(total > 0, total, 0).sum(axis=1)[~level], 1)


# -- what a seat knows -----------------------------------------------------------------------------------------------


@every_variant
def test_no_seat_sees_what_it_cannot_know(variant: tuple[str, dict[str, Any]]) -> None:
    """Drawing afresh all that a seat cannot know leaves its observation and its mask as they were."""
    game = made(variant)
    state = staggered(game, 60, 80)
    hidden_changed = 0
    for step in range(12):
        for seat in range(game.num_players):
            seats = np.full(len(state), seat)
            world = game.resample(state, seats, derive(11, step, seat, np.arange(len(state))))
            assert np.array_equal(game.observe(world, seats), game.observe(state, seats))
            mine = state.seat == seat
            assert np.array_equal(game.legal(world)[mine], game.legal(state)[mine])
            assert np.array_equal(world.seat, state.seat)
            for i in range(0, len(state), 10):
                assert game.describe(world, i, seat) == game.describe(state, i, seat)
            hidden_changed += int((game.observe_all(world, seats) != game.observe_all(state, seats)).any(axis=1).sum())
        game.step(state, random_actions(game, state, 1000 + step))
    assert hidden_changed > 100  # the test would be empty if nothing hidden were drawn afresh


@every_variant
def test_worlds_have_a_future_of_their_own(variant: tuple[str, dict[str, Any]]) -> None:
    game = made(variant)
    state = new_batch(game, 4)
    world = game.resample(state, state.seat, derive(11, np.arange(4)))
    assert not (world.seed == state.seed).any()
    scripted = game.from_deals([[game.deal_object(state, i)] for i in range(4)])
    assert game.resample(scripted, scripted.seat, derive(11, np.arange(4))).scripts is None


@every_variant
def test_observations_are_bits_and_decode(variant: tuple[str, dict[str, Any]]) -> None:
    game = made(variant)
    state = staggered(game, 30, 60)
    for layout, observe in ((game.observation, game.observe), (game.observation_all, game.observe_all)):
        observed = observe(state, 0)
        assert observed.shape == (30, layout.size)
        assert observed.dtype == np.uint8
        assert observed.max() <= 1
        again = {}
        for name, value in layout.decode(observed).items():
            plane = layout.planes[name]
            if plane.kind == "set":
                weights = np.left_shift(np.uint64(1), np.arange(plane.bits, dtype=np.uint64))
                value = np.where(value, weights, np.uint64(0)).sum(axis=-1, dtype=np.uint64)
            again[name] = value.T
        assert np.array_equal(layout.pack(30, again), observed)
        out = np.empty_like(observed)
        assert observe(state, 0, out=out) is out
        assert np.array_equal(out, observed)


@every_variant
def test_scores_and_numbers_are_decoded_exactly(variant: tuple[str, dict[str, Any]]) -> None:
    game = made(variant)
    state = staggered(game, 40, 120)
    for seat in range(game.num_players):
        decoded = game.observation.decode(game.observe(state, seat))
        if "scores" in decoded:
            expected = np.roll(game.scores(state), -seat, axis=1)
            assert np.array_equal(decoded["scores"][:, : game.num_players], expected)
        if "to_move" in decoded:
            mover = np.where(state.seat < 0, -1, (state.seat - seat) % game.num_players)
            assert np.array_equal(decoded["to_move"], mover)


@every_game
def test_seats_are_checked(name: str) -> None:
    game = make_game(name)
    state = new_batch(game, 3)
    for wrong in (-1, game.num_players, [0, 0], 0.5):
        with pytest.raises(ValueError, match="seats: expected"):
            game.observe(state, wrong)


@every_game
def test_information_sets_offer_no_more_than_a_seat_knows(name: str) -> None:
    game = make_game(name)
    state = staggered(game, 40, 20)
    state = state.take(np.flatnonzero(state.seat >= 0)[:10])
    view = InformationSet(game, state)
    assert not [value for value in vars(view).values() if isinstance(value, type(state)) and value is not state]
    assert [key for key in vars(view) if not key.startswith("_")] == ["game", "seats"]
    seat = (state.seat + 1) % game.num_players
    waiting = InformationSet(game, state, seat)
    assert not waiting.legal.any()
    assert not any(waiting.sample_legal(derive(7, number, np.arange(10))).any() for number in range(20))
    alone = InformationSet(game, state.take(np.array([4])))
    assert alone.keys[0] == view.keys[4]
    assert len(np.unique(view.keys)) == 10
    assert len(view.sample(3)) == 30


# -- deals -----------------------------------------------------------------------------------------------------------


def test_some_information_sets_are_as_if_looked_at_alone() -> None:
    game = make_game("slippery_slope")
    state = staggered(game, 20, 33)
    seats, salt, rows = (
        np.where(np.arange(20) % 3, state.seat, (state.seat + 1) % 3),
        np.arange(20),
        np.arange(3, 17, 2),
    )
    view = InformationSet(game, state, seats, salt)
    found = view.legal.copy()
    taken, alone = view.take(rows), InformationSet(game, state.take(rows), seats[rows], salt[rows])
    assert np.array_equal(taken.legal, alone.legal) and not taken.legal.any(axis=1).all()
    assert np.array_equal(taken.keys, alone.keys) and np.array_equal(taken.observations, alone.observations)
    taken.legal[:] = True
    assert np.array_equal(view.legal, found)


def test_match_seeds_are_the_same_everywhere() -> None:
    assert [int(seed) for seed in match_seed(7, [0, 1, 2])] == GOLDEN_SEEDS


@every_variant
def test_scripted_deals_make_the_same_match(variant: tuple[str, dict[str, Any]]) -> None:
    game = made(variant)
    seeds = match_seed(21, np.arange(6))
    drawn = game.new(seeds)
    scripted = game.from_deals([[game.deal_object(drawn, i)] for i in range(6)], then_seeds=seeds)
    for step in range(300):
        assert_same(drawn, scripted, leave_out=("scripts",))
        actions = random_actions(game, drawn, step)
        game.step(drawn, actions)
        game.step(scripted, actions)


@every_game
def test_a_script_that_runs_out_says_so(name: str) -> None:
    game = make_game(name)
    drawn = new_batch(game, 1)
    state = game.from_deals([[game.deal_object(drawn, 0)]])
    if hasattr(game.rules, "max_turns"):
        return  # a match is a single deal
    actions, step = random_actions(game, state, 0), 0
    while not _last_of_the_hand(game, state, actions):
        game.step(state, actions)
        step += 1
        actions = random_actions(game, state, step)
    before = state.copy()
    with pytest.raises(ScriptExhausted, match=f"{name}, match 1, hand 2"):
        game.step(state, actions)
    assert_same(state, before)


def _last_of_the_hand(game: Any, state: Any, actions: Any) -> bool:
    ahead = state.copy()
    ahead.scripts = None  # then the seed deals on
    game.step(ahead, actions)
    return bool(ahead.hand[0] > state.hand[0])


# -- options ---------------------------------------------------------------------------------------------------------


@every_game
def test_options_are_checked(name: str) -> None:
    with pytest.raises(UnknownName, match="did you mean 'match'"):
        make_game(name, macth="hand")
    with pytest.raises(RulesError, match=f"{name}: option match expected 'game' or 'hand', got 'day'"):
        make_game(name, match="day")
    rules = type(make_game(name).rules)
    for spec in fields(rules):
        if spec.metadata["at_least"] is not None:
            for wrong in (spec.metadata["at_least"] - 1, 1.0, "3", True):
                with pytest.raises(RulesError, match=f"option {spec.name} expected .*, got "):
                    make_game(name, **{spec.name: wrong})


def test_unknown_games_are_refused_with_a_suggestion() -> None:
    with pytest.raises(UnknownName, match="unknown game 'slipery_slope'; did you mean 'slippery_slope'"):
        make_game("slipery_slope")


@every_game
def test_games_are_values(name: str) -> None:
    assert make_game(name) == make_game(name, match="game")
    assert make_game(name) != make_game(name, match="hand")
    assert repr(make_game(name, match="hand")) == f"make_game({name!r}, match='hand')"
    assert len({make_game(name), make_game(name)}) == 1


@pytest.mark.parametrize(
    "error",
    [
        UnknownName("game", "chess", ["slopes"]),
        RulesError("no"),
        DealError("no cards", game="slopes", match=2, hand=3),
        ScriptExhausted("no deal", game="slopes"),
        IllegalAction("slopes", 3, 1, "'end'", ["R7 on 2"]),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_pass_from_process_to_process(error: Exception) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert (str(again), vars(again)) == (str(error), vars(error))


def test_every_game_has_variants() -> None:
    assert set(game_names()) <= set(VARIANTS)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**64 - 1), name=st.sampled_from(game_names()), moves=st.integers(0, 60))
def test_any_match_can_be_played(seed: int, name: str, moves: int) -> None:
    game = make_game(name)
    state = game.new(np.array([seed], dtype=np.uint64))
    for step in range(moves):
        if state.seat[0] >= 0:
            names = game.legal_names(state, 0)
            assert names
            assert len(set(names)) == len(names) == int(game.legal(state).sum())
        game.step(state, random_actions(game, state, step))
    assert game.describe(state, 0)["scores"] == [int(n) for n in game.scores(state)[0]]
