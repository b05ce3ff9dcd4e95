"""Requests: a frozen dataclass for each verb declares each field once, with its description.

Options, help, checks, keywords in Python and tables of the documentation are derived from the
fields. ``arguments.add_request`` derives options, ``asks`` derives keywords of a method.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import MISSING, dataclass, field, fields, replace
from functools import update_wrapper
from os import PathLike
from textwrap import fill, indent
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar

from merp.models.base.errors import BadInput
from merp.models.base.given import as_arguments, given, mention, name_of
from merp.models.base.renamed import renamed
from merp.tools.common.kinds import Flag, Kind

P = ParamSpec("P")
Asked = TypeVar("Asked")
Owner = TypeVar("Owner")
Answer = TypeVar("Answer")

ABOUT = "about"
"""Key of a field's metadata."""


class Being(NamedTuple):
    """A condition: a field of the request is given, and is one of ``values``, if there are any."""

    field: str
    values: tuple[str, ...] = ()

    def holds(self, request: object) -> bool:
        """Return whether a request satisfies the condition."""
        value = getattr(request, self.field, None)
        return value in self.values if self.values else is_given(value)

    def __str__(self) -> str:
        """Return the condition as the user would write it."""
        if not self.values:
            return name_of(self.field)
        if len(self.values) > 2:
            return mention(self.field, ", ".join(self.values))
        return " or ".join(mention(self.field, value) for value in self.values)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class About:
    """The properties of a field of a request, except its name and type.

    Attributes:
        kind: kind of its values.
        default: value if the field is not given.
        help: help text of the option; "" if there is no option.
        says: description for Python, if it differs.
        options: names of the option; by default ``--`` and the field's name. A name without dashes
            is a positional argument of the verb.
        metavar: placeholder of the value.
        required: the option must be given.
        group: only one of the fields of a group may be given.
        section: section of the help page.
        after: the field that it follows on the help page, if it is declared elsewhere.
        last: it is the last on the help page.
        former: former names, which still work.
        needs: one of these conditions must hold if the field is given.
        without: none of these conditions may hold if the field is given.
    """

    kind: Kind
    default: Any = None
    help: str | Callable[[], str] = ""
    says: str = ""
    options: tuple[str, ...] = ()
    metavar: str | None = None
    required: bool = False
    group: str = ""
    section: str = ""
    after: str = ""
    last: bool = False
    former: tuple[str, ...] = ()
    needs: tuple[Being, ...] = ()
    without: tuple[Being, ...] = ()

    @property
    def text(self) -> str:
        """The help text of the option."""
        return self.help if isinstance(self.help, str) else self.help()


def option(
    kind: Kind, help: str | Callable[[], str], *options: str, default: Any = None, **more: Any
) -> Any:
    """Declare a field that is an option, and a keyword if ``asks`` takes the request.

    Further arguments are attributes of ``About``.
    """
    default = False if isinstance(kind, Flag) and default is None else default
    about = About(kind=kind, help=help, options=options, default=default, **more)
    return field(default=default, metadata={ABOUT: about})


def keyword(kind: Kind, says: str, *, default: Any = None, **more: Any) -> Any:
    """Declare a field that is a keyword in Python only."""
    about = About(kind=kind, says=says, default=default, **more)
    return field(default=default, metadata={ABOUT: about})


def again(request: type, name: str, **changes: Any) -> Any:
    """Declare a field of ``request`` again with changes for one verb or method."""
    (found,) = (each for each in fields(request) if each.name == name)
    about = replace(found.metadata[ABOUT], **changes)
    return field(default=about.default, metadata={ABOUT: about})


def needed(kind: Kind, says: str) -> dict[str, About]:
    """Return metadata of a field that Python must give: ``field(metadata=needed(...))``."""
    return {ABOUT: About(kind=kind, says=says, default=MISSING)}


@dataclass(frozen=True, kw_only=True)
class Typed:
    """A request that knows its command line.

    Attributes:
        words: the command line after ``merp``.
    """

    words: tuple[str, ...] = ()


