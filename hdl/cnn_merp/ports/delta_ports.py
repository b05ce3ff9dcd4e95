"""Ports of delta propagation, alone and as a half of a pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from merp.hdl.base.interface import DesignPorts, Member, always
from merp.hdl.base.status import Status
from merp.hdl.cnn_merp.ports.deltas import DilateConfig, UnpoolConfig
from merp.hdl.cnn_merp.ports.kernels import KernelConfig, LoadConfig
from merp.hdl.cnn_merp.ports.maps import FoldConfig, MapConfig, PortConfig
from merp.hdl.cnn_merp.ports.outputs import OutputConfig
from merp.hdl.cnn_merp.ports.passes import Half, PassConfig
from merp.hdl.cnn_merp.ports.streams import PASS, half_of, stream
from merp.models.machines.cnn_merp.params.delta_design import DeltaDesign
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.word_counters import (
    ADDED_STATE_WORDS,
    ADDED_WORDS,
    DELTA_WORDS,
    PARTIAL_WORDS,
)

Of = Callable[[Any], Any]


def delta_status(design: DeltaDesign) -> Status:
    """Return the status of delta propagation, with the words (bytes of masks) of each port."""
    return Status(tuple(DeltaPorts.streams_of(design)))


def _engine(design: DeltaDesign) -> EngineDesign:
    return design.engine


def _on_engine(there: Of) -> Of:
    """Check whether the design of the engine has a bundle."""
    return there if there is always else lambda design: there(design.engine)


def _member(name: str, kind: Of, there: Of = always) -> Member[Any]:
    """Define a bundle of the design of the engine, if this design has it."""
    return Member(name, lambda design: kind(design.engine), _on_engine(there), kind=kind)


def _stream(words: str, name: str, there: Of = always) -> Member[Any]:
    return stream("dp", words, name, _on_engine(there), _engine)


def _expands_added(design: DeltaDesign) -> bool:
    return design.add_unpool is not None


class DeltaPorts(DesignPorts[DeltaDesign]):
    """Ports of delta propagation on a design."""

    MEMBERS: ClassVar[tuple[Member[Any], ...]] = (
        _member("map_config", MapConfig),
        _member("load_config", LoadConfig),
        _member("output_config", OutputConfig),
        _member("dilate_config", DilateConfig),
        Member("unpool_config", lambda design: UnpoolConfig(design.unpool), kind=UnpoolConfig),
        _stream("delta_in", "s_axis_delta"),
        _stream("kernel", "s_axis_kernel"),
        _stream("state_in", "s_axis_state"),
        _stream("delta_out", "m_axis_delta"),
        Member("status", delta_status, kind=Status),
        _member("fold_config", FoldConfig, lambda engine: engine.folded),
        _member("pass_config", PassConfig, lambda engine: engine.continues),
        _stream("partial_in", "s_axis_partial", lambda engine: engine.partial),
        _stream("partial_out", "m_axis_partial", lambda engine: engine.partial),
        _member("kernel_config", KernelConfig, lambda engine: engine.widened),
        _member("port_config", PortConfig, lambda engine: engine.map_port > 1),
        _stream("add_in", "s_axis_add", lambda engine: engine.added),
        stream("dp", "add_state_in", "s_axis_add_state", _expands_added, _engine),
        Member(
            "add_unpool_config",
            lambda design: UnpoolConfig(design.add_unpool),
            _expands_added,
            kind=UnpoolConfig,
        ),
    )
    LAST = PASS
    WORDS = (*DELTA_WORDS, *PARTIAL_WORDS, *ADDED_WORDS, *ADDED_STATE_WORDS)


class DeltaHalfPorts(DeltaPorts):
    """Ports of delta propagation as a half of a pass.

    It takes expanded deltas, and sends the kernels to the other half after use.
    """

    MEMBERS: ClassVar[tuple[Member[Any], ...]] = (
        *half_of(
            tuple(
                each
                for each in DeltaPorts.MEMBERS
                if each.name not in ("unpool_config", "s_axis_state")
            ),
            _member("half", Half),
        ),
        _stream("kernel_out", "m_axis_kernel"),
    )
