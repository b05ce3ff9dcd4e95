"""Write and read ports of the kernel and bias memories."""

from __future__ import annotations

from typing import Any

from merp.hdl.base.registers import RegisterBundle
from merp.hdl.base.signals import bits, count, flag
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.registers import KERNEL, LOAD


class KernelWrite:
    """Write port of the kernel memories: ``enable`` has a bit per CU.

    ``width`` is the width of a word if its elements differ from those of the window. With
    ``by_tap``, ``taps`` selects the elements of the word to write, so that a word can be written in
    parts. A word cannot be written in two consecutive cycles, and no kernel is read in a cycle with
    a write or in the next one. With a ``kernel_port`` of several elements, ``places`` selects the
    taps that take a separate element for each CU. CU j takes the element at place j mod kernel_port
    of ``elements``.
    """

    elements: Any = None
    places: Any = None

    def __init__(
        self, design: EngineDesign, width: int | None = None, by_tap: bool = False
    ) -> None:
        self.enable = bits(design.n_cu)  # a bit per CU
        self.addr = count(design.kernel_words - 1)  # input map * G + group
        self.data = bits(width or design.window_width)  # a kernel's k*k elements, tap 0 lowest
        self.taps: Any = bits(design.taps) if by_tap else None  # a bit per element that is written
        if by_tap and design.kernel_port > 1:
            self.elements = bits(design.kernel_port * (len(self.data) // design.taps))
            self.places = bits(design.taps)  # a bit per tap with a separate element


class KernelRead:
    """Read of one element of the kernels in the CUs.

    The element follows ``kernel_read_latency`` cycles later, as it was written, except for
    differences that an adder ignores. In fused CUs, a subnormal becomes a signed zero, and a NaN
    the canonical one.
    """

    def __init__(self, design: EngineDesign) -> None:
        self.enable = flag()  # no slot is in the pipeline: the reader uses the memories
        self.addr = count(design.kernel_words - 1)  # word of the kernel memories
        self.tap = count(design.taps - 1)  # element of the word
        self.cu = count(design.n_cu - 1)
        self.element = bits(design.fmt.width)  # the element


class BiasWrite:
    """Write port of the bias memories: ``enable`` has a bit per CU."""

    def __init__(self, design: EngineDesign) -> None:
        self.enable = bits(design.n_cu)  # a bit per CU
        self.addr = count(design.groups - 1)  # group of output maps
        self.data = bits(design.fmt.width)  # a bias


class OriginWrite:
    """Write port of the start words of the sums, in a design for partial sums.

    CU j takes word j mod map_port of ``data``.
    """

    def __init__(self, design: EngineDesign) -> None:
        self.enable = bits(design.n_cu)  # a bit per CU
        self.addr = count(design.origins - 1)  # group of output maps, behind its position's
        self.data = bits(design.map_port * design.origin_format.width)  # a bias or a partial sum


class KernelConfig(RegisterBundle):
    """Run-time registers of a design for smaller kernels, from the table ``KERNEL``."""

    def __init__(self, design: EngineDesign) -> None:
        super().__init__(KERNEL, design)


class LoadConfig(RegisterBundle):
    """Run-time registers of the kernel loader, from the table ``LOAD``."""

    def __init__(self, design: EngineDesign) -> None:
        super().__init__(LOAD, design)
