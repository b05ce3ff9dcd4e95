"""A string of bits on its way to the bit packer."""

from __future__ import annotations

from merp.hdl.base.signals import bits, count, flag


class BitString:
    """A string of up to ``longest`` bits, and whether the packer has room for one."""

    def __init__(self, longest: int) -> None:
        self.value = bits(longest)  # its bits in the lowest places, zeros above
        self.size = count(longest)  # how many bits it has
        self.push = flag()  # it is handed over; only while room is high
        self.flush = flag()  # it is the run's last one
        self.room = flag()  # a string of any size fits
