"""What a plan says of deltas that expand, and of what is added, beside the hardware's cycles."""

from __future__ import annotations

from pathlib import Path

import pytest

from marks import in_full, rows_in_full
from merp.cosim.audit.audit import combine
from merp.cosim.audit.run_and_audit import run_and_audit
from merp.cosim.passes.of_plan import OfPlan
from merp.models.golden.golden_step import GoldenStep
from merp.models.golden.initial import parameters
from merp.models.network.network_file import read_network
from merp.models.plan.plan import Planned, plan
from merp.tools.common.boards import open_board
from merp.tools.simulate.input_maps import random_maps

DESIGN = """
[design.k1]
k = 1
n_cu = 8
r = 8
d = 2
mul_latency = 1
add_latency = 1
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
maps = 1
kernel = 1
design = "k1"
[[layer]]
name = "conv2"
maps = 17
kernel = 1
relu = false
design = "k1"
[[layer]]
name = "conv3"
input = "conv1"
maps = 17
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
    text = (NETWORK + DESIGN).format(maps=maps, stride=stride, pool=pool, port=port)
    planned, taken = both(tmp_path, text, "conv1" if phase == "ku" else "conv2", phase)
    assert planned.binds == binds
    assert planned.cycles <= taken <= planned.cycles + 60


@pytest.mark.parametrize("port", [2, *in_full(1, 4)])
def test_what_is_added_comes_so_many_a_cycle(tmp_path: Path, port: int) -> None:
    """Of 17 sums of a position each word of the units begins a beat, the last one's is one sum."""
    planned, taken = both(tmp_path, (ADDING + DESIGN).format(port=port), "conv3", "fp")
    [(_, cost)] = planned.costs
    assert cost.cycles["add_in"][0] == IMAGES * 15 * 15 * (2 * -(-8 // port) + 1)
    assert planned.cycles <= taken <= planned.cycles + 60


def both(tmp_path: Path, text: str, layer: str, phase: str) -> tuple[Planned, int]:
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
