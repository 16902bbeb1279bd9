"""The examples in docstrings."""

import doctest
import importlib
import pkgutil

import pytest

import slopes_agents
import slopes_envs

MODULES = [
    module.name
    for package in (slopes_envs, slopes_agents)
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + ".")
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0
