"""Watch the slots of the whole array from inside: every MAC gets the element that it wants.

Where no word stands twice in the maps of a pass, a word is the tag of its element. Each bank gives
one word a slot, so that all MACs have theirs only if none wants two of one bank, none reads before
its element is written, and none after another has taken its place.
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
    """The same pass with no word twice in its maps.

    Raises:
        ValueError: the maps have more elements than there are words.
    """
    shape = layer.maps.shape
    if layer.maps.size > 1 << WORD_BITS:
        raise ValueError(f"{layer.maps.size} elements: at most {1 << WORD_BITS} have a tag each")
    tags = np.random.default_rng([layer.seed, 5]).permutation(1 << WORD_BITS) - 32768
    words: Words = tags[: layer.maps.size].reshape(shape)
    return replace(layer, maps=words)


class SlotWatch:
    """What the array must be given in passes that are run one after the other."""

    def __init__(self, passes: Sequence[SuppliedPass], design: ArrayDesign) -> None:
        self._left = list(passes)
        self._design = design
        self._at: SuppliedPass | None = None
        self._wanted: list[ExpectedSlot] = []

    def reset(self) -> None:
        """The pass at hand begins anew with the next start."""
        if self._at is not None:
            self._left.insert(0, self._at)
            self._at = None

    def start(self) -> None:
        """Another pass begins."""
        self.finish()
        self._at = self._left.pop(0)
        self._wanted = list(slots(self._at, self._design))[::-1]

    def slot(self, first: bool, last: bool, biased: bool, pixels: int, weights: int) -> None:
        """A slot's operands: those that count are the layer's."""
        assert self._wanted, "a slot behind the last one"
        expected = self._wanted.pop()
        assert (first, last, biased) == expected[:3], self._at
        given = np.array(parted(pixels, self._design.pixels))[expected.places]
        assert np.array_equal(given, expected.pixels), self._at
        assert parted(weights, expected.weights.size) == expected.weights.tolist(), self._at

    def finish(self) -> None:
        """All slots of the pass at hand were there."""
        assert self._at is None or not self._wanted, f"{len(self._wanted)} slots are missing"


def watched(top: Top, watch: SlotWatch) -> Top:
    """The array's top with a watch on what its supply side gives, for simulation by MyHDL."""

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
