"""Gradients beat by beat, and in the last image of a batch new kernels and velocities."""
