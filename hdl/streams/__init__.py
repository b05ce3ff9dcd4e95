"""Streams: credits, gates, packing of bits, one word after another."""
