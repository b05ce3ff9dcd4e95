"""Deltas of the loss, sent behind the outputs of the last layer, which has one word per class."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, block, intbv

from merp.hdl.arithmetic.clip import clip
from merp.hdl.arithmetic.fixed_round import fixed_round
from merp.hdl.base.flag_counter import flag_counter
from merp.hdl.base.signals import Stream, bits, count, flag
from merp.hdl.base.valid_delay import valid_delay
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.mac_array.ports.outputs import ArrayOutputConfig
from merp.hdl.streams.credit_fifo import credit_fifo
from merp.models.machines.mac_array.params.array_pass import SHIFTS
from merp.models.machines.mac_array.params.design import WORD_BITS, ArrayDesign
from merp.models.machines.mac_array.params.words import ROUNDED_BITS

DERIVATIVE_BITS = WORD_BITS + 4
"""Bits of a derivative before rounding: twice the difference of a word and 2^15, and its sign."""

TO_DELTA = 5
"""Cycles from an output to its delta."""


@block
def _derivative(
    clk: Bit, config: ArrayOutputConfig, output: Word, hit: Bit, derivative: Word
) -> Any:
    """Compute the derivative by an output, a cycle later; targets are 1, and 0 or (hinge) -1."""
    size = DERIVATIVE_BITS

    @always(clk.posedge)
    def differ() -> None:
        one = intbv(0, min=-(1 << size - 1), max=1 << size - 1)
        found = intbv(0, min=-(1 << size - 1), max=1 << size - 1)
        one[:] = 1
        one[:] = one << config.one_shift
        found[:] = output.signed()
        if not config.hinge:
            if hit:
                found[:] = found - one
        elif hit:
            found[:] = found - one
            if found > 0:
                found[:] = 0
            found[:] = found << 1
        else:
            found[:] = found + one
            if found < 0:
                found[:] = 0
            found[:] = found << 1
        derivative.next = found[size:]

    return differ


@entity
def loss_unit(
    clk: Bit,
    rst: Bit,
    start: Bit,
    config: ArrayOutputConfig,
    target: Stream,
    sink: Stream,
    source: Stream,
    saturated: Word,
    design: ArrayDesign,
) -> Any:
    """Pass the outputs on, and send the deltas of their loss behind them.

    config     in   registers, stable from start on
    target     in   number of the right class; taken with the last delta
    sink       in   atoms of the layer; only their first column counts
    source     out  the outputs; with a loss, their deltas follow in the same order
    saturated  out  number of clipped deltas since start

    Half the squared distance: y - t, targets t of 0 and 1. Squared hinge: -2 t max(0, 1 - t y),
    targets of -1 and 1. Without a loss, atoms pass unchanged; with a loss, they wait for the
    target. Latency: none; the first delta follows seven cycles after its output, and behind the
    last output. Throughput: an atom per cycle. Reset: as start, no delta is kept.
    """
    classes = design.max_maps
    clear, passes, sending, ends, took, push, hit = (flag() for _ in range(7))
    head_valid, take, credit = flag(), flag(), flag()
    place = count(classes)  # number of the current output, and of the deltas left
    left = count(classes)
    output = bits(WORD_BITS)
    derivative, rounded = bits(DERIVATIVE_BITS), bits(ROUNDED_BITS)
    delta, held, head = bits(WORD_BITS), bits(WORD_BITS), bits(WORD_BITS)
    clipped, beyond, counted = flag(), flag(), bits(1)

    @always_comb
    def begin() -> None:
        clear.next = rst or start

    @always_comb
    def admit() -> None:
        passes.next = not sending and (target.valid or not config.loss)

    @always_comb
    def hand_on() -> None:
        sink.ready.next = passes and source.ready
        took.next = passes and source.ready and sink.valid and config.loss
        take.next = sending and source.ready
        ends.next = sending and source.ready and head_valid and left == 1
        target.ready.next = sending and source.ready and head_valid and left == 1

    @always_comb
    def offer() -> None:
        if sending:
            source.valid.next = head_valid
            source.data.next = head
            source.last.next = left == 1
        else:
            source.valid.next = sink.valid and passes
            source.data.next = sink.data
            source.last.next = sink.last and not config.loss

    @always_comb
    def look() -> None:
        output.next = sink.data[WORD_BITS:]
        hit.next = place == target.data

    @always(clk.posedge)
    def walk() -> None:
        if took:
            place.next = place + 1
            if sink.last:
                sending.next = True
                left.next = place + 1
        if take and head_valid:
            left.next = left - 1
        if ends:
            sending.next = False
            place.next = 0
        if clear:
            sending.next = False
            place.next = 0

    @always(clk.posedge)
    def keep() -> None:
        delta.next = held
        beyond.next = clipped

    @always_comb
    def tally() -> None:
        counted.next = 0
        if push and beyond:
            counted.next = 1

    return (
        begin,
        admit,
        hand_on,
        offer,
        look,
        walk,
        _derivative(clk, config=config, output=output, hit=hit, derivative=derivative),
        fixed_round(
            clk,
            value=derivative,
            shift=config.loss_shift,
            rounded=rounded,
            left=-SHIFTS["loss_shift"][0],
        ),
        clip(value=rounded, word=held, clipped=clipped),
        keep,
        valid_delay(clk, clear, d=took, q=push, cycles=TO_DELTA),
        tally,
        flag_counter(clk, clear=clear, flags=counted, total=saturated),
        credit_fifo(
            clk,
            clear,
            push=push,
            data=delta,
            head=head,
            head_valid=head_valid,
            take=take,
            credit=credit,
            words=classes,
        ),
    )
