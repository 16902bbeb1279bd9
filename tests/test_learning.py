"""Every game is learned: a short run, without advice or a look ahead, leads to a policy that beats random players."""

from __future__ import annotations

import io
from pathlib import Path
from typing import NamedTuple

import pytest
from rich.console import Console
from suited import as_override

from slopes_agents import make_agent
from slopes_envs import game_names
from slopes_training.config import load_config
from slopes_training.train import run
from slopes_training.watch import advantage_over

SHORT = ["threads=1", "games=64", "minibatch=256", "evaluation={every: 1000000, deals: 10, opponents: [random]}"]
"""Small batches: in a short run it is the number of gradient steps that counts."""


BY_ITSELF = ("network.advice=null", "look_ahead=null")
"""With advice, a policy is as good as the rule-based player from the beginning: here the observation alone is seen."""


class Short(NamedTuple):
    """A short run, and how far above random players it must come."""

    decisions: int
    margins: list[float]  # points a hand (of Slopes: of a match), for each of the configuration's variants
    deals: int = 500
    overrides: tuple[str, ...] = ()


GAMES = {
    "slippery_slope": Short(80_000, [1.5]),
    # By self-play alone it takes far longer: most of this run copies, as the first part of a whole one does.
    "sloppy_seconds": Short(
        80_000,
        [3.0],
        overrides=(
            "warm_start={agent: heuristic, share: 0.8, epochs: 3, learning_rate: 0.003}",
            "opponents=[]",
            "variants=[{rules: {num_players: 4}}]",
            "network.layers=[128,192]",
            "network.sharpness=1",
            as_override("sloppy_seconds"),
            "network.left_out=[score_level, scores, hand_number]",
            "learning_rate={start: 7.0e-4, end: 1.0e-5}",
            "entropy={start: 0.01, end: 0.001}",
            "critic=own",
            *BY_ITSELF,
        ),
    ),
    "sluff": Short(
        80_000,
        [25.0, 8.0],
        overrides=(
            "warm_start={agent: heuristic, share: 0.4}",
            "opponents=[]",
            "variants=[{rules: {num_players: 4}}, {rules: {num_players: 6}}]",
            "network.layers=[96,192]",
            as_override("sluff"),
            "network.left_out=[lead_level, team_scores, hand_number, hands_left]",
            "learning_rate={start: 5.0e-4, end: 1.0e-5}",
            "entropy={start: 0.01, end: 0.0}",
            "critic=own",
            *BY_ITSELF,
        ),
    ),
    # Of a match of hundreds of decisions only the end counts: more matches, larger batches.
    "slopes": Short(
        100_000,
        [0.25],
        300,
        (
            "games=128",
            "minibatch=1024",
            "moves=64",
            "opponents=[]",
            "reward=score",
            "reward_scale=1",
            "value_weight=0.5",
            "mirror=null",
            "network.layers=[256,256]",
            "network.left_out=[turns]",
            "gamma=0.995",
            "learning_rate={start: 0.001, end: 0.00001}",
            "entropy={start: 0.02, end: 0.001}",
            *BY_ITSELF,
        ),
    ),
    # The run that ships copies exact bets, which take their time; self-play alone learns to bet, too.
    "slippery_sam": Short(
        50_000,
        [2.0],
        2_000,
        overrides=(
            "rules={match: hand}",
            "gamma=1.0",
            "warm_start=null",
            "opponents=[]",
            "variants=[{rules: {num_players: 6}}]",
            "learning_rate={start: 0.0005, end: 0.00001}",
            "entropy={start: 0.02, end: 0.0}",
        ),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", game_names())
def test_a_short_training_beats_random(name: str, tmp_path: Path) -> None:
    """By the margin at three standard errors below the mean; random players among themselves are at 0."""
    short = GAMES[name]
    run(
        name,
        out=tmp_path / "run",
        decisions=short.decisions,
        overrides=[*SHORT, *short.overrides],
        console=Console(file=io.StringIO()),
    )
    games = load_config(tmp_path / "run" / "config.yaml").made_games()
    for game, margin in zip(games, short.margins, strict=True):
        policy, opponent = make_agent(f"ppo:{tmp_path / 'run'}", game), make_agent("random", game)
        mean, error, _ = advantage_over(game, policy, opponent, short.deals, 1)
        assert mean - 3 * error > margin
