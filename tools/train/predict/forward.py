"""The outputs of a network for images, on any engine: the same bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from merp.models.arithmetic.compiled import Values
from merp.models.base.memory import check_memory
from merp.models.golden.memory import at_once, golden_bytes
from merp.models.network.network import Network
from merp.tools.common.progress import Progress
from merp.tools.train.predict.inference import Inference, Parameters, Words

GOLDEN = "golden"


class Forward(NamedTuple):
    """Results of forward propagation.

    Attributes:
        outputs: (images, outputs) numbers.
        cycles: cycles of all passes, with kernel loading; None for the golden model.
    """

    outputs: Values
    cycles: int | None


def forward(
    network: Network,
    engine: str,
    images: Words,
    parameters: Parameters,
    progress: Progress,
    inference: Inference,
) -> Forward:
    """Run the forward propagation of a network.

    Args:
        network: the network.
        engine: ``golden``, or a simulator.
        images: (images, rows, columns, channels) words.
        parameters: kernels and biases by layer.
        progress: receives the progress.
        inference: the network's arithmetic.

    Raises:
        BadInput: a layer has no design, or the memory is too small.
        CheckFailed: a bit, a count or a rule of a port of the hardware was wrong.
        Stuck: no word moved for too long.
    """
    if engine == GOLDEN:
        return Forward(golden_outputs(network, images, parameters, progress, inference), None)
    from merp.tools.train.predict.hardware import (
        hardware_outputs,  # imports simulators only if needed
    )

    return hardware_outputs(network, engine, images, parameters, progress)


def golden_outputs(
    network: Network,
    images: Words,
    parameters: Parameters,
    progress: Progress,
    inference: Inference,
) -> Values:
    """Return the outputs of the golden model, (images, outputs), in batches.

    Raises:
        BadInput: the memory is too small for one image.
    """
    last = network.layers[-1]
    check_memory(f"predict with {network.name}", golden_bytes(network, last, 1, whole_step=True))

    def run(part: Words) -> Values:
        with progress.spent.on(GOLDEN):
            return inference.output_numbers(inference.outputs(part, parameters))

    return in_parts(images, at_once(network), run, progress)


def in_parts(
    images: Words, most: int, run: Callable[[Words], Values], progress: Progress
) -> Values:
    """Return the joined outputs of parts of at most ``most`` images."""
    found: list[Values] = []
    for low in range(0, len(images), most):
        found.append(run(images[low : low + most]))
        done = min(low + most, len(images))
        progress.count(done, len(images), f"image {done:,} of {len(images):,}")
    return np.concatenate(found)
