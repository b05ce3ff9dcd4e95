"""Read lists that a process makes: the number of elements is fixed, the values may vary."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from merp.hdl.conversion.process.frame import MISSING
from merp.hdl.conversion.process.parts import Parts
from merp.hdl.conversion.process.values import is_hardware


class Lists(Parts):
    """Values of list comprehensions and generator expressions."""

    def _ListComp(self, node: ast.ListComp) -> Any:
        return list(self._elements(node.elt, node.generators))

    def _GeneratorExp(self, node: ast.GeneratorExp) -> Any:
        return list(self._elements(node.elt, node.generators))

    def _elements(self, element: ast.expr, loops: Sequence[ast.comprehension]) -> Iterator[Any]:
        """Yield the elements, one after the other."""
        if not loops:
            yield self.value(element)
            return
        first, *rest = loops
        if not isinstance(first.target, ast.Name):
            self.refuse(first.target, "a loop over several variables", "loop over one index")
        values = self.value(first.iter)
        if not isinstance(values, list | tuple | range):
            self.refuse(
                first.iter, "a list over an object that is no range", "write range(...) or a tuple"
            )
        for each in values:
            with self._standing_for(first.target.id, each):
                if all([self._is_kept(test) for test in first.ifs]):
                    yield from self._elements(element, rest)

    def _is_kept(self, test: ast.expr) -> bool:
        """Return whether a condition accepts an element."""
        found = self.value(test)
        if is_hardware(found):
            self.refuse(test, "a list whose length changes", "choose the element: x if test else 0")
        return bool(found)

    @contextmanager
    def _standing_for(self, name: str, value: Any) -> Iterator[None]:
        """Bind a name to a value within a comprehension."""
        frame = self.frame
        shadowed, before = frame.variables.pop(name, None), frame.bound.get(name, MISSING)
        frame.bound[name] = value
        try:
            yield
        finally:
            frame.bound.pop(name)
            if before is not MISSING:
                frame.bound[name] = before
            if shadowed is not None:
                frame.variables[name] = shadowed
