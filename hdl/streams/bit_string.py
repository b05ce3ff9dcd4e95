"""Ports for a bit string in front of the bit packer."""

from __future__ import annotations

from merp.hdl.base.signals import bits, count, flag


class BitString:
    """A bit string of up to ``longest`` bits and its handshake with the packer."""

    def __init__(self, longest: int) -> None:
        self.value = bits(longest)  # the bits, in the lowest places, with zeros above
        self.size = count(longest)  # number of bits
        self.push = flag()  # the string is handed over; allowed only while room is high
        self.flush = flag()  # the string is the last one of the run
        self.room = flag()  # the packer has room for a string of any size
