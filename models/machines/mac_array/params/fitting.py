"""Check that a layer fits a design in any phase."""

from __future__ import annotations

from merp.models.machines.mac_array.params.array_pass import NO_LIMIT, ArrayPass
from merp.models.machines.mac_array.params.design import ArrayDesign


def check_fit(work: ArrayPass, design: ArrayDesign) -> None:
    """Compare a pass with the depths and ranges of a design.

    Raises:
        ValueError: the pass does not fit. The message names the quantity and the allowed values.
    """
    for key, value, most in (
        ("kernel", work.kernel, design.max_kernel),
        ("stride", work.stride, design.max_stride),
        ("rows", max(work.rows, work.out_rows), design.max_size),
        ("columns", max(work.columns, work.out_columns), design.max_size),
        ("maps", max(work.inputs, work.outputs), design.max_maps),
        ("kernel words", work.kernel_words(design), design.kernel_words),
        ("map words", work.map_words(design), design.map_words),
    ):
        if value > most:
            raise ValueError(f"{key}: the design has at most {most}, the layer {value}")
    if work.limit < NO_LIMIT and not design.relu6:
        raise ValueError("ReLU6: the design is built for ReLU alone")
    reach = max(work.pad, work.kernel - 1 - work.pad)
    if reach > design.reach:
        raise ValueError(f"pad and kernel - 1 - pad must be at most {design.reach}, not {reach}")
