"""The ReLU/pooling masks for backward propagation as a stream: mask bits and positions of maxima.

State kind ``pooled``: with maximum pooling (and without pooling), each result has a field with the
mask bit lowest and the position above it. With average pooling, each activation has a mask bit.
"""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always_comb, block, intbv

from merp.hdl.arithmetic.relu_mask import relu_mask
from merp.hdl.base.signals import Stream, bits, count, flag
from merp.hdl.cnn_merp.ports.outputs import OutputConfig
from merp.hdl.cnn_merp.super_layer.state_field import state_field
from merp.hdl.cnn_merp.super_layer.state_joiner import state_joiner
from merp.hdl.cnn_merp.super_layer.state_serializer import state_serializer
from merp.hdl.cnn_merp.super_layer.super_layer_ports import (
    FieldSizes,
    Issue,
    ResultBeat,
    Results,
    element_width,
)
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.streams.bit_packer import bit_packer
from merp.hdl.streams.bit_string import BitString
from merp.hdl.streams.credit_fifo import credit_fifo
from merp.hdl.streams.credit_gate import credit_gate
from merp.hdl.streams.head import Head
from merp.models.base.state_field import position_bits
from merp.models.machines.cnn_merp.params.design import EngineDesign


@block
def _fields(
    config: OutputConfig,
    beat: ResultBeat,
    results: Results,
    word: Word,
    written: Bit,
    design: EngineDesign,
) -> Any:
    """Collect fields of results, or masks of the elements of a beat, for the serializer.

    word     out  fields, the first lowest; above them the number that counts; above that the end of
                  the run
    written  out  a word is written
    """
    width, r = design.fmt.width, design.r
    pooled = element_width(design)
    field_width = 1 + position_bits(design.pool_window)
    total = r * field_width
    lanes = range(r)
    place = design.sum_format.width  # place of an element in a beat
    elements, number = results.elements, results.number
    relu6 = config.get("relu6")

    if design.pool_window > 1:
        fields = [bits(field_width) for _ in lanes]
        makers = [
            state_field(
                relu=config.relu,
                x=elements(lane * pooled + width, lane * pooled),
                code=elements((lane + 1) * pooled, lane * pooled + width),
                field=fields[lane],
                fmt=design.fmt,
                relu6=relu6,
            )
            for lane in lanes
        ]
    else:
        fields = [flag() for _ in lanes]
        makers = [
            relu_mask(
                x=elements((lane + 1) * width, lane * width),
                y=fields[lane],
                fmt=design.fmt,
                relu6=relu6,
            )
            for lane in lanes
        ]
    of_results = ConcatSignal(results.last, number, *reversed(fields))
    if not design.average:

        @always_comb
        def collect() -> None:
            written.next = number != 0
            word.next = of_results

        return makers, collect

    masks = [flag() for _ in lanes]
    makers += [
        relu_mask(
            x=beat.data(lane * place + width, lane * place),
            y=masks[lane],
            fmt=design.fmt,
            relu6=relu6,
        )
        for lane in lanes
    ]
    of_beat = ConcatSignal(beat.ends_run, *reversed(masks))

    @always_comb
    def collect_either() -> None:
        line = intbv(0)[len(word) :]
        if config.average:
            written.next = beat.elements != 0
            for lane in range(r):
                if lane < beat.elements and of_beat[lane]:
                    line[lane] = True
            line[len(word) - 1 : total] = beat.elements
            line[len(word) - 1] = of_beat[r]
        else:
            written.next = number != 0
            line[:] = of_results
        word.next = line

    return makers, collect_either


@block
def _field_size(config: OutputConfig, size: Word, design: EngineDesign) -> Any:
    """Compute the bits of a field: the mask bit, if the run has ReLU, and the position."""
    sizes = (0, *(position_bits(window) for window in range(1, design.pool_window + 1)))
    position_size = count(position_bits(design.pool_window))

    @always_comb
    def look_up() -> None:
        position_size.next = sizes[int(config.window)]

    @always_comb
    def measure() -> None:
        if config.relu:
            size.next = position_size + 1
        else:
            size.next = position_size

    return look_up, measure


@block
def _masked(relu: Bit, late: Bit, masked: Bit) -> Any:
    """Check whether a beat has masks of its elements; behind the sums there are no elements."""

    @always_comb
    def judge() -> None:
        masked.next = relu and not late

    return judge


@entity
def state_writer(
    clk: Bit,
    rst: Bit,
    start: Bit,
    config: OutputConfig,
    issue: Issue,
    results: Results,
    source: Stream,
    done: Bit,
    design: EngineDesign,
    places: int,
) -> Any:
    """Send the masks of a run as a string of bits without gaps.

    issue    in   the issued beat; out: the permit, a place for the masks of the next beat
    results  in   results of a beat behind pooling
    source   out  stream of words of the string, the first bit in the lowest place
    done     out  the last word was transferred, or the run has no masks; until the next start

    Latency: four cycles from the beat of masks, or the first field, that completes a word.
    Throughput: a beat of masks, or a field, per cycle, up to a word per cycle; if maps are sent
    with several elements per beat, a beat of fields. Reset: the run is abandoned.
    """
    r = design.r
    field_width = 1 + position_bits(design.pool_window)
    several = design.map_port > 1
    asked, room, reserved, any_state, pushed, credit, sent = (flag() for _ in range(7))
    written = flag()
    word = bits(r * field_width + len(results.number) + 1)
    head = Head(len(word))
    fields = FieldSizes(config.average, count(field_width))
    string = BitString(r * field_width if several else max(field_width, r))

    masked: Any = config.relu
    masking: Any = ()
    if config.has("late_rows"):
        masked = flag()
        masking = _masked(relu=config.relu, late=issue.step.late, masked=masked)

    @always_comb
    def judge() -> None:
        any_state.next = config.relu or (config.window != 1 and not config.average)
        if config.average:
            asked.next = masked
        else:
            asked.next = issue.closing.window and (config.relu or config.window != 1)

    @always_comb
    def allow() -> None:
        issue.permit.next = room or not asked
        reserved.next = issue.step.issue and asked

    @always_comb
    def admit() -> None:
        pushed.next = written and any_state

    @always_comb
    def finish() -> None:
        done.next = sent or not any_state

    return (
        masking,
        judge,
        allow,
        admit,
        finish,
        credit_gate(clk, rst, taken=reserved, freed=credit, some=room, places=places),
        _fields(
            config=config,
            beat=issue.beat,
            results=results,
            word=word,
            written=written,
            design=design,
        ),
        credit_fifo(
            clk,
            rst,
            push=pushed,
            data=word,
            head=head.word,
            head_valid=head.valid,
            take=head.take,
            credit=credit,
            words=places,
        ),
        _field_size(config=config, size=fields.size, design=design),
        (state_joiner if several else state_serializer)(
            clk, rst, fields=fields, beat=head, string=string, width=field_width, lanes=r
        ),
        bit_packer(clk, rst, start, string=string, source=source, sent=sent),
    )
