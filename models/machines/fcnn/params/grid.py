"""The walk of a window over streamed maps, which the modules of convolutions have in common.

F-CNN section IV: one window per cycle, with layout N R C B. Every pass walks the same grid. It is
as large as the map or its output, whichever is larger. Passes follow without a gap. The
*centre* is the window that the newest beat completes. It lags the newest beat by the lead.
"""

from __future__ import annotations

from dataclasses import dataclass

from merp.models.base.delta_shape import delta_shape
from merp.models.base.shape import Shape
from merp.models.machines.fcnn.params.stream_design import StreamDesign


@dataclass(frozen=True)
class Grid:
    """A run over all input maps of ``shape``, once for each block of its output maps.

    Attributes:
        shape: the convolution that the module sees. In delta propagation its maps are dilated.
        images: B, the batch.
        design: the module.
        dilation: elements of a map are this number of rows and columns apart; blanks of +0 are
            between them.

    Raises:
        ValueError: the run does not fit the design. The message names the key and the allowed
            values.
    """

    shape: Shape
    images: int
    design: StreamDesign
    dilation: int = 1

    def __post_init__(self) -> None:
        """Check the run against the design."""
        shape, design = self.shape, self.design
        if shape.k != design.k:
            raise ValueError(f"k must be {design.k} on this design, not {shape.k}")
        if self.images < 1 or self.images % design.lanes:
            raise ValueError(f"images must be a multiple of {design.lanes}, not {self.images}")
        if self.dilation > 1 and shape.stride > 1:
            raise ValueError(f"stride must be 1 with dilated maps, not {shape.stride}")
        for key, value, most in (
            ("rows of the map and of its output", self.rows, design.max_rows),
            ("columns of the map and of its output", self.columns, design.max_columns),
            ("input maps", shape.n, design.max_maps),
            ("output maps", shape.m, design.max_maps),
            ("images", self.images, design.max_step * design.lanes),
            ("stride", shape.stride, design.max_stride),
            ("dilation", self.dilation, design.max_stride),
        ):
            if not 1 <= value <= most:
                raise ValueError(f"{key} must be 1 to {most} on this design, not {value}")

    @classmethod
    def of_deltas(cls, layer: Shape, images: int, design: StreamDesign) -> Grid:
        """Return the run of a layer's delta propagation; ``layer`` is its forward shape."""
        return cls(delta_shape(layer), images, design, dilation=layer.stride)

    @property
    def step(self) -> int:
        """Beats of a column, B/G."""
        return self.images // self.design.lanes

    @property
    def blocks(self) -> int:
        """Blocks of up to ``maps_at_once`` output maps."""
        return -(-self.shape.m // self.design.maps_at_once)

    @property
    def last_maps(self) -> int:
        """Output maps of the last block."""
        return self.shape.m - (self.blocks - 1) * self.design.maps_at_once

    @property
    def passes(self) -> int:
        """Passes of the run: each input map for each block."""
        return self.shape.n * self.blocks

    @property
    def rows(self) -> int:
        """Rg, rows of the grid: the map's, or up to the last centre that counts."""
        return max(self.shape.rows, (self.shape.out_rows - 1) * self.shape.stride + 1)

    @property
    def columns(self) -> int:
        """Cg, columns of the grid, as for rows."""
        return max(self.shape.columns, (self.shape.out_columns - 1) * self.shape.stride + 1)

    @property
    def sent_rows(self) -> int:
        """Rows of a map that the stream has, without blanks."""
        return (self.shape.rows - 1) // self.dilation + 1

    @property
    def sent_columns(self) -> int:
        """Columns of a map that the stream has, without blanks."""
        return (self.shape.columns - 1) // self.dilation + 1

    @property
    def map_beats(self) -> int:
        """Beats of a map on the stream."""
        return self.sent_rows * self.sent_columns * self.step

    @property
    def out_beats(self) -> int:
        """Beats of an output map: the centres of a pass that count."""
        return self.shape.out_rows * self.shape.out_columns * self.step

    @property
    def pass_beats(self) -> int:
        """Beats of a pass, with blanks: Rg Cg B/G."""
        return self.rows * self.columns * self.step

    @property
    def lead(self) -> int:
        """Beats before the beat that completes the first window."""
        k, shape = self.design.k, self.shape
        return ((k - 1 - shape.top) * self.columns + k - 1 - shape.left) * self.step

    @property
    def last_centre(self) -> int:
        """Number of beats of a pass before its last centre that counts."""
        shape = self.shape
        rows, columns = ((out - 1) * shape.stride for out in (shape.out_rows, shape.out_columns))
        return (rows * self.columns + columns + 1) * self.step - 1

    @property
    def last_input(self) -> int:
        """Number of beats of a pass before its last beat that takes an input."""
        rows, columns = ((sent - 1) * self.dilation for sent in (self.sent_rows, self.sent_columns))
        return (rows * self.columns + columns + 1) * self.step - 1

    @property
    def beats(self) -> int:
        """Beats of the run, with blanks, up to the last centre or input that counts.

        With stride 1, and an output that is at least as large as the map, they are ``n ceil(M/m) Rg
        Cg B/G + ((k - 1 - top) Cg + k - 1 - left) B/G``.
        """
        last = max(self.lead + self.last_centre, self.last_input)
        return (self.passes - 1) * self.pass_beats + last + 1
