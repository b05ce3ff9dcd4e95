"""Ports of both backward phases in one pass."""

from __future__ import annotations

from typing import Any, NamedTuple

from merp.hdl.base.interface import DesignPorts, Member
from merp.hdl.cnn_merp.ports.deltas import DilateConfig, UnpoolConfig
from merp.hdl.cnn_merp.ports.gradients import UpdateConfig
from merp.hdl.cnn_merp.ports.kernels import LoadConfig
from merp.hdl.cnn_merp.ports.maps import GradientMapConfig, MapConfig, map_config
from merp.hdl.cnn_merp.ports.outputs import OutputConfig
from merp.hdl.cnn_merp.ports.status import HalvesStatus
from merp.hdl.cnn_merp.ports.streams import stream
from merp.models.base.counters import PROPAGATION
from merp.models.base.rates import PLAIN, UpdateRule
from merp.models.machines.cnn_merp.params.backward_design import BackwardDesign
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.word_counters import BACKWARD_WORDS, VELOCITY_WORDS


class OnePass(NamedTuple):
    """Elaboration of both backward phases in one pass, and the rule of the update."""

    design: BackwardDesign
    rule: UpdateRule = PLAIN


def backward_status(of: OnePass) -> HalvesStatus:
    """Return the status of both backward phases, with the words (bytes of masks) of each port.

    Its cycles count the slots of the update; the cycles of delta propagation are counted
    separately.
    """
    return HalvesStatus(tuple(BackwardPorts.streams_of(of)), PROPAGATION)


def _update(of: OnePass) -> EngineDesign:
    return of.design.update


def _momentum(of: OnePass) -> bool:
    return of.rule.momentum


def _stream(words: str, name: str) -> Member[Any]:
    return stream("bp", words, name, engine=_update)


def _velocity(words: str, name: str) -> Member[Any]:
    return stream("bp", words, name, _momentum, _update)


class BackwardPorts(DesignPorts[OnePass]):
    """Ports of both backward phases on a design."""

    MEMBERS = (
        Member("map_config", lambda of: map_config(of.design.update), kind=GradientMapConfig),
        Member(
            "update_config", lambda of: UpdateConfig(of.design.update, of.rule), kind=UpdateConfig
        ),
        Member("delta_config", lambda of: MapConfig(of.design.propagation), kind=MapConfig),
        Member("load_config", lambda of: LoadConfig(of.design.propagation), kind=LoadConfig),
        Member("output_config", lambda of: OutputConfig(of.design.propagation), kind=OutputConfig),
        Member("dilate_config", lambda of: DilateConfig(of.design.propagation), kind=DilateConfig),
        Member("unpool_config", lambda of: UnpoolConfig(of.design.unpool), kind=UnpoolConfig),
        _stream("delta_in", "s_axis_delta"),
        _stream("state_in", "s_axis_state"),
        _stream("map_in", "s_axis_map"),
        _stream("kernel", "s_axis_kernel"),
        _stream("bias", "s_axis_bias"),
        _stream("delta_out", "m_axis_delta"),
        _stream("kernel_out", "m_axis_kernel"),
        _stream("bias_out", "m_axis_bias"),
        Member("status", backward_status, kind=HalvesStatus),
        _velocity("kernel_velocity_in", "s_axis_kernel_velocity"),
        _velocity("bias_velocity_in", "s_axis_bias_velocity"),
        _velocity("kernel_velocity_out", "m_axis_kernel_velocity"),
        _velocity("bias_velocity_out", "m_axis_bias_velocity"),
    )
    WORDS = (*BACKWARD_WORDS, *VELOCITY_WORDS)

    @property
    def counted(self) -> dict[str, str]:
        """Return the stream of each word counter, in the order of status."""
        found = super().counted
        return {words: found[words] for words in self.WORDS if words in found}
