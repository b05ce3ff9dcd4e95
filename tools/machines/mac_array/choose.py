"""Options of a run on the MAC array, checked against the network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from merp.models.base.errors import BadInput
from merp.models.base.given import given, mention, name_of
from merp.models.machines.mac_array.passes import design_of
from merp.models.network.network import Layer, Network
from merp.models.network.network_keys import SEPARATE
from merp.models.network.phases import PHASES
from merp.tools.common.bitstream_options import deltas_pooled
from merp.tools.simulate.choice import RunOptions, SimulationChoice
from merp.tools.simulate.picked import ALL, Picked, array_of, check_deltas, check_phases


def choose_array(picked: Picked, options: RunOptions) -> SimulationChoice:
    """Check the options of a run on the MAC array, and return the checked request.

    All phases run on one array, one image after the other. Masks remain on the chip between the
    phases.

    Raises:
        BadInput: the array does not support the run, or layers are on several arrays.
    """
    network = replace(picked.network, backward=SEPARATE)
    where = f"{network.name} runs on mac-array"
    if options.phase not in (*PHASES, ALL):
        allowed = ", ".join((*PHASES, ALL))
        raise BadInput(f"{mention('phase', options.phase)}: {where}: allowed: {allowed}")
    phases = tuple(PHASES) if options.phase == ALL else (options.phase,)
    if options.state:
        raise BadInput(f"{name_of('state')}: {where}, which keeps the mask on the chip: omit it")
    if options.rows is not None:
        raise BadInput(f"{given('rows', options.rows)}: {where}: omit it")
    check_deltas(options.delta_at, phases)
    for layer in network.layers:  # the whole network, because deltas start at its loss
        design_of(network, layer)
    check_phases(network, picked.layers, options.phase)
    return SimulationChoice(
        network=network,
        layers=picked.layers,
        phases=phases,
        group=picked.group,
        images=options.images,
        engine=options.engine,
        array=array_of(options.engine, options.cu_array),
        wave=None,
        rows=None,
        state=False,
        before=deltas_pooled(network, options.delta_at),
    )


def resized(network: Network, layers: Sequence[Layer], cus: int) -> Network:
    """Refuse the option: the design sets the number of parallel products.

    Raises:
        BadInput: always.
    """
    raise BadInput(f"{given('cus', cus)}: {network.name} runs on mac-array: omit it")
