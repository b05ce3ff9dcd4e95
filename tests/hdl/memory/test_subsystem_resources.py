"""Size and paths of the memory subsystem of a trained network are within limits, and on the page.

The page has a row for each entity: its instances, their sizes in sum, and its longest path.
"""

from collections import defaultdict
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
from merp.hdl.memory.memory_subsystem import memory_subsystem
from merp.models.fpga.parts import PARTS
from merp.models.memory.params.subsystem import SubsystemDesign
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
    arguments |= {"streams": ports_of(design), "engines": Bundles(engines)}
    arguments |= {"interrupts": bits(design.engines), "registers": design.registers("1.2.3")}
    arguments |= {"loader": LoaderPorts(design)}
    return SimpleNamespace(function=memory_subsystem, args=arguments)


def entity_of(name: str) -> str:
    """The entity of a block, whose name may end with parameters."""
    return max((each for each in APART if f"{name}_".startswith(f"{each}_")), key=len)


@pytest.mark.full
@needs("yosys")
def test_size_and_paths_of_the_subsystem_of_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resources, "all_blocks", lambda: Blocks(apart=APART))
    plan = machine_step(open_network("digits"))(open_network("digits"), 1, momentum=False)
    system, _ = step_system(plan, Dram(data_bits=16))
    blocks = resources.measure(subsystem_top(system.design), whole=False)
    grouped = defaultdict(list)
    for block in blocks:
        grouped[entity_of(block.name)].append(block)
    rows = []
    for entity, same in grouped.items():
        count, size = sum(each.count for each in same), resources.total(same)
        longest = max(each.delay_ns for each in same)
        rows.append(
            f"| {entity} | {count} | {size.lut:,} | {size.ff:,} | {size.bram:.1f} | {longest:.2f} |"
        )
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
