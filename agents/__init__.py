"""Baseline and learned agents, batch first.

:func:`make_agent` turns a spec such as ``"random"``, ``"heuristic"`` or ``"ppo:runs/first"`` into an agent for a game.
"""

from .base import Agent, agent_names, make_agent

__all__ = ["Agent", "agent_names", "make_agent"]
