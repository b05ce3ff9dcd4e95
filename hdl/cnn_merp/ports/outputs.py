"""Finished sums, and what becomes of them."""

from __future__ import annotations

from merp.hdl.base.signals import bits, count, flag
from merp.models.params.cnn_merp.design import Design


class Sums:
    """Finished sums of one slot: ``data`` has ``n_cu`` words, CU 0 in the lowest bits."""

    def __init__(self, design: Design) -> None:
        self.valid = flag()
        self.data = bits(design.n_cu * design.fmt.width)


class OutputConfig:
    """Run-time registers of the super layer: ReLU and pooling geometry."""

    def __init__(self, design: Design) -> None:
        size = design.max_size
        self.images = count(design.max_images)
        self.rows = count(size)  # of the convolution's output
        self.columns = count(size)
        self.groups = count(design.groups)
        self.last_cus = count(design.n_cu)
        self.relu = flag()
        self.average = flag()  # else maximum; no pooling is a 1 x 1 maximum
        self.window = count(design.pool_window)
        self.stride = count(design.max_stride)
        self.pooled_rows = count(size)
        self.pooled_columns = count(size)
        self.scale = bits(design.fmt.width)  # RN(1 / window^2)
