"""What CNN-MERP prints, and where it errs; every entry is stated beside this project's own count.

Source: X. Han, D. Zhou, S. Wang, S. Kimura, "CNN-MERP: an FPGA-based memory-efficient
reconfigurable processor for forward and backward propagation of convolutional neural networks",
ICCD 2016.
"""

from __future__ import annotations

from dataclasses import dataclass

from merp.models.network.network import Network
from merp.models.params.formats import BINARY32
from merp.models.params.storage import TENSORS
from merp.models.traffic.strategies import NAMES

BATCH = 128  # source: section VI.C


@dataclass(frozen=True)
class Row:
    """A row of table 3: Gop per batch, and MB/GFlop of each phase (None where it prints ---)."""

    gop: float
    fp: float
    dp: float | None
    ku: float


TABLE_3 = {
    "conv1": Row(27.01, 4.18, None, 8.36),
    "conv2": Row(57.34, 1.01, 4.25, 2.29),
    "conv3": Row(38.27, 1.45, 3.37, 1.45),
    "conv4": Row(28.74, 2.31, 2.31, 2.31),
    "conv5": Row(19.14, 1.98, 2.89, 2.89),
}
TABLE_3_TOTAL = Row(170.50, 1.94, 3.45, 3.92)

STAIRCASE_LAYER = "conv2"
STAIRCASE = {"1": 2085.0, "1-2": 96.1, "1-3": 17.3, "1-5": 1.01}
"""Section IV: MB/GFlop of layer 2 after each strategy. That of strategy 4 is not printed."""

# g, n, m, k, stride, rows, out_rows, pooled_rows: the sizes from which table 3 follows
_GEOMETRY = (
    (1, 3, 96, 11, 4, 224, 55, 27),
    (2, 48, 128, 5, 1, 27, 27, 13),
    (1, 256, 384, 3, 1, 13, 13, 13),
    (2, 192, 192, 3, 1, 13, 13, 13),
    (2, 192, 128, 3, 1, 13, 13, 6),
)


def is_papers_network(network: Network) -> bool:
    """Whether the convolution layers are those of the paper's AlexNet, all in binary32."""
    layers = [layer for layer in network.layers if layer.kind == "conv"]
    sizes = tuple(
        (
            layer.groups,
            *(layer.shape.n, layer.shape.m, layer.shape.k, layer.shape.stride, layer.shape.rows),
            *(layer.shape.out_rows, layer.shape.pooled_rows),
        )
        for layer in layers
    )
    return (
        sizes == _GEOMETRY
        and [layer.name for layer in layers] == list(TABLE_3)
        and network.numbers == BINARY32
        and network.stored_input == BINARY32
        and all(network.stored(tensor) == BINARY32 for tensor in TENSORS)
    )


@dataclass(frozen=True)
class Erratum:
    """A printed value that its own definitions do not give."""

    where: str
    printed: str
    found: str
    why: str


ERRATA = (
    Erratum(
        "table 3, KU total", "3.92 MB/GFlop", "3.13",
        "the column's own cells add up to 3.13, exactly 3.135",
    ),
    Erratum(
        "table 3, operations", "Gop/s", "Gop per batch", "the cells are operations of 128 images"
    ),
    Erratum(
        "table 3, DP column", "y and delta once", "y read as well",
        "section III.B reads the activation for ReLU', the column leaves it out",
    ),
    Erratum(
        f"section IV.B, strategy 1, {NAMES[0]}", "all kernels on chip", "not for layer 3",
        "3.54 MB of kernels against 1.82 MB of block RAM on the XC7K325T",
    ),
    Erratum(
        f"section IV.B, strategy 1, {NAMES[0]}", "2085 MB/GFlop", "2080",
        f"rounded operands; 96.1 for strategies 1-2, {NAMES[1]}, is 95.6 in the same way",
    ),
    Erratum(
        f"section IV.D, strategy 3, {NAMES[2]}", "198.2 MB", "47.8 MB",
        "55 x 55 maps; layer 2 has 27 x 27",
    ),
    Erratum(
        f"section IV.E, strategy 4, {NAMES[3]}", "14.16 KB", "25.92 KB",
        "48*5*59 words, not bytes; n*k*Cin*4 bytes are meant, with n for the printed m",
    ),
    Erratum(
        f"section IV.F, strategy 5, {NAMES[4]}", "29.6 MB / 28.6 GFlop = 1.01", "1.035",
        "29.6 MB includes the kernels, and 1.01 does not",
    ),
    Erratum(
        "section IV.F, figure 6", "3976x", "4041x",
        "leaves the 2.3 GB of partial sums out; with the kernels counted it is 3957x",
    ),
    Erratum(
        "section VI.C", "0.7 s for layer 2", "0.523 s",
        "0.7 s implies about 100 MHz; table 4 has 137 MHz",
    ),
    Erratum(
        "abstract, tables 2 and 4", "two large devices", "xcvu440 or xc7v2000",
        "abstract and tables name different parts for the same results",
    ),
)  # fmt: skip
