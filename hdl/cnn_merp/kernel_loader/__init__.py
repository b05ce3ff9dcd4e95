"""Kernels and biases from their streams into the memories."""
