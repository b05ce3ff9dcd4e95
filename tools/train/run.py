"""Run a training: resume or begin, run step by step, save."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from merp.models.base.errors import BadInput
from merp.models.base.given import given, name_of
from merp.models.base.memory import check_memory
from merp.models.golden.memory import training_bytes
from merp.tools.common.output import Output
from merp.tools.common.progress import Progress
from merp.tools.train import checkpoint, report
from merp.tools.train.arithmetic import Stepped, arithmetic_for, arithmetic_of
from merp.tools.train.checkpoint import Checkpoint
from merp.tools.train.course import Course, check_accumulate
from merp.tools.train.data import Split, batch_of, split
from merp.tools.train.datasets.data import Data
from merp.tools.train.history import History
from merp.tools.train.in_passes import InPasses
from merp.tools.train.names import BATCH, EPOCHS, step_size
from merp.tools.train.place import Place
from merp.tools.train.recorder import Recorder


@dataclass(frozen=True, eq=False)
class Trained:
    """The result of a training.

    Attributes:
        course: the request.
        split: the images.
        done: the model, and the loss of each step.
        accuracy: share of correctly classified images among the held-out ones.
        history: the course of the training.
        plan: plan of the passes, if any.
        last: result of the last step, if there was one; all steps have the same bytes and cycles.
        said: additions of the steps to the answer, by key.
    """

    course: Course
    split: Split
    done: Checkpoint
    accuracy: float
    history: History
    plan: InPasses | None
    last: Stepped | None
    said: Mapping[str, Any]

    @cached_property
    def answer(self) -> dict[str, Any]:
        """The answer for programs."""
        return {
            **report.answer(
                self.course, self.done, self.split, self.accuracy, self.plan, self.last
            ),
            **self.said,
        }


@dataclass(frozen=True, eq=False)
class Ready:
    """A training that is ready to run.

    Attributes:
        course: the request, with the designs of the plan if there is one.
        split: the images.
        start: initial state.
        steps: total steps.
        plan: plan of the passes, if any.
    """

    course: Course
    split: Split
    start: Checkpoint
    steps: int
    plan: InPasses | None

    @property
    def work(self) -> str:
        """A line that describes the work."""
        left = self.steps - self.start.step
        passes = ""
        if self.plan is not None:
            passes = f" in {self.plan.passes:,} passes each on {self.plan.board}"
        size = step_size(self.start.batch, self.start.accumulate)
        return f"{left:,} steps of {size} images{passes}, engine {self.course.engine}"

    def run(self, saved: Output | None, progress: Progress) -> Trained:
        """Run the remaining steps; save each epoch, at the end, and if interrupted.

        Raises:
            BadInput: the hardware refuses the batch, the format does not hold a rate or factor, a
                loss is not finite, or ``saved`` cannot be written.
            CheckFailed: a bit, a count or a rule of a port of the hardware was wrong.
            Stuck: the hardware made no progress.
        """
        course, start, steps = self.course, self.start, self.steps
        runner = arithmetic_for(course).runner(course, self.plan, start.batch, progress)
        rate = given("learning_rate", course.learning_rate)
        images = len(self.split.images)
        per_epoch = images // start.images
        runner.check(0)
        runner.check(max(0, steps - 1) // per_epoch)  # the least rate, before any step
        done = start
        stepped: Stepped | None = None
        recorder = Recorder(course, self.split, start, per_epoch)
        try:
            for step in range(start.step, steps):
                progress.within(f"step {step + 1:,} of {steps:,}")
                chosen = batch_of(images, start.images, start.seed, step)
                x, labels = self.split.images[chosen], self.split.labels[chosen]
                place = Place(start.seed, step, step // per_epoch)
                stepped = runner.step(done.model, x, labels, place)
                loss = stepped.loss
                if not math.isfinite(loss):
                    raise BadInput(f"{rate}: the loss is {loss} at step {step}: allowed is less")
                # The finite loss shows that the model of the step before is usable.
                if saved is not None and step > start.step and step % per_epoch == 0:
                    checkpoint.save(saved, done, course.network)
                done = replace(done, model=stepped.model, loss=(*done.loss, loss))
                recorder.note(place, stepped)
                said = f"step {done.step:,} of {steps:,}, loss {loss:.4f}"
                progress.count(done.step, steps, said, start.step)
        except KeyboardInterrupt as error:
            if saved is not None and done.step:
                checkpoint.save(saved, done, course.network)
                error.add_note(f"{saved.said}: {done.step:,} of {steps:,} steps are saved")
            raise
        if saved is not None:
            checkpoint.save(saved, done, course.network)
        accuracy = recorder.accuracy(done.model)
        history, added = recorder.history, runner.answer()
        return Trained(course, self.split, done, accuracy, history, self.plan, stepped, added)


def prepare(course: Course, data: Data, validation: Data | None = None) -> Ready:
    """Check the data, the memory and the length, and load the resumed state.

    Args:
        course: the request.
        data: images for training.
        validation: images to hold out, instead of a fifth of ``data``.

    Raises:
        BadInput: names the wrong value.
    """
    network = course.network
    arithmetic_for(course).check(course)
    parts = split(data, network, validation)
    batch = 1 if course.resume else course.batch or BATCH  # a saved file has its own
    several = 1 if course.engine == "golden" else course.accumulate or 1  # in memory at once
    needed = training_bytes(network, several * batch, len(parts.held_images))
    check_memory(f"train {network.name}, batch {step_size(batch, several)}", needed)
    resumed = None if course.resume is None else _resumed(course, course.resume)
    batch = (course.batch or BATCH) if resumed is None else resumed.batch
    accumulate = (course.accumulate or 1) if resumed is None else resumed.accumulate
    course = replace(course, accumulate=accumulate)
    _check_batch(batch, accumulate, parts)
    plan = None
    if course.target is not None:  # use the designs of the plan, which may depend on the batch
        plan = course.target.plan(network, batch)
        course = replace(course, network=plan.network)
    start = _start(course, parts, batch, resumed)
    return Ready(course, parts, start, _steps(course, start, len(parts.images)), plan)


def _start(course: Course, data: Split, batch: int, resumed: Checkpoint | None) -> Checkpoint:
    """Return the initial state, or the saved one if it belongs to the same training."""
    network = course.network
    inputs = checkpoint.inputs_of(network, data, pooled=course.pooled)
    if resumed is None:
        seed = course.seed or 0
        model = arithmetic_of(network).initial(seed, course.weights)
        return Checkpoint(
            model=model, seed=seed, batch=batch, accumulate=course.accumulate or 1, loss=(),
            inputs=inputs,
        )  # fmt: skip
    if resumed.inputs != inputs:
        raise BadInput(
            f"{course.resume}: saved with another {network.name}, other sums, storage or data: "
            "allowed are the original ones"
        )
    return resumed


def _resumed(course: Course, path: Path) -> Checkpoint:
    """Load a saved file, whose seed, batch and minibatches decide the next images."""
    if course.weights is not None:
        raise BadInput(
            f"{given('weights', course.weights)}: allowed without {name_of('resume')}, which has "
            "its own"
        )
    found = checkpoint.resume(path, course.network)
    for key, asked, kept in (
        ("seed", course.seed, found.seed),
        ("batch", course.batch, found.batch),
        ("accumulate", course.accumulate, found.accumulate),
    ):
        if asked is not None and asked != kept:
            raise BadInput(f"{given(key, asked)}: {path} was made with {kept}: allowed: {kept}")
    where = f"{path}: accumulate = {found.accumulate}"
    check_accumulate(where, found.accumulate, course.network, course.machine)
    return found


def _check_batch(batch: int, accumulate: int, data: Split) -> None:
    images = len(data.images)
    if batch > images:
        raise BadInput(
            f"{given('batch', batch)}: allowed are 1 to {images}, the images to train with"
        )
    if accumulate * batch > images:
        raise BadInput(
            f"{given('accumulate', accumulate)}: {images} images to train with, {batch} in a "
            f"batch: allowed are 1 to {images // batch}"
        )


def _steps(course: Course, start: Checkpoint, images: int) -> int:
    """Return the total steps."""
    steps = course.steps or (course.epochs or EPOCHS) * (images // start.images)
    if steps < start.step:
        raise BadInput(
            f"{given('resume', course.resume)}: at step {start.step}: allowed are up to {steps}"
        )
    return steps
