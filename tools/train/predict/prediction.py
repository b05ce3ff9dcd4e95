"""The outputs of a network for images, as rows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merp.models.arithmetic.compiled import Values
from merp.models.golden.loss import Labels, classes_of, softmax
from merp.tools.common.rows import Row, Rows
from merp.tools.train.predict.forward import Forward
from merp.tools.train.predict.request import TOP


class Prediction(Rows):
    """One row for each image.

    The keys of a row are:

    - ``image``: from 0
    - ``class``: index of the largest output, the first of equals
    - ``label``: its name, or None
    - ``output``, and ``softmax`` of the output

    Attributes:
        network: name of the network.
        engine: the engine.
        outputs: (images, outputs) float64, exactly the words of the network's format.
        classes: (images,) int64.
        labels: names of the outputs, or None.
        cycles: cycles of all passes, with kernel loading; None for the golden model.
    """

    def __init__(
        self, network: str, engine: str, found: Forward, labels: tuple[str, ...] | None
    ) -> None:
        self.network, self.engine, self.labels = network, engine, labels
        self.outputs: Values = found.outputs
        self.classes: Labels = classes_of(found.outputs)
        self.cycles = found.cycles
        self._shares = _shares(found.outputs)
        super().__init__(f"{network} on {engine}", self._made())

    def _made(self) -> Iterator[Row]:
        for image, index in enumerate(self.classes.tolist()):
            yield {"image": image, **self._row(image, index)}

    def _row(self, image: int, index: int) -> Row:
        return {
            "class": index,
            "label": None if self.labels is None else self.labels[index],
            "output": _finite(self.outputs[image, index]),
            "softmax": _finite(self._shares[image, index]),
        }

    def top(self, image: int = 0, count: int = TOP) -> Rows:
        """Return the ``count`` largest outputs of an image, the largest first.

        The keys of a row are ``class``, ``label``, ``output`` and ``softmax``.
        """
        row = self.outputs[image]
        # NaN is the largest, as in ``classes``; lexsort keeps the order of equals.
        order = np.lexsort((-np.nan_to_num(row, nan=0.0), ~np.isnan(row)))[:count]
        rows = (self._row(image, index) for index in order.tolist())
        return Rows(f"{self.title}, image {image}", rows)

    def json(self, top: int = TOP) -> dict[str, Any]:
        """Return the answer of ``merp predict --json``; numbers that are not finite are None."""
        return {
            "network": self.network,
            "engine": self.engine,
            "images": len(self),
            "outputs": self.outputs.shape[1],
            "cycles": self.cycles,
            "predictions": [
                {"image": image, "top": [dict(row) for row in self.top(image, top)]}
                for image in range(len(self))
            ],
        }

    def __repr__(self) -> str:
        """Return the network, the engine and the number of images."""
        return f"<{self.title}: {len(self):,} image(s), {self.outputs.shape[1]} outputs>"


def file_of(found: Prediction, suffix: str) -> bytes:
    """Return the content of an output file, ``.npy`` or ``.npz``."""
    content = BytesIO()
    if suffix == ".npy":
        np.save(content, found.outputs, allow_pickle=False)
    else:
        arrays: dict[str, NDArray[Any]] = {"outputs": found.outputs, "classes": found.classes}
        np.savez(content, allow_pickle=False, **arrays)
    return content.getvalue()


def _shares(outputs: Values) -> Values:
    """Return the softmax of outputs; NaN for images whose outputs are not finite."""
    with np.errstate(invalid="ignore", over="ignore"):
        return softmax(outputs)


def _finite(value: float) -> float | None:
    number = float(value)
    return number if math.isfinite(number) else None
