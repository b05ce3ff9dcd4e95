"""Options of a run, checked against the network and the phases of its machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from merp.models.base.errors import BadInput
from merp.models.base.given import given, mention, name_of
from merp.models.network.network import Layer, Network
from merp.models.network.phases import phases_of_step, phases_on
from merp.models.network.registry import machine_that_runs
from merp.tools.simulate.choice import RunOptions, SimulationChoice
from merp.tools.simulate.picked import ALL, Picked, array_of, check_phases, first_rows
from merp.tools.simulate.ways import Way

WAYS: Final[Mapping[str, Way]] = {}
"""No further kinds of simulation besides undivided layers."""


def choose(picked: Picked, options: RunOptions) -> SimulationChoice:
    """Check the options of a run, and return the checked request.

    Raises:
        BadInput: the machine has no such phase, or options exclude each other.
    """
    network, layers = picked.network, picked.layers
    check_not_fused(network)
    check_phase(network, layers[0], options.phase)
    asked = options.phase
    phases = phases_of_step(network) if asked == ALL else (asked,)
    if options.wave is not None and (len(phases) > 1 or len({x.design for x in layers}) > 1):
        wave = given("wave", options.wave)
        raise BadInput(f"{wave}: allowed only with one phase, and layers of one design")
    if options.rows is not None:
        forward = asked != ALL and phases_on(network, layers[0])[asked].forward
        if len(layers) > 1 or not forward:
            raise BadInput(
                f"{given('rows', options.rows)}: allowed with one layer, and forward propagation"
            )
        layers = (first_rows(layers[0], options.rows),)
    check_phases(network, layers, asked)
    check_usual(network, state=options.state, delta_at=options.delta_at)
    return SimulationChoice(
        network=network,
        layers=layers,
        phases=phases,
        group=picked.group,
        images=options.images,
        engine=options.engine,
        array=array_of(options.engine, options.cu_array),
        wave=None,
        rows=options.rows,
        state=False,
        before=False,
    )


def check_phase(network: Network, layer: Layer, phase: str) -> None:
    """Refuse a phase that the machine of a layer does not have.

    Raises:
        BadInput: the machine does not have the phase.
    """
    there = phases_on(network, layer)
    if phase not in (*there, ALL):
        name = machine_that_runs(network).name
        raise BadInput(
            f"{mention('phase', phase)}: {network.name} runs on {name}: allowed: "
            f"{', '.join((*there, ALL))}"
        )


def check_not_fused(network: Network) -> None:
    """Refuse two fused layers, ``conv1+conv2``.

    Raises:
        BadInput: the layers are fused.
    """
    if network.layer_fusion:
        names, machine = "+".join(network.layer_fusion), machine_that_runs(network).name
        raise BadInput(
            f"{given('layer', names)}: {network.name} runs on {machine}: allowed is a layer, or all"
        )


def check_usual(network: Network, *, state: bool, delta_at: str | None) -> None:
    """Refuse options for streams that only some machines have.

    Raises:
        BadInput: such an option is given.
    """
    for name, given_ in (("state", state), ("delta_at", delta_at == "pooled")):
        if given_:
            machine = machine_that_runs(network).name
            raise BadInput(f"{name_of(name)}: {network.name} runs on {machine}: omit it")


def resized(network: Network, layers: Sequence[Layer], cus: int) -> Network:
    """Refuse the option: the effect of a number of units depends on the machine.

    Raises:
        BadInput: always.
    """
    machine = machine_that_runs(network).name
    raise BadInput(f"{given('cus', cus)}: {network.name} runs on {machine}: omit it")
