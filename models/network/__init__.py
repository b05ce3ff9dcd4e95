"""Networks and layers, and the files that describe them."""
