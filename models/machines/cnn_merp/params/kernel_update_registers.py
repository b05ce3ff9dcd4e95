"""Run-time registers of a kernel update, and its minimum distances in time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from merp.models.base.folded_shape import FoldedShape, run_shape
from merp.models.base.input_part import WHOLE, InputPart
from merp.models.base.rates import Rates, UpdateRule
from merp.models.base.register_table import RegisterTable, RunRegister, switch
from merp.models.base.shape import Shape
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.image_rows import ImageRows, image_rows
from merp.models.machines.cnn_merp.params.registers import (
    FOLD,
    KERNEL,
    MAP,
    PASS,
    PORT,
    EngineRun,
    LayerRegister,
    LayerTable,
    largest_word,
    with_sides,
)
from merp.models.machines.cnn_merp.params.row import row_latency, steps
from merp.models.machines.cnn_merp.params.sizing import groups_of


def revisit_cycles(design: EngineDesign) -> int:
    """Return L, the cycles until the same gradient may be added to again.

    L is the adder, one cycle for the read of the memory and one for the write. Nothing is
    forwarded, because a forwarding multiplexer would be as wide as the window.
    """
    return design.add_latency + 2


def gradient_latency(design: EngineDesign) -> int:
    """Return the cycles from a slot at the array's input to the write of its last gradients."""
    if design.ku_kind == "row":
        return row_latency(design)
    return 1 + design.mul_latency + design.add_latency


