"""One copy of the kernels, which is read by rows and by columns."""
