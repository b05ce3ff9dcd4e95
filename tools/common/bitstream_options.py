"""What a bitstream may be asked for, by phase."""

from __future__ import annotations

from merp.models.base.errors import BadInput
from merp.models.base.given import mention, name_of
from merp.models.network.network import Network
from merp.models.network.network_keys import COMBINED
from merp.models.network.phases import known_phases


def check_options(network: Network, phase: str, state: bool, delta_at: str | None) -> bool:
    """Refuse what says nothing to the phase; return whether deltas lie at pooled resolution.

    Args:
        network: going back as the phase asks for. state: written by forward propagation.
        delta_at: as of ``deltas_pooled``.

    Raises:
        BadInput: ``state`` without forward propagation, or pooled deltas with it, or others in one
            pass.
    """
    asked, does = mention("phase", phase), known_phases()[phase]
    if state and does.backward:
        raise BadInput(f"{name_of('state')}: {asked} writes none: allowed with fp")
    if delta_at == "pooled" and does.forward:
        at = mention("delta_at", delta_at)
        raise BadInput(f"{at}: {asked} takes no deltas: allowed with dp, bp, ku")
    return deltas_pooled(network, delta_at)


def deltas_pooled(network: Network, delta_at: str | None) -> bool:
    """Whether deltas lie in memory at pooled resolution: as asked for, in one pass always.

    delta_at: ``sums``, ``pooled``, or None where nothing is asked for.

    Raises:
        BadInput: they do not, but the network goes back in one pass.
    """
    one_pass = network.backward == COMBINED
    if one_pass and delta_at == "sums":
        raise BadInput(
            f"{mention('delta_at', 'sums')}: {network.name} goes back in one pass, which takes "
            "deltas at pooled resolution: allowed: pooled"
        )
    return one_pass or delta_at == "pooled"
