"""Load the weights of a folded layer into the CUs of delta propagation: by columns, tap by tap.

``models/base/folded_shape.py`` defines the layout. Delta propagation sums over the outputs of the
layer, so the weights of an output are one tap of the kernels of all CUs. They arrive one tap after
the other, and each is inserted into the word of its kernel.
"""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always, always_comb, block

from merp.hdl.base.signals import Stream, bits, count, flag
from merp.hdl.cnn_merp.ports.kernels import KernelWrite, LoadConfig
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.machines.cnn_merp.params.design import EngineDesign


@block
def _lane(clk: Bit, mine: Bit, data: Word, lane: Word) -> Any:
    """Register a tap: its own word, or +0."""

    @always(clk.posedge)
    def take() -> None:
        if mine:
            lane.next = data
        else:
            lane.next = 0

    return take


@entity
def fold_delta_loader(
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
    """Load the weights of a fully connected layer for delta propagation.

    The layer has ``elements`` outputs; k*k outputs form a map here. Weights have the order output,
    input. The weight of output o and input j is tap o mod k*k of a kernel in CU j mod n_cu. The
    address of this kernel is ``(o div k*k)*G + j div n_cu``. Tap 0 of a kernel sets its other taps
    to +0, which covers the taps that the last map lacks.

    start          in   one cycle; config is stable from here until loaded
    elements       in   outputs of the layer
    sink           in   weights
    kernel         out  writes into the memories of the CUs, some taps of a word each
    loaded         out  from the first cycle that may read everything until the next start
    framing_error  out  last arrived with a word other than the last of the stream; until start

    Latency: a write is enabled one cycle after its word, loaded follows one cycle later.
    Throughput: a word per cycle. If a single CU is loaded at a single address, the throughput is
    half of this, because a word cannot be written in two consecutive cycles. Reset: synchronous,
    the load is abandoned.
    """
    n_cu, taps, width = design.n_cu, design.taps, design.fmt.width
    every_tap = (1 << taps) - 1

    # Every counter can also hold its limit, so that counter + 1 can be compared without losing a
    # carry.
    output = count(design.kernel_words * taps)
    tap = bits(taps)  # one-hot
    base = count(design.kernel_words + design.groups)
    group = count(design.groups)
    cu = count(n_cu)
    last_input, final, alone = flag(), flag(), flag()
    complete, rests = flag(), flag()
    lanes = [bits(width) for _ in range(taps)]

    @always_comb
    def place() -> None:
        last_input.next = group + 1 == config.groups and cu + 1 == config.last_cus
        alone.next = config.groups == 1 and config.last_cus == 1

    @always_comb
    def end() -> None:
        final.next = last_input and output + 1 == elements

    @always(clk.posedge)
    def load() -> None:
        kernel.enable.next = 0
        if rst or start:
            sink.ready.next = start and not rst
            complete.next = False
            rests.next = False
            framing_error.next = False
            output.next = 0
            tap.next = 1
            base.next = 0
            group.next = 0
            cu.next = 0
        elif sink.valid and sink.ready:
            if sink.last != final:
                framing_error.next = True
            kernel.addr.next = base + group
            for j in range(n_cu):
                if cu == j:
                    kernel.enable.next[j] = True
            kernel.taps.next = tap
            if tap[0]:
                kernel.taps.next = every_tap
            if final:
                sink.ready.next = False
                complete.next = True
            elif alone:
                sink.ready.next = False
                rests.next = True
            if not last_input:
                if cu + 1 != n_cu:
                    cu.next = cu + 1
                else:
                    cu.next = 0
                    group.next = group + 1
            else:
                cu.next = 0
                group.next = 0
                output.next = output + 1
                if tap[taps - 1]:
                    tap.next = 1
                    base.next = base + config.groups
                else:
                    tap.next = tap << 1
        elif rests:
            sink.ready.next = True
            rests.next = False

    @always(clk.posedge)
    def finish() -> None:
        loaded.next = complete and not start and not rst

    writers = [_lane(clk, mine=tap(j), data=sink.data, lane=lanes[j]) for j in range(taps)]
    joined = ConcatSignal(*reversed(lanes))

    @always_comb
    def join() -> None:
        kernel.data.next = joined

    return place, end, load, finish, writers, join
