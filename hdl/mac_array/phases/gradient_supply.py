"""Operand supply of KU: maps go to their regions, deltas to their lanes, then sweeps read both."""

from __future__ import annotations

from typing import Any

from myhdl import always_comb

from merp.hdl.base.interface import GivenPorts, given_all
from merp.hdl.base.signals import Stream, flag
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.mac_array.delta_buffer.delta_intake import delta_intake
from merp.hdl.mac_array.delta_buffer.delta_lanes import delta_lanes
from merp.hdl.mac_array.map_buffer.region_intake import region_intake
from merp.hdl.mac_array.ports.arrivals import Arrivals, PacedArrivals
from merp.hdl.mac_array.ports.maps import DeltaWrite, MapRead, MapWrite
from merp.hdl.mac_array.ports.registers import (
    DeltaLoadConfig,
    RegionColumnsConfig,
    RegionLoadConfig,
    RegionRowsConfig,
    SweepConfig,
    SweepWalkConfig,
)
from merp.hdl.mac_array.ports.slots import ArraySlot, ArrayVerdict, DeltaRead, SweepIssue
from merp.hdl.mac_array.sequencer.gradient_sequencer import gradient_sequencer
from merp.models.machines.mac_array.params.design import ArrayDesign


class GradientSupplyPorts(GivenPorts):
    """Ports of the operand supply for KU."""

    MEMBERS = given_all(
        region_rows_config=RegionRowsConfig,
        region_columns_config=RegionColumnsConfig,
        region_load_config=RegionLoadConfig,
        delta_load_config=DeltaLoadConfig,
        sweep_config=SweepConfig,
        maps=Stream,
        deltas=Stream,
        drained=Bit,
        map_write=MapWrite,
        map_read=MapRead,
        slot=ArraySlot,
        weights=Word,
        verdict=ArrayVerdict,
        complete=Bit,
        framing_error=Bit,
    )


@entity
def gradient_supply(
    clk: Bit, rst: Bit, start: Bit, ports: GradientSupplyPorts, design: ArrayDesign
) -> Any:
    """Issue the slots of a KU pass; the map banks are outside, because FP and DP share them.

    region_rows_config, region_columns_config  in   registers, stable from start until the operands
                            of the last slot have arrived
    region_load_config, delta_load_config, sweep_config  in   registers, stable as long
    maps           in   atoms in the order group of maps, row, map, column
    deltas         in   atoms in the order tile of lanes, row, lane, column
    drained        in   pulse: the last sum of a sweep is read
    map_write      out  write port of the map banks
    map_read       out  read of a slot from the map banks
    slot           out  a cycle after verdict reports it
    weights        out  weights of a slot, two cycles after it: a delta per lane, lane 0 lowest
    verdict        out  the verdict of this cycle; no flag is set when no slot is left
    complete       out  all maps and deltas were taken, until start
    framing_error  out  last of a stream arrived with a wrong beat; until start

    Throughput: an atom of deltas in, a part of an atom of maps in, a slot out per cycle. Reset: the
    pass is abandoned.
    """
    complete, framing_error = ports.complete, ports.framing_error
    delta_write, delta_read = DeltaWrite(design), DeltaRead(design)
    maps, deltas = Arrivals(), PacedArrivals()
    map_error, delta_error = flag(), flag()

    @always_comb
    def tell() -> None:
        framing_error.next = map_error or delta_error
        complete.next = maps.complete and deltas.complete

    map_in = region_intake(
        clk, rst, start, load=ports.region_load_config, sink=ports.maps, write=ports.map_write,
        maps=maps, framing_error=map_error, design=design,
    )  # fmt: skip
    delta_in = delta_intake(
        clk, rst, start, load=ports.delta_load_config, sink=ports.deltas, write=delta_write,
        deltas=deltas, framing_error=delta_error, design=design,
    )  # fmt: skip
    sequencer = gradient_sequencer(
        clk, rst, start, maps=maps, deltas=deltas, drained=ports.drained, config=SweepWalkConfig(
            ports.sweep_config, ports.region_rows_config, ports.region_columns_config
        ),
        issued=SweepIssue(ports.slot, ports.map_read, delta_read), verdict=ports.verdict,
        design=design,
    )  # fmt: skip
    lanes = delta_lanes(
        clk, write=delta_write, read=delta_read, deltas=ports.weights, design=design
    )
    return tell, map_in, delta_in, sequencer, lanes
