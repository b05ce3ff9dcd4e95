"""Traffic of the backward phases: the walked schedule against the formulae, port by port."""

import random
from dataclasses import replace

import numpy as np
import pytest
from stored_networks import MIXED, stored

from merp.models.arithmetic.words import to_bits
from merp.models.base.delta_shape import delta_shape
from merp.models.base.errors import BadInput
from merp.models.base.formats import FORMATS, FloatFormat
from merp.models.base.shape import Pool, Shape
from merp.models.base.state_field import STATES
from merp.models.base.storage import TENSORS, Storage
from merp.models.golden.state import keep_state, of_maps, packed
from merp.models.machines.cnn_merp.one_pass import backward_design
from merp.models.machines.cnn_merp.params.sizing import size_design
from merp.models.machines.cnn_merp.params.word_counters import word_bytes
from merp.models.machines.cnn_merp.phases import delta_design, maps_behind, update_design
from merp.models.machines.cnn_merp.traffic.backward_counter import (
    backward_words,
    delta_words,
    state_bytes,
    update_words,
)
from merp.models.network.branches import previous
from merp.models.network.network import Layer, Network
from merp.models.traffic.closed_form import LayerTraffic, network_traffic, total
from merp.models.traffic.count import Count
from merp.models.traffic.pass_words import backward_port_words
from merp.tools.common.shipped import open_network

NETWORKS = ("alexnet", "alexnet-avg", "alexnet24", "lenet5", "digits", "cifar10-1x")


def layers(name: str) -> tuple[Network, list[int]]:
    """A shipped network, in whose memory neighbours differ, and its layers that have a design."""
    network = stored(open_network(name))
    return network, [i for i, layer in enumerate(network.layers) if layer.design]


@pytest.mark.sample(4)
@pytest.mark.parametrize("before", [False, True], ids=["sums", "pooled"])
@pytest.mark.parametrize("name", NETWORKS)
def test_delta_propagation(name: str, before: bool) -> None:
    network, designed = layers(name)
    images = 3
    formula = network_traffic(network, images, Count(name="all", state="pooled" if before else "1"))
    paper = network_traffic(network, images)
    for index in designed:
        layer = network.layers[index]
        earlier = previous(network, layer)
        if earlier is None:
            assert formula[index].dp is None
            continue
        unpooled, maps = (
            (layer.shape, layer.shape.m) if before
            else (earlier.shape, maps_behind(layer.shape, earlier.shape))
        )  # fmt: skip
        engine = delta_design(network, layer, before).engine
        walked = delta_words(layer.shape, unpooled, maps, images, engine, before)
        dp = formula[index].dp
        assert dp is not None
        for port in ("delta_in", "delta_out", "kernel"):
            word = word_bytes("dp", port, engine)
            assert walked[port] * layer.groups * word == dp.streams[port], (layer.name, port)
        if before:
            assert walked["state_in"] * layer.groups == dp.streams["state_in"]
        else:
            seen = paper[index].dp
            assert seen is not None
            maps_moved = walked["delta_in"] + walked["delta_out"]
            assert maps_moved * layer.groups * MIXED.deltas.bytes == seen.bytes


@pytest.mark.parametrize("name", NETWORKS)
def test_kernel_update(name: str) -> None:
    network, designed = layers(name)
    formula = network_traffic(network, 2, Count(name="all", state="1"))
    for index in designed:
        layer = network.layers[index]
        design = update_design(network, layer)
        walked = update_words(layer.shape, 2, design)
        for port, words in walked.items():
            moved = words * layer.groups * word_bytes("ku", port, design)
            assert moved == formula[index].ku.streams[port], (layer.name, port)


def random_network(seed: int) -> Network:
    """Three layers with groups of few maps, so that bits seldom fill their last byte.

    Of four networks one is stored as it computes, the others' tensors each in any format.
    """
    draw = random.Random(seed)
    rows, columns = draw.randint(4, 9), draw.randint(4, 9)
    maps = draw.choice([6, 12])
    layers: list[Layer] = []
    start = rows, columns, maps
    while len(layers) < 3:
        groups, k = draw.choice([1, 2, 3, 6]), draw.randint(1, 3)
        out = groups * draw.randint(1, 3)
        if len(layers) < 2 and out % 6:
            continue  # the next layer may have any of these groups
        kind = draw.choice([None, "max", "max", "average"])
        window, stride = draw.randint(1, 3), draw.randint(1, 2)
        top, left, bottom, right = (draw.randrange(k) for _ in range(4))
        around = draw.randrange(window)
        try:
            shape = Shape(
                n=maps // groups, m=out // groups, k=k, rows=rows, columns=columns,
                stride=draw.randint(1, 2), pad=(top, left, bottom, right),
                relu=draw.random() < 0.8,
                pool=Pool(kind=kind, window=window, stride=stride, pad=around) if kind else None,
            )  # fmt: skip
        except ValueError:
            continue
        layers.append(Layer(name=f"conv{len(layers)}", kind="conv", groups=groups, shape=shape))
        rows, columns, maps = shape.pooled_rows, shape.pooled_columns, out
    formats = {tensor: draw.choice(list(FORMATS.values())) for tensor in TENSORS}
    storage = Storage(**formats) if seed % 4 else None
    return Network(name="t", input=start, layers=tuple(layers), storage=storage)


