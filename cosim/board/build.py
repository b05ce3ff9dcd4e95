"""Build a simulated board: an accelerator in MyHDL and its memory, as one shared library."""

from __future__ import annotations

import hashlib
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import merp.cosim.board
from merp.cosim.board.dram import Dram, GeneratedDram, generated
from merp.cosim.board.wrapper import TOP, Wiring, public, wired
from merp.cosim.engines.programs.build_cache import Entry
from merp.cosim.engines.programs.scratch import scratch
from merp.cosim.engines.simulators import Verilator, find_verilator
from merp.cosim.engines.verilator_make import call, compile_model
from merp.cosim.engines.verilator_runtime import Runtime
from merp.hdl.conversion.convert import convert
from merp.models.memory.bus_record import MemoryFacts

LIBRARY = "board.so"
HARNESS = "board.cpp"
COMPILER_FLAGS = "-fPIC"
FLAGS = ("--cc", "--exe", "-O3", "--x-assign", "fast", "--x-initial", "fast", "--noassert",
         "-Wno-lint", "-Wno-style", "-Wno-COMBDLY", "--output-split", "100000",
         "--inline-mult", "1", "-CFLAGS", COMPILER_FLAGS)  # fmt: skip
OPTIMISE = "OPT_FAST=-O2", "OPT_SLOW=-O0", "OPT_GLOBAL=-O0"
RULE = f"""include V{TOP}.mk
{LIBRARY}: $(VK_USER_OBJS) $(VM_PREFIX)__ALL.a $(VK_GLOBAL_OBJS)
\t$(LINK) -shared -o $@ $^ -pthread -latomic
"""
_FILL = rf"VL_ZERO_RESET_W\([^{{}}]*{TOP}__DOT__memory__DOT__mem\w*\[\w+\]\);"
_ZEROS = re.compile(rf"for \([^{{}}]*\) \{{\s*{_FILL}\s*\}}")
"""Loops of the model that write zeros into a bank. New pages are zero, and a board that does not
write them does not take the memory of the whole module.
"""


@dataclass(frozen=True)
class Built:
    """The library of a board.

    Attributes:
        library: the file; each `SimulatedBoard` on it has a state of its own.
        memory: geometry of the memory.
        facts: the memory for a record.
    """

    library: Path
    memory: GeneratedDram
    facts: MemoryFacts


def built(function: Callable[..., Any], args: Mapping[str, object], dram: Dram) -> Built:
    """Build a board of the accelerator ``function(**args)``, or find it in the cache.

    Args:
        function: the top, a block decorated with ``@entity``.
        args: its arguments by name. The ports are clock (``clk`` or ``aclk``), reset (``rst`` or
            ``aresetn``), ``s_axi: AxiLite``, ``m_axi: Axi4`` and ``interrupt``.
        dram: the memory.

    Raises:
        BadInput: a package or a tool is missing, or the ports do not fit a board.
        ExportError: the top cannot be exported.
        RuntimeError: Verilator or the C++ compiler rejects the top.
    """
    verilator = find_verilator()
    memory = generated(dram)
    harness = files(merp.cosim.board).joinpath(HARNESS).read_text(encoding="utf-8")
    with scratch() as folder:
        export = convert(function, args, "verilog", folder, fold=False)
        wiring = wired(export, memory)
        digest = hashlib.sha256()
        texts = [text for each in export.files for text in (each.name, each.read_text("utf-8"))]
        fixed = memory.key, verilator.version, *FLAGS, *OPTIMISE, RULE, _ZEROS.pattern, harness
        for text in (*fixed, wiring.verilog, wiring.tables, *texts):
            digest.update(text.encode() + b"\0")
        sources = [*export.files, memory.verilog]
        place = Entry("board", digest.hexdigest()).kept(
            lambda made: _make(made, verilator, sources, memory, wiring, harness)
        )
    return Built(place / LIBRARY, memory, dram.facts)


def _make(
    folder: Path,
    verilator: Verilator,
    sources: Sequence[Path],
    memory: GeneratedDram,
    wiring: Wiring,
    harness: str,
) -> None:
    work = folder / "work"
    objects = work / "obj"
    objects.mkdir(parents=True)
    texts = {
        "board.v": wiring.verilog, "public.vlt": public(memory), "tables.h": wiring.tables,
        HARNESS: harness, "obj/board.mk": RULE,
    }  # fmt: skip
    for name, text in texts.items():
        (work / name).write_text(text, encoding="utf-8")
    inputs = ["public.vlt", *(str(each.resolve()) for each in sources), "board.v", HARNESS]
    command = [str(verilator.compiler), *FLAGS, "--top-module", TOP, "--Mdir", "obj", *inputs]
    call(command, verilator, work)
    for path in objects.glob("*Slow.cpp"):
        path.write_text(_ZEROS.sub("", path.read_text("utf-8")), encoding="utf-8")
    runtime = Runtime(verilator, (COMPILER_FLAGS, *OPTIMISE))
    runtime.lend(objects)
    compile_model(verilator, work, "board.mk", LIBRARY, OPTIMISE)
    runtime.keep(objects)
    (objects / LIBRARY).rename(folder / LIBRARY)
    shutil.rmtree(work)
