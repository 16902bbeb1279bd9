"""Random matches, played by a game and by its plain-Python referee side by side."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from helpers import new_batch, random_actions
from numpy.typing import NDArray
from referees import REFEREES

from slopes_envs import Game, State

Choose = Callable[[State, NDArray[np.int64]], NDArray[np.int64]]


def referee_of(game: Game[Any, Any], state: State, i: int) -> Any:
    """A referee of game ``i``, which must be at the beginning of its match."""
    return REFEREES[game.name](game.rules.record(), [game.deal_object(state, i)])


def assert_referees_agree(game: Game[Any, Any], matches: int, seed: int, choose: Choose | None = None) -> None:
    """Play whole matches at random and compare seats, legal actions, scores and ends at every move.

    ``choose`` may change the random actions, so that play comes to where chance alone would not take it.  Only for
    games that deal nothing within a hand.
    """
    state = new_batch(game, matches, seed)
    referees = [referee_of(game, state, i) for i in range(matches)]
    names = np.array(game.action_names)
    step = 0
    while (live := np.flatnonzero(state.seat >= 0)).size:
        actions = random_actions(game, state, step)
        if choose is not None:
            actions = choose(state, actions)
        legal, hands = game.legal(state), state.hand.copy()
        for i in live:
            assert state.seat[i] == referees[i].seat
            assert list(names[legal[i]]) == referees[i].legal()
        rewards = game.step(state, actions).rewards
        for i in live:
            if state.hand[i] > hands[i] and state.seat[i] >= 0:
                referees[i].script.append(game.deal_object(state, i))
            referees[i].play(names[actions[i]])
            assert len(referees[i].hand_scores) == state.hand[i]
            scored = referees[i].hand_scores[-1] if state.hand[i] > hands[i] else [0] * game.num_players
            assert list(rewards[i]) == scored
            assert list(state.scores[i]) == referees[i].scores
        step += 1
    ends = ["terminated" if terminated else "truncated" for terminated in state.terminated]
    assert ends == [referee.end for referee in referees]
