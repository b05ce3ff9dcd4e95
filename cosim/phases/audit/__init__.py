"""Compare records with expectations: bits, words, cycles."""
