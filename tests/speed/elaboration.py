"""A forward engine elaborated, with MyHDL's questions answered by us and by itself."""

import inspect
from collections.abc import Iterator
from time import perf_counter

from measured import Ratio, Seconds
from merp.cosim.machines.cnn_merp.phases.forward import forward_top
from merp.hdl.conversion import quick_elaboration
from merp.hdl.conversion.base import internals
from merp.models.machines.cnn_merp.designs import design_of
from merp.tools.common.shipped import open_network


def figures() -> Iterator[Seconds | Ratio]:
    """All units of the network digits."""
    ours = _elaborated()
    yield Seconds("digits' forward engine elaborated", ours)
    internals.inspect_with(inspect)
    internals.parse_with(internals.own_tree)
    internals.resolve_with(internals.AttributeResolver)
    try:
        own = _elaborated()
    finally:
        quick_elaboration.install()
    yield Seconds("the same, by MyHDL alone", own)
    yield Ratio("elaboration, over MyHDL alone", own / ours)


def _elaborated() -> float:
    network = open_network("digits")
    top = forward_top(design_of(network, network.layer("conv1")), "rtl")
    began = perf_counter()
    top.function(**top.args)
    return perf_counter() - began
