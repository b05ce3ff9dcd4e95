"""Benches of Mazouz and Bridges' elements."""
