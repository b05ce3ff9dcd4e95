"""Sums of products through CNN-MERP's blocks, for ``verify-float``."""

from __future__ import annotations

from math import isqrt

from merp.models.arithmetic.sum_vectors import SumSet
from merp.models.base.bits import Bits
from merp.testbenches.arithmetic.fp_bench import FpRun
from merp.testbenches.cnn_merp.fused_sum_bench import run_rows, run_windows, small_design


def run_sums(sums: SumSet, a: Bits, b: Bits) -> FpRun:
    """Run sums through ``row_array`` or ``cu_fused``.

    Args:
        sums: kind of the sums, and the summation.
        a: (count, taps) words of the first factors.
        b: (count, taps) words of the second factors.
    """
    if sums.kind == "row":
        return run_rows(a, b, sums.summation)
    return run_windows(small_design(isqrt(sums.taps), sums.summation), a, b)
