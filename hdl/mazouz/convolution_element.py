"""Convolution element: it convolves one map with one kernel while the map streams through.

Source: Mazouz and Bridges, section on the proposal: a line buffer of k - 1 lines, k x k multipliers
and an adder tree. Here masks insert the zeros around the map; the paper has blanks between the
lines instead.
"""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always, always_comb, block

from merp.hdl.arithmetic.cu_tree import cu_tree
from merp.hdl.base.delay import delay
from merp.hdl.base.masked_tap import masked_tap
from merp.hdl.base.signals import Stream, bits, flag
from merp.hdl.base.tap_line import tap_line
from merp.hdl.base.valid_delay import valid_delay
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.mazouz.window_walk import ElementConfig, window_walk
from merp.hdl.streams.collect_taps import collect_taps
from merp.hdl.streams.credit_fifo import credit_fifo
from merp.hdl.streams.credit_gate import credit_gate
from merp.hdl.streams.run_span import run_span
from merp.hdl.streams.tail_filler import tail_filler
from merp.models.papers.mazouz.params.element import WINDOW, ElementDesign


@block
def _words_of_run(
    clk: Bit,
    rst: Bit,
    start: Bit,
    words: Word,
    stream: Stream,
    taking: Bit,
    complete: Bit,
    framing_error: Bit,
) -> Any:
    """Count the words of a stream, which is only monitored, as ``run_span`` does."""
    left = bits(len(words))
    taken, final = flag(), flag()

    @always_comb
    def look() -> None:
        taken.next = stream.valid and stream.ready
        final.next = left == 1

    @always(clk.posedge)
    def tally() -> None:
        if taken:
            left.next = left - 1
        if start:
            left.next = words

    span = run_span(
        clk, rst, start, taken=taken, last=stream.last, final=final, taking=taking,
        complete=complete, framing_error=framing_error,
    )  # fmt: skip
    return look, tally, span


@entity
def convolution_element(
    clk: Bit,
    rst: Bit,
    start: Bit,
    config: ElementConfig,
    sink_kernel: Stream,
    sink: Stream,
    source: Stream,
    done: Bit,
    framing_error: Bit,
    design: ElementDesign,
) -> Any:
    """Convolve a map with a kernel of k x k; each run has a new map and a new kernel.

    start          in   pulse: a run begins; registers are stable from here to done
    sink_kernel    in   the elements of the kernel, row by row
    sink           in   the elements of the map, row by row; they are taken after the kernel is
                        complete
    source         out  the elements of the output, row by row
    done           out  the last output was transferred; high until the next start
    framing_error  out  last arrived with a wrong word of the kernel or map; high until the next
                        start

    A tap outside the map is +0 and is multiplied by its kernel element like any other. Latency:
    latency cycles from the element that completes a window to its output. A run takes ``(H + p - 1)
    C + W + p + latency`` cycles from the first element of the map to the last output. The map is W
    x H with p zeros on every side, and C is the larger number of columns of map and output.
    Throughput: an element per cycle. No element is taken behind a line if the output is wider, and
    none behind the map while the last windows are computed. If the output waits, the walk stalls
    once the output places are full. Reset: no run.
    """
    width, k = design.fmt.width, design.k
    kernel, kernel_words = bits(design.window_width), bits(design.taps.bit_length(), design.taps)
    loaded, kernel_error, map_error = flag(), flag(), flag()
    beats, taking = Stream(width), flag()  # elements of the grid, while any are left
    walking, free, advance, issue = (flag() for _ in range(4))
    counts, final = flag(), flag()
    rows, columns = bits(k), bits(k)
    window, masked = bits(design.window_width), bits(design.window_width)
    taps = [bits(width) for _ in range(design.taps)]
    in_order = ConcatSignal(*reversed(taps))
    push, last, room, credit, head_valid = (flag() for _ in range(5))
    total, word, head = bits(width), bits(width + 1), bits(width + 1)
    joined = ConcatSignal(last, total)

    @always_comb
    def look() -> None:
        free.next = loaded and walking and (room or not counts)

    @always_comb
    def move() -> None:
        beats.ready.next = free and taking
        advance.next = free and (beats.valid or not taking)

    @always_comb
    def give() -> None:
        issue.next = advance and counts

    @always(clk.posedge)
    def follow() -> None:
        if advance and final:
            walking.next = False
        if source.valid and source.ready and source.last:
            done.next = True
        if start:
            walking.next = True
            done.next = False
        if rst:
            done.next = False  # walking may stay high, because nothing is loaded

    @always_comb
    def gather() -> None:
        masked.next = in_order

    @always_comb
    def join() -> None:
        word.next = joined

    @always_comb
    def hand_out() -> None:
        source.data.next = head[width:]
        source.last.next = head[width]
        source.valid.next = head_valid

    @always_comb
    def tell() -> None:
        framing_error.next = kernel_error or map_error

    intake = (
        _words_of_run(
            clk, rst, start, words=kernel_words, stream=sink_kernel,
            taking=sink_kernel.ready, complete=loaded, framing_error=kernel_error,
        ),
        collect_taps(clk, sink=sink_kernel, collected=kernel, width=width, rotated=False),
        tail_filler(
            clk, rst, start, length=config.columns, filling=config.filling, sink=sink, source=beats
        ),
        _words_of_run(
            clk, rst, start, words=config.beats, stream=beats, taking=taking, complete=flag(),
            framing_error=map_error,
        ),
    )  # fmt: skip
    slide = (
        tap_line(
            clk, start, advance=advance, columns=config.grid_columns, sink=beats.data,
            window=window, params=design.line,
        ),
        window_walk(
            clk, start, advance=advance, config=config, counts=counts, final=final, rows=rows,
            columns=columns,
        ),
        [
            masked_tap(
                clk, row_on=rows(tap // k), column_on=columns(tap % k),
                tap=window((tap + 1) * width, tap * width), kept=taps[tap],
            )
            for tap in range(design.taps)
        ],
    )  # fmt: skip
    on_the_way = WINDOW + design.cu_latency
    compute = (
        cu_tree(clk, window=masked, kernel=kernel, y=total, design=design),
        valid_delay(clk, rst, d=issue, q=push, cycles=on_the_way),
        delay(clk, d=final, q=last, cycles=on_the_way),
    )
    leave = (
        credit_gate(
            clk, rst, taken=issue, freed=credit, some=room, places=design.fifo_words
        ),
        credit_fifo(
            clk, rst, push=push, data=word, head=head, head_valid=head_valid,
            take=source.ready, credit=credit, words=design.fifo_words,
        ),
    )  # fmt: skip
    return (
        look, move, give, follow, gather, join, hand_out, tell, intake, slide, compute, leave,
    )  # fmt: skip
