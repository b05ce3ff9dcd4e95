"""A board whose FPGA has no block RAM, so that small layers run in passes."""

BOARD = """
[board]
name = "mine"
part = "tiny"
capacity = { lut = 1000000, ff = 1000000, bram = 0, dsp = 100, bitstream_bits = 1000000 }
clock_mhz = 100
[memory]
gbytes_s = 1
efficiency = 0.8
"""
"""Without block RAM: no memory may be larger than LUT RAM takes."""
