"""A host that does what ``schedule.json`` says, and nothing else, makes the golden's training step.

Its passes are the golden's functions of a layer; what they read and write is what the file names.
"""

import json
import shutil
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from marks import rows_in_full
from merp.models.arithmetic.words import to_bits
from merp.models.base.bits import Bits
from merp.models.golden.delta import delta_layer
from merp.models.golden.inference import as_input, forward_layer
from merp.models.golden.kernel_update import gradients
from merp.models.golden.loss import loss
from merp.models.golden.pooling import pool_maps
from merp.models.golden.state import joined, keep_state
from merp.models.golden.training import Updated, initial_model, rates_of, train_step, updated
from merp.models.golden.unpool import unpool
from merp.models.network.network import Layer, Network
from merp.models.network.network_file import read_network
from merp.tools.cli import main
from network_text import average_pool, layer, max_pool, network_text
from packages import bench, built, manifest_of, run

# Outputs that are taken twice, taken and added, and only added, behind pooling and ReLU or not.
RESIDUAL = network_text(
    "residual",
    (7, 6, 2),
    layer("conv1", 4, kernel=3, pad=1, pool=max_pool(2, 2, ceil=True), design="k3"),
    layer("conv2", 4, kernel=3, pad=1, groups=2, design="k3"),
    layer("conv3", 4, kernel=3, pad=1, add="conv1", design="k3"),
    layer("conv4", 4, kernel=3, pad=1, stride=2, design="k3"),
    layer("conv5", 6, input="conv3", kernel=1, stride=2, relu=False, design="k3"),
    layer(
        "conv6",
        6,
        input="conv4",
        kernel=3,
        pad=1,
        add="conv5",
        pool=average_pool(2, 2),
        design="k3",
    ),
    layer("fc7", 3, relu=False, design="k3"),
    designs={"k3": {"k": 3, "n_cu": 2, "d": 2, "mul_latency": 1, "add_latency": 2}},
)
# conv2 and conv3 have the same ReLU and pooling; their maps are taken together twice.
TOGETHER = network_text(
    "together",
    (6, 5, 2),
    layer("conv1", 3, kernel=3, pad=1, design="k3"),
    layer("conv2", 2, kernel=1, pool=max_pool(2, 2), design="k3"),
    layer("conv3", 3, kernel=3, pad=1, input="conv1", pool=max_pool(2, 2), design="k3"),
    layer("conv4", 2, kernel=1, input=["conv3", "conv2"], design="k3"),
    layer("conv5", 4, kernel=3, pad=1, input=["conv3", "conv2"], design="k3"),
    layer("fc6", 3, relu=False, input=["conv4", "conv5"], design="k3"),
    designs={"k3": {"k": 3, "n_cu": 2, "d": 2, "mul_latency": 1, "add_latency": 2}},
)
IMAGES, RATE = 3, 0.1


