"""``merp plan``: plan a network on a board, in passes that fit its FPGA."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator

from merp.models.base.errors import BadInput
from merp.tools.common.output import Output
from merp.tools.common.progress_bar import ProgressBar
from merp.tools.common.shipped import open_network, open_tables
from merp.tools.plan.planned import planned
from merp.tools.plan.request import PlanOptions

REQUEST = PlanOptions


def run(asked: PlanOptions) -> int:
    """Print the plan of a network on a board."""
    if asked.output is not None and asked.output.suffix != ".toml":  # protects other files
        raise BadInput(f"-o {asked.output}: must end in .toml")
    network = open_network(asked.network, fuses=True)
    many = len(network.layers)
    with ProgressBar("plan", f"{many:,} layers: their designs, then tiles of each in each phase"):
        found = planned(network, asked)
    if asked.output is not None:
        text = found.file(*open_tables(asked.network))
        with Output.of_file("-o", asked.output) as output:
            output.write({output.name: text})
    if asked.json:
        print(json.dumps(found.answer(), indent=2))
    else:
        found.show(lambda fit: list(_again(asked, fit)), details=asked.details)
    return 0


def _again(asked: PlanOptions, fit: str) -> Iterator[str]:
    """Yield the words of the same command with another ``--fit``."""
    yield from ("merp", "plan", shlex.quote(str(asked.network)))
    yield from ("--board", shlex.quote(str(asked.board)), "--batch", str(asked.batch))
    given = {"--for": asked.goal, "--state-bits": asked.state_bits, "--backward": asked.backward}
    for option, value in (given | {"--layer-fusion": asked.layer_fusion}).items():
        if value is not None:
            yield from (option, str(value))
    if asked.apart:
        yield "--apart"
    yield from ("--fit", fit)
