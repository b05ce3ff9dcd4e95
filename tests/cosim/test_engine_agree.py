"""The engines give the same record of the same job, on a small top with the port style of all."""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from myhdl import Signal, always, always_comb, modbv

from marks import engines, in_full
from merp.cosim.engines.engine import run_job
from merp.cosim.engines.job import Job, Runs
from merp.cosim.engines.record import RunRecord
from merp.cosim.phases.audit.waveform import transfers
from merp.hdl.base.signals import AxiStream, bits, flag
from merp.hdl.conversion.entity import entity
from merp.testbenches.block import one_clock
from merp.testbenches.block.one_clock import Taken, take_processes
from merp.testbenches.top import top_bench as forward_bench
from merp.testbenches.top.run import Run, Stuck
from merp.testbenches.top.top import Top
from merp.testbenches.top.wave import Wave

WIDTH = 40
FAULTS = ("none", "map_in", "map_out", "kernel", "unstable", "greedy", "early_last", "restless")


class OffsetConfig:
    """Registers of the stand-in: kernel words to sum, map words to pass, a constant."""

    def __init__(self) -> None:
        self.kernels = bits(8)
        self.words = bits(8)
        self.constant = bits(32)


class OffsetStatus:
    """Progress and counters of the stand-in."""

    def __init__(self) -> None:
        self.done = flag()
        self.map_in = bits(WIDTH)
        self.map_out = bits(WIDTH)
        self.kernel = bits(WIDTH)
        self.total = bits(WIDTH)


@entity
def offset_top(clk, rst, start, config, s_axis_map, s_axis_kernel, m_axis_map, status, fault):
    """Add the constant and the sum of the kernel words to every map word.

    Ports: clk, rst, start, config, the streams, status. Latency: one cycle. Reset: the state.
    ``fault`` (an index into FAULTS) plants one fault.
    """
    total = Signal(modbv(0)[32:])
    loading, passing, counting = flag(), flag(), flag()
    left_k, left_m, left_out = bits(8), bits(8), bits(8)
    data, valid, last = Signal(modbv(0)[32:]), flag(), flag()
    cycles = Signal(modbv(0)[WIDTH:])
    n_in, n_out, n_kernel = bits(WIDTH), bits(WIDTH), bits(WIDTH)
    kernel_ready, map_ready, done = flag(), flag(), flag()

    @always_comb
    def wires():
        ready = False
        if passing and (not valid or m_axis_map.tready):
            ready = True
        if fault == 5 and done:
            ready = True
        map_ready.next = ready
        kernel_ready.next = loading

    @always_comb
    def pins():
        s_axis_map.tready.next = map_ready
        s_axis_kernel.tready.next = kernel_ready
        m_axis_map.tdata.next = data
        m_axis_map.tvalid.next = valid
        m_axis_map.tlast.next = last
        status.done.next = done
        status.map_in.next = n_in
        status.map_out.next = n_out
        status.kernel.next = n_kernel
        status.total.next = cycles

    @always(clk.posedge)
    def run():
        if counting or (fault == 7 and done):
            cycles.next = cycles + 1
        if loading and s_axis_kernel.tvalid:
            total.next = total + s_axis_kernel.tdata
            if fault != 3 or left_k != 2:
                n_kernel.next = n_kernel + 1
            left_k.next = left_k - 1
            if left_k == 1:
                loading.next = False
                passing.next = True
        if valid and m_axis_map.tready:
            valid.next = False
            if fault != 2 or left_out != 3:
                n_out.next = n_out + 1
            left_out.next = left_out - 1
            if left_out == 1:
                done.next = True
                counting.next = False
        if fault == 4 and valid and not m_axis_map.tready:
            data.next = data ^ 1
        if map_ready and s_axis_map.tvalid and passing:
            counting.next = True
            if not counting:
                cycles.next = 1
            data.next = s_axis_map.tdata + total
            valid.next = True
            last.next = left_m == 1 or (fault == 6 and left_m == 2)
            if fault != 1 or left_m != 2:
                n_in.next = n_in + 1
            left_m.next = left_m - 1
            if left_m == 1:
                passing.next = False
        if start:
            total.next = config.constant
            left_k.next = config.kernels
            left_m.next = config.words
            left_out.next = config.words
            n_in.next = 0
            n_out.next = 0
            n_kernel.next = 0
            cycles.next = 0
            done.next = False
            loading.next = True
        if rst:
            loading.next = False
            passing.next = False
            counting.next = False
            valid.next = False
            done.next = False

    return wires, pins, run


def stand_in(fault: str = "none") -> Top:
    args: dict[str, Any] = {
        "clk": Signal(False), "rst": Signal(False), "start": Signal(False),
        "config": OffsetConfig(), "s_axis_map": AxiStream(32), "s_axis_kernel": AxiStream(32),
        "m_axis_map": AxiStream(32), "status": OffsetStatus(), "fault": FAULTS.index(fault),
    }  # fmt: skip
    return Top(offset_top, args)


