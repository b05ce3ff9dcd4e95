"""Operand supply of the array: beats and atoms in, the operands of a slot out in each cycle."""

from __future__ import annotations

from typing import Any

from myhdl import always_comb

from merp.hdl.base.delay import delay
from merp.hdl.base.either import either, either_bundle
from merp.hdl.base.interface import GivenPorts, given_all
from merp.hdl.base.signals import Stream, bits, flag
from merp.hdl.base.valid_delay import valid_delay
from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.mac_array.map_buffer.map_buffer import map_buffer
from merp.hdl.mac_array.phases.gradient_supply import GradientSupplyPorts, gradient_supply
from merp.hdl.mac_array.phases.layer_supply import LayerSupplyPorts, layer_supply
from merp.hdl.mac_array.ports.kernels import BiasTileWrite
from merp.hdl.mac_array.ports.maps import MapRead, MapWrite
from merp.hdl.mac_array.ports.operands import Operands
from merp.hdl.mac_array.ports.registers import SupplyConfig
from merp.hdl.mac_array.ports.slots import ArraySlot, ArrayVerdict
from merp.models.machines.mac_array.params.design import ArrayDesign

OPERANDS = 2
"""Cycles from a slot to its operands: the memories, and the rotation of their words."""


class OperandSupplyPorts(GivenPorts):
    """Ports of the operand supply."""

    MEMBERS = given_all(
        config=SupplyConfig,
        maps=Stream,
        parameters=Stream,
        deltas=Stream,
        drained=Bit,
        operands=Operands,
        bias=BiasTileWrite,
        verdict=ArrayVerdict,
        complete=Bit,
        framing_error=Bit,
    )


@entity
def operand_supply(
    clk: Bit, rst: Bit, start: Bit, ports: OperandSupplyPorts, design: ArrayDesign
) -> Any:
    """Feed the array with the slots of a pass of any phase.

    config         in   registers, stable from start until the operands of the last slot have
                        arrived
    maps           in   atoms of maps; in DP atoms of deltas
    parameters     in   beats of kernels and biases; none in KU
    deltas         in   atoms of deltas in KU; otherwise none
    drained        in   pulse: the last sum of a tile or sweep is read
    operands       out  operands of a slot, three cycles after verdict reports it
    bias           out  write port of the bias memory
    verdict        out  the verdict of this cycle; no flag is set when no slot is left
    complete       out  all beats and atoms were taken, until start
    framing_error  out  last of a stream arrived with a wrong beat; until start

    Throughput: a beat or atom in and a slot out per cycle. Atoms of strided layers in FP, and of
    maps in KU, take several cycles. Reset: the pass is abandoned.
    """
    config, maps, operands = ports.config, ports.maps, ports.operands
    complete, framing_error = ports.complete, ports.framing_error
    update = config.walk.update
    start_layer, start_update = flag(), flag()
    layer_maps, update_maps = Stream(design.atom_bits), Stream(design.atom_bits)
    layer_write, update_write, write = (MapWrite(design) for _ in range(3))
    layer_read, update_read, read = (MapRead(design) for _ in range(3))
    layer_slot, update_slot, slot = (ArraySlot(design) for _ in range(3))
    layer_verdict, update_verdict = ArrayVerdict(design), ArrayVerdict(design)
    weights, pixels_of_deltas = bits(design.parameter_bits), bits(design.parameter_bits)
    layer_loaded, layer_complete, update_complete = flag(), flag(), flag()
    layer_error, update_error = flag(), flag()

    @always_comb
    def begin() -> None:
        start_layer.next = start and not update
        start_update.next = start and update

    @always_comb
    def share() -> None:
        # Only the side that was started takes words.
        layer_maps.data.next = maps.data
        layer_maps.last.next = maps.last
        layer_maps.valid.next = maps.valid and not update
        update_maps.data.next = maps.data
        update_maps.last.next = maps.last
        update_maps.valid.next = maps.valid and update
        maps.ready.next = (layer_maps.ready and not update) or (update_maps.ready and update)

    @always_comb
    def tell() -> None:
        if update:
            complete.next = update_complete
            framing_error.next = update_error
        else:
            complete.next = layer_loaded and layer_complete
            framing_error.next = layer_error

    layer = layer_supply(
        clk, rst, start=start_layer, design=design, ports=LayerSupplyPorts(
            rows_config=config.rows, columns_config=config.columns, load_config=config.load,
            kernels_config=config.kernels, walk_config=config.walk, maps=layer_maps,
            parameters=ports.parameters, drained=ports.drained, map_write=layer_write,
            map_read=layer_read, slot=layer_slot, weights=weights, bias=ports.bias,
            verdict=layer_verdict, loaded=layer_loaded, complete=layer_complete,
            framing_error=layer_error,
        ),
    )  # fmt: skip
    gradients = gradient_supply(
        clk, rst, start=start_update, design=design, ports=GradientSupplyPorts(
            region_rows_config=config.region_rows, region_columns_config=config.region_columns,
            region_load_config=config.region_load, delta_load_config=config.delta_load,
            sweep_config=config.sweep, maps=update_maps, deltas=ports.deltas,
            drained=ports.drained, map_write=update_write, map_read=update_read,
            slot=update_slot, weights=pixels_of_deltas, verdict=update_verdict,
            complete=update_complete, framing_error=update_error,
        ),
    )  # fmt: skip
    choices = (
        either_bundle(choice=update, one=update_write, other=layer_write, y=write),
        either_bundle(choice=update, one=update_read, other=layer_read, y=read),
        either_bundle(choice=update, one=update_slot, other=layer_slot, y=slot),
        either_bundle(choice=update, one=update_verdict, other=layer_verdict, y=ports.verdict),
        either(choice=update, one=pixels_of_deltas, other=weights, y=operands.weights),
    )
    banks = map_buffer(
        clk, write=write, read=read, row_level=config.rows.level,
        column_level=config.columns.level, pixels=operands.pixels, design=design,
    )  # fmt: skip
    pace = (
        valid_delay(clk, rst, d=slot.valid, q=operands.valid, cycles=OPERANDS),
        delay(clk, d=slot.first, q=operands.first, cycles=OPERANDS),
        delay(clk, d=slot.last, q=operands.last, cycles=OPERANDS),
        delay(clk, d=slot.biased, q=operands.biased, cycles=OPERANDS),
    )
    return begin, share, tell, layer, gradients, choices, banks, pace
