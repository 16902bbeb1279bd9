"""The reference in C against the library: it must play the same game, by the same chances."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chisquare

from slopes_benchmarks import c_reference
from slopes_benchmarks.c_reference import ACTIONS, FEATURES, GAME, MOVES, PLANES, SEATS, STRIDE, NoReference, Reference
from slopes_envs import derive, make_game
from slopes_envs.cards import cards_in
from slopes_envs.games.slippery_slope import DECK

MATCHES = 40
LIKELY = 1e-4  # a right generator fails one test of ten thousand, and with these seeds none


@pytest.fixture(scope="module")
def reference() -> Iterator[Reference | None]:
    """The compiled reference, or None on a machine without a compiler, which then says so."""
    if c_reference.compiler() is None:
        print("no C compiler here: the reference in C is not tested")
        yield None
        return
    with c_reference.compiled() as built:
        yield built


@pytest.fixture(scope="module")
def traces(reference: Reference | None) -> list[NDArray[Any]]:
    """Whole matches written down by the reference."""
    return [] if reference is None else [reference.trace(seed, 100) for seed in range(MATCHES)]


def script(match: NDArray[Any]) -> list[dict[str, Any]]:
    return [
        {"dealer": int(hand["dealer"]), "deal": {"hands": [DECK.names_of(int(held)) for held in hand["dealt"]]}}
        for hand in match
    ]


def test_matches_are_the_librarys_decision_by_decision(traces: list[NDArray[Any]]) -> None:
    game = make_game(GAME)
    for match in traces[:2]:
        state = game.from_deals([script(match)])
        for hand in match:
            before = game.scores(state)[0]
            for move in range(MOVES):
                assert state.seat[0] == hand["seat"][move]
                assert game.legal_words(state)[0, 0] == hand["legal"][move]
                row = hand["rows"][move]
                features = game.features(state, state.seat)
                place = 0
                for name, size in PLANES.items():
                    assert np.array_equal(features[name].reshape(-1), row[place : place + size]), (name, move)
                    place += size
                assert np.array_equal(game.legal(state)[0], row[FEATURES:])
                game.step(state, hand["action"][move : move + 1])
            assert np.array_equal(game.scores(state)[0] - before, hand["change"])
        assert bool(state.terminated[0]) or bool(state.truncated[0])


def test_deals_and_choices_are_uniform(traces: list[NDArray[Any]]) -> None:
    if not traces:
        return
    hands = np.concatenate(traces)
    for card in range(len(DECK)):
        holders = [int((hands["dealt"][:, seat] >> card & 1).sum()) for seat in range(SEATS)]
        assert chisquare(holders).pvalue > LIKELY, DECK.name(card)
    counts = np.bitwise_count(hands["legal"])
    below = (np.uint64(1) << hands["action"].astype(np.uint64)) - np.uint64(1)
    ranks = np.bitwise_count(hands["legal"] & below)  # which of the legal actions was chosen
    assert (hands["legal"] >> hands["action"].astype(np.uint64) & np.uint64(1)).all()
    for count in range(2, 12):
        chosen = np.bincount(ranks[counts == count], minlength=count)
        assert len(chosen) == count
        assert chisquare(chosen).pvalue > LIKELY, count
    assert chisquare(np.bincount([match[0]["dealer"] for match in traces], minlength=SEATS)).pvalue > LIKELY


def test_statistics_are_those_of_the_library(traces: list[NDArray[Any]]) -> None:
    """How many actions are legal, and what hands score, in random play here and there."""
    if not traces:
        return
    hands = np.concatenate(traces)
    game = make_game(GAME, match="hand")
    batch = 4000
    state = game.new(derive(3, np.arange(batch)))
    ours = np.zeros((MOVES, batch), dtype=np.int64)
    for move in range(MOVES):
        ours[move] = np.bitwise_count(game.legal_words(state)[:, 0])
        game.step(state, game.sample_legal(state, derive(4, move, np.arange(batch))))
    theirs = np.bitwise_count(hands["legal"]).astype(np.int64).T
    for move in range(MOVES):
        spread = np.sqrt(ours[move].var() / batch + theirs[move].var() / len(hands))
        assert abs(ours[move].mean() - theirs[move].mean()) <= 4 * spread, move
    scores, change = game.scores(state), hands["change"]
    spread = np.sqrt(scores.var() / scores.size + change.var() / change.size)
    assert abs(scores.mean() - change.mean()) <= 4 * spread


def test_observing_changes_nothing_that_is_played(reference: Reference | None) -> None:
    if reference is None:
        return
    rows = np.full((MOVES, STRIDE), 7, np.uint8)
    assert np.array_equal(reference.play(300, 5), reference.play_observed(300, 5, rows))
    assert rows[:, : FEATURES + ACTIONS].max() == 1
    assert [subject.play() for subject in reference.subjects(1)] == [1000 * MOVES] * 2


def test_traced_cards_are_all_played(traces: list[NDArray[Any]]) -> None:
    for hand in np.concatenate(traces)[:50] if traces else []:
        played = hand["action"][SEATS:] - (ACTIONS - len(DECK))
        assert sorted(played) == list(range(len(DECK)))
        for seat in range(SEATS):
            assert set(played[hand["seat"][SEATS:] == seat]) == set(cards_in(int(hand["dealt"][seat])))


@pytest.mark.parametrize(("command", "reason"), [("no-such-compiler", "no-such-compiler"), ("false", "false failed")])
def test_a_compiler_that_fails_is_told(monkeypatch: pytest.MonkeyPatch, command: str, reason: str) -> None:
    monkeypatch.setenv("CC", command)
    with pytest.raises(NoReference, match=reason), c_reference.compiled():
        pass


def test_no_compiler_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr(c_reference, "COMPILERS", ())
    with pytest.raises(NoReference, match="no C compiler"), c_reference.compiled():
        pass


def test_the_source_is_packaged() -> None:
    pyproject = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
    package = Path(c_reference.__file__).parent
    patterns = pyproject["tool"]["setuptools"]["package-data"]["slopes_benchmarks"]
    assert any(c_reference.SOURCE in package.glob(pattern) for pattern in patterns)
