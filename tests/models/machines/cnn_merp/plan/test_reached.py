"""What folded layers reach: the walk is the hardware's, and AlexNet's and VGG-16's shares hold."""

from dataclasses import replace
from pathlib import Path

import pytest

from marks import rows_in_full
from merp.cosim.machines.cnn_merp.passes.of_plan import OfPlan
from merp.cosim.phases.audit.audit import combine
from merp.cosim.phases.audit.run_and_audit import run_and_audit
from merp.models.golden.golden_step import GoldenStep
from merp.models.golden.initial import parameters
from merp.models.machines.cnn_merp.plan.engines import engine_of
from merp.models.machines.cnn_merp.plan.plan import plan
from merp.models.machines.cnn_merp.plan.planned import PlannedPhase
from merp.models.machines.cnn_merp.plan.reached import reached, walked_cycles
from merp.models.network.network_file import read_network
from merp.tools.common.boards import open_board
from merp.tools.common.input_maps import random_maps
from merp.tools.common.shipped import open_network
from network_text import layer, network_text

NETWORK = network_text(
    "connected",
    (10, 10, 2),
    layer("fc1", 60, design="k2"),
    layer("fc2", 60, relu=False, design="k2"),
    designs={"k2": {"k": 2, "n_cu": 4, "d": 2, "mul_latency": 1, "add_latency": 2}},
    format="bfloat16",
)

IMAGES = 4


def taken(planned: PlannedPhase, step: GoldenStep) -> int:
    """Cycles of all passes in the hardware, those that load kernels included."""
    of = OfPlan(planned)
    done = run_and_audit(of.top("behavioural"), of.tiles(0, step).passes(), "myhdl")
    cycles = combine([each.audit for each in done]).cycles
    return cycles["total"] + cycles["kernel_load"]


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("phase", "parts", "port"),
    [
        ("fp", 2, 1), ("dp", 2, 1), ("ku", 1, 1), ("ku", 2, 4),
        *rows_in_full(("fp", 1, 1), ("dp", 1, 1), ("ku", 2, 1)),
    ],
)  # fmt: skip
def test_the_hardware_takes_what_is_walked(
    tmp_path: Path, phase: str, parts: int, port: int
) -> None:
    """But for a few cycles of each pass, in which the pipelines of words that leave run dry."""
    mine = tmp_path / "connected.toml"
    mine.write_text(NETWORK + f"kernel_port = {port}\n")
    found = plan(read_network(mine), open_board("kc705"), IMAGES)
    network = found.network
    planned = found.of("fc2" if phase == "dp" else "fc1", phase)
    work = planned.work
    tile = -(-work.inputs // parts), -(-work.outputs // parts)
    planned = replace(planned, tile=tile, engine=engine_of("k2", [work], [tile]))
    step = GoldenStep(network, network.layers, random_maps(network, IMAGES), parameters(network, 0))
    cycles = taken(planned, step)
    walked = sum(kind.passes * walked_cycles(planned, kind) for kind in planned.kinds)
    assert abs(cycles - walked) <= 0.01 * cycles
    assert abs(cycles - walked) <= 60 * planned.passes


@pytest.mark.parametrize(
    ("name", "least"),
    [("alexnet-kernel1", 0.9), ("vgg16-small", 0.9), ("alexnet", 0.79), ("vgg16", 0.79)],
)
def test_fully_connected_layers_take_little_more_than_ports_and_memory_allow(
    name: str, least: float
) -> None:
    """Four kernel elements a beat make passes shorter: what they wait for besides weighs more."""
    found = plan(open_network(name), open_board("kc705"), 128)
    rows = list(reached(found))
    assert [(each.planned.work.layer.name, each.planned.work.phase) for each in rows] == [
        (layer, phase) for layer in ("fc6", "fc7", "fc8") for phase in ("fp", "dp", "ku")
    ]
    assert all(least <= each.share_of_plan <= 1 for each in rows)
    assert all(each.ports <= each.planned.seconds <= each.walked for each in rows)


@pytest.mark.parametrize(("gbytes_s", "seconds"), [(12.8, 12_000 / 137e6), (0.001, None)])
def test_the_slowest_port_or_the_memory_is_what_bounds(
    network_file: Path, gbytes_s: float, seconds: float | None
) -> None:
    """A cycle for each weight; or its bytes, where the memory is slow."""
    board = replace(open_board("kc705"), gbytes_s=gbytes_s)
    found = plan(read_network(network_file), board, IMAGES)
    first = next(iter(reached(found)))
    wanted = first.planned.bytes / (gbytes_s * 1e9 * 0.8) if seconds is None else seconds
    assert first.ports == pytest.approx(wanted)
    assert first.walked >= first.ports
