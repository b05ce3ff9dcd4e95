"""The layers of F-CNN's paper: their kernels, and the predictions of its model.

Source: W. Zhao, H. Fu, W. Luk, T. Yu, S. Wang, B. Feng, Y. Ma, G. Yang. "F-CNN: an FPGA-based
framework for training convolutional neural networks", ASAP 2016. The numbers are in the list of the
paper.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from merp.models.papers.fcnn.convolution import ConvolutionTask, Kernels, bounds, cycles
from merp.models.papers.fcnn.others import full_cycles, pool_cycles
from merp.models.papers.fcnn.resources import STRATIX_V, TABLE_III
from merp.models.papers.lists import paper

PAPER: Final = paper("fcnn")
HERTZ: Final = PAPER["V.B", "clock"] * 1e6
WORD_BYTES: Final = 4
WORDS_PER_CYCLE: Final = PAPER["table III", "DRAM"] * 1e9 / (WORD_BYTES * HERTZ)
HOST_WORDS_S: Final = PAPER["table III", "PCI-E"] * 1e9 / WORD_BYTES


@dataclass(frozen=True)
class PaperRow:
    """A layer of tables II and IV.

    Attributes:
        task: 96 images.
        kernels: Nk.
        optimum: Nk-bar, as printed.
        ms: as measured.
    """

    task: ConvolutionTask
    kernels: int
    optimum: float
    ms: float


def _row(name: str, n: int, m: int, rows: int, out_rows: int, k: int, stride: int = 1) -> PaperRow:
    task = ConvolutionTask(
        n=n, m=m, k=k, stride=stride, rows=rows, columns=rows, out_rows=out_rows,
        out_columns=out_rows, images=96,
    )  # fmt: skip
    measured = "table II, implementation"
    return PaperRow(
        task=task,
        kernels=int(PAPER[measured, f"{name}: Nk"]),
        optimum=PAPER["table II, analysis", f"{name}: Nk-bar"],
        ms=PAPER[measured, f"{name}: time"],
    )


ALEXNET: Final = {
    "L1": _row("L1", 3, 48, 227, 55, 11, 4),
    "L2": _row("L2", 48, 128, 31, 27, 5),
    "L3": _row("L3", 256, 192, 15, 13, 3),
    "L4": _row("L4", 192, 192, 15, 13, 3),
    "L5": _row("L5", 192, 128, 15, 13, 3),
}

LENET: Final = ("L1", "L2", "L3", "L4", "L5", "L6")
WAYS: Final = ("forward", "backward")

IMAGES: Final = 57_600
"""Images of an iteration of table V: 150 minibatches of 384."""


def optimum(row: PaperRow) -> tuple[float, str]:
    """Return Nk-bar of a layer, and the resource that limits it."""
    found = bounds(row.task, STRATIX_V, TABLE_III, WORDS_PER_CYCLE, 8 * WORD_BYTES)
    bound = min(found, key=found.__getitem__)
    return found[bound], bound


def analysed(row: PaperRow) -> float:
    """Return GFLOPS of the printed Nk-bar, without positions that produce no output."""
    task = row.task
    useful = task.out_rows * task.out_columns * task.stride**2 / (task.rows * task.columns)
    return 2 * row.optimum * HERTZ * task.k**2 * useful / 1e9


def milliseconds(row: PaperRow) -> float:
    """Return the time of a layer with its kernels of table II."""
    return cycles(row.task, Kernels.of(row.kernels), WORDS_PER_CYCLE) / HERTZ * 1e3


def lenet_seconds() -> dict[str, tuple[float, float]]:
    """Return our reading of table V: seconds of computing, and of input from the other card via
    PCI-E.
    """
    conv1, pool1, conv2, pool2 = 20 * 24 * 24, 20 * 12 * 12, 50 * 8 * 8, 800

    def computed(cycles_of_iteration: float, crossing: int) -> float:
        return cycles_of_iteration / HERTZ + crossing * IMAGES / HOST_WORDS_S

    def convolution(n: int, m: int, rows: int) -> float:
        return n * m * rows**2 * IMAGES / 12

    def pool(elements: int) -> float:
        return pool_cycles(elements * IMAGES, 24)

    def full(n: int, m: int) -> float:
        return full_cycles(n, m, IMAGES, 24, WORDS_PER_CYCLE)

    first, second = convolution(1, 20, 28), convolution(20, 50, 12)
    third, fourth = full(800, 500), full(500, 10)
    return {
        "L1": (computed(first, 28 * 28), computed(2 * first, conv1 + 28 * 28)),
        "L2": (computed(pool(conv1), conv1), computed(pool(conv1), pool1 + conv1)),
        "L3": (computed(second, pool1), computed(2 * second, conv2 + pool1)),
        "L4": (computed(pool(conv2), conv2), computed(pool(conv2), pool2 + conv2)),
        "L5": (computed(third, 800), computed(2 * third, 500 + 800)),
        "L6": (computed(fourth, 500), computed(2 * fourth, 10 + 500)),
    }


def seconds_of(place: str = "table V") -> dict[str, tuple[float, float]]:
    """Return the printed seconds of each layer, forward and backward: of F-CNN, a CPU or a GPU."""
    return {
        name: (PAPER[place, f"{name} forward"], PAPER[place, f"{name} backward"]) for name in LENET
    }


def order() -> list[float]:
    """Return the printed times in the order of a training cycle."""
    forward, backward = zip(*seconds_of().values(), strict=True)
    return [*forward, *reversed(backward)]