class Host:
    """A memory of arrays by name and layer, and the passes that read and write it.

    Attributes:
        network: that is trained. delta_at: ``sums`` or ``pooled``, as the schedule says.
        together: the layers of each concatenation, in the order of their maps.
        memory: the arrays. model: before the step.
    """

    def __init__(
        self, network: Network, delta_at: str, images: Bits, together: Mapping[str, list[str]]
    ) -> None:
        self.network, self.delta_at, self.together = network, delta_at, together
        self.memory: dict[tuple[str, str | None], Any] = {("images", None): images}
        self.model = initial_model(network, seed=1)
        for name, (kernels, biases) in self.model.parameters.items():
            self.memory["kernels", name], self.memory["biases", name] = kernels, biases

    def run(self, told: Mapping[str, Any]) -> None:
        """Run a pass of the schedule."""
        layer = self.network.layer(told["layer"])
        names = {stream: (of["array"], of["layer"]) for stream, of in told["streams"].items()}
        read = {stream: self._array(name) for stream, name in names.items() if stream[0] == "s"}
        made: dict[str, Any] = {}
        if "m_axis_map" in names:
            made |= self._forward(layer, read)
        if "m_axis_delta" in names:
            made |= self._delta(layer, read, names)
        if "m_axis_kernel" in names:
            made |= self._update(layer, read, names)
        assert set(made) >= {stream for stream in names if stream[0] == "m"}
        for stream, array in made.items():
            if stream in names:
                self._write(names[stream], array)

    def _array(self, key: tuple[str, str | None]) -> Any:
        """An array of a layer, or of the layers of a concatenation, map after map."""
        found = [self.memory[key[0], name] for name in self.together.get(key[1] or "", ())]
        if key in self.memory or not found:
            return self.memory[key]
        return joined(found) if key[0] == "state" else np.concatenate(found, axis=-1)

    def _write(self, key: tuple[str, str | None], array: Any) -> None:
        """Write an array; deltas of a concatenation are those of its layers, too."""
        self.memory[key] = array
        names = self.together.get(key[1] or "", ())
        maps = [self.network.layer(name).biases for name in names]
        if names:
            outputs = self.memory["maps", names[0]].shape
            at = array.shape[1:3] if array.shape[1:3] != (1, 1) else outputs[1:3]
            whole = array.reshape(IMAGES, *at, sum(maps))
            for name, own in zip(
                names, np.split(whole, np.cumsum(maps)[:-1], axis=-1), strict=True
            ):
                self.memory[key[0], name] = np.ascontiguousarray(own)

    def _forward(self, layer: Layer, read: Mapping[str, Any]) -> dict[str, Any]:
        fmt, shape = self.network.fmt, layer.shape
        sums = forward_layer(
            replace(layer, shape=replace(shape, pool=None)), as_input(read["s_axis_map"], layer),
            read["s_axis_kernel"], read["s_axis_bias"], fmt, self.network.summation(layer),
            read.get("s_axis_add"),
        )  # fmt: skip
        return {
            "m_axis_map": pool_maps(sums, shape.pool, fmt),
            "m_axis_state": keep_state(sums, shape, "pooled", fmt),
        }

    def _expanded(self, delta: Bits, state: tuple[str, str | None] | None) -> Bits:
        """A delta behind the ReLU and pooling that a state is of, if one was read."""
        if state is None:
            return delta
        array, name = state
        assert array == "state"
        assert name is not None
        shape = self.network.layer(self.together.get(name, [name])[0]).shape
        size = IMAGES, shape.pooled_rows, shape.pooled_columns, -1
        return unpool(delta.reshape(size), self._array(state), shape, self.network.fmt)

    def _delta_in(
        self, layer: Layer, read: Mapping[str, Any], names: Mapping[str, tuple[str, str | None]]
    ) -> Bits:
        delta = read["s_axis_delta"]
        if self.delta_at == "pooled":
            delta = self._expanded(delta, names.get("s_axis_state"))
        shape = layer.shape
        return delta.reshape(IMAGES, shape.out_rows, shape.out_columns, -1)

    def _delta(
        self, layer: Layer, read: Mapping[str, Any], names: Mapping[str, tuple[str, str | None]]
    ) -> dict[str, Any]:
        start = read.get("s_axis_add")
        if start is not None:
            start = self._expanded(start, names.get("s_axis_add_state"))
            start = start.reshape(IMAGES, layer.shape.rows, layer.shape.columns, -1)
        left = delta_layer(
            layer, self._delta_in(layer, read, names), read["s_axis_kernel"], self.network.fmt,
            self.network.summation(layer), start,
        )  # fmt: skip
        if self.delta_at == "sums":
            left = self._expanded(left, names.get("s_axis_state"))
        return {"m_axis_delta": left}

    def _update(
        self, layer: Layer, read: Mapping[str, Any], names: Mapping[str, tuple[str, str | None]]
    ) -> dict[str, Any]:
        fmt = self.network.fmt
        sums = self._delta_in(layer, read, names)
        x = as_input(read["s_axis_map"], layer)
        found = gradients(layer, x, sums, fmt, self.network.summation(layer))
        rates = rates_of(RATE, IMAGES, fmt)
        old = Updated((read["s_axis_kernel"], read["s_axis_bias"]), self.model.of(layer).velocities)
        kernels, biases = updated(old, found, rates, fmt).parameters
        return {"m_axis_kernel": kernels, "m_axis_bias": biases}

    def start_back(self, labels: np.ndarray, last: str) -> None:
        """Work out the loss, and write the delta of the last layer."""
        output = self.memory["maps", last]
        _, delta = loss("cross-entropy", output, labels, self.network.fmt)
        layer = self.network.layer(last)
        assert layer.shape.pool is None  # so there is nothing to be undone
        assert not layer.shape.relu
        self.memory["deltas", last] = delta.reshape(output.shape)


@pytest.mark.parametrize(
    ("text", "at"),
    [
        (TOGETHER, "sums"),
        *rows_in_full((RESIDUAL, "sums"), (RESIDUAL, "pooled"), (TOGETHER, "pooled")),
    ],
    ids=["together", "residual", "residual-pooled", "together-pooled"],
)
def test_a_host_that_follows_the_schedule_trains(text: str, at: str, tmp_path: Path) -> None:
    path = tmp_path / "network.toml"
    path.write_text(text)
    command = ["export", str(path), "--all", "--delta-at", at, "--images", str(IMAGES)]
    assert main([*command, "-o", str(tmp_path / "all")]) == 0
    check_schedule(path, tmp_path / "all")


