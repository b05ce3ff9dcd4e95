"""Arithmetic of an update for every element of a beat: v = RN(RN(mu*v) + g), w - RN(lr*v).

With weight decay, d = RN(g + RN(wd*w)) replaces g. Without momentum, v = RN(+0 + g). In this case
+0 is added to g before the sum with the product. This is correct: if the product is nonzero, so is
w, and a step of either zero does not change w.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from myhdl import ConcatSignal, always_comb, block

from merp.hdl.arithmetic.scaled_sum import scaled_sum
from merp.hdl.base.delay import delay
from merp.hdl.base.signals import bits
from merp.hdl.cnn_merp.ports.gradients import UpdateConfig
from merp.hdl.cnn_merp.update_unit.update_ports import Arrived
from merp.hdl.conversion.entity import Bit, Word
from merp.models.base.latencies import CREDIT_RETURN
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.latencies import (
    GRADIENT_CHOICE,
    GRADIENT_READ,
    UPDATE_ENTRY,
)


@dataclass(frozen=True)
class StepTimes:
    """Cycles from the entrance of an element to its values, and places for later words.

    gradient   to its gradient
    decayed    to the sum with the decay
    velocity   to its velocity
    parameter  to its new value
    """

    gradient: int
    decayed: int
    velocity: int
    parameter: int

    @property
    def places(self) -> int:
        """Return the largest number of words between the entrance and their streams."""
        return self.parameter + CREDIT_RETURN + 1  # one more for the decision


def step_times(design: EngineDesign, rule: UpdateConfig) -> StepTimes:
    """Return the latencies of the words of an element."""
    step = design.mul_latency + design.add_latency
    gradient = UPDATE_ENTRY if design.kernel_port > 1 else GRADIENT_READ + GRADIENT_CHOICE
    decayed = gradient + (step if rule.has("weight_decay") else 0)
    velocity = decayed + (step if rule.has("momentum") else 0)
    return StepTimes(gradient, decayed, velocity, velocity + step)


@block
def _scaled_sums(
    clk: Bit, factor: Word, x: Word, addend: Word, y: Word, subtract: bool, design: EngineDesign
) -> Any:
    """Compute ``scaled_sum`` for every element of a beat."""
    width = design.fmt.width
    found = [bits(width) for _ in range(design.kernel_port)]
    joined = ConcatSignal(*reversed(found)) if design.kernel_port > 1 else found[0]

    @always_comb
    def join() -> None:
        y.next = joined

    return join, [
        scaled_sum(
            clk,
            factor=factor,
            x=x((i + 1) * width, i * width),
            addend=addend((i + 1) * width, i * width),
            y=found[i],
            subtract=subtract,
            fmt=design.fmt,
            mul_latency=design.mul_latency,
            add_latency=design.add_latency,
            beside=design.beside,
        )
        for i in range(design.kernel_port)
    ]


@block
def update_step(
    clk: Bit,
    rule: UpdateConfig,
    old: Word,
    past: Word,
    arrived: Arrived,
    velocity: Word,
    renewed: Word,
    design: EngineDesign,
) -> Any:
    """Compute new words from old words and gradients.

    old       in   words that enter
    past      in   their velocities; None without momentum
    arrived   in   their gradients, later
    velocity  out  their new velocities, after the gradients
    renewed   out  the new words, after the velocities

    Latency: see ``step_times``. Throughput: a beat per cycle. Reset: none.
    """
    times = step_times(design, rule)
    width = len(old)
    late_old = bits(width)
    parts: list[Any] = []
    undecayed = arrived.from_rest if past is None else arrived.gradient
    if rule.has("weight_decay"):
        near_old = bits(width)
        decayed = velocity if past is None else bits(width)
        parts += [
            delay(clk, d=old, q=near_old, cycles=times.gradient),
            delay(clk, d=near_old, q=late_old, cycles=times.velocity - times.gradient),
            _scaled_sums(
                clk, factor=rule.weight_decay, x=near_old, addend=undecayed, y=decayed,
                subtract=False, design=design,
            ),
        ]  # fmt: skip
    else:
        decayed = undecayed
        parts.append(delay(clk, d=old, q=late_old, cycles=times.velocity))
    if past is not None:
        late_past = bits(width)
        parts += [
            delay(clk, d=past, q=late_past, cycles=times.decayed),
            _scaled_sums(
                clk, factor=rule.momentum, x=late_past, addend=decayed, y=velocity,
                subtract=False, design=design,
            ),
        ]  # fmt: skip
    elif decayed is not velocity:

        @always_comb
        def begin_at_rest() -> None:
            velocity.next = decayed

        parts.append(begin_at_rest)
    descent = _scaled_sums(
        clk, factor=rule.rate, x=velocity, addend=late_old, y=renewed, subtract=True, design=design
    )
    return parts, descent
