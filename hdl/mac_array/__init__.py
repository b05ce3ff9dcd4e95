"""The MAC array: training in fixed point, with one design for all phases."""
