"""Find another meaning of a file's rows: another operation or rounding direction."""

from __future__ import annotations

from itertools import product

import numpy as np

from merp.models.arithmetic.ieee import ROUNDINGS, ieee
from merp.models.arithmetic.testfloat import OPERATIONS, FileVectors
from merp.models.base.formats import FloatFormat

LOOKED_AT = 200  # rows of each sort: a whole file takes too long and shows no more


def explanation(op: str, differing: FileVectors, others: FileVectors) -> str | None:
    """Find an operation and a rounding for which every row is right; None if there are none.

    Args:
        op: the requested operation.
        differing: rows that differ from it, rounded to nearest even.
        others: rows that agree with it.
    """
    fmt = differing.fmt
    rows = []
    for vectors in (differing, others):
        columns = (vectors.a[:LOOKED_AT], vectors.b[:LOOKED_AT], vectors.result[:LOOKED_AT])
        rows += list(zip(*(np.asarray(x).tolist() for x in columns), strict=True))
    operations = sorted(OPERATIONS, key=lambda each: each != op)
    for other, rounding in product(operations, ROUNDINGS):
        if (other, rounding) == (op, "near_even"):
            continue
        if all(_is(result, ieee(other, a, b, fmt, rounding), fmt) for a, b, result in rows):
            return _worded(op, other, rounding, len(rows))
    return None


def _is(printed: int, found: int, fmt: FloatFormat) -> bool:
    return printed == found or (found == fmt.nan and printed & (fmt.sign_bit - 1) > fmt.inf)


def _worded(op: str, other: str, rounding: str, count: int) -> str:
    wrong = [f"--op {other}"] if other != op else []
    if rounding != "near_even":
        wrong.append(f"testfloat_gen -r{rounding} ({ROUNDINGS[rounding]})")
    return f"{' and '.join(wrong)} explains all of the {count} rows looked at"
