"""The hardware half of CNN-MERP."""

from __future__ import annotations

from merp.tools.machines.parts import Parts

HARDWARE = Parts(
    phases="merp.cosim.machines.cnn_merp.phases.phases:PHASES",
    simulated="merp.tools.machines.cnn_merp.simulated:CNN_MERP",
    choose="merp.tools.machines.cnn_merp.choose:choose_layers",
    resized="merp.tools.machines.cnn_merp.choose:resized",
    ways="merp.tools.machines.cnn_merp.tiles.ways:WAYS",
    arithmetic="merp.tools.machines.cnn_merp.arithmetic:EngineArithmetic",
    passes="merp.tools.machines.cnn_merp.in_passes:in_passes",
    blocks="merp.cosim.machines.cnn_merp.blocks:BLOCKS",
    engine="merp.tools.machines.cnn_merp.engine:engine",
    settings="merp.tools.machines.cnn_merp.settings:settings",
    plan="merp.tools.machines.cnn_merp.plan.planned:planned",
    layout="merp.tools.machines.cnn_merp.layout:step_arrays",
    system="merp.tools.machines.cnn_merp.system:planned",
    report="merp.tools.machines.cnn_merp.report.report:REPORT",
    sums="merp.tools.machines.cnn_merp.sums:run_sums",
    explorer="merp.tools.machines.cnn_merp.explore:EXPLORER",
    exported="merp.tools.machines.cnn_merp.exported:EXPORTED",
)
