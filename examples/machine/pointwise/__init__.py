"""A machine for merp: 1 x 1 convolutions on one multiplier and one adder, in floats."""
