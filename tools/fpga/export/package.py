"""Files of a bitstream's export: hardware, scripts, testbench, vectors, and the page about them."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from merp.cosim.phases.audit.vectors import write_vectors
from merp.cosim.phases.expectation import Expectation
from merp.cosim.synthesis.analysis import analyse
from merp.hdl.conversion.convert import Export, convert
from merp.models.base.names import identifier
from merp.models.base.register_map import RegisterMap
from merp.models.base.storage import StoredFormat
from merp.models.fpga.order_codes import FAMILIES, FlowTarget
from merp.models.network.network import Layer
from merp.testbenches.axi.axi_top import axi_top
from merp.testbenches.top.top import Top
from merp.tools.common.data import DATA
from merp.tools.common.shipped import shipped_names
from merp.tools.common.stored import bits_in_words, format_facts, format_of_facts
from merp.tools.common.time_spent import TimeSpent
from merp.tools.fpga.bitstream.bitstream import Bitstream
from merp.tools.fpga.bitstream.register_files import c_header
from merp.tools.fpga.export.dma import LARGEST_TRANSFER
from merp.tools.fpga.export.exported import exported_of
from merp.tools.fpga.export.facts import layer_facts, register_rows
from merp.tools.fpga.export.handles import handshakes, memories
from merp.tools.fpga.export.languages import Dialect
from merp.tools.fpga.export.ports import port_values
from merp.tools.fpga.export.streams import stream_words
from merp.tools.fpga.export.vectors import small_pass, whole_pass

OWN_NAMES = (
    "build.tcl", "ip.tcl", "out_of_context.tcl", "attributes.tcl", "clock.xdc", "README.md",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Frame:
    """The values that all packages have.

    Attributes:
        name: name of the folder.
        entity: name of the top.
        title: title, in one line.
        core: name in FuseSoC.
        target: the FPGA.
        clock_mhz: clock of the constraint.
        dialect: the language.
        passes: number of small passes with a folder of vectors each. 0: the vectors are one pass in
            a single folder.
    """

    name: str
    entity: str
    title: str
    core: tuple[str, ...]
    target: FlowTarget
    clock_mhz: float
    dialect: Dialect
    passes: int = 0

    @property
    def wrapper(self) -> str:
        """The file of the top."""
        return f"hdl/{self.entity}{self.dialect.suffix}"

    @property
    def bench(self) -> list[str]:
        """The files of the testbench, in compilation order."""
        return [f"sim/{name}" for name in self.dialect.bench]

    def facts(self, engine: Top, export: Export, registers: RegisterMap) -> dict[str, Any]:
        """Return facts about the hardware, for programs."""
        return {
            "name": self.name,
            "title": self.title,
            "top": self.entity,
            "language": self.dialect.name,
            "versions": {name: version(name) for name in ("merp", "myhdl")},
            "part": self.target.order_code,
            "clock_mhz": self.clock_mhz,
            "parameters": {name: repr(value) for name, value in sorted(engine.parameters.items())},
            "instances": dict(sorted(export.instances.items())),
            "compile_order": [
                *(f"hdl/{file.name}" for file in export.files),
                self.wrapper,
                *self.bench,
            ],
            "registers": {each.name: each.offset for each in registers.registers},
            "settings": [pin.name for pin in engine.ports.config],
        }

    def write(
        self,
        engine: Top,
        export: Export,
        registers: RegisterMap,
        values: Mapping[str, Any],
        spent: TimeSpent,
        directory: Path,
    ) -> None:
        """Write wrapper, testbench, scripts and page. Hardware and vectors must exist already.

        Args:
            engine: the top behind its shell, exported.
            export: the export of the shell.
            registers: the registers of the shell.
            values: values of this package alone.
            spent: where to report the times.
            directory: the folder of the package.

        Raises:
            RuntimeError: the language's simulator is installed and rejects the hardware.
        """
        everything = dict(values)
        everything |= port_values(export, engine.ports, registers, self.clock_mhz, self.dialect)
        everything |= {
            "passes": self.passes,
            "version": version("merp"),
            "core": ":".join(("merp", *self.core, version("merp"))),
            "device": self.target.part,
            "families": [family.name for family in FAMILIES],
            "hdl": self.dialect.title,
            "wrapper": self.wrapper,
            "bench": self.bench,
            "register_rows": register_rows(registers),
            "memories": memories(export.files),
            "handshakes": handshakes(engine.ports),
            "spare": export.spare,
            "waivers": self.dialect.waivers,
            "answers": _answers(engine, values.get("answers", {})),
        }
        small = (path for path in (directory / "vectors" / "small").rglob("*") if path.is_file())
        everything["small"] = sorted(path.relative_to(directory).as_posix() for path in small)
        for template, target in self._targets():
            path = directory / target
            path.parent.mkdir(exist_ok=True)
            path.write_text(render(template, everything), encoding="utf-8")
        with spent.on("analysis by the simulator"):
            order = values["compile_order"]
            analyse(self.dialect.name, "bench", [directory / name for name in order])

    def _targets(self) -> Iterator[tuple[str, str]]:
        """Yield templates and their target files."""
        yield f"wrapper{self.dialect.suffix}", self.wrapper
        for name in (*self.dialect.bench, "bench.prj"):
            yield name, f"sim/{name}"
        yield "test_package.py", f"sim/test_{self.entity}.py"
        yield "fusesoc.core", f"{self.entity}.core"
        yield from ((name, name) for name in self.dialect.waivers)
        yield from ((name, name) for name in OWN_NAMES)


def _answers(
    engine: Top, answers: Mapping[str, Mapping[str, Any]]
) -> dict[str, tuple[int, int, int]]:
    """Return inputs that follow an output: its number (from 1), its words, their words."""
    outputs = [pin.name for pin in engine.ports.outputs]
    return {
        name: (1 + outputs.index(each["stream"]), each["words"], each["given"])
        for name, each in answers.items()
    }


@dataclass(frozen=True, kw_only=True)
class PackageRequest:
    """A package to export.

    Attributes:
        bitstream: the design and its phase.
        layer: the layer whose vectors on the photograph are written in addition to the small
            vectors, or None.
        images: number of images of a run, for register values and the photograph's vectors.
        target: the FPGA.
        clock_mhz: clock of the constraint.
        dialect: the language.
    """

    bitstream: Bitstream
    layer: Layer | None
    images: int
    target: FlowTarget
    clock_mhz: float
    dialect: Dialect

    @property
    def frame(self) -> Frame:
        """The values of the package that all packages have."""
        bitstream = self.bitstream
        return Frame(
            name=bitstream.name,
            entity=bitstream.entity,
            title=exported_of(bitstream.network).title(bitstream),
            core=(
                identifier(bitstream.network.name),
                identifier(bitstream.design, bitstream.phase.name),
            ),
            target=self.target,
            clock_mhz=self.clock_mhz,
            dialect=self.dialect,
        )


def write_package(package: PackageRequest, spent: TimeSpent, directory: Path) -> dict[str, Any]:
    """Write every file except the manifest; return the manifest's contents except the hashes.

    ``spent`` receives the times of the parts.

    Raises:
        RuntimeError: GHDL or Verilator is installed and rejects the exported files.
    """
    bitstream, dialect = package.bitstream, package.dialect
    engine = bitstream.phase.top()
    shell = axi_top(engine)
    registers = shell.args["registers"]
    prefix = f"{bitstream.entity}_"
    export = convert(shell.function, shell.args, dialect.name, directory / "hdl", prefix=prefix)
    with spent.on("golden"):
        passes = {"small": small_pass(bitstream)}
        if package.layer is not None:
            name = identifier(package.layer.name)
            passes[name] = whole_pass(bitstream, package.layer, package.images)
    compared = {
        name: write_vectors(directory / "vectors" / name, given, engine.ports, registers)
        for name, given in passes.items()
    }
    _write_headers(bitstream, package.images, registers, directory / "software")
    facts = package.frame.facts(engine, export, registers) | {
        "design": bitstream.design,
        "phase": bitstream.phase.name,
        "format": asdict(bitstream.network.fmt),
        "layers": [layer_facts(bitstream, each, package.images) for each in bitstream.layers],
        "streams": _streams(bitstream, engine, passes["small"].expected),
        "vectors": {name: {"words_compared": count} for name, count in compared.items()},
    }
    values = facts | {
        "stream_words": stream_words(engine),
        "command": _command(package),
        "layer": package.layer and package.layer.name,
        "images": package.images,
        "largest_transfer": LARGEST_TRANSFER,
        "stored": {
            name: bits_in_words(format_of_facts(each["format"]))
            for name, each in facts["streams"].items()
            if "format" in each
        },
    }
    package.frame.write(engine, export, registers, values, spent, directory)
    return facts


def _streams(bitstream: Bitstream, engine: Top, expected: Expectation) -> dict[str, dict[str, Any]]:
    """Return each stream's word width in bits, words per beat, and counter.

    If the numbers of a stream are stored in another format than the arithmetic's, the result
    includes this format.
    """
    ports = {port.stream: name for name, port in expected.ports.items()}
    stored = _stored(bitstream, ports)
    return {
        pin.name: {"port": ports[pin.name], "width": pin.element}
        | ({"lanes": pin.lanes} if pin.lanes > 1 else {})
        | ({"format": format_facts(stored[pin.name])} if pin.name in stored else {})
        for pin in engine.ports.streams
    }


def _stored(bitstream: Bitstream, ports: Mapping[str, str]) -> dict[str, StoredFormat]:
    """Return the formats of streams, by stream, that differ from the arithmetic's format."""
    machine = exported_of(bitstream.network)
    found = {stream: machine.stored(bitstream, port) for stream, port in ports.items()}
    return {stream: each for stream, each in found.items() if each is not None}


