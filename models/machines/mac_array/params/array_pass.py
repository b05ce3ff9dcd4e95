"""A pass of the MAC array: a phase of a layer for one image, and what its registers are made of.

Hardware, golden models, cycles and traffic read the same description.
"""

from __future__ import annotations

from dataclasses import dataclass

from merp.models.base.shape import Shape
from merp.models.machines.mac_array.params.design import LOSSES, MAX_PRODUCTS, Array, over

PHASES = ("fp", "dp", "ku", "pool", "upsample")

SHIFTS = {
    "shift": (-15, 30), "bias_shift": (-15, 15), "velocity_shift": (-15, 15),
    "update_shift": (0, 47), "loss_shift": (-15, 15), "one_shift": (0, 15),
    "rate": (0, (1 << 16) - 1), "momentum": (0, (1 << 16) - 1), "seed": (0, (1 << 30) - 1),
    "mask_base": (0, (1 << 20) - 1), "index_base": (0, (1 << 20) - 1),
}  # fmt: skip
"""Least and largest value of the registers that are no sizes."""


@dataclass(frozen=True, kw_only=True)
class ArrayPass:
    """One phase of one layer (one group), of one image.

    Attributes:
        phase: one of ``PHASES``.
        inputs, outputs: Nif and Nof, maps of the layer in front and of this one, in every phase.
        rows, columns: R and C, of an input map. kernel: K. stride: s. pad: p, on all four sides.
        pool: g, pooling window and its stride; 1: none.
        relu: whether ReLU follows the sums. In DP: whether it followed the input maps, so that
            their masks are laid over the deltas that leave.
        fused: FP: sums are pooled at the output. DP, KU: deltas come pooled, and are expanded.
        shift: of RNE behind the sums.
        bias_shift: FP: f_in, by which a bias is shifted left. KU: of RNE behind the sum of deltas.
        first, last: KU: of the images of a batch; the last one updates, and one image may be both.
        velocity_shift, update_shift, rate, momentum: of the update; update_shift is S, rate the
            mantissa a, momentum of 65536. has_momentum: whether velocities come and go.
        stochastic, seed: how new kernels are rounded; seed of 30 bits.
        loss: FP of the last layer: one of ``LOSSES`` whose deltas follow the outputs, or None.
        one_shift: f_map, as a target of 1 is 1 << f_map. loss_shift: f_map - f_delta.
        mask_base, index_base: FP: of this layer's outputs, by atoms. DP: of the masks of the input
            maps, and of the indices of this layer's outputs. KU, pool, upsample: of the indices.

    Raises:
        ValueError: a value is out of range; the message names the key and what is allowed.
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
    def out_rows(self) -> int:
        """Ro, rows of the sums."""
        return (self.rows + 2 * self.pad - self.kernel) // self.stride + 1

    @property
    def out_columns(self) -> int:
        """Co, columns of the sums."""
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
        """Whether deltas come pooled, and are expanded: on entry, or alone."""
        return self.phase == "upsample" or (
            self.phase in ("dp", "ku") and self.fused and self.pool > 1
        )

    @property
    def delta_rows(self) -> int:
        """Rows of deltas that DP and KU work on: none of sums that no window of pooling took."""
        return self.pool * self.pooled_rows if self.expands else self.out_rows

    @property
    def delta_columns(self) -> int:
        """Columns of them, likewise."""
        return self.pool * self.pooled_columns if self.expands else self.out_columns

    @property
    def taps(self) -> int:
        """Elements of a kernel."""
        return self.kernel**2

    @property
    def products(self) -> int:
        """Products in the largest sum of any phase, or deltas in that of a bias."""
        maps = max(self.inputs, self.outputs)
        return max(maps * self.taps, self.out_rows * self.out_columns)

    def kernel_words(self, design: Array) -> int:
        """Words of each kernel buffer that the layer fills: beats of kernels without biases."""
        return design.map_tiles(self.outputs) * self.inputs * self.taps

    def block_rows(self, design: Array) -> int:
        """RB of FP and DP."""
        delta = self.phase == "dp"
        rows, stride = (self.delta_rows, 1) if delta else (self.rows, self.stride)
        pooled = delta and self.expands
        return design.block_rows(rows, self.kernel, stride, self.pad, pooled=pooled)

    def map_words(self, design: Array) -> int:
        """Words of each map bank that the pass fills; 0 of those without slots."""
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
        """Atoms of a map of deltas, which a lane holds in KU."""
        return self.delta_rows * design.column_blocks(self.delta_columns)

    def output_atoms(self, design: Array) -> int:
        """Atoms of the layer's outputs: words of mask, and where it pools, of index memory."""
        return self.outputs * self.pooled_rows * design.column_blocks(self.pooled_columns)


def array_pass(shape: Shape, phase: str = "fp") -> ArrayPass:
    """A phase of a layer by its sizes, without what depends on numbers.

    Raises:
        ValueError: the array has no such layer.
    """
    if not isinstance(shape.pad, int):
        raise ValueError(f"pad must be the same on all sides, not {list(shape.pad)}")
    pool = shape.pool
    if pool is not None and (pool.kind, pool.stride, pool.pad) != ("max", pool.window, 0):
        raise ValueError("pool must be the maximum of windows side by side, whole ones")
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
