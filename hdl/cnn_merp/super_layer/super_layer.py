"""Processing behind the CU array: ReLU, pooling, and the stream of output map words.

Source: CNN-MERP, sections IV.F and V.D: convolution, ReLU and pooling in one pass (strategy 5).
"""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always_comb, block

from merp.hdl.arithmetic.relu import relu
from merp.hdl.base.delay import delay
from merp.hdl.base.signals import Stream, bits, count, flag
from merp.hdl.cnn_merp.ports.outputs import OutputConfig, Sums
from merp.hdl.cnn_merp.super_layer.beat_issue import beat_issue
from merp.hdl.cnn_merp.super_layer.late_groups import neutral_element
from merp.hdl.cnn_merp.super_layer.leaky_lanes import late_results, leak_latency, leaky_lanes
from merp.hdl.cnn_merp.super_layer.no_pooling import no_pooling
from merp.hdl.cnn_merp.super_layer.partial_writer import partial_writer
from merp.hdl.cnn_merp.super_layer.pool_code import pool_code
from merp.hdl.cnn_merp.super_layer.pool_control import pool_control
from merp.hdl.cnn_merp.super_layer.pool_unit import pool_unit, pool_unit_latency
from merp.hdl.cnn_merp.super_layer.result_tag import result_tag
from merp.hdl.cnn_merp.super_layer.state_writer import state_writer
from merp.hdl.cnn_merp.super_layer.super_layer_ports import (
    BeatStep,
    Closing,
    Issue,
    OutputStreams,
    PoolUpdate,
    ResultBeat,
    Results,
    element_width,
)
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.streams.credit_fifo import credit_fifo
from merp.hdl.streams.head import Head
from merp.hdl.streams.serializer import serializer
from merp.hdl.streams.wide_serializer import wide_serializer
from merp.models.base.latencies import CREDIT_RETURN
from merp.models.base.state_field import position_bits
from merp.models.machines.cnn_merp.params.design import EngineDesign

UPDATE_FIELDS = ("read", "address", "bypass", "fresh", "store", "store_address", "deliver")
"""Signals of ``PoolUpdate``."""


@block
def _both(a: Bit, b: Bit, y: Bit) -> Any:
    """Check whether masks and sums both have places for a beat."""

    @always_comb
    def agree() -> None:
        y.next = a and b

    return agree


@block
def _divert(
    raw: Bit, closes: Bit, closing: Closing, partial_sent: Bit, map_sent: Bit, sent: Bit
) -> Any:
    """Divert raw sums: they give no results, and are sent instead of them."""

    @always_comb
    def choose() -> None:
        closing.window.next = closes and not raw
        if raw:
            sent.next = partial_sent
        else:
            sent.next = map_sent

    return choose


@block
def _pooling(
    clk: Bit,
    start: Bit,
    config: OutputConfig,
    step: BeatStep,
    closing: Closing,
    rectified: list[Word],
    elements: list[Word],
    design: EngineDesign,
) -> Any:
    """Pool each lane of a beat.

    Leaky ReLU delivers its elements late. All control of the memories is delayed as much, so that
    its fields keep their distances, also from a write to the next read of the same word.
    """
    update = PoolUpdate(design)
    codes: Any = None
    coding: Any = ()
    if design.state:
        codes = bits(design.pool_overlap**2 * position_bits(design.pool_window))
        coding = pool_code(clk, start, config=config, step=step, codes=codes, design=design)
    late, late_codes, lags = update, codes, []
    if config.get("leaky") is not None:
        late = PoolUpdate(design)
        pairs = [(getattr(update, each), getattr(late, each)) for each in UPDATE_FIELDS]
        if codes is not None:
            late_codes = bits(len(codes))
            pairs.append((codes, late_codes))
        lags = [delay(clk, d=d, q=q, cycles=design.leak_latency) for d, q in pairs]
    control = pool_control(
        clk,
        start,
        config=config,
        step=step,
        closing=closing,
        update=update,
        design=design,
    )
    units = [
        pool_unit(
            clk,
            x=x,
            update=late,
            average=config.average,
            scale=config.scale,
            y=y,
            design=design,
            codes=late_codes,
        )
        for x, y in zip(rectified, elements, strict=True)
    ]
    return (control, units, coding, lags) if lags else (control, units, coding)


