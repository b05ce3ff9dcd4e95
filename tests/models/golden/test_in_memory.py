"""Training whose tensors lie in memory in narrower formats, against one written from the rules.

The oracle is NumPy's float32, one operation at a time in the order of the specification, and a
memory: what is put there is rounded, by NumPy's float16 or by integers (bfloat16).
"""

from collections.abc import Mapping
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from merp.models.arithmetic.words import to_bits, to_values
from merp.models.base.formats import BFLOAT16, BINARY16, BINARY32
from merp.models.base.shape import Pool, Shape
from merp.models.base.state_field import STATES
from merp.models.base.storage import Storage
from merp.models.golden.golden_step import GoldenStep
from merp.models.golden.in_memory import in_memory
from merp.models.golden.inference import inference
from merp.models.golden.initial import parameters
from merp.models.golden.layer_step import LayerStep
from merp.models.golden.loss import loss
from merp.models.golden.training import Model, forward, initial_model, rates_of, train_step
from merp.models.network.network import Layer, Network

Array = NDArray[np.float32]
Pair = tuple[Array, Array]
LABELS = np.array([2, 0])
RATE, MOMENTUM, DECAY = 0.25, 0.875, 0.0625


def layer(kind: str, number: int, input=None, add=None, **shape) -> Layer:
    return Layer(name=f"{kind}{number}", kind=kind, shape=Shape(**shape), input=input, add=add)


NETWORK = Network(
    name="stored",
    input=(7, 7, 2),
    layers=(
        layer("conv", 1, n=2, m=4, k=2, rows=7, columns=7, pool=Pool(window=2, stride=1)),
        layer("conv", 2, n=4, m=4, k=1, rows=5, columns=5),
        layer("conv", 3, n=4, m=4, k=1, rows=5, columns=5, add="conv1",
              pool=Pool(kind="average", window=2, stride=1)),
        layer("conv", 4, n=4, m=3, k=2, rows=4, columns=4, stride=2),
        layer("conv", 5, n=4, m=3, k=1, rows=4, columns=4, stride=2, relu=False, input="conv3"),
        layer("conv", 6, n=3, m=3, k=1, rows=2, columns=2, input="conv4", add="conv5",
              pool=Pool(kind="average", window=2, stride=2)),
        layer("fc", 7, n=3, m=3, k=1, rows=1, columns=1, relu=False),
    ),
)  # fmt: skip
"""Overlapping windows, an output that is added and taken, one that two take, one only added."""

STORAGES = [
    Storage(maps=BFLOAT16, deltas=BFLOAT16, kernels=BINARY32, gradients=BINARY32),
    Storage(maps=BINARY16, deltas=BFLOAT16, kernels=BFLOAT16, gradients=BINARY16),
]


def rounded(numbers: Array, fmt) -> Array:
    if fmt == BFLOAT16:
        words = numbers.view(np.uint32)
        words = (words + 0x7FFF + (words >> 16 & 1)) & np.uint32(0xFFFF0000)
        numbers, least = words.view(np.float32), 2.0**-126
    elif fmt == BINARY16:
        numbers, least = numbers.astype(np.float16).astype(np.float32), 2.0**-14
    else:
        return numbers
    assert np.isfinite(numbers).all()
    return np.where(np.abs(numbers) < least, np.copysign(np.float32(0), numbers), numbers)


def taps(maps: Array, size: int, stride: int) -> list[Array]:
    """Element j of every window, for j in raster order."""
    down, across = (
        [slice(at, side - size + at + 1, stride) for at in range(size)] for side in maps.shape[1:3]
    )
    return [maps[:, rows, columns] for rows, columns in product(down, across)]


def convolved(x: Array, kernels: Array, start: Array, stride: int) -> Array:
    """One input map after the other; the products of a window (1 or 4) in pairs."""
    m, n, k, _ = kernels.shape
    flat = kernels.reshape(m, n, k * k)
    for each in range(n):
        terms = [
            tap[..., each, np.newaxis] * flat[:, each, place]
            for place, tap in enumerate(taps(x, k, stride))
        ]
        if k == 2:
            terms = [(terms[0] + terms[1]) + (terms[2] + terms[3])]
        start = start + terms[0]
    return start


def pooled_maps(activation: Array, pool: Pool | None) -> Array:
    if pool is None:
        return activation
    first, *rest = taps(activation, pool.window, pool.stride)
    for each in rest:
        first = np.maximum(first, each) if pool.kind == "max" else first + each
    return first if pool.kind == "max" else first * np.float32(1 / pool.window**2)


