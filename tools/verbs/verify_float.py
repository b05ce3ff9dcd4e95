"""``merp verify-float``: arithmetic units against a file of vectors, and files of sums."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from merp.models.arithmetic.sum_vectors import KINDS, MOST_TAPS, sums_of
from merp.models.arithmetic.testfloat import OPERATIONS
from merp.models.base.errors import BadInput, CheckFailed
from merp.models.base.formats import FORMATS, FloatFormat
from merp.models.base.summation import DSPS, PRECISIONS, WINDOWS
from merp.tools.common.arguments import add_json, add_written, whole
from merp.tools.common.output import Output
from merp.tools.common.progress_bar import ProgressBar
from merp.tools.common.table import say
from merp.tools.verify_float.tally import ENGINES, verify
from merp.tools.verify_float.units import FloatUnit, SumUnit, Unit
from merp.tools.verify_float.written import written

_OF_FLOATS = ("format", "tininess", "latency", "prefix")
_OF_WRITING = ("taps", "dsp", "window", "precision", "rows", "seed")
_MOST_ROWS = 100_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the verb takes."""
    parser.add_argument(
        "--op", choices=(*OPERATIONS, *KINDS), required=True, help="what the file is of"
    )
    parser.add_argument(
        "--vectors",
        metavar="FILE",
        help="a b result flags, as TestFloat prints; - is the input (no default)",
    )
    parser.add_argument("--engine", choices=ENGINES, default="golden", help="what computes")
    parser.add_argument(
        "--format",
        type=_format,
        metavar="NAME",
        help=f"{', '.join(FORMATS)}, or eXfY of X exponent and Y fraction bits "
        "(default: 8 digits are binary32, 4 are binary16)",
    )
    parser.add_argument(
        "--tininess",
        choices=("before", "after"),
        help="how the file detects it; without (default), results on the border are not compared",
    )
    parser.add_argument(
        "--latency", type=whole(1, 5), metavar="N", help="cycles of the unit (default: a design's)"
    )
    parser.add_argument(
        "--prefix",
        metavar="TEXT",
        help="the first line, as testfloat_gen -prefix TEXT writes it (default: none)",
    )
    writing = parser.add_argument_group("writing sums (fused, row)")
    add_written(
        writing,
        "-o",
        "--output",
        metavar="FILE",
        help="golden sums to write (default: none)",
        place=Output.of_file,
    )
    writing.add_argument(
        "--taps", type=whole(1, MOST_TAPS), metavar="N", help="products in a sum (no default)"
    )
    writing.add_argument("--dsp", type=int, choices=DSPS, help="DSP blocks per product (default 1)")
    writing.add_argument("--window", type=whole(*WINDOWS), metavar="N", help="W (default 32)")
    writing.add_argument("--precision", type=whole(*PRECISIONS), metavar="N", help="(default 24)")
    writing.add_argument(
        "--rows", type=whole(1, _MOST_ROWS), metavar="N", help="random ones (default 1000)"
    )
    writing.add_argument("--seed", type=whole(0, 2**32 - 1), metavar="N", help="(default 0)")
    add_json(parser)


def _format(text: str) -> FloatFormat:
    """Argument type: a format by name, or by the widths of its fields."""
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


def run(args: argparse.Namespace) -> int:
    """Check a file, 1 if a row or the VHDL differs; or write one."""
    _check_options(args)
    if args.output is not None:
        return _write(args)
    with _opened(args.vectors) as source, ProgressBar("verify-float") as bar:
        unit = _unit(args, source)
        answer = verify(unit, args.engine, lambda rows: bar.say(f"{rows:,} rows"))
    difference = answer.get("vhdl", {}).get("difference")
    if args.json:
        print(json.dumps({"vectors": args.vectors, **answer}, indent=2))
    else:
        _print(answer)
    if difference is not None:  # the VHDL does not do what MyHDL does
        raise CheckFailed(difference)
    return 1 if answer["mismatches"] else 0


def _check_options(args: argparse.Namespace) -> None:
    """Refuse options that say nothing to what is asked for."""
    sums, writes = args.op in KINDS, args.output is not None
    if writes == (args.vectors is not None):
        raise BadInput("verify-float: allowed is one of --vectors FILE and -o FILE")
    if writes and not sums:
        raise BadInput(f"-o {args.output}: --op {args.op} is not written: allowed with fused, row")
    if writes and args.taps is None:
        raise BadInput(f"-o {args.output}: --taps is needed")
    refused = {
        **dict.fromkeys(_OF_FLOATS if sums else (), f"allowed with --op {', '.join(OPERATIONS)}"),
        **dict.fromkeys(() if writes else _OF_WRITING, "allowed with -o FILE"),
    }
    if args.engine == "golden":
        refused.setdefault("latency", "allowed with --engine myhdl, ghdl")
    for key, allowed in refused.items():
        if getattr(args, key) is not None:
            raise BadInput(f"--{key}: {allowed}")


@contextmanager
def _opened(name: str) -> Iterator[BinaryIO]:
    if name == "-":
        yield sys.stdin.buffer
        return
    try:
        source = Path(name).open("rb")
    except (OSError, ValueError) as error:  # a name with a NUL is a ValueError
        reason = error.strerror if isinstance(error, OSError) else error
        raise BadInput(f"{name!r}: {reason}: a readable file is needed") from error
    with source:
        yield source


def _unit(args: argparse.Namespace, source: BinaryIO) -> Unit:
    name = "standard input" if args.vectors == "-" else args.vectors
    simulated = args.engine != "golden"
    if args.op in KINDS:
        return SumUnit(args.op, source, name, simulated)
    return FloatUnit(
        args.op, source, name, args.format, args.prefix, args.tininess, args.latency, simulated
    )


def _write(args: argparse.Namespace) -> int:
    sums = sums_of(args.op, args.taps, args.dsp or 1, args.window or 32, args.precision or 24)
    text, count = written(sums, 1000 if args.rows is None else args.rows, args.seed or 0)
    with Output.of_file("-o", args.output) as place:
        place.write({place.name: text})
    answer = {"output": str(args.output), "op": args.op, "rows": count}
    print(json.dumps(answer, indent=2) if args.json else "{output}: {rows:,} rows".format(**answer))
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
