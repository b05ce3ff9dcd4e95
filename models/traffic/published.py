"""Table 3, section IV and the errata of CNN-MERP, from its list, for the tables of traffic.

Source: X. Han, D. Zhou, S. Wang, S. Kimura. "CNN-MERP: an FPGA-based memory-efficient
reconfigurable processor for forward and backward propagation of convolutional neural networks",
ICCD 2016.
"""

from __future__ import annotations

from dataclasses import dataclass

from merp.models.base.formats import BINARY32
from merp.models.base.storage import TENSORS
from merp.models.network.network import Network
from merp.models.papers.lists import paper

BATCH = 128  # source: section VI.C


@dataclass(frozen=True)
class Row:
    """A row of table 3: Gop per batch, and MB/GFlop of each phase (None where it prints ---)."""

    gop: float
    fp: float
    dp: float | None
    ku: float


PAPER = paper("cnn-merp")


def _row(layer: str) -> Row:
    def cell(phase: str) -> float:
        return PAPER["table 3", f"{layer}, {phase}"]

    dp = None if layer == "conv1" else cell("DP")
    return Row(PAPER["table 3", f"{layer}, operations of a batch"], cell("FP"), dp, cell("KU"))


TABLE_3 = {name: _row(name) for name in ("conv1", "conv2", "conv3", "conv4", "conv5")}
TABLE_3_TOTAL = _row("total")

STAIRCASE_LAYER = "conv2"
STAIRCASE = {
    "1": PAPER["IV.B", "after strategy 1"],
    "1-2": PAPER["IV.C", "after strategies 1-2"],
    "1-3": PAPER["IV.D", "after strategies 1-3"],
    "1-5": PAPER["IV.F", "after strategies 1-5"],
}
"""Section IV: MB/GFlop of layer 2 after each strategy; the value of strategy 4 is not printed."""

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


ERRATA = PAPER.errata
