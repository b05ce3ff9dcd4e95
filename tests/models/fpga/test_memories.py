"""Block RAM by arithmetic, and an estimate of the rest, beside what ``resources.json`` has."""

import json
from dataclasses import replace
from typing import Any

import pytest

from checkout import ROOT
from merp.models.base.shape import Shape
from merp.models.fpga.block_ram import mapped
from merp.models.fpga.resources import Resources
from merp.models.machines.cnn_merp.designs import design_of, designs_of
from merp.models.machines.cnn_merp.fpga.estimate import estimate
from merp.models.machines.cnn_merp.fpga.memories import (
    Memory,
    added_memories,
    block_rams,
    convolution_memories,
    gradient_memory,
    update_memories,
)
from merp.models.machines.cnn_merp.params.design import PORTS
from merp.models.machines.cnn_merp.params.sizing import size_design
from merp.models.machines.cnn_merp.phases import delta_design, update_design, update_unpool_design
from merp.models.network.network import Network
from merp.tools.common.shipped import open_network

MEASURED: dict[str, Any] = json.loads((ROOT / "tests/data/resources.json").read_text())
TREE: dict[str, Any] = {"cu_kind": "tree", "ku_kind": "position", "kernel_port": 1}
ONE, FOUR = {"kernel_port": 1}, {"kernel_port": 4}
KINDS: dict[str, dict[str, Any]] = {
    "tree": TREE,
    "fused, one DSP": ONE,
    "fused, one DSP, four elements a beat": FOUR,
    "fused, two DSP": ONE | {"fused_dsp": 2},
    "position": TREE,
    "row, one DSP": ONE,
    "row, one DSP, four elements a beat": FOUR,
    "row, two DSP": ONE | {"fused_dsp": 2},
}
"""Changes of design k5 of AlexNet, by the name of the measurement."""


def network_of(kind: str) -> Network:
    """AlexNet with such units in layer 2."""
    network = open_network("alexnet")
    changed = replace(network.designs["k5"], **KINDS[kind])
    return replace(network, designs=dict(network.designs) | {"k5": changed})


def memories_of(case: str) -> list[Memory]:
    """Memories of a measured design."""
    phase, kind = case.split(", ", 1)
    network = network_of(kind)
    layer = network.layer("conv2")
    if phase == "fp":
        return convolution_memories(design_of(network, layer))
    if phase == "ku":
        return update_memories(update_design(network, layer))
    found = delta_design(network, layer)
    return convolution_memories(found.engine, found.unpool)


@pytest.mark.parametrize("case", MEASURED)
def test_block_ram_is_that_of_the_synthesis_block_by_block(case: str) -> None:
    by_block: dict[str, float] = {}
    for memory in memories_of(case):
        by_block[memory.block] = by_block.get(memory.block, 0.0) + memory.halves / 2
    measured: dict[str, float] = {}
    for block in MEASURED[case]["blocks"]:
        name = block["name"].split("_words")[0]
        measured[name] = measured.get(name, 0.0) + block["count"] * block["bram"]
    assert {k: v for k, v in by_block.items() if v} == {k: v for k, v in measured.items() if v}
    assert block_rams(memories_of(case)) == MEASURED[case]["total"]["bram"]


@pytest.mark.parametrize("case", MEASURED)
def test_wide_lut_ram_is_that_of_the_synthesis(case: str) -> None:
    found = sum(memory.luts for memory in memories_of(case))
    measured = MEASURED[case]["total"]["lut_memory"]
    port = designs_of(network_of(case.split(", ", 1)[1]))["k5"].kernel_port
    assert abs(measured - found) <= 80 + 20 * port  # words that leave, parameters on their way


def estimate_of(case: str) -> Resources:
    """Of a measured design."""
    phase, kind = case.split(", ", 1)
    network = network_of(kind)
    layer = network.layer("conv2")
    memories = memories_of(case)
    if phase == "dp":
        found = delta_design(network, layer)
        return estimate(found.engine, "dp", memories, found.unpool)
    design = design_of(network, layer) if phase == "fp" else update_design(network, layer)
    return estimate(design, phase, memories)


