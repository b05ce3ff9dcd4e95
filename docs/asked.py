"""Extension of the API reference: methods that take a request show its keywords.

The reference is read from the source, where such a method has one argument. What ``help`` shows of
it, its signature and the text of each keyword, is put in its place.
"""

from __future__ import annotations

import inspect
from typing import Any

from griffe import (
    Docstring,
    Extension,
    Function,
    Parameter,
    ParameterKind,
    Parameters,
    dynamic_import,
)

KINDS = {
    inspect.Parameter.POSITIONAL_OR_KEYWORD: ParameterKind.positional_or_keyword,
    inspect.Parameter.KEYWORD_ONLY: ParameterKind.keyword_only,
}


class Asked(Extension):
    """Replaces arguments and docstrings of methods that ``asks`` decorates."""

    def on_function(self, *, func: Function, **_: Any) -> None:
        """Do it for one function."""
        if not any(str(each.value).startswith("asks(") for each in func.decorators):
            return
        found = dynamic_import(func.path)
        func.parameters = Parameters(
            *(
                Parameter(
                    each.name,
                    annotation=None if each.annotation is each.empty else each.annotation,
                    kind=KINDS[each.kind],
                    default=None if each.default is each.empty else repr(each.default),
                )
                for each in inspect.signature(found).parameters.values()
            )
        )
        func.docstring = Docstring(inspect.cleandoc(found.__doc__), parent=func, parser="google")
