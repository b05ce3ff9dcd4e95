"""Our values for the numbers of F-CNN's paper, by the keys that its list names."""

from __future__ import annotations

from math import floor
from typing import Final

from merp.models.base.ordered_sum import ordered_sum
from merp.models.base.shape import Pool, Shape
from merp.models.comparison import fcnn
from merp.models.comparison.fcnn_paper import (
    ALEXNET,
    IMAGES,
    PAPER,
    WAYS,
    WORD_BYTES,
    WORDS_PER_CYCLE,
    PaperRow,
    analysed,
    lenet_seconds,
    milliseconds,
    optimum,
    order,
    seconds_of,
)
from merp.models.comparison.options import Options
from merp.models.comparison.record import Record
from merp.models.fpga.board import Board
from merp.models.fpga.parts import KNOWN
from merp.models.network.network import Layer, Network
from merp.models.papers.fcnn.convolution import LANES, bounds
from merp.models.papers.fcnn.resources import STRATIX_V, TABLE_III
from merp.models.papers.fcnn.schedule import seconds

_TOTAL: Final = "table V, total"

MAIA: Final = Board(
    name="maia",
    part=KNOWN["5SGSD8"],
    clock_mhz=PAPER["V.B", "clock"],
    gbytes_s=PAPER["table III", "DRAM"],
    efficiency=1,
    load_s=PAPER["V.C", "load of a module, least"] / 1e3,
    devices=2,
    host_gbytes_s=PAPER["table III", "PCI-E"],
    power_w=PAPER[_TOTAL, "F-CNN, power"],
)
"""The two cards of section V.C."""

BATCH: Final = 384
GROUP: Final = IMAGES // BATCH


def lenet5() -> Network:
    """Return the network of table I."""
    pool = Pool(window=2, stride=2)
    layers = (
        ("conv1", "conv", Shape(n=1, m=20, k=5, rows=28, columns=28, pool=pool)),
        ("conv2", "conv", Shape(n=20, m=50, k=5, rows=12, columns=12, pool=pool)),
        ("fc3", "fc", Shape(n=800, m=500, k=1, rows=1, columns=1)),
        ("fc4", "fc", Shape(n=500, m=10, k=1, rows=1, columns=1, relu=False)),
    )
    found = (Layer(name=name, kind=kind, shape=shape) for name, kind, shape in layers)
    return Network(name="lenet5", input=(28, 28, 1), layers=tuple(found))


def plan() -> fcnn.ModuleSequence:
    """Return the plan of LeNet-5 as the paper trains it: each module is loaded once an
    iteration.
    """
    network = lenet5()
    options = Options(
        batch=BATCH,
        scope=tuple(layer.name for layer in network.layers),
        extra={"accumulate": GROUP, "first_dp": True},
    )
    return fcnn.plan(network, MAIA, options)


def rows() -> dict[str, float]:
    """Return all our values by key."""
    return _alexnet() | _alexnet_in_all() | _lenet() | _lenet_in_all() | _energy()


def _alexnet() -> dict[str, float]:
    found: dict[str, float] = {}
    for name, row in ALEXNET.items():
        most, bound = optimum(row)
        where = f"AlexNet {name}"
        printed = "DRAM" if name in ("L3", "L4", "L5") else "BRAM"
        found |= {
            f"{where} Nk-bar": most,
            f"{where} bound by {printed}": bound == printed,
            f"{where} analysed": analysed(row),
            f"{where} Nk": _whole(row),
            f"{where} time": milliseconds(row),
            f"{where} performance": row.task.operations / row.ms / 1e6,
            f"{where} CPU performance": row.task.operations / _cpu_ms(name) / 1e6,
        }
    return found


def _cpu_ms(name: str) -> float:
    return PAPER["table II, CPU", f"{name}: time"]


