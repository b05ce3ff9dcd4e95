"""Cycles of a network as a pipeline of all its engines, row by row."""
