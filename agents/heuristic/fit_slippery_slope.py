"""Train the table of the player of Slippery Slope by letting it play against itself.

    python -m slopes_agents.heuristic.fit_slippery_slope

writes ``slippery_slope_table.npz`` beside this file, the same one every time, in some two minutes of one core (SciPy
and Typer are needed).

Every round the player plays some thousand hands at a table of three equals, and the tables are fitted anew to what
came of all positions of the later half of the rounds so far (to answer the last round alone would make bids swing:
when all bid too much, less is best, and the other way round).  A position is a hand after one of its cards has been
played, or before the bidding:

- *floor* and *ceiling* by ridge regression of the tricks still taken on the kinds of the cards left, over positions
  in which no trick was needed any more, and those in which all were; stage by stage;
- *made* and *miss* by counting how often exactly what was needed was taken, and how far off it was, near each point of
  the grid;
- *wins* by counting how often cards took the trick.

Fits lean on the round before where there is little to go by.  So that unusual positions are met, one seat of every
table plays a random card once, and in half of the hands it changes its bid; positions of that seat before the random
card tell nothing of good play and are left out.

Shape letters: **B** hands, **N** positions, **T** cards that somebody could still beat.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeVar

import numpy as np
import typer
from numpy.typing import NDArray
from scipy import sparse

from slopes_envs import Game, InformationSet, derive, make_game, match_seed
from slopes_envs.chance import Purpose, UInt64, below
from slopes_envs.games.slippery_slope import BIDS, HAND, RANKS, P

from .slippery_slope import (
    CARD_BIT,
    CHANCES,
    FIRST_ACE,
    FIRST_JOKER,
    GRID,
    GRID_STEP,
    KINDS,
    LEAST,
    MAKEUPS,
    OTHER_WAYS,
    OWN_WAYS,
    STAGE,
    STAGES,
    TABLE,
    UNIT,
    Bits,
    Corners,
    Experience,
    Floats,
    Ints,
    SlipperySlopePlayer,
    chance_corners,
    grid_corners,
    held,
    kinds,
    makeup,
    read,
)

BATCH = 4096  # hands at a time
RIDGE = 30.0  # weight of the round before in fits of floor and ceiling, in positions that hold a card of that kind
WEIGHT_BEFORE = 8.0  # and of each point of the other tables, in positions

BIDS_EXPLORED = 4  # the seat that explores draws: 0 and 1 its own bid, 2 one nearby, 3 any
TRICKS_EXPLORED = 14  # and when to play a random card; in tricks after the tenth: never


class Positions(NamedTuple):
    """N hands after a card was played (or before the bidding), and what came of them."""

    hand: Bits  # [N] cards left
    out: Bits  # [N] cards in the two other hands when the card was played
    left: Ints  # [N] number of cards left
    leads: NDArray[np.bool_]  # [N] whether the seat led the next trick
    needed: Ints  # [N] tricks still needed
    taken: Ints  # [N] tricks still taken

    def where(self, mask: NDArray[np.bool_]) -> Positions:
        """Some of them."""
        arrays: list[Any] = [array[mask] for array in self]
        return Positions(*arrays)


class Contests(NamedTuple):
    """T played cards that somebody to come did not have to let win."""

    to_come: Ints
    left: Ints
    nobody_can: Floats
    nobody_must: Floats
    won: NDArray[np.bool_]


JoinedT = TypeVar("JoinedT", Positions, Contests)


@dataclass
class _Place:
    """One seat of every table after its card, until it is known what came of it."""

    seat: Ints
    hand: Bits
    out: Bits
    left: int
    counts: NDArray[np.bool_]  # whether what follows is the player's own play
    leads: Any = None  # these three once the trick is over
    needed: Any = None
    taken_before: Any = None


# --------------------------------------------------------------------------------------------------------- hands


class SelfPlay:
    """B hands at tables of three equals, one seat of each exploring."""

    def __init__(self, game: Game[Any, Any], player: SlipperySlopePlayer, seeds: UInt64) -> None:
        self.game, self.player = game, player
        self.state: Any = game.new(seeds)
        self.rows = np.arange(len(seeds))
        self.keys = derive(seeds, Purpose.CHOICE)
        self.explorer = below(derive(self.keys, 0), P)
        self.explored_trick = below(derive(self.keys, 1), TRICKS_EXPLORED)
        self.places: list[_Place] = []
        self.contests: list[Contests] = []

    def play(self) -> tuple[Positions, Contests]:
        """Play all hands to their end."""
        for _ in range(P):
            self._bid()
        for trick in range(HAND - 1):
            self._play_trick(trick)
        for _ in range(P):  # the last cards leave no choice
            self.game.step(self.state, self.player.act(InformationSet(self.game, self.state)))
        return self._positions(), _joined(self.contests)

    def _bid(self) -> None:
        view = InformationSet(self.game, self.state)
        know = read(view)
        own = self.player.act(view)
        nearby = np.clip(own + below(derive(self.keys, 2), 5) - 2, 0, BIDS - 1)
        drawn = below(derive(self.keys, 3), BIDS_EXPLORED)
        explored = np.select([drawn <= 1, drawn == 2], [own, nearby], below(derive(self.keys, 4), BIDS))
        bid = np.where(view.seats == self.explorer, explored, own)
        place = _Place(view.seats, know.hand, know.out, HAND, counts=self._plays_on(view.seats, -1))
        place.leads, place.needed, place.taken_before = know.leads, bid, np.zeros_like(bid)
        self.places.append(place)
        self.game.step(self.state, bid)

    def _play_trick(self, trick: int) -> None:
        places, contested = [], []
        for _ in range(P):
            view = InformationSet(self.game, self.state)
            know = read(view)
            explores = (view.seats == self.explorer) & (self.explored_trick == trick)
            action = np.where(explores, view.sample_legal(), self.player.act(view))
            hand = know.hand ^ CARD_BIT[action - BIDS]
            counts = self._plays_on(view.seats, trick)
            places.append(_Place(view.seats, hand, know.out, HAND - 1 - trick, counts))
            choices = self.player.consider(know, view.legal)
            undecided = (choices.to_come > 0) & (choices.nobody_must > choices.nobody_can)
            contested.append((choices, np.flatnonzero(undecided & (choices.action == action[choices.row]))))
            self.game.step(self.state, action)
        for place, (choices, chosen) in zip(places, contested, strict=True):
            place.leads = self.state.leader == place.seat
            place.taken_before = self.state.tricks[self.rows, place.seat].astype(np.int64)
            place.needed = self.state.bids[self.rows, place.seat] - place.taken_before
            self.contests.append(
                Contests(
                    choices.to_come[chosen],
                    choices.left[chosen],
                    choices.nobody_can[chosen],
                    choices.nobody_must[chosen],
                    won=place.leads[choices.row[chosen]],
                )
            )
        self.places += places

    def _plays_on(self, seats: Ints, trick: int) -> NDArray[np.bool_]:
        """Whether all that seats do after a trick is the player's own choice."""
        own: NDArray[np.bool_] = (
            (seats != self.explorer) | (self.explored_trick <= trick) | (self.explored_trick >= HAND)
        )
        return own

    def _positions(self) -> Positions:
        parts = []
        for place in self.places:
            taken = self.state.tricks[self.rows, place.seat] - place.taken_before
            left = np.full(len(taken), place.left)
            part = (place.hand, place.out, left, place.leads, place.needed, taken)
            parts.append(Positions(*part).where(place.counts))
        return _joined(parts)


