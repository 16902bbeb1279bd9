"""Control variates: the mean stays, the spread falls."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from helpers import staggered
from numpy.typing import NDArray
from players import Lowest, Skewed
from variants import all_variants, made, variant_id

from slopes_agents import Agent, make_agent
from slopes_agents.learned import HEADER, HEADER_FORMAT, WEIGHTS
from slopes_agents.network import NetworkShape, PolicyNetwork
from slopes_agents.play import AgentFault, play_out
from slopes_agents.weights_file import CheckpointError
from slopes_benchmarks import control, duplicate, variance
from slopes_benchmarks.control import ControlWatch, controlled, corrections, told_probabilities
from slopes_benchmarks.duplicate import Plan, evaluate, evaluated_game, figures, play_chunk
from slopes_benchmarks.keeping import KeptPieces
from slopes_benchmarks.values import NetworkValue, RolloutValue, Value, make_value
from slopes_envs import Game, IllegalAction, InformationSet, State, UnknownName, derive, game_names, make_game

GAME = "slippery_slope"


@pytest.fixture(autouse=True)
def one_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Others may edit the checkout while the tests run; and git takes its time."""
    monkeypatch.setattr(duplicate, "commit", lambda: "0" * 40)


class Scrambled(Value):
    """Numbers that have nothing to do with worth, but hang on all there is, the later deals included."""

    def of(self, state: State) -> NDArray[np.float64]:
        features = self.game.observe_all(state, 0).astype(np.int64)
        weights = np.random.default_rng(6).integers(-50, 51, size=(features.shape[1], self.game.num_players))
        return features @ weights * (1.0 + state.seed[:, None] % np.uint64(8))


class BidKept(Value):
    """In Slippery Slope, the score if no more tricks were taken by anybody."""

    def of(self, state: State) -> NDArray[np.float64]:
        return -np.abs(state.bids.astype(float) - state.tricks)  # type: ignore[attr-defined]


# ----------------------------------------------------------------------------------------------- exactly the same mean


def every_path(
    game: Game[Any, Any], state: State, agent: Agent, value: Value, depth: int
) -> list[tuple[float, NDArray[np.float64], NDArray[np.float64]]]:
    """Each way that one game may go for some moves: its chance, its corrections, and what it is worth at the end."""
    if depth == 0 or state.seat[0] < 0:
        return [(1.0, np.zeros(game.num_players), value.of(state)[0])]
    chances = agent.probabilities(InformationSet(game, state))
    paths = []
    for action in np.flatnonzero(chances[0]):
        taken = np.array([action])
        correction = corrections(game, state, taken, chances, value)[0]
        after = state.copy()
        game.step(after, taken)
        for chance, later, worth in every_path(game, after, agent, value, depth - 1):
            paths.append((chances[0, action] * chance, correction + later, worth))
    return paths


@pytest.mark.parametrize("variant", all_variants(), ids=variant_id)
def test_corrections_have_mean_zero_over_all_that_may_happen(variant: tuple[str, dict[str, Any]]) -> None:
    game = made(variant)
    value, agent = Scrambled(game), Skewed(game)
    checked = 0
    for most in (70, 9):  # in the middle of long matches, and of short ones
        batch = staggered(game, 40, most)
        width = game.legal(batch).sum(axis=1)
        if not (width > 1).any():
            continue
        row = np.where(width > 1, width, width.max() + 1).argmin()  # few actions: few paths
        paths = every_path(game, batch.take(np.array([row])), agent, value, 3 if width[row] < 4 else 2)
        checked += 1
        chances, found, worth = (np.array(column) for column in zip(*paths, strict=True))
        assert chances.sum() == pytest.approx(1)
        assert np.abs(found).max() > 1  # each is far from zero, and so is what they do to single outcomes
        assert chances @ found == pytest.approx(0, abs=1e-9)
        for beta in (1.0, -0.3):
            assert chances @ (worth - beta * found) == pytest.approx(chances @ worth)
    assert checked