def declared(request: type) -> Iterator[tuple[str, About]]:
    """Yield the fields of a request in the order of its help page."""
    names = {each.name: each.metadata[ABOUT] for each in fields(request) if each.metadata}
    order = [name for name in names if not names[name].after]
    order.sort(key=lambda name: names[name].last)
    for name in names:
        if after := names[name].after:
            order.insert(order.index(after) + 1 if after in names else 0, name)
    return ((name, names[name]) for name in order)


def is_given(value: object) -> bool:
    """Return whether a value was given; None and False mean that it was not."""
    return value is not None and value is not False


def is_asked(request: Any, name: str, of: About) -> bool:
    """Return whether a field was given and differs from its default."""
    value = getattr(request, name)
    return is_given(value) and (value is True or value != of.default)


def check_together(request: Any) -> None:
    """Refuse fields that exclude each other.

    Raises:
        BadInput: it names the field, its value, and the field that it needs or excludes.
    """
    for name, of in declared(type(request)):
        if not (of.needs or of.without) or not is_asked(request, name, of):
            continue
        value = getattr(request, name)
        plain = isinstance(value, str | int | float | PathLike) and value is not True
        asked = given(name, value) if plain else name_of(name)
        if of.needs and not any(each.holds(request) for each in of.needs):
            raise BadInput(f"{asked}: allowed with {' or '.join(map(str, of.needs))}")
        for each in of.without:
            if each.holds(request):
                raise BadInput(f"{asked}: allowed without {each}")


def asks(
    request: Callable[P, Asked],
) -> Callable[[Callable[[Owner, Asked], Answer]], Callable[Concatenate[Owner, P], Answer]]:
    """Give a method the keywords of a request; the method receives the checked request.

    Type checkers read the keywords from the request's own ``__init__``. ``inspect`` and ``help``
    see them, too.
    """
    made: Callable[..., Asked] = request
    takes = {name: each for name, each in declared(request)}  # type: ignore[arg-type]
    former = {before: name for name, each in takes.items() for before in each.former}

    def decorate(
        method: Callable[[Owner, Asked], Answer],
    ) -> Callable[Concatenate[Owner, P], Answer]:
        own = inspect.signature(method)
        signature = inspect.signature(request)
        owner = next(iter(own.parameters.values()))
        shown = signature.replace(
            parameters=[owner, *signature.parameters.values()],
            return_annotation=own.return_annotation,
        )

        def called(self: Owner, /, *args: P.args, **keywords: P.kwargs) -> Answer:
            for before, name in former.items():
                if before in keywords and name not in keywords:
                    renamed(before, name)
                    keywords[name] = keywords.pop(before)
            try:
                bound = shown.bind(self, *args, **keywords).arguments
            except TypeError as error:
                raise TypeError(f"{method.__qualname__}() {error}") from None
            values = {
                name: value if value is None and takes[name].default is None
                else takes[name].kind.checked(name, value)
                for name, value in list(bound.items())[1:]
            }  # fmt: skip
            with as_arguments():
                asked = made(**values)
                check_together(asked)
                return method(self, asked)

        update_wrapper(called, method)
        called.__signature__ = shown  # type: ignore[attr-defined]
        called.request = request  # type: ignore[attr-defined]
        called.__doc__ = _with_arguments(inspect.cleandoc(method.__doc__ or ""), takes)
        return called

    return decorate


def _with_arguments(text: str, takes: dict[str, About]) -> str:
    """Return a docstring with its ``Args`` in front of ``Raises``."""
    lines = [f"{name}: {each.says or each.text}" for name, each in takes.items()]
    wrapped = (fill(line, 86, subsequent_indent="    ") for line in lines)
    said = "Args:\n" + indent("\n".join(wrapped), "    ") + "\n\n"
    plain = inspect.cleandoc(text)
    head, raises, rest = plain.partition("Raises:\n")
    return f"{head}{said}{raises}{rest}" if raises else f"{plain}\n\n{said}".rstrip()
