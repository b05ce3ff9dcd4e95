"""Rows and columns of every layer come out of the buffer as they stand in the kernels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from merp.cosim.block.cocotb_run import CocotbTests, simulator
from merp.cosim.block.replay import replay
from merp.hdl.base.signals import bits, count, flag
from merp.hdl.conversion.convert import convert
from merp.hdl.mac_array.kernel_buffer.transposable_buffer import transposable_buffer
from merp.models.machines.mac_array.params.design import WORD_BITS
from merp.testbenches.block.trace import Sample, Trace, run_block
from merp.testbenches.mac_array.buffer_cocotb import LANES, SIDES
from merp.testbenches.mac_array.buffer_reads import LATENCY, Layer, Read, content, layers, reads
from merp.testbenches.mac_array.words import joined, parted

INPUTS = ("write", "write_addr", "data", "base", "turn", "rows", "taps")


def arguments(lanes: int, words: int, taps: int) -> dict[str, Any]:
    return {
        "clk": flag(), "write": flag(), "write_addr": count(words), "data": bits(lanes * WORD_BITS),
        "base": count(words), "turn": count(lanes - 1), "rows": count(lanes), "taps": count(taps),
        "weights": bits(lanes * WORD_BITS), "lanes": lanes, "width": WORD_BITS, "words": words,
    }  # fmt: skip


def check(lanes: int, cases: list[Layer], seed: int = 0) -> Trace:
    """Write layer after layer and read everything of each, in any order."""
    rng = np.random.default_rng(seed)
    contents = [content(layer, lanes) for layer in cases]
    script: list[tuple[dict[str, int], Read | None]] = []
    for kernels, beats in contents:
        for address, beat in enumerate(beats.tolist()):
            script.append(
                ({"write": 1, "write_addr": address, "data": joined(beat), "rows": 0}, None)
            )
        wanted = reads(kernels, lanes)
        for at in rng.permutation(len(wanted)):
            read = wanted[at]
            script.append(({"write": 0} | {n: getattr(read, n) for n in Read._fields[:4]}, read))
        script += [({"rows": 0, "base": 0}, None)] * LATENCY
    depth = max(len(beats) for _, beats in contents)
    args = arguments(lanes, depth, max(layer.side for layer in cases) ** 2)

    def drive(cycle: int, seen: Sample) -> dict[str, int]:
        return script[cycle][0]

    trace = run_block(transposable_buffer, args, INPUTS, drive, len(script))
    weights = trace.column("weights")
    compared = 0
    for cycle, (_, read) in enumerate(script):
        if read is not None:
            words = parted(weights[cycle + LATENCY], len(read.wanted))
            assert tuple(words) == read.wanted, (lanes, read)
            compared += 1
    assert compared == sum(len(reads(kernels, lanes)) for kernels, _ in contents)
    return trace


@pytest.mark.parametrize("lanes", [2, 4])
def test_every_row_and_column(lanes: int) -> None:
    check(lanes, layers(lanes, range(1, 4)))


@pytest.mark.full
def test_every_row_and_column_of_eight_lanes() -> None:
    check(8, layers(8, range(1, 4)))


def test_rows_and_columns_of_eight_lanes() -> None:
    check(8, [Layer(9, 7, 2), Layer(7, 9, 3)])


def test_a_read_of_what_is_being_written_gives_the_old_words() -> None:
    args = arguments(2, 2, 1)
    script = [{"write": 1, "data": 7}, {"data": 9}, {"write": 0}, {}, {}]
    trace = run_block(transposable_buffer, args, INPUTS, lambda t, _: script[t], len(script))
    assert trace.column("weights")[1 + LATENCY :] == [7, 9]


@pytest.mark.ghdl
@pytest.mark.parametrize("lanes", [2, 4])
def test_vhdl_replays(lanes: int, tmp_path: Path) -> None:
    trace = check(lanes, [Layer(lanes + 1, lanes - 1, 2), Layer(2, 2 * lanes + 3, 1)])
    assert replay(trace, tmp_path) == len(trace.rows)


@pytest.mark.full
@pytest.mark.verilator
@pytest.mark.parametrize("lanes", [4, 8, 16, 32, 64])
def test_every_row_and_column_in_verilator(lanes: int, tmp_path: Path) -> None:
    run, language = simulator("verilator")
    taps = max(SIDES) ** 2
    args = arguments(lanes, 3 * (2 * lanes + 3) * taps, taps)
    export = convert(transposable_buffer, args, language, tmp_path)
    module = "merp.testbenches.mac_array.buffer_cocotb"
    run(export, tmp_path, CocotbTests(module, {LANES: str(lanes)}))
