"""Passes of a step move the words of their formulas, and find the golden data in their places."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from numpy.typing import NDArray

from marks import in_full
from merp.cosim.machines.loader import phase_of
from merp.models.base.bits import Bits
from merp.models.base.errors import BadInput
from merp.models.golden.golden_step import GoldenStep
from merp.models.golden.initial import parameters
from merp.models.machines.cnn_merp.memory.step_memory import IMAGES, StepMemory
from merp.models.machines.cnn_merp.params.word_counters import VELOCITY_WORDS
from merp.models.memory.layout import Array, Part
from merp.models.memory.nest import visited
from merp.models.memory.step_arrays import StepPass
from merp.models.network import network_file
from merp.models.network.branches import within
from merp.models.network.network import Network
from merp.models.network.network_keys import COMBINED
from merp.models.network.step_passes import layer_passes
from merp.tools.common.input_maps import random_maps
from merp.tools.common.shipped import checked, open_network
from network_text import average_pool, layer, max_pool, network_text

SHIPPED = ("tiny3", "digits", "digits-bf16", "resnet-digits", "lenet5")
PARAMETERS = ("kernels", "biases", "kernel_velocities", "bias_velocities")

DESIGNS = {"k2": {"k": 2, "n_cu": 2, "d": 2, "p": 2, "mul_latency": 1, "add_latency": 2}}
SAME = {"kernel": 2, "pad": [0, 0, 1, 1], "design": "k2"}  # the output has the input's size

# The masks of conv1 and conv2 have two parts. conv3 has none, so conv4 may have other groups.
GROUPED = network_text(
    "grouped",
    (6, 6, 4),
    layer("conv1", 8, groups=2, pool=max_pool(3, 2), **SAME),
    layer("conv2", 8, groups=2, **SAME),
    layer("conv3", 8, groups=2, add="conv1", relu=False, pool=average_pool(2, 2), **SAME),
    layer("conv4", 8, groups=4, **{**SAME, "kernel": 1, "pad": 0}),
    designs=DESIGNS,
)

# Groups read masks that other groups wrote: a half, all, a quarter, two of four.
REGROUPED = network_text(
    "regrouped",
    (6, 6, 4),
    layer("conv1", 16, pool=max_pool(2, 2), **SAME),
    layer("conv2", 16, groups=2, **SAME),
    layer("conv3", 32, **SAME),
    layer("conv4", 32, groups=4, **SAME),
    layer("conv5", 8, groups=2, **SAME),
    designs=DESIGNS,
)

# conv2, conv3 and conv4 take one output, which conv5 adds, too.
BRANCHES = network_text(
    "branches",
    (4, 5, 2),
    layer("conv1", 3, **SAME),
    layer("conv2", 3, relu=False, **SAME),
    layer("conv3", 3, input="conv1", add="conv2", relu=False, **SAME),
    layer("conv4", 4, input="conv1", **SAME),
    layer("conv5", 3, input="conv4", add="conv1", **SAME),
    layer("conv6", 3, add="conv3", **SAME),
    layer("fc7", 3, relu=False, design="k2"),
    designs=DESIGNS,
)

# An output that is only added to sums that are only added themselves.
ADDED_TWICE = network_text(
    "added_twice",
    (3, 3, 1),
    layer("conv1", 2, **SAME),
    layer("conv2", 2, relu=False, **SAME),
    layer("conv3", 2, input="conv1", add="conv2", relu=False, **SAME),
    layer("conv4", 2, input="conv1", add="conv3", **SAME),
    layer("fc5", 3, relu=False, design="k2"),
    designs=DESIGNS,
)

# The host undoes the last ReLU and pooling; the delta is also that of an output that is added.
ADDED_AT_THE_END = network_text(
    "added_at_the_end",
    (5, 5, 1),
    layer("conv1", 2, pool=max_pool(2, 1), **SAME),
    layer("conv2", 2, **SAME),
    layer("conv3", 2, add="conv1", pool=max_pool(2, 2), **SAME),
    designs=DESIGNS,
)

# Images of bytes, maps and deltas of 16 bits, and kernels of 32.
NARROW = network_text(
    "narrow",
    (6, 5, 2),
    layer("conv1", 4, **{**SAME, "design": "wide"}),
    layer("conv2", 3, pool=max_pool(2, 2), **SAME),
    layer("fc3", 3, relu=False, design="k2"),
    designs={**DESIGNS, "wide": {"k": 2, "n_cu": 2, "d": 2, "map_port": 2}},
    storage={"image": "uint8", "maps": "bfloat16", "deltas": "binary16"},
)

# Two layers take the maps of two others together, a full connection takes theirs; with groups.
TOGETHER = network_text(
    "together",
    (4, 4, 2),
    layer("conv1", 3, **SAME),
    layer("conv2", 8, pool=max_pool(2, 2), **SAME),
    layer("conv3", 16, input="conv1", pool=max_pool(2, 2), **SAME),
    layer("conv4", 9, input=["conv3", "conv2"], groups=3, relu=False, **SAME),
    layer("conv5", 16, input=["conv3", "conv2"], relu=False, **SAME),
    layer("fc6", 3, input=["conv4", "conv5"], relu=False, design="k2"),
    designs=DESIGNS,
)


def network_of(text: str) -> Network:
    return checked(network_file.network_of("network.toml", tomllib.loads(text)))


OWN = tuple(
    map(network_of, (GROUPED, REGROUPED, BRANCHES, ADDED_TWICE, ADDED_AT_THE_END, NARROW, TOGETHER))
)
NETWORKS = {each.name: each for each in (*map(open_network, SHIPPED), *OWN)}
GOLDEN = ("tiny3", *(each.name for each in OWN))
"""Small networks."""

each_network = pytest.mark.parametrize("network", NETWORKS.values(), ids=NETWORKS)


def split(each: StepPass) -> tuple[dict[str, Part], dict[str, Part]]:
    """The parts that a pass reads, and those that it writes."""
    read = {port: part for port, part in each.parts.items() if not port.endswith("_out")}
    return read, {port: part for port, part in each.parts.items() if port not in read}


def given(memory: StepMemory) -> set[str]:
    """The arrays that the host writes."""
    last = memory.network.layers[-1].name
    held = {name for name in memory.arrays if name.rpartition(".")[2] in PARAMETERS}
    return held | {IMAGES, f"{last}.deltas"}


@pytest.mark.parametrize("momentum", [False, True])
@pytest.mark.parametrize("images", [1, 3])
@each_network
def test_each_part_has_the_words_of_its_port(network: Network, images: int, momentum: bool) -> None:
    """A port without words has no part."""
    memory = StepMemory(network, images, momentum)
    for each in memory.passes:
        phase = phase_of(network, network.layer(each.layer), each.phase, state=True)
        words = phase.words(network.layer(each.layer), images)
        if each.phase == "ku" and momentum:
            words |= {port: words[port.partition("_")[0]] for port in VELOCITY_WORDS}
        found = {port: part.walk.total for port, part in each.parts.items()}
        assert found == {port: count for port, count in words.items() if count}


@pytest.mark.sample(15)
@pytest.mark.parametrize("momentum", [False, True])
@pytest.mark.parametrize("images", [1, 3])
@each_network
def test_what_is_read_was_written_and_nothing_is_written_twice(
    network: Network, images: int, momentum: bool
) -> None:
    memory = StepMemory(network, images, momentum)
    host = given(memory)
    written = {name: np.full(array.elements, name in host) for name, array in memory.arrays.items()}
    used = {name: np.zeros(array.elements, bool) for name, array in memory.arrays.items()}
    for each in memory.passes:
        read, made = split(each)
        for name, walk in read.values():
            places = visited(walk)
            assert written[name][places].all(), (each, name)
            used[name][places] = True
        for name, walk in made.values():
            places = visited(walk)
            assert np.unique(places).size == places.size
            if name.rpartition(".")[2] in PARAMETERS:
                assert used[name][places].all()
            else:
                assert not written[name][places].any(), (each, name)
            written[name][places] = True
    assert all(each.all() for each in written.values()), "an array has more elements than results"
    last = memory.network.layers[-1].name
    for name, each in used.items():
        assert each.all() or name in (f"{last}.maps", f"{last}.state"), "nothing reads this array"


@each_network
def test_arrays_are_those_of_the_networks_tensors(network: Network) -> None:
    memory = StepMemory(network, 3)
    sizes = {name: array.elements for name, array in memory.arrays.items()}
    for each in network.layers:
        assert sizes[f"{each.name}.kernels"] == each.kernels
        assert sizes[f"{each.name}.biases"] == each.biases
        whole, _ = within(network, each)
        assert sizes[f"{whole.name}.maps"] == 3 * whole.outputs
        assert sizes[memory.deltas[each.name]] == 3 * whole.sums
    assert sizes[IMAGES] == 3 * np.prod(network.input)
    more = set(StepMemory(network, 3, momentum=True).arrays) - set(memory.arrays)
    assert more == {
        f"{each.name}.{array}" for each in network.layers for array in PARAMETERS if "_" in array
    }


@each_network
def test_passes_have_the_order_of_a_step(network: Network) -> None:
    memory = StepMemory(network, 1)
    order = [
        (each.name, phase, group)
        for each, phase in layer_passes(network)
        for group in range(each.groups)
    ]
    assert [(each.layer, each.phase, each.number) for each in memory.passes] == order
    backward = [each for each in order if each[1] != "fp"]
    found = memory.of(("ku", "dp"))
    assert [(each.layer, each.phase, each.number) for each in found] == backward
    assert [*memory.of(("fp",)), *found] == memory.passes


@dataclass
class Contents:
    """The elements of arrays. Those of the host are unknown until a pass reads them."""

    arrays: Mapping[str, Array]
    words: dict[str, NDArray[np.int64]] = field(init=False)

    def __post_init__(self) -> None:
        self.words = {
            name: np.full(array.elements, -1, np.int64) for name, array in self.arrays.items()
        }

    def put(self, part: Part, words: Bits) -> None:
        assert int(words.max(initial=0)) < 1 << self.arrays[part.array].element_bits
        self.words[part.array][visited(part.walk)] = words

    def read(self, part: Part, words: Bits) -> None:
        """See that a part has some words, as far as they are known."""
        found = self.words[part.array][visited(part.walk)]
        np.testing.assert_array_equal(np.where(found < 0, words, found), words, part.array)
        self.put(part, words)


def golden_words(each: StepPass, step: GoldenStep, network: Network) -> dict[str, Bits]:
    """The words on each port of a pass with golden operands."""
    phase = phase_of(network, network.layer(each.layer), each.phase, state=True)
    found = phase.golden_pass(network.layer(each.layer), each.number, step)
    expected = found.expected.ports
    made = {port: one.golden for port, one in expected.items() if one.golden is not None}
    inputs = {port: found.run.words[phase.streams[port]] for port in expected if port not in made}
    return {port: words.reshape(-1) for port, words in (inputs | made).items()}


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", [*GOLDEN, *in_full("resnet-digits")])
def test_each_pass_finds_the_golden_words(name: str) -> None:
    """A golden result that one pass wrote is the golden operand of a later one."""
    network, images = NETWORKS[name], 2
    memory = StepMemory(network, images)
    step = GoldenStep(network, network.layers, random_maps(network, images), parameters(network, 1))
    contents = Contents(memory.arrays)
    for each in memory.passes:
        words = golden_words(each, step, network)
        read, made = split(each)
        for port, part in read.items():
            contents.read(part, words[port])
        for port, part in made.items():
            contents.put(part, words[port])


def test_elements_have_the_bits_of_their_format() -> None:
    arrays = StepMemory(NETWORKS["narrow"], 2, momentum=True).arrays
    bits = {name.rpartition(".")[2]: array.element_bits for name, array in arrays.items()}
    assert bits == {
        "images": 8, "maps": 16, "deltas": 16, "state": 8, "kernels": 32, "biases": 32,
        "kernel_velocities": 32, "bias_velocities": 32,
    }  # fmt: skip


def test_a_delta_that_is_propagated_in_steps_has_an_array_for_each() -> None:
    """Deltas to one output start at those of the sums to which the output is added."""
    memory = StepMemory(NETWORKS["branches"], 1)
    propagated = {
        each.layer: tuple(
            each.parts[port].array if port in each.parts else None
            for port in ("delta_in", "add_in", "delta_out")
        )
        for each in memory.of(("dp",))
    }
    assert propagated == {
        "fc7": ("fc7.deltas", None, "conv6.deltas"),
        "conv6": ("conv6.deltas", None, "conv5.deltas"),
        "conv5": ("conv5.deltas", None, "conv4.deltas"),
        "conv4": ("conv4.deltas", "conv5.deltas", "conv1.deltas"),
        "conv3": ("conv6.deltas", "conv1.deltas", "conv1.deltas.1"),
        "conv2": ("conv6.deltas", "conv1.deltas.1", "conv1.deltas.2"),
    }
    assert memory.deltas["conv1"] == "conv1.deltas.2"


@pytest.mark.parametrize(
    "changes", [{"backward": COMBINED}, {"layer_fusion": ("conv1", "conv2")}], ids=str
)
def test_combined_passes_and_fused_layers_are_refused(changes: dict[str, object]) -> None:
    message = "tiny3: allowed in memory are separate backward passes, without fused layers"
    with pytest.raises(BadInput, match=f"^{re.escape(message)}$"):
        StepMemory(replace(NETWORKS["tiny3"], **changes), 1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"maps": 7},
            "conv2: its mask has 21 bits at a position of conv3+conv2: allowed in memory are whole "
            "bytes",
        ),
        (
            {"relu": False},
            "conv3+conv2: allowed in memory are concatenations of layers with the same ReLU, "
            "pooling and size of the sums",
        ),
    ],
    ids=["bits", "relu"],
)
def test_a_concatenation_without_a_place_in_memory_is_refused(
    change: dict[str, object], message: str
) -> None:
    text = network_text(
        "mixed",
        (4, 4, 2),
        layer("conv1", 3, **SAME),
        {**layer("conv2", 8, pool=max_pool(2, 2), **SAME), **change},
        layer("conv3", 8, input="conv1", pool=max_pool(2, 2), **SAME),
        layer("fc4", 3, input=["conv3", "conv2"], relu=False, design="k2"),
        designs=DESIGNS,
    )
    with pytest.raises(BadInput, match=f"^{re.escape(f'mixed: {message}')}$"):
        StepMemory(network_of(text), 2)


@pytest.mark.parametrize(("front", "groups", "maps", "own"), [(1, 2, 4, 8), (2, 1, 8, 4)])
def test_a_mask_in_other_parts_than_its_reader_needs_is_refused(
    front: int, groups: int, maps: int, own: int
) -> None:
    text = network_text(
        "mixed",
        (6, 6, 2),
        layer("conv1", 8, groups=front, **SAME),
        layer("conv2", 4, groups=groups, **SAME),
        designs=DESIGNS,
    )
    message = (
        f"mixed: conv2 propagates to {maps} maps, and the mask of conv1 has parts of {own} maps, "
        "1 bits each: allowed are equal or whole bytes"
    )
    with pytest.raises(BadInput, match=f"^{re.escape(message)}$"):
        StepMemory(network_of(text), 2)


def test_without_a_mask_layers_may_have_other_groups() -> None:
    text = network_text(
        "mixed",
        (6, 6, 2),
        layer("conv1", 8, relu=False, **SAME),
        layer("conv2", 4, groups=2, **SAME),
        designs=DESIGNS,
    )
    found = StepMemory(network_of(text), 2).of(("dp",))
    assert [sorted(each.parts) for each in found] == [["delta_in", "delta_out", "kernel"]] * 2
