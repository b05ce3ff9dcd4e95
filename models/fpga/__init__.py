"""FPGA parts, their resources, and the delay of logic."""
