"""A node of a graph. Its attributes are read one by one, and errors are one line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from merp.models.base.errors import BadInput, shown
from merp.models.onnx.model_file import OWN_DOMAINS
from merp.models.onnx.tensor import Tensor

FLOAT, INT, STRING, TENSOR, GRAPH, INTS, GRAPHS = 1, 2, 3, 4, 5, 7, 10
"""Types of attributes (AttributeProto.AttributeType)."""

MOST_VALUES = 16
"""Most values that are read from a list attribute; no supported operator has more."""


@dataclass(frozen=True, eq=False)
class Node:
    """A node of a graph.

    Attributes:
        file: name of the model in messages.
        index: index of the node in the model, from 0; -1 for a node that is not in it.
        name: name of the node; may be empty.
        operator: type of the node.
        domain: domain of the operator.
        inputs, outputs: names of values; the name of an omitted optional value is empty.
        attributes: the ``AttributeProto`` messages, by name.
        constants: the constants of the graph, by name.
    """

    file: str
    index: int
    name: str
    operator: str
    domain: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Any]
    constants: Mapping[str, Tensor]
    _asked: set[str] = field(default_factory=set)

    @property
    def label(self) -> str:
        """Name of the node in messages: its name or number, and its operator."""
        operator = self.operator if self.domain in OWN_DOMAINS else f"{self.domain}.{self.operator}"
        called = shown(self.name) if self.name else f"number {self.index + 1}"
        return f"node {called} ({operator})"

    @property
    def where(self) -> str:
        """Start of a message: file and label."""
        return f"{self.file}: {self.label}"

    def refuse(self, what: str) -> BadInput:
        """Return an error about the node."""
        return BadInput(f"{self.where}: {what}")

    def bad(self, attribute: str, value: object, allowed: str) -> BadInput:
        """Return an error about the value of an attribute or an operand."""
        return self.refuse(f"{attribute} = {shown(value)}: must be {allowed}")

    def has(self, attribute: str) -> bool:
        """Return whether the node has the optional attribute."""
        self._asked.add(attribute)
        return attribute in self.attributes

    def whole(self, attribute: str, default: int) -> int:
        """Return an attribute that is a whole number."""
        found = self._value(attribute, INT, "i", "a whole number")
        return default if found is None else int(found)

    def number(self, attribute: str, default: float) -> float:
        """Return an attribute that is a number."""
        found = self._value(attribute, FLOAT, "f", "a number")
        return default if found is None else float(found)

    def text(self, attribute: str, default: str) -> str:
        """Return an attribute that is a string."""
        found = self._value(attribute, STRING, "s", "a text")
        return default if found is None else bytes(found).decode("utf-8", "replace")

    def wholes(self, attribute: str, default: Sequence[int]) -> list[int]:
        """Return an attribute that is a list of whole numbers, as long as ``default``."""
        said = f"{len(default)} whole numbers"
        found = self._value(attribute, INTS, "ints", said)
        if found is None:
            return list(default)
        values = [int(each) for each in found[: MOST_VALUES + 1]]
        if len(values) != len(default):
            raise self.bad(attribute, values, said)
        return values

    def tensor(self, attribute: str) -> Any:
        """Return an attribute that is a ``TensorProto``; None if it is missing."""
        return self._value(attribute, TENSOR, "t", "a tensor")

    def only(self, attribute: str, value: int, default: int | None = None) -> None:
        """Check that an attribute is ``value``; ``default`` is its value if it is missing.

        Raises:
            BadInput: the attribute has another value.
        """
        found = self.whole(attribute, value if default is None else default)
        if found != value:
            raise self.bad(attribute, found, str(value))

    def operand(self, index: int) -> Tensor | None:
        """Return the constant input ``index``; None if it is omitted.

        Raises:
            BadInput: the input exists and is not a constant.
        """
        name = self.inputs[index] if index < len(self.inputs) else ""
        if not name:
            return None
        if name not in self.constants:
            raise self.refuse(
                f"input {index + 1} {shown(name)} is computed: must be an initializer or a constant"
            )
        return self.constants[name]

    def required(self, index: int) -> Tensor:
        """Return the constant input ``index``.

        Raises:
            BadInput: the input is omitted, or not a constant.
        """
        found = self.operand(index)
        if found is None:
            raise self.refuse(f"input {index + 1} is missing")
        return found

    def takes(self, most: int) -> None:
        """Check that the node has at most ``most`` inputs.

        Raises:
            BadInput: the node has more inputs.
        """
        if len(self.inputs) > most:
            raise self.refuse(f"{len(self.inputs)} inputs: allowed are at most {most}")

    def finish(self) -> None:
        """Check that all attributes of the node were read; others are unknown.

        Raises:
            BadInput: there is an unknown attribute. The message lists the allowed attributes.
        """
        for name in self.attributes:
            if name not in self._asked:
                allowed = ", ".join(sorted(self._asked)) or "none"
                raise self.refuse(f"attribute {shown(name)} is not known: allowed are {allowed}")

    def _value(self, attribute: str, kind: int, field: str, allowed: str) -> Any:
        if not self.has(attribute):
            return None
        found = self.attributes[attribute]
        if found.type != kind or found.ref_attr_name:
            raise self.refuse(f"{attribute} is of another type: must be {allowed}")
        return getattr(found, field)