@block
def _sending(
    clk: Bit,
    rst: Bit,
    start: Bit,
    results: Results,
    values: list[Word],
    credit: Bit,
    source: Stream,
    sent: Bit,
    places: int,
) -> Any:
    """Send results to the stream; the count of a beat and the mark of the last results pass along.

    credit: pulse: a place for results is free again.
    """
    r, width = len(values), len(values[0])
    push = flag()
    result = bits(1 + len(results.number) + r * width)
    head = Head(len(result))
    joined = ConcatSignal(results.last, results.number, *reversed(values))

    @always_comb
    def join() -> None:
        push.next = results.number != 0
        result.next = joined

    leaving = credit_fifo(
        clk,
        rst,
        push=push,
        data=result,
        head=head.word,
        head_valid=head.valid,
        take=head.take,
        credit=credit,
        words=places,
    )
    several = len(source.data) > width
    sender = (wide_serializer if several else serializer)(
        clk,
        rst,
        start,
        beat=head,
        source=source,
        sent=sent,
        width=width,
        lanes=r,
    )
    return join, leaving, sender


@block
def _raw_sums(
    clk: Bit,
    rst: Bit,
    start: Bit,
    raw: Bit,
    closes: Bit,
    issue: Issue,
    map_sent: Bit,
    sent: Bit,
    source: Stream,
    design: EngineDesign,
) -> Any:
    """Send raw sums in parallel to the results of other runs.

    closes  in   the current position closes a window, and gives results unless the sums are raw
    issue   out  its closing, and its permit, a place for raw sums
    sent    out  all outputs of the run were transferred: map_sent, if it sends maps
    """
    partial_sent = flag()
    return (
        _divert(
            raw=raw,
            closes=closes,
            closing=issue.closing,
            partial_sent=partial_sent,
            map_sent=map_sent,
            sent=sent,
        ),
        partial_writer(
            clk,
            rst,
            start,
            raw=raw,
            step=issue.step,
            permit=issue.permit,
            beat=issue.beat,
            source=source,
            sent=partial_sent,
            design=design,
        ),
    )