def expanded(delta: Array, activation: Array, shape: Shape) -> Array:
    """Delta of the sums of one of an output: pooled elements in raster order, then ReLU'."""
    if shape.pool is not None:
        size, stride, whole = shape.pool.window, shape.pool.stride, delta
        delta = np.zeros_like(activation)
        windows = taps(activation, size, stride)
        first = np.argmax(windows, axis=0)  # the first one wins
        for row, column in np.ndindex(whole.shape[1:3]):
            share = whole[:, row, column]
            for tap, (y, x) in enumerate(product(range(size), repeat=2)):
                at = delta[:, row * stride + y, column * stride + x]
                if shape.pool.kind == "max":
                    at[...] = np.where(first[:, row, column] == tap, at + share, at)
                else:
                    at += share * np.float32(1 / size**2)
    return np.where(activation > 0, delta, np.float32(0)) if shape.relu else delta


class Oracle:
    """A step: maps and deltas by layer name, as they lie in memory."""

    def __init__(self, storage: Storage, images: Array, made: Mapping[str, Pair]) -> None:
        self.storage, self.made = storage, made
        self.x: dict[str, Array] = {}
        self.y: dict[str, Array] = {}
        self.activation: dict[str, Array] = {}
        self.delta: dict[str, Array] = {}
        self.left: dict[str, Array] = {}
        front = rounded(images, storage.maps)
        for each in NETWORK.layers:
            shape, (kernels, biases) = each.shape, made[each.name]
            x = self.y[each.input] if each.input else front
            start = biases if each.add is None else self.y[each.add] + biases
            sums = convolved(x.reshape(2, shape.rows, shape.columns, -1), kernels, start,
                             shape.stride)  # fmt: skip
            activation = np.where(sums > 0, sums, np.float32(0)) if shape.relu else sums
            front = rounded(pooled_maps(activation, shape.pool), storage.maps)
            self.x[each.name], self.y[each.name] = x, front
            self.activation[each.name] = activation

    def expanded(self, name: str, pooled: bool) -> Array:
        """What an engine takes of a layer's delta; one that is only added has that of the sum."""
        name = "conv6" if name == "conv5" else name
        if not pooled:
            return self.delta[name]
        return expanded(self.delta[name], self.activation[name], NETWORK.layer(name).shape)

    def put(self, name: str, delta: Array, pooled: bool) -> None:
        activation, shape = self.activation[name], NETWORK.layer(name).shape
        delta = delta.reshape(self.y[name].shape)
        delta = delta if pooled else expanded(delta, activation, shape)
        self.delta[name] = rounded(delta, self.storage.deltas)

    def back(self, delta: Array, pooled: bool) -> dict[str, Pair]:
        """Gradients by layer name."""
        fronts = {"conv2": "conv1", "conv3": "conv2", "conv4": "conv3", "conv5": "conv3",
                  "conv6": "conv4", "fc7": "conv6"}  # fmt: skip
        found = {}
        self.put("fc7", delta, pooled)
        for each in reversed(NETWORK.layers):
            shape, name = each.shape, each.name
            sums = self.expanded(name, pooled).reshape(2, shape.out_rows, shape.out_columns, -1)
            found[name] = _gradients(self.x[name], sums, shape)
            front = fronts.get(name)
            if front is None:
                continue
            start = np.zeros(shape.n, np.float32)
            if name == "conv2":  # what it takes is added, too
                start = self.expanded("conv3", pooled)
            elif name == "conv4":  # the second one to propagate to conv3
                start = self.left["conv5"]
            around = shape.k - 1
            grid = np.zeros((2, shape.rows + around, shape.columns + around, shape.m), np.float32)
            grid[:, around :: shape.stride, around :: shape.stride][
                :, : shape.out_rows, : shape.out_columns
            ] = sums
            turned = self.made[name][0].swapaxes(0, 1)[:, :, ::-1, ::-1]
            left = convolved(grid, turned, start, 1)
            if name == "conv5":
                self.left[name] = rounded(left, self.storage.deltas)
            else:
                self.put(front, left, pooled)
                self.left[name] = self.delta[front]
        return found


