"""Read a design of CNN-MERP from its table in a network file."""

from __future__ import annotations

from typing import Any

from merp.models.base.errors import BadInput
from merp.models.base.toml_section import Section
from merp.models.base.users import Users
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.design_keys import (
    AVERAGE,
    CU_KIND,
    KU_KIND,
    NUMBERS,
    PARTIAL,
)
from merp.models.machines.cnn_merp.params.sizing import (
    MAX_KERNEL_ELEMENTS,
    check_fits,
    check_memories,
    size_design,
)


def read_design(section: Section, name: str, users: Users) -> EngineDesign:
    """Read one [design.<name>]; missing maxima follow from its layers.

    Raises:
        BadInput: an unknown key, a value out of range, or a layer that the design cannot run.
    """
    chosen: dict[str, Any] = {each.key: each.read(section) for each in (CU_KIND, KU_KIND)}
    for number in NUMBERS:
        if section.has(number.key) or number.required:
            chosen[number.key] = section.whole(number.key, 1, 1 << 20)  # ``Design`` checks limits
    if section.has(AVERAGE.key):
        chosen[AVERAGE.key] = AVERAGE.read(section)
    chosen[PARTIAL.key] = PARTIAL.read(section)
    chosen |= {"fmt": users.numbers, "added": users.added, "storage": users.storage}
    section.finish()
    try:
        design = size_design(list(users.shapes.values()), **chosen)
        check_memories(design)
    except ValueError as error:
        raise BadInput(f"{section.file}: design {name}: {error}") from error
    elements = design.n_cu * design.kernel_words * design.taps
    if elements > MAX_KERNEL_ELEMENTS:
        raise BadInput(
            f"{section.file}: design {name}: kernel memories of {elements} elements: at most "
            f"{MAX_KERNEL_ELEMENTS} are allowed; without a design the layer is traffic-only"
        )
    for layer, shape in users.shapes.items():
        check_fits(shape, 1, design, f"{section.file}: layer {layer}")
    return design
