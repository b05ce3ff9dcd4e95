"""Counts: the words that a figure of memory traffic includes. A report never mixes two counts.

``maps`` counts feature and delta maps, like table 3 of CNN-MERP. ``all`` adds kernels, biases and
the ReLU/pooling masks of the backward phases. ``board`` is ``all`` with the tiling that an on-chip
memory of a given size needs; its figures are modelled. MB are 10^6 bytes, a multiply-add is two
operations.
"""

from __future__ import annotations

from dataclasses import dataclass

from merp.models.base.renamed import in_json
from merp.models.base.shape import Shape
from merp.models.base.state_field import STATES, position_bits
from merp.models.base.storage import Stores
from merp.models.fpga.board import Board

COUNTS = ("maps", "all", "board")

FORMER = {"paper": "maps", "full": "all"}
"""Former names, which JSON answers keep."""

XC7K325T_BYTES = 445 * 4096
"""Block RAM of the paper's Kintex-7: 445 blocks of 4 KiB, without parity bits."""


@dataclass(frozen=True, kw_only=True)
class Count:
    """The words that a figure includes.

    Attributes:
        name: ``maps``, ``all`` or ``board``.
        state: kind of the mask for ReLU' and un-pooling (``all`` and ``board``). ``32``: the
            activation itself, in the format of maps. ``1``: a mask bit per element, and a position
            code per maximum. ``pooled``: the data that expands a delta stored at pooled resolution.
        memory_bytes: on-chip memory (``board``), for tiles that are cut only by their bytes.
        board: its plan defines the traffic, in place of ``memory_bytes``.
    """

    name: str = "maps"
    state: str = "32"
    memory_bytes: int = XC7K325T_BYTES
    board: Board | None = None

    def __post_init__(self) -> None:
        """Check the names."""
        for key, allowed in (("name", COUNTS), ("state", STATES)):
            if getattr(self, key) not in allowed:
                raise ValueError(
                    f"{key} must be one of {', '.join(allowed)}, not {getattr(self, key)!r}"
                )
        if self.memory_bytes < 1:
            raise ValueError(f"memory_bytes must be at least 1, not {self.memory_bytes}")

    @property
    def json_name(self) -> str:
        """The value of the key ``footing`` in JSON answers, which never changed."""
        return in_json(self.name, FORMER)

    @property
    def pooled(self) -> bool:
        """Whether deltas are stored at pooled resolution."""
        return self.name != "maps" and self.state == "pooled"


def activation_bits(stores: Stores) -> int:
    """Return the bits of an element of the activation in memory, in the format of maps."""
    return 8 * stores.stored("maps").bytes


def state_bits(shape: Shape, maps: int, state: str, word_bits: int) -> int:
    """Return the bits that ReLU' and un-pooling of ``maps`` maps of one image need."""
    pool = shape.pool
    maximum = pool is not None and pool.kind == "max"
    if not (shape.relu or maximum):
        return 0
    sums = maps * shape.out_rows * shape.out_columns
    if state == "32":  # the sign gives ReLU', the largest element of a window the position
        return sums * word_bits
    if pool is None or not maximum:
        return sums
    outputs = maps * shape.pooled_rows * shape.pooled_columns
    masks = sums if state == "1" else outputs
    return shape.relu * masks + position_bits(pool.window) * outputs


def state_read_bytes(shape: Shape, maps: int, images: int, state: str, word_bits: int) -> int:
    """Return the bytes of the mask that one pass of a backward phase reads.

    A pass is one group of the reading layer. Its mask is one string of the bits of all images,
    filled up to whole bytes. Bits are rounded to bytes only here.

    Args:
        shape: the layer whose ReLU and pooling are undone.
        maps: maps of this layer in the pass.
        images: in the pass.
        state: one of ``STATES``.
        word_bits: of an element of the activation in memory.
    """
    return -(-images * state_bits(shape, maps, state, word_bits) // 8)


def state_written_bytes(shape: Shape, images: int, state: str, word_bits: int) -> int:
    """Return the bytes of the mask that one pass of forward propagation, one group, writes.

    Without pooling the activation is the output map, which is not written a second time.
    """
    if state == "32" and shape.pool is None:
        return 0
    return state_read_bytes(shape, shape.m, images, state, word_bits)
