"""Run the chosen phases of the chosen layers, on a photograph."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from merp.models.arithmetic.compiled import Bits
from merp.models.golden.initial import Parameters
from merp.models.golden.initial import parameters as initial_parameters
from merp.models.network.network import Network
from merp.tools.simulate import photograph
from merp.tools.simulate.backward import simulate_backward
from merp.tools.simulate.choice import Choice, Result
from merp.tools.simulate.finished import Finished
from merp.tools.simulate.forward import simulate_forward
from merp.tools.simulate.golden_step import GoldenStep
from merp.tools.simulate.kernel_file import read_kernels


def inputs(
    network: Network, image: Path | None, images: int, seed: int, kernels: Path | None
) -> tuple[Bits, Parameters]:
    """Input maps of the first layer, and kernels and biases of every layer.

    Image i of a batch is the photograph moved 7*i columns to the left, and mirrored if i is odd:
    images that are alike would hide a mix-up between them.
    """
    rows, columns, channels = network.input
    photo = photograph.load(image, rows, columns, channels, network.fmt)[0]
    batch = [np.roll(photo, -7 * i, axis=1)[:, :: -1 if i % 2 else 1] for i in range(images)]
    initial = initial_parameters(network, seed)
    parameters = read_kernels(kernels, network, initial) if kernels else initial
    return np.ascontiguousarray(np.stack(batch)), parameters


def simulate(choice: Choice, golden: GoldenStep, finished: Finished) -> list[Result]:
    """Run phase by phase; what an equal run has ``finished`` is taken, what this does is kept."""
    results = []
    for phase in choice.phases:
        if phase == "fp":
            results += simulate_forward(choice, golden, finished)
        else:
            results += simulate_backward(choice, phase, golden, finished)
    return results
