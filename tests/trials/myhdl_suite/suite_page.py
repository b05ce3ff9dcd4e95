"""The page with the results of MyHDL's own suite."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from suite_table import ENGINES, EXPECTED, NONE, SOFT, UNSIMULATED, Row, counts

_HEAD = """# MyHDL's own suite

The source distribution of MyHDL has tests for its converter. [Our converter](conversion.md)
converts each design of these tests. GHDL and Verilator then simulate the VHDL and the Verilog, and
compare each output with MyHDL. The tests run in the unpacked distribution; none of their code is
copied. This command writes the page:

    python tests/trials/myhdl_suite/run.py --suite {suite} --markdown docs/myhdl-suite.md

## Counted designs

A design is the innermost block with ports that a test instantiates. Benches are not counted. A
design is not synthesizable in these cases:

- Its source prints, waits for a time, opens a file, reads the simulation's time, or ends the
  simulation.
- A process ends, or waits in several places.
- The block has no output, or a port has no width.

A design with several parametrizations is one row, with the worst of its verdicts.

The bench of a test drives the inputs of a design. If it drives few values, random inputs are added.
For some designs, a test expects an error of MyHDL's converter. They are not counted, independent of
their result here.

## Results

"""

_VERDICTS = """
`equal`: every output has the same bits as in MyHDL, in every row of the trace. `refused`: the
converter names the construct that has no hardware, in one line. `differs`: an output has other
bits.

## Designs that are refused or differ

[The page of the converter](conversion.md#refused) explains each refusal and suggests other code.

"""

_UNLIKE = """
The table omits designs for which a test expects an error. In the designs that differ, a process
waits for a change of a signal. MyHDL runs it at the first change, hardware at power-up ([limits of
the checks](conversion.md#limits-of-the-checks)).

## Every design

"""


def page(found: Sequence[Row], engines: Sequence[str], suite: str) -> str:
    """Return the whole page."""
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
        ("MyHDL's converter refuses them, as a test expects", numbers[EXPECTED]),
        ("MyHDL cannot simulate them", numbers[UNSIMULATED]),
        ("**convertible**", wanted),
        ("**equal in " + " and ".join(ENGINES[each] for each in engines) + "**", equal),
        ("share of the convertible designs", _percent(equal, wanted)),
    ]
    lines = ["| designs | number |", "| --- | --: |", *(f"| {name} | {n} |" for name, n in rows)]
    return "".join(f"{line}\n" for line in lines)


def _table(rows: Iterable[Row]) -> Iterator[str]:
    heads = ("suite file", "design", *ENGINES.values(), "reason")
    yield "| " + " | ".join(heads) + " |"
    yield "|" + " --- |" * len(heads)
    for row in rows:
        verdicts = [row.verdicts.get(engine, NONE) for engine in ENGINES]
        reason = _code(row.reason) if row.is_hardware else row.reason
        cells = (f"`{row.file}`", f"`{row.design}`", *verdicts, reason)
        yield "| " + " | ".join(cells) + " |"


def _code(text: str) -> str:
    """Return a message as code of a table's cell."""
    text = text.replace(" (docs/conversion.md#refused)", "").replace("|", "\\|")
    return f"`` {text} ``" if "`" in text else f"`{text}`" if text else ""


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "none"
