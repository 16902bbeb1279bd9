"""The PettingZoo view, beyond what PettingZoo's own tests look at; over every game, wrapped and bare."""

import copy
import pickle
import pkgutil
import re
import subprocess
import sys
from importlib import import_module

import numpy as np
import pettingzoo
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pettingzoo.utils.wrappers import AssertOutOfBoundsWrapper, OrderEnforcingWrapper, TerminateIllegalWrapper

import slopes_envs
from slopes_envs import (
    DealError,
    IllegalAction,
    RulesError,
    ScriptExhausted,
    UnknownName,
    game_names,
    make_game,
    match_seed,
    slippery_slope_v0,
)

DOORS = ["env", "raw_env"]
# Options that shorten a match, of which each game has one, and those of them that cut it off.
SHORTENING = {"max_hands": 2, "max_turns": 30, "rounds": 3}
LIMITS = ("max_hands", "max_turns")

over_games = pytest.mark.parametrize("name", game_names())
over_doors = pytest.mark.parametrize("door", DOORS)


# ------------------------------------------------------------------------------------------------------------ helpers


def versioned(name):
    return f"{name}_v{make_game(name).version}"


def short(name):
    rules = make_game(name).rules
    return {option: value for option, value in SHORTENING.items() if hasattr(rules, option)}


def make(name, door, **rules):
    return getattr(import_module(f"slopes_envs.{versioned(name)}"), door)(**(short(name) | rules))


def choose(mask, rng):
    return int(rng.choice(np.flatnonzero(mask)))


def play(table, seed, steps=None):
    """Play at random from where the table stands, to the end or so many steps; all that was told and done."""
    rng = np.random.default_rng(seed)
    told = []
    for agent in table.agent_iter() if steps is None else table.agent_iter(steps):
        observation, reward, terminated, truncated, info = table.last()
        over = terminated or truncated
        action = None if over else choose(observation["action_mask"], rng)
        told.append((agent, *observed(observation), reward, terminated, truncated, info, action))
        table.step(action)
    return told


def observed(observation):
    return observation["observation"].tobytes(), observation["action_mask"].tobytes()


def everything(table):
    """All that can be seen of a table that has been reset."""
    seen = [observed(table.observe(agent)) for agent in table.possible_agents]
    flags = table.rewards, table.terminations, table.truncations, table.infos, table._cumulative_rewards
    return copy.deepcopy((table.agents, table.agent_selection, *flags, seen, table.state().tobytes()))


def illegal_action(table):
    return int(np.flatnonzero(table.last()[0]["action_mask"] == 0)[0])


def play_illegally(table):
    """An illegal move through the wrappers; the agent that made it."""
    offender = table.agent_selection
    table.step(illegal_action(table))
    return offender


def mid_play(name, door, seed=5, steps=17, **rules):
    table = make(name, door, **rules)
    table.reset(seed=seed)
    play(table, seed, steps)
    return table


# ------------------------------------------------------------------------------------------------- making one


def test_every_game_has_its_module_and_every_module_its_game():
    found = {m.name for m in pkgutil.iter_modules(slopes_envs.__path__) if re.search(r"_v\d+$", m.name)}
    assert found == {versioned(name) for name in game_names()}


@over_games
def test_pettingzoo_makes_it(name):
    table = pettingzoo.make("aec", f"slopes/{versioned(name)}", reward="win")
    assert str(table) == versioned(name)
    assert table.unwrapped.game == make_game(name, reward="win")
    assert type(table) is type(make(name, "env"))
    assert table.metadata["name"] == versioned(name)
    assert table.metadata["is_parallelizable"] is False
    with pytest.raises(UnknownName, match="max_cycles"):
        pettingzoo.make("aec", f"slopes/{versioned(name)}", max_cycles=10)


