"""Packing of observations: any layout, any batch, beside a slow encoder that writes feature by feature."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from slopes_envs import features
from slopes_envs.features import Layout, Plane

KINDS = ["set", "one_hot", "thermometer", "integer"]


@st.composite
def planes(draw: st.DrawFn) -> list[Plane]:
    """Planes of all kinds; so many features that lanes straddle words, and words stay empty."""
    made = []
    for number in range(draw(st.integers(1, 7))):
        groups = draw(st.none() | st.integers(1, 9))
        present = None if groups is None else draw(st.none() | st.integers(1, groups))
        bits = draw(st.integers(1, 64))
        made.append(Plane(f"plane {number}", draw(st.sampled_from(KINDS)), bits, groups, present=present))  # type: ignore[arg-type]
    return made


def values_of(plane: Plane, batch: int, random: np.random.Generator) -> NDArray[Any]:
    """Random values of the groups that are present, the least and the greatest among them."""
    shape = (batch,) if plane.groups is None else (plane.present or plane.groups, batch)
    if plane.kind == "set":
        return (
            random.integers(0, 1 << plane.bits, shape, dtype=np.uint64, endpoint=False)
            if plane.bits < 64
            else (random.integers(0, 2**64 - 1, shape, dtype=np.uint64, endpoint=True))
        )
    if plane.kind == "integer":
        half = 1 << (plane.bits - 1)
        return random.integers(-half, half - 1, shape, dtype=np.int64, endpoint=True)
    return random.integers(-(plane.kind == "one_hot"), plane.bits - (plane.kind == "one_hot"), shape, endpoint=True)


def encoded(plane: Plane, value: int) -> list[int]:
    """The features of one group, the least first."""
    if plane.kind == "one_hot":
        return [int(bit == value) for bit in range(plane.bits)]
    if plane.kind == "thermometer":
        return [int(bit < value) for bit in range(plane.bits)]
    return [value >> bit & 1 for bit in range(plane.bits)]


def slowly(layout: Layout, values: dict[str, NDArray[Any]], game: int) -> list[int]:
    """The observation of one game."""
    seen: list[int] = []
    for name, plane in layout.planes.items():
        groups = np.atleast_2d(values[name])[:, game].tolist()
        seen += [bit for value in groups for bit in encoded(plane, value)]
        seen += [0] * (plane.size - len(groups) * plane.bits)
    return seen


@settings(max_examples=60, deadline=None)
@given(planes(), st.sampled_from([1, 3, 8, 9, 40]), st.integers(0, 2**32))
def test_any_layout_is_packed_as_feature_by_feature(made: list[Plane], batch: int, seed: int) -> None:
    layout, random = Layout(made), np.random.default_rng(seed)
    values = {plane.name: values_of(plane, batch, random) for plane in made}
    expected = np.array([slowly(layout, values, game) for game in range(batch)], dtype=np.uint8)
    packed = layout.pack(batch, values)
    assert packed.dtype == np.uint8
    assert np.array_equal(packed, expected)
    out = np.full_like(packed, 7)
    assert layout.pack(batch, values, out) is out
    assert np.array_equal(out, expected)
    one = {name: value[..., 0].tolist() for name, value in values.items()}
    assert np.array_equal(layout.pack_one(one), expected[:1])


def _layout() -> tuple[Layout, list[Plane]]:
    made = [
        Plane("cards", "set", 52, 4, present=3),
        Plane("seat", "one_hot", 4),
        Plane("tricks", "thermometer", 13, 4),
        Plane("score", "integer", 12, 4),
    ]
    return Layout(made), made


@pytest.mark.parametrize(("lanes", "unpacked"), [(150, 9), (900, 64), (2_000, 100), (9_000, 1_000)])
def test_a_large_batch_is_packed_in_blocks(lanes: int, unpacked: int, monkeypatch: pytest.MonkeyPatch) -> None:
    layout, made = _layout()
    random = np.random.default_rng(1)
    values = {plane.name: values_of(plane, 300, random) for plane in made}
    at_once = layout.pack(300, values)
    monkeypatch.setattr(features, "_LANES_AT_ONCE", lanes)
    monkeypatch.setattr(features, "_UNPACKED_AT_ONCE", unpacked)
    assert np.array_equal(layout.pack(300, values), at_once)
    out = np.empty_like(at_once)
    layout.pack(300, values, out)
    assert np.array_equal(out, at_once)


def test_what_was_packed_stays_when_more_is_packed() -> None:
    """The arrays in which the work is done are used again; results are not."""
    layout, made = _layout()
    random = np.random.default_rng(2)
    several = [{plane.name: values_of(plane, 50, random) for plane in made} for _ in range(3)]
    packed = [layout.pack(50, values) for values in several]
    copies = [each.copy() for each in packed]
    layout.pack(50, several[1])
    assert all(np.array_equal(*pair) for pair in zip(packed, copies, strict=True))
    assert not np.array_equal(copies[0], copies[1])


def test_nothing_is_packed_into_nothing() -> None:
    layout, made = _layout()
    values = {plane.name: values_of(plane, 0, np.random.default_rng(4)) for plane in made}
    assert layout.pack(0, values).shape == (0, layout.size)


@pytest.mark.parametrize("batch", [1, 8, 9, 50])
def test_a_value_beyond_all_codes_is_refused(batch: int) -> None:
    layout, made = _layout()
    values = {plane.name: values_of(plane, batch, np.random.default_rng(5)) for plane in made}
    values["tricks"] = np.full((4, batch), 200)
    with pytest.raises(IndexError):
        layout.pack(batch, values)


def test_threads_do_not_disturb_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    layout, made = _layout()
    random = np.random.default_rng(3)
    several = [{plane.name: values_of(plane, 2500, random) for plane in made} for _ in range(8)]
    alone = [layout.pack(2500, values) for values in several]
    monkeypatch.setattr(features, "_LANES_AT_ONCE", 9_000)
    with ThreadPoolExecutor(4) as pool:
        for _ in range(5):
            together = pool.map(lambda values: layout.pack(2500, values), several)
            assert all(np.array_equal(*pair) for pair in zip(alone, together, strict=True))
            out = [np.empty_like(each) for each in alone]
            together = pool.map(lambda values, out: layout.pack(2500, values, out), several, out)
            assert all(np.array_equal(*pair) for pair in zip(alone, together, strict=True))
