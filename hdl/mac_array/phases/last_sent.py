"""Detect that the last word of a stream, or of all results of a pass, was sent."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, block

from merp.hdl.base.signals import AxiStream, flag
from merp.hdl.conversion.entity import Bit
from merp.hdl.mac_array.ports.trainer_ports import TrainerPorts
from merp.hdl.streams.stream_end import stream_end


@block
def last_sent(clk: Bit, rst: Bit, start: Bit, stream: AxiStream, sent: Bit) -> Any:
    """Set sent from the transfer of the last word on, until start.

    stream  in   the stream, which is only monitored
    sent    out  the last word is transferred in this cycle, or was before
    """
    before, ends = flag(), flag()

    @always_comb
    def tell() -> None:
        sent.next = before or ends

    @always(clk.posedge)
    def keep() -> None:
        before.next = sent
        if start or rst:
            before.next = False

    return tell, keep, stream_end(stream=stream, ends=ends)


@block
def all_sent(clk: Bit, rst: Bit, start: Bit, ports: TrainerPorts, sent: Bit) -> Any:
    """Set sent for all results of a pass: maps, gradients, or new kernels and velocities."""
    update, config = ports.supply_config.walk.update, ports.update_config
    map_sent, kernel_sent, gradient_sent = flag(), flag(), flag()
    velocity_sent, velocity_due = flag(), flag()

    @always_comb
    def tell() -> None:
        if not update:
            sent.next = map_sent
        elif config.last:
            sent.next = kernel_sent and (velocity_sent or not velocity_due)
        else:
            sent.next = gradient_sent

    ends = [
        last_sent(clk, rst, start, stream=ports.m_axis_map, sent=map_sent),
        last_sent(clk, rst, start, stream=ports.m_axis_kernel, sent=kernel_sent),
        last_sent(clk, rst, start, stream=ports.m_axis_gradient, sent=gradient_sent),
    ]
    if not ports.has("m_axis_velocity"):
        return tell, ends

    @always_comb
    def ask() -> None:
        velocity_due.next = config.has_momentum

    ends.append(last_sent(clk, rst, start, stream=ports.m_axis_velocity, sent=velocity_sent))
    return tell, ends, ask
