"""Mazouz and Bridges' elements: a map streams through them in the order of the paper."""
