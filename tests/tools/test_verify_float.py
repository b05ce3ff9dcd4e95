"""TestFloat files: reading, the flush rule, and the verb; vectors from exact arithmetic."""

import io
import json
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from exact import INEXACT, OPERATIONS, number
from marks import engines
from merp.models.arithmetic import testfloat
from merp.models.arithmetic.ieee import ieee
from merp.models.arithmetic.testfloat import (
    UNDERFLOW,
    FileVectors,
    Tininess,
    expected,
    write_vectors,
)
from merp.models.base.errors import BadInput
from merp.models.base.formats import BFLOAT16, BINARY16, BINARY32, FloatFormat
from merp.tools import cli
from terminal import Terminal

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


def read_vectors(path: Path, fmt: FloatFormat | None = None) -> FileVectors:
    """A file of one chunk."""
    with path.open("rb") as source:
        (vectors,) = testfloat.read_vectors(source, str(path), fmt)
    return vectors


@pytest.fixture(params=["add", "sub", "mul"])
def op(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", FORMATS)
def test_the_flush_rule_agrees_with_exact_flushing(op: str, name: str, tmp_path: Path) -> None:
    fmt = FORMATS[name]
    write_vectors(tmp_path / "vectors", rows(op, fmt, 2000), fmt)
    vectors = read_vectors(tmp_path / "vectors", fmt)
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


@pytest.mark.sample(8)
@pytest.mark.parametrize("fmt", [FloatFormat(3, 2), FloatFormat(4, 3), BFLOAT16, BINARY32])
@pytest.mark.parametrize("tininess", ["before", "after"])
def test_with_tininess_known_no_row_is_outside(
    op: str, tininess: Tininess, fmt: FloatFormat, tmp_path: Path
) -> None:
    """Exact flushing decides each row; the flag of a file that detects it before is made here."""
    cases = list(rows(op, fmt, 200))
    if fmt.width == 6:
        pairs = product(range(64), repeat=2)
        cases = [(a, b, *OPERATIONS[op](a, b, fmt, flush=False)) for a, b in pairs]
    if tininess == "before" and op == "mul":
        cases = [(a, b, result, flagged_before(a, b, flags, fmt)) for a, b, result, flags in cases]
    write_vectors(tmp_path / "vectors", cases, fmt)
    vectors = read_vectors(tmp_path / "vectors", fmt)
    assert op != "mul" or expected(op, vectors).outside.any()
    rule = expected(op, vectors, tininess)
    assert not rule.outside.any()
    wanted = [OPERATIONS[op](a, b, fmt).word for a, b, *_ in cases]
    assert rule.words.tolist() == wanted


def flagged_before(a: int, b: int, flags: int, fmt: FloatFormat) -> int:
    """Flags where tininess is detected before rounding: by the exact product."""
    x, y = (number(word, fmt, flush=False).magnitude for word in (a, b))
    tiny = x is not None and y is not None and 0 < x * y < Fraction(2) ** (1 - fmt.bias)
    return flags | UNDERFLOW if tiny and flags & INEXACT else flags


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


@pytest.mark.sample(3)
@pytest.mark.parametrize("engine", engines("golden", "myhdl", "ghdl"))
def test_each_engine_counts_the_same(
    op: str, engine: str, tmp_path: Path, terminal: Terminal
) -> None:
    file = tmp_path / "vectors"
    write_vectors(file, rows(op, BINARY32, 200), BINARY32)
    arguments = ["verify-float", "--op", op, "--vectors", str(file), "--engine", engine]
    text = terminal.output(*arguments)
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
        ("3F800000 3F800000 4000000\u00e9 00\n", ":1: not text: allowed are hexadecimal digits"),
    ],
)
def test_malformed_files_are_refused_in_one_line(
    text: str, message: str, tmp_path: Path, terminal: Terminal
) -> None:
    file = tmp_path / "vectors"
    file.write_text(text, encoding="utf-8")
    error = terminal.refusal("verify-float", "--op", "add", "--vectors", file)
    assert f"{file}{message}" in error


def test_a_missing_file_is_refused(tmp_path: Path, terminal: Terminal) -> None:
    line = terminal.refusal("verify-float", "--op", "add", "--vectors", tmp_path / "none")
    assert "No such file" in line


