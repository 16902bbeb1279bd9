"""PPO from TorchRL on the PettingZoo environment of a game: all seats learn, one network for all.

Nothing of this project but its environment trains here.  TorchRL wraps it, collects, estimates advantages and takes
the steps; install it with ``pip install 'slopes-envs[torchrl]'``::

    python -m slopes_training.examples.torchrl_aec slippery_sam --decisions 30000

TorchRL records every step for every seat, with a mask that tells who acted.  What a seat learns from are its own
decisions alone, so each seat's are first drawn out of the record (:func:`seat_by_seat`): what a decision brought is
all that the seat earned up to its own next one, whoever's moves brought it, and the value that follows is that of the
seat's next decision.

One match is played at a time, some hundreds of decisions a second: an example of the interface, not the way to a strong
player, for which see ``slopes train``.

Shape letters: **T** steps, **P** seats, **N** decisions, **A** actions, **D** features.
"""

from __future__ import annotations

import warnings
from typing import Annotated, Any

import numpy as np
import torch
import typer
from numpy.typing import NDArray
from tensordict import TensorDict
from tensordict.nn import TensorDictModule
from torch import nn
from torchrl.collectors import Collector
from torchrl.envs.libs.pettingzoo import PettingZooWrapper
from torchrl.modules import MaskedCategorical, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

from slopes_agents import Agent, make_agent
from slopes_envs import Game, InformationSet, game_names, make_game
from slopes_envs.aec import env as aec_env

from ..watch import advantage_over

SEATS = "seats"
"""The one group that TorchRL keeps all agents in, so that one network serves them."""

EVALUATION_SEED = 2**32  # of matches that training, seeded by small numbers, does not see


