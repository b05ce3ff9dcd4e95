"""The update step of a parameter beat: all places in parallel."""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always, always_comb, intbv

from merp.hdl.base.signals import bits
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.mac_array.ports.updates import (
    ArrayUpdateConfig,
    ClippedFlags,
    StepRule,
    StepWords,
    WordClipped,
    step_words,
)
from merp.hdl.mac_array.update.weight_update import weight_update
from merp.models.machines.mac_array.params.design import WORD_BITS, ArrayDesign
from merp.models.machines.mac_array.params.words import RANDOM_BITS, ROUNDED_BITS


@entity
def weight_updates(
    clk: Bit,
    config: ArrayUpdateConfig,
    increments: Word,
    old: StepWords,
    new: StepWords,
    clipped: ClippedFlags,
    design: ArrayDesign,
    random: Word = None,
) -> Any:
    """Add increments to gradients, and take the update step of a batch with them.

    config      in   the rules of the step
    increments  in   rounded sums of an image, place 0 lowest; all words have this order
    old         in   gradients of the previous images, with increments; (optional) velocities, a
                     cycle later; kernels, ten cycles later
    new         out  gradients a cycle after increments, velocities five, kernels eleven
    clipped     out  with each new word
    random      in   (optional) nine cycles after increments: random bits of each place

    Throughput: a beat per cycle. Reset: none.
    """
    places, width = design.pof, WORD_BITS + 1
    minus_rate = bits(width)
    rule = StepRule(
        velocity_shift=config.velocity_shift,
        update_shift=config.update_shift,
        minus_rate=minus_rate,
        momentum=None if old.velocity is None else config.momentum,
        stochastic=None if random is None else config.stochastic,
    )
    found = [step_words(WORD_BITS) for _ in range(places)]
    beyond = [WordClipped() for _ in range(places)]
    units = [
        weight_update(
            clk,
            rule=rule,
            increment=increments((b + 1) * ROUNDED_BITS, b * ROUNDED_BITS),
            old=StepWords(
                *(
                    None if beat is None else beat((b + 1) * WORD_BITS, b * WORD_BITS)
                    for beat in (old.gradient, old.kernel, old.velocity)
                )
            ),
            new=found[b],
            clipped=beyond[b],
            random=None if random is None else random((b + 1) * RANDOM_BITS, b * RANDOM_BITS),
        )
        for b in range(places)
    ]
    all_gradients = ConcatSignal(*(each.gradient for each in reversed(found)))
    all_velocities = ConcatSignal(*(each.velocity for each in reversed(found)))
    all_kernels = ConcatSignal(*(each.kernel for each in reversed(found)))
    gradients_clipped = ConcatSignal(*(each.gradient for each in reversed(beyond)))
    velocities_clipped = ConcatSignal(*(each.velocity for each in reversed(beyond)))
    kernels_clipped = ConcatSignal(*(each.kernel for each in reversed(beyond)))

    @always(clk.posedge)
    def negate() -> None:
        number = intbv(0, min=-(1 << width - 1), max=1 << width - 1)
        number[:] = 0
        number[:] = number - config.rate
        minus_rate.next = number[width:]

    @always_comb
    def hand_out() -> None:
        new.gradient.next = all_gradients
        new.velocity.next = all_velocities
        new.kernel.next = all_kernels
        clipped.gradient.next = gradients_clipped
        clipped.velocity.next = velocities_clipped
        clipped.kernel.next = kernels_clipped

    return units, negate, hand_out
