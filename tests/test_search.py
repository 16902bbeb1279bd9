"""The agents that search: what they keep to, that they find what counting finds, and that it pays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from helpers import new_batch, staggered
from numpy.typing import NDArray
from variants import all_variants, made, variant_id

from slopes_agents import Agent, make_agent
from slopes_agents.afterstates.shipped import AfterstateAgent
from slopes_agents.heuristic import HeuristicAgent
from slopes_agents.lead import Lead
from slopes_agents.search import IsmctsAgent, PimcAgent, ismcts, pimc, rollouts
from slopes_agents.search.ismcts import Path, Trees, nth_true
from slopes_agents.search.pimc import FIRST_WORLDS, Tally, rounds, try_actions
from slopes_agents.search.stakes import by_movers, by_seats, reach_of
from slopes_benchmarks.duplicate import evaluate
from slopes_envs import Game, InformationSet, State, derive, game_names, make_game

GAME = "slippery_slope"


def quick(name: str) -> list[str]:
    """Specs of searching agents that take little time."""
    of_rules = ["pimc:worlds=3"] if name in HeuristicAgent.games() else []
    return [*of_rules, "pimc:worlds=12,rollout=random", "ismcts:iterations=19"]


PLAYED = [
    pytest.param(spec, variant, id=f"{spec}-{variant_id(variant)}")
    for variant in all_variants()
    for spec in quick(variant[0])
]


def going(state: State) -> State:
    """The games of a batch that are not over."""
    return state.take(np.flatnonzero(state.seat >= 0))


def positions(game: Game[Any, Any]) -> State:
    """A few positions in all phases."""
    state = going(staggered(game, 80, 40))
    assert len(state) >= 6
    return state.take(np.arange(min(len(state), 20)))


# ------------------------------------------------------------------------------------------------- of every game


@pytest.mark.parametrize(("spec", "variant"), PLAYED)
def test_every_choice_is_legal_and_depends_on_the_view_alone(spec: str, variant: tuple[str, dict[str, Any]]) -> None:
    game = made(variant)
    agent = make_agent(spec, game)
    state = positions(game)
    view = InformationSet(game, state)
    together = agent.act(view)
    assert together.dtype == np.int64
    assert view.legal[np.arange(len(view)), together].all()
    backwards = np.arange(len(state))[::-1]
    assert (agent.act(InformationSet(game, state.take(backwards))) == together[backwards]).all()
    alone = [agent.act(InformationSet(game, state.take(np.array([i])))) for i in range(6)]
    assert (np.concatenate(alone) == together[:6]).all()


@pytest.mark.parametrize(("spec", "variant"), PLAYED)
def test_what_a_seat_cannot_know_does_not_bear_on_its_choice(spec: str, variant: tuple[str, dict[str, Any]]) -> None:
    game = made(variant)
    agent = make_agent(spec, game)
    state = positions(game)
    other = game.resample(state, state.seat, derive(5, np.arange(len(state))))
    other.seed = state.seed.copy()  # whence the agent's own chance comes
    view, same = InformationSet(game, state), InformationSet(game, other)
    assert (view.observations == same.observations).all()
    assert (agent.act(view) == agent.act(same)).all()


def test_batches_are_cut_up_without_consequences(monkeypatch: pytest.MonkeyPatch) -> None:
    game = make_game(GAME)
    view = InformationSet(game, staggered(game, 30, 30))
    agents = [make_agent(spec, game) for spec in quick(GAME)]
    whole = [agent.act(view) for agent in agents]
    monkeypatch.setattr(pimc, "GAMES", 7)
    monkeypatch.setattr(ismcts, "MOST_EDGES", 4 * 20 * game.num_actions)
    monkeypatch.setattr(rollouts, "SLICE", 11)
    for agent, choices in zip(agents, whole, strict=True):
        assert (agent.act(view) == choices).all()


@pytest.mark.parametrize("spec", ["pimc", "ismcts"])
def test_what_is_forced_costs_nothing(spec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    game = make_game(GAME, match="hand")
    state = going(staggered(game, 400, 33))
    legal = game.legal(state)
    forced = np.flatnonzero(legal.sum(axis=1) == 1)
    assert len(forced) > 10

    def sampled(*_: Any) -> State:
        raise AssertionError("a world was drawn")

    monkeypatch.setattr(InformationSet, "sample", sampled)
    chosen = make_agent(spec, game).act(InformationSet(game, state.take(forced)))
    assert (chosen == legal[forced].argmax(axis=1)).all()
    with pytest.raises(AssertionError, match="a world was drawn"):
        make_agent(spec, game).act(InformationSet(game, state))


def test_salted_seats_draw_other_worlds() -> None:
    game = make_game(GAME, match="hand")
    state = new_batch(game, 30)
    agent = make_agent("ismcts:iterations=16", game)
    choices = [agent.act(InformationSet(game, state, salt=salt)) for salt in (0, 1)]
    assert (choices[0] != choices[1]).any()


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("pimc:worlds=0", r"agent pimc: worlds expected a whole number of at least 1, got 0"),
        ("pimc:worlds=many", r"worlds expected int, got 'many'"),
        ("pimc:rollout=nobody", r"unknown agent 'nobody'"),
        ("pimc:world=3", r"argument of agent PimcAgent 'world'"),
        ("ismcts:iterations=0", r"agent ismcts: iterations expected a whole number of at least 1, got 0"),
        ("ismcts:c=-1", r"agent ismcts: c expected a finite number of at least 0, got -1"),
        ("ismcts:c=nan", r"agent ismcts: c expected a finite number of at least 0, got nan"),
        ("ismcts:c=inf", r"agent ismcts: c expected a finite number of at least 0, got inf"),
        ("ismcts:c", r"expected c=value, got 'c'"),
    ],
)
def test_wrong_arguments_are_refused(spec: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_agent(spec, make_game(GAME))


def test_a_game_without_rules_of_thumb_can_be_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(HeuristicAgent, "games", classmethod(lambda cls: []))
    game = make_game(GAME, match="hand")
    view = InformationSet(game, staggered(game, 10, 20))
    for spec in ("ismcts:iterations=9", "pimc:worlds=4,rollout=random"):
        assert view.legal[np.arange(10), make_agent(spec, game).act(view)].all()


# ---------------------------------------------------------------------------------------------- ends that are known


def known_ends(cards: int) -> tuple[Game[Any, Any], State]:
    """Positions of Slippery Slope with a choice and so many cards each, of which the seat to move knows everything."""
    game = make_game(GAME, match="hand", reveal_bids="after_bidding")
    state = new_batch(game, 6000, seed=11)
    parts = []
    while len(state):
        game.step(state, game.sample_legal(state, derive(state.seed, 77, state.move)))
        state = going(state)
        held = np.bitwise_count(state.hands).max(axis=1)  # type: ignore[attr-defined]
        part = state.take(np.flatnonzero((held == cards) & (game.legal(state).sum(axis=1) > 1)))
        one_world = np.array(game.count_worlds(part, part.seat)) == 1  # type: ignore[attr-defined]
        parts.append(part.take(np.flatnonzero(one_world)))
    found: State = max(parts, key=len).take(np.zeros(sum(map(len, parts)), np.int64))
    start = 0
    for part in parts:
        found.put(np.arange(start, start + len(part)), part)
        start += len(part)
    return game, found


def one_by_one(state: State) -> Iterator[State]:
    for i in range(len(state)):
        yield state.take(np.array([i]))


def after(game: Game[Any, Any], state: State, action: int) -> State:
    """The only game of a batch after an action."""
    moved = state.copy()
    game.step(moved, [action])
    return moved


def legal_actions(game: Game[Any, Any], state: State) -> list[int]:
    return np.flatnonzero(game.legal(state)[0]).tolist()


Values = tuple[float, ...]
"""The lead of every seat."""


def solutions(game: Game[Any, Any], state: State, before: Values) -> set[Values]:
    """What may come of the game if every seat goes for its own lead, whichever of equally good actions it takes."""
    if state.seat[0] < 0:
        leads = Lead(game).of(state)[0] - before
        return {tuple(leads.tolist())}
    seat = int(state.seat[0])
    branches = [solutions(game, after(game, state, action), before) for action in legal_actions(game, state)]
    found = set()
    for chosen, values in enumerate(branches):
        # Whatever comes of the other actions at their worst is what a value must not fall short of.
        least = max((min(v[seat] for v in branch) for i, branch in enumerate(branches) if i != chosen), default=-np.inf)
        found |= {value for value in values if value[seat] >= least}
    return found


def surely_best(game: Game[Any, Any], state: State) -> int | None:
    """The action that is best by at least a point however ties of later moves are broken; None if there is none."""
    before = tuple(Lead(game).of(state)[0].tolist())
    seat = int(state.seat[0])
    ranges = {
        action: [value[seat] for value in solutions(game, after(game, state, action), before)]
        for action in legal_actions(game, state)
    }
    for action, values in ranges.items():
        if all(min(values) >= max(others) + 1 for other, others in ranges.items() if other != action):
            return action
    return None


@pytest.mark.parametrize(("cards", "iterations", "most"), [(2, 400, 60), (3, 2000, 6)])
def test_ismcts_finds_the_solution_of_known_ends(cards: int, iterations: int, most: int) -> None:
    game, state = known_ends(cards)
    best = [surely_best(game, one) for one in one_by_one(state.take(np.arange(min(len(state), 12 * most))))]
    rows = np.array([i for i, action in enumerate(best) if action is not None])[:most]
    assert len(rows) == most
    chosen = IsmctsAgent(game, iterations).act(InformationSet(game, state.take(rows)))
    assert chosen.tolist() == [best[i] for i in rows]


def play_out_value(game: Game[Any, Any], state: State, agent: Agent, action: int) -> float:
    """What an action brings if an agent plays on."""
    seat, before = int(state.seat[0]), Lead(game).of(state)
    state = after(game, state, action)
    while state.seat[0] >= 0:
        game.step(state, agent.act(InformationSet(game, state)))
    return float((Lead(game).of(state) - before)[0, seat])


def test_pimc_finds_what_is_best_where_its_roll_outs_are_certain() -> None:
    game, state = known_ends(2)
    state = state.take(np.arange(60))
    agent = make_agent("heuristic", game)
    chosen = PimcAgent(game, 8).act(InformationSet(game, state))
    differing = 0
    for one, action in zip(one_by_one(state), chosen, strict=True):
        values = {legal: play_out_value(game, one, agent, legal) for legal in legal_actions(game, one)}
        assert values[int(action)] == max(values.values())
        differing += len(set(values.values())) > 1
    assert differing > 10


def test_pimc_and_ismcts_find_the_solution_where_nobody_else_has_a_choice() -> None:
    game, state = known_ends(2)
    found = []
    for one in one_by_one(state):
        best = surely_best(game, one)
        if best is not None and all(follows(game, after(game, one, action)) for action in legal_actions(game, one)):
            found.append((one, best))
        if len(found) == 12:
            break
    assert len(found) == 12
    pimc_agent, ismcts_agent = PimcAgent(game, 8), IsmctsAgent(game, 50)
    for one, best in found:
        view = InformationSet(game, one)
        assert pimc_agent.act(view).tolist() == [best]
        assert ismcts_agent.act(view).tolist() == [best]
        # With one world and one way to go on, the mean of an action is what it brings.
        means = ismcts_agent.search(view).root_means()[0]
        agent = make_agent("random", game)
        for action in legal_actions(game, one):
            assert means[action] == pytest.approx(play_out_value(game, one, agent, action))


def follows(game: Game[Any, Any], state: State) -> bool:
    """Whether there is only one way to go on to the end."""
    while state.seat[0] >= 0:
        legal = legal_actions(game, state)
        if len(legal) > 1:
            return False
        state = after(game, state, legal[0])
    return True


# ---------------------------------------------------------------------------------------------------------- the tally


def test_rounds_double() -> None:
    assert list(rounds(32)) == [8, 8, 16]
    assert list(rounds(20)) == [8, 8, 4]
    assert list(rounds(3)) == [3]
    assert all(sum(rounds(worlds)) == worlds for worlds in range(1, 100))


def tally_of(values: Any) -> Tally:
    """The tally of one game whose actions were all tried in the same worlds: values ``[W, A]``."""
    array = np.asarray(values, dtype=np.float64)
    tally = Tally(np.ones((1, array.shape[1]), np.bool_))
    tally.add(np.array([0]), array[None])
    return tally


def test_what_is_worse_in_every_world_by_the_same_is_dropped() -> None:
    world = np.arange(FIRST_WORLDS, dtype=np.float64) * 10  # worlds differ, the difference does not
    tally = tally_of(np.stack([world, world - 1, world], axis=1))
    tally.drop_the_worse(2.5)
    assert tally.running.tolist() == [[True, False, True]]


def test_nothing_is_dropped_after_too_few_worlds() -> None:
    world = np.zeros(FIRST_WORLDS - 1)
    tally = tally_of(np.stack([world, world - 1], axis=1))
    tally.drop_the_worse(2.5)
    assert tally.running.all()


@pytest.mark.parametrize(("errors", "dropped"), [(2.4, True), (2.6, False)])
def test_dropping_counts_standard_errors_of_the_difference(errors: float, dropped: bool) -> None:
    # Behind by 1 ± s in eight worlds: the standard error is s * sqrt(8 / 7) / sqrt(8) = s / sqrt(7).
    spread = np.sqrt(7) / 2.5
    behind = 1 + spread * np.array([1, -1] * 4)
    tally = tally_of(np.stack([np.arange(8), np.arange(8) - behind], axis=1))
    tally.drop_the_worse(errors)
    assert tally.running.tolist() == [[True, not dropped]]


@pytest.mark.parametrize(("errors", "chosen"), [(2.4, 0), (2.6, 1)])
def test_a_habit_has_the_benefit_of_the_doubt(errors: float, chosen: int) -> None:
    behind = 1 + np.sqrt(7) / 2.5 * np.array([1, -1] * 4)
    tally = tally_of(np.stack([np.arange(8), np.arange(8) - behind], axis=1))
    assert tally.best(np.array([1]), errors).tolist() == [chosen]


def test_bids_that_partners_read_are_left_to_the_roll_out_agent() -> None:
    """In Sluff; elsewhere bids are actions like any other."""
    game = make_game("sluff")
    state = staggered(game, 40, 12)
    state = state.take(np.flatnonzero(state.seat >= 0))
    legal = game.legal(state)
    reach = reach_of(game)
    assert reach.spoken is not None and reach.doubt == 1.5
    left = reach.spoken(legal)
    for row, choices in enumerate(legal):
        names = [game.action_name(state, row, int(action)) for action in np.flatnonzero(choices)]
        spoken = all(name == "sluff" or name.startswith("bid ") for name in names)
        assert left[row] == spoken, names
    assert set(left.tolist()) == {True, False}
    bidding = InformationSet(game, state.take(np.flatnonzero(left)))
    rules = make_agent("heuristic", game)
    assert np.array_equal(PimcAgent(game, worlds=8).act(bidding), rules.act(bidding))
    by_chance = PimcAgent(game, worlds=8, rollout="random").act(bidding)
    assert not np.array_equal(by_chance, rules.act(bidding))  # chance means nothing by its bids
    other = reach_of(make_game(GAME))
    assert other.spoken is None and other.doubt == 0.5


@pytest.mark.parametrize(
    ("errors", "running", "doubt", "chosen"), [(2.4, [True, False], 3.0, 0), (2.6, [True, True], 3.0, 1)]
)
def test_a_dropped_habit_has_no_benefit(errors: float, running: list[bool], doubt: float, chosen: int) -> None:
    behind = 1 + np.sqrt(7) / 2.5 * np.array([1, -1] * 4)  # 2.5 standard errors
    tally = tally_of(np.stack([np.arange(8), np.arange(8) - behind], axis=1))
    tally.drop_the_worse(errors)
    assert tally.running.tolist() == [running]
    assert tally.best(np.array([1]), doubt).tolist() == [chosen]
    assert tally.best(np.array([1]), 2.0).tolist() == [0]


def test_an_equally_good_habit_is_kept_and_a_dropped_one_is_not() -> None:
    world = np.arange(8.0)
    tally = tally_of(np.stack([world, world, world - 1], axis=1))
    tally.drop_the_worse(2.5)
    assert tally.best(np.array([1]), 0.5).tolist() == [1]
    assert tally.best(np.array([2]), 100).tolist() == [0]


def test_games_of_a_tally_are_settled_each_by_itself() -> None:
    tally = Tally(np.array([[True, True, False], [True, True, True]]))
    first = np.full((2, 8, 3), np.nan)
    first[0, :, 0], first[0, :, 1] = 1, 0
    first[1] = np.arange(8)[:, None] * np.array([1, -1, 0]) + [0, 7, 3.5]
    tally.add(np.array([0, 1]), first)
    tally.drop_the_worse(2.5)
    assert tally.running.tolist() == [[True, False, False], [True, True, True]]
    tally.add(np.array([1]), np.tile([0.0, 2.0, 1.0], (1, 8, 1)))
    tally.drop_the_worse(2.5)
    assert tally.running[0].tolist() == [True, False, False]
    assert tally.best(np.array([1, 0]), 0.0).tolist() == [0, 1]


def test_actions_are_tried_in_the_same_worlds_with_the_same_chance() -> None:
    game = make_game(GAME, match="hand")
    agent = PimcAgent(game, 4, "random")
    view = InformationSet(game, staggered(game, 6, 20))
    worlds = view.sample(4)
    together = try_actions(agent.rollouts, worlds, view.seats, view.legal, 4)
    assert (np.isnan(together) == ~view.legal[:, None]).all()
    for action in np.flatnonzero(view.legal.all(axis=0) | view.legal[0]):
        only = view.legal & (np.arange(game.num_actions) == action)
        alone = try_actions(agent.rollouts, worlds, view.seats, only, 4)
        rows = np.flatnonzero(view.legal[:, action])
        assert (alone[rows, :, action] == together[rows, :, action]).all()
    # Each by itself, world by world, played on with the chance of that world.
    random_agent = make_agent("random", game)
    for g, w in product(range(6), range(4)):
        world = worlds.take(np.array([4 * g + w]))
        for action in legal_actions(game, world):
            assert together[g, w, action] == play_out_value(game, world, random_agent, action)


# ----------------------------------------------------------------------------------------------------------- the tree


def test_counts_of_a_search_add_up() -> None:
    game = make_game(GAME, match="hand")
    view = InformationSet(game, staggered(game, 20, 25))
    view = view.take(np.flatnonzero(view.legal.sum(axis=1) > 1))
    trees = IsmctsAgent(game, 77).search(view)
    assert (trees.root_visits().sum(axis=1) == 77).all()
    assert (trees.root_visits()[~view.legal] == 0).all()
    assert (trees.root_visits()[view.legal] > 0).all()
    assert (trees.returned == trees.visits).all()
    entered = trees.visits > 0
    assert (entered.sum(axis=1) <= 77).all()
    assert (trees.available >= trees.visits)[entered].all()
    for g in range(len(view)):
        for node in np.flatnonzero(entered[g]):
            children = trees.children[g, node]
            children = children[children >= 0]
            # An iteration that went through a node either ended there or went on to one of its children.
            assert trees.visits[g, children].sum() <= trees.visits[g, node]
            assert trees.available[g, children].max(initial=0) <= trees.visits[g, node]


def test_at_the_root_every_action_is_always_available() -> None:
    game = make_game(GAME, match="hand")
    view = InformationSet(game, new_batch(game, 3))
    trees = IsmctsAgent(game, 50).search(view)
    for g in range(3):
        children = trees.children[g, 0, :11]
        # From when it was first tried on, and eleven bids are tried first.
        assert (trees.available[g, children] >= 40).all()
        assert trees.available[g, children].max() == 50


def test_values_go_to_the_seat_that_moved() -> None:
    trees = Trees(1, 4, 2)
    row = np.array([0])
    first = trees.enter(row, np.array([0]), np.array([1]), np.array([2], np.int8))
    second = trees.enter(row, first, np.array([0]), np.array([0], np.int8))
    assert (first.tolist(), second.tolist()) == ([1], [2])
    assert trees.children[0].tolist() == [[-1, 1], [2, -1], [-1, -1], [-1, -1]]
    assert trees.returned.tolist() == [[0, 0, 0, 0]]
    trees.learn([Path(row, first), Path(row, second)], np.array([[10.0, 20.0, 30.0]]))
    again = trees.enter(row, np.array([0]), np.array([1]), np.array([2], np.int8))
    assert again.tolist() == [1]
    trees.learn([Path(row, again)], np.array([[1.0, 2.0, 3.0]]))
    assert trees.total.tolist() == [[0.0, 33.0, 10.0, 0.0]]
    assert trees.visits.tolist() == trees.returned.tolist() == [[0, 2, 1, 0]]
    assert trees.root_visits().tolist() == [[0, 2]]
    assert trees.root_means().tolist() == [[-np.inf, 16.5]]
    assert trees.most_visited().tolist() == [1]


def test_the_bound_counts_availability_and_hands_under_way() -> None:
    trees = Trees(1, 4, 3)
    row = np.array([0])
    for action in range(3):
        trees.enter(row, np.array([0]), np.array([action]), np.array([0], np.int8))
    trees.visits[0, 1:] = [4, 9, 1]
    trees.returned[0, 1:] = [4, 8, 1]  # one by action 1 is under way
    trees.total[0, 1:] = [8.0, 16.0, 0.0]
    trees.available[0, 1:] = [20, 20, 2]
    means = np.array([2.0, 2.0, 0.0])

    def bounds(c: float) -> NDArray[np.float64]:
        return means + c * np.sqrt(np.log([20, 20, 2]) / np.array([4, 9, 1]))

    children, legal = trees.children[:, 0], np.ones((1, 3), np.bool_)
    for c in (0.0, 1.0, 30.0):
        assert trees.promising(row, children, legal, c).tolist() == [int(bounds(c).argmax())]
    # At 30: 2 + 30 * 0.865, 2 + 30 * 0.577, 30 * 0.833.
    assert bounds(30.0) == pytest.approx([27.96, 19.31, 24.98], abs=0.01)
    assert trees.promising(row, children, np.array([[False, True, True]]), 30.0).tolist() == [2]


def test_of_equally_visited_actions_the_better_is_taken() -> None:
    trees = Trees(1, 4, 3)
    row = np.array([0])
    for action, value in ((0, 1.0), (1, 2.0)):
        node = trees.enter(row, np.array([0]), np.array([action]), np.array([0], np.int8))
        trees.learn([Path(row, node)], np.array([[value, 0.0]]))
    assert trees.most_visited().tolist() == [1]


def test_nth_true() -> None:
    mask = np.array([[False, True, False, True], [True, True, True, True], [False, False, False, True]])
    assert nth_true(mask, np.array([1, 2, 0])).tolist() == [3, 2, 3]
    assert nth_true(mask, np.array([2, 0, 1])).tolist() == [0, 0, 0]


def test_in_roll_outs_nobody_is_asked_where_there_is_no_choice() -> None:
    """And what they bring is the same as if everybody were."""
    game = make_game(GAME, match="hand")
    heuristic, asked = make_agent("heuristic", game), []

    class Noting(Agent):
        def act(self, view: InformationSet) -> NDArray[np.int64]:
            asked.append(view.legal.sum(axis=1))
            return heuristic.act(view)

    state = positions(game)
    playing = rollouts.Rollouts(game, Noting(game), reach_of(game))
    values = playing.values(state.copy(), playing.start(state))
    counts = np.concatenate(asked)
    assert counts.min() == 2
    end, decisions = state.copy(), 0
    while (end.seat >= 0).any():
        rows = np.flatnonzero(end.seat >= 0)
        part = end.take(rows)
        decisions += len(rows)
        game.step(part, heuristic.act(InformationSet(game, part)))
        end.put(rows, part)
    assert len(counts) < decisions
    assert np.allclose(values, Lead(game).of(end) - Lead(game).of(state))


def test_leads_are_of_sides() -> None:
    three = Lead(make_game(GAME)).all_seats(np.array([[6, 3, 0]]))
    assert three.tolist() == [[4.5, 0.0, -4.5]]
    game = make_game("sluff", num_players=6)
    scores = np.zeros((1, 6), np.int32)
    scores[0, game.teams[0]] = 50
    scores[0, game.teams[1]] = 20
    leads = Lead(game).all_seats(scores)[0]
    assert leads[list(game.teams[0])] == pytest.approx(30)
    assert leads[list(game.teams[1])] == pytest.approx(-30)


def test_a_learned_policy_that_is_sure_is_not_searched() -> None:
    game = make_game("slippery_slope", match="hand")
    state = staggered(game, 40, 20)
    state = state.take(np.flatnonzero(state.seat >= 0))
    view = InformationSet(game, state)
    policy = make_agent("ppo", game)
    assert (make_agent("search:ppo,worlds=4,least=0.999", game).act(view) == policy.act(view)).all()


def test_a_depth_changes_nothing_else_of_how_a_game_is_searched() -> None:
    game = make_game(GAME)
    usual = reach_of(game)
    reach = make_agent("search:ppo,depth=3", game).rollouts.reach  # type: ignore[attr-defined]
    assert (reach.depth, reach.evaluate is not None) == (3, True)
    assert replace(reach, depth=None, clock=usual.clock, evaluate=None) == usual


@pytest.mark.parametrize("spec", ["search:ppo,worlds=4", "search:ppo,worlds=4,depth=3"])
def test_search_over_a_learned_policy_plays_legally_and_by_the_view_alone(spec: str) -> None:
    game = make_game("slippery_slope", match="hand")
    state = staggered(game, 30, 20)
    state = state.take(np.flatnonzero(state.seat >= 0))
    view = InformationSet(game, state)
    agent = make_agent(spec, game)
    chosen = agent.act(view)
    assert view.legal[np.arange(len(view)), chosen].all()
    other = game.resample(state, state.seat, derive(2, np.arange(len(state))))
    other.seed[:] = state.seed  # the same match to this seat: its own chance hangs on the seed
    assert (agent.act(InformationSet(game, other)) == chosen).all()


# ----------------------------------------------------------------------------------------------------------- strength


def standard_errors(difference: dict[str, Any]) -> float:
    """How many times half the width of its 95 % interval, over two, a mean is above zero."""
    low, high = difference["ci95"]
    return float(difference["mean"] / ((high - low) / 4))


@pytest.mark.slow
def test_pimc_beats_its_own_roll_outs() -> None:
    found = evaluate(GAME, "pimc:worlds=16", "heuristic", deals=50, seed=1)
    assert standard_errors(found["difference"]) > 3


def test_a_hundred_iterations_of_ismcts_beat_random() -> None:
    found = evaluate(GAME, "ismcts:iterations=100", "random", deals=15, seed=3)
    assert standard_errors(found["difference"]) > 4


# --------------------------------------------------------------------------------------------- where roll-outs are cut


def test_of_two_sides_the_one_that_waits_loses_what_the_other_expects() -> None:
    game = make_game("slopes")
    state = staggered(game, 60, 40)
    state = state.take(np.flatnonzero(state.seat >= 0))
    player = AfterstateAgent(game)
    expected = by_movers(player.values)(game, state)
    rows = np.arange(len(state))
    assert expected.shape == (len(state), 2) and np.abs(expected).max() > 0.05
    assert np.array_equal(expected[rows, state.seat], player.values(InformationSet(game, state)))
    assert np.array_equal(expected[:, 0], -expected[:, 1])


def test_elsewhere_every_seat_is_asked() -> None:
    game = make_game(GAME)
    state = staggered(game, 20, 12)
    state = state.take(np.flatnonzero(state.seat >= 0))

    def values(view: InformationSet) -> NDArray[np.float64]:
        return view.observations.sum(axis=1) + 100.0 * view.seats

    expected = by_seats(values)(game, state)
    for seat in range(game.num_players):
        assert np.array_equal(expected[:, seat], values(InformationSet(game, state, np.full(len(state), seat))))


def test_hands_are_played_on_by_the_usual_agent_of_the_game_unless_one_is_named() -> None:
    for name in game_names():
        usual = PimcAgent(make_game(name), worlds=2).rollouts.agent.spec
        assert usual == ("afterstates" if name == "slopes" else "heuristic")
    assert make_agent("pimc:rollout=random", make_game("slopes")).rollouts.agent.spec == "random"  # type: ignore[attr-defined]


def test_reasons_count_beside_what_actions_bring() -> None:
    game = make_game(GAME)
    state = staggered(game, 20, 12)
    view = InformationSet(game, state.take(np.flatnonzero(state.seat >= 0)))

    def last_legal(seen: InformationSet) -> NDArray[np.float64]:
        return 1000.0 * np.arange(game.num_actions) * seen.legal

    reach = replace(reach_of(game), reasons=last_legal)
    chosen = PimcAgent(game, worlds=8, reach=reach).act(view)
    assert np.array_equal(chosen, np.where(view.legal, np.arange(game.num_actions), -1).max(axis=1))
    assert not np.array_equal(PimcAgent(game, worlds=8).act(view), chosen)
