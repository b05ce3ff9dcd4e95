"""Load the hardware half of a machine by the name that its model half gives.

Decision 24 lists the parts of a hardware half and their types.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import groupby
from typing import TYPE_CHECKING, Any

from merp.models.base.errors import BadInput
from merp.models.network.machine import Machine
from merp.models.network.network import Layer, Network
from merp.models.network.phases import has_phase
from merp.models.network.registry import machine_of, machine_that_runs, machines, part_of, runners

if TYPE_CHECKING:  # to load NumPy later
    from merp.cosim.phases.phase import HardwarePhase


def part_for(network: Network, part: str) -> Any:
    """Return a part of the hardware of the machine that runs a network.

    Raises:
        BadInput: layers run on several machines, or the hardware of another distribution cannot be
            loaded or lacks the part.
    """
    machine = machine_that_runs(network)
    return part_of(machine, machine.hardware, part)


def optional_part(machine: Machine, part: str, default: Any) -> Any:
    """Return an optional part of the hardware of a machine, or the default.

    Raises:
        BadInput: the hardware of another distribution cannot be loaded.
    """
    return getattr(part_of(machine, machine.hardware), part, default)


def having(part: str) -> dict[str, Any]:
    """Return a part of each loadable machine that has the part, by the machine's name."""
    found = {}
    for machine in (*machines(), *runners()):
        with suppress(BadInput):
            found[machine.name] = optional_part(machine, part, None)
    return {name: each for name, each in found.items() if each is not None}


def part_that_runs(network: Network, layers: Sequence[Layer], part: str) -> Any:
    """Return a part of the hardware of ``layers``, which all have a design of the same machine.

    Raises:
        BadInput: the first layer has no design, or as in ``part_for``.
    """
    machine = machine_of(network.design(layers[0]))
    return part_of(machine, machine.hardware, part)


def phase_of(
    network: Network, layer: Layer, name: str, *, state: bool = False, before: bool = False
) -> HardwarePhase:
    """Return the phase ``name`` on the design of ``layer``.

    Args:
        network: network with its designs.
        layer: a layer that has the phase.
        name: one of ``models.network.phases.NAMED``.
        state: forward propagation also writes the ReLU/pooling masks for the backward phases.
        before: deltas are stored at pooled resolution and expanded in front of the engine.

    Raises:
        BadInput: the layer has no design.
    """
    phases: Mapping[str, Callable[..., HardwarePhase]] = part_that_runs(network, [layer], "phases")
    return phases[name](network, layer, state=state, before=before)


def phases_of(
    network: Network,
    layers: Sequence[Layer],
    names: Sequence[str],
    *,
    state: bool = False,
    before: bool = False,
) -> Iterator[tuple[HardwarePhase, Sequence[Layer]]]:
    """Yield each named phase, with the consecutive layers that run it on one design.

    The options ``state`` and ``before`` are those of ``phase_of``.
    """
    for name in names:
        having = [layer for layer in layers if has_phase(network, layer, name)]
        for _, sharing in groupby(having, key=lambda layer: layer.design):
            run = list(sharing)
            yield phase_of(network, run[0], name, state=state, before=before), run
