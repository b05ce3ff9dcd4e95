"""What a simulation on the MAC array is asked for, checked against the network."""

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
from merp.tools.simulate.choice import Choice
from merp.tools.simulate.picked import ALL, Picked, array_of, check_deltas, check_phases


def choose_array(
    picked: Picked,
    *,
    phase: str,
    images: int,
    engine: str,
    cu_array: str | None,
    state: bool,
    delta_at: str | None,
    wave: object = None,
    rows: int | None = None,
) -> Choice:
    """What is to be simulated; as ``simulate.choose.choose``.

    All phases run on one array, one image after the other; masks stay on the chip between them.

    Raises:
        BadInput: the array does not do it, or layers are on several.
    """
    network = replace(picked.network, backward=SEPARATE)
    where = f"{network.name} runs on mac-array"
    if phase not in (*PHASES, ALL):
        allowed = ", ".join((*PHASES, ALL))
        raise BadInput(f"{mention('phase', phase)}: {where}: allowed: {allowed}")
    phases = tuple(PHASES) if phase == ALL else (phase,)
    if state:
        raise BadInput(f"{name_of('state')}: {where}, where it stays on the chip: allowed without")
    if rows is not None:
        raise BadInput(f"{given('rows', rows)}: {where}: allowed without")
    check_deltas(delta_at, phases)
    for layer in network.layers:  # the whole network, as deltas come from its loss
        design_of(network, layer)
    check_phases(network, picked.layers, phase)
    return Choice(
        network=network,
        layers=picked.layers,
        phases=phases,
        group=picked.group,
        images=images,
        engine=engine,
        array=array_of(engine, cu_array),
        wave=None,
        rows=None,
        state=False,
        before=deltas_pooled(network, delta_at),
    )


def resized(network: Network, layers: Sequence[Layer], cus: int) -> Network:
    """Refuse: the design says how many products there are at once.

    Raises:
        BadInput: always.
    """
    raise BadInput(f"{given('cus', cus)}: {network.name} runs on mac-array: allowed without")
