"""The result of a run, and its comparison with expected results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from merp.models.arithmetic.stored import from_memory
from merp.models.arithmetic.words import to_values
from merp.models.base.bits import Bits
from merp.models.base.errors import BadInput
from merp.models.base.fixed import FixedFormat
from merp.tools.fpga.bench.arrays import Arrays, stream_words
from merp.tools.fpga.bench.package import Package


@dataclass(frozen=True)
class Result:
    """The result of a run.

    Attributes:
        package: the package.
        words: words of each output stream, by its name: (words,) ``uint32``.
        moved: words that passed the pins of each stream, by its name.
        counters: every counter of the hardware, by name: words by port (``map_in``), ``total`` and
            the other cycles, ``issue``, ``useful``.
        cycles: clock cycles from the start to the interrupt.
    """

    package: Package
    words: Mapping[str, Bits]
    moved: Mapping[str, int]
    counters: Mapping[str, int]
    cycles: int

    def numbers(self, stream: str, shape: tuple[int, ...] = (-1,)) -> NDArray[np.float64]:
        """Return the words of an output stream as exact numbers of ``shape``.

        Raises:
            BadInput: they are fixed-point words, whose fraction depends on the pass.
        """
        return self._values(stream, self.words[stream]).reshape(shape)

    def check(self, expected: Arrays, counters: Mapping[str, int] | None = None) -> None:
        """Compare every output word, and counters.

        The counter of each stream's words is always compared with the words on its pins.

        Args:
            expected: expected words of all output streams, as arrays for ``Bench.run``. They are
                compared bit by bit, except for elements that a NumPy mask excludes.
            counters: expected values of counters by name; others are not compared.

        Raises:
            AssertionError: a word or a count differs, is missing or is too many. It names the
                first.
            BadInput: a stream is missing or unknown, or an array is not allowed.
        """
        wanted = stream_words(self.package, self.package.outputs, expected)
        if not any(len(words) for words in wanted.values()):
            raise AssertionError("no word would be compared")
        for name, words in wanted.items():
            self._compare(
                name, words, np.ma.getmaskarray(np.ma.asarray(expected[name])).reshape(-1)
            )
        counts = {
            counter: count
            for name, count in self.moved.items()
            if (counter := self.package.counter_of(name)) != name
        }
        for name, count in {**counts, **(counters or {})}.items():
            found = self.counters[name]
            if found != count:
                raise AssertionError(f"counter {name}: {found}, not {count}")

    def _compare(self, stream: str, wanted: Bits, masked: NDArray[np.bool_]) -> None:
        found = self.words[stream]
        shared = min(len(found), len(wanted))
        (places,) = np.nonzero((found[:shared] != wanted[:shared]) & ~masked[:shared])
        if places.size:
            place = int(places[0])
            raise AssertionError(
                f"{stream}, word {place} of {len(wanted)}: {self._shown(stream, found[place])}, "
                f"not {self._shown(stream, wanted[place])}; {places.size} words differ"
            )
        if len(found) != len(wanted):
            raise AssertionError(f"{stream}: {len(found)} words, not {len(wanted)}")

    def _shown(self, stream: str, word: np.uint32) -> str:
        bits = f"0x{int(word):x}"
        fixed = isinstance(self.package.fmt, FixedFormat)
        if fixed or not self.package.holds_numbers(stream):
            return bits
        value = self._values(stream, np.array([word], np.uint32))[0]
        return f"{bits} ({value:g})"

    def _values(self, stream: str, words: Bits) -> NDArray[np.float64]:
        fmt, stored = self.package.fmt, self.package.format_of(stream)
        if isinstance(fmt, FixedFormat) or isinstance(stored, FixedFormat):
            raise BadInput(
                f"{stream}: fixed-point words have the fraction of their pass: take words"
            )
        return to_values(from_memory(words, stored, fmt), fmt)
