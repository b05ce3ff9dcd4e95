"""The MAC array of the RTL compiler as a machine."""

from __future__ import annotations

from merp.models.machine.machine import Machine
from merp.models.params.fixed import FixedFormat
from merp.models.params.mac_array.design import Design
from merp.models.params.mac_array.design_keys import KEYS
from merp.models.params.mac_array.design_section import read_design

MACHINE = Machine(
    name="mac_array",
    design=Design,
    numbers=FixedFormat,
    keys=KEYS,
    read=read_design,
    hardware="merp.tools.machines.mac_array.hardware:HARDWARE",
)
