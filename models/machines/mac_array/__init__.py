"""The MAC array that trains in fixed point: its arithmetic, its cycles and its traffic."""