def run_of(seed: int, *, stalls: bool = True, reset: bool = False) -> Run:
    rng = np.random.default_rng(seed)
    kernels, words = int(rng.integers(3, 9)), int(rng.integers(4, 30))

    def pattern() -> tuple[int, ...]:
        drawn = rng.integers(0, 2, int(rng.integers(1, 9)))
        drawn[rng.integers(len(drawn))] = 1
        return tuple(int(bit) for bit in drawn)

    def draw(count: int) -> np.ndarray:
        return rng.integers(0, 1 << 32, count, dtype=np.uint32)

    return Run(
        config={
            "config_kernels": kernels,
            "config_words": words,
            "config_constant": int(rng.integers(1 << 32)),
        },
        words={"s_axis_map": draw(words), "s_axis_kernel": draw(kernels)},
        stalls={n: pattern() for n in ("s_axis_map", "s_axis_kernel", "m_axis_map")}
        if stalls
        else {},
        reset_at=int(rng.integers(1, 20)) if reset else None,
    )


def expected(run: Run) -> np.ndarray:
    offset = run.config["config_constant"] + int(run.words["s_axis_kernel"].sum(dtype=np.uint64))
    return (run.words["s_axis_map"].astype(np.uint64) + offset).astype(np.uint32)


def chained(record: RunRecord) -> Run:
    """A run that takes its words from the output of the run before."""
    words = record.words("m_axis_map")
    return Run(
        config={"config_kernels": 3, "config_words": len(words), "config_constant": 7},
        words={"s_axis_map": words, "s_axis_kernel": np.arange(3, dtype=np.uint32)},
    )


RUNS = [
    run_of(0, stalls=False),
    run_of(1),
    run_of(2, reset=True),
    None,  # chained
    *(run_of(seed, reset=seed % 2 == 0) for seed in range(3, 9)),
]


def runs() -> Runs:
    record: RunRecord | None = None
    for run in RUNS:
        if run is None:
            assert record is not None
            run = chained(record)
        record = yield run


@pytest.fixture(scope="module")
def reference() -> list[RunRecord]:
    return run_job(Job(stand_in(), runs()), "myhdl")


def test_words_counts_and_counters_are_those_of_the_runs(reference: list[RunRecord]) -> None:
    for run, record in zip(RUNS, reference, strict=True):
        assert record.outcome.faults == ()
        if isinstance(run, Run):
            np.testing.assert_array_equal(record.words("m_axis_map"), expected(run))
            assert record.outcome.transfers == {
                "s_axis_map": len(run.words["s_axis_map"]),
                "s_axis_kernel": len(run.words["s_axis_kernel"]),
                "m_axis_map": len(run.words["s_axis_map"]),
            }
        for stream, counter in (
            ("s_axis_map", "map_in"),
            ("s_axis_kernel", "kernel"),
            ("m_axis_map", "map_out"),
        ):
            assert record.outcome.status[f"status_{counter}"] == record.outcome.transfers[stream]
        span = record.outcome.last["m_axis_map"] - record.outcome.first["s_axis_map"] + 1
        assert record.outcome.status["status_total"] == span
    assert sum(record.outcome.resets for record in reference) >= 3


def test_a_run_may_use_the_output_of_the_one_before(reference: list[RunRecord]) -> None:
    before, after = (reference[i].words("m_axis_map") for i in (2, 3))
    np.testing.assert_array_equal(after, before + np.uint32(7 + 3))


@pytest.mark.parametrize("engine", engines("verilator", "ghdl"))
def test_records_are_identical(engine: str, reference: list[RunRecord]) -> None:
    records = run_job(Job(stand_in(), runs()), engine)
    assert len(records) == len(reference) > 0
    for ours, theirs in zip(reference, records, strict=True):
        assert ours.differences(theirs) == []
        assert theirs.engine == engine


EXPECTED_FAULT = {
    "unstable": "m_axis_map: data or last changed before the transfer",
    "greedy": "s_axis_map: ready after all",
    "early_last": "m_axis_map: last must come once, with the final word",
    "restless": "status_total changed after done",
}


@pytest.mark.parametrize("fault", EXPECTED_FAULT)
def test_a_broken_rule_is_a_fault(fault: str) -> None:
    (record,) = run_job(Job(stand_in(fault), [run_of(1)]), "myhdl")
    assert any(EXPECTED_FAULT[fault] in text for text in record.outcome.faults), (
        record.outcome.faults
    )


@pytest.mark.parametrize("engine", engines("myhdl", "verilator", "ghdl"))
def test_every_engine_ends_passes_where_the_run_does(engine: str) -> None:
    """The stand-in, which is not told of an input's last, has one pass where two are wanted."""
    run = run_of(1, stalls=False)
    size = len(run.words["s_axis_map"])
    two = replace(run, ends={"m_axis_map": [1, size], "s_axis_map": [2, size]})
    first, second = run_job(Job(stand_in(), [run, two]), engine)
    assert first.outcome.faults == ()
    fault = "m_axis_map: last must come with the final word of each pass"
    assert second.outcome.faults == (fault,)