def test_a_right_value_takes_out_all_the_luck_of_the_last_choice() -> None:
    game = make_game(GAME, match="hand")
    state = staggered(game, 200, 33)
    state = state.take(np.flatnonzero((state.moves == 27) & (game.legal(state).sum(axis=1) > 1)))  # type: ignore[attr-defined]
    assert len(state) > 1
    agent = Lowest(game)
    finishes = RolloutValue(game, 1, "players:Lowest")  # the others and the seat itself go on so, without chance
    chances = Skewed(game).probabilities(InformationSet(game, state))
    outcomes, expected = [], np.zeros((len(state), 3))
    for action in range(game.num_actions):
        rows = np.flatnonzero(chances[:, action])
        part = state.take(rows)
        taken = np.full(len(rows), action)
        found = corrections(game, part, taken, chances[rows], finishes)
        game.step(part, taken)
        play_out(game, part, [agent], np.zeros((len(part), 3), np.int64))
        expected[rows] += chances[rows, action, None] * part.scores
        outcomes += [(row, score - luck) for row, score, luck in zip(rows, part.scores, found, strict=True)]
    for row, corrected in outcomes:
        assert corrected == pytest.approx(expected[row])


def test_corrections_of_a_choice() -> None:
    game = make_game(GAME, match="hand")
    state = game.new(np.array([1, 2, 3], np.uint64))
    chances = np.zeros((3, game.num_actions))
    chances[0, [2, 5]] = 0.25, 0.75
    chances[1, 4] = 1  # nothing to draw
    chances[2, [0, 1, 2]] = 0.5, 0.25, 0.25

    class Bid(Value):
        def of(self, state: State) -> NDArray[np.float64]:
            return np.maximum(state.bids, 0).astype(float) * [1, 10, 100]  # type: ignore[attr-defined]

    found = corrections(game, state, np.array([5, 4, 1]), chances, Bid(game))
    weight = np.array([1, 10, 100])
    assert found[0, state.seat[0]] == pytest.approx((5 - (0.25 * 2 + 0.75 * 5)) * weight[state.seat[0]])
    assert found[1].tolist() == [0, 0, 0]
    assert found[2, state.seat[2]] == pytest.approx((1 - 0.75) * weight[state.seat[2]])
    assert np.count_nonzero(found) == 2
    with pytest.raises(IllegalAction):
        corrections(game, state, np.array([5, 4, 1]), np.roll(chances, 20, axis=1), Bid(game))


def test_only_agents_that_tell_their_probabilities_are_corrected() -> None:
    game = make_game(GAME, match="hand")
    state = staggered(game, 40, 20)
    seating = np.tile([0, 1, 1], (len(state), 1))
    watch = ControlWatch(game, [Lowest(game), Skewed(game)], seating, np.zeros_like(seating), Scrambled(game))
    before = state.copy()
    watch.before(state, np.arange(len(state)), make_agent("random", game).act(InformationSet(game, state)))
    several = game.legal(state).sum(axis=1) > 1
    assert (watch.sums.any(axis=1) == (several & (state.seat > 0))).all()
    for name in ("hands", "bids", "seat", "move"):
        assert np.array_equal(getattr(state, name), getattr(before, name))


# ----------------------------------------------------------------------------------------------------- probabilities


class Teller(Skewed):
    """Tells something else than it does."""

    def act(self, view: InformationSet) -> NDArray[np.int64]:
        return Skewed(self.game).act(view)

    def probabilities(self, view: InformationSet) -> NDArray[np.float64]:
        return self.told(super().probabilities(view))

    def told(self, true: NDArray[np.float64]) -> NDArray[np.float64]:
        return true


class Short(Teller):
    def told(self, true: NDArray[np.float64]) -> NDArray[np.float64]:
        return true[:, :-1]


class Half(Teller):
    def told(self, true: NDArray[np.float64]) -> NDArray[np.float64]:
        return true / 2


class Negative(Teller):
    def told(self, true: NDArray[np.float64]) -> NDArray[np.float64]:
        return true + np.where(np.arange(true.shape[1]) < 2, [1] + [-1] * (true.shape[1] - 1), 0)


