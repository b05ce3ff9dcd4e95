"""Ports of a layer whose engines run at the same time as others: registers, status and streams."""

from __future__ import annotations

from copy import copy
from typing import Any

from merp.hdl.base.interface import DesignPorts, given
from merp.hdl.base.registers import RegisterBundle
from merp.hdl.base.signals import AxiStream, Bundles, Stream, bits, flag
from merp.hdl.base.status import STATUS_WIDTH, Status
from merp.hdl.cnn_merp.ports.delta_ports import delta_status
from merp.hdl.cnn_merp.ports.forward_ports import forward_status
from merp.hdl.cnn_merp.ports.kernel_update_ports import UpdateDesign, kernel_update_status
from merp.models.base.rates import UpdateRule
from merp.models.base.register_map import FLAGS
from merp.models.machines.cnn_merp.params.pipeline_design import (
    EntranceDesign,
    SliceDesign,
)
from merp.models.machines.cnn_merp.params.pipeline_registers import ADMISSION


class AdmissionConfig(RegisterBundle):
    """Run-time registers of admission and of the loss input, from ``ADMISSION``."""

    def __init__(self, design: EntranceDesign) -> None:
        super().__init__(ADMISSION, design)


def with_flags(counters: Any) -> Any:
    """Return a status with the counters of a bundle, and flags of its own."""
    status = copy(counters)
    vars(status).update({name: flag() for name in FLAGS})
    return status


def _counters(status: Status) -> Bundles:
    """Return the fields of a status other than its flags."""
    return Bundles({name: each for name, each in vars(status).items() if name not in FLAGS})


class SliceCounters(Bundles):
    """Counters of a layer: of its engines, and of the words in its stores, current and peak."""

    def __init__(self, design: SliceDesign, momentum: bool) -> None:
        stores = ["features"]
        super().__init__({"fp": _counters(forward_status(design.forward))})
        if design.delta is not None:
            self.dp = _counters(delta_status(design.delta))
        if design.states:
            stores.append("states")
        update = UpdateDesign(design.update, UpdateRule(momentum=momentum), design.expanded)
        self.ku = _counters(kernel_update_status(update))
        for store in stores:
            setattr(self, f"{store}_fill", bits(STATUS_WIDTH))
            setattr(self, f"{store}_peak", bits(STATUS_WIDTH))


class LayerPorts(DesignPorts[SliceDesign]):
    """Ports of a layer of a pipeline; the enclosing block supplies all of them."""

    MEMBERS = (
        given("config", Bundles),
        given("s_axis", Bundles),
        given("m_axis", Bundles),
        given("maps", Stream),
        given("maps_on", AxiStream),
        given("deltas", Stream),
        given("status", Bundles),
        given("states_on", AxiStream, lambda design: design.forward.state),
        given("states", Stream, lambda design: design.states > 0),
        given("deltas_on", AxiStream, lambda design: design.propagation is not None),
        given("sums", AxiStream, lambda design: design.forward.partial),
        given("sums_on", AxiStream, lambda design: design.forward.partial),
    )
