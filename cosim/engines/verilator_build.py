"""Build a Verilated top with the C++ harness, once per elaboration; cache the executables."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from pathlib import Path

import merp.testbenches.top
from merp.cosim.engines.programs.build_cache import Entry
from merp.cosim.engines.programs.children import run
from merp.cosim.engines.programs.scratch import scratch
from merp.cosim.engines.simulators import Verilator
from merp.cosim.engines.verilator_make import call as _call
from merp.cosim.engines.verilator_make import compile_model as _compile
from merp.cosim.engines.verilator_runtime import RUNTIME_FLAGS, Runtime, model_flags
from merp.models.base.errors import BadInput
from merp.models.base.given import mention
from merp.testbenches.top.player import PROGRESS_CYCLES
from merp.testbenches.top.run import RESET_CYCLES, TAIL_CYCLES
from merp.testbenches.top.top import Pin, TopPorts
from merp.testbenches.top.wave import Wave

EXECUTABLE = "simulation"
HARNESS = "harness.cpp", "harness.h"
RUNTIME_RULE = """include {}
runtime: $(VK_GLOBAL_OBJS) $(VK_USER_OBJS)
"""
CONTROL = {"clk": "clk", "rst": "rst", "start": "start", "done": "status_done"}
"""Pins, under the names of the harness."""
FST = "--trace-fst"
LIBRARIES = ("-llz4", "-lz")
USES_LIBRARIES = """#include <lz4.h>
#include <zlib.h>
int main() { return LZ4_compressBound(1) && compressBound(1) ? 0 : 1; }
"""
FLAGS = ("--cc", "--exe", "-O3", "--x-assign", "fast", "--x-initial", "fast", "--noassert",
         "-Wno-lint", "-Wno-style", "--output-split", "100000", "--inline-mult", "1")  # fmt: skip
"""A model smaller than the split is one C++ unit. It needs no precompiled headers, which take 4 s.
"""
TWIN_FLAGS = "-std=c++20", "-O3"
"""Optimisation of the C++ models, which do most of the work if they replace the arrays."""
TWINS_FROM = 10  # version of g++
PORTS_ALONE = ("--trace-depth", "1")
EVERY_SIGNAL = ("--trace-max-width", "1000000", "--trace-max-array", "1")  # but no memories


@dataclass(frozen=True)
class Recipe:
    """How to build an executable from Verilog.

    Attributes:
        verilator: the simulator.
        trace: result of ``trace_flags``.
        level: optimisation level.
    """

    verilator: Verilator
    trace: tuple[str, ...]
    level: str

    @cached_property
    def sha(self) -> str:
        """Fingerprint of all inputs of a simulation except the Verilog and the ports of its top.

        The optimisation level is excluded, because it only changes the speed.
        """
        flags = *FLAGS, *self.trace, *RUNTIME_FLAGS
        return _sha((self.verilator.version, *flags, *self._harness.values()))

    @cached_property
    def _harness(self) -> dict[str, str]:
        here = files(merp.testbenches.top)
        return {name: here.joinpath(name).read_text(encoding="ascii") for name in HARNESS}

    def build(
        self, top: str, sources: Sequence[Path], ports: TopPorts, units: Mapping[str, str]
    ) -> Entry:
        """Return the cache entry with the executable for these Verilog ``sources``.

        The key begins with the ``elaboration_sha``; the optimisation level follows. ``units`` holds
        the C++ that the Verilog calls, by name.

        Raises:
            BadInput: the cache cannot be used, FST needs a library that is missing, or g++ is too
                old for the units.
            RuntimeError: Verilator or the C++ compiler rejects the sources.
            ValueError: a port, or an element of a stream, is wider than 64 bits.
        """
        tables = port_tables(top, ports)
        texts = (
            text for source in sources for text in (source.name, source.read_text(encoding="utf-8"))
        )
        twins = (*TWIN_FLAGS, *units.values()) if units else ()
        entry = Entry("verilator", f"{_sha((self.sha, tables, *texts, *twins))}-{self.level}")
        entry.kept(lambda folder: self._make(folder, top, sources, tables, units))
        return entry

    def _make(
        self, folder: Path, top: str, sources: Sequence[Path], tables: str, units: Mapping[str, str]
    ) -> None:
        if FST in self.trace:
            _check_libraries()
        if units:
            _check_compiler()
        work = folder / "work"
        objects = work / "obj"
        objects.mkdir(parents=True)
        for name, text in self._harness.items():
            (work / name).write_text(text, encoding="ascii")
        inputs = [each.resolve() for each in sources]
        inputs += [_twin(name, text, self.verilator, work) for name, text in units.items()]
        _verilate(self.verilator, top, inputs, self.trace, work)
        with (objects / f"V{top}.cpp").open("a", encoding="ascii") as model:
            model.write(tables)
        makefile = f"V{top}.mk"
        (objects / "runtime.mk").write_text(RUNTIME_RULE.format(makefile), encoding="ascii")
        Runtime(self.verilator, self.trace[:1], tuple(self._harness.values())).build(
            objects, lambda: _compile(self.verilator, work, "runtime.mk", "runtime", RUNTIME_FLAGS)
        )
        _compile(self.verilator, work, makefile, f"V{top}", model_flags(self.level))
        (objects / f"V{top}").rename(folder / EXECUTABLE)
        shutil.rmtree(work)


def _sha(texts: Iterable[str]) -> str:
    digest = hashlib.sha256()
    for text in texts:
        digest.update(text.encode() + b"\0")
    return digest.hexdigest()


def trace_flags(wave: Wave | None) -> tuple[str, ...]:
    """Return Verilator's flags for a waveform.

    They are equal for every displayed part of a design.
    """
    if wave is None:
        return ()
    return f"--trace-{wave.kind}", *(PORTS_ALONE if wave.below is None else EVERY_SIGNAL)


def _check_libraries() -> None:
    """Check the libraries of Verilator's FST writer.

    Raises:
        BadInput: a library is missing.
    """
    with scratch() as folder:
        source = Path(folder, "fst.cpp")
        source.write_text(USES_LIBRARIES, encoding="ascii")
        command = ["g++", str(source), "-o", str(source.with_suffix("")), *LIBRARIES]
        if run(command).returncode:
            raise BadInput(
                f"{mention('engine', 'verilator')}: an .fst needs the headers of lz4 and zlib: "
                "install liblz4-dev and zlib1g-dev of your distribution, or write a .vcd"
            )


def _check_compiler() -> None:
    """Check the version of g++.

    Raises:
        BadInput: g++ is too old for the C++ models.
    """
    version = run(["g++", "-dumpversion"]).stdout.strip()
    if int(version.partition(".")[0]) < TWINS_FROM:
        raise BadInput(
            f"{mention('cu_array', 'behavioural')}: {mention('engine', 'verilator')} needs g++ "
            f"{TWINS_FROM} or newer for it, not {version}: allowed: rtl"
        )


def _twin(name: str, text: str, verilator: Verilator, work: Path) -> Path:
    """Compile a C++ model."""
    source = work / f"{name}.cpp"
    source.write_text(text, encoding="ascii")
    built = source.with_suffix(".o")
    _call(["g++", *TWIN_FLAGS, "-c", source.name, "-o", built.name], verilator, work)
    return built


def _verilate(
    verilator: Verilator, top: str, sources: Sequence[Path], trace: Sequence[str], work: Path
) -> None:
    command = [str(verilator.compiler), *FLAGS, *trace, "--top-module", top, "--Mdir", "obj"]
    _call([*command, *(str(source) for source in sources), HARNESS[0]], verilator, work)


def port_tables(top: str, ports: TopPorts) -> str:
    """Return the declarations of a top for ``harness.h``.

    They are tables of its ports and the calls of its model.
    """

    def pin(name: str) -> str:
        return (
            f'{{"{name}", [] {{ return uint64_t(top->{name}); }}, '
            f"[](uint64_t value) {{ top->{name} = value; }}}}"
        )

    def lane(name: str, low: int, width: int) -> str:
        return (
            f'{{"{name}", [] {{ return get_bits(top->{name}, {low}, {width}); }}, '
            f"[](uint64_t value) {{ set_bits(top->{name}, {low}, {width}, value); }}}}"
        )

    def stream(of: Pin) -> str:
        data, width = f"{of.name}_tdata", of.element
        lanes = [lane(data, i * width, width) for i in range(of.lanes)] if of.keep else [pin(data)]
        fields = ", ".join(pin(f"{of.name}_{f}") for f in ("tvalid", "tready", "tlast"))
        kept = of.keep // of.lanes
        keeps = [lane(f"{of.name}_tkeep", i * kept, kept) for i in range(of.lanes) if of.keep]
        return f'{{"{of.name}", {{{", ".join(lanes)}}}, {fields}, {{{", ".join(keeps)}}}, {kept}}}'

    single = *ports.config, *ports.status, *ports.arriving, *ports.leaving
    wide = [p.name for p in (*single, *ports.streams) if p.element > 64]
    if wide:
        raise ValueError(f"ports wider than 64 bits: {', '.join(wide)}")

    def table(kind: str, name: str, pins: Sequence[Pin]) -> list[str]:
        rows = [stream(p) if kind == "StreamPins" else pin(p.name) for p in pins]
        return [
            f"const std::vector<{kind}> {name} = {{",
            *(f"    {row}," for row in rows),
            "};",
        ]

    lines = [
        '#include "harness.h"',
        f"static V{top}* top;",
        "void make_top(VerilatedContext* context, const char* name) "
        f"{{ top = new V{top}{{context, name}}; }}",
        "void eval() { top->eval(); }",
        "#if VM_TRACE",
        "void show(Trace* trace, int levels) { top->trace(trace, levels); }",
        "#endif",
        *(f"const Pin {name} = {pin(port)};" for name, port in CONTROL.items()),
        f"const int RESET_CYCLES = {RESET_CYCLES};",
        f"const uint64_t TAIL_CYCLES = {TAIL_CYCLES}, PROGRESS_CYCLES = {PROGRESS_CYCLES};",
        *table("Pin", "config", ports.config),
        *table("StreamPins", "inputs", ports.inputs),
        *table("StreamPins", "outputs", ports.outputs),
        *table("Pin", "status", ports.status),
        *table("Pin", "arriving", ports.arriving),
        *table("Pin", "leaving", ports.leaving),
        "",
    ]
    return "\n".join(lines)
