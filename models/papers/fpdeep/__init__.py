"""FPDeep: a network on a chain of FPGAs; each FPGA has a fixed piece of it for all images."""
