"""The step of a parameter beat: every place at once."""

from __future__ import annotations

from typing import Any

from myhdl import ConcatSignal, always, always_comb, intbv

from merp.hdl.base.signals import bits, flag
from merp.hdl.conversion.entity import Bit, Word, entity
from merp.hdl.mac_array.ports.updates import Clipped, UpdateConfig
from merp.hdl.mac_array.update.weight_update import weight_update
from merp.models.machines.mac_array.params.design import WORD_BITS, Design
from merp.models.machines.mac_array.params.words import RANDOM_BITS, ROUNDED_BITS


@entity
def weight_updates(
    clk: Bit,
    config: UpdateConfig,
    increments: Word,
    gradients: Word,
    kernels: Word,
    new_gradients: Word,
    new_velocities: Word,
    new_kernels: Word,
    clipped: Clipped,
    design: Design,
    velocities: Word = None,
    random: Word = None,
) -> Any:
    """Add increments to gradients, and take the step of a batch with them.

    config          in   the rules of the step
    increments      in   rounded sums of an image, place 0 lowest, as all words
    gradients       in   with them: what the images before have left
    kernels         in   ten cycles later: old words
    new_gradients   out  a cycle after increments
    new_velocities  out  five cycles after increments
    new_kernels     out  eleven cycles after increments
    clipped         out  with each
    velocities      in   (where they are built) a cycle after increments: old words
    random          in   (where it is built) nine cycles after increments: bits of each place

    Throughput: a beat per cycle. Reset: none.
    """
    places, width = design.pof, WORD_BITS + 1
    minus_rate = bits(width)
    gradient = [bits(WORD_BITS) for _ in range(places)]
    velocity = [bits(WORD_BITS) for _ in range(places)]
    kernel = [bits(WORD_BITS) for _ in range(places)]
    gradient_clipped = [flag() for _ in range(places)]
    velocity_clipped = [flag() for _ in range(places)]
    kernel_clipped = [flag() for _ in range(places)]
    more: list[dict[str, Any]] = [{} for _ in range(places)]
    for b in range(places):
        if velocities is not None:
            word = velocities((b + 1) * WORD_BITS, b * WORD_BITS)
            more[b] |= {"velocity": word, "momentum": config.momentum}
        if random is not None:
            word = random((b + 1) * RANDOM_BITS, b * RANDOM_BITS)
            more[b] |= {"random": word, "stochastic": config.stochastic}
    units = [
        weight_update(
            clk,
            increment=increments((b + 1) * ROUNDED_BITS, b * ROUNDED_BITS),
            gradient=gradients((b + 1) * WORD_BITS, b * WORD_BITS),
            kernel=kernels((b + 1) * WORD_BITS, b * WORD_BITS),
            velocity_shift=config.velocity_shift,
            update_shift=config.update_shift,
            minus_rate=minus_rate,
            new_gradient=gradient[b],
            new_velocity=velocity[b],
            new_kernel=kernel[b],
            gradient_clipped=gradient_clipped[b],
            velocity_clipped=velocity_clipped[b],
            kernel_clipped=kernel_clipped[b],
            **more[b],
        )
        for b in range(places)
    ]
    all_gradients = ConcatSignal(*reversed(gradient))
    all_velocities = ConcatSignal(*reversed(velocity))
    all_kernels = ConcatSignal(*reversed(kernel))
    gradients_clipped = ConcatSignal(*reversed(gradient_clipped))
    velocities_clipped = ConcatSignal(*reversed(velocity_clipped))
    kernels_clipped = ConcatSignal(*reversed(kernel_clipped))

    @always(clk.posedge)
    def negate() -> None:
        number = intbv(0, min=-(1 << width - 1), max=1 << width - 1)
        number[:] = 0
        number[:] = number - config.rate
        minus_rate.next = number[width:]

    @always_comb
    def hand_out() -> None:
        new_gradients.next = all_gradients
        new_velocities.next = all_velocities
        new_kernels.next = all_kernels
        clipped.gradient.next = gradients_clipped
        clipped.velocity.next = velocities_clipped
        clipped.kernel.next = kernels_clipped

    return units, negate, hand_out
