"""Test the CU array with a script of memory writes and slots, and noise on idle ports.

A slot is a cycle in which the CUs begin to multiply one window.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from merp.hdl.base.signals import bits, flag
from merp.hdl.cnn_merp.ports.kernels import BiasWrite, KernelWrite
from merp.hdl.cnn_merp.ports.outputs import Sums
from merp.hdl.cnn_merp.ports.slots import Slot
from merp.models.base.formats import FloatFormat
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.testbenches.arithmetic.fp_bench import corner_values
from merp.testbenches.block.trace import Trace, run_block

RARE = 0.02


def element(fmt: FloatFormat, rng: Random) -> int:
    """Return a word of moderate magnitude, so that the order of a sum affects its result.

    Rarely, it is a corner value or random bits.
    """
    kind = rng.random()
    if kind < RARE:
        return rng.choice(corner_values(fmt))
    if kind < 2 * RARE:
        return rng.getrandbits(fmt.width)
    exponent = min(fmt.exp_max - 1, max(1, fmt.bias + rng.randrange(-2, 3)))
    sign_and_frac = rng.getrandbits(1) * fmt.sign_bit | rng.getrandbits(fmt.frac_bits)
    return sign_and_frac | exponent << fmt.frac_bits


def elements(count: int, fmt: FloatFormat, rng: Random) -> list[int]:
    """Return ``count`` words from ``element``."""
    return [element(fmt, rng) for _ in range(count)]


def joined(words: Sequence[int], width: int) -> int:
    """Concatenate words of ``width`` bits; the first word is lowest."""
    return sum(word << (j * width) for j, word in enumerate(words))


class CuScript:
    """A script of cycles; each call of ``idle``, ``reset`` or ``slot`` adds the next cycle.

    A write of a kernel or bias occurs in the cycle that the next of these calls adds. Data carry
    noise while their enable or valid is low. The window carries noise unless the cycle follows a
    slot.
    """

    def __init__(self, design: EngineDesign, rng: Random) -> None:
        self.design = design
        self.cycles: list[dict[str, int]] = []
        self._rng = rng
        self._writes: dict[str, int] = {}
        self._window: int | None = None

    def kernel(self, enable: int, addr: int, taps: Sequence[int]) -> None:
        """Write a kernel into each CU whose bit in ``enable`` is set."""
        self._writes |= {
            "kernel_enable": enable,
            "kernel_addr": addr,
            "kernel_data": joined(taps, self.design.fmt.width),
        }

    def bias(self, enable: int, addr: int, word: int) -> None:
        """Write a bias into each CU whose bit in ``enable`` is set."""
        self._writes |= {"bias_enable": enable, "bias_addr": addr, "bias_data": word}

    def idle(self, cycles: int = 1, **values: int) -> None:
        """Add cycles without a slot."""
        for _ in range(cycles):
            self.cycles.append(self._noise() | self._writes | values)
            self._writes = {}

    def drain(self) -> None:
        """Add idle cycles until the sums of the last slot appear at the output."""
        self.idle(self.design.array_latency + 2)

    def reset(self) -> None:
        """Add a cycle of reset without a slot."""
        self.idle(rst=1)

    def slot(
        self,
        kernel_addr: int,
        acc_addr: int,
        group: int,
        first: bool,
        last: bool,
        window: Sequence[int],
        rst: bool = False,
    ) -> None:
        """Add a valid slot; ``window`` (k*k words) follows in the next cycle."""
        self.idle(
            slot_valid=1, slot_kernel_addr=kernel_addr, slot_acc_addr=acc_addr, slot_group=group,
            slot_first=int(first), slot_last=int(last), rst=int(rst),
        )  # fmt: skip
        self._window = joined(window, self.design.fmt.width)

    def load(
        self, kernels: Sequence[Sequence[Sequence[int]]], biases: Sequence[Sequence[int]]
    ) -> None:
        """Write ``kernels[cu][addr]`` (k*k words) and ``biases[cu][group]``; idle one cycle."""
        begin = len(self.cycles)
        for cu, memory in enumerate(kernels):
            for addr, taps in enumerate(memory):
                self.kernel(1 << cu, addr, taps)
                self.idle()
        for cu, words in enumerate(biases):
            for addr, word in enumerate(words):
                self.bias(1 << cu, addr, word)
                self.idle()
        self.idle()
        for values in self.cycles[begin:]:
            del values["window"]  # its changes cost simulation time, and have no effect yet

    def _noise(self) -> dict[str, int]:
        design, rng = self.design, self._rng
        width = design.window_width
        window, self._window = self._window, None
        return {
            "rst": 0,
            "kernel_enable": 0,
            "kernel_addr": rng.randrange(design.kernel_words),
            "kernel_data": rng.getrandbits(width),
            "bias_enable": 0,
            "bias_addr": rng.randrange(design.groups),
            "bias_data": rng.getrandbits(design.fmt.width),
            "slot_valid": 0,
            "slot_kernel_addr": rng.randrange(design.kernel_words),
            "slot_acc_addr": rng.randrange(design.p * design.groups),
            "slot_group": rng.randrange(design.groups),
            "slot_first": rng.getrandbits(1),
            "slot_last": rng.getrandbits(1),
            "window": rng.getrandbits(width) if window is None else window,
        }


def run_cu_array(array: Callable[..., Any], script: CuScript) -> Trace:
    """Play ``script`` on ``cu_array`` or ``cu_array_fast``."""
    design = script.design
    args = {
        "clk": flag(), "rst": flag(), "kernel": KernelWrite(design), "bias": BiasWrite(design),
        "slot": Slot(design), "window": bits(design.window_width), "sums": Sums(design),
        "design": design,
    }  # fmt: skip
    inputs = tuple(script.cycles[0])
    return run_block(
        array, args, inputs, lambda t, _: script.cycles[t], len(script.cycles), quick=True
    )


def finished_sums(trace: Trace) -> list[tuple[int, int]]:
    """Return cycle and data of every valid word of sums."""
    valid, data = trace.column("sums_valid"), trace.column("sums_data")
    return [(t, word) for t, (on, word) in enumerate(zip(valid, data, strict=True)) if on]
