"""Elements of a kernel into its word: a memory beside the block, against the words one expects."""

from typing import Any

import numpy as np
import pytest
from myhdl import always, block

from block_bench import BlockBench, Sample
from merp.hdl.base.signals import bits, flag
from merp.hdl.cnn_merp.cu_array.merge_taps import merge_taps
from merp.hdl.cnn_merp.cu_array.unit_ports import MemoryWrite, UnitWrite

TAPS, WIDTH, WORDS = 4, 5, 6


@block
def beside_a_memory(clk: Any, kept: Any, memory_addr: Any, **ports: Any) -> Any:
    """The block and a memory that reads what it asks for, and writes what it gives."""
    memory = [bits(TAPS * WIDTH) for _ in range(WORDS)]
    merged = ports["merged"]
    written, addr, word = merged.enable, merged.addr, merged.data

    @always(clk.posedge)
    def access() -> None:
        if written:
            memory[addr].next = word
        kept.next = memory[memory_addr]

    return access, merge_taps(clk, kept=kept, memory_addr=memory_addr, **ports)


@pytest.mark.parametrize("apart", [False, True])
def test_only_the_taps_that_are_written_change(apart: bool) -> None:
    rng = np.random.default_rng(int(apart))
    own = (bits(WIDTH), bits(TAPS)) if apart else ()
    args = {
        "clk": flag(), "kept": bits(TAPS * WIDTH), "memory_addr": bits(3),
        "write": UnitWrite(flag(), bits(3), bits(TAPS * WIDTH), bits(TAPS), *own),
        "read_addr": bits(3), "merged": MemoryWrite(flag(), bits(3), bits(TAPS * WIDTH)),
    }  # fmt: skip
    words = [[0] * TAPS for _ in range(WORDS)]
    wanted: dict[int, tuple[int, int]] = {}  # address and word of a write, by cycle
    reads: dict[int, int] = {}
    busy = -1

    def drive(cycle: int, _: Sample) -> dict[str, int]:
        nonlocal busy
        addr, taps, places = (int(each) for each in rng.integers((WORDS, 1 << TAPS, 1 << TAPS)))
        new, element = rng.integers(1 << WIDTH, size=TAPS).tolist(), int(rng.integers(1 << WIDTH))
        values = {
            "write_enable": int(rng.random() < 0.6 and addr != busy), "write_addr": addr,
            "write_taps": taps,
            "write_data": sum(each << tap * WIDTH for tap, each in enumerate(new)),
            "read_addr": int(rng.integers(WORDS)),
        }  # fmt: skip
        if apart:
            values |= {"write_element": element, "write_places": places}
        if values["write_enable"]:
            for tap in range(TAPS):
                if taps >> tap & 1:
                    words[addr][tap] = element if apart and places >> tap & 1 else new[tap]
            word = sum(each << tap * WIDTH for tap, each in enumerate(words[addr]))
            wanted[cycle + 1] = (addr, word)
        elif busy < 0:
            addr = values["read_addr"]
            reads[cycle + 1] = sum(each << tap * WIDTH for tap, each in enumerate(words[addr]))
        # Not the same word in two cycles in a row; a word is read from the second one on.
        busy = addr if values["write_enable"] else -1
        return values

    trace = BlockBench(beside_a_memory, **args).run(drive, 400)
    names = ("merged_enable", "merged_addr", "merged_data", "kept")
    rows = trace.columns(*names)
    for cycle, (write, addr, word, kept) in enumerate(rows):
        assert write == (cycle in wanted)
        if write:
            assert (addr, word) == wanted[cycle], cycle
        if cycle in reads:
            assert kept == reads[cycle], cycle
    assert len(reads) > 40
