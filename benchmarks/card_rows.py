"""What a model card measures: a fixed set of evaluations of a policy over duplicate deals, and how fast it answers.

Every evaluation is a *row*.  Most are plain duplicate deals, the very ones that ``slopes evaluate`` plays.  Some mean
over several line-ups of the same deals, such as the policy in each seat of its team in turn.  In self-play the policy
sits in all seats, so that a deal needs but one table; as many more deals are played instead.

Shape letters: **N** deals, **T** tables a deal, **P** seats.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from slopes_agents import Agent, make_agent
from slopes_agents.learned import file_of, read_file
from slopes_agents.play import Watch, play_out
from slopes_agents.weights_file import CheckpointError, shipped_weights
from slopes_envs import Game, InformationSet, __version__, make_game, match_seed
from slopes_training.provenance import commit

from .bets import Regrets
from .duplicate import CHUNK_DEALS, Plan, figures, one_thread
from .intervals import Interval, student_interval
from .keeping import KeptPieces, write_json
from .ladder import milliseconds, positions
from .machine import describe, one_core, versions
from .metrics import MetricsWatch, default_match
from .pieces import Piece, commits_of, play_missing
from .terminal import progress

AGAINST, SELF, OTHER, ONE_OTHER, PARTNER, SEARCH, BETS = (
    "against",
    "self-play",
    "another seed",
    "another seed alone",
    "partners",
    "search",
    "bets",
)
"""Kinds of rows: the policy against others of a kind; in all seats; among policies of another seed; one of these among
policies; with other partners; with a search on top; its bets against the exact best ones."""
ALONE = (SELF, BETS)
"""Kinds in which the policy sits in all seats."""

OPPONENTS = ("heuristic", "greedy", "random")
MORE_OPPONENTS = {"slippery_sam": ("optimal",)}
USUAL_OPPONENT = OPPONENTS[0]
ONE_HAND_GAMES = ("slopes",)
"""Games whose match is one hand."""
LOW_FEE = 1
"""The fee of Slippery Sam with which redraws often pay."""

TIMINGS, PLAYING = ".timings.json", "playing.jsonl"
TOGETHER = 1024
"""Games whose decisions are timed as one batch."""


# ---------------------------------------------------------------------------------------------------------- policies


@dataclass(frozen=True)
class Policy:
    """A file of weights, or a checkpoint, that a card is about or that takes part.

    Attributes
    ----------
    spec
        The agent that plays it.
    path
        The file.
    header
        What it tells of itself.
    digest
        Of its numbers: the same for the same policy.
    parameters
        How many numbers there are.
    """

    spec: str
    path: Path
    header: dict[str, Any]
    digest: str
    parameters: int

    @classmethod
    def of(cls, path: Path) -> Self:
        """The policy of a file, or of the ``best.zip`` in a folder.

        Raises
        ------
        CheckpointError
            If it is none, or does not tell where it comes from.
        """
        file = file_of(path)
        header, weights = read_file(file)
        if not header.get("rules") or "seed" not in header.get("provenance", {}):
            raise CheckpointError(f"{file}: its header does not tell the rules and the seed it was trained with")
        digest = hashlib.sha256()
        for name, tensor in sorted(weights.items()):
            digest.update(f"{name} {tuple(tensor.shape)}\n".encode() + tensor.numpy().astype("<f4").tobytes())
        parameters = sum(tensor.numel() for tensor in weights.values())
        return cls(_spec_of(path, header["game"]), file, header, digest.hexdigest()[:16], parameters)

    @property
    def game(self) -> str:
        """The game it plays."""
        name: str = self.header["game"]
        return name

    @property
    def seed(self) -> int:
        """The seed of its training."""
        number: int = self.header["provenance"]["seed"]
        return number

    @property
    def variants(self) -> list[Game[Any, Any]]:
        """The variants it was trained on, each with the ``match`` that is usual for an evaluation."""
        found = []
        for rules in self.header["rules"]:
            options = {name: tuple(value) if isinstance(value, list) else value for name, value in rules.items()}
            found.append(make_game(self.game, **{**options, "match": default_match(self.game)}))
        return list(dict.fromkeys(found))

    def as_json(self) -> dict[str, Any]:
        """What a card tells of it."""
        names = ("game_version", "rules", "features", "actions", "network", "reward", "reward_scale", "provenance")
        return {
            "file": self.path.name,
            "bytes": self.path.stat().st_size,
            "numbers": self.header.get("dtype", "float32"),
            "parameters": self.parameters,
            "digest": self.digest,
            **{name: self.header[name] for name in names if name in self.header},
        }


def _spec_of(path: Path, game: str) -> str:
    try:
        shipped = shipped_weights(game)
    except CheckpointError:
        return f"ppo:{path}"
    return "ppo" if shipped.resolve() == path.resolve() else f"ppo:{path}"


class Partners(Agent):
    """Fills a team with different players: the first spec plays its first seat, and so on.

    Parameters
    ----------
    members
        Specs with ``|`` between them, one for every seat of a team.
    """

    def __init__(self, game: Game[Any, Any], members: str) -> None:
        """Make the players.

        Raises
        ------
        ValueError
            If their number is not that of the seats of a team.
        """
        super().__init__(game)
        specs = members.split("|")
        if len(specs) != len(game.teams[0]):
            raise ValueError(f"{game.name}: expected {len(game.teams[0])} partners, got {len(specs)}")
        made = {spec: make_agent(spec, game) for spec in specs}
        self.members = [made[spec] for spec in specs]
        self.places = np.zeros(game.num_players, np.int64)
        for team in game.teams:
            self.places[list(team)] = np.arange(len(team))

    @classmethod
    def from_spec(cls, game: Game[Any, Any], arguments: str) -> Self:
        """From the specs of all members."""
        return cls(game, arguments)

    def act(self, view: InformationSet) -> NDArray[np.int64]:
        """What the member in the seat to move does."""
        actions = np.zeros(len(view), np.int64)
        places = self.places[view.seats]
        for place in np.unique(places):
            rows = np.flatnonzero(places == place)
            actions[rows] = self.members[place].act(view if len(rows) == len(view) else view.take(rows))
        return actions


PARTNERS = f"{__name__}:{Partners.__name__}:"
"""How a spec of mixed partners begins."""


# -------------------------------------------------------------------------------------------------------------- rows


@dataclass(frozen=True)
class Row:
    """One evaluation.

    Attributes
    ----------
    kind
        What it measures, such as :data:`AGAINST`.
    plans
        Line-ups that play the same deals; the row is their mean.
    weights
        Digests of the policies in it, by what they are called: ``policy``, or ``seed 1`` for another one.
    """

    kind: str
    plans: tuple[Plan, ...]
    weights: dict[str, str]

    @property
    def game(self) -> Game[Any, Any]:
        """The rules."""
        return self.plans[0].game

    @property
    def tables(self) -> int:
        """T, of a line-up."""
        return 1 if self.kind in ALONE else len(self.plans[0].seating)

    @property
    def total(self) -> int:
        """N, deals of every line-up."""
        plan = self.plans[0]
        return plan.deals * len(plan.seating) if self.kind in ALONE else plan.deals

    @property
    def pieces(self) -> list[tuple[int, int, int]]:
        """Line-up, first deal, and the one after the last, of all that is played in one batch."""
        step = CHUNK_DEALS * (len(self.plans[0].seating) if self.kind in ALONE else 1)
        starts = range(0, self.total, step)
        return [(number, start, min(start + step, self.total)) for number in range(len(self.plans)) for start in starts]

    @property
    def key(self) -> dict[str, Any]:
        """What decides the result, but for the code; plain JSON values."""
        plan = self.plans[0]
        line_ups = [
            [other.work["agent"], *([] if self.kind in ALONE else other.work["against"])] for other in self.plans
        ]
        return {
            "kind": self.kind,
            "rules": plan.work["rules"],
            "line_ups": line_ups,
            "deals": self.total,
            "seed": plan.seed,
            "weights": self.weights,
        }


def place_of(key: dict[str, Any]) -> str:
    """What a row is about, whatever its deals, seed and weights: a new one takes the place of an old one."""
    return json.dumps([key["kind"], key["rules"], key["line_ups"]])


def rows_of(
    policy: Policy,
    *,
    deals: int,
    seed: int,
    others: Sequence[Policy] = (),
    searches: Sequence[str] = (),
    search_deals: int = 200,
) -> list[Row]:
    """The rows of a policy's card.

    Parameters
    ----------
    policy
        Whom it is about.
    deals, seed
        Of every row.
    others
        Policies of the same game from other seeds.
    searches
        Specs of agents that search with the policy.
    search_deals
        Of rows with these, which take long.

    Raises
    ------
    ValueError
        If an agent does not play the game, or the seed is one that a policy was trained with, or two were trained with
        the same.
    """
    for one in (policy, *others):
        if one.seed == seed:
            raise ValueError(f"seed {seed}: expected another than that of training, so that no deal was seen before")
    seeds = [one.seed for one in (policy, *others)]
    if len(set(seeds)) < len(seeds):
        raise ValueError(f"{policy.game}: expected policies of different seeds, got {', '.join(map(str, seeds))}")
    name, own = policy.game, policy.spec
    of_policy = {"policy": policy.digest}
    found: list[Row] = []

    def add(
        kind: str,
        game: Game[Any, Any],
        agents: Sequence[str],
        against: str,
        other: Policy | None = None,
        number: int = deals,
    ) -> None:
        plans = tuple(Plan(game, agent, (against,), number, seed) for agent in agents)
        weights = of_policy if other is None else {**of_policy, f"seed {other.seed}": other.digest}
        found.append(Row(kind, plans, weights))

    for game in policy.variants:
        for spec in (*OPPONENTS, *MORE_OPPONENTS.get(name, ())):
            add(AGAINST, game, [own], spec)
        add(SELF, game, [own], own)
        for other in others:
            add(OTHER, game, [own], other.spec, other)
            if len(game.teams) > 2:
                add(ONE_OTHER, game, [other.spec], own, other)
        for spec in searches:
            add(SEARCH, game, [spec], USUAL_OPPONENT, number=search_deals)
            add(SEARCH, game, [spec], own, number=search_deals)
        both = [game]
        if name not in ONE_HAND_GAMES:
            both.append(_changed(game, match="hand" if game.rules.match == "game" else "game"))
            add(AGAINST, both[1], [own], USUAL_OPPONENT)
        for each in both:
            if len(each.teams[0]) > 1:
                add(PARTNER, each, teams_with(own, USUAL_OPPONENT, each), USUAL_OPPONENT)
                for other in others:
                    add(PARTNER, each, teams_with(own, other.spec, each), USUAL_OPPONENT, other)
            if name == "slippery_sam":
                add(BETS, each, [own], own)
                add(BETS, _changed(each, fee=LOW_FEE), [own], own)
    return list({place_of(row.key): row for row in found}.values())  # variants may meet in what is changed of them


def _changed(game: Game[Any, Any], **changes: Any) -> Game[Any, Any]:
    return type(game)(replace(game.rules, **changes))


def teams_with(policy: str, partner: str, game: Game[Any, Any]) -> list[str]:
    """Specs of teams with the policy in one seat, each of them in turn, and partners of another kind in the others."""
    size = len(game.teams[0])
    return [PARTNERS + "|".join(policy if seat == own else partner for seat in range(size)) for own in range(size)]


# ----------------------------------------------------------------------------------------------------------- playing


def play_piece(row: Row, item: tuple[int, int, int]) -> Piece:
    """Play some deals of a line-up in one batch.

    Returns
    -------
    ``line_up``, ``start``, ``stop`` and ``decisions``.  For bets, ``bets``: for every deal the decisions that count,
    those close to the best, and the sum of regrets.  For all others ``scores`` (``[N, T, P]``) and ``metrics``:
    by name, for every deal, for the agent and those against it, the sum over hands and seats, and their number.
    """
    number, start, stop = item
    plan, deals = row.plans[number], np.arange(start, stop)
    game = plan.game
    if row.kind in ALONE:
        seating = groups = salts = np.zeros((1, game.num_players), np.int64)
    else:
        seating, groups, salts = plan.seating, plan.groups, plan.salts
    tables, count = len(seating), len(deals)
    state = game.new(np.repeat(match_seed(plan.seed, deals), tables))
    by_deal = np.tile(groups, (count, 1))
    by_deal = np.where(by_deal < 0, -1, by_deal + 2 * np.repeat(np.arange(count), tables)[:, None])
    metrics = MetricsWatch(game, by_deal, 2 * count)
    bets = Regrets(game, len(state)) if row.kind == BETS else None
    watches: list[Watch] = [metrics] if bets is None else [bets]
    with one_thread():
        decisions = play_out(
            game,
            state,
            plan.agents,
            np.tile(seating, (count, 1)),
            salts=np.tile(salts, (count, 1)),
            watches=watches,
        )
    piece: Piece = {"line_up": number, "start": start, "stop": stop, "decisions": decisions}
    if bets is not None:
        columns = (bets.decisions.tolist(), bets.close.tolist(), bets.regret.tolist())
        return {**piece, "bets": [list(deal) for deal in zip(*columns, strict=True)]}
    piece["scores"] = state.scores.reshape(count, tables, game.num_players).tolist()
    piece["metrics"] = {
        name: [[sums[2 * deal], sums[2 * deal + 1]] for deal in range(count)] for name, sums in metrics.sums.items()
    }
    return piece


def play_row(
    row: Row, path: Path, code: str | None, workers: int = 1, tell: Callable[[int], None] = lambda done: None
) -> dict[str, Any]:
    """Play a row from where an earlier run was stopped.

    Parameters
    ----------
    row
        What to play.
    path
        Where finished deals are kept until all are there.
    code
        The commit that plays.
    workers
        Processes; they do not bear on the result.
    tell
        Told how many deals of all line-ups are finished.

    Returns
    -------
    The row's key, what was found, and the ``commits`` that played it.

    Raises
    ------
    Interrupted
        On Ctrl-C; what was finished is kept.
    """
    kept = KeptPieces(path, row.key, resume=True)
    ordered = play_missing(kept, row.pieces, _item, partial(play_piece, row), code, workers, tell)
    found = bets_found(ordered) if row.kind == BETS else scores_found(row, ordered)
    kept.remove()
    return {
        **row.key,
        **found,
        "decisions": sum(piece["decisions"] for piece in ordered),
        "version": __version__,
        "commits": commits_of(ordered),
    }


def _item(piece: Piece) -> tuple[int, int, int]:
    return piece["line_up"], piece["start"], piece["stop"]


# ----------------------------------------------------------------------------------------------------------- figures


def ratio(sums: NDArray[np.float64], counts: NDArray[np.float64]) -> Interval | None:
    """The sum of all over the number of all, with its interval over deals; None if nothing was counted.

    Deals may count different numbers; the spread is that of the linearised ratio.

    >>> ratio(np.array([1.0, 3.0]), np.array([2.0, 2.0])).mean
    1.0
    """
    if not counts.sum():
        return None
    mean = sums.sum() / counts.sum()
    return student_interval(mean + (sums - mean * counts) / counts.mean())


def _json(interval: Interval | None) -> dict[str, Any] | None:
    return None if interval is None else interval.as_json()


def scores_found(row: Row, pieces: Sequence[Piece]) -> dict[str, Any]:
    """The figures of a row that is about scores, from all its pieces in order."""
    line_ups = range(len(row.plans))
    scores = [
        np.concatenate([np.asarray(piece["scores"], np.int64) for piece in pieces if piece["line_up"] == number])
        for number in line_ups
    ]
    found: dict[str, Any] = {}
    if row.kind in ALONE:
        found["agent_score"] = student_interval(scores[0].mean(axis=(1, 2))).as_json()
    else:
        by_line_up = [figures(plan, table) for plan, table in zip(row.plans, scores, strict=True)]
        for name in by_line_up[0]:
            values = [of_deals for each in by_line_up if (of_deals := each[name]) is not None]
            found[name] = student_interval(np.mean(values, axis=0)).as_json()
        without = scores[0][:, len(row.plans[0].agent_seats) :]
        found["deviation"] = float(without.std(ddof=1))
    found["metrics"] = metrics_found(pieces, row.total, len(row.plans))
    return found


def metrics_found(pieces: Sequence[Piece], total: int, line_ups: int) -> dict[str, dict[str, Any]]:
    """Every metric for the agent and for those against it, with intervals over deals."""
    sums: dict[str, NDArray[np.float64]] = {}
    for piece in pieces:
        for name, values in piece["metrics"].items():
            table = sums.setdefault(name, np.zeros((total, 2, 2)))
            table[piece["start"] : piece["stop"]] += np.asarray(values, np.float64) / line_ups
    return {
        name: {group: _json(ratio(*table[:, place].T)) for place, group in enumerate(("agent", "against"))}
        for name, table in sums.items()
    }


def bets_found(pieces: Sequence[Piece]) -> dict[str, Any]:
    """The figures of a row that is about bets: ``close`` and ``regret`` are parts, of decisions and of the bank."""
    counts, close, regret = np.concatenate([np.asarray(piece["bets"], np.float64) for piece in pieces]).T
    return {"bets": int(counts.sum()), "close": _json(ratio(close, counts)), "regret": _json(ratio(regret, counts))}


# ------------------------------------------------------------------------------------------------------------- files


class Stored(NamedTuple):
    """The results of a policy that are stored, and its timings (empty where there are none)."""

    results: dict[str, Any]
    timings: dict[str, Any]


def results_path(folder: Path, game: str) -> Path:
    """Where the results of a game's policy are stored."""
    return folder / f"{game}.json"


