"""The phases that each architecture brings: a row for every type of design."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby

from merp.cosim.phases.cnn_merp.backward import Backward
from merp.cosim.phases.cnn_merp.delta import Delta
from merp.cosim.phases.cnn_merp.forward import Forward
from merp.cosim.phases.cnn_merp.fused_forward import FusedForward
from merp.cosim.phases.cnn_merp.kernel_update import KernelUpdate
from merp.cosim.phases.mac_array import delta as array_delta
from merp.cosim.phases.mac_array import forward as array_forward
from merp.cosim.phases.mac_array import update as array_update
from merp.cosim.phases.phase import Phase
from merp.models.architectures import Design
from merp.models.network.network import Layer, Network
from merp.models.network.phases import has_phase
from merp.models.params.cnn_merp import design as cnn_merp
from merp.models.params.mac_array import design as mac_array

_CNN_MERP = (Forward, FusedForward, Delta, KernelUpdate, Backward)
_MAC_ARRAY = (array_forward.Forward, array_delta.Delta, array_update.Update)

PHASES: Mapping[type[Design], Mapping[str, Callable[..., Phase]]] = {
    cnn_merp.Design: {each.name: each.of for each in _CNN_MERP},
    mac_array.Design: {each.name: each.of for each in _MAC_ARRAY},
}
"""What makes each phase, by its name, by the type of design."""


def phase_of(
    network: Network, layer: Layer, name: str, *, state: bool = False, before: bool = False
) -> Phase:
    """The phase ``name`` on the design of ``layer``.

    Args:
        network: with its designs. layer: one that has the phase.
        name: one of ``models.network.phases.NAMED``.
        state: forward propagation also writes the state for the way back.
        before: deltas are stored at pooled resolution, and expanded before the engine.

    Raises:
        BadInput: the layer has no design.
    """
    of_design = PHASES[type(network.elaboration(layer))]
    return of_design[name](network, layer, state=state, before=before)


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
