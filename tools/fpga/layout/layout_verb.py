"""``merp layout``: show the arrays of a training step in the memory of an accelerator."""

from __future__ import annotations

from merp.tools.common import fields
from merp.tools.common.shipped import open_network
from merp.tools.fpga.layout.memory_layout import layout_of
from merp.tools.fpga.layout.request import LayoutOptions
from merp.tools.fpga.layout.tables import print_layout

REQUEST = LayoutOptions


def run(asked: LayoutOptions) -> int:
    """Print the layout of a network."""
    found = layout_of(open_network(asked.network), asked)
    return fields.answered(asked, found.json(), lambda: print_layout(found, whole=asked.all))
