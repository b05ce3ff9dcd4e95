"""Computation of new kernels and biases from gradients, with momentum."""
