"""The result of a training, for Python."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from merp.models.arithmetic.compiled import Values
from merp.models.base.errors import BadInput, shown
from merp.models.base.fixed import FixedFormat
from merp.models.base.formats import FloatFormat
from merp.models.golden.initial import Parameters
from merp.models.network.network import Network
from merp.tools.common.checks import path
from merp.tools.common.output import Output
from merp.tools.common.progress import Progress
from merp.tools.common.rows import Row, Rows
from merp.tools.train import report
from merp.tools.train.arithmetic import Arithmetic, arithmetic_of
from merp.tools.train.course import course_of
from merp.tools.train.data import Data, checked
from merp.tools.train.names import DIGITS
from merp.tools.train.request import TrainKeywords
from merp.tools.train.run import Trained, labelled, prepare

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@dataclass(frozen=True, eq=False)
class Training:
    """A trained network, and the course of its training.

    Attributes:
        losses: (steps,) float64, the mean loss of each step before its update.
        accuracy: share of correctly classified images among the held-out ones (a fifth of all, or
            those for validation).
        words: kernels (groups*m, n, k, k) and biases (groups*m,) by layer, as words of ``fmt``.
        fmt: number format of the network.
        paths: the files that were written.
    """

    losses: Values
    accuracy: float
    words: Parameters
    fmt: FloatFormat | FixedFormat
    paths: tuple[Path, ...]
    _answer: Mapping[str, Any]
    _arithmetic: Arithmetic

    @property
    def steps(self) -> int:
        """Total steps, with the resumed ones."""
        return len(self.losses)

    @property
    def arrays(self) -> Mapping[str, tuple[Values, Values]]:
        """``words`` as float64 numbers, exactly."""
        return {
            layer: (
                self._arithmetic.numbers(layer, "kernels", kernels),
                self._arithmetic.numbers(layer, "kernels", biases),
            )
            for layer, (kernels, biases) in self.words.items()
        }

    @property
    def traffic(self) -> Rows:
        """Bytes and cycles of one step: a row per phase, and one for the step.

        The keys are ``phase``; ``paper`` and ``full``, bytes by the closed form; ``measured``,
        bytes on the ports; and ``cycles``, including kernel loading. The last two are None for the
        golden engine.
        """
        return Rows(f"One step of {self._answer['network']}", self._rows())

    def _rows(self) -> Iterator[Row]:
        counted, cycles = self._answer["bytes"], self._answer["cycles"]
        measured = counted["measured"]
        for phase in cycles:
            taken = cycles[phase]
            yield {
                "phase": phase,
                "paper": counted["paper"][phase],
                "full": counted["full"][phase],
                "measured": measured and measured["full"][phase],
                "cycles": taken and taken["total"] + taken["kernel_load"],
            }

    def json(self) -> dict[str, Any]:
        """Return the answer of ``merp train --json``."""
        return dict(self._answer)

    def __repr__(self) -> str:
        """Return steps, losses and accuracy."""
        return f"<{self._said()}>"

    def _said(self) -> str:
        answer = self._answer
        losses = f"loss {self.losses[0]:.4f} to {self.losses[-1]:.4f}" if self.steps else "no step"
        return (
            f"{answer['network']} on {answer['engine']}: {self.steps:,} steps of "
            f"{answer['batch']} images, {losses}; {self.accuracy:.2%} of "
            f"{answer['images']['held_out']:,} held-out images right"
        )

    def _repr_html_(self) -> str:
        """Return steps, traffic and the loss curve, for notebooks."""
        text = b64encode(report.picture(self._answer)).decode("ascii")
        what = f"loss of each step of {escape(self._answer['network'])}"
        picture = f'<img alt="{what}" src="data:image/png;base64,{text}">'
        return f"<p>{escape(self._said())}</p>{self.traffic._repr_html_()}{picture}"


def train(network: Network, asked: TrainKeywords) -> Training:
    """Train, and write the requested files.

    Raises:
        BadInput: the data, the request or an output is not allowed.
        CheckFailed, Stuck: the hardware failed.
    """
    course = course_of(network, asked, asked.on)
    with ExitStack() as held:
        folder = saved = None
        paths: list[Path] = []
        if asked.output is not None:
            folder = held.enter_context(Output.of_folder("output", Path(asked.output)))
        if asked.save is not None:
            paths.append(Path(asked.save))
            saved = held.enter_context(Output.of_file("save", paths[0]))
        held_out = None
        if asked.validation is not None:
            held_out = _data("validation", asked.validation, course.network)
        ready = prepare(course, _data("data", asked.data, course.network), held_out)
        trained = ready.run(saved, Progress(asked.progress))
        answer = trained.answer
        if folder is not None and asked.output is not None:
            files = report.files(answer)
            folder.write(files)
            paths += (Path(asked.output) / name for name in files)
    return _result(trained, answer, tuple(paths))


def _result(trained: Trained, answer: Mapping[str, Any], paths: tuple[Path, ...]) -> Training:
    return Training(
        losses=np.array(trained.done.loss, np.float64),
        accuracy=answer["accuracy"],
        words=trained.done.model.parameters,
        fmt=trained.course.network.numbers,
        paths=paths,
        _answer=answer,
        _arithmetic=arithmetic_of(trained.course.network),
    )


def _data(name: str, given: object, network: Network) -> Data:
    """Return the user's labelled images: a name, a file, or arrays of images and labels."""
    if isinstance(given, tuple) and len(given) == 2:
        images, labels = (
            _array(f"{name}: {part}", each)
            for part, each in zip(("images", "labels"), given, strict=True)
        )
        return checked(name, images, labels)
    if isinstance(given, tuple | list):
        what = f"allowed is (images, labels), '{DIGITS}', or a path"
        raise BadInput(f"{name} = {shown(given)}: {what}")
    return labelled(str(path(name, given)), network, name)


def _array(where: str, given: ArrayLike) -> NDArray[np.generic]:
    try:
        return np.asarray(given)
    except ValueError as error:  # rows of different lengths
        raise BadInput(f"{where}: no array of numbers") from error