def _command(package: PackageRequest) -> str | None:
    """Return the command that runs the photograph's pass in Verilator."""
    bitstream, layer = package.bitstream, package.layer
    if layer is None:
        return None
    name = bitstream.network.name
    words = ["merp", "simulate", name if name in shipped_names() else "NETWORK.toml"]
    words += ["--layer", layer.name, "--phase", bitstream.phase.name, "--engine", "verilator"]
    words += ["--state"] if bitstream.state else []
    words += ["--delta-at", "pooled"] if bitstream.before else []
    words += ["--images", str(package.images)] if package.images > 1 else []
    return shlex.join(words)


def _write_headers(
    bitstream: Bitstream, images: int, registers: RegisterMap, directory: Path
) -> None:
    """Write a C header per layer.

    Its names contain the bitstream, so that headers can be combined.
    """
    for layer in bitstream.layers:
        name = identifier(bitstream.entity, layer.name)
        values = bitstream.phase.registers(layer, images)
        said = f"{layer.name}, {images} image(s)"
        write_header(directory, name, registers, values, said)


def write_header(
    directory: Path, name: str, registers: RegisterMap, values: Mapping[str, int], said: str
) -> None:
    """Write the C header of a register map called ``name``; ``said`` describes ``values``."""
    write_software(directory, f"{name}.h", c_header(replace(registers, top=name), values, said))


def write_software(directory: Path, name: str, text: str) -> None:
    """Write a file for the programmers of the hardware."""
    directory.mkdir(exist_ok=True)
    (directory / name).write_text(text, encoding="ascii")


def render(template: str, values: Mapping[str, Any]) -> str:
    """Return a template with values inserted."""
    environment = Environment(
        loader=FileSystemLoader(DATA / "export"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template(template).render(values)
