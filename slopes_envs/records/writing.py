"""Writing: a match is taken down while it is played, as text from the start, and files of records."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..files import written_beside
from ..game import Game, State
from ..infoset import InformationSet
from .form import BATCH, FORMAT, LEGAL, UNFINISHED, ActionNames, Record, encode, end_of

Policy = Callable[[InformationSet], NDArray[np.int64]]
"""What chooses actions, ``int64[B]``, such as the ``act`` of an agent."""

# ------------------------------------------------------------------------------------------------------ transcripts


@dataclass(slots=True)
class _Transcript:
    """What has been taken down of one match.

    Hands and moves are JSON already: they come by the million, and as text they are quickest to make and smallest.
    """

    seed: int | None
    scores: list[int]  # at the start of the open hand
    entry: dict[str, Any] | None  # the open hand's object; None once the match is over
    end: str = UNFINISHED
    hands: list[str] = field(default_factory=list)
    moves: list[str] = field(default_factory=list)  # of the open hand

    def close_hand(self, scores: list[int]) -> None:
        """The open hand is over and has brought the match to these scores."""
        self.hands.append(self._hand([now - then for now, then in zip(scores, self.scores, strict=True)]))
        self.scores, self.entry, self.moves = scores, None, []

    def all_hands(self) -> list[str]:
        return self.hands if self.entry is None else [*self.hands, self._hand(None)]

    def _hand(self, changes: list[int] | None) -> str:
        return _json_object(self.entry or {}, "moves", self.moves, {"scores": changes})


def _json_object(before: dict[str, Any], key: str, items: list[str], after: dict[str, Any]) -> str:
    """The JSON of an object, in whose midst is a list of what is JSON already."""
    return f'{encode(before)[:-1]}, "{key}": [{", ".join(items)}], {encode(after)[1:]}'


def _move_texts(seats: list[int], actions: list[str], legal: list[tuple[str, ...]] | None) -> list[str]:
    """The JSON of one move in every match; the names are JSON already."""
    if legal is None:
        return [f'{{"seat": {seat}, "action": {action}}}' for seat, action in zip(seats, actions, strict=True)]
    return [
        f'{{"seat": {seat}, "action": {action}, "{LEGAL}": [{", ".join(names)}]}}'
        for seat, action, names in zip(seats, actions, legal, strict=True)
    ]


class Recorder:
    """Takes down the matches of a batch while they are played.

    Parameters
    ----------
    game
        The rules.
    state
        B matches before their first action, none of them over.  They belong to the recorder from then on.
    seeds
        Match seeds to be noted, one a match; by default null.
    players
        Labels, seat by seat; by default null.
    legal
        Whether the legal actions are noted at every move.

    Attributes
    ----------
    state
        The matches that are still going on, in their order.
    """

    def __init__(
        self,
        game: Game[Any, Any],
        state: State,
        *,
        seeds: Sequence[int] | None = None,
        players: Sequence[str | None] | None = None,
        legal: bool = False,
    ) -> None:
        if players is not None and len(players) != game.num_players:
            raise ValueError(f"players: expected {game.num_players} labels, one a seat, got {len(players)}")
        if seeds is not None and len(seeds) != len(state):
            raise ValueError(f"seeds: expected {len(state)}, one a match, got {len(seeds)}")
        self.game, self.state = game, state
        self._players, self._legal = None if players is None else list(players), legal
        scores = game.scores(state).tolist()
        self._all = [
            _Transcript(None if seeds is None else int(seeds[i]), scores[i], game.deal_object(state, i))
            for i in range(len(state))
        ]
        self._live = list(self._all)
        self._names = ActionNames(game, written=encode)
        self._deals_go_on = type(game).extend_deal is not Game.extend_deal

    def step(self, actions: ArrayLike) -> None:
        """Take one action in every match that is still going on, ``int[len(recorder.state)]``.

        Raises
        ------
        IllegalAction
            Nothing is then taken, nor noted.
        """
        game, state = self.game, self.state
        chosen = game._as_actions(state, actions)
        game._check(state, chosen)
        names = self._names.chosen(state, chosen)
        legal = self._names.legal(state, game.legal(state)) if self._legal else None
        moves, hand = _move_texts(state.seat.tolist(), names, legal), state.hand.copy()
        game.step(state, chosen, check=False)
        for transcript, move in zip(self._live, moves, strict=True):
            transcript.moves.append(move)
        self._follow_chance()
        self._close_hands(np.flatnonzero((state.hand != hand) | (state.seat < 0)))

    def _follow_chance(self) -> None:
        if self._deals_go_on:
            for i, transcript in enumerate(self._live):
                if transcript.entry is not None:
                    self.game.extend_deal(self.state, i, transcript.entry)

    def _close_hands(self, rows: NDArray[np.int64]) -> None:
        if not len(rows):
            return
        state, scores = self.state, self.game.scores(self.state)
        for i in rows.tolist():
            transcript = self._live[i]
            transcript.close_hand(scores[i].tolist())
            if state.seat[i] < 0:
                transcript.end = end_of(state, i)
            else:
                transcript.entry = self.game.deal_object(state, i)
        going = np.flatnonzero(state.seat >= 0)
        if len(going) < len(state):
            self.state = state.take(going)
            self._live = [self._live[i] for i in going]

    def lines(self) -> Iterator[bytes]:
        """The records of all matches as lines of JSON; otherwise as :meth:`records`."""
        game = {"format": FORMAT, "game": self.game.name, "rules": self.game.rules.record()}
        for transcript in self._all:
            before = {**game, "seed": transcript.seed, "players": self._players}
            after = {"scores": transcript.scores, "end": transcript.end}
            yield _json_object(before, "hands", transcript.all_hands(), after).encode() + b"\n"

    def records(self) -> Iterator[Record]:
        """The records of all matches, in their order; those that are still going on come out unfinished."""
        return map(json.loads, self.lines())


# ----------------------------------------------------------------------------------------------------------- matches


def record_lines(
    game: Game[Any, Any],
    policies: Policy | Sequence[Policy],
    seeds: ArrayLike,
    *,
    players: Sequence[str | None] | None = None,
    legal: bool = False,
    max_moves: int | None = None,
    batch: int = BATCH,
) -> Iterator[bytes]:
    """Play matches and give their records as lines of JSON, one after the other.

    A record depends on its own seed and the policies alone, whatever ``batch`` is.

    Parameters
    ----------
    game
        The rules.
    policies
        One for all seats, or one a seat.
    seeds
        ``uint64[N]``, the match seeds (see :func:`slopes_envs.match_seed`).
    players
        Labels, seat by seat; by default null.
    legal
        Whether the legal actions are noted at every move.
    max_moves
        Leave matches unfinished after so many moves; by default they are played to their end.
    batch
        How many matches are played side by side.

    Raises
    ------
    IllegalAction
        If a policy chooses one.
    """
    seated = _seated(game, policies)
    if batch < 1:
        raise ValueError(f"batch: expected at least 1 match, got {batch}")
    array = np.atleast_1d(np.asarray(seeds))
    parts = (array[start : start + batch] for start in range(0, len(array), batch))

    def play(part: NDArray[Any]) -> Iterator[bytes]:
        state = game.new(part)
        recorder = Recorder(game, state, seeds=state.seed.tolist(), players=players, legal=legal)
        moves = 0
        while len(recorder.state) and (max_moves is None or moves < max_moves):
            recorder.step(_choose(game, recorder.state, seated))
            moves += 1
        return recorder.lines()

    return (line for part in parts for line in play(part))


def record_matches(
    game: Game[Any, Any],
    policies: Policy | Sequence[Policy],
    seeds: ArrayLike,
    *,
    players: Sequence[str | None] | None = None,
    legal: bool = False,
    max_moves: int | None = None,
    batch: int = BATCH,
) -> Iterator[Record]:
    """Play matches and give their records as objects; otherwise as :func:`record_lines`."""
    lines = record_lines(game, policies, seeds, players=players, legal=legal, max_moves=max_moves, batch=batch)
    return map(json.loads, lines)


def _seated(game: Game[Any, Any], policies: Policy | Sequence[Policy]) -> list[Policy]:
    """One policy a seat."""
    seated = [policies] * game.num_players if callable(policies) else list(policies)
    if len(seated) != game.num_players:
        raise ValueError(f"{game.name}: expected one policy or {game.num_players}, one a seat, got {len(seated)}")
    return seated


def _choose(game: Game[Any, Any], state: State, policies: list[Policy]) -> NDArray[np.int64]:
    """Actions of the seats to move, ``int64[B]``; seats with the same policy are asked together."""
    acting = np.array([policies.index(policy) for policy in policies])[state.seat]
    actions = np.empty(len(state), dtype=np.int64)
    for number in np.unique(acting):
        rows = np.flatnonzero(acting == number)
        asked = state if len(rows) == len(state) else state.take(rows)
        actions[rows] = game._as_actions(asked, policies[number](InformationSet(game, asked)))
    return actions


# ------------------------------------------------------------------------------------------------------------- files


def write_records(target: str | Path | IO[bytes], records: Iterable[Record]) -> int:
    """Write records, given as objects; otherwise as :func:`write_lines`."""
    return write_lines(target, (encode(record).encode() + b"\n" for record in records))


def write_lines(target: str | Path | IO[bytes], lines: Iterable[bytes]) -> int:
    """Write records, given as lines of JSON, one by one as they come.

    Parameters
    ----------
    target
        A path, compressed if it ends in ``.gz``; or a binary stream, such as ``sys.stdout.buffer``.  A file is
        written beside its place and moved there when it is whole, so that what was there before stays until then.
        The same records make the same bytes.
    lines
        What to write, each with the newline at its end.

    Returns
    -------
    How many records were written.
    """
    if not isinstance(target, str | Path):
        return _write_all(target, lines)
    with written_beside(target) as stream:
        if Path(target).suffix != ".gz":
            return _write_all(stream, lines)
        # No name and no time in the header: both would make the bytes differ.
        with gzip.GzipFile("", "wb", compresslevel=6, fileobj=stream, mtime=0) as compressed:
            return _write_all(compressed, lines)


def _write_all(stream: IO[bytes] | gzip.GzipFile, lines: Iterable[bytes]) -> int:
    count = 0
    for line in lines:
        stream.write(line)
        count += 1
    return count
