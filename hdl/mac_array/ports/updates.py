"""What of a batch's step a beat of gradients needs and gives."""

from __future__ import annotations

from typing import Any

from merp.hdl.base.registers import RegisterBundle
from merp.hdl.base.signals import Stream, bits, count, flag
from merp.hdl.conversion.entity import Bit, Word
from merp.models.machines.mac_array.params.design import ArrayDesign
from merp.models.machines.mac_array.params.update_registers import update_table


class ArrayUpdateConfig(RegisterBundle):
    """Run-time registers of the kernel update, those of ``update_table``."""

    def __init__(self, design: ArrayDesign) -> None:
        super().__init__(update_table(design), design)


class SumBeat:
    """A sum of every lane that is read: a tap of a map, or the bias gradients."""

    def __init__(self, design: ArrayDesign) -> None:
        self.valid = flag()  # it is read in this cycle
        self.bias = flag()  # it has bias gradients
        self.turn = count(design.pof - 1)  # by how many places the lanes' words are rotated
        self.lanes = count(design.pof)  # that have an output map


class StepRule:
    """How the step of a word is taken; stable from start on."""

    def __init__(
        self,
        *,
        velocity_shift: Word,
        update_shift: Word,
        minus_rate: Word,
        momentum: Word = None,
        stochastic: Bit = None,
    ) -> None:
        self.velocity_shift = velocity_shift  # n + 15: gradients are rounded to multiples of 2^n
        self.update_shift = update_shift  # n, where the step is rounded to multiples of 2^n
        self.minus_rate = minus_rate  # mantissa of the learning rate, negative
        self.momentum: Any = momentum  # (where velocities are read) of 65536
        self.stochastic: Any = stochastic  # (where it is built) the step is rounded stochastically


class StepWords:
    """A word of each kind, or a beat of each; there may be no velocity."""

    def __init__(self, gradient: Word, kernel: Word, velocity: Word = None) -> None:
        self.gradient = gradient
        self.kernel = kernel
        self.velocity: Any = velocity


def step_words(width: int, velocity: bool = True) -> StepWords:
    """New words, or beats, of ``width`` bits, with a velocity or without one."""
    return StepWords(bits(width), bits(width), bits(width) if velocity else None)


class StepStreams:
    """Streams of old or of new words, a beat at a time."""

    def __init__(self, gradient: Stream, kernel: Stream, velocity: Stream | None = None) -> None:
        self.gradient = gradient  # old ones but in the first image, new ones but in the last
        self.kernel = kernel  # kernels and biases, in the last image
        self.velocity: Any = velocity  # (where they are built) in the last image, with momentum


class WordClipped:
    """Whether new words were clipped."""

    def __init__(self) -> None:
        self.gradient = flag()  # with the new gradient
        self.velocity = flag()  # with the new velocity
        self.kernel = flag()  # with the new kernel


class ClippedFlags:
    """Which new words were clipped, a bit of each place of a beat."""

    def __init__(self, design: ArrayDesign) -> None:
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
