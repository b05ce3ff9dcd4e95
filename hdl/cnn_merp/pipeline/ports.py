"""What a pipeline is told and tells: registers of admission, and the status of every engine."""

from __future__ import annotations

from merp.hdl.base.signals import Bundles, bits, flag
from merp.hdl.base.status import STATUS_WIDTH
from merp.hdl.cnn_merp.ports.slice_ports import SliceCounters
from merp.models.base.register_map import FLAGS
from merp.models.machines.cnn_merp.params.pipeline_design import (
    PipelineDesign,
)


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
