"""The papers: the numbers that they print, and their formulas."""
