"""Fused sums of products: one alignment, one rounding."""
