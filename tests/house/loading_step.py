"""``step.json`` of tiny3 on a small part, which has two bitstreams."""

import json
from pathlib import Path

from narrow_part import narrow

from merp.tools.common.shipped import open_network
from merp.tools.fpga.system.planned_system import planned_step
from merp.tools.fpga.system.request import SystemOptions
from merp.tools.fpga.system.system_package import loads_of

SHARE = 0.3
"""Share of the LUTs of a part that has room for half of the engines."""


def loading_step(folder: Path) -> Path:
    """Write the file, and return its path. The hardware has momentum."""
    board = narrow(folder, SHARE)
    asked = SystemOptions(network="tiny3", images=2, momentum=True, board=board, output=folder)
    path = folder / "step.json"
    path.write_text(json.dumps(loads_of(planned_step(open_network("tiny3"), asked))))
    return path
