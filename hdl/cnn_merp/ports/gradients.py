"""Deltas and gradients of the kernel update."""

from __future__ import annotations

from merp.hdl.base.registers import RegisterBundle
from merp.hdl.base.signals import bits, count, flag
from merp.models.base.rates import UpdateRule
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.kernel_update_registers import update_table


class DeltaElement:
    """A delta word, of ``delta_beat`` deltas, on its way to the bias gradients."""

    def __init__(self, design: EngineDesign) -> None:
        self.valid = flag()
        self.data = bits(design.delta_beat * design.fmt.width)
        self.index = count(design.groups * design.n_cu // design.delta_beat - 1)  # output map(s)
        self.opening = flag()  # of the run's first position


class GradientRead:
    """Read of one element of the gradient memories; the element comes GRADIENT_READ cycles later.

    Its place in the word, and the CU, are bit positions, so that nothing has to be multiplied. With
    several elements per beat they are numbers: of the read within the word, and of the CU.
    """

    def __init__(self, design: EngineDesign) -> None:
        width = design.fmt.width
        self.enable = flag()  # no slot is in flight, the memories are the reader's
        self.addr = count(design.gradient_words - 1)
        if design.kernel_port > 1:
            self.tap_shift = count(design.gradient_reads - 1 if design.ku_kind == "position" else 0)
            self.cu_shift = count(design.n_cu - 1)
        else:
            self.tap_shift = count(design.gradient_lanes * width - 1)
            self.cu_shift = count(design.n_cu * width - 1)


class GradientBeat:
    """Gradients as they leave, ``kernel_port`` in a beat."""

    def __init__(self, design: EngineDesign) -> None:
        self.valid = flag()
        self.data = bits(design.kernel_port * design.fmt.width)  # zeros behind the last that counts
        self.keep = bits(design.kernel_port)  # which of them count
        self.biases = flag()  # they are of biases
        self.last = flag()  # there are no more of their kind


class UpdateConfig(RegisterBundle):
    """Run-time registers of the update unit, those of ``update_table``."""

    def __init__(self, design: EngineDesign, rule: UpdateRule) -> None:
        super().__init__(update_table(rule), design)