def check_schedule(path: Path, folder: Path) -> None:
    """See that a host that does what the schedule in ``folder`` says makes the golden's step."""
    schedule = json.loads((folder / "schedule.json").read_text())
    network = read_network(path)
    generator = np.random.default_rng(0)
    size = IMAGES, network.input[0], network.input[1], network.input[2]
    images = to_bits(generator.standard_normal(size).astype(np.float32), network.fmt)
    labels = generator.integers(0, 3, IMAGES)
    host = Host(network, schedule["delta_at"], images, schedule.get("concatenations", {}))
    wanted = train_step(
        network, host.model, images, labels, rates_of(RATE, IMAGES, network.fmt), state="pooled"
    )
    forward = True
    for told in schedule["passes"]:
        if forward and "m_axis_map" not in told["streams"]:
            forward = False
            host.start_back(labels, schedule["last_layer"])
        host.run(told)
    for each in network.layers:
        parameters = wanted.updated(each).parameters
        old = host.model.parameters[each.name]
        for array, golden, before in zip(("kernels", "biases"), parameters, old, strict=True):
            assert np.array_equal(host.memory[array, each.name], golden), (array, each.name)
            assert not np.array_equal(golden, before), (array, each.name)


FUSED = network_text(
    "fused",
    (7, 6, 2),
    layer("conv1", 3, kernel=2, pool=max_pool(2, 2), design="k2"),
    layer("conv2", 4, kernel=2, pad=1, design="k2"),
    layer("conv3", 3, kernel=2, stride=2, relu=False, design="k2"),
    designs={"k2": {"k": 2, "n_cu": 3, "r": 1, "d": 2, "mul_latency": 1, "add_latency": 2}},
    backward="combined",
)


@pytest.fixture(scope="module")
def fused(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The packages of a network that goes back in one pass; the network stands beside them."""
    folder = tmp_path_factory.mktemp("fused")
    (folder / "net.toml").write_text(FUSED)
    command = ["export", str(folder / "net.toml"), "--all", "--images", str(IMAGES)]
    assert main([*command, "-o", str(folder / "all")]) == 0
    return folder / "all"


@pytest.mark.full
def test_a_step_in_one_pass_back_is_scheduled(fused: Path) -> None:
    """Three bitstreams; kernels are read and written in the pass that propagates their delta."""
    check_schedule(fused.parent / "net.toml", fused)
    schedule = json.loads((fused / "schedule.json").read_text())
    assert (schedule["backward"], schedule["delta_at"]) == ("fused", "pooled")
    assert [(told["bitstream"][-2:], told["layer"]) for told in schedule["passes"]] == [
        ("fp", "conv1"), ("fp", "conv2"), ("fp", "conv3"), ("bp", "conv3"), ("bp", "conv2"),
        ("ku", "conv1"),
    ]  # fmt: skip
    assert schedule["loads_in_a_step"] == 3
    titles = {each["name"][-2:]: each["title"] for each in schedule["bitstreams"]}
    assert titles["bp"].endswith("in one pass, 1 + 2 CUs of 2 x 2")
    assert "updates its kernels in the same pass (`bp`)" in (fused / "README.md").read_text()
    one, apart = (
        {each["layer"]: each for each in manifest_of(fused / f"fused-k2-{phase}")["layers"]}
        for phase in ("bp", "fp")
    )
    assert list(one) == ["conv2", "conv3"]
    assert all(one[name]["operations"] == 2 * apart[name]["operations"] for name in one)


@pytest.mark.full
@pytest.mark.ghdl
def test_the_bench_of_one_pass_passes_in_ghdl_alone(fused: Path, tmp_path: Path) -> None:
    """It compares delta, kernels and biases, every port's words, and the slots of both halves."""
    folder = built(shutil.copytree(fused / "fused-k2-bp", tmp_path / "bp"))
    small = folder / "vectors" / "small"
    status, lines = bench(folder, "-gPAUSE=40", "-gSEED=3")
    assert (status, lines[-1]) == (0, "PASS"), lines
    assert ", wrong 0; registers compared 26, wrong 0" in lines[-2]
    assert any("cycles propagation_total: " in line for line in lines)
    status, again = bench(folder, "-gABORT_AT=60")
    assert (status, again[-1]) == (0, "PASS"), again
    known = (small / "status.txt").read_text()
    address, value, name = next(
        line for line in known.splitlines() if "propagation_useful" in line
    ).split()
    planted = f"{address} {int(value, 16) + 1:x} {name}"
    (small / "status.txt").write_text(known.replace(f"{address} {value} {name}", planted))
    status, lines = bench(folder)
    assert status != 0
    assert any("status_propagation_useful: " in line for line in lines), lines


@pytest.mark.full
@pytest.mark.ghdl
def test_the_tests_by_cocotb_of_one_pass_pass(fused: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(fused / "fused-k2-bp", tmp_path / "bp")
    done = run(folder, sys.executable, "-m", "pytest", "-q", "sim")
    assert done.returncode == 0, done.stdout
