"""A pass of FP or DP as the supply side sees it: maps in, a window that moves over them, maps out.

The RTL compiler's paper, sections III.B to III.D. In DP deltas come in, the output maps' in the
place of input maps, and the window is the kernel turned by 180 degrees; so both are the same walk.
"""

from __future__ import annotations

from dataclasses import dataclass

from merp.models.machines.mac_array.params.array_pass import ArrayPass
from merp.models.machines.mac_array.params.design import ArrayDesign, over
from merp.models.machines.mac_array.params.fitting import check_fit


@dataclass(frozen=True)
class PassSide:
    """Rows or columns of a pass.

    Attributes:
        size: of a map that comes in. out: of one that leaves. tile: pixels of the array.
        stride, pad: of the window, in the first phase. after: elements beyond that of a pixel that
            its windows reach, in the last phase.
        phases: of the pixels that leave, by their place modulo the stride of DP; a tile is one of
            a phase.
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
        """Tiles that cover what leaves of a phase, the first one, which has the most."""
        return over(over(self.out, self.phases), self.tile)

    @property
    def whole(self) -> int:
        """What each phase has of what leaves."""
        return self.out // self.phases

    @property
    def more(self) -> int:
        """Phases, the first ones, that have one more."""
        return self.out % self.phases

    @property
    def last(self) -> int:
        """What the last tile has of ``whole``."""
        return self.whole - (self.tiles - 1) * self.tile

    @property
    def blocks(self) -> int:
        """Blocks of ``tile`` banks that a map takes: its elements of a phase, in tiles."""
        return over(over(self.size, self.stride), self.tile)

    @property
    def split(self) -> int:
        """Bank of the first window's first element."""
        return -over(self.pad, self.stride) % self.tile

    @property
    def phase(self) -> int:
        """Phase of that element: its place modulo the stride."""
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
            raise ValueError(f"loss {work.loss}: the design has no unit of losses")
        if work.phase != "fp" or (work.out_rows, work.out_columns) != (1, 1):
            raise ValueError(
                f"loss {work.loss}: only fp of a layer whose sums are a word of each class has one"
            )

    @property
    def transposed(self) -> bool:
        """Whether kernels are read by columns."""
        return self.work.phase == "dp"

    @property
    def phases(self) -> int:
        """Phases of the pixels that leave, along rows and along columns."""
        return self.work.stride if self.transposed else 1

    @property
    def first_tap(self) -> int:
        """Row and column of the first tap of the first phase, the last one that it meets in DP."""
        last = self.work.kernel - 1
        return last - (last - self.work.pad) % self.phases

    @property
    def maps(self) -> int:
        """Maps that come in."""
        return self.work.outputs if self.transposed else self.work.inputs

    @property
    def out_maps(self) -> int:
        """Maps that leave."""
        return self.work.inputs if self.transposed else self.work.outputs

    @property
    def groups(self) -> int:
        """Tiles of lanes that cover the maps that leave."""
        return over(self.out_maps, self.design.pof)

    @property
    def last_lanes(self) -> int:
        """Lanes in use in the last of them."""
        return self.out_maps - (self.groups - 1) * self.design.pof

    @property
    def out_pool(self) -> int:
        """Pooling window at the output."""
        return self.work.pool if self.work.phase == "fp" and self.work.fused else 1

    @property
    def out_atoms(self) -> int:
        """Atoms that leave."""
        rows, columns = self.vertical.out // self.out_pool, self.horizontal.out // self.out_pool
        return self.out_maps * rows * self.design.column_blocks(columns)

    @property
    def mask_atoms(self) -> int:
        """Atoms whose masks FP writes, or DP reads: those of maps that ReLU has made."""
        return self.out_atoms if self.work.relu else 0

    @property
    def index_atoms(self) -> int:
        """Atoms whose maxima have a place that is written."""
        return self.out_atoms if self.out_pool > 1 else 0

    @property
    def vertical(self) -> PassSide:
        """Rows."""
        out = self.work.delta_rows if self.transposed else self.work.out_rows
        return self._side(self.work.rows, out, self.design.poy)

    @property
    def horizontal(self) -> PassSide:
        """Columns."""
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
        """CB: atoms of a row that comes in."""
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
        """RB: blocks of rows that are kept."""
        return self.work.block_rows(self.design)

    @property
    def load_rows(self) -> tuple[int, ...]:
        """Rows of each load band, those left out that have none.

        The first band is what the first band of windows needs, each further one moves on as far as
        a band of windows does, and the last one has what is left. Expanded deltas come in whole
        windows of pooling.
        """
        side, whole = self.vertical, self.work.pool if self.work.expands else 1
        first = over(side.stride * (side.tile - 1) + 1 + side.after, whole) * whole
        if side.tiles == 1 or first >= side.size:
            return (side.size,)
        further = side.stride * side.tile
        left = side.size - first
        between = min(side.tiles - 2, over(left, further) - 1)
        return (first, *[further] * between, left - between * further)
