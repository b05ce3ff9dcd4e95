"""Fused sums of products: aligned once, rounded once."""
