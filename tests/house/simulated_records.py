"""Records as ``merp simulate -o`` leaves them."""

import json
from pathlib import Path
from typing import Any

from merp.models.network.network import Network
from merp.tools.common.hardware import HARDWARE
from merp.tools.common.shipped import open_network

DIGITS = open_network("digits")

OF_HARDWARE = "cd" * 32
"""What the records say that they belong to; the fixture ``as_it_is`` makes all hardware that."""


def run_of(
    layer: str, phase: str, words: dict[str, int], network: Network = DIGITS, **other: Any
) -> dict[str, Any]:
    """A run as ``merp simulate`` writes it, of two images."""
    ways = ("closed_form", "counter", "hardware", "monitor")
    operations = 2 * network.layer(layer).shape.macs(2)
    moved = sum(n * (1 if "state" in port else 4) for port, n in words.items())
    return {
        "network": network.name, "layer": layer, "group": 0, "groups": 1, "phase": phase,
        "engine": "myhdl", "cu_array": "behavioural", "cu_kind": "tree", "n_cu": 4,
        "elaboration_sha": "ab" * 32, HARDWARE: OF_HARDWARE, "images": 2,
        "bit_exact": True, "mismatches": 0,
        "words_compared": sum(n for port, n in words.items() if port.endswith("_out")),
        "operations": operations, "mb_per_gflop": {"full": moved / operations * 1000},
        "failures": [], "cycles": {"total": 1000, "kernel_load": 100},
        "ports": {port: dict.fromkeys(ways, count) for port, count in words.items()},
    } | other  # fmt: skip


def write(folder: Path, *runs: dict[str, Any]) -> Path:
    """A folder with a record of ``runs``."""
    folder.mkdir(exist_ok=True)
    record = runs[0] if len(runs) == 1 else {"network": runs[0]["network"], "runs": runs}
    (folder / "simulate.json").write_text(json.dumps(record))
    return folder
