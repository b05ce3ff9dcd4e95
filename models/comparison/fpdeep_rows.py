"""Our values for the numbers of FPDeep's paper, by the keys that its list names.

Source: T. Geng, T. Wang, A. Sanaullah, C. Yang, R. Patel, M. Herbordt. "A framework for
acceleration of CNN training on deeply-pipelined FPGA clusters with work and weight load balancing",
FPL 2018.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from statistics import mean
from typing import Final

from merp.models.comparison import fpdeep
from merp.models.comparison.options import Options
from merp.models.fpga.board import Board, Link, Usable
from merp.models.fpga.parts import PARTS
from merp.models.network.network import Network
from merp.models.papers.fpdeep.balance import balanced, with_weights
from merp.models.papers.fpdeep.links import borders, gbits_s
from merp.models.papers.fpdeep.memory import feature_words, weight_words
from merp.models.papers.fpdeep.partition import partition
from merp.models.papers.fpdeep.shares import (
    best_in_units,
    cut_in_proportion,
    idle,
    in_proportion,
    in_units,
)
from merp.models.papers.fpdeep.stage import LayerStage, stages
from merp.models.papers.lists import paper
from merp.models.papers.networks import alexnet, vgg

DSPS: Final = 2880
"""DSPs used of an FPGA: 80 % of the 3,600 of an xc7vx690t. source: section V.A.1"""

BLOCK_RAM_BITS: Final = 1470 * 36_864
CLOCK_MHZ: Final = 200.0  # not printed: assumed
WORD_BITS: Final = 16
NODES: Final = 15
CLUSTERS: Final = range(5, 86)
WAITING: Final = 3
"""Images whose features wait for their deltas; our value: the first gradients are ready after
3.5.
"""

LANES: Final = 6
LANE_GBITS_S: Final = 17.4  # not printed: it reproduces the printed 83; the part's own rate is 13.1

PAPER: Final = paper("fpdeep")

VC709: Final = Board(
    name="vc709",
    part=PARTS["xc7vx690t"],
    clock_mhz=CLOCK_MHZ,
    gbytes_s=29.9,
    efficiency=0.8,
    memory_mib=8192,
    load_s=0.15,
    devices=NODES,
    usable=Usable(lut=0.8, ff=0.8, bram=0.8, dsp=0.8),
    host_gbytes_s=7.9,
    power_w=31.2,
    link=Link(topology="chain", gbytes_s=1.64, lanes=LANES, latency_cycles=100),
)
"""The boards of section V.A; the power is that of an FPGA with AlexNet, from table I."""

FULL_CHAIN: Final = 1 << 16
"""Images of a batch for which the chain is almost always full."""


def rows() -> dict[str, float]:
    """Return all our values by key."""
    return _example() | _speed() | _ratios() | _idle() | _links() | _memory()


def networks() -> dict[str, tuple[LayerStage, ...]]:
    """Return the pipelines of the networks that the paper trains, AlexNet with and without
    groups.
    """
    trained: dict[str, Network] = {
        "AlexNet, one group": alexnet(1),
        "AlexNet": alexnet(2),
        "VGG-16": vgg(16),
        "VGG-19": vgg(19),
    }
    return {name: stages(network, network.layers) for name, network in trained.items()}


def _example() -> dict[str, float]:
    place = "III.A"
    dsps, fpgas = (
        PAPER[place, "DSPs of an FPGA of the example"],
        PAPER[place, "FPGAs of the example"],
    )
    work = [int(PAPER[place, f"operations of layer {layer}"]) for layer in (1, 2)]
    first, second = (float(share) for share in in_proportion(work, int(fpgas * dsps)))
    count = PAPER[place, "DSPs of layer 1"] / dsps
    whole, segments = int(count), round(count, 1)
    big, of_inputs = int(256 / segments), int(192 / segments)
    shared = 100 * (count - whole)
    return {
        "example layer 1 over 2": work[0] / work[1],
        "example DSPs 1": first,
        "example DSPs 2": second,
        "example FPGAs 1": count,
        "example whole FPGAs 1": whole,
        "example whole FPGAs 2": int(second / dsps),
        "example segments": ceil(segments),
        "example shared 1": shared,
        "example shared 2": 100 - shared,
        "example OFP whole": big,
        "example OFP shared": 256 - whole * big,
        "example IFP whole": of_inputs,
        "example IFP shared": 192 - whole * of_inputs,
    }


def _speed() -> dict[str, float]:
    """Return the peak of an FPGA, its GOPS/J, and the GOPS/J of the record."""
    peak = 2 * DSPS * CLOCK_MHZ / 1e3
    power = VC709.power_w
    assert power is not None
    found = {"peak TOPS": peak / 1e3}
    for name, network in (("AlexNet", alexnet(2)), ("VGG-16", vgg(16)), ("VGG-19", vgg(19))):
        found |= {
            f"{name} peak": peak,
            f"{name} GOPS/J, peak": peak / power,
            f"{name} GOPS/J, record": _gops_per_joule(network),
        }
    return found


def _gops_per_joule(network: Network) -> float:
    """Return the operations of a batch over the energy of the boards at work, in 10^9."""
    extra = {choice.name: choice.default for choice in fpdeep.ARCHITECTURE.choices}
    options = Options(
        batch=FULL_CHAIN, scope=tuple(layer.name for layer in network.layers), extra=extra
    )
    record = fpdeep.record(fpdeep.plan(network, VC709, options))
    assert record.energy_j is not None
    return 2 * record.macs / record.energy_j.value / 1e9


def _table(what: str, unit: str) -> float:
    """Return a cell of table I; each device has one cell of each unit."""
    (found,) = {
        each.value
        for each in PAPER.numbers
        if (each.place, each.what, each.unit) == ("table I", what, unit)
    }
    return found


def _ratios() -> dict[str, float]:
    """Return the ratios of the text on table I, computed from its cells."""
    names, peaks = ("AlexNet", "VGG-16"), "{}, an FPGA that never waits"
    efficiency = {name: _table(peaks.format(name), "GOPS/J") for name in names}
    titan = efficiency["AlexNet"] / _table("Titan X, AlexNet", "GOPS/J")
    k80 = {name: efficiency[name] / _table(f"K80, {name}", "GOPS/J") for name in names}
    older = {
        name: _table(f"{name}, an FPGA", "GOPS") / _table(f"FPGA [11], {name}, an FPGA", "GOPS")
        for name in names
    }
    peak = 2 * DSPS * CLOCK_MHZ / 1e3
    return {
        "GOPS/J over Titan X": titan,
        "GOPS/J over FPGA [11]": efficiency["AlexNet"] / _table("FPGA [11], AlexNet", "GOPS/J"),
        **{f"GOPS/J over K80, {name}": ratio for name, ratio in k80.items()},
        "GOPS/J over GPUs, mean": mean([titan, *k80.values()]),
        **{f"GOPS over FPGA [11], {name}": ratio for name, ratio in older.items()},
        "GOPS over FPGA [11], mean": mean(older.values()),
        "comparable to Titan X": 0.8 < peak / _table("Titan X, AlexNet", "GOPS") < 1.2,
    }


def _idle() -> dict[str, float]:
    found: dict[str, float] = {}
    above = []
    for name, some in networks().items():
        best = (idle(some, best_in_units(some, nodes * DSPS)) for nodes in CLUSTERS)
        nearest = (idle(some, in_units(some, nodes * DSPS)) for nodes in CLUSTERS if nodes > 30)
        above.append(100 * max(nearest))
        found |= {f"{name} most idle": 100 * max(best), f"{name} most idle above 30": above[-1]}
    return found | {"least of the most idle": min(above)}


def most_gbits_s(some: Sequence[LayerStage], nodes: int, *, open_group: bool = False) -> float:
    """Return the rate of the busiest link, if every FPGA is equally busy."""
    interval = sum(stage.work for stage in some) / (nodes * DSPS)
    crossing = borders(cut_in_proportion(some, nodes, DSPS), open_group=open_group)
    return gbits_s(max(each.most for each in crossing), WORD_BITS, interval, CLOCK_MHZ)


def linear_up_to(some: Sequence[LayerStage], lane_gbits_s: float) -> int:
    """Return the size of the largest cluster whose links are fast enough, in FPGAs."""
    fast = LANES * lane_gbits_s
    return max(nodes for nodes in range(2, 120) if most_gbits_s(some, nodes) <= fast)


def _links() -> dict[str, float]:
    nets = networks()
    plain, loaded = vgg_links()
    return {
        "largest bandwidth": max(most_gbits_s(some, NODES) for some in nets.values()),
        "linear up to": min(linear_up_to(some, LANE_GBITS_S) for some in nets.values()),
        "VGG-16 bandwidth, balanced": loaded,
        "VGG-16 links, balanced": loaded / plain,
    }


def vgg_links() -> tuple[float, float]:
    """Return the rate of the busiest link of VGG-16 in Gb/s: without weights, and with weights
    stored elsewhere.
    """
    cut = partition(networks()["VGG-16"], NODES, DSPS)
    weights, features = weight_words(cut.pieces), feature_words(cut.pieces)
    kept = balanced(weights, features, 0.8 * BLOCK_RAM_BITS / WORD_BITS)
    plain = borders(cut.pieces)
    most = [max(each.most for each in some) for some in (plain, with_weights(plain, kept))]
    without, loaded = (gbits_s(words, WORD_BITS, cut.interval, CLOCK_MHZ) for words in most)
    return without, loaded


def weight_shares(some: Sequence[LayerStage]) -> list[float]:
    """Return the share of each FPGA's block RAM that its weights and gradients use."""
    words = weight_words(cut_in_proportion(some, NODES, DSPS))
    return [2 * WORD_BITS * each / BLOCK_RAM_BITS for each in words.values()]


def _memory() -> dict[str, float]:
    nets = networks()
    need = {name for name, some in nets.items() if max(weight_shares(some)) > 0.8}
    cut = partition(nets["VGG-16"], NODES, DSPS)
    first = WAITING * WORD_BITS * feature_words(cut.pieces)[0] / BLOCK_RAM_BITS
    return {
        "balancing, VGG alone": need == {"VGG-16", "VGG-19"},
        "VGG-16 first block RAM": 100 * first,
    }
