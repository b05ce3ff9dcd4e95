"""The hardware half of F-CNN."""

from __future__ import annotations

from merp.tools.machines.parts import Parts

HARDWARE = Parts(
    phases="merp.cosim.machines.fcnn.phases:PHASES",
    simulated="merp.tools.machines.fcnn.simulated:SIMULATED",
    choose="merp.tools.machines.fcnn.choose:choose",
    settings="merp.tools.machines.fcnn.settings:settings",
    report="merp.tools.machines.fcnn.report:REPORT",
    exported="merp.tools.machines.fcnn.exported:EXPORTED",
    arithmetic="merp.tools.machines.fcnn.arithmetic:FcnnArithmetic",
)
