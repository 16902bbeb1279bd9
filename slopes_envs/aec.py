"""Every game as a PettingZoo environment: one match, agent by agent.

``slopes_envs.<game>_v<version>`` is the module of a game in PettingZoo's manner, with ``env`` and ``raw_env``; the same
is ``pettingzoo.make("aec", "slopes/<game>_v<version>")`` once ``slopes_envs`` has been imported.  Both take the
options of the game as keywords, and ``render_mode``.

>>> from slopes_envs import slippery_slope_v0
>>> env = slippery_slope_v0.env(target_score=10)
>>> env.reset(seed=7)
>>> env.possible_agents
['player_0', 'player_1', 'player_2']

Observations
    ``{"observation": uint8[D], "action_mask": int8[A]}`` for any agent at any time: what its seat knows, laid out by
    ``env.unwrapped.game.observation``, and its legal actions.  The mask is all zero for an agent that is not to move.
    Arrays are the caller's own.
Actions
    Whole numbers, as the manual of the game lists them.  ``raw_env`` raises :class:`~slopes_envs.IllegalAction` for one
    that is not legal and stays as it was; ``env`` ends the match, -1 for the offender and 0 for the others.
Rewards
    ``rewards`` holds what the last step brought.  ``last()`` gives what the agent has earned since its own last turn,
    so over a match its sum is the final score (or, under ``reward="win"``, the share of the win).
The end
    All agents stay to the end of the match and are then stepped out with ``None``, in the order of the seats.
    ``terminations`` are set if the rules ended it, ``truncations`` if a limit such as ``max_hands`` did.
Seeds
    ``reset(seed=s)`` begins match ``match_seed(s, 0, 0)``, and each reset without a seed the next one of the same
    run: ``match_seed(s, 0, 1)``, and so on.  Without any seed one is drawn from the operating system;
    ``env.unwrapped.seed_used`` and ``episode`` tell which match this is.  The spaces of an agent are its own, and
    draw samples from their own generators: ``env.action_space(agent).seed(s)``.
Deals
    ``reset(options={"deals": [script]})`` plays given hands, a script being a list of hand objects as in game records:
    ``{"dealer" or "first_player": …, "deal": …}``.  When it has run out the match goes on from the seed given in the
    same reset; without one, the step that needs another deal raises :class:`~slopes_envs.ScriptExhausted`.
Copies
    A deep copy or a pickle of an environment in mid-play is that match in mid-play.  ``snapshot()`` and
    ``restore(snapshot)`` are the quick way: a snapshot is opaque, may be pickled, and can be restored any number of
    times, into any environment of the same game and options, wrapped or not, whatever has happened there since.
State
    ``state()`` is ``uint8[D']``: everything, hidden cards included, as seen from seat 0 (``game.observe_all``).  It is
    for critics and never for players.
Rendering
    ``render_mode="ansi"`` makes ``render()`` give the whole table as text, hidden cards included; ``"human"``
    prints it at every step.

Shape letters: **A** actions, **D** features.
"""

from __future__ import annotations

import operator
import pkgutil
import re
import secrets
from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo.env_registry.registration import aec_registry
from pettingzoo.env_registry.registration import register as register_aec
from pettingzoo.utils.env import AECEnv
from pettingzoo.utils.wrappers import AssertOutOfBoundsWrapper, OrderEnforcingWrapper, TerminateIllegalWrapper

from .chance import match_seed
from .errors import DealError, UnknownName
from .features import Observation
from .game import Game, Rules, State
from .registry import make_game

AgentObservation = dict[str, NDArray[Any]]
"""``{"observation": uint8[D], "action_mask": int8[A]}``."""

NAMESPACE = "slopes"
ILLEGAL_REWARD = -1.0
"""What an illegal move through :func:`env` earns the agent that made it."""

RENDER_MODES = ("human", "ansi")
RESET_OPTIONS = ("deals",)
# PettingZoo's api_test resets with this option, to see that options are taken at all.
IGNORED_RESET_OPTIONS = ("options",)
SEED_BITS = 63  # of a seed that is drawn: it fits a signed word, wherever it may be written down


@dataclass(frozen=True, eq=False)
class Snapshot:
    """A match at one moment, for :meth:`GameEnv.restore`; opaque, but may be pickled."""

    rules: Rules
    state: State
    attributes: dict[str, Any]


# ------------------------------------------------------------------------------------------------- the environment


