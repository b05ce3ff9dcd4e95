"""``merp verify-float``: check arithmetic units against a file of vectors, and write sums."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from merp.models.arithmetic.sum_vectors import KINDS, MOST_TAPS, sums_of
from merp.models.arithmetic.testfloat import OPERATIONS, Tininess
from merp.models.base.errors import BadInput, CheckFailed
from merp.models.base.formats import FORMATS, FloatFormat
from merp.models.base.summation import DSPS, PRECISIONS, WINDOWS
from merp.tools.common import fields
from merp.tools.common.fields import MOST_SEED
from merp.tools.common.kinds import Kind, OneOf, Read, Text, WholeOption
from merp.tools.common.output import Output
from merp.tools.common.progress_bar import ProgressBar
from merp.tools.common.request import Being, option
from merp.tools.common.table import say
from merp.tools.simulate.verify_float.tally import ENGINES, verify
from merp.tools.simulate.verify_float.units import FloatUnit, SumUnit, Unit
from merp.tools.simulate.verify_float.written import written

OF_FLOATS = (Being("op", tuple(OPERATIONS)),)
OUTPUT = (Being("output"),)
WRITING = "writing sums (fused, row)"
_MOST_ROWS = 100_000


def _format(text: str) -> FloatFormat:
    """Parse an argument: a format by name, or by the widths of its fields."""
    if text in FORMATS:
        return FORMATS[text]
    found = re.fullmatch(r"e(\d{1,2})f(\d{1,2})", text)
    if found is None:
        raise argparse.ArgumentTypeError(
            f"must be {', '.join(FORMATS)}, or eXfY (e8f27: 8 exponent, 27 fraction bits), "
            f"not {text!r}"
        )
    try:
        return FloatFormat(*map(int, found.groups()))
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text}: {error}") from error


@dataclass(frozen=True)
class Digits(Kind):
    """One of a few small numbers."""

    numbers: Sequence[int]

    def form(self) -> dict[str, Any]:
        """Return choices of argparse."""
        return {"type": int, "choices": self.numbers}


@dataclass(frozen=True, kw_only=True)
class VerifyFloatOptions(fields.Answer):
    """The options of the verb."""

    op: str = option(OneOf((*OPERATIONS, *KINDS)), "operation of the file", required=True)
    vectors: str | None = option(
        Text(), "a b result flags, as TestFloat prints; - is standard input (no default)",
        metavar="FILE",
    )  # fmt: skip
    engine: str = option(OneOf(ENGINES), "engine that computes the results", default="golden")
    format: FloatFormat | None = option(
        Read(_format),
        f"{', '.join(FORMATS)}, or eXfY with X exponent and Y fraction bits (default: binary32 "
        "for 8 digits, binary16 for 4)",
        metavar="NAME",
        needs=OF_FLOATS,
    )
    tininess: Tininess | None = option(
        OneOf(("before", "after")),
        "how the file detects it; by default, results on the border are not compared",
        needs=OF_FLOATS,
    )
    latency: int | None = option(
        WholeOption(1, 5), "cycles of the unit (default: a design's)", metavar="N",
        needs=OF_FLOATS, without=(Being("engine", ("golden",)),),
    )  # fmt: skip
    prefix: str | None = option(
        Text(),
        "the first line, as testfloat_gen -prefix TEXT writes it (default: none)",
        metavar="TEXT",
        needs=OF_FLOATS,
    )
    output: Path | None = fields.output(
        "file", "write golden sums to this file (default: none)", metavar="FILE", section=WRITING
    )
    taps: int | None = option(
        WholeOption(1, MOST_TAPS), "products in a sum (no default)", metavar="N", section=WRITING,
        needs=OUTPUT,
    )  # fmt: skip
    dsp: int | None = option(
        Digits(DSPS), "DSP blocks per product (default 1)", section=WRITING, needs=OUTPUT
    )
    window: int | None = option(
        WholeOption(*WINDOWS), "window W (default 32)", metavar="N", section=WRITING, needs=OUTPUT
    )
    precision: int | None = option(
        WholeOption(*PRECISIONS), "bits (default 24)", metavar="N", section=WRITING, needs=OUTPUT
    )
    rows: int | None = option(
        WholeOption(1, _MOST_ROWS), "random rows (default 1000)", metavar="N", section=WRITING,
        needs=OUTPUT,
    )  # fmt: skip
    seed: int | None = option(
        WholeOption(0, MOST_SEED), "seed (default 0)", metavar="N", section=WRITING, needs=OUTPUT
    )


REQUEST = VerifyFloatOptions


def run(asked: VerifyFloatOptions) -> int:
    """Check a file, with status 1 if a row or the VHDL differs, or write a file of sums."""
    if asked.output is not None and asked.vectors is None:
        return _write(asked, asked.output)
    if asked.vectors is None or asked.output is not None:
        raise BadInput("verify-float: allowed is one of --vectors FILE and -o FILE")
    with _opened(asked.vectors) as source, ProgressBar("verify-float") as bar:
        unit = _unit(asked, asked.vectors, source)
        answer = verify(unit, asked.engine, lambda rows: bar.say(f"{rows:,} rows"))
    difference = answer.get("vhdl", {}).get("difference")
    if asked.json:
        print(json.dumps({"vectors": asked.vectors, **answer}, indent=2))
    else:
        _print(answer)
    if difference is not None:  # the VHDL differs from MyHDL
        raise CheckFailed(difference)
    return 1 if answer["mismatches"] else 0


@contextmanager
def _opened(name: str) -> Iterator[BinaryIO]:
    if name == "-":
        yield sys.stdin.buffer
        return
    try:
        source = Path(name).open("rb")
    except (OSError, ValueError) as error:  # a name with a NUL raises a ValueError
        reason = error.strerror if isinstance(error, OSError) else error
        raise BadInput(f"{name!r}: {reason}: a readable file is needed") from error
    with source:
        yield source


def _unit(asked: VerifyFloatOptions, vectors: str, source: BinaryIO) -> Unit:
    name = "standard input" if vectors == "-" else vectors
    simulated = asked.engine != "golden"
    if asked.op in KINDS:
        return SumUnit(asked.op, source, name, simulated)
    return FloatUnit(
        asked.op, source, name, asked.format, asked.prefix, asked.tininess, asked.latency, simulated
    )


def _write(asked: VerifyFloatOptions, output: Path) -> int:
    """Write sums."""
    if asked.op not in KINDS:
        raise BadInput(f"-o {output}: --op {asked.op} is not written: allowed with fused, row")
    if asked.taps is None:
        raise BadInput(f"-o {output}: --taps is needed")
    sums = sums_of(asked.op, asked.taps, asked.dsp or 1, asked.window or 32, asked.precision or 24)
    text, count = written(sums, 1000 if asked.rows is None else asked.rows, asked.seed or 0)
    with Output.of_file("-o", output) as place:
        place.write({place.name: text})
    answer = {"output": str(output), "op": asked.op, "rows": count}
    print(
        json.dumps(answer, indent=2) if asked.json else "{output}: {rows:,} rows".format(**answer)
    )
    return 0


def _print(answer: dict[str, Any]) -> None:
    keys = ("taps", "dsp", "window", "precision", "tininess")
    about = [f"{key} {answer[key]}" for key in keys if key in answer]
    about.append(f"engine {answer['engine']}")
    if "latency" in answer:
        about.append(f"latency {answer['latency']}")
    unit = " ".join(filter(None, (answer["op"], answer.get("format"))))
    say(", ".join([unit, *about]))
    say("rows        {rows:>10,}  ({rows_per_second:,} a second)".format(**answer))
    say("compared    {compared:>10,}  ({converted:,} by the flush rule)".format(**answer))
    say("outside     {outside:>10,}  (gradual underflow decided)".format(**answer))
    say("mismatches  {mismatches:>10,}".format(**answer))
    for row in answer["first_mismatches"]:
        say("  line {line}: {a} {b}: {got}, not {wanted}".format(**row))
    if "hint" in answer:
        say("hint: {hint}".format(**answer))
    if "vhdl" in answer:
        say("VHDL        {cycles:>10,}  cycles as in MyHDL".format(**answer["vhdl"]))
