"""Parameters of the AXI4 port to external memory."""

from __future__ import annotations

from dataclasses import dataclass

from merp.models.base.whole_numbers import check_ranges

BYTE = 8
BOUNDARY = 4096
"""Bytes: a burst must not cross a multiple of this address (AXI4, ARM IHI 0022, A3.4.1)."""

LONGEST_BURST = 256
"""Beats of the longest burst of type INCR (AXI4, A3.4.1)."""

MOST_TURN = 1 << 16
DATA_BITS = (64, 128, 256, 512)
ADDRESS_BITS = (32, 40)
"""Narrowest and widest address."""


@dataclass(frozen=True, kw_only=True)
class MemoryPort:
    """An AXI4 port, fixed at elaboration.

    Attributes:
        data_bits: bits of a beat: 64, 128, 256 or 512.
        address_bits: bits of a byte address: 32 to 40.
        burst_beats: beats of the longest burst, a power of two from 2 on. A burst never crosses a
            multiple of its bytes, so it keeps the 4 KiB rule of AXI4.
        turn_beats: beats after which a direction gives way to the other, if that one has requests.
        id_bits: bits of AxID, which numbers the streams of a direction: 1 to 8.

    Raises:
        ValueError: a field is out of range; the message names it and the allowed values.
    """

    data_bits: int
    address_bits: int = 32
    burst_beats: int = 64
    turn_beats: int = 64
    id_bits: int = 4

    def __post_init__(self) -> None:
        """Check the fields."""
        check_ranges(self, {"address_bits": ADDRESS_BITS, "id_bits": (1, 8)})
        check_ranges(self, {"turn_beats": (1, MOST_TURN)})
        if type(self.data_bits) is not int or self.data_bits not in DATA_BITS:
            raise ValueError(f"data_bits must be 64, 128, 256 or 512, not {self.data_bits}")
        most = min(LONGEST_BURST, BOUNDARY // self.beat_bytes)
        check_ranges(self, {"burst_beats": (2, most)})
        if self.burst_beats & self.burst_beats - 1:
            raise ValueError(f"burst_beats must be a power of two, not {self.burst_beats}")

    @property
    def beat_bytes(self) -> int:
        """Bytes of a beat."""
        return self.data_bits // BYTE

    @property
    def beat_address_bits(self) -> int:
        """Bits of the address of a beat, which counts beats."""
        return self.address_bits - (self.beat_bytes - 1).bit_length()
