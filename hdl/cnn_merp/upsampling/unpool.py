"""Un-pooling and ReLU': convert the deltas of a layer's output to the deltas of its sums.

Source: CNN-MERP, section III.B; overlapping windows add. The deltas may be stored at pooled
resolution and expanded here, a word per cycle.

Leaky ReLU multiplies by its slope where ReLU gives +0: deltas before they add, but in average
pooling the sums. A design for it takes mul_latency + 1 cycles more in front of the sums, like one
with average pooling. A design for both takes mul_latency more behind them, too.
"""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always, always_comb, block

from merp.hdl.arithmetic.fp_mul import fp_mul
from merp.hdl.base.delay import delay
from merp.hdl.base.signals import Stream, bits, flag
from merp.hdl.base.valid_delay import valid_delay
from merp.hdl.cnn_merp.ports.deltas import UnpoolConfig
from merp.hdl.cnn_merp.upsampling.unpool_leak import unpool_leak
from merp.hdl.cnn_merp.upsampling.unpool_ports import (
    IssuedElement,
    OfferedField,
    OfferedWord,
    UnpoolProgress,
    UnpoolRead,
    UnpoolWrite,
    leak_latency,
)
from merp.hdl.cnn_merp.upsampling.unpool_reader import unpool_reader
from merp.hdl.cnn_merp.upsampling.unpool_scale import unpool_scale
from merp.hdl.cnn_merp.upsampling.unpool_sum import unpool_sum
from merp.hdl.cnn_merp.upsampling.unpool_writer import unpool_writer
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.streams.bit_unpacker import bit_unpacker
from merp.hdl.streams.credit_fifo import credit_fifo
from merp.hdl.streams.stream_gate import stream_gate
from merp.hdl.streams.stream_slice import stream_slice
from merp.models.base.latencies import CREDIT_RETURN
from merp.models.machines.cnn_merp.params.unpool_design import UnpoolDesign


class Offered:
    """Deltas and fields as they arrive, and as the writer and the reader get them."""

    def __init__(
        self, word: OfferedWord, field: OfferedField, given: OfferedWord, marked: OfferedField
    ) -> None:
        self.word = word
        self.field = field
        self.given = given  # the delta, or the word that takes its place
        self.marked = marked  # its field


class MaskedSums:
    """Sums with their masks in front of leaky ReLU, and behind it."""

    def __init__(self, total: Word, masked: Bit, y: Word, stopped: Bit) -> None:
        self.total = total
        self.masked = masked
        self.y = y
        self.stopped = stopped  # y counts as +0


def _given(word: OfferedWord, field: OfferedField) -> tuple[OfferedWord, OfferedField]:
    """Return a word and a field with the same handshake and other data."""
    given, marked = word.to_another(), field.to_another()
    given.data, marked.data = bits(len(word.data)), bits(len(field.data))
    return given, marked


@block
def _leaked(config: UnpoolConfig, offered: Offered, masked: Word) -> Any:
    """Apply a mask bit that belongs to a delta, and set it, so that nothing applies it again.

    masked  in  the word that takes the place of a delta whose bit is clear

    In average pooling the mask bits belong to the sums, and pass unchanged.
    """

    @always_comb
    def choose() -> None:
        offered.given.data.next = offered.word.data
        offered.marked.data.next = offered.field.data
        if config.leaky and not config.average and not offered.field.data[0]:
            offered.given.data.next = masked
            offered.marked.data.next = offered.field.data | 1

    return choose


@block
def _leaked_sum(clk: Bit, config: UnpoolConfig, sums: MaskedSums, design: UnpoolDesign) -> Any:
    """Multiply masked sums of leaky ReLU by the slope; those of ReLU are stopped behind it."""
    width, cycles = design.fmt.width, design.leak_latency
    product, plain, late = bits(width), bits(width), flag()

    @always_comb
    def choose() -> None:
        sums.y.next = plain
        sums.stopped.next = late
        if config.leaky:
            sums.stopped.next = False
            if late:
                sums.y.next = product

    return (
        fp_mul(clk, a=sums.total, b=config.slope, y=product, fmt=design.fmt, latency=cycles),
        delay(clk, d=sums.total, q=plain, cycles=cycles),
        delay(clk, d=sums.masked, q=late, cycles=cycles),
        choose,
    )


@block
def _leaking(
    clk: Bit,
    rst: Bit,
    config: UnpoolConfig,
    data: Word,
    valid: Bit,
    ready: Bit,
    offered: Offered,
    sums: MaskedSums,
    design: UnpoolDesign,
) -> Any:
    """Apply leaky ReLU: to deltas before they are stored, and to sums of averages."""
    masked = bits(design.fmt.width)
    multiplied = unpool_leak(
        clk,
        rst,
        config=config,
        data=data,
        valid=valid,
        ready=ready,
        word=offered.word,
        masked=masked,
        design=design,
    )
    applied = _leaked(config, offered=offered, masked=masked)
    if not design.average:
        return multiplied, applied
    return multiplied, applied, _leaked_sum(clk, config=config, sums=sums, design=design)


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

    delta_valid, delta_ready, delta_error = flag(), flag(), flag()
    state_valid, state_ready, state_error = flag(), flag(), flag()
    word, field = OfferedWord(design), OfferedField(design)
    leaky = config.get("leaky") is not None
    given, marked = _given(word, field) if leaky else (word, field)
    word_in, word_out = given.to_another(), given.to_another()
    field_in, field_out = marked.to_another(), marked.to_another()
    progress = UnpoolProgress(design)
    write, read, issued = UnpoolWrite(design), UnpoolRead(design), IssuedElement(design)
    total, adding, summed = bits(width), flag(), flag()
    total_last, total_masked = flag(), flag()
    whole, whole_masked = total, total_masked  # the sum, before the multiplier of leaky ReLU
    if leaky:
        latency += leak_latency(design)
        if design.average:
            whole, whole_masked = bits(width), flag()
    places = latency + CREDIT_RETURN
    push, credit, ending = flag(), flag(), flag()
    kept = bits(width)
    result, head = bits(1 + width), bits(1 + width)
    joined = ConcatSignal(ending, kept)

    @always_comb
    def route() -> None:
        word.ready.next = word_in.ready or word_out.ready
        field.take.next = field_in.take or field_out.take

    if leaky:
        scaling: Any = _leaking(
            clk,
            rst,
            config=config,
            data=sink.data,
            valid=delta_valid,
            ready=delta_ready,
            offered=Offered(word, field, given, marked),
            sums=MaskedSums(whole, whole_masked, total, total_masked),
            design=design,
        )
    elif design.average:
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
        unpool_sum(clk, write=write, read=read, average=config.average, y=whole, design=design),
        valid_delay(clk, rst, d=adding, q=summed, cycles=latency - 1),
        delay(clk, d=issued.last, q=total_last, cycles=latency - 1),
        delay(clk, d=issued.masked, q=whole_masked, cycles=design.sum_latency - 1),
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
