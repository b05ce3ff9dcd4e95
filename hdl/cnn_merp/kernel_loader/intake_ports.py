"""Bundles that a loader and its intake hand to each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from merp.hdl.base.signals import count, flag
from merp.hdl.conversion.entity import Bit, Word
from merp.models.machines.cnn_merp.params.design import EngineDesign


class KernelPlace:
    """Where the kernel at hand belongs."""

    def __init__(self, design: EngineDesign) -> None:
        # Counters can also hold their limit, so that counter + 1 compares without a carry lost.
        self.cu = count(design.n_cu)
        self.addr = count(design.kernel_words + design.groups)
        self.final = flag()  # it is the last one


class Loading:
    """How far a load is: all is there, until the next start; a last came with another word."""

    def __init__(self, loaded: Bit, framing_error: Bit) -> None:
        self.loaded = loaded  # all is there; until the next start
        self.framing_error = framing_error  # a last came with another word; until start


class IntakeState(Loading):
    """The same of an intake, and what becomes of the kernel at hand."""

    def __init__(self, framing_error: Bit) -> None:
        super().__init__(flag(), framing_error)
        self.taken = flag()  # its last element is transferred in this cycle; the write follows


@dataclass(frozen=True)
class SmallerKernels:
    """Kernels of a design for smaller ones.

    size                  rows and columns of each
    filling, final_input  (where fully connected layers run, too) elements that kernels of the last
                          input map lack, and whether that at hand is one
    """

    size: Word
    filling: Word = None
    final_input: Any = None