def test_digits_must_fit_the_format_asked_for(tmp_path: Path) -> None:
    (tmp_path / "vectors").write_text("3F800000 3F800000 40000000 00\n")
    with pytest.raises(BadInput, match="a has 8 digits: allowed are 4 hexadecimal digits"):
        read_vectors(tmp_path / "vectors", BFLOAT16)


def verified(*arguments: str, status: int = 0) -> None:
    assert cli.main(["verify-float", *arguments]) == status


@pytest.mark.parametrize("name", ["e8f27", "e5f6", "e4f3"])
@pytest.mark.parametrize("engine", ["golden", "myhdl"])
def test_any_format_of_the_adder(name: str, engine: str, tmp_path: Path, capsys) -> None:
    fmt = FloatFormat(int(name[1]), int(name[3:]))
    file = tmp_path / "vectors"
    write_vectors(file, rows("sub", fmt, 100), fmt)
    verified("--op", "sub", "--vectors", str(file), "--engine", engine, "--format", name, "--json")
    answer = json.loads(capsys.readouterr().out)
    assert (answer["format"], answer["mismatches"], answer["rows"]) == (name, 0, 510)


@pytest.mark.parametrize(("op", "latency"), [("add", 1), ("sub", 5), ("mul", 2)])
def test_each_latency_of_a_unit(op: str, latency: int, tmp_path: Path, capsys) -> None:
    file = tmp_path / "vectors"
    write_vectors(file, rows(op, BINARY16, 20), BINARY16)
    options = ("--engine", "myhdl", "--latency", str(latency), "--json")
    verified("--op", op, "--vectors", str(file), *options)
    assert json.loads(capsys.readouterr().out)["latency"] == latency


def test_standard_input_with_the_prefix_of_testfloat(monkeypatch, capsys) -> None:
    def give(text: bytes) -> None:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text)))

    row = b"3F800000 3F800000 40000000 00\n"
    give(b"f32_add, level 1\n" + row)
    verified("--op", "add", "--vectors", "-", "--prefix", "f32_add, level 1")
    give(b"f32_add, level 1\n" + row)
    verified("--op", "add", "--vectors", "-", "--prefix", "f32_mul", status=2)
    error = capsys.readouterr().err
    assert "standard input:1: not the text of --prefix: 'f32_mul'" in error
    give(b"f32_add, level 1\n" + row)
    verified("--op", "add", "--vectors", "-", status=2)
    assert "standard input:1: a has 8 digits" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("made", "rounding", "asked", "hint"),
    [
        ("mul", "near_even", "add", "--op mul explains all"),
        ("add", "near_even", "sub", "--op add explains all"),
        ("add", "minMag", "add", "testfloat_gen -rminMag (towards zero) explains all"),
        ("mul", "max", "mul", "testfloat_gen -rmax (upwards) explains all"),
        ("sub", "odd", "mul", "--op sub and testfloat_gen -rodd (to odd) explains all"),
    ],
)
def test_a_hint_says_what_the_file_is(
    made: str, rounding: str, asked: str, hint: str, tmp_path: Path, capsys
) -> None:
    pairs = [row[:2] for row in rows(made, BINARY16, 300)]
    found = [(a, b, ieee(made, a, b, BINARY16, rounding), 0) for a, b in pairs]
    write_vectors(tmp_path / "vectors", found, BINARY16)
    verified("--op", asked, "--vectors", str(tmp_path / "vectors"), status=1)
    assert f"hint: {hint}" in capsys.readouterr().out


def test_a_single_fault_gets_no_hint(tmp_path: Path, capsys) -> None:
    cases = list(rows("add", BINARY32, 300))
    a, b, result, flags = cases[-1]
    write_vectors(tmp_path / "vectors", [*cases[:-1], (a, b, result ^ 1, flags)], BINARY32)
    verified("--op", "add", "--vectors", str(tmp_path / "vectors"), status=1)
    assert "hint" not in capsys.readouterr().out


