"""Agents that search."""

from .ismcts import IsmctsAgent
from .pimc import PimcAgent

__all__ = ["IsmctsAgent", "PimcAgent"]
