"""The hardware half of the machine: what it does not name is merp's usual part."""

from __future__ import annotations

from merp.tools.machines.parts import Parts
from merp.tools.machines.usual.simulated import InGroups
from pointwise.design import COUNTERS

SIMULATED = InGroups(unit="multiplier", counters=COUNTERS)

HARDWARE = Parts(
    phases="pointwise.phases:PHASES",
    simulated="pointwise.parts:SIMULATED",
    arithmetic="merp.tools.machines.usual.arithmetic:FloatArithmetic",
)
