"""The page that says what becomes of the designs of MyHDL's own suite."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from suite_table import ENGINES, EXPECTED, NONE, SOFT, UNSIMULATED, Row, counts

_HEAD = """# MyHDL's own suite

The source distribution of MyHDL has tests for its converter. Here [our converter](conversion.md)
converts each of their designs. GHDL and Verilator then run the VHDL and the Verilog against MyHDL,
output by output. The tests run where they are unpacked; nothing of them is copied. This page is
written by

    python tests/trials/myhdl_suite/run.py --suite {suite} --markdown docs/myhdl-suite.md

## What counts

A design is the innermost block with ports that a test instantiates. Benches do not count. A design
is not synthesizable if its source prints, waits for a time, opens a file, reads the simulation's
time, or ends the simulation. The same holds for a process that ends or waits in several places, for
a block without an output, and for a port without a width. A design with several parametrizations is
one row, with the worst of its verdicts.

Its inputs are those that the bench drives, and random ones where that is little. Some designs are
there to be refused: a test wants MyHDL's converter to raise an error. They do not count, whatever
becomes of them here.

## What comes out

"""

_VERDICTS = """
`equal`: every output has the same bits as in MyHDL, at every row of the trace. `refused`: the
converter says in one line what has no hardware. `differs`: an output has other bits.

## What does not agree

What each refusal means, and what to write instead, stands on
[the page of the converter](conversion.md#refused).

"""

_UNLIKE = """
A design whose refusal a test wants is not among these. Where one `differs`, a process waits for a
change of a signal and MyHDL runs it no earlier: hardware does at power-up
([what the converter does not notice](conversion.md#what-it-does-not-notice)).

## Every design

"""


def page(found: Sequence[Row], engines: Sequence[str], suite: str) -> str:
    """The whole page."""
    unlike = [row for row in found if row.is_wanted and not row.agrees(engines)]
    return "".join([
        _HEAD.format(suite=suite), _counted(found, engines), _VERDICTS,
        "".join(f"{line}\n" for line in _table(unlike)), _UNLIKE,
        "".join(f"{line}\n" for line in _table(found)),
    ])  # fmt: skip


def _counted(found: Sequence[Row], engines: Sequence[str]) -> str:
    numbers = counts(found, engines)
    wanted, equal = numbers["to be converted"], numbers["equal"]
    rows = [
        ("designs that tests instantiate", numbers["designs"]),
        ("not synthesizable", numbers[SOFT]),
        ("MyHDL's converter refuses them, as a test wants", numbers[EXPECTED]),
        ("MyHDL cannot simulate them", numbers[UNSIMULATED]),
        ("**to be converted**", wanted),
        ("**equal in " + " and ".join(ENGINES[each] for each in engines) + "**", equal),
        ("share of those to be converted", _percent(equal, wanted)),
    ]
    lines = ["| what | number |", "| --- | --: |", *(f"| {what} | {n} |" for what, n in rows)]
    return "".join(f"{line}\n" for line in lines)


def _table(rows: Iterable[Row]) -> Iterator[str]:
    heads = ("suite file", "design", *ENGINES.values(), "reason")
    yield "| " + " | ".join(heads) + " |"
    yield "|" + " --- |" * len(heads)
    for row in rows:
        verdicts = [row.verdicts.get(engine, NONE) for engine in ENGINES]
        cells = (f"`{row.file}`", f"`{row.design}`", *verdicts, _cell(row.reason))
        yield "| " + " | ".join(cells) + " |"


def _cell(text: str) -> str:
    text = text.replace(" (docs/conversion.md#refused)", "")
    for sign in ("\\", "|", "*", "_", "`", "["):
        text = text.replace(sign, f"\\{sign}")
    return text.replace("<", "&lt;")


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "none"
