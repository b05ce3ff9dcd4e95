"""CNN-MERP as a machine."""

from __future__ import annotations

from merp.models.machine.machine import Machine
from merp.models.params.cnn_merp.design import Design
from merp.models.params.cnn_merp.design_keys import KEYS
from merp.models.params.cnn_merp.design_section import read_design
from merp.models.params.formats import FloatFormat

MACHINE = Machine(
    name="cnn_merp",
    design=Design,
    numbers=FloatFormat,
    keys=KEYS,
    read=read_design,
    hardware="merp.tools.machines.cnn_merp.hardware:HARDWARE",
)