def delta_beats(shape: Shape, design: EngineDesign) -> int:
    """Return the cycles in which the deltas of a position are read."""
    return -(-shape.m // design.delta_beat)


def row_revisit_cycles(design: EngineDesign) -> int:
    """Return the cycles between two sweeps of the same kernel; a deep memory is read in two
    cycles.
    """
    return revisit_cycles(design) + 1


def longest_rest(design: EngineDesign) -> int:
    """Return the largest value of the register ``rest``."""
    if design.ku_kind == "row":
        return max(steps(design), row_revisit_cycles(design)) - 1
    return revisit_cycles(design)


def sweeps_of(shape: Shape, design: EngineDesign) -> int:
    """Return the kernel words, n*G; each is a slot of a position, or a sweep along a row."""
    return shape.n * groups_of(shape, design.n_cu)


def row_rest(shape: Shape, design: EngineDesign, columns: int | None = None) -> int:
    """Return the idle cycles after each sweep along a row of ``columns``, by default the shape's.

    The sums of the next sweep must not be finished before those of this sweep were read out. The
    same kernel must not be swept again before ``row_revisit_cycles``.
    """
    period = max(steps(design), -(-row_revisit_cycles(design) // sweeps_of(shape, design)))
    return max(0, period - (columns or shape.out_columns))


REST = LayerRegister(
    "rest", 0, longest_rest, "idle cycles after a position or sweep",
    lambda run: max(0, revisit_cycles(run.design) - sweeps_of(run.shape, run.design)),
)  # fmt: skip
DELTA_REST = LayerRegister(
    "delta_rest", 0, revisit_cycles, "idle cycles after a position's last delta word",
    lambda run: max(0, revisit_cycles(run.design) - delta_beats(run.shape, run.design)),
)  # fmt: skip
SWEEPS = LayerRegister(
    "sweeps", 1, lambda design: design.kernel_words, "sweeps of a row, n * G",
    lambda run: sweeps_of(run.shape, run.design),
)  # fmt: skip

GRADIENT_MAP = LayerTable(MAP.bundle, (*MAP.registers, REST, DELTA_REST))
"""Registers of an input side whose slots accumulate over positions instead of input maps."""

_BY_ROW: Mapping[str, Callable[[EngineRun], int]] = {
    "pair_rows": lambda run: 0,
    "rest": lambda run: row_rest(run.shape, run.design),
}

ROW_MAP = LayerTable(MAP.bundle, (
    *(replace(each, value=_BY_ROW.get(each.name, each.value)) for each in GRADIENT_MAP.registers),
    SWEEPS,
))  # fmt: skip
"""The same registers if a row of positions is swept for each kernel; rest follows each sweep."""


def _rows(run: EngineRun) -> ImageRows | None:
    """Return the rows of images of a run, if it is folded."""
    shape = run.shape
    return image_rows(shape, run.images, run.design) if isinstance(shape, FoldedShape) else None


def _first_images(run: EngineRun) -> int:
    rows = _rows(run)
    return rows.first if rows else run.shape.out_columns


FOLD_ROWS = LayerTable(FOLD.bundle, (
    *FOLD.registers,
    LayerRegister(
        "row_maps", 1, lambda design: design.row_words * design.map_port,
        "folded maps of a row of images, all images'",
        lambda run: run.shape.n * (rows.shape.out_columns if (rows := _rows(run)) else 1),
    ),
    LayerRegister(
        "first_row_maps", 1, lambda design: design.row_words * design.map_port,
        "the same of the first row",
        lambda run: run.shape.n * (rows.first if (rows := _rows(run)) else 1),
    ),
    LayerRegister(
        "first_images", 1, lambda design: design.max_size,
        "columns of the first row: its images, where the layer is fully connected", _first_images,
    ),
    LayerRegister(
        "first_rest", 0, longest_rest, "idle cycles after each sweep of the first row",
        lambda run: row_rest(run.shape, run.design, _first_images(run)),
    ),
))  # fmt: skip
"""Registers of an update in which images form the columns of a row."""


UPDATE_PORT = LayerTable(PORT.bundle, (
    *PORT.registers,
    LayerRegister(
        "deltas", 1, lambda design: design.groups * design.n_cu, "m, deltas of a position",
        lambda run: run.shape.m,
    ),
    LayerRegister(
        "positions", 1, lambda design: design.max_images * design.max_size**2,
        "positions of the run, all images'",
        lambda run: run.images * run.shape.out_rows * run.shape.out_columns,
    ),
    LayerRegister(
        "last_beats", 1, lambda design: design.n_cu // design.delta_beat,
        "beats of deltas of the last group",
        lambda run: -(-run.last_cus // run.design.delta_beat),
    ),
))  # fmt: skip
"""Registers of an update whose deltas also arrive several to a beat."""


UPDATE_PASS = LayerTable(PASS.bundle, (
    switch(
        "biases", "biases are read and updated, too, or their gradients come out",
        lambda run: run.part.biases,
    ),
))  # fmt: skip
"""Registers of a pass over a part of a layer's input maps; one of the parts updates the biases."""


@dataclass(frozen=True)
class UpdateRun:
    """The task of an update: words of its factors, and whether it outputs new kernels and
    biases.
    """

    update: bool
    rates: Rates


UpdateRegister = RunRegister[EngineDesign, UpdateRun]
UpdateTable = RegisterTable[EngineDesign, UpdateRun]

_UPDATE: UpdateRegister = switch(
    "update", "new kernels and biases come out, else their gradients",
    lambda run: run.update,
)  # fmt: skip
_RATE = UpdateRegister(
    "rate", 0, lambda design: largest_word(design.fmt), "word of the learning rate",
    lambda run: run.rates.rate,
)  # fmt: skip
_MOMENTUM = UpdateRegister(
    "momentum", 0, lambda design: largest_word(design.fmt), "word of the momentum factor",
    lambda run: run.rates.momentum,
)  # fmt: skip
_WEIGHT_DECAY = UpdateRegister(
    "weight_decay", 0, lambda design: largest_word(design.fmt), "word of the weight decay factor",
    lambda run: run.rates.weight_decay,
)  # fmt: skip


def update_table(rule: UpdateRule) -> UpdateTable:
    """Return the registers of the update unit; ``rule`` gives the parts that are built."""
    momentum = (_MOMENTUM,) if rule.momentum else ()
    weight_decay = (_WEIGHT_DECAY,) if rule.weight_decay else ()
    return UpdateTable("update_config", (_UPDATE, _RATE, *momentum, *weight_decay))


def kernel_update_registers(
    shape: Shape,
    images: int,
    design: EngineDesign,
    rates: Rates,
    update: bool = True,
    part: InputPart = WHOLE,
) -> dict[str, int]:
    """Return the value of every configuration port, by flattened name, for one run.

    Args:
        shape: one group of the layer, as in forward propagation.
        images: the batch.
        design: the design; the run fits it.
        rates: words of the factors; factors of +0 are not built.
        update: whether new kernels and biases are output; otherwise their gradients are.
        part: the part of the layer's input maps that ``shape`` has.
    """
    run = EngineRun(run_shape(shape, design.k), images, design, part)
    kernel = KERNEL.values(run) if design.widened else {}
    by_row = design.ku_kind == "row"
    folding = (FOLD_ROWS if by_row else FOLD).values(run) if design.folded else {}
    folding |= UPDATE_PORT.values(run) if design.map_port > 1 else {}
    rows = _rows(run)
    if by_row and rows is not None:
        run = replace(run, shape=rows.shape, images=rows.rows)
    values = with_sides(ROW_MAP if by_row else GRADIENT_MAP, design).values(run) | kernel | folding
    values |= update_table(rates.rule).values(UpdateRun(update, rates))
    if design.partial:
        values |= UPDATE_PASS.values(run)
    return values
