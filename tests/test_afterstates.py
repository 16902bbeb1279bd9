"""How turns of Slopes can end, as a network sees it, and the network that judges it."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from helpers import staggered
from numpy.typing import NDArray
from rich.console import Console

from slopes_agents import make_agent, weights_file
from slopes_agents.advice import AFTERSTATES, make_adviser, observed
from slopes_agents.afterstates import FEATURES, PLANES, SIZE, WAYS, Afterstates, chains_of, held_after
from slopes_agents.afterstates.network import SURE, AfterstateHead, AfterstateTrunk, AfterstateValue, Judged
from slopes_agents.afterstates.shipped import AfterstateAgent, _read
from slopes_agents.heuristic import slopes as player
from slopes_agents.learned import LearnedAgent
from slopes_agents.network import NetworkShape, PolicyNetwork
from slopes_agents.play import play_out
from slopes_agents.search.stakes import reach_of
from slopes_agents.shown import FULL, NO_ACTION, NOT_THERE
from slopes_agents.weights_file import CheckpointError, pack_weights
from slopes_envs import InformationSet, derive, make_game, match_seed
from slopes_envs.games import slopes
from slopes_envs.games.slopes import PILE, PILES
from slopes_training import ship
from slopes_training.checkpoint import header
from slopes_training.config import default_config_path, load_config
from slopes_training.train import run
from slopes_training.watch import advantage_over

SMALL = NetworkShape((16, 8), advice=AFTERSTATES)


def positions(batch: int, moves: int) -> tuple[Any, Any]:
    game = make_game("slopes")
    state: Any = staggered(game, batch, moves)
    return game, state.take(np.flatnonzero(state.seat >= 0))


def shown(view: InformationSet) -> tuple[NDArray[np.uint8], dict[str, NDArray[np.uint8]]]:
    """The actions that begin the ends, ``[B, K]``, and the planes of each, ``[B, K, width]``."""
    advice = Afterstates(view.game).advise(view)
    ends = advice[:, WAYS:].reshape(len(view), WAYS, FEATURES)
    stops = np.cumsum(list(PLANES.values()))
    return advice[:, :WAYS], dict(zip(PLANES, np.split(ends, stops[:-1], axis=2), strict=True))


def played_out(game: Any, state: Any) -> Any:
    """The positions when the turns are over, played by the rule-based player."""
    agent, after = make_agent("heuristic", game), state.copy()
    while len(rows := np.flatnonzero((after.seat >= 0) & (after.turns == state.turns))):
        part = after.take(rows)
        game.step(part, agent.act(InformationSet(game, part)))
        after.put(rows, part)
    return after


def near_the_best(view: InformationSet) -> NDArray[np.int64]:
    """How many ends of each turn the player judges so well that they are worth a look, game by game."""
    plans = player.plan(player.look(view))
    ends = player.ends_of(plans, view.legal)
    values = player.judged(ends, player.reasons_for(plans.sight, ends))
    each = [values[ends.row == row] for row in range(len(view))]
    return np.array([(value >= value.max() - player.FARTHEST).sum() for value in each])


# ----------------------------------------------------------------------------------------------------- what is shown


def test_the_first_end_is_the_players_choice_and_the_others_are_worse() -> None:
    game, state = positions(400, 150)
    view = InformationSet(game, state)
    actions, planes = shown(view)
    assert np.array_equal(actions[:, 0], make_agent("heuristic", game).act(view))
    there = actions != NO_ACTION
    assert there[:, 0].all() and (there[:, 1:] <= there[:, :-1]).all()
    counts = there.sum(axis=1)
    assert np.array_equal(counts, np.minimum(near_the_best(view), WAYS)) and set(counts) == set(range(1, WAYS + 1))
    rows, ways = np.nonzero(there)
    assert view.legal[rows, actions[rows, ways]].all()
    behind = planes["behind"][:, :, 0].astype(int)
    assert (behind[:, 0] == 0).all()
    assert (np.diff(behind, axis=1)[there[:, 1:]] >= 0).all()
    assert not any(plane[~there].any() for plane in planes.values())


def test_seats_that_are_not_to_move_have_no_ends() -> None:
    game, state = positions(50, 60)
    actions, planes = shown(InformationSet(game, state, 1 - state.seat))
    assert (actions == NO_ACTION).all()
    assert not any(plane.any() for plane in planes.values())


def test_hands_and_piles_are_those_that_come_about() -> None:
    """The player's own choice, played out: the hand, where no cards are drawn, and what the piles show."""
    game, state = positions(900, 200)
    view = InformationSet(game, state)
    _, planes = shown(view)
    first = {name: plane[:, 0] for name, plane in planes.items()}
    after = played_out(game, state)
    seats, rows = state.seat, np.arange(len(state))
    drawn = first["special"][:, [player.DRAW_TWOS, player.WILD_DRAWS]].any(axis=1)
    counts = slopes._counts(after.hands[rows, seats])
    cards = np.array([13 * colour + number for colour in range(4) for number in range(10)])
    specials = np.array([13 * colour + face for colour in range(4) for face in range(10, 13)])
    right = ((first["hand"] > 0) == (counts[:, cards] > 0)).all(axis=1)
    right &= ((first["twins"] > 0) == (counts[:, cards] > 1)).all(axis=1)
    right &= (np.rint(first["specials"] / (FULL / 2)) == counts[:, specials]).all(axis=1)
    right &= (np.rint(first["wilds"] / (FULL / 4)) == counts[:, slopes.COLOURED :]).all(axis=1)
    # On the way the player may think better of it: its first choice stands nearly always.
    assert right[~drawn].mean() > 0.97 and (~drawn).mean() > 0.5
    tops = after.tops[rows[:, None], PILE.reshape(2, PILES)[seats]]
    colours = np.where((tops >= 0) & (slopes.COLOUR[tops] >= 0), slopes.COLOUR[tops], player.ANY_COLOUR)
    seen = first["colours"].reshape(-1, player.ANY_COLOUR + 1, PILES).argmax(axis=1)
    assert (seen == colours).all(axis=1).mean() > 0.97
    shows = first["shows"].reshape(-1, player.SHOWS, PILES).argmax(axis=1)
    faces = slopes.FACE[tops]
    number = (faces >= 0) & (faces < 10)
    closed = shows == player.CLOSED
    assert ((shows == faces) | ~number | closed).all(axis=1).mean() > 0.97
    assert (shows[~number] >= 10).mean() > 0.97


