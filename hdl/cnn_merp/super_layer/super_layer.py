"""Behind the CU array: ReLU, pooling, and the stream of map words out.

CNN-MERP sections IV.F and V.D: convolution, ReLU and pooling in one pass (strategy 5).
"""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always_comb, block

from merp.hdl.arithmetic.relu import relu
from merp.hdl.base.signals import Stream, bits, count, flag
from merp.hdl.cnn_merp.ports.outputs import OutputConfig, Sums
from merp.hdl.cnn_merp.super_layer.beat_issue import beat_issue
from merp.hdl.cnn_merp.super_layer.no_pooling import no_pooling
from merp.hdl.cnn_merp.super_layer.partial_writer import partial_writer
from merp.hdl.cnn_merp.super_layer.pool_code import pool_code
from merp.hdl.cnn_merp.super_layer.pool_control import pool_control
from merp.hdl.cnn_merp.super_layer.pool_unit import pool_unit, pool_unit_latency
from merp.hdl.cnn_merp.super_layer.result_tag import result_tag
from merp.hdl.cnn_merp.super_layer.state_writer import state_writer
from merp.hdl.cnn_merp.super_layer.super_layer_ports import Beat, PoolUpdate, Step, element_width
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.streams.credit_fifo import credit_fifo
from merp.hdl.streams.serializer import serializer
from merp.hdl.streams.wide_serializer import wide_serializer
from merp.models.base.latencies import CREDIT_RETURN
from merp.models.base.state_field import position_bits
from merp.models.machines.cnn_merp.params.design import Design


@block
def _both(a: Bit, b: Bit, y: Bit) -> Any:
    """Whether the state and the sums have places for what a beat sends there."""

    @always_comb
    def agree() -> None:
        y.next = a and b

    return agree


@block
def _divert(
    raw: Bit, closes: Bit, closing: Bit, partial_sent: Bit, map_sent: Bit, sent: Bit
) -> Any:
    """Sums that leave raw give no results, and are what has to be sent."""

    @always_comb
    def choose() -> None:
        closing.next = closes and not raw
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
    step: Step,
    window: tuple[Bit, Bit],
    rectified: list[Word],
    elements: list[Word],
    design: Design,
) -> Any:
    """Pooling of each lane of a beat.

    window: the position at hand closes one; it is the last one of the run to do so.
    """
    closes, closes_last = window
    update = PoolUpdate(design)
    codes: Any = None
    coding: Any = ()
    if design.state:
        codes = bits(design.pool_overlap**2 * position_bits(design.pool_window))
        coding = pool_code(clk, start, config=config, step=step, codes=codes, design=design)
    control = pool_control(
        clk,
        start,
        config=config,
        step=step,
        closes=closes,
        closes_last=closes_last,
        update=update,
        design=design,
    )
    units = [
        pool_unit(
            clk,
            x=x,
            update=update,
            average=config.average,
            scale=config.scale,
            y=y,
            design=design,
            codes=codes,
        )
        for x, y in zip(rectified, elements, strict=True)
    ]
    return control, units, coding


@block
def _sending(
    clk: Bit,
    rst: Bit,
    start: Bit,
    results: Word,
    last: Bit,
    values: list[Word],
    credit: Bit,
    source: Stream,
    sent: Bit,
    places: int,
) -> Any:
    """Results on their way to the stream: how many of a beat count, and whether they are the last.

    credit: pulse: a place for results is free again.
    """
    r, width = len(values), len(values[0])
    push = flag()
    result = bits(1 + len(results) + r * width)
    head = bits(len(result))
    head_valid, head_take = flag(), flag()
    joined = ConcatSignal(last, results, *reversed(values))

    @always_comb
    def join() -> None:
        push.next = results != 0
        result.next = joined

    leaving = credit_fifo(
        clk,
        rst,
        push=push,
        data=result,
        head=head,
        head_valid=head_valid,
        take=head_take,
        credit=credit,
        words=places,
    )
    several = len(source.data) > width
    sender = (wide_serializer if several else serializer)(
        clk,
        rst,
        start,
        beat=head,
        beat_valid=head_valid,
        take=head_take,
        source=source,
        sent=sent,
        width=width,
        lanes=r,
    )
    return join, leaving, sender


