"""New kernels and biases from gradients, with momentum."""
