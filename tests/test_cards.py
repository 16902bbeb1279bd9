"""Model cards: what is measured of a policy that ships, kept, and written down; and learning curves."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from helpers import staggered
from typer.testing import CliRunner

from slopes_agents import make_agent
from slopes_agents.learned import HEADER, read_file
from slopes_agents.network import NetworkShape
from slopes_agents.optimal import EDGE, Amounts, Sight
from slopes_agents.play import play_out, seated
from slopes_agents.weights_file import WEIGHTS_SUFFIX, CheckpointError
from slopes_benchmarks import card_report, card_rows, cards, curves, quickstart
from slopes_benchmarks.bets import CLOSE, Regrets
from slopes_benchmarks.card_report import BEGIN, END, FOLDER, WEIGHTS, card, policies_table, renewed, stored_policies
from slopes_benchmarks.card_rows import (
    AGAINST,
    BETS,
    ONE_OTHER,
    OTHER,
    PARTNER,
    PARTNERS,
    SEARCH,
    SELF,
    Policy,
    Row,
    play_piece,
    play_row,
    play_rows,
    ratio,
    read_stored,
    rows_of,
    teams_with,
)
from slopes_benchmarks.duplicate import Interrupted, Plan, evaluate, evaluated_game
from slopes_benchmarks.markdown import between
from slopes_envs import Game, InformationSet, game_names, make_game, match_seed
from slopes_training import ship
from slopes_training.policies import SelfPlayPolicy
from slopes_training.selfplay import SelfPlayMaskablePPO
from slopes_training.tables import SelfPlayEnv, Tables
from slopes_training.train import CONFIG, LOG

ROOT = Path(__file__).parents[1]
GAME, SAM = "slippery_slope", "slippery_sam"
VARIANTS: dict[str, Sequence[dict[str, Any]]] = {
    "sluff": ({"num_players": 4}, {"num_players": 6}),
    "sloppy_seconds": ({"num_players": 3}, {"num_players": 4}),
}
SEED, DEALS = 100, 4
LIMITS = "\n".join(f'{name} = ["It has not learned anything."]' for name in game_names())


def write_checkpoint(folder: Path, name: str, seed: int) -> Path:
    match = {} if name == "slopes" else {"match": "hand"}
    games = [make_game(name, **match, **rules) for rules in VARIANTS.get(name, ({},))]
    model = SelfPlayMaskablePPO(
        SelfPlayPolicy,
        SelfPlayEnv([Tables(game, 4, seed=seed, first=4 * place) for place, game in enumerate(games)]),
        network=NetworkShape((8,)),
        reward_scale=5.0,
        provenance={"command": f"slopes train {name} --seed {seed}", "commit": "0" * 40},
        seed=seed,
        device="cpu",
    )
    model.trained_seconds = 5400.0
    model.save(folder / "best.zip")
    return folder


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Weights and a checkpoint of another seed for some games, in ``weights/`` and ``GAME/``."""
    root = tmp_path_factory.mktemp("policies")
    (root / "weights").mkdir()
    (root / "weights" / card_report.LIMITS).write_text(LIMITS)
    for name in game_names():
        ship.ship(write_checkpoint(root / "first", name, 1), root / "weights" / f"{name}{WEIGHTS_SUFFIX}")
        write_checkpoint(root / name, name, 2)
    return root


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small pieces, and a commit that does not change while the tests run."""
    monkeypatch.setattr(card_rows, "CHUNK_DEALS", 2)
    monkeypatch.setattr(card_rows, "commit", lambda: "a" * 40)


def policy_of(made: Path, name: str = GAME) -> Policy:
    return Policy.of(made / "weights" / f"{name}{WEIGHTS_SUFFIX}")


def rows_for(made: Path, name: str = GAME, **options: Any) -> list[Row]:
    return rows_of(policy_of(made, name), **{"deals": DEALS, "seed": SEED, **options})


def only(kind: str, rows: list[Row]) -> Row:
    return next(row for row in rows if row.kind == kind)


# -------------------------------------------------------------------------------------------------------------- rows


def test_the_rows_of_every_game(made: Path) -> None:
    counts = {}
    for name in game_names():
        rows = rows_for(made, name, others=[Policy.of(made / name)])
        counts[name] = {kind: sum(row.kind == kind for row in rows) for kind in dict.fromkeys(row.kind for row in rows)}
        places = [card_rows.place_of(row.key) for row in rows]
        assert len(set(places)) == len(places)
        for row in rows:
            assert row.key == json.loads(json.dumps(row.key))
            mixed = str(made / name) in str(row.key["line_ups"])
            assert set(row.weights) == ({"policy", "seed 2"} if mixed else {"policy"})
    assert counts == {
        "slippery_slope": {AGAINST: 4, SELF: 1, OTHER: 1, ONE_OTHER: 1},
        "sloppy_seconds": {AGAINST: 8, SELF: 2, OTHER: 2, ONE_OTHER: 2},
        "sluff": {AGAINST: 8, SELF: 2, OTHER: 2, PARTNER: 8},
        "slopes": {AGAINST: 3, SELF: 1, OTHER: 1},
        "slippery_sam": {AGAINST: 5, SELF: 1, OTHER: 1, ONE_OTHER: 1, BETS: 4},
    }


def test_search_has_rows_of_its_own(made: Path) -> None:
    policy = policy_of(made)
    search = f"search:{policy.spec},worlds=1"
    found = [row for row in rows_for(made, searches=[search], search_deals=2) if row.kind == SEARCH]
    assert [row.key["line_ups"] for row in found] == [[[search, "heuristic"]], [[search, policy.spec]]]
    assert [row.total for row in found] == [2, 2]


def test_deals_of_training_are_refused(made: Path) -> None:
    with pytest.raises(ValueError, match="seed 1: expected another than that of training"):
        rows_for(made, seed=1)
    with pytest.raises(ValueError, match="seed 2: expected another than that of training"):
        rows_for(made, seed=2, others=[Policy.of(made / GAME)])
    with pytest.raises(ValueError, match="expected policies of different seeds, got 1, 1"):
        rows_for(made, others=[policy_of(made)])


def test_a_policy_is_told_by_its_numbers(made: Path, tmp_path: Path) -> None:
    policy = policy_of(made)
    shutil.copy(policy.path, tmp_path / "copy.slopes")
    copied = Policy.of(tmp_path / "copy.slopes")
    assert copied.digest == policy.digest != Policy.of(made / GAME).digest
    assert (policy.seed, policy.parameters) == (1, 460 * 8 + 8 + 8 * 41 + 41 + 8 + 1)
    assert policy.as_json()["provenance"]["trained_seconds"] == 5400
    with pytest.raises(CheckpointError, match="there is no such file"):
        Policy.of(tmp_path / "none.slopes")


def test_a_row_is_what_slopes_evaluate_finds(made: Path, few: None, tmp_path: Path) -> None:
    row = rows_for(made)[0]
    found = play_row(row, tmp_path / "playing", None)
    plan = row.plans[0]
    expected = evaluate(plan.game, plan.agent, plan.against, DEALS, SEED)
    for name in ("difference", "gain", "agent_score", "against_score"):
        assert found[name]["mean"] == pytest.approx(expected[name]["mean"], abs=1e-12)
        assert found[name]["ci95"] == pytest.approx(expected[name]["ci95"], abs=1e-12)
    for name, groups in expected["metrics"].items():
        for group, mean in groups.items():
            assert found["metrics"][name][group]["mean"] == pytest.approx(mean, abs=1e-12)
    state = plan.game.new(match_seed(SEED, np.arange(DEALS)))
    play_out(plan.game, state, [make_agent("heuristic", plan.game)], seated(np.zeros(3), DEALS))
    assert found["deviation"] == pytest.approx(state.scores.std(ddof=1))
    assert found["commits"] == [None] and not (tmp_path / "playing").exists()


def test_self_play_fills_all_seats(made: Path, few: None, tmp_path: Path) -> None:
    row = only(SELF, rows_for(made))
    found = play_row(row, tmp_path / "playing", None)
    assert found["deals"] == row.total == 4 * DEALS  # as many tables as the others have
    policy, game = policy_of(made), row.game
    state = game.new(match_seed(SEED, np.arange(row.total)))
    play_out(game, state, [make_agent(policy.spec, game)], seated(np.zeros(3), row.total))
    assert found["agent_score"]["mean"] == pytest.approx(state.scores.mean())
    made_share = found["metrics"]["bid_made"]
    assert made_share["agent"]["mean"] == pytest.approx((state.bids == state.tricks).mean())
    assert made_share["against"] is None
    assert "difference" not in found and found["decisions"] == row.total * 33


def test_whole_matches_have_a_win_share() -> None:
    game = evaluated_game(GAME, {"match": "game", "max_hands": 2})
    row = Row(AGAINST, (Plan(game, "greedy", ("random",), 4, SEED),), {"policy": ""})
    found = card_rows.scores_found(row, [play_piece(row, (0, 0, 4))])
    expected = evaluate(game, "greedy", "random", 4, SEED)
    assert found["win_share"] == expected["win_share"] and found["difference"] == expected["difference"]


def test_a_ratio_allows_for_different_numbers() -> None:
    sums, counts = np.array([3.0, 0.0, 1.0, 2.0]), np.array([4.0, 1.0, 2.0, 2.0])
    found = ratio(sums, counts)
    assert found is not None and found.mean == pytest.approx(6 / 9)
    errors = (sums - found.mean * counts) / counts.mean()
    assert found.high - found.mean == pytest.approx(3.182446 * errors.std(ddof=1) / 2)
    assert ratio(np.zeros(3), np.zeros(3)) is None


# ---------------------------------------------------------------------------------------------------------- partners


def test_partners_sit_in_their_own_seats() -> None:
    game = make_game("sluff", num_players=6, match="hand")
    agent = make_agent(f"{PARTNERS}players:Lowest|players:Highest|players:Middle", game)
    singles = [make_agent(f"players:{name}", game) for name in ("Lowest", "Highest", "Middle")]
    state = staggered(game, 60, 20)
    view = InformationSet(game, state)
    expected = np.choose(view.seats // 2, [single.act(view) for single in singles])
    assert np.array_equal(agent.act(view), expected)
    assert len(set(view.seats.tolist())) == 6
    with pytest.raises(ValueError, match="expected 3 partners, got 2"):
        make_agent(f"{PARTNERS}random|random", game)


def test_the_policy_takes_every_seat_of_its_team() -> None:
    game = make_game("sluff", num_players=6)
    assert teams_with("a", "b", game) == [f"{PARTNERS}a|b|b", f"{PARTNERS}b|a|b", f"{PARTNERS}b|b|a"]


def test_line_ups_are_averaged(tmp_path: Path, few: None) -> None:
    game = make_game("sluff", match="hand")
    specs = [f"{PARTNERS}players:Lowest|players:Highest", f"{PARTNERS}players:Highest|players:Lowest"]
    plans = [Plan(game, spec, ("random",), DEALS, SEED) for spec in specs]
    found = play_row(Row(PARTNER, tuple(plans), {"policy": ""}), tmp_path / "playing", None)
    each = [evaluate(game, spec, "random", DEALS, SEED) for spec in specs]
    assert found["difference"]["mean"] == pytest.approx(np.mean([one["difference"]["mean"] for one in each]))
    expected = np.mean([one["metrics"]["team_bid_made"]["agent"] for one in each])
    assert found["metrics"]["team_bid_made"]["agent"]["mean"] == pytest.approx(expected)


# -------------------------------------------------------------------------------------------------------------- bets


def betting_views(game: Game[Any, Any]) -> InformationSet:
    state = staggered(game, 200, 30)
    state = state.take(np.flatnonzero(state.seat >= 0))
    return InformationSet(game, state.take(np.flatnonzero(~Sight(InformationSet(game, state)).staking)))


@pytest.mark.parametrize("rules", [{}, {"fee": 1}, {"bet_levels": "all"}, {"bet_levels": (0.25, 0.5)}])
def test_regrets_of_all_actions(rules: dict[str, Any]) -> None:
    game = make_game(SAM, **{"num_players": 4, **rules})
    view = betting_views(game)
    regrets = Regrets(game, len(view))
    turns = Sight(view).turns(Amounts(game.rules))
    found = np.full(view.legal.shape, np.inf)
    for action in range(game.num_actions):
        rows = np.flatnonzero(view.legal[:, action])
        if not len(rows):
            continue
        regret, bank = regrets.of(view.take(rows), np.full(len(rows), action))
        assert (regret >= 0).all() and np.array_equal(bank, turns.bank[rows])
        found[rows, action] = regret
    best = turns.choices().max(axis=0)
    assert found.min(axis=1) == pytest.approx(0, abs=1e-8)
    chosen = make_agent("optimal", game).act(view)
    assert found[np.arange(len(view)), chosen] == pytest.approx(0, abs=1e-8)
    for row, action in zip(*np.nonzero(view.legal), strict=True):
        name = view.action_name(int(row), int(action)).split()
        if name[0] == "bet":
            worth = int(name[1]) * EDGE[turns.unseen[row], turns.better[row]]
        elif name[0] == "pass":
            worth = 0.0
        else:
            one = turns.take(np.array([row]))
            worth = one.redraw_worth(int(one.redraws[0]))[0]
        assert found[row, action] == pytest.approx(best[row] - worth, abs=1e-8)


def test_bets_are_summed_up_by_match() -> None:
    game = make_game(SAM, num_players=3, rounds=1)
    for spec in ("optimal", "random"):
        state = game.new(match_seed(SEED, np.arange(12)))
        watch = Regrets(game, 12)
        play_out(game, state, [make_agent(spec, game)], seated(np.zeros(3), 12), watches=[watch])
        assert (watch.decisions > 0).all()
        if spec == "optimal":
            assert np.array_equal(watch.close, watch.decisions)
            assert watch.regret == pytest.approx(0, abs=1e-9)
        else:
            assert watch.close.sum() < watch.decisions.sum()
            assert watch.regret.sum() > CLOSE * (watch.decisions - watch.close).sum()
    with pytest.raises(ValueError, match="plays slippery_sam alone, got slopes"):
        Regrets(make_game("slopes"), 1)


def test_the_row_of_bets(few: None, tmp_path: Path) -> None:
    game = make_game(SAM, num_players=3, match="hand")
    row = Row(BETS, (Plan(game, "optimal", ("optimal",), DEALS, SEED),), {"policy": ""})
    found = play_row(row, tmp_path / "playing", None)
    assert found["close"] == {"mean": 1.0, "ci95": [1.0, 1.0]}
    assert found["regret"]["mean"] == pytest.approx(0, abs=1e-9)
    assert found["deals"] == 4 * DEALS and 0 < found["bets"] <= 2 * 4 * DEALS * 4
    assert "metrics" not in found and "scores" not in found


# ------------------------------------------------------------------------------------------------------ what is kept


def two_rows(made: Path) -> list[Row]:
    rows = rows_for(made)
    return [rows[2], only(SELF, rows)]  # against random, and in all seats


def test_what_is_finished_is_not_played_again(
    made: Path, few: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy, rows = policy_of(made), two_rows(made)
    whole = play_rows(policy, rows, tmp_path / "whole", command="x")
    content = (tmp_path / "whole" / f"{GAME}.json").read_bytes()
    assert json.loads(content) == whole
    pieces: list[tuple[int, int, int]] = []

    def counted(row: Row, item: tuple[int, int, int]) -> Any:
        pieces.append(item)
        if len(pieces) == 2:
            raise KeyboardInterrupt
        return play_piece(row, item)

    monkeypatch.setattr(card_rows, "play_piece", counted)
    with pytest.raises(Interrupted):
        play_rows(policy, rows, tmp_path / "parts", command="x")
    play_rows(policy, rows, tmp_path / "parts", command="x")
    assert pieces[:3] == [(0, 0, 2), (0, 2, 4), (0, 2, 4)]  # the first piece was kept
    assert (tmp_path / "parts" / f"{GAME}.json").read_bytes() == content
    assert [path.name for path in (tmp_path / "parts").iterdir()] == [f"{GAME}.json"]
    count = len(pieces)
    play_rows(policy, rows[:1], tmp_path / "parts", command="y")
    assert len(pieces) == count and (tmp_path / "parts" / f"{GAME}.json").read_bytes() == content


def test_other_deals_and_other_weights_are_played_anew(made: Path, few: None, tmp_path: Path) -> None:
    policy, rows = policy_of(made), two_rows(made)
    before = play_rows(policy, rows, tmp_path)
    more = rows_for(made, deals=2)[2]
    after = play_rows(policy, [more], tmp_path)["rows"]
    assert [row["deals"] for row in after] == [2, 4 * DEALS] and after[1] == before["rows"][1]
    ours = rows_of(Policy.of(made / GAME), deals=2, seed=SEED)[2]
    changed = play_rows(Policy.of(made / GAME), [ours], tmp_path)
    assert len(changed["rows"]) == 1 and changed["policy"]["digest"] == Policy.of(made / GAME).digest


@pytest.mark.slow
def test_workers_do_not_bear_on_the_file(made: Path, few: None, tmp_path: Path) -> None:
    policy, rows = policy_of(made), two_rows(made)
    for name, workers in (("one", 1), ("two", 2)):
        play_rows(policy, rows, tmp_path / name, workers=workers)
    one, two = ((tmp_path / name / f"{GAME}.json").read_bytes() for name in ("one", "two"))
    assert one == two


# ----------------------------------------------------------------------------------------------- command, card, README


def by_hand(*arguments: object) -> Any:
    app = typer.Typer()
    app.command()(cards.main)
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def cheap(few: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Opponents that take no time."""
    for module in (card_rows, card_report):
        monkeypatch.setattr(module, "USUAL_OPPONENT", "greedy")
    monkeypatch.setattr(card_rows, "OPPONENTS", ("greedy", "random"))