class GameEnv(AECEnv[str, Any, Any]):  # observations are AgentObservation, actions int or None
    """One match of a game, as PettingZoo plays it; the module tells what it does.

    Parameters
    ----------
    game
        The rules, from :func:`slopes_envs.make_game`.
    render_mode
        None, ``"ansi"`` or ``"human"``.

    Attributes
    ----------
    game
        The rules.
    state_space
        Of :meth:`state`.
    seed_used, episode
        The match being played is ``match_seed(seed_used, 0, episode)``.
    """

    # What changes from step to step beside the state of the match; `infos` are empty and made afresh.
    _CHANGING: ClassVar[tuple[str, ...]] = (
        "agents",
        "agent_selection",
        "rewards",
        "_cumulative_rewards",
        "terminations",
        "truncations",
        "_skip_agent_selection",
        "seed_used",
        "episode",
    )

    def __init__(self, game: Game[Any, Any], render_mode: str | None = None) -> None:
        if render_mode is not None and render_mode not in RENDER_MODES:
            raise UnknownName("render mode", render_mode, RENDER_MODES)
        super().__init__()  # type: ignore[no-untyped-call]
        self.game = game
        self.render_mode = render_mode
        self.metadata = {
            "name": f"{game.name}_v{game.version}",
            "render_modes": list(RENDER_MODES),
            "is_parallelizable": False,
            "render_fps": 1,
        }
        self.possible_agents = [f"player_{seat}" for seat in range(game.num_players)]
        self.agents = []
        self.observation_spaces = {
            agent: spaces.Dict(
                {
                    "observation": _bits(game.observation.size, np.uint8),
                    "action_mask": _bits(game.num_actions, np.int8),
                }
            )
            for agent in self.possible_agents
        }
        self.action_spaces = {agent: spaces.Discrete(game.num_actions) for agent in self.possible_agents}
        for space in self.action_spaces.values():
            space.seed()  # rather than when it is first drawn from, so that a copy draws what the original draws
        self.state_space = _bits(game.observation_all.size, np.uint8)
        self.seed_used: int | None = None
        self.episode = 0
        self._state: State | None = None
        self._seats = {agent: np.array([seat]) for seat, agent in enumerate(self.possible_agents)}
        # Both hold for the present state only, and are worked out when first asked for.
        self._mask: NDArray[np.int8] | None = None
        self._observed: dict[str, Observation] = {}

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """``Dict`` of ``"observation"`` and ``"action_mask"``, boxes of zeros and ones."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """``Discrete(A)``."""
        return self.action_spaces[agent]

    # -- playing ---------------------------------------------------------------------------------------------------

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Begin a match; see *Seeds* and *Deals* in the module.

        Parameters
        ----------
        seed
            A whole number, or None for the next match of the run.
        options
            None, or ``{"deals": [script]}``.

        Raises
        ------
        UnknownName
            For any other option.
        DealError
            For deals that do not fit the rules.  The environment is then as it was.
        """
        scripts = self._scripts(options)
        if seed is not None:
            try:
                run, episode = operator.index(seed), 0
            except TypeError:
                raise TypeError(f"{self}: reset expected a whole number as seed, got {seed!r}") from None
        elif self.seed_used is None:
            run, episode = secrets.randbits(SEED_BITS), 0
        else:
            run, episode = self.seed_used, self.episode + 1
        key = match_seed(run, 0, episode)
        if scripts is None:
            self._state = self.game.new(key)
        else:
            self._state = self.game.from_deals(scripts, None if seed is None else key)
        self.seed_used, self.episode = run, episode
        self.agents = self.possible_agents.copy()
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {agent: {} for agent in self.agents}
        self._skip_agent_selection = None  # type: ignore[assignment]  # as AECEnv itself does
        self._arrive()

    def step(self, action: int | None) -> None:
        """Take the action of ``agent_selection``; None once that agent is terminated or truncated.

        Raises
        ------
        IllegalAction
            If the action is not legal; the environment is then as it was.
        ScriptExhausted
            If another deal is needed and there is none; likewise.
        """
        if not self.agents:
            raise RuntimeError(f"{self}: no agent is left to step; call reset() first")
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        number = self._number(action)
        mask = self._legal()
        # The core looks only at what is illegal here: its error names the legal actions.
        legal = 0 <= number < len(mask) and bool(mask[number])
        outcome = self.game.step(self._playing, [number], check=not legal)
        (earned,) = outcome.rewards.tolist()
        self.rewards = dict(zip(self.agents, earned, strict=True))
        self._cumulative_rewards[agent] = 0.0
        if any(earned):
            self._accumulate_rewards()
        terminated, truncated = outcome.terminated.item(), outcome.truncated.item()
        if terminated or truncated:
            self.terminations = dict.fromkeys(self.agents, terminated)
            self.truncations = dict.fromkeys(self.agents, truncated)
        self._arrive()

    def observe(self, agent: str) -> AgentObservation:
        """What an agent knows, and its legal actions."""
        known = self._observed.get(agent)
        if known is None:
            if agent not in self._seats:
                raise UnknownName("agent", agent, self.possible_agents)
            known = self._observed[agent] = self.game.observe(self._playing, self._seats[agent])[0]
        return {"observation": known.copy(), "action_mask": self._mask_of(agent)}

    def state(self) -> Observation:
        """Everything, as seen from seat 0: ``uint8[D']``."""
        everything: Observation = self.game.observe_all(self._playing, [0])[0]
        return everything

    def render(self) -> str | None:
        """The whole table as text (``"ansi"``), or print it (``"human"``)."""
        if self.render_mode is None:
            gymnasium.logger.warn(f"{self}: render() without a render_mode does nothing; choose one of {RENDER_MODES}.")
            return None
        text = "\n".join(_lines(self.game.describe(self._playing, 0)))
        if self.render_mode == "ansi":
            return text
        print(text, end="\n\n")
        return None

    def close(self) -> None:
        """Nothing needs closing."""

    # -- copies ----------------------------------------------------------------------------------------------------

    def snapshot(self) -> Snapshot:
        """The match as it stands, for :meth:`restore`; later steps do not change it."""
        state = self._playing.copy()
        return Snapshot(self.game.rules, state, {name: copy(getattr(self, name)) for name in self._CHANGING})

    def restore(self, snapshot: Snapshot) -> None:
        """Go back (or over) to the match of a snapshot, with all that ``snapshot`` found: agents, rewards, seed.

        Only the generators of the spaces stay as they are.

        Raises
        ------
        ValueError
            If the snapshot is of another game or of other options.
        """
        if not isinstance(snapshot, Snapshot):
            raise TypeError(f"{self}: restore expected what snapshot() gave, got {snapshot!r}")
        if snapshot.rules != self.game.rules:
            raise ValueError(f"{self}: restore expected a snapshot of {self.game.rules}, got one of {snapshot.rules}")
        self._state = snapshot.state.copy()
        for name in self._CHANGING:
            setattr(self, name, copy(snapshot.attributes[name]))
        self.infos = {agent: {} for agent in self.agents}
        self._mask = None
        self._observed = {}

    # -- parts -----------------------------------------------------------------------------------------------------

    @property
    def _playing(self) -> State:
        if self._state is None:
            raise RuntimeError(f"{self}: there is no match yet; call reset() first")
        return self._state

    def _arrive(self) -> None:
        """Turn to whoever is next in a new state."""
        self._mask = None
        self._observed = {}
        seat = self._playing.seat.item()
        self.agent_selection = self.agents[max(seat, 0)]  # after the end the first is stepped out first
        if self.render_mode == "human":
            self.render()

    def _legal(self) -> NDArray[np.int8]:
        if self._mask is None:
            self._mask = self.game.legal(self._playing)[0].view(np.int8)
        return self._mask

    def _mask_of(self, agent: str) -> NDArray[np.int8]:
        # Agents that were stepped out are in `terminations` no longer.
        if agent != self.agent_selection or self.terminations.get(agent, True) or self.truncations[agent]:
            return np.zeros(self.game.num_actions, np.int8)
        return self._legal().copy()

    def _number(self, action: Any) -> int:
        try:
            return operator.index(action)
        except TypeError:
            hint = "; None is for agents that are terminated or truncated" if action is None else ""
            raise TypeError(f"{self}: step expected the number of an action, got {action!r}{hint}") from None

    def _scripts(self, options: Mapping[str, Any] | None) -> list[list[Mapping[str, Any]]] | None:
        """The deals in the options of a reset, as far as their outer form goes; the game reads each hand."""
        if options is None:
            return None
        if not isinstance(options, Mapping):
            raise TypeError(f"{self}: reset expected options by name, got {options!r}")
        for name in options:
            if name not in RESET_OPTIONS + IGNORED_RESET_OPTIONS:
                raise UnknownName(f"reset option of {self}", name, RESET_OPTIONS)
        deals = options.get("deals")
        if deals is None:
            return None
        name = self.game.name
        if not isinstance(deals, list | tuple) or len(deals) != 1:
            found = f"{len(deals)} entries" if isinstance(deals, list | tuple) else repr(deals)
            raise DealError(f"deals: expected a list of one script, for this one match, got {found}", game=name)
        script = deals[0]
        if not isinstance(script, list | tuple):
            raise DealError(f"deals: expected a script, which is a list of hands, got {script!r}", game=name, match=1)
        for number, hand in enumerate(script, start=1):
            if not isinstance(hand, Mapping):
                raise DealError(f"deals: expected a hand object, got {hand!r}", game=name, match=1, hand=number)
        return [list(script)]


