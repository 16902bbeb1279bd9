"""Agents: batch first, and pure functions of what their seats may know.

An agent is named by a *spec*, ``NAME`` or ``NAME:ARGUMENTS``; see :mod:`slopes_envs.specs`.

Shape letters: **B** games, **A** actions.
"""

from __future__ import annotations

import inspect
import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from slopes_envs import Game, InformationSet, UnknownName
from slopes_envs.specs import agent_names, resolve_agent

__all__ = ["Agent", "DeterministicAgent", "agent_names", "make_agent", "parse_arguments", "split_leading", "where_free"]


class Agent(ABC):
    """A player of one game, for any seat.

    An agent keeps nothing between calls: what it does depends on the view alone, and what is random in it comes from
    ``view.keys``.
    """

    spec: str = ""
    """The spec it was made from, for labels."""
    blind: bool = False
    """Whether it plays without looking at the game, as chance does: then its choices speak for nothing, and it costs
    less to ask it than to see where it has a choice."""

    def __init__(self, game: Game[Any, Any]) -> None:
        self.game = game

    @abstractmethod
    def act(self, view: InformationSet) -> NDArray[np.int64]:
        """Choose a legal action in every game of the batch.

        Parameters
        ----------
        view
            What the seats to move know.

        Returns
        -------
        int64[B]
        """

    def probabilities(self, view: InformationSet) -> NDArray[np.float64]:
        """Chance of every action, ``float64[B, A]``, rows summing to one.

        Only agents whose :attr:`has_probabilities` is true offer it; others raise TypeError.
        """
        raise TypeError(f"agent {self.spec or type(self).__name__!r} does not tell its probabilities")

    @property
    def has_probabilities(self) -> bool:
        """Whether :meth:`probabilities` is offered."""
        return type(self).probabilities is not Agent.probabilities

    @classmethod
    def from_spec(cls, game: Game[Any, Any], arguments: str) -> Self:
        """An agent from what follows the name in its spec: by default ``key=value,…`` for the constructor.

        Raises
        ------
        ValueError
            For arguments that the agent does not take.
        """
        return cls(game, **parse_arguments(cls, arguments))

    def __repr__(self) -> str:
        return f"<agent {self.spec or type(self).__name__} for {self.game.name}>"


def where_free(
    view: InformationSet, choose: Callable[[InformationSet], NDArray[np.int64]], at_once: int | None = None
) -> NDArray[np.int64]:
    """What somebody chooses in the games with a choice; in the others, the only legal action (0 if there is none).

    Parameters
    ----------
    choose
        Asked about the games with a choice alone, and not at all if there are none: ``int64[B]`` of its view.
    at_once
        The most games it is asked about together; by default all.
    """
    rows = np.flatnonzero(np.count_nonzero(view.legal, axis=1) > 1)
    at_once = max(len(rows), 1) if at_once is None else at_once
    if 0 < len(rows) == len(view) <= at_once:
        return choose(view)
    actions: NDArray[np.int64] = view.legal.argmax(axis=1)
    for first in range(0, len(rows), at_once):
        some = rows[first : first + at_once]
        actions[some] = choose(view.take(some))
    return actions


class DeterministicAgent(Agent):
    """A player whose choice is certain, given the view: subclasses supply :meth:`act` alone."""

    def probabilities(self, view: InformationSet) -> NDArray[np.float64]:
        """One for the chosen action, ``float64[B, A]``; rows of seats that are not to move are zero."""
        legal = view.legal
        chosen = np.zeros(legal.shape)
        rows = np.flatnonzero(legal.any(axis=1))
        if len(rows):
            chosen[rows, self.act(view if len(rows) == len(view) else view.take(rows))] = 1.0
        return chosen


def split_leading(arguments: str) -> tuple[str, str]:
    """What a spec's arguments begin with, and the ``key=value,…`` behind it; either may be empty.

    >>> split_leading("runs/first,mode=sample"), split_leading("mode=sample"), split_leading("")
    (('runs/first', 'mode=sample'), ('', 'mode=sample'), ('', ''))
    """
    leading, _, rest = arguments.partition(",")
    return ("", arguments) if re.match(r"\w+=", leading) else (leading, rest)


def parse_arguments(agent: type[Agent], text: str) -> dict[str, Any]:
    """Keyword arguments for an agent's constructor from ``key=value,…``, converted by the type of their defaults.

    Only parameters whose default is a number or a text can be given so.
    """
    parameters = {
        name: parameter
        for name, parameter in inspect.signature(agent.__init__).parameters.items()
        if isinstance(parameter.default, int | float | str)
    }
    arguments: dict[str, Any] = {}
    for part in filter(None, text.split(",")):
        key, equals, value = part.partition("=")
        if key not in parameters:
            raise UnknownName(f"argument of agent {agent.__name__}", key, parameters)
        if not equals:
            raise ValueError(f"agent {agent.__name__}: expected {key}=value, got {part!r}")
        kind = type(parameters[key].default)
        try:
            arguments[key] = kind(value) if kind in (int, float) else value
        except ValueError:
            raise ValueError(f"agent {agent.__name__}: {key} expected {kind.__name__}, got {value!r}") from None
    return arguments


def make_agent(spec: str, game: Game[Any, Any]) -> Agent:
    """An agent from its spec, such as ``"random"``, ``"pimc:worlds=32"``, ``"ppo:runs/first"``, ``"my_bots:Careful"``.

    Raises
    ------
    UnknownName
        If no agent is called so.
    ValueError
        If it is no agent or does not play this game, or for arguments that it does not take.
    """
    agent_class, arguments = resolve_agent(spec)
    if not (isinstance(agent_class, type) and issubclass(agent_class, Agent)):
        raise ValueError(f"agent {spec!r}: expected a subclass of slopes_agents.Agent, got {agent_class!r}")
    agent: Agent = agent_class.from_spec(game, arguments)
    agent.spec = spec
    return agent
