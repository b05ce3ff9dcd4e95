"""Make the table of all designs, with one row for each, and count those that agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

EQUAL, SOFT = "equal", "not synthesizable"
EXPECTED, UNSIMULATED = "refusal is asked for", "MyHDL cannot simulate it"
NONE = "-"
ENGINES = {"ghdl": "VHDL", "verilator": "Verilog"}


@dataclass(frozen=True)
class Row:
    """A design with the worst of its parametrizations.

    Attributes:
        verdicts: by engine.
        reason: of a verdict other than ``equal``.
        asked: MyHDL's own converter refuses it, and a test of the suite expects that.
    """

    file: str
    design: str
    verdicts: Mapping[str, str]
    reason: str
    asked: bool

    @property
    def is_hardware(self) -> bool:
        """Whether its source is hardware."""
        return SOFT not in self.verdicts.values()

    @property
    def is_dead(self) -> bool:
        """Whether MyHDL cannot simulate it, so that no comparison is possible."""
        return UNSIMULATED in self.verdicts.values()

    @property
    def is_wanted(self) -> bool:
        """Whether it must be converted and agree."""
        return self.is_hardware and not self.asked and not self.is_dead

    def agrees(self, engines: Iterable[str]) -> bool:
        """Return whether it is equal in all these languages."""
        return all(self.verdicts.get(engine) == EQUAL for engine in engines)


def rows(files: Mapping[str, Mapping[str, Any]], engines: Sequence[str]) -> list[Row]:
    """Return one row for each design of each file, in the order of the files."""
    found = []
    for file, result in sorted(files.items()):
        families: dict[tuple[str, int], list[Mapping[str, Any]]] = {}
        for design in result.get("designs", ()):
            families.setdefault((design["design"], design["line"]), []).append(design)
        names = Counter(name for name, _ in families)
        for (name, line), family in sorted(families.items(), key=lambda each: each[0][1]):
            shown = name if names[name] == 1 else f"{name} (line {line})"
            found.append(_row(file, shown, family, engines))
    return found


def _row(file: str, name: str, family: Sequence[Mapping[str, Any]], engines: Sequence[str]) -> Row:
    soft = sorted({reason for design in family for reason in design["reasons"]})
    if soft:
        return Row(file, name, dict.fromkeys(engines, SOFT), ", ".join(soft), False)
    verdicts, reasons = {}, []
    for engine in engines:
        said = [tuple(design["verdicts"].get(engine, (NONE, ""))) for design in family]
        bad = [each for each in said if each[0] != EQUAL]
        verdicts[engine] = str(bad[0][0]) if bad else EQUAL
        reasons += [str(reason) for _, reason in bad[:1]]
    refusals = [str(design["myhdl"]) for design in family if design["myhdl"]]
    if refusals and reasons:
        reasons.append(f"MyHDL itself: {refusals[0]}")
    asked = any(design["asked"] for design in family)
    return Row(file, name, verdicts, "; ".join(dict.fromkeys(reasons)), asked)


def counts(found: Sequence[Row], engines: Sequence[str]) -> dict[str, int]:
    """Count the designs of each kind."""
    hardware = [row for row in found if row.is_hardware]
    asked = [row for row in hardware if row.asked]
    dead = [row for row in hardware if not row.asked and row.is_dead]
    wanted = [row for row in hardware if row.is_wanted]
    return {
        "designs": len(found),
        SOFT: len(found) - len(hardware),
        "synthesizable": len(hardware),
        EXPECTED: len(asked),
        UNSIMULATED: len(dead),
        "to be converted": len(wanted),
        "equal": sum(row.agrees(engines) for row in wanted),
        "equal, though MyHDL refuses": sum(row.agrees(engines) for row in asked),
    } | {
        f"{ENGINES[engine]}: {verdict}": number
        for engine in engines
        for verdict, number in sorted(Counter(row.verdicts[engine] for row in wanted).items())
    }
