"""Code that the sums of ``lane_sums`` share: their terms, and the handling of a block.

numba's cache of ``lane_trees``, ``lane_fused`` and ``lane_narrow`` does not notice a change in this
file. After a change here, change those files too.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from merp.models.arithmetic.terms import Offsets, Terms
from merp.models.arithmetic.vectors import LANES, floats, flushed, load, store
from merp.models.base.bits import Bits
from merp.models.base.compiled_code import compiled

Floats = NDArray[np.float32]
Integers = NDArray[np.int32]

LEAST = 2 << 23  # bits of twice the smallest normal number
NOTHING = 1024  # in place of the smallest exponent field, where there are only zeros


class Windows(NamedTuple):
    """Locations of the first factors of a sum, in the form that compiled code uses.

    Attributes:
        rows: offsets of a sum's taps, group by group: (groups * taps,).
        taps: number of taps of a group.
        lanes: (outputs,) offsets, to be added to a row's offset.
    """

    rows: Offsets
    taps: int
    lanes: Offsets


def windows_of(terms: Terms) -> Windows:
    """Convert the locations of terms for compiled code."""
    return Windows(terms.rows.reshape(-1), terms.rows.shape[1], terms.lanes)


@compiled()
def _numbers(source: Floats, factor: float) -> Floats:
    numbers = np.empty(-(-source.size // LANES) * LANES, np.float32)
    times = floats(factor)
    whole = source.size // LANES * LANES
    for at in range(0, whole, LANES):
        store(numbers, at, flushed(load(source, at), 1 << 23) * times)
    if whole < source.size:
        for at in range(whole, numbers.size):
            numbers[at] = source[at] if at < source.size else 0
        store(numbers, whole, flushed(load(numbers, whole), 1 << 23) * times)
    return numbers


def numbers_of(words: Bits, factor: float) -> Floats:
    """Return numbers times a power of two, padded with zeros to whole vectors; subnormals become
    zeros.
    """
    return _numbers(words.view(np.float32), factor)


@compiled()
def offsets_here(lanes: Offsets, low: int) -> tuple[Offsets, bool]:
    """Return the offsets of the outputs from ``low`` on, and whether they are contiguous.

    The last offset is repeated to fill the lanes.
    """
    here = np.empty(LANES, np.int64)
    together = True
    for lane in range(LANES):
        here[lane] = lanes[min(low + lane, len(lanes) - 1)]
        together &= here[lane] == here[0] + lane
    return here, together


@compiled()
def room(size: int, kind: Any = np.int32) -> Any:
    """Allocate numbers, aligned so that no vector crosses a line of the processor's cache."""
    room = np.empty(size + LANES, kind)
    skipped = -(room.ctypes.data // room.itemsize) % LANES
    return room[skipped : skipped + size]


@compiled()
def begin(start: Floats, m: int) -> Floats:
    """Return the initial totals of a block, (m * LANES,): the start values in every lane."""
    totals = room(m * LANES, np.float32)
    for j in range(m):
        store(totals, j * LANES, floats(start[j]))
    return totals


@compiled()
def finish(totals: Floats, low: int, result: Bits) -> bool:
    """Write the words of the outputs from ``low`` on; return False if a word is not finite."""
    count, m = result.shape
    finite = True
    for j in range(m):
        for lane in range(min(LANES, count - low)):
            word = np.float32(totals[j * LANES + lane]).view(np.uint32)
            finite &= word & 0x7F800000 != 0x7F800000
            # Halve the value. A nonzero value is at least twice the smallest normal number.
            result[low + lane, j] = word - (1 << 23) if word & 0x7F800000 else word
    return finite


@compiled()
def finite_words(words: Bits) -> bool:
    """Return whether there are neither infinities nor NaNs."""
    finite = True
    for index in range(words.size):
        finite &= words[index] & 0x7F800000 != 0x7F800000
    return finite


@compiled()
def smallest_field(words: Bits) -> int:
    """Return the exponent field of the number of smallest magnitude, zeros excluded.

    The result is 0 if there are subnormals, and large if there are only zeros.
    """
    largest = np.uint32(0xFFFFFFFF)
    smallest = largest
    for index in range(words.size):
        magnitude = words[index] & np.uint32(0x7FFFFFFF)
        smallest = min(smallest, np.uint32(magnitude - 1))  # zero becomes the largest number
    return NOTHING if smallest == largest else int((smallest + 1) >> 23)
