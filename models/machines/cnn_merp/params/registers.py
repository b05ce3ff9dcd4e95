"""Run-time registers of the forward engine, a table per bundle, which defines bundles and ranges.

CNN-MERP section VI.B: sizes change by registers, not by a new bitstream.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from merp.models.base.folded_shape import FoldedShape, filling, run_shape
from merp.models.base.formats import FloatFormat
from merp.models.base.input_part import WHOLE, InputPart
from merp.models.base.nearest import nearest_word
from merp.models.base.register_table import COUNT_MAX, RegisterTable, RunRegister, switch
from merp.models.base.shape import Pool, Shape
from merp.models.base.widened_shape import WidenedShape
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.sizing import groups_of


def reciprocal_square(window: int, fmt: FloatFormat) -> int:
    """Return the bits of RN(1 / window^2), the factor of average pooling.

    Raises:
        ValueError: the factor is below the smallest normal number of the format.
    """
    word = nearest_word(Fraction(1, window * window), fmt)
    if not word:
        raise ValueError(f"1/{window * window} is not a normal number of the format")
    return word


def largest_word(fmt: FloatFormat) -> int:
    """Return the largest word of an element, read as a number."""
    return (1 << fmt.width) - 1


def pairs_across_rows(shape: Shape, design: EngineDesign, images: int) -> bool:
    """Return whether two consecutive positions in different rows (or images) fit the kept rows.

    The first position still protects its first row while the second waits for its last row. Both
    rows must be within the d*k kept rows; otherwise the second position would wait for ever.
    """
    kept = design.d * design.k
    last_top = (shape.out_rows - 1) * shape.stride - shape.top
    in_image = shape.out_rows == 1 or shape.stride + design.k <= kept
    across_images = images == 1 or shape.rows - max(0, last_top) + design.k - shape.top <= kept
    return in_image and across_images


@dataclass(frozen=True)
class EngineRun:
    """A run of ``images`` images of ``shape`` on ``design``, which they fit.

    ``part`` is the part of the layer's input maps that ``shape`` has.
    """

    shape: Shape
    images: int
    design: EngineDesign
    part: InputPart = WHOLE

    @property
    def groups(self) -> int:
        """G: groups of output maps."""
        return groups_of(self.shape, self.design.n_cu)

    @property
    def last_cus(self) -> int:
        """CUs in use in the last group."""
        return self.shape.m - (self.groups - 1) * self.design.n_cu

    @property
    def elements(self) -> int:
        """Words of an image of a folded run; otherwise 1, because each word counts separately."""
        return self.shape.elements if isinstance(self.shape, FoldedShape) else 1

    @property
    def sums(self) -> int:
        """Sums of all images."""
        return self.images * self.shape.out_rows * self.shape.out_columns * self.shape.m

    @property
    def pool(self) -> Pool:
        """Pooling; without pooling, the maximum of a single element."""
        return self.shape.pool or Pool(window=1, stride=1)


LayerRegister = RunRegister[EngineDesign, EngineRun]
LayerTable = RegisterTable[EngineDesign, EngineRun]

# Registers of several bundles.
IMAGES = LayerRegister(
    "images", 1, lambda design: design.max_images, "images of the run",
    lambda run: run.images,
)  # fmt: skip
INPUTS = LayerRegister(
    "inputs", 1, lambda design: design.max_maps, "n, input maps",
    lambda run: run.shape.n,
)  # fmt: skip
GROUPS = LayerRegister(
    "groups", 1, lambda design: design.groups, "G, groups of output maps",
    lambda run: run.groups,
)  # fmt: skip
LAST_CUS = LayerRegister(
    "last_cus", 1, lambda design: design.n_cu, "CUs in use in the last group",
    lambda run: run.last_cus,
)  # fmt: skip

MAP = LayerTable("map_config", (
    IMAGES,
    LayerRegister(
        "rows", 1, lambda design: design.max_size, "rows of an input map",
        lambda run: run.shape.rows,
    ),
    LayerRegister(
        "columns", 1, lambda design: design.max_size, "columns of an input map",
        lambda run: run.shape.columns,
    ),
    INPUTS,
    LayerRegister(
        "out_rows", 1, lambda design: design.max_size, "rows of the convolution's output",
        lambda run: run.shape.out_rows,
    ),
    LayerRegister(
        "out_columns", 1, lambda design: design.max_size, "columns of the convolution's output",
        lambda run: run.shape.out_columns,
    ),
    GROUPS,
    LAST_CUS,
    LayerRegister(
        "stride", 1, lambda design: design.max_stride, "stride of the convolution",
        lambda run: run.shape.stride,
    ),
    LayerRegister(
        "pad", 0, lambda design: design.k - 1, "zeros around the input map",
        lambda run: run.shape.top,
        holds=lambda design: design.k,
    ),
    LayerRegister(
        "rows_mod", 0, lambda design: design.k - 1, "rows mod k",
        lambda run: run.shape.rows % run.design.k,
        holds=lambda design: design.k,
    ),
    LayerRegister(
        "rows_ring", 0, lambda design: design.d - 1, "rows div k mod d",
        lambda run: run.shape.rows // run.design.k % run.design.d,
        holds=lambda design: design.d,
    ),
    LayerRegister(
        "stride_mod", 0, lambda design: design.k - 1, "stride mod k",
        lambda run: run.shape.stride % run.design.k,
        holds=lambda design: design.k,
    ),
    LayerRegister(
        "stride_ring", 0, lambda design: design.d - 1, "stride div k mod d",
        lambda run: run.shape.stride // run.design.k % run.design.d,
        holds=lambda design: design.d,
    ),
    LayerRegister(
        "stride_words", 0, lambda design: design.max_stride // design.k * design.max_maps,
        "stride div k * n (ceil(n / map_port))",
        lambda run: run.shape.stride // run.design.k * run.design.map_words(run.shape.n),
        holds=lambda design: design.max_stride * design.max_maps,
    ),
    switch(
        "pair_rows", "interleaved positions may lie in two rows or images",
        lambda run: pairs_across_rows(run.shape, run.design, run.images),
    ),
))  # fmt: skip
"""Registers of the input side.

