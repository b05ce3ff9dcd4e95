"""Random register accesses by software while the streams of a run move.

No access may disturb the run, and each value read must be correct.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from random import Random
from typing import Protocol

from cocotb.triggers import Event

from merp.models.base.register_map import ADDRESS_WIDTH, ERRORS, WORD_BYTES
from merp.testbenches.axi.axi_model import ABORT, BUSY, START
from merp.testbenches.top.streams import Monitor

OKAY, SLVERR = 0, 2
WORD = (1 << 32) - 1
WRITE_REFUSED = 1 << ERRORS.index("write_refused")
START_REFUSED = 1 << ERRORS.index("start_refused")
ALL_ERRORS = (1 << len(ERRORS)) - 1
HIGH = "_high"


class MeddledBench(Protocol):
    """The interface that ``Meddler`` expects of a bench."""

    offsets: Mapping[str, int]
    streams: dict[str, Monitor]
    ended: Event

    def fault(self, text: str) -> None:
        """Record a fault."""

    async def load(self, address: int) -> tuple[int, int]:
        """Read a word; return the response and the word."""

    async def store(self, address: int, data: int, size: int) -> int:
        """Write the lowest ``size`` bytes of ``data``; return the response."""


class Meddler:
    """One reader and one writer, at the same time.

    Each performs its kinds of access in rounds, in random order, until the run is over.

    Attributes:
        rounds: number of rounds that the writer and the reader completed during the run.
    """

    def __init__(
        self, bench: MeddledBench, config: Mapping[str, int], counted: Mapping[str, str], seed: int
    ) -> None:
        """``config``: the run's settings. ``counted``: the stream of a counter, by its name."""
        self._bench, self._config, self._counted = bench, config, counted
        self._seed = seed
        self._last_read: dict[str, int] = {}
        self.rounds = {"write": 0, "read": 0}

    async def write(self) -> None:
        """Write values that must be refused, and clear the resulting errors.

        The first start is written while no error is pending. A later start might arrive after the
        run, so a pending error must block it. Finally, all settings are written again, because
        some writes may have arrived after the run.
        """
        await self._start()
        kinds = (self._setting, self._start_late, self._beside, self._no_start)
        await self._rounds("write", kinds, Random(self._seed))
        for name, value in self._config.items():
            await self._bench.store(self._bench.offsets[name], value, WORD_BYTES)
        await self._bench.store(self._bench.offsets["error"], ALL_ERRORS, WORD_BYTES)

    async def read(self) -> None:
        """Read all kinds of registers, and compare them with the expected values.

        The first read follows the response to the start. Nothing of the previous run may remain.
        """
        status = await self._bench.load(self._bench.offsets["status"])
        self._expect("the first status", status, (OKAY, BUSY))
        kinds = (self._words, self._cycles, self._kept, self._state, self._absent)
        await self._rounds("read", kinds, Random(~self._seed))

    async def _rounds(
        self, side: str, kinds: tuple[Callable[[Random], Awaitable[None]], ...], rng: Random
    ) -> None:
        while not self._bench.ended.is_set():
            for kind in rng.sample(kinds, len(kinds)):
                await kind(rng)
            self.rounds[side] += not self._bench.ended.is_set()

    def _expect(self, what: str, found: object, wanted: object) -> None:
        """Compare a value that was read during the run; ignore values read after its end."""
        if not self._bench.ended.is_set() and found != wanted:
            self._bench.fault(f"{what} during the run: {found} instead of {wanted}")

    async def _setting(self, rng: Random) -> None:
        name = rng.choice(list(self._config))
        data = rng.choice((self._config[name] ^ 1, 0, WORD, rng.getrandbits(32)))
        await self._store(self._bench.offsets[name], data, rng.randint(1, WORD_BYTES))
        await self._error(f"a write of {name}", WRITE_REFUSED)

    async def _start_late(self, rng: Random) -> None:
        await self._store(self._bench.offsets[next(iter(self._config))], 0)
        if (await self._bench.load(self._bench.offsets["error"]))[1]:
            await self._start(START_REFUSED | WRITE_REFUSED)

    async def _start(self, errors: int = START_REFUSED) -> None:
        await self._store(self._bench.offsets["control"], WORD & ~ABORT)
        await self._error("a start", errors)

    async def _error(self, what: str, bits: int) -> None:
        """Check that error bits are set, that zeros keep them and that ones clear them."""
        address = self._bench.offsets["error"]
        for data, wanted in ((0, bits), (bits, 0)):
            await self._store(address, data)
            found = await self._bench.load(address)
            self._expect(f"error after {what}, {data} written to it", found, (OKAY, wanted))

    async def _beside(self, rng: Random) -> None:
        """Write to a read-only register, or to an address without a register."""
        names = [name for name in self._bench.offsets if name.startswith("status")]
        address = rng.choice((self._bench.offsets[rng.choice(names)], self._beyond(rng)))
        await self._store(address, rng.getrandbits(32), response=SLVERR)

    async def _no_start(self, rng: Random) -> None:
        await self._store(self._bench.offsets["control"], rng.getrandbits(32) & ~(START | ABORT))

    async def _store(
        self, address: int, data: int, size: int = WORD_BYTES, response: int = OKAY
    ) -> None:
        found = await self._bench.store(address, data, size)
        self._expect(f"response to a write to {address:#x}", found, response)

    def _beyond(self, rng: Random) -> int:
        end = max(self._bench.offsets.values()) + WORD_BYTES
        return rng.randrange(end, 1 << ADDRESS_WIDTH, WORD_BYTES)

    async def _words(self, rng: Random) -> None:
        """Read a word counter as the function in the C header does; compare it with the pins."""
        bench, name = self._bench, rng.choice(list(self._counted))
        stream = bench.streams[self._counted[name]]
        before = stream.count
        high = (await bench.load(bench.offsets[name + HIGH]))[1]
        low = (await bench.load(bench.offsets[name]))[1]
        value = (await bench.load(bench.offsets[name + HIGH]))[1] << 32 | low
        if high != value >> 32 or not before <= value <= stream.count:
            bench.fault(f"{name}: {value} read between words {before} and {stream.count}")

    async def _cycles(self, rng: Random) -> None:
        """Read any counter, and check that it never decreases."""
        offsets = self._bench.offsets
        name = rng.choice([name for name in offsets if name + HIGH in offsets])
        value = (await self._bench.load(offsets[name]))[1]
        if value < self._last_read.get(name, 0):
            self._bench.fault(f"{name}: {value} read after {self._last_read[name]}")
        self._last_read[name] = value

    async def _kept(self, rng: Random) -> None:
        name = rng.choice(list(self._config))
        found = await self._bench.load(self._bench.offsets[name])
        self._expect(name, found, (OKAY, self._config[name]))

    async def _state(self, rng: Random) -> None:
        name, wanted = rng.choice(
            (("status", BUSY), ("control", 0), ("interrupt", 0), ("interrupt_enable", 1))
        )
        self._expect(name, await self._bench.load(self._bench.offsets[name]), (OKAY, wanted))

    async def _absent(self, rng: Random) -> None:
        address = self._beyond(rng)
        found = await self._bench.load(address)
        self._expect(f"a read of {address:#x}", found, (SLVERR, 0))
