"""Values of merp for the numbers of the RTL compiler, by the keys in the paper's list."""

from __future__ import annotations

from typing import Final

from merp.models.machines.mac_array.array_cycles import update_slots
from merp.models.machines.mac_array.comparison.paper import (
    ALMS,
    BATCHES,
    BYTES_S,
    DESIGNS,
    DSPS,
    IMAGES,
    MEMORY_MBITS,
    PAPER,
    WORD_BITS,
    PaperDesign,
    balancing,
    hidden,
    update_share,
)
from merp.models.machines.mac_array.params.design import Array
from merp.models.machines.mac_array.rtl_compiler.latency import update_seconds
from merp.models.machines.mac_array.rtl_compiler.networks import cifar
from merp.models.machines.mac_array.rtl_compiler.resources import dsp_blocks, macs, memory_bits

_GPU_BYTES_S: Final = 547.6e9
"""Memory bandwidth of a Titan XP. source: NVIDIA's data sheet"""


def rows() -> dict[str, float]:
    """Return all of merp's values by their keys."""
    found = _in_text() | _updates()
    for design in DESIGNS:
        found |= _speed(design) | _resources(design)
    return found


def _operations(design: PaperDesign) -> float:
    """Return the operations of an image: six per multiply-add of FP, as the paper counts."""
    return 3 * sum(layer.operations() for layer in cifar(design.times).layers)


def _gops(design: PaperDesign) -> float:
    """Return the modelled throughput, from the modelled epoch."""
    return _operations(design) * IMAGES / design.epoch(BATCHES[-1]) / 1e9


def _speed(design: PaperDesign) -> dict[str, float]:
    name = design.name
    ten, _, forty = design.epochs.values()
    first = cifar(design.times).layers[0].operations()
    printed = _operations(design) * IMAGES / forty / 1e9
    return {
        **{f"{name} epoch {batch}": design.epoch(batch) for batch in BATCHES},
        f"{name} epoch 20, cells": forty + (ten - forty) / 3,  # c + u/20 of c + u/10 and c + u/40
        f"{name} update": 1e6 * update_seconds(design.machine, design.layers()),
        f"{name} throughput, ours": _gops(design),
        f"{name} throughput, cells": printed,
        f"{name} throughput, no DP": printed * (1 - first / _operations(design)),
        f"{name} efficiency, cells": design.gops / design.watts,
        f"{name} efficiency, ours": _gops(design) / design.watts,
    }


def _resources(design: PaperDesign) -> dict[str, float]:
    name = design.name
    found = {
        f"{name} multiply-adds": macs(design.maps),
        f"{name} DSP": dsp_blocks(design.maps, DSPS),
        f"{name} DSP share": 100 * design.dsps / DSPS,
        f"{name} BRAM": memory_bits(design.layers(), design.maps, WORD_BITS) / 1e6,
        f"{name} BRAM share": 100 * design.mbits / MEMORY_MBITS,
        f"{name} ALM share": 100 * design.alms / ALMS,
    }
    return found


def _updates() -> dict[str, float]:
    largest = DESIGNS[-1]
    second = DESIGNS[0].layers()[1]
    plain, balanced = (
        update_slots(second, Array(pof=DESIGNS[0].maps, balance=each)) for each in (False, True)
    )
    return {
        "III.F gain of balancing": plain / balanced,
        "4X KU of the last image": 100 * update_share(largest),
        "4X double buffering": 100 * hidden(largest),
        **{f"{design.name} load balancing": balancing(design) for design in DESIGNS},
        "DRAM below the GPU": _GPU_BYTES_S / BYTES_S,
    }


def _in_text() -> dict[str, float]:
    layers = cifar(DESIGNS[-1].times).layers
    operations = [layer.operations() for layer in layers]
    step = sum((3 if place else 2) * count for place, count in enumerate(operations))
    return {
        "training over inference": step / sum(operations),
        "parameters": sum(layer.kernels for layer in layers) / 1e6,
        "efficient in small batches": all(
            _gops(design) / design.watts > _titan(design, 1) for design in DESIGNS
        ),
        "4X less efficient, batch 40": _gops(DESIGNS[-1]) / DESIGNS[-1].watts
        < _titan(DESIGNS[-1], 40),
    }


def _titan(design: PaperDesign, batch: int) -> float:
    return PAPER["table III", f"{design.name}, Titan XP, efficiency, batch {batch}"]
