"""Every numbered rule of a game's manual has a test that names it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from slopes_envs import game_names
from slopes_envs.registry import game_class


@pytest.mark.parametrize("name", game_names())
def test_every_rule_is_tested(name: str) -> None:
    manual = __import__(game_class(name).__module__, fromlist=["x"]).__doc__ or ""
    rules = re.findall(r"^R(\d+)\.", manual, flags=re.MULTILINE)
    assert rules == [str(n) for n in range(1, len(rules) + 1)], "rules are numbered from R1 without gaps"
    tests = (Path(__file__).parent / f"test_{name}.py").read_text(encoding="utf-8")
    named = "".join(re.findall(r"^def test_(\w+)", tests, flags=re.MULTILINE))
    untested = [rule for rule in rules if not re.search(rf"r{rule}(?!\d)", named)]
    assert not untested, f"{name}: no test names rules {untested}"
