"""A pass of FP or DP on the supply side: a window moves over incoming maps.

source: the RTL compiler's paper, sections III.B to III.D

In DP, the deltas of the output maps replace the incoming maps. The window is then the kernel,
rotated by 180 degrees. Therefore both phases use the same movement.
"""

from __future__ import annotations

from dataclasses import dataclass

from merp.models.machines.mac_array.params.array_pass import ArrayPass
from merp.models.machines.mac_array.params.design import ArrayDesign, over
from merp.models.machines.mac_array.params.fitting import check_fit


@dataclass(frozen=True)
class PassSide:
    """The sizes of a pass along rows or along columns.

    Attributes:
        size: size of an incoming map.
        out: size of an outgoing map.
        tile: pixels of the array.
        stride, pad: of the window, in the first phase.
        after: elements that a window reaches beyond its pixel's own element, in the last phase.
        phases: number of phases of the outgoing pixels. The phase of a pixel is its position
            modulo the stride of DP. A tile has pixels of one phase.
    """

    size: int
    out: int
    tile: int
    stride: int
    pad: int
    after: int
    phases: int = 1

    @property
    def tiles(self) -> int:
        """Tiles that cover the outgoing pixels of the first phase, which has the most pixels."""
        return over(over(self.out, self.phases), self.tile)

    @property
    def whole(self) -> int:
        """Outgoing rows or columns in every phase."""
        return self.out // self.phases

    @property
    def more(self) -> int:
        """Number of phases, from the first one on, that have one more."""
        return self.out % self.phases

    @property
    def last(self) -> int:
        """The part of ``whole`` in the last tile."""
        return self.whole - (self.tiles - 1) * self.tile

    @property
    def blocks(self) -> int:
        """Blocks of ``tile`` elements that hold the elements of a map in one phase."""
        return over(over(self.size, self.stride), self.tile)

    @property
    def split(self) -> int:
        """Bank of the first window's first element."""
        return -over(self.pad, self.stride) % self.tile

    @property
    def phase(self) -> int:
        """Phase of the first window's first element: its position modulo the stride."""
        return -self.pad % self.stride


@dataclass(frozen=True)
class PassRun:
    """A pass of FP or DP on a design.

    Raises:
        ValueError: the design cannot run the pass; the message says why.
    """

    work: ArrayPass
    design: ArrayDesign

    def __post_init__(self) -> None:
        """Check that the pass fits."""
        work, design = self.work, self.design
        if work.phase not in ("fp", "dp"):
            raise ValueError(f"phase must be fp or dp, not {work.phase}")
        check_fit(work, design)
        self._check_loss()
        for key, base, atoms, most in (
            ("mask words", work.mask_base, self.mask_atoms, design.mask_words),
            ("index words", work.index_base, self.index_atoms, design.index_words),
        ):
            value = base + atoms
            if atoms and value > most:
                raise ValueError(f"{key}: the design has at most {most}, the layers {value}")

    def _check_loss(self) -> None:
        work = self.work
        if work.loss is None:
            return
        if not self.design.loss:
            raise ValueError(f"loss {work.loss}: the design has no loss unit")
        if work.phase != "fp" or (work.out_rows, work.out_columns) != (1, 1):
            raise ValueError(
                f"loss {work.loss}: allowed only in fp of a layer whose sums are one word per class"
            )

    @property
    def transposed(self) -> bool:
        """Whether kernels are read by columns."""
        return self.work.phase == "dp"

    @property
    def phases(self) -> int:
        """Phases of the outgoing pixels, along rows and along columns."""
        return self.work.stride if self.transposed else 1

    @property
    def first_tap(self) -> int:
        """Row and column of the first tap in the first phase.

        In DP, taps run backward, so it is the last tap of the kernel in that phase.
        """
        last = self.work.kernel - 1
        return last - (last - self.work.pad) % self.phases

    @property
    def maps(self) -> int:
        """Number of incoming maps."""
        return self.work.outputs if self.transposed else self.work.inputs

    @property
    def out_maps(self) -> int:
        """Number of outgoing maps."""
        return self.work.inputs if self.transposed else self.work.outputs

    @property
    def groups(self) -> int:
        """Tiles of lanes that cover the outgoing maps."""
        return over(self.out_maps, self.design.pof)

    @property
    def last_lanes(self) -> int:
        """Lanes in use in the last tile."""
        return self.out_maps - (self.groups - 1) * self.design.pof

    @property
    def out_pool(self) -> int:
        """Pooling window at the output."""
        return self.work.pool if self.work.phase == "fp" and self.work.fused else 1

    @property
    def out_atoms(self) -> int:
        """Number of outgoing atoms."""
        rows, columns = self.vertical.out // self.out_pool, self.horizontal.out // self.out_pool
        return self.out_maps * rows * self.design.column_blocks(columns)

    @property
    def mask_atoms(self) -> int:
        """Atoms whose masks are written in FP or read in DP; 0 for maps without ReLU."""
        return self.out_atoms if self.work.relu else 0

    @property
    def index_atoms(self) -> int:
        """Atoms whose positions of maxima are written; 0 without pooling."""
        return self.out_atoms if self.out_pool > 1 else 0

    @property
    def vertical(self) -> PassSide:
        """The pass along rows."""
        out = self.work.delta_rows if self.transposed else self.work.out_rows
        return self._side(self.work.rows, out, self.design.poy)

    @property
    def horizontal(self) -> PassSide:
        """The pass along columns."""
        out = self.work.delta_columns if self.transposed else self.work.out_columns
        return self._side(self.work.columns, out, self.design.pox)

    def _side(self, size: int, out: int, tile: int) -> PassSide:
        work = self.work
        if self.transposed:
            before = (self.first_tap - work.pad) // self.phases
            after = (self.phases - 1 + work.pad) // self.phases
            return PassSide(out, size, tile, 1, before, after, self.phases)
        return PassSide(size, out, tile, work.stride, work.pad, work.kernel - 1 - work.pad)

    @property
    def atom_blocks(self) -> int:
        """CB: atoms of an incoming row."""
        return over(self.horizontal.size, self.design.pox)

    @property
    def phase_words(self) -> int:
        """Words of a bank from a phase of columns to the next."""
        return self.maps

    @property
    def block_words(self) -> int:
        """Words of a bank from a block of columns to the next."""
        return self.horizontal.stride**2 * self.maps

    @property
    def row_words(self) -> int:
        """Words of a bank from a block of rows to the next."""
        return self.horizontal.blocks * self.block_words

    @property
    def ring(self) -> int:
        """RB: blocks of rows in the memory."""
        return self.work.block_rows(self.design)

    @property
    def load_rows(self) -> tuple[int, ...]:
        """Rows of each load band; bands without rows are left out.

        The first load band has the rows of the first band of windows. Each further load band has
        as many rows as a band of windows moves on. The last one has the remaining rows. Expanded
        deltas are loaded in whole pooling windows.
        """
        side, whole = self.vertical, self.work.pool if self.work.expands else 1
        first = over(side.stride * (side.tile - 1) + 1 + side.after, whole) * whole
        if side.tiles == 1 or first >= side.size:
            return (side.size,)
        further = side.stride * side.tile
        left = side.size - first
        between = min(side.tiles - 2, over(left, further) - 1)
        return (first, *[further] * between, left - between * further)
