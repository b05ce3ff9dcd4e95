"""Input of pooled deltas and their three destinations: memory, DP and KU."""

from __future__ import annotations

from typing import Any

from myhdl import always_comb

from merp.hdl.base.interface import GivenPorts, given_all
from merp.hdl.base.signals import Stream, flag
from merp.hdl.conversion.entity import Bit, entity
from merp.hdl.mac_array.output.unpool_path import unpool_path
from merp.hdl.mac_array.ports.outputs import IndexWrite
from merp.hdl.mac_array.ports.unpooling import ArrayUnpoolConfig
from merp.models.machines.mac_array.params.design import ArrayDesign


class PooledEntryPorts(GivenPorts):
    """Ports of the input of pooled deltas."""

    MEMBERS = given_all(
        config=ArrayUnpoolConfig,
        update=Bit,
        index=IndexWrite,
        maps=Stream,
        deltas=Stream,
        whole_maps=Stream,
        whole_deltas=Stream,
        alone=Stream,
        framing_error=Bit,
    )


@entity
def pooled_entry(
    clk: Bit, rst: Bit, start: Bit, ports: PooledEntryPorts, design: ArrayDesign
) -> Any:
    """Pass on data at the resolution of the sums, and expand pooled data.

    config         in   registers, stable from start to the last atom sent
    update         in   the pass is a kernel update
    index          in   write port of the index memory
    maps, deltas   in   atoms as they arrive
    whole_maps     out  maps of FP and KU, deltas of DP
    whole_deltas   out  deltas of KU
    alone          out  deltas of an un-pooling pass
    framing_error  out  last of a pooled stream arrived with a wrong atom; until start

    Latency: none; two cycles for pooled deltas. Throughput: an atom out per cycle. Reset: no pooled
    atom; places stay.
    """
    config, update = ports.config, ports.update
    maps, deltas, alone = ports.maps, ports.deltas, ports.alone
    whole_maps, whole_deltas = ports.whole_maps, ports.whole_deltas
    of_maps, of_deltas = flag(), flag()  # the maps are pooled; the deltas are pooled
    pooled, expanded = Stream(design.atom_bits), Stream(design.atom_bits)

    @always_comb
    def choose() -> None:
        of_maps.next = config.active or (config.on_entry and not update)
        of_deltas.next = config.on_entry and update

    @always_comb
    def take() -> None:
        if of_deltas:
            pooled.data.next = deltas.data
            pooled.last.next = deltas.last
            pooled.valid.next = deltas.valid
        else:
            pooled.data.next = maps.data
            pooled.last.next = maps.last
            pooled.valid.next = maps.valid and of_maps

    @always_comb
    def hand_on_maps() -> None:
        if of_maps:
            whole_maps.data.next = expanded.data
            whole_maps.last.next = expanded.last
            whole_maps.valid.next = expanded.valid and not config.active
            maps.ready.next = pooled.ready
        else:
            whole_maps.data.next = maps.data
            whole_maps.last.next = maps.last
            whole_maps.valid.next = maps.valid
            maps.ready.next = whole_maps.ready

    @always_comb
    def hand_on_deltas() -> None:
        if of_deltas:
            whole_deltas.data.next = expanded.data
            whole_deltas.last.next = expanded.last
            whole_deltas.valid.next = expanded.valid
            deltas.ready.next = pooled.ready
        else:
            whole_deltas.data.next = deltas.data
            whole_deltas.last.next = deltas.last
            whole_deltas.valid.next = deltas.valid
            deltas.ready.next = whole_deltas.ready

    @always_comb
    def send_back() -> None:
        alone.data.next = expanded.data
        alone.last.next = expanded.last
        alone.valid.next = expanded.valid and config.active
        if config.active:
            expanded.ready.next = alone.ready
        elif update:
            expanded.ready.next = whole_deltas.ready
        else:
            expanded.ready.next = whole_maps.ready

    path = unpool_path(
        clk, rst, start, config=config, index=ports.index, sink=pooled, source=expanded,
        framing_error=ports.framing_error, design=design,
    )  # fmt: skip
    return choose, take, hand_on_maps, hand_on_deltas, send_back, path