def test_wins_and_losses_are_what_comes_of_them() -> None:
    game, state = positions(4000, 40)
    view = InformationSet(game, state)
    actions, planes = shown(view)
    assert planes["wins"].any() and planes["loses"].any()
    winning = np.flatnonzero(planes["wins"][:, 0, 0])
    after = played_out(game, state.take(winning))
    assert (after.seat < 0).all()
    assert (game.scores(after)[np.arange(len(winning)), state.seat[winning]] == 1).all()
    # An end that loses at once and is to be had by ending the turn now.
    losing = np.flatnonzero((planes["loses"][:, :, 0] > 0).any(axis=1) & view.legal[:, slopes.END])
    which = planes["loses"][losing, :, 0].argmax(axis=1)
    ending = losing[actions[losing, which] == slopes.END]
    after = state.take(ending)
    game.step(after, np.full(len(ending), slopes.END))
    assert len(ending) and (game.scores(after)[np.arange(len(ending)), state.seat[ending]] == -1).all()


def test_chains_lead_to_their_goals_by_cards_that_fit() -> None:
    game, state = positions(300, 60)
    plans = player.plan(player.look(InformationSet(game, state)))
    ends = player.ends_of(plans, game.legal(state))
    which = np.flatnonzero(ends.action == player.UNSET)
    chain, last = player.chains(plans, ends, which)
    assert len(which) > 500
    assert (last % 13 == ends.goal[which]).all()
    plain = ends.kind[which] == player.NO_KIND
    used = plans.sight.cards[0, ends.row[which]] - ends.cards[which]
    assert (np.bitwise_count(chain)[plain] == used[plain]).all()
    for index in range(0, len(which), 7):
        row, pile = int(ends.row[which[index]]), int(ends.pile[which[index]])
        cards = [card for card in range(slopes.COLOURED) if int(chain[index]) >> card & 1]
        top = int(state.tops[row, PILE[PILES * state.seat[row] + pile]])
        assert _some_order_fits(top, cards, int(last[index]))


def _some_order_fits(top: int, cards: list[int], last: int) -> bool:
    if not cards:
        return top == last
    return any(
        slopes.fits(card, top, duplicate=False)
        and _some_order_fits(card, [other for other in cards if other != card], last)
        for card in cards
    )


