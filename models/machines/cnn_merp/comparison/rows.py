"""Our values for the numbers of CNN-MERP's paper, by the keys that its list names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from merp.models.base.ordered_sum import ordered_sum
from merp.models.fpga.configuration import load_seconds
from merp.models.fpga.parts import PARTS
from merp.models.fpga.resources import TITLES
from merp.models.machines.cnn_merp.designs import design_of
from merp.models.machines.cnn_merp.fpga.estimate import estimate
from merp.models.machines.cnn_merp.fpga.memories import convolution_memories, update_memories
from merp.models.machines.cnn_merp.params.sizing import size_design
from merp.models.machines.cnn_merp.phases import delta_design, update_design
from merp.models.machines.cnn_merp.published_speed import (
    DDR4_GBS,
    IMPLEMENTATIONS,
    WORKS,
    attainable_tops,
)
from merp.models.network.network import Layer, Network
from merp.models.network.phases import PHASES
from merp.models.papers.lists import paper
from merp.models.papers.networks import alexnet
from merp.models.traffic.closed_form import network_traffic, total
from merp.models.traffic.published import BATCH, STAIRCASE_LAYER
from merp.models.traffic.strategies import round_trips, staircase

PAPER: Final = paper("cnn-merp")
ALEXNET: Final = alexnet(2)
CUS: Final = {11: 3, 5: 16, 3: 48}
"""Units by kernel size. source: sections V.D and VI.B; 3 units of 11 x 11 are inferred"""


def rows() -> dict[str, float]:
    """Return all our values by key."""
    return _table_3() | _layer_2() | _strategies() | _cycles() | _loading() | _table_2() | _others()


def _table_3() -> dict[str, float]:
    """Return the operations of a batch, and the traffic of every layer and phase."""
    traffic = network_traffic(ALEXNET, BATCH)
    found: dict[str, float] = {}
    some = [(each.layer.name, [each]) for each in traffic]
    for name, layers in [*some, ("total", list(traffic))]:
        found[f"{name} operations"] = total(layers, "fp").operations / 1e9
        for phase in PHASES:
            ratio = total(layers, phase).mb_per_gflop
            if ratio is not None:
                found[f"{name} {phase.upper()}"] = ratio
    return found


def _group() -> Layer:
    """Return one of the two groups of layer 2."""
    return replace(ALEXNET.layer(STAIRCASE_LAYER), groups=1)


def _layer_2() -> dict[str, float]:
    """Return table 1, and the numbers of section IV on it; a word has 4 bytes."""
    layer = _group()
    plain = staircase(layer, BATCH)[0]
    trips = round_trips(ALEXNET, layer, BATCH)
    inputs, sums, outputs = (
        4 * BATCH * each / 1e6 for each in (layer.inputs, layer.sums, layer.outputs)
    )
    convolution = layer.operations(BATCH) / 1e9
    activations, pooled = BATCH * layer.sums / 1e6, BATCH * 9 * layer.outputs / 1e6
    partial = plain.sum_bytes(ALEXNET) / 1e9
    moved = plain.input_bytes(ALEXNET) / 1e9
    return {
        "layer 2 input": inputs,
        "layer 2 sums": sums,
        "layer 2 outputs": outputs,
        "layer 2 maps": inputs + sums,
        "layer 2 all maps": inputs + 4 * sums + outputs,
        "layer 2 kernels": 4 * layer.kernels / 1e3,
        "layer 2 conv input": moved,
        "layer 2 conv partial": partial,
        "layer 2 conv traffic": moved + partial,
        "layer 2 activation": trips.activation / 1e6,
        "layer 2 pooling": trips.pooling / 1e6,
        "layer 2 pool input": trips.pooling / 1e6 - outputs,
        "layer 2 activations": activations,
        "layer 2 pool operations": pooled,
        "layer 2 conv operations": convolution,
        "layer 2 operations": convolution + (activations + pooled) / 1e3,
    }


def _strategies() -> dict[str, float]:
    layer = _group()
    steps = {step.level: step for step in staircase(layer, BATCH)}
    operations = layer.operations(BATCH) / 1e9
    after = {
        f"after {level}": steps[level].bytes(ALEXNET) / 1e6 / operations
        for level in ("1", "1-2", "1-3", "1-5")
    }
    trips = round_trips(ALEXNET, layer, BATCH)
    fused = steps["1-5"].bytes(ALEXNET)
    everything = steps["none"].bytes(ALEXNET) + trips.activation + trips.pooling
    return after | {
        "k rows": 4 * steps["1-4"].on_chip_words / 1e3,
        "fused layer": (fused + 4 * layer.kernels) / 1e6,
        "reduction": everything / fused,
    }


def _cycles() -> dict[str, float]:
    """Return slots of the units: of a position of layer 2, and useful ones of layers 3 to 5."""
    shape = _group().shape
    found: dict[str, float] = {"cycles of a position": shape.n * shape.m / CUS[shape.k]}
    most = ALEXNET.layer("conv3").shape
    for name in ("conv3", "conv4", "conv5"):
        each = ALEXNET.layer(name).shape
        slots = -(-each.m // CUS[3]) * CUS[3]
        found[f"zeros {name}"] = 100 * each.n * each.m / (most.n * most.m)
        found[f"flow {name}"] = 100 * each.m / slots
    peaks = [2 * layer.shape.taps * CUS[layer.shape.k] for layer in ALEXNET.layers]
    operations = [layer.operations() for layer in ALEXNET.layers]
    cycles = ordered_sum(count / peak for count, peak in zip(operations, peaks, strict=True))
    small = IMPLEMENTATIONS[0]
    found["Kintex throughput, by operations"] = sum(operations) / cycles * small.clock_mhz / 1e3
    for name, built in zip(("Kintex", "UltraScale"), IMPLEMENTATIONS, strict=True):
        gflops = built.cus * built.clock_mhz / 1e3
        found[f"{name} throughput"] = gflops * ordered_sum(peaks) / len(peaks)
    return found


def _loading() -> dict[str, float]:
    part = PARTS["xc7k325t"]
    layer = ALEXNET.layer(STAIRCASE_LAYER)
    per_cycle = 2 * layer.shape.taps * CUS[layer.shape.k]
    seconds = layer.operations(BATCH) / per_cycle / (IMPLEMENTATIONS[0].clock_mhz * 1e6)
    load = load_seconds(part.configuration_bits)
    printed = PAPER["VI.C", "layer 2, a batch"]
    return {
        "layer 2 seconds": seconds,
        "load seconds": load,
        "load share, cells": 100 * load / (load + printed),
        "load share, ours": 100 * load / (load + seconds),
        "bitstream": part.configuration_bits / 8 / 1e6,
    }


def _table_2() -> dict[str, float]:
    """Return layer 2 with 16 units: the paper's circuit, and our fused units, by our estimate."""
    circuits = {"tree": ("tree", "position"), "fused": ("fused", "row")}
    found: dict[str, float] = {}
    for circuit, (cu_kind, ku_kind) in circuits.items():
        layer = replace(ALEXNET.layer(STAIRCASE_LAYER), design="k5")
        design = size_design([layer.shape], n_cu=16, r=2, cu_kind=cu_kind, ku_kind=ku_kind)
        layers = tuple(layer if each.name == layer.name else each for each in ALEXNET.layers)
        network = replace(ALEXNET, layers=layers, designs={"k5": design})
        for phase, figures in _estimates(network, layer).items():
            found |= {
                f"{phase} {_KINDS[kind]}, {circuit}": count for kind, count in figures.items()
            }
    return found


