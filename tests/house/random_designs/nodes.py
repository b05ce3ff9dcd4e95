"""The tree of a design: each node is a piece of source."""

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Node:
    """A piece of source.

    Attributes:
        sort: what may stand in its place; a ``number`` for any other number.
        text: a template, with a pair of braces for each kid.
        kids: the pieces inside.
        name: of the instance that a process or a child is.
    """

    sort: str
    text: str = ""
    kids: tuple["Node", ...] = ()
    name: str = ""

    def __str__(self) -> str:
        """The source."""
        if self.sort == "block":
            return textwrap.indent("\n".join(map(str, self.kids)) or "pass", "    ")
        if self.sort == "items":
            return "\n".join(map(str, self.kids))
        if self.sort == "body":
            names = [kid.name for kid in self.kids if kid.name]
            lines = [*map(str, self.kids), f"return {', '.join(names)}"]
            return textwrap.indent("\n".join(lines), "    ")
        if self.sort == "chain":
            arms = [f"{'el' if i else ''}{kid}" for i, kid in enumerate(self.kids[:-1])]
            if not arms:
                return f"if True:\n{self.kids[-1]}"
            return "\n".join(arms) + (f"\nelse:\n{self.kids[-1]}" if self.kids[-1].kids else "")
        return self.text.format(*self.kids)

    def size(self) -> int:
        """How many pieces it has."""
        return 1 + sum(kid.size() for kid in self.kids)

    @classmethod
    def number(cls, text: str, *kids: "Node") -> "Node":
        """An expression that is a number."""
        return cls("number", text, kids)

    @classmethod
    def truth(cls, text: str, *kids: "Node") -> "Node":
        """An expression that is a truth."""
        return cls("truth", text, kids)

    @classmethod
    def literal(cls, value: int) -> "Node":
        """A constant."""
        return cls.number(str(value) if value >= 0 else f"({value})")

    @classmethod
    def line(cls, text: str, *kids: "Node") -> "Node":
        """A statement."""
        return cls("statement", text, kids)

    @classmethod
    def block(cls, *kids: "Node") -> "Node":
        """Statements, one below the other and indented."""
        return cls("block", "", kids)

    @classmethod
    def chain(cls, arms: Sequence[tuple["Node", "Node"]], otherwise: "Node") -> "Node":
        """``if`` and ``elif``, each with its condition and its block, and the block of ``else``."""
        kids = [cls("arm", "if {}:\n{}", arm) for arm in arms]
        return cls("chain", "", (*kids, otherwise))

    @classmethod
    def guarded(cls, condition: "Node", *statements: "Node") -> "Node":
        """``if`` without ``else``."""
        return cls.chain([(condition, cls.block(*statements))], cls.block())


def renamed(node: Node, old: str, new: str) -> Node:
    """The source with another name."""
    kids = tuple(renamed(kid, old, new) for kid in node.kids)
    return replace(node, text=whole_word(old).sub(new, node.text), kids=kids)


def whole_word(name: str) -> re.Pattern[str]:
    """What finds a name, and no other that contains it."""
    return re.compile(rf"\b{name}\b")
