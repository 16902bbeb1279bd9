"""A file imports only from rooms to its left."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = {
    "slopes_envs": "slopes_envs",
    "agents": "slopes_agents",
    "training": "slopes_training",
    "benchmarks": "slopes_benchmarks",
}
ROOMS = [
    {"errors", "files"},
    {"chance", "specs"},
    {"cards", "seats"},
    {"tricks", "features", "worlds"},
    {"game"},
    {"games"},
    {"registry", "options"},
    {"infoset", "records", "aec", "vector"},
    {"slopes_envs"},  # the package itself, and PettingZoo's versioned modules
    {"slopes_agents"},
    {"slopes_training"},
    {"slopes_benchmarks"},
]
REACHES_EVERYWHERE = {"slopes_envs/cli.py"}


def _room(module: str) -> int | None:
    """Number of the room that a module is in; None for what is not ours."""
    parts = module.split(".")
    if parts[0] not in PACKAGES.values():
        return None
    if parts[0] != "slopes_envs":
        return next(number for number, room in enumerate(ROOMS) if parts[0] in room)
    name = parts[1] if len(parts) > 1 and not parts[1].endswith("_v0") else "slopes_envs"
    return next(number for number, room in enumerate(ROOMS) if name in room)


def _imports(path: Path, module: str) -> list[str]:
    package = module.split(".") if path.name == "__init__.py" else module.split(".")[:-1]
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            name = ".".join([*base, *([node.module] if node.module else [])])
            found += [name] if node.module else [f"{name}.{alias.name}" for alias in node.names]
    return found


def _files() -> list[tuple[Path, str]]:
    files = []
    for folder, package in PACKAGES.items():
        for path in sorted((ROOT / folder).rglob("*.py")):
            inner = path.relative_to(ROOT / folder).with_suffix("").parts
            inner = inner[:-1] if inner[-1] == "__init__" else inner
            files.append((path, ".".join([package, *inner])))
    return [(path, name) for path, name in files if str(path.relative_to(ROOT)) not in REACHES_EVERYWHERE]


@pytest.mark.parametrize(("path", "module"), _files(), ids=[name for _, name in _files()])
def test_imports_come_from_the_left(path: Path, module: str) -> None:
    here = _room(module)
    assert here is not None
    for imported in _imports(path, module):
        there = _room(imported)
        assert there is None or there <= here, f"{module} imports {imported}"


def test_games_do_not_know_each_other() -> None:
    for path in sorted((ROOT / "slopes_envs" / "games").glob("[a-z]*.py")):
        for imported in _imports(path, f"slopes_envs.games.{path.stem}"):
            assert not imported.startswith("slopes_envs.games."), f"{path.name} imports {imported}"
