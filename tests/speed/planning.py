"""The plan of a network on a board: every tile of every layer and phase priced, the best found."""

from __future__ import annotations

from collections.abc import Iterator

from measured import Seconds, best
from merp.models.plan.plan import plan
from merp.tools.common.boards import open_board
from merp.tools.common.shipped import open_network


def figures() -> Iterator[Seconds]:
    """Seconds for each layer, on the KC705 with a batch of 128."""
    board = open_board("kc705")
    for name in ("alexnet", "vgg16"):
        network = open_network(name)
        seconds = best(lambda network=network: plan(network, board), 20)
        yield Seconds(f"plan of {name}, a layer", seconds / len(network.layers))
