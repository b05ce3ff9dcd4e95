"""Evaluate: read labelled images, run the forward propagation, compare the classes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from merp.models.golden.loss import Labels
from merp.models.network.network import Network
from merp.tools.common.progress import Progress
from merp.tools.train.data import HELD_OUT, check_labels, held_apart, image_words
from merp.tools.train.datasets.data import Data
from merp.tools.train.evaluate_request import Evaluate, EvaluateKeywords
from merp.tools.train.given_data import given_data
from merp.tools.train.predict import predict
from merp.tools.train.predict.evaluation import Evaluation
from merp.tools.train.predict.inference import Parameters, Words, inference_of
from merp.tools.train.predict.labels import names_of_outputs


@dataclass(frozen=True)
class Ready:
    """An evaluation that is checked and can run.

    Attributes:
        prediction: the prediction of the images.
        labels: (images,) classes.
        loss: the loss.
    """

    prediction: predict.Ready
    labels: Labels
    loss: str

    @property
    def work(self) -> str:
        """A line that describes the work."""
        return self.prediction.work

    def run(self, progress: Progress) -> Evaluation:
        """Predict and compare.

        Raises:
            BadInput: a layer has no design, or the memory is too small.
            CheckFailed: a bit, a count or a rule of a port of the hardware was wrong.
            Stuck: no word moved for too long.
        """
        return Evaluation(self.prediction.run(progress), self.labels, self.loss)


def prepare(
    network: Network, asked: Evaluate, data: Data, parameters: Parameters | Path | None
) -> Ready:
    """Check labelled images and the request. ``parameters`` are those of ``predict.prepare``.

    Raises:
        BadInput: names the file, the key and the value.
    """
    a_fifth = asked.held_out and data.held is None
    if asked.held_out:
        data = data.held or data
    check_labels(data, network, HELD_OUT if a_fifth else 1)
    words, labels = image_words(data, network), data.labels
    if a_fifth:
        held, _ = held_apart(len(labels))
        words, labels = words[held], labels[held]
    return on_words(network, asked, words, labels, parameters)


def on_words(
    network: Network,
    asked: Evaluate,
    words: Words,
    labels: Labels,
    parameters: Parameters | Path | None,
) -> Ready:
    """Return the evaluation of images that are words of the network."""
    names = names_of_outputs(asked.labels, network)
    if parameters is None or isinstance(parameters, Path):
        parameters = inference_of(network).parameters(parameters)
    ready = predict.Ready(network, asked.engine, words, parameters, names)
    return Ready(ready, labels, asked.loss)


def evaluate(network: Network, asked: EvaluateKeywords) -> Evaluation:
    """Evaluate the weights of a file or of the network.

    Raises:
        BadInput: an argument or a file is not allowed.
        CheckFailed, Stuck: the hardware failed.
    """
    weights = None if asked.weights is None else Path(asked.weights)
    ready = prepare(network, asked, given_data("data", asked.data, network), weights)
    return ready.run(Progress(asked.progress))
