"""What a plan says of deltas that expand, and of what is added, beside the hardware's cycles."""

from pathlib import Path
from random import Random

import numpy as np
import pytest

from marks import in_full, rows_in_full
from merp.cosim.machines.cnn_merp.passes.of_plan import OfPlan
from merp.cosim.phases.audit.audit import combine
from merp.cosim.phases.audit.run_and_audit import run_and_audit
from merp.models.base.shape import Shape
from merp.models.golden.golden_step import GoldenStep
from merp.models.golden.initial import parameters
from merp.models.machines.cnn_merp.flow import input_flow
from merp.models.machines.cnn_merp.params.design import PORTS
from merp.models.machines.cnn_merp.params.sizing import size_design
from merp.models.machines.cnn_merp.plan.cost import cost_of
from merp.models.machines.cnn_merp.plan.plan import plan
from merp.models.machines.cnn_merp.plan.planned import PlannedPhase
from merp.models.machines.cnn_merp.plan.work import PhaseWork
from merp.models.network.network import Layer
from merp.models.network.network_file import read_network
from merp.tools.common.boards import open_board
from merp.tools.common.input_maps import random_maps

DESIGN = """
[design.k1]
k = 1
n_cu = 8
r = 8
d = 2
mul_latency = {latency}
add_latency = {latency}
map_port = {port}
"""

NETWORK = """
[network]
name = "expanded"
format = "bfloat16"
input = {{ rows = 15, columns = 15, channels = 1 }}
[[layer]]
name = "conv1"
maps = {maps}
kernel = 1
{pool}
design = "k1"
[[layer]]
name = "conv2"
maps = {maps}
kernel = 1
stride = {stride}
{pool}
design = "k1"
"""

ADDING = """
[network]
name = "adding"
format = "bfloat16"
input = {{ rows = 15, columns = 15, channels = 1 }}
[[layer]]
name = "conv1"
maps = {front}
kernel = 1
design = "k1"
[[layer]]
name = "conv2"
maps = {maps}
kernel = 1
relu = false
design = "k1"
[[layer]]
name = "conv3"
input = "conv1"
maps = {maps}
kernel = 1
add = "conv2"
design = "k1"
"""

IMAGES = 3
WINDOW = 'pool = {{ kind = "{}", window = {}, stride = 2 }}'
MAXIMUM, AVERAGE, NONE = WINDOW.format("max", 3), WINDOW.format("average", 2), ""


# An update of one map has fewer slots than deltas. In delta propagation each delta is in a slot, so
# that one a cycle does not bind.
@pytest.mark.parametrize(
    ("phase", "port", "maps", "stride", "pool", "binds"),
    [
        ("ku", 4, 8, 1, MAXIMUM, "delta_in"),
        ("ku", 2, 8, 1, NONE, "delta_in"),
        ("dp", 4, 8, 2, AVERAGE, "units"),
        *rows_in_full(
            ("ku", 2, 6, 1, AVERAGE, "delta_in"),
            ("ku", 8, 7, 1, AVERAGE, "delta_in"),
            ("ku", 8, 7, 1, NONE, "units"),
            ("dp", 4, 8, 1, NONE, "units"),
            ("dp", 2, 7, 2, MAXIMUM, "units"),
            ("dp", 8, 6, 3, MAXIMUM, "units"),
        ),
    ],
)
def test_elements_expand_one_by_one_where_something_was_pooled(
    tmp_path: Path, phase: str, port: int, maps: int, stride: int, pool: str, binds: str
) -> None:
    """But for fill and drain: with them the hardware takes a little longer."""
    text = (NETWORK + DESIGN).format(maps=maps, stride=stride, pool=pool, port=port, latency=1)
    planned, taken = both(tmp_path, text, "conv1" if phase == "ku" else "conv2", phase)
    assert planned.binds == binds
    assert planned.cycles <= taken <= planned.cycles + 60


