"""Slippery Sam as a PettingZoo environment: :func:`env` and :func:`raw_env` with the game's options as keywords."""

from functools import partial

from . import aec

env = partial(aec.env, "slippery_sam")
raw_env = partial(aec.raw_env, "slippery_sam")
