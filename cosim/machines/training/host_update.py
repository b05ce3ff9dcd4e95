"""Update of layers by gradients that the host read back from the hardware."""

from __future__ import annotations

from collections.abc import Sequence

from merp.cosim.machines.training.step_so_far import StepSoFar
from merp.models.golden.accumulated import Gradients, added
from merp.models.golden.training import updated


def update_on_host(minibatches: Sequence[StepSoFar]) -> None:
    """Add the gradients of the minibatches of a step, and update their layers in the first one.

    Layers without gradients are those that the chip updates.
    """
    first = minibatches[0]
    network, model, rates = first.network, first.model, first.rates
    sums: Gradients = {}
    for each in minibatches:
        sums = added(sums, each.gradients, network.fmt)
    for name, found in sums.items():
        old = model.of(network.layer(name))
        first.new[name] = updated(old, found, rates, network.fmt, network.storage)
