"""Kernels and biases of a file, from which a training in fixed point starts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from merp.models.arithmetic.fixed import SaturatedWords, Words, to_words
from merp.models.base.notice import notice
from merp.models.machines.mac_array.fixed_training import FixedModel, at_rest, initial_model
from merp.models.machines.mac_array.fixed_update import Pair
from merp.models.network.network import Network
from merp.tools.common.given_numbers import given_numbers, refuse_first
from merp.tools.common.kernel_file import SUFFIXES, kernel_arrays


def given_words(path: Path, network: Network) -> dict[str, Words]:
    """Return the words of each array of a file, by its key.

    Numbers are rounded to nearest even. Numbers beyond the format saturate; a notice counts them.
    ``int16`` arrays are words of the format.

    Raises:
        BadInput: as for ``kernel_arrays``, or a number is infinite or NaN.
    """
    arrays = kernel_arrays(path, network)
    found = {
        key: _words(f"{path}: {key}", array, network.fixed.of(key.rpartition(".")[0]).kernel)
        for key, array in arrays.items()
    }
    clipped = {key: words.clipped for key, words in found.items() if words.clipped}
    if clipped:
        each = ", ".join(f"{count:,} of {key}" for key, count in clipped.items())
        every = sum(array.size for array in arrays.values())
        notice(f"{path}: {sum(clipped.values()):,} of {every:,} numbers are saturated: {each}")
    return {key: words.words for key, words in found.items()}


def given_model(network: Network, seed: int, path: Path) -> FixedModel:
    """Return the kernels and biases of a file as words, with velocities of 0.

    Missing arrays come from the seed.

    Raises:
        BadInput: as for ``given_words``.
    """
    words = given_words(path, network)
    return at_rest(
        {
            name: Pair(
                *(words.get(f"{name}{end}", own) for end, own in zip(SUFFIXES, pair, strict=True))
            )
            for name, pair in initial_model(network, seed).parameters.items()
        }
    )


def _words(where: str, array: NDArray[np.generic], fraction: int) -> SaturatedWords:
    if array.dtype.kind == "i" and array.dtype.itemsize == 2:
        return SaturatedWords(array.astype(np.int16), 0)
    numbers = given_numbers(where, array)
    refuse_first(where, array, ~np.isfinite(numbers), "finite numbers")
    return to_words(numbers, fraction)
