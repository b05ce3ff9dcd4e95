"""Rounding of tensors in memory: a word that leaves the engine is rounded to its storage format.

Golden arrays contain words of the arithmetic's format throughout. A tensor that is in memory
between phases, passes and steps also contains only numbers of its format in ``storage``. A word
that leaves the engine is rounded once, to nearest even. It is widened exactly when it is read
again. Every tensor that a golden model reads from memory has passed this module. Without
``storage`` it is unchanged.
"""

from __future__ import annotations

from merp.models.arithmetic.stored import from_memory, to_memory
from merp.models.base.bits import Bits
from merp.models.base.formats import FloatFormat
from merp.models.base.storage import Storage, StoredFormat, Stores, Tensor


def in_memory(words: Bits, tensor: Tensor, fmt: FloatFormat, storage: Storage | None) -> Bits:
    """Return words of ``fmt``, of any shape, as a reader gets them from memory, in ``fmt``."""
    return _kept(words, fmt, fmt if storage is None else storage.of(tensor))


def input_in_memory(words: Bits, stores: Stores) -> Bits:
    """Return the maps that a layer reads, or the image if it reads that, as read from memory."""
    return _kept(words, stores.fmt, stores.stored_input)


def _kept(words: Bits, fmt: FloatFormat, stored: StoredFormat) -> Bits:
    return words if stored == fmt else from_memory(to_memory(words, fmt, stored), stored, fmt)


def pair_in_memory(
    pair: tuple[Bits, Bits], tensor: Tensor, fmt: FloatFormat, storage: Storage | None
) -> tuple[Bits, Bits]:
    """Return kernels and biases, or their velocities, as read from memory."""
    kernels, biases = pair
    return in_memory(kernels, tensor, fmt, storage), in_memory(biases, tensor, fmt, storage)
