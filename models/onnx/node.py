"""A node of a graph, read attribute by attribute, each complaint in one line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from merp.models.base.errors import BadInput, shown
from merp.models.onnx.model_file import OWN_DOMAINS
from merp.models.onnx.tensor import Tensor

FLOAT, INT, STRING, TENSOR, FLOATS, INTS = 1, 2, 3, 4, 6, 7  # AttributeProto.AttributeType
MOST_VALUES = 16
"""Of a list that an attribute of a known operator is."""


@dataclass(frozen=True, eq=False)
class Node:
    """A node.

    Attributes:
        file: what messages call the model. index: of the node in it, from 0.
        name: may be empty. operator: its type. domain: whose operator that is.
        inputs, outputs: names of values, empty where an optional one is left out.
        attributes: ``AttributeProto`` by name.
        constants: of ``inputs`` those that are known, by name.
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
        """What messages call it: by its name, or where it stands; and its operator."""
        operator = self.operator if self.domain in OWN_DOMAINS else f"{self.domain}.{self.operator}"
        called = shown(self.name) if self.name else f"number {self.index + 1}"
        return f"node {called} ({operator})"

    @property
    def where(self) -> str:
        """File and label, which open a message."""
        return f"{self.file}: {self.label}"

    def refuse(self, what: str) -> BadInput:
        """The complaint about the node."""
        return BadInput(f"{self.where}: {what}")

    def bad(self, attribute: str, value: object, allowed: str) -> BadInput:
        """The complaint about an attribute, or an operand."""
        return self.refuse(f"{attribute} = {shown(value)}: must be {allowed}")

    def has(self, attribute: str) -> bool:
        """Whether it has the attribute, which is allowed but not required."""
        self._asked.add(attribute)
        return attribute in self.attributes

    def whole(self, attribute: str, default: int) -> int:
        """A whole number."""
        found = self._value(attribute, INT, "i", "a whole number")
        return default if found is None else int(found)

    def number(self, attribute: str, default: float) -> float:
        """A number."""
        found = self._value(attribute, FLOAT, "f", "a number")
        return default if found is None else float(found)

    def text(self, attribute: str, default: str) -> str:
        """A text."""
        found = self._value(attribute, STRING, "s", "a text")
        return default if found is None else bytes(found).decode("utf-8", "replace")

    def wholes(self, attribute: str, default: Sequence[int]) -> list[int]:
        """Whole numbers, as many as of ``default``."""
        said = f"{len(default)} whole numbers"
        found = self._value(attribute, INTS, "ints", said)
        if found is None:
            return list(default)
        values = [int(each) for each in found[: MOST_VALUES + 1]]
        if len(values) != len(default):
            raise self.bad(attribute, values, said)
        return values

    def tensor(self, attribute: str) -> Any:
        """A ``TensorProto``, or None."""
        return self._value(attribute, TENSOR, "t", "a tensor")

    def only(self, attribute: str, value: int, default: int | None = None) -> None:
        """Refuse every other value of the attribute; ``default``: what it is where it is missing.

        Raises:
            BadInput: it has another.
        """
        found = self.whole(attribute, value if default is None else default)
        if found != value:
            raise self.bad(attribute, found, str(value))

    def operand(self, index: int) -> Tensor | None:
        """The constant input ``index``; None where it is left out.

        Raises:
            BadInput: it is there and no constant.
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
        """The constant input ``index``.

        Raises:
            BadInput: it is left out, or no constant.
        """
        found = self.operand(index)
        if found is None:
            raise self.refuse(f"input {index + 1} is missing")
        return found

    def takes(self, most: int) -> None:
        """Refuse further inputs.

        Raises:
            BadInput: there are.
        """
        if len(self.inputs) > most:
            raise self.refuse(f"{len(self.inputs)} inputs: allowed are at most {most}")

    def finish(self) -> None:
        """Refuse attributes that were never asked for.

        Raises:
            BadInput: names the first, and those that are allowed.
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
