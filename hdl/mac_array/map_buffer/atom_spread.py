"""Distribute the elements of an atom that belong to one column phase over the columns of banks."""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always_comb, block, intbv

from merp.hdl.base.lane import word_of_lane
from merp.hdl.base.signals import bits, count
from merp.hdl.conversion.entity import Word, entity
from merp.models.machines.mac_array.params.design import STRIDES, WORD_BITS, ArrayDesign


@block
def _whole(atom: Word, data: Word) -> Any:
    """A design without a stride has one phase: pass the whole atom on."""

    @always_comb
    def copy() -> None:
        data.next = atom

    return copy


@entity
def atom_spread(
    atom: Word,
    stride: Word,
    phase: Word,
    part: Word,
    data: Word,
    columns: Word,
    design: ArrayDesign,
) -> Any:
    """Put element stride * i + phase of an atom at column part * pox / stride + i.

    atom     in   elements of the atom, the first one lowest
    stride   in   1, 2 or 4, as far as the design supports it
    phase    in   phase of the elements, below stride
    part     in   destination part of a row of banks, below stride
    data     out  an element per column; arbitrary in columns that are not enabled
    columns  out  columns that have an element

    Latency: combinational.
    """
    pox = design.pox
    strides = [each for each in STRIDES if each <= design.max_stride]
    if len(strides) == 1:
        choice: Any = _whole(atom=atom, data=data)
    else:
        chosen = count(sum(strides) - 1)
        words = [bits(WORD_BITS) for _ in range(pox)]
        choices = []
        for column in range(pox):
            places = [
                each * (column % (pox // each)) + start for each in strides for start in range(each)
            ]
            candidates = [atom((at + 1) * WORD_BITS, at * WORD_BITS) for at in places]
            side_by_side = ConcatSignal(*reversed(candidates))
            choices.append(word_of_lane(words=side_by_side, lane=chosen, word=words[column]))
        together = ConcatSignal(*reversed(words))

        @always_comb
        def choose() -> None:
            chosen.next = 0
            if stride > 1:
                chosen.next = stride - 1 + phase

        @always_comb
        def collect() -> None:
            data.next = together

        choice = choices, choose, collect

    @always_comb
    def enable() -> None:
        enabled = intbv(0)[pox:]
        for column in range(pox):
            if (
                stride == 1
                or (stride == 2 and column // (pox // 2) == part)
                or (stride == 4 and column // (pox // 4) == part)
            ):
                enabled[column] = True
        columns.next = enabled

    return choice, enable
