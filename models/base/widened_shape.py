"""A layer whose kernels are smaller than those of the engine that runs it.

A kernel lies in the corner of tap (0, 0), and the taps that it lacks are zero, and never sent. The
padding grows by them below the map and on its right, so that the windows are as many as before.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from merp.models.base.shape import Shape


@dataclass(frozen=True, kw_only=True)
class WidenedShape(Shape):
    """What the engine computes: ``k`` is its own kernel size.

    Attributes:
        kernel: kernel size of the layer.

    Raises:
        ValueError: as of ``Shape``, or the kernel is not smaller than the engine's.
    """

    kernel: int

    def __post_init__(self) -> None:
        """Check that the fields go together."""
        super().__post_init__()
        if not 1 <= self.kernel < self.k:
            raise ValueError(f"kernel must be 1 to {self.k - 1} (below k), not {self.kernel}")

    @property
    def taps(self) -> int:
        """Taps that the kernels have elements for."""
        return self.kernel * self.kernel

    @property
    def reach(self) -> int:
        """Taps up to the last one that the kernels have an element for, row by row."""
        return (self.kernel - 1) * self.k + self.kernel

    def macs(self, images: int = 1) -> int:
        """Multiply-adds of the layer: those with taps that its kernels lack are none."""
        return super().macs(images) // self.k**2 * self.taps


def widened(shape: Shape, k: int) -> Shape:
    """``shape`` as a design of ``k`` x ``k`` kernels runs it, as it is if its are not smaller."""
    more = k - shape.k
    if more <= 0:
        return shape
    own = {each.name: getattr(shape, each.name) for each in fields(Shape)}
    pad = shape.top, shape.left, shape.bottom + more, shape.right + more
    return WidenedShape(**own | {"k": k, "pad": pad}, kernel=shape.k)