@pytest.mark.parametrize("fault", ["map_in", "map_out", "kernel"])
def test_a_hardware_counter_that_lies_differs_from_the_monitor(fault: str) -> None:
    (record,) = run_job(Job(stand_in(fault), [run_of(1)]), "myhdl")
    stream = {"map_in": "s_axis_map", "map_out": "m_axis_map", "kernel": "s_axis_kernel"}[fault]
    assert record.outcome.status[f"status_{fault}"] == record.outcome.transfers[stream] - 1
    assert record.outcome.faults == ()


def starved() -> Run:
    """A run that waits for one kernel word more than there are."""
    run = run_of(1)
    return Run(config={**run.config, "config_kernels": 200}, words=run.words)


@pytest.mark.parametrize("engine", engines("myhdl", "verilator", "ghdl"))
def test_a_stuck_run_names_its_state(engine: str) -> None:
    with pytest.raises(Stuck, match=r"no word moved for 50 cycles .* s_axis_kernel \d+ words"):
        run_job(Job(stand_in(), [starved()], limit=50), engine)


def test_processes_run_as_one_on_quick_signals_change_nothing(
    reference: list[RunRecord], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(one_clock, "take_processes", lambda *_: Taken())
    monkeypatch.setattr(forward_bench, "quick_signals", lambda _: nullcontext())
    apart = run_job(Job(stand_in(), runs()), "myhdl")
    for ours, theirs in zip(reference, apart, strict=True):
        assert ours.differences(theirs) == []


def test_processes_of_the_clock_alone_and_of_their_inputs_are_taken() -> None:
    top = stand_in()
    elaborated = top.function(**top.args)
    taken = take_processes(elaborated, top.args["clk"])
    assert [part.func.__name__ for part in taken.clocked] == ["run"]
    assert [part.func.__name__ for part in taken.combinational] == ["wires", "pins"]
    assert elaborated.subs == []


def test_transfers_in_a_waveform_are_those_on_the_pins(
    reference: list[RunRecord], tmp_path: Path
) -> None:
    vcd = tmp_path / "ports.vcd"
    run_job(Job(stand_in(), runs(), wave=Wave(vcd)), "myhdl")
    streams = ["s_axis_map", "s_axis_kernel", "m_axis_map"]
    assert transfers(vcd, streams) == [dict(record.outcome.transfers) for record in reference]
    with pytest.raises(ValueError, match="no signal s_axis_bias_tvalid"):
        transfers(vcd, ["s_axis_bias"])


def test_an_undefined_pin_in_a_waveform_is_refused(tmp_path: Path) -> None:
    vcd = tmp_path / "undefined.vcd"
    names = ("clk", "rst", "start", "s_tvalid", "s_tready")
    header = [f"$var wire 1 {code} {name} $end" for code, name in zip("abcde", names, strict=True)]
    lines = ["$timescale 1ns $end", "$scope module top $end", *header, "$upscope $end"]
    lines += [
        "$enddefinitions $end",
        "#0",
        "0a",
        "0b",
        "1c",
        "{valid}d",
        "1e",
        "#5",
        "1a",
        "#10",
        "",
    ]
    text = "\n".join(lines)
    vcd.write_text(text.replace("{valid}", "1"))
    assert transfers(vcd, ["s"]) == [{"s": 1}]
    for undefined in "xU":
        vcd.write_text(text.replace("{valid}", undefined))
        with pytest.raises(ValueError, match="s is undefined at 5"):
            transfers(vcd, ["s"])


@pytest.mark.verilator
@pytest.mark.parametrize(
    "damaged", in_full(lambda built: built[: len(built) // 2], lambda _: b"#!/bin/false\n")
)
def test_a_build_is_made_once_and_kept(
    damaged: Callable[[bytes], bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MERP_CACHE", str(tmp_path))
    (first,) = run_job(Job(stand_in(), [run_of(0, stalls=False)]), "verilator")
    kept = sorted(tmp_path.rglob("*"))
    monkeypatch.setattr("merp.cosim.engines.verilator_build._compile", None)
    (second,) = run_job(Job(stand_in(), [run_of(0, stalls=False)]), "verilator")
    assert first.elaboration_sha == second.elaboration_sha
    executable = tmp_path / "verilator" / f"{first.elaboration_sha}-O1" / "simulation"
    assert sorted(tmp_path.rglob("*")) == kept
    # It is looked at before each use, in the process that has built it, too.
    monkeypatch.undo()
    monkeypatch.setenv("MERP_CACHE", str(tmp_path))
    executable.write_bytes(damaged(executable.read_bytes()))
    (again,) = run_job(Job(stand_in(), [run_of(0, stalls=False)]), "verilator")
    assert again.differences(first) == []
    assert sorted(tmp_path.rglob("*")) == kept
