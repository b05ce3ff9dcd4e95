"""TestFloat files: reading, the flush rule, and the verb; vectors from exact arithmetic."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from exact import OPERATIONS
from merp.models.arithmetic.testfloat import UNDERFLOW, expected, read_vectors, write_vectors
from merp.models.errors import BadInput
from merp.models.params.formats import BFLOAT16, BINARY16, BINARY32, FloatFormat
from merp.tools import cli

FORMATS = {"binary32": BINARY32, "bfloat16": BFLOAT16, "binary16": BINARY16}


def rows(op: str, fmt: FloatFormat, count: int) -> Iterator[tuple[int, int, int, int]]:
    """IEEE rows, as TestFloat would print them: borders crossed, then random words."""
    normal, full = 1 << fmt.frac_bits, (1 << fmt.frac_bits) - 1
    edges = [0, 1, full, normal, normal + 1, fmt.one - 1, fmt.one, fmt.inf - 1, fmt.inf, fmt.nan]
    words = [edge | sign for edge in edges for sign in (0, fmt.sign_bit)]
    rng = np.random.default_rng(fmt.width + fmt.frac_bits)
    pairs = [*product(words, repeat=2)]
    # Products that gradual underflow rounds up to the smallest normal number.
    pairs += [(normal, fmt.one - 1), (fmt.one - 1, normal | fmt.sign_bit)]
    pairs += [(normal + step, fmt.one - 2 * step) for step in range(1, 9)]
    pairs += rng.integers(0, 1 << fmt.width, (count, 2)).tolist()
    for a, b in pairs:
        result = OPERATIONS[op](a, b, fmt, flush=False)
        yield a, b, result.word, result.flags


@pytest.fixture(params=["add", "mul"])
def op(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.parametrize("name", FORMATS)
def test_the_flush_rule_agrees_with_exact_flushing(op: str, name: str, tmp_path: Path) -> None:
    fmt = FORMATS[name]
    write_vectors(tmp_path / "vectors", rows(op, fmt, 2000), fmt)
    vectors = read_vectors(tmp_path / "vectors", name)
    rule = expected(op, vectors)
    assert rule.converted.sum() > 100
    assert rule.outside.any() == (op == "mul")  # a subnormal sum is always exact
    for index, (a, b) in enumerate(zip(vectors.a.tolist(), vectors.b.tolist(), strict=True)):
        if not rule.outside[index]:
            assert rule.words[index] == OPERATIONS[op](a, b, fmt).word, f"{a:x} {b:x}"


def test_rows_at_the_border_are_outside_only_with_the_underflow_flag(tmp_path: Path) -> None:
    file = tmp_path / "vectors"
    file.write_text(
        "00800000 3F7FFFFF 00800000 03\n"  # rounded up gradually; flushed: zero
        "00800001 3F7FFFFE 00800000 01\n"  # rounds up with any exponent
        "00800000 3F800000 00800000 00\n"
        "00000001 7F000000 00800000 03\n"  # a subnormal operand decides first
    )
    rule = expected("mul", read_vectors(file))
    assert rule.outside.tolist() == [True, False, False, False]
    assert rule.words[1:].tolist() == [0x00800000, 0x00800000, 0]
    assert rule.converted.tolist() == [False, False, False, True]


def test_the_generator_makes_border_rows() -> None:
    border = [row for row in rows("mul", BINARY32, 0) if row[2] == 0x00800000]
    assert any(flags & UNDERFLOW for *_, flags in border)
    assert any(not flags & UNDERFLOW for *_, flags in border)


def test_the_oracle_prints_testfloats_own_example() -> None:
    """The f64_add example of testfloat_gen.html: the oracle is exact in any width."""
    binary64 = object.__new__(FloatFormat)  # its own check would refuse the width
    object.__setattr__(binary64, "exp_bits", 11)
    object.__setattr__(binary64, "frac_bits", 52)
    for a, b, result, flags in [
        (0x3F90EB5825D6851E, 0xC3E0080080000000, 0xC3E0080080000000, 0x01),
        (0x41E3C00000000000, 0xC182024F8AE474A8, 0x41E377F6C1D46E2D, 0x01),
        (0x7FD80FFFFFFFFFFF, 0x7FEFFFFFFFFFFF80, 0x7FF0000000000000, 0x05),
        (0x3FFFED6A25C534BE, 0x3CA1000000020000, 0x3FFFED6A25C534BF, 0x01),
    ]:
        assert OPERATIONS["add"](a, b, binary64, flush=False) == (result, flags)


@pytest.mark.parametrize("name", FORMATS)
def test_golden_has_no_mismatch(
    op: str, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "vectors"
    write_vectors(file, rows(op, FORMATS[name], 1000), FORMATS[name])
    status = cli.main(
        ["verify-float", "--op", op, "--vectors", str(file), "--format", name, "--json"]
    )
    answer = json.loads(capsys.readouterr().out)
    assert status == 0
    assert answer["mismatches"] == 0
    assert answer["rows"] == answer["compared"] + answer["outside"] == 1410
    assert answer["format"] == name


@pytest.mark.parametrize(
    "engine", ["golden", "myhdl", pytest.param("ghdl", marks=pytest.mark.ghdl)]
)
def test_each_engine_counts_the_same(
    op: str, engine: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "vectors"
    write_vectors(file, rows(op, BINARY32, 200), BINARY32)
    arguments = ["verify-float", "--op", op, "--vectors", str(file), "--engine", engine]
    assert cli.main(arguments) == 0
    text = capsys.readouterr().out
    assert f"{op} binary32, engine {engine}" in text
    assert "rows               610" in text
    assert "mismatches           0" in text


def test_a_wrong_row_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "vectors"
    file.write_text("3F800000 3F800000 40000000 00\n\n3F800000 40000000 40400001 00\n")
    assert cli.main(["verify-float", "--op", "add", "--vectors", str(file)]) == 1
    text = capsys.readouterr().out
    assert "mismatches           1" in text
    assert "line 3: 3F800000 40000000: 40400000, not 40400001" in text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", ": 0 rows: at least one line (a b result flags) is needed"),
        ("\n \n", ": 0 rows"),
        ("3F800000 3F800000 40000000\n", ":1: 3 fields: allowed are 4 (a, b, result, flags)"),
        ("3F80000 3F800000 40000000 00\n", ":1: a has 7 digits: allowed are 8 or 4 hexadecimal"),
        (
            "3F800000 3F800000 40000000 00\n3F800000 3F80 40000000 00\n",
            ":2: b '3F80': allowed are 8 hexadecimal digits",
        ),
        ("3F80000G 3F800000 40000000 00\n", ":1: a '3F80000G': allowed are 8 hexadecimal digits"),
        ("3F800000 0x800000 40000000 00\n", ":1: b '0x800000': allowed are 8 hexadecimal digits"),
        ("3F800000 3F800000 40000000 0\n", ":1: flags '0': allowed are 2 hexadecimal digits"),
        ("3F800000 3F800000 40000000 20\n", ":1: flags '20': allowed are 00 to 1F"),
        ("3F800000 3F800000 4000000\u00e9 00\n", ": not text: allowed are hexadecimal digits"),
    ],
)
def test_malformed_files_are_refused_in_one_line(
    text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "vectors"
    file.write_text(text, encoding="utf-8")
    assert cli.main(["verify-float", "--op", "add", "--vectors", str(file)]) == 2
    error = capsys.readouterr().err
    assert f"{file}{message}" in error
    assert error.count("\n") == 1


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="No such file"):
        read_vectors(tmp_path / "none")


def test_digits_must_fit_the_format_asked_for(tmp_path: Path) -> None:
    (tmp_path / "vectors").write_text("3F800000 3F800000 40000000 00\n")
    with pytest.raises(BadInput, match="a has 8 digits: allowed are 4 hexadecimal digits"):
        read_vectors(tmp_path / "vectors", "bfloat16")
