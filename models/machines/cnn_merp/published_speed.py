"""The throughput that CNN-MERP prints for itself and for other works.

The numbers are those of table 4, figures 13 and 14, and section VI.C. If a source describes the
contents of another work's figure, they are given here. Figures of different counts are never
converted to one count.
"""

from __future__ import annotations

from dataclasses import dataclass

from merp.models.papers.lists import paper

PAPER = paper("cnn-merp")
DDR4_GBS = PAPER["II, VII", "fastest DDR4"]
RECONFIGURATION = {
    "seconds": PAPER["VI.C", "reconfiguration"],
    "share": PAPER["VI.C", "overhead of reconfiguration"] / 100,
    "layer_seconds": PAPER["VI.C", "layer 2, a batch"],
}


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
        "xc7k325t",
        PAPER["table 4", "Kintex-7, clock"],
        PAPER["table 4", "Kintex-7, throughput"],
        1,
        "3, 16 and 48 CUs of 11x11, 5x5 and 3x3 (sections V.D, VI.B)",
    ),
    Implementation(
        "xcvu440",
        PAPER["table 4", "UltraScale, clock"],
        PAPER["table 4", "UltraScale, throughput"],
        8,
        "the number of CUs is not printed; 8 times as many is inferred from the two throughputs",
    ),
)


@dataclass(frozen=True)
class Work:
    """One column of table 4, as printed, with the contents of its figure.

    Attributes:
        bits: of a word, as printed.
        batch: None if the paper does not give it.
        mb_per_gop: printed bandwidth requirement.
        gops: printed throughput.
    """

    name: str
    bits: int | None
    batch: int | None
    mb_per_gop: float
    gops: str
    includes: str


def _printed(work: str, what: str = "") -> str:
    """Return the digits of a cell of table 4."""
    (found,) = {
        each.printed
        for each in PAPER.numbers
        if (each.place, each.what) == ("table 4", work + what)
    }
    return found


def _work(name: str, bits: int | None, batch: int | None, gops: str, includes: str) -> Work:
    return Work(name, bits, batch, float(_printed(name)), gops, includes)


def _throughput(name: str) -> str:
    return _printed(name, ", throughput")


WORKS = (
    _work(
        "FPGA 2015 [9]", 32, None, _throughput("FPGA 2015 [9]"),
        "1.55 GB/s over 61.62 GFlop/s: everything the design moves in FP",
    ),
    _work(
        "NeuFlow [10]", 16, None, _throughput("NeuFlow [10]"),
        "as printed; the paper does not derive it",
    ),
    _work(
        "nn-X [11]", 32, None, _throughput("nn-X [11]"),
        "as printed; the 7.6 GB/s of section II over 227 Gop/s would be 33.5",
    ),
    _work(
        "Eyeriss [17]", 16, 4,
        " to ".join(_printed("Eyeriss [17]", f", throughput, {end}") for end in ("least", "most")),
        "AlexNet's convolution layers, kernels included, before its compression (2.9 after)",
    ),
    _work(
        "ICCD 2013 [18]", None, None, _throughput("ICCD 2013 [18]"), "150 MB/s over 42 Gop/s"
    ),
    _work(
        "CNN-MERP", 32, 128,
        " / ".join(_throughput(part) for part in ("Kintex-7", "UltraScale")),
        "feature maps of AlexNet's convolution layers in FP, kernels left out",
    ),
)  # fmt: skip


def attainable_tops(mb_per_gop: float, bandwidth_gbs: float) -> float:
    """Return the Top/s that ``bandwidth_gbs`` feeds (figure 14)."""
    return bandwidth_gbs / mb_per_gop
