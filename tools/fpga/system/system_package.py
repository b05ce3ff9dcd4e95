"""The package of an accelerator: hardware in two languages, registers, lists, a page."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from merp.cosim.board.system import system_of
from merp.cosim.synthesis.analysis import analyse
from merp.hdl.conversion.convert import Export, Language, convert
from merp.models.base.register_map import RegisterMap
from merp.models.fpga.resources import KINDS, TITLES
from merp.models.golden.training import RATE
from merp.models.network.network import Network
from merp.tools.common.output import Output
from merp.tools.common.owned import MANIFEST, own
from merp.tools.common.progress import Progress
from merp.tools.common.rows import Rows
from merp.tools.fpga.export.facts import register_rows
from merp.tools.fpga.export.package import render
from merp.tools.fpga.system.driver import UPDATES, write_driver
from merp.tools.fpga.system.litex_work import Made, check_target, make_target
from merp.tools.fpga.system.planned_system import PlannedStep, PlannedSystem, planned_step
from merp.tools.fpga.system.request import SystemFields, SystemKeywords
from merp.tools.fpga.system.vivado import (
    block_design,
    flash_values,
    vivado_values,
    write_flash,
    write_vivado,
)

FOLDERS: Final[Mapping[Language, str]] = {"vhdl": "hdl", "verilog": "verilog"}
"""The folder of each language."""

TEMPLATE, STEP_TEMPLATE, PAGE = "system.md", "system_step.md", "README.md"
LAYOUT, REGISTERS, LISTS, STEP = "layout.json", "registers.json", "lists.json", "step.json"

WAIVER: Final = "-Wno-SYMRSVDWORD"
"""Verilator warns that ``interrupt`` is also a word of C++."""

PORTS: Final = {
    "clk": "clock",
    "rst": "synchronous reset, active high; reset memory as well",
    "s_axi": "AXI4-Lite access of the host to its registers, in 4 KiB",
    "m_axi": "AXI4 port to memory",
    "icap": "ports of the primitive ICAPE2, through which the accelerator loads bitstreams",
    "interrupt": "high from the end of a list until software writes 1 to `interrupt`",
    "moves": "for a monitor: elements that move in this cycle, a byte for each stream, engine by "
    "engine, inputs before outputs. Leave it open",
    "begins": "for a monitor: a start is written to engine i (bit i). Leave it open",
    "ends": "for a monitor: the interrupt of engine i (bit i). Leave it open",
}
"""Meaning of each port of the top, or of each bus by its prefix."""


class SystemPackage(Rows):
    """One row for each engine of a written package, by bitstreams, in the order of their numbers.

    The keys of a row are ``engine``, ``bitstream``, ``number``, ``layers``, ``phases``, ``passes``
    of a step, and ``streams``: the number of the mover of each stream.

    Attributes:
        paths: every written file.
    """

    def __init__(
        self, step: PlannedStep, output: Path, manifest: Mapping[str, Any], litex: Made | None
    ) -> None:
        self._step, self._output, self._litex = step, output, litex
        names = (*manifest["files"], MANIFEST)
        self.paths: tuple[Path, ...] = tuple(output / name for name in names)
        super().__init__(
            f"System of {described(step)}", [row for each in step.systems for row in each.engines()]
        )

    def json(self) -> dict[str, Any]:
        """Return the answer of ``merp system --json``."""
        step = self._step
        return {
            **request_facts(step),
            "directory": str(self._output),
            "part": step.board.part.name,
            "bitstreams": [
                {
                    "bitstream": each.name,
                    "directory": str(self._output / folder_of(step, each)),
                    "port": each.port,
                    "resources": each.resources and each.resources.figures(),
                }
                for each in step.systems
            ],
            "engines": [dict(row) for row in self],
            "movers": [row for each in step.systems for row in each.movers],
            "memory": {"first": step.memory.layout.first, "end": step.end, **step.bytes},
            "lists": [{**row, "passes": len(row["passes"])} for row in step.list_rows()],
            "litex": self._litex and self._litex.json(),
            "files": [str(path) for path in self.paths],
        }


def described(step: PlannedStep) -> str:
    """Return network and images in words."""
    images = step.memory.json()["images"]
    return f"{step.network.name}, {images:,} image{'s' if images > 1 else ''}"


def request_facts(step: PlannedStep) -> dict[str, Any]:
    """Return the request, as in the answer of ``merp layout --json``."""
    keys = ("network", "machine", "images", "momentum", "board")
    asked = step.memory.json()
    return {key: asked[key] for key in keys}


def folder_of(step: PlannedStep, system: PlannedSystem) -> str:
    """Return the folder of a bitstream in the package; a single one has the package for itself."""
    return system.name if len(step.systems) > 1 else "."


@dataclass
class Writing:
    """Write the files of a package.

    Attributes:
        step: the accelerators.
        asked: the request.
        progress: called with the progress.
        litex: the LiteX target, if the package has one.
    """

    step: PlannedStep
    asked: SystemFields
    progress: Progress
    litex: Made | None = None

    def fill(self, folder: Path) -> dict[str, Any]:
        """Write every file except the manifest; return its contents except the hashes.

        Raises:
            RuntimeError: GHDL or Verilator is installed and rejects the hardware.
        """
        step = self.step
        if len(step.systems) == 1:
            return self._fill(folder, step.systems[0])
        about = request_facts(step)
        for each in step.systems:
            own_folder = folder / folder_of(step, each)
            own_folder.mkdir()
            own(own_folder, self._fill(own_folder, each))
        facts = {
            "name": folder.name,
            "title": f"Accelerators of a training step of {described(step)}",
            **about,
            "part": step.board.part.name,
            "bitstreams": [folder_of(step, each) for each in step.systems],
        }
        rows = step.list_rows()
        _put(folder / STEP, {**about, "kept": step.host.kept, **loads_of(step)})
        values = {
            **flash_values(step),
            "version": version("merp"),
            "loaded": loads_of(step)["bitstreams"],
            "lists": [{**row, "load": step.loading.get(row["name"])} for row in rows],
            "host": step.host,
            "systems": step.systems,
            "resources": [TITLES[kind] for kind in KINDS if step.systems[0].resources],
        }
        write_flash(folder, facts | values)
        (folder / PAGE).write_text(render(STEP_TEMPLATE, facts | values), encoding="utf-8")
        return facts

    def _fill(self, folder: Path, planned: PlannedSystem) -> dict[str, Any]:
        """Write the files of a bitstream except the manifest; return the contents of that."""
        step = self.step
        exports = {language: self._converted(planned, language, folder) for language in FOLDERS}
        top = exports["vhdl"].top
        lists = [
            {**row, "file": f"lists/{row['name']}.bin"}
            for row in step.list_rows()
            if row["bitstream"] == planned.name
        ]
        for row in lists:
            path = folder / row["file"]
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(planned.lists[row["name"]].words.astype("<u4").tobytes())
        about = request_facts(step)
        write_driver(folder, step, planned, described(step))
        _put(folder / LAYOUT, step.memory.json())
        _put(folder / REGISTERS, {**about, "top": top, **registers_of(planned)})
        _put(folder / LISTS, {**about, "kept": step.host.kept, "lists": lists})
        facts = {
            "name": folder.name,
            "title": f"Accelerator of a training step of {described(step)}",
            "top": top,
            **about,
            "part": step.board.part.name,
            "resources": planned.resources and planned.resources.figures(),
            "versions": {name: version(name) for name in ("merp", "myhdl")},
            "port": planned.port,
            "compile_order": {
                language: [f"{FOLDERS[language]}/{file.name}" for file in found.files]
                for language, found in exports.items()
            },
        }  # fmt: skip
        self.litex = make_target(
            folder, step, facts, described(step), self.asked, self.progress
        )  # fmt: skip
        values = facts | {
            "version": version("merp"),
            "whole": len(step.systems) == 1,
            "pins": exports["vhdl"].ports,
            "ports": _ports(exports["vhdl"]),
            "arrays": [dict(row) for row in step.memory],
            "end": step.memory.layout.end,
            "engines": planned.engines(),
            "movers": planned.movers,
            "lists": lists,
            "host": step.host,
            "register_rows": register_rows(planned.system.host),
            "rate": RATE,
            "updates": _updates(planned),
            "sources": facts["compile_order"]["verilog"],
            **vivado_values(step, planned),
            "litex": self.litex and self.litex.json(),
        }
        write_vivado(folder, values)
        (folder / PAGE).write_text(render(TEMPLATE, values), encoding="utf-8")
        return facts

    def _converted(self, planned: PlannedSystem, language: Language, folder: Path) -> Export:
        """Convert the accelerator, and let a simulator of the language read the files.

        Raises:
            RuntimeError: GHDL or Verilator is installed and rejects the files.
        """
        of = f"{planned.name} " if len(self.step.systems) > 1 else ""
        self.progress.say(f"converting {of}to {language}")
        # A conversion connects the signals of an accelerator, so each takes its own.
        design = planned.system.design
        system = system_of(planned.plan.tops, design.port, design.loader)
        found = convert(system.function, system.args, language, folder / FOLDERS[language])
        with self.progress.spent.on("analysis by the simulator"):
            analyse(language, found.top, found.files, WAIVER)
        return found


def loads_of(step: PlannedStep) -> dict[str, Any]:
    """Return the bitstreams of a step, and its lists with their loads, as in ``step.json``."""
    assert step.loads is not None
    flash = step.loads.flash
    return {
        "loader": step.loads.loader.value,
        "bitstreams": [
            {
                "bitstream": each.name,
                "engines": list(each.plan.tops),
                **(flash[each.name].json() if flash else {}),
            }
            for each in step.systems
        ],
        "lists": [
            {
                **{key: row[key] for key in ("name", "bitstream", "host")},
                "load": step.loading.get(row["name"]),
            }
            for row in step.list_rows()
        ],
    }


def registers_of(planned: PlannedSystem) -> dict[str, Any]:
    """Return the registers of the host, and those of each engine with their indexes in lists."""
    return {
        "host": _registers(planned.system.host),
        "engines": [
            {
                "engine": engine.name,
                "number": engine.number,
                "first_register": engine.first_register,
                "recorded": ["status", *_names(engine.registers)[engine.registers.first_counter:]],
                "registers": _registers(engine.registers),
            }
            for engine in planned.system.engines
        ],
    }  # fmt: skip


def _names(registers: RegisterMap) -> list[str]:
    return [each.name for each in registers.registers]


def _registers(registers: RegisterMap) -> list[dict[str, Any]]:
    return [asdict(each) for each in registers.registers]


def _put(path: Path, content: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(content, indent=2) + "\n", encoding="ascii")


def _ports(export: Export) -> list[dict[str, Any]]:
    """Return the ports of the top, the pins of a bus together."""
    found: dict[str, dict[str, Any]] = {}
    for port in export.ports:
        bus = next((each for each in PORTS if port.name.startswith(f"{each}_")), port.name)
        row = {"name": bus, "pins": [], "meaning": PORTS[bus]}
        found.setdefault(bus, row)["pins"].append((port.name, port.is_output, port.width or 1))
    return list(found.values())


def _updates(planned: PlannedSystem) -> list[dict[str, str]]:
    """Return the settings that a driver may change from step to step, with their meanings."""
    meanings = {
        each.name: each.meaning
        for engine in planned.system.engines
        for each in engine.registers.registers
    }
    names = {name for each in planned.lists.values() for row in each.settings for name in row}
    return [{"name": name, "meaning": meanings[name]} for name in UPDATES if name in names]


def write_system(
    network: Network, asked: SystemFields, option: str, output: Path, progress: Progress
) -> SystemPackage:
    """Write the package of the accelerators of a step.

    Args:
        network: the network.
        asked: images, momentum and board.
        option: the option of ``output``, for messages.
        output: the folder of the package.
        progress: called with the progress.

    Raises:
        BadInput: as in ``planned_step``, ``block_design`` and ``check_target``, or the folder
            cannot be written.
        CheckFailed: as in ``make_target``.
        RuntimeError: GHDL or Verilator is installed and rejects the hardware.
    """
    step = planned_step(network, asked)
    block_design(step.board)  # a refusal comes before any work
    check_target(step, asked)
    writing = Writing(step, asked, progress)
    with Output.of_package(option, output) as place:
        with progress.spent.on("converting and writing"):
            manifest = place.add_folder(place.name, writing.fill)
            place.commit()
    return SystemPackage(step, output, manifest, writing.litex)


def system(network: Network, asked: SystemKeywords) -> SystemPackage:
    """Write the package that Python requests.

    Raises:
        BadInput, CheckFailed, RuntimeError: as in ``write_system``.
    """
    return write_system(network, asked, "output", Path(asked.output), Progress(asked.progress))
