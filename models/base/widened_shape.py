"""A layer whose kernels are smaller than those of the engine that runs it.

Such a kernel is in the corner of tap (0, 0). The taps that it lacks are zero; they are never sent.
The padding below and right of the map grows by as many rows and columns, so the number of windows
does not change.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from merp.models.base.shape import Shape


@dataclass(frozen=True, kw_only=True)
class WidenedShape(Shape):
    """The shape that the engine computes; ``k`` is the kernel size of the engine.

    Attributes:
        kernel: kernel size of the layer.

    Raises:
        ValueError: as in ``Shape``, or the kernel is not smaller than the engine's.
    """

    kernel: int

    def __post_init__(self) -> None:
        """Check that the fields are consistent."""
        super().__post_init__()
        if not 1 <= self.kernel < self.k:
            raise ValueError(f"kernel must be 1 to {self.k - 1} (below k), not {self.kernel}")

    @property
    def taps(self) -> int:
        """Taps for which the kernels have elements."""
        return self.kernel * self.kernel

    @property
    def reach(self) -> int:
        """Taps up to the last one for which the kernels have an element, row by row."""
        return (self.kernel - 1) * self.k + self.kernel

    def macs(self, images: int = 1) -> int:
        """Return the multiply-adds of the layer; taps that its kernels lack do not count."""
        return super().macs(images) // self.k**2 * self.taps


def widened(shape: Shape, k: int) -> Shape:
    """Return ``shape`` as a design of ``k`` x ``k`` kernels runs it: widened if its kernels are
    smaller.
    """
    more = k - shape.k
    if more <= 0:
        return shape
    own = {each.name: getattr(shape, each.name) for each in fields(Shape)}
    pad = shape.top, shape.left, shape.bottom + more, shape.right + more
    return WidenedShape(**own | {"k": k, "pad": pad}, kernel=shape.k)
