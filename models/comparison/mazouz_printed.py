"""What Mazouz and Bridges print, beside what their equations give.

Source: A. Mazouz, C. P. Bridges, "Automated CNN back-propagation pipeline generation for FPGA
online training", Journal of Real-Time Image Processing, 2021. The text that this was made from has
none of its tables, so only numbers in its sentences stand here.
"""

from __future__ import annotations

from typing import Final

from merp.models.comparison.printed import Printed
from merp.models.comparison.reproduction import Place
from merp.models.front import Point
from merp.models.mazouz.elements import convolution_cost, line_buffer_blocks, map_blocks
from merp.models.mazouz.networks import CIFAR, MNIST, MNIST_SMALL, NETWORKS, SVHN
from merp.models.mazouz.pipeline import Pipeline
from merp.models.network.network import Network
from merp.models.traffic.published import Erratum

DSPS: Final = 2020  # of the Zynq-7100, section 4.1

ERRATA: Final = (
    Erratum("filter local gradient", "F + alpha dF", "F - alpha dF", "it would climb"),
    Erratum(
        "equations (12), (13)", "log2(K^2) + 1 stages", "ceil(log2 K^2) stages, K^2 - 1 adders",
        "log2 of 9 is no whole number; a tree of n terms has n - 1 adders",
    ),
    Erratum(
        "resources, line buffer", "ceil(FM K FixP / 18 Kb)", "(K - 1) ceil(FM FixP / 18 Kb)",
        "gives 1 where the text has 2: a FIFO for each of the K - 1 lines",
    ),
    Erratum(
        "convolution layer, map size", "(FM - K - P/S) + 1", "floor((FM - K + 2 P) / S) + 1",
        "padding adds to the map, and stride divides all of it",
    ),
    Erratum(
        "equation (20)", "<= DSPmax / k^2", "<= DSPmax",
        "k^2 is in the sum already; as printed MNIST 8-8 would not fit, which it does",
    ),
    Erratum(
        "resources, convolution, BP", "2,200 LUT", "1,600",
        "800 for both elements, 800 for the scheduler",
    ),
    Erratum(
        "resources, fully connected, BP", "400 LUT a head", "330",
        "10 for dX, 200 for dF, 100 and 20 for the rest",
    ),
)  # fmt: skip

_MISSING: Final = "which designs of the missing tables are meant is not said; ends of our front"


def published() -> tuple[Printed, ...]:
    """Every number that the text prints of its own machine."""
    return (*_resources(), *_space(), *_trade_offs(), *_measured())


def front(network: Network) -> list[Point]:
    """Return the forward designs of ``network`` that none beats, fastest first."""
    return Pipeline(network.layers, train=False).front(DSPS)


def direct(network: Network) -> int:
    """Return the DSPs of the design with an element for every filter and map."""
    pipeline = Pipeline(network.layers, train=False)
    filters = [layer.shape.m for layer in pipeline.convolutions]
    return pipeline.cost(filters).dsp


def overlap(network: Network) -> float:
    """Return how much more often samples come where they follow each other, at most."""
    pipeline = Pipeline(network.layers, train=False)
    designs = [point.choices for point in front(network)]
    return max(sum(cycles) / max(cycles) for cycles in map(pipeline.cycles, designs))


def _resources() -> list[Printed]:
    place, full = Place("resources, convolution"), Place("resources, fully connected")
    trained = convolution_cost(3, 32, train=True)
    return [
        place.follows(
            "line buffer of a convolution unit", "RAMB18", "2", line_buffer_blocks(32, 3), 0,
            "K - 1 lines, a FIFO each",
        ),
        place.exact("convolution unit, FP", "DSP", "9", convolution_cost(3, 32, train=False).dsp),
        place.exact("convolution unit with BP", "DSP", "19", trained.dsp),
        place.exact(
            "convolution unit with BP", "RAMB18", "5", trained.ramb18 + map_blocks(32, 32)
        ),
        place.fails(
            "convolution unit with BP", "LUT", "2200", 800 + 800, "its parts as they are named"
        ),
        full.exact("a vector of 32 x 32", "RAMB18", "1", map_blocks(32, 32)),
        full.fails("a head with BP", "LUT", "400", 10 + 200 + 100 + 20, "its parts as named"),
    ]  # fmt: skip


def _space() -> list[Printed]:
    place = Place("MOGA results")
    bound = [network for network in NETWORKS if direct(network) > DSPS]
    least = front(MNIST_SMALL)[-1].costs[1] / DSPS
    return [
        place.exact("networks that the DSPs bound", "networks", "3", len(bound)),
        place.claims(
            "MNIST 8-8 is mapped directly", holds=front(MNIST_SMALL)[0].costs[1] == 728,
            why="8 + 64 elements and 10 x 8 heads take 728 of 2,020 DSPs",
        ),
        Place("experimental setup").claims(
            "designs of less than 2 % of the DSPs", holds=least < 0.02,
            why="28 for MNIST 8-8, FP; with back-propagation of the heads, too, 58 are 2.9 %",
        ),
        Place("results and analysis").follows(
            "samples overlap, deepest network", "x", "4", overlap(CIFAR), 0.035,
            "latency over the slowest layer, largest of the front",
        ),
    ]  # fmt: skip


def _trade_offs() -> list[Printed]:
    place, designs = Place("conclusion"), Place("results and analysis")
    rows = []
    printed = (
        (MNIST, "MNIST", "95", "44"),
        (SVHN, "SVHN", "18", "52"),
        (CIFAR, "CIFAR", "71", "24"),
    )
    for network, name, latency, dsps in printed:
        fast, *_, small = front(network)
        rows += [
            place.fails(f"{name}: latency", "x", latency, small.costs[0] / fast.costs[0], _MISSING),
            place.fails(f"{name}: DSPs", "x", dsps, fast.costs[1] / small.costs[1], _MISSING),
        ]
    fast, *_, small = front(MNIST_SMALL)
    speed = small.costs[0] / fast.costs[0]
    rows.append(
        designs.fails("MNIST 8-8, designs 1 and 4: latency", "x", "200", speed, "the whole front")
    )
    return rows


def _measured() -> list[Printed]:
    place, why = Place("abstract"), "measured by the authors: nothing here runs on their GPU"
    speeds = (("MNIST", "2.8"), ("SVHN", "5.8"), ("CIFAR-10", "3"))
    return [place.fails(f"{name}: over GPU", "x", printed, None, why) for name, printed in speeds]
