"""The papers' lists beside the papers' texts: which numbers of a text no list has.

The texts are not part of the project. A folder has a ``.txt`` file for each paper; a paper's own is
the file that has the phrase of its list most often.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from merp.models.papers.lists import NAMES, Paper, paper

UNITS = {
    "%": "%",
    "x": "x", "X": "x", "times": "x", "-fold": "x",
    "GFlop/s": "Gop/s", "GFLOPS": "Gop/s", "GOPS": "Gop/s", "GOPs": "Gop/s", "Gop/s": "Gop/s",
    "Gflop/s": "Gop/s",
    "TFlop/s": "Top/s", "Top/s": "Top/s", "TOPS": "Top/s",
    "GOPs/J": "GOPS/J", "GOPS/J": "GOPS/J", "GOPs/W": "GOPS/J", "GOPS/W": "GOPS/J",
    "MB/GFlop": "MB/Gop", "MB/GFop": "MB/Gop", "MB/Gop": "MB/Gop",
    "GB/s": "GB/s", "Gb/s": "Gb/s", "MB/s": "MB/s", "GB": "GB", "MB": "MB", "KB": "KB",
    "W": "W", "Watt": "W", "ms": "ms", "sec": "s", "s": "s", "MHz": "MHz", "MHZ": "MHz",
    "Mbits": "Mbit", "GHz": "GHz",
}  # fmt: skip
"""Units that a text writes behind a number, each with the name that all its spellings share."""

_UNIT = "|".join(sorted(map(re.escape, UNITS), key=len, reverse=True))
NUMBER = re.compile(
    rf"(?<![\w.,])(?P<number>\d{{1,3}}(?:,\d{{3}})+|\d+(?:\.\d+)?)"
    rf"(?:\s?(?P<power>[KM])(?![A-Za-z])|\s?(?P<unit>(?:{_UNIT})(?![\w/])))?"
)
"""A number that stands alone, with a unit behind it; K and M are 10^3 and 10^6."""

REFERENCES = (
    r"\[\d+\](?:\s?-\s?\[\d+\])?",
    r"\[\d+(?:\s?,\s?\d+)*\]",
    r"\b(?:Fig(?:ure|s)?\.?|Table|Tables|Eqs?\.?|Equations?|equations?|Sects?\.?|Sections?|section"
    r"|Algorithm|Strategy|strategy|Strategies|strategies|Layer|layer|layers|step|Step|Datapath)"
    r"\s?\(?\d+(?:\.\d+)?\)?(?:\s?[-,]\s?\(?\d+\)?|\s?(?:and|to)\s\(?\d+(?:\.\d+)?\)?)*",
    r"\(\d{1,2}\)",
    r"\b(?:19|20)\d\d\b",
    r"\d+(?:th|nd|rd|st)\b",
    r"^\s*\d+[.)]:?\s",
    r"^\s*\d+:",
    r"\b\d+-?\s?(?:bits?|b)\b",
    r"\d+\s?[x*]\s?\d+(?:\s?[x*]\s?\d+)*(?![\d.]*[%])",
    r"<\|[^|]*\|>",
    r"\$\$.*?\$\$",
    r"\\\(.*?\\\)",
)
"""What refers to a place, a year or a line, counts bits or is a size: it claims nothing."""


@dataclass(frozen=True)
class Token:
    """A number of a text, its unit or "", and the text around it."""

    value: Decimal
    unit: str
    around: str


_PLAIN = {0xD7: "x", 0x2217: "*", 0x2013: "-"}
"""Signs of products and a dash as ASCII."""


def body(text: str) -> str:
    """The text without the list of references at its end, in lines of its own."""
    for mark in (r"^\s+1\.\s+1\.", r"^REFERENCES"):
        found = re.search(mark, text, re.MULTILINE)
        if found:
            return text[: found.start()]
    return text


def tokens(text: str) -> Iterator[Token]:
    """Every number of a text but references, years, places and sizes."""
    text = body(text).translate(_PLAIN)
    for pattern in REFERENCES:
        text = re.sub(pattern, lambda found: "§" * len(found[0]), text, flags=re.MULTILINE)
    for found in NUMBER.finditer(text):
        value = Decimal(found["number"].replace(",", ""))
        power = {"K": 1000, "M": 1_000_000, None: 1}[found["power"]]
        around = " ".join(text[max(0, found.start() - 40) : found.end() + 30].split())
        yield Token((value * power).normalize(), UNITS.get(found["unit"] or "", ""), around)


def _normal(value: str) -> Decimal:
    return Decimal(value).normalize()


_LISTED = {"10^3": 1000, "10^6": 1_000_000, "Mop": 1_000_000}
_SAME = {"GOPS": "Gop/s", "GFLOPS": "Gop/s", "GFlop/s": "Gop/s", "TFlop/s": "Top/s",
         "TOPS": "Top/s", "GOPS/W": "GOPS/J", "MB/GFlop": "MB/Gop"}  # fmt: skip


Pairs = set[tuple[Decimal, str]]


def listed(found: Paper) -> tuple[Pairs, set[Decimal], Pairs]:
    """Numbers of a list with their units, the same without, and its settings."""
    exact = set()
    for each in found.numbers:
        value = _normal(each.printed)
        unit = _SAME.get(each.unit, each.unit)
        exact.add((value, unit))
        if each.unit in _LISTED:
            exact.add(((value * _LISTED[each.unit]).normalize(), each.unit))
    settings = {setting(each) for some in found.settings.values() for each in some}
    return exact, {value for value, _ in exact}, settings


def setting(text: str) -> tuple[Decimal, str]:
    """A number that claims nothing, and its unit if it has one."""
    value, _, unit = text.partition(" ")
    return _normal(value), unit


def missing(text: str, found: Paper) -> tuple[Counter[str], list[Token]]:
    """How many numbers are in the list or a setting, and those that are neither.

    A number with a unit must be there with that unit; one of the list without a unit in the text,
    as in tables, may have any.
    """
    exact, values, settings = listed(found)
    counts: Counter[str] = Counter()
    left = []
    for token in tokens(text):
        counts["found"] += 1
        claimed = (token.value, token.unit) in exact if token.unit else token.value in values
        if claimed:
            counts["in the list"] += 1
        elif (token.value, token.unit) in settings:
            counts["settings"] += 1
        else:
            left.append(token)
    return counts, left


def unprinted(text: str, found: Paper) -> list[str]:
    """Numbers of the list that the text does not have."""
    printed = {token.value for token in tokens(text)}
    raw = {_normal(each.replace(",", "")) for each in re.findall(r"\d+(?:,\d{3})*(?:\.\d+)?", text)}
    scale = [1, Decimal(1) / 1000, 1000, 1_000_000]
    return [
        f"{each.place}: {each.what}: {each.printed} {each.unit}"
        for each in found.numbers
        if not each.derived
        and each.unit != "holds"
        and not any((_normal(each.printed) * by).normalize() in printed | raw for by in scale)
    ]


def texts(files: Iterable[Path]) -> dict[str, str]:
    """The text of each paper: of all files the one that has its phrase most often."""
    contents = [path.read_text(encoding="utf-8") for path in files]
    flat = [" ".join(content.split()) for content in contents]
    found = {}
    for name in NAMES:
        counts = [content.count(paper(name).phrase) for content in flat]
        if any(counts):
            found[name] = contents[counts.index(max(counts))]
    return found


def compare(folder: Path) -> int:
    """Print what each list lacks and what its text lacks; 0 if nothing is missing."""
    files = sorted(folder.glob("*.txt"))
    if not files:
        print(f"{folder}: no .txt files", file=sys.stderr)
        return 2
    found = texts(files)
    bad = 0
    for name in NAMES:
        if name not in found:
            print(f"{name}: no text")
            bad = 1
            continue
        counts, left = missing(found[name], paper(name))
        absent = unprinted(found[name], paper(name))
        print(
            f"{name}: {counts['found']} numbers, {counts['in the list']} in the list, "
            f"{counts['settings']} settings, {len(left)} missing; "
            f"{len(paper(name).numbers)} entries, {len(absent)} not in the text"
        )
        for token in left:
            print(f"  missing: {token.value} {token.unit}: ... {token.around} ...")
        for each in absent:
            print(f"  not in the text: {each}")
        bad |= bool(left or absent)
    return int(bad)
