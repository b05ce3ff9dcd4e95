"""The CU array under test: load its memories, then play slots and windows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from merp.hdl.bundles import BiasWrite, KernelWrite, Slot, Sums, bits, flag
from merp.models.params.design import Design
from merp.testbenches.trace import Sample, Trace, run_block


@dataclass(frozen=True)
class SlotInput:
    """One slot and the window that follows it; ``gap`` idle cycles come before it."""

    kernel_addr: int
    acc_addr: int
    group: int
    first: bool
    last: bool
    window: int
    gap: int = 0


def run_cu_array(
    array: Callable[..., Any],
    design: Design,
    kernels: Sequence[Sequence[int]],
    biases: Sequence[Sequence[int]],
    slots: Sequence[SlotInput],
    reset_at: int | None = None,
) -> Trace:
    """Load ``kernels[cu][address]`` (k*k elements in one word) and ``biases[cu][group]``, play.

    ``reset_at``: rst is high for one cycle, so many cycles after the first slot.
    """
    args = {
        "clk": flag(), "rst": flag(), "kernel": KernelWrite(design), "bias": BiasWrite(design),
        "slot": Slot(design), "window": bits(design.window_width), "sums": Sums(design),
        "design": design,
    }  # fmt: skip
    inputs = (
        "rst", "kernel_enable", "kernel_addr", "kernel_data", "bias_enable", "bias_addr",
        "bias_data", "slot_valid", "slot_kernel_addr", "slot_acc_addr", "slot_group", "slot_first",
        "slot_last", "window",
    )  # fmt: skip
    quiet = {"rst": 0, "kernel_enable": 0, "bias_enable": 0, "slot_valid": 0}
    plan: list[dict[str, int]] = [{"rst": 1}, {"rst": 1}, quiet]
    for cu, memory in enumerate(kernels):
        for addr, word in enumerate(memory):
            plan.append(
                quiet | {"kernel_enable": 1 << cu, "kernel_addr": addr, "kernel_data": word}
            )
    for cu, memory in enumerate(biases):
        for addr, word in enumerate(memory):
            plan.append(quiet | {"bias_enable": 1 << cu, "bias_addr": addr, "bias_data": word})
    plan.append(dict(quiet))
    begin = len(plan)
    for slot in slots:
        plan += [dict(quiet) for _ in range(slot.gap + 1)]
        plan[-1] |= {
            "slot_valid": 1, "slot_kernel_addr": slot.kernel_addr, "slot_acc_addr": slot.acc_addr,
            "slot_group": slot.group, "slot_first": int(slot.first), "slot_last": int(slot.last),
        }  # fmt: skip
    plan += [dict(quiet) for _ in range(design.array_latency + 4)]
    at = [i for i, values in enumerate(plan) if values.get("slot_valid")]
    for cycle, slot in zip(at, slots, strict=True):
        plan[cycle + 1]["window"] = slot.window
    if reset_at is not None:
        plan[begin + reset_at]["rst"] = 1

    def drive(cycle: int, _seen: Sample) -> dict[str, int]:
        return plan[cycle]

    return run_block(array, args, inputs, drive, len(plan))
