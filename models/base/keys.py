"""Keys of a table in a TOML file: the allowed values, for the reader and for a schema of the
file.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, get_origin, get_type_hints

from merp.models.base.shape import Padding
from merp.models.base.toml_section import Section


def says_of(described: type) -> dict[str, str]:
    """Return the annotated description of each field of a class, by name."""
    hints = get_type_hints(described, include_extras=True)
    return {
        name: hint.__metadata__[0] for name, hint in hints.items() if get_origin(hint) is Annotated
    }


@dataclass(frozen=True, kw_only=True)
class WholeKey:
    """A whole number.

    Attributes:
        key: its name.
        says: its description, in a line.
        low, high: the least and the largest value; a reader may pass a smaller ``high``.
        default: the value of a missing key; None if the key is required, or if the reader passes a
            default.
        required: whether the key must be given.
    """

    key: str
    says: str
    low: int
    high: int
    default: int | None = None
    required: bool = False

    def read(self, section: Section, *, high: int | None = None, default: int | None = None) -> int:
        """Read it; ``high`` and ``default`` override the values of the key.

        Raises:
            BadInput: the key is missing, or its value is not allowed.
        """
        most = self.high if high is None else high
        return section.whole(self.key, self.low, most, self.default if default is None else default)


@dataclass(frozen=True, kw_only=True)
class Sides:
    """A whole number for all four sides of a map, or a list with one for each; see ``WholeKey``."""

    key: str
    says: str
    low: int
    high: int
    default: int
    required: bool = False

    def read(self, section: Section, *, high: int) -> Padding:
        """Read it, up to ``high``.

        Raises:
            BadInput: its value is not allowed.
        """
        return section.sides(self.key, self.low, high, self.default)


@dataclass(frozen=True, kw_only=True)
class Ratio:
    """An exact number: in decimals, or as a fraction in a string."""

    key: str
    says: str
    default: Fraction
    required: bool = False

    def read(self, section: Section) -> Fraction:
        """Read it.

        Raises:
            BadInput: its value is not allowed.
        """
        return section.ratio(self.key, self.default)


@dataclass(frozen=True, kw_only=True)
class FlagKey:
    """True or false; with the default None, the reader passes a default."""

    key: str
    says: str
    default: bool | None
    required: bool = False

    def read(self, section: Section) -> bool:
        """Read it.

        Raises:
            BadInput: its value is not allowed.
        """
        return section.flag(self.key, bool(self.default))


@dataclass(frozen=True, kw_only=True)
class WordKey:
    """One of several words.

    Attributes:
        other_names: names of other projects, in lower case; they are refused with a hint.
        aliases: other accepted spellings, with the words that they mean.
    """

    key: str
    says: str
    allowed: tuple[str, ...]
    default: str | None = None
    required: bool = False
    other_names: Mapping[str, str] | None = None
    aliases: Mapping[str, str] | None = None

    def read(self, section: Section) -> str:
        """Read it.

        Raises:
            BadInput: the key is missing, or its value is not allowed.
        """
        return section.choice(self.key, self.allowed, self.default, self.other_names, self.aliases)


@dataclass(frozen=True, kw_only=True)
class Reference:
    """The name of a layer, or nothing."""

    key: str
    says: str
    default: None = None
    required: bool = False

    def read(self, section: Section, names: Collection[str]) -> str | None:
        """Read it; ``names`` are the layers that it may name.

        Raises:
            BadInput: it names no such layer.
        """
        return section.choice(self.key, names) if section.has(self.key) else None


@dataclass(frozen=True, kw_only=True)
class Sources:
    """The name of a layer, a list of the names of several layers, or nothing."""

    key: str
    says: str
    default: None = None
    required: bool = False

    def read(self, section: Section, names: Collection[str]) -> str | tuple[str, ...] | None:
        """Read it; ``names`` are the layers that it may name.

        Raises:
            BadInput: it names no such layer, or a layer twice.
        """
        if not section.has(self.key):
            return None
        value = section.value(self.key)
        if not isinstance(value, list):
            return section.choice(self.key, names)
        known = all(isinstance(each, str) and each in names for each in value)
        if not known or len(value) < 2 or len(set(value)) < len(value):
            raise section.bad(self.key, f"two or more different names of {', '.join(names)}")
        return tuple(value)


@dataclass(frozen=True, kw_only=True)
class References:
    """A fixed number of names of different layers, or nothing.

    Attributes:
        key: its name.
        says: its description, in a line.
        count: the number of names.
        former: a former name of the key, which still works.
    """

    key: str
    says: str
    count: int
    former: str
    default: None = None
    required: bool = False

    def read(self, section: Section) -> tuple[str, ...]:
        """Read it; the caller checks that the layers exist.

        Raises:
            BadInput: its value is not allowed.
        """
        key = section.spelled(self.key, self.former)
        return section.texts(key, self.count) if section.has(key) else ()


Key = WholeKey | Sides | Ratio | FlagKey | WordKey | Reference | Sources | References
