"""Keys of a table in a TOML file: what each may be, for its reader and for a schema of the file."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, get_origin, get_type_hints

from merp.models.base.shape import Padding
from merp.models.base.toml_section import Section


def says_of(described: type) -> dict[str, str]:
    """What a class says of its fields, by name: the text that each is annotated with."""
    hints = get_type_hints(described, include_extras=True)
    return {
        name: hint.__metadata__[0] for name, hint in hints.items() if get_origin(hint) is Annotated
    }


@dataclass(frozen=True, kw_only=True)
class WholeKey:
    """A whole number.

    Attributes:
        key: its name. says: what it is, in a line.
        low, high: the least and the largest; a reader may know a smaller ``high``.
        default: where it is not given; None if it must be, or if the reader knows another.
        required: whether it must be given.
    """

    key: str
    says: str
    low: int
    high: int
    default: int | None = None
    required: bool = False

    def read(self, section: Section, *, high: int | None = None, default: int | None = None) -> int:
        """Read it, up to ``high`` and with ``default`` where they say more than the key.

        Raises:
            BadInput: it is missing, or another value.
        """
        most = self.high if high is None else high
        return section.whole(self.key, self.low, most, self.default if default is None else default)


@dataclass(frozen=True, kw_only=True)
class Sides:
    """A whole number for all four sides of a map, or a list of one for each; as of ``WholeKey``."""

    key: str
    says: str
    low: int
    high: int
    default: int
    required: bool = False

    def read(self, section: Section, *, high: int) -> Padding:
        """Read it, up to ``high``.

        Raises:
            BadInput: it is another value.
        """
        return section.sides(self.key, self.low, high, self.default)


@dataclass(frozen=True, kw_only=True)
class Ratio:
    """An exact number: in decimals, or as a fraction in a text."""

    key: str
    says: str
    default: Fraction
    required: bool = False

    def read(self, section: Section) -> Fraction:
        """Read it.

        Raises:
            BadInput: it is another value.
        """
        return section.ratio(self.key, self.default)


@dataclass(frozen=True, kw_only=True)
class FlagKey:
    """True or false; None as the default is what the reader knows."""

    key: str
    says: str
    default: bool | None
    required: bool = False

    def read(self, section: Section) -> bool:
        """Read it.

        Raises:
            BadInput: it is another value.
        """
        return section.flag(self.key, bool(self.default))


@dataclass(frozen=True, kw_only=True)
class WordKey:
    """One of some words.

    Attributes:
        other_names: what they are called elsewhere, in lower case; refused with a hint.
        aliases: other spellings that are taken, and what they stand for.
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
            BadInput: it is missing, or another value.
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
        """Read it; ``names`` are those of the layers that it may be.

        Raises:
            BadInput: it is another one.
        """
        return section.choice(self.key, names) if section.has(self.key) else None


@dataclass(frozen=True, kw_only=True)
class References:
    """Names of so many different layers, or nothing.

    Attributes:
        key: its name. says: what it is, in a line. count: how many names.
        former: a name that the key had before, which still works.
    """

    key: str
    says: str
    count: int
    former: str
    default: None = None
    required: bool = False

    def read(self, section: Section) -> tuple[str, ...]:
        """Read it; whether there are such layers the caller knows.

        Raises:
            BadInput: it is something else.
        """
        key = section.spelled(self.key, self.former)
        return section.texts(key, self.count) if section.has(key) else ()


Key = WholeKey | Sides | Ratio | FlagKey | WordKey | Reference | References
