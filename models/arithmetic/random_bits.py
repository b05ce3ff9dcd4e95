"""Random bits of stochastic rounding: a 31-bit feedback shift register for each lane.

The polynomial is x^31 + x^3 + 1. One beat makes sixteen steps, with one XOR of two bits each. No
register is ever 0.
"""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray

from merp.models.base.compiled_code import compiled

SEED_BITS = 30
_MULTIPLIER = 0x2545F491
_ALL = (1 << 31) - 1


def lane_constants(lanes: int) -> NDArray[np.uint32]:
    """Return constants that make the lanes' registers differ: (lanes,) words with bit 30 set."""
    return np.array(
        [((lane + 1) * _MULTIPLIER & _ALL) | 1 << SEED_BITS for lane in range(lanes)], np.uint32
    )


@compiled(lambda state, found: found.size)
def _beats(state: NDArray[np.uint32], found: NDArray[np.uint16]) -> None:
    for beat in range(found.shape[0]):
        for lane in range(found.shape[1]):
            q = state[lane]
            bits = ((q >> np.uint32(15)) ^ (q >> np.uint32(12))) & np.uint32(0xFFFF)
            state[lane] = ((q << np.uint32(16)) | bits) & np.uint32(0x7FFFFFFF)
            found[beat, lane] = bits


def random_bits(seed: int, beats: int, lanes: int) -> NDArray[np.uint16]:
    """Return the bits of a pass: (beats, lanes), 16 bits of each lane and beat.

    seed: of ``SEED_BITS`` bits.

    Raises:
        ValueError: the seed has more bits.
    """
    if not 0 <= seed < 1 << SEED_BITS:
        raise ValueError(f"seed must be 0 to {(1 << SEED_BITS) - 1}, not {seed}")
    found = np.empty((beats, lanes), np.uint16)
    _beats(lane_constants(lanes) ^ np.uint32(seed), found)
    return found


def pass_seed(seed: int, step: int, layer: str) -> int:
    """Return the seed register of a layer's update: a hash, so that a resumed run gets the same
    bits.
    """
    digest = hashlib.sha256(f"{seed} {step} {layer}".encode()).digest()
    return int.from_bytes(digest[:4], "little") >> (32 - SEED_BITS)
