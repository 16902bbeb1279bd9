"""Worlds that fit what was said: hands as they stood at a bid, weights of worlds, and the choice by weights."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest
from helpers import new_batch, staggered

from slopes_agents import make_agent
from slopes_agents.search.hearing import OTHER_PROMISE, TRICK_OFF, bids_in_sluff, resampled
from slopes_agents.search.stakes import reach_of
from slopes_agents.search.worlds import Worlds
from slopes_envs import InformationSet, derive, make_game
from slopes_envs.games.sluff import SLUFF, Sluff, SluffState


def sluff(players: int, **rules: object) -> Sluff:
    game = make_game("sluff", num_players=players, **rules)
    assert isinstance(game, Sluff)
    return game


def bid_by_rules(game: Sluff, games: int, moves: int) -> SluffState:
    """Hands in which the rule-based player bids, and cards are then played at random."""
    state, rules = new_batch(game, games), make_agent("heuristic", game)
    for number in range(moves):
        bidding = number < game.num_players
        view = InformationSet(game, state)
        game.step(state, rules.act(view) if bidding else view.sample_legal())
    return state


@pytest.mark.parametrize("players", [4, 6, 8, 10])
def test_a_hand_is_as_it_stood_when_a_seat_bid(players: int) -> None:
    game = sluff(players, match="game", first_dealer=None, allow_zero_bid=True)
    state = new_batch(game, 30)
    for _ in range(2):  # the second hand, too, whose moves are counted on
        before: dict[int, SluffState] = {}
        for turn in range(game._moves_a_hand):
            if turn < players:
                before[turn] = state.copy()
            for stop in (players, players + 5, game._moves_a_hand - 1):
                if turn == stop:
                    for then in before.values():
                        past = game.before_bids(state, then.seat)
                        for spec in fields(SluffState):
                            if spec.name not in ("context", "best", "winner", "table", "scripts"):
                                assert np.array_equal(getattr(past, spec.name), getattr(then, spec.name)), spec.name
                        assert np.array_equal(game.observe(past, past.seat), game.observe(then, then.seat))
                        assert np.array_equal(game.legal(past), game.legal(then))
            game.step(state, game.sample_legal(state, derive(3, np.arange(30), state.move)))


def test_a_seat_that_has_not_bid_is_refused() -> None:
    game = sluff(4)
    state = new_batch(game, 3)
    game.step(state, np.array([1, 2, 3]))
    assert len(game.before_bids(state, np.full(3, 1))) == 3  # the dealer is seat 0
    with pytest.raises(ValueError, match="expected seats that have bid, got seat 2 in game 0"):
        game.before_bids(state, np.array([2, 1, 1]))


@pytest.mark.parametrize(("players", "moves"), [(4, 2), (4, 4), (4, 17), (6, 6), (6, 40)])
def test_the_true_world_fits_the_bids_of_its_bidder_and_few_others_do(players: int, moves: int) -> None:
    game = sluff(players)
    state, rules = bid_by_rules(game, 40, moves), make_agent("heuristic", game)
    seats = state.seat.astype(np.int64)
    assert np.array_equal(bids_in_sluff(game, rules, state, seats), np.zeros(40))
    worlds = InformationSet(game, state).sample(30)
    weights = bids_in_sluff(game, rules, worlds, np.repeat(seats, 30))
    assert weights.max() <= 0 and (weights == 0).mean() < 0.6


def test_bids_are_weighed_by_how_far_they_are_off() -> None:
    game = sluff(4)
    state, rules = bid_by_rules(game, 60, 4), make_agent("heuristic", game)
    seats = state.seat.astype(np.int64)
    speaker = (seats + 1) % 4
    rows = np.arange(60)
    numbers = np.flatnonzero((state.bids[rows, speaker] > 0) & (state.bids[rows, speaker] < 10))
    # The last to bid: nobody's bid depends on it.
    last = numbers[state.dealer[numbers] == speaker[numbers]]
    assert len(last) > 3
    for off in (1, 2):
        other = state.copy()
        other.bids[last, speaker[last]] += off
        weights = bids_in_sluff(game, rules, other, seats)
        assert weights[last] == pytest.approx(-TRICK_OFF * off**2)
    other = state.copy()
    other.bids[last, speaker[last]] = SLUFF
    assert bids_in_sluff(game, rules, other, seats)[last] == pytest.approx(-OTHER_PROMISE)


def test_candidates_are_kept_in_proportion_to_their_weights() -> None:
    chances = np.array([0.5, 0.25, 0.125, 0.125, 0.0])
    with np.errstate(divide="ignore"):
        weights = np.tile(np.log(chances), (4000, 1))
    kept = resampled(weights, 8, derive(1, np.arange(4000)))
    assert kept.shape == (4000, 8)
    counts = np.stack([(kept == candidate).sum(axis=1) for candidate in range(5)], axis=1)
    assert np.array_equal(counts, np.tile([4, 2, 1, 1, 0], (4000, 1)))  # systematic: exact where it can be
    assert (np.bincount(kept[:, 0], minlength=5) / 4000) == pytest.approx(chances, abs=0.03)  # in random order
    one = resampled(weights, 1, derive(2, np.arange(4000)))[:, 0]
    assert (np.bincount(one, minlength=5) / 4000) == pytest.approx(chances, abs=0.03)


def test_worlds_fit_the_bids_better_than_uniform_ones_and_are_worlds_of_their_view() -> None:
    game = sluff(4)
    state, rules = bid_by_rules(game, 64, 9), make_agent("heuristic", game)
    view = InformationSet(game, state)
    drawn = Worlds(game, rules, reach_of(game).fit).draw(view, 6, view.keys)
    uniform = Worlds(game, rules, None).draw(view, 6, view.keys)
    seats = np.repeat(view.seats, 6)
    for worlds in (drawn, uniform):
        assert np.array_equal(game.observe(worlds, seats), np.repeat(view.observations, 6, axis=0))
    fit, plain = (bids_in_sluff(game, rules, worlds, seats) for worlds in (drawn, uniform))
    assert fit.mean() > plain.mean() + 2
    # A game's worlds do not depend on the others of the batch.
    alone = Worlds(game, rules, reach_of(game).fit).draw(view.take(np.array([5])), 6, view.keys[5:6])
    assert np.array_equal(alone.hands, drawn.hands[30:36])


def test_games_without_open_bids_go_by_uniform_worlds() -> None:
    for name in ("slippery_slope", "slopes", "sloppy_seconds", "slippery_sam"):
        assert reach_of(make_game(name)).fit is None
    assert reach_of(make_game("sluff")).fit is bids_in_sluff


def test_a_random_player_hears_by_a_better_one() -> None:
    game = sluff(4)
    state = staggered(game, 30, 12)
    state = state.take(np.flatnonzero(state.seat >= 0))
    view = InformationSet(game, state)
    by_chance, by_rules = (
        Worlds(game, make_agent(spec, game), bids_in_sluff).draw(view, 4, view.keys) for spec in ("random", "heuristic")
    )
    assert np.array_equal(by_chance.hands, by_rules.hands)
