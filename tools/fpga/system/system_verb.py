"""``merp system``: write the accelerator of a training step from memory, as a package."""

from __future__ import annotations

from merp.tools.common import fields
from merp.tools.common.progress_bar import ProgressBar
from merp.tools.common.shipped import open_network
from merp.tools.fpga.system.request import SystemOptions

REQUEST = SystemOptions


def run(asked: SystemOptions) -> int:
    """Write the package, and print its engines and lists."""
    from merp.tools.fpga.system.system_package import write_system  # slow imports, therefore late
    from merp.tools.fpga.system.tables import print_system

    network = open_network(asked.network)
    with ProgressBar("system", "an accelerator: VHDL, Verilog, lists, registers") as bar:
        found = write_system(network, asked, "-o", asked.output, bar)
    return fields.answered(asked, found.json(), lambda: print_system(found))
