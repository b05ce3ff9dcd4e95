"""Operand supply of FP and DP: kernels and maps in, slots out."""

from __future__ import annotations

from typing import Any

from myhdl import always_comb

from merp.hdl.base.interface import GivenPorts, given_all
from merp.hdl.base.signals import Stream, flag
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.mac_array.kernel_buffer.parameter_intake import parameter_intake
from merp.hdl.mac_array.kernel_buffer.transposable_buffer import transposable_buffer
from merp.hdl.mac_array.map_buffer.map_intake import map_intake
from merp.hdl.mac_array.ports.arrivals import KernelArrivals, PacedArrivals
from merp.hdl.mac_array.ports.kernels import BiasTileWrite, KernelBeatWrite
from merp.hdl.mac_array.ports.maps import MapRead, MapWrite
from merp.hdl.mac_array.ports.registers import (
    ArrayLoadConfig,
    ColumnsConfig,
    KernelsConfig,
    LayerIntakeConfig,
    LayerWalkConfig,
    RowsConfig,
    WalkConfig,
)
from merp.hdl.mac_array.ports.slots import ArraySlot, ArrayVerdict, KernelRowRead, LayerIssue
from merp.hdl.mac_array.sequencer.pass_sequencer import pass_sequencer
from merp.models.machines.mac_array.params.design import ArrayDesign


class LayerSupplyPorts(GivenPorts):
    """Ports of the operand supply for FP and DP."""

    MEMBERS = given_all(
        rows_config=RowsConfig,
        columns_config=ColumnsConfig,
        load_config=ArrayLoadConfig,
        kernels_config=KernelsConfig,
        walk_config=WalkConfig,
        maps=Stream,
        parameters=Stream,
        drained=Bit,
        map_write=MapWrite,
        map_read=MapRead,
        slot=ArraySlot,
        weights=Word,
        bias=BiasTileWrite,
        verdict=ArrayVerdict,
        loaded=Bit,
        complete=Bit,
        framing_error=Bit,
    )


@entity
def layer_supply(
    clk: Bit, rst: Bit, start: Bit, ports: LayerSupplyPorts, design: ArrayDesign
) -> Any:
    """Issue the slots of a pass of FP or DP; the map banks are outside, because KU shares them.

    rows_config, columns_config, load_config, kernels_config, walk_config  in   registers, stable
                            from start until the operands of the last slot have arrived
    maps           in   atoms in the order band, map, row, column
    parameters     in   beats of kernels, and of biases in FP
    drained        in   pulse: the last sum of a tile is read
    map_write      out  write port of the map banks
    map_read       out  read of a slot from the map banks
    slot           out  a cycle after verdict reports it
    weights        out  weights of a slot, two cycles after it: a kernel element per lane, lane 0
                        lowest
    bias           out  write port of the bias memory
    verdict        out  the verdict of this cycle; no flag is set when no slot is left
    loaded         out  all beats of kernels were taken, until start
    complete       out  all atoms were taken, until start
    framing_error  out  last of a stream arrived with a wrong beat; until start

    Throughput: an atom (with stride s: in s cycles) and a beat in, a slot out per cycle. Reset: the
    pass is abandoned.
    """
    rows_config, columns_config = ports.rows_config, ports.columns_config
    walk_config, framing_error = ports.walk_config, ports.framing_error
    kernel_write, kernel_read = KernelBeatWrite(design), KernelRowRead(design)
    maps = PacedArrivals(complete=ports.complete)
    kernels = KernelArrivals(design, loaded=ports.loaded)
    map_error, kernel_error = flag(), flag()

    @always_comb
    def tell() -> None:
        framing_error.next = map_error or kernel_error

    map_in = map_intake(
        clk, rst, start, config=LayerIntakeConfig(ports.load_config, rows_config, columns_config),
        sink=ports.maps, write=ports.map_write, maps=maps, framing_error=map_error, design=design,
    )  # fmt: skip
    kernel_in = parameter_intake(
        clk, rst, start, config=ports.kernels_config, sink=ports.parameters, write=kernel_write,
        bias=ports.bias, kernels=kernels, framing_error=kernel_error, design=design,
    )  # fmt: skip
    sequencer = pass_sequencer(
        clk, rst, start, config=LayerWalkConfig(walk_config, rows_config, columns_config),
        kernels=kernels, maps=maps, drained=ports.drained,
        issued=LayerIssue(ports.slot, ports.map_read, kernel_read), verdict=ports.verdict,
        design=design,
    )  # fmt: skip
    kernel_side = transposable_buffer(
        clk, write=kernel_write, read=kernel_read, taps=walk_config.taps, weights=ports.weights,
        design=design,
    )  # fmt: skip
    return tell, map_in, kernel_in, sequencer, kernel_side
