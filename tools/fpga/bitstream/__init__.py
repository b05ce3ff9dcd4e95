"""The configuration of an FPGA: designs, registers, and files about them."""