def _joined(parts: list[JoinedT]) -> JoinedT:
    return type(parts[0])(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


# ---------------------------------------------------------------------------------------------------------- fits


def fitted_to_kinds(table: NDArray[np.int16], positions: Positions) -> NDArray[np.int16]:
    """Values of card kinds, ``int16[KINDS]``, by ridge regression of tricks taken, leaning on ``table``."""
    row, card = held(positions.hand)
    size = len(positions.hand)
    kind = kinds(row, card, positions.hand, positions.out)
    rows, columns = np.concatenate([row, np.arange(size)]), np.concatenate([kind, np.full(size, KINDS)])
    design = sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=(size, KINDS + 1))  # last: a constant
    before = np.append(table / UNIT, 0.0)
    unexplained = positions.taken - design @ before
    normal = (design.T @ design).toarray() + RIDGE * np.eye(KINDS + 1)
    values = before + np.linalg.solve(normal, design.T @ unexplained)
    return _thousandths(np.clip(values[:KINDS], -0.5, 1.5))


def averaged(table: NDArray[np.int16], corners: Corners, values: NDArray[Any]) -> NDArray[np.int16]:
    """Averages of ``values`` near each point of a table's grid, leaning on the table itself."""
    before = table.reshape(-1) / UNIT
    total, weight = before * WEIGHT_BEFORE, np.full(len(before), WEIGHT_BEFORE)
    for at, share in zip(*corners, strict=True):
        total += np.bincount(at, share * values, len(before))
        weight += np.bincount(at, share, len(before))
    return _thousandths(total / weight).reshape(table.shape)


