"""Inputs and outputs of the kernel update of a batch, per beat of gradients."""

from __future__ import annotations

from typing import Any

from merp.hdl.base.registers import RegisterBundle
from merp.hdl.base.signals import Stream, bits, count, flag
from merp.hdl.conversion.entity import Bit, Word
from merp.models.machines.mac_array.params.design import ArrayDesign
from merp.models.machines.mac_array.params.update_registers import update_table


class ArrayUpdateConfig(RegisterBundle):
    """Run-time registers of the kernel update, from ``update_table``."""

    def __init__(self, design: ArrayDesign) -> None:
        super().__init__(update_table(design), design)


class SumBeat:
    """A sum of every lane that is read: a tap of a map, or the bias gradients."""

    def __init__(self, design: ArrayDesign) -> None:
        self.valid = flag()  # the beat is read in this cycle
        self.bias = flag()  # the beat holds bias gradients
        self.turn = count(design.pof - 1)  # places to rotate the words of the lanes by
        self.lanes = count(design.pof)  # lanes with an output map


class StepRule:
    """Rule for the update step of a word; stable from start on."""

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
        self.update_shift = update_shift  # n: the step is rounded to multiples of 2^n
        self.minus_rate = minus_rate  # mantissa of the learning rate, negative
        self.momentum: Any = momentum  # (with velocities) momentum, in units of 1/65536
        self.stochastic: Any = stochastic  # (optional) the step is rounded stochastically


class StepWords:
    """A word of each kind, or a beat of each; the velocity is optional."""

    def __init__(self, gradient: Word, kernel: Word, velocity: Word = None) -> None:
        self.gradient = gradient
        self.kernel = kernel
        self.velocity: Any = velocity


def step_words(width: int, velocity: bool = True) -> StepWords:
    """Make new words, or beats, of ``width`` bits, with or without a velocity."""
    return StepWords(bits(width), bits(width), bits(width) if velocity else None)


class StepStreams:
    """Streams of old or of new words, one beat at a time."""

    def __init__(self, gradient: Stream, kernel: Stream, velocity: Stream | None = None) -> None:
        self.gradient = gradient  # old ones except in the first image, new ones except in the last
        self.kernel = kernel  # kernels and biases, in the last image
        self.velocity: Any = velocity  # (optional) velocities, in the last image, with momentum


class WordClipped:
    """Flags for new words that were clipped."""

    def __init__(self) -> None:
        self.gradient = flag()  # the new gradient was clipped
        self.velocity = flag()  # the new velocity was clipped
        self.kernel = flag()  # the new kernel was clipped


class ClippedFlags:
    """Flags for new words that were clipped, a bit for each place of a beat."""

    def __init__(self, design: ArrayDesign) -> None:
        self.gradient = bits(design.pof)  # the new gradients were clipped
        self.velocity = bits(design.pof)  # the new velocities were clipped
        self.kernel = bits(design.pof)  # the new kernels were clipped


SATURATED_BITS = 32


class Saturated:
    """Number of clipped words of output maps, since start."""

    def __init__(self) -> None:
        self.gradient = bits(SATURATED_BITS)  # gradients that were clipped
        self.velocity = bits(SATURATED_BITS)  # velocities that were clipped
        self.kernel = bits(SATURATED_BITS)  # kernels and biases that were clipped
