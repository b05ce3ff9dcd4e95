"""What FPDeep prints, beside what its rules give on our own networks.

Source: T. Geng, T. Wang, A. Sanaullah, C. Yang, R. Patel, M. Herbordt, "A framework for
acceleration of CNN training on deeply-pipelined FPGA clusters with work and weight load balancing",
FPL 2018.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import mean
from typing import Final

from merp.models.comparison.printed import Printed
from merp.models.comparison.reproduction import Place
from merp.models.fpdeep.balance import balanced, with_weights
from merp.models.fpdeep.links import borders, gbits_s
from merp.models.fpdeep.memory import feature_words, weight_words
from merp.models.fpdeep.networks import alexnet, vgg
from merp.models.fpdeep.partition import partition
from merp.models.fpdeep.shares import (
    best_in_units,
    cut_in_proportion,
    idle,
    in_proportion,
    in_units,
)
from merp.models.fpdeep.stage import Stage, stages
from merp.models.network.network import Network
from merp.models.traffic.published import Erratum

DSPS: Final = 2880
"""Of an FPGA: 80 % of the 3,600 of an xc7vx690t. source: section V.A.1"""

BLOCK_RAM_BITS: Final = 1470 * 36_864
CLOCK_MHZ: Final = 200.0  # not printed: assumed
WORD_BITS: Final = 16
NODES: Final = 15
CLUSTERS: Final = range(5, 86)
WAITING: Final = 3
"""Images whose features wait for their deltas; ours, as the first gradients are ready after 3.5."""

LANES: Final = 6
LANE_GBITS_S: Final = 17.4  # not printed: with it the printed 83 follows; the part's own is 13.1

GOPS_PER_JOULE: Final = {
    "Titan X": 4.22, "K80, AlexNet": 7.87, "K80, VGG-16": 6.86, "FPGA [11]": 6.55,
    "AlexNet": 37.09, "VGG-16": 37.88,
}  # fmt: skip
"""Table I."""

ERRATA: Final = (
    Erratum(
        "section V.A.3, conclusion", "5.7x over the K80", "4.71 and 5.52",
        "table I: 37.09/7.87 and 37.88/6.86; their mean is 5.12",
    ),
    Erratum(
        "section V.A.1", "only on-chip memory, under 80 %", "not for VGG on 15 FPGAs",
        "2.5 to 4 images wait for their deltas in the first third of the chain; VGG-16's first "
        "FPGA has room for the features of one",
    ),
    Erratum(
        "section III.B", "balanced weights do not tighten links", "they do",
        "the FPGAs with most weights stand at the end of the chain: what their neighbours keep for "
        "them crosses borders image by image",
    ),
    Erratum(
        "section III.C, step 4", "through data path 3", "4", "3 carries weights, forward",
    ),
)  # fmt: skip


def published() -> tuple[Printed, ...]:
    """Every number that the paper prints of its own machine."""
    return (*_example(), *_table_1(), *_balance(), *_links(), *_memory())


def networks() -> dict[str, tuple[Stage, ...]]:
    """Return the pipelines of the networks that it trains, AlexNet with groups and without."""
    trained: dict[str, Network] = {
        "AlexNet, one group": alexnet(1),
        "AlexNet": alexnet(2),
        "VGG-16": vgg(16),
        "VGG-19": vgg(19),
    }
    return {name: stages(network, network.layers) for name, network in trained.items()}


def _example() -> list[Printed]:
    place = Place("III.A")
    shares = [float(share) for share in in_proportion([182, 83], 7 * 2700)]
    fpgas = 12_954 / 2700
    big = int(256 / fpgas)
    return [
        place.follows("DSPs of layer 1", "DSPs", "12954", shares[0], 0.0021, "182 M, 83 M rounded"),
        place.follows("DSPs of layer 2", "DSPs", "5946", shares[1], 0.0045, "182 M, 83 M rounded"),
        place.exact("FPGAs of layer 1", "FPGAs", "4.8", fpgas),
        place.exact("of the shared FPGA, layer 1", "%", "80", 100 * (fpgas - 4)),
        place.exact("OFP: maps of a whole FPGA", "maps", "53", big),
        place.exact("OFP: maps of the shared one", "maps", "44", 256 - 4 * big),
        place.exact("IFP: maps of a whole FPGA", "maps", "40", int(192 / round(fpgas, 1))),
        place.exact("IFP: maps of the shared one", "maps", "32", 192 - 4 * 40),
    ]


def _table_1() -> list[Printed]:
    table, text, abstract = Place("table I"), Place("V.A.3"), Place("abstract")
    peak = 2 * DSPS * CLOCK_MHZ / 1e3
    titan = GOPS_PER_JOULE["AlexNet"] / GOPS_PER_JOULE["Titan X"]
    older = GOPS_PER_JOULE["AlexNet"] / GOPS_PER_JOULE["FPGA [11]"]
    k80 = [GOPS_PER_JOULE[name] / GOPS_PER_JOULE[f"K80, {name}"] for name in ("AlexNet", "VGG-16")]
    clock = "every used DSP in every cycle; 200 MHz assumed"
    return [
        table.follows("AlexNet, an FPGA", "GOPS", "1157", peak, 0.0044, clock),
        table.follows("VGG-16, an FPGA", "GOPS", "1197", peak, 0.038, clock),
        table.follows("VGG-19, an FPGA", "GOPS", "1220", peak, 0.056, clock),
        text.exact("GOPS/J over Titan X", "x", "8.8", titan),
        text.follows("GOPS/J over the earlier FPGA", "x", "5.6", older, 0.012, "5.66, cut to 5.6"),
        text.fails("GOPS/J over K80, AlexNet", "x", "5.7", k80[0], "table I; VGG-16's is 5.52"),
        text.fails("GOPS/J over K80, VGG-16", "x", "5.7", k80[1], "table I; AlexNet's is 4.71"),
        abstract.read_as(
            "GOPS/J over GPU servers, mean", "x", "6.36", mean([titan, *k80]), "of all three GPUs"
        ),
    ]


def _balance() -> list[Printed]:
    place = Place("V.B")
    rows = []
    for name, some in networks().items():
        best = [idle(some, best_in_units(some, nodes * DSPS)) for nodes in CLUSTERS]
        rows.append(
            place.exact(
                f"{name}: clusters of 5 to 85 that idle below 5 %", "clusters", "81",
                sum(share < 0.05 for share in best),
                "layers in the multiples of K x K that are fastest together",
            )
        )  # fmt: skip
    stated = {"AlexNet, one group": 0.3, "AlexNet": 0.55, "VGG-16": 0.15, "VGG-19": 0.47}
    for name, some in networks().items():
        nearest = [idle(some, in_units(some, nodes * DSPS)) for nodes in CLUSTERS if nodes > 30]
        rows.append(
            place.follows(
                f"{name}: most idle above 30 FPGAs", "%", "1", 100 * max(nearest), stated[name],
                "each layer in the nearest multiple of K x K",
            )
        )  # fmt: skip
    return rows


def most_gbits_s(some: Sequence[Stage], nodes: int, *, open_group: bool = False) -> float:
    """Return the rate of the busiest link, where every FPGA is equally busy."""
    interval = sum(stage.work for stage in some) / (nodes * DSPS)
    crossing = borders(cut_in_proportion(some, nodes, DSPS), open_group=open_group)
    return gbits_s(max(each.most for each in crossing), WORD_BITS, interval, CLOCK_MHZ)


def linear_up_to(some: Sequence[Stage], lane_gbits_s: float) -> int:
    """Return the FPGAs of the largest cluster whose links are fast enough."""
    fast = LANES * lane_gbits_s
    return max(nodes for nodes in range(2, 120) if most_gbits_s(some, nodes) <= fast)


def _links() -> list[Printed]:
    nets = networks()
    most = max(most_gbits_s(some, NODES) for some in nets.values())
    plain, loaded = vgg_links()
    linear = min(linear_up_to(some, LANE_GBITS_S) for some in nets.values())
    return [
        Place("V.A.1").read_as(
            "largest bandwidth, 15 FPGAs", "Gb/s", "18.6", most,
            "AlexNet with groups, behind its second FPGA, with the partial sums of both groups; "
            "with those of the open group VGG-16's 14.3 is the largest",
        ),
        Place("abstract").read_as(
            "linear up to", "FPGAs", "83", linear,
            f"{LANE_GBITS_S} Gb/s a transceiver, which is not printed; at the part's 13.1 Gb/s 63",
        ),
        Place("V.A.1").read_as(
            "the same, VGG-16 with weights balanced", "Gb/s", "18.6", loaded,
            "whole maps on whole units, 80 % of the block RAM, one image kept",
        ),
        Place("III.B").fails(
            "VGG-16: rate of the busiest link, weights balanced or not", "x", "1", loaded / plain,
            f"weights tighten the link: {loaded:.1f} Gb/s, without them {plain:.1f}",
        ),
    ]  # fmt: skip


def vgg_links() -> tuple[float, float]:
    """Return the busiest link of VGG-16, Gb/s: without weights, and with those kept elsewhere."""
    cut = partition(networks()["VGG-16"], NODES, DSPS)
    weights, features = weight_words(cut.pieces), feature_words(cut.pieces)
    kept = balanced(weights, features, 0.8 * BLOCK_RAM_BITS / WORD_BITS)
    plain = borders(cut.pieces)
    most = [max(each.most for each in some) for some in (plain, with_weights(plain, kept))]
    without, loaded = (gbits_s(words, WORD_BITS, cut.interval, CLOCK_MHZ) for words in most)
    return without, loaded


def weight_shares(some: Sequence[Stage]) -> list[float]:
    """Return the share of its block RAM that each FPGA's weights and gradients take."""
    words = weight_words(cut_in_proportion(some, NODES, DSPS))
    return [2 * WORD_BITS * each / BLOCK_RAM_BITS for each in words.values()]


def _memory() -> list[Printed]:
    nets = networks()
    need = [name for name, some in nets.items() if max(weight_shares(some)) > 0.8]
    cut = partition(nets["VGG-16"], NODES, DSPS)
    first = WAITING * WORD_BITS * feature_words(cut.pieces)[0] / BLOCK_RAM_BITS
    return [
        Place("V.A.2").exact(
            "networks that need balancing: both VGG, not AlexNet", "networks", "2", len(need),
            "weights and gradients of the worst FPGA over 80 % of its block RAM",
        ),
        Place("V.A.1").fails(
            "VGG-16: block RAM of the first FPGA, at most", "%", "80", 100 * first,
            f"the features of {WAITING} images, as 2.5 to 4 wait in the first third of the chain; "
            "with one image kept they take half of it",
        ),
    ]  # fmt: skip
