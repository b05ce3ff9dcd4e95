"""``merp verify-float``: a float unit against a file of test vectors from elsewhere."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from merp.models.arithmetic.fp_add import fp_add
from merp.models.arithmetic.fp_mul import fp_mul
from merp.models.arithmetic.testfloat import Vectors, expected, read_vectors
from merp.models.params.bits import Bits
from merp.models.params.cnn_merp.design import Design
from merp.models.params.formats import FORMATS
from merp.tools.common.arguments import add_json

_GOLDEN = {"add": fp_add, "mul": fp_mul}
_LATENCY = {"add": Design.add_latency, "mul": Design.mul_latency}  # as designs have by default
_SHOWN = 10


def add_parser(subparsers: Any) -> None:
    """Add the verb."""
    parser = subparsers.add_parser(
        "verify-float", help="check a float unit against a Berkeley TestFloat file"
    )
    parser.add_argument("--op", choices=tuple(_GOLDEN), required=True)
    parser.add_argument(
        "--vectors", type=Path, required=True, metavar="FILE", help="lines: a b result flags"
    )
    parser.add_argument("--engine", choices=tuple(_ENGINES), default="golden")
    parser.add_argument(
        "--format",
        choices=tuple(FORMATS),
        help="number format (default: 8 digits are binary32, 4 are binary16)",
    )
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Compare every row that says something about flush-to-zero hardware; 1 if one differs."""
    vectors = read_vectors(args.vectors, args.format)
    try:
        answer = verify(args.op, vectors, args.engine)
    except AssertionError as difference:  # the replay's: the VHDL does not do what MyHDL does
        print(f"merp: {difference}", file=sys.stderr)
        return 1
    if args.json:
        print(json.dumps({"vectors": str(args.vectors), **answer}, indent=2))
    else:
        _print(answer)
    return 1 if answer["mismatches"] else 0


def verify(op: str, vectors: Vectors, engine: str) -> dict[str, Any]:
    """Run an engine over all rows and count.

    ``rows`` = ``compared`` + ``outside``; ``converted`` is the part of ``compared`` whose word
    follows from the flush rule (``testfloat``) instead of standing in the file.
    """
    wanted = expected(op, vectors)
    got = _ENGINES[engine](op, vectors)
    compared = ~wanted.outside
    differing = np.flatnonzero(compared & (got != wanted.words))
    digits = vectors.fmt.width // 4
    return {
        "op": op,
        "format": next(name for name, fmt in FORMATS.items() if fmt == vectors.fmt),
        "engine": engine,
        "rows": len(vectors.a),
        "compared": int(compared.sum()),
        "converted": int((compared & wanted.converted).sum()),
        "outside": int(wanted.outside.sum()),
        "mismatches": len(differing),
        "first_mismatches": [
            {"line": int(vectors.lines[row])}
            | {
                key: f"{int(words[row]):0{digits}X}"
                for key, words in (
                    ("a", vectors.a),
                    ("b", vectors.b),
                    ("wanted", wanted.words),
                    ("got", got),
                )
            }
            for row in differing[:_SHOWN]
        ],
    }


def _golden(op: str, vectors: Vectors) -> Bits:
    return _GOLDEN[op](vectors.a, vectors.b, vectors.fmt)


def _hardware(op: str, vectors: Vectors, replayed: bool) -> Bits:
    """Run the MyHDL block; with ``replayed`` its VHDL too, which must agree in every cycle."""
    from merp.testbenches.arithmetic.fp_bench import run_fp

    if replayed:
        from merp.cosim.engines.simulators import check_ghdl

        check_ghdl()
    ran = run_fp(op, vectors.a.tolist(), vectors.b.tolist(), vectors.fmt, _LATENCY[op])
    if replayed:
        from merp.cosim.block.replay import replay

        with tempfile.TemporaryDirectory() as folder:
            replay(ran.trace, Path(folder))
    return np.array(ran.results, np.uint32)


_ENGINES: dict[str, Callable[[str, Vectors], Bits]] = {
    "golden": _golden,
    "myhdl": lambda op, vectors: _hardware(op, vectors, replayed=False),
    "ghdl": lambda op, vectors: _hardware(op, vectors, replayed=True),
}


def _print(answer: dict[str, Any]) -> None:
    print("{op} {format}, engine {engine}".format(**answer))
    print("rows        {rows:>10,}".format(**answer))
    print("compared    {compared:>10,}  ({converted:,} by the flush rule)".format(**answer))
    print("outside     {outside:>10,}  (gradual underflow decided)".format(**answer))
    print("mismatches  {mismatches:>10,}".format(**answer))
    for row in answer["first_mismatches"]:
        print("  line {line}: {a} {b}: {got}, not {wanted}".format(**row))
