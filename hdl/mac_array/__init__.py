"""The MAC array: training in fixed point, one design for all phases."""
