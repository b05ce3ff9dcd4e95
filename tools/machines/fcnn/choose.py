"""Options of a run on F-CNN: the lanes must divide the batch."""

from __future__ import annotations

from merp.models.machines.fcnn.phases import design_of
from merp.models.machines.fcnn.runs import check_run
from merp.tools.machines.usual import choose as usual
from merp.tools.simulate.choice import RunOptions, SimulationChoice
from merp.tools.simulate.picked import Picked


def choose(picked: Picked, options: RunOptions) -> SimulationChoice:
    """Check the options of a run, and return the checked request.

    Raises:
        BadInput: as usual, or a design does not run this number of images.
    """
    found = usual.choose(picked, options)
    for layer in found.layers:
        where = f"{found.network.name}: {layer.name}"
        check_run(layer.shape, found.images, design_of(found.network, layer), where)
    return found
