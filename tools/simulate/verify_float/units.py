"""The units that can be checked. Each reads its files, as golden model and as hardware."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import isqrt
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from merp.models.arithmetic.fp_add import fp_add
from merp.models.arithmetic.fp_convert import fp_convert
from merp.models.arithmetic.fp_mul import fp_mul
from merp.models.arithmetic.fused import fused_sum
from merp.models.arithmetic.hex_lines import CHUNK
from merp.models.arithmetic.sum_vectors import SumFile, SumSet
from merp.models.arithmetic.testfloat import FileVectors, Tininess, expected, read_vectors, terms
from merp.models.arithmetic.words import as_words
from merp.models.base.bits import Bits
from merp.models.base.errors import BadInput
from merp.models.base.formats import BINARY32, FORMATS, FloatFormat
from merp.models.base.latencies import ADD_LATENCY, MUL_LATENCY
from merp.models.network.registry import machine_for, part_of

if TYPE_CHECKING:
    from merp.testbenches.arithmetic.fp_bench import FpRun

_HARDWARE_CHUNK = 1 << 17  # bytes of a file for one simulation
_DEFAULT_LATENCY = {"add": ADD_LATENCY, "mul": MUL_LATENCY}


RunSums = Callable[[SumSet, Bits, Bits], "FpRun"]
"""The part ``sums`` of a machine. It runs sums through its block of their kind. Both factors are
(count, taps) words."""


@dataclass(frozen=True)
class OperandBatch:
    """Rows of a file: line numbers, operands by name, and expected results.

    For a file of TestFloat, ``vectors`` are the rows themselves.
    """

    lines: NDArray[np.int64]
    operands: dict[str, Bits]
    wanted: Bits
    converted: NDArray[np.bool_]
    outside: NDArray[np.bool_]
    vectors: FileVectors | None = None


class Unit(ABC):
    """A unit to check; ``about`` describes it in the answer, ``digits`` is the length of a
    result."""

    about: dict[str, Any]
    digits: int

    @abstractmethod
    def batches(self) -> Iterator[OperandBatch]:
        """Read the file."""

    @abstractmethod
    def golden(self, batch: OperandBatch) -> Bits:
        """Compute the results."""

    @abstractmethod
    def hardware(self, batch: OperandBatch) -> FpRun:
        """Simulate the block in MyHDL."""


def format_name(fmt: FloatFormat) -> str:
    """Return the name of a format, as for ``--format``."""
    names = [name for name, each in FORMATS.items() if each == fmt]
    return names[0] if names else f"e{fmt.exp_bits}f{fmt.frac_bits}"


class FloatUnit(Unit):
    """``fp_add`` (``add``, ``sub``) or ``fp_mul``, with a file of TestFloat.

    Args:
        op: one of ``testfloat.OPERATIONS``.
        source, name, fmt, prefix: as for ``read_vectors``.
        tininess: how the author of the file detects it, if known.
        latency: latency of the unit; by default as in designs.
        simulated: whether ``hardware`` will be called.

    Raises:
        BadInput: there is no such unit, or as for ``read_vectors``.
    """

    def __init__(
        self,
        op: str,
        source: BinaryIO,
        name: str,
        fmt: FloatFormat | None,
        prefix: str | None,
        tininess: Tininess | None,
        latency: int | None,
        simulated: bool,
    ) -> None:
        self.op, self._tininess = op, tininess
        self._unit = "mul" if op == "mul" else "add"
        self._latency = latency or _DEFAULT_LATENCY[self._unit]
        if latency is not None and simulated:
            from merp.testbenches.arithmetic.fp_bench import LATENCIES

            allowed = LATENCIES[self._unit]
            if latency not in allowed:
                raise BadInput(
                    f"--latency {latency}: allowed for {op} are {min(allowed)} to {max(allowed)}"
                )
        if fmt is not None and op == "mul" and fmt.frac_bits > BINARY32.frac_bits:
            raise BadInput(
                f"--format {format_name(fmt)}: allowed for mul are at most "
                f"{BINARY32.frac_bits} fraction bits (wider ones are accumulators')"
            )
        chunk = _HARDWARE_CHUNK if simulated else CHUNK
        self._vectors = read_vectors(source, name, fmt, prefix, chunk)
        self._first = next(self._vectors)
        self.fmt = self._first.fmt
        self.digits = -(-self.fmt.width // 4)
        self.about = {"op": op, "format": format_name(self.fmt)}
        if tininess is not None:
            self.about["tininess"] = tininess
        if simulated:
            self.about["latency"] = self._latency

    def batches(self) -> Iterator[OperandBatch]:
        """Read the file."""
        yield self._batch(self._first)
        yield from map(self._batch, self._vectors)

    def _batch(self, vectors: FileVectors) -> OperandBatch:
        rule = expected(self.op, vectors, self._tininess)
        operands = {"a": vectors.a, "b": vectors.b}
        return OperandBatch(
            vectors.lines, operands, rule.words, rule.converted, rule.outside, vectors
        )

    def _terms(self, batch: OperandBatch) -> tuple[Bits, Bits]:
        assert batch.vectors is not None
        return terms(self.op, batch.vectors)

    def golden(self, batch: OperandBatch) -> Bits:
        """Compute the results."""
        compute: Callable[..., Bits] = fp_mul if self.op == "mul" else fp_add
        return compute(*self._terms(batch), self.fmt)

    def hardware(self, batch: OperandBatch) -> FpRun:
        """Simulate the unit."""
        from merp.testbenches.arithmetic.fp_bench import run_fp

        a, b = self._terms(batch)
        return run_fp(self._unit, a.tolist(), b.tolist(), self.fmt, self._latency)


class SumUnit(Unit):
    """``cu_fused`` (``fused``) or ``row_array`` (``row``), with a file of sums.

    Raises:
        BadInput: as for ``SumFile``, or no block has this number of taps.
    """

    def __init__(self, kind: str, source: BinaryIO, name: str, simulated: bool) -> None:
        self._file = SumFile(source, name, kind, _HARDWARE_CHUNK if simulated else CHUNK)
        self.sums: SumSet = self._file.sums
        self._simulated = simulated
        self._k = isqrt(self.sums.taps)
        if simulated and kind == "fused" and (self._k**2 != self.sums.taps or self._k > 11):
            raise BadInput(
                f"{name}:1: {self.sums.taps} taps: a CU has k*k of them, k from 1 to 11; "
                "allowed with --engine golden"
            )
        choice = self.sums.summation
        self.digits = -(-self.sums.fmt.width // 4)
        self.about = {
            "op": kind, "taps": self.sums.taps, "dsp": choice.dsp, "window": choice.window,
            "precision": choice.precision,
        }  # fmt: skip

    def batches(self) -> Iterator[OperandBatch]:
        """Read the file."""
        for rows in self._file.rows():
            fmt = self.sums.fmt
            result = np.where(rows.result & (fmt.sign_bit - 1) > fmt.inf, fmt.nan, rows.result)
            none = np.zeros(len(result), bool)
            wanted = self._seen(as_words(result, fmt))
            yield OperandBatch(rows.lines, {"a": rows.a, "b": rows.b}, wanted, none, none)

    def _seen(self, sums: Bits) -> Bits:
        """Return the observable part of sums. A row's sum is only visible as a gradient that began
        at +0."""
        if not self._simulated or self.sums.kind == "fused":
            return sums
        return fp_convert(fp_add(0, sums, self.sums.fmt), self.sums.fmt, BINARY32)

    def golden(self, batch: OperandBatch) -> Bits:
        """Compute the results."""
        return fused_sum(batch.operands["a"], batch.operands["b"], self.sums.summation)

    def hardware(self, batch: OperandBatch) -> FpRun:
        """Simulate the block."""
        machine = machine_for(self.sums.fmt)
        run: RunSums = part_of(machine, machine.hardware, "sums")
        return run(self.sums, batch.operands["a"], batch.operands["b"])
