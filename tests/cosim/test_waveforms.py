"""Waveforms of ports and of parts of a design, on every engine and in every kind of file."""

import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from myhdl import Signal, always, always_comb, block, modbv

from audited_runs import assert_same
from marks import engines
from merp.cosim.engines import verilator_build
from merp.cosim.engines.engine import run_job
from merp.cosim.engines.job import Job
from merp.cosim.engines.record import RunRecord
from merp.cosim.phases.audit.wave_file import changes, signals
from merp.cosim.phases.audit.waveform import transfers
from merp.hdl.base.signals import AxiStream, bits, flag
from merp.hdl.conversion.convert import convert
from merp.hdl.conversion.entity import entity
from merp.hdl.conversion.scope import Scope, elaborated
from merp.models.base.errors import BadInput
from merp.testbenches.top.run import Run, Stuck
from merp.testbenches.top.top import Top
from merp.testbenches.top.wave import Wave

STREAMS = ["s_axis_map", "m_axis_map"]


class NestedConfig:
    """Registers: words to pass."""

    def __init__(self) -> None:
        self.words = bits(8)


class NestedStatus:
    """Progress."""

    def __init__(self) -> None:
        self.done = flag()


@entity
def ticker(clk, rst, count, enable):
    """Count enabled cycles. Ports: clk, rst, count, enable. Reset: the count."""
    own = Signal(modbv(0)[12:])

    @always(clk.posedge)
    def tick() -> None:
        if rst:
            own.next = 0
        elif enable:
            own.next = own + 1

    @always_comb
    def out() -> None:
        count.next = own

    return tick, out


@block
def doubled(x, y):
    """Flattened into whatever holds it: twice ``x``."""

    @always_comb
    def double() -> None:
        y.next = x << 1

    return double


@entity
def unit(clk, rst, enable, total):
    """Twice the enabled cycles. Ports: clk, rst, enable, total. Reset: the count."""
    count = bits(12)
    memory = [bits(2) for _ in range(3)]
    place = bits(2)
    ticks = ticker(clk, rst, count, enable)
    flat = doubled(count, total)

    @always(clk.posedge)
    def remember() -> None:
        memory[place].next = place
        if place < 2:
            place.next = place + 1
        else:
            place.next = 0

    return ticks, flat, remember


@entity
def nested_top(clk, rst, start, config, s_axis_map, m_axis_map, status):
    """Pass words on, unchanged. Ports: clk, rst, start, config, streams, status. Reset: state."""
    left = bits(8)
    data, valid, last = Signal(modbv(0)[32:]), flag(), flag()
    running, ready, done = flag(), flag(), flag()
    units = [unit(clk, rst, enable, bits(13)) for enable in (running, valid)]
    select = ticker(clk, rst, bits(12), ready)  # a keyword of VHDL

    @always_comb
    def pins() -> None:
        ready.next = running and (not valid or m_axis_map.tready)

    @always_comb
    def ports() -> None:
        s_axis_map.tready.next = ready
        m_axis_map.tdata.next = data
        m_axis_map.tvalid.next = valid
        m_axis_map.tlast.next = last
        status.done.next = done

    @always(clk.posedge)
    def run() -> None:
        if valid and m_axis_map.tready:
            valid.next = False
            if last:
                done.next = True
        if ready and s_axis_map.tvalid:
            data.next = s_axis_map.tdata
            valid.next = True
            last.next = left == 1
            left.next = left - 1
            if left == 1:
                running.next = False
        if start:
            left.next = config.words
            running.next = True
            done.next = False
        if rst:
            running.next = False
            valid.next = False
            done.next = False

    return units, select, pins, ports, run


def nested() -> Top:
    args: dict[str, Any] = {
        "clk": Signal(False), "rst": Signal(False), "start": Signal(False),
        "config": NestedConfig(), "s_axis_map": AxiStream(32), "m_axis_map": AxiStream(32),
        "status": NestedStatus(),
    }  # fmt: skip
    return Top(nested_top, args)


def runs() -> list[Run]:
    """Three runs with stalls, the second cut short by a reset."""
    words = np.arange(7, 7 * 12, 7, dtype=np.uint32)
    run = Run(
        config={"config_words": len(words)},
        words={"s_axis_map": words},
        stalls={"s_axis_map": (1, 0, 1), "m_axis_map": (0, 1)},
    )
    return [run, replace(run, reset_at=9), replace(run, stalls={})]


def full(*marks: Any) -> list[Any]:
    return [*marks, pytest.mark.full]


