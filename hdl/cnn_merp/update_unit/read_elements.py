"""Pack the valid elements of a read together if it lacks some."""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always, always_comb, block

from merp.hdl.base.delay import delay
from merp.hdl.base.lane import word_of_lane
from merp.hdl.base.look_up import look_up
from merp.hdl.base.signals import bits, count
from merp.hdl.cnn_merp.update_unit.kernel_reads import read_places
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.machines.cnn_merp.params.design import EngineDesign


@block
def _choose(
    clk: Bit, tag: Word, counted: Word, fewer: Word, kernel: Word, bias: Word, read: Word
) -> Any:
    """Join a read with the number of its valid elements, and whether it is the last of its kind."""
    top = len(tag) - 1
    chosen, number, last = bits(len(kernel)), bits(len(counted)), bits(1)
    joined = ConcatSignal(last, number, chosen)

    @always_comb
    def join() -> None:
        read.next = joined

    if fewer is None:

        @always(clk.posedge)
        def choose() -> None:
            last.next = tag[top]
            if tag[0]:
                chosen.next = bias
                number.next = 1
            else:
                chosen.next = kernel
                number.next = counted

        return choose, join

    @always(clk.posedge)
    def choose_fewer() -> None:
        last.next = tag[top]
        chosen.next = kernel
        number.next = counted
        if tag[0]:
            chosen.next = bias
            number.next = 1
        elif tag[1]:
            number.next = fewer

    return choose_fewer, join


@entity
def read_elements(
    clk: Bit,
    part: Word,
    tag: Word,
    kernel: Word,
    bias: Word,
    read: Word,
    design: EngineDesign,
    tag_latency: int,
    filling: Word = None,
    size: Word = None,
) -> Any:
    """Convert the gradients read at a place to the input format of ``counted_gear``.

    part           in   number of the read in its kernel
    tag            in   tag_latency cycles later: the read belongs to a bias, it lacks the filling,
                        it is the last of its kind.
    kernel, bias   in   with tag: gradient_read gradients of a kernel, a gradient of a bias
    read           out  a cycle behind tag: elements, those that count first; their number; the last
                        flag.
    filling, size  in   as in ``kernel_reads``

    Throughput: a read per cycle. Reset: none.
    """
    taps, each, width, k = design.taps, design.gradient_read, design.fmt.width, design.k
    parts = 1 << len(part)
    late, counted, fewer = bits(len(part)), count(each), None
    tables = [delay(clk, d=part, q=late, cycles=tag_latency - 1)]
    index: Any = late
    places = [read_places(design, k)]
    if size is not None:
        index = ConcatSignal(size, late)
        places = [[], *(read_places(design, own) for own in range(1, k + 1))]
    # Places, indexed by size and part together.
    listed = [(*own, *[()] * parts)[:parts] for own in places]
    reads = [place for own in listed for place in own]
    tables.append(look_up(clk, index=index, found=counted, table=tuple(map(len, reads))))
    if filling is not None:
        fewer = count(each)
        numbers = tuple((taps - lacking - 1) % each + 1 for lacking in range(taps))
        tables.append(look_up(clk, index=filling, found=fewer, table=numbers))

    lanes = []
    for at in range(each):
        moves = tuple(place[at] - at if at < len(place) else 0 for place in reads)
        most = max(moves)
        if not most:
            lanes.append(kernel((at + 1) * width, at * width))
            continue
        move, lane = count(most), bits(width)
        lanes.append(lane)
        words = kernel((at + most + 1) * width, at * width)
        tables += [
            look_up(clk, index=index, found=move, table=moves),
            word_of_lane(words=words, lane=move, word=lane),
        ]
    moved = ConcatSignal(*reversed(lanes)) if each > 1 else lanes[0]
    return tables, _choose(
        clk, tag=tag, counted=counted, fewer=fewer, kernel=moved, bias=bias, read=read
    )
