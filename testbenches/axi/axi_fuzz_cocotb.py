"""Random register accesses on a top in its AXI shell, compared with ``axi_model``.

Reads and writes run at the same time, with pauses on every channel. They address all registers, and
addresses without a register. Addresses may be unaligned, strobes are arbitrary, and values are
legal or illegal. Some writes are a start. Every part begins with a reset. Every second part ends in
the middle of its accesses.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from functools import partial
from itertools import cycle
from pathlib import Path
from random import Random
from typing import Any

import cocotb
from cocotb.triggers import Timer
from cocotbext.axi.axil_channels import (
    AxiLiteARBus,
    AxiLiteARSource,
    AxiLiteARTransaction,
    AxiLiteAWBus,
    AxiLiteAWSource,
    AxiLiteAWTransaction,
    AxiLiteBBus,
    AxiLiteBSink,
    AxiLiteRBus,
    AxiLiteRSink,
    AxiLiteWBus,
    AxiLiteWSource,
    AxiLiteWTransaction,
)

from merp.models.base.register_map import ADDRESS_WIDTH, WORD_BYTES, Register, RegisterMap
from merp.testbenches.axi.axi_model import START, RegisterModel
from merp.testbenches.axi.axi_protocol import CHANNELS, RESET_CYCLES, LiteMonitor, stream_monitors
from merp.testbenches.top.job_files import FOLDER, put
from merp.testbenches.top.pins import reader
from merp.testbenches.top.top import TopPorts

PART = 120  # accesses from reset to reset
PATIENCE = 200  # cycles per access within which all accesses of a part must be answered
WORD = (1 << 32) - 1


def _address(rng: Random, registers: RegisterMap) -> int:
    kind = rng.random()
    if kind < 0.5:
        place = registers.first_setting + rng.randrange(registers.settings)
    elif kind < 0.75:
        place = registers.index(
            rng.choice(("error", "error", "error", "interrupt_enable", "interrupt"))
        )
    elif kind < 0.8:
        place = registers.index("control")
    elif kind < 0.9:
        place = rng.randrange(len(registers.registers))
    else:
        place = rng.randrange(len(registers.registers), (1 << ADDRESS_WIDTH) // WORD_BYTES)
    return place * WORD_BYTES + rng.choice((0, 0, 0, rng.randrange(WORD_BYTES)))


def _data(rng: Random, registers: RegisterMap, address: int) -> int:
    place = address // WORD_BYTES
    least, most = 0, WORD
    if place < len(registers.registers):
        least, most = registers.registers[place].least, registers.registers[place].most
    edges = [value & WORD for value in (least - 1, least, most, most + 1)]
    legal = rng.randint(least, most)
    return rng.choice([*edges, legal, legal, WORD, rng.getrandbits(32)])


def _strobe(rng: Random) -> int:
    return rng.choice((15, 15, 15, 15, rng.getrandbits(4)))


class Fuzz:
    """The accesses, the pins and the model."""

    def __init__(self, dut: Any, ports: TopPorts, registers: RegisterMap, seed: int) -> None:
        self.dut, self.ports, self.registers, self.rng = dut, ports, registers, Random(seed)
        self.read = partial(reader, dut)
        around = (dut.aclk, dut.aresetn, False)
        self.aw = AxiLiteAWSource(AxiLiteAWBus.from_prefix(dut, "s_axi"), *around)
        self.w = AxiLiteWSource(AxiLiteWBus.from_prefix(dut, "s_axi"), *around)
        self.b = AxiLiteBSink(AxiLiteBBus.from_prefix(dut, "s_axi"), *around)
        self.ar = AxiLiteARSource(AxiLiteARBus.from_prefix(dut, "s_axi"), *around)
        self.r = AxiLiteRSink(AxiLiteRBus.from_prefix(dut, "s_axi"), *around)
        self.ends = dict(zip(CHANNELS, (self.aw, self.w, self.b, self.ar, self.r), strict=True))
        for pin in [f"{stream.name}_tvalid" for stream in ports.inputs]:
            getattr(dut, pin).value = 0
        for pin in [f"{stream.name}_tready" for stream in ports.outputs]:
            getattr(dut, pin).value = 1
        self.faults: list[str] = []
        self.seen: Counter[str] = Counter()
        self.answered = 0
        self._sent = 0

    async def part(self, accesses: int, cut: bool) -> None:
        """Play accesses after a reset; with ``cut``, stop in the middle of the accesses."""
        await self._reset()
        lite, model = LiteMonitor(self.read), RegisterModel(self.registers)
        streams = stream_monitors(self.ports, self.read, {}, {}).values()
        writes = sum(self.rng.random() < 0.5 for _ in range(accesses))
        for _ in range(writes - 2):
            address = _address(self.rng, self.registers)
            data, strobe = _data(self.rng, self.registers, address), _strobe(self.rng)
            self._send(address, data, strobe)
            if self._sent == writes // 2:
                # A random start without a pending error would be very rare.
                self._send(self.registers["error"].offset, WORD, 15)
                self._send(self.registers["control"].offset, START, 15)
        for _ in range(accesses - writes):
            address = _address(self.rng, self.registers)
            self.ar.send_nowait(AxiLiteARTransaction(araddr=address))
        wanted = {"b": writes, "r": accesses - writes}
        end = self.rng.randrange(accesses) if cut else PATIENCE * accesses
        for t in range(end):
            await Timer(5, "ns")
            self._compare(t, lite, model)
            if any([stream.sample(t) for stream in streams]):
                self.faults.append(f"a word moved on a stream in cycle {t}")
            self.dut.aclk.value = 1
            await Timer(5, "ns")
            self.dut.aclk.value = 0
            if {channel: lite.channels[channel].count for channel in "br"} == wanted:
                break
        else:
            if not cut:
                self.faults.append(f"{lite.begun} of {wanted} accesses were answered")
        self.faults += lite.all_faults()
        self.seen += model.seen

    def _send(self, address: int, data: int, strobe: int) -> None:
        self.aw.send_nowait(AxiLiteAWTransaction(awaddr=address))
        self.w.send_nowait(AxiLiteWTransaction(wdata=data, wstrb=strobe))
        self._sent += 1

    async def _reset(self) -> None:
        self.dut.aresetn.value = 0
        self._sent = 0
        for end in self.ends.values():
            end.clear()
            end.set_pause_generator(cycle([*self.rng.choices((True, False), k=17), False]))
        for _ in range(RESET_CYCLES):
            await Timer(5, "ns")
            self.dut.aclk.value = 1
            await Timer(5, "ns")
            self.dut.aclk.value = 0
        self.dut.aresetn.value = 1

    def _compare(self, t: int, lite: LiteMonitor, model: RegisterModel) -> None:
        """Compare the responses that begin in this cycle.

        A read returns the value before a write of the same cycle.
        """
        before = dict(lite.begun)
        lite.sample(t)
        channels = lite.channels
        if lite.begun["r"] != before["r"]:
            address = channels["ar"].words[before["r"]]
            wanted = model.read(t, address)
            found = self.read("s_axi_rresp")(), self.read("s_axi_rdata")()
            self._check(f"read of {address:#x} in cycle {t}", found, wanted)
        if lite.begun["b"] != before["b"]:
            address = channels["aw"].words[before["b"]]
            word = channels["w"].words[before["b"]]
            answer = model.write(t, address, word & WORD, word >> 32)
            self._check(
                f"write of {word & WORD:#x} ({word >> 32:04b}) to {address:#x} in cycle {t}",
                (self.read("s_axi_bresp")(),), (answer,),
            )  # fmt: skip

    def _check(self, what: str, found: tuple[int, ...], wanted: tuple[int, ...]) -> None:
        self.answered += 1
        if found != wanted and len(self.faults) < 10:
            self.faults.append(f"{what}: {found} instead of {wanted}")


@cocotb.test()
async def fuzz(dut: Any) -> None:
    """Play the accesses of the job; write the faults and the covered cases as its outcome."""
    folder = Path(os.environ[FOLDER])
    job = json.loads((folder / "job.json").read_text(encoding="ascii"))
    plain = job["registers"]
    plain["registers"] = tuple(Register(**register) for register in plain["registers"])
    dut.aclk.value = 0
    ports = TopPorts.from_json(job["ports"])
    bench = Fuzz(dut, ports, RegisterMap(**plain), job["seed"])
    number = 0
    while bench.answered < job["accesses"] and not bench.faults:
        await bench.part(PART, cut=bool(number % 2))
        number += 1
    put(
        folder / "outcome0.json",
        {"answered": bench.answered, "faults": bench.faults, "seen": bench.seen, "parts": number},
    )
