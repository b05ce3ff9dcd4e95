"""Searches over the free choices of a design: exact fronts, and the paper's genetic algorithm."""