class Perceptron(nn.Module):
    """A network that takes observations as they come, ``uint8[…, D]``."""

    def __init__(self, features: int, outputs: int, width: int = 128) -> None:
        super().__init__()
        last = nn.Linear(width, outputs)
        with torch.no_grad():
            last.weight.mul_(0.01)  # to begin with all actions are about as likely, and values near 0
        self.layers = nn.Sequential(nn.Linear(features, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), last)

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Logits or values, ``float32[…, outputs]``."""
        outputs: torch.Tensor = self.layers(observations.float())
        return outputs


class Greedy(Agent):
    """Plays the likeliest action of a network."""

    def __init__(self, game: Game[Any, Any], network: nn.Module) -> None:
        super().__init__(game)
        self.network = network

    def act(self, view: InformationSet) -> NDArray[np.int64]:
        """Choose by one forward pass."""
        with torch.no_grad():
            logits = self.network(torch.from_numpy(view.observations)).numpy()
        best: NDArray[np.int64] = np.where(view.legal, logits, -np.inf).argmax(axis=1)
        return best


def make_env(game: str, seed: int, **rules: Any) -> PettingZooWrapper:
    """The game as TorchRL sees it."""
    table = aec_env(game, **rules)
    with warnings.catch_warnings():
        # It names an old version of PettingZoo as the one it is tested with.
        warnings.filterwarnings("ignore", "PettingZoo in TorchRL is tested", UserWarning)
        return PettingZooWrapper(table, use_mask=True, group_map={SEATS: table.possible_agents}, seed=seed)


def make_actor(network: nn.Module, group: tuple[str, ...] = (), spec: Any = None) -> ProbabilisticActor:
    """The policy over legal actions; ``group`` is where TorchRL keeps what it reads and writes."""
    prefix = (*group, "observation") if group else ()
    logits = TensorDictModule(network, in_keys=[(*prefix, "observation")], out_keys=[(*group, "logits")])
    return ProbabilisticActor(
        logits,
        in_keys={"logits": (*group, "logits"), "mask": (*group, "action_mask")},
        out_keys=[(*group, "action")],
        spec=spec,
        distribution_class=MaskedCategorical,
        return_log_prob=True,
        log_prob_key=(*group, "action_log_prob"),
    )


def seat_by_seat(record: TensorDict) -> TensorDict:
    """Every seat's own decisions, one seat after the other.

    Parameters
    ----------
    record
        What the collector recorded, of batch size ``[T]``.

    Returns
    -------
    Of batch size ``[N]``, in each seat's order of time.  A seat's last decision is left out where the record ends
    before it is known what followed; ``done`` without ``terminated`` marks the one before it, and cut-off matches.
    """
    told, followed = record[SEATS], record["next", SEATS]
    steps, seats = told["mask"].shape
    ended = record["next", "done"].reshape(steps)
    ends = torch.cat([ended.nonzero().flatten(), torch.tensor([steps])])
    earned = torch.cat([torch.zeros(1, seats), followed["reward"].reshape(steps, seats).cumsum(0)])
    parts = []
    for seat in range(seats):
        own = told["mask"][:, seat].nonzero().flatten()
        if not len(own):
            continue
        following = torch.cat([own[1:], torch.tensor([steps])])
        end = ends[torch.searchsorted(ends, own)]  # where the match of the decision ends, if that is in the record
        over = end < following
        known = over | (following < steps)
        own, following, end, over = own[known], following[known], end[known], over[known]
        if not len(own):
            continue
        until = torch.where(over, end + 1, following)
        observations = told["observation", "observation"][:, seat]
        final = followed["observation", "observation"][:, seat]
        last = torch.where(over, end, 0)
        terminated = over & followed["terminated"].reshape(steps, seats)[last, seat]
        done = over.clone()
        done[-1] = True  # here the seat's decisions end
        parts.append(
            TensorDict(
                {
                    "observation": observations[own],
                    **{key: told[key][own, seat] for key in ("action_mask", "action", "action_log_prob")},
                    "next": {
                        "observation": torch.where(
                            over[:, None], final[last], observations[following.clamp(max=steps - 1)]
                        ),
                        "reward": (earned[until, seat] - earned[own, seat])[:, None],
                        "done": done[:, None],
                        "terminated": terminated[:, None],
                    },
                },
                batch_size=[len(own)],
            )
        )
    return torch.cat(parts)


def train(game: str, decisions: int, seed: int, steps: int = 1000, reward_scale: float = 1.0, **rules: Any) -> Greedy:
    """Self-play by TorchRL's PPO.

    Parameters
    ----------
    game
        Name of a game.
    decisions
        Of all seats together.
    seed
        Of deals, network and choices.
    steps
        T, decisions between two updates.
    reward_scale
        Rewards are divided by it; scores of some games are large numbers.
    **rules
        Options of the game.
    """
    torch.manual_seed(seed)
    env = make_env(game, seed, **rules)
    made = env.unwrapped.game
    policy = Perceptron(made.observation.size, made.num_actions)
    critic = ValueOperator(Perceptron(made.observation.size, 1), in_keys=["observation"])
    collector = Collector(
        env,
        make_actor(policy, (SEATS,), env.full_action_spec[SEATS, "action"]),
        frames_per_batch=steps,
        total_frames=-(-decisions // steps) * steps,
        auto_register_policy_transforms=False,  # the network remembers nothing from step to step
    )
    estimate = GAE(gamma=1.0, lmbda=0.95, value_network=critic)
    loss = ClipPPOLoss(make_actor(policy), critic, entropy_coeff=0.01, normalize_advantage=True)
    optimizer = torch.optim.Adam(loss.parameters(), lr=1e-3)
    for record in collector:
        batch = seat_by_seat(record)
        batch["next", "reward"] /= reward_scale
        estimate(batch)
        for _ in range(4):
            for part in batch[torch.randperm(len(batch))].split(250):
                losses = loss(part)
                total = losses["loss_objective"] + losses["loss_critic"] + losses["loss_entropy"]
                optimizer.zero_grad()
                total.backward()
                nn.utils.clip_grad_norm_(loss.parameters(), 0.5)
                optimizer.step()
    collector.shutdown()
    return Greedy(made, policy)


app = typer.Typer(add_completion=False)


@app.command()
def main(
    game: Annotated[str, typer.Argument(help=f"One of {', '.join(game_names())}.")] = "slippery_sam",
    decisions: Annotated[int, typer.Option(min=1, help="Decisions to train for, of all seats together.")] = 30_000,
    steps: Annotated[int, typer.Option(min=2, help="Decisions between two updates.")] = 1_000,
    reward_scale: Annotated[float, typer.Option(min=1e-6, help="Rewards are divided by it.")] = 10.0,
    deals: Annotated[int, typer.Option(min=2, help="Duplicate deals to evaluate over.")] = 1_000,
    seed: Annotated[int, typer.Option(help="Of deals, network and choices.")] = 1,
) -> None:
    """Train by TorchRL's PPO on single hands, all seats learning, and print what it scores above random players."""
    try:
        make_game(game)
    except ValueError as wrong:
        raise typer.BadParameter(str(wrong)) from None
    player = train(game, decisions, seed, steps, reward_scale, match="hand")
    mean, error, _ = advantage_over(player.game, player, make_agent("random", player.game), deals, EVALUATION_SEED)
    print(f"after training: {mean:+.3f} ± {1.96 * error:.3f} points a hand above random players ({deals} deals)")


if __name__ == "__main__":
    app()
