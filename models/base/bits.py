"""The type of raw words: bit patterns of a format's values, one to an element of an array."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Bits = NDArray[np.unsignedinteger[Any]]
"""``uint32``, of formats wider than 32 bits ``uint64``; unused high bits are zero."""
