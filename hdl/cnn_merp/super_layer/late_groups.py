"""Groups and elements of beats for positions behind the sums, which complete pooling windows."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, block

from merp.hdl.base.raster import LatePlaces
from merp.hdl.base.signals import flag
from merp.hdl.cnn_merp.super_layer.super_layer_ports import BeatStep, ResultBeat
from merp.hdl.conversion.entity import Bit, Word
from merp.hdl.streams.head import Head
from merp.models.machines.cnn_merp.params.design import EngineDesign


@block
def late_groups(
    clk: Bit,
    rst: Bit,
    start: Bit,
    word: Head,
    offered: Bit,
    load: Bit,
    late: LatePlaces,
    left: Word,
    last_group: Bit,
    step: BeatStep,
    beat: ResultBeat,
) -> Any:
    """Offer groups without sums for positions behind the last row and column.

    The beats of such a position have no elements. They complete windows that end in the last row or
    column, one window per position.

    offered           out  a group can be begun, with or without a word of sums
    load              in   it is begun; out, as word.take: with a word.
    left, last_group  in   elements left of the group before, and whether it ends its position
    """
    late_here, late_next = late.here, late.next
    busy, blank = flag(), flag()

    @always_comb
    def offer() -> None:
        # Before a run, the walk is somewhere.
        blank.next = False
        if busy and left != 0 and last_group:
            blank.next = late_next
        elif busy:
            blank.next = late_here

    @always_comb
    def agree() -> None:
        offered.next = blank or word.valid
        word.take.next = load and not blank

    @always(clk.posedge)
    def run() -> None:
        if step.issue:
            beat.late.next = late_here
            if step.ends_position and step.last_column and step.last_row and step.last_image:
                busy.next = False
        if start:
            busy.next = True
        if rst:
            busy.next = False

    return offer, agree, run


@block
def late_elements(
    clk: Bit, rst: Bit, step: BeatStep, beat: ResultBeat, left: Word, lanes: int
) -> Any:
    """Count the elements of a beat, and mark the run's last beat with elements."""

    @always(clk.posedge)
    def measure() -> None:
        beat.elements.next = 0
        if step.issue:
            if not step.late:
                if left < lanes:
                    beat.elements.next = left
                else:
                    beat.elements.next = lanes
            beat.ends_run.next = (
                step.ends_position and step.edge_column and step.edge_row and step.last_image
            )
        if rst:
            beat.elements.next = 0

    return measure


@block
def neutral_element(late: Bit, average: Bit, x: Word, y: Word, design: EngineDesign) -> Any:
    """Replace an element behind the sums by one that changes no result.

    -0 plus a number is the number. -infinity is larger than nothing, and of equals the first wins.
    """
    zero, least = design.fmt.sign_bit, design.fmt.sign_bit | design.fmt.inf

    @always_comb
    def replace() -> None:
        y.next = x
        if late and average:
            y.next = zero
        elif late:
            y.next = least

    return replace
