"""Random lists on the subsystem: memory equals the golden list's, whatever disturbs them."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from drawn_lists import DESIGNS, DESIGNS_THAT_LOAD, LOADING, UNITS
from list_session import ListSession
from lists_in_cocotb import FOLDER, JOB, RESULT

from block_bench import BlockBench
from merp.cosim.engines.cocotb_run import CocotbTests, simulator
from merp.cosim.engines.simulators import NO_REWRITING
from merp.hdl.axi.axi_lite import AxiLite
from merp.hdl.base.signals import Bundles, Stream, bits
from merp.hdl.conversion.convert import Export, convert
from merp.hdl.memory.axi4 import Axi4
from merp.hdl.memory.bitstream_loader import LoaderPorts
from merp.hdl.memory.memory_subsystem import EnginePorts, memory_subsystem
from merp.models.memory.params.subsystem import SubsystemDesign

EVERY = DESIGNS | DESIGNS_THAT_LOAD
LISTS = 50


def bench(design: SubsystemDesign) -> BlockBench:
    """The bench of a subsystem; the engines see which bytes of ``source`` count."""
    movers = dict((*design.readers, *design.writers))
    streams = {name: Stream(mover.word_bits) for name, mover in movers.items()}
    streams["source"].keep = bits(movers["source"].word_bytes)
    return BlockBench(
        memory_subsystem,
        "clk rst interrupt",
        s_axi=AxiLite(),
        streams=Bundles(streams),
        engines=EnginePorts(
            engines=Bundles({name: AxiLite() for name in UNITS}), interrupts=bits(len(UNITS))
        ),
        m_axi=Axi4(design.port),
        loader=LoaderPorts(design),
        registers=design.registers("1.2.3"),
        design=design,
    )


@dataclass(frozen=True)
class Hardware:
    """The Verilog of a subsystem, in the folder of its simulations."""

    name: str
    export: Export
    folder: Path

    def play(self, seed: str) -> dict[str, Any]:
        """Play the lists of a seed in Verilator; return the cycles, and how many lists ended how.

        Only the first call compiles the hardware.
        """
        run, _ = simulator("verilator")
        job = {
            "design": self.name, "seed": seed, "lists": LISTS,
            "inputs": [name for name in self.export.inputs if name != "clk"],
            "outputs": self.export.outputs,
        }  # fmt: skip
        (self.folder / JOB).write_text(json.dumps(job), encoding="ascii")
        environment = {FOLDER: str(self.folder.resolve()), **NO_REWRITING}
        run(self.export, self.folder, CocotbTests("lists_in_cocotb", environment))
        return json.loads((self.folder / RESULT).read_text(encoding="ascii"))


@pytest.fixture(scope="module")
def hardware(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Hardware]:
    """Export a design by its name, once."""

    @cache
    def exported(name: str) -> Hardware:
        folder, made = tmp_path_factory.mktemp("lists"), bench(EVERY[name])
        return Hardware(name, convert(made.block, made.args, "verilog", folder), folder)

    return exported


@pytest.mark.parametrize("name", DESIGNS)
def test_some_random_lists(name: str) -> None:
    session = ListSession(DESIGNS[name], f"{name} in MyHDL", LISTS)
    bench(DESIGNS[name]).run(session.drive, 2000)
    assert session.played


SEEDS = [f"{name} {number}" for number, name in zip(range(20), cycle(DESIGNS), strict=False)]


@pytest.mark.full
@pytest.mark.verilator
@pytest.mark.parametrize("seed", SEEDS)
def test_a_thousand_random_lists(seed: str, hardware: Callable[[str], Hardware]) -> None:
    name, _ = seed.split()
    result = hardware(name).play(seed)
    print(f"{result['cycles']} cycles: {result['counts']}")
    assert sum(result["counts"].values()) == LISTS
    assert result["counts"].keys() >= {"none", "aborted", "memory"}


def test_some_random_loads() -> None:
    design = EVERY[LOADING]
    session = ListSession(design, "loads in MyHDL", 20)
    trace = bench(design).run(session.drive, 7000)
    assert session.played == 20, f"{session.played} lists in {len(trace.rows)} cycles"
    assert session.counts["load"] > 4


@pytest.mark.full
@pytest.mark.verilator
@pytest.mark.parametrize("number", range(20))
def test_a_thousand_random_loads(number: int, hardware: Callable[[str], Hardware]) -> None:
    """Exactly the planned loads in their order, none while memory owes a burst."""
    result = hardware(LOADING).play(f"loads {number}")
    print(f"{result['cycles']} cycles: {result['counts']}")
    loads = result["counts"].pop("load")
    assert sum(result["counts"].values()) == LISTS
    assert result["counts"].keys() >= {"none", "aborted", "memory"}
    assert loads >= 5