A place in the ring of kept rows is (row modulo k, block of k rows modulo d). A step of x rows adds
(x mod k, x div k mod d). Columns are handled in the same way; their blocks are counted in words of
n elements.
"""

SIDES = (
    LayerRegister(
        "pad_left", 0, lambda design: design.k - 1,
        "zeros left of the input map; pad has those above it",
        lambda run: run.shape.left,
        holds=lambda design: design.k,
    ),
    LayerRegister(
        "lower_mod", 0, lambda design: design.k - 1,
        "(pad_left - pad) mod k: rows by which a window begins lower than as far above as left",
        lambda run: (run.shape.left - run.shape.top) % run.design.k,
        holds=lambda design: design.k,
    ),
    LayerRegister(
        "lower_ring", 0, lambda design: design.d - 1, "(pad_left - pad) div k mod d",
        lambda run: (run.shape.left - run.shape.top) // run.design.k % run.design.d,
        holds=lambda design: design.d,
    ),
)  # fmt: skip
"""Registers of a design for different padding above and on the left; ``pad`` is the padding above.

The padding below and on the right follows from the rows and columns of the output.
"""


def with_sides(table: LayerTable, design: EngineDesign) -> LayerTable:
    """Return ``table``, of the input side, for ``design``."""
    return LayerTable(table.bundle, (*table.registers, *SIDES)) if design.sided else table


LOAD = LayerTable("load_config", (INPUTS, GROUPS, LAST_CUS))
"""Registers of the kernel loader."""

OUTPUT = LayerTable("output_config", (
    IMAGES,
    LayerRegister(
        "rows", 1, lambda design: design.max_size, "rows of the convolution's output",
        lambda run: run.shape.out_rows,
    ),
    LayerRegister(
        "columns", 1, lambda design: design.max_size, "columns of the convolution's output",
        lambda run: run.shape.out_columns,
    ),
    GROUPS,
    LAST_CUS,
    switch("relu", "ReLU is on", lambda run: run.shape.relu),
    switch(
        "average", "average pooling, else maximum (1 x 1: no pooling)",
        lambda run: run.pool.kind == "average",
    ),
    LayerRegister(
        "window", 1, lambda design: design.pool_window, "pooling window",
        lambda run: run.pool.window,
    ),
    LayerRegister(
        "stride", 1, lambda design: design.max_stride, "pooling stride",
        lambda run: run.pool.stride,
    ),
    LayerRegister(
        "pooled_rows", 1, lambda design: design.max_size, "rows after pooling",
        lambda run: run.shape.pooled_rows,
    ),
    LayerRegister(
        "pooled_columns", 1, lambda design: design.max_size, "columns after pooling",
        lambda run: run.shape.pooled_columns,
    ),
    LayerRegister(
        "scale", 0, lambda design: largest_word(design.fmt), "word of 1 / window^2",
        lambda run: reciprocal_square(run.pool.window, run.design.fmt),
    ),
))  # fmt: skip
"""Registers of the super layer: ReLU and the geometry of pooling."""

HANGING = (
    LayerRegister(
        "pool_top", 0, lambda design: design.pool_window - 1,
        "rows by which the first pooling windows hang over the edge",
        lambda run: run.pool.top,
    ),
    LayerRegister(
        "pool_left", 0, lambda design: design.pool_window - 1,
        "columns by which the first pooling windows hang over the edge",
        lambda run: run.pool.left,
    ),
    LayerRegister(
        "pool_above", 0, lambda design: (design.pool_window - 1) * design.pool_window,
        "pool_top * window, elements of the first windows above the edge",
        lambda run: run.pool.top * run.pool.window,
    ),
)  # fmt: skip
"""Registers of a design whose pooling windows may extend beyond the edges of the sums.

