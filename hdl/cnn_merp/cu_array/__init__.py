"""Computational units and their co-located accumulators."""
