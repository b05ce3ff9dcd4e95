"""Un-pooling and ReLU': convert the deltas of a layer's output to the deltas of its sums.

Source: CNN-MERP, section III.B; overlapping windows add. The deltas may be stored at pooled
resolution and expanded here, a word per cycle.
"""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always, always_comb

from merp.hdl.base.delay import delay
from merp.hdl.base.signals import Stream, bits, flag
from merp.hdl.base.valid_delay import valid_delay
from merp.hdl.cnn_merp.ports.deltas import UnpoolConfig
from merp.hdl.cnn_merp.upsampling.unpool_ports import (
    IssuedElement,
    OfferedField,
    OfferedWord,
    UnpoolProgress,
    UnpoolRead,
    UnpoolWrite,
)
from merp.hdl.cnn_merp.upsampling.unpool_reader import unpool_reader
from merp.hdl.cnn_merp.upsampling.unpool_scale import unpool_scale
from merp.hdl.cnn_merp.upsampling.unpool_sum import unpool_sum
from merp.hdl.cnn_merp.upsampling.unpool_writer import unpool_writer
from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.streams.bit_unpacker import bit_unpacker
from merp.hdl.streams.credit_fifo import credit_fifo
from merp.hdl.streams.stream_gate import stream_gate
from merp.hdl.streams.stream_slice import stream_slice
from merp.models.base.latencies import CREDIT_RETURN
from merp.models.machines.cnn_merp.params.unpool_design import UnpoolDesign


@entity
def unpool(
    clk: Bit,
    rst: Bit,
    start: Bit,
    config: UnpoolConfig,
    sink: Stream,
    sink_state: Stream,
    source: Stream,
    done: Bit,
    framing_error: Bit,
    design: UnpoolDesign,
) -> Any:
    """Expand deltas to the resolution of the sums and apply ReLU'.

    start          in   pulse; config is stable from here to done
    sink           in   pooled deltas in the order image, row, column, map
    sink_state     in   bytes of the ReLU/pooling masks (state kind pooled): one string of bits, the
                        lowest of a byte first. Max pooling: for each word of sink its mask bit
                        (with ReLU), then its position (row * window + column). Else, with ReLU: a
                        mask bit for each word of source. Otherwise none.
    source         out  deltas in the same order; last is set with the final word of the run
    done           out  the final word was transferred; until the next start
    framing_error  out  last arrived with a word other than the last of its stream; until start

    Average pooling spreads delta * RN(1 / window^2). Contributions of overlapping windows add in
    raster order of the pooled elements, from +0. Without pooling a word passes or becomes +0.
    Latency: sum_latency + 4 cycles from a word to the first element that depends on no later word,
    or 4 without pooling. A design with average pooling takes mul_latency + 1 more. Throughput: a
    word out per cycle, and a word in per cycle while there is room. Reset: the run is abandoned.
    """
    width = design.fmt.width
    latency = design.sum_latency
    places = latency + CREDIT_RETURN

    delta_valid, delta_ready, delta_error = flag(), flag(), flag()
    state_valid, state_ready, state_error = flag(), flag(), flag()
    word, field = OfferedWord(design), OfferedField(design)
    word_in, word_out = word.to_another(), word.to_another()
    field_in, field_out = field.to_another(), field.to_another()
    progress = UnpoolProgress(design)
    write, read, issued = UnpoolWrite(design), UnpoolRead(design), IssuedElement(design)
    total, adding, summed = bits(width), flag(), flag()
    total_last, total_masked = flag(), flag()
    push, credit, ending = flag(), flag(), flag()
    kept = bits(width)
    result, head = bits(1 + width), bits(1 + width)
    joined = ConcatSignal(ending, kept)

    @always_comb
    def route() -> None:
        word.ready.next = word_in.ready or word_out.ready
        field.take.next = field_in.take or field_out.take

    if design.average:
        scaling = unpool_scale(
            clk,
            rst,
            average=config.average,
            scale=config.scale,
            data=sink.data,
            valid=delta_valid,
            ready=delta_ready,
            word=word,
            design=design,
        )
    else:
        scaling = stream_slice(
            clk,
            clear=start,
            data=sink.data,
            valid=delta_valid,
            ready=delta_ready,
            held=word.data,
            held_valid=word.valid,
            held_ready=word.ready,
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
        stream_gate(
            clk,
            rst,
            start,
            words=config.delta_words,
            sink=sink,
            valid=delta_valid,
            ready=delta_ready,
            framing_error=delta_error,
        ),
        stream_gate(
            clk,
            rst,
            start,
            words=config.state_bytes,
            sink=sink_state,
            valid=state_valid,
            ready=state_ready,
            framing_error=state_error,
        ),
        scaling,
        bit_unpacker(
            clk,
            start,
            data=sink_state.data,
            data_valid=state_valid,
            data_ready=state_ready,
            field_bits=config.field_bits,
            field=field.data,
            field_valid=field.valid,
            take=field.take,
        ),
        unpool_writer(
            clk,
            start,
            config=config,
            word=word_in,
            field=field_in,
            passed=progress.passed,
            written=progress.written,
            write=write,
            design=design,
        ),
        unpool_reader(
            clk,
            rst,
            start,
            config=config,
            word=word_out,
            field=field_out,
            credit=credit,
            progress=progress,
            read=read,
            issued=issued,
            design=design,
        ),
        unpool_sum(clk, write=write, read=read, average=config.average, y=total, design=design),
        valid_delay(clk, rst, d=adding, q=summed, cycles=latency - 1),
        delay(clk, d=issued.last, q=total_last, cycles=latency - 1),
        delay(clk, d=issued.masked, q=total_masked, cycles=latency - 1),
        credit_fifo(
            clk,
            rst,
            push=push,
            data=result,
            head=head,
            head_valid=source.valid,
            take=source.ready,
            credit=credit,
            words=places,
        ),
        route,
        select,
        join,
        present,
        finish,
    )
