"""Cocotb bench of a top in its AXI shell: masters, sources, sinks and monitors.

Masters, sources and sinks are from cocotbext-axi. All results come from merp's own monitors on the
pins. The monitors also check the protocol in every cycle.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import cycle
from time import perf_counter
from typing import Any

import cocotb
from cocotb.triggers import Event, Timer
from cocotbext.axi import (
    AxiLiteBus,
    AxiLiteMaster,
    AxiStreamBus,
    AxiStreamFrame,
    AxiStreamSink,
    AxiStreamSource,
)

from merp.models.base.register_map import ABORT_CYCLES, FLAGS, WORD_BYTES
from merp.testbenches.axi.axi_model import ABORT, ABORTING, START
from merp.testbenches.axi.axi_protocol import (
    RESET_CYCLES,
    LiteMonitor,
    eager_streams,
    stream_monitors,
    valid_outputs,
)
from merp.testbenches.axi.conduct import Conduct
from merp.testbenches.axi.meddling import OKAY, Meddler
from merp.testbenches.top.pins import reader
from merp.testbenches.top.run import TAIL_CYCLES, Outcome, Run, Stuck
from merp.testbenches.top.streams import Monitor
from merp.testbenches.top.top import Pin, TopPorts

HALF_PERIOD = 5  # ns
Offsets = Mapping[str, int]


def _word_by_word(bus: Any) -> Any:
    """Connect ``tlast`` of ``bus`` as ``tuser``, so that the frame sets its value word by word.

    Otherwise the source would set ``tlast`` with the last word of every frame.
    """
    bus.tuser = bus.tlast
    del bus.tlast
    return bus


def _lanes(pin: Pin) -> dict[str, int]:
    """Return the lane size for a source or sink; with ``tkeep``, it finds the size itself."""
    return {} if pin.keep else {"byte_size": pin.width}


def _in_bytes(pin: Pin, words: list[int]) -> list[int]:
    """Return words as bytes for a stream with ``tkeep``; unchanged for any other stream."""
    size = pin.keep // pin.lanes
    return [each for word in words for each in word.to_bytes(size, "little")] if size else words


def _in_words(pin: Pin, data: Sequence[int]) -> list[int]:
    """Convert the result of ``_in_bytes`` back to words."""
    size = pin.keep // pin.lanes
    if not size:
        return list(data)
    return [int.from_bytes(data[at : at + size], "little") for at in range(0, len(data), size)]


class AxiBench:
    """The bench of one simulation.

    In cycle t = 0 the engine starts. It is the first cycle with the response to the write of start.
    """

    def __init__(self, dut: Any, ports: TopPorts, offsets: Offsets, limit: int) -> None:
        """``offsets``: addresses of registers by name. ``limit``: cycles without a transfer."""
        self.dut, self.ports, self.offsets, self.limit = dut, ports, offsets, limit
        self.read = partial(reader, dut)
        around = (dut.aclk, dut.aresetn)
        low = {"reset_active_level": False}
        self.master = AxiLiteMaster(AxiLiteBus.from_prefix(dut, "s_axi"), *around, **low)
        self.sources = {
            pin.name: AxiStreamSource(
                _word_by_word(AxiStreamBus.from_prefix(dut, pin.name)),
                *around,
                **_lanes(pin),
                **low,
            )
            for pin in ports.inputs
        }
        self.sinks = {
            pin.name: AxiStreamSink(
                AxiStreamBus.from_prefix(dut, pin.name), *around, **_lanes(pin), **low
            )
            for pin in ports.outputs
        }
        interfaces = (self.master.write_if, self.master.read_if)
        for each in (*self.sources.values(), *self.sinks.values(), *interfaces):
            each.log.setLevel(logging.WARNING)  # else every access and every word is logged
        self.lite = LiteMonitor(self.read)
        self.streams: dict[str, Monitor] = {}
        self.faults: list[str] = []
        self._in_reset = 0
        self._prepare({}, {}, None)

    def _prepare(
        self, supply: Mapping[str, int], ends: Mapping[str, Sequence[int]], reset_at: int | None
    ) -> None:
        """Begin to observe a run. Its cycles are counted from its start."""
        self.streams = stream_monitors(self.ports, self.read, supply, ends)
        self._t = -1
        self._start_response: int | None = None
        self._moved_at = 0
        self._reset_at = reset_at
        self._interrupt_at: int | None = None
        self.ended = Event()

    async def clock(self) -> None:
        """Run the clock without end, and sample every pin just before each rising edge."""
        while True:
            await Timer(HALF_PERIOD, "ns")
            try:
                self._sample()
            except ValueError as error:
                self.fault(str(error))
                self.ended.set()
            self.dut.aclk.value = 1
            await Timer(HALF_PERIOD, "ns")
            self.dut.aclk.value = 0

    def fault(self, text: str) -> None:
        """Record a fault; equal texts are recorded once."""
        if text not in self.faults:
            self.faults.append(text)

    def _sample(self) -> None:
        if self._in_reset >= RESET_CYCLES:  # also in the first cycle after reset
            for pin in valid_outputs(self.ports, self.read):
                self.fault(f"{pin} is high in reset")
        if not self.dut.aresetn.value:
            self._in_reset += 1
            return
        self._in_reset = 0
        self.lite.sample(self._t)
        if self._t >= 0 or self.lite.begun["b"] == self._start_response:
            self._t += 1
        moved = [stream.sample(self._t) for stream in self.streams.values()]
        if any(moved):
            self._moved_at = self._t
        if self._interrupt_at is None and self.read("interrupt")():
            self._interrupt_at = self._t
        over = self._interrupt_at is not None or self._t == self._reset_at
        if over or self._t - self._moved_at >= self.limit:
            self.ended.set()

    async def cycles(self, number: int) -> None:
        """Wait for ``number`` clock cycles."""
        await Timer(2 * HALF_PERIOD * number, "ns")

    async def reset(self) -> None:
        """Reset the top, its sources and sinks, and the monitor of AXI4-Lite."""
        self.dut.aresetn.value = 0
        await self.cycles(RESET_CYCLES)
        for end in (*self.sources.values(), *self.sinks.values()):
            end.clear()
        self.lite = LiteMonitor(self.read)
        self.dut.aresetn.value = 1
        await self.cycles(1)

    async def store(self, address: int, data: int, size: int = WORD_BYTES) -> int:
        """Write the lowest ``size`` bytes of a word; return the response."""
        lowest = data.to_bytes(WORD_BYTES, "little")[:size]
        return int((await self.master.write(address, lowest)).resp)

    async def load(self, address: int) -> tuple[int, int]:
        """Read a word; return the response and the word."""
        done = await self.master.read(address, WORD_BYTES)
        return int(done.resp), int.from_bytes(done.data, "little")

    async def write(self, name: str, value: int) -> None:
        """Write a register; record a fault unless the response is OKAY."""
        response = await self.store(self.offsets[name], value)
        if response != OKAY:
            self.fault(f"write of {name}: response {response}")

    async def get(self, name: str) -> int:
        """Read a register; record a fault unless the response is OKAY."""
        response, word = await self.load(self.offsets[name])
        if response != OKAY:
            self.fault(f"read of {name}: response {response}")
        return word

    def pause(self, run: Run, channels: Mapping[str, Sequence[int]]) -> None:
        """Pause streams by the patterns of the run, and AXI4-Lite channels by ``channels``."""
        ends: dict[str, Any] = {**self.sources, **self.sinks}
        patterns = {name: run.pattern(name) for name in ends}
        write, read = self.master.write_if, self.master.read_if
        for name, end in (
            ("aw", write.aw_channel), ("w", write.w_channel), ("b", write.b_channel),
            ("ar", read.ar_channel), ("r", read.r_channel),
        ):  # fmt: skip
            ends[name] = end
            patterns[name] = tuple(channels.get(name, (1,)))
        for name, end in ends.items():
            end.set_pause_generator(cycle([not go for go in patterns[name]]))

    async def play(self, run: Run, conduct: Conduct) -> Outcome:
        """Play a run through the AXI interfaces only.

        Raises:
            Stuck: no word moved for the limit of cycles.
        """
        began = perf_counter()
        self.pause(run, conduct.pauses)
        resets = 0
        await self._program(run)
        await self._attempt(run, run.reset_at, conduct)
        if self._interrupt_at is None and self._t == run.reset_at:
            if conduct.told not in (None, found := await self.get("status")):
                self.fault(f"status {found} before the reset, not {conduct.told}")
            resets = 1
            if conduct.abort:
                await self._abort(conduct)
            else:
                await self.reset()
                await self._program(run)
            await self._attempt(run, None, replace(conduct, sent={}, lasts={}))
        if self._interrupt_at is None:
            moved = ", ".join(f"{name} {each.count}" for name, each in self.streams.items())
            raise Stuck(f"no word moved for {self.limit} cycles: {moved}; {self.faults}")
        await self.cycles(TAIL_CYCLES)
        status = await self._status()
        if conduct.reset_pending:
            outcome = self._outcome(status, resets, perf_counter() - began)
            return replace(outcome, faults=(*outcome.faults, *await self._reset_pending(conduct)))
        for name, value in (("interrupt_enable", 0), ("interrupt", 1)):
            if not self.read("interrupt")():
                self.fault(f"no interrupt before {name} was written")
            await self.write(name, value)
            await self.cycles(1)
            if self.read("interrupt")():
                self.fault(f"interrupt stays after {name} was written {value}")
            await self.write("interrupt_enable", 1)
        if await self.get("error"):
            self.fault(f"error register {await self.get('error')}")
        return self._outcome(status, resets, perf_counter() - began)

    async def _abort(self, conduct: Conduct) -> None:
        """Abort the run by the control register, then reset the sources and sinks.

        No trace of the run may remain. The register ``interrupt_enable`` must keep its value.
        """
        self._prepare({}, {}, None)  # valid may fall now; the run's monitors are no longer needed
        await self.write("control", ABORT)
        polled = [await self.get("status")]
        while polled[-1] & ABORTING and len(polled) <= ABORT_CYCLES:
            polled.append(await self.get("status"))
        if polled[-1] or not (conduct.pauses or polled[0] & ABORTING):
            self.fault(f"status of an abort: {polled}")
        for end in (*self.sources.values(), *self.sinks.values()):
            end.assert_reset(True)
            end.clear()
            end.assert_reset(False)
        for pin in eager_streams(self.ports, self.read):
            self.fault(f"{pin} is high after an abort")
        left = await self._status() | {
            name: await self.get(name) for name in ("error", "interrupt")
        }
        if any(left.values()) or not await self.get("interrupt_enable"):
            self.fault(f"after an abort: {left}")

    async def _reset_pending(self, conduct: Conduct) -> list[str]:
        """Reset the shell while an interrupt is pending; return the faults found."""
        if not self.read("interrupt")():
            self.fault("no interrupt before the reset")
        if conduct.abort:
            await self._abort(conduct)
        else:
            await self.reset()
            for name in ("status", "error", "interrupt_enable"):
                if found := await self.get(name):
                    self.fault(f"{name} is {found} after a reset")
            await self.write("interrupt_enable", 1)
        await self.cycles(1)
        if self.read("interrupt")() or await self.get("interrupt"):
            self.fault("the interrupt outlives a reset")
        faults, self.faults = self.faults, []
        return faults

    async def _program(self, run: Run) -> None:
        await self.write("interrupt_enable", 1)
        for name, value in run.config.items():
            await self.write(name, value)

    async def _attempt(self, run: Run, reset_at: int | None, conduct: Conduct) -> None:
        for name, value in run.config.items():
            found = await self.get(name)
            if found != value:
                self.fault(f"{name}: {found} read back, {value} written")
        supply = {name: len(words) for name, words in run.words.items()}
        self._prepare(supply, run.ends, reset_at)
        for name, words in run.words.items():
            sent = [int(word) for word in conduct.sent.get(name, words)]
            ends = run.ends.get(name, (len(sent),))
            self._send(name, sent, conduct.lasts.get(name, [end - 1 for end in ends]))
        self._start_response = self.lite.begun["b"] + 1
        await self.write("control", START)
        if conduct.meddle is not None:
            await self._meddle(run, conduct, conduct.meddle)
        await self.ended.wait()

    def _send(self, name: str, words: list[int], lasts: Sequence[int]) -> None:
        """Pass words to a source, with ``tlast`` at the positions in ``lasts``."""
        if words:
            pin = next(each for each in self.ports.inputs if each.name == name)
            data = _in_bytes(pin, words)
            size = len(data) // len(words)
            tlast = [int(place // size in lasts) for place in range(len(data))]
            self.sources[name].send_nowait(AxiStreamFrame(data, tuser=tlast))

    async def _meddle(self, run: Run, conduct: Conduct, seed: int) -> None:
        meddler = Meddler(self, run.config, conduct.counted, seed)
        reading = cocotb.start_soon(meddler.read())
        await meddler.write()
        await reading
        if not all(meddler.rounds.values()):
            self.fault(f"too few accesses during the run: {meddler.rounds}")

    async def _status(self) -> dict[str, int]:
        """Read the status and every counter, by the name of the top's own port."""
        flags = await self.get("status")
        status = {f"status_{name}": flags >> bit & 1 for bit, name in enumerate(FLAGS)}
        for name in (pin.name for pin in self.ports.status if pin.name not in status):
            status[name] = await self.get(name) | await self.get(f"{name}_high") << 32
        return status

    def _outcome(self, status: dict[str, int], resets: int, seconds: float) -> Outcome:
        words: dict[str, list[int]] = {}
        for pin in self.ports.outputs:
            name, sink = pin.name, self.sinks[pin.name]
            words[name] = []
            while not sink.empty():
                words[name] += _in_words(pin, sink.recv_nowait().tdata)
            if words[name] != self.streams[name].words:
                self.fault(f"{name}: the sink's frames are not the words on the pins")
        for stream in self.streams.values():
            stream.finish()
            self.faults += stream.faults
        self.faults += self.lite.all_faults()
        faults, self.faults = tuple(self.faults), []
        assert self._interrupt_at is not None
        return Outcome(
            words=words,
            transfers={name: each.count for name, each in self.streams.items()},
            first={name: each.first for name, each in self.streams.items()},
            last={name: each.last for name, each in self.streams.items()},
            status=status,
            cycles=self._interrupt_at - 1,  # pending rises one cycle after done
            resets=resets,
            faults=faults,
            seconds=seconds,
        )
