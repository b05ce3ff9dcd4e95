"""Benches of the elements of Mazouz and Bridges."""
