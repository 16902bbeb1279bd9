"""PettingZoo's own conformance tests, over every game, wrapped and bare."""

import warnings
from importlib import import_module

import pytest
from pettingzoo.test import api_test
from slopes_envs import game_names, make_game

# What api_test says of every environment whose observation is a Dict and that is not on the list of names it carries,
# and of masks in the steps by which agents leave.
NOT_ABOUT_US = [
    "Observation is not a NumPy array",
    "Observation space for each agent probably should be gymnasium.spaces.box or gymnasium.spaces.discrete",
    "Action mask numpy array is all zeros",
]

DOORS = ["env", "raw_env"]
# Options that shorten a match, of which each game has one.
SHORTENING = ("max_hands", "max_turns", "rounds")

# Modules, because functions of the same names hide them in pettingzoo.test.
seed_tests = import_module("pettingzoo.test.seed_test")
state_tests = import_module("pettingzoo.test.state_test")

pytestmark = pytest.mark.parametrize("name", game_names())


def module_of(name):
    return import_module(f"slopes_envs.{name}_v{make_game(name).version}")


def shortest(name):
    rules = make_game(name).rules
    return {option: 1 for option in SHORTENING if hasattr(rules, option)}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("rules", [{}, {"match": "hand"}, {"reward": "win"}], ids=str)
def test_api(name, door, rules):
    with warnings.catch_warnings():
        for message in NOT_ABOUT_US:
            warnings.filterwarnings("ignore", message)
        api_test(getattr(module_of(name), door)(**rules), num_cycles=1000)


@pytest.mark.parametrize("door", DOORS)
def test_api_over_many_short_matches(name, door):
    table = getattr(module_of(name), door)(**shortest(name))
    with warnings.catch_warnings():
        for message in NOT_ABOUT_US:
            warnings.filterwarnings("ignore", message)
        for _ in range(10):
            api_test(table, num_cycles=1000)


@pytest.mark.parametrize("door", DOORS)
def test_seed(name, door):
    seed_tests.seed_test(getattr(module_of(name), door), num_cycles=10_000)  # to the end of the match


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("seed", range(12))
def test_seed_over_many_seeds(name, door, seed, monkeypatch):
    """The same test, which knows one seed only, with others: its reset is led to ours."""
    make = getattr(module_of(name), door)
    resets = []

    def make_and_redirect():
        table = make(**shortest(name))
        reset = table.reset

        def redirected(seed_of_test):
            resets.append(seed_of_test)
            reset(seed=1000 * seed + 7)

        monkeypatch.setattr(table, "reset", lambda seed: redirected(seed))
        return table

    seed_tests.seed_test(make_and_redirect, num_cycles=10_000)
    assert resets == [42, 42]


def test_state(name):
    table = module_of(name).env()
    state_tests.test_state_space(table)
    for seed in range(20):  # its actions are not always legal, so matches end early
        state_tests.test_state(table, num_cycles=1000, seed=seed)
