"""Many designs side by side: each one in MyHDL, and all of them in one simulation of an engine.

``verdicts`` says of each design whether its HDL gives the same bits as MyHDL in every cycle::

    verdicts([Design("adder", adder, ports, ("a", "b"))], "ghdl", tmp_path)  # {"adder": "equal"}

A verdict is ``equal``, or begins with one of these words and a colon:

``refused``     the converter raises ``ExportError``.
``invalid``     the HDL does not compile, cuts a value, or the converter fails otherwise.
``differs``     an output has other bits than in MyHDL, or the simulation ends early.
``simulation``  the design raises in MyHDL or drives no output: it says nothing of the converter.

The timing is that of ``merp.replay``: inputs change while the clock is low, samples are taken just
before its rising edge, from power-up on.
"""

import random
import re
import shutil
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from myhdl import ResetSignal

from merp.cosim.engines.programs.children import run
from merp.cosim.engines.simulators import find_verilator
from merp.cosim.engines.verilator_runtime import Runtime, model_flags
from merp.hdl.conversion.convert import Export, ExportError, Language, Port, convert
from merp.testbenches.block.trace import Sample, Trace, flatten, run_block

EQUAL = "equal"
LANGUAGES: dict[str, Language] = {"ghdl": "vhdl", "verilator": "verilog"}
SECONDS = 600  # of the processor, before a simulation counts as one that never ends
CORNERS, SMALL, KEPT = 0.3, 0.15, 0.1  # of an input's values; the others are anywhere
RESETS = 0.1  # how often a reset is active

Row = tuple[str, ...]
"""The bits of every output in a cycle."""


@dataclass(frozen=True)
class Design:
    """A design that is to be compared.

    Attributes:
        name: a legal identifier, unlike those of the others.
        function: a block that is decorated with ``@merp.entity``.
        make: gives fresh arguments by name, signals and parameters.
        inputs: names of the ports that get random stimuli; never the clock.
        cycles: how many are compared.
        seed: of the stimuli.
    """

    name: str
    function: Any
    make: Callable[[], dict[str, Any]]
    inputs: tuple[str, ...]
    cycles: int = 60
    seed: int = 1


@dataclass(frozen=True)
class _Job:
    """A design that was simulated in MyHDL and exported; its files are in a folder of its name."""

    name: str
    trace: Trace
    export: Export

    @property
    def inputs(self) -> tuple[Port, ...]:
        """The ports that are driven; the clock is none of them."""
        return tuple(port for port in self.export.ports if not port.is_output and port.name in self)

    @property
    def outputs(self) -> tuple[Port, ...]:
        """The ports that are compared."""
        return tuple(port for port in self.export.ports if port.is_output and port.name in self)

    @property
    def is_clocked(self) -> bool:
        """Whether the exported top has a clock."""
        return "clk" in self.export.inputs

    def __contains__(self, name: str) -> bool:
        """Whether the trace has a port."""
        return any(port.name == name for port in self.trace.ports)

    def rows(self, ports: Sequence[Port]) -> list[Row]:
        """The bits of some ports in every cycle, as MyHDL gives them."""
        columns = [self.trace.column(port.name) for port in ports]
        return [
            tuple(f"{value:0{port.width or 1}b}" for port, value in zip(ports, row, strict=True))
            for row in (zip(*columns, strict=True) if columns else [()] * len(self.trace.rows))
        ]


class _BrokenError(Exception):
    """A common simulation did not come to its end."""


