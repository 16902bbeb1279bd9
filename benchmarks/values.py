"""What states are worth, for control variates: any guess will do, and a better one takes out more luck.

A value may look at everything, hidden cards and the seed included, since no agent ever sees it.  It is named by a
*spec*, as agents are: ``ppo:PATH`` (the value head of a checkpoint), ``rollout`` or ``rollout:times=8,agent=SPEC``,
``distance`` (Slopes only), or ``module:Class``, a subclass of :class:`Value`.

Shape letters: **B** games, **P** seats.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from importlib import import_module
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from slopes_agents import make_agent
from slopes_agents.advice import make_adviser, observed
from slopes_agents.play import play_out
from slopes_envs import Game, InformationSet, State, UnknownName

ROLLOUT_GAMES = 16384
"""Games that are rolled out in one batch."""

FIRST_SALT = 1 << 20
"""Salt of the first roll-out; those of the players of an evaluation are below, so that none shares its chance."""


class Value(ABC):
    """What states of one game are worth to every seat.

    The unit is free and the same for all states: points, or points divided by something.  The answer must depend on
    the state alone.
    """

    def __init__(self, game: Game[Any, Any]) -> None:
        self.game = game

    @abstractmethod
    def of(self, state: State) -> NDArray[np.float64]:
        """A guess at each seat's score at the end, ``float64[B, P]``; some games may be over.

        ``state`` may not be changed.
        """

    @classmethod
    def from_spec(cls, game: Game[Any, Any], arguments: str) -> Self:
        """A value from what follows the name in its spec: by default nothing may.

        Raises
        ------
        ValueError
            For arguments that the value does not take.
        """
        if arguments:
            raise ValueError(f"value {cls.__name__}: expected no arguments, got {arguments!r}")
        return cls(game)


class RolloutValue(Value):
    """The mean score at the end when an agent plays on from there in all seats, a few times.

    The successors of one state are played on with the same chance, so that what differs between them is the action.

    Parameters
    ----------
    times
        How often.
    agent
        Spec of the agent.
    """

    def __init__(self, game: Game[Any, Any], times: int = 4, agent: str = "random") -> None:
        super().__init__(game)
        if times < 1:
            raise ValueError(f"value rollout: times expected a whole number of at least 1, got {times}")
        self.times = times
        self.agent = make_agent(agent, game)

    @classmethod
    def from_spec(cls, game: Game[Any, Any], arguments: str) -> Self:
        """From ``times=NUMBER``, ``agent=SPEC`` or both; the spec of the agent comes last and may hold commas."""
        number, comma, agent = arguments.partition("agent=")
        options: dict[str, Any] = {"agent": agent} if comma else {}
        number = number.removesuffix(",") if comma else number
        if number:
            key, _, value = number.partition("=")
            if key != "times":
                raise UnknownName("argument of value rollout", key, [*inspect.signature(cls).parameters][1:])
            try:
                options["times"] = int(value)
            except ValueError:
                raise ValueError(f"value rollout: times expected a whole number, got {value!r}") from None
        return cls(game, **options)

    def of(self, state: State) -> NDArray[np.float64]:
        """Play on, in batches of a fixed size."""
        at_once = max(ROLLOUT_GAMES // self.times, 1)
        parts = [
            self._played_on(state.take(np.arange(start, min(start + at_once, len(state)))))
            for start in range(0, len(state), at_once)
        ]
        return np.concatenate(parts) if parts else np.zeros((0, self.game.num_players))

    def _played_on(self, state: State) -> NDArray[np.float64]:
        games = state.repeat(self.times)
        seats = (len(games), self.game.num_players)
        salts = np.tile(FIRST_SALT + np.arange(self.times), len(state))
        play_out(
            self.game,
            games,
            [self.agent],
            np.zeros(seats, np.int64),
            salts=np.broadcast_to(salts[:, None], seats),
        )
        means: NDArray[np.float64] = games.scores.reshape(len(state), self.times, -1).mean(axis=1)
        return means


class NetworkValue(Value):
    """The scores so far and what the value head of a checkpoint expects on top of them, asked from every seat.

    Parameters
    ----------
    path
        A checkpoint, or a folder with a ``best.zip`` in it.
    scale
        The head's unit in points; by default what the checkpoint says rewards were divided by.
    """

    def __init__(self, game: Game[Any, Any], path: Path, scale: float | None = None) -> None:
        super().__init__(game)
        from slopes_agents.learned import load_network

        if scale is not None and not scale > 0:
            raise ValueError(f"value ppo: scale expected a number above 0, got {scale}")
        self.network = load_network(path, game)
        self.adviser = make_adviser(self.network.shape.advice, game)
        self.scale: float = getattr(self.network, "unit", 1.0) if scale is None else scale

    @classmethod
    def from_spec(cls, game: Game[Any, Any], arguments: str) -> Self:
        """From ``PATH`` or ``PATH,scale=NUMBER``."""
        path, comma, rest = arguments.partition(",")
        if not path:
            raise ValueError("value ppo: expected a checkpoint, as in ppo:runs/first or ppo:runs/first/last.zip")
        if not comma:
            return cls(game, Path(path))
        key, _, value = rest.partition("=")
        if key != "scale":
            raise UnknownName("argument of value ppo", key, ["scale"])
        try:
            scale = float(value)
        except ValueError:
            raise ValueError(f"value ppo: scale expected a number, got {value!r}") from None
        return cls(game, Path(path), scale)

    def of(self, state: State) -> NDArray[np.float64]:
        """One forward pass a seat."""
        import torch

        found = state.scores / self.scale
        live = np.flatnonzero(state.seat >= 0)
        part = state.take(live)
        with torch.inference_mode():
            for seat in range(self.game.num_players):
                view = InformationSet(self.game, part, np.full(len(live), seat))
                _, values = self.network(torch.from_numpy(observed(view, self.adviser)))
                found[live, seat] += values.numpy()
        return found


class DistanceValue(Value):
    """Written by hand for Slopes: how much nearer than the other a seat is to its slope.

    A seat that lacks d piles is worth :data:`STEP` to the power of d, less what the other is.  Roll-outs, of hundreds
    of turns each, would be far too dear there.
    """

    STEP = 0.1  # the one of five, from 0.02 to 0.2, that left the least variance between random players

    def __init__(self, game: Game[Any, Any]) -> None:
        super().__init__(game)
        if "distance" not in game.observation.planes:
            raise ValueError(f"value distance: expected a game with slopes to build, got {game.name}")

    def of(self, state: State) -> NDArray[np.float64]:
        """From the piles alone."""
        one_hot = self.game.features(state, 0)["distance"].reshape(len(state), self.game.num_players, -1)
        near = one_hot @ self.STEP ** np.arange(one_hot.shape[2])
        worth: NDArray[np.float64] = near - near[:, ::-1]
        return np.where(state.seat[:, None] < 0, state.scores, worth)


VALUES: dict[str, type[Value]] = {"distance": DistanceValue, "ppo": NetworkValue, "rollout": RolloutValue}
"""By the name a spec starts with."""


def make_value(spec: str, game: Game[Any, Any]) -> Value:
    """A value from its spec.

    Raises
    ------
    UnknownName
        If no value is called so.
    ValueError
        For arguments that it does not take, or a checkpoint of another game.
    """
    name, _, arguments = spec.partition(":")
    if name in VALUES:
        return VALUES[name].from_spec(game, arguments)
    attribute, _, arguments = arguments.partition(":")
    unknown = UnknownName("value", spec, [*VALUES, "module:Class"])
    if not attribute:
        raise unknown
    try:
        value_class = getattr(import_module(name), attribute)
    except ModuleNotFoundError as error:
        if error.name != name.split(".")[0]:
            raise  # the module is there, what it needs is not
        raise unknown from error
    except AttributeError as error:
        raise unknown from error
    value: Value = value_class.from_spec(game, arguments)
    return value