@pytest.fixture
def readme(tmp_path: Path) -> Path:
    path = tmp_path / "README.md"
    path.write_text(f"before\n\n{BEGIN}\n{END}\n\nafter\n")
    return path


def test_the_command(made: Path, cheap: None, readme: Path, tmp_path: Path) -> None:
    folder = tmp_path / "weights"
    shutil.copytree(made / "weights", folder)
    out = tmp_path / "out"
    usual = (GAME, "--weights", folder, "--out", out, "--readme", readme, "--deals", 2)
    done = by_hand(*usual, "--other", made / GAME, "--seconds", 0.01)
    assert done.exit_code == 0, done.output
    stored = read_stored(out, GAME)
    assert [row["kind"] for row in stored.results["rows"]] == [AGAINST, AGAINST, SELF, OTHER, ONE_OTHER, AGAINST]
    assert stored.timings["decisions_per_second"] > 0 and stored.timings["ms_alone"] > 0
    page = (folder / f"{GAME}.md").read_text()
    assert page == card(stored, ["It has not learned anything."])
    for text in (
        "- **command**: `slopes train slippery_slope --seed 1`",
        "- **time**: 1.50 hours",
        "- **network**: hidden layers of 8;",
        f"{stored.results['policy']['bytes']:,} bytes",
        f"python -m slopes_benchmarks.cards {GAME} --deals 2 --seed 100 --other {made / GAME}",
        "### 3 players, single hands",
        "### 3 players, whole matches",
        "| the policy | policy of seed 2 |",
        "| policy of seed 2 | the policy |",
        "decisions a second with 1,024 games at once",
        "- It has not learned anything.",
    ):
        assert text in page
    before, inside, after = between(readme.read_text(), BEGIN, END)
    assert (before, after) == ("before\n\n", "\n\nafter\n")
    assert inside.strip() == policies_table(stored_policies(out), out)
    assert "[Slippery Slope](agents/weights/slippery_slope.md), 3 players" in inside and "of bids made" in inside
    again = by_hand(*usual[:-2], "--report-only", "--limits", folder / "limits.toml")
    assert again.exit_code == 0 and (folder / f"{GAME}.md").read_text() == page