def test_no_hand_is_left_with_more_than_it_had() -> None:
    game, state = positions(300, 100)
    plans = player.plan(player.look(InformationSet(game, state)))
    ends = player.ends_of(plans, game.legal(state))
    hand, twins, wilds = held_after(plans, ends, chains_of(plans, ends)[0])
    sight = plans.sight
    assert not (hand & ~sight.hand[ends.row]).any() and not (twins & ~sight.twins[ends.row]).any()
    assert not (twins & ~hand).any() and (wilds >= 0).all()
    left = np.bitwise_count(hand).astype(int) + np.bitwise_count(twins) + wilds.sum(axis=0)
    counted = left + np.append(player.DRAWN, 0)[ends.kind]
    # Where the card that is to cover would have been the shortest way, the player counts one card too few.
    assert (counted <= ends.cards).all() and (counted[ends.cover == 0] == ends.cards[ends.cover == 0]).all()
    assert (counted == ends.cards).mean() > 0.99


def test_nothing_is_shown_that_the_seat_does_not_know() -> None:
    game, state = positions(400, 150)
    other = game.resample(state, state.seat, derive(2, np.arange(len(state))))
    assert (state.hands != other.hands).any(axis=(1, 2)).mean() > 0.9
    one, another = (Afterstates(game).advise(InformationSet(game, each)) for each in (state, other))
    assert np.array_equal(one, another)


def test_other_games_have_no_afterstates() -> None:
    with pytest.raises(ValueError, match="advice afterstates: expected a game of slopes, got sluff"):
        make_adviser(AFTERSTATES, make_game("sluff"))
    options = ["network={layers: [8], advice: afterstates}", "look_ahead=null"]
    with pytest.raises(ValueError, match="expected a game of slopes, got sluff"):
        run("sluff", out=Path("nowhere"), overrides=options)
    assert not Path("nowhere").exists()


# -------------------------------------------------------------------------------------------------------- the network


def encoded(worth: list[float], scores: list[float], actions: list[int]) -> torch.Tensor:
    """One game with a few ends, as a trunk gives it."""
    missing = WAYS - len(actions)
    return torch.tensor(
        [
            [
                *worth, *[0.0] * missing, *scores, *[NOT_THERE] * missing,
                *[0.0] * len(actions), *[NOT_THERE] * missing, *map(float, actions), *[float(NO_ACTION)] * missing,
            ]
        ]
    )  # fmt: skip


def test_an_action_is_as_good_as_the_best_end_it_begins() -> None:
    logits = AfterstateHead(221)(encoded([0.1, 0.2, 0.3], [1.0, 3.0, 2.0], [7, 216, 7]))
    expected = torch.full((1, 221), NOT_THERE)
    expected[0, 7], expected[0, 216] = 2.0, 3.0
    assert torch.equal(logits, expected)


def test_the_value_is_what_the_policy_expects_of_the_ends() -> None:
    value = AfterstateValue()
    assert value(encoded([0.5, -0.5], [0.0, 0.0], [1, 2])).item() == pytest.approx(0, abs=1e-6)
    assert value(encoded([0.5, -0.5], [0.0, -2.0], [1, 2])).item() == pytest.approx(0.5 * np.tanh(1), abs=1e-6)
    assert value(encoded([], [], [])).item() == 0


def test_an_untrained_network_follows_the_player_wins_and_does_not_lose() -> None:
    game, state = positions(1500, 40)
    view = InformationSet(game, state)
    adviser = make_adviser(AFTERSTATES, game)
    network = PolicyNetwork(SMALL, game.observation, game.num_actions)
    agent = LearnedAgent(game, network, adviser=adviser)
    choice = make_agent("heuristic", game).act(view)
    assert (agent.act(view) == choice).mean() > 0.9  # but for ends that are as good to a hundredth
    actions, planes = shown(view)
    wins = planes["wins"][:, 0, 0] > 0
    chances = LearnedAgent(game, network, "sample", adviser).probabilities(view)
    assert wins.any() and np.allclose(agent.values(view)[wins], 1)
    for row in np.flatnonzero(wins):
        winning = np.unique(actions[row][planes["wins"][row, :, 0] > 0])
        assert chances[row, winning].sum() > 0.999
    loses = planes["loses"][:, :, 0] > 0
    for row, way in zip(*np.nonzero(loses & ~loses[:, :1]), strict=True):
        others = actions[row][~loses[row] & (actions[row] != NO_ACTION)]
        if actions[row, way] not in others:
            assert chances[row, actions[row, way]] < np.exp(-SURE / 2)


def test_of_hopeless_ends_one_that_is_shown_is_chosen() -> None:
    game, state = positions(300, 60)
    view = InformationSet(game, state)
    network = PolicyNetwork(SMALL, game.observation, game.num_actions)
    with torch.no_grad():
        network.trunk.score.last[-1] = -5000.0  # type: ignore[union-attr, index]
    agent = LearnedAgent(game, network, adviser=make_adviser(AFTERSTATES, game))
    untrained = PolicyNetwork(SMALL, game.observation, game.num_actions)
    usual = LearnedAgent(game, untrained, adviser=make_adviser(AFTERSTATES, game))
    assert np.array_equal(agent.act(view), usual.act(view))


