"""Mazouz and Bridges' elements: a map streams through, in the order of the paper."""
