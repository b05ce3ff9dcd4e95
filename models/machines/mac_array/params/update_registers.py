"""Run-time registers of the kernel update: regions, beats, and the rules of the step."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from merp.models.base.register_table import COUNT_MAX, RegisterTable, RunRegister, switch
from merp.models.machines.mac_array.params.array_pass import SHIFTS, ArrayPass
from merp.models.machines.mac_array.params.design import ArrayDesign
from merp.models.machines.mac_array.params.words import SEED_BITS


@dataclass(frozen=True)
class ArrayUpdateRun:
    """A pass of the kernel update on a design."""

    work: ArrayPass
    design: ArrayDesign

    @property
    def side(self) -> int:
        """q: rows and columns of a region."""
        return self.design.region_side(self.work.kernel)

    @property
    def beats(self) -> int:
        """Beats of gradients, of kernels or of velocities."""
        taps = self.work.inputs * self.work.taps
        return self.design.map_tiles(self.work.outputs) * (taps + 1)


def _shift(name: str, what: str) -> RunRegister[ArrayDesign, ArrayUpdateRun]:
    """Return the register of a rounding shift; it holds the shift minus the smallest shift."""
    low, high = SHIFTS[name]
    return RunRegister(
        name, 0, lambda design: high - low, f"n + {-low}; {what} to multiples of 2^n",
        lambda run: getattr(run.work, name) - low,
    )  # fmt: skip


def _number(name: str, meaning: str) -> RunRegister[ArrayDesign, ArrayUpdateRun]:
    """Return the register of a number of the update."""
    low, high = SHIFTS[name]
    return RunRegister(
        name, low, lambda design: high, meaning, lambda run: int(getattr(run.work, name))
    )


def _count(name: str, most: str, meaning: str) -> RunRegister[ArrayDesign, ArrayUpdateRun]:
    """Return the register of a size of the layer."""
    return RunRegister(
        name, 1, lambda design: int(getattr(design, most)), meaning,
        lambda run: int(getattr(run.work, name)),
    )  # fmt: skip


@cache
def update_table(design: ArrayDesign) -> RegisterTable[ArrayDesign, ArrayUpdateRun]:
    """Return the registers of ``design``, in the order of their signals."""
    registers = (
        _count("inputs", "max_maps", "input maps"),
        _count("outputs", "max_maps", "output maps"),
        _count("kernel", "max_kernel", "side of a kernel"),
        RunRegister(
            "side", 1, lambda design: min(design.pox, design.poy), "side of a region",
            lambda run: run.side,
        ),
        RunRegister(
            "across", 1, lambda design: design.pox, "regions side by side",
            lambda run: run.design.region_grid(run.work.kernel)[1],
        ),
        RunRegister(
            "regions", 1, lambda design: design.pixels, "regions, each with its own input map",
            lambda run: run.design.regions(run.work.kernel),
        ),
        RunRegister(
            "beats", 1, lambda design: COUNT_MAX, "beats of gradients, or of kernels",
            lambda run: run.beats,
        ),
        _shift("shift", "sums of products are rounded"),
        _shift("bias_shift", "sums of deltas are rounded"),
        switch(
            "first", "the first image of a batch: no gradients are read",
            lambda run: run.work.first,
        ),
        switch(
            "last", "the last image of a batch: kernels are updated", lambda run: run.work.last
        ),
        _shift("velocity_shift", "gradients are rounded"),
        _shift("update_shift", "steps of kernels are rounded"),
        _number("rate", "mantissa of the learning rate"),
        *(
            (
                RunRegister(
                    "momentum", 0, lambda design: SHIFTS["momentum"][1],
                    "momentum in units of 1/65536; 0 without velocities",
                    lambda run: run.work.momentum * run.work.has_momentum,
                ),
                switch("has_momentum", "velocities are read and written",
                       lambda run: run.work.has_momentum),
            )
            if design.momentum
            else ()
        ),
        *(
            (
                switch("stochastic", "kernels are rounded stochastically",
                       lambda run: run.work.stochastic),
                RunRegister(
                    "seed", 0, lambda design: (1 << SEED_BITS) - 1, "seed of the random bits",
                    lambda run: run.work.seed,
                ),
            )
            if design.stochastic
            else ()
        ),
    )  # fmt: skip
    return RegisterTable("update_config", registers)
