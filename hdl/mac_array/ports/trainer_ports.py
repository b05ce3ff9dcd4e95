"""Ports of the complete array, and of the array with its schedule."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from merp.hdl.base.interface import DesignPorts, Member, always
from merp.hdl.base.signals import AxiStream
from merp.hdl.mac_array.ports.outputs import ArrayOutputConfig
from merp.hdl.mac_array.ports.registers import SupplyConfig
from merp.hdl.mac_array.ports.schedule import ScheduleConfig
from merp.hdl.mac_array.ports.status import ArrayStatus
from merp.hdl.mac_array.ports.unpooling import ArrayUnpoolConfig
from merp.hdl.mac_array.ports.updates import ArrayUpdateConfig
from merp.models.machines.mac_array.params.array_counters import (
    PORT_WORDS,
    TARGET_WORDS,
    VELOCITY_WORDS,
)
from merp.models.machines.mac_array.params.design import WORD_BITS, ArrayDesign
from merp.models.machines.mac_array.params.schedule_layout import SCHEDULE_BITS


def _atoms(words: str, name: str) -> Member[ArrayDesign]:
    """Make a stream of maps or deltas."""
    return Member(name, lambda design: AxiStream(WORD_BITS, design.pox), always, words, AxiStream)


def _beats(
    words: str, name: str, there: Callable[[ArrayDesign], bool] = always
) -> Member[ArrayDesign]:
    """Make a stream of parameters."""
    return Member(name, lambda design: AxiStream(WORD_BITS, design.pof), there, words, AxiStream)


def _momentum(design: ArrayDesign) -> bool:
    return design.momentum


STREAMS: tuple[Member[Any], ...] = (
    _atoms("map_in", "s_axis_map"),
    _atoms("delta_in", "s_axis_delta"),
    _beats("kernel_in", "s_axis_kernel"),
    _beats("gradient_in", "s_axis_gradient"),
    _atoms("map_out", "m_axis_map"),
    _beats("kernel_out", "m_axis_kernel"),
    _beats("gradient_out", "m_axis_gradient"),
    Member("status", ArrayStatus),
    _beats("velocity_in", "s_axis_velocity", _momentum),
    _beats("velocity_out", "m_axis_velocity", _momentum),
    Member(
        "s_axis_target", lambda design: AxiStream(WORD_BITS), lambda design: design.loss,
        "target_in", AxiStream,
    ),
)  # fmt: skip


class TrainerPorts(DesignPorts[ArrayDesign]):
    """Ports of the array: registers of a pass, streams and status."""

    MEMBERS: ClassVar[tuple[Member[Any], ...]] = (
        Member("supply_config", SupplyConfig),
        Member("output_config", ArrayOutputConfig),
        Member("update_config", ArrayUpdateConfig),
        Member("unpool_config", ArrayUnpoolConfig),
        *STREAMS,
    )
    WORDS = (*PORT_WORDS, *VELOCITY_WORDS, *TARGET_WORDS)
    LAST = (
        "s_axis_kernel", "m_axis_kernel", "s_axis_velocity", "m_axis_velocity", "s_axis_target",
        "s_axis_schedule",
    )  # fmt: skip


class ScheduledPorts(TrainerPorts):
    """Ports of the array with its schedule, which supplies the registers of each pass."""

    MEMBERS: ClassVar[tuple[Member[Any], ...]] = (
        Member("schedule_config", ScheduleConfig),
        Member("s_axis_schedule", lambda design: AxiStream(SCHEDULE_BITS), kind=AxiStream),
        *STREAMS,
    )
