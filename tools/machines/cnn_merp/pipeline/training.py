"""Training in a pipeline."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from merp.cosim.machines.cnn_merp.pipeline.step import PipelineStep
from merp.cosim.machines.training.hardware_step import WholeStep
from merp.models.machines.cnn_merp.pipeline.cycles import pipeline_cycles
from merp.tools.common.progress import Progress
from merp.tools.machines.cnn_merp.at_once.course import AtOnce
from merp.tools.machines.cnn_merp.at_once.training import AtOnceArithmetic
from merp.tools.train.course import Course


class PipelineArithmetic(AtOnceArithmetic):
    """Arithmetic of a network in a pipeline."""

    def hardware(self, course: Course, images: int, progress: Progress) -> PipelineStep:
        """Return the hardware for a step of ``images`` images."""
        own, told = _own(course), (progress.begin, progress.update)
        return PipelineStep(course.network, images, own.depth, course.engine, *told)

    def said(self, course: Course, images: int, whole: WholeStep) -> Mapping[str, Any]:
        """Return the depth and the modelled cycles."""
        depth = _own(course).depth
        modelled = pipeline_cycles(course.network, images, depth).total
        return {"depth": depth, "modelled": modelled}


def _own(course: Course) -> AtOnce:
    assert isinstance(course.own, AtOnce)
    return course.own
