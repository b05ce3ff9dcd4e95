"""A reader of the papers' lists: each number with the row that answers it, or why none does.

A list is ``data/NAME.toml``. A ``[[group]]`` has a place of the paper and its ``numbers``. What a
group says (``unit``, ``class``, ``within``, ``bound``, ``derived``, ``why``) holds for all of them;
a number may say otherwise. An ``[[erratum]]`` is a misprint. ``[settings]`` has numbers of the text
that claim nothing: sizes, years, parts.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final

NAMES: Final[tuple[str, ...]] = tuple(
    json.loads((files(__package__) / "papers.json").read_text(encoding="utf-8"))
)
"""The papers, as their architectures are called, in the order in which they are printed."""

CLASSES: Final = {
    "E": "exact within the printed digits",
    "D": "follows from the paper's own formulas, with the error stated",
    "F": "a formula of ours with a constant that was fitted",
    "P": "a reading that was chosen after seeing the number",
    "N": "does not reproduce",
    "U": "cannot be checked here",
}
"""How a number is answered; U has no row, and a reason."""

BOUNDS: Final = ("", "most", "least")
"""Whether the printed number is the value itself, or a bound that the value must keep."""

READING: Final = 0.1
"""Relative error that a reading (P) may have."""

SLACK: Final = 0.01
"""Relative error that a number of class N exceeds."""

MOST: Final = 0.1
"""The largest tolerance of what counts as reproduced, but for the rounding of printed digits."""

_SHARED: Final = ("unit", "class", "within", "bound", "derived", "why")
_OWN: Final = ("what", "printed", "row", "operands")


@dataclass(frozen=True, kw_only=True)
class PaperNumber:
    """A number that a paper prints.

    Attributes:
        place: section, table or figure. what: of what it is. unit: as printed; ``holds`` of a
            statement, which is printed as 1.
        printed: its digits. derived: it follows from printed numbers and is not printed itself.
        row: key of the row that answers it; None if there is none.
        cls: of ``CLASSES``. bound: of ``BOUNDS``.
        within: relative error up to which it is reproduced; class N exceeds it.
        why: of U the reason, of N what was tried, of the others how it was read.
    """

    place: str
    what: str
    unit: str
    printed: str
    row: str | None
    cls: str
    within: float
    bound: str = ""
    derived: bool = False
    why: str = ""

    @property
    def value(self) -> float:
        """The number."""
        return float(self.printed)


@dataclass(frozen=True)
class Erratum:
    """A printed value that its own definitions do not give."""

    where: str
    printed: str
    found: str
    why: str


@dataclass(frozen=True, kw_only=True)
class Paper:
    """The list of a paper.

    Attributes:
        source: authors, title, place and year. phrase: of all papers' texts its own has it most.
        numbers: in the paper's order. errata: misprints.
        settings: numbers of its text that claim nothing, by what they are.
    """

    source: str
    phrase: str
    numbers: tuple[PaperNumber, ...]
    errata: tuple[Erratum, ...]
    settings: Mapping[str, tuple[str, ...]]

    def __getitem__(self, key: tuple[str, str]) -> float:
        """Return the number at a place, by what it is of.

        Raises:
            KeyError: there is none, or there are several that differ.
        """
        place, what = key
        found = {each.value for each in self.numbers if (each.place, each.what) == (place, what)}
        if len(found) != 1:
            raise KeyError(key)
        return found.pop()


def room_of(name: str) -> str:
    """The name of a paper as modules and folders have it."""
    return name.replace("-", "_")


@cache
def paper(name: str) -> Paper:
    """Return the list of ``name``, one of ``NAMES``.

    Raises:
        ValueError: an entry is not as it should be; the message has file, place and entry.
    """
    file = f"{name}.toml"
    text = (files(__package__) / "data" / file).read_text(encoding="utf-8")
    return read(text, file)


def read(text: str, file: str) -> Paper:
    """Return the list in ``text``; ``file`` is named where an entry is wrong.

    Raises:
        ValueError: an entry is not as it should be; the message has file, place and entry.
    """
    found = tomllib.loads(text)
    return Paper(
        source=found["source"],
        phrase=found["phrase"],
        numbers=tuple(_numbers(found["group"], file)),
        errata=tuple(Erratum(**each) for each in found.get("erratum", ())),
        settings={what: tuple(each) for what, each in found.get("settings", {}).items()},
    )


def _numbers(groups: list[dict[str, Any]], file: str) -> Iterator[PaperNumber]:
    for group in groups:
        shared: dict[str, Any] = {key: group[key] for key in _SHARED if key in group}
        unknown = group.keys() - {*_SHARED, "place", "numbers"}
        if unknown:
            raise ValueError(f"{file}: {group.get('place')}: unknown {', '.join(sorted(unknown))}")
        for each in group["numbers"]:
            where = f"{file}: {group['place']}: {each.get('what')}"
            try:
                yield _number(group["place"], {**shared, **each})
            except (KeyError, TypeError, ValueError) as wrong:
                raise ValueError(f"{where}: {wrong}") from None


def _number(place: str, entry: Mapping[str, Any]) -> PaperNumber:
    unknown = entry.keys() - {*_SHARED, *_OWN}
    if unknown:
        raise ValueError(f"unknown {', '.join(sorted(unknown))}")
    row = entry.get("row")
    cls = entry["class"] if row is not None else "U"
    why = entry.get("why", "")
    bound = entry.get("bound", "")
    if cls not in CLASSES or (row is not None and cls == "U"):
        raise ValueError(f"class {cls!r} of a number with a row: must be one of E, D, F, P, N")
    if cls in "NPU" and not why:
        raise ValueError(f"class {cls} needs a why")
    if bound not in BOUNDS:
        raise ValueError(f"bound {bound!r}: must be one of most, least")
    printed = entry["printed"]
    within = _within(cls, bound, printed, entry)
    if cls in "DFP" and within > MOST:
        raise ValueError(f"within {within}: at most {MOST}")
    return PaperNumber(
        place=place,
        what=entry["what"],
        unit=entry["unit"],
        printed=printed,
        row=row,
        cls=cls,
        within=within,
        bound=bound,
        derived=entry.get("derived", False),
        why=why,
    )


def _within(cls: str, bound: str, printed: str, entry: Mapping[str, Any]) -> float:
    """The relative error: as stated, or of the printed digits where they say it."""
    if cls in "DF":
        return float(entry["within"])
    if bound or cls == "U":
        return 0.0
    if cls == "E":
        digits = len(printed.partition(".")[2])
        rounding = (0.5 * 10.0**-digits + 1e-9) / abs(float(printed))
        return rounding + float(entry.get("operands", 0))
    return READING if cls == "P" else SLACK
