"""What turns, banks and seats of Slippery Sam are worth: exact where that can be had, else measured.

``python -m slopes_benchmarks.sam_values`` renews the tables in ``docs/slippery_sam.md`` of the checkout it is run in.

Shape letters: **N** matches or banks, **P** seats.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from slopes_agents import Agent, make_agent
from slopes_agents.heuristic.slippery_sam import SlipperySamPlayer
from slopes_agents.optimal import (
    EDGE,
    GAME,
    GREATEST,
    LEAST,
    PASS,
    REDRAW,
    Amounts,
    Sight,
    Turns,
    bank_worth,
    best_choice,
    chosen_actions,
    expect_slippery_sam,
)
from slopes_agents.play import play_out, seated
from slopes_envs import Game, InformationSet, __version__, make_game, match_seed
from slopes_envs.games.slippery_sam import RANKS, REDRAWS, SUITS, Levels
from slopes_training.provenance import commit

from .duplicate import evaluate
from .intervals import Interval, student_interval
from .keeping import write_bytes
from .machine import processor
from .markdown import between, table

DOCUMENT = Path("docs") / "slippery_sam.md"
BEGIN, END = "<!-- {}: begin -->", "<!-- {}: end -->"
EXACT, MEASURED = "exact", "measured"

BANKS = (10, 20, 40, 70, 100)  # of the first turn
LOW_FEE = 1
PLAYERS = (2, 3, 4, 6, 9)
THRESHOLDS = range(1, 6)  # ranks from the 2 on against which a threshold bets the most
MODULE = "slopes_benchmarks.sam_values"
LEAST_SPEC, GREATEST_SPEC = f"{MODULE}:AlwaysLeast", f"{MODULE}:AlwaysGreatest"
TABLES = ("random", LEAST_SPEC, GREATEST_SPEC, "heuristic", "optimal")
"""Players of whom whole tables are made."""
DUELS = (
    ("optimal", "random"),
    ("heuristic", "random"),
    ("heuristic:stake=least", "random"),
    (LEAST_SPEC, "random"),
    (GREATEST_SPEC, "random"),
    ("optimal", "heuristic"),
    ("heuristic", "optimal"),
)


# ------------------------------------------------------------------------------------------------------ plain players


class AlwaysLeast(Agent):
    """Bets and stakes as little as it may, and never redraws."""

    choice = LEAST

    def __init__(self, game: Game[Any, Any]) -> None:
        super().__init__(game)
        expect_slippery_sam(type(self).__name__, game)

    def act(self, view: InformationSet) -> NDArray[np.int64]:
        """Choose the amount, or pass where none is allowed."""
        sight = Sight(view)
        most = sight.number("most")
        return chosen_actions(view, np.where(most > 0, self.choice, PASS), sight.number("least"), most)


class AlwaysGreatest(AlwaysLeast):
    """Bets and stakes as much as it may, and never redraws."""

    choice = GREATEST


# ------------------------------------------------------------------------------------------- exact values of a turn


@dataclass(frozen=True)
class Turn:
    """A moment in a turn of which nothing but the exposed cards has been seen."""

    counts: tuple[int, ...]  # cards not seen, by suit, in any order of the suits
    better: int  # those that beat the exposed card
    bank: int
    chips: int  # of the seat
    fee: int
    redraws: int

    @property
    def edge(self) -> float:
        """What a chip bet brings on the average."""
        return float(EDGE[sum(self.counts), self.better])

    @property
    def payable(self) -> bool:
        """Whether a redraw is allowed."""
        return self.redraws < REDRAWS and self.chips >= self.fee

    def redrawn(self) -> Counter[Turn]:
        """The moments after a redraw, with the number of cards that lead to each."""
        found: Counter[Turn] = Counter()
        for suit, count in enumerate(self.counts):
            left = sorted([*self.counts[:suit], count - 1, *self.counts[suit + 1 :]])
            for better in range(count):
                rest = (self.bank + self.fee, self.chips - self.fee, self.fee, self.redraws + 1)
                found[Turn(tuple(left), better, *rest)] += 1
        return found

    def batch(self, amounts: Amounts) -> Turns:
        """The moment as a batch of one."""
        numbers = {name: np.array([getattr(self, name)]) for name in ("better", "bank", "chips", "fee", "redraws")}
        return Turns(amounts, np.array(self.counts)[:, None], **numbers)


Move = int | str
"""Chips that are bet, or ``"redraw"``, or ``"pass"``."""

Policy = Callable[[Turn, Sequence[int], Amounts], Mapping[Move, float]]
"""Chances of moves, from a moment and the bets that are offered, none if none can be made."""


def always(place: int, turn: Turn, bets: Sequence[int], amounts: Amounts) -> Mapping[Move, float]:
    """Always one of the bets, by its place among them."""
    return {bets[place] if bets else "pass": 1.0}


def threshold(ranks: int, turn: Turn, bets: Sequence[int], amounts: Amounts) -> Mapping[Move, float]:
    """The greatest bet against the lowest so many ranks, else the least."""
    return always(-1 if turn.better >= RANKS - ranks else 0, turn, bets, amounts)


def at_random(turn: Turn, bets: Sequence[int], amounts: Amounts) -> Mapping[Move, float]:
    """Every legal move equally often."""
    moves: list[Move] = [*bets]
    if turn.payable:
        moves.append("redraw")
    if turn.redraws == REDRAWS or not bets:
        moves.append("pass")
    return dict.fromkeys(moves, 1 / len(moves))


def decided(
    decide: Callable[[Turns], NDArray[np.int64]], turn: Turn, bets: Sequence[int], amounts: Amounts
) -> Mapping[Move, float]:
    """What a player that counts cards does."""
    choice = int(decide(turn.batch(amounts))[0])
    return {
        {REDRAW: "redraw", PASS: "pass"}.get(choice, bets[-1 if choice == GREATEST else 0] if bets else "pass"): 1.0
    }


def first_turn_worth(policy: Policy, game: Game[Any, Any], bank: int) -> float:
    """Expected chips of the first turn of a bank, when nothing but the exposed card has been seen.

    Parameters
    ----------
    policy
        How the seat plays.
    game
        Options; the seat has as many chips as at the beginning.
    bank
        Chips in the bank.
    """
    rules, amounts = game.rules, Amounts(game.rules)
    levels = Levels(rules.bet_levels, rules.num_players * rules.starting_chips)

    @cache
    def worth(turn: Turn) -> float:
        total = 0.0
        for move, chance in policy(turn, offered(turn), amounts).items():
            if move == "redraw":
                after = turn.redrawn()
                mean = sum(worth(after_it) * cards for after_it, cards in after.items()) / after.total()
                total += chance * (mean - turn.fee)
            elif isinstance(move, int):
                total += chance * move * turn.edge
        return total

    def offered(turn: Turn) -> list[int]:
        least, most = min(turn.bank, rules.min_bet), min(turn.bank, turn.chips)
        if least > most:
            return []
        places = np.arange(len(levels))
        return sorted({least + int(part) for part in levels.parts(np.full(len(levels), most - least), places)})

    fee = int(amounts.fee(np.array([bank]))[0])
    counts = tuple(sorted([RANKS - 1, *[RANKS] * (SUITS - 1)]))
    return float(np.mean([worth(Turn(counts, better, bank, rules.starting_chips, fee, 0)) for better in range(RANKS)]))


def policies(game: Game[Any, Any]) -> dict[str, Policy]:
    """The policies of the table, by what they are called there."""
    named: dict[str, Policy] = {
        "`optimal`": partial(decided, lambda turns: best_choice(turns.choices())),
        "`heuristic`": partial(decided, SlipperySamPlayer(game).bet),
        "`random`": at_random,
        "always the least": partial(always, 0),
        "always the greatest": partial(always, -1),
    }
    for ranks in THRESHOLDS:
        cards = "a 2" if ranks == 1 else f"2 to {1 + ranks}"
        named[f"greatest against {cards}, else least"] = partial(threshold, ranks)
    return named


def turns_table(game: Game[Any, Any]) -> str:
    """Expected chips of the first turn by policy and bank."""
    rows = [
        [name, *(f"{first_turn_worth(policy, game, bank):+.3f}" for bank in BANKS)]
        for name, policy in policies(game).items()
    ]
    return table(["bets", *(f"bank {bank}" for bank in BANKS)], rows)


def stakes_table() -> str:
    """What banks bring against seats that bet optimally, by number of players and stake."""
    rows = []
    for players in PLAYERS:
        game = make_game(GAME, num_players=players)
        chips = np.full((len(BANKS), players - 1), game.rules.starting_chips)
        worth, plain = bank_worth(Amounts(game.rules), np.array(BANKS), chips)
        if not plain.all():
            raise AssertionError(f"redraws pay with {players} players: the worth of banks is not exact")
        rows.append([f"{players} players", *(f"{chips:+.3f}" for chips in worth)])
    return table(["", *(f"stake {bank}" for bank in BANKS)], rows)


def exact_tables() -> str:
    """All that is computed rather than measured."""
    return "\n\n".join(
        [
            "Expected chips of the first turn of a bank, default options:",
            turns_table(make_game(GAME)),
            f"The same with a fixed fee of one chip, `fee={LOW_FEE}`:",
            turns_table(make_game(GAME, fee=LOW_FEE)),
            "What the first bank of a match brings its banker when all others bet as `optimal` does, default options:",
            stakes_table(),
        ]
    )


# ----------------------------------------------------------------------------------------------------- what is measured


def seats_by_turn(spec: str, matches: int, seed: int) -> list[Interval]:
    """Chips gained in a match by the first banker, the second and so on, at a table of equal players."""
    game = make_game(GAME)
    state: Any = game.new(match_seed(seed, np.arange(matches)))
    order = (state.dealer[:, None] + np.arange(game.num_players)) % game.num_players
    play_out(game, state, [make_agent(spec, game)], seated(np.zeros(game.num_players), matches))
    gained = np.take_along_axis(state.scores, order, axis=1) - game.rules.starting_chips
    return [student_interval(chips) for chips in gained.T]


def banker_gains(spec: str, choice: int, banks: int, seed: int) -> Interval:
    """Chips that the least or the greatest stake brings in the first bank, against others who all play ``spec``."""
    game = make_game(GAME, match="hand")
    state: Any = game.new(match_seed(seed, np.arange(banks)))
    bankers = state.dealer.copy()
    game.step(state, np.full(banks, 0 if choice == LEAST else len(game.rules.bet_levels) - 1))
    play_out(game, state, [make_agent(spec, game)], seated(np.zeros(game.num_players), banks))
    return student_interval(state.scores[np.arange(banks), bankers] - game.rules.starting_chips)


def shown(figure: Interval, digits: int = 1) -> str:
    """A mean and its interval, as in ``+1.2 [+1.0, +1.4]``."""
    return "{} [{}, {}]".format(*(f"{number:+.{digits}f}" for number in figure))


def short(spec: str) -> str:
    """A spec as it stands in tables."""
    return f"`{spec.removeprefix(MODULE + ':')}`"


def duels_table(deals: int, seed: int) -> tuple[str, list[str]]:
    """Evaluations over duplicate deals, and the commands that repeat them."""
    rows, commands = [], []
    for agent, against in DUELS:
        found = evaluate(GAME, agent, against, deals, seed)
        difference = found["difference"]
        metrics = found["metrics"]
        rows.append(
            [
                short(agent),
                short(against),
                shown(Interval(difference["mean"], *difference["ci95"])),
                *(f"{metrics[name]['agent']:+.2f} / {metrics[name]['against']:+.2f}" for name in CHIPS),
                "{agent:.1%} / {against:.1%}".format(**metrics["bet_won"]),
                f"{found['win_share']['mean']:.1%}",
            ]
        )
        commands.append(f"slopes evaluate {GAME} --agent {agent} --against {against} --deals {deals} --seed {seed}")
    columns = ["agent", "against", "difference", "chips betting", "chips banking", "bets won", "matches won"]
    return table(columns, rows, left=2), commands


CHIPS = ("chips_betting", "chips_banking")


def measured_tables(deals: int, matches: int, banks: int, seed: int) -> str:
    """All that is measured, with the commands, and where and by what."""
    duels, commands = duels_table(deals, seed)
    places = [seats_by_turn(spec, matches, seed) for spec in TABLES]
    ordinal = ["first banker", "second", "third", "fourth", "fifth", "last"]
    seats = [[name, *(shown(by_place[place]) for by_place in places)] for place, name in enumerate(ordinal)]
    stakes = [
        [short(spec), *(shown(banker_gains(spec, choice, banks, seed), 2) for choice in (LEAST, GREATEST))]
        for spec in TABLES
    ]
    own = f"python -m {MODULE} --deals {deals} --matches {matches} --banks {banks} --seed {seed}"
    return "\n\n".join(
        [
            f"Means with 95 % intervals; version {__version__}, commit {commit() or 'unknown'}, {processor()}; "
            f"`{own}`.",
            f"Chips gained in a match by the place in the order of banking, six players, all alike, {matches:,} "
            "matches:",
            table(["", *map(short, TABLES)], seats),
            f"Chips that the first bank of a match brings its banker by how the five others bet, {banks:,} banks:",
            table(["others", "stake 10", "stake 100"], stakes),
            f"One agent among five others of a kind, {deals:,} duplicate deals with the agent in every seat. The "
            "difference is the agent's chips in a match less the mean of the others'; chips betting and banking are "
            "those of one bank, agent / others:",
            duels,
            "\n".join(f"    {command}" for command in commands),
        ]
    )


# ------------------------------------------------------------------------------------------------------- the document


def renewed(text: str, part: str, tables: str) -> str:
    """The text of the document with one of its two parts renewed.

    Raises
    ------
    ValueError
        If the marks between which the part stands are not there.
    """
    begin, end = BEGIN.format(part), END.format(part)
    before, _, after = between(text, begin, end)
    return f"{before}{begin}\n\n{tables}\n\n{end}{after}"


def main(
    document: Annotated[Path, typer.Option(help="The document.")] = DOCUMENT,
    deals: Annotated[int, typer.Option(min=2, help="Duplicate deals of each evaluation.")] = 1000,
    matches: Annotated[int, typer.Option(min=2, help="Matches of each table of equal players.")] = 4000,
    banks: Annotated[int, typer.Option(min=2, help="Banks of each kind.")] = 20000,
    seed: Annotated[int, typer.Option(help="Seed of all of them.")] = 1,
) -> None:
    """Renew the tables of the document."""
    text = renewed(document.read_text(encoding="utf-8"), EXACT, exact_tables())
    text = renewed(text, MEASURED, measured_tables(deals, matches, banks, seed))
    write_bytes(document, text.encode())


if __name__ == "__main__":
    typer.run(main)