def test_a_card_tells_with_what_a_run_began(made: Path) -> None:
    header = read_file(made / "weights" / f"{GAME}{WEIGHTS_SUFFIX}")[0]
    first = {"command": "slopes train first", "decisions": 1234567, "trained_seconds": 1800, "commit": "b" * 40}
    second = {"command": "slopes train second", "commit": "c" * 40, "start": first}
    told = header["provenance"] | {"start": second}
    facts = card_report._facts(header | {"provenance": told, "features": 9, "parameters": 1, "numbers": "", "bytes": 1})
    assert (
        "- **begun with**: the policy of `slopes train second` (decisions: unknown; time: unknown; commit cccccccccccc)"
        ", begun with the policy of `slopes train first` (decisions: 1,234,567; time: 0.50 hours, evaluations left out"
        "; commit bbbbbbbbbbbb)\n"
    ) in facts
    assert "- **time**: 1.50 hours, evaluations left out, besides those of what it was begun with\n" in facts


@pytest.mark.slow
def test_cards_of_all_games(made: Path, cheap: None, readme: Path, tmp_path: Path) -> None:
    folder, out = tmp_path / "weights", tmp_path / "out"
    shutil.copytree(made / "weights", folder)
    done = by_hand("--weights", folder, "--out", out, "--readme", readme, "--deals", 2, "--seconds", 0)
    assert done.exit_code == 0, done.output
    assert [results["game"] for results, _ in stored_policies(out)] == list(game_names())
    assert "the policy, its partners `greedy`" in (folder / "sluff.md").read_text()
    assert "fee 1, whole matches" in (folder / f"{SAM}.md").read_text()
    inside = between(readme.read_text(), BEGIN, END)[1]
    assert "Sluff](agents/weights/sluff.md), 6 players" in inside
    assert "of bets within 0.1 % of the bank of the best" in inside and "% [" in inside and "of matches" in inside
    (out / f"{GAME}.png").write_bytes(b"")
    assert f"]({(FOLDER / GAME).as_posix()}.png)" in renewed(readme.read_text(), stored_policies(out), out)


