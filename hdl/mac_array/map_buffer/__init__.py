"""Rows of maps, spread over banks so that every MAC gets its pixel in the same cycle."""
