"""Variants of a configuration, trained with several seeds and compared."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from slopes_benchmarks import ablation
from slopes_benchmarks.ablation import ablate, load_plan
from slopes_training.config import default_config_path, load_config

PLAN = """
config: slippery_slope.yaml
seeds: 2
decisions: 700
set: [games=16, moves=33, "network={layers: [8]}", "evaluation={every: 1000000, deals: 4, opponents: [random]}"]
variants:
  - name: as it is
  - name: own critic
    set: [critic=all]
"""


@pytest.fixture
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(ablation, "DEALS", 30)
    path = tmp_path / "plan.yaml"
    path.write_text(PLAN)
    return path


def test_every_variant_is_trained_with_every_seed_once(plan: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    out, runs = plan.parent / "out", plan.parent / "runs"
    results = ablate(plan, out, runs, told.append)
    assert [text.partition(":")[0] for text in told] == [
        "as it is, seed 0",
        "own critic, seed 0",
        "as it is, seed 1",
        "own critic, seed 1",
    ]
    assert json.loads((out / "plan.json").read_text()) == results
    rows = results["variants"]
    assert {name: sorted(seeds) for name, seeds in rows.items()} == {"as it is": ["0", "1"], "own critic": ["0", "1"]}
    assert rows["as it is"]["0"] != rows["as it is"]["1"] and rows["as it is"]["0"] != rows["own critic"]["0"]
    assert results["cross"].keys() == rows.keys()
    report = (out / "plan.md").read_text()
    assert report.count("| as it is |") == report.count("| own critic |") == 1
    assert "- own critic: `critic=all`" in report
    # What is there is not trained again; what was lost is measured again, and comes to the same.
    monkeypatch.setattr(ablation, "run", lambda *arguments, **options: pytest.fail("trained again"))
    assert ablate(plan, out, runs) == results
    monkeypatch.undo()
    monkeypatch.setattr(ablation, "DEALS", 30)
    (out / "plan.json").unlink()
    again = ablate(plan, out, runs)
    assert again["variants"] == rows and again["cross"] == results["cross"]


def test_results_of_another_configuration_are_not_taken_for_these(plan: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The plan is the same, but the file that it names has changed since."""
    own = plan.parent / "own.yaml"
    own.write_text(default_config_path("slippery_slope").read_text())
    plan.write_text(PLAN.replace("slippery_slope.yaml", "own.yaml"))
    monkeypatch.setattr(ablation, "trained", lambda *arguments: pytest.fail("trained"))
    settings = load_config(own, list(load_plan(plan).set))
    known = ablation._known(plan.parent / "plan.json", load_plan(plan), settings)
    (plan.parent / "plan.json").write_text(json.dumps(known))
    own.write_text(own.read_text().replace("gamma: 1.0", "gamma: 0.9"))
    with pytest.raises(ValueError, match=r"results of another configuration than own\.yaml is now"):
        ablate(plan, plan.parent, plan.parent / "runs")


def test_the_results_that_are_stored_are_those_of_the_plan() -> None:
    folder = Path(ablation.__file__).parent
    (path,) = (folder / "ablations").glob("*_slope.yaml")
    plan = load_plan(path)
    results = json.loads((folder / "results" / "ablation" / f"{path.stem}.json").read_text(encoding="utf-8"))
    settings = load_config(ablation._config(path, plan), list(plan.set))
    assert ablation._known(folder / "results" / "ablation" / f"{path.stem}.json", plan, settings) == results
    assert results["variants"].keys() == {variant.name for variant in plan.variants}
    written = (folder / "results" / "ablation" / f"{path.stem}.md").read_text(encoding="utf-8")
    assert ablation.report(results, plan) == written


def test_plans_that_do_not_fit_are_refused(plan: Path) -> None:
    for old, new, message in (
        ("own critic", "as it is", "different names"),
        ("critic=all", "critic=none", "critic"),
        ("seeds: 2", "seeds: 0", "seeds"),
        ("config: slippery_slope.yaml", "config: nothing.yaml", "no such file"),
        ("decisions: 700", "decisions: 700\nmore: 1", "more"),
    ):
        bad = plan.with_name("bad.yaml")
        bad.write_text(PLAN.replace(old, new))
        with pytest.raises(ValueError, match=message):
            load_plan(bad)
    with pytest.raises(ValueError, match="cannot be read"):
        load_plan(plan.with_name("missing.yaml"))
    (plan.parent / "plan.json").write_text(json.dumps({"plan": {}}))
    shown = CliRunner().invoke(ablation_app(), [str(plan), "--out", str(plan.parent)])
    assert shown.exit_code == 2 and "holds results of another plan" in shown.output


def ablation_app() -> typer.Typer:
    app = typer.Typer()
    app.command()(ablation.main)
    return app
