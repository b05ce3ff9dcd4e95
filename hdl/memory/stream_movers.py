"""Set, start and watch the movers of all streams."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from myhdl import ConcatSignal, always, always_comb, block, concat, intbv

from merp.hdl.base.signals import bits, flag
from merp.hdl.conversion.entity import Bit, Word
from merp.hdl.memory.memory_interface import MoverControl, ReadPort
from merp.hdl.memory.processor_ports import StreamControl, WalkWrite
from merp.hdl.memory.requests import ErrorResponse
from merp.hdl.memory.stream_control import stream_control
from merp.hdl.memory.subsystem_status import SubsystemStatus
from merp.hdl.memory.tail_keep import tail_keep
from merp.hdl.memory.walk_registers import walk_registers
from merp.models.memory.params.memory_port import MemoryPort


@block
def _error_of(error: ErrorResponse, failed: Bit, address: Word) -> Any:
    """Hand on the error of a mover."""

    @always_comb
    def hand_on() -> None:
        failed.next = error.found
        address.next = error.address

    return hand_on


@block
def _states(
    clk: Bit,
    rst: Bit,
    begin: Bit,
    done: Sequence[Any],
    idle: Sequence[Any],
    failed: Sequence[Any],
    addresses: Sequence[Any],
    streams: StreamControl,
    status: SubsystemStatus,
    shift: int,
) -> Any:
    """Join the states of all streams, and keep the first error."""
    size, everywhere = len(failed), (1 << len(idle)) - 1
    all_done, all_idle = ConcatSignal(*reversed(done)), ConcatSignal(*reversed(idle))
    any_failed = ConcatSignal(*reversed(failed))
    told = flag()

    @always(clk.posedge)
    def follow() -> None:
        streams.done.next = all_done

    @always_comb
    def join() -> None:
        streams.idle.next = all_idle == everywhere
        streams.failed.next = any_failed != 0

    @always(clk.posedge)
    def keep() -> None:
        if not told:
            for i in range(size):
                if failed[i]:
                    told.next = True
                    status.error_stream.next = i
                    status.error_address.next = concat(addresses[i], intbv(0)[shift:])
        if begin or rst:
            told.next = False
            status.error_stream.next = 0
            status.error_address.next = 0

    return follow, join, keep


@block
def stream_movers(
    clk: Bit,
    rst: Bit,
    begin: Bit,
    movers: Sequence[MoverControl],
    listed: MoverControl,
    walks: WalkWrite,
    streams: StreamControl,
    status: SubsystemStatus,
    port: MemoryPort,
) -> Any:
    """Connect a command processor with the movers of its streams.

    begin    in   pulse: a list begins
    movers   out  walk, start and stop of each stream; in: its state
    listed   in   an error of the mover of the list
    walks    in   writes of walks
    streams  in   commands to all streams; out: their states
    status   out  the first error: number of the stream, and byte address of the burst

    Latency: one cycle from a write to its walk, and from the end of a walk to done. Reset: no
    error.
    """
    done, idle = [flag() for _ in movers], [flag() for _ in movers]
    every = [*movers, listed]
    failed = [flag() for _ in every]
    addresses = [bits(port.beat_address_bits) for _ in every]
    return (
        [
            walk_registers(
                clk, write=walks, config=each.config, stream=at, tail=vars(each).get("tail")
            )
            for at, each in enumerate(movers)
        ],
        [
            tail_keep(stream=each.source, tail=each.tail, keep=each.source.keep)
            for each in movers
            if isinstance(each, ReadPort) and each.source.keep is not None
        ],
        [
            stream_control(
                streams=streams, mover=each, done=done[at], idle=idle[at], stream=at
            )
            for at, each in enumerate(movers)
        ],
        [
            _error_of(each.error, failed[at], addresses[at])
            for at, each in enumerate(every)
        ],
        _states(
            clk, rst, begin=begin, done=done, idle=idle, failed=failed, addresses=addresses,
            streams=streams, status=status, shift=port.address_bits - port.beat_address_bits,
        ),
    )  # fmt: skip
