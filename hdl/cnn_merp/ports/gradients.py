"""Deltas and gradients of the kernel update."""

from __future__ import annotations

from merp.hdl.base.registers import RegisterBundle
from merp.hdl.base.signals import bits, count, flag
from merp.models.base.rates import UpdateRule
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.kernel_update_registers import update_table


class DeltaElement:
    """A delta word, of ``delta_beat`` deltas, for the bias gradients."""

    def __init__(self, design: EngineDesign) -> None:
        self.valid = flag()
        self.data = bits(design.delta_beat * design.fmt.width)
        self.index = count(design.groups * design.n_cu // design.delta_beat - 1)  # output map(s)
        self.opening = flag()  # it belongs to the first position of the run


class GradientRead:
    """Read of one element of the gradient memories; the element follows GRADIENT_READ cycles later.

    Its place in the word, and the CU, are bit positions, so no multiplication is needed. With
    several elements per beat, they are numbers: of the read within the word, and of the CU.
    """

    def __init__(self, design: EngineDesign) -> None:
        width = design.fmt.width
        self.enable = flag()  # no slot is in the pipeline: the reader uses the memories
        self.addr = count(design.gradient_words - 1)
        if design.kernel_port > 1:
            self.tap_shift = count(design.gradient_reads - 1 if design.ku_kind == "position" else 0)
            self.cu_shift = count(design.n_cu - 1)
        else:
            self.tap_shift = count(design.gradient_lanes * width - 1)
            self.cu_shift = count(design.n_cu * width - 1)


class GradientBeat:
    """Gradients in beats of ``kernel_port`` elements."""

    def __init__(self, design: EngineDesign) -> None:
        self.valid = flag()
        self.data = bits(design.kernel_port * design.fmt.width)  # zeros behind the last valid one
        self.keep = bits(design.kernel_port)  # elements that count
        self.biases = flag()  # they are gradients of biases
        self.last = flag()  # the beat is the last one of its kind


class UpdateConfig(RegisterBundle):
    """Run-time registers of the update unit, from ``update_table``."""

    def __init__(self, design: EngineDesign, rule: UpdateRule) -> None:
        super().__init__(update_table(rule), design)
