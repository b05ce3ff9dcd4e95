"""Read a design of the MAC array from its table in a network file."""

from __future__ import annotations

from typing import Any

from merp.models.base.errors import BadInput
from merp.models.base.fixed import FixedFormat
from merp.models.base.toml_section import Section
from merp.models.base.users import Users
from merp.models.machines.mac_array.params.design import ArrayDesign
from merp.models.machines.mac_array.params.design_keys import FLAGS, NUMBERS
from merp.models.machines.mac_array.params.sizing import lacking, passes_of, size_design


def read_design(section: Section, name: str, users: Users) -> ArrayDesign:
    """Read one [design.<name>]. Missing maxima are calculated from the layers that use it.

    Raises:
        BadInput: a key is unknown, a value is out of range, or the design cannot run a layer.
    """
    chosen: dict[str, Any] = {}
    for number in NUMBERS:
        if section.has(number.key) or number.required:
            chosen[number.key] = section.whole(number.key, 1, 1 << 20)  # the design checks the rest
    for flag in FLAGS:
        if section.has(flag.key):
            chosen[flag.key] = flag.read(section)
    section.finish()
    stochastic = isinstance(users.numbers, FixedFormat) and users.numbers.stochastic
    usual = {flag.key: flag.default for flag in FLAGS} | {"stochastic": stochastic}
    where = f"{section.file}: design {name}"
    reach = min(chosen.get("pox", ArrayDesign.pox), chosen.get("poy", ArrayDesign.poy))
    largest = chosen.get("max_kernel", ArrayDesign.most("max_kernel"))
    for layer, use in users.layers.items():
        try:
            passes_of(use, largest, reach)
        except ValueError as error:
            raise BadInput(f"{section.file}: layer {layer}: on design {name}: {error}") from error
    try:
        design = size_design(list(users.layers.values()), usual | chosen)
    except ValueError as error:
        raise BadInput(f"{where}: {error}; without a design a layer is traffic-only") from error
    for layer, use in users.layers.items():
        needed = lacking(use, design)
        if needed is not None:
            raise BadInput(f"{where}: layer {layer}: {needed}")
    return design
