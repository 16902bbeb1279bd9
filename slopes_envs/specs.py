"""Agent specs: the text by which an agent is named wherever one is asked for.

A spec is ``NAME`` or ``NAME:ARGUMENTS``, where names are those of the entry-point group ``slopes.agents`` (other
distributions add theirs there), or ``module:Class`` and ``module:Class:ARGUMENTS``.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from .errors import UnknownName

GROUP = "slopes.agents"


def _registered() -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=GROUP)}


def agent_names() -> list[str]:
    """Names of all registered agents."""
    return sorted(_registered())


def resolve_agent(spec: str) -> tuple[Any, str]:
    """The class that a spec names, and its arguments; nothing else is imported.

    Raises
    ------
    UnknownName
        If no agent is called so.
    """
    name, _, arguments = spec.partition(":")
    registered = _registered()
    if name in registered:
        return registered[name].load(), arguments
    attribute, _, arguments = arguments.partition(":")
    unknown = UnknownName("agent", spec, [*sorted(registered), "module:Class"])
    if not attribute:
        raise unknown
    try:
        return getattr(import_module(name), attribute), arguments
    except AttributeError:
        raise unknown from None
    except ModuleNotFoundError as error:
        if error.name is not None and (name + ".").startswith(error.name + "."):
            raise unknown from None
        raise  # the module is there; something it needs is not
