"""The rule-based and the greedy player of Slopes: single positions, what they see, and how strong they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers import new_batch, staggered
from numpy.typing import NDArray

from slopes_agents import make_agent
from slopes_agents.heuristic import slopes as player
from slopes_agents.play import play_out
from slopes_envs import InformationSet, derive, make_game, match_seed
from slopes_envs.games import slopes
from slopes_envs.games.slopes import DECK, DISTANCE, NUMBER, PILE, PILES, SIZE

SURE = "R1 Y1 G1"  # what the other seat holds where it does not matter


def position(hand: str, tops: str, other: str = SURE, seat: int = 0, **fields: Any) -> tuple[Any, Any]:
    """One match in which a seat is to move with these cards; piles as it sees them, ``-`` for an empty one."""
    game = make_game("slopes", first_player=seat)
    state: Any = new_batch(game, 1)
    own, others = (np.array([DECK.parse_set(cards)]) for cards in (hand, other))
    shown = np.array([[-1 if top == "-" else DECK.parse(top) for top in tops.split()]])
    state.tops[:] = shown[:, PILE[PILES * seat :][:PILES]]
    counts = [slopes._tally(cards) for cards in (own, others)]
    played = slopes._tally(shown, shown >= 0)
    for number, held in zip((seat, 1 - seat), counts, strict=True):
        state.hands[:, number] = slopes._words(held)
    state.played[:] = slopes._words(played)
    left = np.repeat(np.arange(slopes.TYPES), slopes.COPIES - counts[0][0] - counts[1][0] - played[0])
    state.stock[0, SIZE - len(left) :] = np.random.default_rng(3).permutation(left)
    state.next_card[:] = SIZE - len(left)
    for name, value in fields.items():
        getattr(state, name)[:] = value
    state.legal_actions = game._legal(state)
    return game, state


def turn_of(agent: str, game: Any, state: Any) -> list[str]:
    """What an agent does until the turn ends; ``state`` is stepped."""
    chosen = make_agent(agent, game)
    names, seat, turns = [], int(state.seat[0]), int(state.turns[0])
    while int(state.turns[0]) == turns:
        view = InformationSet(game, state, seats=[seat])
        action = int(chosen.act(view)[0])
        names.append(view.action_name(0, action))
        game.step(state, [action])
    return names


def distance_for(state: Any, seat: int) -> int:
    """In how many piles the row differs from a slope of a seat."""
    numbers = NUMBER[state.tops[0]]
    return int(DISTANCE[slopes._index(numbers if seat == 0 else numbers[::-1])])


# -------------------------------------------------------------------------------------------------- single positions


@pytest.mark.parametrize("agent", ["heuristic", "greedy"])
@pytest.mark.parametrize("seat", [0, 1])
def test_it_wins_by_a_chain(agent: str, seat: int) -> None:
    # 7 is wanted on pile 4, which shows 5; red goes up by two from red alone.
    game, state = position("Y6 R7 G1 B2 B9", "Y1 R4 G6 B5", seat=seat)
    assert turn_of(agent, game, state) == ["Y6 on 4", "R7 on 4", "end"]
    assert state.scores[0, seat] == 1


@pytest.mark.parametrize("agent", ["heuristic", "greedy"])
def test_it_takes_the_shortest_way_to_a_win(agent: str) -> None:
    game, state = position("B7 Y6 R7 G1 B9", "Y1 R4 G6 B5")
    assert turn_of(agent, game, state) == ["B7 on 4", "end"]


def test_it_wins_rather_than_draws_cards() -> None:
    game, state = position("G2 G0 W4 R9 R9 RD", "W R3 G5 B7")
    turn_of("heuristic", game, state)
    assert state.scores[0, 0] == 1


def test_it_parries() -> None:
    # The other seat lacks a 2, 1 or 0 on pile 4 and has many ways; changing pile 2 or 3 or freezing is called for.
    game, state = position("R8 G6 Y7 B3 R3", "B8 R5 Y3 G3", other="R2 Y2 G2 B1 Y0")
    greedy_game, greedy_state = position("R8 G6 Y7 B3 R3", "B8 R5 Y3 G3", other="R2 Y2 G2 B1 Y0")
    turn_of("heuristic", game, state)
    turn_of("greedy", greedy_game, greedy_state)
    assert distance_for(state, 1) >= 2
    assert distance_for(greedy_state, 1) < 2


def test_it_never_completes_the_others_slope_if_it_need_not() -> None:
    # Any 2 on pile 4 would be the other's win.
    game, state = position("R2 Y2 B9", "B8 R5 Y3 G3")
    turn_of("heuristic", game, state)
    assert state.seat[0] >= 0 or state.scores[0, 0] == 1


def test_it_freezes_what_the_other_needs() -> None:
    # The 9 would change nothing, the skip keeps the other off the pile on which it would win.
    game, state = position("GS R9", "B8 R5 Y3 G3", other="R2 Y2 G2 B1 Y0")
    assert turn_of("heuristic", game, state) == ["GS on 4"]


def test_it_draws_with_a_wild_draw_four_when_it_has_few_cards() -> None:
    game, state = position("R5 W4 B9", "R5 Y5 Y9 G5")
    names = turn_of("heuristic", game, state)
    assert [name.split()[0] for name in names] == ["R5", "W4"]


def test_it_keeps_cards_that_change_nothing() -> None:
    # It must put one, and could put three equal ones in a row.
    game, state = position("R5 Y5 G5 Y8", "B5 R9 G2 Y0", other="R2 Y2")
    names = turn_of("heuristic", game, state)
    assert len(names) == 2
    assert names[-1] == "end"


def test_a_swap_that_would_lose_is_not_made() -> None:
    # A reverse lies on pile 1; as it stands the others fall towards neither seat.
    reverse = {"begun": 0, "swapping": True, "frozen_by": [[0, -1, -1, -1]]}
    game, state = position("R4 Y4", "RR R5 Y3 G1", other="Y9 B9 G9 R9 Y8", **reverse)
    names = turn_of("heuristic", game, state)
    assert len(names) == 1
    assert distance_for(state, 1) >= 2 or state.tops[0, 0] == DECK.parse("RR")


# -------------------------------------------------------------------------------------------------------- what it sees


def going(state: Any) -> Any:
    """The games of a batch that are not over."""
    return state.take(np.flatnonzero(state.seat >= 0))


@pytest.mark.parametrize("agent", ["heuristic", "greedy"])
@pytest.mark.parametrize("must_play", [True, False])
def test_it_never_sees_what_its_seat_does_not(agent: str, must_play: bool) -> None:
    game = make_game("slopes", must_play=must_play)
    chosen = make_agent(agent, game)
    state = going(staggered(game, 400, 150))
    other = game.resample(state, state.seat, derive(2, np.arange(len(state))))
    assert (state.hands != other.hands).any(axis=(1, 2)).mean() > 0.9
    views = [InformationSet(game, one) for one in (state, other)]
    assert (chosen.act(views[0]) == chosen.act(views[1])).all()


def test_the_sight_is_the_observation_decoded() -> None:
    game = make_game("slopes")
    state: Any = going(staggered(game, 600, 300))
    view = InformationSet(game, state)
    sight, values = player.look(view), view.values
    rows = np.arange(len(state))
    counts = slopes._counts(state.hands[rows, state.seat])
    for card in range(slopes.COLOURED):
        bit = np.uint64(card)
        assert ((sight.hand >> bit & np.uint64(1)) == (counts[:, card] > 0)).all()
        assert ((sight.twins >> bit & np.uint64(1)) == (counts[:, card] > 1)).all()
    by_kind = [counts[:, player.SPECIALS[player.KIND_OF[player.SPECIALS] == kind]].sum(axis=1) for kind in range(5)]
    assert (sight.specials == by_kind).all()
    assert (values["top_face"] == np.where(sight.face == player.NOTHING, -1, sight.face).T).all()
    assert (values["top_colour"] == np.where(sight.colour == player.ANY_COLOUR, -1, sight.colour).T).all()
    assert (np.where(values["frozen"] < 0, 0, 1 << np.maximum(values["frozen"], 0)) == sight.frozen.T).all()
    assert (np.where(sight.begun.any(axis=0), sight.begun.argmax(axis=0), -1) == values["begun"]).all()
    assert (sight.swapping == (values["phase"] == 1)).all()
    assert (values["hand_sizes"] == sight.cards.T).all()
    assert (sight.turns == values["turns"]).all()
    assert sight.to_move.all()


def test_chains_are_those_of_the_game() -> None:
    """What can be reached on a pile is what trying all orders of putting number cards reaches."""
    game = make_game("slopes")
    state: Any = going(staggered(game, 60, 40))
    plan = player.plan(player.look(InformationSet(game, state)))
    counts = slopes._counts(state.hands[np.arange(len(state)), state.seat])
    for row in range(len(state)):
        hand = [c for c in np.flatnonzero(counts[row]).tolist() if 0 <= slopes.FACE[c] < 10]
        for pile in range(PILES):
            levels: dict[int, int] = {}
            ends = {int(state.tops[row, PILE[PILES * state.seat[row] + pile]])}
            for used in range(1, len(hand) + 1):
                ends = {card for card in hand for top in ends if slopes.fits(card, top, duplicate=False)}
                for card in ends:
                    levels.setdefault(int(slopes.FACE[card]), used)
            found = [
                (number, used)
                for used, level in enumerate(plan.levels, 1)
                for number in range(10)
                if level[pile, row] >> number & 1
            ]
            assert sorted(found) == sorted(levels.items())


# ------------------------------------------------------------------------------------------------- what it goes by


def row_of(*shown: int) -> int:
    """Number of a row of piles."""
    return int(player.PLACE_VALUE @ np.array(shown))


def test_experience_of_rows() -> None:
    known = player.experience()
    assert known.decided[row_of(1, 3, 5, 7)] == 1
    assert known.decided[row_of(7, 5, 3, 1)] == -1
    assert (known.decided != 0).sum() == 2 * 210  # four different numbers of ten, rising or falling
    assert [int(needs) for needs in known.needs[row_of(1, 4, 7, 0)]] == [0, 0, 0, 1 << 8 | 1 << 9]
    # The other seat wins with a 2, 1 or 0 on the last pile or a 4 on the third; closed piles are not to be feared.
    assert (known.dangers[row_of(8, 5, 3, 3)] > 0).tolist() == [True, True, True, False, True, *[False] * 5]
    assert not known.dangers[row_of(8, 5, 3, player.CLOSED)].any()
    # The wider the gaps, the harder it is to spoil what is needed; nearer rows are better.
    assert known.holds[row_of(1, 4, 7, 0), 3] > known.holds[row_of(6, 7, 8, 0), 3] > 0
    assert known.worth[row_of(1, 4, 7, 0)] > known.worth[row_of(7, 4, 1, 0)]


# --------------------------------------------------------------------------------------------------- what it is worth


def differences(agent: str, against: str, deals: int, seed: int) -> NDArray[np.float64]:
    """What an agent scores more than another one, by deal, each deal played both ways."""
    game = make_game("slopes", max_turns=200)
    state = game.new(np.repeat(match_seed(seed, np.arange(deals)), 2))
    seating = np.tile([[0, 1], [1, 0]], (deals, 1))
    play_out(game, state, [make_agent(agent, game), make_agent(against, game)], seating)
    scores = np.take_along_axis(state.scores, np.argsort(seating, axis=1), axis=1).astype(np.float64)
    gained: NDArray[np.float64] = (scores[:, 0] - scores[:, 1]).reshape(deals, 2).mean(axis=1)
    return gained


def test_it_beats_random_play() -> None:
    # Over 500 deals: 2.00 of 2.
    assert differences("heuristic", "random", 60, seed=3).mean() > 1.9


def test_it_beats_the_greedy_player() -> None:
    # Over 500 deals: 1.74 of 2; means of 100 have a standard error of 0.07.
    assert differences("heuristic", "greedy", 100, seed=4).mean() > 1.3


def test_the_greedy_player_beats_random_play() -> None:
    # Over 500 deals: 1.97 of 2.
    assert differences("greedy", "random", 60, seed=5).mean() > 1.8


# --------------------------------------------------------------------------------------------------- for search


def test_promising_actions_are_those_of_the_best_ends() -> None:
    """One end of the turn: the player's own choice.  More ends: no fewer actions, all of them legal."""
    game = make_game("slopes")
    state = staggered(game, 300, 150)
    view = InformationSet(game, state.take(np.flatnonzero(state.seat >= 0)))
    choice = make_agent("heuristic", game).act(view)
    before = np.zeros_like(view.legal)
    for count in (1, 2, 4, 1000):
        found = player.promising(view, count)
        assert (found <= view.legal).all() and (before <= found).all()
        assert (found.sum(axis=1) <= count).all()
        if count == 1:
            assert np.array_equal(found.argmax(axis=1), choice) and (found.sum(axis=1) == 1).all()
        before = found
    plans = player.plan(player.look(view))
    ends = player.ends_of(plans, view.legal)
    values = player.judged(ends, player.reasons_for(plans.sight, ends))
    most = np.array([values[ends.row == row].max() for row in range(len(view))])
    near = np.flatnonzero(values >= most[ends.row] - player.FARTHEST)
    expected = np.zeros_like(view.legal)
    expected[ends.row[near], player.begun_by(plans, ends, near)] = True
    assert np.array_equal(before, expected) and (before.sum(axis=1) > 2).mean() > 0.2
