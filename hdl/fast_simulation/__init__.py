"""Faster simulation of MyHDL through rewritten processes and signal classes."""
