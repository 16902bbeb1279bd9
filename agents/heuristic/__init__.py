"""Rule-based players, one module a game."""
