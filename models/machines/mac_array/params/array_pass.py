"""A pass of the MAC array, a phase of a layer for one image, with the parameters of its registers.

The hardware and the models of results, cycles and traffic use the same description.
"""

from __future__ import annotations

from dataclasses import dataclass

from merp.models.base.shape import Shape
from merp.models.base.six import SIX
from merp.models.machines.mac_array.params.design import LOSSES, MAX_PRODUCTS, Array, over

PHASES = ("fp", "dp", "ku", "pool", "upsample")

NO_LIMIT = 1 << 15
"""``limit`` of a pass whose ReLU does not stop: above every word."""

SHIFTS = {
    "shift": (-15, 30), "bias_shift": (-15, 15), "velocity_shift": (-15, 15),
    "update_shift": (0, 47), "loss_shift": (-15, 15), "one_shift": (0, 15),
    "rate": (0, (1 << 16) - 1), "momentum": (0, (1 << 16) - 1), "seed": (0, (1 << 30) - 1),
    "mask_base": (0, (1 << 20) - 1), "index_base": (0, (1 << 20) - 1),
    "limit": (1, NO_LIMIT),
}  # fmt: skip
"""Smallest and largest values of the registers that are not sizes."""


@dataclass(frozen=True, kw_only=True)
class ArrayPass:
    """One phase of one layer (one group), of one image.

    Attributes:
        phase: one of ``PHASES``.
        inputs, outputs: Nif and Nof, the numbers of input and output maps of the layer in FP. They
            are the same in every phase.
        rows, columns: R and C, the size of an input map.
        kernel: K.
        stride: s.
        pad: p, on all four sides.
        pool: g, the pooling window and its stride; 1 without pooling.
        relu: whether ReLU follows the sums. In DP: whether ReLU produced the input maps, so the
            outgoing deltas are masked.
        fused: FP: sums are pooled at the output. DP, KU: incoming deltas are pooled, and are
            expanded on entry.
        shift: bits by which sums are shifted right and rounded to nearest even.
        bias_shift: FP: f_in, by which a bias is shifted left. KU: bits by which the sum of deltas
            is shifted right and rounded to nearest even.
        first, last: KU: whether the image is the first or the last one of its batch. The last one
            updates the kernels. One image may be both.
        velocity_shift: shift from gradients to velocities.
        update_shift: S, the shift of a kernel's step.
        rate: mantissa a of the learning rate.
        momentum: in units of 1/65536.
        has_momentum: whether velocities are read and written.
        stochastic: whether new kernels are rounded stochastically.
        seed: 30 bits, for stochastic rounding.
        loss: FP of the last layer: the one of ``LOSSES`` whose deltas follow the outputs, or None.
        one_shift: f_map; a target of 1 is 1 << f_map.
        loss_shift: f_map - f_delta.
        mask_base: first atom of the masks. FP: of this layer's outputs. DP: of the input maps.
        index_base: first atom of the pooling indices of this layer's outputs.
        limit: FP: the word at which ReLU6 stops; ``NO_LIMIT`` for ReLU. It has no effect without
            ReLU.

    Raises:
        ValueError: a value is out of range. The message names the key and the allowed values.
    """

    phase: str
    inputs: int
    outputs: int
    rows: int
    columns: int
    kernel: int
    stride: int = 1
    pad: int = 0
    pool: int = 1
    relu: bool = True
    fused: bool = True
    shift: int = 0
    bias_shift: int = 0
    first: bool = True
    last: bool = True
    velocity_shift: int = 0
    update_shift: int = 0
    rate: int = 0
    momentum: int = 0
    has_momentum: bool = False
    stochastic: bool = False
    seed: int = 0
    loss: str | None = None
    one_shift: int = 0
    loss_shift: int = 0
    mask_base: int = 0
    index_base: int = 0
    limit: int = NO_LIMIT

    def __post_init__(self) -> None:
        """Check every field."""
        if self.phase not in PHASES:
            raise ValueError(f"phase must be one of {', '.join(PHASES)}, not {self.phase}")
        for key in ("inputs", "outputs", "rows", "columns", "kernel", "stride", "pool"):
            if getattr(self, key) < 1:
                raise ValueError(f"{key} must be at least 1, not {getattr(self, key)}")
        if not 0 <= self.pad < self.kernel:
            raise ValueError(f"pad must be 0 to {self.kernel - 1}, not {self.pad}")
        if self.kernel > min(self.rows, self.columns) + 2 * self.pad:
            raise ValueError(f"kernel must not exceed the padded map, not {self.kernel}")
        if self.stride > self.kernel:
            raise ValueError(
                f"stride must not exceed the kernel ({self.kernel}), not {self.stride}"
            )
        if min(self.pooled_rows, self.pooled_columns) < 1:
            raise ValueError(f"pool must not exceed the sums' size, not {self.pool}")
        for key, (low, high) in SHIFTS.items():
            if not low <= getattr(self, key) <= high:
                raise ValueError(f"{key} must be {low} to {high}, not {getattr(self, key)}")
        if self.loss is not None and self.loss not in LOSSES:
            raise ValueError(f"loss must be one of {', '.join(LOSSES)}, not {self.loss}")
        if self.products >= MAX_PRODUCTS:
            raise ValueError(
                f"sums of {self.products} products: at most {MAX_PRODUCTS - 1} are allowed"
            )

    @property
    def stops(self) -> bool:
        """Whether ReLU stops at ``limit``."""
        return self.relu and self.limit < NO_LIMIT

    @property
    def out_rows(self) -> int:
        """Ro, the rows of the sums."""
        return (self.rows + 2 * self.pad - self.kernel) // self.stride + 1

    @property
    def out_columns(self) -> int:
        """Co, the columns of the sums."""
        return (self.columns + 2 * self.pad - self.kernel) // self.stride + 1

    @property
    def pooled_rows(self) -> int:
        """Rows after pooling."""
        return self.out_rows // self.pool

    @property
    def pooled_columns(self) -> int:
        """Columns after pooling."""
        return self.out_columns // self.pool

    @property
    def expands(self) -> bool:
        """Whether incoming deltas are pooled, and are expanded: on entry, or by a separate pass."""
        return self.phase == "upsample" or (
            self.phase in ("dp", "ku") and self.fused and self.pool > 1
        )

    @property
    def delta_rows(self) -> int:
        """Rows of deltas that DP and KU process, without rows that no pooling window covers."""
        return self.pool * self.pooled_rows if self.expands else self.out_rows

    @property
    def delta_columns(self) -> int:
        """Columns of deltas that DP and KU process, without columns that no window covers."""
        return self.pool * self.pooled_columns if self.expands else self.out_columns

    @property
    def taps(self) -> int:
        """Elements of a kernel."""
        return self.kernel**2

    @property
    def products(self) -> int:
        """Terms of the largest sum: products in any phase, or deltas in a bias gradient."""
        maps = max(self.inputs, self.outputs)
        return max(maps * self.taps, self.out_rows * self.out_columns)

    def kernel_words(self, design: Array) -> int:
        """Return the words that the layer fills in each kernel buffer: its beats without biases."""
        return design.map_tiles(self.outputs) * self.inputs * self.taps

    def block_rows(self, design: Array) -> int:
        """Return RB of FP or DP: the blocks of rows that the map banks keep."""
        delta = self.phase == "dp"
        rows, stride = (self.delta_rows, 1) if delta else (self.rows, self.stride)
        pooled = delta and self.expands
        return design.block_rows(rows, self.kernel, stride, self.pad, pooled=pooled)

    def map_words(self, design: Array) -> int:
        """Return the words that the pass fills in each map bank; 0 for a pass without slots."""
        if self.phase == "ku":
            down, across = design.bank_side(self.kernel)
            groups = over(self.inputs, design.regions(self.kernel))
            return groups * over(self.rows, down) * over(self.columns, across)
        if self.phase == "dp":
            across = design.column_blocks(self.delta_columns)
            return self.block_rows(design) * across * self.outputs
        if self.phase == "fp":
            across = design.column_blocks(over(self.columns, self.stride))
            return self.block_rows(design) * across * self.stride**2 * self.inputs
        return 0

    def delta_words(self, design: Array) -> int:
        """Return the atoms of one map of deltas, which a lane holds in KU."""
        return self.delta_rows * design.column_blocks(self.delta_columns)

    def output_atoms(self, design: Array) -> int:
        """Return the atoms of the layer's outputs.

        They are the words in the mask memory and, with pooling, in the index memory.
        """
        return self.outputs * self.pooled_rows * design.column_blocks(self.pooled_columns)


def limit_of(shape: Shape, fraction: int) -> int:
    """Return the ``limit`` of a layer whose output has ``fraction`` fraction bits.

    From 13 bits on, 6 is above every word. Saturation then stops first, with the same words.
    """
    return min(SIX << fraction, NO_LIMIT) if shape.relu6 else NO_LIMIT


def array_pass(shape: Shape, phase: str = "fp") -> ArrayPass:
    """Return a phase of a layer by its sizes; registers that depend on number formats are unset.

    Raises:
        ValueError: the array does not support the layer.
    """
    if not isinstance(shape.pad, int):
        raise ValueError(f"pad must be the same on all sides, not {list(shape.pad)}")
    pool = shape.pool
    if pool is not None and (pool.kind, pool.stride, pool.pad) != ("max", pool.window, 0):
        raise ValueError("pool must be max-pooling with stride = window and pad = 0")
    return ArrayPass(
        phase=phase,
        inputs=shape.n,
        outputs=shape.m,
        rows=shape.rows,
        columns=shape.columns,
        kernel=shape.k,
        stride=shape.stride,
        pad=shape.pad,
        pool=pool.window if pool else 1,
        relu=shape.relu,
    )
