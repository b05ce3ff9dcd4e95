"""Record the course of a training while it runs."""

from __future__ import annotations

from merp.models.golden.loss import classes_of
from merp.tools.common.progress import Progress
from merp.tools.train.arithmetic import Model, Stepped, arithmetic_of
from merp.tools.train.checkpoint import Checkpoint
from merp.tools.train.course import Course
from merp.tools.train.data import Split
from merp.tools.train.history import History, StepRecord
from merp.tools.train.place import Place
from merp.tools.train.predict.evaluation import accuracy_of
from merp.tools.train.predict.forward import golden_outputs


class Recorder:
    """Records steps, and the accuracy on the held-out images at the end of each epoch.

    Args:
        course: the request.
        split: the images.
        start: initial state; of its steps only the loss is known.
        per_epoch: steps of an epoch.
    """

    def __init__(self, course: Course, split: Split, start: Checkpoint, per_epoch: int) -> None:
        self._course, self._split = course, split
        self._images, self._per_epoch = start.images, per_epoch
        self._steps = [
            StepRecord(step, step // per_epoch, loss) for step, loss in enumerate(start.loss)
        ]
        self._validation: dict[int, float] = {}

    @property
    def history(self) -> History:
        """The course so far."""
        return History(self._steps, self._validation)

    def note(self, place: Place, stepped: Stepped) -> None:
        """Record a step; at the end of an epoch also the accuracy on the held-out images."""
        # A step of a machine from elsewhere may lack what only the record uses.
        right = getattr(stepped, "right", None)
        self._steps.append(
            StepRecord(
                place.step,
                place.epoch,
                stepped.loss,
                None if right is None else right / self._images,
                self._course.rate(place.epoch),
                getattr(stepped, "saturated", None),
            )
        )
        if (place.step + 1) % self._per_epoch == 0:
            self.accuracy(stepped.model)

    def accuracy(self, model: Model) -> float:
        """Return the accuracy on the held-out images after the steps so far, and record it."""
        epoch = self._steps[-1].epoch if self._steps else 0
        complete = len(self._steps) == (epoch + 1) * self._per_epoch
        if not complete or epoch not in self._validation:
            network, split = self._course.network, self._split
            outputs = golden_outputs(
                network, split.held_images, model.parameters, Progress(), arithmetic_of(network)
            )
            self._validation[epoch] = accuracy_of(classes_of(outputs), split.held_labels)
        return self._validation[epoch]
