"""Networks that share weights over suits, for the games that have some."""

from __future__ import annotations

import json
from dataclasses import asdict

from slopes_agents.network import NetworkShape, SuitShape
from slopes_envs.games import slippery_slope, sluff

SUITED = {
    "slippery_slope": NetworkShape(
        (12, 20),
        ("last_bids", "score_level", "scores", "hand_number"),
        SuitShape(("hand", "table", "seen"), ("follow", "voids"), first=slippery_slope.BIDS),
    ),
    "sloppy_seconds": NetworkShape(
        (12, 20),
        ("score_level", "scores", "hand_number"),
        SuitShape(
            ("hand", "table", "seen"),
            ("follow", "first_broken", "trump", "voids", "right_voids", "first", "second"),
            ("points", "points_level"),
        ),
    ),
    "sluff": NetworkShape(
        (12, 20),
        ("lead_level", "team_scores", "hand_number", "hands_left"),
        SuitShape(("hand", "seen", "gone"), ("table", "follow", "voids", "right_voids"), first=sluff.BIDS, alike=False),
    ),
}
"""By game: narrow ones."""


def as_override(name: str) -> str:
    """The suits of a game as a setting of a configuration; the standard ones have four."""
    suits = SUITED[name].suits
    assert suits is not None
    return "network.suits=" + json.dumps({key: value for key, value in asdict(suits).items() if key != "count"})
