"""Bundles between a loader and its input block."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from merp.hdl.base.signals import count, flag
from merp.hdl.conversion.entity import Bit, Word
from merp.models.machines.cnn_merp.params.design import EngineDesign


class KernelPlace:
    """Destination of the current kernel."""

    def __init__(self, design: EngineDesign) -> None:
        # Counters can also hold their limit, so that counter + 1 can be compared without losing a
        # carry.
        self.cu = count(design.n_cu)
        self.addr = count(design.kernel_words + design.groups)
        self.final = flag()  # the kernel is the last one


class Loading:
    """Progress of a load: everything is loaded, until the next start; framing errors."""

    def __init__(self, loaded: Bit, framing_error: Bit) -> None:
        self.loaded = loaded  # everything is loaded; until the next start
        self.framing_error = framing_error  # a last arrived with a wrong word; until start


class IntakeState(Loading):
    """State of an input block: its progress, and the transfer of the current kernel."""

    def __init__(self, framing_error: Bit) -> None:
        super().__init__(flag(), framing_error)
        self.taken = flag()  # its last element is transferred now; the write follows


@dataclass(frozen=True)
class SmallerKernels:
    """Kernels that are smaller than those of the design.

    size                  rows and columns of each.
    filling, final_input  (if fully connected layers run, too) elements that kernels of the last
                          input map lack; the current kernel is one of these
    """

    size: Word
    filling: Word = None
    final_input: Any = None
