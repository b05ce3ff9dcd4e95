"""Deltas of a tile of output maps, broadcast pixel by pixel in a kernel update."""
