"""Write tokens as text, in both languages. Private to ``merp.hdl.conversion``."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from merp.hdl.conversion._numbers import Num
from merp.hdl.conversion._vhdl_text import LABEL, Token


@dataclass(frozen=True)
class Style:
    """The notation of a language for tokens that are not plain text.

    Attributes:
        other: writes a literal, or an element of an array.
        sum: writes a number that may name generics.
        opening, closing: tokens before and after a sum that needs no brackets.
    """

    other: Callable[[Token], str]
    sum: Callable[[Num], str]
    opening: Collection[str]
    closing: Collection[str]


def written(tokens: Sequence[Token], style: Style, label: str = "") -> str:
    """Write tokens as text; a sum gets brackets where it needs them."""
    out = []
    for at, token in enumerate(tokens):
        if token == LABEL:
            out.append(label)
        elif isinstance(token, str):
            out.append(token)
        elif isinstance(token, Num):
            text = style.sum(token)
            before, behind = _neighbour(tokens, at, -1), _neighbour(tokens, at, 1)
            safe = before in style.opening and behind in style.closing
            out.append(text if safe or " " not in text else f"({text})")
        else:
            out.append(style.other(token))
    return "".join(out)


def _neighbour(tokens: Sequence[Token], at: int, step: int) -> str:
    at += step
    while 0 <= at < len(tokens) and isinstance(tokens[at], str) and str(tokens[at]).isspace():
        at += step
    return str(tokens[at]) if 0 <= at < len(tokens) else ";"
