"""Observations as whole numbers: 64 features each, and plane by plane."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers import staggered
from numpy.typing import NDArray
from variants import all_variants, variant_id

from slopes_agents.planes import place_of_bit, read_planes
from slopes_envs import InformationSet, make_game

BATCHES = [1, 5, 9000]  # of which one is packed in parts


def views(name: str, rules: dict[str, Any]) -> list[InformationSet]:
    """Seats that move and seats that wait, in batches of every size."""
    game = make_game(name, **rules)
    state = staggered(game, 60, 120)
    rows = [np.arange(batch) % len(state) for batch in BATCHES]
    return [InformationSet(game, state.take(each), each % game.num_players) for each in rows]


def observed(view: InformationSet) -> NDArray[np.uint8]:
    """Observations that were not made of the words."""
    assert "words" not in vars(view)
    return view.observations


@pytest.mark.parametrize("variant", all_variants(), ids=variant_id)
def test_words_are_the_observations_packed(variant: tuple[str, dict[str, Any]]) -> None:
    for view, other in zip(views(*variant), views(*variant), strict=True):
        words, observations = view.words, observed(other)
        assert words.dtype == np.uint64 and words.shape[1] == len(view)
        features = np.unpackbits(words.T.astype("<u8", order="C").view(np.uint8), axis=1, bitorder="little")
        size = view.game.observation.size
        assert np.array_equal(features[:, :size], observations)
        assert np.array_equal(view.observations, observations)  # made of the words
        assert view.observations.flags.c_contiguous and words.flags.writeable
        assert not features[:, size:].any() and features.shape[1] - size < 64


@pytest.mark.parametrize("variant", all_variants(), ids=variant_id)
def test_planes_are_read_as_they_were_written(variant: tuple[str, dict[str, Any]]) -> None:
    for view in views(*variant):
        observed(view)
        layout = view.game.observation
        planes = read_planes(view, tuple(layout.planes))
        assert list(planes) == list(layout.planes)
        for name, groups in planes.items():
            plane = layout.planes[name]
            features = view.features[name].reshape(len(view), plane.lanes, plane.bits).astype(np.uint64)
            expected = (features << np.arange(plane.bits, dtype=np.uint64)).sum(axis=2).T
            present = plane.lanes if plane.present is None else plane.present
            assert np.array_equal(groups, expected[:present])
            assert not expected[present:].any()
            if plane.kind == "one_hot":
                values = view.values[name].reshape(len(view), plane.lanes).T[:present]
                assert np.array_equal(place_of_bit(groups), values)
                assert np.array_equal(place_of_bit(groups, 77), np.where(values < 0, 77, values))


def test_an_empty_batch_has_no_words() -> None:
    game = make_game("sluff")
    view = InformationSet(game, game.new(np.arange(0, dtype=np.uint64)))
    assert view.words.shape == (-(-game.observation.size // 64), 0)
    assert read_planes(view, ("hand",))["hand"].shape == (2, 0)