def test_all_ends_are_judged_by_the_same_weights() -> None:
    game, state = positions(200, 60)
    seen = torch.from_numpy(observed(InformationSet(game, state), make_adviser(AFTERSTATES, game)))
    trunk = AfterstateTrunk((16, 8))
    for parameter in trunk.parameters():
        torch.nn.init.normal_(parameter, std=0.2, generator=torch.Generator().manual_seed(1))
    judged = Judged.of(trunk(seen))
    swapped = seen.clone()
    start = seen.shape[1] - SIZE
    ends = slice(start + WAYS, None)
    swapped[:, start : start + WAYS] = seen[:, start : start + WAYS].flip(1)
    swapped[:, ends] = seen[:, ends].reshape(-1, WAYS, FEATURES).flip(1).reshape(len(seen), -1)
    for one, other in zip(judged, Judged.of(trunk(swapped)), strict=True):
        assert torch.allclose(one.float(), other.flip(1).float(), atol=1e-5)
    assert judged.worth[judged.there].abs().max() <= 1


def test_shapes_that_do_not_go_with_afterstates_are_refused() -> None:
    with pytest.raises(ValueError, match="neither suits nor sharpness"):
        NetworkShape((8, 8), advice=AFTERSTATES, sharpness=2.0)
    config = default_config_path("slopes")
    with pytest.raises(ValueError, match="neither suits nor sharpness"):
        load_config(config, ["network.sharpness=3"])
    with pytest.raises(ValueError, match=r"mirror is for network\.advice: afterstates"):
        load_config(config, ["network.advice=heuristic"])
    with pytest.raises(ValueError, match="mirror is for"):
        load_config(config, ["critic=all"])
    look_ahead = "look_ahead={agent: heuristic, share: 0.5, learn: worth, doubt: 0.1}"
    with pytest.raises(ValueError, match=r"look_ahead\.doubt is about departing from a choice"):
        load_config(config, [look_ahead])


