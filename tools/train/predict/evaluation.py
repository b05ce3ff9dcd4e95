"""The quality of predictions for labelled images: accuracy, loss, confusion matrix."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merp.models.golden.loss import Labels, losses_of
from merp.tools.common.rows import Row, Rows
from merp.tools.train.predict.prediction import Prediction

Counts = NDArray[np.int64]


class Evaluation(Rows):
    """One row for each class that has images.

    The keys of a row are:

    - ``class``, and ``label``: its name, or None
    - ``images``: its images; ``right``: those classified correctly; ``accuracy``: their share
    - ``mistaken_for``: the most frequent wrong class, or None

    Attributes:
        prediction: the predictions.
        images: number of images.
        accuracy: share of correctly classified images.
        loss: mean loss of ``loss_kind`` in binary64, as a training reports it; NaN or infinite if
            the outputs are.
        loss_kind: the loss.
        confusion: (classes, classes) int64: images of the class of the row that were taken for the
            class of the column.
    """

    def __init__(self, prediction: Prediction, labels: Labels, loss_kind: str) -> None:
        self.prediction, self.loss_kind = prediction, loss_kind
        self.images = len(labels)
        self.accuracy = accuracy_of(prediction.classes, labels)
        losses, _ = losses_of(loss_kind, prediction.outputs, labels)
        self.loss = float(losses.mean())
        self.confusion: Counts = _confusion(prediction, labels)
        super().__init__(f"{prediction.network} on {prediction.engine}", self._made())

    def _made(self) -> Iterator[Row]:
        for index, row in enumerate(self.confusion):
            images, right = int(row.sum()), int(row[index])
            if images:
                wrong = row.copy()
                wrong[index] = 0
                yield {
                    "class": index,
                    "label": self.name(index),
                    "images": images,
                    "right": right,
                    "accuracy": right / images,
                    "mistaken_for": int(wrong.argmax()) if wrong.any() else None,
                }

    def name(self, index: int) -> str | None:
        """Return the name of a class, or None."""
        labels = self.prediction.labels
        return None if labels is None else labels[index]

    @property
    def confusions(self) -> Rows:
        """Pairs of classes that were confused, the most frequent first.

        The keys of a row are ``class``, ``taken_for`` and ``images``.
        """
        wrong = self.confusion - np.diag(np.diag(self.confusion))
        pairs = np.argwhere(wrong).tolist()
        pairs.sort(key=lambda pair: -int(wrong[pair[0], pair[1]]))
        title = f"{self.title}: confused classes"
        rows = ({"class": a, "taken_for": b, "images": int(wrong[a, b])} for a, b in pairs)
        return Rows(title, rows)

    def json(self) -> dict[str, Any]:
        """Return the answer of ``merp evaluate --json``; a loss that is not finite is None."""
        return {
            "network": self.prediction.network,
            "engine": self.prediction.engine,
            "images": self.images,
            "accuracy": self.accuracy,
            "loss": {"kind": self.loss_kind, "mean": self._finite_loss()},
            "cycles": self.prediction.cycles,
            "classes": [dict(row) for row in self],
            "confusion": self.confusion.tolist(),
        }

    def _finite_loss(self) -> float | None:
        return self.loss if math.isfinite(self.loss) else None

    def __repr__(self) -> str:
        """Return accuracy and loss."""
        return (
            f"<{self.title}: {self.accuracy:.2%} of {self.images:,} images right, "
            f"{self.loss_kind} {self.loss:.4f}>"
        )


def accuracy_of(classes: Labels, labels: Labels) -> float:
    """Return the share of classes that equal the labels, both (images,)."""
    return float((classes == labels).mean())


def _confusion(prediction: Prediction, labels: Labels) -> Counts:
    classes = prediction.outputs.shape[1]
    cells = np.bincount(labels * classes + prediction.classes, minlength=classes**2)
    return cells.reshape(classes, classes).astype(np.int64)
