"""Drivers and checks for a top in its AXI shell."""
