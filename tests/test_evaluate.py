"""Evaluation over duplicate deals."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from players import Cheat, Highest, Lowest, Middle
from scipy import stats

import slopes_envs
from slopes_agents.play import AgentFault
from slopes_benchmarks import duplicate, metrics
from slopes_benchmarks.duplicate import Interrupted, Plan, evaluate, evaluated_game, figures, play_chunk, run
from slopes_benchmarks.intervals import bca_interval, student_interval
from slopes_benchmarks.keeping import KeptPieces, write_json
from slopes_benchmarks.workers import Stoppable, spread
from slopes_envs import InformationSet, RulesError, UnknownName, game_names, make_game, match_seed
from slopes_envs.records import record_matches
from slopes_training import provenance

GAME = "slippery_slope"
NO_CHANGE = np.zeros((1, 4), np.int32)
TIMINGS = ("decisions_per_second", "seconds")


@pytest.fixture(autouse=True)
def one_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Others may edit the checkout while the tests run; and git takes its time."""
    monkeypatch.setattr(duplicate, "commit", lambda: "0" * 40)


def untimed(result: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in result.items() if key not in TIMINGS}


# ---------------------------------------------------------------------------------------------------------- intervals


def test_interval_is_students() -> None:
    values = np.random.default_rng(1).normal(3, 2, size=12)
    mean, low, high = student_interval(values)
    expected = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert mean == pytest.approx(values.mean())
    assert (low, high) == pytest.approx((expected.low, expected.high))


def test_interval_of_a_constant_is_that_constant_twice() -> None:
    assert student_interval([0.1] * 7) == (0.1, 0.1, 0.1)


@pytest.mark.parametrize("values", [[], [1.0], [[1.0, 2.0]]])
def test_interval_needs_two_values_in_a_row(values: list[Any]) -> None:
    with pytest.raises(ValueError, match="at least 2 values"):
        student_interval(values)


def test_bootstrap_interval_is_scipys_and_the_same_every_time() -> None:
    values = np.random.default_rng(3).exponential(size=60)
    mean, low, high = bca_interval(values)
    assert (mean, low, high) == bca_interval(values)
    expected = stats.bootstrap((values,), np.mean, n_resamples=9999, rng=np.random.default_rng(1)).confidence_interval
    assert mean == pytest.approx(values.mean())
    assert (low, high) == pytest.approx((expected.low, expected.high), rel=0.02)
    assert high - mean > mean - low  # it is skewed as the values are


def test_bootstrap_interval_of_many_deals_is_nearly_students() -> None:
    values = np.random.default_rng(4).integers(-10, 11, size=1500)
    student = student_interval(values)
    assert bca_interval(values) == pytest.approx(student, abs=0.05 * (student.high - student.low))


def test_bootstrap_interval_of_a_constant_is_that_constant_twice() -> None:
    assert bca_interval([0.1] * 7) == (0.1, 0.1, 0.1)


def test_evaluation_with_bootstrap_intervals() -> None:
    student, bca = (evaluate(GAME, "random", "players:Middle", 40, 1, interval=kind) for kind in ("student", "bca"))
    assert bca["interval"] == "bca"
    for figure in ("difference", "gain", "agent_score", "against_score"):
        assert bca[figure]["mean"] == student[figure]["mean"]
        assert bca[figure]["ci95"] != student[figure]["ci95"]
        assert bca[figure]["ci95"] == pytest.approx(student[figure]["ci95"], abs=0.2)
    with pytest.raises(UnknownName, match="did you mean 'student'"):
        evaluate(GAME, "random", "random", 4, 1, interval="studnet")


def test_intervals_cover_the_mean_in_95_of_100() -> None:
    samples = np.random.default_rng(2).normal(size=(4000, 6))
    intervals = [student_interval(sample) for sample in samples]
    covered = np.mean([low <= 0 <= high for _, low, high in intervals])
    assert 0.94 < covered < 0.96  # the standard error is 0.0034


# ------------------------------------------------------------------------------------------------------------- seating


