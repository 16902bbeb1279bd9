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


def run_api_test(table, num_cycles):
    with warnings.catch_warnings():
        for message in NOT_ABOUT_US:
            warnings.filterwarnings("ignore", message)
        api_test(table, num_cycles=num_cycles)


def shortest(name):
    rules = make_game(name).rules
    return {option: 1 for option in SHORTENING if hasattr(rules, option)}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("rules", [{}, {"match": "hand", "reward": "win"}], ids=str)
def test_api(name, door, rules):
    run_api_test(getattr(module_of(name), door)(**rules), num_cycles=200)


@pytest.mark.parametrize("door", DOORS)
def test_api_over_many_short_matches(name, door):
    table = getattr(module_of(name), door)(**shortest(name))
    for _ in range(4):
        run_api_test(table, num_cycles=1000)


def test_api_over_a_whole_long_match(name):
    run_api_test(module_of(name).env(), num_cycles=100_000)


def test_seed_over_a_whole_long_match(name):
    seed_tests.seed_test(module_of(name).env, num_cycles=100_000)


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("ours", [0, 1, 2, 3, 7, 99, 2**31, 2**32, 2**63, 2**64 - 1, 2**80, -1])
def test_seed_over_many_seeds(name, door, ours):
    def make():
        table = getattr(module_of(name), door)(**shortest(name))
        reset = table.reset
        table.reset = lambda seed: reset(seed=ours)  # the test knows no seed but 42
        return table

    seed_tests.seed_test(make, num_cycles=10_000)


def test_state(name):
    table = module_of(name).env()
    state_tests.test_state_space(table)
    for seed in range(10):  # its actions are not always legal, so matches end early
        state_tests.test_state(table, num_cycles=1000, seed=seed)
