"""Fractions for a fixed-point network, from the magnitudes of its numbers in float64."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from merp.models.base.errors import BadInput
from merp.models.base.fixed import FIXED_TENSORS, FixedTensor, Fractions
from merp.models.base.given import given
from merp.models.machines.mac_array.float_twin import (
    Largest,
    fraction_for,
    proposed,
    twin_at_rest,
    twin_classes,
    twin_step,
)
from merp.models.network.network import Network
from merp.tools.common.given_numbers import refuse_first
from merp.tools.common.progress import Progress
from merp.tools.train.data import batch_of, check_labels, held_apart
from merp.tools.train.datasets.data import Data
from merp.tools.train.formats import FormatRequest


def measure(
    network: Network, data: Data, asked: FormatRequest, progress: Progress
) -> dict[str, Any]:
    """Train a float64 model; return magnitudes and their fractions, machine-readable.

    Raises:
        BadInput: data that do not fit the network, a layer without an array, or a loss that is not
            finite.
    """
    check_labels(data, network)
    numbers = data.numbers(slice(None))
    refuse_first(data.where, numbers, ~np.isfinite(numbers), "finite numbers")
    held, kept = held_apart(len(numbers))
    if asked.batch > len(kept):
        raise BadInput(f"{given('batch', asked.batch)}: allowed are 1 to {len(kept)}")
    twin, largest, losses = twin_at_rest(network, asked.seed), Largest(), []
    rate = given("learning_rate", asked.learning_rate)
    for step in range(asked.steps):
        chosen = kept[batch_of(len(kept), asked.batch, asked.seed, step)]
        with np.errstate(over="ignore", invalid="ignore"):  # refused below
            twin, loss = twin_step(
                network,
                twin,
                numbers[chosen],
                data.labels[chosen],
                asked.learning_rate / asked.batch,
                asked.momentum,
                asked.loss,
                largest,
            )
        if not np.isfinite(loss):
            raise BadInput(f"{rate}: the loss is {loss} at step {step}: allowed is less")
        if not np.isfinite(list(largest.seen.values())).all():
            raise BadInput(f"{rate}: numbers beyond binary64 at step {step}: allowed is less")
        losses.append(loss)
        progress.count(step + 1, asked.steps, f"step {step + 1:,} of {asked.steps:,}", 0)
    found = twin_classes(network, numbers[held], twin.parameters)
    image = float(np.abs(numbers).max())
    layers = {layer.name: proposed(layer, largest) for layer in network.layers}
    usual = {
        tensor: min(getattr(each, tensor) for each in layers.values()) for tensor in FIXED_TENSORS
    }
    return {
        "network": network.name,
        **asdict(asked),
        "loss_of_steps": losses,
        "accuracy": float((found == data.labels[held]).mean()),
        "images": {"trained": len(kept), "held_out": len(held)},
        "largest": {"input": image}
        | {
            layer.name: {tensor: largest.seen[layer.name, tensor] for tensor in FIXED_TENSORS}
            for layer in network.layers
        },
        "fractions": {"input": fraction_for(image), **usual},
        "layers": {name: _differing(each, usual) for name, each in layers.items()},
    }


def _differing(own: Fractions, usual: Mapping[FixedTensor, int]) -> dict[str, int]:
    mine = {tensor: getattr(own, tensor) for tensor in FIXED_TENSORS}
    return {tensor: bits for tensor, bits in mine.items() if bits != usual[tensor]}
