"""What a pipeline is told and tells: registers of admission, and the status of every engine."""

from __future__ import annotations

from copy import copy
from typing import Any

from merp.hdl.base.registers import RegisterBundle
from merp.hdl.base.signals import Bundles, bits, flag
from merp.hdl.base.status import STATUS_WIDTH, Status
from merp.hdl.cnn_merp.ports.status import DeltaStatus, ForwardStatus, KernelUpdateStatus
from merp.models.base.register_map import FLAGS
from merp.models.machines.cnn_merp.params.pipeline_design import (
    EntranceDesign,
    PipelineDesign,
    SliceDesign,
)
from merp.models.machines.cnn_merp.params.pipeline_registers import ADMISSION


class AdmissionConfig(RegisterBundle):
    """Run-time registers of admission and of the loss's entrance, those of ``ADMISSION``."""

    def __init__(self, design: EntranceDesign) -> None:
        super().__init__(ADMISSION, design)


def with_flags(counters: Any) -> Any:
    """A status, of the counters that a bundle has, and of flags of its own."""
    status = copy(counters)
    vars(status).update({name: flag() for name in FLAGS})
    return status


def _counters(status: Status) -> Bundles:
    """What a status has beside its flags."""
    return Bundles({name: each for name, each in vars(status).items() if name not in FLAGS})


class SliceCounters(Bundles):
    """Counters of a layer: of its engines, and of words in its stores, now and at most."""

    def __init__(self, design: SliceDesign, momentum: bool) -> None:
        stores = ["features"]
        forward, before = design.forward, design.expanded is not None
        super().__init__({"fp": _counters(ForwardStatus(forward.state, forward.partial))})
        if design.propagation is not None:
            self.dp = _counters(DeltaStatus())
        if design.states:
            stores.append("states")
        self.ku = _counters(KernelUpdateStatus(momentum, before))
        for store in stores:
            setattr(self, f"{store}_fill", bits(STATUS_WIDTH))
            setattr(self, f"{store}_peak", bits(STATUS_WIDTH))


class PipelineStatus(Bundles):
    """Status of a pipeline: flags, images on their way, and the counters of every layer.

    busy           out  an engine's run is under way
    done           out  every engine is done; until the next start
    framing_error  out  an input's last came early or late; until the next start
    flight         out  images on their way
    flight_peak    out  how many there were at most, since start
    """

    def __init__(self, design: PipelineDesign, momentum: bool = False) -> None:
        super().__init__({name: flag() for name in FLAGS})
        self.flight, self.flight_peak = bits(STATUS_WIDTH), bits(STATUS_WIDTH)
        for place, each in enumerate(design.slices, 1):
            setattr(self, f"layer{place}", SliceCounters(each, momentum))
