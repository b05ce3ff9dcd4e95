"""The state for backward propagation as a stream: masks of ReLU and positions of maxima.

State kind ``pooled``: with maximum pooling (and without pooling) a field per result, its mask bit
lowest and its position above; with average pooling a mask bit per activation.
"""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always_comb, intbv

from merp.hdl.arithmetic.relu_mask import relu_mask
from merp.hdl.base.signals import Stream, bits, count, flag
from merp.hdl.cnn_merp.ports.outputs import OutputConfig
from merp.hdl.cnn_merp.super_layer.state_field import state_field
from merp.hdl.cnn_merp.super_layer.state_joiner import state_joiner
from merp.hdl.cnn_merp.super_layer.state_serializer import state_serializer
from merp.hdl.cnn_merp.super_layer.super_layer_ports import Beat, Step, element_width
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.streams.bit_packer import bit_packer
from merp.hdl.streams.credit_fifo import credit_fifo
from merp.hdl.streams.credit_gate import credit_gate
from merp.models.base.state_field import position_bits
from merp.models.machines.cnn_merp.params.design import Design


@entity
def state_writer(
    clk: Bit,
    rst: Bit,
    start: Bit,
    config: OutputConfig,
    step: Step,
    closes: Bit,
    permit: Bit,
    beat: Beat,
    elements: Word,
    results: Word,
    last: Bit,
    source: Stream,
    done: Bit,
    design: Design,
    places: int,
) -> Any:
    """Send the state of a run as a string of bits without gaps.

    step, closes    in   what drain issues in this cycle; its position closes a pooling window
    permit          out  there is a place for the state of the beat that is next
    beat            in   the one that was issued in the cycle before
    elements        in   results of the lanes, each with its position above it
    results, last   in   how many of them count; they are the run's last ones
    source          out  stream of words of the string, the first bit in the lowest place
    done            out  the last one was transferred, or the run has no state; until next start

    Latency: four cycles from the beat of masks, or the first field, that completes a word.
    Throughput: a beat of masks, or a field, per cycle, as far as a word per cycle carries it; where
    maps leave several to a beat, a beat of fields.
    Reset: the run is abandoned.
    """
    width, r = design.fmt.width, design.r
    pooled = element_width(design)
    code_size = position_bits(design.pool_window)
    field_width = 1 + code_size
    total = r * field_width
    lanes = range(r)
    place = design.sum_format.width  # of an element in a beat
    sizes = (0, *(position_bits(window) for window in range(1, design.pool_window + 1)))

    asked, room, reserved, any_state, pushed, credit, sent = (flag() for _ in range(7))
    word = bits(total + len(results) + 1)
    head = bits(len(word))
    head_valid, head_take = flag(), flag()
    position_size, field_size = count(code_size), count(field_width)
    several = design.map_port > 1
    value = bits(total if several else max(field_width, r))
    size = count(len(value))
    push, flush, fits = flag(), flag(), flag()
    written = flag()

    @always_comb
    def judge() -> None:
        any_state.next = config.relu or (config.window != 1 and not config.average)
        if config.average:
            asked.next = config.relu
        else:
            asked.next = closes and (config.relu or config.window != 1)

    @always_comb
    def allow() -> None:
        permit.next = room or not asked
        reserved.next = step.issue and asked

    space = credit_gate(clk, rst, taken=reserved, freed=credit, some=room, places=places)

    if design.pool_window > 1:
        fields = [bits(field_width) for _ in lanes]
        makers = [
            state_field(
                relu=config.relu,
                x=elements(lane * pooled + width, lane * pooled),
                code=elements((lane + 1) * pooled, lane * pooled + width),
                field=fields[lane],
                fmt=design.fmt,
            )
            for lane in lanes
        ]
    else:
        fields = [flag() for _ in lanes]
        makers = [
            relu_mask(x=elements((lane + 1) * width, lane * width), y=fields[lane], fmt=design.fmt)
            for lane in lanes
        ]
    of_results = ConcatSignal(last, results, *reversed(fields))

    if design.average:
        masks = [flag() for _ in lanes]
        makers += [
            relu_mask(
                x=beat.data(lane * place + width, lane * place), y=masks[lane], fmt=design.fmt
            )
            for lane in lanes
        ]
        of_beat = ConcatSignal(beat.ends_run, *reversed(masks))

        @always_comb
        def collect() -> None:
            line = intbv(0)[len(word) :]
            if config.average:
                written.next = beat.elements != 0
                for lane in range(r):
                    if lane < beat.elements and of_beat[lane]:
                        line[lane] = True
                line[len(word) - 1 : total] = beat.elements
                line[len(word) - 1] = of_beat[r]
            else:
                written.next = results != 0
                line[:] = of_results
            word.next = line
    else:

        @always_comb
        def collect() -> None:
            written.next = results != 0
            word.next = of_results

    @always_comb
    def admit() -> None:
        pushed.next = written and any_state

    waiting = credit_fifo(
        clk,
        rst,
        push=pushed,
        data=word,
        head=head,
        head_valid=head_valid,
        take=head_take,
        credit=credit,
        words=places,
    )

    @always_comb
    def look_up() -> None:
        position_size.next = sizes[int(config.window)]

    @always_comb
    def measure() -> None:
        if config.relu:
            field_size.next = position_size + 1
        else:
            field_size.next = position_size

    sender = (state_joiner if several else state_serializer)(
        clk,
        rst,
        together=config.average,
        field_size=field_size,
        beat=head,
        beat_valid=head_valid,
        take=head_take,
        value=value,
        size=size,
        push=push,
        flush=flush,
        room=fits,
        width=field_width,
        lanes=r,
    )
    packer = bit_packer(
        clk,
        rst,
        start,
        value=value,
        size=size,
        push=push,
        flush=flush,
        room=fits,
        source=source,
        sent=sent,
    )

    @always_comb
    def finish() -> None:
        done.next = sent or not any_state

    return (
        judge, allow, space, makers, collect, admit, waiting, look_up, measure, sender, packer,
        finish,
    )  # fmt: skip
