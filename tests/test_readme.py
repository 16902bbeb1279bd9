"""The README's promises that can be run: its Python blocks, and the targets of make that it names."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
LONGEST = 15  # lines of a Python block


def python_blocks() -> list[tuple[int, str]]:
    """Number of the first line and text of every Python block."""
    return [
        (README.count("\n", 0, block.start(1)) + 1, block.group(1))
        for block in re.finditer(r"^```python\n(.*?)^```$", README, flags=re.DOTALL | re.MULTILINE)
    ]


def test_there_are_python_blocks() -> None:
    assert len(python_blocks()) >= 3


@pytest.mark.parametrize(("line", "block"), [pytest.param(*each, id=f"line {each[0]}") for each in python_blocks()])
def test_python_block_runs(line: int, block: str) -> None:
    assert len(block.splitlines()) <= LONGEST
    padded = "\n" * (line - 1) + block  # so that a traceback names the README's own line
    exec(compile(padded, "README.md", "exec"), {"__name__": "__main__"})  # noqa: S102 - our own text


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_named_make_targets_exist(page: str) -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE))
    named = re.findall(r"(?:`|\$ )make ([a-z][a-z ]*[a-z])", (ROOT / page).read_text(encoding="utf-8"))
    assert named
    assert {target for words in named for target in words.split()} <= targets


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_links_lead_somewhere(page: str) -> None:
    links = re.findall(r"\]\(([^)#]+)\)", (ROOT / page).read_text(encoding="utf-8"))
    missing = [link for link in links if not link.startswith("https://") and not (ROOT / link).exists()]
    assert not missing