class Sure(Teller):
    def told(self, true: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.eye(true.shape[1])[(true > 0).argmax(axis=1)]


class Everything(Teller):
    def told(self, true: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.full_like(true, 1 / true.shape[1])


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (Short, "probabilities expected shape"),
        (Half, "a sum of 1"),
        (Negative, "none below 0"),
        (Sure, "act chose an action to which its probabilities give no chance"),
        (Everything, "probabilities expected 0 for illegal actions"),
    ],
)
def test_an_agent_that_tells_something_else_than_it_does_is_refused(kind: type[Agent], said: str) -> None:
    game = evaluated_game(GAME, {})
    liar = kind(game)
    with pytest.raises(AgentFault, match=f"{kind.__name__} for {GAME}.*{said}"):
        evaluate(game, liar, "random", 20, 1, value="rollout:times=1")


@pytest.mark.parametrize("game", game_names())
@pytest.mark.parametrize("agent", ["random", "players:Skewed"])
def test_agents_draw_from_what_they_tell(game: str, agent: str) -> None:
    made_game = make_game(game)
    state = staggered(made_game, 5, 30).repeat(2000)
    state.seed = derive(state.seed, np.arange(len(state)) % 2000)  # keys of its own for every copy
    view = InformationSet(made_game, state)
    player = make_agent(agent, made_game)
    actions = player.act(view)
    told = told_probabilities(player, view, actions)
    assert told.sum(axis=1) == pytest.approx(1)
    drawn = np.eye(made_game.num_actions)[actions].reshape(5, 2000, -1).mean(axis=1)
    told = told.reshape(5, 2000, -1)[:, 0]
    assert (np.abs(drawn - told) <= 5 * np.sqrt(told * (1 - told) / 2000)).all()


# ------------------------------------------------------------------------------------------------------- coefficients


def test_coefficient_of_a_deal_hangs_on_other_folds_only() -> None:
    rng = np.random.default_rng(1)
    luck = rng.normal(size=100)
    values = 3 * luck + rng.normal(size=100)
    found = controlled(values, luck)
    other = values.copy()
    here = np.arange(100) % control.FOLDS == 2
    other[here] += 100 * rng.normal(size=here.sum())
    changed = controlled(other, luck)
    assert (changed - other)[here] == pytest.approx((found - values)[here])
    assert not np.allclose((changed - other)[~here], (found - values)[~here])


def test_what_the_control_explains_is_taken_out() -> None:
    rng = np.random.default_rng(2)
    luck, rest = rng.normal(size=(2, 5000))
    assert controlled(2 * luck, luck) == pytest.approx(0, abs=1e-9)
    assert controlled(2 * luck + rest, luck).var() == pytest.approx(1, rel=0.1)
    assert controlled(rest, luck).var() == pytest.approx(1, rel=0.1)  # a useless control does no harm
    assert controlled(rest, np.zeros(5000)).tolist() == rest.tolist()


def test_estimating_the_coefficient_keeps_the_mean() -> None:
    """With few deals and luck that is skewed, a coefficient from the same deals would move the mean."""
    rng = np.random.default_rng(3)
    luck = rng.exponential(size=(6000, 10)) - 1
    values = luck**2
    by_others = np.array([controlled(x, c).mean() for x, c in zip(values, luck, strict=True)])
    centred = luck - luck.mean(axis=1, keepdims=True)
    beta = (centred * values).sum(axis=1) / (centred**2).sum(axis=1)
    by_same = values.mean(axis=1) - beta * luck.mean(axis=1)
    errors = 4 * by_others.std() / np.sqrt(len(luck)), 4 * by_same.std() / np.sqrt(len(luck))
    assert abs(by_others.mean() - 1) < errors[0]
    assert abs(by_same.mean() - 1) > errors[1]


@pytest.mark.parametrize("deals", [2, 3, 6])
def test_few_deals_have_a_controlled_mean(deals: int) -> None:
    assert np.isfinite(controlled(np.arange(deals) * 1.0, np.ones(deals))).all()


# --------------------------------------------------------------------------------------------------------- evaluation


def test_the_mean_stays_and_the_spread_falls() -> None:
    result = evaluate(GAME, "random", "random", 120, 1, value="rollout:times=2")
    found = result["control"]
    assert found["value"] == "rollout:times=2"
    assert set(found["plain"]) == set(found["variance_ratio"])
    for figure in ("difference", "gain", "agent_score", "against_score"):
        plain, with_control = found["plain"][figure], result[figure]
        half = (plain["ci95"][1] - plain["ci95"][0]) / 2
        assert abs(plain["mean"] - with_control["mean"]) < 1.5 * half
        assert found["variance_ratio"][figure] < 0.85
        ratio = ((with_control["ci95"][1] - with_control["ci95"][0]) / 2 / half) ** 2
        assert ratio == pytest.approx(found["variance_ratio"][figure])
    plain = evaluate(GAME, "random", "random", 120, 1)
    for figure, values in found["plain"].items():
        assert values == plain[figure]