@entity
def super_layer(
    clk: Bit,
    rst: Bit,
    start: Bit,
    config: OutputConfig,
    sums: Sums,
    credit: Bit,
    source: Stream,
    done: Bit,
    design: Design,
    state: Stream | None = None,
    raw: Bit = None,
    partial: Stream | None = None,
) -> Any:
    """Finish the sums of output positions and send them as map words.

    start   in   pulse; config is stable from here to done
    sums    in   a word per group of a position, in raster order; never stalled
    credit  out  pulse: one of the fifo_words places for sums is free again
    source  out  words in the order image, row, column, map, or beats of several
    done    out  every sum was taken and the last words transferred; until the next start
    state   out  (in a design that writes it) bytes of the state that backward propagation needs
    raw      in   (in a design for partial sums) the sums leave by partial, nothing by the others
    partial  out  (in the same) sums in the accumulator's format, in the order of source

    The two streams out share the beats, so that in the end the slower reader stops both. Neither
    reader may wait for the other stream.
    Throughput: r sums in and one word out per cycle. Reset: the run is abandoned.
    """
    if design.state != (state is not None):
        raise ValueError(f"a stream of state goes with design.state, which is {design.state}")
    if not (design.partial == (raw is not None) == (partial is not None)):
        raise ValueError(f"a stream of sums goes with design.partial, which is {design.partial}")
    width, r, place = design.fmt.width, design.r, design.sum_format.width
    pooling = design.pool_window > 1
    latency = pool_unit_latency(design) if pooling else 0
    places = latency + CREDIT_RETURN + 1  # the decision

    word = bits(design.n_cu * place)
    word_valid, word_take = flag(), flag()
    step = Step(design)
    beat = Beat(design)
    closes, closes_last, result_credit = flag(), flag(), flag()
    drained, sent = flag(), flag()
    rectified = [bits(width) for _ in range(r)]
    permit = flag() if design.state or design.partial else None
    closing = flag() if design.partial else None  # what closes gives results
    map_sent = flag() if design.partial else None

    waiting = credit_fifo(
        clk,
        rst,
        push=sums.valid,
        data=sums.data,
        head=word,
        head_valid=word_valid,
        take=word_take,
        credit=credit,
        words=design.fifo_words,
    )
    issuer = beat_issue(
        clk,
        rst,
        start,
        config=config,
        word=word,
        word_valid=word_valid,
        take=word_take,
        closes=closes if closing is None else closing,
        closes_last=closes_last,
        credit=result_credit,
        step=step,
        beat=beat,
        drained=drained,
        design=design,
        places=places,
        permit=permit,
    )
    rectifiers = [
        relu(enable=config.relu, x=beat.data(lane * place + width, lane * place), y=rectified[lane])
        for lane in range(r)
    ]

    if pooling:
        elements = [bits(element_width(design)) for _ in range(r)]
        values = [element(width, 0) if design.state else element for element in elements]
        results, last = count(r), flag()
        stages = [
            _pooling(
                clk,
                start,
                config=config,
                step=step,
                window=(closes, closes_last),
                rectified=rectified,
                elements=elements,
                design=design,
            ),
            result_tag(
                clk, rst, beat=beat, results=results, last=last, design=design, cycles=latency
            ),
        ]
    else:
        elements, results, last = rectified, beat.results, beat.last
        values = elements
        stages = [no_pooling(step=step, closes=closes, closes_last=closes_last)]

    leaving = _sending(
        clk,
        rst,
        start,
        results=results,
        last=last,
        values=values,
        credit=result_credit,
        source=source,
        sent=sent if map_sent is None else map_sent,
        places=places,
    )

    parts: list[Any] = [waiting, issuer, rectifiers, stages, leaving]
    state_permit = None
    if partial is not None:
        partial_permit, partial_sent = flag(), flag()
        if state is not None:
            state_permit = flag()
            parts.append(_both(a=partial_permit, b=state_permit, y=permit))
        parts += [
            _divert(
                raw=raw,
                closes=closes,
                closing=closing,
                partial_sent=partial_sent,
                map_sent=map_sent,
                sent=sent,
            ),
            partial_writer(
                clk,
                rst,
                start,
                raw=raw,
                step=step,
                permit=permit if state is None else partial_permit,
                beat=beat,
                source=partial,
                sent=partial_sent,
                design=design,
            ),
        ]

    if state is None:

        @always_comb
        def finish() -> None:
            done.next = drained and sent

        return *parts, finish

    state_done = flag()
    pooled = ConcatSignal(*reversed(elements)) if r > 1 else elements[0]
    keeper = state_writer(
        clk,
        rst,
        start,
        config=config,
        step=step,
        closes=closes if closing is None else closing,
        permit=permit if state_permit is None else state_permit,
        beat=beat,
        elements=pooled,
        results=results,
        last=last,
        source=state,
        done=state_done,
        design=design,
        places=places,
    )

    @always_comb
    def finish_both() -> None:
        done.next = state_done and drained and sent

    return *parts, keeper, finish_both
