"""The hardware half of each machine, loaded by the name that its first half has for it.

Who asks something of it declares what, in a protocol beside the question.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import groupby
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, Protocol

from merp.models.errors import BadInput
from merp.models.machine.machine import Machine
from merp.models.machine.registry import OURS, distribution_of, machine_for, machine_of
from merp.models.network.network import Layer, Network
from merp.models.network.phases import has_phase

if TYPE_CHECKING:  # NumPy waits
    from merp.cosim.phases.phase import Phase


class Phased(Protocol):
    """Hardware, asked for its phases."""

    @property
    def phases(self) -> Mapping[str, Callable[..., Phase]]:
        """What makes each phase, by its name."""


@cache
def hardware_of(machine: Machine) -> Any:
    """The hardware half of a machine.

    Raises:
        BadInput: another distribution brings it, and it cannot be loaded.
    """
    try:
        return resolve_name(machine.hardware)
    except Exception as error:
        brought_by = distribution_of(machine.name)
        if brought_by == OURS:  # a defect of merp
            raise
        where, reason = f"{brought_by}: machine {machine.name}", f"{type(error).__name__}: {error}"
        raise BadInput(f"{where}: {machine.hardware} cannot be loaded: {reason}") from error


def hardware_for(network: Network) -> Any:
    """The hardware that computes in the numbers of a network."""
    return hardware_of(machine_for(network.numbers))


def hardware_that_runs(network: Network, layers: Sequence[Layer]) -> Any:
    """The hardware of ``layers``, each of which has a design of one machine.

    Raises:
        BadInput: the first of them has no design.
    """
    return hardware_of(machine_of(network.elaboration(layers[0])))


def phase_of(
    network: Network, layer: Layer, name: str, *, state: bool = False, before: bool = False
) -> Phase:
    """The phase ``name`` on the design of ``layer``.

    Args:
        network: with its designs. layer: one that has the phase.
        name: one of ``models.network.phases.NAMED``.
        state: forward propagation also writes the state that the backward phases read.
        before: deltas are stored at pooled resolution, and expanded before the engine.

    Raises:
        BadInput: the layer has no design.
    """
    hardware: Phased = hardware_that_runs(network, [layer])
    return hardware.phases[name](network, layer, state=state, before=before)


def phases_of(
    network: Network,
    layers: Sequence[Layer],
    names: Sequence[str],
    *,
    state: bool = False,
    before: bool = False,
) -> Iterator[tuple[Phase, Sequence[Layer]]]:
    """Yield each phase with the layers in a row that share its design, as ``phase_of``."""
    for name in names:
        having = [layer for layer in layers if has_phase(network, layer, name)]
        for _, sharing in groupby(having, key=lambda layer: layer.design):
            run = list(sharing)
            yield phase_of(network, run[0], name, state=state, before=before), run
