"""The hardware half of CNN-MERP."""

from __future__ import annotations

from merp.tools.machines.parts import Parts

HARDWARE = Parts(
    phases="merp.cosim.machines.cnn_merp.phases.phases:PHASES",
    simulated="merp.tools.simulate.cnn_merp:CNN_MERP",
    choose="merp.tools.simulate.choose:choose_layers",
    arithmetic="merp.tools.machines.cnn_merp.arithmetic:FloatArithmetic",
    engine="merp.tools.machines.cnn_merp.engine:engine",
    settings="merp.tools.machines.cnn_merp.settings:settings",
    report="merp.tools.machines.cnn_merp.report.report:REPORT",
    export="merp.tools.machines.cnn_merp.export:export",
)