def _gradients(x: Array, sums: Array, shape: Shape) -> Pair:
    """One position after the other."""
    x = x.reshape(2, shape.rows, shape.columns, -1)
    kernels = np.zeros((shape.m, shape.n, shape.k, shape.k), np.float32)
    biases = np.zeros(shape.m, np.float32)
    for image, row, column in np.ndindex(sums.shape[:3]):
        here = sums[image, row, column]
        top, edge = row * shape.stride, column * shape.stride
        window = x[image, top : top + shape.k, edge : edge + shape.k].transpose(2, 0, 1)
        kernels = kernels + window * here[:, np.newaxis, np.newaxis, np.newaxis]
        biases = biases + here
    return kernels, biases


def numbers(words) -> Array:
    return to_values(words, BINARY32).astype(np.float32)


def pairs(made) -> dict[str, Pair]:
    return {name: (numbers(kernels), numbers(biases)) for name, (kernels, biases) in made.items()}


def same(words, wanted: Array) -> None:
    """Bit for bit."""
    np.testing.assert_array_equal(words.reshape(-1), wanted.reshape(-1).view(np.uint32))


def some_images() -> NDArray[np.uint32]:
    return to_bits(np.random.default_rng(5).uniform(-1, 1, (2, *NETWORK.input)), BINARY32)


def trained(network: Network, steps: int, *, pooled: bool, state: str = "32") -> Model:
    rates = rates_of(RATE, 2, BINARY32, momentum=MOMENTUM, weight_decay=DECAY)
    model = initial_model(network, 3)
    for _ in range(steps):
        model = train_step(
            network, model, some_images(), LABELS, rates, "squared", state, pooled=pooled
        ).model
    return model


@pytest.mark.parametrize("storage", STORAGES, ids=["16-bit maps and deltas", "all narrower"])
@pytest.mark.parametrize("pooled", [False, True], ids=["sums", "pooled"])
def test_training_is_that_of_the_rules_bit_for_bit(storage: Storage, pooled: bool) -> None:
    made = {
        name: tuple(rounded(each, storage.kernels) for each in pair)
        for name, pair in pairs(parameters(NETWORK, 3)).items()
    }
    moved = {name: tuple(np.zeros_like(each) for each in pair) for name, pair in made.items()}
    for _ in range(2):
        oracle = Oracle(storage, numbers(some_images()), made)
        scores = oracle.y["fc7"].reshape(2, 3)
        found = oracle.back((scores - np.eye(3)[LABELS]).astype(np.float32), pooled)
        for name, gradients in found.items():
            decayed = [
                g + np.float32(2 * DECAY) * w for g, w in zip(gradients, made[name], strict=True)
            ]
            past = [np.float32(MOMENTUM) * v for v in moved[name]]
            velocity = [v + g for v, g in zip(past, decayed, strict=True)]
            step = [np.float32(RATE / 2) * v for v in velocity]
            made[name] = tuple(
                rounded(w - s, storage.kernels) for w, s in zip(made[name], step, strict=True)
            )
            moved[name] = tuple(rounded(v, storage.gradients) for v in velocity)
    model = trained(replace(NETWORK, storage=storage), 2, pooled=pooled)
    for name in made:
        for words, wanted in zip(model.parameters[name], made[name], strict=True):
            same(words, wanted)
        for words, wanted in zip(model.velocities[name], moved[name], strict=True):
            same(words, wanted)


def test_the_resolution_counts_only_where_deltas_are_narrower() -> None:
    """Else as ever, whatever else is; and then a step does not depend on the state that is kept."""

    def differ(storage: Storage | None) -> bool:
        network = replace(NETWORK, storage=storage)
        both = [trained(network, 1, pooled=pooled).parameters["conv1"][0] for pooled in (0, 1)]
        return bool((both[0] != both[1]).any())

    assert differ(STORAGES[0])
    assert not differ(replace(STORAGES[0], deltas=BINARY32))
    assert not differ(None)
    network = replace(NETWORK, storage=STORAGES[1])
    found = [trained(network, 2, pooled=True, state=state) for state in STATES]
    for name in found[0].parameters:
        for other in found[1:]:
            for words, wanted in zip(
                other.parameters[name], found[0].parameters[name], strict=True
            ):
                np.testing.assert_array_equal(words, wanted)


