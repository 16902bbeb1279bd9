"""Fit what :func:`slopes_agents.heuristic.slopes.evaluate` goes by to matches of the player against itself.

    python -m slopes_agents.heuristic.fit_slopes

prints the factors and how well they tell how matches end that they were not fitted to, the same ones every time, in
some six minutes of one core (SciPy and Typer are needed).

Most matches of equal players end in a draw, after all the turns there are; so what is fitted is the final reward
itself, by least squares, at all times of a match, and not who wins of those matches that somebody wins.  Now and then
a move is drawn at random, so that positions are met to which the player would not come by itself.

Shape letters: **B** matches, **N** positions.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np
import typer
from numpy.typing import NDArray
from scipy import optimize

from slopes_envs import InformationSet, derive, make_game, match_seed
from slopes_envs.chance import Purpose, UInt64, below
from slopes_envs.games.slopes import Slopes

from .slopes import CONSIDERATIONS, Floats, SlopesPlayer, considerations, expected_reward

BATCH = 2000  # matches at a time
LOOKED_AT, STRAYING = 4, 100  # of so many turns one is looked at, and of so many moves one is drawn at random
LEFT_OUT = 5  # of so many matches one is for judging the fit
SEATS = 2


class Positions(NamedTuple):
    """N positions, each from one seat, and what came of them."""

    considered: Floats  # [considerations, N]
    to_move: NDArray[np.bool_]  # [N]
    left: Floats  # [N] turns left
    reward: Floats  # [N] final, from -1 to 1
    match: NDArray[np.int64]  # [N]

    def where(self, mask: NDArray[np.bool_]) -> Positions:
        """Some of them."""
        arrays: list[Any] = [array[..., mask] for array in self]
        return Positions(*arrays)


def played(game: Slopes, seeds: UInt64, first: int) -> Positions:
    """Positions of both seats in matches of the player against itself, whose outcome is not plain to see."""
    player = SlopesPlayer(game)
    state, places = game.new(seeds), np.arange(len(seeds))
    seen = np.full(len(seeds), -1)
    rewards = np.zeros((len(seeds), SEATS))
    found: list[tuple[int, Positions]] = []  # each with whose they are
    while len(places):
        chance = derive(seeds[places], Purpose.CHOICE, state.move)
        looked_at = (seen[places] != state.turns) & (below(derive(chance, 0), LOOKED_AT) == 0)
        seen[places] = state.turns
        rows = np.flatnonzero(looked_at)
        for seat in range(SEATS):
            if len(rows):
                view = InformationSet(game, state.take(rows), np.full(len(rows), seat))
                sight, decided, considered = considerations(view)
                open_ = decided == 0
                left = np.maximum(game.rules.max_turns - sight.turns, 0).astype(np.float64)
                unknown = np.zeros(len(rows))
                all_of_them = Positions(considered, sight.to_move, left, unknown, places[rows])
                found.append((seat, all_of_them.where(open_)))
        actions = player.act(InformationSet(game, state))
        strays = below(derive(chance, 1), STRAYING) == 0
        game.step(state, np.where(strays, game.sample_legal(state, derive(chance, 2)), actions), check=False)
        over = np.flatnonzero(state.seat < 0)
        if len(over):
            rewards[places[over]] = game.scores(state.take(over))
            stay = np.flatnonzero(state.seat >= 0)
            state, places = state.take(stay), places[stay]
    return joined([part._replace(reward=rewards[part.match, seat], match=part.match + first) for seat, part in found])


def joined(parts: list[Positions]) -> Positions:
    """All of them."""
    arrays: list[Any] = [np.concatenate(several, axis=-1) for several in zip(*parts, strict=True)]
    return Positions(*arrays)


def expected(factors: Floats, positions: Positions) -> Floats:
    """The final reward by factors: for seats to move, for others, and the logarithm of the turns to decide."""
    by_turn = factors[:-1].reshape(2, -1)
    return expected_reward(positions.considered, positions.to_move, positions.left, by_turn, np.exp(factors[-1]))


def fitted(positions: Positions) -> Floats:
    """Least squares, from an even match on."""
    start = np.zeros(2 * len(CONSIDERATIONS) + 1)
    start[-1] = np.log(100)
    found = optimize.least_squares(lambda factors: expected(factors, positions) - positions.reward, start)
    best: Floats = found.x
    return best


def main(
    matches: Annotated[int, typer.Option(min=LEFT_OUT, help="How many are played.")] = 10_000,
    seed: Annotated[int, typer.Option(help="Decides everything.")] = 0,
) -> None:
    """Fit the worth of positions of Slopes."""
    game = make_game("slopes")
    assert isinstance(game, Slopes)
    positions = joined(
        [
            played(game, match_seed(seed, np.arange(first, min(first + BATCH, matches))), first)
            for first in range(0, matches, BATCH)
        ]
    )
    left_out = positions.match % LEFT_OUT == 0
    factors, others = fitted(positions.where(~left_out)), positions.where(left_out)
    for title, part in zip(("to move", "waiting"), factors[:-1].reshape(2, -1), strict=True):
        typer.echo(
            title + ": " + ", ".join(f"{name} {factor:.2f}" for name, factor in zip(CONSIDERATIONS, part, strict=True))
        )
    typer.echo(f"turns to decide: {np.exp(factors[-1]):.0f}")
    guess = expected(factors, others)
    typer.echo(f"{len(guess)} positions left out: correlation {np.corrcoef(guess, others.reward)[0, 1]:.2f}")
    for low in np.arange(-1, 1, 0.2):
        rows = (guess >= low) & (guess < low + 0.2)
        if rows.any():
            typer.echo(
                f"expected {guess[rows].mean():+.2f}, came to {others.reward[rows].mean():+.2f}, {rows.sum()} positions"
            )


if __name__ == "__main__":
    typer.run(main)
