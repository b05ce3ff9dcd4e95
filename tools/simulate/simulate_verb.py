"""``merp simulate``: run layers on the hardware, compare every bit, audit every word."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from merp.models.network.network import Network
from merp.tools.common import fields
from merp.tools.common.complaint import complain
from merp.tools.common.fields import ALL
from merp.tools.common.progress_bar import ProgressBar
from merp.tools.common.request import is_given
from merp.tools.common.resumable import resumable
from merp.tools.common.shipped import open_network
from merp.tools.simulate.request import SimulateOptions

if TYPE_CHECKING:
    from merp.tools.simulate.simulated import Simulated, Words
    from merp.tools.simulate.work import ReadySimulation

REQUEST = SimulateOptions
WAYS = ("board", "schedule")
"""Fields that select another kind of simulation than layers in one piece."""


def run(asked: SimulateOptions) -> int:
    """Simulate, print the results, and return 1 if a check fails."""
    network = open_network(asked.network, fuses=True)

    from merp.tools.simulate.work import Inputs, simulate  # import only if needed: it is slow

    ready, maps = _ready(network, asked)

    def inputs() -> Inputs:
        return Inputs(maps=maps, kernels=None if asked.kernels is None else Path(asked.kernels))

    everything = ALL in (asked.layer, asked.phase)
    bar = partial(ProgressBar, "simulate")
    with resumable(asked.words, "--resume"):
        done = simulate(ready, asked, inputs, bar, complain, everything=everything)
    fields.answered(asked, done.answer, lambda: done.found.show(details=asked.details))
    return 0 if done.found.passed else 1


def _ready(network: Network, asked: SimulateOptions) -> tuple[ReadySimulation, Words | None]:
    """Check the request, and read the maps of the file."""

    def read(network: Network, machine: Simulated) -> Words | None:
        if asked.input is None:
            return None
        from merp.tools.simulate.maps_file import read_maps

        return read_maps(Path(asked.input), asked.images, network, machine)

    from merp.tools.simulate.pieces import pieces  # imports simulators only if needed
    from merp.tools.simulate.ways import way_of

    field = next((field for field in WAYS if is_given(getattr(asked, field))), None)
    way = pieces if field is None else way_of(network, field)
    found: tuple[ReadySimulation, Words | None] = way(network, asked, read)
    return found
