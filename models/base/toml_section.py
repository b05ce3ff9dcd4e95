"""Read one table of a TOML file; each wrong key or value is reported in one line."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Mapping
from difflib import get_close_matches
from fractions import Fraction
from math import isfinite
from pathlib import Path
from typing import Any

from merp.models.base.errors import BadInput, shown
from merp.models.base.names import ALLOWED_NAME, folder_name, is_name
from merp.models.base.renamed import renamed
from merp.models.base.shape import Padding
from merp.models.base.text_file import read_text

BYTES = 1 << 18
LINE_CHARACTERS = 4096
DEPTH = 8  # nested tables and lists
LARGEST = (1 << 63) - 1
RATIO = re.compile(r"[+-]?[0-9]{1,9}(\.[0-9]{1,9}|/0*[1-9][0-9]{0,8})?", re.ASCII)
"""A number in a string: short, because an exponent can make Python's fractions arbitrarily long."""


def read_toml(path: Path) -> dict[str, Any]:
    """Parse the TOML file ``path``.

    Raises:
        BadInput: the file cannot be read, is not TOML, or exceeds a limit: of size, length of a
            line, nesting, or a number.
    """
    text = read_text(path, BYTES)
    # A parser's time and depth grow with the length of a key. A key cannot exceed its line.
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > LINE_CHARACTERS:
            raise BadInput(
                f"{path}: line {number}: {len(line):,} characters: allowed are at most "
                f"{LINE_CHARACTERS:,}"
            )
    deep = BadInput(f"{path}: nested too deep: allowed are at most {DEPTH} tables and lists")
    try:
        values = tomllib.loads(text)
    except RecursionError:
        raise deep from None
    except ValueError as error:  # also of numbers that Python does not take
        raise BadInput(f"{path}: not TOML: {error}") from error
    inside: list[tuple[str, Any, int]] = [("file", values, 0)]
    while inside:
        where, value, depth = inside.pop()
        if isinstance(value, (dict, list)):
            if depth > DEPTH:
                raise deep
            pairs = value.items() if isinstance(value, dict) else ((where, x) for x in value)
            inside += [(key, each, depth + 1) for key, each in pairs]
        elif isinstance(value, int) and abs(value) > LARGEST:
            raise BadInput(f"{path}: {where} = {shown(value)}: allowed are at most {LARGEST}")
    return values


