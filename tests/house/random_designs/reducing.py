"""Smaller designs: parts of a design are dropped, or replaced by simpler ones."""

import re
from collections.abc import Iterator
from dataclasses import replace

from random_designs.nodes import Node, whole_word
from random_designs.source import Program


def reductions(of: Program) -> Iterator[Program]:
    """Smaller programs, some of which are not legal."""
    if of.reset:
        yield replace(of, reset="")
    for at in range(len(of.outputs)):
        if len(of.outputs) > 1:
            yield replace(of, outputs=(*of.outputs[:at], *of.outputs[at + 1 :]))
    for at in range(len(of.inputs)):
        yield replace(of, inputs=(*of.inputs[:at], *of.inputs[at + 1 :]))
    for body in _reduced(of.body):
        yield replace(of, body=body)
        # What nothing drives is no output.
        lost = [pair for pair in of.outputs if whole_word(pair[0].name).search(str(body)) is None]
        if lost and len(lost) < len(of.outputs):
            kept = tuple(pair for pair in of.outputs if pair not in lost)
            yield replace(of, body=body, outputs=kept)
    for above in _reduced(of.above):
        yield replace(of, above=above)
    for at, unit in enumerate(of.above.kids):
        if head := re.search(r"def (child\d+)\((.*)\):", unit.text):
            names = head[2].split(", ")
            wires = len({"clk", "rst"} & set(names))
            for number, name in enumerate(names[wires:]):
                rest = ", ".join(each for each in names if each != name)
                less = replace(unit, text=unit.text.replace(head[2], rest))
                above = replace(
                    of.above, kids=(*of.above.kids[:at], less, *of.above.kids[at + 1 :])
                )
                kids = tuple(_without(kid, head[1], wires, number) for kid in of.body.kids)
                yield replace(of, above=above, body=replace(of.body, kids=kids))


def _without(unit: Node, child: str, wires: int, number: int) -> Node:
    """An instance of a child without one of the actuals that follow clock and reset."""
    made = re.fullmatch(rf"(.*\b{child}\()([^()]*)(\).*)", unit.text)
    if made is None:
        return unit
    given = made[2].split(", ")
    del given[wires + number]
    kids = (*unit.kids[:number], *unit.kids[number + 1 :])
    return replace(unit, text=f"{made[1]}{', '.join(given)}{made[3]}", kids=kids)


def _reduced(node: Node) -> Iterator[Node]:
    """The node with a part of it dropped or replaced, large steps first."""
    kids = node.kids
    if node.sort in ("block", "items", "body"):
        size = len(kids)
        while size:
            for at in range(0, len(kids), size):
                yield replace(node, kids=(*kids[:at], *kids[at + size :]))
            size //= 2
        for at in range(len(kids) - 1):  # as a signal and what drives it
            yield replace(node, kids=(*kids[:at], *kids[at + 2 :]))
        for at, kid in enumerate(kids):
            for inner in _blocks(kid):
                yield replace(node, kids=(*kids[:at], *inner.kids, *kids[at + 1 :]))
    elif node.sort == "chain":
        for at in range(len(kids) - 1):
            yield replace(node, kids=(*kids[:at], *kids[at + 1 :]))
    elif node.sort in ("number", "truth"):
        simplest = ("0", "1") if node.sort == "number" else ("False", "True")
        if node.text not in simplest:
            for text in simplest:
                yield Node(node.sort, text)
        if kids:
            yield from _below(node, node.sort)
    for at, kid in enumerate(kids):
        for other in _reduced(kid):
            yield replace(node, kids=(*kids[:at], other, *kids[at + 1 :]))


def _blocks(node: Node) -> Iterator[Node]:
    """The blocks of a statement, whose statements may take its place."""
    if node.sort in ("unit", "def"):
        return
    for kid in node.kids:
        if kid.sort == "block":
            yield kid
        elif kid.sort in ("arm", "case"):
            yield from _blocks(kid)


def _below(node: Node, sort: str) -> Iterator[Node]:
    """All nodes of a sort inside a node, the uppermost first."""
    for kid in node.kids:
        if kid.sort == sort:
            yield kid
    for kid in node.kids:
        yield from _below(kid, sort)
