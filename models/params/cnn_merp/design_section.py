"""Read a design of CNN-MERP from its table in a network file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from merp.models.errors import BadInput
from merp.models.params.cnn_merp.design import Design
from merp.models.params.cnn_merp.sizing import (
    MAX_KERNEL_ELEMENTS,
    MAXIMA,
    check_fits,
    check_memories,
    size_design,
)
from merp.models.params.formats import FloatFormat
from merp.models.params.shape import Shape
from merp.models.params.summation import CU_KINDS, KU_KINDS
from merp.models.params.toml_section import Section

CHOICES = (
    "k", "n_cu", "r", "p", "d", "fused_dsp", "fused_window", "accumulator_precision", "ku_lanes",
    "mul_latency", "add_latency", "max_images",
)  # fmt: skip


def read_design(
    section: Section, name: str, users: Mapping[str, Shape], fmt: FloatFormat
) -> Design:
    """Read one [design.<name>]; maxima that it does not give follow from its layers.

    ``users``: the shapes of those layers, by name.

    Raises:
        BadInput: an unknown key, a value out of range, or a layer that it cannot run.
    """
    chosen: dict[str, Any] = {
        "cu_kind": section.choice("cu_kind", CU_KINDS, CU_KINDS[0]),
        "ku_kind": section.choice("ku_kind", KU_KINDS, KU_KINDS[0]),
    }
    for key in (*CHOICES, *MAXIMA):
        if section.has(key) or key in ("k", "n_cu"):
            chosen[key] = section.whole(key, 1, 1 << 20)
    if section.has("average"):
        chosen["average"] = section.flag("average", False)
    section.finish()
    try:
        design = size_design(list(users.values()), fmt=fmt, **chosen)
        check_memories(design)
    except ValueError as error:
        raise BadInput(f"{section.file}: design {name}: {error}") from error
    elements = design.n_cu * design.kernel_words * design.taps
    if elements > MAX_KERNEL_ELEMENTS:
        raise BadInput(
            f"{section.file}: design {name}: kernel memories of {elements} elements: at most "
            f"{MAX_KERNEL_ELEMENTS} are allowed; without a design the layer is traffic-only"
        )
    for layer, shape in users.items():
        check_fits(shape, 1, design, f"{section.file}: layer {layer}")
    return design
