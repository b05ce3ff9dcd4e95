"""Ports of forward propagation, alone and as a half of a pass."""

from __future__ import annotations

from typing import Any, ClassVar

from merp.hdl.base.interface import DesignPorts, Member
from merp.hdl.base.status import Status
from merp.hdl.cnn_merp.ports.kernels import KernelConfig, LoadConfig
from merp.hdl.cnn_merp.ports.maps import FoldConfig, MapConfig, PortConfig
from merp.hdl.cnn_merp.ports.outputs import OutputConfig
from merp.hdl.cnn_merp.ports.passes import AddConfig, Half, PassConfig
from merp.hdl.cnn_merp.ports.streams import PASS, half_of, stream
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.word_counters import (
    ADDED_WORDS,
    FORWARD_STATE_WORDS,
    FORWARD_WORDS,
    PARTIAL_WORDS,
)


def forward_status(design: EngineDesign) -> Status:
    """Return the status of forward propagation, with the words (bytes of masks) of each port."""
    return Status(tuple(ForwardPorts.streams_of(design)))


def _partial(design: EngineDesign) -> bool:
    return design.partial


def _added(design: EngineDesign) -> bool:
    return design.added


class ForwardPorts(DesignPorts[EngineDesign]):
    """Ports of forward propagation on a design."""

    MEMBERS: ClassVar[tuple[Member[Any], ...]] = (
        Member("map_config", MapConfig),
        Member("load_config", LoadConfig),
        Member("output_config", OutputConfig),
        stream("fp", "map_in", "s_axis_map"),
        stream("fp", "kernel", "s_axis_kernel"),
        stream("fp", "bias", "s_axis_bias"),
        stream("fp", "map_out", "m_axis_map"),
        Member("status", forward_status, kind=Status),
        stream("fp", "state_out", "m_axis_state", lambda design: design.state),
        Member("fold_config", FoldConfig, lambda design: design.folded),
        Member("pass_config", PassConfig, lambda design: design.continues),
        stream("fp", "partial_in", "s_axis_partial", _partial),
        stream("fp", "partial_out", "m_axis_partial", _partial),
        Member("kernel_config", KernelConfig, lambda design: design.widened),
        Member("port_config", PortConfig, lambda design: design.map_port > 1),
        stream("fp", "add_in", "s_axis_add", _added),
        Member("add_config", AddConfig, lambda design: design.added and design.map_port > 1),
    )
    LAST = PASS
    WORDS = (*FORWARD_WORDS, *FORWARD_STATE_WORDS, *PARTIAL_WORDS, *ADDED_WORDS)


class ForwardHalfPorts(ForwardPorts):
    """Ports of forward propagation as a half of a pass."""

    MEMBERS: ClassVar[tuple[Member[Any], ...]] = half_of(ForwardPorts.MEMBERS, Member("half", Half))
