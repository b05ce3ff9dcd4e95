"""Chunks of hexadecimal lines: the same rows however they are cut, the first wrong line named."""

import io

import numpy as np
import pytest

from merp.models.arithmetic.hex_lines import HexLines, WordColumn
from merp.models.base.errors import BadInput

COLUMNS = (WordColumn.of_bits("a", 9), WordColumn.of_bits("b", 36), WordColumn("flags", 2, 31))


def read(text: str, chunk: int) -> list[tuple[int, ...]]:
    found = HexLines(io.BytesIO(text.encode()), "file", chunk).rows(COLUMNS)
    return [
        row
        for rows in found
        for row in zip(rows.lines.tolist(), *(x.tolist() for x in rows.words), strict=True)
    ]


@pytest.mark.parametrize("chunk", [24, 25, 64, 1 << 20])
def test_rows_do_not_depend_on_chunks_nor_on_white_space(chunk: int) -> None:
    rng = np.random.default_rng(chunk)
    lines, wanted = [], []
    for line in range(1, 200):
        a, b, flags = (int(rng.integers(0, most)) for most in (1 << 9, 1 << 36, 32))
        fields = [f"{a:03x}", f"{b:09X}", f"{flags:02X}"]
        kind = line % 8 if line > 20 else 0
        if kind == 1:
            lines.append("  \t")
            continue
        gap = {2: "  ", 3: "\t"}.get(kind, " ")
        end = {4: " ", 5: "\r"}.get(kind, "")
        lines.append(gap.join(fields) + end)
        wanted.append((line, a, b, flags))
    text = "\n".join(lines)
    assert read(text, chunk) == read(text + "\n", chunk) == wanted
    crlf = "\r\n".join(lines)
    assert read(crlf, chunk) == wanted


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ("000 000000000", "2 fields: allowed are 3 (a, b, flags)"),
        ("200 000000000 00", "a '200': allowed are 000 to 1FF"),
        ("1FF 00000000G 00", "b '00000000G': allowed are 9 hexadecimal digits"),
        ("1FF 0000000000 00", "b '0000000000': allowed are 9 hexadecimal digits"),
        ("1FF_000000000 00", "2 fields"),
        ("0x1 000000000 00", "a '0x1': allowed are 3"),
        ("1FF 000000000 20", "flags '20': allowed are 00 to 1F"),
        ("1FF 00000000\u00e9 00", "not text"),
        ("1FF " + "0" * 70 + " 00", "b '" + "0" * 40 + "...': allowed are 9"),
    ],
)
def test_the_first_wrong_line_is_named(bad: str, message: str) -> None:
    good = "1FF FFFFFFFFF 1F\n"
    for before in (0, 1, 40):
        text = good * before + bad + "\n" + good * 3 + "worse\n"
        with pytest.raises(BadInput) as refused:
            read(text, 128)
        assert str(refused.value).startswith(f"file:{before + 1}: {message}")


def test_a_line_without_an_end_is_refused_before_it_fills_the_memory() -> None:
    class Endless(io.RawIOBase):
        read_bytes = 0

        def read(self, size: int = -1) -> bytes:
            Endless.read_bytes += size
            return b"0" * size

    with pytest.raises(BadInput, match="file:1: allowed are lines of at most 64 characters"):
        list(HexLines(Endless(), "file", 64).rows(COLUMNS))
    assert Endless.read_bytes <= 128


def test_peeking_and_skipping_count_lines() -> None:
    lines = HexLines(io.BytesIO(b"head\n\n1FF FFFFFFFFF 1F\n"), "file")
    assert (lines.peek(), lines.where()) == ("head", "file:1")
    lines.skip()
    assert (lines.peek(), lines.where()) == ("", "file:2")
    assert [rows.lines.tolist() for rows in lines.rows(COLUMNS)] == [[3]]
    assert HexLines(io.BytesIO(b""), "file").peek() is None