def verdicts(designs: Sequence[Design], engine: str, folder: Path) -> dict[str, str]:
    """Compare each design in MyHDL with what an engine makes of its HDL; the verdicts by name.

    Args:
        designs: in any number; a few hundred are a good batch.
        engine: ``ghdl`` simulates the VHDL, ``verilator`` the Verilog.
        folder: where files are written; what an earlier call left there goes.

    Raises:
        ValueError: two designs have the same name.
    """
    if len({design.name.lower() for design in designs}) < len(designs):
        raise ValueError("two designs have the same name")
    found: dict[str, str] = {}
    jobs: list[_Job] = []
    place = folder / engine
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    for design in designs:
        job = _exported(design, LANGUAGES[engine], place)
        if isinstance(job, _Job):
            jobs.append(job)
        else:
            found[design.name] = job
    found |= (_Ghdl if engine == "ghdl" else _Verilator)(place).verdicts(jobs)
    return {design.name: found[design.name] for design in designs}


def _exported(design: Design, language: Language, place: Path) -> _Job | str:
    """Simulate a design in MyHDL and export it, or say why this is not possible."""
    trace = _traced(design)
    if isinstance(trace, str):
        return trace
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("error", ".* is written without generics", RuntimeWarning)
            export = convert(
                design.function, trace.args, language, place / design.name,
                name=design.name, prefix=f"{design.name}_",
            )  # fmt: skip
    except ExportError as error:
        return f"refused: {_one_line(error)}"
    except Exception as error:  # whatever it is, a user gets it in place of the HDL
        return f"invalid: the converter raises {type(error).__name__}: {_one_line(error)}"
    job = _Job(design.name, trace, export)
    return job if job.outputs else "simulation: no output to compare"


@lru_cache(maxsize=512)  # both engines want it
def _traced(design: Design) -> Trace | str:
    """Simulate a design in MyHDL, or say what it raises."""
    try:
        args = design.make()
        drive = stimuli(flatten(args), design.inputs, design.seed)
        return run_block(design.function, args, design.inputs, drive, design.cycles)
    except Exception as error:
        return f"simulation: {type(error).__name__}: {_one_line(error)}"


def stimuli(
    ports: Mapping[str, Any], inputs: Sequence[str], seed: int
) -> Callable[[int, Sample], dict[str, int]]:
    """Random values within the bounds of each input, corner values often; see ``run_block``.

    The values of an input are the same whatever other inputs there are.
    """
    dice = {name: random.Random(f"{seed} {name}") for name in inputs}

    def drive(cycle: int, seen: Sample) -> dict[str, int]:
        del cycle, seen
        drawn: dict[str, int] = {}
        for name in inputs:
            value = _drawn(ports[name], dice[name])
            if value is not None:
                drawn[name] = value & ((1 << (len(ports[name]) or 1)) - 1)
        return drawn

    return drive


def _drawn(signal: Any, dice: random.Random) -> int | None:
    """The next value of a signal; None if it stays as it is."""
    if isinstance(signal, ResetSignal):
        return int(bool(signal.active) == (dice.random() < RESETS))
    low, high = (0, 1) if signal.min is None else (int(signal.min), int(signal.max) - 1)
    luck = dice.random()
    if luck < CORNERS:
        return dice.choice([value for value in (low, high, 0, 1, -1) if low <= value <= high])
    if luck < CORNERS + SMALL:
        return min(max(dice.randint(-8, 20), low), high)
    if luck < CORNERS + SMALL + KEPT:
        return None
    return dice.randint(low, high)


