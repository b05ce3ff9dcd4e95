"""Let the machine of the picked layers check the options of a run."""

from __future__ import annotations

from collections.abc import Callable

from merp.cosim.machines.loader import part_that_runs
from merp.tools.simulate.choice import RunOptions, SimulationChoice
from merp.tools.simulate.picked import Picked


def choose(picked: Picked, options: RunOptions) -> SimulationChoice:
    """Check the options of layers that share a machine, and return the checked request.

    Raises:
        BadInput: the machine does not support the options.
    """
    chooser: Callable[[Picked, RunOptions], SimulationChoice] = part_that_runs(
        picked.network, picked.layers, "choose"
    )
    return chooser(picked, options)
