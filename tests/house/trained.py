"""Steps of training in hardware, each held against the golden model's from the same start."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from merp.cosim.machines.cnn_merp.at_once.step import StepAtOnce
from merp.cosim.machines.training.hardware_step import HardwareStep, StepOutcome
from merp.models.arithmetic.words import to_bits
from merp.models.golden.training import Step, initial_model, rates_of, train_step
from merp.models.network.network import Network
from merp.models.network.network_file import read_network


def network_of(folder: Path, text: str) -> Network:
    """The network that a file with this text describes."""
    path = folder / "network.toml"
    path.write_text(text)
    return read_network(path)


class Trained(NamedTuple):
    """Steps in the hardware, and the golden ones."""

    steps: list[StepOutcome]
    golden: list[Step]


def train_on(
    hardware: HardwareStep | StepAtOnce[Any],
    network: Network,
    images: int,
    *,
    steps: int = 1,
    momentum: float = 0.0,
    decay: float = 0.0,
    pooled: bool = False,
) -> Trained:
    """Train on random images, each step from what the hardware made of the one before.

    pooled: deltas are stored at pooled resolution.
    """
    fmt, rng = network.fmt, np.random.default_rng(1)
    rates = rates_of(0.1, images, fmt, momentum=momentum, weight_decay=decay)
    classes = network.layers[-1].shape.m
    found = Trained([], [])
    model = wanted = initial_model(network, 3)
    for _ in range(steps):
        batch = to_bits(rng.uniform(0, 1, (images, *network.input)), fmt)
        labels = rng.integers(0, classes, images)
        golden = train_step(network, wanted, batch, labels, rates, pooled=pooled)
        stepped = hardware.step(model, batch, labels, rates)
        model, wanted = stepped.model, golden.model
        found.steps.append(stepped)
        found.golden.append(golden)
    return found


def same(found: Trained) -> bool:
    """Whether every step left the golden's loss, kernels, biases and velocities."""
    return all(
        stepped.loss == golden.loss
        and all(
            np.array_equal(ours, theirs)
            for part in ("parameters", "velocities")
            for name, pair in getattr(golden.model, part).items()
            for ours, theirs in zip(getattr(stepped.model, part)[name], pair, strict=True)
        )
        for stepped, golden in zip(found.steps, found.golden, strict=True)
    )
