"""Files of one bitstream's export: hardware, scripts, bench, vectors, the page about them."""

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
from merp.tools.bitstream.bitstream import Bitstream
from merp.tools.bitstream.register_files import c_header
from merp.tools.common.data import DATA
from merp.tools.common.shipped import shipped_names
from merp.tools.common.stored import bits_in_words, format_facts, format_of_facts
from merp.tools.common.time_spent import TimeSpent
from merp.tools.export.dma import LARGEST_TRANSFER
from merp.tools.export.exported import exported_of
from merp.tools.export.facts import layer_facts, register_rows
from merp.tools.export.handles import handshakes, memories
from merp.tools.export.languages import Dialect
from merp.tools.export.ports import port_values
from merp.tools.export.streams import stream_words
from merp.tools.export.vectors import small_pass, whole_pass

OWN_NAMES = (
    "build.tcl", "ip.tcl", "out_of_context.tcl", "attributes.tcl", "clock.xdc", "README.md",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Frame:
    """What packages have in common, whatever they hold.

    Attributes:
        name: as a folder. entity: of the top. title: one line. core: as FuseSoC names it.
        target: the FPGA. clock_mhz: of the constraint.
        dialect: the language. passes: of the small vectors, each in a folder of its own; 0: they
            are one pass, and the folder is its.
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
        """The files of the bench, in the order of compilation."""
        return [f"sim/{name}" for name in self.dialect.bench]

    def facts(self, engine: Top, export: Export, registers: RegisterMap) -> dict[str, Any]:
        """What a program may want to know of the hardware."""
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
        """Write wrapper, bench, scripts and page, where hardware and vectors are already.

        Args:
            engine: the top behind its shell, exported. values: of what is in the package alone.

        Raises:
            RuntimeError: the language's simulator, where it is installed, refuses the hardware.
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
        """Templates, and the files that they become."""
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
    """Of inputs whose words come when others have left: the output, from 1, its words, theirs."""
    outputs = [pin.name for pin in engine.ports.outputs]
    return {
        name: (1 + outputs.index(each["stream"]), each["words"], each["given"])
        for name, each in answers.items()
    }


@dataclass(frozen=True, kw_only=True)
class PackageRequest:
    """What is to be exported.

    Attributes:
        bitstream: the design and its phase.
        layer: whose vectors on the photograph are written beside the small ones, or None.
        images: of a run, for register values and the photograph's vectors.
        target: the FPGA. clock_mhz: of the constraint.
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
        """What it has in common with others."""
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
    """Write every file but the manifest; return what the manifest says beside the hashes.

    ``spent`` is told where the time goes.

    Raises:
        RuntimeError: GHDL or Verilator, where it is installed, refuses what was exported.
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
    """Width of each stream's words in bits, words in a beat, and the counter that counts them.

    Where its numbers are stored in another format than that of the arithmetic, that one, too.
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
    """Formats of the streams, given by their ports, that are not that of the arithmetic."""
    machine = exported_of(bitstream.network)
    found = {stream: machine.stored(bitstream, port) for stream, port in ports.items()}
    return {stream: each for stream, each in found.items() if each is not None}


def _command(package: PackageRequest) -> str | None:
    """The command that runs the photograph's pass in Verilator."""
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
    """Write a C header per layer; names in it are the bitstream's, so that several go together."""
    for layer in bitstream.layers:
        name = identifier(bitstream.entity, layer.name)
        values = bitstream.phase.registers(layer, images)
        said = f"{layer.name}, {images} image(s)"
        write_header(directory, name, registers, values, said)


def write_header(
    directory: Path, name: str, registers: RegisterMap, values: Mapping[str, int], said: str
) -> None:
    """Write the C header of a register map called ``name``, with ``values`` of what is ``said``."""
    write_software(directory, f"{name}.h", c_header(replace(registers, top=name), values, said))


def write_software(directory: Path, name: str, text: str) -> None:
    """Write a file for those who program the hardware."""
    directory.mkdir(exist_ok=True)
    (directory / name).write_text(text, encoding="ascii")


def render(template: str, values: Mapping[str, Any]) -> str:
    """Return a template, filled in."""
    environment = Environment(
        loader=FileSystemLoader(DATA / "export"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template(template).render(values)
