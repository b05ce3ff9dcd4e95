"""Collect the elements of a kernel, several per beat, into the word of the kernel."""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always, always_comb, block, intbv

from merp.hdl.base.rotator import rotator
from merp.hdl.base.signals import Stream, bits, count
from merp.hdl.conversion.entity import Bit, Word


@block
def _turn(held: Word, turn: Word, lanes: int) -> Any:
    """Compute the rotation that puts tap t into lane t mod lanes."""
    places = len(turn)

    @always_comb
    def negate() -> None:
        turned = intbv(0)[places:]
        for i in range(1, lanes):
            if held[places:] == i:
                turned[:] = lanes - i
        turn.next = turned

    return negate


@block
def _tap(clk: Bit, take: Bit, held: Word, fresh: Word, tap: Word, at: int, lanes: int) -> Any:
    """Keep tap ``at`` if it is in this beat."""

    @always(clk.posedge)
    def load() -> None:
        if take and held <= at and held + lanes > at:
            tap.next = fresh

    return load


@block
def _early_tap(
    clk: Bit, take: Bit, held: Word, fresh: Word, kept: Word, tap: Word, at: int, lanes: int
) -> Any:
    """Keep tap ``at``, or ``kept`` if it shared a beat with the end of the previous kernel."""

    @always(clk.posedge)
    def load() -> None:
        if take and held < lanes:
            if held > at:
                tap.next = kept
            else:
                tap.next = fresh

    return load


@block
def _remember(clk: Bit, take: Bit, turned: Word, before: Word) -> Any:
    """Keep a beat, so that the kernel that it begins does not overwrite the kernel that it ends."""

    @always(clk.posedge)
    def keep() -> None:
        if take:
            before.next = turned

    return keep


@block
def _join(word: Word, collected: Word) -> Any:
    @always_comb
    def join() -> None:
        collected.next = word

    return join


@block
def collect_beats(
    clk: Bit, sink: Stream, take: Bit, held: Word, collected: Word, width: int, rotated: bool
) -> Any:
    """Collect beats of words of ``width`` bits into ``collected``, one cycle after each transfer.

    take  in  a beat is transferred
    held  in  words of the current kernel in earlier beats. It is above 0 at the first word of a
              beat if the kernel began within the beat before

    The first word is lowest; with ``rotated`` it is highest, which rotates the kernel by 180
    degrees. A beat has at most as many words as a kernel. Words behind the end of a kernel are the
    first ones of the next kernel.
    """
    lanes, taps = len(sink.data) // width, len(collected) // width
    words = [bits(width) for _ in range(taps)]
    word = ConcatSignal(*(words if rotated else reversed(words))) if taps > 1 else words[0]
    parts: list[Any] = [_join(word=word, collected=collected)]

    turned, before = sink.data, bits(len(sink.data))
    if taps % lanes:
        turned, turn = bits(len(sink.data)), count(lanes - 1)
        parts += [
            _turn(held=held, turn=turn, lanes=lanes),
            rotator(x=sink.data, shift=turn, y=turned, places=lanes, width=width),
            _remember(clk, take=take, turned=turned, before=before),
        ]
    for at in range(taps):
        place = at % lanes * width
        fresh = turned(place + width, place)
        if taps % lanes and at < lanes - 1:
            # In the previous beat, the words of this kernel followed those of ``taps`` others.
            place = (at + taps) % lanes * width
            parts.append(
                _early_tap(
                    clk,
                    take=take,
                    held=held,
                    fresh=fresh,
                    kept=before(place + width, place),
                    tap=words[at],
                    at=at,
                    lanes=lanes,
                )
            )
        else:
            parts.append(
                _tap(clk, take=take, held=held, fresh=fresh, tap=words[at], at=at, lanes=lanes)
            )
    return parts