_KINDS: Final = TITLES | {"bram": "BRAM"}


def _estimates(network: Network, layer: Layer) -> Mapping[str, Mapping[str, float]]:
    forward, update = design_of(network, layer), update_design(network, layer)
    delta = delta_design(network, layer)
    memories = convolution_memories(delta.engine, delta.unpool)
    found = {
        "FP": estimate(forward, "fp", convolution_memories(forward)),
        "DP": estimate(delta.engine, "dp", memories, delta.unpool),
        "KU": estimate(update, "ku", update_memories(update)),
    }
    return {phase: each.figures() for phase, each in found.items()}


def _others() -> dict[str, float]:
    """Return the numbers of the text on other works, computed from its own cells."""
    work = {each.name: each.mb_per_gop for each in WORKS}
    ours = PAPER["table 4", "CNN-MERP"]
    eyeriss, iccd = work["Eyeriss [17]"], work["ICCD 2013 [18]"]
    small, large = (each.gflops for each in IMPLEMENTATIONS)
    names = [layer.name for layer in ALEXNET.layers]
    by_layer = [
        (PAPER["table 3", f"{name}, operations of a batch"], PAPER["table 3", f"{name}, Eyeriss"])
        for name in names
    ]
    dsps = PAPER["I", "DSPs of a VU13P, over"]
    top_s = PAPER["I, II", "throughput of 10 thousand DSPs at 200 MHz"]
    mhz = PAPER["table 4", "ICCD 2013 [18], clock"]
    return {
        "below Eyeriss": 100 * (1 - ours / eyeriss),
        "below ICCD 2013": 100 * (1 - ours / iccd),
        "over nn-X": large / PAPER["II", "nn-X [11], throughput"],
        "UltraScale over Kintex": large / small,
        "VU13P peak": 2 * dsps * 200e6 / 1e12,
        "VU13P bandwidth": eyeriss * top_s * 32 / 16,
        "Eyeriss total": ordered_sum(a * b for a, b in by_layer)
        / ordered_sum(a for a, _ in by_layer),
        "FPGA 2015 traffic": 1e3
        * PAPER["II", "FPGA 2015 [9], memory"]
        / PAPER["II", "FPGA 2015 [9], throughput"],
        "nn-X traffic": 1e3
        * PAPER["II", "nn-X [11], memory"]
        / PAPER["II", "nn-X [11], throughput"],
        "ICCD 2013 throughput": 2 * PAPER["II", "ICCD 2013 [18], multipliers"] * mhz / 1e3,
        "ICCD 2013 traffic": PAPER["II", "ICCD 2013 [18], memory"]
        / PAPER["table 4", "ICCD 2013 [18], throughput"],
        "works below 1 Top/s": sum(attainable_tops(each, DDR4_GBS) < 1 for each in work.values()),
        "ICCD 2013 attainable": attainable_tops(iccd, DDR4_GBS),
        "attainable": attainable_tops(ours, DDR4_GBS),
    }
