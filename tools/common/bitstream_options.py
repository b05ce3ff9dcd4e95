"""Checks of the options of a bitstream, by phase."""

from __future__ import annotations

from merp.models.base.errors import BadInput
from merp.models.base.given import mention, name_of
from merp.models.network.branches import all_expand
from merp.models.network.network import Network
from merp.models.network.network_keys import COMBINED
from merp.models.network.phases import known_phases


def check_options(network: Network, phase: str, state: bool, delta_at: str | None) -> bool:
    """Refuse options that do not apply to the phase; return whether deltas are stored pooled.

    Args:
        network: its ``backward`` agrees with the phase.
        phase: name of the phase.
        state: whether forward propagation writes the ReLU/pooling mask.
        delta_at: as for ``deltas_pooled``.

    Raises:
        BadInput: ``state`` or pooled deltas are given for a phase that does not have them, or
            ``delta_at`` is ``sums`` where deltas must be pooled.
    """
    asked, does = mention("phase", phase), known_phases()[phase]
    if state and does.backward:
        raise BadInput(f"{name_of('state')}: {asked} writes none: allowed with fp")
    if delta_at == "pooled" and does.forward:
        at = mention("delta_at", delta_at)
        raise BadInput(f"{at}: {asked} takes no deltas: allowed with dp, bp, ku")
    return deltas_pooled(network, delta_at)


def deltas_pooled(network: Network, delta_at: str | None) -> bool:
    """Return whether deltas are stored at pooled resolution.

    The combined backward pass needs it, and so do concatenations of layers with different ReLU or
    pooling.

    Args:
        network: its ``backward`` says whether the backward pass is combined.
        delta_at: ``sums``, ``pooled``, or None if the option is not given.

    Raises:
        BadInput: ``sums``, but the network needs pooled resolution.
    """
    needed = ""
    if network.backward == COMBINED:
        needed = "the combined backward pass, which"
    elif not all_expand(network):
        needed = "a concatenation of layers with different ReLU or pooling, which"
    if needed and delta_at == "sums":
        raise BadInput(
            f"{mention('delta_at', 'sums')}: {network.name} has {needed} takes deltas at pooled "
            "resolution: allowed: pooled"
        )
    return bool(needed) or delta_at == "pooled"
