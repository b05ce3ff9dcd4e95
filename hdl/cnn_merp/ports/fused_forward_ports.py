"""Ports of two layers fused in forward propagation."""

from __future__ import annotations

from typing import Any

from merp.hdl.base.interface import DesignPorts, Member, always
from merp.hdl.cnn_merp.ports.kernels import LoadConfig
from merp.hdl.cnn_merp.ports.maps import MapConfig
from merp.hdl.cnn_merp.ports.outputs import OutputConfig
from merp.hdl.cnn_merp.ports.passes import TurnConfig
from merp.hdl.cnn_merp.ports.status import HalvesStatus
from merp.hdl.cnn_merp.ports.streams import stream
from merp.models.base.counters import FIRST
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.fused_design import FusedDesign
from merp.models.machines.cnn_merp.params.word_counters import FUSED_STATE_WORDS, FUSED_WORDS


def fused_status(design: FusedDesign) -> HalvesStatus:
    """Return the status of two fused layers, with the words (bytes of masks) of each port.

    Its cycles count the slots of the second layer; the cycles of the first layer are counted
    separately.
    """
    return HalvesStatus(tuple(FusedForwardPorts.streams_of(design)), FIRST)


def _first(design: FusedDesign) -> EngineDesign:
    return design.first


def _second(design: FusedDesign) -> EngineDesign:
    return design.second


def _state(design: FusedDesign) -> bool:
    return design.second.state


def _of_first(words: str, name: str) -> Member[Any]:
    return stream("ff", words, name, always, _first)


def _of_second(words: str, name: str) -> Member[Any]:
    return stream("ff", words, name, always, _second)


def _for_training(words: str, name: str) -> Member[Any]:
    return stream("ff", words, name, _state, _second)


class FusedForwardPorts(DesignPorts[FusedDesign]):
    """Ports of two fused layers on a design."""

    MEMBERS = (
        Member("map_config", lambda design: MapConfig(design.first), kind=MapConfig),
        Member("load_config", lambda design: LoadConfig(design.first), kind=LoadConfig),
        Member("output_config", lambda design: OutputConfig(design.first), kind=OutputConfig),
        Member("second_map_config", lambda design: MapConfig(design.second), kind=MapConfig),
        Member("second_load_config", lambda design: LoadConfig(design.second), kind=LoadConfig),
        Member(
            "second_output_config", lambda design: OutputConfig(design.second), kind=OutputConfig
        ),
        _of_first("map_in", "s_axis_map"),
        _of_first("kernel", "s_axis_kernel"),
        _of_first("bias", "s_axis_bias"),
        _of_second("second_kernel", "s_axis_second_kernel"),
        _of_second("second_bias", "s_axis_second_bias"),
        _of_second("map_out", "m_axis_map"),
        Member("status", fused_status, kind=HalvesStatus),
        Member(
            "turn_config",
            lambda design: TurnConfig(design.second),
            lambda design: design.groups > 1,
            kind=TurnConfig,
        ),
        _for_training("between_out", "m_axis_between"),
        _for_training("between_state_out", "m_axis_between_state"),
        _for_training("state_out", "m_axis_state"),
    )
    LAST = ("s_axis_map",)
    WORDS = (*FUSED_WORDS, *FUSED_STATE_WORDS)
