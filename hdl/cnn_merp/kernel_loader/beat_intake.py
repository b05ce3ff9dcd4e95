"""``kernel_intake`` for a stream whose beats have several elements of a kernel."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, block

from merp.hdl.base.signals import Stream, count, flag
from merp.hdl.cnn_merp.kernel_loader.collect_beats import collect_beats
from merp.hdl.cnn_merp.kernel_loader.intake_end import intake_end
from merp.hdl.cnn_merp.kernel_loader.intake_ports import IntakeState, KernelPlace
from merp.hdl.cnn_merp.ports.kernels import KernelWrite
from merp.hdl.conversion.entity import Bit
from merp.models.machines.cnn_merp.params.design import EngineDesign


@block
def beat_intake(
    clk: Bit,
    rst: Bit,
    start: Bit,
    sink: Stream,
    kernel: KernelWrite,
    place: KernelPlace,
    state: IntakeState,
    design: EngineDesign,
    rotated: bool,
) -> Any:
    """``kernel_intake`` with several elements per beat, at most one kernel."""
    taken = state.taken
    taps, lanes = design.taps, design.kernel_beat
    held = count(taps + lanes)  # elements of the current kernel from earlier beats
    take = flag()
    collect = collect_beats(
        clk, sink=sink, take=take, held=held, collected=kernel.data, width=design.fmt.width,
        rotated=rotated,
    )  # fmt: skip

    @always_comb
    def complete() -> None:
        take.next = sink.valid and sink.ready
        taken.next = sink.valid and sink.ready and held + lanes >= taps

    @always(clk.posedge)
    def hold() -> None:
        if rst or start:
            held.next = 0
        elif taken:
            held.next = held + lanes - taps
        elif take:
            held.next = held + lanes

    end = intake_end(
        clk, rst, start, sink=sink, take=take, kernel=kernel, place=place, state=state,
        n_cu=design.n_cu,
    )  # fmt: skip
    return collect, complete, hold, end
