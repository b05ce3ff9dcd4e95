"""F-CNN as a machine: a module for each layer and phase, loaded one after the other."""

from __future__ import annotations

from operator import attrgetter
from typing import NamedTuple

from merp.models.base.formats import FloatFormat
from merp.models.base.shape import NO_ACTIVATION, RELU_ONLY, TANH
from merp.models.machines.fcnn.params.design import FcnnDesign
from merp.models.machines.fcnn.params.design_section import KEYS, read_design
from merp.models.machines.fcnn.phases import PHASES
from merp.models.machines.fcnn.runs import check_run
from merp.models.network.machine import Machine
from merp.models.network.network import Layer, Network


class Cycles(NamedTuple):
    """Cycles of a run: kernels load within ``total``."""

    total: int
    kernel_load: int = 0


def layer_cycles(network: Network, layer: Layer, phase: str, images: int) -> Cycles | None:
    """Return the cycles of a phase of a layer, over all groups; None for a batch that no design
    divides into beats.
    """
    from merp.models.machines.fcnn.words import work_of  # only when a number is asked for

    try:
        return Cycles(layer.groups * work_of(network, layer, phase, images).cycles)
    except ValueError:
        return None


MACHINE = Machine(
    name="fcnn",
    design=FcnnDesign,
    numbers=FloatFormat,
    keys=KEYS,
    read=read_design,
    summation=attrgetter("summation"),
    phases=PHASES,
    activations=(RELU_ONLY, TANH, NO_ACTIVATION),
    cycles="merp.models.machines.fcnn.machine:layer_cycles",
    check="merp.models.machines.fcnn.checks:check_network",
    check_run=check_run,
    comparison="merp.models.comparison.fcnn:ARCHITECTURE",
    bytes="merp.models.machines.fcnn.bytes:BYTES",
    hardware="merp.tools.machines.fcnn.hardware:HARDWARE",
    designed="merp.models.machines.fcnn.designed:designed",
    accumulates=True,
    says="a module for each layer and phase, images innermost, updates on the host",
)
