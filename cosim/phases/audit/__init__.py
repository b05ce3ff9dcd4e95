"""Records held against what is expected: bits, words, cycles."""