class Section:
    """A table that is read key by key; ``finish`` refuses the other keys."""

    def __init__(self, file: str, where: str, values: object) -> None:
        """Read the table ``values``, which messages call ``where`` in ``file``.

        Raises:
            BadInput: it is not a table.
        """
        self.file = file
        self.where = where
        if not isinstance(values, Mapping):
            raise BadInput(f"{file}: {where} must be a table, not {shown(values)}")
        self._values = values
        self._asked: dict[str, None] = {}

    def bad(self, key: str, allowed: str) -> BadInput:
        """Return the error about the value of ``key``."""
        value = self._values.get(key)
        said = str(value).lower() if isinstance(value, bool) else shown(value)
        return BadInput(f"{self.file}: {self.where}: {key} = {said}: must be {allowed}")

    def has(self, key: str) -> bool:
        """Return whether the table has the optional key ``key``."""
        self._asked[key] = None
        return key in self._values

    def spelled(self, key: str, former: str) -> str:
        """Return the key as the table spells it: its former name, with a warning, or its present
        name.
        """
        if key in self._values or former not in self._values:
            return key
        renamed(former, key)
        return former

    def _take(self, key: str, required: bool) -> Any:
        self._asked[key] = None
        if required and key not in self._values:
            near = get_close_matches(key, [k for k in self._values if k not in self._asked], 1)
            hint = f"; is {shown(near[0])} meant to be it?" if near else ""
            raise BadInput(f"{self.file}: {self.where}: {key} is missing{hint}")
        return self._values.get(key)

    def whole(self, key: str, low: int, high: int, default: int | None = None) -> int:
        """Return a whole number from ``low`` to ``high``; without a default the key is required."""
        value = self._take(key, default is None)
        if value is None and default is not None:
            return default
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise self.bad(key, f"a whole number from {low} to {high}")
        return value

    def sides(self, key: str, low: int, high: int, default: int) -> Padding:
        """Return a whole number, or a list of four of them: top, left, bottom, right."""
        value = self._take(key, False)
        if value is None:
            return default
        match value if isinstance(value, list) else [value] * 4:
            case [int(), int(), int(), int()] as each if all(
                not isinstance(side, bool) and low <= side <= high for side in each
            ):
                top, left, bottom, right = each
                return (top, left, bottom, right) if isinstance(value, list) else int(value)
        allowed = f"a whole number from {low} to {high}"
        raise self.bad(key, f"{allowed}, or four of them: [top, left, bottom, right]")

    def number(self, key: str, low: float, high: float, default: float | None = None) -> float:
        """Return a number from ``low`` to ``high``; without a default the key is required."""
        value = self._take(key, default is None)
        if value is None and default is not None:
            return default
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not low <= value <= high:
            raise self.bad(key, f"a number from {low:g} to {high:g}")
        return float(value)

    def ratio(self, key: str, default: Fraction) -> Fraction:
        """Return an exact number: in decimals as it is written, or a fraction in a string."""
        value = self._take(key, False)
        if value is None:
            return default
        if isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value):
            return Fraction(str(value))
        if isinstance(value, str) and RATIO.fullmatch(value):
            return Fraction(value)
        raise self.bad(key, 'a number, or a fraction in a text: "1/255"')

    def text(self, key: str) -> str:
        """Return the string of a required key."""
        value = self._take(key, True)
        if not isinstance(value, str):
            raise self.bad(key, "a text")
        return value

    def texts(self, key: str, count: int) -> tuple[str, ...]:
        """Return a list of ``count`` different strings of a required key."""
        value = self._take(key, True)
        texts = isinstance(value, list) and all(isinstance(each, str) for each in value)
        if not texts or len(value) != count or len(set(value)) != count:
            raise self.bad(key, f"a list of {count} different texts")
        return tuple(value)

    def flag(self, key: str, default: bool) -> bool:
        """Return true or false."""
        value = self._take(key, False)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise self.bad(key, "true or false")
        return value

    def name(self, taken: set[str] | None = None) -> str:
        """Return the ``name``, which differs from earlier names in letters or digits.

        taken: the folder names of the earlier names. The folder name of this name is added.
        """
        value = self._take("name", True)
        if not isinstance(value, str) or not is_name(value):
            raise self.bad("name", ALLOWED_NAME)
        if taken is not None:
            folder = folder_name(value)
            if folder in taken:
                raise self.bad("name", "unique in letters and digits, by which files are named")
            taken.add(folder)
        return value

    def choice(
        self,
        key: str,
        allowed: Collection[str],
        default: str | None = None,
        other_names: Mapping[str, str] | None = None,
        aliases: Mapping[str, str] | None = None,
    ) -> str:
        """Return one of ``allowed``; one of ``aliases`` is replaced by its meaning.

        If the value is one of ``other_names``, in lower case, the message explains its meaning
        elsewhere.
        """
        value = self._take(key, default is None)
        if value is None and default is not None:
            return default
        if isinstance(value, str):
            if (name := (aliases or {}).get(value)) is not None:
                renamed(value, name)
                value = name
        if not isinstance(value, str) or value not in allowed:
            meant = (other_names or {}).get(str(value).lower())
            near = get_close_matches(meant or str(value), list(allowed), 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            if meant is not None and meant not in allowed:
                hint = f"; {meant} is not built"
            raise self.bad(key, f"one of {', '.join(allowed) or 'none'}{hint}")
        return str(value)

    def table(self, key: str) -> Section:
        """Return the table of ``key``."""
        return Section(self.file, f"{self.where}: {key}", self.value(key))

    def value(self, key: str) -> Any:
        """Return the value of the required key ``key``, of any type."""
        return self._take(key, True)

    def finish(self) -> None:
        """Refuse keys that were never read.

        Raises:
            BadInput: there is such a key; the message names the first one and the allowed keys.
        """
        for key in self._values:
            if key not in self._asked:
                near = get_close_matches(key, self._asked, 1, 0.7)
                hint = f"; did you mean {near[0]}?" if near else ""
                raise BadInput(
                    f"{self.file}: {self.where}: unknown key {shown(key)}: "
                    f"allowed are {', '.join(self._asked)}{hint}"
                )
