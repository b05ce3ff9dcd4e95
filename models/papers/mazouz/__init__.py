"""Mazouz and Bridges: a whole network as one pipeline of processing elements on one chip."""
