"""The arrays of a training step in memory, and the parts that each pass reads and writes."""
