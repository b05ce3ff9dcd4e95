"""Names and limits of trainings."""

from __future__ import annotations

from merp.cosim.engines.names import ENGINES as SIMULATORS

ENGINES = ("golden", *SIMULATORS)
APART = ("myhdl", "verilator")
"""Engines whose simulations of several boards can run together."""

PROCESSES, MPI = "processes", "mpi"
"""What simulates each board of a chain by itself, as it is asked for."""

MOST_PATIENCE = 7 * 24 * 3600
"""Seconds."""

DIGITS = "digits"
"""The data set that needs no file."""

LOSSES = ("cross-entropy", "squared", "hinge")
HARDWARE_STATE = "pooled"  # the only kind that the hardware writes
ON_CHIP = "chip"
"""The state that never leaves the MAC array."""

BATCH, EPOCHS, RATE, MOMENTUM = 32, 10, 0.05, 0.9  # 98 % of the held-out digits
MOST_STEPS, MOST_EPOCHS = 1 << 31, 1 << 20