class _Engine:
    """What GHDL and Verilator have in common."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def verdicts(self, jobs: Sequence[_Job]) -> dict[str, str]:
        """The verdict on each exported design."""
        raise NotImplementedError

    def call(self, command: Sequence[str | Path], environment: Mapping[str, str] | None) -> str:
        """Run a program in the folder; what it printed.

        Raises:
            _BrokenError: it fails.
        """
        limited = ["sh", "-c", f'ulimit -t {SECONDS}; exec "$@"', "sh", *map(str, command)]
        done = run(limited, cwd=self.place, env=environment)
        said = f"{done.stderr}\n{done.stdout}"
        if done.returncode:
            raise _BrokenError(said.strip() or f"{command[0]} ends with {done.returncode}")
        return said

    def files(self, job: _Job) -> list[str]:
        """The files of a design, as they are called in the folder."""
        return [f"{job.name}/{path.name}" for path in job.export.files]


def _verdict(job: _Job, seen: Sequence[Row]) -> str:
    expected = job.rows(job.outputs)
    for cycle, (row, other) in enumerate(zip(expected, seen, strict=False)):
        for port, bits, got in zip(job.outputs, row, other, strict=True):
            if bits != got:
                where = f"cycle {cycle}, port {port.name}"
                return f"differs: {where}: expected {_shown(bits)}, got {_shown(got)}"
    if len(seen) != len(expected):
        return f"differs: {len(seen)} of {len(expected)} cycles were simulated"
    return EQUAL


def _shown(bits: str) -> str:
    return f"0x{int(bits, 2):x}" if set(bits) <= set("01") else f'"{bits}"'


def _one_line(error: object) -> str:
    return " ".join(str(error).split())[:300]


def _first_error(said: str) -> str:
    """The first line that tells of an error, or else the first one."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    telling = re.compile(r"error|truncated|:\d+:\d+:", re.IGNORECASE)
    notes = re.compile(r"^(%Warning|make)|:(warning|note):|metavalue", re.IGNORECASE)
    told = [line for line in lines if telling.search(line) and not notes.search(line)]
    return next(iter(told or lines), "no message")[:300]


def _cut(ports: Sequence[Port], bits: str) -> Row:
    """The bits of each port, out of those of all."""
    at, found = 0, []
    for port in ports:
        found.append(bits[at : at + (port.width or 1)])
        at += port.width or 1
    return tuple(found)


VHDL_TOOLS = """library ieee; use ieee.std_logic_1164.all; use std.textio.all;
package tools is
    procedure get (variable l : inout line; signal s : out std_logic);
    procedure get (variable l : inout line; signal s : out std_logic_vector);
    procedure put (variable l : inout line; v : in std_logic);
    procedure put (variable l : inout line; v : in std_logic_vector);
end package;
package body tools is
    procedure get (variable l : inout line; signal s : out std_logic) is
        variable c : character;
    begin
        read(l, c);
        if c = '1' then s <= '1'; else s <= '0'; end if;
    end procedure;
    procedure get (variable l : inout line; signal s : out std_logic_vector) is
        variable c : character;
        variable v : std_logic_vector(s'range);
    begin
        for i in v'range loop
            read(l, c);
            if c = '1' then v(i) := '1'; else v(i) := '0'; end if;
        end loop;
        s <= v;
    end procedure;
    procedure put (variable l : inout line; v : in std_logic) is
        constant image : string := std_logic'image(v);
    begin
        write(l, image(2));
    end procedure;
    procedure put (variable l : inout line; v : in std_logic_vector) is
    begin
        for i in v'range loop
            put(l, v(i));
        end loop;
    end procedure;
end package body;
"""


