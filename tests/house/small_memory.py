"""A board whose memory has 1 MiB."""

BOARD = """
[board]
name = "mine"
part = "xc7k325t"
clock_mhz = 137
[memory]
gbytes_s = 12.8
efficiency = 0.8
mib = 1
"""
