"""Playthroughs: whole matches as text, so that a change of behaviour shows in a diff.

``python tests/playthroughs.py`` writes them anew.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from variants import VARIANTS

from slopes_envs import derive, game_names, make_game, match_seed

FOLDER = Path(__file__).parent / "playthroughs"
SEED = 2024
MOST_MOVES = 120


def path_of(name: str, number: int) -> Path:
    """The file of a game's variant."""
    return FOLDER / f"{name}_{number}.txt"


def playthrough(name: str, rules: dict[str, Any]) -> str:
    """One match of random play: the deal, then for every move what the mover sees, what is legal and what is done."""
    game = make_game(name, **rules)
    state = game.new(match_seed(SEED, 0))
    lines = [repr(game), f"observation {game.observation.size}, {game.observation_all.size} with perfect information"]
    lines += [f"deal {game.deal_object(state, 0)}"]
    hand = 0
    for move in range(MOST_MOVES):
        seat = int(state.seat[0])
        if seat < 0:
            break
        legal = game.legal_names(state, 0)
        action = game.sample_legal(state, derive(SEED, move))
        seen = np.packbits(game.observe(state, seat)[0]).tobytes().hex()
        everything = np.packbits(game.observe_all(state, seat)[0]).tobytes().hex()
        lines += [
            "",
            f"move {move + 1}, seat {seat}: {game.action_name(state, 0, int(action[0]))}",
            f"legal {', '.join(legal)}",
            f"sees {seen}",
            f"all {everything[len(seen) - 2 :]}",
        ]
        outcome = game.step(state, action)
        if outcome.rewards.any():
            lines.append(f"rewards {outcome.rewards[0].tolist()}")
        if state.hand[0] != hand and state.seat[0] >= 0:
            hand = int(state.hand[0])
            lines.append(f"deal {game.deal_object(state, 0)}")
    lines += ["", *(f"{key}: {value}" for key, value in game.describe(state, 0).items())]
    lines.append(f"terminated {bool(state.terminated[0])}, truncated {bool(state.truncated[0])}")
    return "\n".join(lines) + "\n"


def all_playthroughs() -> list[tuple[str, int]]:
    """Every game with the number of each of its variants."""
    return [(name, number) for name in game_names() for number in range(len(VARIANTS[name]))]


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for game_name, variant in all_playthroughs():
        path_of(game_name, variant).write_text(playthrough(game_name, VARIANTS[game_name][variant]), encoding="utf-8")
