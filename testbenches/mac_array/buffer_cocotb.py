"""Cocotb side of the exhaustive test of ``transposable_buffer``: every row and every column."""

from __future__ import annotations

import os
from typing import Any

import cocotb
import numpy as np
from cocotb.triggers import Timer

from merp.testbenches.mac_array.buffer_reads import LATENCY, content, layers, reads
from merp.testbenches.mac_array.words import joined, parted

LANES = "MERP_BUFFER_LANES"
SIDES = range(1, 8)


@cocotb.test()
async def every_read(dut: Any) -> None:
    """Write a layer, then read all of it in random order; the next layer overwrites it."""
    lanes = int(os.environ[LANES])
    rng = np.random.default_rng(lanes)
    dut.clk.value = 0
    compared = wanted_number = 0

    async def cycle(**inputs: int) -> None:
        for name, value in inputs.items():
            getattr(dut, name).value = value
        await Timer(5, "ns")
        dut.clk.value = 1
        await Timer(5, "ns")
        dut.clk.value = 0

    await cycle(
        write_enable=0, write_addr=0, write_data=0, read_base=0, read_turn=0, read_rows=0, taps=1
    )
    for layer in layers(lanes, SIDES):
        kernels, beats = content(layer, lanes)
        for address, beat in enumerate(beats.tolist()):
            await cycle(write_enable=1, write_addr=address, write_data=joined(beat))
        dut.write_enable.value = 0
        script = reads(kernels, lanes)
        wanted_number += len(script)
        order = [script[at] for at in rng.permutation(len(script))]
        for place, read in enumerate((*order, *order[:LATENCY])):
            await cycle(
                read_base=read.base, read_turn=read.turn, read_rows=read.rows, taps=read.taps
            )
            # After this edge, the output holds the words of the read before the last read.
            if place >= LATENCY - 1 and place - LATENCY + 1 < len(order):
                due = order[place - LATENCY + 1]
                await Timer(1, "ns")
                given = parted(int(dut.weights.value), len(due.wanted))
                assert tuple(given) == due.wanted, (layer, due)
                compared += 1
    assert compared == wanted_number > 0
