"""Cycles of whole batches: extrapolated from walks, and the schedule's own efficiencies."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from merp.cosim.engines.engine import run_job
from merp.cosim.engines.job import Job
from merp.cosim.machines.cnn_merp.phases.forward import forward_run, forward_top
from merp.models.base.shape import Pool, Shape
from merp.models.machines.cnn_merp import cycles as model
from merp.models.machines.cnn_merp.cycles import (
    forward_cycles,
    layer_cycles,
    network_cycles,
    update_cycles,
)
from merp.models.machines.cnn_merp.flow import input_flow
from merp.models.machines.cnn_merp.params.sizing import size_design
from merp.models.machines.cnn_merp.phases import update_design
from merp.models.machines.cnn_merp.update_flow import update_flow
from merp.models.network.network import Network
from merp.models.network.network_file import read_network
from merp.tools.common.shipped import open_network

ALEXNET = open_network("alexnet")
SHAPES = [
    Shape(n=3, m=5, k=3, pad=1, rows=7, columns=7),
    Shape(n=2, m=4, k=3, rows=9, columns=8, stride=2),
    Shape(n=1, m=9, k=2, rows=6, columns=5),
    Shape(n=4, m=3, k=1, rows=1, columns=1),
]


@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_batch_is_extrapolated_as_it_would_be_walked(shape: Shape, p: int) -> None:
    design = size_design([shape], n_cu=2, r=2, p=p, d=2)
    for images in (1, 4, 5, 8, 11, 12):
        flow = input_flow(shape, images, design)
        found = forward_cycles(shape, images, design)
        assert (found.fill, found.issue) == (flow.fill, flow.issue)
        assert (found.stall_input, found.stall_hazard) == (flow.stall_input, flow.stall_hazard)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_batchs_update_is_extrapolated_as_it_would_be_walked(shape: Shape) -> None:
    design = size_design([shape], n_cu=2, r=2, d=2)
    for images in (1, 5, 8, 11):
        assert (
            update_cycles(shape, images, design).total == update_flow(shape, images, design).total
        )


def test_cu_efficiency_of_controlled_data_flow_and_of_zero_filling() -> None:
    """CNN-MERP section VI.B: only the last, partial group idles; with zeros, all maps are run."""
    layers = [ALEXNET.layer(name) for name in ("conv3", "conv4", "conv5")]
    found = [layer_cycles(ALEXNET, layer, "fp", 128) for layer in layers]
    assert [round(100 * each.slot_efficiency, 1) for each in found] == [100.0, 100.0, 88.9]
    shapes = [layer.shape for layer in layers]
    kernels = max(shape.n for shape in shapes) * max(shape.m for shape in shapes)
    assert [shape.n * shape.m / kernels for shape in shapes] == [1.0, 0.375, 0.25]


def test_a_long_walk_takes_the_second_image_for_all_others(monkeypatch: pytest.MonkeyPatch) -> None:
    vgg = open_network("vgg16")
    quick = layer_cycles(vgg, vgg.layer("conv5_1"), "fp", 8)
    monkeypatch.setattr(model, "LONG", 1 << 30)
    exact = layer_cycles(vgg, vgg.layer("conv5_1"), "fp", 8)
    assert exact is not None
    assert quick is not None
    assert quick.issue == exact.issue
    assert quick.total == pytest.approx(exact.total, rel=1e-4)


def test_total_of_a_run_in_the_hardware() -> None:
    pool = Pool(window=2, stride=2)
    shapes = [
        Shape(n=6, m=8, k=3, pad=1, rows=8, columns=8, pool=pool),
        Shape(n=1, m=8, k=3, pad=1, rows=6, columns=6),  # bound by the output port
    ]
    design = size_design(shapes, n_cu=4, r=4)
    runs = []
    for shape in shapes:
        x = np.zeros((2, shape.rows, shape.columns, shape.n), np.uint32)
        kernels = np.zeros((shape.m, shape.n, 3, 3), np.uint32)
        runs.append(forward_run(shape, design, x, kernels, np.zeros(shape.m, np.uint32)))
    records = run_job(Job(forward_top(design, "behavioural"), runs), "myhdl")
    for shape, record in zip(shapes, records, strict=True):
        found = forward_cycles(shape, 2, design)
        assert found.total == pytest.approx(record.outcome.status["status_total"], rel=0.01)
        assert found.kernel_load == record.outcome.status["status_kernel_load"]
    assert found.bound == found.waits_for == "output port"


@pytest.mark.parametrize(("n", "m", "r", "kind"), [
    (6, 8, 4, "max"), (2, 4, 2, "max"), (6, 8, 4, "average"),
])  # fmt: skip
def test_totals_where_several_windows_hang_over_an_edge(n: int, m: int, r: int, kind: str) -> None:
    """Within a percent, also where sums wait while windows behind them are completed."""
    pools = [(3, 1, 1), (2, 1, (0, 0, 1, 1)), (3, 1, 2), (5, 2, 4), (3, 2, 2)]
    shapes = [
        Shape(
            n=n, m=m, k=3, pad=1, rows=8, columns=8,
            pool=Pool(kind=kind, window=window, stride=stride, pad=pad),
        )
        for window, stride, pad in pools
    ]  # fmt: skip
    design = size_design(shapes, n_cu=4, r=r, add_latency=2)
    runs = []
    for shape in shapes:
        x = np.zeros((3, shape.rows, shape.columns, shape.n), np.uint32)
        kernels = np.zeros((shape.m, shape.n, 3, 3), np.uint32)
        runs.append(forward_run(shape, design, x, kernels, np.zeros(shape.m, np.uint32)))
    records = run_job(Job(forward_top(design, "behavioural"), runs), "myhdl")
    for shape, record in zip(shapes, records, strict=True):
        found = forward_cycles(shape, 3, design)
        assert found.total == pytest.approx(record.outcome.status["status_total"], rel=0.01)
        plain = forward_cycles(replace(shape, pool=None), 3, design)
        assert found.total > plain.total or shape.late == (0, 0)


def test_positions_behind_the_sums_of_many_images_follow_from_a_few() -> None:
    pool = Pool(window=3, stride=1, pad=2)
    shape = Shape(n=6, m=8, k=3, pad=1, rows=8, columns=8, pool=pool)
    design = size_design([shape], n_cu=4, r=4)
    found = [forward_cycles(shape, images, design) for images in (8, 9, 10)]
    waits = [each.stall_output for each in found]
    assert waits[0] > 0
    assert abs(waits[2] - 2 * waits[1] + waits[0]) <= 1
    assert found[0].drain == found[2].drain


def test_alexnets_training_step() -> None:
    """Efficiencies and time that the schedule was designed for, at 137 MHz."""
    found = {(layer.name, phase): each for layer, phase, each in network_cycles(ALEXNET, 128)}
    assert len(found) == 14  # five layers, DP not in the first
    for name in ("conv1", "conv2", "conv3", "conv4"):
        assert found[name, "fp"].efficiency > 0.9995
        assert found[name, "fp"].slot_efficiency == 1
    assert found["conv5", "fp"].slot_efficiency == pytest.approx(8 / 9)
    seconds = sum(each.phase for each in found.values()) / 137e6
    operations = sum(each.operations for each in found.values())
    assert seconds == pytest.approx(4.389, abs=0.0005)
    assert operations / seconds / 1e9 == pytest.approx(110.35, abs=0.005)


def test_a_batch_beyond_the_designs_maximum_runs_in_parts() -> None:
    layer = ALEXNET.layer("conv3")
    design = replace(ALEXNET.designs["k3"], max_images=4)
    small = replace(ALEXNET, designs={**ALEXNET.designs, "k3": design})

    def total(network: Network, batch: int) -> int:
        found = layer_cycles(network, layer, "fp", batch)
        assert found is not None
        return found.phase

    assert total(small, 10) == 2 * total(ALEXNET, 4) + total(ALEXNET, 2)


def test_layers_without_design_or_delta_have_no_cycles() -> None:
    assert layer_cycles(ALEXNET, ALEXNET.layer("fc6"), "fp", 1) is None
    assert layer_cycles(ALEXNET, ALEXNET.layer("conv1"), "dp", 1) is None


FOLDED = (
    '[network]\nname = "n"\ninput = { rows = 6, columns = 6, channels = 1 }\n'
    '[[layer]]\nname = "conv1"\nmaps = 2\nkernel = 3\ndesign = "k3"\n'
    '[[layer]]\nname = "fc2"\nmaps = 4\ndesign = "k3"\n'
    "[design.k3]\nk = 3\nn_cu = 2\nr = 1\n"
)


def folded(tmp_path: Path, more: str = "") -> Network:
    path = tmp_path / "folded.toml"
    path.write_text(FOLDED + more)
    return read_network(path)


def test_a_folded_layer_has_cycles_in_every_phase(tmp_path: Path) -> None:
    """On the design of a convolution, whose update is then sized for both."""
    network = folded(tmp_path)
    found = {(layer.name, phase): each for layer, phase, each in network_cycles(network, 2)}
    assert set(found) == {(layer, "fp") for layer in ("conv1", "fc2")} | {
        ("fc2", "dp"),
        ("conv1", "ku"),
        ("fc2", "ku"),
    }
    layer = network.layer("fc2")
    design = update_design(network, layer)
    assert design.folded
    assert found["fc2", "ku"].total == update_flow(layer.shape, 2, design).total
    assert found["fc2", "ku"].drain > layer.shape.n * layer.shape.m


def test_rows_of_images_are_walked_one_by_one(tmp_path: Path) -> None:
    """The last row has fewer images: nothing can be taken for equal to what went before."""
    network = folded(tmp_path, 'cu_kind = "fused"\nku_kind = "row"\nku_lanes = 2\n')
    layer = network.layer("fc2")
    design = update_design(network, layer)
    assert (design.image_columns, design.max_size) == (5, 15)
    for batch in (3, 5, 23):
        found = layer_cycles(network, layer, "ku", batch)
        assert found is not None
        assert found.total == update_flow(layer.shape, batch, design).total
        sweeps = 4 * 2  # folded maps and groups: a row takes as long as its gradients, 5 cycles
        rows = -(-batch // 5)
        assert found.issue + found.stall_hazard + found.stall_input >= rows * sweeps * 5 - 4


@pytest.mark.parametrize(
    ("name", "load", "busy"),
    [
        ("alexnet", 38_401, [97.45, 92.94, 75.20, 74.64, 67.82]),
        ("alexnet-kernel1", 153_601, [93.35, 78.02, 43.70, 43.51, 41.10]),
    ],
)
def test_kernels_of_alexnet_load_and_update_four_at_a_time(
    name: str, load: int, busy: list[float]
) -> None:
    """Two images; a group of conv2 in FP, and CUs in KU, in percent. source: docs/engines.md"""
    network = open_network(name)
    convolutions = [layer for layer in network.layers if layer.kind == "conv"]
    forward = layer_cycles(network, convolutions[1], "fp", 2)
    assert forward is not None
    assert forward.kernel_load == load * convolutions[1].groups
    updates = [layer_cycles(network, layer, "ku", 2) for layer in convolutions]
    assert [round(100 * each.efficiency, 2) for each in updates if each is not None] == busy
