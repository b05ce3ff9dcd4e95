"""Predict: check the request, run the forward propagation, name the classes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from merp.models.network.network import Network
from merp.tools.common.progress import Progress
from merp.tools.train.predict.forward import forward
from merp.tools.train.predict.images import images_of
from merp.tools.train.predict.inference import Parameters, Words, inference_of
from merp.tools.train.predict.labels import names_of_outputs
from merp.tools.train.predict.prediction import Prediction
from merp.tools.train.predict.request import Predict, PredictKeywords


@dataclass(frozen=True)
class Ready:
    """A prediction that is checked and can run.

    Attributes:
        network: the network.
        engine: the engine.
        images: words.
        parameters: kernels and biases.
        labels: names of the outputs, or None.
    """

    network: Network
    engine: str
    images: Words
    parameters: Parameters
    labels: tuple[str, ...] | None

    @property
    def work(self) -> str:
        """A line that describes the work."""
        return f"{len(self.images):,} image(s), engine {self.engine}"

    def run(self, progress: Progress) -> Prediction:
        """Run the forward propagation.

        Raises:
            BadInput: a layer has no design, or the memory is too small.
            CheckFailed: a bit, a count or a rule of a port of the hardware was wrong.
            Stuck: no word moved for too long.
        """
        network, engine = self.network, self.engine
        arithmetic = inference_of(network)
        found = forward(network, engine, self.images, self.parameters, progress, arithmetic)
        return Prediction(network.name, engine, found, self.labels)


def prepare(
    network: Network, asked: Predict, x: object, parameters: Parameters | Path | None
) -> Ready:
    """Check the request, and read its files.

    Args:
        network: the network.
        asked: engine, labels and scale of a picture.
        x: an array, or a file.
        parameters: kernels and biases, a file of them, or None for the network's own.

    Raises:
        BadInput: names the file, the key and the value.
    """
    arithmetic = inference_of(network)
    labels = names_of_outputs(asked.labels, network)
    if parameters is None or isinstance(parameters, Path):
        parameters = arithmetic.parameters(parameters)
    where, numbers = images_of(x, network, asked)
    words = arithmetic.image_words(where, numbers)
    return Ready(network, asked.engine, words, parameters, labels)


def predict(network: Network, asked: PredictKeywords) -> Prediction:
    """Predict with the weights of a file or of the network.

    Raises:
        BadInput: an argument or a file is not allowed.
        CheckFailed, Stuck: the hardware failed.
    """
    weights = None if asked.weights is None else Path(asked.weights)
    return prepare(network, asked, asked.x, weights).run(Progress(asked.progress))
