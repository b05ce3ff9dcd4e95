"""The words of images and parameters, as an accelerator with the MAC array has them in memory."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from merp.cosim.machines.mac_array.phases.array_step import ArrayStep
from merp.cosim.machines.mac_array.phases.layout import beats
from merp.cosim.machines.training.board_run import StoredArray
from merp.models.arithmetic.fixed import Words
from merp.models.base.bits import Bits
from merp.models.machines.mac_array.orders import forward_kernels
from merp.models.machines.mac_array.params.design import ArrayDesign
from merp.models.machines.mac_array.passes import forward_pass


def stored_images(step: ArrayStep, design: ArrayDesign) -> Bits:
    """Return the words of all images of a step, one image behind the other."""
    first = step.golden.network.layers[0]
    maps = [step.input_of(first, image)[0] for image in range(step.images)]
    return np.concatenate([_stored(each, design) for each in maps])


def stored_parameters(step: ArrayStep, design: ArrayDesign, *, new: bool) -> Iterator[StoredArray]:
    """Yield the arrays of parameters, and of velocities with momentum.

    Frozen layers have no velocities, because no pass reads them.

    Args:
        step: the step.
        design: the array.
        new: whether the arrays are those that the hardware wrote in the step, or those before it.
    """
    noise = np.random.default_rng(1)
    for layer in step.golden.network.layers:
        name, work = layer.name, forward_pass(step.golden.network, layer)
        parameters, velocities = step.golden.before(layer)
        changed = new and layer.trainable
        pairs = {"parameters": step.new[name] if changed else parameters}
        if design.momentum and layer.trainable:
            pairs["velocities"] = step.moving[name] if changed else velocities
        for array, pair in pairs.items():
            sent = beats(pair, forward_kernels, work, design, noise)
            yield StoredArray(f"{name}.{array}", sent.words, sent.meant)


def _stored(maps: Words, design: ArrayDesign) -> Bits:
    """Return the words of maps (rows, columns, maps); free places are 0."""
    rows, columns, count = maps.shape
    words = np.zeros((count, rows, design.column_blocks(columns) * design.pox), np.uint32)
    words[..., :columns] = maps.view(np.uint16).transpose(2, 0, 1)
    return words.reshape(-1)
