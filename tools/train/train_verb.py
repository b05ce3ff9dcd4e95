"""``merp train``: train a network in the hardware's arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, nullcontext
from pathlib import Path

from merp.cosim.machines.loader import optional_part
from merp.models.network.registry import machine_named
from merp.tools.common import fields
from merp.tools.common.output import Output
from merp.tools.common.progress_bar import ProgressBar
from merp.tools.common.resumable import resumable
from merp.tools.common.shipped import open_network
from merp.tools.train.course import Course, course_of
from merp.tools.train.request import TrainOptions

REQUEST = TrainOptions

Calling = Callable[[TrainOptions], AbstractContextManager[bool]]
"""A machine's part ``calling``: whether this process trains. Others may work for it inside."""


def run(asked: TrainOptions) -> int:
    """Train, save and print the results; return 1 if a check of the hardware failed."""
    calling: Calling = optional_part(machine_named(asked.architecture), "calling", _alone)
    with calling(asked) as calls:
        return _train(asked) if calls else 0


def _alone(_: TrainOptions) -> AbstractContextManager[bool]:
    return nullcontext(True)


def _train(asked: TrainOptions) -> int:
    course = course_of(open_network(asked.network, fuses=True), asked)
    with ExitStack() as held:
        output = saved = None
        if asked.output is not None:
            output = held.enter_context(Output.of_folder("-o", Path(asked.output)))
        if asked.save is not None:
            saved = held.enter_context(Output.of_file("--save", Path(asked.save)))
            held.enter_context(resumable(asked.words, f"--resume={asked.save}"))
        _run(asked, course, output, saved)
    return 0


def _run(asked: TrainOptions, course: Course, output: Output | None, saved: Output | None) -> None:
    """Train while the places of the output are locked."""
    # import numba only after the arguments were checked
    from merp.tools.train import report
    from merp.tools.train.datasets.labelled import labelled
    from merp.tools.train.run import prepare

    held_out = None
    if asked.validation is not None:
        held_out = labelled(asked.validation, course.network, "validation")
    ready = prepare(course, labelled(asked.data, course.network), held_out)
    with ProgressBar("train", ready.work) as bar:
        trained = ready.run(saved, bar)
    answer = trained.answer
    if output is not None:
        output.write(report.files(answer, trained.history))
    fields.answered(
        asked, answer, lambda: report.show(answer, course.machine, details=asked.details)
    )