def test_controlled_intervals_hold_the_truth_in_95_of_100(monkeypatch: pytest.MonkeyPatch) -> None:
    game = evaluated_game(GAME, {})
    plan = Plan(game, "random", ("random",), 2400, 3, f"{__name__}:BidKept")
    monkeypatch.setattr(duplicate, "CHUNK_DEALS", 1200)
    chunks = [play_chunk(plan, chunk) for chunk in plan.chunks]
    scores = np.concatenate([np.array(chunk.scores) for chunk in chunks])
    controls = np.concatenate([np.array(chunk.controls) for chunk in chunks])
    plain = figures(plan, scores)
    luck = duplicate._linear_figures(plan, controls)
    for figure in ("difference", "gain"):
        parts = zip(np.split(plain[figure], 200), np.split(luck[figure], 200), strict=True)  # type: ignore[arg-type]
        bounds = [duplicate.interval_kind("student")(controlled(*part)) for part in parts]
        assert 176 <= sum(low <= 0 <= high for _, low, high in bounds) <= 198
        error = plain[figure].std() / np.sqrt(2400)  # type: ignore[union-attr]
        assert abs(np.mean([mean for mean, _, _ in bounds])) < 4 * error


@pytest.mark.parametrize("game", game_names())
def test_workers_and_batches_do_not_bear_on_controlled_results(game: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def result(chunk: int) -> dict[str, Any]:
        monkeypatch.setattr(duplicate, "CHUNK_DEALS", chunk)
        found = evaluate(game, "players:Skewed", "players:Lowest", 3, 4, value=f"{__name__}:Scrambled")
        return {key: value for key, value in found.items() if key not in ("seconds", "decisions_per_second")}

    assert result(3) == result(2)


def test_win_shares_are_controlled_too() -> None:
    game = evaluated_game(GAME, {"match": "game", "max_hands": 1})
    result = evaluate(game, "random", "random", 40, 1, value=f"{__name__}:BidKept")
    assert result["win_share"]["mean"] == pytest.approx(1 / 3, abs=0.15)
    assert result["win_share"] != result["control"]["plain"]["win_share"]


def test_agents_without_chance_have_nothing_to_control() -> None:
    result = evaluate(GAME, "players:Lowest", "players:Highest", 8, 1, value="rollout")
    assert result["difference"] == result["control"]["plain"]["difference"]
    assert result["control"]["variance_ratio"]["difference"] == 1
    itself = evaluate(GAME, "players:Lowest", "players:Lowest", 8, 1, value="rollout")
    assert itself["difference"] == {"mean": 0, "ci95": [0, 0]}
    assert itself["control"]["variance_ratio"]["difference"] is None


def test_what_was_kept_without_a_value_does_not_serve_with_one(tmp_path: Path) -> None:
    game = evaluated_game(GAME, {})
    plan = Plan(game, "random", ("random",), 4, 1)
    kept = KeptPieces(tmp_path / "kept", plan.work, resume=False)
    duplicate.run(plan, kept=kept)
    kept.close()
    other = Plan(game, "random", ("random",), 4, 1, "rollout")
    with pytest.raises(ValueError, match="value expected 'rollout', got None"):
        KeptPieces(tmp_path / "kept", other.work, resume=True)


# -------------------------------------------------------------------------------------------------------------- values


def write_network(path: Path, game: Game[Any, Any], seed: int = 1) -> PolicyNetwork:
    torch.manual_seed(seed)
    shape = NetworkShape((8,))
    network = PolicyNetwork(shape, game.observation, game.num_actions)
    weights = {
        (f"features_extractor.{name}" if name.startswith("trunk.") else name): tensor
        for name, tensor in network.state_dict().items()
    }
    stream = io.BytesIO()
    torch.save(weights, stream)
    header = {
        "format": HEADER_FORMAT,
        "game": game.name,
        "features": game.observation.size,
        "actions": game.num_actions,
        "network": shape.as_json(),
    }
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(HEADER, json.dumps(header))
        archive.writestr(WEIGHTS, stream.getvalue())
    return network


def test_value_head_of_a_checkpoint(tmp_path: Path) -> None:
    game = make_game(GAME, max_hands=2)
    network = write_network(tmp_path / "best.zip", game)
    state = staggered(game, 30, 66)
    finished = state.take(np.arange(5))
    play_out(game, finished, [Lowest(game)], np.zeros((5, 3), np.int64))
    state.put(np.arange(5), finished)
    found = make_value(f"ppo:{tmp_path},scale=5", game).of(state)
    for seat in range(3):
        with torch.inference_mode():
            expected = network(torch.from_numpy(game.observe(state, seat)))[1].numpy()
        expected[state.seat < 0] = 0
        assert found[:, seat] == pytest.approx(expected + state.scores[:, seat] / 5, abs=1e-5)
    assert make_value(f"ppo:{tmp_path / 'best.zip'}", game).scale == 1  # type: ignore[attr-defined]


def test_a_sampled_policy_and_its_value_head_serve_each_other(tmp_path: Path) -> None:
    game = evaluated_game(GAME, {})
    write_network(tmp_path / "best.zip", game)
    spec = f"ppo:{tmp_path}"
    sampled, greedy = (
        evaluate(game, f"{spec},mode={mode}", "players:Lowest", 20, 1, value=spec) for mode in ("sample", "greedy")
    )
    assert sampled["difference"] != sampled["control"]["plain"]["difference"]
    assert greedy["difference"] == greedy["control"]["plain"]["difference"]


def test_nearness_to_a_slope() -> None:
    game = make_game("slopes", max_turns=30)
    state = staggered(game, 60, 60)
    found = make_value("distance", game).of(state)
    assert found.sum(axis=1) == pytest.approx(0, abs=1e-12)
    distances = game.observation.decode(game.observe(state, 0))["distance"]
    live = state.seat >= 0
    assert live.any()
    expected = 0.1 ** distances[live, 0] - 0.1 ** distances[live, 1]
    assert found[live, 0] == pytest.approx(expected)
    play_out(game, state, [make_agent("random", game)], np.zeros((60, 2), np.int64))
    assert np.array_equal(make_value("distance", game).of(state), state.scores)
    with pytest.raises(ValueError, match=f"expected a game with slopes to build, got {GAME}"):
        make_value("distance", make_game(GAME))


def test_rollouts_are_a_mean_over_play() -> None:
    game = make_game(GAME, match="hand")
    state = staggered(game, 20, 30)
    before = state.copy()
    found = RolloutValue(game, times=3, agent="players:Lowest").of(state)
    assert np.array_equal(state.hands, before.hands)
    play_out(game, state, [Lowest(game)], np.zeros((20, 3), np.int64))
    assert np.array_equal(found, state.scores)
    several = RolloutValue(game, times=400).of(before.take(np.array([0])))
    assert several[0] == pytest.approx(RolloutValue(game, times=800).of(before.take(np.array([0])))[0], abs=1)
    assert RolloutValue(game).of(before.take(np.zeros(0, np.int64))).shape == (0, 3)


def test_rollouts_do_not_depend_on_their_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    game = make_game(GAME, match="hand")
    state = staggered(game, 20, 30)
    expected = RolloutValue(game).of(state)
    monkeypatch.setattr("slopes_benchmarks.values.ROLLOUT_GAMES", 12)
    assert np.array_equal(RolloutValue(game).of(state), expected)


@pytest.mark.parametrize(
    ("spec", "times", "agent"),
    [
        ("rollout", 4, "random"),
        ("rollout:times=2", 2, "random"),
        ("rollout:agent=players:Lowest", 4, "players:Lowest"),
        ("rollout:times=3,agent=players:Middle", 3, "players:Middle"),
    ],
)
def test_specs_of_rollouts(spec: str, times: int, agent: str) -> None:
    value = make_value(spec, make_game(GAME))
    assert isinstance(value, RolloutValue)
    assert (value.times, value.agent.spec) == (times, agent)


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("rolout", "unknown value 'rolout'; did you mean 'rollout'"),
        ("rollout:times=0", "times expected a whole number of at least 1, got 0"),
        ("rollout:times=many", "times expected a whole number, got 'many'"),
        ("rollout:time=2", "unknown argument of value rollout 'time'; did you mean 'times'"),
        ("rollout:agent=randon", "unknown agent 'randon'"),
        ("ppo", "expected a checkpoint"),
        ("ppo:x.zip,scale=big", "scale expected a number, got 'big'"),
        ("ppo:x.zip,scale=0", "scale expected a number above 0, got 0"),
        ("ppo:x.zip,scal=2", "unknown argument of value ppo 'scal'; did you mean 'scale'"),
        ("no_such_module:Value", "unknown value 'no_such_module:Value'"),
        ("players:NoSuch", "unknown value 'players:NoSuch'"),
        (f"{__name__}:Scrambled:x=1", "value Scrambled: expected no arguments, got 'x=1'"),
    ],
)
def test_values_must_be_known(spec: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        make_value(spec, make_game(GAME))
    with pytest.raises(ValueError, match=said):
        evaluate(GAME, "random", "random", 4, 1, value=spec)


def test_a_checkpoint_of_another_game_is_refused(tmp_path: Path) -> None:
    write_network(tmp_path / "best.zip", make_game(GAME))
    other = next(name for name in game_names() if name != GAME)
    with pytest.raises(CheckpointError, match=f"trained on {GAME}, asked to play {other}"):
        NetworkValue(make_game(other), tmp_path)
    with pytest.raises(UnknownName):
        make_value("x", make_game(GAME))


# -------------------------------------------------------------------------------------------- the variance reduction


def test_reduction_is_that_of_the_variance() -> None:
    rng = np.random.default_rng(5)
    luck = rng.normal(0, 3, size=(800, 1)) * [1, -1]  # of the deal: what one seat has, the other lacks
    single = luck + rng.normal(0, 1, size=(800, 2))
    mean, low, high = variance.reduction(single, single.mean(axis=1))
    assert low < mean < high
    assert low < 10 < high  # 3² + 1² over 1²
    unpaired = rng.normal(size=(800, 4))
    mean, low, high = variance.reduction(unpaired, unpaired.mean(axis=1))
    assert low < 1 < high


def test_a_handful_of_deals_that_differ_tells_no_spread() -> None:
    single = np.full((200, 2), -2.0)
    assert variance.reduction(single, single.mean(axis=1)) is None
    single[:9] = 0
    assert variance.reduction(single, single.mean(axis=1)) is None
    single[:20] = 0
    assert variance.reduction(single, single.mean(axis=1)) is not None


def test_single_differences_average_to_that_of_the_deal() -> None:
    plan = Plan(evaluated_game(GAME, {}), "random", ("players:Lowest",), 30, 1)
    scores = np.array(play_chunk(plan, (0, 30)).scores)
    single = variance.single_differences(plan, scores)
    assert single[0, 0] == scores[0, 0, 0] - scores[0, 0, 1:].mean()
    assert single.mean(axis=1) == pytest.approx(figures(plan, scores)["difference"])


def test_variance_table_is_written_and_grows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(variance.sys, "argv", ["variance", GAME, "--deals", "20"])
    measure = {"players": None, "seed": 1, "workers": 1, "out": tmp_path}
    variance.main([GAME], agents="random,players:Middle", deals=20, value="none", **measure)
    variance.main([GAME], agents="random", deals=30, value="rollout:times=1", **measure)
    rows = json.loads((tmp_path / variance.JSON).read_text())["rows"]
    assert [(row["agent"], row["against"], row["deals"]) for row in rows] == [
        ("players:Middle", "players:Middle", 20),
        ("random", "players:Middle", 20),
        ("random", "random", 30),
    ]
    assert rows[1]["controlled"] is None
    assert rows[2]["controlled"]["mean"] > 0
    assert all(row["command"] == f"python -m slopes_benchmarks.variance {GAME} --deals 20" for row in rows)
    report = (tmp_path / variance.REPORT).read_text()
    assert report == variance.report(rows)
    assert f"| Slippery Slope, 3 players | `random` `random` | 3 | {rows[2]['deviation']:.2f} |" in report