@pytest.mark.parametrize("phase", ["fp", "dp"])
@pytest.mark.parametrize("port", [2, *in_full(1, 4)])
def test_what_is_added_comes_so_many_a_cycle(tmp_path: Path, port: int, phase: str) -> None:
    """Of 17 sums of a position each word of the units begins a beat, the last one's is one sum."""
    planned, taken = added(tmp_path, phase, 17, port=port, latency=1)
    [(_, cost)] = planned.costs
    assert cost.cycles["add_in"][0] == IMAGES * 15 * 15 * (2 * -(-8 // port) + 1)
    assert planned.cycles <= taken <= planned.cycles + 60


@pytest.mark.parametrize(
    ("phase", "maps", "latency", "each"),
    [
        ("fp", 9, 3, 5),
        *rows_in_full(("dp", 8, 3, 2.25), ("fp", 4, 3, 4), ("dp", 4, 3, 2), ("fp", 9, 1, 4)),
    ],
)
def test_of_short_positions_the_next_start_waits_for_its_place(
    tmp_path: Path, phase: str, maps: int, latency: int, each: float
) -> None:
    """2p positions have places, p being 1, or 2 on the way back; the units read one ``latency`` + 3
    cycles after its slot."""
    planned, taken = added(tmp_path, phase, maps, port=4, latency=latency)
    [(_, cost)] = planned.costs
    assert planned.binds == "add_in"
    assert cost.cycles["add_in"][0] == IMAGES * 15 * 15 * each
    assert planned.cycles <= taken <= planned.cycles + 60


def added(tmp_path: Path, phase: str, maps: int, **design: int) -> tuple[PlannedPhase, int]:
    """Of a layer of one map in, and so many out that something is added to."""
    front, own = (1, maps) if phase == "fp" else (maps, 1)
    text = (ADDING + DESIGN).format(front=front, maps=own, **design)
    return both(tmp_path, text, "conv3" if phase == "fp" else "conv2", phase)


@pytest.mark.parametrize("first", [True, False])
def test_sums_take_the_cycles_that_are_walked(first: bool) -> None:
    """Slots, the accumulators that they wait for, and what sums start at, of 200 layers."""
    random = Random(first)
    for _ in range(200):
        units, groups = random.choice((1, 3, 4, 8, 9)), random.choice((1, 1, 2, 3))
        k, n = random.randint(1, 3), random.choice((1, 1, 2, 3, 7))
        m = random.randint((groups - 1) * units + 1, groups * units)
        shape = Shape(n=n, m=m, k=k, rows=20, columns=20)
        layer = Layer(name="conv1", kind="conv", shape=shape, design="d")
        design = size_design(
            [shape], n_cu=units, r=units, d=2, p=random.choice((1, 2)), partial=True,
            map_port=random.choice(PORTS), add_latency=random.randint(1, 5),
            mul_latency=random.randint(1, 3),
        )  # fmt: skip
        work = PhaseWork(
            layer=layer, phase="fp", earlier=None, images=2, state="1", engine=design,
            folded=False, stored=layer,
        )  # fmt: skip
        starts, ends = np.array([first]), np.array([True])
        cost = cost_of(work, open_board("kc705"), np.array([n]), np.array([m]), starts, ends)
        slowest = max(cost.cycles[name][0] for name in ("units", "map_in", "partial_in"))
        flow = input_flow(shape, 2, design, partial_in=not first)
        busy = flow.issue + flow.stall_input + flow.stall_hazard
        assert 0.99 * (slowest - flow.fill) - 1 <= busy < 1.1 * slowest


def both(tmp_path: Path, text: str, layer: str, phase: str) -> tuple[PlannedPhase, int]:
    """What is planned for a layer's phase, and the cycles that it takes, its bits right."""
    mine = tmp_path / "mine.toml"
    mine.write_text(text)
    network = read_network(mine)
    images = IMAGES
    planned = plan(network, open_board("kc705"), images, state="pooled").of(layer, phase)
    step = GoldenStep(network, network.layers, random_maps(network, images), parameters(network, 0))
    of = OfPlan(planned)
    done = run_and_audit(of.top("behavioural"), of.tiles(0, step).passes(), "myhdl")
    assert all(each.audit.passed for each in done)
    counted = combine([each.audit for each in done]).cycles
    return planned, counted["total"] + counted["kernel_load"]
