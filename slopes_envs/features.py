"""Named observation planes: layout, packing, decoding.

An observation is ``uint8[B, D]`` of zeros and ones.  Its *layout* is data: a list of named planes, from which the
space, the packing, the named views, the manual's table and an exact decoder all follow.

Packing is the inverse of decoding and costs little: the values of all planes are encoded into words of 64 bits, one
word for some 64 features, and unpacked once with :func:`numpy.unpackbits`.

Shape letters: **B** games, **D** features, **G** groups of a plane (usually seats), **L** lanes (one group of one
plane), **W** words of 64 features.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from operator import and_, getitem, lshift
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Kind = Literal["set", "one_hot", "thermometer", "integer"]
Observation = NDArray[np.uint8]
LaneRows = int | NDArray[np.int64]

_FEW = 8  # observations up to which the number of NumPy calls costs more than the copying
# What is in work stays in the processor's cache:
_LANES_AT_ONCE = 140_000  # of all observations together that are joined to words
_UNPACKED_AT_ONCE = 512  # observations that are unpacked before they are copied to where they shall be


class _Workspace(threading.local):
    """Arrays that are written anew at each use, kept by every thread for the next one.

    Fresh arrays of this size come from the system, which gives them out empty, page by page: that would take as long
    as all that is done with them.
    """

    def __init__(self) -> None:
        self._kept: dict[str, NDArray[np.uint64]] = {}

    def array(self, name: str, rows: int, columns: int) -> NDArray[np.uint64]:
        """``uint64[rows, columns]`` with anything in it, which is valid until the next array of this name."""
        kept = self._kept.get(name)
        if kept is None or len(kept) < rows * columns:
            kept = self._kept[name] = np.empty(rows * columns, dtype="<u8")
        return kept[: rows * columns].reshape(rows, columns)


_WORKSPACE = _Workspace()


@dataclass(frozen=True)
class Plane:
    """One named piece of an observation.

    ``kind`` says how a group of ``bits`` features holds its value:

    - ``"set"``: a bit set, one feature a member;
    - ``"one_hot"``: a number in ``0 … bits-1``, or -1 for none (all zero);
    - ``"thermometer"``: a number in ``0 … bits``, that many leading ones;
    - ``"integer"``: a signed whole number in two's complement, least bit first.
    """

    name: str
    kind: Kind
    bits: int
    groups: int | None = None  # None: a single group, and no axis for it
    about: str = ""
    # How many groups, from the first on, ever hold anything; the rest (seats that smaller tables lack) are always zero
    # and get no values.  None: all of them.  No part of what a plane means, so planes that differ in it are equal.
    present: int | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if not 1 <= self.bits <= 64:
            raise ValueError(f"plane {self.name!r}: expected 1 to 64 bits a group, got {self.bits}")
        if self.present is not None and not 1 <= self.present <= self.lanes:
            raise ValueError(f"plane {self.name!r}: expected 1 to {self.lanes} groups present, got {self.present}")

    @property
    def lanes(self) -> int:
        """Number of groups."""
        return 1 if self.groups is None else self.groups

    @property
    def filled(self) -> int:
        """Number of groups that are present, from the first on."""
        return self.lanes if self.present is None else self.present

    @property
    def size(self) -> int:
        """Number of features."""
        return self.lanes * self.bits

    @property
    def mask(self) -> np.int64:
        """The bits that an ``"integer"`` group keeps."""
        return np.int64((1 << self.bits) - 1) if self.bits < 64 else np.int64(-1)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the plane's features in one observation."""
        return (self.bits,) if self.groups is None else (self.groups, self.bits)


