"""``widened_intake`` for a stream whose beats are pieces of several elements of a kernel."""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always, always_comb, block

from merp.hdl.base.lane import word_of_lane, word_within
from merp.hdl.base.look_up import look_up
from merp.hdl.base.signals import Stream, bits, count, flag
from merp.hdl.cnn_merp.kernel_loader.intake_end import intake_end
from merp.hdl.cnn_merp.kernel_loader.intake_ports import IntakeState, KernelPlace, SmallerKernels
from merp.hdl.cnn_merp.ports.kernels import KernelWrite
from merp.hdl.conversion.entity import Bit, Word
from merp.hdl.streams.beat_cutter import beat_cutter
from merp.models.machines.cnn_merp.params.design import EngineDesign


@block
def _lane(
    clk: Bit, take: Bit, number: Word, row: Word, column: Word, piece: Word, lane: Word, low: int
) -> Any:
    """Register a tap: +0 from the first piece of a kernel on, then its element.

    row, column: they add up to the place of the element in the kernel, or to no place.
    """
    place = count(2 * (1 << len(row)))
    fresh = bits(len(lane))

    @always_comb
    def locate() -> None:
        place.next = row + column

    @always(clk.posedge)
    def keep() -> None:
        if take:
            if place[:low] == number:
                lane.next = fresh
            elif number == 0:
                lane.next = 0

    return locate, keep, word_of_lane(words=piece, lane=place(low, 0), word=fresh)


@block
def _measure(number: Word, last: Word, rest: Word, ends: Bit, wanted: Word, whole: int) -> Any:
    """Compute the elements of the current piece, and whether it is the last one of its kernel."""

    @always_comb
    def measure() -> None:
        ends.next = number == last
        wanted.next = whole
        if number == last:
            wanted.next = rest

    return measure


@block
def _either(
    filling: Word, final_input: Bit, last: Word, rest: Word, fewer_last: Word, fewer_rest: Word,
    own_last: Word, own_rest: Word,
) -> Any:  # fmt: skip
    """Select between complete kernels and kernels that lack the filling."""

    @always_comb
    def choose() -> None:
        if filling != 0 and final_input:
            own_last.next = fewer_last
            own_rest.next = fewer_rest
        else:
            own_last.next = last
            own_rest.next = rest

    return choose


@block
def piece_intake(
    clk: Bit,
    rst: Bit,
    start: Bit,
    smaller: SmallerKernels,
    sink: Stream,
    kernel: KernelWrite,
    place: KernelPlace,
    state: IntakeState,
    design: EngineDesign,
    rotated: bool,
) -> Any:
    """``kernel_intake`` with ``size`` x ``size`` elements per kernel, a beat of them per cycle.

    A kernel begins with a new piece, so it takes as many cycles as it fills beats. Its elements are
    in the corner of tap (0, 0), also when they are rotated.
    """
    size, filling, final_input = smaller.size, smaller.filling, smaller.final_input
    taken, final = state.taken, place.final
    k, taps, lanes, width = design.k, design.taps, design.kernel_port, design.fmt.width
    low = lanes.bit_length() - 1
    most = -(-taps // lanes)
    beyond = most * lanes
    number = count(most)  # number of the current piece in its kernel
    last, rest = count(most), count(lanes)
    ends, take = flag(), flag()
    wanted, cut = count(lanes), bits(lanes * width)
    there, misplaced, ending = flag(), flag(), flag()
    piece = Stream(lanes * width)
    sizes = [own * own for own in range(1, k + 1)]
    own_last, own_rest = last, rest
    tables: list[Any] = [
        look_up(clk, index=size, found=last, table=(0, *((each - 1) // lanes for each in sizes))),
        look_up(
            clk, index=size, found=rest, table=(0, *((each - 1) % lanes + 1 for each in sizes))
        ),
    ]
    counted: Any = cut
    if filling is not None:
        own_last, own_rest = count(most), count(lanes)
        fewer_last, fewer_rest = count(most), count(lanes)
        left = [taps - lacking for lacking in range(taps)]
        pieces = tuple((each - 1) // lanes for each in left)
        rests = tuple((each - 1) % lanes + 1 for each in left)
        words = [bits(width) for _ in range(lanes)]
        counted = ConcatSignal(*reversed(words))
        tables += [
            look_up(clk, index=filling, found=fewer_last, table=pieces),
            look_up(clk, index=filling, found=fewer_rest, table=rests),
            _either(
                filling=filling, final_input=final_input, last=last, rest=rest,
                fewer_last=fewer_last, fewer_rest=fewer_rest, own_last=own_last, own_rest=own_rest,
            ),
            [
                word_within(
                    word=cut((at + 1) * width, at * width), counted=wanted, kept=words[at], at=at
                )
                for at in range(lanes)
            ],
        ]  # fmt: skip
    measure = _measure(
        number=number, last=own_last, rest=own_rest, ends=ends, wanted=wanted, whole=lanes
    )
    cutter = beat_cutter(
        clk,
        rst,
        start,
        wanted=wanted,
        ending=ending,
        sink=sink,
        piece=cut,
        valid=there,
        take=take,
        misplaced=misplaced,
    )
    rows = [count(beyond) for _ in range(k)]
    columns = [count(beyond) for _ in range(k)]
    for at in range(k):
        # The element of a tap has row * size + column elements before it, both reversed if rotated.
        steps = [own - 1 - at if rotated else at for own in range(k + 1)]
        inside = [at < own for own in range(k + 1)]
        tables += [
            look_up(
                clk, index=size, found=found,
                table=tuple(
                    steps[own] * (own if found is rows[at] else 1) if inside[own] else beyond
                    for own in range(k + 1)
                ),
            )
            for found in (rows[at], columns[at])
        ]  # fmt: skip
    taps_kept = [bits(width) for _ in range(taps)]
    joined = ConcatSignal(*reversed(taps_kept)) if taps > 1 else taps_kept[0]

    @always_comb
    def finish() -> None:
        ending.next = final and ends

    @always_comb
    def accept() -> None:
        take.next = there and piece.ready
        taken.next = there and piece.ready and ends

    @always_comb
    def offer() -> None:
        piece.valid.next = there
        piece.data.next = counted
        if misplaced:
            piece.last.next = not ending
        else:
            piece.last.next = ending

    @always_comb
    def join() -> None:
        kernel.data.next = joined

    @always(clk.posedge)
    def walk() -> None:
        if rst or start or taken:
            number.next = 0
        elif take:
            number.next = number + 1

    end = intake_end(
        clk, rst, start, sink=piece, take=take, kernel=kernel, place=place, state=state,
        n_cu=design.n_cu,
    )  # fmt: skip
    keepers = [
        _lane(
            clk, take=take, number=number, row=rows[tap // k], column=columns[tap % k],
            piece=piece.data, lane=taps_kept[tap], low=low,
        )
        for tap in range(taps)
    ]  # fmt: skip
    return tables, measure, cutter, finish, accept, offer, join, walk, end, keepers
