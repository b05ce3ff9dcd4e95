"""Check inside the whole array that every MAC receives the correct element in every slot.

A slot is a cycle in which the array receives operands. If no word occurs twice in the maps of a
pass, a word identifies its element. Each bank reads one word per slot. Therefore all MACs receive
their elements only under three conditions:

- No two elements of a slot are in the same bank.
- No element is read before it is written.
- No element is read after another element has overwritten it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from myhdl import always, block

from merp.hdl.conversion.entity import entity
from merp.hdl.conversion.scope import elaborated
from merp.models.machines.mac_array.circulant import Words
from merp.models.machines.mac_array.params.design import WORD_BITS, ArrayDesign
from merp.testbenches.mac_array.supply_bench import ExpectedSlot, SuppliedPass, slots
from merp.testbenches.mac_array.words import parted
from merp.testbenches.top.top import Top

OPERANDS = ("valid", "first", "last", "biased", "pixels", "weights")


def tagged(layer: SuppliedPass) -> SuppliedPass:
    """Return the same pass with maps in which no word occurs twice.

    Raises:
        ValueError: the maps have more elements than different words exist.
    """
    shape = layer.maps.shape
    if layer.maps.size > 1 << WORD_BITS:
        raise ValueError(f"{layer.maps.size} elements: at most {1 << WORD_BITS} have a tag each")
    tags = np.random.default_rng([layer.seed, 5]).permutation(1 << WORD_BITS) - 32768
    words: Words = tags[: layer.maps.size].reshape(shape)
    return replace(layer, maps=words)


class SlotWatch:
    """Checks the operands of the array in consecutive passes."""

    def __init__(self, passes: Sequence[SuppliedPass], design: ArrayDesign) -> None:
        self._left = list(passes)
        self._design = design
        self._at: SuppliedPass | None = None
        self._wanted: list[ExpectedSlot] = []

    def reset(self) -> None:
        """Begin the current pass again with the next start."""
        if self._at is not None:
            self._left.insert(0, self._at)
            self._at = None

    def start(self) -> None:
        """Begin the next pass."""
        self.finish()
        self._at = self._left.pop(0)
        self._wanted = list(slots(self._at, self._design))[::-1]

    def slot(self, first: bool, last: bool, biased: bool, pixels: int, weights: int) -> None:
        """Compare a slot's operands with the layer, at MACs and lanes in use."""
        assert self._wanted, "a slot after the last one"
        expected = self._wanted.pop()
        assert (first, last, biased) == expected[:3], self._at
        given = np.array(parted(pixels, self._design.pixels))[expected.places]
        assert np.array_equal(given, expected.pixels), self._at
        assert parted(weights, expected.weights.size) == expected.weights.tolist(), self._at

    def finish(self) -> None:
        """Check that all slots of the current pass have occurred."""
        assert self._at is None or not self._wanted, f"{len(self._wanted)} slots are missing"


def watched(top: Top, watch: SlotWatch) -> Top:
    """Add a watch on the operands of the supply side to the array's top, for MyHDL."""

    def trainer(**args: Any) -> Any:
        @entity
        def beside() -> Any:
            array, scope = elaborated(lambda: top.function(**args))
            signals = scope.inside["supply"].signals
            valid, *operands = (signals[f"operands_{name}"] for name in OPERANDS)
            look = _look(args["clk"], args["rst"], args["start"], valid, operands, watch)
            return array, look

        return beside()

    return replace(top, function=trainer)


@block
def _look(
    clk: Any, rst: Any, start: Any, valid: Any, operands: Sequence[Any], watch: SlotWatch
) -> Any:
    sampled: tuple[Callable[[], int], ...] = tuple(each.__int__ for each in operands)

    @always(clk.posedge)
    def look() -> None:
        if rst:
            watch.reset()
        elif valid:
            first, last, biased, pixels, weights = (each() for each in sampled)
            watch.slot(bool(first), bool(last), bool(biased), pixels, weights)
        if start and not rst:
            watch.start()

    return look
