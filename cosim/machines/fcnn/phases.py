"""The phases of F-CNN, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pkgutil import resolve_name

from merp.cosim.phases.phase import HardwarePhase
from merp.models.machines.fcnn.phases import design_of
from merp.models.network.network import Layer, Network


def _loaded(convolution: str, product: str) -> Callable[..., HardwarePhase]:
    """Return a function that loads a module and its blocks at the first call.

    Args:
        convolution: module of convolutions.
        product: module of full connections.
    """

    def of(network: Network, layer: Layer, **kwargs: bool) -> HardwarePhase:
        reference = convolution if design_of(network, layer).convolves else product
        made = resolve_name(f"{__package__}.{reference}.of")
        phase: HardwarePhase = made(network, layer, **kwargs)
        return phase

    return of


PHASES: Mapping[str, Callable[..., HardwarePhase]] = {
    "fp": _loaded("convolution:Forward", "product:Forward"),
    "pool": _loaded("pooling:Pooling", "pooling:Pooling"),
    "unpool": _loaded("pooling:Unpooling", "pooling:Unpooling"),
    "dp": _loaded("convolution:Delta", "product:Delta"),
    "ku": _loaded("gradients:Gradients", "product:Gradients"),
}
