"""Designs on an FPGA: bitstreams, packages and their benches, memory layouts, systems."""
