"""Files of sums: what is written is read, wrong files are refused in a line."""

import io
import re

import numpy as np
import pytest

from checkout import ROOT
from merp.models.arithmetic.fused import fused_sum
from merp.models.arithmetic.sum_vectors import KINDS, SumFile, sum_lines, sums_of
from merp.models.base.errors import BadInput
from merp.testbenches.arithmetic.fused_bench import directed

HEAD = "fused taps=1 dsp=1 window=32 precision=24\n"


def opened(text: str, kind: str = "fused") -> SumFile:
    return SumFile(io.BytesIO(text.encode()), "file", kind)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("dsp", "window", "precision"), [(1, 32, 24), (2, 28, 28), (1, 30, 25)])
def test_what_is_written_is_read(kind: str, dsp: int, window: int, precision: int) -> None:
    sums = sums_of(kind, 4, dsp, window, precision)
    a, b = directed(4)
    result = fused_sum(a, b, sums.summation)
    file = opened(sum_lines(sums, a, b, result), kind)
    assert file.sums == sums
    (rows,) = file.rows()
    for found, wanted in ((rows.a, a), (rows.b, b), (rows.result, result)):
        np.testing.assert_array_equal(found, wanted)
    assert rows.lines.tolist() == list(range(2, len(a) + 2))


def test_the_documented_example() -> None:
    """1.5 * 2 + 0.25 * -1 = 2.75, with 28 bits."""
    page = (ROOT / "docs" / "numbers.md").read_text()
    (text,) = re.findall(r"    (fused taps=2 .*)\n    (.*)\n", page)
    file = opened("\n".join(text))
    (rows,) = file.rows()
    assert rows.result.tolist() == [128 << 27 | 3 << 24]
    assert fused_sum(rows.a, rows.b, file.sums.summation).tolist() == rows.result.tolist()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "file: 0 rows: a first line"),
        ("3F800000 3F800000 3F800000\n", "file:1: allowed as the first line is kind taps=N"),
        (HEAD.replace("fused", "row"), "file:1: row sums: fused is asked for"),
        (HEAD.replace("taps=1", "taps=0"), "file:1: taps must be a whole number from 1 to 1024"),
        (HEAD.replace("taps=1", "taps=99999"), "file:1: taps must be a whole number from 1 to"),
        (HEAD.replace("=24", "=29"), "file:1: accumulator_precision must be"),
        (HEAD.replace("dsp=1", "dsp=3"), "file:1: fused_dsp must be 1 or 2"),
        (HEAD, "file: 0 rows: at least one line"),
        (HEAD + "3F800000 3F800000\n", "file:2: 2 fields: allowed are 3 (a0, b0, sum)"),
        (HEAD + "3F800000 3F80000 3F800000\n", "file:2: b0 '3F80000': allowed are 8"),
    ],
)
def test_wrong_files_are_refused(text: str, message: str) -> None:
    with pytest.raises(BadInput) as refused:
        list(opened(text).rows())
    assert str(refused.value).startswith(message)
