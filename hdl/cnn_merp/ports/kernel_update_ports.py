"""Ports of the kernel update, alone and as a half of a pass."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

from merp.hdl.base.interface import DesignPorts, Member
from merp.hdl.base.status import Status
from merp.hdl.cnn_merp.ports.deltas import UnpoolConfig
from merp.hdl.cnn_merp.ports.gradients import UpdateConfig
from merp.hdl.cnn_merp.ports.kernels import KernelConfig
from merp.hdl.cnn_merp.ports.maps import (
    FoldConfig,
    GradientMapConfig,
    UpdatePortConfig,
    fold_config,
    map_config,
)
from merp.hdl.cnn_merp.ports.passes import Half, UpdatePassConfig
from merp.hdl.cnn_merp.ports.streams import half_of, stream
from merp.models.base.rates import PLAIN, UpdateRule
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.unpool_design import UnpoolDesign
from merp.models.machines.cnn_merp.params.word_counters import (
    KERNEL_UPDATE_STATE_WORDS,
    KERNEL_UPDATE_WORDS,
    VELOCITY_WORDS,
)


class UpdateDesign(NamedTuple):
    """Elaboration of the kernel update.

    Attributes:
        engine: design of its arrays.
        rule: rule of the update.
        unpool: un-pooling in front of it, for deltas that arrive at pooled resolution.
    """

    engine: EngineDesign
    rule: UpdateRule = PLAIN
    unpool: UnpoolDesign | None = None


def kernel_update_status(design: UpdateDesign) -> Status:
    """Return the status of the kernel update, with the words (bytes of masks) of each port."""
    return Status(tuple(KernelUpdatePorts.streams_of(design)))


def _engine(design: UpdateDesign) -> EngineDesign:
    return design.engine


def _momentum(design: UpdateDesign) -> bool:
    return design.rule.momentum


def _expands(design: UpdateDesign) -> bool:
    return design.unpool is not None


def _stream(words: str, name: str) -> Member[Any]:
    return stream("ku", words, name, engine=_engine)


def _velocity(words: str, name: str) -> Member[Any]:
    return stream("ku", words, name, _momentum, _engine)


class KernelUpdatePorts(DesignPorts[UpdateDesign]):
    """Ports of the kernel update on a design."""

    MEMBERS: ClassVar[tuple[Member[Any], ...]] = (
        Member("map_config", lambda design: map_config(design.engine), kind=GradientMapConfig),
        Member(
            "update_config",
            lambda design: UpdateConfig(design.engine, design.rule),
            kind=UpdateConfig,
        ),
        _stream("map_in", "s_axis_map"),
        _stream("delta_in", "s_axis_delta"),
        _stream("kernel", "s_axis_kernel"),
        _stream("bias", "s_axis_bias"),
        _stream("kernel_out", "m_axis_kernel"),
        _stream("bias_out", "m_axis_bias"),
        Member("status", kernel_update_status, kind=Status),
        _velocity("kernel_velocity_in", "s_axis_kernel_velocity"),
        _velocity("bias_velocity_in", "s_axis_bias_velocity"),
        _velocity("kernel_velocity_out", "m_axis_kernel_velocity"),
        _velocity("bias_velocity_out", "m_axis_bias_velocity"),
        Member(
            "unpool_config", lambda design: UnpoolConfig(design.unpool), _expands, kind=UnpoolConfig
        ),
        stream("ku", "state_in", "s_axis_state", _expands, _engine),
        Member(
            "pass_config",
            lambda design: UpdatePassConfig(design.engine),
            lambda design: design.engine.partial,
            kind=UpdatePassConfig,
        ),
        Member(
            "fold_config",
            lambda design: fold_config(design.engine),
            lambda design: design.engine.folded,
            kind=FoldConfig,
        ),
        Member(
            "kernel_config",
            lambda design: KernelConfig(design.engine),
            lambda design: design.engine.widened,
            kind=KernelConfig,
        ),
        Member(
            "port_config",
            lambda design: UpdatePortConfig(design.engine),
            lambda design: design.engine.map_port > 1,
            kind=UpdatePortConfig,
        ),
    )
    WORDS = (*KERNEL_UPDATE_WORDS, *VELOCITY_WORDS, *KERNEL_UPDATE_STATE_WORDS)

    @property
    def counted(self) -> dict[str, str]:
        """Return the stream of each word counter, in the order of status."""
        found = super().counted
        return {words: found[words] for words in self.WORDS if words in found}


class KernelUpdateHalfPorts(KernelUpdatePorts):
    """Ports of the kernel update as a half of a pass, which takes expanded deltas."""

    MEMBERS: ClassVar[tuple[Member[Any], ...]] = half_of(
        KernelUpdatePorts.MEMBERS, Member("half", lambda design: Half(design.engine), kind=Half)
    )
