"""Convert sums to words: bias, rounding, clipping and ReLU, for a pixel of all lanes per cycle."""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always, always_comb, intbv

from merp.hdl.arithmetic.clip import clip
from merp.hdl.arithmetic.fixed_round import fixed_round
from merp.hdl.base.signals import bits, flag
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.models.machines.mac_array.params.array_pass import SHIFTS
from merp.models.machines.mac_array.params.design import SUM_BITS, WORD_BITS
from merp.models.machines.mac_array.params.words import ROUNDED_BITS

SHIFT_LEFT = -SHIFTS["shift"][0]
"""The largest shift to the left behind the sums; the shift register holds n plus this number."""

TO_ROUNDED = 4
"""Cycles from a sum to the rounded sum."""

TO_WORD = TO_ROUNDED + 1
"""Cycles from a sum to its word."""


@entity
def round_lane(
    clk: Bit,
    total: Word,
    bias: Word,
    bias_shift: Word,
    shift: Word,
    relu: Bit,
    rounded: Word,
    word: Word,
    clipped: Bit,
    limit: Word = None,
) -> Any:
    """Add a bias to a sum, round it, clip it, and set it to zero if it is negative.

    total       in   the sum
    bias        in   a word, two cycles ahead
    bias_shift  in   left shift that aligns the bias to the fraction of the sum
    shift       in   a cycle later than the sum: n + 15, to round the sum to multiples of 2^n
    relu        in   replace negative words by zero
    rounded     out  four cycles later: the rounded sum, wide enough to add a word before clipping
    word        out  five cycles later: the word
    clipped     out  with the word: it was clipped
    limit       in   (in a design for ReLU6) with relu: replace words above it by it

    All numbers are in two's complement. Throughput: one per cycle. Reset: none.
    """
    origin, biased = bits(SUM_BITS), bits(SUM_BITS)
    held, beyond = bits(WORD_BITS), flag()
    span = WORD_BITS + (1 << len(bias_shift)) - 1

    @always(clk.posedge)
    def place_bias() -> None:
        moved = intbv(0, min=-(1 << span - 1), max=1 << span - 1)
        whole = intbv(0, min=-(1 << SUM_BITS - 1), max=1 << SUM_BITS - 1)
        moved[:] = bias.signed()
        moved[:] = moved << bias_shift
        whole[:] = moved
        origin.next = whole[SUM_BITS:]

    @always(clk.posedge)
    def add_bias() -> None:
        whole = intbv(0, min=-(1 << SUM_BITS - 1), max=1 << SUM_BITS - 1)
        whole[:] = total.signed() + origin.signed()
        biased.next = whole[SUM_BITS:]

    if limit is None:

        @always(clk.posedge)
        def activate() -> None:
            word.next = held
            clipped.next = beyond
            if relu and held[WORD_BITS - 1]:
                word.next = 0

    else:

        @always(clk.posedge)
        def activate() -> None:
            word.next = held
            clipped.next = beyond
            if held[WORD_BITS - 1] and relu:
                word.next = 0
            elif relu and held > limit:
                word.next = limit

    return (
        place_bias,
        add_bias,
        fixed_round(clk, value=biased, shift=shift, rounded=rounded, left=SHIFT_LEFT),
        clip(value=rounded, word=held, clipped=beyond),
        activate,
    )


@entity
def round_lanes(
    clk: Bit,
    sums: Word,
    biases: Word,
    bias_shift: Word,
    shift: Word,
    relu: Bit,
    rounded: Word,
    words: Word,
    clipped: Word,
    limit: Word = None,
) -> Any:
    """Round a sum of each lane.

    sums        in   sums of all lanes, lane 0 lowest; all words of lanes have this order
    biases      in   a word of each lane, two cycles ahead
    bias_shift  in   left shift of the biases
    shift       in   a cycle later than the sums: n + 15, to round the sums to multiples of 2^n
    relu        in   replace negative words by zero
    rounded     out  four cycles later: the rounded sums, wide enough to add a word before clipping
    words       out  five cycles later: the words
    clipped     out  with the words: a bit per lane, set if its word was clipped
    limit       in   (in a design for ReLU6) with relu: replace words above it by it

    Throughput: a pixel of all lanes per cycle. Reset: none.
    """
    lanes = len(clipped)
    each_rounded = [bits(ROUNDED_BITS) for _ in range(lanes)]
    each_word = [bits(WORD_BITS) for _ in range(lanes)]
    each_clipped = [flag() for _ in range(lanes)]
    units = [
        round_lane(
            clk,
            total=sums((c + 1) * SUM_BITS, c * SUM_BITS),
            bias=biases((c + 1) * WORD_BITS, c * WORD_BITS),
            bias_shift=bias_shift,
            shift=shift,
            relu=relu,
            rounded=each_rounded[c],
            word=each_word[c],
            clipped=each_clipped[c],
            limit=limit,
        )
        for c in range(lanes)
    ]
    all_rounded = ConcatSignal(*reversed(each_rounded))
    all_words = ConcatSignal(*reversed(each_word))
    all_clipped = ConcatSignal(*reversed(each_clipped))

    @always_comb
    def hand_out() -> None:
        rounded.next = all_rounded
        words.next = all_words
        clipped.next = all_clipped

    return units, hand_out
