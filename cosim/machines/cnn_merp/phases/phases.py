"""The phases of CNN-MERP, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from merp.cosim.machines.cnn_merp.phases.backward import Backward
from merp.cosim.machines.cnn_merp.phases.delta import Delta
from merp.cosim.machines.cnn_merp.phases.forward import Forward
from merp.cosim.machines.cnn_merp.phases.fused_forward import FusedForward
from merp.cosim.machines.cnn_merp.phases.kernel_update import KernelUpdate
from merp.cosim.phases.phase import Phase

PHASES: Mapping[str, Callable[..., Phase]] = {
    each.name: each.of for each in (Forward, FusedForward, Delta, KernelUpdate, Backward)
}
