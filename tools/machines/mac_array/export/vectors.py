"""The small vectors of a MAC array: every kind of pass on two images of a small network.

The layers of the network run on the exported design itself, whose registers and memories are large
enough. Each pass has hundreds of cycles before the first and after the last word. With a thousand
MACs a simulator runs some forty cycles per second. Therefore no kind of pass is repeated without
need.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from merp.cosim.machines.mac_array.phases.array_phase import usual_rates
from merp.cosim.machines.mac_array.phases.array_step import ArrayStep
from merp.cosim.machines.mac_array.phases.step_order import step_order
from merp.cosim.phases.expectation import GroupPass
from merp.models.arithmetic.fixed import to_words
from merp.models.base.shape import Shape
from merp.models.base.users import LayerUse
from merp.models.machines.mac_array.fixed_golden_step import FixedGoldenStep
from merp.models.machines.mac_array.fixed_training import FixedModel, initial_model
from merp.models.machines.mac_array.fixed_update import Pair
from merp.models.machines.mac_array.geometry import taken
from merp.models.machines.mac_array.params.array_pass import ArrayPass
from merp.models.machines.mac_array.params.design import USUAL_LOSS, ArrayDesign
from merp.models.machines.mac_array.params.sizing import lacking
from merp.models.machines.mac_array.passes import design_of
from merp.models.network.network import Layer, Network
from merp.models.network.phases import PHASES
from merp.tools.machines.mac_array.export.schedule import phases_of_array

IMAGES = 2
"""The first and the last image of a batch: gradients are written once and read once."""

MOST_ROWS = 2
"""Pooled rows of the first layer."""

MAPS = 3
"""Number of input maps."""


class SmallPass(NamedTuple):
    """A pass of the step.

    Attributes:
        layer: the layer.
        image: number of the image, from 0.
        work: description of the pass.
        given: its words.
    """

    layer: Layer
    image: int
    work: ArrayPass
    given: GroupPass


def small_passes(network: Network) -> Iterator[SmallPass]:
    """Yield the passes of a step on the small network, in order.

    The first image has FP, the loss, DP and un-pooling. A separate pass expands the deltas of the
    first image. The deltas of the second image, which is the last one, are expanded at the input.
    The layer in front has a KU of each image.
    """
    small = small_network(network)
    design = design_of(small, small.layers[0])
    rng = np.random.default_rng(0)
    images = to_words(rng.standard_normal((IMAGES, *small.input)), small.fixed.input).words
    labels = np.arange(IMAGES, dtype=np.int64) % small.layers[-1].biases
    golden = FixedGoldenStep(
        small, images, labels, _moving(initial_model(small, 0), rng), usual_rates(design, IMAGES),
        USUAL_LOSS if design.loss else "cross-entropy",
    )  # fmt: skip
    step = ArrayStep(golden)
    for image in range(IMAGES):
        phases = phases_of_array(small, fused=image > 0)
        ends = {"first": image == 0, "last": image == IMAGES - 1}
        for name, layer, _ in step_order(small, small.layers, PHASES):
            behind = layer is not small.layers[0]
            if behind and (name == "ku" or image > 0):
                continue
            works = phases[name].works(layer, golden.rates, **ends)
            passes = phases[name].golden_passes(layer, image, step)
            for work, given in zip(works, passes, strict=True):
                yield SmallPass(layer, image, work, given)


def _moving(model: FixedModel, rng: np.random.Generator) -> FixedModel:
    """Return the model with random velocities."""

    def some(pair: Pair) -> Pair:
        return Pair(*(rng.integers(-4096, 4096, each.shape, np.int16) for each in pair))

    moving = {name: some(pair) for name, pair in model.velocities.items()}
    return replace(model, velocities=moving)


def small_network(network: Network) -> Network:
    """Return two small layers: the pooling layer with the most maps, if any, and a last layer.

    The last layer has 1 x 1 outputs. The number of pooled rows is limited by the design's memory
    and by ``MOST_ROWS``. One additional row of sums is dropped.
    """
    design, last = design_of(network, network.layers[0]), network.layers[-1]
    pooling = [each for each in network.layers[:-1] if each.shape.pool is not None]
    front = max(pooling or network.layers[:1], key=lambda layer: layer.shape.m)
    for rows in range(MOST_ROWS, 0, -1):
        layers = _two(front, last, rows, design) if front is not last else ()
        layers = layers or (_whole(last, taken(network, last), rows, design),)
        if all(lacking(use, design) is None for use in map(_use, layers)):
            break
    shape = layers[0].shape
    size = shape.rows, shape.columns, shape.n
    return replace(network, input=size, layers=layers, weights={})


def _two(front: Layer, last: Layer, rows: int, design: ArrayDesign) -> tuple[Layer, ...]:
    of = front.shape
    assert isinstance(of.pad, int)
    window = of.pool.window if of.pool else 1
    sums = min(of.out_rows, of.out_columns, rows * window + (of.pool is not None))
    side = max(1, (sums - 1) * of.stride + of.k - 2 * of.pad)
    maps = min(of.m, design.pof + 1)
    shape = replace(of, n=min(of.n, MAPS), m=maps, rows=side, columns=side)
    size = shape.pooled_rows, shape.pooled_columns, shape.m
    return replace(front, shape=shape), _whole(last, size, rows, design)


def _whole(last: Layer, size: tuple[int, int, int], rows: int, design: ArrayDesign) -> Layer:
    """Return the layer with one window over all of its maps, which have at most ``rows`` rows."""
    side = min(*size[:2], rows)
    shape = Shape(
        n=min(size[2], design.pof + 1), m=min(last.shape.m, design.pof), k=side, rows=side,
        columns=side, relu=last.shape.relu, relu6=last.shape.relu6,
    )  # fmt: skip
    return replace(last, kind="conv", shape=shape)


def _use(layer: Layer) -> LayerUse:
    shape = layer.shape
    return LayerUse(shape, layer.groups, (shape.rows, shape.columns, shape.n), chained=True)
