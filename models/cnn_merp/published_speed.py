"""What CNN-MERP prints of throughput and of other works: table 4, figures 13 and 14, section VI.C.

What a figure of another work includes is said where a source says it; figures are never put on one
footing here that their authors did not put them on.
"""

from __future__ import annotations

from dataclasses import dataclass

DDR4_GBS = 19.2  # source: section VII, the fastest DDR4
RECONFIGURATION = {"seconds": 0.087, "share": 0.11, "layer_seconds": 0.7}  # source: section VI.C


@dataclass(frozen=True)
class Implementation:
    """A throughput of table 4; ``cus`` multiplies the CUs of the network's designs."""

    part: str
    clock_mhz: float
    gflops: float
    cus: int
    why: str


IMPLEMENTATIONS = (
    Implementation(
        "xc7k325t", 137.0, 113.0, 1, "3, 16 and 48 CUs of 11x11, 5x5 and 3x3 (sections V.D, VI.B)"
    ),
    Implementation(
        "xcvu440",
        189.0,
        1244.0,
        8,
        "the number of CUs is not printed; 8 times as many is inferred from the two throughputs",
    ),
)


@dataclass(frozen=True)
class Work:
    """One column of table 4, as printed, with what its figure includes.

    Attributes:
        bits: of a word, as printed. batch: None where the paper does not say.
        mb_per_gop: printed bandwidth requirement. gops: printed throughput.
    """

    name: str
    bits: int | None
    batch: int | None
    mb_per_gop: float
    gops: str
    includes: str


WORKS = (
    Work(
        "FPGA 2015 [9]", 32, None, 25.15, "61.62",
        "1.55 GB/s over 61.62 GFlop/s: everything the design moves in FP",
    ),
    Work("NeuFlow [10]", 16, None, 24.7, "160", "as printed; how it was found is not said"),
    Work(
        "nn-X [11]", 32, None, 20.0, "227",
        "as printed; the 7.6 GB/s of section II over 227 Gop/s would be 33.5",
    ),
    Work(
        "Eyeriss [17]", 16, 4, 4.31, "33.6 to 84.0",
        "AlexNet's convolution layers, kernels included, before its compression (2.9 after)",
    ),
    Work("ICCD 2013 [18]", None, None, 3.57, "42", "150 MB/s over 42 Gop/s"),
    Work(
        "CNN-MERP", 32, 128, 1.94, "113 / 1244",
        "feature maps of AlexNet's convolution layers in FP, kernels left out",
    ),
)  # fmt: skip


def attainable_tops(mb_per_gop: float, bandwidth_gbs: float) -> float:
    """Return the Top/s that ``bandwidth_gbs`` feeds (figure 14)."""
    return bandwidth_gbs / mb_per_gop
