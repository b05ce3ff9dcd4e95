"""The simulated board: an accelerator, a memory controller and DDR3 memory, as one library."""