The overlap below and on the right follows from the rows and columns after pooling.
"""

WALK = (
    LayerRegister(
        "rows", 1, lambda design: design.max_size,
        "rows of the convolution's output, and those behind it that complete windows",
        lambda run: run.shape.out_rows + run.shape.late[0],
    ),
    LayerRegister(
        "columns", 1, lambda design: design.max_size,
        "columns of the convolution's output, and those behind it that complete windows",
        lambda run: run.shape.out_columns + run.shape.late[1],
    ),
)  # fmt: skip
"""Registers of the same names as in ``OUTPUT``, for a design with ``far``."""


def _at_first(run: EngineRun) -> tuple[int, int]:
    return run.pool.at_first(run.shape.out_rows, run.shape.out_columns)


FAR = (
    LayerRegister(
        "pool_open_rows", 1, lambda design: design.pool_overlap,
        "rows of windows that hold the first row of the sums",
        lambda run: _at_first(run)[0],
    ),
    LayerRegister(
        "pool_open_columns", 1, lambda design: design.pool_overlap,
        "columns of windows that hold the first column of the sums",
        lambda run: _at_first(run)[1],
    ),
    LayerRegister(
        "pool_next_row", 1, lambda design: design.max_stride,
        "first row of sums that begins a window (stride - pool_top mod stride)",
        lambda run: run.pool.stride - run.pool.top % run.pool.stride,
    ),
    LayerRegister(
        "pool_next_column", 1, lambda design: design.max_stride,
        "first column of sums that begins a window (stride - pool_left mod stride)",
        lambda run: run.pool.stride - run.pool.left % run.pool.stride,
    ),
    LayerRegister(
        "pool_step", 0, lambda design: (design.pool_window - 1) * design.pool_window,
        "stride * window, elements between the begins of windows that overlap",
        lambda run: run.pool.stride * run.pool.window * (run.pool.stride < run.pool.window),
    ),
    LayerRegister(
        "late_rows", 0, lambda design: design.pool_overlap - 1,
        "rows behind the sums, in each of which windows are completed",
        lambda run: run.shape.late[0],
    ),
    LayerRegister(
        "late_columns", 0, lambda design: design.pool_overlap - 1,
        "columns behind the sums, in each of which windows are completed",
        lambda run: run.shape.late[1],
    ),
)  # fmt: skip
"""More registers of a design whose pooling windows may extend by their stride or more."""


RELU6: tuple[LayerRegister, ...] = (
    switch("relu6", "ReLU also stops at 6", lambda run: run.shape.relu6),
)
"""Registers of a design for ReLU6; they count only while ReLU is on."""

LEAKY: tuple[LayerRegister, ...] = (
    switch("leaky", "ReLU is leaky", lambda run: run.shape.slope != 0),
    LayerRegister(
        "slope", 0, lambda design: largest_word(design.fmt), "word of its slope",
        lambda run: run.shape.slope,
    ),
)  # fmt: skip
"""Registers of a design for leaky ReLU; they count only while ReLU is on."""


def output_table(design: EngineDesign) -> LayerTable:
    """Return ``OUTPUT`` for ``design``."""
    found = OUTPUT.registers
    if design.far:
        others = {register.name: register for register in WALK}
        found = tuple(others.get(register.name, register) for register in found)
    found += (HANGING if design.hanging else ()) + (FAR if design.far else ())
    found += (RELU6 if design.relu6 else ()) + (LEAKY if design.leaky else ())
    return LayerTable(OUTPUT.bundle, found)


FOLD = LayerTable("fold_config", (
    switch(
        "folded", "the layer is fully connected: its elements fill k x k maps one after the other",
        lambda run: isinstance(run.shape, FoldedShape),
    ),
    LayerRegister(
        "elements", 1, lambda design: design.kernel_words * design.taps,
        "words of an image, or of the weights of an output", lambda run: run.elements,
    ),
    LayerRegister(
        "filling", 0, lambda design: design.taps - 1, "zeros that fill up its last map",
        lambda run: filling(run.shape, run.design.k),
    ),
))  # fmt: skip
"""Registers of a design that also runs fully connected layers; other layers are not filled up."""


KERNEL = LayerTable("kernel_config", (
    LayerRegister(
        "size", 1, lambda design: design.k, "rows and columns of a kernel",
        lambda run: run.shape.kernel if isinstance(run.shape, WidenedShape) else run.shape.k,
    ),
))  # fmt: skip
"""Registers of a design that also runs layers with smaller kernels."""


def _elements(run: EngineRun) -> int:
    return run.shape.elements if isinstance(run.shape, FoldedShape) else run.shape.n


def _pixels(run: EngineRun) -> int:
    folded = isinstance(run.shape, FoldedShape)
    return run.images * (1 if folded else run.shape.rows * run.shape.columns)


def most_elements(design: EngineDesign) -> int:
    """Return the largest number of elements of a pixel, or of an image of a folded layer."""
    return max(design.max_maps, design.kernel_words * design.taps if design.folded else 1)


PORT = LayerTable("port_config", (
    LayerRegister(
        "elements", 1, most_elements, "elements of a pixel; of an image of a folded layer",
        _elements,
    ),
    LayerRegister(
        "pixels", 1, lambda design: design.max_images * design.max_size**2,
        "pixels that come in, all images'; images of a folded layer", _pixels,
    ),
    LayerRegister(
        "words", 1, lambda design: design.map_words(design.max_maps), "ceil(n / map_port)",
        lambda run: run.design.map_words(run.shape.n),
    ),
))  # fmt: skip
"""Registers of a design whose maps arrive several elements to a beat."""


PASS = LayerTable("pass_config", (
    switch(
        "partial_in", "sums start at partial sums, not at biases", lambda run: run.part.partial_in
    ),
    switch(
        "partial_out", "sums leave as they are, no maps and no state (ReLU off, window 1)",
        lambda run: run.part.partial_out,
    ),
))  # fmt: skip
"""Registers of a pass over a part of a layer's input maps, on a design for parts."""

