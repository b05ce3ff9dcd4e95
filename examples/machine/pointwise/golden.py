"""The words that must leave the engine, from its specification: every sum in order, one rounding.

A row is an output map's bias and kernel elements, its *parameters* (m, 1 + n). A bias is the kernel
element of an input that is always one. Arrays hold words of the format.
"""

from __future__ import annotations

import numpy as np

from merp.models.arithmetic.fp_add import fp_add
from merp.models.arithmetic.fp_mul import fp_mul
from merp.models.base.bits import Bits
from merp.models.base.formats import FloatFormat


def forward(x: Bits, parameters: Bits, relu: bool, fmt: FloatFormat) -> Bits:
    """Output maps (pixels, m) of input maps (pixels, n)."""
    sums = np.broadcast_to(parameters[:, 0], (len(x), len(parameters)))
    for n in range(x.shape[1]):
        sums = fp_add(sums, fp_mul(parameters[None, :, n + 1], x[:, n, None], fmt), fmt)
    return np.where(sums & np.uint32(fmt.sign_bit), 0, sums).astype(np.uint32) if relu else sums


def update(x: Bits, deltas: Bits, parameters: Bits, rate: int, fmt: FloatFormat) -> Bits:
    """Parameters less ``rate`` times their gradients, which are sums over pixels in order."""
    gradients = np.zeros_like(parameters)
    for pixel, delta in zip(x, deltas, strict=True):
        row = np.concatenate([[fmt.one], pixel]).astype(np.uint32)
        gradients = fp_add(gradients, fp_mul(delta[:, None], row[None, :], fmt), fmt)
    minus = np.uint32(rate ^ fmt.sign_bit)
    return fp_add(parameters, fp_mul(np.broadcast_to(minus, gradients.shape), gradients, fmt), fmt)
