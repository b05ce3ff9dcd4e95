"""Select the streams of old parameters that a kernel update reads in each pass."""

from __future__ import annotations

from typing import Any

from myhdl import always_comb, block

from merp.hdl.base.signals import Stream, flag, stream_of
from merp.hdl.conversion.entity import Bit
from merp.hdl.mac_array.ports.trainer_ports import TrainerPorts
from merp.hdl.mac_array.ports.updates import StepStreams
from merp.hdl.streams.wanted_gate import wanted_gate


@block
def old_parameters(
    clk: Bit,
    rst: Bit,
    start: Bit,
    ports: TrainerPorts,
    kernels: Stream,
    old: StepStreams,
    framing_error: Bit,
) -> Any:
    """Admit gradients except in the first image, and kernels and velocities only in the last one.

    ports          in   ports of the array
    kernels        in   old kernels of a kernel update
    old            out  old parameters for the update
    framing_error  out  last of a stream arrived with a beat other than the last of the pass; until
                        start

    Latency: none. Throughput: a beat per cycle and stream. Reset: no beat passes.
    """
    update, config = ports.supply_config.walk.update, ports.update_config
    wants_gradients, wants_kernels = flag(), flag()
    kernel_error, gradient_error, velocity_error = flag(), flag(), flag()

    @always_comb
    def ask() -> None:
        wants_gradients.next = update and not config.first
        wants_kernels.next = update and config.last

    @always_comb
    def tell() -> None:
        framing_error.next = kernel_error or gradient_error or velocity_error

    gates = [
        wanted_gate(
            clk, rst, start, wanted=wants_gradients, beats=config.beats,
            sink=stream_of(ports.s_axis_gradient), source=old.gradient,
            framing_error=gradient_error,
        ),
        wanted_gate(
            clk, rst, start, wanted=wants_kernels, beats=config.beats, sink=kernels,
            source=old.kernel, framing_error=kernel_error,
        ),
    ]  # fmt: skip
    if old.velocity is None:
        return ask, tell, gates
    wants_velocities = flag()

    @always_comb
    def ask_velocities() -> None:
        wants_velocities.next = update and config.last and config.has_momentum

    gates.append(
        wanted_gate(
            clk, rst, start, wanted=wants_velocities, beats=config.beats,
            sink=stream_of(ports.s_axis_velocity), source=old.velocity,
            framing_error=velocity_error,
        )
    )  # fmt: skip
    return ask, tell, gates, ask_velocities