def _whole(row: PaperRow) -> int:
    """Return the kernels that fill whole streams, below the bound; with DRAM as the bound,
    doubled.
    """
    most, bound = optimum(row)
    if bound == "DRAM":
        doubled = bounds(row.task, STRATIX_V, TABLE_III, WORDS_PER_CYCLE, 8 * WORD_BYTES, 2)
        most = min(each for name, each in doubled.items() if name != "DRAM")
    return floor(most / LANES) * LANES or floor(most)


def _alexnet_in_all() -> dict[str, float]:
    operations = sum(row.task.operations for row in ALEXNET.values())
    printed = ordered_sum(row.ms for row in ALEXNET.values())
    ours = ordered_sum(map(milliseconds, ALEXNET.values()))
    cpu = ordered_sum(map(_cpu_ms, ALEXNET))
    gflops = operations / ours / 1e6
    return {
        "AlexNet time, printed cells": printed,
        "AlexNet time, ours": ours,
        "AlexNet overall, printed cells": operations / printed / 1e6,
        "AlexNet overall, ours": gflops,
        "AlexNet CPU time, printed cells": cpu,
        "AlexNet CPU overall": operations / cpu / 1e6,
        "AlexNet over the CPU": cpu / printed,
        "AlexNet above FPGA 2015": gflops > PAPER["table II, FPGA 2015", "overall"],
    }


def _lenet() -> dict[str, float]:
    found = {
        f"LeNet {name} {way}": each
        for name, pair in lenet_seconds().items()
        for way, each in zip(WAYS, pair, strict=True)
    }
    modules = plan().modules
    for layer, name in (("conv1", "L1"), ("conv2", "L3")):
        for way, phases in zip(WAYS, (("fp",), ("dp", "ku")), strict=True):
            (kernels,) = {
                module.kernels.count
                for module in modules
                if module.layer == layer
                and module.multipliers
                and {part.phase for part in module.parts} <= set(phases)
            }
            found[f"LeNet {name} Nk {way}"] = kernels
    operations = [2 * layer.operations() for layer in lenet5().layers]
    return found | {
        "LeNet modules": len(modules),
        "LeNet images": IMAGES,
        "LeNet operations, BP over FP": 2 * sum(operations) / sum(operations),
    }


def _sum(place: str) -> float:
    return ordered_sum(each for pair in seconds_of(place).values() for each in pair)


def _lenet_in_all() -> dict[str, float]:
    ours = ordered_sum(each for pair in lenet_seconds().values() for each in pair)
    total, cpu = PAPER[_TOTAL, "its own cells"], PAPER[_TOTAL, "CPU, its own cells"]
    return {
        "LeNet time, printed cells": _sum("table V"),
        "LeNet CPU time, printed cells": _sum("table V, CPU"),
        "LeNet GPU time, printed cells": _sum("table V, GPU"),
        "LeNet time, ours": ours,
        "LeNet over the CPU": cpu / total,
        "LeNet over the CPU, ours": cpu / ours,
        "LeNet GPU over the CPU": cpu / PAPER[_TOTAL, "GPU, its own cells"],
        "LeNet time, two cards": seconds(order(), 2, 0.1),
    }


def iteration() -> Record:
    """Return the record of a batch of LeNet-5; an iteration has ``GROUP`` batches."""
    return fcnn.record(plan())


def _energy() -> dict[str, float]:
    """Return the energy of an iteration, and the ratio of the GPU's energy to it."""
    record = iteration()
    assert record.energy_j is not None
    ours = GROUP * record.energy_j.value
    gpu = PAPER[_TOTAL, "GPU, power"] * PAPER[_TOTAL, "GPU, its own cells"]
    printed = PAPER[_TOTAL, "F-CNN, power"] * PAPER[_TOTAL, "its own cells"]
    return {
        "LeNet time, record": GROUP * record.interval_s.value,
        "LeNet energy, record": ours,
        "LeNet energy ratio, record": gpu / ours,
        "LeNet energy ratio, cells": gpu / printed,
    }
