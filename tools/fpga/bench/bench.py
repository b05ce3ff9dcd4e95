"""The testbench of an exported package, inside a cocotb simulation.

Ports and registers are taken from the package's manifest; no elaboration is needed. Masters,
sources and sinks are from cocotbext-axi, and every rule of AXI is checked in every cycle
(``testbenches/axi``).
"""

from __future__ import annotations

import functools
import os
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import cocotb
import numpy as np

from merp.cosim.engines.job import STUCK_CYCLES
from merp.models.base.bits import Bits
from merp.models.base.errors import BadInput
from merp.testbenches.axi.axi_bench import AxiBench
from merp.testbenches.axi.conduct import Conduct
from merp.testbenches.axi.meddling import OKAY
from merp.testbenches.top.run import Run
from merp.tools.fpga.bench.arrays import Arrays, stream_words
from merp.tools.fpga.bench.package import STATUS, Package
from merp.tools.fpga.bench.result import Result

FOLDER = "MERP_PACKAGE"
"""Environment variable: the folder of the simulated package."""

PATTERN = 509  # period of the pauses in cycles: a prime, unlike the periods of a layer


class Bench:
    """An exported package in a simulator, with the views of software and of stream neighbours.

    Attributes:
        dut: the top in cocotb.
        package: the package.
    """

    def __init__(self, dut: Any, package: Package) -> None:
        """Use ``Bench.begin`` instead, which also starts the clock and resets the hardware."""
        self.dut = dut
        self.package = package
        self._held: dict[str, int] = {}  # settings that the hardware has accepted
        self._axi = AxiBench(dut, package.ports(), package.addresses, STUCK_CYCLES)

    @classmethod
    async def begin(cls, dut: Any, package: Package | None = None) -> Bench:
        """Start the clock, with a period of 10 ns, and reset the hardware.

        Args:
            dut: the top, as a cocotb test receives it.
            package: its package; by default the package that ``run_tests`` simulates.
        """
        bench = cls(dut, Package(os.environ[FOLDER]) if package is None else package)
        dut.aclk.value = 0
        cocotb.start_soon(bench._axi.clock())
        await bench.reset()
        return bench

    async def reset(self) -> None:
        """Reset the hardware and the testbench around it. All registers get their initial
        values."""
        await self._axi.reset()
        self._held.clear()

    async def write(self, register: str, value: int) -> None:
        """Write a register, by its name.

        Raises:
            AssertionError: the hardware answers with an error.
            BadInput: the package has no such register.
        """
        self._held.pop(register, None)
        response = await self._axi.store(self._address(register), value)
        if response != OKAY:
            raise AssertionError(f"write of {register}: response {response}")

    async def read(self, register: str) -> int:
        """Read a register, by its name.

        Raises:
            AssertionError: the hardware answers with an error.
            BadInput: the package has no such register.
        """
        response, word = await self._axi.load(self._address(register))
        if response != OKAY:
            raise AssertionError(f"read of {register}: response {response}")
        return word

    async def run(
        self,
        registers: str | Mapping[str, int],
        streams: Arrays,
        *,
        pause: float = 0.0,
        seed: int = 0,
        limit: int = STUCK_CYCLES,
    ) -> Result:
        """Program a run, start it, send the input arrays, and collect the output until the
        interrupt.

        Args:
            registers: a layer of the package, or the value of every setting by its name.
            streams: arrays for each input stream, by its name, in any shape. They hold
                floating-point numbers, which are rounded to the package's format, or words
                (``uint32``; ``uint8`` for the ReLU/pooling mask). The last dimension varies
                fastest.
            pause: share of random pauses in each stream, from 0 to below 1 of the cycles.
            seed: seed of the pauses.
            limit: cycles without a moved word after which the run is aborted.

        Raises:
            AssertionError: the hardware refuses a setting, or violates a rule of its ports.
            BadInput: an argument is not allowed, or a stream does not have the length of the layer.
            CheckFailed: no word moved for ``limit`` cycles.
        """
        if not 0 <= pause < 1:
            raise BadInput(f"pause = {pause}: allowed are numbers from 0 to below 1")
        words = stream_words(self.package, self.package.inputs, streams)
        settings = registers
        if isinstance(settings, str):
            layer = self.package.layer(settings)
            self._check_lengths(settings, words, layer["words"])
            settings = layer["registers"]
        await self._program(settings)
        self._axi.limit = limit
        dice = np.random.default_rng(seed)
        stalls = {
            name: (dice.random(PATTERN) >= pause).astype(int).tolist()
            for name in (*self.package.inputs, *self.package.outputs)
        }
        run = Run(settings, words, stalls, answers=self.package.answers)
        outcome = await self._axi.play(run, Conduct())
        if outcome.faults:
            raise AssertionError("; ".join(outcome.faults))
        if outcome.status["status_framing_error"]:
            raise AssertionError("tlast came with another word")
        return Result(
            package=self.package,
            words={name: np.array(each, np.uint32) for name, each in outcome.words.items()},
            moved=outcome.transfers,
            counters={name: outcome.status[f"{STATUS}{name}"] for name in self.package.counters},
            cycles=outcome.cycles,
        )

    async def _program(self, settings: Mapping[str, int]) -> None:
        """Write and check every setting, because a run after a refused one would not start."""
        missing = [name for name in self.package.settings if name not in settings]
        if missing:
            raise BadInput(f"registers: {', '.join(missing)} missing")
        for name, value in settings.items():
            if self._held.get(name) == value:
                continue
            await self.write(name, value)
            error = await self.read("error")
            if error:
                raise AssertionError(f"{name} = {value}: refused, error register {error:#x}")
            self._held[name] = value

    def _check_lengths(
        self, layer: str, words: Mapping[str, Bits], wanted: Mapping[str, int]
    ) -> None:
        for name, each in words.items():
            count = wanted[self.package.counter_of(name)]
            if len(each) != count:
                raise BadInput(f"{name}: {len(each)} words: {layer} takes {count}")

    def _address(self, register: str) -> int:
        addresses = self.package.addresses
        if register not in addresses:
            raise BadInput(f"no register {register!r}: allowed are {', '.join(addresses)}")
        return addresses[register]


def bench_test(function: Callable[..., Awaitable[None]]) -> Any:
    """Turn a coroutine that takes a started ``Bench`` into a cocotb test.

    ``cocotb.parametrize`` is written above it, and its arguments are passed to the coroutine.
    """

    @cocotb.test()
    @functools.wraps(function)
    async def test(dut: Any, **given: Any) -> None:
        await function(await Bench.begin(dut), **given)

    return test
