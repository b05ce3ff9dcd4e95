"""The pipeline as a machine: CNN-MERP's engines of all layers and phases, concurrently on one
chip.
"""

from __future__ import annotations

from dataclasses import replace

from merp.models.machines.cnn_merp import machine
from merp.models.machines.cnn_merp.at_once.places import DEPTH_OPTION

MACHINE = replace(
    machine.MACHINE,
    name="pipeline",
    aliases=("mazouz",),
    says="all layers and phases at once, as a pipeline on one chip",
    runs=machine.MACHINE.name,
    options={"depth": DEPTH_OPTION},
    comparison="",
    hardware="merp.tools.machines.cnn_merp.pipeline.hardware:HARDWARE",
)
