"""Networks that see what the rule-based player makes of every action."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from helpers import staggered
from rich.console import Console

from slopes_agents import make_agent
from slopes_agents.advice import make_adviser, observed
from slopes_agents.heuristic import sloppy_seconds, sluff
from slopes_agents.heuristic.slippery_sam import SlipperySamPlayer
from slopes_agents.learned import LearnedAgent, load_network
from slopes_agents.network import NetworkShape, PolicyNetwork, advised
from slopes_agents.optimal import EDGE, Sight
from slopes_agents.reasons import CHOSEN, GAMES, OF_GAME, SIZE, ReasonAdviser, parts
from slopes_agents.reasons import slippery_sam as reasons_of_slippery_sam
from slopes_agents.reasons import sloppy_seconds as reasons_of_sloppy_seconds
from slopes_agents.reasons import sluff as reasons_of_sluff
from slopes_agents.reasons.network import LEAST_SPREAD, ReasonTrunk
from slopes_agents.shown import FULL, NO_ACTION, NOT_THERE
from slopes_envs import InformationSet, game_names, make_game
from slopes_training import ship
from slopes_training.config import default_config_path, load_config
from slopes_training.train import run

TABLES = [
    ("slippery_slope", {}),
    ("slippery_slope", {"reveal_bids": "after_bidding"}),
    ("sloppy_seconds", {"num_players": 3}),
    ("sloppy_seconds", {"num_players": 4}),
    *(("sluff", {"num_players": players}) for players in (4, 6, 8, 10)),
    ("sluff", {"allow_zero_bid": True}),
    *(("slippery_sam", {"num_players": players}) for players in (2, 6, 9)),
    ("slippery_sam", {"fee": 1, "min_bet": 3, "bet_levels": (0.1, 0.5, 0.9)}),
    ("slippery_sam", {"num_players": 2, "starting_chips": 6, "min_stake": 2, "bet_levels": "all", "fee": 0}),
]
SMALL = ["games=24", "moves=40", "evaluation.opponents=[random]", "evaluation.deals=2", "network.layers=[12,10]"]


def view_of(name: str, options: dict[str, Any], batch: int = 200) -> InformationSet:
    """Seats to move in matches that are played at random up to different moves: some of them are over."""
    game = make_game(name, **options, match="hand")
    state = staggered(game, batch, 150)
    return InformationSet(game, state, np.maximum(state.seat, 0))


@pytest.mark.parametrize(("name", "options"), TABLES)
def test_all_legal_actions_are_shown_with_the_choice(name: str, options: dict[str, Any]) -> None:
    view = view_of(name, options)
    actions, of_actions, of_games = parts(ReasonAdviser(view.game).advise(view))
    there = actions != NO_ACTION
    for legal, row, shown in zip(view.legal, actions, there, strict=True):
        assert np.array_equal(np.sort(row[shown]), np.flatnonzero(legal))
    live = view.legal.any(axis=1)
    assert live.any() and not live.all()
    choice = of_actions[..., CHOSEN] == FULL
    assert np.array_equal(choice.sum(axis=1), live)
    assert np.array_equal(actions[choice], make_agent("heuristic", view.game).act(view)[live])
    assert not of_actions[~there].any()
    assert of_games.shape == (len(view), OF_GAME)


@pytest.mark.parametrize(("name", "options"), TABLES)
def test_advice_of_a_game_does_not_depend_on_the_batch(name: str, options: dict[str, Any]) -> None:
    view = view_of(name, options, batch=40)
    together = ReasonAdviser(view.game).advise(view)
    for i in range(len(view)):
        assert np.array_equal(ReasonAdviser(view.game).advise(view.take(np.array([i])))[0], together[i])
    many = view.take(np.arange(len(view)).repeat(60))  # several blocks
    assert np.array_equal(ReasonAdviser(view.game).advise(many)[::60], together)


@pytest.mark.parametrize("name", GAMES)
def test_it_knows_no_more_than_its_seat(name: str) -> None:
    game = make_game(name)
    state = staggered(game, 60, 40)
    state = state.take(np.flatnonzero(state.seat >= 0))
    keys = np.arange(len(state), dtype=np.uint64)
    world = game.resample(state, state.seat.astype(np.int64), keys)
    adviser = ReasonAdviser(game)
    assert np.array_equal(*(adviser.advise(InformationSet(game, each)) for each in (state, world)))


@pytest.mark.parametrize("name", GAMES)
def test_seats_that_wait_are_shown_no_actions(name: str) -> None:
    game = make_game(name)
    state = staggered(game, 20, 30)
    waiting = InformationSet(game, state, (state.seat + 1) % game.num_players)
    actions, of_actions, _ = parts(ReasonAdviser(game).advise(waiting))
    assert (actions == NO_ACTION).all() and not of_actions.any()


def test_it_asks_players_that_tell_their_reasons() -> None:
    for name in set(game_names()) - set(GAMES):
        with pytest.raises(ValueError, match=f"expected a game of .* or sluff, got {name}"):
            make_adviser("reasons", make_game(name))


def test_it_shows_so_many_actions_and_no_more() -> None:
    levels = tuple(level / 15 for level in range(16))
    make_adviser("reasons", make_game("slippery_sam", bet_levels=levels[:15]))
    for too_many in (levels, "all"):
        with pytest.raises(ValueError, match=r"expected a game with at most 15 amounts \(bet_levels\), got "):
            make_adviser("reasons", make_game("slippery_sam", bet_levels=too_many))


def test_a_bet_is_weighed_by_what_it_brings() -> None:
    """Of bets and redraws their worth is shown, of games what a redraw brings more than the best bet."""
    game = make_game("slippery_sam", num_players=9, fee=1)
    state = staggered(game, 400, 60)
    state = state.take(np.flatnonzero((state.seat >= 0) & (state.seat != state.dealer)))
    view = InformationSet(game, state)
    player = SlipperySamPlayer(game)
    turns = Sight(view).turns(player.amounts)
    reasons = player.reasons(turns)
    weighed = reasons_of_slippery_sam.weigher(game)(view)
    near, ahead = reasons_of_slippery_sam.NEAR, reasons_of_slippery_sam.AHEAD
    redraws = [row for row in range(len(view)) if np.isfinite(reasons.redraw[row]) and reasons.most[row] > 0]
    assert len(redraws) > 100
    last, gained = len(near), 27 + np.arange(len(ahead))  # columns: the last ones of actions; those of gains in games
    for row in redraws:
        bank, unseen = turns.bank[row], turns.unseen[row]
        bets = [reasons.edge[row] * amount for amount in (reasons.least[row], reasons.most[row])]
        # A redraw by hand: every unseen card is exposed in turn, and the best bet is made.
        least, most = player.amounts.bets(bank[None] + 1, turns.chips[row][None] - 1)
        edges = [EDGE[unseen - 1, above] for suit in turns.counts[:, row] for above in range(suit)]
        redraw = sum(max(edge * least[0], edge * most[0]) for edge in edges) / unseen - 1
        hope = sum(max(edge * most[0], 0) for edge in edges) / unseen - 1
        shown = weighed.of_action[(weighed.row == row) & (weighed.action == game.num_actions - 2)][0]
        behind = max(max(bets) - redraw, 0) / bank
        assert np.abs(np.minimum(behind / np.array(near), 1) * FULL - shown[-last:]).max() <= 0.51
        assert abs(np.clip(0.5 + redraw / bank / 2, 0, 1) * FULL - shown[-last - 1]) <= 0.51
        for worth, columns in ((redraw, gained), (hope, gained + len(ahead))):
            expected = np.clip(0.5 + (worth - max(bets)) / bank / (2 * np.array(ahead)), 0, 1) * FULL
            assert np.abs(expected - weighed.of_game[row, columns]).max() <= 0.51


def test_a_bid_is_weighed_by_what_the_player_expects() -> None:
    """The last seat of a team bids the number that promises most, unless it sluffs."""
    game = make_game("sluff", match="hand")
    state = staggered(game, 400, 4)
    last = InformationSet(game, state.take(np.flatnonzero(state.moves == 3)))
    player = sluff.SluffPlayer(game)
    seen = player.prospects(sluff.read(last))
    assert seen.is_last.all()
    actions, of_actions, _ = parts(ReasonAdviser(game).advise(last))
    row, place = np.nonzero((actions != NO_ACTION) & (actions != 0))
    scores = seen.scores[row, actions[row, place] - player.least_bid]
    behind = (seen.scores.max(axis=1)[row] - scores) / reasons_of_sluff.FAR[0]
    column = of_actions.shape[2] - 1 - of_actions[row, place].any(axis=0)[::-1].argmax() - 1  # the last but one in use
    shown = of_actions[row, place, column]
    sluff_is_best = (seen.score_sluff > seen.scores.max(axis=1))[row]
    assert np.abs(np.minimum(behind, 1) * FULL - shown)[~sluff_is_best].max() <= 0.5
    assert (shown > 0).mean() > 0.5 and (~sluff_is_best).sum() > 100


@pytest.mark.parametrize("players", [3, 4])
def test_the_standing_of_sloppy_seconds_adds_up(players: int) -> None:
    """Points taken, in the trick and in the hands are all the points of a suit."""
    game = make_game("sloppy_seconds", num_players=players, match="hand")
    state = staggered(game, 100, 40)
    sight = sloppy_seconds.read(InformationSet(game, state))
    suits, rows = np.divmod(np.arange(4 * len(state)), len(state))
    standing = reasons_of_sloppy_seconds._standing(sight)[:, suits, rows]
    points = np.full(len(suits), 91.0)
    if players == 3:
        points[suits == 0] -= 2  # without the two of clubs
    assert np.allclose(standing.sum(axis=0) * reasons_of_sloppy_seconds.ALL_POINTS, points)
    assert (np.diff(standing[1:players], axis=0) <= 0).all()  # the others from the most down


@pytest.mark.parametrize("name", GAMES)
def test_an_untrained_network_follows_the_player(name: str) -> None:
    view = view_of(name, {})
    view = view.take(np.flatnonzero(view.legal.any(axis=1)))
    game, shape = view.game, NetworkShape((8, 6), advice="reasons", sharpness=30.0)
    network = PolicyNetwork(shape, game.observation, game.num_actions).eval()
    adviser = make_adviser("reasons", game)
    choice = make_agent("heuristic", game).act(view)
    agent = LearnedAgent(game, network, adviser=adviser)
    assert np.array_equal(agent.act(view), choice)
    seen = torch.from_numpy(observed(view, adviser))
    assert np.array_equal(advised(shape, seen, game.num_actions).argmax(dim=1).numpy(), choice)
    with torch.inference_mode():
        logits, values = network(seen)
        assert torch.equal(network.logits(seen), logits)
    assert values.shape == (len(view),)
    assert np.array_equal((logits > NOT_THERE / 2).numpy(), view.legal)


def test_what_is_folded_is_unfolded_to_learn() -> None:
    view = view_of("sluff", {})
    game, generator = view.game, torch.Generator().manual_seed(1)
    network = PolicyNetwork(NetworkShape((8, 6), advice="reasons"), game.observation, game.num_actions).eval()
    seen = torch.from_numpy(observed(view, make_adviser("reasons", game)))
    assert isinstance(network.trunk, ReasonTrunk)
    network.trunk.settle(seen)
    torch.nn.init.normal_(network.trunk.last, generator=generator)
    with torch.no_grad():
        plain = network.logits(seen)
        assert torch.equal(network.ready().logits(seen), plain)
        network.trunk.action.weight += 1
        assert torch.equal(network.logits(seen), plain)  # it relies on weights that do not change
        assert not torch.allclose(network.train().logits(seen), plain)
        for change in (network.ready().double, lambda: network.float().load_state_dict(network.state_dict())):
            network.ready()
            assert network.trunk._folded is not None
            change()
            assert network.trunk._folded is None
    network.ready().logits(seen).sum().backward()
    assert network.trunk.action.weight.grad is not None
    network.trunk.settle(seen[: len(seen) // 2])
    assert network.trunk._folded is None


def test_every_action_is_weighed_by_itself() -> None:
    """What a network says of an action depends on that action and the game, not on the other actions."""
    view = view_of("sluff", {})
    view = view.take(np.flatnonzero(view.legal.sum(axis=1) > 2))
    game = view.game
    network = PolicyNetwork(NetworkShape((8, 6), advice="reasons"), game.observation, game.num_actions).eval()
    torch.nn.init.normal_(network.trunk.last, generator=torch.Generator().manual_seed(1))  # type: ignore[union-attr]
    seen = torch.from_numpy(observed(view, make_adviser("reasons", game)))
    less = seen.clone()
    actions, of_actions, _ = parts(less[:, -SIZE:])
    actions[:, 1], of_actions[:, 1] = NO_ACTION, 0
    with torch.inference_mode():
        before, after = network.logits(seen), network.logits(less)
    gone = (~torch.isclose(before, after)).nonzero()
    assert len(gone) == len(view)
    assert torch.equal(gone[:, 1], parts(seen[:, -SIZE:])[0][:, 1].long())


def test_features_count_by_what_a_run_sees_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[torch.Tensor] = []
    original = ReasonTrunk.settle

    def settle(self: ReasonTrunk, observations: torch.Tensor) -> None:
        taken.append(observations.clone())
        original(self, observations)

    monkeypatch.setattr(ReasonTrunk, "settle", settle)
    overrides = [*SMALL, "network.advice=reasons", "look_ahead=null", "magnet={weight: 0.1}", "opponents=[]"]
    model = run("sluff", out=tmp_path, decisions=2500, overrides=overrides, console=Console(file=io.StringIO()))
    assert model.iteration > 1 and len(taken) == 1
    assert len(taken[0]) == 24 * 40
    actions, of_actions, of_games = parts(taken[0][:, -SIZE:])
    rows = torch.cat([of_actions[actions != NO_ACTION].float().mean(dim=0), of_games.float().mean(dim=0)]) / FULL
    trunk, magnet = model.policy.network().trunk, model.magnet.trunk  # type: ignore[union-attr]
    assert torch.allclose(trunk.mean, rows, atol=1e-5)
    assert trunk.spread.min() == pytest.approx(LEAST_SPREAD) and (trunk.spread > 0.2).any()
    assert torch.equal(trunk.mean, magnet.mean) and torch.equal(trunk.spread, magnet.spread)
    saved = load_network(tmp_path / "last.zip", make_game("sluff")).trunk
    assert torch.equal(saved.mean, trunk.mean) and torch.equal(saved.spread, trunk.spread)


def test_only_networks_with_a_choice_tell_it() -> None:
    game = make_game("sluff")
    for advice in (None, "afterstates"):
        with pytest.raises(ValueError, match="expected advice with a choice in it"):
            advised(NetworkShape((8,), advice=advice), torch.zeros(1, 9000, dtype=torch.uint8), game.num_actions)


@pytest.mark.parametrize("name", GAMES)
def test_it_is_trained_saved_shipped_and_asked_again(name: str, tmp_path: Path) -> None:
    overrides = [*SMALL, "network.advice=reasons", "network.suits=null", "opponents=[]", "reward=difference"]
    overrides += ["warm_start=null"]
    overrides += ["look_ahead={agent: heuristic, decisions: 900, part: 0.3, learn: worth, doubt: 0.01}"]
    model = run(name, out=tmp_path / "run", decisions=2500, overrides=overrides, console=Console(file=io.StringIO()))
    assert model.policy.network().trunk.last.abs().sum() > 0  # something was learned
    made = ship.ship(tmp_path / "run" / "last.zip", tmp_path / "it.slopes", "float32")
    assert made["header"]["network"]["advice"] == "reasons" and made["agreement"] == 1
    view = view_of(name, {})
    view = view.take(np.flatnonzero(view.legal.any(axis=1)))
    network = load_network(tmp_path / "it.slopes", view.game)
    assert isinstance(make_adviser(network.shape.advice, view.game), ReasonAdviser)
    agents = [make_agent(f"ppo:{tmp_path / file}", view.game) for file in ("it.slopes", "run/last.zip")]
    assert np.array_equal(*[agent.probabilities(view) for agent in agents])
    search = make_agent(f"search:ppo:{tmp_path / 'it.slopes'},worlds=2,depth=2", view.game)
    part = view.take(np.arange(3))
    assert part.legal[np.arange(3), search.act(part)].all()


def test_a_network_that_sees_reasons_has_no_suits() -> None:
    suits = 'network.suits={"cards": ["hand"]}'
    with pytest.raises(ValueError, match="a network that sees reasons has no suits"):
        load_config(default_config_path("sluff"), ["network.advice=reasons", suits])
    with pytest.raises(ValueError, match="has no suits"):
        NetworkShape.from_json({"layers": [8, 8], "advice": "reasons", "suits": {"cards": ["hand"]}})
