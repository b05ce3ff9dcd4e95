"""Kinds of values in a request: how an option reads one, and what Python may give.

Kinds are neither compared nor printed. So their dataclasses have no methods for it, which would
take time to make at every start.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from merp.models.base.errors import shown
from merp.models.base.renamed import renamed
from merp.tools.common.checks import flag, listener, number, one_of, path, text, whole_number

if TYPE_CHECKING:
    from merp.tools.common.request import About

Place = str | PathLike[str]
"""A path, as Python gives one."""

Listener = Callable[[str], object]
"""Is called with each line about progress."""


class Kind:
    """A kind of values; as such, whatever Python gives."""

    allowed = ""
    """Which values, in a few words; "" where the help says it."""

    def form(self) -> dict[str, Any]:
        """Arguments of ``add_argument``."""
        return {}

    def add(
        self, where: argparse._ActionsContainer, name: str, of: About
    ) -> list[tuple[str, str, Callable[[str, Path], object]]]:
        """Add the option of a field to a parser.

        Returns what is written there: the option's name, the field's, and what checks the place.
        """
        names = of.options or (f"--{name.replace('_', '-')}",)
        default = list(of.default) if isinstance(of.default, tuple) else of.default
        form = {"help": of.text, "default": default, **self.form()}
        if of.metavar is not None:
            form["metavar"] = of.metavar
        if names[0].startswith("-"):
            option = where.add_argument(*names, dest=name, required=of.required, **form)
            for former in of.former:
                where.add_argument(
                    f"--{former.replace('_', '-')}", dest=name, action=_Former, option=option
                )
        else:
            if not of.required and "nargs" not in form:
                form["nargs"] = "?"
            if names[0] != name:
                form.setdefault("metavar", names[0])
            where.add_argument(name, **form)
        return []

    def taken(self, args: argparse.Namespace, name: str) -> Any:
        """The field's value of what was parsed."""
        value = getattr(args, name)
        return tuple(value) if isinstance(value, list) else value

    def checked(self, name: str, value: Any) -> Any:
        """The argument ``name`` of a Python call, as an option would have read it.

        Raises:
            BadInput: it is not of this kind.
        """
        return value


class _Former(argparse.Action):
    """A former name of an option, which no help page shows."""

    def __init__(self, *, option: argparse.Action, **names: Any) -> None:
        like: dict[str, Any] = {
            "nargs": option.nargs,
            "type": option.type,
            "choices": option.choices,
        }
        super().__init__(**names, **like, default=argparse.SUPPRESS, help=argparse.SUPPRESS)
        self._option = option

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Do as the option does."""
        renamed(self.option_strings[0], self._option.option_strings[0])
        self._option(parser, namespace, values, option_string)


@dataclass(frozen=True, eq=False, repr=False)
class WholeOption(Kind):
    """A whole number from ``low`` to ``high``."""

    low: int
    high: int

    @property
    def allowed(self) -> str:  # type: ignore[override]
        """Both ends."""
        return f"{self.low} to {self.high}"

    def form(self) -> dict[str, Any]:
        """Read by ``int``."""
        return {"type": self._read}

    def _read(self, given: str) -> int:
        said = f"must be a whole number from {self.low} to {self.high}, not {shown(given)}"
        try:
            value = int(given)
        except ValueError as error:
            raise argparse.ArgumentTypeError(said) from error
        if not self.low <= value <= self.high:
            raise argparse.ArgumentTypeError(said)
        return value

    def checked(self, name: str, value: Any) -> int:
        """Whatever is a whole number, such as NumPy's."""
        return whole_number(name, value, self.low, self.high)


@dataclass(frozen=True, eq=False, repr=False)
class Number(Kind):
    """A number; ``says`` names the limits that ``holds`` checks. NaN must not hold."""

    says: str
    holds: Callable[[float], bool]

    @property
    def allowed(self) -> str:  # type: ignore[override]
        """The limits."""
        return self.says

    def form(self) -> dict[str, Any]:
        """Read by ``float``."""
        return {"type": self._read}

    def _read(self, given: str) -> float:
        try:
            value = float(given)
        except ValueError:
            value = math.nan
        if not self.holds(value):
            raise argparse.ArgumentTypeError(f"must be {self.says}, not {shown(given)}")
        return value

    def checked(self, name: str, value: Any) -> float:
        """Whatever is a real number, such as NumPy's."""
        return number(name, value, self.says, self.holds)


