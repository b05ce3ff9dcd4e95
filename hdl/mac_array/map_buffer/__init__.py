"""Rows of maps, distributed over banks so that every MAC gets its pixel in the same cycle."""