VERILATOR, LZ4, GHDL = pytest.mark.verilator, pytest.mark.needs("lz4"), pytest.mark.ghdl
WAVES = [
    ("myhdl", "vcd", None),
    ("myhdl", "vcd", "units_1"),
    ("myhdl", "vcd", "all"),
    pytest.param("verilator", "vcd", None, marks=full(VERILATOR)),
    pytest.param("verilator", "vcd", "units_1", marks=full(VERILATOR)),
    pytest.param("verilator", "vcd", "all", marks=full(VERILATOR)),
    pytest.param("verilator", "fst", None, marks=full(VERILATOR, LZ4)),
    pytest.param("verilator", "fst", "units_1", marks=[VERILATOR, LZ4]),
    pytest.param("ghdl", "vcd", None, marks=full(GHDL)),
    pytest.param("ghdl", "vcd", "units_1", marks=GHDL),
    pytest.param("ghdl", "vcd", "all", marks=full(GHDL)),
    pytest.param("ghdl", "fst", None, marks=full(GHDL)),
    pytest.param("ghdl", "fst", "units_1", marks=full(GHDL)),
]


@pytest.fixture(scope="module")
def reference() -> list[RunRecord]:
    """The runs without a waveform."""
    return run_job(Job(nested(), runs()), "myhdl")


def names(path: Path, engine: str) -> set[str]:
    """The signals of a file below the top; GHDL's FST leaves out the top's own name."""
    found = set(signals(path))
    if engine != "ghdl" or path.suffix == ".vcd":
        assert {name[0] for name in found} == {"nested_top"}
        found = {name[1:] for name in found}
    return {".".join(name) for name in found}


def ports() -> set[str]:
    return {"clk", *(pin.name for pin in nested().ports.signals())}


def exported(folder: Path) -> Scope:
    top = nested()
    return convert(top.function, top.args, "vhdl", folder).scope


def named(scope: Scope) -> set[str]:
    return {".".join(path) for path, _ in scope.paths()}


UNIT = {
    "units_1.clk", "units_1.rst", "units_1.enable", "units_1.total", "units_1.count",
    "units_1.place",
    "units_1.ticks.clk", "units_1.ticks.rst", "units_1.ticks.enable", "units_1.ticks.count",
    "units_1.ticks.own",
}  # fmt: skip
ONLY_VHDL = {"config_words_num", "s_axis_map_tdata_num", "m_axis_map_tdata_num"}
"""A vector port of the top that a process uses has a numeric copy."""

LOOP = ".memory_init.index"
"""Verilator also shows the counters of loops in Verilog, those that fill memories."""


@pytest.mark.parametrize(("engine", "kind", "part"), WAVES)
def test_a_waveform_has_the_ports_and_what_is_below(
    engine: str, kind: str, part: str | None, tmp_path: Path, reference: list[RunRecord]
) -> None:
    path = tmp_path / f"w.{kind}"
    records = run_job(Job(nested(), runs(), wave=Wave.of(path, part)), engine)
    assert_same(reference, records)
    assert transfers(path, STREAMS) == [dict(each.outcome.transfers) for each in reference]
    assert [each.name for each in tmp_path.iterdir()] == [path.name]
    found = names(path, engine)
    shown = named(exported(tmp_path)) if part == "all" else UNIT if part else set()
    if part == "all" and engine == "ghdl":
        shown |= ONLY_VHDL
    if engine == "verilator":
        found = {name for name in found if not name.endswith(LOOP)}
    assert found == ports() | shown


def test_instances_are_called_the_same_in_a_simulation_and_in_its_export(tmp_path: Path) -> None:
    top = nested()
    _, simulated = elaborated(lambda: top.function(**top.args))
    export = exported(tmp_path)

    def instances(scope: Scope) -> dict[str, Any]:
        return {name: instances(inside) for name, inside in scope.inside.items()}

    assert instances(simulated) == instances(export)
    assert instances(export) == {
        "units_0": {"ticks": {}}, "units_1": {"ticks": {}}, "select_inst": {},
    }  # fmt: skip
    assert named(simulated) == named(export)


def test_the_values_in_a_waveform_are_those_of_the_cycles(tmp_path: Path) -> None:
    path = tmp_path / "w.vcd"
    run_job(Job(nested(), runs()[2:], wave=Wave.of(path, "units_1.ticks")), "myhdl")
    top = ("nested_top",)
    below = (*top, "units_1", "ticks")
    read = changes(path, [(*top, "m_axis_map_tvalid"), (*below, "enable"), (*below, "own")])
    assert read[*below, "enable"] == read[*top, "m_axis_map_tvalid"]
    assert [value for _, value in read[*below, "own"]] == [f"{n:b}" for n in range(12)]
    times = [time for time, _ in read[*below, "own"]]
    assert {time % 10 for time in times} == {0}  # settled at the beginning of a cycle
    assert {after - before for before, after in pairwise(times[1:])} == {10}


