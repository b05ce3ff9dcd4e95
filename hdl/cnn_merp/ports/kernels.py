"""Kernels and biases on their way into the memories."""

from __future__ import annotations

from merp.hdl.base.signals import bits, count
from merp.models.params.cnn_merp.design import Design


class KernelWrite:
    """Write port of the kernel memories: ``enable`` has a bit per CU.

    ``width`` is that of a word if its elements are not as the window's.
    """

    def __init__(self, design: Design, width: int | None = None) -> None:
        self.enable = bits(design.n_cu)
        self.addr = count(design.kernel_words - 1)
        self.data = bits(width or design.window_width)


class BiasWrite:
    """Write port of the bias memories: ``enable`` has a bit per CU."""

    def __init__(self, design: Design) -> None:
        self.enable = bits(design.n_cu)
        self.addr = count(design.groups - 1)
        self.data = bits(design.fmt.width)


class LoadConfig:
    """Run-time registers of the kernel loader."""

    def __init__(self, design: Design) -> None:
        self.inputs = count(design.max_maps)  # n
        self.groups = count(design.groups)  # G
        self.last_cus = count(design.n_cu)  # CUs in use in the last group
