"""A board whose FPGA has no block RAM, so that small layers run in passes."""

from merp.models.fpga.parts import Part

BOARD = """
[board]
name = "mine"
part = "tiny"
clock_mhz = 100
[memory]
gbytes_s = 1
efficiency = 0.8
"""

TINY = Part(
    name="tiny", order_code="tiny-1", luts=10**6, flip_flops=10**6, block_rams=0, dsps=100,
    configuration_bits=10**6, clock_mhz=100.0,
)  # fmt: skip
"""Without block RAM: no memory may be larger than LUT RAM takes."""
