"""Slippery Slope, played by experience and counting."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from slopes_envs.cards import bits_of
from slopes_envs.games.slippery_slope import (
    ACE,
    BIDS,
    CANNOT,
    DECK,
    FOLLOW,
    FOUR,
    HAND,
    JOKER_LED,
    LITTLE,
    RANKS,
    SUITS,
    TRICKS,
    A,
)

from ..base import Agent

Ints = NDArray[np.int64]
Bits = NDArray[np.uint32]
Floats = NDArray[np.float64]

C = len(DECK)
BIG = LITTLE + 1
CONTEXTS = JOKER_LED + 1
UNIT = 1000

SUIT = np.array([*(card // RANKS for card in range(LITTLE)), SUITS, SUITS])
SUIT_CARDS = np.array([*(DECK.suit_bits(suit) for suit in range(SUITS)), 0], dtype=np.uint32)
JOKERS = np.uint32(bits_of([LITTLE, BIG]))
CARD = np.left_shift(np.uint32(1), np.arange(C, dtype=np.uint32))


def _above(card: int, up: bool) -> int:
    """Cards of the suit which beat card when followed."""
    suit, rank = divmod(card, RANKS)
    others = [r for r in range(RANKS) if r != rank]
    better = [r for r in others if rank != ACE and (r == ACE or (r > rank if up else r < rank))]
    return bits_of(RANKS * suit + r for r in better)


LED_BEATEN = np.array([_above(c, c % RANKS > FOUR) for c in range(LITTLE)] + [0, 0], dtype=np.uint32)
OTHER_BEATEN = np.array([_above(c, c % RANKS <= FOUR) for c in range(LITTLE)] + [0, 0], dtype=np.uint32)
SUIT_ACE = np.array([bits_of([RANKS * s]) for s in range(SUITS)] + [0], dtype=np.uint32)


def _beaters() -> tuple[Bits, NDArray[np.int64]]:
    """By context*A+action: suit cards that would beat; suit to follow after."""
    beat = np.zeros((CONTEXTS, A), np.uint32)
    after = np.zeros((CONTEXTS, A), np.int64)
    strength = TRICKS.strength.reshape(CONTEXTS, A)
    context = TRICKS.context.reshape(CONTEXTS, A)
    for k in range(CONTEXTS):
        for a in range(BIDS, A):
            nxt = context[k, a]
            after[k, a] = FOLLOW[nxt]
            beat[k, a] = bits_of(c for c in range(C) if c != a - BIDS and strength[nxt, c + BIDS] > strength[k, a])
    return beat.reshape(-1), after.reshape(-1)


BEATERS, AFTER = _beaters()

# NONE[free, held, wanted]
NONE = np.array(
    [
        [[comb(max(f - m, 0), h) / comb(f, h) if f - m >= h else 0.0 for m in range(10)] for h in range(11)]
        for f in [*range(21)]
    ]
    if False
    else [
        [
            [(comb(f - m, h) / comb(f, h) if 0 <= h <= f - m else 0.0) if m else 1.0 for m in range(12)]
            for h in range(11)
        ]
        for f in range(21)
    ]
)

# categories
_NONACE = 7 * 4 * 7 * 2
_ACES = _NONACE + 49
CATEGORIES = _ACES + 3
SHORTER = np.array([7 if c % RANKS == ACE else 56 for c in range(LITTLE)] + [0, 0])
IS_ACE = np.array([c % RANKS == ACE for c in range(LITTLE)] + [False, False])
import os
PHASE = np.arange(11) if os.environ.get("PH") else np.array([0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 3])
PHASES = PHASE[-1] + 1
FLEX = 3 if os.environ.get("FX") else 1
ACES = np.uint32(sum(1 << 7 * s for s in range(4)))


STEP = 500
A_MIN, A_NODES = -4000, 19
H_MIN, H_NODES = -4000, 21
W_NODES = 11


@dataclass
class Experience:
    low: NDArray[Any]  # [PHASES, CATEGORIES]
    high: NDArray[Any]
    made: NDArray[Any]  # [11, 2, A_NODES, H_NODES]
    miss: NDArray[Any]
    win: NDArray[Any] = None  # [2, 10, W, W]

    def chance(self, to_come, left, sure, open_):
        w = W_NODES - 1
        i = np.minimum((sure * w).astype(np.int64), w - 1)
        j = np.minimum((open_ * w).astype(np.int64), w - 1)
        fi, fj = sure * w - i, open_ * w - j
        at = (((to_come - 1) * 10 + left) * W_NODES + i) * W_NODES + j
        t = self.win.reshape(-1)
        v = (1 - fi) * ((1 - fj) * t[at] + fj * t[at + 1]) + fi * ((1 - fj) * t[at + W_NODES] + fj * t[at + W_NODES + 1])
        return np.where(to_come == 0, sure, np.where(open_ == 0, 0, v))

    def outcome(self, left, lead, need, low, high, aces=0):
        aces = np.minimum(aces, FLEX - 1)
        """P(made), E miss"""
        a = np.clip(need * UNIT - low - A_MIN, 0, (A_NODES - 1) * STEP)
        h = np.clip(high - need * UNIT - H_MIN, 0, (H_NODES - 1) * STEP)
        ai = np.minimum(a // STEP, A_NODES - 2)
        hi = np.minimum(h // STEP, H_NODES - 2)
        at = (((left * 2 + lead) * FLEX + aces) * A_NODES + ai) * H_NODES + hi
        fa = (a - ai * STEP) / STEP
        fh = (h - hi * STEP) / STEP
        w = ((1 - fa) * (1 - fh), (1 - fa) * fh, fa * (1 - fh), fa * fh)
        out = []
        for t in (self.made.reshape(-1), self.miss.reshape(-1)):
            out.append(w[0] * t[at] + w[1] * t[at + 1] + w[2] * t[at + H_NODES] + w[3] * t[at + H_NODES + 1])
        made, miss = out
        over, under = need < 0, need > left
        made = np.where(over | under, 0.0, made)
        miss = np.where(over, low / UNIT - need, np.where(under, need - high / UNIT, miss))
        end = left == 0
        made = np.where(end, need == 0, made)
        miss = np.where(end, np.abs(need), miss)
        return made, miss


def categories(row, card, hand, unseen):
    """Category of each card"""
    u = unseen[row]
    suit = SUIT[card]
    length = np.bitwise_count(hand[row] & SUIT_CARDS[suit]).astype(np.int64)
    led = np.bitwise_count(u & LED_BEATEN[card])
    other = np.bitwise_count(u & OTHER_BEATEN[card])
    ace = (u & SUIT_ACE[suit]) != 0
    k = np.bitwise_count(u & SUIT_CARDS[suit])
    plain = (((length - 1) * 4 + led) * 7 + other) * 2 + ace
    aces = _NONACE + (length - 1) * 7 + k
    joker = np.where(card == BIG, _ACES + 2, _ACES + ((u & CARD[BIG]) != 0))
    return np.where(card >= LITTLE, joker, np.where(IS_ACE[card], aces, plain))


@dataclass
class Options:
    row: Ints
    action: Ints
    win: Floats
    sure: Floats
    open: Floats
    to_come: Ints
    low: Ints
    high: Ints
    left: Ints
    need: Ints
    bid: Ints
    aces: Ints


class SlipperySlopeHeuristic(Agent):
    q_follow = 0.5
    q_joker = 0.5

    def __init__(self, game, experience=None):
        super().__init__(game)
        self.x = experience or load()

    def act(self, view):
        f = view.features
        legal = view.legal
        play = f["phase"][:, 1].astype(bool)
        out = np.zeros(len(view), np.int64)
        hand, seen, table = self.bits(f)
        unseen = ~(hand | seen[0] | seen[1] | seen[2]) & np.uint32(2**30 - 1)
        b = np.flatnonzero(~play)
        if len(b):
            out[b] = self.bids(hand[b], unseen[b], f["leader"][b, 0].astype(np.int64)).argmax(axis=1)
        p = np.flatnonzero(play)
        if len(p):
            o = self.options(view, p)
            worth = np.full((len(view), A), -np.inf)
            worth[o.row, o.action] = self.worth(o)
            out[p] = worth[p].argmax(axis=1)
        return out

    def bits(self, f):
        B = len(f["hand"])
        s = np.zeros((B, 7, 32), np.uint8)
        s[:, 0, :C] = f["hand"]
        s[:, 1:4, :C] = f["seen"]
        s[:, 4:7, :C] = f["table"]
        w = np.packbits(s.reshape(B, -1), axis=1, bitorder="little").view("<u4").T
        return w[0].copy(), w[1:4], w[4:7]

    def bids(self, hand, unseen, lead):
        low, high = self.outlook(hand, unseen)
        B = len(hand)
        need = np.broadcast_to(np.arange(BIDS), (B, BIDS))
        made, miss = self.x.outcome(np.full((B, 1), HAND), lead[:, None], need, low[:, None], high[:, None], np.bitwise_count(hand & ACES).astype(np.int64)[:, None])
        return need * made - miss

    def outlook(self, hand, unseen):
        bits = (hand[:, None] >> np.arange(C, dtype=np.uint32)) & 1
        row, card = np.nonzero(bits)
        cat = categories(row, card, hand, unseen)
        n = np.bitwise_count(hand).astype(np.int64)
        ph = PHASE[n[row]]
        low = np.bincount(row, self.x.low[ph, cat], len(hand)).astype(np.int64)
        high = np.bincount(row, self.x.high[ph, cat], len(hand)).astype(np.int64)
        return np.clip(low, 0, n * UNIT), np.clip(high, 0, n * UNIT)

    def options(self, view, rows):
        f = view.features
        hand, seen, table = self.bits(f)
        unseen = ~(hand | seen[0] | seen[1] | seen[2]) & np.uint32(2**30 - 1)
        B = len(hand)
        flat = np.flatnonzero(f["hand"])
        row, card = flat // C, flat % C
        keep = f["phase"][row, 1] == 1
        row, card = row[keep], card[keep]
        suit = SUIT[card]
        cat = categories(row, card, hand, unseen)
        shorter = np.maximum(cat - SHORTER[card], 0)
        n = np.bitwise_count(hand).astype(np.int64)
        left = n - 1
        base = PHASE[np.maximum(left, 0)][row] * CATEGORIES
        legal = view.legal[row, card + BIDS]
        outs = []
        key = row * 5 + suit
        for t in (self.x.low.reshape(-1), self.x.high.reshape(-1)):
            now, then = t[base + cat], t[base + shorter]
            by_suit_now = np.bincount(key, now, B * 5)
            by_suit_then = np.bincount(key, then, B * 5)
            total = np.bincount(row, now, B)
            after = total[row] - by_suit_now[key] + by_suit_then[key] - then
            outs.append(np.clip(after[legal].astype(np.int64), 0, left[row][legal] * UNIT))
        row, card = row[legal], card[legal]
        # trick so far
        second_only = (table[2] != 0) & (table[1] == 0)
        third = table[1] != 0
        first = np.where(third, table[1], table[2])
        two = np.where(third, table[2], 0)
        code = np.where(first != 0, np.frexp(first.astype(np.float64))[1] - 1 + BIDS, 0)
        ctx = np.where(first != 0, TRICKS.context[code], 0).astype(np.int64)
        best = np.where(first != 0, TRICKS.strength[code], 0)
        code2 = np.where(two != 0, np.frexp(two.astype(np.float64))[1] - 1 + BIDS, 0)
        best = np.maximum(best, np.where(two != 0, TRICKS.strength[ctx * A + code2], 0))
        ctx = np.where(two != 0, TRICKS.context[ctx * A + code2], ctx).astype(np.int64)
        to_come = np.where(third, 0, np.where(second_only, 1, 2))
        # hold probabilities
        nn = HAND - np.bitwise_count(seen).astype(np.int64)
        voids = np.packbits(f["voids"], axis=2, bitorder="little")[:, :, 0].astype(np.int64)
        cannot = [None, CANNOT[voids[:, 1]], CANNOT[voids[:, 2]]]
        sure1 = np.bitwise_count(unseen & cannot[2])
        sure2 = np.bitwise_count(unseen & cannot[1])
        free = np.bitwise_count(unseen).astype(np.int64) - sure1 - sure2
        fr = [None, nn[1] - sure1, nn[2] - sure2]
        cc = ctx[row] * A + card + BIDS
        u = unseen[row]
        suit = AFTER[cc]
        k = np.bitwise_count(u & SUIT_CARDS[suit]).astype(np.int64)
        bb = BEATERS[cc]
        m = np.bitwise_count(u & bb & ~JOKERS).astype(np.int64)
        jm = np.bitwise_count(u & bb & JOKERS).astype(np.int64)
        sure = (TRICKS.strength[cc] > best[row]).astype(np.float64)
        open_ = sure.copy()
        tc = to_come[row]
        for j in (1, 2):
            void = (voids[:, j][row] >> np.maximum(suit, 0) & 1).astype(bool) | (suit < 0)
            other = (voids[:, 3 - j][row] >> np.maximum(suit, 0) & 1).astype(bool) & ~void
            split = ~(void | other)
            at = (free[row] * 11 + fr[j][row]) * 12
            N = NONE.reshape(-1)

            def none(x, y=0):
                return np.where(other & (x > 0), 0.0, N[at + x * split + y])

            nk = none(k)
            forced = none(k - m) - nk
            mixed = 1 - none(m) - forced
            forced = np.where(void, 0, forced)
            mixed = np.where(void, 0, mixed)
            jk = nk - none(k, jm)
            last = nn[j][row] == 1
            must = forced + np.where(last, jk, 0)
            can = forced + mixed + jk
            sure = np.where(tc >= j, sure * (1 - can), sure)
            open_ = np.where(tc >= j, open_ * (1 - must), open_)
        sure = np.maximum(sure, 0)
        open_ = np.maximum(open_, sure)
        win = self.x.chance(tc, left[row], sure, open_)
        need = f["needed"] @ np.arange(21) - HAND if False else np.argmax(f["needed"], axis=1) - HAND
        bid = np.argmax(f["bids"][:, 0], axis=1)
        return Options(row, card + BIDS, win, sure, open_, tc, outs[0], outs[1], left[row], need[row], bid[row], np.bitwise_count(hand[row] & ACES & ~CARD[card]).astype(np.int64))

    def worth(self, o):
        m1, s1 = self.x.outcome(o.left, 1, o.need - 1, o.low, o.high, o.aces)
        m0, s0 = self.x.outcome(o.left, 0, o.need, o.low, o.high, o.aces)
        return o.win * (o.bid * m1 - s1) + (1 - o.win) * (o.bid * m0 - s0)


def prior():
    """Rough first guess."""
    low = np.zeros((PHASES, CATEGORIES))
    high = np.zeros((PHASES, CATEGORIES))
    for ln in range(7):
        for l in range(4):
            for o in range(7):
                for a in range(2):
                    i = ((ln * 4 + l) * 7 + o) * 2 + a
                    b = 0.35 * (0.5**l + 0.5**o)
                    low[:, i], high[:, i] = 0.3 * b, b
        for k in range(7):
            i = _NONACE + ln * 7 + k
            low[:, i], high[:, i] = 0.2, 0.8
    low[:, _ACES:] = high[:, _ACES:] = [1.0, 0.9, 1.0]
    left = np.arange(11)[:, None, None, None]
    a = (A_MIN + STEP * np.arange(A_NODES))[None, None, :, None] / UNIT
    h = (H_MIN + STEP * np.arange(H_NODES))[None, None, None, :] / UNIT
    lead = np.arange(2)[None, :, None, None]
    width = np.maximum(a + h, 0.3)
    sd = 0.3 + 0.1 * np.sqrt(left) + 0 * lead
    out = np.maximum(np.maximum(-a, -h), 0)
    made = 0.75 * np.exp(-0.5 * ((out) / sd) ** 2) * (1 / (1 + np.exp(-6 * np.minimum(a, h)))) + 0 * width
    miss = out + 0.8 * (1 - made)
    n = np.linspace(0, 1, W_NODES)
    win = np.broadcast_to((n[:, None] + n) / 2, (2, 10, W_NODES, W_NODES)).copy()
    made, miss = (np.repeat(t[:, :, None], FLEX, axis=2) for t in (made, miss))
    return Experience(low * UNIT, high * UNIT, made, miss, win)


PATH = Path(__file__).with_name("slippery_slope_table.npz")


@lru_cache
def load():
    with np.load(PATH) as f:
        return Experience(**{k: f[k].astype(np.float64) for k in ("low", "high", "made", "miss", "win")})


AGENT = SlipperySlopeHeuristic
