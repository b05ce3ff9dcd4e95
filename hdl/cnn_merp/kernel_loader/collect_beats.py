"""The elements of a kernel, several in a beat, into the word that holds them all."""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always, always_comb, block, intbv

from merp.hdl.base.rotator import rotator
from merp.hdl.base.signals import Stream, bits, count
from merp.hdl.conversion.entity import Bit, Word


@block
def _turn(held: Word, turn: Word, lanes: int) -> Any:
    """By how many places a beat is turned so that tap t lies in lane t mod lanes."""
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
    """Keep tap ``at``, which is in this beat or not."""

    @always(clk.posedge)
    def load() -> None:
        if take and held <= at and held + lanes > at:
            tap.next = fresh

    return load


@block
def _early_tap(
    clk: Bit, take: Bit, held: Word, fresh: Word, kept: Word, tap: Word, at: int, lanes: int
) -> Any:
    """Keep tap ``at``, which may have come with the kernel before: then it is ``kept``."""

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
    """Keep a beat: the kernel that it ends may not be overwritten by the one that it begins."""

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

    take  in  there is a transfer
    held  in  words that the kernel at hand has had before; more than none at a beat's first word if
              it began within the beat before

    The first word lies lowest; ``rotated``: highest, which turns the kernel by 180 degrees. A beat
    has at most as many words as a kernel, and those behind its end are the next one's first.
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
            # In the beat before, this kernel's words lay behind those of ``taps`` others.
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
