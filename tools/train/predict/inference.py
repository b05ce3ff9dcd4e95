"""Interface between predictions and the machine that runs a network."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from numpy.typing import NDArray

from merp.models.arithmetic.compiled import Values
from merp.models.base.errors import BadInput
from merp.models.network.machine import Machine
from merp.models.network.network import Network
from merp.models.network.registry import distribution_of, machine_that_runs, part_of

Words = NDArray[Any]
"""Words of a network's numbers, of any type that holds them."""

Parameters = Mapping[str, Any]
"""Pairs of kernels and biases by layer, as words."""

NEEDED = ("image_words", "parameters", "outputs", "output_numbers")


class Inference(Protocol):
    """The forward propagation of a network, in the arithmetic of its training."""

    def image_words(self, where: str, images: NDArray[Any]) -> Words:
        """Return images as words: floating point is rounded, whole numbers are kept.

        Raises:
            BadInput: a number that the format does not hold; ``where`` starts the message.
        """

    def parameters(self, weights: Path | None) -> Parameters:
        """Return the kernels and biases of a file; those of the network for missing layers.

        Raises:
            BadInput: the file is wrong, or a layer has none.
        """

    def outputs(self, images: Words, parameters: Parameters) -> Words:
        """Return the outputs of the golden model, (images, outputs), for few images."""

    def output_numbers(self, words: Words) -> Values:
        """Return the numbers of outputs, exactly."""


def inference_of(network: Network) -> Inference:
    """Return the forward propagation on the machine of a network's designs.

    Raises:
        BadInput: layers run on several machines, or the machine does not train.
    """
    found: Inference = inference_on(machine_that_runs(network), network)
    return found


def inference_on(machine: Machine, network: Network) -> Any:
    """Return the arithmetic of a network on a machine, which is an ``Inference``.

    Raises:
        BadInput: the machine does not train, or a part of its arithmetic is missing.
    """
    found = part_of(machine, machine.hardware, "arithmetic")(network)
    missing = [name for name in NEEDED if not hasattr(found, name)]
    if missing:
        where = f"{distribution_of(machine.name)}: machine {machine.name}"
        raise BadInput(f"{where}: its arithmetic has no {missing[0]}")
    return found
