"""Sum of all accumulators of an element of a gradient module: select, align, and add."""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always_comb, block

from merp.hdl.arithmetic.fp_tree import fp_tree
from merp.hdl.base.delay import delay
from merp.hdl.base.signals import bits
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.fcnn.choose_part import choose_part
from merp.models.machines.fcnn.params.gradient_drain import GradientDrain
from merp.models.machines.fcnn.params.stream_design import StreamDesign


@block
def _align(clk: Bit, word: Word, term: Word, cycles: int) -> Any:
    """Delay a word, by no cycle if it is the last one of its element."""
    if cycles:
        return delay(clk, d=word, q=term, cycles=cycles)

    @always_comb
    def follow() -> None:
        term.next = word

    return follow


@entity
def gradient_tree(
    clk: Bit, sums: Word, elements: Word, gradient: Word, design: StreamDesign
) -> Any:
    """Add the A sums of each lane of an element, which arrive one after the other.

    sums      in   of each lane, lane 0 lowest, the words of all elements, element 0 lowest
    elements  in   A numbers, the first lowest: sum a is the word of the element of number a
    gradient  out  the tree over the sums; sum a of lane g is term g A + a

    Sum a of an element arrives a cycles after its sum 0. Latency: A cycles, and those of the tree,
    from sum 0 to the gradient. Throughput: an element per cycle. Reset: none.
    """
    drain = GradientDrain(design)
    width, turns, lanes = design.fmt.width, design.accumulators, design.lanes
    number, lane = len(elements) // turns, drain.elements * width
    terms, joined = [bits(width) for _ in range(drain.terms)], bits(drain.terms * width)
    chosen = [bits(width) for _ in range(drain.terms)]
    in_order = ConcatSignal(*reversed(terms))

    @always_comb
    def join() -> None:
        joined.next = in_order

    each = [(g, a) for g in range(lanes) for a in range(turns)]
    return (
        join,
        [
            choose_part(
                clk, words=sums((g + 1) * lane, g * lane),
                index=elements((a + 1) * number, a * number), word=chosen[g * turns + a],
                parts=drain.elements,
            )
            for g, a in each
        ],
        [
            _align(clk, word=chosen[g * turns + a], term=terms[g * turns + a], cycles=turns - 1 - a)
            for g, a in each
        ],
        fp_tree(
            clk, terms=joined, y=gradient, count=drain.terms, fmt=design.fmt,
            latency=design.add_latency,
        ),
    )  # fmt: skip
