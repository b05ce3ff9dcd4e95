"""The chain as a machine: CNN-MERP's engines of all layers and phases, concurrently on several
boards.
"""

from __future__ import annotations

from dataclasses import replace

from merp.models.fpga.board import MOST_DEVICES
from merp.models.machines.cnn_merp import machine
from merp.models.machines.cnn_merp.at_once.places import DEPTH_OPTION
from merp.models.machines.cnn_merp.chain.shares import MAX_PACE
from merp.models.network.machine import Option

PATIENCE = 30
"""Seconds without a message from a board; a computer that swaps may delay messages."""

MOST_PATIENCE = 7 * 24 * 3600
"""Seconds."""

MACHINE = replace(
    machine.MACHINE,
    name="chain",
    aliases=("fpdeep",),
    says="all layers and phases at once, on a chain of boards",
    runs=machine.MACHINE.name,
    options={
        "depth": DEPTH_OPTION,
        "devices": Option(1, MOST_DEVICES, 1),
        "link_cycles": Option(1, MAX_PACE, 1),
        "processes": Option(),
        "mpi": Option(),
        "patience": Option(1, MOST_PATIENCE, PATIENCE),
    },
    comparison="",
    hardware="merp.tools.machines.cnn_merp.chain.hardware:HARDWARE",
)