def test_the_player_without_pytorch_is_the_network_that_ships(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    game, state = positions(300, 80)
    network = PolicyNetwork(SMALL, game.observation, game.num_actions)
    for parameter in network.parameters():
        torch.nn.init.normal_(parameter, std=0.3, generator=torch.Generator().manual_seed(2))
    header = {"game": "slopes", "features": 1, "actions": 221, "network": {}}
    (tmp_path / "weights").mkdir()
    file = tmp_path / "weights" / "slopes.slopes"
    file.write_bytes(pack_weights(header, network.state_dict(), "float32"))
    monkeypatch.setattr(weights_file, "files", lambda _: tmp_path)
    view = InformationSet(game, state)
    agent = LearnedAgent(game, network, adviser=make_adviser(AFTERSTATES, game))
    player: Any = make_agent("afterstates", game)
    assert np.abs(agent.values(view)).mean() > 0.05
    assert np.allclose(player.values(view), agent.values(view), atol=1e-5)
    assert (player.act(view) == agent.act(view)).mean() > 0.99  # sums are rounded in another order
    assert not player.values(InformationSet(game, state, 1 - state.seat)).any()
    _read.cache_clear()
    file.write_bytes(pack_weights(header | {"game": "sluff"}, network.state_dict(), "float32"))
    with pytest.raises(CheckpointError, match="expected a network that sees afterstates of slopes"):
        make_agent("afterstates", game)
    with pytest.raises(ValueError, match="expected a game of slopes, got sluff"):
        make_agent("afterstates", make_game("sluff"))


def test_a_search_over_a_policy_judges_by_that_policy(tmp_path: Path) -> None:
    game, state = positions(100, 60)
    view = InformationSet(game, state)
    network = PolicyNetwork(SMALL, game.observation, game.num_actions)
    for parameter in network.parameters():
        torch.nn.init.normal_(parameter, std=0.3, generator=torch.Generator().manual_seed(2))
    head = header([game], SMALL, reward="difference", reward_scale=2.0, provenance={})
    (tmp_path / "own.slopes").write_bytes(pack_weights(head, network.state_dict(), "float32"))
    search: Any = make_agent(f"search:ppo:{tmp_path / 'own.slopes'},worlds=2", game)
    reach, own = search.rollouts.reach, make_agent(f"ppo:{tmp_path / 'own.slopes'}", game)
    mine = np.arange(2) == state.seat[:, None]
    assert np.allclose(reach.evaluate(game, state)[mine], own.values(view), atol=1e-5)  # type: ignore[attr-defined]
    assert not np.allclose(reach.reasons(view), reach_of(game).reasons(view))  # type: ignore[misc]


def test_reasons_are_the_policy_and_the_rules_in_units_of_the_reward() -> None:
    """By the network as PyTorch has it: the logits of a policy hold the rules once, reasons hold them twice."""
    game, state = positions(200, 100)
    view = InformationSet(game, state)
    reasons = AfterstateAgent(game).reasons(view)
    actions, planes = shown(view)
    adviser = make_adviser(AFTERSTATES, game)
    with torch.inference_mode():
        policy: Any = make_agent("ppo", game)
        judged = Judged.of(policy.network.trunk(torch.from_numpy(observed(view, adviser))))
    twice = (judged.scores.numpy() - 12 * 2.55 * planes["behind"][:, :, 0] / FULL) / 300
    assert reasons.shape == (len(state), game.num_actions) and (reasons.max(axis=1) == 0).all()
    for row in range(len(state)):
        there = actions[row] != NO_ACTION
        best, found = twice[row, there].max(), dict.fromkeys(range(game.num_actions), -1.0)
        for action, weighed in zip(actions[row, there].tolist(), twice[row, there].tolist(), strict=True):
            found[action] = max(found[action], weighed - best)
        assert reasons[row] == pytest.approx(list(found.values()), abs=1e-5)


def test_the_network_that_ships_foretells_the_reward() -> None:
    """In matches of the rule-based player: the more it expects, the more comes."""
    game = make_game("slopes")
    agent, judge = make_agent("heuristic", game), AfterstateAgent(game)
    state: Any = game.new(match_seed(9, np.arange(600)))
    for _ in range(60):
        game.step(state, agent.act(InformationSet(game, state)))
        state = state.take(np.flatnonzero(state.seat >= 0))
    expected, seats = judge.values(InformationSet(game, state)), state.seat.copy()
    assert np.abs(expected).max() <= 1 and expected.std() > 0.1
    play_out(game, state, [agent], np.zeros((len(state), 2), dtype=np.int64))
    final = game.scores(state)[np.arange(len(state)), seats]
    assert np.corrcoef(expected, final)[0, 1] > 0.3
    thirds = np.array_split(np.argsort(expected), 3)
    assert final[thirds[0]].mean() < final[thirds[2]].mean() - 0.2


def test_the_policy_that_ships_beats_the_rules() -> None:
    """By more than three standard errors."""
    game = make_game("slopes")
    mean, error, _ = advantage_over(game, make_agent("afterstates", game), make_agent("heuristic", game), 400, 11)
    assert mean - 3 * error > 0


def test_it_is_trained_resumed_and_shipped(tmp_path: Path) -> None:
    """A run in two parts is the run in one; the weights play as the checkpoint does."""
    options = ["games=32", "moves=24", "network.layers=[16,8]", "evaluation={every: 1000000, deals: 4}"]
    options += ["minibatch=128", "opponents=[{agent: heuristic, share: 0.25}, {agent: past, share: 0.25}]"]
    console = Console(file=io.StringIO())
    for name, decisions in (("whole", 2400), ("parts", 2400)):
        stop = None if name == "whole" else (lambda *_: False)
        changes = options if name == "whole" else [*options, "evaluation.every=1000"]
        run("slopes", out=tmp_path / name, decisions=decisions, overrides=changes, console=console, evaluated=stop)
    run("slopes", out=tmp_path / "parts", resume=True, console=console)
    game, state = positions(100, 60)
    view = InformationSet(game, state)
    agents: list[Any] = [make_agent(f"ppo:{tmp_path / name / 'last.zip'}", game) for name in ("whole", "parts")]
    assert np.array_equal(*[agent.values(view) for agent in agents])
    assert np.abs(agents[0].values(view)).max() > 0
    made = ship.ship(tmp_path / "whole" / "last.zip", tmp_path / "slopes.slopes", "float32")
    assert made["agreement"] == 1 and made["header"]["network"] == {
        "layers": [16, 8],
        "left_out": [],
        "advice": AFTERSTATES,
    }
    shipped: Any = make_agent(f"ppo:{tmp_path / 'slopes.slopes'}", game)
    assert np.array_equal(shipped.values(view), agents[0].values(view))
    search = make_agent(f"search:ppo:{tmp_path / 'slopes.slopes'},worlds=2,depth=4", game)
    part = view.take(np.arange(3))
    assert part.legal[np.arange(3), search.act(part)].all()
