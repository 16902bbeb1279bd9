"""What the policies that ship are shown and choose in some positions: a feature that changes its meaning is found.

``python tests/shipped_choices.py`` writes them anew, which is due when other weights ship, or when they are to be shown
something else.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
from helpers import staggered
from numpy.typing import NDArray

from slopes_agents import make_agent
from slopes_agents.learned import LearnedAgent
from slopes_agents.weights_file import shipped_weights
from slopes_envs import InformationSet, game_names, make_game
from slopes_envs.files import write_bytes

FILE = Path(__file__).with_name("shipped_choices.json")
POSITIONS, MOVES = 300, 60
OPTIONS: dict[str, list[dict[str, Any]]] = {
    "slippery_slope": [{}],
    "sloppy_seconds": [{"num_players": 3}, {"num_players": 4}],
    "sluff": [{"num_players": 4}, {"num_players": 6}, {"num_players": 8}, {"num_players": 10}],
    "slopes": [{}],
    "slippery_sam": [{"num_players": 4}, {"num_players": 9, "fee": 1}],
}


def digest(name: str) -> str:
    """Of the file of weights that ships for a game."""
    return hashlib.sha256(shipped_weights(name).read_bytes()).hexdigest()[:16]


def positions(name: str, rules: dict[str, Any]) -> InformationSet:
    """Positions of random play with a choice, at most ``POSITIONS``."""
    game = make_game(name, **rules)
    state = staggered(game, 3 * POSITIONS, MOVES)
    free = np.flatnonzero(game.legal(state).sum(axis=1) > 1)[:POSITIONS]
    return InformationSet(game, state.take(free))


def choices(name: str, rules: dict[str, Any]) -> NDArray[np.int64]:
    """What the policy does in these positions, ``int64[N]``."""
    view = positions(name, rules)
    return make_agent("ppo", view.game).act(view)


def shown(name: str, rules: dict[str, Any]) -> NDArray[np.float64]:
    """The mean of every byte of advice in these positions, ``float64[size]``; empty where the policy has no adviser."""
    view = positions(name, rules)
    policy = make_agent("ppo", view.game)
    assert isinstance(policy, LearnedAgent)
    if policy.adviser is None:
        return np.zeros(0)
    means: NDArray[np.float64] = policy.adviser.advise(view).mean(axis=0).round(1)
    return means


def written() -> dict[str, Any]:
    """What was written: by game, the digest of the weights, and choices and means for each of its options."""
    found: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def main() -> None:
    """Write all of it."""
    made = {
        name: {
            "digest": digest(name),
            "choices": [choices(name, rules).tolist() for rules in OPTIONS[name]],
            "shown": [shown(name, rules).tolist() for rules in OPTIONS[name]],
        }
        for name in game_names()
    }
    lines = [f"{json.dumps(name)}: {json.dumps(entry, separators=(',', ':'))}" for name, entry in made.items()]
    write_bytes(FILE, ("{\n" + ",\n".join(lines) + "\n}\n").encode())


if __name__ == "__main__":
    main()
