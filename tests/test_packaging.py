"""What is declared in pyproject.toml against what is in the tree."""

import re
import tomllib
from importlib.metadata import entry_points, version
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
FOLDERS: dict[str, str] = PYPROJECT["tool"]["setuptools"]["package-dir"]


def test_every_package_is_listed() -> None:
    found = {
        ".".join([name, *init.parent.relative_to(ROOT / folder).parts])
        for name, folder in FOLDERS.items()
        for init in (ROOT / folder).rglob("__init__.py")
    }
    assert found == set(PYPROJECT["tool"]["setuptools"]["packages"])


@pytest.mark.parametrize("folder", FOLDERS.values())
def test_packages_are_marked_as_typed(folder: str) -> None:
    assert (ROOT / folder / "py.typed").exists()


def test_one_version() -> None:
    declared = PYPROJECT["project"]["version"]
    released = re.findall(r"^## \[(\d[^]]*)\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    cited = re.findall(r"^version: (.*)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    assert version("slopes-envs") == declared
    assert released[0] == declared
    assert cited == [declared]


def test_constraints_pin_every_requirement() -> None:
    project = PYPROJECT["project"]
    wanted = {
        re.split(r"[^\w.-]", requirement)[0].lower()
        for extra, requirements in {"": project["dependencies"], **project["optional-dependencies"]}.items()
        if extra != "rllib"  # installed by those who ask for it, never by make
        for requirement in requirements
    } - {"slopes-envs"}
    pins = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    assert wanted == {name.lower() for name in re.findall(r"^([\w.-]+)==", pins, re.MULTILINE)}


@pytest.mark.parametrize("agent", sorted(PYPROJECT["project"]["entry-points"]["slopes.agents"]))
def test_agents_can_be_loaded(agent: str) -> None:
    (entry,) = entry_points(group="slopes.agents", name=agent)
    assert callable(entry.load())


def test_the_command_can_be_loaded() -> None:
    (entry,) = entry_points(group="console_scripts", name="slopes")
    assert callable(entry.load())
