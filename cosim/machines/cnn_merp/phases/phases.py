"""The phases of CNN-MERP, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pkgutil import resolve_name

from merp.cosim.phases.phase import HardwarePhase


def _loaded(reference: str) -> Callable[..., HardwarePhase]:
    """Return a function that loads a phase and its blocks at the first call."""

    def of(*args: object, **kwargs: object) -> HardwarePhase:
        phase: HardwarePhase = resolve_name(f"{__package__}.{reference}.of")(*args, **kwargs)
        return phase

    return of


PHASES: Mapping[str, Callable[..., HardwarePhase]] = {
    "fp": _loaded("forward:ForwardPhase"),
    "ff": _loaded("fused_forward:FusedForward"),
    "dp": _loaded("delta:DeltaPhase"),
    "ku": _loaded("kernel_update:KernelUpdate"),
    "bp": _loaded("backward:Backward"),
}
