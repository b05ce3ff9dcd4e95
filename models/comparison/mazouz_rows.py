"""Our values for the numbers of Mazouz and Bridges' paper, by the keys that their list names.

Source: A. Mazouz, C. P. Bridges, "Automated CNN back-propagation pipeline generation for FPGA
online training", Journal of Real-Time Image Processing, 2021.
"""

from __future__ import annotations

from typing import Final

from merp.models.base.front import FrontPoint
from merp.models.base.ordered_sum import ordered_sum
from merp.models.fpga.parts import PARTS
from merp.models.network.network import Network
from merp.models.papers.lists import paper
from merp.models.papers.mazouz.elements import (
    convolution_cost,
    full_cost,
    line_buffer_blocks,
    map_blocks,
)
from merp.models.papers.mazouz.networks import CIFAR, MNIST, MNIST_SMALL, NETWORKS, SVHN
from merp.models.papers.mazouz.pipeline import Pipeline

PAPER: Final = paper("mazouz")
DSPS: Final = int(PAPER["MOGA results", "DSPs of the Zynq-7100"])


def rows() -> dict[str, float]:
    """Return all our values by key."""
    return _resources() | _space() | _trade_offs()


def front(network: Network) -> list[FrontPoint]:
    """Return the Pareto-optimal forward designs of ``network``, fastest first."""
    return Pipeline(network.layers, train=False).front(DSPS)


def direct(network: Network) -> int:
    """Return the DSPs of the design with an element for every filter and map."""
    pipeline = Pipeline(network.layers, train=False)
    filters = [layer.shape.m for layer in pipeline.convolutions]
    return pipeline.cost(filters).dsp


def overlap(network: Network) -> float:
    """Return the largest speed-up of overlapping samples over single samples."""
    pipeline = Pipeline(network.layers, train=False)
    designs = [point.choices for point in front(network)]
    return max(ordered_sum(cycles) / max(cycles) for cycles in map(pipeline.cycles, designs))


def _resources() -> dict[str, float]:
    unit, head = "resources, convolution", "resources, fully connected"
    trained = convolution_cost(3, 32, train=True)
    parts = ("dX and dF, about", "scheduler and memory control, about")
    of_head = (
        "dX of a head", "dF of a head, about", "memory control and scheduler, about",
        "a unit, FP, about",
    )  # fmt: skip
    return {
        "unit DSP": convolution_cost(3, 32, train=False).dsp,
        "unit DSP, BP": trained.dsp,
        "line buffer RAMB18": line_buffer_blocks(32, 3),
        "map RAMB18": map_blocks(32, 32),
        "unit RAMB18, BP": trained.ramb18 + map_blocks(32, 32),
        "unit LUT, BP": ordered_sum(PAPER[unit, each] for each in parts),
        "head DSP": full_cost(1, 1, train=False).dsp,
        "head DSP, BP": full_cost(1, 1, train=True).dsp,
        "head LUT, BP": ordered_sum(PAPER[head, each] for each in of_head),
    }


def _space() -> dict[str, float]:
    fastest, *_, smallest = front(MNIST_SMALL)
    macs = [layer.operations() for layer in CIFAR.layers]
    step = sum((3 if place else 2) * count for place, count in enumerate(macs))
    pipeline = Pipeline(MNIST_SMALL.layers, train=False)
    return {
        "training over inference": step / sum(macs),
        "elements of P = 3, 3": pipeline.units((3, 3))[1],
        "networks bound by DSPs": sum(direct(network) > DSPS for network in NETWORKS),
        "MNIST 8-8 mapped directly": fastest.costs[1] == direct(MNIST_SMALL) <= DSPS,
        "DSPs of the part": PARTS["xc7z100"].dsps,
        "least DSPs": 100 * smallest.costs[1] / DSPS,
        "overlap": overlap(CIFAR),
    }


def _trade_offs() -> dict[str, float]:
    """Return the ratios of the ends of each front: slowest to fastest, and largest to smallest."""
    networks = {"MNIST": MNIST, "SVHN": SVHN, "CIFAR": CIFAR, "MNIST 8-8": MNIST_SMALL}
    found: dict[str, float] = {}
    for name, network in networks.items():
        fast, *_, small = front(network)
        found[f"{name} latency"] = small.costs[0] / fast.costs[0]
        found[f"{name} DSPs"] = fast.costs[1] / small.costs[1]
    return found