@pytest.mark.parametrize("case", MEASURED)
def test_dsp_blocks_are_exact_and_logic_is_near_what_was_measured(case: str) -> None:
    found, total = estimate_of(case), MEASURED[case]["total"]
    assert (found.bram, found.dsp) == (total["bram"], total["dsp"])
    assert found.lut == pytest.approx(total["lut"], rel=0.01)
    assert found.ff == pytest.approx(total["ff"], rel=0.01)


def test_gradient_memories_of_another_size_take_about_what_was_measured() -> None:
    """Of conv3 of alexnet-kernel1, 18 block RAMs a memory in place of 10.

    source: Yosys 0.70, 149,762 LUT. The estimate is fitted to conv2, and 4.0 % below.
    """
    network = open_network("alexnet-kernel1")
    design = update_design(network, network.layer("conv3"))
    found = estimate(design, "ku", update_memories(design))
    assert found.lut == pytest.approx(149_762, rel=0.05)


def test_several_maps_a_beat_add_about_what_was_measured() -> None:
    """With banks in LUT RAM. source: docs/adr/0011-elements-side-by-side.md"""
    network = open_network("digits")
    design = design_of(network, network.layer("conv2"))
    wide = replace(design, map_port=4, row_words=design.row_words // 4)
    one, four = (estimate(each, "fp", convolution_memories(each)) for each in (design, wide))
    assert four.lut - one.lut == pytest.approx(22_297 - 20_468, rel=0.05)
    assert four.ff - one.ff == pytest.approx(15_548 - 14_318, rel=0.25)


@pytest.mark.parametrize(
    ("phase", "port", "lut", "ff"),
    [
        ("dp", 2, 20_286 - 19_134, 14_715 - 13_593),
        ("dp", 4, 21_017 - 19_134, 15_798 - 13_593),
        ("dp", 8, 23_608 - 19_134, 17_986 - 13_593),
        ("ku", 4, 23_217 - 20_342, 17_072 - 14_015),
    ],
)
def test_pooled_deltas_of_several_a_beat_add_about_what_was_measured(
    phase: str, port: int, lut: int, ff: int
) -> None:
    """Of digits' conv2, rows in LUT RAM. source: netlists of Yosys 0.70, LUT as logic"""
    one = open_network("digits")
    found = []
    for each in (1, port):
        designs = {
            name: replace(design, map_port=each, row_words=-(-design.row_words // each))
            for name, design in one.designs.items()
        }
        network = replace(one, designs=designs)
        layer = network.layer("conv2")
        if phase == "dp":
            made = delta_design(network, layer, before=True)
            memories = convolution_memories(made.engine)
            found.append(estimate(made.engine, "dp", memories, made.unpool))
        else:
            update = update_design(network, layer)
            undone = update_unpool_design(network, layer)
            found.append(estimate(update, "ku", update_memories(update), undone))
    assert found[1].logic - found[0].logic == pytest.approx(lut, rel=0.15)
    assert found[1].ff - found[0].ff == pytest.approx(ff, rel=0.15)


@pytest.mark.parametrize(
    ("phase", "port", "lut", "ff", "memory"),
    [
        ("fp", 1, 621, 489, 48),
        ("fp", 4, 2_083, 1_604, 184),
        ("dp", 1, 152, 148, 0),
        ("dp", 4, 286, 382, 0),
    ],
)
def test_what_is_added_takes_what_was_measured(
    phase: str, port: int, lut: int, ff: int, memory: int
) -> None:
    """By digits' k3, with and without. source: netlists of Yosys 0.70, LUT as logic and shift"""
    network = open_network("digits")
    plain = replace(design_of(network, network.layer("conv2")), map_port=port)
    adding = replace(plain, added=True)
    found, less = (estimate(each, phase, []) for each in (adding, plain))
    assert found.logic - less.logic == pytest.approx(lut, rel=0.01)
    assert found.ff - less.ff == pytest.approx(ff, rel=0.01)
    if phase == "fp":
        assert sum(each.luts for each in added_memories(adding)) == memory


def test_relu6_takes_what_was_measured() -> None:
    """By four lanes with and without. source: netlists of Yosys, LUT as logic"""
    network = open_network("digits")
    plain = replace(design_of(network, network.layer("conv2")), r=4)
    found, less = (estimate(each, "fp", []) for each in (replace(plain, relu6=True), plain))
    assert found.logic - less.logic == pytest.approx(98, abs=1)
    assert found.ff == less.ff


def test_leaky_relu_takes_multipliers() -> None:
    """A lane has one of two DSP blocks; un-pooling has one, behind averages a second one, and one
    for each element of a beat.
    """
    network = open_network("digits")
    plain = replace(design_of(network, network.layer("conv2")), r=4)
    found, less = (estimate(each, "fp", []) for each in (replace(plain, leaky=True), plain))
    assert (found.dsp - less.dsp, found.logic > less.logic) == (8, True)
    unpool = delta_design(network, network.layer("conv2")).unpool
    undone = {
        "plain": unpool,
        "leaky": replace(unpool, leaky=True),
        "both": replace(unpool, leaky=True, average=True),
    }
    blocks = {name: estimate(plain, "dp", [], each).dsp for name, each in undone.items()}
    assert blocks["leaky"] - blocks["plain"] == 2
    assert blocks["both"] - blocks["plain"] == 4
    wide = replace(plain, map_port=4)
    beats = estimate(wide, "dp", [], undone["leaky"]).dsp - estimate(wide, "dp", [], unpool).dsp
    assert beats == 2 + 4 * 2


@pytest.mark.parametrize("phase", ["fp", "dp", "ku"])
def test_wider_ports_take_more_logic(phase: str) -> None:
    network = open_network("alexnet")
    design = design_of(network, network.layer("conv2"))
    for key in ("kernel_port", "map_port"):
        wide = [replace(design, **{key: port}) for port in PORTS]  # type: ignore[arg-type]
        found = [estimate(each, phase, []) for each in wide]
        assert [each.logic for each in found] == sorted({each.logic for each in found})
        assert [each.ff for each in found] == sorted({each.ff for each in found})


def test_gradients_that_are_read_together_lie_in_memories_of_their_own() -> None:
    """source: netlists of Yosys 0.70, 4 units of 3 x 3 with kernel_port 1, 4 and 8"""
    shapes = [Shape(n=32, m=64, k=3, rows=6, columns=6)]
    found = []
    for port in (1, 4, 8):
        design = size_design(shapes, n_cu=4, cu_kind="fused", ku_kind="row", d=2, kernel_port=port)
        memory = gradient_memory(design, design.kernel_words)
        found.append((memory.count, memory.words, memory.halves / 2))
    assert found == [(4, 4608, 18), (20, 1024, 20), (36, 512, 18)]


# source: netlists of Yosys 0.70, family xc7
@pytest.mark.parametrize(
    ("words", "bits", "halves", "luts"),
    [
        (384, 825, 23, 0), (384, 800, 23, 0), (128, 288, 8, 0), (4, 288, 0, 192),
        (9600, 32, 20, 0), (1536, 32, 3, 0), (576, 32, 2, 0), (288, 32, 1, 0), (128, 32, 1, 0),
        (432, 512, 15, 0), (27, 1312, 0, 876), (16, 512, 0, 344), (1, 32, 0, 0),
    ],
)  # fmt: skip
def test_a_memory_is_made_of_what_the_synthesis_takes(
    words: int, bits: int, halves: int, luts: int
) -> None:
    assert mapped(words, bits) == (halves, luts)


def test_more_words_or_bits_never_take_fewer_block_rams() -> None:
    sizes = [2, 32, 64, 65, 500, 512, 513, 1000, 1024, 1025, 1536, 2048, 4000, 9600, 20_000, 70_000]
    for bits in (32, 36, 288, 297, 825):
        found = [mapped(words, bits).halves for words in sizes]
        assert found == sorted(found)
    for words in sizes:
        found = [mapped(words, bits).halves for bits in (32, 33, 36, 64, 72, 297, 825)]
        assert found == sorted(found)
