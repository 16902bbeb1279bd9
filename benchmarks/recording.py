"""Matches played by agents and taken down as game records."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from slopes_agents import make_agent
from slopes_envs import Game, match_seed
from slopes_envs.records import BATCH, Policy, record_lines

from .workers import spread


@dataclass(frozen=True)
class RecordedPlay:
    """What is to be played and recorded; all of it checked.

    Attributes
    ----------
    game
        The rules.
    agents
        Specs: one for all seats, or one a seat.
    seed
        Match ``i`` has the match seed ``match_seed(seed, i)``.
    legal
        Whether the legal actions are noted at every move.

    Raises
    ------
    ValueError
        For a number of agents that does not fit, or a spec that names no agent of this game.
    """

    game: Game[Any, Any]
    agents: tuple[str, ...]
    seed: int
    legal: bool = False

    def __post_init__(self) -> None:
        if len(self.agents) not in (1, self.game.num_players):
            raise ValueError(
                f"{self.game.name}: agents expected one for all seats or {self.game.num_players}, one a seat, "
                f"got {len(self.agents)}"
            )
        _ = self._policies  # a spec that names no agent of this game is refused here

    def __reduce__(self) -> tuple[Any, ...]:
        return RecordedPlay, (self.game, self.agents, self.seed, self.legal)  # workers make their own agents

    @property
    def players(self) -> list[str]:
        """Specs, seat by seat."""
        return list(self.agents) * (self.game.num_players // len(self.agents))

    @cached_property
    def _policies(self) -> list[Policy]:
        made = {spec: make_agent(spec, self.game).act for spec in self.agents}
        return [made[spec] for spec in self.players]

    def play_batch(self, first_and_stop: tuple[int, int]) -> list[bytes]:
        """Records of the matches ``first … stop - 1``, as lines of JSON."""
        seeds = match_seed(self.seed, np.arange(*first_and_stop))
        return list(record_lines(self.game, self._policies, seeds, players=self.players, legal=self.legal))

    def lines(self, matches: int, workers: int = 1, progress: Callable[[int], None] | None = None) -> Generator[bytes]:
        """Play matches and give their records in order, as lines of JSON, the same for any number of workers.

        ``progress`` is called with the number of matches that were played and taken.
        """
        stops = [*range(BATCH, matches, BATCH), matches]
        batches = list(zip([0, *stops], stops, strict=False))
        with closing(spread(self.play_batch, batches, workers, ordered=True)) as played:
            for (_, stop), lines in zip(batches, played, strict=True):
                yield from lines
                if progress is not None:
                    progress(stop)
