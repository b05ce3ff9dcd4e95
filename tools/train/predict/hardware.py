"""The outputs of a network in simulated hardware, with every word compared to the golden model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from merp.cosim.machines.training.hardware_step import check
from merp.models.arithmetic.compiled import Values
from merp.models.base.errors import BadInput
from merp.models.network.network import Network
from merp.models.network.registry import machine_of
from merp.tools.common.fields import ALL, PHASE
from merp.tools.common.progress import Progress
from merp.tools.simulate.choice import RunOptions
from merp.tools.simulate.choose import choose
from merp.tools.simulate.picked import MOST_IMAGES, check_room, pick
from merp.tools.simulate.session import simulate_all
from merp.tools.simulate.simulated import simulated_of
from merp.tools.train.predict.forward import Forward, in_parts
from merp.tools.train.predict.inference import Parameters, Words


def hardware_outputs(
    network: Network, engine: str, images: Words, parameters: Parameters, progress: Progress
) -> Forward:
    """Run forward propagation layer by layer, each layer in one piece.

    The arguments are those of ``forward.forward``.

    Raises:
        BadInput: a layer has no design, or the memory is too small.
        CheckFailed: a bit, a count or a rule of a port was wrong.
        Stuck: no word moved for too long.
    """
    network = replace(network, layer_fusion=())
    for layer in network.layers:
        network.design(layer)  # raises BadInput if there is none
    picked = pick(network, ALL, None, None)
    machine = simulated_of(network, picked.layers)
    cycles: list[int] = []

    def run(part: Words) -> Values:
        options = RunOptions(phase=PHASE, images=len(part), engine=engine)
        choice = choose(picked, options)
        check_room(choice)
        found = simulate_all(choice, part, parameters, None, None, progress)
        for each in found.results:
            check(f"{each.layer.name} {each.phase}:", each.audit.failures)
            cycles.append(each.audit.cycles["total"] + each.audit.cycles.get("kernel_load", 0))
        last = found.results[-1]
        assert last.outputs is not None
        return machine.numbers(network, last.layer, last.outputs).reshape(len(part), -1)

    return Forward(in_parts(images, _at_once(network), run, progress), sum(cycles))


def _at_once(network: Network) -> int:
    """Return the most images of a run, up to ``MOST_IMAGES``, that every design supports."""
    return next(count for count in _counts() if count == 1 or _runs(network, count))


def _counts() -> Iterator[int]:
    """Yield numbers of images, each half of the number before, down to 1."""
    count = MOST_IMAGES
    while count:
        yield count
        count //= 2


def _runs(network: Network, images: int) -> bool:
    try:
        for layer in network.layers:
            design = network.design(layer)
            machine_of(design).check_run(layer.shape, images, design, layer.name)
    except BadInput:
        return False
    return True
