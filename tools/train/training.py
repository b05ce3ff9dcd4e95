"""The result of a training, for Python."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from merp.models.arithmetic.compiled import Values
from merp.models.base.fixed import FixedFormat
from merp.models.base.formats import FloatFormat
from merp.models.golden.initial import Parameters
from merp.models.network.network import Network
from merp.tools.common.output import Output
from merp.tools.common.progress import Progress
from merp.tools.common.request import asks
from merp.tools.common.rows import Row, Rows
from merp.tools.train import evaluate, report
from merp.tools.train.arithmetic import arithmetic_of
from merp.tools.train.course import course_of
from merp.tools.train.data import Split
from merp.tools.train.evaluate_request import TrainedEvaluateKeywords
from merp.tools.train.given_data import given_data
from merp.tools.train.history import History
from merp.tools.train.names import step_size
from merp.tools.train.predict import predict
from merp.tools.train.predict.evaluation import Evaluation
from merp.tools.train.predict.prediction import Prediction
from merp.tools.train.predict.request import TrainedKeywords
from merp.tools.train.request import TrainKeywords
from merp.tools.train.run import Trained, prepare


@dataclass(frozen=True, eq=False)
class Training:
    """A trained network, and the course of its training.

    Attributes:
        losses: (steps,) float64, the mean loss of each step before its update.
        accuracy: share of correctly classified images among the held-out ones (a fifth of all, or
            those for validation).
        words: kernels (groups*m, n, k, k) and biases (groups*m,) by layer, as words of ``fmt``.
        fmt: number format of the network.
        history: losses, accuracies, learning rates and saturated words by step and epoch.
        paths: the files that were written.
    """

    losses: Values
    accuracy: float
    words: Parameters
    fmt: FloatFormat | FixedFormat
    history: History
    paths: tuple[Path, ...]
    _answer: Mapping[str, Any]
    _network: Network
    _split: Split

    @property
    def steps(self) -> int:
        """Total steps, with the resumed ones."""
        return len(self.losses)

    @property
    def accumulate(self) -> int:
        """Minibatches of a step."""
        found: int = self._answer["accumulate"]
        return found

    @property
    def arrays(self) -> Mapping[str, tuple[Values, Values]]:
        """``words`` as float64 numbers, exactly."""
        arithmetic = arithmetic_of(self._network)
        return {
            layer: (
                arithmetic.numbers(layer, "kernels", kernels),
                arithmetic.numbers(layer, "kernels", biases),
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

    @asks(TrainedKeywords)
    def predict(self, asked: TrainedKeywords) -> Prediction:
        """Return the outputs of the trained network for images.

        Raises:
            BadInput: an argument or a file is not allowed, or a layer has no design for the engine.
            CheckFailed: a bit, a count or a rule of a port of the hardware was wrong.
            Stuck: no word moved for too long.
        """
        ready = predict.prepare(self._network, asked, asked.x, self.words)
        return ready.run(Progress(asked.progress))

    @asks(TrainedEvaluateKeywords)
    def evaluate(self, asked: TrainedEvaluateKeywords) -> Evaluation:
        """Return accuracy, loss and confusion matrix of the trained network.

        Raises:
            BadInput: an argument or the data is not allowed, or a layer has no design for the
                engine.
            CheckFailed: a bit, a count or a rule of a port of the hardware was wrong.
            Stuck: no word moved for too long.
        """
        network, split = self._network, self._split
        if asked.data is None:
            images, labels = split.held_images, split.held_labels
            ready = evaluate.on_words(network, asked, images, labels, self.words)
        else:
            data = given_data("data", asked.data, network)
            ready = evaluate.prepare(network, asked, data, self.words)
        return ready.run(Progress(asked.progress))

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
            f"{step_size(answer['batch'], answer['accumulate'])} images, {losses}; "
            f"{self.accuracy:.2%} of "
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
            held_out = given_data("validation", asked.validation, course.network)
        ready = prepare(course, given_data("data", asked.data, course.network), held_out)
        trained = ready.run(saved, Progress(asked.progress))
        answer = trained.answer
        if folder is not None and asked.output is not None:
            files = report.files(answer, trained.history)
            folder.write(files)
            paths += (Path(asked.output) / name for name in files)
    return _result(trained, answer, tuple(paths))


def _result(trained: Trained, answer: Mapping[str, Any], paths: tuple[Path, ...]) -> Training:
    return Training(
        losses=np.array(trained.done.loss, np.float64),
        accuracy=answer["accuracy"],
        words=trained.done.model.parameters,
        fmt=trained.course.network.numbers,
        history=trained.history,
        paths=paths,
        _answer=answer,
        _network=trained.course.network,
        _split=trained.split,
    )
