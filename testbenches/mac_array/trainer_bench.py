"""Passes of the whole array, and the words that must leave, by the layer's definition."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from merp.hdl.base.signals import AxiStream, flag
from merp.hdl.mac_array.phases.trainer import trainer
from merp.hdl.mac_array.ports.outputs import OutputConfig
from merp.hdl.mac_array.ports.registers import SupplyConfig
from merp.hdl.mac_array.ports.status import ArrayStatus
from merp.models.mac_array.circulant import Words
from merp.models.params.mac_array.design import WORD_BITS, Design
from merp.models.params.mac_array.output_registers import output_table
from merp.models.params.mac_array.pass_registers import supply_registers
from merp.models.params.mac_array.pass_run import PassRun
from merp.testbenches.mac_array.supply_bench import Layer
from merp.testbenches.mac_array.words import clipped, nearest
from merp.testbenches.top.run import Run
from merp.testbenches.top.top import Top

INPUTS = ("s_axis_map", "s_axis_kernel")
OUTPUT = "m_axis_map"


def trainer_arguments(design: Design) -> dict[str, Any]:
    """Arguments of ``trainer``."""
    return {
        "clk": flag(), "rst": flag(), "start": flag(),
        "supply_config": SupplyConfig(design),
        "output_config": OutputConfig(design),
        "s_axis_map": AxiStream(WORD_BITS, design.pox),
        "s_axis_kernel": AxiStream(WORD_BITS, design.pof),
        "m_axis_map": AxiStream(WORD_BITS, design.pox),
        "status": ArrayStatus(), "design": design,
    }  # fmt: skip


def trainer_top(design: Design, array: str = "behavioural") -> Top:
    """The array as the benches of tops see it."""
    return Top(trainer, trainer_arguments(design), array)


def run_of(
    layer: Layer,
    design: Design,
    stalls: Mapping[str, Sequence[int]] | None = None,
    reset_at: int | None = None,
) -> Run:
    """A pass with its words."""
    run = PassRun(layer.work, design)
    mask = (1 << WORD_BITS) - 1
    words = {
        "s_axis_map": layer.atoms(design), "s_axis_kernel": layer.beats(design),
    }  # fmt: skip
    return Run(
        config=supply_registers(layer.work, design) | output_table(design).values(run),
        words={name: (beats.reshape(-1) & mask).astype(np.uint64) for name, beats in words.items()},
        stalls=stalls or {},
        reset_at=reset_at,
    )


def sums(layer: Layer) -> Words:
    """Exact sums of a pass, (maps, rows, columns), with FP's biases."""
    work, k = layer.work, layer.work.kernel
    delta = work.phase == "dp"
    stride, pad = (1, k - 1 - work.pad) if delta else (work.stride, work.pad)
    rows, columns = (work.rows, work.columns) if delta else (work.out_rows, work.out_columns)
    kernels = layer.kernels.reshape(*layer.kernels.shape[:2], k, k)
    if delta:
        kernels = kernels.transpose(1, 0, 2, 3)[:, :, ::-1, ::-1]
    padded = np.pad(layer.maps, ((0, 0), (pad, pad + k), (pad, pad + k)))
    total = np.zeros((len(kernels), rows, columns), np.int64)
    for y in range(k):
        for x in range(k):
            window = padded[:, y::stride, x::stride][:, :rows, :columns]
            total += np.einsum("oi,irc->orc", kernels[:, :, y, x], window)
    if not delta:
        total += (layer.biases << work.bias_shift)[:, None, None]
    return total


def results(layer: Layer, mask: Words | None = None) -> Words:
    """Words of the maps that leave: rounded, clipped, and with ReLU and maxima or the mask."""
    work = layer.work
    rounded = [clipped(nearest(int(total), work.shift)) for total in sums(layer).reshape(-1)]
    maps: Words = np.array(rounded).reshape(sums(layer).shape)
    if work.phase == "dp":
        return maps if mask is None or not work.relu else np.where(mask, maps, 0)
    if work.relu:
        maps = np.maximum(maps, 0)
    g = work.pool if work.fused else 1
    high, wide = maps.shape[1] // g, maps.shape[2] // g
    kept = maps[:, : high * g, : wide * g].reshape(len(maps), high, g, wide, g)
    return kept.max(axis=(2, 4))


def saturations(layer: Layer) -> int:
    """How many words of a pass are clipped."""
    rounded = [nearest(int(total), layer.work.shift) for total in sums(layer).reshape(-1)]
    return sum(each != clipped(each) for each in rounded)


def atoms_out(layer: Layer, design: Design) -> Iterator[tuple[int, int, int]]:
    """Map, row and column block of each atom that leaves: band, maps, columns, lane, row."""
    work = layer.work
    g = work.pool if work.phase == "fp" and work.fused else 1
    size, rows, columns = sums(layer).shape
    for top in range(0, rows, design.poy):
        for first in range(0, size, design.pof):
            for block in range(design.column_blocks(columns // g)):
                for each_map in range(first, min(first + design.pof, size)):
                    for row in range(top // g, min((top + design.poy) // g, rows // g)):
                        yield each_map, row, block


def maps_of(words: Sequence[int], layer: Layer, design: Design, like: Words) -> Words:
    """The maps that the words of the output port are; those behind a row's last one left out."""
    got = np.full((*like.shape[:2], design.column_blocks(like.shape[2]) * design.pox), 1 << 20)
    atoms = np.array(words, np.int64).reshape(-1, design.pox)
    places = list(atoms_out(layer, design))
    assert len(atoms) == len(places), f"{len(atoms)} atoms, not {len(places)}"
    for atom, (each_map, row, block) in zip(atoms, places, strict=True):
        got[each_map, row, block * design.pox : (block + 1) * design.pox] = atom
    signed = got - ((got >> WORD_BITS - 1 & 1) << WORD_BITS)
    return signed[:, :, : like.shape[2]]
