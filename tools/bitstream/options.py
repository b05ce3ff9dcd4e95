"""What a bitstream may be asked for, by phase."""

from __future__ import annotations

from merp.models.errors import BadInput
from merp.models.given import mention, name_of


def check_options(phase: str, state: bool, delta_at: str) -> None:
    """Refuse what says nothing to the phase.

    Raises:
        BadInput: ``state`` without forward propagation, or pooled deltas with it.
    """
    asked = mention("phase", phase)
    if state and phase != "fp":
        raise BadInput(f"{name_of('state')}: {asked} writes none: allowed with fp")
    if delta_at == "pooled" and phase == "fp":
        at = mention("delta_at", delta_at)
        raise BadInput(f"{at}: {asked} takes no deltas: allowed with dp, ku")
