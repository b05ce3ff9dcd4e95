"""One training step, by the golden model or in the hardware."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from merp.cosim.audit.training_step import HardwareStep, PhaseCounts
from merp.models.golden import training
from merp.models.golden.loss import Labels
from merp.models.golden.training import Model, Rates
from merp.models.params.bits import Bits
from merp.tools.common.progress import Progress
from merp.tools.train.course import Course

Counts = Mapping[str, PhaseCounts]
"""By phase, of one step; none from the golden engine."""

Step = Callable[[Model, Bits, Labels, Rates], tuple[Model, float, Counts]]
"""From a model, images and labels to the next model, the mean loss before it, and counts."""


def step_of(course: Course, images: int, progress: Progress) -> Step:
    """What runs a step of so many images.

    Raises:
        BadInput: the hardware of a layer does not take them.
    """
    spent = progress.spent
    if course.engine == "golden":

        def golden(
            model: Model, images: Bits, labels: Labels, rates: Rates
        ) -> tuple[Model, float, Counts]:
            with spent.on("golden"):
                step = training.train_step(
                    course.network, model, images, labels, rates, course.loss, course.state
                )
            return step.model, step.loss, {}

        return golden
    hardware = HardwareStep(course.network, course.engine, images)

    def simulated(
        model: Model, images: Bits, labels: Labels, rates: Rates
    ) -> tuple[Model, float, Counts]:
        before = dict(hardware.seconds)
        with spent.on("golden and audit"):
            found = hardware.step(model, images, labels, rates, course.loss)
        for what, seconds in hardware.seconds.items():
            spent.recount("golden and audit", what, seconds - before[what])
        return found

    return simulated