def test_import_registers_and_stays_light():
    code = "\n".join(
        [
            "import slopes_envs, pettingzoo, sys",
            "heavy = {'torch', 'matplotlib', 'scipy', 'typer', 'stable_baselines3', 'pygame'} & set(sys.modules)",
            "games = [name for name in sys.modules if name.startswith('slopes_envs.games.')]",
            "assert not heavy and not games, (heavy, games)",
            f"assert all(pettingzoo.spec('aec', 'slopes/' + name) for name in {[versioned(n) for n in game_names()]})",
        ]
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


@over_games
@over_doors
def test_unknown_and_wrong_options_are_refused(name, door):
    with pytest.raises(UnknownName, match=f"unknown option of {name} 'rewards'; did you mean 'reward'?"):
        make(name, door, rewards="win")
    with pytest.raises(RulesError, match=f"{name}: option reward expected 'score' or 'win', got 'points'"):
        make(name, door, reward="points")
    with pytest.raises(UnknownName, match=r"unknown render mode 'rgb_array'.*human, ansi"):
        make(name, door, render_mode="rgb_array")


@over_games
def test_wrappers_are_pettingzoos_in_its_order(name):
    table = make(name, "env")
    kinds = OrderEnforcingWrapper, AssertOutOfBoundsWrapper, TerminateIllegalWrapper
    for kind in kinds:
        assert isinstance(table, kind)
        assert str(table) == versioned(name)
        table = table.env
    assert table.unwrapped is table


@over_games
@over_doors
def test_spaces_are_kept_and_belong_to_their_agent(name, door):
    table = make(name, door)
    table.reset(seed=3)
    first, *others = table.possible_agents
    assert table.possible_agents == [f"player_{seat}" for seat in range(table.unwrapped.game.num_players)]
    for agent in table.possible_agents:
        assert table.observation_space(agent) is table.observation_space(agent)
        assert table.action_space(agent) is table.action_space(agent)
        assert table.observation_space(agent).contains(table.observe(agent))
        assert table.action_space(agent).n == table.unwrapped.game.num_actions

    def draws():
        return [[table.action_space(agent).sample() for _ in range(20)] for agent in table.possible_agents]

    for agent in table.possible_agents:
        table.action_space(agent).seed(11)
    once = draws()
    assert all(drawn == once[0] for drawn in once)  # one generator each, alike from one seed
    table.action_space(first).seed(11)
    for other in others:
        table.action_space(other).seed(12)
    again = draws()
    assert again[0] == once[0]
    assert all(drawn != once[0] for drawn in again[1:])


# ---------------------------------------------------------------------------------------------------- playing a match


@over_games
@over_doors
@pytest.mark.parametrize("rules", [{}, {"match": "hand", "reward": "win"}], ids=str)
def test_a_match_is_the_cores(name, door, rules):
    table = make(name, door, **rules)
    game = table.unwrapped.game
    rng = np.random.default_rng(1)
    table.reset(seed=9)
    state = game.new(match_seed(9, 0, 0))
    while state.seat[0] >= 0:
        mover = int(state.seat[0])
        assert table.agent_selection == f"player_{mover}"
        for seat, agent in enumerate(table.possible_agents):
            told = table.observe(agent)
            assert told["observation"].dtype == np.uint8
            assert told["action_mask"].dtype == np.int8
            assert np.array_equal(told["observation"], game.observe(state, [seat])[0])
            expected = game.legal(state)[0] if seat == mover else np.zeros(game.num_actions)
            assert np.array_equal(told["action_mask"], expected)
        assert np.array_equal(table.state(), game.observe_all(state, [0])[0])
        assert table.state_space.contains(table.state())
        action = choose(game.legal(state)[0], rng)
        table.step(action)
        outcome = game.step(state, [action])
        assert list(table.rewards.values()) == outcome.rewards[0].tolist()
        flags = [table.terminations, table.truncations]
        for flag, expected in zip(flags, (outcome.terminated[0], outcome.truncated[0]), strict=True):
            assert flag == dict.fromkeys(table.possible_agents, bool(expected))
            assert all(isinstance(value, bool) for value in flag.values())
        assert table.agents == table.possible_agents


@over_games
@over_doors
def test_rewards_add_up_to_the_score(name, door):
    table = make(name, door)
    for seed in range(2):
        table.reset(seed=seed)
        told = play(table, seed)
        totals = dict.fromkeys(table.possible_agents, 0.0)
        for agent, _, _, reward, *_ in told:
            assert isinstance(reward, float)
            totals[agent] += reward
        game, state = table.unwrapped.game, match_after(table.unwrapped.game, seed, told)
        begun = game.scores(game.new(match_seed(seed, 0, 0)))[0]
        assert list(totals.values()) == (game.scores(state)[0] - begun).tolist()


def match_after(game, seed, told):
    """The core's state after the actions of a played match."""
    state = game.new(match_seed(seed, 0, 0))
    for *_, action in told:
        if action is not None:
            game.step(state, [action])
    return state


@over_games
def test_rewards_of_a_win_sum_to_zero(name):
    table = make(name, "env", reward="win")
    rewards = []
    for seed in range(100):  # random matches of some games are mostly drawn
        table.reset(seed=seed)
        told = play(table, seed)
        last = {agent: reward for agent, _, _, reward, terminated, truncated, *_ in told if terminated or truncated}
        assert set(last) == set(table.possible_agents)
        assert sum(reward for _, _, _, reward, *_ in told) == pytest.approx(0, abs=1e-6)
        rewards += list(last.values())
        if seed >= 4 and any(rewards):
            break
    assert max(rewards) > 0 > min(rewards)


@over_games
@over_doors
def test_rewards_are_cleared_every_step_and_collected_once(name, door):
    table = make(name, door)
    table.reset(seed=2)
    owed = dict.fromkeys(table.agents, 0.0)
    rng = np.random.default_rng(2)
    for agent in table.agent_iter():
        observation, reward, terminated, truncated, _ = table.last()
        assert reward == owed[agent]
        owed[agent] = 0.0
        table.step(None if terminated or truncated else choose(observation["action_mask"], rng))
        for other, earned in table.rewards.items():
            owed[other] += earned
    assert not any(owed.values())


@over_games
@over_doors
def test_agents_stay_to_the_end_and_then_leave_in_order(name, door):
    table = make(name, door)
    table.reset(seed=4)
    told = play(table, 4)
    over = [terminated or truncated for *_, terminated, truncated, _, _ in told]
    number = len(table.possible_agents)
    assert over == [False] * (len(told) - number) + [True] * number
    assert [agent for agent, *_ in told[-number:]] == table.possible_agents
    assert all(not any(mask) for _, _, mask, *_ in told[-number:])
    assert table.agents == []
    assert [table.rewards, table.terminations, table.truncations, table.infos] == [{}] * 4
    for agent in table.possible_agents:  # may still be looked at
        assert not table.observe(agent)["action_mask"].any()
    table.reset()
    assert table.agents == table.possible_agents


@over_games
@over_doors
def test_agents_that_are_out_take_no_action_but_none(name, door):
    table = make(name, door)
    table.reset(seed=4)
    while not any(table.terminations.values()) and not any(table.truncations.values()):
        play(table, 0, 1)
    before = everything(table)
    with pytest.raises(ValueError, match="when an agent is dead, the only valid action is None"):
        table.unwrapped.step(0)
    assert everything(table) == before
    play(table, 0)
    with pytest.raises(RuntimeError, match=f"{versioned(name)}: no agent is left to step; call reset"):
        table.unwrapped.step(None)
    if door == "env":
        table.step(None)  # PettingZoo's wrapper only warns
        assert table.agents == []


@pytest.mark.parametrize("name", [name for name in game_names() if set(LIMITS) & set(short(name))])
@over_doors
def test_a_limit_truncates_all(name, door):
    (limit,) = set(LIMITS) & set(short(name))
    table = make(name, door, **{limit: 1})
    cut_off = 0
    for seed in range(10):
        table.reset(seed=seed)
        last = [flags for *_, terminated, truncated, _, _ in play(table, seed) if any(flags := (terminated, truncated))]
        assert len(set(last)) == 1
        assert last[0] in ((True, False), (False, True))
        cut_off += last[0] == (False, True)
    assert cut_off


@over_games
@over_doors
def test_arrays_are_the_callers_own(name, door):
    table = make(name, door)
    table.reset(seed=6)
    for _ in range(5):
        before = everything(table)
        for agent in table.possible_agents:
            told = table.unwrapped.observe(agent)
            told["observation"][:] = 1 - told["observation"]
            told["action_mask"][:] = 1
        table.state()[:] = 0
        assert everything(table) == before
        play(table, 1, 1)


@over_games
@over_doors
def test_before_the_first_reset(name, door):
    table = make(name, door)
    for use in (
        table.unwrapped.snapshot,
        table.unwrapped.state,
        lambda: table.unwrapped.observe("player_0"),
        lambda: table.unwrapped.step(0),
    ):
        with pytest.raises(RuntimeError, match=f"{versioned(name)}: .*call reset"):
            use()
    if door == "env":
        with pytest.raises(AssertionError, match="reset"):
            table.observe("player_0")
        with pytest.raises(AttributeError, match="before reset"):
            table.last()


@over_games
def test_unknown_agents_are_refused(name):
    table = make(name, "raw_env")
    table.reset(seed=1)
    with pytest.raises(UnknownName, match=r"unknown agent 'player0'; did you mean 'player_0'?"):
        table.observe("player0")


# ----------------------------------------------------------------------------------------------------------- actions


@over_games
@pytest.mark.parametrize("of_type", [int, np.int32, np.int64, np.uint8, np.array], ids=lambda kind: kind.__name__)
def test_actions_may_be_numpys_numbers(name, of_type):
    tables = [make(name, "raw_env") for _ in range(2)]
    for table in tables:
        table.reset(seed=8)
    action = choose(tables[0].last()[0]["action_mask"], np.random.default_rng(0))
    tables[0].step(action)
    tables[1].step(of_type(action))
    assert everything(tables[0]) == everything(tables[1])


@over_games
@pytest.mark.parametrize("action", [None, 0.0, "0", [0]], ids=repr)
def test_actions_that_are_no_numbers_are_refused(name, action):
    table = mid_play(name, "raw_env")
    before = everything(table)
    with pytest.raises(TypeError, match=f"{versioned(name)}: step expected the number of an action, got"):
        table.step(action)
    assert everything(table) == before


@over_games
def test_an_illegal_move_raises_in_the_bare_environment_and_changes_nothing(name):
    for steps in (0, 1, 2, 8, 30):
        table = mid_play(name, "raw_env", steps=steps)
        before = everything(table)
        number = table.game.num_actions
        for action in (illegal_action(table), number, number + 1000, -1):
            with pytest.raises(IllegalAction, match=f"{name}, .*not legal"):
                table.step(action)
            assert everything(table) == before
        play(table, 3, 1)
        assert everything(table) != before


@over_games
def test_an_illegal_move_ends_the_match_through_the_wrapper(name):
    for steps in (0, 1, 8, 30):
        table = mid_play(name, "env", steps=steps)
        owed = dict(table._cumulative_rewards)
        offender = play_illegally(table)
        assert table.rewards == {agent: -1.0 if agent == offender else 0.0 for agent in table.possible_agents}
        assert table.agents == table.possible_agents
        left = []
        for agent in table.agent_iter():
            observation, reward, terminated, _, _ = table.last()
            assert terminated
            assert reward == (-1.0 if agent == offender else owed[agent])
            assert not observation["action_mask"].any()
            left.append(agent)
            table.step(None)
        assert left == table.possible_agents
        table.reset(seed=5)
        fresh = make(name, "env")
        fresh.reset(seed=5)
        assert play(table, 1, 40) == play(fresh, 1, 40)


@over_games
def test_an_action_out_of_bounds_fails_an_assertion(name):
    table = mid_play(name, "env")
    before = everything(table)
    for action in (table.unwrapped.game.num_actions, -1, None, 0.5):
        with pytest.raises(AssertionError, match="action is not in action space"):
            table.step(action)
        assert everything(table) == before


# ------------------------------------------------------------------------------------------------------------- seeds


@over_games
@over_doors
def test_resets_without_a_seed_go_on_in_the_run(name, door):
    table = make(name, door)
    game = table.unwrapped.game

    def begins(seed, episode):
        state = game.new(match_seed(seed, 0, episode))
        return np.array_equal(table.state(), game.observe_all(state, [0])[0])

    table.reset(seed=21)
    assert begins(21, 0)
    for episode in (1, 2, 3):
        play(table, episode, 5 * episode)
        table.reset()
        assert begins(21, episode)
        assert (table.unwrapped.seed_used, table.unwrapped.episode) == (21, episode)
    table.reset(seed=np.int64(22))
    assert begins(22, 0)
    table.reset()
    assert begins(22, 1)


@over_games
@over_doors
def test_a_seed_of_its_own_is_drawn_and_can_be_read(name, door):
    np.random.seed(1)  # noqa: NPY002 - the global generator must not matter
    before = np.random.get_state()[1].tolist()  # noqa: NPY002
    tables = [make(name, door) for _ in range(2)]
    for table in tables:
        table.reset()
        again = make(name, door)
        again.reset(seed=table.unwrapped.seed_used)
        assert play(again, 1) == play(table, 1)
    assert tables[0].unwrapped.seed_used != tables[1].unwrapped.seed_used
    assert np.random.get_state()[1].tolist() == before  # noqa: NPY002


@over_games
@over_doors
@pytest.mark.parametrize("seed", [1.5, "7", [7]], ids=repr)
def test_seeds_that_are_no_whole_numbers_are_refused(name, door, seed):
    table = mid_play(name, door)
    before = everything(table)
    with pytest.raises(TypeError, match=f"{versioned(name)}: reset expected a whole number as seed"):
        table.reset(seed=seed)
    assert everything(table) == before


# ------------------------------------------------------------------------------------------------------------ copies


def by_pickle(table):
    return pickle.loads(pickle.dumps(table))


STAGES = [0, 1, 16, 41]  # steps into the match


@over_games
@over_doors
@pytest.mark.parametrize("copied", [copy.deepcopy, by_pickle], ids=["deepcopy", "pickle"])
@pytest.mark.parametrize("steps", STAGES)
def test_a_copy_is_the_same_match_and_another_environment(name, door, copied, steps):
    table = mid_play(name, door, steps=steps)
    before = everything(table)
    twin, spare = copied(table), copied(table)
    assert everything(twin) == before
    told = play(twin, 77)
    assert everything(table) == before  # undisturbed by what its copy did
    assert play(table, 77) == told
    assert everything(spare) == before
    assert play(spare, 78) != told
    # Later matches of the run are the same too, and so are the actions that the spaces draw.
    for each in (table, twin):
        each.reset()
    assert everything(table) == everything(twin)
    assert [table.action_space("player_0").sample() for _ in range(9)] == [
        twin.action_space("player_0").sample() for _ in range(9)
    ]


@over_games
@over_doors
@pytest.mark.parametrize("copied", [copy.deepcopy, by_pickle], ids=["deepcopy", "pickle"])
def test_a_copy_before_the_first_reset_and_among_leaving_agents(name, door, copied):
    table = make(name, door)
    fresh = copied(table)
    for each in (table, fresh):
        each.reset(seed=1)
    assert everything(table) == everything(fresh)
    while len(table.agents) == len(table.possible_agents):
        play(table, 0, 1)
    twin = copied(table)
    assert everything(twin) == everything(table)
    assert play(twin, 0) == play(table, 0)


@over_games
@over_doors
@pytest.mark.parametrize("steps", STAGES)
def test_restoring_a_snapshot_any_number_of_times(name, door, steps):
    table = mid_play(name, door, steps=steps)
    before = everything(table)
    snapshot = table.snapshot()
    told = play(table, 77)
    for _ in range(2):
        table.restore(snapshot)
        assert everything(table) == before
        assert play(table, 77) == told
    table.reset(seed=1000)
    play(table, 3, 4)
    table.restore(pickle.loads(pickle.dumps(snapshot)))
    assert everything(table) == before
    table.reset()  # the next match of the run that the snapshot is from
    assert (table.unwrapped.seed_used, table.unwrapped.episode) == (5, 1)


@over_games
@pytest.mark.parametrize("to_door", DOORS)
@over_doors
def test_a_snapshot_goes_over_to_another_environment(name, door, to_door):
    table = mid_play(name, door)
    other = make(name, to_door)  # not even reset
    other.restore(table.snapshot())
    assert everything(other) == everything(table)
    assert play(other, 1) == play(table, 1)


@over_games
def test_restoring_after_an_illegal_move_ended_the_match(name):
    table = mid_play(name, "env")
    before = everything(table)
    snapshot = table.snapshot()
    for leaving in range(len(table.possible_agents) + 1):  # so many have been stepped out
        play_illegally(table)
        for _ in range(leaving):
            table.step(None)
        table.restore(snapshot)
        assert everything(table) == before
    twin = mid_play(name, "env")
    assert play(table, 1) == play(twin, 1)


@over_games
def test_a_snapshot_of_a_match_that_an_illegal_move_ended(name):
    table = mid_play(name, "env")
    play_illegally(table)
    table.step(None)
    snapshot, before = table.snapshot(), everything(table)
    for other in (table, make(name, "env"), mid_play(name, "env", seed=6), make(name, "raw_env")):
        other.restore(snapshot)
        assert everything(other) == before
        left = play(other, 0)
        assert [agent for agent, *_ in left] == table.possible_agents[1:]
        assert other.agents == []


@over_games
def test_an_illegal_move_is_judged_by_the_restored_hand_not_by_the_last_one_seen(name):
    """PettingZoo's wrapper remembers the last mask it saw: restoring must make it forget."""
    table, bare = make(name, "env"), make(name, "raw_env")
    table.reset(seed=5)
    snapshots = []
    for _ in range(10):
        snapshots.append((table.snapshot(), table.last()[0]["action_mask"]))
        play(table, 2, 1)
    judged = 0
    for snapshot, mask in snapshots:
        for other, other_mask in snapshots:
            differing = np.flatnonzero(mask > other_mask)
            if not len(differing):
                continue
            judged += 1
            table.restore(other)
            table.last()
            table.restore(snapshot)
            bare.restore(snapshot)
            for each in (table, bare):
                each.step(int(differing[0]))  # legal here, and not there
            assert everything(table) == everything(bare)
    assert judged


@over_games
@over_doors
def test_snapshots_of_something_else_are_refused(name, door):
    table = mid_play(name, door)
    before = everything(table)
    with pytest.raises(ValueError, match=f"{versioned(name)}: restore expected a snapshot of .*reward='score'.*'win'"):
        table.restore(mid_play(name, door, reward="win").snapshot())
    with pytest.raises(TypeError, match="restore expected what snapshot"):
        table.restore({"seed": 1})
    assert everything(table) == before


@over_games
@given(data=st.data())
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_history_before_a_restore_is_forgotten(name, data):
    """However a table got on, after `restore` it goes on like one that was never anywhere else."""
    seed, steps = data.draw(st.integers(0, 2**64 - 1)), data.draw(st.integers(0, 50))
    table = mid_play(name, "env", seed=seed, steps=steps)
    snapshot, told = table.snapshot(), play(copy.deepcopy(table), 9, 40)
    for doing in data.draw(
        st.lists(st.sampled_from(["play", "illegal", "leave", "reset", "copy", "look"]), max_size=6)
    ):
        out = not table.agents or table.terminations[table.agent_selection] or table.truncations[table.agent_selection]
        if doing == "play":
            play(table, 1, 5)
        elif doing == "illegal" and not out:
            play_illegally(table)
        elif doing == "leave" and out and table.agents:
            table.step(None)
        elif doing == "reset":
            table.reset(seed=data.draw(st.integers(0, 9)))
        elif doing == "copy":
            table = copy.deepcopy(table)
        elif table.agents:
            table.last()
    table.restore(snapshot)
    assert play(table, 9, 40) == told


# ------------------------------------------------------------------------------------------------------------- deals

SCRIPT = [
    {
        "dealer": 2,
        "deal": {
            "hands": [
                "AC 2C 3C 4C JC QC KC AD 2D 3D",
                "4D JD QD KD AH 2H 3H 4H JH QH",
                "KH AS 2S 3S 4S JS QS KS LJ BJ",
            ]
        },
    },
    {
        "dealer": 0,
        "deal": {
            "hands": [
                "4D JD QD KD AH 2H 3H 4H JH QH",
                ["AC", "2C", "3C", "4C", "JC", "QC", "KC", "AD", "2D", "3D"],
                "KH AS 2S 3S 4S JS QS KS LJ BJ",
            ]
        },
    },
]


@over_games
@over_doors
def test_a_match_of_given_deals(name, door):
    """The deal of one seed, taken out of the core and given to a table under another."""
    table = make(name, door)
    game = table.unwrapped.game
    state = game.new(match_seed(3, 0, 0))
    table.reset(seed=4, options={"deals": [[game.deal_object(state, 0)]]})
    assert np.array_equal(table.state(), game.observe_all(state, [0])[0])
    assert not np.array_equal(table.state(), game.observe_all(game.new(match_seed(4, 0, 0)), [0])[0])
    for seat, agent in enumerate(table.possible_agents):
        assert np.array_equal(table.observe(agent)["observation"], game.observe(state, [seat])[0])


@over_doors
def test_given_hands_are_the_hands_held(door):
    table = getattr(slippery_slope_v0, door)(max_hands=2)
    table.reset(options={"deals": [SCRIPT]})
    layout = table.unwrapped.game.observation
    for script in SCRIPT:
        assert table.agent_selection == f"player_{(script['dealer'] + 1) % 3}"
        for agent, hand in zip(table.possible_agents, script["deal"]["hands"], strict=True):
            held = layout.decode(table.observe(agent)["observation"])["hand"]
            cards = hand.split() if isinstance(hand, str) else hand
            assert {name_of(table, card) for card in np.flatnonzero(held)} == set(cards)
        play(table, 1, 33)
    assert all(table.truncations.values())


def name_of(table, card):
    return table.unwrapped.game.action_name(None, 0, 11 + int(card))


@over_doors
def test_restoring_to_a_state_that_was_set_up_by_hand(door):
    """Deals and moves by name lead to a state; a snapshot of it comes back whatever happened since."""
    table = getattr(slippery_slope_v0, door)(match="hand")
    game = table.unwrapped.game
    table.reset(options={"deals": [SCRIPT[:1]]})
    for action in ("bid 4", "bid 2", "bid 9", "KC", "QH"):
        table.step(game.parse_action(None, 0, action))
    snapshot = table.snapshot()
    table.reset(seed=1)
    play(table, 1)
    table.restore(snapshot)
    assert table.agent_selection == "player_2"
    told = game.observation.decode(table.observe("player_2")["observation"])
    assert told["bids"].tolist() == [9, -1, -1]
    assert [name_of(table, card) for card in np.flatnonzero(told["table"][1])] == ["KC"]
    assert [name_of(table, card) for card in np.flatnonzero(told["table"][2])] == ["QH"]
    table.step(game.parse_action(None, 0, "LJ"))
    assert table.agent_selection == "player_2"  # the joker won


@over_doors
def test_a_script_that_runs_out(door):
    table = getattr(slippery_slope_v0, door)()
    table.reset(options={"deals": [SCRIPT]})
    play(table, 1, 65)
    before = everything(table)
    (action,) = np.flatnonzero(table.last()[0]["action_mask"])  # the last card of the second hand
    with pytest.raises(ScriptExhausted, match="slippery_slope, match 1, hand 3"):
        table.step(action)
    assert everything(table) == before
    table.reset(seed=12, options={"deals": [SCRIPT]})  # goes on from this seed
    play(table, 1, 66)
    third = table.state()
    table.reset(seed=12, options={"deals": [SCRIPT]})
    play(table, 1, 66)
    assert np.array_equal(table.state(), third)
    assert int(table.unwrapped.game.observation_all.decode(third)["hand_number"]) == 2


@over_games
@over_doors
@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"deal": [SCRIPT]}, UnknownName, "unknown reset option of .* 'deal'; did you mean 'deals'?"),
        ({"script": SCRIPT}, UnknownName, "unknown reset option of .* 'script' .known: deals"),
        ([SCRIPT], TypeError, "reset expected options by name"),
        ({"deals": SCRIPT}, DealError, "deals: expected a list of one script, for this one match, got 2 entries"),
        ({"deals": []}, DealError, "expected a list of one script, for this one match, got 0 entries"),
        ({"deals": 3}, DealError, "expected a list of one script, for this one match, got 3"),
        ({"deals": SCRIPT[:1]}, DealError, "match 1: deals: expected a script, which is a list of hands, got {"),
        ({"deals": [["AC 2C"]]}, DealError, "match 1, hand 1: deals: expected a hand object, got 'AC 2C'"),
        ({"deals": [[{}]]}, DealError, "match 1, hand 1"),
    ],
)
def test_wrong_options_of_a_reset_are_refused_and_change_nothing(name, door, options, error, message):
    table = mid_play(name, door)
    before = everything(table), table.unwrapped.seed_used, table.unwrapped.episode
    with pytest.raises(error, match=message):
        table.reset(seed=1, options=options)
    assert (everything(table), table.unwrapped.seed_used, table.unwrapped.episode) == before


