"""What the rule-based player of Sluff makes of bids and cards.

Shape letters: **B** games, **P** seats, **L** legal actions of all games together.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slopes_envs import Game, InformationSet
from slopes_envs.games.sluff import BIDS, BLACK, MAX_HAND, PLAYERS, SLUFF, ZERO_BID

from ..heuristic.sluff import (
    COLOUR_CARDS,
    HEIGHT,
    HIGHER,
    LOWER,
    MAKES,
    OURS,
    THEIRS,
    Choices,
    Knowledge,
    Prices,
    Prospects,
    Reasons,
    SluffPlayer,
    prices,
    read,
)
from ..ragged import behind, first_of_the_best
from ..shown import as_bytes, one_hot
from .scales import Bytes, Ints, Weighed, at_scales, merged, signed

MOST_OF_A_TEAM = max(PLAYERS) // 2
NEAR, FAR = (8.0, 60.0, 250.0), (20.0, 150.0)  # points: units of how far cards and bids are behind the best


def weigher(game: Game[Any, Any]) -> Callable[[InformationSet], Weighed]:
    """A function that tells what the player makes of the legal actions in a view of the game."""
    player = SluffPlayer(game)
    numbers = np.array([-1, *range(player.least_bid, MAX_HAND + 1)])  # the sluff first
    actions = np.where(numbers < 0, SLUFF, np.where(numbers == 0, ZERO_BID, numbers))

    def weigh(view: InformationSet) -> Weighed:
        know, legal = read(view), view.legal
        row, card = np.nonzero(legal[:, BIDS:ZERO_BID])
        choices = Choices.of(know, row, card)
        priced = prices(know)
        of_cards = _of_cards(know, choices, player.reasons_for(know, choices, priced), len(view))
        of_play = _of_play(know, player.players, priced)
        bidding = np.flatnonzero(legal[:, SLUFF])
        if not len(bidding):
            return merged((row, card + BIDS, of_cards), None, of_play)
        asked = know.take(bidding)
        seen = player.prospects(asked)
        which, bid = np.nonzero(legal[bidding][:, actions])
        chosen = actions[bid] == player.bids(seen)[which]
        of_bids = _of_bids(player, seen, which, numbers[bid], chosen)
        of_bidding = _of_bidding(asked, seen, player.players)
        of_game = np.concatenate([of_play, np.zeros((len(view), of_bidding.shape[1]), np.uint8)], axis=1)
        of_game[bidding, of_play.shape[1] :] = of_bidding
        return merged((row, card + BIDS, of_cards), (bidding[which], actions[bid], of_bids), of_game)

    return weigh


def _of_cards(know: Knowledge, choices: Choices, reasons: Reasons, batch: int) -> Bytes:
    """Features of cards, ``uint8[L, …]``."""
    row, card, colour = choices.row, choices.card, choices.colour
    twice = (know.twice[row] >> card.astype(np.uint64)) & np.uint64(1)
    length = know.count_hand(row, COLOUR_CARDS[colour])
    # Seats that are out of the colour: of the own team and of the other, all, still to come, and sluffers.
    void, to_come, sluffers = know.void[:, colour, row], know.to_come[:, row], know.is_sluffer[:, row]
    out_of_it = [(void & of)[team::2][team == 0 :].sum(axis=0) for of in (True, to_come, sluffers) for team in (0, 1)]
    distance = behind(row, reasons.worth, batch)
    parts = [
        first_of_the_best(row, distance),
        at_scales(distance, NEAR),
        at_scales(behind(row, reasons.trick, batch), NEAR[1:]),
        reasons.roles,
        reasons.own,
        reasons.later,
        reasons.danger / 1.2,
        length / MAX_HAND,
        length == 1,
        HEIGHT[card] / MAX_HAND,
        colour == BLACK,
        colour == know.led[row],
        choices.above / (2 * MAX_HAND),
        (choices.colour_out - choices.above) / (2 * MAX_HAND),
        know.count_hand(row, LOWER[card]) / MAX_HAND,
        know.count_hand(row, HIGHER[card]) / MAX_HAND,
        reasons.wins,
        twice,
        *(count / MOST_OF_A_TEAM for count in out_of_it),
    ]
    return as_bytes(parts, len(row))


def _of_bids(player: SluffPlayer, seen: Prospects, row: Ints, number: Ints, chosen: NDArray[np.bool_]) -> Bytes:
    """Features of bids, ``uint8[L, …]``; ``number`` is -1 for a sluff."""
    sluff = number < 0
    place = np.clip(number - player.least_bid, 0, seen.scores.shape[1] - 1)
    score = np.where(sluff, seen.score_sluff[row], seen.scores[row, place])
    more = number - seen.tricks[row]
    parts = [
        chosen,
        np.ones(len(row)),
        sluff,
        number / MAX_HAND,
        np.where(sluff, 0, signed(more, 4)),
        np.where(sluff, 0, signed(more, MAX_HAND)),
        seen.is_last[row] * at_scales(behind(row, score.astype(np.float32), len(seen.tricks)), FAR),
    ]
    return as_bytes(parts, len(row))


def _of_play(know: Knowledge, players: int, priced: Prices) -> Bytes:
    """Features of games, ``uint8[B, …]``."""
    batch = len(know.hand)
    worth, alive = priced
    most = MAKES.shape[1] - 1
    needs, others_need = np.clip(know.needs, 0, most)
    winner = know.winner
    role = winner % 2 * THEIRS + know.is_sluffer[winner, np.arange(batch)]
    mates, others = slice(2, None, 2), slice(1, None, 2)
    coming = know.to_come & know.is_sluffer
    trumps = know.count_hand(np.arange(batch), COLOUR_CARDS[BLACK])
    parts = [
        know.is_sluffer[0],
        *(
            seats[team].sum(axis=0) / MOST_OF_A_TEAM
            for seats in (know.is_sluffer, know.to_come, coming, know.void[:, BLACK])
            for team in (mates, others)
        ),
        signed(know.needs, MAX_HAND),
        know.bid / 20,
        know.numbers / 5,
        know.broken / 2,
        know.tricks_left / MAX_HAND,
        know.cards_left / MAX_HAND,
        trumps / 10,
        alive,
        MAKES[know.tricks_left, others_need, needs],
        signed(worth, 250),
        at_scales(worth[OURS] - worth[THEIRS], NEAR[1:]),
        know.led < 0,
        know.led == BLACK,
        one_hot(np.where(know.top < 0, -1, role), len(worth)),
        one_hot(np.full(batch, PLAYERS.index(players)), len(PLAYERS)),
    ]
    return as_bytes(parts, batch)


def _of_bidding(know: Knowledge, seen: Prospects, players: int) -> Bytes:
    """More features of games in which the seat is to bid, ``uint8[B, …]``."""
    has_bid = (know.numbers + know.intact + know.broken) / players
    strength = [each / most for each, most in zip(seen.strength, (8, 10, 5, 8, 12), strict=True)]
    dangers = [each / most for each, most in zip(seen.dangers, (3, 6, 3, 10, 100), strict=True)]
    parts = [seen.is_last, seen.tricks / 8, seen.safe, *strength, *dangers, has_bid[1]]
    return as_bytes(parts, len(seen.tricks))
