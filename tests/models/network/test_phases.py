"""Phases of layers, frozen layers included: which exist, and why others do not."""

import tomllib
from pathlib import Path

import pytest

from merp.models.base.errors import BadInput
from merp.models.machines.cnn_merp.memory.step_memory import StepMemory
from merp.models.machines.cnn_merp.phases import delta_design, update_design
from merp.models.network.branches import receiver
from merp.models.network.network import Network
from merp.models.network.network_file import network_of, read_network
from merp.models.network.phases import apart, has_phase, lacks
from merp.models.network.step_passes import layer_passes
from merp.models.network.workload import nests
from merp.models.traffic.closed_form import network_traffic
from merp.models.traffic.count import Count
from merp.tools.common.data import DATA
from network_text import layer, max_pool, network_text

LAYERS = [*(f"conv{place}" for place in range(1, 9)), "fc9"]


def freezing(folder: Path, base: str, *names: str, backward: str = "separate") -> Network:
    """A shipped network with frozen layers."""
    path = folder / "net.toml"
    frozen = "".join(f"[layer.{name}]\ntrainable = false\n" for name in names)
    head = f'base = "{base}"\n[network]\nname = "n"\nbackward = "{backward}"\n'
    path.write_text(head + frozen)
    return read_network(path, DATA)


def named(network: Network, phase: str) -> list[str]:
    return [layer.name for layer in network.layers if has_phase(network, layer, phase)]


def test_a_frozen_block_ends_the_propagation_of_deltas(tmp_path: Path) -> None:
    """conv4 and conv5 take the output of the block; conv6 adds conv5."""
    network = freezing(tmp_path, "resnet-digits", "conv1", "conv2", "conv3")
    assert named(network, "dp") == LAYERS[5:]
    assert named(network, "ku") == LAYERS[3:]
    counted = network_traffic(network, 4, Count(name="all"))
    assert [each.layer.name for each in counted if each.dp is not None] == LAYERS[5:]
    assert [each.layer.name for each in counted if each.ku is not None] == LAYERS[3:]
    for phase in ("dp", "ku"):
        of_nests = [nest.layer.name for nest in nests(network, phase, 4)]
        ordered = [layer.name for layer, name in layer_passes(network, [phase])]
        assert of_nests == sorted(ordered) == named(network, phase)


def test_a_trainable_shortcut_keeps_the_propagation_to_it(tmp_path: Path) -> None:
    """conv3 adds conv1: its delta is needed for conv1, although conv2 and conv3 are frozen."""
    network = freezing(tmp_path, "resnet-digits", "conv2", "conv3")
    assert named(network, "dp") == LAYERS[1:]
    frozen = freezing(tmp_path, "resnet-digits", "conv1", "conv2")
    assert named(frozen, "dp") == LAYERS[3:]
    front = receiver(frozen, frozen.layer("conv4"))
    assert front is not None
    assert front.name == "conv3"


def test_a_combined_pass_becomes_the_half_that_is_needed(tmp_path: Path) -> None:
    network = freezing(tmp_path, "tiny3", "conv1", backward="combined")
    assert [named(network, phase) for phase in ("dp", "bp", "ku")] == [
        ["fc3"], [], ["conv2", "fc3"],
    ]  # fmt: skip
    between = freezing(tmp_path, "tiny3", "conv2", backward="combined")
    assert [named(between, phase) for phase in ("dp", "bp", "ku")] == [
        ["conv2", "fc3"], [], ["conv1", "fc3"],
    ]  # fmt: skip
    assert list(apart(between, between.layers)) == [
        "conv1 has only ku, because the input of the first layer has no delta",
        "conv2 has only dp, because it is frozen",
        "fc3 has dp and ku, because it is fully connected",
    ]
    assert next(apart(network, network.layers)) == (
        "conv2 has only ku, because the input needs no delta"
    )


def test_a_refusal_names_the_reason_and_the_phases_there_are(tmp_path: Path) -> None:
    network = freezing(tmp_path, "tiny3", "conv1", "fc3")
    assert {name: lacks(network, network.layer(name), phase) for name, phase in (
        ("conv1", "dp"), ("conv1", "ku"), ("conv2", "dp"), ("fc3", "ku"),
    )} == {
        "conv1": "conv1 is frozen (trainable = false): allowed: fp, or another layer",
        "conv2": "conv2 has only frozen layers in front, its input needs no delta: allowed: fp, "
        "ku, or another layer",
        "fc3": "fc3 is frozen (trainable = false): allowed: fp, dp, or another layer",
    }  # fmt: skip


def test_designs_are_sized_for_the_layers_that_have_the_phase(tmp_path: Path) -> None:
    """conv1 and conv2 share a design; conv2 has more maps."""
    network = freezing(tmp_path, "tiny3", "conv2")
    whole = freezing(tmp_path, "tiny3")
    layer = network.layer("conv1")
    assert update_design(network, layer).max_maps < update_design(whole, layer).max_maps
    assert delta_design(network, layer) == delta_design(whole, layer)
    with pytest.raises(ValueError, match=r"."):
        delta_design(freezing(tmp_path, "tiny3", "conv1"), layer)


def test_memory_has_no_arrays_that_no_pass_reads(tmp_path: Path) -> None:
    frozen = set(StepMemory(freezing(tmp_path, "tiny3", "conv1"), 2, momentum=True).arrays)
    whole = set(StepMemory(freezing(tmp_path, "tiny3"), 2, momentum=True).arrays)
    assert frozen < whole
    assert whole - frozen == {
        "conv1.deltas", "conv1.kernel_velocities", "conv1.bias_velocities",
    }  # fmt: skip


@pytest.mark.parametrize("frozen", [True, False])
def test_a_network_that_learns_nothing_is_refused(frozen: bool, tmp_path: Path) -> None:
    """All its layers are frozen, or only pool, or both."""
    message = (
        "net.toml: no layer is trainable: at least one convolution or full connection must be, "
        "without trainable = false"
    )
    with pytest.raises(BadInput) as error:
        freezing(tmp_path, "tiny3", "conv1", "conv2", "fc3")
    assert str(error.value) == message
    convolution = [layer("conv1", 2, kernel=1, trainable=False)] if frozen else []
    text = network_text("net", (4, 4, 1), *convolution, {"name": "pool2", "pool": max_pool(2, 2)})
    with pytest.raises(BadInput) as error:
        network_of("net.toml", tomllib.loads(text))
    assert str(error.value) == message