@over_doors
def test_a_wrong_deal_is_refused_and_changes_nothing(door):
    table = mid_play("slippery_slope", door)
    before = everything(table)
    wrong = copy.deepcopy(SCRIPT)
    wrong[1]["deal"]["hands"][0] = "4D JD QD KD AH 2H 3H 4H JH BJ"
    with pytest.raises(DealError, match=r"slippery_slope, match 1, hand 2: .*BJ"):
        table.reset(options={"deals": [wrong]})
    assert everything(table) == before


# --------------------------------------------------------------------------------------------------------- rendering


@over_games
@over_doors
def test_ansi_is_text_of_all_that_describe_tells(name, door):
    table = make(name, door, render_mode="ansi")
    table.reset(seed=5)
    begun = table.render()
    told = play(table, 5, 17)
    game, text = table.unwrapped.game, table.render()
    assert text != begun
    state = match_after(game, 5, told)
    for key in game.describe(state, 0):
        assert f"{key.replace('_', ' ')}:" in text
    assert f"to move: {int(state.seat[0])}" in text


def test_ansi_reads_like_this():
    table = slippery_slope_v0.env(render_mode="ansi", match="hand")
    table.reset(options={"deals": [SCRIPT[:1]]})
    lines = table.render().splitlines()
    assert "game: slippery_slope" in lines
    assert "phase: bidding" in lines
    start = lines.index("hands:")
    assert lines[start + 1] == "  seat 0: AC 2C 3C 4C JC QC KC AD 2D 3D"
    assert "follow: -" in lines


@over_games
@over_doors
def test_human_prints_every_state(name, door, capsys):
    silent = mid_play(name, door, steps=2, render_mode="ansi")
    table = make(name, door, render_mode="human")
    table.reset(seed=5)
    capsys.readouterr()
    play(table, 5, 2)
    assert capsys.readouterr().out.endswith(silent.render() + "\n\n")
    assert table.render() is None
    assert capsys.readouterr().out == silent.render() + "\n\n"


@over_games
def test_rendering_without_a_mode_warns(name):
    table = mid_play(name, "raw_env")
    with pytest.warns(UserWarning, match="without a render_mode"):
        assert table.render() is None
    table.close()