POSITIVE = Number("a number above 0 and below 10^6", lambda value: 0 < value < 1e6)


@dataclass(frozen=True, eq=False, repr=False)
class OneOf(Kind):
    """One of some words.

    Attributes:
        listed: the words; or ``package.module:NAME`` of words that take long to import; or a
            function that lists them, where installed machines bring some.
        aliases: other spellings that are taken, and what they stand for.
    """

    listed: Collection[str] | str | Callable[[], Collection[str]]
    aliases: Mapping[str, str] = field(default_factory=dict)

    @property
    def words(self) -> tuple[str, ...]:
        """All of them."""
        if isinstance(self.listed, str):
            from pkgutil import resolve_name

            return tuple(resolve_name(self.listed))
        return tuple(self.listed() if callable(self.listed) else self.listed)

    @property
    def allowed(self) -> str:  # type: ignore[override]
        """All of them."""
        return ", ".join(self.words)

    def form(self) -> dict[str, Any]:
        """Choices of argparse, which checks what a word stands for."""
        return {"choices": self.words, **({"type": self._meant} if self.aliases else {})}

    def _meant(self, word: str) -> str:
        if (name := self.aliases.get(word)) is not None:
            renamed(word, name)
            return name
        return word

    def checked(self, name: str, value: Any) -> str:
        """Exactly one of the words, or what stands for one."""
        return one_of(name, self._meant(value) if isinstance(value, str) else value, self.words)


class Flag(Kind):
    """Given or not."""

    def form(self) -> dict[str, Any]:
        """An option without a value."""
        return {"action": "store_true"}

    def checked(self, name: str, value: Any) -> bool:
        """A bool."""
        return flag(name, value)


class Text(Kind):
    """Any text."""

    def checked(self, name: str, value: Any) -> str:
        """Text."""
        return text(name, value)


class Named(Kind):
    """The name of something that is shipped, or a path."""

    def checked(self, name: str, value: Any) -> str:
        """Text, or a path of text."""
        return fspath(path(name, value))


class File(Kind):
    """A file or a folder."""

    def form(self) -> dict[str, Any]:
        """Read as a path."""
        return {"type": Path}

    def checked(self, name: str, value: Any) -> Path:
        """Text, or a path of text."""
        return path(name, value)


@dataclass(frozen=True, eq=False, repr=False)
class Written(File):
    """What is written, a ``folder`` or a ``file``."""

    place: str

    def add(
        self, where: argparse._ActionsContainer, name: str, of: About
    ) -> list[tuple[str, str, Callable[[str, Path], object]]]:
        """Add the option, and say that it is written."""
        super().add(where, name, of)
        return [((of.options or (f"--{name}",))[0], name, self.check)]

    def check(self, option: str, path: Path) -> None:
        """Refuse, before any work, where nothing can be written.

        Raises:
            BadInput: it names the option, and what stands in the way.
        """
        from merp.tools.common.output import Output  # what writes nothing does not wait for it

        (Output.of_folder if self.place == "folder" else Output.of_file)(option, path)


@dataclass(frozen=True, eq=False, repr=False)
class Read(Kind):
    """What ``read`` makes of text, or raises ``argparse.ArgumentTypeError``."""

    read: Callable[[str], Any]

    def form(self) -> dict[str, Any]:
        """Read so."""
        return {"type": self.read}


@dataclass(frozen=True, eq=False, repr=False)
class Repeated(Kind):
    """Values of a kind: an option that may be given again."""

    each: Kind

    def form(self) -> dict[str, Any]:
        """Each is appended."""
        return {**self.each.form(), "action": "append"}


@dataclass(frozen=True, eq=False, repr=False)
class Several(Kind):
    """Values of a kind behind each other; ``least`` is ``+`` for one or more, ``*`` for any."""

    each: Kind
    least: str

    def form(self) -> dict[str, Any]:
        """As many as there are."""
        return {**self.each.form(), "nargs": self.least}


class Told(Kind):
    """A callback that receives the progress of a run."""

    def checked(self, name: str, value: Any) -> Listener:
        """Return the callback."""
        return listener(name, value)
