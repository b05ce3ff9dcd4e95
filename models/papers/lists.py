"""Read the lists of the papers' printed numbers.

Each number has the key of merp's value for it, or the reason why there is no such value. A list is
``data/NAME.toml``. A ``[[group]]`` has a place of the paper and its ``numbers``. The keys of a
group (``unit``, ``class``, ``within``, ``bound``, ``derived``, ``why``) apply to all its numbers; a
number may override them. An ``[[erratum]]`` is a misprint. ``[settings]`` has numbers of the text
that are not results: sizes, years, parts.
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
"""The papers, by the names of their architectures, in the order of the output."""

CLASSES: Final = {
    "E": "exact within the printed digits",
    "D": "follows from the paper's own formulas, with the error stated",
    "F": "a formula of ours with a constant that was fitted",
    "P": "a reading that was chosen after seeing the number",
    "N": "does not reproduce",
    "U": "cannot be checked here",
}
"""How a number is reproduced. A number of class U has no value of merp, but a reason."""

BOUNDS: Final = ("", "most", "least")
"""Whether the printed number is the value itself, or a bound of the value."""

READING: Final = 0.1
"""Allowed relative error of a reading (P)."""

SLACK: Final = 0.01
"""Relative error that a number of class N exceeds."""

MOST: Final = 0.1
"""The largest tolerance of reproduced numbers, apart from the rounding of printed digits."""

_SHARED: Final = ("unit", "class", "within", "bound", "derived", "why")
_OWN: Final = ("what", "printed", "row", "operands")


@dataclass(frozen=True, kw_only=True)
class PaperNumber:
    """A number that a paper prints.

    Attributes:
        place: section, table or figure.
        ``what``: name of the quantity.
        unit: unit as printed; ``holds`` for a statement, which is stored as 1.
        printed: the printed digits.
        row: key of merp's value; None if there is none.
        cls: one of ``CLASSES``.
        within: relative error up to which the number is reproduced; class N exceeds it.
        bound: one of ``BOUNDS``.
        derived: whether the number is not printed, but follows from printed numbers.
        why: for class U the reason, for N the attempts, for the others the reading.
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
        """The printed digits as a number."""
        return float(self.printed)


@dataclass(frozen=True)
class Erratum:
    """A printed value that contradicts its own definitions."""

    where: str
    printed: str
    found: str
    why: str


@dataclass(frozen=True, kw_only=True)
class Paper:
    """The list of a paper.

    Attributes:
        source: authors, title, place and year.
        phrase: a phrase that is most frequent in the paper's own text.
        numbers: the printed numbers, in the paper's order.
        errata: the misprints.
        settings: numbers of the text that are not results, by name.
    """

    source: str
    phrase: str
    numbers: tuple[PaperNumber, ...]
    errata: tuple[Erratum, ...]
    settings: Mapping[str, tuple[str, ...]]

    def __getitem__(self, key: tuple[str, str]) -> float:
        """Return the number at a place, by the name of the quantity.

        Raises:
            KeyError: there is no such number, or several different ones.
        """
        place, what = key
        found = {each.value for each in self.numbers if (each.place, each.what) == (place, what)}
        if len(found) != 1:
            raise KeyError(key)
        return found.pop()


def room_of(name: str) -> str:
    """Return the name of a paper in the spelling of modules and folders."""
    return name.replace("-", "_")


@cache
def paper(name: str) -> Paper:
    """Return the list of the paper ``name``, one of ``NAMES``.

    Raises:
        ValueError: an entry is wrong. The message names the file, the place and the entry.
    """
    file = f"{name}.toml"
    text = (files(__package__) / "data" / file).read_text(encoding="utf-8")
    return read(text, file)


def read(text: str, file: str) -> Paper:
    """Read a list from ``text``; error messages name ``file``.

    Raises:
        ValueError: an entry is wrong. The message names the file, the place and the entry.
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
    """Return the allowed relative error: the stated one, or the rounding of printed digits."""
    if cls in "DF":
        return float(entry["within"])
    if bound or cls == "U":
        return 0.0
    if cls == "E":
        digits = len(printed.partition(".")[2])
        rounding = (0.5 * 10.0**-digits + 1e-9) / abs(float(printed))
        return rounding + float(entry.get("operands", 0))
    return READING if cls == "P" else SLACK
