"""What lies in memory: a word that leaves the engine is rounded to the format it is stored in.

Golden arrays are words of the arithmetic's format throughout. What lies in memory between phases,
passes and steps is in addition a number of the format that ``storage`` has for such a tensor: the
word that leaves is rounded once, to nearest even, and widened exactly when it comes in again. All
that a golden model takes from memory has gone through here; without ``storage`` it is as it was.
"""

from __future__ import annotations

from merp.models.arithmetic.stored import from_memory, to_memory
from merp.models.base.bits import Bits
from merp.models.base.formats import FloatFormat
from merp.models.base.storage import Storage, StoredFormat, Stores, Tensor


def in_memory(words: Bits, tensor: Tensor, fmt: FloatFormat, storage: Storage | None) -> Bits:
    """Words of ``fmt``, of any shape, as whoever reads them from memory has them, in ``fmt``."""
    return _kept(words, fmt, fmt if storage is None else storage.of(tensor))


def input_in_memory(words: Bits, stores: Stores) -> Bits:
    """The same of the maps that a layer takes, or of the image where it takes that."""
    return _kept(words, stores.fmt, stores.stored_input)


def _kept(words: Bits, fmt: FloatFormat, stored: StoredFormat) -> Bits:
    return words if stored == fmt else from_memory(to_memory(words, fmt, stored), stored, fmt)


def pair_in_memory(
    pair: tuple[Bits, Bits], tensor: Tensor, fmt: FloatFormat, storage: Storage | None
) -> tuple[Bits, Bits]:
    """The same of kernels and biases, or of their velocities."""
    kernels, biases = pair
    return in_memory(kernels, tensor, fmt, storage), in_memory(biases, tensor, fmt, storage)