@pytest.mark.ghdl
def test_ghdl_says_what_it_compared(tmp_path: Path, capsys, monkeypatch) -> None:
    file = tmp_path / "vectors"
    write_vectors(file, [*rows("mul", BINARY16, 0)][:50], BINARY16)
    arguments = ("--op", "mul", "--vectors", str(file), "--engine", "ghdl", "--json")
    verified(*arguments)
    answer = json.loads(capsys.readouterr().out)
    assert answer["vhdl"] == {"cycles": 50 + answer["latency"], "difference": None}

    def differs(*_: object) -> int:
        raise AssertionError("fp_mul.y (16 bits), cycle 7: expected 0x1, got 0x0")

    monkeypatch.setattr("merp.cosim.block.replay.replay", differs)
    verified(*arguments, status=1)
    out, err = capsys.readouterr()
    assert json.loads(out)["vhdl"]["difference"].endswith("expected 0x1, got 0x0")
    assert json.loads(out)["rows"] == 50
    assert err.count("\n") == 1


SUM_FILES = [
    ("fused", "4", ["--precision", "28"]),
    ("fused", "9", ["--dsp", "2", "--window", "28"]),
    ("row", "5", []),
    ("row", "3", ["--dsp", "2", "--window", "30", "--precision", "26"]),
]


@pytest.mark.sample(2)
@pytest.mark.parametrize(("kind", "taps", "options"), SUM_FILES)
def test_sums_are_written_and_read(
    kind: str, taps: str, options: list[str], tmp_path: Path, capsys
) -> None:
    file = str(tmp_path / "sums")
    verified("--op", kind, "-o", file, "--taps", taps, "--rows", "40", "--seed", "3", *options)
    assert "rows" in capsys.readouterr().out
    verified("--op", kind, "--vectors", file, "--json")
    answer = json.loads(capsys.readouterr().out)
    assert (answer["mismatches"], answer["op"], answer["taps"]) == (0, kind, int(taps))
    lines = Path(file).read_text().splitlines()
    assert len(lines) == answer["rows"] + 1
    # The block itself, on a part of them.
    Path(file).write_text("\n".join([lines[0], *lines[1:6], *lines[6::25]]))
    verified("--op", kind, "--vectors", file, "--engine", "myhdl")
    head, *words, total = lines[0], *lines[1].split()
    Path(file).write_text(f"{head}\n{' '.join(words)} {int(total, 16) ^ 1:0{len(total)}X}\n")
    verified("--op", kind, "--vectors", file, status=1)
    assert "line 2: " in capsys.readouterr().out


def test_a_flushed_sum_of_a_row_is_a_zero_without_sign_in_its_gradient(tmp_path: Path) -> None:
    """The sum of a row, negative and below 2^-126, is -0; +0 plus that is +0."""
    file = tmp_path / "sums"
    file.write_text(
        "row taps=2 dsp=2 window=32 precision=24\n1F800000 00000000 9FFFFFFF 3F800000 80000000\n"
    )
    verified("--op", "row", "--vectors", str(file))
    verified("--op", "row", "--vectors", str(file), "--engine", "myhdl")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--op add", "allowed is one of --vectors FILE and -o FILE"),
        ("--op add -o x", "-o x: --op add is not written: allowed with fused, row"),
        ("--op row -o x", "-o x: --taps is needed"),
        ("--op row -o x --taps 3 --vectors y", "allowed is one of"),
        ("--op row --vectors x --taps 3", "--taps 3: allowed with -o"),
        (
            "--op row --vectors x --tininess after",
            "--tininess after: allowed with --op add, sub, mul",
        ),
        ("--op add --vectors x --latency 3", "--latency 3: allowed without --engine golden"),
        ("--op mul --vectors x --format e8f27", "at most 23 fraction bits"),
    ],
)
def test_options_that_say_nothing_are_refused(
    arguments: str, message: str, tmp_path: Path, monkeypatch, capsys
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("x").write_text("3F800000 3F800000 3F800000 00\n")
    verified(*arguments.split(), status=2)
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_a_latency_that_no_unit_has_is_refused(tmp_path: Path, capsys) -> None:
    (tmp_path / "x").write_text("3F800000 3F800000 3F800000 00\n")
    options = ("--engine", "myhdl", "--latency", "4")
    verified("--op", "mul", "--vectors", str(tmp_path / "x"), *options, status=2)
    assert "--latency 4: allowed for mul are 1 to 3" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["e9f2", "e8f28", "float32", "e8", "e08f023x"])
def test_a_format_that_no_unit_has_is_refused(name: str, capsys) -> None:
    with pytest.raises(SystemExit) as stopped:
        cli.main(["verify-float", "--op", "add", "--vectors", "x", "--format", name])
    assert stopped.value.code == 2
    assert name in capsys.readouterr().err