def _bits(count: int, dtype: type[np.integer[Any]]) -> spaces.Box:
    # Not MultiBinary: its dtype is always int8.
    return spaces.Box(0, 1, (count,), dtype)


def _lines(values: Mapping[Any, Any]) -> Iterator[str]:
    """Plain named values as indented text, a line each."""
    for name, value in values.items():
        label = f"seat {name}" if isinstance(name, int) else str(name).replace("_", " ")
        if isinstance(value, Mapping):
            yield f"{label}:"
            yield from (f"  {line}" for line in _lines(value))
        elif isinstance(value, list | tuple):
            yield f"{label}: {' '.join(map(str, value))}".rstrip()
        else:
            yield f"{label}: {'-' if value is None else value}"


# ---------------------------------------------------------------------------------------------------- the wrappers
# PettingZoo's own, but for two things.  What they keep about the past has to be cleared by restoring.  And `last` is
# asked inside: five attributes less climb down through every wrapper's `__getattr__`, half of what wrapping costs.

Last = tuple[AgentObservation | None, float, bool, bool, dict[str, Any]]


class _TerminateIllegal(TerminateIllegalWrapper[str, Any, Any]):
    env: GameEnv

    def last(self, observe: bool = True) -> Last:
        told = self.env.last(observe)
        if observe:  # remembered, as `observe` does
            self._prev_obs, self._prev_info = told[0], told[4]
        return told

    def restore(self, snapshot: Snapshot) -> None:
        self.env.restore(snapshot)
        self._prev_obs = None
        self._prev_info = None
        self._terminated = False  # GameEnv steps agents out itself, whatever ended the match


