"""Cases of the switches between engines and memory."""

CYCLES = 400
PACES = (0.3, 0.7, 1.0)
"""Shares of the cycles in which a stream offers or takes a word."""

NUMBERS = [(3,), (0, 5), (0, 2, 5)]
"""Numbers of the engines at a switch."""

CASES = [(numbers, seed) for numbers in NUMBERS for seed in range(4)]