def fake_game(teams: tuple[tuple[int, ...], ...], match: str = "hand") -> Any:
    return SimpleNamespace(
        name="fake", num_players=sum(map(len, teams)), teams=teams, rules=SimpleNamespace(match=match)
    )


def fake_plan(teams: tuple[tuple[int, ...], ...], others: int, match: str = "hand") -> Plan:
    game = fake_game(teams, match)
    return Plan(game, Lowest(game), tuple(Highest(game) for _ in range(others)), 2, 0)


def test_one_agent_sits_in_every_seat_and_one_table_goes_without_it() -> None:
    plan = fake_plan(((0,), (1,), (2,)), others=1)
    assert plan.seating.tolist() == [[0, 1, 1], [1, 0, 1], [1, 1, 0], [1, 1, 1]]
    assert plan.groups.tolist() == [[0, 1, 1], [1, 0, 1], [1, 1, 0], [-1, -1, -1]]


def test_several_others_sit_cyclically_from_the_agents_left() -> None:
    plan = fake_plan(((0,), (1,), (2,), (3,)), others=3)
    assert plan.seating.tolist() == [[0, 1, 2, 3], [3, 0, 1, 2], [2, 3, 0, 1], [1, 2, 3, 0]]


def test_a_team_plays_both_sides() -> None:
    plan = fake_plan(((0, 2), (1, 3)), others=2)
    assert plan.seating.tolist() == [[0, 1, 0, 2], [2, 0, 1, 0]]
    assert fake_plan(((0, 2), (1, 3)), others=1).seating.tolist() == [[0, 1, 0, 1], [1, 0, 1, 0], [1, 1, 1, 1]]


def test_others_of_the_same_spec_are_alike() -> None:
    game = evaluated_game(GAME, {})
    assert Plan(game, "random", ("random", "random"), 2, 0).alike
    assert not Plan(game, "random", ("random", "players:Lowest"), 2, 0).alike


def test_salt_gives_players_chance_of_their_own() -> None:
    game = make_game(GAME)
    state = game.new(match_seed(1, [0, 0, 1]))
    plain, salted = InformationSet(game, state), InformationSet(game, state, salt=[0, 1, 1])
    assert plain.keys[0] == plain.keys[1]
    assert len({*plain.keys.tolist(), *salted.keys.tolist()}) == 5
    assert salted.take(np.array([2, 1])).keys.tolist() == salted.keys[[2, 1]].tolist()


# ------------------------------------------------------------------------------------------------------------- figures


def test_figures_of_a_deal() -> None:
    plan = fake_plan(((0,), (1,), (2,)), others=1, match="game")
    # Tables with the agent in seat 0, 1 and 2, and the one without it; then the same with another outcome.
    scores = np.array([[[5, 1, 3], [2, 0, 0], [4, 6, 6], [1, 2, 3]], [[0, 0, 0], [0, 0, 0], [0, 0, 9], [0, 0, 0]]])
    found = {name: None if values is None else values.tolist() for name, values in figures(plan, scores).items()}
    assert found == {
        "difference": [pytest.approx(((5 - 2) + (0 - 1) + (6 - 5)) / 3), 3.0],
        "gain": [pytest.approx(((5 - 1) + (0 - 2) + (6 - 3)) / 3), 3.0],
        "agent_score": [pytest.approx(11 / 3), 3.0],
        "against_score": [pytest.approx((2 + 1 + 5) / 3), 0.0],
        "win_share": [pytest.approx((1 + 0 + 1 / 2) / 3), pytest.approx((1 / 3 + 1 / 3 + 1) / 3)],
    }


def test_figures_of_teams() -> None:
    plan = fake_plan(((0, 2), (1, 3)), others=2, match="game")
    scores = np.array([[[7, 3, 7, 3], [4, 4, 4, 4]], [[0, 1, 0, 1], [0, 1, 0, 1]]])
    found = {name: None if values is None else values.tolist() for name, values in figures(plan, scores).items()}
    assert found == {
        "difference": [2.0, 0.0],
        "gain": None,
        "agent_score": [5.5, 0.5],
        "against_score": [3.5, 0.5],
        "win_share": [0.75, 0.5],
    }


