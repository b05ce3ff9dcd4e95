"""Whether a design still drives all its signals, as every design does at first."""

import re
from collections.abc import Sequence

from random_designs.nodes import Node
from random_designs.source import Program


def is_proper(of: Program) -> bool:
    """Whether every signal is driven, and in every case, as in all designs at first.

    What is not has no value in HDL, so that a design might differ for another reason.
    """
    bodies = [of.body, *(kid for unit in of.above.kids for kid in unit.kids if kid.sort == "body")]
    outputs = [port.name for port, _ in of.outputs]
    return not any(map(_has_latch, bodies)) and all(
        _drives(body, outputs if body is of.body else ()) for body in bodies
    )


def _drives(body: Node, outputs: Sequence[str]) -> bool:
    """Whether a body drives its signals and ``outputs``."""
    text = str(body)
    signals = {*re.findall(r"^ *(\w+) = \[?Signal\(", text, re.MULTILINE), *outputs}
    driven = set(re.findall(r"\b(\w+)(?:\[.*\])?\.next\b", text))
    for unit in body.kids:
        if unit.name.startswith("inst"):  # what is an input of it begins with w
            driven.update(name for name in re.findall(r"\w+", str(unit)) if name[0] != "w")
        if put := re.match(r"def put\d+\(q\d+,", str(unit)):
            calls = put[0][4:].partition("(")[0]
            driven.update(re.findall(rf"\b{calls}\((\w+),", text))
    return driven >= signals


def _has_latch(node: Node) -> bool:
    """Whether a combinational process assigns a signal in some cases only; none does at first."""
    if node.text.startswith("@always_comb"):
        [block] = node.kids
        always = {kid.text.partition(".next = ")[0] for kid in block.kids}
        return not always.issuperset(re.findall(r"\b(\w+)\.next\b", str(block)))
    return any(map(_has_latch, node.kids))