@entity
def super_layer(
    clk: Bit,
    rst: Bit,
    start: Bit,
    config: OutputConfig,
    sums: Sums,
    credit: Bit,
    out: OutputStreams,
    done: Bit,
    design: EngineDesign,
    raw: Bit = None,
) -> Any:
    """Finish the sums of output positions and send them as map words.

    start   in   pulse; config is stable from here to done
    sums    in   a word per group of a position, in raster order; never stalled
    credit  out  pulse: one of the fifo_words places for sums is free again
    out     out  the streams: maps and, in designs that have them, masks and partial sums
    done    out  every sum was taken and the last words transferred; until the next start
    raw     in   (in a design for partial sums) the sums are sent through out.partial; the other
                 streams are empty

    Maps and masks share the beats, so the slower reader finally stops both. Neither reader may wait
    for the other stream. Throughput: r sums in and one word out per cycle. Reset: the run is
    abandoned.
    """
    if design.state != (out.state is not None):
        raise ValueError(f"presence of out.state must equal design.state, which is {design.state}")
    if not (design.partial == (raw is not None) == (out.partial is not None)):
        raise ValueError(
            f"presence of raw and out.partial must equal design.partial, which is {design.partial}"
        )
    width, r, place = design.fmt.width, design.r, design.sum_format.width
    pooling = design.pool_window > 1
    latency = pool_unit_latency(design) if pooling else 0
    leaky = config.get("leaky")
    if leaky is not None:
        latency += leak_latency(design)
    places = latency + CREDIT_RETURN + 1  # one more for the decision

    word = Head(design.n_cu * place)
    step, beat = BeatStep(design), ResultBeat(design)
    closed, closing = Closing(), Closing()  # a window; one with results, which raw sums do not give
    if raw is None:
        closing = closed
    closing.last = closed.last
    permit = flag() if design.state or design.partial else None
    result_credit, drained, sent = flag(), flag(), flag()
    map_sent = sent if raw is None else flag()
    rectified = [bits(width) for _ in range(r)]
    relu6 = config.get("relu6")

    waiting = credit_fifo(
        clk,
        rst,
        push=sums.valid,
        data=sums.data,
        head=word.word,
        head_valid=word.valid,
        take=word.take,
        credit=credit,
        words=design.fifo_words,
    )
    issuer = beat_issue(
        clk,
        rst,
        start,
        config=config,
        word=word,
        issue=Issue(step, beat, closing, permit),
        credit=result_credit,
        drained=drained,
        design=design,
        places=places,
    )
    rectifiers = [
        relu(
            enable=config.relu,
            x=beat.data(lane * place + width, lane * place),
            y=rectified[lane],
            relu6=relu6,
            fmt=None if relu6 is None else design.fmt,
        )
        for lane in range(r)
    ]
    activated = rectified
    if leaky is not None:
        activated = [bits(width) for _ in range(r)]
        rectifiers.append(
            leaky_lanes(
                clk, config=config, beat=beat, rectified=rectified, leaked=activated, design=design
            )
        )

    if pooling:
        pooled_elements = activated
        if config.has("late_rows"):
            late = beat.late
            if leaky is not None:
                late = flag()
                rectifiers.append(delay(clk, d=beat.late, q=late, cycles=leak_latency(design)))
            pooled_elements = [bits(width) for _ in range(r)]
            rectifiers += [
                neutral_element(late=late, average=config.average, x=x, y=y, design=design)
                for x, y in zip(activated, pooled_elements, strict=True)
            ]
        elements = [bits(element_width(design)) for _ in range(r)]
        values = [element(width, 0) if design.state else element for element in elements]
        number, last = count(r), flag()
        stages = [
            _pooling(
                clk,
                start,
                config=config,
                step=step,
                closing=closed,
                rectified=pooled_elements,
                elements=elements,
                design=design,
            ),
            result_tag(
                clk, rst, beat=beat, results=number, last=last, design=design, cycles=latency
            ),
        ]
    else:
        elements, number, last = activated, beat.results, beat.last
        values = elements
        stages = [no_pooling(step=step, closing=closed)]
        if leaky is not None:
            number, last = count(r), flag()
            stages.append(
                late_results(clk, rst, beat=beat, number=number, last=last, cycles=latency)
            )
    pooled = ConcatSignal(*reversed(elements)) if design.state and r > 1 else elements[0]
    results = Results(pooled, number, last)

    parts: list[Any] = [
        waiting,
        issuer,
        rectifiers,
        stages,
        _sending(
            clk,
            rst,
            start,
            results=results,
            values=values,
            credit=result_credit,
            source=out.maps,
            sent=map_sent,
            places=places,
        ),
    ]
    both = raw is not None and design.state
    sums_permit, state_permit = (flag() if both else permit for _ in range(2))
    if both:
        parts.append(_both(a=sums_permit, b=state_permit, y=permit))
    if raw is not None:
        parts.append(
            _raw_sums(
                clk,
                rst,
                start,
                raw=raw,
                closes=closed.window,
                issue=Issue(step, beat, closing, sums_permit),
                map_sent=map_sent,
                sent=sent,
                source=out.partial,
                design=design,
            )
        )
    if not design.state:

        @always_comb
        def finish() -> None:
            done.next = drained and sent

        return *parts, finish

    state_done = flag()
    keeper = state_writer(
        clk,
        rst,
        start,
        config=config,
        issue=Issue(step, beat, closing, state_permit),
        results=results,
        source=out.state,
        done=state_done,
        design=design,
        places=places,
    )

    @always_comb
    def finish_both() -> None:
        done.next = state_done and drained and sent

    return *parts, keeper, finish_both
