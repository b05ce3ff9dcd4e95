"""A picture of some input and output maps of a layer."""

from __future__ import annotations

from io import BytesIO

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from merp.models.arithmetic.compiled import Values

SHOWN = 8  # maps of each kind


def draw(title: str, x: Values, y: Values) -> bytes:
    """Draw, as PNG, up to 8 input maps above as many output maps, spread evenly over all maps.

    Args:
        title: text above the picture.
        x: (rows, columns, maps) numbers of the input.
        y: (rows, columns, maps) numbers of the hardware's output.
    """
    figure = Figure(figsize=(12, 3.6), layout="constrained")
    FigureCanvasAgg(figure)
    figure.suptitle(f"{title}: input maps above, output maps of the hardware below")
    axes = figure.subplots(2, SHOWN, squeeze=False)
    for row, maps in zip(axes, (x, y), strict=True):
        total = maps.shape[-1]
        chosen = np.linspace(0, total - 1, min(SHOWN, total)).astype(int)
        for axis in row:
            axis.set_axis_off()
        for axis, index in zip(row, chosen, strict=False):
            axis.imshow(maps[..., index], cmap="gray")
            axis.set_title(f"map {index}", fontsize=8)
    picture = BytesIO()
    figure.savefig(picture, format="png", dpi=100)
    return picture.getvalue()