class Layout:
    """The planes of an observation, in order.

    Attributes
    ----------
    planes
        The planes by name, in the order of their features.
    size
        D, the number of features.
    slices
        Where each plane's features stand in an observation.
    """

    def __init__(self, planes: list[Plane]) -> None:
        self.planes = {plane.name: plane for plane in planes}
        if len(self.planes) != len(planes):
            raise ValueError(f"plane names must differ, got {[plane.name for plane in planes]}")
        self.size = sum(plane.size for plane in planes)
        self.slices: dict[str, slice] = {}
        self._plan(planes)
        self._plan_one(planes)

    def __iter__(self) -> Iterator[Plane]:
        return iter(self.planes.values())

    def __repr__(self) -> str:
        return f"Layout({list(self.planes.values())})"

    def _plan(self, planes: list[Plane]) -> None:
        """Place every lane in a word; one that straddles two words is continued in the second.

        Lanes are kept layer by layer: the first lane of every word, then the second of every word that has two, and
        so on, words with many lanes first.  Each layer is then joined to the words in one operation.  A word in which
        no lane begins has an empty one, so that the first layer is all words.
        """
        word: list[int] = []
        shift: list[int] = []
        lanes_of: dict[str, list[int]] = {}
        before: dict[int, int] = {}  # by word: the lane that is continued there
        position = 0
        for plane in planes:
            self.slices[plane.name] = slice(position, position + plane.size)
            lanes_of[plane.name] = list(range(len(word), len(word) + plane.filled))
            for lane in range(plane.filled):
                at = position + lane * plane.bits
                if at % 64 + plane.bits > 64:
                    before[at // 64 + 1] = len(word)
                word.append(at // 64)
                shift.append(at % 64)
            position += plane.size
        self._num_words = (position + 63) // 64
        empty = [number for number in range(self._num_words) if number not in word]
        lanes = len(word)
        word += empty
        shift += [0] * len(empty)

        count = Counter(word)
        words = sorted(count, key=lambda number: -count[number])
        place = {number: row for row, number in enumerate(words)}
        layer = [word[:lane].count(word[lane]) for lane in range(len(word))]
        order = sorted(range(len(word)), key=lambda lane: (layer[lane], place[word[lane]]))
        row = {lane: number for number, lane in enumerate(order)}
        self._words = np.array(words, dtype=np.int64)
        self._layers = [size for _, size in sorted(Counter(layer).items())]
        self._shift = np.array([shift[lane] for lane in order], dtype=np.uint64)[:, None]
        self._empty_rows = np.array([row[lane] for lane in range(lanes, len(word))], dtype=np.int64)
        # By word, the row of the lane that is continued there and how far it is shifted; 64 leaves nothing of it.
        continued = [(row[before[n]], 64 - shift[before[n]]) if n in before else (0, 64) for n in words]
        self._over = np.array([lane for lane, _ in continued], dtype=np.int64)
        self._over_shift = np.array([by for _, by in continued], dtype=np.uint64)[:, None]

        self._rows: dict[str, LaneRows] = {}  # lanes of a plane: rows of the matrix of lanes
        self._coded: dict[str, slice | int] = {}  # of a plane that is looked up in the table of codes: its lanes there
        self._bases: dict[str, np.int64] = {}  # and where its codes begin
        rows_of: dict[str, list[int]] = {}
        coded_rows: list[int] = []
        coded_base: list[int] = []
        table: list[int] = []
        for plane in planes:
            rows = rows_of[plane.name] = [row[lane] for lane in lanes_of[plane.name]]
            self._rows[plane.name] = rows[0] if plane.groups is None else np.array(rows, dtype=np.int64)
            if plane.kind in ("one_hot", "thermometer"):
                start = len(coded_rows)
                coded_rows += rows
                self._coded[plane.name] = start if plane.groups is None else slice(start, len(coded_rows))
                # One-hot codes are indexed from -1, thermometer codes from 0.
                self._bases[plane.name] = np.int64(len(table) + (plane.kind == "one_hot"))
                coded_base += [int(self._bases[plane.name])] * len(rows)
                if plane.kind == "one_hot":
                    table += [0, *(1 << bit for bit in range(plane.bits))]
                else:
                    table += [(1 << level) - 1 for level in range(plane.bits + 1)]
        self._order = np.array(order, dtype=np.int64)
        integers = [(row, plane.mask) for plane in planes if plane.kind == "integer" for row in rows_of[plane.name]]
        self._integer_rows = np.array([row for row, _ in integers], dtype=np.int64)
        self._integer_masks = np.array([mask for _, mask in integers], dtype=np.int64)[:, None]
        self._codes = np.array(table or [0], dtype=np.uint64)
        self._coded_rows = np.array(coded_rows, dtype=np.int64)
        self._coded_base = np.array(coded_base, dtype=np.int64)[:, None]

    def _plan_one(self, planes: list[Plane]) -> None:
        """Prepare :meth:`pack_one`: what the lanes hold is added up in one whole number, a bit a feature."""
        self._one: list[tuple[str, bool]] = []  # names of the planes, coded ones first, and whether they have groups
        self._one_tables: list[list[int]] = []  # by coded lane: the features by value, -1 being the last
        self._one_masks: list[int] = []  # by other lane
        self._one_shifts: list[int] = []
        for plane in sorted(planes, key=lambda plane: plane.kind not in ("one_hot", "thermometer")):
            self._one.append((plane.name, plane.groups is not None))
            for lane in range(plane.filled):
                at = self.slices[plane.name].start + lane * plane.bits
                if plane.kind == "one_hot":
                    self._one_tables.append([*(1 << at + bit for bit in range(plane.bits)), 0])
                elif plane.kind == "thermometer":
                    self._one_tables.append([(1 << level) - 1 << at for level in range(plane.bits + 1)])
                else:
                    self._one_masks.append((1 << plane.bits) - 1)
                    self._one_shifts.append(at)
        self._one_lanes = len(self._one_tables) + len(self._one_masks)

    def pack_one(self, values: Mapping[str, Any], out: Observation | None = None) -> Observation:
        """Encode the values of a single observation, given as plain numbers: ``uint8[1, D]``.

        The same as :meth:`pack` of a batch of one, without NumPy's calls, which would cost many times the work.

        Parameters
        ----------
        values
            For every plane a whole number, or a list of those of the groups that are present.
        out
            Optional ``uint8[1, D]`` to write into.
        """
        packed = self._bytes_of_one(values)
        observation = np.unpackbits(packed, count=self.size, bitorder="little")[None]
        if out is None:
            return observation
        np.copyto(out, observation)
        return out

    def words_of_one(self, values: Mapping[str, Any]) -> NDArray[np.uint64]:
        """A single observation as words, ``uint64[W, 1]``, from values as :meth:`pack_one` takes them."""
        words: NDArray[np.uint64] = self._bytes_of_one(values).view("<u8").astype(np.uint64)[:, None]
        return words

    def _bytes_of_one(self, values: Mapping[str, Any]) -> NDArray[np.uint8]:
        numbers: list[int] = []
        for name, grouped in self._one:
            if grouped:
                numbers += values[name]
            else:
                numbers.append(values[name])
        if len(numbers) != self._one_lanes:
            raise ValueError(f"expected {self._one_lanes} numbers in all, got {len(numbers)}")
        others = map(and_, numbers[len(self._one_tables) :], self._one_masks)
        # Adding a zero to a number of a thousand bits would cost as much as any other.
        coded = sum(filter(None, map(getitem, self._one_tables, numbers)))
        features = coded + sum(filter(None, map(lshift, others, self._one_shifts)))
        return np.frombuffer(features.to_bytes(8 * self._num_words, "little"), np.uint8)

    def pack(self, batch: int, values: Mapping[str, Any], out: Observation | None = None) -> Observation:
        """Encode values into observations.

        Parameters
        ----------
        batch
            B, the number of observations.
        values
            For every plane an array ``[B]``, or ``[G, B]`` where it has groups (those that are not ``present`` may be
            left out): bit sets for ``"set"`` planes, whole numbers for the others, within the plane's range.
        out
            Optional ``uint8[B, D]`` to write into.

        Returns
        -------
        uint8[B, D]
        """
        if batch == 0:
            return np.empty((0, self.size), dtype=np.uint8) if out is None else out
        words = _WORKSPACE.array("words", batch, self._num_words)
        self._fill_by_parts(words.T, values)
        if out is None:
            return self._unpacked(words)
        for start in range(0, batch, _UNPACKED_AT_ONCE):
            rows = slice(start, min(start + _UNPACKED_AT_ONCE, batch))
            out[rows] = self._unpacked(words[rows])
        return out

    def _unpacked(self, words: NDArray[np.uint64]) -> Observation:
        return np.unpackbits(words.view(np.uint8), axis=1, count=self.size, bitorder="little")

    def words(self, batch: int, values: Mapping[str, Any]) -> NDArray[np.uint64]:
        """Observations as W words of 64 features, the first one as the lowest bit; see :meth:`pack`.

        Returns
        -------
        uint64[W, B], zeros behind the last feature
        """
        words = np.empty((self._num_words, batch), dtype=np.uint64)
        if batch:
            self._fill_by_parts(words, values)
        return words

    def unpacked(self, words: NDArray[np.uint64]) -> Observation:
        """Observations ``uint8[B, D]`` from :meth:`words`, ``uint64[W, B]``."""
        return self._unpacked(words.T.astype("<u8", order="C"))

    def _fill_by_parts(self, words: NDArray[np.uint64], values: Mapping[str, Any]) -> None:
        """Fill words ``uint64[W, B]``, some of the observations at a time."""
        batch = words.shape[1]
        parts = max(1, round(batch * len(self._shift) / _LANES_AT_ONCE))
        for number in range(parts):
            rows = slice(batch * number // parts, batch * (number + 1) // parts)
            part = values if parts == 1 else {name: values[name][..., rows] for name in self.planes}
            self._fill(words[:, rows], part)

    def _fill(self, words: NDArray[np.uint64], values: Mapping[str, Any]) -> None:
        """Fill words ``uint64[W, B]`` with 64 features each, least bit first."""
        batch = words.shape[1]
        lanes = self._few_lanes(batch, values) if batch <= _FEW else self._many_lanes(batch, values)
        over = lanes.take(self._over, axis=0)
        over >>= self._over_shift
        lanes <<= self._shift
        joined, start = lanes[: self._layers[0]], self._layers[0]
        for size in self._layers[1:]:
            joined[:size] |= lanes[start : start + size]
            start += size
        joined |= over
        words[self._words] = joined

    def _many_lanes(self, batch: int, values: Mapping[str, Any]) -> NDArray[np.uint64]:
        """The codes of all lanes, ``uint64[L, B]``, until the next call; no value is copied twice.

        Raises
        ------
        IndexError
            For a value that is far out of its plane's range.
        """
        lanes = _WORKSPACE.array("lanes", len(self._shift), batch)
        coded = _WORKSPACE.array("coded", len(self._coded_rows), batch).view(np.int64)
        codes = _WORKSPACE.array("codes", len(self._coded_rows), batch)
        lanes[self._empty_rows] = 0
        for name, plane in self.planes.items():
            value = _of_present(plane, values[name])
            if name in self._coded:
                np.add(value, self._bases[name], out=coded[self._coded[name]], dtype=np.int64, casting="unsafe")
            elif plane.kind == "integer":
                lanes[self._rows[name]] = np.asarray(value) & plane.mask
            else:
                lanes[self._rows[name]] = value
        if coded.size and coded.view(np.uint64).max() >= len(self._codes):
            raise IndexError("a value of an observation is out of its plane's range")
        self._codes.take(coded, out=codes, mode="clip")  # any other mode writes to a buffer first
        lanes[self._coded_rows] = codes
        return lanes

    def _few_lanes(self, batch: int, values: Mapping[str, Any]) -> NDArray[np.uint64]:
        """The same for few observations, where the number of NumPy calls is what costs."""
        parts = [_of_present(plane, values[name]) for name, plane in self.planes.items()]
        parts.append(np.zeros((len(self._empty_rows), batch), dtype=np.int64))
        numbers = np.concatenate(parts, axis=None, dtype=np.int64, casting="unsafe").reshape(-1, batch)
        numbers = numbers.take(self._order, axis=0)
        numbers[self._integer_rows] &= self._integer_masks
        coded = numbers.take(self._coded_rows, axis=0)
        coded += self._coded_base
        lanes: NDArray[np.uint64] = numbers.view(np.uint64)
        lanes[self._coded_rows] = self._codes.take(coded)
        return lanes

    def split(self, observations: Observation) -> dict[str, Observation]:
        """Named views of observations ``[…, D]``: each plane as ``[…, bits]`` or ``[…, G, bits]``."""
        if observations.shape[-1] != self.size:
            raise ValueError(f"expected observations with {self.size} features, got shape {observations.shape}")
        lead = observations.shape[:-1]
        return {
            name: observations[..., self.slices[name]].reshape(lead + plane.shape)
            for name, plane in self.planes.items()
        }

    def decode(self, observations: Observation) -> dict[str, NDArray[Any]]:
        """Values of observations ``[…, D]``, the exact inverse of :meth:`pack`.

        Sets come as ``bool[…, (G,) bits]``, numbers as ``int64[…, (G)]`` with -1 for an empty one-hot plane.
        """
        decoded: dict[str, NDArray[Any]] = {}
        for name, view in self.split(observations).items():
            plane = self.planes[name]
            if plane.kind == "set":
                decoded[name] = view.astype(bool)
            elif plane.kind == "one_hot":
                decoded[name] = np.where(view.any(axis=-1), view.argmax(axis=-1), -1)
            elif plane.kind == "thermometer":
                decoded[name] = view.sum(axis=-1, dtype=np.int64)
            else:
                weights = [1 << bit for bit in range(plane.bits - 1)] + [-(1 << (plane.bits - 1))]
                decoded[name] = view @ np.array(weights, dtype=np.int64)
        return decoded

    def table(self) -> str:
        """The layout as a Markdown table: features, name, shape, kind, meaning."""
        rows = ["| features | plane | shape | kind | meaning |", "| --- | --- | --- | --- | --- |"]
        for name, plane in self.planes.items():
            where = self.slices[name]
            shape = " x ".join(str(n) for n in plane.shape)
            rows.append(f"| {where.start}..{where.stop - 1} | `{name}` | {shape} | {plane.kind} | {plane.about} |")
        return "\n".join(rows)


def _of_present(plane: Plane, value: Any) -> Any:
    """The values of the groups that are present; ValueError if another group holds anything."""
    if plane.present is None or len(value) <= plane.present:
        return value
    empty = -1 if plane.kind == "one_hot" else 0
    if (value[plane.present :] != empty).any():
        raise ValueError(f"plane {plane.name!r}: expected nothing in the groups from {plane.present} on, got {value}")
    return value[: plane.present]
