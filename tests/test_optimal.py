"""The players of Slippery Sam that count: ``optimal`` against plain counting and known values, and the club player."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import comb, floor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers import new_batch, staggered
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from variants import VARIANTS, made, variant_id

from slopes_agents import make_agent, optimal
from slopes_agents.heuristic.slippery_sam import SlipperySamPlayer
from slopes_agents.optimal import (
    GREATEST,
    LEAST,
    PASS,
    REDRAW,
    Amounts,
    OptimalAgent,
    Sight,
    Turns,
    bank_worth,
    best_choice,
    courses,
    win_chance,
)
from slopes_benchmarks import sam_values
from slopes_benchmarks.duplicate import evaluate
from slopes_envs import Game, InformationSet, State, UnknownName, derive, game_names, make_game
from slopes_envs.games.slippery_sam import DECK, RANKS, REDRAWS, SIZE, SUITS

GAME = "slippery_sam"
PLAYED = [(GAME, rules) for rules in VARIANTS[GAME]]


def going(state: State) -> State:
    """The games of a batch that are not over."""
    return state.take(np.flatnonzero(state.seat >= 0))


def betting(state: Any) -> Any:
    """The games of a batch in which a seat is to bet."""
    return state.take(np.flatnonzero((state.seat >= 0) & (state.seat != state.dealer)))


def seen_from(game: Game[Any, Any], state: State) -> Turns:
    """The turns of the seats to move."""
    return Sight(InformationSet(game, state)).turns(Amounts(game.rules))


# ------------------------------------------------------------------------------------------------------ known values


def first_turns(bank: int, **rules: Any) -> tuple[Game[Any, Any], State]:
    """The first turns of a bank, against every card of the deck."""
    game = make_game(GAME, first_dealer=0, bet_levels="all", **rules)
    scripts = []
    for exposed in DECK.names:
        rest = [card for card in DECK.names if card != exposed]
        hands = [[], *(rest[3 * seat : 3 * seat + 3] for seat in range(game.num_players - 1))]
        stock = [exposed, *rest[3 * (game.num_players - 1) :]]
        scripts.append([{"dealer": 0, "deal": {"hands": hands, "stock": stock}}])
    state = game.from_deals(scripts)
    game.step(state, np.full(len(state), bank))
    return game, state


@pytest.mark.parametrize(
    ("bank", "rules", "best", "least", "greatest"),
    [
        (40, {}, 0.128, -0.392, -15.69),
        (100, {}, 0.929, -0.392, -39.24),
        (100, {"fee": 1}, 2.152, -0.392, -39.24),
    ],
)
def test_known_values_of_the_first_turn(
    bank: int, rules: dict[str, Any], best: float, least: float, greatest: float
) -> None:
    choices = seen_from(*first_turns(bank, **rules)).choices()
    # What was published has three decimals or two, give or take one.
    assert choices.max(axis=0).mean() == pytest.approx(best, abs=0.001)
    assert choices[LEAST].mean() == pytest.approx(least, abs=0.001)
    assert choices[GREATEST].mean() == pytest.approx(greatest, abs=0.01)


def test_known_value_of_the_greatest_bet_on_low_cards_only() -> None:
    choices = seen_from(*first_turns(40)).choices()
    low = np.arange(SIZE) % RANKS < 3  # 2, 3, 4
    assert np.where(low, choices[GREATEST], choices[LEAST]).mean() == pytest.approx(0.057, abs=0.001)


@pytest.mark.parametrize("bank", [10, 11, 25, 40, 64, 100])
def test_with_the_usual_fee_the_first_seat_never_redraws(bank: int) -> None:
    game, state = first_turns(bank)
    names = action_names(game, state, make_agent("optimal", game).act(InformationSet(game, state)))
    by_rank = [{names[RANKS * suit + rank] for suit in range(SUITS)} for rank in range(RANKS)]
    assert by_rank == [{f"bet {bank}"}] * 2 + [{"bet 1"}] * 11


def test_with_a_low_fee_the_first_seat_redraws_against_high_cards() -> None:
    game, state = first_turns(100, fee=1)
    names = action_names(game, state, make_agent("optimal", game).act(InformationSet(game, state)))
    assert names[:3] == ["bet 100", "bet 100", "redraw"]
    assert set(names[2:RANKS]) == {"redraw"}


def action_names(game: Game[Any, Any], state: State, actions: NDArray[np.int64]) -> list[str]:
    return [game.action_name(state, i, int(action)) for i, action in enumerate(actions)]


def test_chances_to_win() -> None:
    assert win_chance(51, 12) == pytest.approx(1 - (39 * 38 * 37) / (51 * 50 * 49))
    assert win_chance(10, 0) == 0
    assert win_chance(10, 8) == 1
    assert win_chance(3, 1) == 1


# -------------------------------------------------------------------------------------------------- card by card


class CardByCard:
    """The best expected chips of a turn, counted card by card from what the observation tells."""

    def __init__(self, game: Game[Any, Any], values: dict[str, NDArray[Any]], i: int) -> None:
        self.rules = game.rules
        self.fee = int(values["fee"][i])
        unseen = np.flatnonzero(~values["seen"][i]).tolist()
        exposed = int(values["exposed_suit"][i]) * RANKS + int(values["exposed_rank"][i])
        position = (unseen, exposed, int(values["bank"][i]), int(values["chips"][i, 0]), int(values["redraws"][i]))
        self.choices = self._choices(*position)

    def _offered(self, bank: int, chips: int) -> list[int]:
        low, high = min(bank, self.rules.min_bet), min(bank, chips)
        if low > high:
            return []
        if self.rules.bet_levels == "all":
            return [low, high]
        return [low + floor(Fraction(str(level)) * (high - low) + Fraction(1, 2)) for level in self.rules.bet_levels]

    def _choices(self, unseen: list[int], exposed: int, bank: int, chips: int, redraws: int) -> dict[int, float]:
        better = sum(card // RANKS == exposed // RANKS and card > exposed for card in unseen)
        chance = 1 - comb(len(unseen) - better, 3) / comb(len(unseen), 3)
        bets = self._offered(bank, chips)
        found = {}
        if bets:
            found = {LEAST: bets[0] * (2 * chance - 1), GREATEST: bets[-1] * (2 * chance - 1)}
        if redraws < REDRAWS and chips >= self.fee:
            found[REDRAW] = -self.fee + sum(
                max(
                    self._choices(
                        unseen[:place] + unseen[place + 1 :], card, bank + self.fee, chips - self.fee, redraws + 1
                    ).values()
                )
                for place, card in enumerate(unseen)
            ) / len(unseen)
        if redraws == REDRAWS or not bets:
            found[PASS] = 0.0
        return found


COUNTED = [
    {"num_players": 9, "fee": 1},
    {"num_players": 8, "fee": 0, "bet_levels": (0.25, 0.5)},
    {"num_players": 9, "min_bet": 6},
    {"num_players": 9, "starting_chips": 20, "fee": 2, "bet_levels": "all"},
]


@pytest.mark.parametrize("rules", COUNTED, ids=str)
def test_choices_agree_with_counting_card_by_card(rules: dict[str, Any]) -> None:
    game = make_game(GAME, rounds=3, **rules)
    state = betting(staggered(game, 3000, 40))
    # From one without a redraw behind it there are thousands of ways to go on: few such, and with few unseen cards.
    few_unseen = np.argsort(seen_from(game, state).unseen, kind="stable")
    state = state.take(
        np.concatenate(
            [few_unseen[state.redraws[few_unseen] == done][:most] for done, most in enumerate((1, 6, 40, 40))]
        )
    )
    assert len(state) > 30
    view = InformationSet(game, state)
    choices = seen_from(game, state).choices()
    decided = best_choice(choices)
    for i in range(len(state)):
        counted = CardByCard(game, view.values, i).choices
        best = max(counted.values())
        assert counted[int(decided[i])] == pytest.approx(best, abs=1e-7)
        for choice in range(4):
            if choice == REDRAW and choices[REDRAW, i] < best - 1e-7:  # cut short: a bound
                assert choices[REDRAW, i] >= counted.get(REDRAW, -np.inf) - 1e-7
            else:
                assert choices[choice, i] == pytest.approx(counted.get(choice, -np.inf), abs=1e-7)


@given(
    suits=st.lists(st.integers(0, 13), min_size=4, max_size=4).filter(lambda counts: sum(counts) >= 10),
    bank=st.integers(1, 300),
    chips=st.integers(1, 300),
    fee=st.integers(0, 60),
    min_bet=st.integers(1, 40),
    done=st.integers(0, 2),
)
def test_no_redraw_is_worth_more_than_its_bound(
    suits: list[int], bank: int, chips: int, fee: int, min_bet: int, done: int
) -> None:
    numbers = {"better": 0, "bank": bank, "chips": max(chips, fee), "fee": fee, "redraws": done}
    arrays = {name: np.array([number]) for name, number in numbers.items()}
    turn = Turns(Amounts(make_game(GAME, min_bet=min_bet).rules), np.array(suits)[:, None], **arrays)
    assert turn.redraw_bound(done)[0] >= turn.redraw_worth(done)[0] - 1e-9


# ------------------------------------------------------------------------------------------------------------ banking


def test_chances_of_courses_are_those_of_disjoint_hands() -> None:
    # The lead of the second seat is P(course, it loses) - P(course, it wins); 13 cards are exposed equally often.
    first, second, third = courses(3)
    assert [len(course.unseen) for course in (first, second, third)] == [1, 2, 4]
    assert second.unseen.tolist() == [48, 50]
    for better in range(RANKS):
        lost = comb(51 - better, 3) / comb(51, 3)
        both_lost = comb(51 - better, 6) / comb(51, 6)
        assert first.lead[better, 0] * RANKS == pytest.approx(2 * lost - 1)
        assert second.lead[better, 0] * RANKS == pytest.approx(both_lost - (lost - both_lost))
        assert second.lead[better, 1] * RANKS == pytest.approx((lost - both_lost) - (1 - 2 * lost + both_lost))


@pytest.mark.parametrize("stake", [10, 40, 100])
def test_with_two_players_a_bank_loses_what_the_other_gains(stake: int) -> None:
    amounts = Amounts(make_game(GAME, num_players=2).rules)
    worth, plain = bank_worth(amounts, np.array([stake]), np.array([[100]]))
    assert plain.all()
    assert worth[0] == pytest.approx(-seen_from(*first_turns(stake, num_players=2)).choices().max(axis=0).mean())


def banks_played(game: Game[Any, Any], choice: int, number: int) -> tuple[float, float]:
    """What bankers get from the least or the greatest stake when all seats bet optimally: mean and standard error."""
    agent = make_agent("optimal", game)
    state: Any = new_batch(game, number, seed=7)
    bankers = state.dealer.copy()
    game.step(state, np.full(number, 0 if choice == LEAST else len(game.rules.bet_levels) - 1))
    while (going_on := np.flatnonzero(state.seat >= 0)).size:
        part = state.take(going_on)
        game.step(part, agent.act(InformationSet(game, part)))
        state.put(going_on, part)
    chips = state.scores[np.arange(number), bankers] - game.rules.starting_chips
    return chips.mean(), chips.std() / np.sqrt(number)


@pytest.mark.parametrize(
    ("rules", "plain"), [({}, True), ({"num_players": 4, "fee": 1}, False), ({"num_players": 4, "min_bet": 5}, False)]
)
def test_stakes_bring_what_was_expected(rules: dict[str, Any], plain: bool) -> None:
    game = make_game(GAME, match="hand", **rules)
    agent = OptimalAgent(game)
    view = InformationSet(game, new_batch(game, 1 if plain else 20))
    worth = agent.stake_worth(view)
    error = worth.std(axis=1) / np.sqrt(worth.shape[1])
    for choice in (LEAST, GREATEST):
        mean, spread = banks_played(game, choice, 4000)
        assert abs(mean - worth[choice].mean()) < 4 * np.hypot(spread, error[choice])


def test_against_its_own_kind_it_stakes_little_unless_bets_are_forced_up() -> None:
    for rules, expected in (({}, "stake 10"), ({"min_bet": 60, "num_players": 3}, "stake 100")):
        game = make_game(GAME, **rules)
        state = new_batch(game, 3)
        actions = make_agent("optimal", game).act(InformationSet(game, state))
        assert action_names(game, state, actions) == [expected] * 3


# ---------------------------------------------------------------------------------------------------- the agent


@pytest.mark.parametrize("variant", PLAYED, ids=variant_id)
def test_it_plays_every_variant_from_the_view_alone(
    variant: tuple[str, dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(optimal, "WORLDS", 7)
    game = made(variant)
    agent = make_agent("optimal", game)
    state = going(staggered(game, 40, 12))
    view = InformationSet(game, state)
    together = agent.act(view)
    assert together.dtype == np.int64
    assert view.legal[np.arange(len(view)), together].all()
    assert (agent.probabilities(view)[np.arange(len(view)), together] == 1).all()
    assert agent.probabilities(view).sum() == len(view)
    backwards = np.arange(len(state))[::-1]
    assert (agent.act(InformationSet(game, state.take(backwards))) == together[backwards]).all()
    alone = [agent.act(InformationSet(game, state.take(np.array([i])))) for i in range(min(10, len(state)))]
    assert (np.concatenate(alone) == together[: len(alone)]).all()


def test_it_never_sees_hidden_cards() -> None:
    game = make_game(GAME)
    agent = make_agent("optimal", game)
    state = betting(staggered(game, 300, 25))
    other = game.resample(state, state.seat, derive(2, np.arange(len(state))))
    assert (agent.act(InformationSet(game, state)) == agent.act(InformationSet(game, other))).all()


@pytest.mark.parametrize("name", [name for name in game_names() if name != GAME])
def test_other_games_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match=rf"agent 'optimal' plays slippery_sam alone, got {name}"):
        make_agent("optimal", make_game(name))


def test_it_takes_no_arguments() -> None:
    with pytest.raises(UnknownName, match="argument of agent OptimalAgent 'worlds'"):
        make_agent("optimal:worlds=3", make_game(GAME))


@pytest.mark.parametrize("agent", ["optimal", "heuristic", "heuristic:stake=least"])
def test_players_that_count_beat_random_play(agent: str) -> None:
    # Over many deals: +22 chips a match with least stakes, +108 with greatest ones.
    result = evaluate(GAME, agent, "random", 80, 1)
    assert result["difference"]["ci95"][0] > 5
    assert result["metrics"]["chips_betting"]["agent"] > result["metrics"]["chips_betting"]["against"] + 5
    assert result["metrics"]["chips_banking"]["agent"] > 5


# -------------------------------------------------------------------------------------------------- the club player


def club_choices(bank: int, **rules: Any) -> list[str]:
    """What the club player does in the first turn, by the rank of the exposed card."""
    game, state = first_turns(bank, **rules)
    return action_names(game, state, make_agent("heuristic", game).act(InformationSet(game, state)))[:RANKS]


def test_the_club_player_bets_by_the_chance() -> None:
    assert club_choices(40) == ["bet 40"] * 2 + ["bet 1"] * 11
    assert club_choices(100, fee=1)[:2] == ["bet 100"] * 2
    assert "redraw" in club_choices(100, fee=1)
    assert club_choices(100, fee=1)[-1] == "redraw"


def test_the_club_player_looks_one_card_ahead() -> None:
    # After two redraws one card ahead is all there is, but for the pass after the third.
    game = make_game(GAME, fee=1, rounds=3)
    player = SlipperySamPlayer(game)
    state = betting(staggered(game, 3000, 40))
    turns = seen_from(game, state.take(np.flatnonzero(state.redraws == 2)))
    choices = turns.choices()
    bold = player.bet(turns) == REDRAW
    assert 0 < bold.sum() < len(turns)
    assert (best_choice(choices)[bold] == REDRAW).all()  # the pass only makes a redraw better
    assert (player.next_card_worth(turns)[0] - turns.fee <= turns.redraw_worth(2) + 1e-9).all()


def test_the_club_player_passes_rather_than_make_a_bad_bet() -> None:
    game = make_game(GAME)
    turns = seen_from(game, betting(staggered(game, 400, 20)))
    turns = replace(turns, redraws=np.full(len(turns), REDRAWS))
    choice = SlipperySamPlayer(game).bet(turns)
    assert set(choice.tolist()) == {PASS, GREATEST}
    assert ((choice == GREATEST) == (turns.edge > 0)).all()


@pytest.mark.parametrize(("spec", "stake"), [("heuristic", 100), ("heuristic:stake=least", 10)])
def test_what_the_club_player_stakes(spec: str, stake: int) -> None:
    game = make_game(GAME)
    state = new_batch(game, 4)
    assert action_names(game, state, make_agent(spec, game).act(InformationSet(game, state))) == [f"stake {stake}"] * 4


def test_the_club_player_knows_two_stakes() -> None:
    with pytest.raises(UnknownName, match=r"stake of agent 'heuristic' 'lest'; did you mean 'least'\?"):
        make_agent("heuristic:stake=lest", make_game(GAME))


# ---------------------------------------------------------------------------------------------------- the document


def test_the_document_holds_the_exact_tables() -> None:
    text = (Path(__file__).parents[1] / sam_values.DOCUMENT).read_text(encoding="utf-8")
    assert sam_values.renewed(text, sam_values.EXACT, sam_values.exact_tables()) == text


def test_tables_agree_with_the_players() -> None:
    for bank, rules in ((40, {}), (100, {"fee": 1})):
        choices = seen_from(*first_turns(bank, **rules)).choices()
        game = make_game(GAME, **rules)
        worth = {name: sam_values.first_turn_worth(way, game, bank) for name, way in sam_values.policies(game).items()}
        assert worth["`optimal`"] == pytest.approx(choices.max(axis=0).mean())
        assert worth["always the greatest"] == pytest.approx(choices[GREATEST].mean())
        assert worth["always the least"] == pytest.approx(choices[LEAST].mean())
        assert worth["`random`"] < worth["always the least"] < worth["`heuristic`"] <= worth["`optimal`"] + 1e-9


def test_measured_values_of_seats_and_banks() -> None:
    seats = sam_values.seats_by_turn("random", 300, 1)
    assert sum(interval.mean for interval in seats) == pytest.approx(0)
    assert seats[0].mean > 0 > seats[-1].mean
    least, greatest = (sam_values.banker_gains("random", choice, 300, 1) for choice in (LEAST, GREATEST))
    assert 0 < least.low < least.high < greatest.low
    assert sam_values.shown(least, 1) == f"+{least.mean:.1f} [+{least.low:.1f}, +{least.high:.1f}]"


def test_plain_players_never_redraw() -> None:
    game = make_game(GAME)
    state = going(staggered(game, 300, 25))
    view = InformationSet(game, state)
    least, greatest = (
        make_agent(f"slopes_benchmarks.sam_values:{name}", game) for name in ("AlwaysLeast", "AlwaysGreatest")
    )
    amounts = view.legal[:, : game.num_actions - 2]
    able = amounts.any(axis=1)
    assert (least.act(view)[able] == 0).all()
    assert (greatest.act(view)[able] == amounts.shape[1] - 1 - amounts[able, ::-1].argmax(axis=1)).all()
