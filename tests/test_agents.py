"""What all agents share: who is asked, and what is answered where nobody has a choice."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers import staggered
from numpy.typing import NDArray

from slopes_agents import make_agent
from slopes_agents.base import where_free
from slopes_envs import InformationSet, make_game

GAME = "slippery_slope"


def highest(games: InformationSet) -> NDArray[np.int64]:
    """The legal action with the highest number."""
    return games.game.num_actions - 1 - games.legal[:, ::-1].argmax(axis=1)


@pytest.mark.parametrize("at_once", [None, 1, 7])
def test_nobody_is_asked_where_there_is_one_legal_action(at_once: int | None) -> None:
    game = make_game(GAME)
    state = staggered(game, 60, 33)
    view = InformationSet(game, state)
    legal, asked = game.legal(state), []

    def noting(games: InformationSet) -> NDArray[np.int64]:
        asked.append(games.legal)
        return highest(games)

    chosen = where_free(view, noting, at_once)
    free = legal.sum(axis=1) > 1
    assert 0 < free.sum() < 60
    assert np.array_equal(chosen, highest(view))
    assert np.array_equal(np.concatenate(asked), legal[free])
    assert at_once is None or max(map(len, asked)) == at_once
    asked.clear()
    assert np.array_equal(where_free(view.take(np.flatnonzero(free)), noting, at_once), highest(view)[free])
    assert len(asked) == (1 if at_once is None else -(-free.sum() // at_once))
    asked.clear()
    forced = view.take(np.flatnonzero(~free))
    assert np.array_equal(where_free(forced, noting), legal[~free].argmax(axis=1)) and not asked


def test_where_nothing_is_legal_the_answer_is_zero() -> None:
    game = make_game(GAME)
    state = staggered(game, 30, 33)
    waiting = InformationSet(game, state, (state.seat + 1) % 3)
    assert not where_free(waiting, highest).any()
    mixed = InformationSet(game, state, np.where(np.arange(30) % 2, state.seat, (state.seat + 1) % 3))
    chosen = where_free(mixed, highest)
    assert not chosen[::2].any() and np.array_equal(chosen[1::2], highest(mixed)[1::2])


@pytest.mark.parametrize(
    ("name", "spec"),
    [
        *[(name, spec) for name in (GAME, "sloppy_seconds", "sluff", "slopes") for spec in ("ppo", "pimc", "ismcts")],
        ("slopes", "afterstates"),
        ("slopes", "heuristic"),
        (GAME, "ppo:mode=sample"),
    ],
)
def test_of_no_games_there_are_no_answers(name: str, spec: str) -> None:
    game = make_game(name)
    answer = make_agent(spec, game).act(InformationSet(game, staggered(game, 5, 9).take(np.arange(0))))
    assert answer.shape == (0,) and answer.dtype == np.int64


def test_chance_alone_is_blind() -> None:
    game = make_game(GAME)
    blind: dict[str, Any] = {spec: make_agent(spec, game).blind for spec in ("random", "greedy", "heuristic", "ppo")}
    assert blind == {"random": True, "greedy": False, "heuristic": False, "ppo": False}
