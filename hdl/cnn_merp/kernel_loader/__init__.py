"""Loading of kernels and biases from their streams into the memories."""
