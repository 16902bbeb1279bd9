"""A native Stable-Baselines3 ``VecEnv`` over the batched core.

One learner against opponents in each of B matches, as :class:`slopes_envs.vector.SlopesVectorEnv` plays them, with
nothing in between: no environment objects, no workers, no copies of observations.  Observations and episodes are those
of Gymnasium's view with the same seed.

``env_method("action_masks")`` gives one ``bool[B, A]`` array, which sb3-contrib's ``get_action_masks`` (a
``numpy.stack`` over what comes back) turns into just that.  Episode returns and lengths are in the infos, so no
``Monitor`` or ``VecMonitor`` is needed.

Shape letters: **B** matches, **A** actions, **D** features.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import VecEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices

from slopes_envs import Game
from slopes_envs.features import Observation
from slopes_envs.vector import ROTATE, SlopesVectorEnv

MASKS = "action_masks"
"""The method by which sb3-contrib asks for legal actions."""


class SlopesVecEnv(VecEnv):
    """One learner against opponents in each of B matches, for Stable-Baselines3.

    ``step`` returns observations ``uint8[B, D]``, rewards ``float32[B]``, ``dones`` (``bool[B]``) and a list of B
    infos.  An info is an empty dict but where a match has ended; there it holds

    - ``terminal_observation`` (``uint8[D]``), the last of the match that ended, the one returned being of the next;
    - ``TimeLimit.truncated``, whether it was cut off at a limit of the rules rather than ended by them;
    - ``episode``: ``{"r": sum of rewards, "l": number of the learner's decisions}``.

    The B matches are rows of one object, so attributes and methods are the same for all: ``get_attr`` and
    ``env_method`` repeat one answer for every index asked for (``action_masks`` alone gives the rows asked for, as one
    array), and what would change some rows but not others is refused.

    Parameters
    ----------
    game
        Name of the game, or the game.
    num_envs
        B, the number of matches.
    opponents, seat
        As for :class:`slopes_envs.vector.SlopesVectorEnv`: an agent's spec such as ``"random"``, an agent, a
        callable, or a list of one a seat from the learner's left on; a seat, or ``"rotate"``.
    seed
        Of the first reset; later ones go on to the next episodes until :meth:`seed` is called.  None draws one from
        the system's entropy.
    illegal
        What an action does that the mask forbids: ``"raise"``, since a learner that heeds the mask never plays one, or
        ``"end"`` the match at a price, for learners that know no masks.
    **rules
        Options of the game.

    Raises
    ------
    UnknownName
        For a game, an option or an agent that does not exist.
    RulesError, ValueError, TypeError
        For a value that is not allowed.
    """

    def __init__(
        self,
        game: str | Game[Any, Any],
        num_envs: int,
        opponents: Any = "random",
        seat: int | str | None = ROTATE,
        seed: int | None = None,
        illegal: str = "raise",
        **rules: Any,
    ) -> None:
        self.env = SlopesVectorEnv(game, num_envs, opponents=opponents, seat=seat, illegal=illegal, **rules)
        super().__init__(self.env.num_envs, self.env.single_observation_space, self.env.single_action_space)
        self._next_seed = seed
        self._actions: Any = None
        self._returns = np.zeros(self.num_envs, dtype=np.float64)  # [B] of the present episodes
        self._lengths = np.zeros(self.num_envs, dtype=np.int64)  # [B] decisions in the present episodes

    @property
    def game(self) -> Game[Any, Any]:
        """The rules."""
        return self.env.game

    def reset(self) -> Observation:
        """Begin the next match in every row; options set by ``set_options`` are refused, since there are none."""
        options = next((options for options in self._options if options), None)
        observations, _ = self.env.reset(seed=self._next_seed, options=options)
        self._next_seed = None
        self._returns[:] = 0
        self._lengths[:] = 0
        return observations

    def step_async(self, actions: NDArray[np.int64]) -> None:
        """Keep the actions ``int[B]`` for :meth:`step_wait`."""
        self._actions = actions

    def step_wait(self) -> tuple[Observation, NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """Take the actions, and let the opponents move up to the learner's next decision.

        Raises
        ------
        IllegalAction
            For an action that the mask forbids, unless those end the match; nothing has then changed.
        """
        observations, rewards, terminated, truncated, final = self.env.step(self._actions)
        self._returns += rewards
        self._lengths += 1
        dones = terminated | truncated
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for row in np.flatnonzero(dones):
            infos[row] = {
                "terminal_observation": final["final_obs"][row],
                "TimeLimit.truncated": bool(truncated[row] and not terminated[row]),
                "episode": {"r": float(self._returns[row]), "l": int(self._lengths[row])},
            }
        self._returns[dones] = 0
        self._lengths[dones] = 0
        return observations, rewards, dones, infos

    def close(self) -> None:
        """Nothing is held open."""
        self.env.close()

    def action_masks(self) -> NDArray[np.bool_]:
        """Legal actions, ``bool[B, A]``."""
        return self.env.action_masks()

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Seed the next reset.

        Returns
        -------
        The one seed, B times: matches follow from it and their rows by :func:`slopes_envs.match_seed`, and not, as in
        other environments, from seeds of their own.
        """
        if seed is None:
            seed = int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
        self._next_seed = int(seed)
        return [self._next_seed] * self.num_envs

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """An attribute of the batched environment, once for every index."""
        return [getattr(self.env, attr_name)] * len(self._rows(indices))

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        """Set an attribute of the batched environment.

        Raises
        ------
        ValueError
            For some rows only.
        """
        self._all_rows(f"set_attr({attr_name!r})", indices)
        setattr(self.env, attr_name, value)

    def env_method(
        self, method_name: str, *method_args: Any, indices: VecEnvIndices = None, **method_kwargs: Any
    ) -> Any:
        """Call a method of the batched environment, once.

        Returns
        -------
        ``bool[len(indices), A]`` for ``action_masks``; of other methods the answer B times, as a list.

        Raises
        ------
        ValueError
            For some rows only of a method other than ``action_masks``.
        """
        method = getattr(self.env, method_name)
        if method_name == MASKS:
            masks = method(*method_args, **method_kwargs)
            return masks if indices is None else masks[self._rows(indices)]
        self._all_rows(f"env_method({method_name!r})", indices)
        return [method(*method_args, **method_kwargs)] * self.num_envs

    def env_is_wrapped(
        self, wrapper_class: type[gymnasium.Wrapper[Any, Any]], indices: VecEnvIndices = None
    ) -> list[bool]:
        """Whether the matches behave as if wrapped: True for ``Monitor``, whose work is done here, and nothing else.

        So ``evaluate_policy`` takes returns from the infos and does not ask for a ``Monitor``.
        """
        return [issubclass(wrapper_class, Monitor)] * len(self._rows(indices))

    def _rows(self, indices: VecEnvIndices) -> list[int]:
        """Indices as Stable-Baselines3 gives them, as a list; IndexError for one that is no row."""
        rows = [indices] if isinstance(indices, int | np.integer) else self._get_indices(indices)
        listed = [int(row) for row in rows]
        for row in listed:
            if not -self.num_envs <= row < self.num_envs:
                raise IndexError(f"indices: expected rows of a batch of {self.num_envs}, got {row}")
        return listed

    def _all_rows(self, what: str, indices: VecEnvIndices) -> None:
        if indices is not None and sorted(row % self.num_envs for row in self._rows(indices)) != list(
            range(self.num_envs)
        ):
            raise ValueError(f"{what}: expected all {self.num_envs} rows, which are one environment, got {indices!r}")
