"""Registers and status of a pipeline: admission, and the status of every engine."""

from __future__ import annotations

from merp.hdl.base.signals import Bundles, bits, flag
from merp.hdl.base.status import STATUS_WIDTH
from merp.hdl.cnn_merp.ports.slice_ports import SliceCounters
from merp.models.base.register_map import FLAGS
from merp.models.machines.cnn_merp.params.pipeline_design import (
    PipelineDesign,
)


class PipelineStatus(Bundles):
    """Status of a pipeline: flags, number of images, and the counters of every layer.

    busy           out  a run of an engine is in progress
    done           out  every engine is done; until the next start
    framing_error  out  the last of an input was early or late; until the next start
    flight         out  number of images inside
    flight_peak    out  the largest number of images inside, since start
    """

    def __init__(self, design: PipelineDesign, momentum: bool = False) -> None:
        super().__init__({name: flag() for name in FLAGS})
        self.flight, self.flight_peak = bits(STATUS_WIDTH), bits(STATUS_WIDTH)
        for place, each in enumerate(design.slices, 1):
            setattr(self, f"layer{place}", SliceCounters(each, momentum))
