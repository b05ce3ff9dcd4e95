"""Our plans on the ZCU102 beside EF-Train: ``python docs/ef_train.py`` writes ``docs/compare.md``.

The page holds ``<!-- ef_train -->`` up to ``<!-- /table -->``. EF-Train's figures are constants
here, with their sources; ours are plans on designs sized for the board, at EF-Train's clock.
``--check`` writes nothing and fails if the page is stale.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from merp.models.fpga.resources import KINDS, TITLES
from merp.models.machines.cnn_merp.plan.fit import quickest
from merp.models.machines.cnn_merp.plan.plan import plan
from merp.models.machines.cnn_merp.plan.planned import NetworkPlan
from merp.models.network.planning import BEST
from merp.tools.common.boards import open_board
from merp.tools.common.shipped import open_network
from papers import filled, table

PAGE = Path(__file__).resolve().parent / "compare.md"
MARK = "ef_train"
NETWORKS = ("cifar10-1x", "alexnet", "vgg16")

PRINTED_GFLOPS, PRINTED_GFLOPS_W = "46.99", "6.09"
"""source: Y. Tang, X. Zhang, P. Zhou and J. Hu, EF-Train, ACM TODAES 27(5), 2022, abstract."""

SCRIPT_GFLOPS = "47.99"
"""Printed by ``finetune2.py`` of github.com/tangyuelm/EF-Train, commit 41db210, with the tiles of
its ``source.h``: ``Tm = Tn = 16``. It models VGG-16's convolutions at batch 16.
"""

CLOCK_MHZ, BATCH = 100.0, 16
"""source: ``finetune2.py``, as above."""

HEADS = (
    "machine", "network", "convolutions, GFLOPS", "GFLOPS/W", "a step with bitstreams, images/s",
    *(TITLES[kind] for kind in KINDS), "level",
)  # fmt: skip


def planned(name: str) -> NetworkPlan:
    """The quickest plan of a network on the board, at EF-Train's clock and batch."""
    board = replace(open_board("zcu102"), clock_mhz=CLOCK_MHZ)
    return quickest(
        open_network(name), BEST, ["time"],
        lambda each, goal: plan(each, board, BATCH, goal), lambda found: found.seconds,
    )  # fmt: skip


def rows() -> Iterator[list[str]]:
    """The lines of the table."""
    none = ["-"] * len(KINDS)
    yield ["EF-Train", "-", PRINTED_GFLOPS, PRINTED_GFLOPS_W, "-", *none, "printed"]
    yield ["EF-Train", "VGG-16", SCRIPT_GFLOPS, "-", "-", *none, "modelled, by its authors' script"]
    for name in NETWORKS:
        found = planned(name)
        convolutions = [each for each in found.layers if each.work.layer.kind == "conv"]
        work = sum(each.work.layer.operations(BATCH) for each in convolutions)
        speed = work / sum(each.seconds for each in convolutions) / 1e9
        largest = [
            max(engine.resources.figures()[kind] for engine in found.engines) for kind in KINDS
        ]
        yield [
            "CNN-MERP, planned", f"`{name}`", f"{speed:.1f}", "-", f"{found.images_per_second:.2f}",
            *(f"{value:,.10g}" for value in largest),
            "modelled; resources estimated",
        ]  # fmt: skip


def rewritten(page: str) -> str:
    """The text of the page with its table as it is now."""
    return filled(page, lambda mark: table(HEADS, rows()))


def main(arguments: list[str]) -> int:
    """Rewrite the page, or say whether it is stale."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--check", action="store_true", help="write nothing; 1 if it is stale")
    check = parser.parse_args(arguments).check
    old = PAGE.read_text(encoding="utf-8")
    new = rewritten(old)
    if new == old:
        return 0
    print(f"{PAGE.name}: {'stale' if check else 'rewritten'}")
    if not check:
        PAGE.write_text(new, encoding="utf-8")
    return int(check)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