ADDED = LayerTable(PASS.bundle, (
    switch("added", "maps that come in are added to the sums", lambda run: run.part.added),
))  # fmt: skip
"""Registers of a run that adds the output of another layer, on a design for additions."""


def pass_table(design: EngineDesign) -> LayerTable:
    """Return the registers of ``PASS`` and ``ADDED`` that ``design`` has."""
    tables = [table for table, built in ((PASS, design.partial), (ADDED, design.added)) if built]
    return LayerTable(PASS.bundle, tuple(each for table in tables for each in table.registers))


def _most_sums(design: EngineDesign) -> int:
    return design.max_images * design.max_size**2 * design.groups * design.n_cu


ADD = LayerTable("add_config", (
    LayerRegister(
        "words", 0, lambda design: min(_most_sums(design), COUNT_MAX),
        "words that are added, in all; 0: none",
        lambda run: run.part.added * run.sums,
        holds=_most_sums,
    ),
))  # fmt: skip
"""Registers of forward propagation on a design that adds maps, several of them to a beat."""


def registers(
    shape: Shape, images: int, design: EngineDesign, part: InputPart = WHOLE
) -> dict[str, int]:
    """Return the value of every configuration port, by flattened name, for one run.

    The caller has checked that the shape, and its part of the input maps, fit the design.
    """
    run = EngineRun(run_shape(shape, design.k), images, design, part)
    plain = replace(run.shape, relu=False, pool=None)  # partial sums skip ReLU and pooling
    output = replace(run, shape=plain) if part.partial_out else run
    values = with_sides(MAP, design).values(run) | LOAD.values(run)
    values |= output_table(design).values(output)
    values |= FOLD.values(run) if design.folded else {}
    values |= KERNEL.values(run) if design.widened else {}
    values |= PORT.values(run) if design.map_port > 1 else {}
    return values | pass_table(design).values(run)
