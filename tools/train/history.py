"""The course of a training, by step and by epoch."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from merp.models.arithmetic.compiled import Values
from merp.models.base.ordered_sum import ordered_sum
from merp.tools.common.rows import Row, Rows


class StepRecord(NamedTuple):
    """A step. A value is None if it is unknown, as in steps before ``resume``.

    Attributes:
        step, epoch: counted from 0.
        loss: mean loss of the batch, before the update.
        accuracy: share of correctly classified images of the batch, before the update.
        learning_rate: learning rate of the mean loss.
        saturated: share of saturated words, in fixed point.
    """

    step: int
    epoch: int
    loss: float
    accuracy: float | None = None
    learning_rate: float | None = None
    saturated: float | None = None


class History:
    """The course of a training.

    Attributes:
        steps: a row per step, with the keys of ``StepRecord``.
        epochs: a row per epoch; the last epoch may be incomplete. ``steps`` is the number of steps.
            ``loss``, ``accuracy`` and ``saturated`` are means over them. ``validation_accuracy`` is
            that on the images not used for training, at the end of the epoch. Further keys are
            ``epoch`` and ``learning_rate``. Unknown values are None.
    """

    def __init__(self, steps: Sequence[StepRecord], validation: Mapping[int, float]) -> None:
        """``validation``: accuracy at the end of an epoch, by its number."""
        self.steps = Rows("Steps of the training", (each._asdict() for each in steps))
        self.epochs = Rows("Epochs of the training", _epochs(steps, validation))

    def array(self, key: str) -> Values:
        """Return a value of every step, (steps,) float64; NaN if it is unknown.

        Raises:
            KeyError: there is no such key.
        """
        if key not in StepRecord._fields:
            raise KeyError(key)
        known = (math.nan if row[key] is None else row[key] for row in self.steps)
        return np.fromiter(known, np.float64, len(self.steps))

    def frame(self) -> Any:
        """Return a ``pandas.DataFrame`` of the steps; ``epochs.to_pandas()`` is that of the epochs.

        Raises:
            BadInput: pandas is not installed.
        """
        return self.steps.to_pandas()

    def json(self) -> dict[str, list[dict[str, Any]]]:
        """Return the content of ``history.json``."""
        return {
            "steps": [dict(row) for row in self.steps],
            "epochs": [dict(row) for row in self.epochs],
        }

    def __repr__(self) -> str:
        """Return the numbers of steps and epochs."""
        return f"<history: {len(self.steps):,} steps, {len(self.epochs):,} epochs>"


def _epochs(steps: Sequence[StepRecord], validation: Mapping[int, float]) -> Iterator[Row]:
    for epoch, some in groupby(steps, key=lambda each: each.epoch):
        records = list(some)
        yield {
            "epoch": epoch,
            "steps": len(records),
            "loss": _mean([each.loss for each in records]),
            "accuracy": _mean([each.accuracy for each in records]),
            "validation_accuracy": validation.get(epoch),
            "learning_rate": records[-1].learning_rate,
            "saturated": _mean([each.saturated for each in records]),
        }


def _mean(values: Sequence[float | None]) -> float | None:
    """Return the mean; None if a value is unknown."""
    known = [each for each in values if each is not None]
    return ordered_sum(known) / len(known) if len(known) == len(values) else None
