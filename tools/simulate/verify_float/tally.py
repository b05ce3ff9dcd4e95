"""Run an engine over all batches of a file, and count the rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from merp.cosim.engines.programs.scratch import scratch
from merp.models.arithmetic.testfloat import FileVectors
from merp.models.base.bits import Bits
from merp.tools.simulate.verify_float.hint import LOOKED_AT, explanation
from merp.tools.simulate.verify_float.units import FloatUnit, OperandBatch, Unit

ENGINES = ("golden", "myhdl", "ghdl")
_SHOWN = 10


@dataclass
class _Sample:
    """The first rows of one sort."""

    parts: list[FileVectors] = field(default_factory=list)
    count: int = 0

    def take(self, vectors: FileVectors, chosen: NDArray[np.bool_]) -> None:
        rows = np.flatnonzero(chosen)[: LOOKED_AT - self.count]
        columns: dict[str, Any] = {key: getattr(vectors, key)[rows] for key in _COLUMNS}
        self.parts.append(replace(vectors, **columns))
        self.count += len(rows)

    def joined(self) -> FileVectors:
        columns: dict[str, Any] = {
            key: np.concatenate([getattr(part, key) for part in self.parts]) for key in _COLUMNS
        }
        return replace(self.parts[0], **columns)


_COLUMNS = [each.name for each in fields(FileVectors) if each.name != "fmt"]


@dataclass
class _Vhdl:
    """The result of GHDL: cycles with the same outputs as in MyHDL, and the first difference."""

    cycles: int = 0
    difference: str | None = None


def _results(unit: Unit, engine: str, batch: OperandBatch, vhdl: _Vhdl) -> Bits:
    if engine == "golden":
        return unit.golden(batch)
    ran = unit.hardware(batch)
    if engine == "ghdl" and vhdl.difference is None:
        from merp.cosim.block.replay import replay

        with scratch() as folder:
            try:
                vhdl.cycles += replay(ran.trace, folder)
            except AssertionError as difference:
                vhdl.difference = f"from line {batch.lines[0]} on: {difference}"
    return np.array(ran.results, batch.wanted.dtype)


def _words(words: NDArray[Any], digits: int) -> str:
    return " ".join(f"{word:0{digits}X}" for word in np.atleast_1d(words).tolist())


def verify(unit: Unit, engine: str, progress: Callable[[int], None]) -> dict[str, Any]:
    """Compare every row that applies to hardware that flushes subnormals to zero.

    ``rows`` = ``compared`` + ``outside``. ``converted`` is the part of ``compared`` whose expected
    word follows from the flush rule (``testfloat``) and not directly from the file.

    Args:
        unit: the unit to check.
        engine: one of ``ENGINES``.
        progress: receives the number of rows that are done.
    """
    if engine == "ghdl":
        from merp.cosim.engines.simulators import check_ghdl

        check_ghdl()
    began = perf_counter()
    counts = dict.fromkeys(("rows", "compared", "converted", "outside", "mismatches"), 0)
    first: list[dict[str, Any]] = []
    differing, others, vhdl = _Sample(), _Sample(), _Vhdl()
    for batch in unit.batches():
        got = _results(unit, engine, batch, vhdl)
        compared = ~batch.outside
        wrong = compared & (got != batch.wanted)
        for key, rows in (
            ("rows", np.ones_like(wrong)), ("compared", compared), ("outside", batch.outside),
            ("converted", compared & batch.converted), ("mismatches", wrong),
        ):  # fmt: skip
            counts[key] += int(rows.sum())
        for row in np.flatnonzero(wrong)[: _SHOWN - len(first)]:
            operands = {
                key: _words(words[row], unit.digits if words.ndim == 1 else 8)
                for key, words in batch.operands.items()
            }
            results = {"wanted": batch.wanted[row], "got": got[row]}
            first.append(
                {"line": int(batch.lines[row])}
                | operands
                | {key: _words(word, unit.digits) for key, word in results.items()}
            )
        if batch.vectors is not None:
            differing.take(batch.vectors, wrong)
            others.take(batch.vectors, compared & ~wrong)
        progress(counts["rows"])
    seconds = perf_counter() - began
    answer = {
        **unit.about,
        "engine": engine,
        **counts,
        "first_mismatches": first,
        "seconds": round(seconds, 3),
        "rows_per_second": round(counts["rows"] / seconds),
    }
    if engine == "ghdl":
        answer["vhdl"] = {"cycles": vhdl.cycles, "difference": vhdl.difference}
    if differing.count and isinstance(unit, FloatUnit):
        hint = explanation(unit.op, differing.joined(), others.joined())
        if hint is not None:
            answer["hint"] = hint
    return answer