def test_chunks_are_the_deals_played_one_by_one() -> None:
    game = evaluated_game(GAME, {})
    agents = [Middle(game), Lowest(game), Highest(game)]
    plan = Plan(game, agents[0], tuple(agents[1:]), deals=9, seed=5)
    chunk = play_chunk(plan, (4, 9))
    for number in range(4, 9):
        for table, seating in enumerate(plan.seating):
            state = game.new(match_seed(5, number))
            while state.seat[0] >= 0:
                game.step(state, agents[seating[state.seat[0]]].act(InformationSet(game, state)))
            assert chunk.scores[number - 4][table] == state.scores[0].tolist()


# ------------------------------------------------------------------------------------------------------------- results


def test_result_has_the_documented_keys_in_order() -> None:
    result = evaluate(GAME, "players:Lowest", ["random", "players:Highest"], 3, 8)
    assert list(result) == [
        *("game", "rules", "agent", "against", "deals", "seed", "interval"),
        *("difference", "gain", "agent_score", "against_score"),
        *("control", "metrics", "decisions_per_second", "seconds", "version", "commit"),
    ]
    assert result["game"] == GAME
    assert result["rules"] == make_game(GAME, match="hand").rules.record()
    assert (result["agent"], result["against"]) == ("players:Lowest", ["random", "players:Highest"])
    assert (result["deals"], result["seed"], result["gain"]) == (3, 8, None)
    assert (result["interval"], result["control"]) == ("student", None)
    assert set(result["difference"]) == {"mean", "ci95"}
    assert len(result["difference"]["ci95"]) == 2
    assert {name: set(groups) for name, groups in result["metrics"].items()} == {
        name: {"agent", "against"} for name in ("bid_made", "bid", "tricks")
    }
    assert json.loads(json.dumps(result, allow_nan=False)) == result


@pytest.mark.parametrize("game", game_names())
@pytest.mark.parametrize("agent", ["players:Lowest", "players:Middle"])
def test_an_agent_without_chance_equals_itself_exactly(game: str, agent: str) -> None:
    result = evaluate(game, agent, agent, 8, 1)
    assert result["difference"] == {"mean": 0, "ci95": [0, 0]}
    assert result["gain"] == {"mean": 0, "ci95": [0, 0]}
    assert result["agent_score"]["mean"] == pytest.approx(result["against_score"]["mean"])


def test_win_shares_of_equals_are_equal() -> None:
    game = evaluated_game(GAME, {"match": "game", "target_score": 3, "max_hands": 5})
    assert evaluate(game, "players:Middle", "players:Middle", 8, 1)["win_share"]["mean"] == pytest.approx(1 / 3)


def test_intervals_of_random_against_itself_hold_zero_in_95_of_100() -> None:
    found = [evaluate(GAME, "random", "random", 20, seed) for seed in range(200)]
    for figure in ("difference", "gain"):
        bounds = [result[figure]["ci95"] for result in found]
        assert all(low < high for low, high in bounds)
        assert 176 <= sum(low <= 0 <= high for low, high in bounds) <= 198
    # The same intervals pooled: the mean of 200 evaluations is zero within its error.
    means = np.array([result["difference"]["mean"] for result in found])
    assert abs(means.mean()) < 4 * means.std() / np.sqrt(len(means))


def test_no_two_seats_of_a_deal_share_their_chance() -> None:
    for others in (1, 2):
        plan = fake_plan(((0,), (1,), (2,)), others)
        keys = {(seat, salt) for table in plan.salts for seat, salt in enumerate(table.tolist())}
        assert len(keys) == plan.seating.size


def test_the_better_agent_is_found_to_be_better() -> None:
    better = evaluate(GAME, "players:Modest", "random", 200, 3)
    worse = evaluate(GAME, "random", "players:Modest", 200, 3)
    for figure in ("difference", "gain"):
        assert better[figure]["ci95"][0] > 1
        assert worse[figure]["ci95"][1] < -1
    assert better["metrics"]["bid"]["agent"] == 3
    assert better["metrics"]["bid_made"]["agent"] > 2 * better["metrics"]["bid_made"]["against"]