def packed_bytes(layer: Layer, passes: int, images: int, state: str, fmt: FloatFormat) -> int:
    """Bytes of the golden's state of a layer, packed for so many passes of alike many maps.

    fmt: of the activation.
    """
    shape = layer.shape
    size = images, shape.out_rows, shape.out_columns, layer.biases
    words = to_bits(np.random.default_rng(0).integers(-2, 3, size), fmt)
    kept, maps = keep_state(words, shape, state, fmt), layer.biases // passes
    return sum(
        len(packed(of_maps(kept, low, low + maps), shape, fmt))
        for low in range(0, layer.biases, maps)
    )


def read_by(found: LayerTraffic, phase: str) -> int:
    """Bytes of state that the formula counts in a phase."""
    counts = {"fp": found.fp, "dp": found.dp, "ku": found.ku}[phase]
    assert counts is not None
    return counts.streams["state_out" if phase == "fp" else "state_in"]


@pytest.mark.parametrize("seed", range(40))
def test_state_of_random_layers_with_groups(seed: int) -> None:
    """The formula's bytes, the walk's of every pass, and those of the packed golden."""
    network, images = random_network(seed), 1 + seed % 3
    fmt = network.stored("maps")
    for state in STATES:
        formula = network_traffic(network, images, Count(name="all", state=state))
        for layer, found in zip(network.layers, formula, strict=True):
            earlier, groups, shape = previous(network, layer), layer.groups, layer.shape
            kept = packed_bytes(layer, groups, images, state, fmt)
            if state != "32" or shape.pool:
                assert read_by(found, "fp") == kept
            if state != "pooled" and earlier:
                assert read_by(found, "dp") == packed_bytes(earlier, groups, images, state, fmt)
            if state != "pooled":
                continue
            assert read_by(found, "ku") == kept
            assert groups * state_bytes(shape, shape.m, images) == kept
            bare = replace(shape, relu=False, pool=None)
            chosen = {"k": shape.k + seed % 3, "n_cu": 2, "r": 1, "storage": network.storage}
            design = size_design([bare], d=2, **chosen)
            walked = update_words(shape, images, design, before=True)
            for port, words in walked.items():
                size = word_bytes("ku", port, design)
                assert groups * words * size == found.ku.streams[port], (layer.name, port)
            if earlier is None or found.dp is None:
                continue
            engine = size_design([delta_shape(shape)], d=3, **chosen)
            walked = delta_words(shape, shape, shape.m, images, engine, before=True)
            for port, words in walked.items():
                size = word_bytes("dp", port, engine)
                assert groups * words * size == found.dp.streams[port], (layer.name, port)
            maps = earlier.biases // groups
            behind = delta_words(shape, earlier.shape, maps, images, engine, before=False)
            assert groups * behind["state_in"] == packed_bytes(earlier, groups, images, state, fmt)


def test_three_groups_of_one_map() -> None:
    """9 mask bits a group: two bytes each on the pins, and not 27 bits in four."""
    shape = Shape(n=1, m=1, k=1, rows=3, columns=3)
    layers = tuple(Layer(name=f"conv{i}", kind="conv", groups=3, shape=shape) for i in (1, 2))
    network = Network(name="t", input=(3, 3, 3), layers=layers)
    for state, reader in (("1", "dp"), ("pooled", "dp"), ("pooled", "ku")):
        found = network_traffic(network, 1, Count(name="all", state=state))
        assert [read_by(found[0], "fp"), read_by(found[1], reader)] == [6, 6]


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", NETWORKS)
def test_one_pass(name: str) -> None:
    """By formula of a pass, by that of the network, and by the walk, in formats that differ."""
    separate, designed = layers(name)
    network = replace(separate, backward="combined")
    count, images = Count(name="all", state="pooled"), 3
    formula, apart = (network_traffic(each, images, count) for each in (network, separate))
    for index, layer in enumerate(network.layers):
        found, both = formula[index], apart[index]
        assert found.fp == both.fp
        if layer.kind == "fc" or previous(network, layer) is None:
            assert (found.dp, found.ku, found.bp) == (both.dp, both.ku, None)
            continue
        assert (found.dp, found.ku) == (None, None)
        assert found.bp is not None
        assert both.ku is not None
        assert found.bp.operations == 2 * layer.operations(images)
        assert found.bp.momentum == both.ku.momentum
        words = backward_port_words(layer.shape, images)
        if index in designed:
            design = backward_design(network, layer)
            walked = backward_words(layer.shape, images, design.propagation, design.update)
            assert walked == words
            assert found.bp.streams == {
                port: layer.groups * count * word_bytes("bp", port, design.update)
                for port, count in words.items()
            }


def test_a_step_of_alexnet_in_one_pass() -> None:
    """Two readings of kernels, deltas and state of conv2 to conv5 are one."""
    network = replace(open_network("alexnet"), backward="combined")
    found = network_traffic(network, 128, Count(name="all", state="pooled"))
    step = total([each for each in found if each.layer.kind == "conv"], "step")
    assert (step.bytes, round(step.mb_per_gflop or 0, 3)) == (837_516_800, 1.729)


def test_one_pass_takes_no_tiles() -> None:
    network = replace(open_network("alexnet"), backward="combined")
    with pytest.raises(BadInput, match=r"alexnet: backward: .* allowed are backward"):
        network_traffic(network, 1, Count(name="board"))