@pytest.mark.parametrize("pooled", [False, True], ids=["sums", "pooled"])
def test_a_golden_step_has_what_the_pins_carry(pooled: bool) -> None:
    storage = STORAGES[1]
    network = replace(NETWORK, storage=storage)
    made = parameters(network, 3)
    step = GoldenStep(network, network.layers, some_images(), made, RATE, pooled=pooled)
    oracle = Oracle(storage, numbers(some_images()), pairs(made))
    _, delta = loss("cross-entropy", step.y(network.layers[-1]), np.array([0, 1]), BINARY32)
    found = oracle.back(numbers(delta), pooled)
    for each, maps in zip(network.layers, inference(network, some_images(), made), strict=True):
        name, here = each.name, step.passed(each)
        same(step.x(each), oracle.x[name])
        same(maps.x, oracle.x[name])
        same(step.y(each), oracle.y[name])
        if each.add is not None:
            same(step.add(each), oracle.y[each.add])
        if pooled:
            same(step.stored(each).delta, oracle.delta["conv6" if name == "conv5" else name])
        same(here.sums, oracle.expanded(name, pooled))
        if name == "conv4":
            same(here.start, oracle.left["conv5"])
            assert pooled or here.start is not None
        if name in oracle.left and pooled:
            same(step.left(each), oracle.left[name])
        decayed = [
            w - np.float32(RATE / 2) * g
            for w, g in zip(oracle.made[name], found[name], strict=True)
        ]
        for words, wanted in zip(step.updated(each).parameters, decayed, strict=True):
            same(words, rounded(wanted, storage.kernels))


@pytest.mark.parametrize("pooled", [False, True], ids=["sums", "pooled"])
def test_a_step_of_a_layer_alone_rounds_what_it_is_given(pooled: bool) -> None:
    """The layer is conv1, in front of which no delta goes; its deltas are from random numbers."""
    storage, first = STORAGES[1], NETWORK.layers[0]
    network = replace(NETWORK, storage=storage)
    words = to_bits(np.random.default_rng(1).standard_normal((2, 5, 5, 4)), BINARY32)
    made = parameters(NETWORK, 3)["conv1"]  # not yet rounded
    step = LayerStep(network, first, some_images(), made, words, pooled=pooled)
    oracle = Oracle(storage, numbers(some_images()), pairs(parameters(network, 3)))
    oracle.put("conv1", numbers(words), pooled)
    same(step.x(first), oracle.x["conv1"])
    same(step.y(first), oracle.y["conv1"])
    same(step.parameters["conv1"][0], oracle.made["conv1"][0])
    same(step.passed(first).sums, oracle.expanded("conv1", pooled))
    if pooled:
        same(step.stored(first).delta, oracle.delta["conv1"])


def test_state_is_that_of_sums_before_they_are_rounded() -> None:
    """Both sums are stored as 1, and the second one is the larger."""
    one = layer("conv", 1, n=2, m=1, k=1, rows=2, columns=2, pool=Pool(window=2, stride=2))
    network = Network(name="one", input=(2, 2, 2), layers=(one,), storage=STORAGES[0])
    x = to_bits([[[[1, 2.0**-10], [1, 2.0**-9]], [[0, 0], [0, 0]]]], BINARY32)
    made = to_bits(np.ones((1, 2, 1, 1)), BINARY32), to_bits([0.0], BINARY32)
    (kept,), output = forward(network, x, {"conv1": made}, "pooled")
    assert to_values(output, BINARY32).tolist() == [[[[1.0]]]]
    for state in (kept.state, LayerStep(network, one, x, made).state(one)):
        assert state.position is not None
        assert state.position.tolist() == [[[[1]]]]


def test_words_without_storage_are_left_as_they_are() -> None:
    words = np.array([0x00000001, 0x7F800001, 0x3F800001], np.uint32)  # no canonical ones
    plain = replace(STORAGES[0], maps=BINARY32)
    for storage in (None, plain):
        assert in_memory(words, "maps", BINARY32, storage) is words
    wanted = np.array([0, 0x7FC00000, 0x3F800000], np.uint32)
    np.testing.assert_array_equal(in_memory(words, "maps", BINARY32, STORAGES[0]), wanted)
    ties = np.array([0x3F808000, 0x3F818000, 0x7F7FFFFF, 0x80000001], np.uint32)
    wanted = np.array([0x3F800000, 0x3F820000, 0x7F800000, 0x80000000], np.uint32)
    np.testing.assert_array_equal(in_memory(ties, "deltas", BINARY32, STORAGES[0]), wanted)
