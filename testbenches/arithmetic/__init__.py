"""Operands and exact oracles for arithmetic."""
