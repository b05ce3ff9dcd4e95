"""Split finished sums into beats of r elements, and track their place in the run."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb

from merp.hdl.base.raster import LatePlaces, raster
from merp.hdl.base.signals import bits, count, flag
from merp.hdl.cnn_merp.ports.outputs import OutputConfig
from merp.hdl.cnn_merp.super_layer.late_groups import late_elements, late_groups
from merp.hdl.cnn_merp.super_layer.super_layer_ports import Issue
from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.streams.credit_gate import credit_gate
from merp.hdl.streams.head import Head
from merp.models.machines.cnn_merp.params.design import EngineDesign


@entity
def beat_issue(
    clk: Bit,
    rst: Bit,
    start: Bit,
    config: OutputConfig,
    word: Head,
    issue: Issue,
    credit: Bit,
    drained: Bit,
    design: EngineDesign,
    places: int,
) -> Any:
    """Issue one beat per cycle to the pipeline of ReLU and pooling, which cannot stall.

    word     in   sums
    issue    out  the issued beat; in: whether it closes a window, and has a permit
    credit   in   pulse: one of the places for results is free again
    drained  out  every beat of the run was issued; until the next start

    A beat that closes a window needs a place for its results. In a run with pooling, a position
    with fewer beats than pool_latency is followed by idle cycles, because the next position may
    read its partial results. Latency: the first beat of a word is issued one cycle after the word
    was taken. Throughput: a beat per cycle, without a gap between words. Reset: no word held, every
    place free.
    """
    step, beat, closing, permit = issue.step, issue.beat, issue.closing, issue.permit
    element = design.sum_format.width
    r, n_cu, interval = design.r, design.n_cu, design.pool_latency
    rest = bits(n_cu * element)
    left = count(n_cu + 1)  # one more bit, so that no comparison with r is constant
    last_group = flag()
    groups_left = count(design.groups)
    idle = count(interval)
    room, reserved, position_done = flag(), flag(), flag()
    requested = step.issue if permit is None else flag()
    load, offered = word.take, word.valid  # the beats of a group are begun, may begin
    late = None
    if config.has("late_rows"):
        load, offered = flag(), flag()
        late = LatePlaces(
            config.late_columns, config.late_rows, step.edge_column, step.edge_row, step.late
        )

    @always_comb
    def decide() -> None:
        requested.next = left != 0 and idle == 0 and (room or not closing.window)

    @always_comb
    def fetch() -> None:
        load.next = offered and (left == 0 or (step.issue and left <= r))
        reserved.next = step.issue and closing.window
        position_done.next = step.issue and step.ends_position

    @always_comb
    def place() -> None:
        step.ends_position.next = last_group and left <= r

    @always(clk.posedge)
    def split() -> None:
        if step.issue:
            beat.data.next = rest[r * element :]
            rest.next = rest >> (r * element)
            if left > r:
                left.next = left - r
            else:
                left.next = 0
        if load:
            rest.next = word.word
            last_group.next = groups_left == 1
            if groups_left == 1:
                left.next = config.last_cus
            else:
                left.next = n_cu
        if rst:
            left.next = 0

    @always(clk.posedge)
    def walk() -> None:
        if load:
            if groups_left == 1:
                groups_left.next = config.groups
            else:
                groups_left.next = groups_left - 1
        if step.issue:
            if not step.ends_position:
                step.beat.next = step.beat + 1
            else:
                step.beat.next = 0
                if step.last_column and step.last_row and step.last_image:
                    drained.next = True
        if start:
            groups_left.next = config.groups
            step.beat.next = 0
        if start or rst:
            drained.next = False

    @always(clk.posedge)
    def close() -> None:
        beat.results.next = 0
        if reserved:
            beat.last.next = closing.last and step.ends_position
            if left < r:
                beat.results.next = left
            else:
                beat.results.next = r
        if idle != 0:
            idle.next = idle - 1
        if step.issue and step.ends_position and config.window != 1:
            if step.beat < interval - 1:
                idle.next = interval - 1 - step.beat
        if rst:
            beat.results.next = 0
            idle.next = 0

    space = credit_gate(clk, rst, taken=reserved, freed=credit, some=room, places=places)
    positions = raster(
        clk,
        start,
        advance=position_done,
        columns=config.columns,
        rows=config.rows,
        images=config.images,
        last_column=step.last_column,
        last_row=step.last_row,
        last_image=step.last_image,
        late=late,
    )
    parts: tuple[Any, ...] = decide, fetch, place, split, walk, close, space, positions
    if late is not None:
        behind = late_groups(
            clk,
            rst,
            start,
            word=word,
            offered=offered,
            load=load,
            late=late,
            left=left,
            last_group=last_group,
            step=step,
            beat=beat,
        )
        parts = *parts, behind
    if permit is None:
        return parts

    @always_comb
    def agree() -> None:
        step.issue.next = requested and permit

    @always(clk.posedge)
    def measure() -> None:
        beat.elements.next = 0
        if step.issue:
            if left < r:
                beat.elements.next = left
            else:
                beat.elements.next = r
            beat.ends_run.next = (
                step.ends_position and step.last_column and step.last_row and step.last_image
            )
        if rst:
            beat.elements.next = 0

    if late is None:
        return *parts, agree, measure

    counted = late_elements(clk, rst, step=step, beat=beat, left=left, lanes=r)
    return *parts, agree, counted