def _thousandths(values: NDArray[Any]) -> NDArray[np.int16]:
    rounded: NDArray[np.int16] = np.rint(values * UNIT).astype(np.int16)
    return rounded


def learn(before: Experience, positions: Positions, contests: Contests) -> Experience:
    """Experience from what was played, leaning on the experience before."""
    floor, ceiling = before.floor.copy(), before.ceiling.copy()
    for stage in range(STAGES):
        there = STAGE[positions.left] == stage
        for table, wanted in ((floor, positions.needed <= 0), (ceiling, positions.needed >= positions.left)):
            table[stage] = fitted_to_kinds(table[stage], positions.where(there & wanted))
    bounds = Experience(floor, ceiling, before.made, before.miss, before.wins)
    within = positions.where((positions.needed >= 0) & (positions.needed <= positions.left))
    low, high = bounds.bounds(within.hand, within.out)
    corners = grid_corners(within.left, within.leads, within.needed, low, high, makeup(within.hand))
    return Experience(
        floor,
        ceiling,
        made=averaged(before.made, corners, within.taken == within.needed),
        miss=averaged(before.miss, corners, np.abs(within.taken - within.needed)),
        wins=averaged(before.wins, chance_corners(*contests[:-1]), contests.won),
    )


def first_guess() -> Experience:
    """Rough opinions to begin with: cards that few others beat take tricks, and bids within reach are often made."""
    own = np.arange(OWN_WAYS)[:, None, None]
    other = np.arange(OTHER_WAYS)[:, None]
    plain = np.broadcast_to(0.35 * (0.5**own + 0.5**other), (RANKS, OWN_WAYS, OTHER_WAYS, 2)).reshape(-1)
    aces = np.ones(FIRST_JOKER - FIRST_ACE)
    jokers = np.array([1.0, 0.9, 1.0])  # little, little with the big one out, big
    floor = np.concatenate([0.3 * plain, 0.2 * aces, jokers])
    ceiling = np.concatenate([plain, 0.8 * aces, jokers])

    above = ((LEAST + GRID_STEP * np.arange(GRID[0])) / UNIT)[:, None]
    below_ceiling = (LEAST + GRID_STEP * np.arange(GRID[1])) / UNIT
    room = np.minimum(above, below_ceiling)
    beyond = np.maximum(-room, 0)
    spread = (0.3 + 0.1 * np.sqrt(np.arange(HAND + 1)))[:, None, None, None, None]
    made = 0.75 * np.exp(-0.5 * (beyond / spread) ** 2) / (1 + np.exp(-6 * room))
    made = np.broadcast_to(made, (HAND + 1, 2, int(np.prod(MAKEUPS)), *GRID))

    chance = np.linspace(0, 1, CHANCES)
    wins = np.broadcast_to((chance[:, None] + chance) / 2, (2, HAND, CHANCES, CHANCES))
    return Experience(
        floor=_thousandths(np.tile(floor, (STAGES, 1))),
        ceiling=_thousandths(np.tile(ceiling, (STAGES, 1))),
        made=_thousandths(made),
        miss=_thousandths(beyond + 0.8 * (1 - made)),
        wins=_thousandths(wins),
    )


# ----------------------------------------------------------------------------------------------------------- command


def main(
    rounds: Annotated[int, typer.Option(min=1, help="Rounds of play and fit.")] = 30,
    hands: Annotated[int, typer.Option(min=1, help="Hands a round, in units of 1024.")] = 8,
    seed: Annotated[int, typer.Option(help="Of all hands.")] = 1,
    out: Annotated[Path, typer.Option(help="File to write.")] = TABLE,
) -> None:
    """Train the table of the rule-based player of Slippery Slope."""
    game = make_game("slippery_slope", match="hand")
    player = SlipperySlopePlayer(game)
    experience = first_guess()
    kept: deque[tuple[Positions, Contests]] = deque()
    for number in range(rounds):
        player.experience = experience
        seeds = match_seed(seed, np.arange(hands * 1024), number)
        parts = [SelfPlay(game, player, seeds[at : at + BATCH]).play() for at in range(0, len(seeds), BATCH)]
        positions, contests = (_joined(list(each)) for each in zip(*parts, strict=True))
        first = positions.left == HAND
        made = (positions.taken == positions.needed)[first].mean()
        typer.echo(f"round {number + 1} of {rounds}: bids made {made:.1%} (exploring seats included)")
        kept.append((positions, contests))
        if len(kept) > 2 + number // 2:
            kept.popleft()
        experience = learn(experience, *(_joined(list(each)) for each in zip(*kept, strict=True)))
    experience.save(out)
    typer.echo(f"wrote {out}")


if __name__ == "__main__":
    typer.run(main)
