"""Size and paths of the memory subsystem of a trained network are within limits, and on the page.

The page has a row for each entity: its instances, their sizes in sum, and its longest path.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from types import SimpleNamespace

import pytest

import merp.hdl.memory
from checkout import ROOT
from merp.cosim.board.dram import Dram
from merp.cosim.board.step_lists import step_system
from merp.cosim.machines.blocks import Blocks
from merp.cosim.synthesis import resources
from merp.hdl.axi.axi_lite import AxiLite
from merp.hdl.base.signals import Bundles, Stream, bits, flag
from merp.hdl.memory.axi4 import Axi4
from merp.hdl.memory.bitstream_loader import LoaderPorts
from merp.hdl.memory.memory_subsystem import EnginePorts, memory_subsystem
from merp.models.fpga.parts import PARTS
from merp.models.memory.params.subsystem import Loader, SubsystemDesign
from merp.models.memory.subsystem_resources import subsystem_resources
from merp.tools.common.planned_step import machine_step
from merp.tools.common.shipped import open_network
from needed_tools import needs

PAGE = ROOT / "docs" / "resources.md"
PART = PARTS["xc7k325t"]
MOST_NS, MOST_PERCENT = 6.7, 6
ROOMS = {path.stem for path in Path(merp.hdl.memory.__file__).parent.glob("*.py")}
APART = frozenset(ROOMS | {"axi_registers", "lite_manager"})


def ports_of(design: SubsystemDesign) -> Bundles:
    """The streams of the engines; words of several bytes that are read mark those that count."""
    streams = {}
    for name, mover in chain(design.readers, design.writers):
        streams[name] = Stream(mover.word_bits)
        if name in dict(design.readers) and mover.word_bits > 8:
            streams[name].keep = bits(mover.word_bits // 8)
    return Bundles(streams)


def subsystem_top(design: SubsystemDesign) -> SimpleNamespace:
    """The subsystem alone, with all of its ports."""
    arguments = {name: flag() for name in ("clk", "rst", "interrupt")}
    engines = {f"engine{at}": AxiLite() for at in range(design.engines)}
    arguments |= {"s_axi": AxiLite(), "m_axi": Axi4(design.port), "design": design}
    ports = EnginePorts(engines=Bundles(engines), interrupts=bits(design.engines))
    arguments |= {"streams": ports_of(design), "engines": ports}
    arguments |= {"registers": design.registers("1.2.3"), "loader": LoaderPorts(design)}
    return SimpleNamespace(function=memory_subsystem, args=arguments)


def entity_of(name: str) -> str:
    """The entity of a block, whose name may end with parameters."""
    return max((each for each in APART if f"{name}_".startswith(f"{each}_")), key=len)


def row_of(entity: str, same: Sequence[resources.Block]) -> str:
    """The row of an entity with all of its instances."""
    count, size = sum(each.count for each in same), resources.total(same)
    longest = max(each.delay_ns for each in same)
    return f"| {entity} | {count} | {size.lut:,} | {size.ff:,} | {size.bram:.1f} | {longest:.2f} |"


def measured(design: SubsystemDesign, monkeypatch: pytest.MonkeyPatch) -> list[resources.Block]:
    """The blocks of a subsystem."""
    monkeypatch.setattr(resources, "all_blocks", lambda: Blocks(apart=APART))
    return resources.measure(subsystem_top(design), whole=False)


def of_digits() -> SubsystemDesign:
    """The subsystem of digits."""
    plan = machine_step(open_network("digits"))(open_network("digits"), 1, momentum=False)
    return step_system(plan, Dram(data_bits=16))[0].design


@pytest.mark.full
@needs("yosys")
def test_size_and_paths_of_the_subsystem_of_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = measured(of_digits(), monkeypatch)
    grouped = defaultdict(list)
    for block in blocks:
        grouped[entity_of(block.name)].append(block)
    rows = []
    for entity, same in grouped.items():
        rows.append(row_of(entity, same))
    whole = resources.total(blocks)
    rows.append(f"| **all** | | {whole.lut:,} | {whole.ff:,} | {whole.bram:.1f} | |")
    shares = [
        100 * whole.lut / PART.luts,
        100 * whole.ff / PART.flip_flops,
        100 * whole.bram / PART.block_rams,
    ]
    assert max(block.delay_ns for block in blocks) <= MOST_NS, "\n".join(rows)
    assert max(shares) <= MOST_PERCENT, shares
    page = PAGE.read_text()
    assert [row for row in rows if row not in page] == [], "\n".join(rows)


@pytest.mark.full
@needs("yosys")
@pytest.mark.parametrize("loader", [Loader.HOST, Loader.ICAPE2])
def test_size_and_path_of_loads(loader: Loader, monkeypatch: pytest.MonkeyPatch) -> None:
    design = of_digits()
    blocks = measured(replace(design, loader=loader), monkeypatch)
    size, longest = resources.total(blocks), max(each.delay_ns for each in blocks)
    estimate = subsystem_resources(replace(design, loader=loader))
    more = (
        estimate.lut - subsystem_resources(design).lut,
        estimate.ff - subsystem_resources(design).ff,
    )
    rows = [
        f"| `{loader.value}` | {size.lut:,} LUT, {size.ff:,} FF | {more[0]}, {more[1]} | "
        f"{longest:.2f} |"
    ]
    without = resources.total(measured(design, monkeypatch))
    assert (size.lut - without.lut, size.ff - without.ff) == more
    own = [each for each in blocks if entity_of(each.name) == "bitstream_loader"]
    assert bool(own) == (loader == Loader.ICAPE2)
    rows += [row_of("bitstream_loader", own)] if own else []
    assert [row for row in rows if row not in PAGE.read_text()] == [], "\n".join(rows)
