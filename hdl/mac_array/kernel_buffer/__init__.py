"""One copy of the kernels, read by rows and by columns."""