def read_stored(folder: Path, game: str) -> Stored:
    """What is stored of a game's policy; both empty where there is nothing."""
    path = results_path(folder, game)
    return Stored(_read(path), _read(path.with_suffix(TIMINGS)))


def _read(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return found


def play_rows(
    policy: Policy,
    rows: Iterable[Row],
    folder: Path,
    *,
    workers: int = 1,
    command: str = "",
    console: Console | None = None,
) -> dict[str, Any]:
    """Play what is missing of a policy's rows, and store results as they come.

    What is stored of other weights is dropped; rows that are not asked for now stay.

    Parameters
    ----------
    policy
        Whom they are about.
    rows
        What to play.
    folder
        Of the results; made if it does not exist.
    workers
        Processes; they do not bear on results.
    command
        How it was started.
    console
        Where progress is shown.

    Returns
    -------
    The results, as they are stored.

    Raises
    ------
    Interrupted
        On Ctrl-C; what was finished is kept.
    """
    console = Console(stderr=True, quiet=True) if console is None else console
    folder.mkdir(parents=True, exist_ok=True)
    path, code, wanted = results_path(folder, policy.game), commit(), list(rows)
    known = {place_of(row): row for row in _read(path).get("rows", []) if row["weights"]["policy"] == policy.digest}
    places = [place_of(row.key) for row in wanted]
    order = [*places, *(place for place in known if place not in places)]

    def stored() -> dict[str, Any]:
        return {
            "game": policy.game,
            "title": wanted[0].game.title if wanted else make_game(policy.game).title,
            "policy": policy.as_json(),
            "rows": [known[place] for place in order if place in known],
        }

    for number, (place, row) in enumerate(zip(places, wanted, strict=True), 1):
        key = row.key
        if place in known and all(known[place][name] == value for name, value in key.items()):
            continue
        playing = folder / f"{policy.game}.{zlib.crc32(json.dumps(key).encode()):08x}.{PLAYING}"
        what = f"{policy.game}, row {number} of {len(wanted)}: {row.kind} {', '.join(key['line_ups'][0][1:])}"
        with progress(console, what.rstrip(), row.total * len(row.plans), "deals") as tell:
            known[place] = {**play_row(row, playing, code, workers, tell), "command": command}
        write_json(path, stored())
    write_json(path, stored())
    return stored()


def time_policy(policy: Policy, folder: Path, *, seconds: float, seed: int) -> dict[str, Any]:
    """How fast the policy answers, unless it is stored; kept apart, since it differs from run to run.

    Parameters
    ----------
    policy
        Which.
    folder
        Of the results.
    seconds
        Of processor time, for each of two timings.
    seed
        Of the matches in whose middle it is asked.
    """
    path = results_path(folder, policy.game).with_suffix(TIMINGS)
    found = _read(path)
    if found.get("digest") == policy.digest:
        return found
    game = policy.variants[0]
    state = positions(game, make_agent(USUAL_OPPONENT, game), TOGETHER, seed)
    agent = make_agent(policy.spec, game)
    with one_core(), one_thread():
        together = milliseconds(agent, game, state, TOGETHER, seconds)
        alone = milliseconds(agent, game, state, 1, seconds)
    found = {
        "digest": policy.digest,
        "together": TOGETHER,
        "decisions_per_second": 1e3 / together,
        "ms_alone": alone,
        "machine": describe(),
        "versions": versions(),
        "commit": commit(),
    }
    write_json(path, found)
    return found