class _Ghdl(_Engine):
    """GHDL: a library and a bench for each design, and a bench that instantiates all of them."""

    def verdicts(self, jobs: Sequence[_Job]) -> dict[str, str]:
        """Analyse each design, run all of them together, or one by one if that breaks."""
        (self.place / "tools.vhd").write_text(VHDL_TOOLS, encoding="ascii")
        self._ghdl("-a", "tools.vhd")
        found: dict[str, str] = {}
        fine: list[_Job] = []
        for job in jobs:
            try:
                self._analyse(job)
                fine.append(job)
            except _BrokenError as error:
                found[job.name] = f"invalid: {_first_error(str(error))}"
        if not fine:
            return found
        (self.place / "bench.vhd").write_text(_vhdl_bench(fine), encoding="ascii")
        self._ghdl("-a", "bench.vhd")
        try:
            self._run("bench")
            return found | {job.name: _verdict(job, self._seen(job)) for job in fine}
        except _BrokenError:
            return found | {job.name: self._verdict_alone(job) for job in fine}

    def _analyse(self, job: _Job) -> None:
        rows = ("".join(row) for row in job.rows(job.inputs))
        (self.place / f"{job.name}.in").write_text("".join(f"{row}\n" for row in rows))
        bench = f"bench_{job.name}.vhd"
        (self.place / bench).write_text(_vhdl_bench_of(job), encoding="ascii")
        self._ghdl("-a", f"--work=lib_{job.name}", *self.files(job))
        self._ghdl("-a", bench)

    def _verdict_alone(self, job: _Job) -> str:
        try:
            self._run(f"bench_{job.name}")
        except _BrokenError as error:
            said = str(error)
            kind = "invalid" if "truncated" in said else "differs"
            return f"{kind}: {_first_error(said)}"
        return _verdict(job, self._seen(job))

    def _run(self, bench: str) -> None:
        """Elaborate and run a bench.

        Raises:
            _BrokenError: it does not come to its end, or a value was cut.
        """
        # Inputs are undefined until the first one.
        said = self._ghdl("-r", bench, options=("--ieee-asserts=disable-at-0",))
        if "vector truncated" in said:
            raise _BrokenError(said)

    def _seen(self, job: _Job) -> list[Row]:
        """The outputs, as the bench has written them."""
        lines = (self.place / f"{job.name}.out").read_text().splitlines()
        return [_cut(job.outputs, line) for line in lines]

    def _ghdl(self, verb: str, *args: str, options: Sequence[str] = ()) -> str:
        return self.call(["ghdl", verb, "--std=08", "-P.", *args, *options], None)


def _vhdl_bench(jobs: Sequence[_Job]) -> str:
    made = "".join(f"    {job.name}: entity work.bench_{job.name};\n" for job in jobs)
    head = "entity bench is end entity;\narchitecture all_of_them of bench is begin\n"
    return f"{head}{made}end architecture;\n"


def _vhdl_bench_of(job: _Job) -> str:
    """The bench of one design; its signals begin with ``p_``, so that no name is in the way."""

    def kind(port: Port) -> str:
        bits = f"_vector({port.width - 1} downto 0)" if port.width is not None else ""
        return f"std_logic{bits}"

    clocks = ["clk => p_clk"] if job.is_clocked else []
    ports = (*job.inputs, *job.outputs)
    wired = ", ".join((*clocks, *(f"{port.name} => p_{port.name}" for port in ports)))
    lines = [
        "library ieee; use ieee.std_logic_1164.all; use std.textio.all; use work.tools.all;",
        f"library lib_{job.name};",
        f"entity bench_{job.name} is end entity;",
        f"architecture bench of bench_{job.name} is",
        "    signal p_clk : std_logic := '0';",
        *(f"    signal p_{port.name} : {kind(port)};" for port in ports),
        "begin",
        f"    dut: entity lib_{job.name}.{job.export.top} port map ({wired});",
        "    process",
        f'        file given : text open read_mode is "{job.name}.in";',
        f'        file seen : text open write_mode is "{job.name}.out";',
        "        variable i, o : line;",
        "    begin",
        f"        for cycle in 1 to {len(job.trace.rows)} loop",
        "            readline(given, i);",
        *(f"            get(i, p_{port.name});" for port in job.inputs),
        "            wait for 5 ns;",
        *(f"            put(o, p_{port.name});" for port in job.outputs),
        "            writeline(seen, o);",
        "            p_clk <= '1';",
        "            wait for 5 ns;",
        "            p_clk <= '0';",
        "        end loop;",
        "        wait;",
        "    end process;",
        "end architecture;",
    ]
    return "".join(f"{line}\n" for line in lines)


