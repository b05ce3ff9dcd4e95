"""``merp workload``: write a network's layers, in all three phases, for modelling tools."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from merp.tools.common import fields
from merp.tools.common.kinds import OneOf
from merp.tools.common.output import Output
from merp.tools.common.request import option
from merp.tools.common.shipped import open_network
from merp.tools.traffic.workload import scalesim, timeloop, zigzag

FORMATS = {"scalesim": scalesim, "timeloop": timeloop, "zigzag": zigzag}


@dataclass(frozen=True, kw_only=True)
class WorkloadOptions(fields.Answer):
    """The options of the verb."""

    network: str = fields.network()
    format: str = option(OneOf(FORMATS), "the modelling tool", required=True)
    batch: int = fields.batch()
    output: Path = fields.output("folder", "folder of the files", required=True)


REQUEST = WorkloadOptions


def run(asked: WorkloadOptions) -> int:
    """Write the files and list them."""
    network = open_network(asked.network)
    with Output.of_folder("-o", asked.output) as output:
        found = FORMATS[asked.format](network, asked.batch)
        output.write(found)
    if asked.json:
        answer = {"network": network.name, "format": asked.format, "directory": str(asked.output)}
        print(json.dumps(answer | {"files": list(found)}, indent=2))
    else:
        for name in found:
            print(asked.output / name)
    return 0
