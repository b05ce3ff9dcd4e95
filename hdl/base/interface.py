"""The ports of a top, by purpose: run-time registers, input and output streams, and status.

The interface of a top follows from its design. A table lists the bundles in the order of the ports
of the entity, and how to make each bundle.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar

from merp.hdl.conversion.ports import Ports

SINK, SOURCE = "s_axis", "m_axis"
"""Prefixes of stream names: into a top, and out of a top."""

WIRES = ("status", "arriving", "leaving")
"""Bundles that are neither streams nor registers."""


class Interface(Ports):
    """Bundles of ports, each under its own name."""

    def __init__(self, **bundles: Any) -> None:
        hidden = [name for name in bundles if hasattr(type(self), name)]
        if hidden:
            raise TypeError(f"{type(self).__name__} cannot have a port named {', '.join(hidden)}")
        vars(self).update(bundles)

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Return the bundle of this name."""

    def has(self, name: str) -> bool:
        """Check whether a bundle of this name exists."""
        return name in vars(self)

    def but(self, **bundles: Any) -> Self:
        """Return the same interface with some bundles replaced."""
        other = copy(self)
        vars(other).update(bundles)
        return other

    @property
    def sinks(self) -> dict[str, Any]:
        """Return the input streams of the top, by name."""
        return self._beginning(SINK)

    @property
    def sources(self) -> dict[str, Any]:
        """Return the output streams of the top, by name."""
        return self._beginning(SOURCE)

    @property
    def registers(self) -> dict[str, Any]:
        """Return the bundles of run-time registers, by name."""
        others = {*self.sinks, *self.sources, *WIRES}
        return self.ordered({n: each for n, each in vars(self).items() if n not in others})

    def ordered(self, bundles: dict[str, Any]) -> dict[str, Any]:
        """Return the bundles in the order of the register map and the pins."""
        return bundles

    def _beginning(self, side: str) -> dict[str, Any]:
        return self.ordered({n: each for n, each in vars(self).items() if n.startswith(side)})


DesignT = TypeVar("DesignT")


def always(design: Any) -> bool:
    """Return True: every design has the bundle."""
    return True


@dataclass(frozen=True)
class Member(Generic[DesignT]):
    """A bundle of an interface.

    Attributes:
        name: name of the bundle.
        make: function that makes the bundle for a design.
        there: function that checks whether a design has the bundle.
        words: name in status of the counter of the words of a stream; None if no counter exists.
        kind: class of the bundle, if ``make`` is not a class.
    """

    name: str
    make: Callable[[DesignT], Any]
    there: Callable[[DesignT], bool] = always
    words: str | None = None
    kind: Any = None

    @property
    def type(self) -> Any:
        """Return the class of the bundle, for the documentation of its ports; None for a signal."""
        return self.make if isinstance(self.make, type) else self.kind


def given(name: str, kind: Any = None, there: Callable[[Any], bool] = always) -> Member[Any]:
    """Define a bundle that the caller of the interface supplies."""

    def missing(design: Any) -> Any:
        raise TypeError(f"{name} must be given")

    return Member(name, missing, there, kind=kind)


class DesignPorts(Interface, Generic[DesignT]):
    """The ports that a design has: the members of ``MEMBERS`` that the design uses, in this order.

    ``WORDS`` lists the word counters in the order of status. ``LAST`` lists the bundles that are
    last among the registers or streams, in the register map and the pins.
    """

    MEMBERS: ClassVar[tuple[Member[Any], ...]]
    WORDS: ClassVar[tuple[str, ...]] = ()
    LAST: ClassVar[tuple[str, ...]] = ()

    def __init__(self, design: DesignT, **given: Any) -> None:
        """Make the bundles of ``design``; bundles in ``given`` are used as they are.

        Raises:
            TypeError: ``given`` holds a bundle that the design does not have.
        """
        there = [each for each in self.MEMBERS if each.there(design)]
        strange = given.keys() - {each.name for each in there}
        if strange:
            raise TypeError(f"{type(self).__name__} has no {', '.join(sorted(strange))}")
        super().__init__(
            **{
                each.name: given[each.name] if each.name in given else each.make(design)
                for each in there
            }
        )

    def ordered(self, bundles: dict[str, Any]) -> dict[str, Any]:
        """Return the bundles in the order of the register map and the pins."""
        places = {name: place for place, name in enumerate(self.LAST)}
        return dict(sorted(bundles.items(), key=lambda each: places.get(each[0], -1)))

    @classmethod
    def streams(cls) -> dict[str, str]:
        """Return the stream of each word counter that some design has, in the order of status."""
        known = {each.words: each.name for each in cls.MEMBERS}
        return {words: known[words] for words in cls.WORDS}

    @classmethod
    def streams_of(cls, design: DesignT) -> dict[str, str]:
        """Return the stream of each word counter that ``design`` has, in the order of status."""
        there = {each.words: each.name for each in cls.MEMBERS if each.there(design)}
        return {words: there[words] for words in cls.WORDS if words in there}

    def fields(self) -> Iterator[tuple[str, Any, bool]]:
        """Return name, bundle (None if absent) and optionality of each member."""
        for each in self.MEMBERS:
            yield each.name, vars(self).get(each.name), each.there is not always

    @property
    def counted(self) -> dict[str, str]:
        """Return the stream of each word counter, in the order of the ports."""
        return {
            each.words: each.name
            for each in self.MEMBERS
            if each.words is not None and self.has(each.name)
        }


class GivenPorts(DesignPorts[Collection[str]]):
    """The ports of a block inside an engine; the enclosing block supplies all of them."""

    def __init__(self, **bundles: Any) -> None:
        super().__init__(bundles.keys(), **bundles)


def given_all(**kinds: Any) -> tuple[Member[Any], ...]:
    """Return the bundles that a block always has, with their classes."""
    return tuple(given(name, kind) for name, kind in kinds.items())


def given_some(**kinds: Any) -> tuple[Member[Any], ...]:
    """Return the bundles that a block has in some designs only, with their classes."""
    return tuple(given(name, kind, partial(_brought, name)) for name, kind in kinds.items())


def _brought(name: str, there: Collection[str]) -> bool:
    return name in there
