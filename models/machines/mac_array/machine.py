"""The MAC array of the RTL compiler as a machine."""

from __future__ import annotations

from merp.models.base.fixed import FixedFormat
from merp.models.base.shape import NO_ACTIVATION, RELU6, RELU_ONLY
from merp.models.machines.mac_array.params.design import ArrayDesign
from merp.models.machines.mac_array.params.design_keys import KEYS
from merp.models.machines.mac_array.params.design_section import read_design
from merp.models.network.machine import Machine
from merp.models.network.phases import DP, FP, KU

MACHINE = Machine(
    name="mac-array",
    design=ArrayDesign,
    numbers=FixedFormat,
    keys=KEYS,
    read=read_design,
    phases=(FP, DP, KU),
    activations=(RELU_ONLY, RELU6, NO_ACTIVATION),
    comparison="merp.models.machines.mac_array.comparison.architecture:ARCHITECTURE",
    bytes="merp.models.machines.mac_array.bytes:BYTES",
    hardware="merp.tools.machines.mac_array.hardware:HARDWARE",
)
