"""Send the atoms of the groups that are ready: lane by lane, and row by row."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, concat, intbv

from merp.hdl.base.signals import bits, count, flag
from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.mac_array.ports.outputs import Group, OutputConfig
from merp.hdl.mac_array.ports.sending import Sending
from merp.models.params.mac_array.design import Design
from merp.models.params.mac_array.output_registers import ATOM_NUMBER_BITS


@entity
def atom_sender(
    clk: Bit,
    clear: Bit,
    config: OutputConfig,
    group: Group,
    room: Bit,
    sending: Sending,
    freed: Bit,
    design: Design,
) -> Any:
    """Issue the atoms of each group.

    group    in   atoms that are ready; there are never more than two groups at a time
    room     in   there is a place for an atom
    sending  out  the atom that is read in this cycle
    freed    out  pulse: the last one of its group

    Throughput: an atom per cycle, from one group to the next too, the first one in the cycle behind
    group_valid. Reset, by clear: no group, and the lower half of the buffer is the next one.
    """
    busy, waiting, half, ends, last_row, last_lane = (flag() for _ in range(6))
    rows, next_rows = count(design.poy), count(design.poy)
    lanes, next_lanes = count(design.pof), count(design.pof)
    next_number = bits(ATOM_NUMBER_BITS)
    row, lane = count(design.poy - 1), count(design.pof - 1)
    row_bits, lane_bits = len(row), len(lane)
    first, number = bits(ATOM_NUMBER_BITS), bits(ATOM_NUMBER_BITS)  # of the lane; at hand

    @always_comb
    def compare() -> None:
        rows_done = intbv(0)[row_bits + 1 :]
        lanes_done = intbv(0)[lane_bits + 1 :]
        rows_done[:] = row
        rows_done[:] = rows_done + 1
        lanes_done[:] = lane
        lanes_done[:] = lanes_done + 1
        last_row.next = rows_done >= rows
        last_lane.next = lanes_done >= lanes

    @always_comb
    def issue() -> None:
        sending.issue.next = busy and room
        sending.row.next = concat(half, row)
        sending.lane.next = lane
        sending.number.next = number

    @always_comb
    def finish() -> None:
        ends.next = busy and room and last_row and last_lane
        freed.next = busy and room and last_row and last_lane

    @always(clk.posedge)
    def walk() -> None:
        if sending.issue:
            if not last_row:
                row.next = row + 1
                number.next = number + config.row_step
            else:
                row.next = 0
                if not last_lane:
                    lane.next = lane + 1
                    first.next = first + config.map_step
                    number.next = first + config.map_step
        if group.valid:
            waiting.next = True  # if another one is busy, and none is waiting then
            next_rows.next = group.rows
            next_lanes.next = group.lanes
            next_number.next = group.number
        if ends or not busy:
            busy.next = waiting or group.valid
            waiting.next = False
            row.next = 0
            lane.next = 0
            if waiting:
                rows.next = next_rows
                lanes.next = next_lanes
                first.next = next_number
                number.next = next_number
            else:
                rows.next = group.rows
                lanes.next = group.lanes
                first.next = group.number
                number.next = group.number
        if ends:
            half.next = not half
        if clear:
            busy.next = False
            waiting.next = False
            half.next = False

    return compare, issue, finish, walk