def test_what_the_command_refuses(made: Path, readme: Path, tmp_path: Path) -> None:
    folder = made / "weights"
    usual = ("--weights", folder, "--out", tmp_path / "out", "--readme", readme)
    wrong = tmp_path / "wrong.toml"
    wrong.write_text(f'{GAME} = "one"')
    for arguments, message in (
        (("slopp", *usual), "unknown game 'slopp'"),
        ((GAME, "--weights", tmp_path), "there is no such file"),
        (("--weights", tmp_path), "expected weights of a game, found none"),
        ((GAME, *usual, "--seed", 1), "expected another than that of training"),
        ((GAME, *usual, "--other", made / "slopes"), "a policy of another game"),
        ((GAME, *usual, "--other", made / "nothing"), "there is no such file"),
        ((GAME, *usual, "--search", "search:heuristic"), "expected a learned policy"),
        ((GAME, *usual, "--limits", tmp_path / "none.toml"), "expected what the policy does not do well"),
        ((GAME, *usual, "--limits", wrong), "expected what the policy does not do well"),
        ((GAME, *usual, "--readme", wrong), "expected the marks"),
        ((GAME, *usual, "--report-only"), "nothing is stored of these weights"),
    ):
        refused = by_hand(*arguments)
        assert refused.exit_code == 2 and message in refused.output, (arguments, refused.output)
    assert not (tmp_path / "out").exists()


