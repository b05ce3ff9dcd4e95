"""Un-pooling and ReLU': the delta of a layer's output becomes that of its sums.

CNN-MERP section III.B; overlapping windows add. The delta may be stored at pooled resolution and
expanded here, a word per cycle.
"""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always, always_comb

from merp.hdl.base.delay import delay
from merp.hdl.base.signals import Stream, bits, flag
from merp.hdl.base.valid_delay import valid_delay
from merp.hdl.cnn_merp.upsampling.unpool_config import (
    Issued,
    Passed,
    UnpoolConfig,
    UnpoolRead,
    UnpoolWrite,
    Written,
)
from merp.hdl.cnn_merp.upsampling.unpool_reader import unpool_reader
from merp.hdl.cnn_merp.upsampling.unpool_scale import CREDIT_CYCLES, unpool_scale
from merp.hdl.cnn_merp.upsampling.unpool_sum import unpool_sum
from merp.hdl.cnn_merp.upsampling.unpool_writer import unpool_writer
from merp.hdl.conversion.entity import entity
from merp.hdl.streams.bit_unpacker import bit_unpacker
from merp.hdl.streams.credit_fifo import credit_fifo
from merp.hdl.streams.run_input import run_input
from merp.hdl.streams.stream_slice import stream_slice
from merp.models.params.cnn_merp.unpool_design import UnpoolDesign


@entity
def unpool(
    clk: Any,
    rst: Any,
    start: Any,
    config: UnpoolConfig,
    sink: Stream,
    sink_state: Stream,
    source: Stream,
    done: Any,
    framing_error: Any,
    design: UnpoolDesign,
) -> Any:
    """Expand a delta to the resolution of the sums and apply ReLU'.

    start       in   pulse; config is stable from here to done
    sink        in   pooled delta in the order image, row, column, map
    sink_state  in   bytes of the state of kind pooled: one string of bits, the lowest of a byte
                     first. Max pooling: for each word of sink its mask bit (with ReLU), then its
                     position (row * window + column). Else, with ReLU: a mask bit for each word of
                     source. Otherwise none.
    source      out  delta in the same order; last with the run's final word
    done        out  that word was transferred; until the next start
    framing_error  out  a last came with another word than its stream's last; until start

    Average pooling spreads delta * RN(1 / window^2). Contributions of overlapping windows add in
    raster order of the pooled elements, from +0. Without pooling a word passes or becomes +0.
    Latency: sum_latency + 4 cycles from a word to the first element that needs nothing after it,
    or 4 without pooling; mul_latency + 1 more in a design with average pooling.
    Throughput: a word out per cycle, and a word in per cycle while there is room.
    Reset: the run is abandoned.
    """
    width = design.fmt.width
    latency = design.sum_latency
    places = latency + CREDIT_CYCLES

    delta_valid, delta_ready, delta_error = flag(), flag(), flag()
    state_valid, state_ready, state_error = flag(), flag(), flag()
    word, word_valid, word_ready = bits(width), flag(), flag()
    write_ready, pass_ready = flag(), flag()
    field, field_valid, field_take = bits(design.field_bits), flag(), flag()
    take_in, take_out = flag(), flag()
    written, passed = Written(design), Passed(design)
    write, read, issued = UnpoolWrite(design), UnpoolRead(design), Issued(design)
    total, adding, summed = bits(width), flag(), flag()
    total_last, total_masked = flag(), flag()
    push, freed, ending = flag(), flag(), flag()
    kept = bits(width)
    result, head = bits(1 + width), bits(1 + width)
    joined = ConcatSignal(ending, kept)

    @always_comb
    def route() -> None:
        word_ready.next = write_ready or pass_ready
        field_take.next = take_in or take_out

    if design.average:
        scaling = unpool_scale(
            clk, rst, config.average, config.scale, sink.data, delta_valid, delta_ready,
            word, word_valid, word_ready, design,
        )  # fmt: skip
    else:
        scaling = stream_slice(
            clk, start, sink.data, delta_valid, delta_ready, word, word_valid, word_ready
        )

    @always_comb
    def select() -> None:
        adding.next = False
        if config.maximum or config.average:
            adding.next = issued.valid
            push.next = summed
            ending.next = total_last
            if total_masked:
                kept.next = 0
            else:
                kept.next = total
        else:
            push.next = issued.valid
            ending.next = issued.last
            if issued.masked:
                kept.next = 0
            else:
                kept.next = issued.data

    @always_comb
    def join() -> None:
        result.next = joined

    @always_comb
    def present() -> None:
        source.data.next = head[width:]
        source.last.next = head[width]
        framing_error.next = delta_error or state_error

    @always(clk.posedge)
    def finish() -> None:
        if source.valid and source.ready and source.last:
            done.next = True
        if start or rst:
            done.next = False

    return (
        run_input(
            clk, rst, start, config.delta_words, sink, delta_valid, delta_ready, delta_error
        ),
        run_input(
            clk, rst, start, config.state_bytes, sink_state, state_valid, state_ready, state_error
        ),
        scaling,
        bit_unpacker(
            clk, start, sink_state.data, state_valid, state_ready, config.field_bits,
            field, field_valid, field_take,
        ),
        unpool_writer(
            clk, start, config, word, word_valid, write_ready, field, field_valid, take_in,
            passed, written, write, design,
        ),
        unpool_reader(
            clk, rst, start, config, word, word_valid, pass_ready, field, field_valid, take_out,
            freed, written, passed, read, issued, design, places,
        ),
        unpool_sum(clk, write, read, config.average, total, design),
        valid_delay(clk, rst, adding, summed, latency - 1),
        delay(clk, issued.last, total_last, latency - 1),
        delay(clk, issued.masked, total_masked, latency - 1),
        credit_fifo(clk, rst, push, result, head, source.valid, source.ready, freed, places),
        route,
        select,
        join,
        present,
        finish,
    )  # fmt: skip
