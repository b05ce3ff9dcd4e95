"""The phases of CNN-MERP, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from merp.cosim.machines.cnn_merp.phases.backward import Backward
from merp.cosim.machines.cnn_merp.phases.delta import DeltaPhase
from merp.cosim.machines.cnn_merp.phases.forward import ForwardPhase
from merp.cosim.machines.cnn_merp.phases.fused_forward import FusedForward
from merp.cosim.machines.cnn_merp.phases.kernel_update import KernelUpdate
from merp.cosim.phases.phase import HardwarePhase

PHASES: Mapping[str, Callable[..., HardwarePhase]] = {
    each.name: each.of for each in (ForwardPhase, FusedForward, DeltaPhase, KernelUpdate, Backward)
}
