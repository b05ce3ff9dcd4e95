"""``fold_delta_loader`` for a stream with several weights per beat, for several CUs at a time."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb

from merp.hdl.base.signals import Stream, bits, count, flag
from merp.hdl.cnn_merp.ports.kernels import KernelWrite, LoadConfig
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.streams.beat_cutter import beat_cutter
from merp.models.machines.cnn_merp.params.design import EngineDesign


@entity
def fold_beat_loader(
    clk: Bit,
    rst: Bit,
    start: Bit,
    config: LoadConfig,
    elements: Word,
    sink: Stream,
    kernel: KernelWrite,
    loaded: Bit,
    framing_error: Bit,
    design: EngineDesign,
) -> Any:
    """Load the weights of a fully connected layer for delta propagation, several per cycle.

    Consecutive weights belong to one output and to consecutive inputs, and thus to the same tap in
    consecutive CUs. A cycle takes the weights of CUs j with the same j div kernel_port, each CU j
    from word j mod kernel_port. Order and places are as in ``fold_delta_loader``.

    start          in   one cycle; config is stable from here until loaded
    elements       in   outputs of the layer
    sink           in   weights, kernel_port per beat
    kernel         out  writes into the memories of the CUs: elements, and the tap that takes them
                        (places). With tap 0, all taps are written, so that the others become +0.
    loaded         out  from the first cycle that may read everything until the next start
    framing_error  out  last arrived with a beat other than the last of the stream; until start

    Latency: a write is enabled one cycle after its words, loaded follows one cycle later.
    Throughput: kernel_port weights per cycle, fewer at the end of n_cu CUs and of the weights of an
    output. If an output has at most kernel_port weights, the throughput is half of this, because a
    word cannot be written in two consecutive cycles. Reset: synchronous, the load is abandoned.
    """
    n_cu, taps, lanes = design.n_cu, design.taps, design.kernel_port
    every_tap = (1 << taps) - 1

    # Every counter can also hold its limit, so that counter + 1 can be compared without losing a
    # carry.
    output = count(design.kernel_words * taps)
    tap = bits(taps)  # one-hot
    base = count(design.kernel_words + design.groups)
    group = count(design.groups)
    cu = count(n_cu + 2 * lanes)  # the first CU of the piece
    in_use = count(n_cu + 2 * lanes)  # CUs in use in the group
    last_group, last_piece, final, alone = (flag() for _ in range(4))
    complete, rests, opened = flag(), flag(), flag()
    wanted = count(lanes)
    piece = bits(len(sink.data))
    there, take, misplaced = flag(), flag(), flag()
    cutter = beat_cutter(
        clk,
        rst,
        start,
        wanted=wanted,
        ending=final,
        sink=sink,
        piece=piece,
        valid=there,
        take=take,
        misplaced=misplaced,
    )

    @always_comb
    def place() -> None:
        last_group.next = group + 1 == config.groups
        take.next = there and opened

    @always_comb
    def bound() -> None:
        if last_group:
            in_use.next = config.last_cus
        else:
            in_use.next = n_cu

    @always_comb
    def measure() -> None:
        last_piece.next = cu + lanes >= in_use
        alone.next = config.groups == 1 and in_use <= lanes
        if cu + lanes > in_use:
            wanted.next = in_use - cu
        else:
            wanted.next = lanes

    @always_comb
    def end() -> None:
        final.next = last_group and last_piece and output + 1 == elements

    @always(clk.posedge)
    def load() -> None:
        kernel.enable.next = 0
        if rst or start:
            opened.next = start and not rst
            complete.next = False
            rests.next = False
            framing_error.next = False
            output.next = 0
            tap.next = 1
            base.next = 0
            group.next = 0
            cu.next = 0
        elif take:
            if misplaced:
                framing_error.next = True
            kernel.addr.next = base + group
            kernel.elements.next = piece
            for j in range(n_cu):
                if cu == j // lanes * lanes:  # CUs behind the last input have no work
                    kernel.enable.next[j] = True
            kernel.places.next = tap
            kernel.taps.next = tap
            if tap[0]:
                kernel.taps.next = every_tap
            if final:
                opened.next = False
                complete.next = True
            elif alone:
                opened.next = False
                rests.next = True
            if not last_piece:
                cu.next = cu + lanes
            else:
                cu.next = 0
                if not last_group:
                    group.next = group + 1
                else:
                    group.next = 0
                    output.next = output + 1
                    if tap[taps - 1]:
                        tap.next = 1
                        base.next = base + config.groups
                    else:
                        tap.next = tap << 1
        elif rests:
            opened.next = True
            rests.next = False

    @always(clk.posedge)
    def finish() -> None:
        loaded.next = complete and not start and not rst

    return cutter, place, bound, measure, end, load, finish
