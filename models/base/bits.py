"""The type of raw words: bit patterns of a format's values, one per element of an array."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Bits = NDArray[np.unsignedinteger[Any]]
"""``uint32``, or ``uint64`` for formats wider than 32 bits; unused high bits are zero."""
