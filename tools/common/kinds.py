"""Kinds of values in a request: how an option is parsed, and which Python values are allowed.

Kinds are neither compared nor printed. Their dataclasses omit these methods, because they would
slow down every start.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from merp.models.base.errors import BadInput, shown
from merp.models.base.renamed import renamed
from merp.tools.common.checks import flag, listener, number, one_of, path, text, whole_number

if TYPE_CHECKING:
    from merp.tools.common.request import About

Place = str | PathLike[str]
"""A path as a Python argument."""

Listener = Callable[[str], object]
"""A callback that receives each line about progress."""


class Kind:
    """A kind of values. The base class accepts any Python value."""

    allowed = ""
    """The allowed values in a few words; "" if the help text says them."""

    def form(self) -> dict[str, Any]:
        """Return arguments of ``add_argument``."""
        return {}

    def add(
        self, where: argparse._ActionsContainer, name: str, of: About
    ) -> list[tuple[str, str, Callable[[str, Path], object]]]:
        """Add the option of a field to a parser.

        Returns the outputs of the option: its name, the field's name, and a function that checks
        the path.
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
                    f"--{former.replace('_', '-')}", dest=name, action=Former, option=option
                )
        else:
            if not of.required and "nargs" not in form:
                form["nargs"] = "?"
            if names[0] != name:
                form.setdefault("metavar", names[0])
            where.add_argument(name, **form)
        return []

    def taken(self, args: argparse.Namespace, name: str) -> Any:
        """Return the field's value from the parsed arguments."""
        value = getattr(args, name)
        return tuple(value) if isinstance(value, list) else value

    def checked(self, name: str, value: Any) -> Any:
        """Return the argument ``name`` of a Python call in the form that an option would have.

        Raises:
            BadInput: it is not of this kind.
        """
        return value


class Former(argparse.Action):
    """A former name of an option. Help pages do not show it."""

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
        """Do the same as the option, and warn."""
        renamed(self.option_strings[0], self._option.option_strings[0])
        self._option(parser, namespace, values, option_string)


@dataclass(frozen=True, eq=False, repr=False)
class WholeOption(Kind):
    """A whole number from ``low`` to ``high``."""

    low: int
    high: int

    @property
    def allowed(self) -> str:  # type: ignore[override]
        """The limits."""
        return f"{self.low} to {self.high}"

    def form(self) -> dict[str, Any]:
        """Parse with ``int``."""
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
        """Accept every whole number, also NumPy's."""
        return whole_number(name, value, self.low, self.high)


@dataclass(frozen=True, eq=False, repr=False)
class Number(Kind):
    """A number within limits that ``says`` names and ``holds`` checks. ``holds`` refuses NaN."""

    says: str
    holds: Callable[[float], bool]

    @property
    def allowed(self) -> str:  # type: ignore[override]
        """The limits."""
        return self.says

    def form(self) -> dict[str, Any]:
        """Parse with ``float``."""
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
        """Accept every real number, also NumPy's."""
        return number(name, value, self.says, self.holds)


POSITIVE = Number("a number above 0 and below 10^6", lambda value: 0 < value < 1e6)


@dataclass(frozen=True, eq=False, repr=False)
class OneOf(Kind):
    """One of some words.

    Attributes:
        listed: the words; or ``package.module:NAME`` if their import is slow; or a function that
            lists them, if installed machines add words.
        aliases: other allowed spellings, each with its word.
    """

    listed: Collection[str] | str | Callable[[], Collection[str]]
    aliases: Mapping[str, str] = field(default_factory=dict)

    @property
    def words(self) -> tuple[str, ...]:
        """All allowed words."""
        if isinstance(self.listed, str):
            from pkgutil import resolve_name

            return tuple(resolve_name(self.listed))
        return tuple(self.listed() if callable(self.listed) else self.listed)

    @property
    def allowed(self) -> str:  # type: ignore[override]
        """All allowed words."""
        return ", ".join(self.words)

    def form(self) -> dict[str, Any]:
        """Return choices of argparse, which checks the word behind an alias."""
        return {"choices": self.words, **({"type": self._meant} if self.aliases else {})}

    def _meant(self, word: str) -> str:
        if (name := self.aliases.get(word)) is not None:
            renamed(word, name)
            return name
        return word

    def checked(self, name: str, value: Any) -> str:
        """Accept one of the words or an alias."""
        return one_of(name, self._meant(value) if isinstance(value, str) else value, self.words)


class Flag(Kind):
    """A flag: given or not."""

    def form(self) -> dict[str, Any]:
        """Return the form of an option without a value."""
        return {"action": "store_true"}

    def checked(self, name: str, value: Any) -> bool:
        """Accept a bool."""
        return flag(name, value)


class Text(Kind):
    """Any text."""

    def checked(self, name: str, value: Any) -> str:
        """Accept text."""
        return text(name, value)


class Named(Kind):
    """The name of a shipped item, or a path."""

    def checked(self, name: str, value: Any) -> str:
        """Accept text, or a path of text."""
        return fspath(path(name, value))


class File(Kind):
    """A file or a folder."""

    def form(self) -> dict[str, Any]:
        """Parse as a path."""
        return {"type": Path}

    def checked(self, name: str, value: Any) -> Path:
        """Accept text, or a path of text."""
        return path(name, value)


@dataclass(frozen=True, eq=False, repr=False)
class Written(File):
    """A path to write: a ``folder``, a ``package`` (a folder as a whole), or a ``file``."""

    place: str

    def add(
        self, where: argparse._ActionsContainer, name: str, of: About
    ) -> list[tuple[str, str, Callable[[str, Path], object]]]:
        """Add the option and register it as an output."""
        super().add(where, name, of)
        return [((of.options or (f"--{name}",))[0], name, self.check)]

    def check(self, option: str, path: Path) -> None:
        """Refuse a path that cannot be written, before any work.

        Raises:
            BadInput: it names the option and the obstacle.
        """
        from merp.tools.common.output import Output  # import only if a verb writes

        places = {"folder": Output.of_folder, "package": Output.of_package, "file": Output.of_file}
        places[self.place](option, path)


@dataclass(frozen=True, eq=False, repr=False)
class Read(Kind):
    """A value that ``read`` parses from text; it raises ``argparse.ArgumentTypeError``."""

    read: Callable[[str], Any]

    def form(self) -> dict[str, Any]:
        """Parse with ``read``."""
        return {"type": self.read}


@dataclass(frozen=True, eq=False, repr=False)
class Repeated(Kind):
    """Values of a kind, from an option that may be repeated."""

    each: Kind

    def form(self) -> dict[str, Any]:
        """Append each value."""
        return {**self.each.form(), "action": "append"}


@dataclass(frozen=True, eq=False, repr=False)
class Several(Kind):
    """Several values of a kind in a row; ``least`` is ``+`` for one or more, ``*`` for any."""

    each: Kind
    least: str

    def form(self) -> dict[str, Any]:
        """Take all values that follow."""
        return {**self.each.form(), "nargs": self.least}


class Opens(Kind):
    """A board, which has a method ``open``."""

    def checked(self, name: str, value: Any) -> Any:
        """Return the board."""
        if isinstance(value, PathLike) or not callable(getattr(value, "open", None)):
            raise BadInput(
                f"{name} = {shown(value)}: allowed is a board, such as merp.SimulatedDevice()"
            )
        return value


class Told(Kind):
    """A callback that receives the progress of a run."""

    def checked(self, name: str, value: Any) -> Listener:
        """Return the callback."""
        return listener(name, value)