def test_changes_of_a_cycle_stand_in_the_order_of_the_signals(tmp_path: Path) -> None:
    path = tmp_path / "w.vcd"
    run_job(Job(nested(), runs()[2:], wave=Wave.of(path, "all")), "myhdl")
    head, _, body = path.read_text().partition("$enddefinitions $end")
    clk = next(line.split()[3] for line in head.splitlines() if line.endswith(" clk $end"))
    times = [part.split("\n")[1:] for part in body.partition("$dumpvars")[2].split("\n#")]
    changed = [[line[-1] for line in lines if line not in ("", "$end")] for lines in times]
    others = [[code for code in each if code != clk] for each in changed]
    assert max(map(len, others[1:])) > 4
    assert others == [sorted(each) for each in others]  # codes of one letter, given in order


@pytest.mark.parametrize(
    ("part", "wanted"),
    [
        ("unit", "no instance 'unit' in the top: allowed: units_0, units_1, select_inst"),
        ("units_1.tick", "no instance 'tick' in units_1: allowed: ticks"),
        ("units_1.ticks.own", "no instance 'own' in units_1.ticks: it has none"),
        ("", "no instance '' in the top: allowed: units_0, units_1, select_inst"),
    ],
)
@pytest.mark.parametrize("engine", engines("myhdl", "verilator", "ghdl"))
def test_a_path_that_leads_nowhere_is_told_with_what_is_there(
    engine: str, part: str, wanted: str, tmp_path: Path
) -> None:
    wave = Wave.of(tmp_path / "w.vcd", part)
    with pytest.raises(BadInput) as error:
        run_job(Job(nested(), runs(), wave=wave), engine)
    assert str(error.value) == f"--wave-of {part}: {wanted}"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("engine", "name", "wanted"),
    [
        ("ghdl", "w.ghw", "is of no known kind: allowed are names in .vcd, .fst"),
        ("ghdl", "fst", "is of no known kind: allowed are names in .vcd, .fst"),
        ("myhdl", "w.fst", "engine myhdl writes no .fst: allowed with verilator, ghdl"),
    ],
)
def test_a_kind_that_is_not_written_is_refused(engine: str, name: str, wanted: str) -> None:
    with pytest.raises(BadInput) as error:
        run_job(Job(nested(), runs(), wave=Wave(Path(name))), engine)
    assert str(error.value) == f"--wave {name}: {wanted}"


def test_without_its_reader_no_fst_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(BadInput, match=r"^--wave: pywellen not found, install it with: pip"):
        run_job(Job(nested(), runs(), wave=Wave(Path("w.fst"))), "ghdl")


@pytest.mark.verilator
def test_without_headers_of_lz4_no_fst_is_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MERP_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(verilator_build, "USES_LIBRARIES", "#include <no_such_header.h>\n")
    with pytest.raises(BadInput, match=r"needs the headers of lz4 and zlib: install liblz4-dev"):
        run_job(Job(nested(), runs(), wave=Wave(tmp_path / "w.fst")), "verilator")


STUCK = [
    "myhdl",
    pytest.param("verilator", marks=full(VERILATOR)),
    pytest.param("ghdl", marks=full(GHDL)),
]


@pytest.mark.parametrize("engine", STUCK)
def test_the_waveform_of_a_stuck_run_shows_where(engine: str, tmp_path: Path) -> None:
    run = runs()[2]
    path = tmp_path / "w.vcd"
    stuck = Run(config={"config_words": 200}, words=run.words)
    with pytest.raises(Stuck):
        run_job(Job(nested(), [stuck], limit=50, wave=Wave(path)), engine)
    assert transfers(path, STREAMS) == [{"s_axis_map": 11, "m_axis_map": 11}]
    assert len(changes(path, [("nested_top", "clk")])["nested_top", "clk"]) > 2 * 60


def test_reading_a_waveform_leaves_closed_pipes_an_exception(tmp_path: Path) -> None:
    """A reader that let a signal end the process would take a pool of workers with it."""
    (tmp_path / "w.vcd").write_text(
        "$scope module top $end\n$var wire 1 ! clk $end\n$upscope $end\n"
        "$enddefinitions $end\n#0\n0!\n#5\n1!\n"
    )
    program = (
        "import os, sys\nfrom pathlib import Path\n"
        "from merp.cosim.phases.audit.wave_file import changes, signals\n"
        "assert signals(Path(sys.argv[1])) == {('top', 'clk'): ''}\n"
        "assert changes(Path(sys.argv[1]), [('top', 'clk')])\n"
        "gone, pipe = os.pipe()\nos.close(gone)\n"
        "try:\n    os.write(pipe, b'x')\nexcept BrokenPipeError:\n    print('told')\n"
    )
    words = [sys.executable, "-c", program, str(tmp_path / "w.vcd")]
    done = subprocess.run(words, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "told\n", "")
