"""The load time of a bitstream.

CNN-MERP section VI: 16 bit at 66 MHz (BPI flash).
"""

from __future__ import annotations

PORT_BITS = 16
PORT_MHZ = 66.0


def load_seconds(bits: int) -> float:
    """Return the load time of a bitstream of ``bits`` through the configuration port."""
    return bits / (PORT_BITS * PORT_MHZ * 1e6)