class _OrderEnforcing(OrderEnforcingWrapper[str, Any, Any]):
    def __init__(self, inside: _TerminateIllegal) -> None:
        super().__init__(AssertOutOfBoundsWrapper(inside))
        self._inside = inside  # asserting of bounds concerns `step` alone

    def last(self, observe: bool = True) -> Last:
        return self._inside.last(observe) if self._has_reset else super().last(observe)  # which raises

    def restore(self, snapshot: Snapshot) -> None:
        self._inside.restore(snapshot)
        self._has_reset = True
        self._has_updated = True

    def __str__(self) -> str:
        return str(self.env)


# ------------------------------------------------------------------------------------------------------ front doors


def raw_env(game: str, /, *, render_mode: str | None = None, **rules: Any) -> GameEnv:
    """The bare environment of a game: it raises :class:`~slopes_envs.IllegalAction` and is the quicker one.

    Parameters
    ----------
    game
        Its name, one of :func:`slopes_envs.game_names`.
    render_mode
        None, ``"ansi"`` or ``"human"``.
    **rules
        Options of the game.

    Raises
    ------
    UnknownName
        For a game, an option or a render mode that does not exist.
    RulesError
        For an option with a value that is not allowed.
    """
    return GameEnv(make_game(game, **rules), render_mode)


def env(game: str, /, *, render_mode: str | None = None, **rules: Any) -> _OrderEnforcing:
    """The environment of a game in PettingZoo's usual wrappers; parameters and errors are those of :func:`raw_env`.

    From the inside: an illegal move ends the match (:data:`ILLEGAL_REWARD` for the offender, 0 for the others), an
    action outside the space fails an assertion, and so do calls out of order.  ``snapshot`` and ``restore`` work
    through all of them.
    """
    table = raw_env(game, render_mode=render_mode, **rules)
    return _OrderEnforcing(_TerminateIllegal(table, illegal_reward=ILLEGAL_REWARD))


def register() -> None:
    """Register every versioned module of this package with PettingZoo, importing none of them."""
    for module in pkgutil.iter_modules([str(Path(__file__).parent)]):
        versioned = re.fullmatch(r"(?P<game>\w+)_v(?P<version>\d+)", module.name)
        if versioned is None:
            continue
        name = f"{NAMESPACE}/{versioned['game']}-v{versioned['version']}"
        if name not in aec_registry:
            register_aec("aec", name, f"{__package__}.{module.name}:env")
