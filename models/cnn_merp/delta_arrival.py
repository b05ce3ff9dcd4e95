"""Distances in time between deltas and slots, of both kinds of the kernel update."""

FILLED = 2  # cycles from the last delta word that a slot needs to its first possible slot
LEAD = 2  # cycles by which deltas are taken before maps, whose registers are set up first
FREED = 3  # cycles from the issue of the last slot that reads a place to its reuse
