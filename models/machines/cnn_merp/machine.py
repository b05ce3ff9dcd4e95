"""CNN-MERP as a machine."""

from __future__ import annotations

from operator import attrgetter

from merp.models.base.formats import FloatFormat
from merp.models.base.shape import LEAKY_RELU, NO_ACTIVATION, RELU6, RELU_ONLY
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.design_keys import AXES, KEYS
from merp.models.machines.cnn_merp.params.design_section import read_design
from merp.models.machines.cnn_merp.params.sizing import check_fits, check_size
from merp.models.network.machine import Machine
from merp.models.network.phases import BP, DP, FF, FP, KU

MACHINE = Machine(
    name="cnn-merp",
    design=EngineDesign,
    numbers=FloatFormat,
    keys=KEYS,
    read=read_design,
    summation=attrgetter("summation"),
    phases=(FP, FF, DP, BP, KU),
    activations=(RELU_ONLY, RELU6, LEAKY_RELU, NO_ACTIVATION),
    cycles="merp.models.machines.cnn_merp.cycles:layer_cycles",
    comparison="merp.models.machines.cnn_merp.comparison.architecture:ARCHITECTURE",
    check="merp.models.machines.cnn_merp.checks:check_network",
    check_run=check_fits,
    check_size=check_size,
    place="merp.models.machines.cnn_merp.plan.plan:placed",
    axes=AXES,
    bytes="merp.models.machines.cnn_merp.plan.bytes:BYTES",
    hardware="merp.tools.machines.cnn_merp.hardware:HARDWARE",
)
