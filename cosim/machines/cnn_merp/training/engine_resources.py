"""The FPGA resources of the engine of a phase, by the estimate of ``merp plan``."""

from __future__ import annotations

from functools import partial

from merp.cosim.machines.cnn_merp.phases.delta import DeltaPhase
from merp.cosim.machines.cnn_merp.phases.forward import ForwardPhase
from merp.cosim.machines.cnn_merp.phases.kernel_update import KernelUpdate
from merp.models.fpga.resources import Resources
from merp.models.machines.cnn_merp.plan.engines import PlannedEngine


def engine_resources(phase: ForwardPhase | DeltaPhase | KernelUpdate) -> Resources:
    """Return the estimated resources of the engine of a phase, without momentum."""
    engine = partial(PlannedEngine, name=phase.name, phase=phase.name)
    if isinstance(phase, DeltaPhase):
        design = phase.design
        found = engine(design=design.engine, unpool=design.unpool, add_unpool=design.add_unpool)
    else:
        undone = phase.undone if isinstance(phase, KernelUpdate) else None
        found = engine(design=phase.design, unpool=undone)
    return found.resources
