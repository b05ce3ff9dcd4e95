"""The hardware half of the MAC array."""

from __future__ import annotations

from merp.tools.machines.parts import Parts

HARDWARE = Parts(
    phases="merp.cosim.machines.mac_array.phases.phases:PHASES",
    simulated="merp.tools.machines.mac_array.simulated:MAC_ARRAY",
    choose="merp.tools.machines.mac_array.choose:choose_array",
    resized="merp.tools.machines.mac_array.choose:resized",
    ways="merp.tools.machines.mac_array.ways:WAYS",
    arithmetic="merp.tools.machines.mac_array.arithmetic:FixedArithmetic",
    trained="merp.tools.machines.mac_array.saturated:TRAINED",
    formats="merp.tools.machines.mac_array.formats:measure",
    blocks="merp.cosim.machines.mac_array.blocks:BLOCKS",
    engine="merp.tools.machines.mac_array.engine:engine",
    settings="merp.tools.machines.mac_array.settings:settings",
    plan="merp.tools.machines.mac_array.plan:plan",  # always refuses
    report="merp.tools.machines.mac_array.report.report:REPORT",
    layout="merp.tools.machines.mac_array.layout:step_arrays",
    system="merp.tools.machines.mac_array.system:planned",
    firmware="merp.tools.machines.mac_array.firmware:ArrayExamples",
    export="merp.tools.machines.mac_array.export.export:export",
)
