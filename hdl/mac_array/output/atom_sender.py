"""Send the atoms of complete groups: lane by lane, row by row, and atom by atom."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, concat, intbv

from merp.hdl.base.signals import bits, count, flag
from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.mac_array.ports.outputs import ArrayOutputConfig, AtomGroup
from merp.hdl.mac_array.ports.sending import Sending
from merp.models.machines.mac_array.params.design import ArrayDesign
from merp.models.machines.mac_array.params.output_registers import ATOM_NUMBER_BITS


@entity
def atom_sender(
    clk: Bit,
    clear: Bit,
    config: ArrayOutputConfig,
    group: AtomGroup,
    room: Bit,
    sending: Sending,
    freed: Bit,
    design: ArrayDesign,
) -> Any:
    """Issue the atoms of each group.

    group    in   a group of complete atoms; at most two groups wait at a time
    room     in   the output has room for an atom
    sending  out  the atom that is read in this cycle
    freed    out  pulse: the last atom of a group was read

    Throughput: an atom per cycle, also from one group to the next; the first one follows
    group_valid by one cycle. Reset, by clear: no group; the lower half of the buffer is next.
    """
    busy, waiting, half, ends, last_atom, last_row, last_lane = (flag() for _ in range(7))
    atoms, next_atoms = count(design.max_stride), count(design.max_stride)
    rows, next_rows = count(design.poy), count(design.poy)
    lanes, next_lanes = count(design.pof), count(design.pof)
    next_number = bits(ATOM_NUMBER_BITS)
    row, lane, atom = count(design.poy - 1), count(design.pof - 1), count(design.max_stride)
    row_bits, lane_bits = len(row), len(lane)
    stride_bits, place_bits = design.max_stride.bit_length() - 1, len(sending.row) + 1
    # first atom of the lane; of the row; current atom
    first, line, number = (bits(ATOM_NUMBER_BITS) for _ in range(3))

    @always_comb
    def compare() -> None:
        rows_done = intbv(0)[row_bits + 1 :]
        lanes_done = intbv(0)[lane_bits + 1 :]
        rows_done[:] = row
        rows_done[:] = rows_done + 1
        lanes_done[:] = lane
        lanes_done[:] = lanes_done + 1
        last_atom.next = atom + 1 >= atoms
        last_row.next = rows_done >= rows
        last_lane.next = lanes_done >= lanes

    @always_comb
    def issue() -> None:
        place = intbv(0)[place_bits:]
        place[:] = concat(half, row)
        place[:] = place << stride_bits
        place[:] = place + atom
        sending.issue.next = busy and room
        sending.row.next = place
        sending.lane.next = lane
        sending.number.next = number

    @always_comb
    def finish() -> None:
        ends.next = busy and room and last_atom and last_row and last_lane
        freed.next = busy and room and last_atom and last_row and last_lane

    @always(clk.posedge)
    def walk() -> None:
        if sending.issue:
            if not last_atom:
                atom.next = atom + 1
                number.next = number + 1
            elif not last_row:
                atom.next = 0
                row.next = row + 1
                line.next = line + config.row_step
                number.next = line + config.row_step
            else:
                atom.next = 0
                row.next = 0
                if not last_lane:
                    lane.next = lane + 1
                    first.next = first + config.map_step
                    line.next = first + config.map_step
                    number.next = first + config.map_step
        if group.valid:
            waiting.next = True  # if another group is busy and none waits
            next_atoms.next = group.atoms
            next_rows.next = group.rows
            next_lanes.next = group.lanes
            next_number.next = group.number
        if ends or not busy:
            busy.next = waiting or group.valid
            waiting.next = False
            atom.next = 0
            row.next = 0
            lane.next = 0
            if waiting:
                atoms.next = next_atoms
                rows.next = next_rows
                lanes.next = next_lanes
                first.next = next_number
                line.next = next_number
                number.next = next_number
            else:
                atoms.next = group.atoms
                rows.next = group.rows
                lanes.next = group.lanes
                first.next = group.number
                line.next = group.number
                number.next = group.number
        if ends:
            half.next = not half
        if clear:
            busy.next = False
            waiting.next = False
            half.next = False

    return compare, issue, finish, walk