HARNESS = """// Drives all designs of a bench, and prints their outputs in every cycle.
#include <fstream>
#include <iostream>
#include "Vbench.h"

static std::ifstream given("all.in");
static std::ofstream seen("all.out");

template <class T> void get(T& port, int width) {
    std::string bits;
    given >> bits;
    T value = 0;
    for (char bit : bits) value = T(value << 1 | (bit == '1'));
    port = value;
}

template <std::size_t N> void get(VlWide<N>& port, int width) {
    std::string bits;
    given >> bits;
    for (std::size_t i = 0; i < N; ++i) port[i] = 0;
    for (int i = 0; i < width; ++i)
        if (bits[width - 1 - i] == '1') port[i / 32] |= 1u << i % 32;
}

template <class T> void put(const T& port, int width) {
    seen << ' ';
    for (int i = width - 1; i >= 0; --i) seen << char('0' + (port >> i & 1));
}

template <std::size_t N> void put(const VlWide<N>& port, int width) {
    seen << ' ';
    for (int i = width - 1; i >= 0; --i) seen << char('0' + (port[i / 32] >> i % 32 & 1));
}

void inputs(Vbench& bench, int cycle);
void outputs(Vbench& bench, int cycle);
extern const int cycles;

int main(int argc, char** argv) {
    VerilatedContext context;
    context.randReset(2);  // what has no initial value is random
    context.randSeed(1);
    Vbench bench{&context};
    bench.clk = 0;
    for (int cycle = 0; cycle < cycles; ++cycle) {
        inputs(bench, cycle);
        bench.eval();
        outputs(bench, cycle);
        seen << std::endl;
        bench.clk = 1;
        bench.eval();
        bench.clk = 0;
    }
    bench.final();
}

"""
_VERILATOR_FLAGS = (
    "-Wno-lint", "-Wno-style", "-Wno-SYMRSVDWORD", "-Wno-fatal", "--x-initial", "unique",
    "--x-assign", "unique", "--top-module", "bench",
)  # fmt: skip


