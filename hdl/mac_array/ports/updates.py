"""What of a batch's step a beat of gradients needs and gives."""

from __future__ import annotations

from merp.hdl.base.registers import RegisterBundle
from merp.hdl.base.signals import bits, count, flag
from merp.models.machines.mac_array.params.design import Design
from merp.models.machines.mac_array.params.update_registers import update_table


class UpdateConfig(RegisterBundle):
    """Run-time registers of the kernel update, those of ``update_table``."""

    def __init__(self, design: Design) -> None:
        super().__init__(update_table(design), design)


class Beat:
    """A sum of every lane that is read: a tap of a map, or the bias gradients."""

    def __init__(self, design: Design) -> None:
        self.valid = flag()  # it is read in this cycle
        self.bias = flag()  # it has bias gradients
        self.turn = count(design.pof - 1)  # by how many places the lanes' words are rotated
        self.lanes = count(design.pof)  # that have an output map


class Clipped:
    """Which new words were clipped, a bit of each place of a beat."""

    def __init__(self, design: Design) -> None:
        self.gradient = bits(design.pof)  # with new gradients
        self.velocity = bits(design.pof)  # with new velocities
        self.kernel = bits(design.pof)  # with new kernels


SATURATED_BITS = 32


class Saturated:
    """How many new words of output maps were clipped, since start."""

    def __init__(self) -> None:
        self.gradient = bits(SATURATED_BITS)  # gradients that were clipped
        self.velocity = bits(SATURATED_BITS)  # velocities that were clipped
        self.kernel = bits(SATURATED_BITS)  # kernels and biases that were clipped