@pytest.mark.parametrize("game", game_names())
def test_the_size_of_a_batch_does_not_bear_on_the_result(game: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = untimed(evaluate(game, "random", "players:Middle", 20, 4))
    monkeypatch.setattr(duplicate, "CHUNK_DEALS", 7)
    assert untimed(evaluate(game, "random", "players:Middle", 20, 4)) == expected


def test_workers_do_not_bear_on_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(duplicate, "CHUNK_DEALS", 7)
    alone, spread_out = (evaluate(GAME, "random", "players:Middle", 40, 4, workers=workers) for workers in (1, 2))
    assert untimed(alone) == untimed(spread_out)


def test_agents_may_be_given_as_objects() -> None:
    game = evaluated_game(GAME, {})
    result = evaluate(game, Middle(game), Lowest(game), 5, 1)
    assert (result["agent"], result["against"]) == ("Middle", ["Lowest"])
    assert result["difference"] == evaluate(game, "players:Middle", "players:Lowest", 5, 1)["difference"]


# ------------------------------------------------------------------------------------------------------------- metrics


def test_metrics_of_a_match_are_those_of_its_hands() -> None:
    game = evaluated_game(GAME, {"match": "game", "target_score": 12, "max_hands": 30})
    found = evaluate(game, "players:Middle", "players:Middle", 6, 2)["metrics"]
    # In all rotations of an agent against itself the same match is played, so every seat is the agent's once.
    policy = Middle(game).act
    records = list(record_matches(game, policy, match_seed(2, np.arange(6))))
    hands = [hand for record in records for hand in record["hands"]]
    assert len(hands) > 2 * len(records)
    made = np.mean([change >= 0 for hand in hands for change in hand["scores"]])
    bids = np.mean([int(move["action"].split()[1]) for hand in hands for move in hand["moves"][:3]])
    for group in ("agent", "against"):
        assert found["bid_made"][group] == pytest.approx(made)
        assert found["bid"][group] == pytest.approx(bids)
        assert found["tricks"][group] == pytest.approx(10 / 3)


def test_one_hand_means_the_same_as_a_match_or_alone() -> None:
    match = evaluated_game(GAME, {"match": "game", "max_hands": 1})
    hand = evaluated_game(GAME, {"max_hands": 1})
    as_match, alone = (evaluate(game, "players:Modest", "random", 30, 6) for game in (match, hand))
    for key in ("difference", "gain", "agent_score", "against_score", "metrics"):
        assert as_match[key] == alone[key]
    assert "win_share" in as_match
    assert "win_share" not in alone


def test_a_metric_may_not_apply(monkeypatch: pytest.MonkeyPatch) -> None:
    def first_seat_only(game: Any, hand: Any, change: Any) -> dict[str, Any]:
        assert np.array_equal(change, hand.scores)
        return {"first": np.where(np.arange(3) == 0, hand.scores, np.nan), "none": np.full(hand.scores.shape, np.nan)}

    monkeypatch.setitem(metrics.READINGS, GAME, metrics.Reading(first_seat_only))
    plan = Plan(evaluated_game(GAME, {}), "players:Middle", ("players:Highest",), 4, 1)
    result = run(plan)
    scores = np.array(play_chunk(plan, (0, 4)).scores)
    assert result["metrics"]["first"]["agent"] == pytest.approx(scores[:, 0, 0].mean())
    assert result["metrics"]["first"]["against"] == pytest.approx(scores[:, 1:3, 0].mean())
    assert result["metrics"]["none"] == {"agent": None, "against": None}


def test_metrics_of_sloppy_seconds() -> None:
    clubs, diamonds, hearts, spades = [50, 30, 11, 0], [60, 30, 1, 0], [91, 0, 0, 0], [40, 10, 40, 1]
    hand = SimpleNamespace(points=np.array([clubs, diamonds, hearts, spades], np.uint8).T[None])
    found = metrics.sloppy_seconds(make_game("sloppy_seconds"), hand, NO_CHANGE)
    assert found["seconds_won"].tolist() == [[0, 3, 0, 0]]  # nobody is second in hearts: all others have nothing
    assert found["floor"].tolist() == [[True, False, True, True]]
    found = metrics.sloppy_seconds(make_game("sloppy_seconds", tie_ranking="competition"), hand, NO_CHANGE)
    assert found["seconds_won"].tolist() == [[0, 2, 0, 0]]  # two are first in spades


def test_metrics_of_sluff() -> None:
    hand = SimpleNamespace(bids=np.array([[5, 0, 0, 3]]), tricks=np.array([[4, 0, 1, 9]]))
    found = metrics.sluff(make_game("sluff"), hand, NO_CHANGE)
    assert found["team_bid_made"].tolist() == [[True, True, True, True]]
    assert found["sluff_bid"].tolist() == [[False, True, True, False]]
    assert np.array_equal(found["sluff_made"], [[np.nan, 1, 0, np.nan]], equal_nan=True)
    hand.tricks = np.array([[4, 10, 0, 0]])
    assert metrics.sluff(make_game("sluff"), hand, NO_CHANGE)["team_bid_made"].tolist() == [[False, True, False, True]]


def test_metrics_of_slopes() -> None:
    hand = SimpleNamespace(turns=np.array([40, 31]))
    found = metrics.slopes(make_game("slopes"), hand, np.array([[1, -1], [0, 0]], np.int32))
    assert found["win"].tolist() == [[True, False], [False, False]]
    assert found["turns"].tolist() == [[40, 40], [31, 31]]


def test_metrics_of_slippery_sam() -> None:
    hand = SimpleNamespace(
        dealer=np.array([1]),
        hands=np.array([[7, 0, 7, 0]]),
        bets=np.array([[5, 0, 0, 0]]),
        results=np.array([[0, -1, 2, -1]]),
    )
    found = metrics.slippery_sam(make_game("slippery_sam", num_players=4), hand, np.array([[5, -3, -2, 0]], np.int32))
    assert np.array_equal(found["chips_betting"], [[5, np.nan, -2, np.nan]], equal_nan=True)
    assert np.array_equal(found["chips_banking"], [[np.nan, -3, np.nan, np.nan]], equal_nan=True)
    assert np.array_equal(found["bet_won"], [[1, np.nan, np.nan, np.nan]], equal_nan=True)


def test_chips_of_a_match_are_those_of_its_banks() -> None:
    game = evaluated_game("slippery_sam", {"num_players": 3, "rounds": 2})
    chunk = play_chunk(Plan(game, "random", ("random",), 20, 1), (0, 20))
    (betting, _), (banking, _) = chunk.metrics["chips_betting"][1], chunk.metrics["chips_banking"][1]
    own = chunk.metrics["chips_betting"][0][0] + chunk.metrics["chips_banking"][0][0]
    assert betting + banking + own == 0  # chips only change hands
    scores = np.array(chunk.scores)[:, :3]
    assert own == sum(scores[:, seat, seat].sum() - 20 * 100 for seat in range(3))


@pytest.mark.parametrize("game", game_names())
def test_metrics_are_read_off_hands_and_matches_of_every_game(game: str) -> None:
    of_hands, of_matches = (
        evaluate(evaluated_game(game, {"match": match}), "random", "random", 3, 1)["metrics"]
        for match in ("hand", "game")
    )
    assert of_hands.keys() == of_matches.keys()
    assert bool(of_hands) == (game in metrics.READINGS)


def test_the_usual_match_can_be_overruled(monkeypatch: pytest.MonkeyPatch) -> None:
    assert evaluated_game(GAME, {}).rules.match == "hand"
    assert evaluated_game(GAME, {"match": "game"}).rules.match == "game"
    monkeypatch.setitem(metrics.READINGS, GAME, metrics.Reading(lambda game, hand, change: {}, match="game"))
    assert evaluated_game(GAME, {}).rules.match == "game"


# -------------------------------------------------------------------------------------------------------------- errors


@pytest.mark.parametrize("deals", [1, 0, -5])
def test_one_deal_has_no_interval(deals: int) -> None:
    with pytest.raises(ValueError, match=f"deals expected at least 2.*got {deals}"):
        evaluate(GAME, "random", "random", deals, 1)


def test_the_number_of_others_must_fit() -> None:
    with pytest.raises(ValueError, match="one agent for all or 2, one for each of the others, got 3"):
        evaluate(GAME, "random", ["random"] * 3, 5, 1)


def test_names_must_be_known() -> None:
    with pytest.raises(UnknownName, match=f"did you mean '{GAME}'"):
        evaluate(GAME[:-1], "random", "random", 5, 1)
    with pytest.raises(UnknownName, match="did you mean 'random'"):
        evaluate(GAME, "random", "radnom", 5, 1)
    with pytest.raises(RulesError, match="match expected"):
        evaluated_game(GAME, {"match": "gmae"})


@pytest.mark.parametrize("workers", [1, 2])
def test_the_agent_at_fault_is_named(workers: int) -> None:
    with pytest.raises(AgentFault, match=r"players:Cheat.*seat \d: action 'BJ' \(40\) is not legal; legal: bid 0"):
        evaluate(GAME, "random", "players:Cheat", 5, 1, workers=workers)
    with pytest.raises(AgentFault, match=r"players:Mumbler.*whole numbers of shape \(\d+,\), got bool of shape"):
        evaluate(GAME, "players:Mumbler", "random", 5, 1, workers=workers)


def test_an_agent_object_at_fault_is_named() -> None:
    game = evaluated_game(GAME, {})
    with pytest.raises(AgentFault, match="Cheat for slippery_slope"):
        evaluate(game, Cheat(game), "random", 5, 1)


# ------------------------------------------------------------------------------------------------------ keeping, Ctrl-C


@pytest.fixture
def plan(monkeypatch: pytest.MonkeyPatch) -> Plan:
    monkeypatch.setattr(duplicate, "CHUNK_DEALS", 4)
    return Plan(evaluated_game(GAME, {}), "players:Modest", ("random",), 18, 1)


def interrupt_after(deals: int) -> Any:
    def progress(done: int) -> None:
        if done >= deals:
            os.kill(os.getpid(), signal.SIGINT)

    return progress


def test_an_interrupted_evaluation_goes_on_where_it_was(plan: Plan, tmp_path: Path) -> None:
    expected = untimed(run(plan))
    path = tmp_path / "kept"
    kept = KeptPieces(path, plan.work, resume=False)
    with pytest.raises(Interrupted) as stopped:
        run(plan, kept=kept, progress=interrupt_after(8))
    kept.close()
    assert stopped.value.done == 8
    assert stopped.value.result is not None
    assert untimed(stopped.value.result) == untimed(
        run(Plan(plan.game, plan.agent, plan.against, deals=8, seed=plan.seed))
    )

    kept = KeptPieces(path, plan.work, resume=True)
    seen: list[int] = []
    assert untimed(run(plan, kept=kept, progress=seen.append)) == expected
    assert seen == [8, 12, 16, 18]
    kept.remove()
    assert not path.exists()


def test_what_is_finished_serves_a_longer_evaluation(plan: Plan, tmp_path: Path) -> None:
    kept = KeptPieces(tmp_path / "kept", plan.work, resume=False)
    run(plan, kept=kept)
    kept.close()
    longer = Plan(plan.game, plan.agent, plan.against, deals=21, seed=plan.seed)
    seen: list[int] = []
    kept = KeptPieces(tmp_path / "kept", longer.work, resume=True)
    assert untimed(run(longer, kept=kept, progress=seen.append)) == untimed(run(longer))
    assert seen[0] == 16  # the last chunk of 18 was a short one
    kept.close()


def test_all_finished_leaves_nothing_to_time(plan: Plan, tmp_path: Path) -> None:
    for resume in (False, True):
        kept = KeptPieces(tmp_path / "kept", plan.work, resume=resume)
        result = run(plan, kept=kept)
        kept.close()
    assert result["decisions_per_second"] is None


def test_a_line_cut_short_is_played_again(plan: Plan, tmp_path: Path) -> None:
    path = tmp_path / "kept"
    kept = KeptPieces(path, plan.work, resume=False)
    expected = untimed(run(plan, kept=kept))
    kept.close()
    whole = path.read_bytes()
    path.write_bytes(whole[:-40])
    kept = KeptPieces(path, plan.work, resume=True)
    assert len(kept.pieces) == 4
    assert untimed(run(plan, kept=kept)) == expected
    kept.close()
    assert path.read_bytes() == whole


def keep(path: Path, work: dict[str, Any], *pieces: Any) -> None:
    kept = KeptPieces(path, work, resume=False)
    for piece in pieces:
        kept.add(piece)
    kept.close()


def test_finished_pieces_are_not_thrown_away_unasked(plan: Plan, tmp_path: Path) -> None:
    path = tmp_path / "kept"
    keep(path, plan.work)
    keep(path, plan.work, {"some": "piece"})  # there was none before
    before = path.read_bytes()
    with pytest.raises(ValueError, match="expected --resume to go on from there"):
        KeptPieces(path, plan.work, resume=False)
    assert path.read_bytes() == before


def test_pieces_of_other_work_are_refused(plan: Plan, tmp_path: Path) -> None:
    path = tmp_path / "kept"
    keep(path, plan.work, {"some": "piece"})
    other = Plan(plan.game, plan.agent, plan.against, plan.deals, seed=2)
    with pytest.raises(ValueError, match="belongs to other work: seed expected 2, got 1"):
        KeptPieces(path, other.work, resume=True)
    for text in ("[1]\n", "what?\n"):
        path.write_text(text)
        for resume in (False, True):
            with pytest.raises(ValueError, match="got something else"):
                KeptPieces(path, plan.work, resume=resume)
        assert path.read_text() == text


def test_files_are_replaced_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    write_json(path, {"a": 1})
    with pytest.raises(ValueError, match="JSON"):
        write_json(path, {"a": float("nan")})
    assert json.loads(path.read_text()) == {"a": 1}
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("workers", [1, 2])
def test_work_is_spread_in_order(workers: int) -> None:
    assert list(spread(abs, range(-20, 0), workers, ordered=True)) == list(range(20, 0, -1))
    assert sorted(spread(abs, range(-20, 0), workers, ordered=False)) == list(range(1, 21))


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Ctrl-C as in a terminal: a shell has what it runs in the background ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_waits_until_an_item_is_dealt_with() -> None:
    dealt_with = []
    with Stoppable(spread(abs, range(-5, 0), 1, ordered=True)) as items:
        for item in items:
            if item == 4:
                os.kill(os.getpid(), signal.SIGINT)
            dealt_with.append(item)
    assert dealt_with == [5, 4]
    assert items.stopped
    with pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGINT)


def test_ctrl_c_ends_a_source_that_is_at_work() -> None:
    def interrupted(item: int) -> int:
        if item == 2:
            os.kill(os.getpid(), signal.SIGINT)
        return item

    with Stoppable(spread(interrupted, range(5), 1, ordered=True)) as items:
        assert list(items) == [0, 1]
    assert items.stopped


# ---------------------------------------------------------------------------------------------------------- provenance


def test_commit_is_that_of_the_checkout(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    package = tmp_path / "slopes_envs" / "__init__.py"
    package.parent.mkdir()
    package.write_text("")
    monkeypatch.setattr(slopes_envs, "__file__", str(package))
    assert provenance.commit() is None
    subprocess.run([*git, "init", "--quiet"], check=True)
    assert provenance.commit() is None  # in a checkout, but none of its files
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "--quiet", "--message", "one"], check=True)
    head = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    assert provenance.commit() == head
    results = tmp_path / "results.json"
    results.write_text("{}")
    subprocess.run([*git, "add", "."], check=True)
    assert provenance.commit() == head  # results are no part of what measures
    package.write_text("changed = True")
    assert provenance.commit() == f"{head}-dirty"
