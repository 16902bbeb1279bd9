"""Replaying: matches with the same rules, side by side, move by move."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from operator import length_hint
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import DealError, ScriptExhausted, UnknownName, shown, suggestion
from ..game import Game, Script
from .form import LEGAL, UNFINISHED, ActionNames, RecordError, end_of
from .reading import Hand, Match, Move


@dataclass(slots=True)
class _Place:
    """How far the replay of one match has come."""

    match: Match
    scores: list[int] = field(default_factory=list)  # at the start of the open hand
    hand: int = 0  # number of the open hand, from 1
    moves: Iterator[Move] = field(default_factory=lambda: iter(()))  # what is still to come of it
    first_move: int = 0  # moves of the match before it
    wrong_deal: str = ""  # why the next hand cannot be dealt as the record says

    @property
    def open_hand(self) -> Hand:
        return self.match.hands[self.hand - 1]

    @property
    def is_last(self) -> bool:
        return self.hand == len(self.match.hands)

    def next_hand(self, scores: list[int], first_move: int) -> None:
        self.hand += 1
        self.scores, self.first_move = scores, first_move
        self.moves = iter(self.open_hand.moves)


class Replay:
    """Plays matches with the same rules side by side and compares what comes out with what they say.

    A match whose record proves wrong leaves the batch, and with it all that stand further down in the file: only the
    first problem counts.
    """

    def __init__(self, game: Game[Any, Any], matches: list[Match]) -> None:
        numbers = None if game.action_names is None else {name: n for n, name in enumerate(game.action_names)}
        self.game, self.names, self.numbers = game, ActionNames(game), numbers
        self.problem: RecordError | None = None
        self.places: list[_Place] = []
        self.state: Any = None
        self._start(matches)

    def run(self) -> RecordError | None:
        """Play all matches to their end; the first problem, or None."""
        while self.places:
            self._step()
        return self.problem

    def _start(self, matches: list[Match]) -> None:
        """Deal the first hands."""
        for match in matches:
            with self._noted():
                if not match.hands:
                    self._between_hands(match, 0, self.game.scores(self.game.new(0))[0].tolist())
        matches = [match for match in matches if match.hands and self._counts(match)]
        while matches:
            scripts = [Script(tuple(hand.deal for hand in match.hands), goes_on=False) for match in matches]
            try:
                self.state = self.game.from_scripts(scripts, np.zeros(len(scripts), np.uint64))
                break
            except DealError as error:
                row = _row(error)
                self._note(matches[row].fault(error.reason, 1))
                del matches[row:]
        if matches:
            self.places = [_Place(match) for match in matches]
            for place, scores in zip(self.places, self.game.scores(self.state).tolist(), strict=True):
                place.next_hand(scores, 0)

    # -- problems

    def _note(self, problem: RecordError) -> None:
        if self.problem is None or problem.line < self.problem.line:
            self.problem = problem

    @contextmanager
    def _noted(self) -> Iterator[None]:
        try:
            yield
        except RecordError as problem:
            self._note(problem)

    def _counts(self, match: Match) -> bool:
        return self.problem is None or match.line < self.problem.line

    def _keep(self, stay: list[int]) -> None:
        """Go on with some of the matches, of these only those that stand before the first problem."""
        stay = [i for i in stay if self._counts(self.places[i].match)]
        if len(stay) < len(self.places):
            self.state = self.state.take(np.array(stay, dtype=np.int64))
            self.places = [self.places[i] for i in stay]

    # -- one move

    def _step(self) -> None:
        actions = self._next_actions()
        if not self.places:
            return
        hand = self._take(actions)
        ended = np.flatnonzero((self.state.hand != hand) | (self.state.seat < 0)).tolist() if self.places else []
        if ended:
            scores = self.game.scores(self.state)
            going = set(range(len(self.places)))
            for i in ended:
                going.discard(i)
                with self._noted():
                    if self._end_hand(i, scores[i].tolist()):
                        going.add(i)
            self._keep(sorted(going))

    def _next_actions(self) -> NDArray[np.int64]:
        """The next action of every match; those without a right one leave."""
        game, state = self.game, self.state
        moves = [next(place.moves, None) for place in self.places]
        legal = game.legal(state)
        noted = any(move is not None and move[2] is not None for move in moves)
        names = self.names.legal(state, legal) if noted else [None] * len(moves)
        chosen = [
            -1 if move is None or move[0] != seat or move[2] not in (None, listed) else self._number(i, move[1])
            for i, (move, seat, listed) in enumerate(zip(moves, state.seat.tolist(), names, strict=True))
        ]
        actions = np.array(chosen, dtype=np.int64)
        right = (actions >= 0) & legal[np.arange(len(actions)), actions]
        if not right.all():
            for i in np.flatnonzero(~right).tolist():
                with self._noted():
                    self._wrong_move(i, moves[i])
            stay = np.flatnonzero(right)
            self._keep(stay.tolist())
            actions = actions[stay[: len(self.places)]]
        return actions

    def _number(self, i: int, name: str) -> int:
        """Number of an action; -1 if there is none of exactly this name."""
        if self.numbers is not None:
            return self.numbers.get(name, -1)
        try:
            number = self.game.parse_action(self.state, i, name)
        except UnknownName:
            return -1
        return number if self.game.action_name(self.state, i, number) == name else -1

    def _wrong_move(self, i: int, move: Move | None) -> None:
        """Say what is wrong with a move, or with its missing."""
        game, place, seat = self.game, self.places[i], int(self.state.seat[i])
        if move is None:
            self._moves_run_out(i)
            return
        number = int(self.state.move[i]) - place.first_move + 1
        fault = partial(place.match.fault, hand=place.hand, move=number)
        if move[0] != seat:
            raise fault(f"seat {seat} is to move, got {shown(move[0])}")
        if self._number(i, move[1]) < 0:
            raise fault(f"unknown action {shown(move[1])}{suggestion(move[1], game.legal_names(self.state, i))}")
        legal = game.legal_names(self.state, i)
        if move[1] not in legal:
            raise fault(f"{move[1]} is not legal for seat {seat}; legal: {', '.join(legal)}")
        raise fault(f"{LEGAL}: expected {json.dumps(legal)}, got {shown(move[2])}")

    def _take(self, actions: NDArray[np.int64]) -> NDArray[np.int32]:
        """Take actions; returns the number of the hand in which each match was before."""
        while True:
            hand: NDArray[np.int32] = self.state.hand.copy()
            try:
                self.game.step(self.state, actions, check=False)
                return hand
            except DealError as error:
                actions = self._wrong_deal(error, actions)
                if not self.places:
                    return hand

    def _wrong_deal(self, error: DealError, actions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Go around a deal that the next action would need and that cannot be; returns what is left of the actions."""
        row = _row(error)
        place = self.places[row]
        if error.hand == place.hand:  # a deal that goes on within the hand
            number = int(self.state.move[row]) - place.first_move + 1
            self._note(place.match.fault(error.reason, place.hand, number))
            self._keep(list(range(row)))
            return actions[:row]
        # The hand before may be wrong too, and comes first: let it end, with some other deal to follow.
        if self.state.scripts[row].goes_on:
            raise error  # it does not come from the record
        if not isinstance(error, ScriptExhausted):
            place.wrong_deal = error.reason
        deals = tuple(hand.deal for hand in place.match.hands[: place.hand])
        self.state.scripts[row] = Script(deals, goes_on=True)
        return actions

    # -- ends

    def _end_hand(self, i: int, scores: list[int]) -> bool:
        """Compare a hand that is over with what the record says; whether the match goes on.

        Raises RecordError.
        """
        place = self.places[i]
        match, number, hand = place.match, place.hand, place.open_hand
        if next(place.moves, None) is not None:
            extra = len(hand.moves) - length_hint(place.moves)
            raise match.fault(f"the hand was over after move {extra - 1}", number, extra)
        if match.problem is not None and match.problem.hand == number:
            raise match.problem
        changes = [now - then for now, then in zip(scores, place.scores, strict=True)]
        if hand.scores != changes:
            raise match.fault(f"scores: expected {changes}, got {json.dumps(hand.scores)}", number)
        if self.state.seat[i] < 0:
            self._end_match(i, scores)
            return False
        if place.wrong_deal:
            raise match.fault(place.wrong_deal, number + 1)
        if place.is_last:
            self._between_hands(match, number, scores)
            return False
        place.next_hand(scores, int(self.state.move[i]))
        return True

    def _end_match(self, i: int, scores: list[int]) -> None:
        place = self.places[i]
        match, number, end = place.match, place.hand, end_of(self.state, i)
        if not place.is_last or (match.problem is not None and match.problem.hand is not None):
            raise match.fault(f"the match was over ({end}) after hand {number}", number + 1)
        if match.problem is not None:
            raise match.problem
        self._deal_used(i)
        _compare_end(match, end, scores)

    def _moves_run_out(self, i: int) -> None:
        """A hand is not over and has no further move: right only at the end of an unfinished record."""
        place = self.places[i]
        match, number, hand, problem = place.match, place.hand, place.open_hand, place.match.problem
        if problem is not None and problem.hand == number:
            raise problem
        if hand.scores is None and place.is_last and (problem is None or problem.hand is None):
            if problem is not None:
                raise problem
            if match.end == UNFINISHED:
                self._deal_used(i)
                _compare_end(match, UNFINISHED, place.scores)
                return
        seat, missing = int(self.state.seat[i]), len(hand.moves) + 1
        raise match.fault(f"a move is missing: seat {seat} is to move", number, missing)

    def _between_hands(self, match: Match, number: int, scores: list[int]) -> None:
        """The match goes on after hand ``number``, the last of the record: right only if that is unfinished."""
        if match.problem is not None:
            raise match.problem
        if match.end != UNFINISHED:
            after = f" after hand {number}" if number else ""
            raise match.fault(f"the match is not over{after}, so a hand is missing; end is {match.end!r}", number + 1)
        _compare_end(match, UNFINISHED, scores)

    def _deal_used(self, i: int) -> None:
        place = self.places[i]
        unused = self.game.unused_deal(self.state, i)
        if unused is not None:
            raise place.match.fault(f"deal: {unused}", place.hand)


def _row(error: DealError) -> int:
    """Place in the batch of the match that an error is about."""
    if error.match is None:
        raise error
    return error.match - 1


def _compare_end(match: Match, end: str, scores: list[int]) -> None:
    if match.scores != scores:
        raise match.fault(f"final scores: expected {scores}, got {shown(match.scores)}")
    if match.end != end:
        raise match.fault(f"end: expected {end!r}, got {match.end!r}")
