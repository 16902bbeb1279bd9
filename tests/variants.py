"""Options under which the shared tests play every game."""

from __future__ import annotations

from typing import Any

from slopes_envs import Game, game_names, make_game

VARIANTS: dict[str, list[dict[str, Any]]] = {
    "slippery_slope": [
        {},
        {"match": "hand"},
        {"match": "hand", "reveal_bids": "after_bidding"},
        {"reveal_bids": "after_bidding", "max_hands": 4},
        {"target_score": 5, "max_hands": 20},
        {"max_hands": 3, "first_dealer": 1, "reward": "win"},
    ],
    "sloppy_seconds": [
        {},
        {"num_players": 3},
        {"match": "hand"},
        {"num_players": 3, "tie_ranking": "competition", "max_hands": 3},
        {"tie_ranking": "competition", "target_score": 60, "first_dealer": 2},
        {"max_hands": 2, "reward": "win"},
    ],
    "sluff": [
        {},
        {"num_players": 6},
        {"num_players": 8, "match": "hand"},
        {"num_players": 10, "match": "hand"},
        {"allow_zero_bid": True, "match": "hand"},
        {"num_players": 6, "allow_zero_bid": True, "first_dealer": 4, "reward": "win"},
    ],
    "slopes": [
        {},
        {"must_play": False},
        {"max_turns": 40},
        {"must_play": False, "max_turns": 30, "first_player": 1, "match": "hand"},
        {"max_turns": 25, "reward": "win"},
    ],
    "slippery_sam": [
        {},
        {"num_players": 2, "rounds": 3},
        {"num_players": 9, "fee": 1},
        {"num_players": 3, "bet_levels": "all", "starting_chips": 30, "rounds": 2, "fee": 0},
        {"num_players": 4, "match": "hand", "first_dealer": 3},
        {"num_players": 5, "min_stake": 40, "min_bet": 7, "rounds": 2, "bet_levels": (0, 0.29, 1), "reward": "win"},
    ],
}


def all_variants() -> list[tuple[str, dict[str, Any]]]:
    """Every game of the registry with every one of its variants."""
    return [(name, rules) for name in game_names() for rules in VARIANTS[name]]


def variant_id(variant: tuple[str, dict[str, Any]]) -> str:
    """A name for a parametrised test."""
    name, rules = variant
    return "-".join([name, *(f"{key}={value}" for key, value in rules.items())])


def made(variant: tuple[str, dict[str, Any]]) -> Game[Any, Any]:
    """The game of a variant."""
    name, rules = variant
    return make_game(name, **rules)
