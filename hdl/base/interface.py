"""The ports of a top, by purpose: its run-time registers, streams in and out, and status.

A top of a design has an interface that follows from the design: a table says which bundles there
are, in the order of the entity's ports, and what each is made of.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar

from merp.hdl.conversion.ports import Ports

SINK, SOURCE = "s_axis", "m_axis"
"""How the names of streams begin: into a top, and out of it."""

WIRES = ("status", "arriving", "leaving")
"""Bundles that are neither streams nor registers."""


class Interface(Ports):
    """Bundles of ports, each under its own name."""

    def __init__(self, **bundles: Any) -> None:
        hidden = [name for name in bundles if hasattr(type(self), name)]
        if hidden:
            raise TypeError(f"{type(self).__name__} cannot call a port {', '.join(hidden)}")
        vars(self).update(bundles)

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """The bundle of that name."""

    def has(self, name: str) -> bool:
        """Whether there is a bundle of this name."""
        return name in vars(self)

    def but(self, **bundles: Any) -> Self:
        """The same with other bundles in the place of some."""
        other = copy(self)
        vars(other).update(bundles)
        return other

    @property
    def sinks(self) -> dict[str, Any]:
        """Streams into the top, by name."""
        return self._beginning(SINK)

    @property
    def sources(self) -> dict[str, Any]:
        """Streams out of the top, by name."""
        return self._beginning(SOURCE)

    @property
    def registers(self) -> dict[str, Any]:
        """Bundles of run-time registers, by name."""
        others = {*self.sinks, *self.sources, *WIRES}
        return self.ordered({n: each for n, each in vars(self).items() if n not in others})

    def ordered(self, bundles: dict[str, Any]) -> dict[str, Any]:
        """Bundles in the order of the register map and the pins."""
        return bundles

    def _beginning(self, side: str) -> dict[str, Any]:
        return self.ordered({n: each for n, each in vars(self).items() if n.startswith(side)})


DesignT = TypeVar("DesignT")


def always(design: Any) -> bool:
    """Every design has it."""
    return True


@dataclass(frozen=True)
class Member(Generic[DesignT]):
    """A bundle of an interface.

    Attributes:
        name: of the bundle. make: it, as a design has it. there: whether a design has it.
        words: of a stream, what the counter of its words is called in status; None: nothing counts
            them.
        kind: its class, if ``make`` is none.
    """

    name: str
    make: Callable[[DesignT], Any]
    there: Callable[[DesignT], bool] = always
    words: str | None = None
    kind: Any = None

    @property
    def type(self) -> Any:
        """Class of the bundle, for who explains its ports; None for a signal."""
        return self.make if isinstance(self.make, type) else self.kind


def given(name: str, kind: Any = None, there: Callable[[Any], bool] = always) -> Member[Any]:
    """A bundle that whoever makes the interface brings."""

    def missing(design: Any) -> Any:
        raise TypeError(f"{name} must be given")

    return Member(name, missing, there, kind=kind)


class DesignPorts(Interface, Generic[DesignT]):
    """The ports that a design has: those of ``MEMBERS`` that are there, in this order.

    ``WORDS``: the counters of words in the order of status. ``LAST``: bundles that stand last among
    the registers, or the streams, of the register map and the pins.
    """

    MEMBERS: ClassVar[tuple[Member[Any], ...]]
    WORDS: ClassVar[tuple[str, ...]] = ()
    LAST: ClassVar[tuple[str, ...]] = ()

    def __init__(self, design: DesignT, **given: Any) -> None:
        """Make the bundles of ``design``; those that are ``given`` are taken as they are.

        Raises:
            TypeError: a bundle is given that the design does not have.
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
        """Bundles in the order of the register map and the pins."""
        places = {name: place for place, name in enumerate(self.LAST)}
        return dict(sorted(bundles.items(), key=lambda each: places.get(each[0], -1)))

    @classmethod
    def streams(cls) -> dict[str, str]:
        """The stream of each counter of words that some design has, in the order of status."""
        known = {each.words: each.name for each in cls.MEMBERS}
        return {words: known[words] for words in cls.WORDS}

    @classmethod
    def streams_of(cls, design: DesignT) -> dict[str, str]:
        """The stream of each counter of words that ``design`` has, in the order of status."""
        there = {each.words: each.name for each in cls.MEMBERS if each.there(design)}
        return {words: there[words] for words in cls.WORDS if words in there}

    def fields(self) -> Iterator[tuple[str, Any, bool]]:
        """Name and bundle of each member, and whether it is optional: None if it is not there."""
        for each in self.MEMBERS:
            yield each.name, vars(self).get(each.name), each.there is not always

    @property
    def counted(self) -> dict[str, str]:
        """The stream of each counter of words, in the order of the ports."""
        return {
            each.words: each.name
            for each in self.MEMBERS
            if each.words is not None and self.has(each.name)
        }


class GivenPorts(DesignPorts[Collection[str]]):
    """The ports of a block inside an engine: whoever has the block brings all of them."""

    def __init__(self, **bundles: Any) -> None:
        super().__init__(bundles.keys(), **bundles)


def given_all(**kinds: Any) -> tuple[Member[Any], ...]:
    """Bundles that a block always has, with their classes."""
    return tuple(given(name, kind) for name, kind in kinds.items())


def given_some(**kinds: Any) -> tuple[Member[Any], ...]:
    """Bundles that a block has in some designs, with their classes."""
    return tuple(given(name, kind, partial(_brought, name)) for name, kind in kinds.items())


def _brought(name: str, there: Collection[str]) -> bool:
    return name in there
