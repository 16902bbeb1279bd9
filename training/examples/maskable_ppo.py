"""Stock ``MaskablePPO`` from sb3-contrib against fixed opponents.

The plain way to learn one of the games, with nothing of this project but its environment::

    python -m slopes_training.examples.maskable_ppo slippery_slope --decisions 1000000 --out runs/ppo.zip

One learner sits at each of ``--num-envs`` tables, in another seat with every hand, and the others are played by
``--opponents``.  Only the learner's decisions are learned from; for self-play, where all seats learn, see
``slopes train``.

A model that was trained here can be an opponent itself: opponents may be any callable from an information set to
actions, such as ``lambda view: model.predict(view.observations, action_masks=view.legal)[0]``.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy

from slopes_envs import game_names
from slopes_envs.files import write_bytes

from ..vec_env import SlopesVecEnv

EVALUATION_SEED = 2**32  # of matches that training, seeded by small numbers, does not see


def make_model(env: SlopesVecEnv, seed: int) -> MaskablePPO:
    """A learner with settings that suit short episodes of many games side by side."""
    return MaskablePPO(
        "MlpPolicy",
        env,
        n_steps=32,
        batch_size=2048,
        n_epochs=4,
        learning_rate=5e-4,
        gamma=1.0,  # a hand is short, and only its score counts
        gae_lambda=0.95,
        ent_coef=0.01,
        policy_kwargs={"net_arch": [256, 256]},
        seed=seed,
        device="cpu",
        verbose=1,
    )


def score(model: MaskablePPO, env: SlopesVecEnv, hands: int) -> tuple[float, float]:
    """The learner's mean score a hand and its standard error, always choosing the likeliest action."""
    env.seed(EVALUATION_SEED)
    returns = np.array(evaluate_policy(model, env, n_eval_episodes=hands, return_episode_rewards=True)[0])
    return float(returns.mean()), float(returns.std(ddof=1) / len(returns) ** 0.5)


app = typer.Typer(add_completion=False)


@app.command()
def main(
    game: Annotated[str, typer.Argument(help=f"One of {', '.join(game_names())}.")] = game_names()[0],
    opponents: Annotated[str, typer.Option(help="Agent that fills the other seats, such as random or heuristic.")] = (
        "random"
    ),
    decisions: Annotated[int, typer.Option(min=1, help="Decisions of the learner to train for.")] = 500_000,
    num_envs: Annotated[int, typer.Option(min=1, help="Games side by side.")] = 256,
    hands: Annotated[int, typer.Option(min=2, help="Hands to evaluate over, before and after.")] = 2_000,
    seed: Annotated[int, typer.Option(help="Of deals, opponents and network.")] = 1,
    out: Annotated[Path | None, typer.Option(help="Where to save the model, a .zip file.")] = None,
) -> None:
    """Train stock MaskablePPO against fixed opponents, a hand an episode, and print its score before and after."""
    try:
        env = SlopesVecEnv(game, num_envs, opponents=opponents, match="hand")
        judge = SlopesVecEnv(game, num_envs, opponents=opponents, match="hand")
    except ValueError as wrong:  # a game or an agent that does not exist
        raise typer.BadParameter(str(wrong)) from None
    model = make_model(env, seed)  # seeds the environment too
    before = score(model, judge, hands)
    model.learn(decisions)
    after = score(model, judge, hands)
    for when, (mean, error) in (("before", before), ("after", after)):
        print(f"{when} training: {mean:+.3f} ± {1.96 * error:.3f} points a hand against {opponents} ({hands} hands)")
    if out is not None:
        saved = io.BytesIO()
        model.save(saved)
        out.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(out, saved.getvalue())
        print(f"saved {out}")


if __name__ == "__main__":
    app()