class _Verilator(_Engine):
    """Verilator: a module that instantiates all designs, and one program in C++ for it."""

    def __init__(self, place: Path) -> None:
        super().__init__(place)
        self.verilator = find_verilator()

    def verdicts(self, jobs: Sequence[_Job]) -> dict[str, str]:
        """Build and run all designs together, and without those that break this."""
        if not jobs:
            return {}
        try:
            seen = self._simulated(jobs)
        except _BrokenError as error:
            return self._verdicts_apart(jobs, str(error))
        return {job.name: _verdict(job, seen[job.name]) for job in jobs}

    def _verdicts_apart(self, jobs: Sequence[_Job], said: str) -> dict[str, str]:
        """The verdicts where the common simulation breaks."""
        refusals = {job.name: refusal for job in jobs if (refusal := self._refusal(job))}
        if refusals:
            found = {name: f"invalid: {refusal}" for name, refusal in refusals.items()}
            return found | self.verdicts([job for job in jobs if job.name not in refusals])
        if len(jobs) == 1:
            return {jobs[0].name: f"differs: {_first_error(said)}"}
        guilty = set(re.findall(r"\b(\w+)/\w+\.v\b", said)) & {job.name for job in jobs}
        parts = [
            [job for job in jobs if job.name in guilty],
            [job for job in jobs if job.name not in guilty],
        ]
        if not all(parts):
            parts = [list(jobs[: len(jobs) // 2]), list(jobs[len(jobs) // 2 :])]
        return self.verdicts(parts[0]) | self.verdicts(parts[1])

    def _refusal(self, job: _Job) -> str:
        """What Verilator has against the Verilog of a design."""
        flags = "--lint-only", "-Wno-lint", "-Wno-style", "-Wno-fatal", "-Wno-SYMRSVDWORD"
        try:
            self._verilate(*flags, "--top-module", job.export.top, *self.files(job))
        except _BrokenError as error:
            return _first_error(str(error))
        return ""

    def _simulated(self, jobs: Sequence[_Job]) -> dict[str, list[Row]]:
        """Verilate, compile and run the bench.

        Raises:
            _BrokenError: one of these fails.
        """
        cycles = max(len(job.trace.rows) for job in jobs)
        (self.place / "bench.v").write_text(_verilog_bench(jobs), encoding="ascii")
        (self.place / "harness.cpp").write_text(HARNESS + _calls(jobs, cycles), encoding="ascii")
        rows = {job.name: job.rows(job.inputs) for job in jobs}
        with (self.place / "all.in").open("w") as given:
            for cycle in range(cycles):
                for job in jobs:
                    if cycle < len(job.trace.rows):
                        given.write("".join(f"{bits}\n" for bits in rows[job.name][cycle]))
        objects = self.place / "obj"
        shutil.rmtree(objects, ignore_errors=True)
        files = dict.fromkeys(file for job in jobs for file in self.files(job))
        self._verilate(
            "--cc", "--exe", *_VERILATOR_FLAGS, "--Mdir", "obj", "bench.v", *files, "harness.cpp"
        )
        runtime = Runtime(self.verilator, ("side by side",))
        runtime.lend(objects)
        self.call(
            ["make", "-C", "obj", "-f", "Vbench.mk", "-j", "2", "CXX=g++", "LINK=g++",
             f"PYTHON3={sys.executable}", "CFG_CXXFLAGS_PCH_I=-include", "CFG_GCH_IF_CLANG=",
             *model_flags("O0")],
            self.verilator.environment,
        )  # fmt: skip
        for path in objects.glob("harness*.o"):
            path.unlink()  # it is of this bench; the library alone is kept
        runtime.keep(objects)
        self.call(["obj/Vbench"], None)
        return self._seen(jobs)

    def _verilate(self, *args: str) -> None:
        self.call([self.verilator.compiler, *args], self.verilator.environment)

    def _seen(self, jobs: Sequence[_Job]) -> dict[str, list[Row]]:
        """The outputs, as the program has written them."""
        found: dict[str, list[Row]] = {job.name: [] for job in jobs}
        for cycle, line in enumerate((self.place / "all.out").read_text().splitlines()):
            words: Iterator[str] = iter(line.split())
            for job in jobs:
                if cycle < len(job.trace.rows):
                    found[job.name].append(tuple(next(words) for _ in job.outputs))
        return found


def _verilog_bench(jobs: Sequence[_Job]) -> str:
    declared, made = ["    input wire clk"], []
    for job in jobs:
        wired = [".clk(clk)"] if job.is_clocked else []
        for port in (*job.inputs, *job.outputs):
            way = "output" if port.is_output else "input"
            bits = f" [{port.width - 1}:0]" if port.width is not None else ""
            declared.append(f"    {way} wire{bits} {job.name}_p_{port.name}")
            wired.append(f".{port.name}({job.name}_p_{port.name})")
        made.append(f"    {job.export.top} dut_{job.name} ({', '.join(wired)});\n")
    ports = ",\n".join(declared)
    return f"`timescale 1ns/10ps\nmodule bench (\n{ports}\n);\n{''.join(made)}endmodule\n"


def _calls(jobs: Sequence[_Job], cycles: int) -> str:
    """What the harness calls in every cycle."""

    def function(name: str, call: str, ports: Callable[[_Job], Sequence[Port]]) -> list[str]:
        lines = [f"void {name}(Vbench& bench, int cycle) {{"]
        for job in jobs:
            lines.append(f"    if (cycle < {len(job.trace.rows)}) {{")
            lines += [
                f"        {call}(bench.{job.name}_p_{port.name}, {port.width or 1});"
                for port in ports(job)
            ]
            lines.append("    }")
        return [*lines, "}"]

    lines = [
        f"const int cycles = {cycles};",
        *function("inputs", "get", lambda job: job.inputs),
        *function("outputs", "put", lambda job: job.outputs),
    ]
    return "".join(f"{line}\n" for line in lines)
