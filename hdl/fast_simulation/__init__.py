"""Faster simulation of MyHDL: processes and signals, rewritten for it."""