def test_readme_and_stored_results_agree() -> None:
    """The README and the cards publish no figures of policies but those of the stored results."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    policies = stored_policies(ROOT / FOLDER)
    assert renewed(text, policies, ROOT / FOLDER) == text
    for stored in policies:
        game = stored.results["game"]
        limits = card_report.read_limits(ROOT / WEIGHTS / card_report.LIMITS, game)
        assert (ROOT / WEIGHTS / f"{game}.md").read_text(encoding="utf-8") == card(stored, limits)
        policy = Policy.of(ROOT / WEIGHTS / f"{game}{WEIGHTS_SUFFIX}")
        assert policy.as_json() == stored.results["policy"]


def test_every_policy_that_ships_has_a_card() -> None:
    shipped = {path.stem for path in (ROOT / WEIGHTS).glob(f"*{WEIGHTS_SUFFIX}")}
    assert shipped == {path.stem for path in (ROOT / WEIGHTS).glob("*.md")}


SHIPPED = sorted(path.stem for path in (ROOT / WEIGHTS).glob("*.slopes"))


@pytest.mark.parametrize("name", SHIPPED)
def test_what_is_not_done_well_is_told(name: str) -> None:
    assert all(text.endswith(".") for text in card_report.read_limits(ROOT / WEIGHTS / card_report.LIMITS, name))


# ----------------------------------------------------------------------------------------------- seconds of training


def test_weights_tell_how_long_training_took(tmp_path: Path) -> None:
    checkpoint = write_checkpoint(tmp_path, GAME, 1) / "best.zip"
    with zipfile.ZipFile(checkpoint) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    header = json.loads(members[HEADER])
    assert header["provenance"].pop("trained_seconds") == 5400
    members[HEADER] = json.dumps(header).encode()  # as an earlier version wrote it
    for name, data, expected in (("a", members["data"], 5400), ("b", b"{}", None)):
        with zipfile.ZipFile(tmp_path / f"{name}.zip", "w") as archive:
            for member, content in {**members, "data": data}.items():
                archive.writestr(member, content)
        shipped = ship.ship(tmp_path / f"{name}.zip", tmp_path / f"{name}.slopes")
        assert shipped["header"]["provenance"].get("trained_seconds") == expected


# ------------------------------------------------------------------------------------------------------------ curves


def write_run(folder: Path, seed: int, *, game: str = GAME, points: int = 3) -> Path:
    folder.mkdir()
    (folder / CONFIG).write_text(f"game: {game}\nrules: {{match: hand}}\nseed: {seed}\n")
    lines = ["decisions,train/loss,eval/random,eval/random_error,eval/heuristic,eval/heuristic_error"]
    for number in range(points):
        lines += [f"{1000 * number + 500},0.5,,,,", f"{1000 * number + 1000},0.5,{number},0.1,{number - 2},0.2"]
    (folder / LOG).write_text("\n".join(lines) + "\n")
    return folder


def test_curves_of_several_runs(tmp_path: Path) -> None:
    runs = [write_run(tmp_path / name, seed) for name, seed in (("a", 0), ("b", 1))]
    assert curves.read_curves(runs[0] / LOG)["heuristic"] == [(1000, -2, 0.2), (2000, -1, 0.2), (3000, 0, 0.2)]
    assert quickstart.curves.read_curves is curves.read_curves
    figure = curves.picture(runs)
    assert [axes.get_title() for axes in figure.axes] == ["against random", "against heuristic"]
    drawn = figure.axes[1].containers
    assert [container.get_label() for container in drawn] == ["seed 0", "seed 1"]
    line, _, (bars,) = drawn[0]
    assert line.get_xdata().tolist() == [0.001, 0.002, 0.003] and line.get_ydata().tolist() == [-2, -1, 0]
    low, high = bars.get_segments()[0][:, 1]
    assert (low, high) == pytest.approx((-2 - 1.96 * 0.2, -2 + 1.96 * 0.2))
    same = write_run(tmp_path / "c", 0)
    assert [container.get_label() for container in curves.picture([runs[0], same]).axes[0].containers] == ["a", "c"]


def test_the_command_for_curves(tmp_path: Path) -> None:
    app = typer.Typer()
    app.command()(curves.main)

    def drawn(*runs: Path) -> Any:
        return CliRunner().invoke(app, [*map(str, runs), "--out", str(tmp_path / "pictures" / "a.png")])

    first = write_run(tmp_path / "a", 0)
    assert drawn(first).exit_code == 0
    assert (tmp_path / "pictures" / "a.png").read_bytes().startswith(b"\x89PNG")
    for runs, message in (
        ([tmp_path / "none"], "expected the folder of a run"),
        ([first, write_run(tmp_path / "b", 1, game="sluff")], "expected runs of one game, got slippery_slope, sluff"),
        ([first, write_run(tmp_path / "c", 1, points=0)], "there is no evaluation in it yet"),
    ):
        refused = drawn(*runs)
        assert refused.exit_code == 2 and message in refused.output
