"""The hardware half of the chain."""

from __future__ import annotations

from merp.tools.machines.parts import Parts

HARDWARE = Parts(
    course="merp.tools.machines.cnn_merp.chain.course:course",
    arithmetic="merp.tools.machines.cnn_merp.chain.training:ChainArithmetic",
    calling="merp.tools.machines.cnn_merp.chain.calling:calling",
    trained="merp.tools.machines.cnn_merp.chain.trained:TRAINED",
    export="merp.tools.machines.cnn_merp.chain.export:export",
)
