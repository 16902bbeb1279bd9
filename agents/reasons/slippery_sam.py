"""What the rule-based player of Slippery Sam makes of bets, stakes, redraws and passes.

Shape letters: **B** games, **L** legal actions of all games together.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slopes_envs import Game, InformationSet
from slopes_envs.games.slippery_sam import MAX_SEATS, RANKS, REDRAWS, SIZE

from ..heuristic.slippery_sam import Reasons, SlipperySamPlayer
from ..optimal import Sight, Turns
from ..ragged import behind
from ..shown import as_bytes, one_hot
from .scales import WAYS, Bytes, Ints, Weighed, at_scales, signed

MOST_AMOUNTS = WAYS - 2
"""How many amounts a game may offer at most, so that they can be shown with a redraw and a pass."""
NEAR = (0.003, 0.03, 0.3)  # parts of the bank, or of a banker's chips: units of how far actions are behind the best
AHEAD = (0.01, 0.05, 0.25)  # parts of the bank: units of what redraws bring more than bets
SMALL = (0.05, 0.25, 1.0)  # parts of the bank: units of fees and least bets
LARGE = (1.0, 4.0, 16.0)  # banks, or starting chips


def weigher(game: Game[Any, Any]) -> Callable[[InformationSet], Weighed]:
    """A function that tells what the player makes of the legal actions in a view of the game.

    Raises
    ------
    ValueError
        If the game offers too many amounts to show.
    """
    amounts = game.num_actions - 2
    if amounts > MOST_AMOUNTS:
        raise ValueError(
            f"advice reasons: expected a game with at most {MOST_AMOUNTS} amounts (bet_levels), got {amounts}; "
            "without advice there may be any number"
        )
    player = SlipperySamPlayer(game)

    def weigh(view: InformationSet) -> Weighed:
        sight = Sight(view)
        turns = sight.turns(player.amounts)
        reasons = player.reasons(turns)
        row, action = np.nonzero(view.legal)
        chosen = player.action(sight, player.choice(turns, reasons))[row] == action
        return Weighed(
            row=row,
            action=action,
            of_action=_of_actions(player, sight, turns, reasons, row, action, chosen),
            of_game=_of_games(player, sight, turns, reasons),
        )

    return weigh


def _of_actions(
    player: SlipperySamPlayer,
    sight: Sight,
    turns: Turns,
    reasons: Reasons,
    row: Ints,
    action: Ints,
    chosen: NDArray[np.bool_],
) -> Bytes:
    """Features of actions, ``uint8[L, …]``."""
    game: Any = player.game
    redraw = game.num_actions - 2  # behind the amounts; a pass comes last
    is_amount, stakes = action < redraw, sight.staking[row]
    least, most = sight.number("least")[row], sight.number("most")[row]
    amount = np.where(is_amount, game.amounts_of(action, least, most), 0)
    unit = np.where(stakes, turns.chips[row], turns.bank[row])
    worth = np.where(stakes, amount, amount * reasons.edge[row])  # a stake is the better for the player, the greater
    worth = np.where(action == redraw, reasons.redraw[row], worth) / unit
    distance = behind(row, worth, len(turns))
    parts = [
        chosen,
        stakes,
        is_amount & ~stakes,
        action == redraw,
        action == redraw + 1,
        is_amount & (amount == least),
        is_amount & (amount == most),
        amount / unit,
        signed(worth, 1.0),
        at_scales(distance, NEAR),
    ]
    return as_bytes(parts, len(row))


def _of_games(player: SlipperySamPlayer, sight: Sight, turns: Turns, reasons: Reasons) -> Bytes:
    """Features of games, ``uint8[B, …]``."""
    batch, rules = len(turns), player.game.rules
    chips = turns.chips
    bank = np.maximum(turns.bank, 1)  # nothing is in it where a banker is to stake
    redraws = np.isfinite(reasons.redraw)
    gains = [np.where(redraws, (worth - reasons.now) / bank, 0) for worth in (reasons.redraw, reasons.hope)]
    bettors = np.zeros((MAX_SEATS - 1, batch))
    bettors[: rules.num_players - 1] = sight.bettors().T
    parts = [
        sight.staking,
        reasons.most > 0,
        reasons.may_pass,
        redraws,
        one_hot(turns.redraws, REDRAWS + 1),
        one_hot(turns.better, RANKS),
        np.sort(turns.counts, axis=0) / RANKS,
        turns.unseen / SIZE,
        signed(reasons.edge, 1.0),
        *(signed(gain, scale) for gain in gains for scale in AHEAD),
        at_scales(turns.fee / bank, SMALL),
        at_scales(reasons.least / bank, SMALL),
        reasons.most / bank,
        at_scales(chips / bank, LARGE),
        at_scales(chips / rules.starting_chips, LARGE),
        bettors / np.maximum(chips, 1),
        (bettors > 0).mean(axis=0),
    ]
    return as_bytes(parts, batch)
