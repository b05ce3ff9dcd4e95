"""Network descriptions, golden models, and models of traffic and schedules: NumPy only, no
hardware.
"""
