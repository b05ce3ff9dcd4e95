"""The update step of one place of the parameter beats: gradient, velocity, kernel."""

from __future__ import annotations

from typing import Any

from myhdl import always, always_comb, block, intbv

from merp.hdl.arithmetic.clip import clip, clipped_sum
from merp.hdl.arithmetic.fixed_round import fixed_round
from merp.hdl.base.signals import bits, flag, signed
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.mac_array.ports.updates import StepRule, StepWords, WordClipped
from merp.models.machines.mac_array.params.array_pass import SHIFTS
from merp.models.machines.mac_array.params.design import WORD_BITS
from merp.models.machines.mac_array.params.words import ROUNDED_BITS

TO_GRADIENT = 1
TO_VELOCITY = 5
TO_KERNEL = 11
"""Cycles from an increment to the new kernel."""

FRACTION = 16
"""Fraction bits of momentum."""


@block
def _decayed(clk: Bit, momentum: Word, velocity: Word, kept: Word) -> Any:
    """Multiply the old velocity by momentum, rounded towards zero; three cycles later.

    With rounding to nearest, small velocities would never decay to zero.
    """
    factor, old = signed(WORD_BITS + 1), signed(WORD_BITS)
    product = signed(2 * WORD_BITS + 1)
    size, below = len(product), (1 << FRACTION) - 1

    @always(clk.posedge)
    def multiply() -> None:
        whole = intbv(0)[WORD_BITS + 1 :]
        whole[:] = momentum
        factor.next = whole.signed()
        old.next = velocity.signed()
        product.next = factor * old

    @always(clk.posedge)
    def cut() -> None:
        exact = intbv(0, min=-(1 << size - 1), max=1 << size - 1)
        exact[:] = product
        if exact < 0:
            exact[:] = exact + below
        kept.next = exact[size:FRACTION]

    return multiply, cut


@block
def _step(clk: Bit, minus_rate: Word, velocity: Word, step: Word) -> Any:
    """Multiply a velocity by minus the learning rate, two cycles later."""
    factor, new = signed(WORD_BITS + 1), signed(WORD_BITS)
    product = signed(2 * WORD_BITS + 1)
    size = len(product)

    @always(clk.posedge)
    def multiply() -> None:
        factor.next = minus_rate.signed()
        new.next = velocity.signed()
        product.next = factor * new

    @always_comb
    def hand_on() -> None:
        step.next = product[size:]

    return multiply, hand_on


@entity
def weight_update(
    clk: Bit,
    rule: StepRule,
    increment: Word,
    old: StepWords,
    new: StepWords,
    clipped: WordClipped,
    random: Word = None,
) -> Any:
    """Add the increment of an image to a gradient, and take the update step of a batch with it.

    rule       in   rule of the step
    increment  in   the rounded sum of the image, not yet clipped to a word
    old        in   the gradient of the previous images, with increment; (optional) the velocity, a
                    cycle later; the kernel, ten cycles later
    new        out  the gradient a cycle after increment, the velocity five, the kernel eleven
    clipped    out  with each new word: it was clipped
    random     in   (with stochastic only) nine cycles after increment: its random bits

    The block has two multipliers. Throughput: one per cycle. Reset: none.
    """
    gradient_held, velocity_held, kernel_held = (bits(WORD_BITS) for _ in range(3))
    gradient_beyond, velocity_beyond, kernel_beyond = flag(), flag(), flag()
    part, moved = bits(ROUNDED_BITS), bits(ROUNDED_BITS)
    step = bits(2 * WORD_BITS + 1)

    @always(clk.posedge)
    def load() -> None:
        new.gradient.next = gradient_held
        clipped.gradient.next = gradient_beyond
        new.velocity.next = velocity_held
        clipped.velocity.next = velocity_beyond
        new.kernel.next = kernel_held
        clipped.kernel.next = kernel_beyond

    if old.velocity is None:
        move: Any = clip(value=part, word=velocity_held, clipped=velocity_beyond)
    else:
        kept = bits(WORD_BITS + 1)
        move = (
            _decayed(clk, momentum=rule.momentum, velocity=old.velocity, kept=kept),
            clipped_sum(a=part, b=kept, word=velocity_held, clipped=velocity_beyond),
        )
    draw = {} if rule.stochastic is None else {"stochastic": rule.stochastic, "random": random}
    return (
        clipped_sum(a=increment, b=old.gradient, word=gradient_held, clipped=gradient_beyond),
        fixed_round(
            clk,
            value=new.gradient,
            shift=rule.velocity_shift,
            rounded=part,
            left=-SHIFTS["velocity_shift"][0],
        ),
        move,
        _step(clk, minus_rate=rule.minus_rate, velocity=new.velocity, step=step),
        fixed_round(clk, value=step, shift=rule.update_shift, rounded=moved, left=0, **draw),
        clipped_sum(a=moved, b=old.kernel, word=kernel_held, clipped=kernel_beyond),
        load,
    )
