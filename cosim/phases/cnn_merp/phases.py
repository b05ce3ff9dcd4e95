"""The phases of CNN-MERP, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from merp.cosim.phases.cnn_merp.backward import Backward
from merp.cosim.phases.cnn_merp.delta import Delta
from merp.cosim.phases.cnn_merp.forward import Forward
from merp.cosim.phases.cnn_merp.fused_forward import FusedForward
from merp.cosim.phases.cnn_merp.kernel_update import KernelUpdate
from merp.cosim.phases.phase import Phase

PHASES: Mapping[str, Callable[..., Phase]] = {
    each.name: each.of for each in (Forward, FusedForward, Delta, KernelUpdate, Backward)
}
