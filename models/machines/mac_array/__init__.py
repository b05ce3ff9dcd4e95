"""The MAC array that trains in fixed point: its numbers, and what it takes and moves."""
