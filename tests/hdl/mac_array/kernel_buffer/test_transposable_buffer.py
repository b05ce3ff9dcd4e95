"""Rows and columns of every layer come out of the buffer as they stand in the kernels."""

from pathlib import Path

import numpy as np
import pytest

from block_bench import BlockBench, Recorded, Replays
from merp.cosim.engines.cocotb_run import CocotbTests, simulator
from merp.hdl.base.signals import bits, count
from merp.hdl.conversion.convert import convert
from merp.hdl.mac_array.kernel_buffer.transposable_buffer import transposable_buffer
from merp.hdl.mac_array.ports.kernels import KernelBeatWrite
from merp.hdl.mac_array.ports.slots import KernelRowRead
from merp.models.machines.mac_array.params.design import WORD_BITS
from merp.testbenches.mac_array.buffer_cocotb import LANES, SIDES
from merp.testbenches.mac_array.buffer_reads import (
    LATENCY,
    BufferLayer,
    BufferRead,
    content,
    layers,
    reads,
)
from merp.testbenches.mac_array.designs import small_design
from merp.testbenches.mac_array.words import joined, parted


def bench_for(lanes: int, words: int, taps: int) -> BlockBench:
    design = small_design(pof=lanes, kernel_words=words)
    return BlockBench(
        transposable_buffer, "clk", write=KernelBeatWrite(design), read=KernelRowRead(design),
        taps=count(taps), weights=bits(lanes * WORD_BITS), design=design,
    )  # fmt: skip


def check(lanes: int, cases: list[BufferLayer], seed: int = 0) -> Recorded:
    """Write layer after layer and read everything of each, in any order."""
    rng = np.random.default_rng(seed)
    contents = [content(layer, lanes) for layer in cases]
    script: list[tuple[dict[str, int], BufferRead | None]] = []
    for kernels, beats in contents:
        for address, beat in enumerate(beats.tolist()):
            script.append(
                (
                    {
                        "write_enable": 1,
                        "write_addr": address,
                        "write_data": joined(beat),
                        "read_rows": 0,
                    },
                    None,
                )
            )
        wanted = reads(kernels, lanes)
        for at in rng.permutation(len(wanted)):
            read = wanted[at]
            asked = {f"read_{n}": getattr(read, n) for n in ("base", "turn", "rows")}
            script.append(({"write_enable": 0, "taps": read.taps} | asked, read))
        script += [({"read_rows": 0, "read_base": 0}, None)] * LATENCY
    depth = max(len(beats) for _, beats in contents)
    bench = bench_for(lanes, depth, max(layer.side for layer in cases) ** 2)
    trace = bench.run([values for values, _ in script])
    weights = trace.column("weights")
    compared = 0
    for cycle, (_, read) in enumerate(script):
        if read is not None:
            words = parted(weights[cycle + LATENCY], len(read.wanted))
            assert tuple(words) == read.wanted, (lanes, read)
            compared += 1
    assert compared == sum(len(reads(kernels, lanes)) for kernels, _ in contents)
    return trace


def test_every_row_and_column() -> None:
    check(4, layers(4, range(1, 4)))


@pytest.mark.full
def test_every_row_and_column_of_eight_lanes() -> None:
    check(8, layers(8, range(1, 4)))


def test_rows_and_columns_of_eight_lanes() -> None:
    check(8, [BufferLayer(9, 7, 2), BufferLayer(7, 9, 3)])


def test_a_read_of_what_is_being_written_gives_the_old_words() -> None:
    script = [{"write_enable": 1, "write_data": 7}, {"write_data": 9}, {"write_enable": 0}, {}, {}]
    trace = bench_for(4, 2, 1).run(script)
    assert trace.column("weights")[1 + LATENCY :] == [7, 9]


@pytest.mark.ghdl
def test_vhdl_replays(replays: Replays) -> None:
    replays(check(4, [BufferLayer(5, 3, 2), BufferLayer(2, 11, 1)]))


@pytest.mark.full
@pytest.mark.verilator
@pytest.mark.parametrize("lanes", [4, 8, 16, 32, 64])
def test_every_row_and_column_in_verilator(lanes: int, tmp_path: Path) -> None:
    run, language = simulator("verilator")
    taps = max(SIDES) ** 2
    args = bench_for(lanes, 3 * (2 * lanes + 3) * taps, taps).args
    export = convert(transposable_buffer, args, language, tmp_path)
    module = "merp.testbenches.mac_array.buffer_cocotb"
    run(export, tmp_path, CocotbTests(module, {LANES: str(lanes)}))
