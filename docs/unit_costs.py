"""Write the unit costs that `merp compare` counts with: `python docs/unit_costs.py`.

Yosys synthesises the blocks of small CU arrays, on a grid of kernel sizes, formats and kinds; what
an array takes is fitted as so much a unit and so much a tap of it. Minutes.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from merp.cosim.machines.cnn_merp.phases.forward import forward_top
from merp.cosim.synthesis.resources import measure
from merp.cosim.synthesis.synthesis import OPTIONS, yosys_version
from merp.models.base.formats import FORMATS
from merp.models.fpga.resources import Resources
from merp.models.machines.cnn_merp.params.design import EngineDesign

FILE = Path(__file__).parents[1] / "models" / "comparison" / "unit_costs.json"

KERNELS = (1, 3, 5)
UNITS = 2
KINDS = (("binary32", "tree"), ("binary32", "fused"), ("bfloat16", "tree"))
INSIDE = ("cu_array", "cu_fused", "accumulator", "fp_add", "fp_mul")
"""Blocks of an array; what decodes operands once for all units is not a unit's."""

SIZES: dict[str, Any] = {
    "n_cu": UNITS, "r": 1, "max_size": 16, "max_maps": 8, "fifo_words": 32, "groups": 8,
    "kernel_words": 16, "row_words": 16,
}  # fmt: skip


def main() -> None:
    """Synthesise, fit, write."""
    argparse.ArgumentParser(description=__doc__, allow_abbrev=False).parse_args()
    found = []
    for fmt, kind in KINDS:
        grid = [{"k": k, **_unit(k, fmt, kind)} for k in KERNELS]
        fits = {key: _fit(grid, key) for key in ("lut", "ff", "dsp")}
        found.append({"format": fmt, "kind": kind, "grid": grid, "fit": fits})
        print(found[-1], flush=True)
    answer = {"yosys": yosys_version(), "options": OPTIONS, "family": "xc7", "units": found}
    FILE.write_text(json.dumps(answer, indent=1) + "\n")


def _unit(k: int, fmt: str, kind: str) -> dict[str, float]:
    """What a unit of k x k takes, kernel memories apart."""
    design = EngineDesign(k=k, fmt=FORMATS[fmt], cu_kind=kind, **SIZES)
    blocks = [block for block in measure(forward_top(design), False) if block.name in INSIDE]
    total = sum((block.all for block in blocks), Resources())
    logic = total.logic + total.shift  # LUT RAM holds biases and sums, by depth
    return {"lut": logic / UNITS, "ff": total.ff / UNITS, "dsp": total.dsp / UNITS}


def _fit(grid: list[dict[str, float]], key: str) -> dict[str, float]:
    """A unit's share and a tap's, by least squares, and the largest relative residual."""
    taps = np.array([each["k"] ** 2 for each in grid], float)
    counts = np.array([each[key] for each in grid])
    tap, unit = np.polyfit(taps, counts, 1)
    residual = np.abs((unit + tap * taps) / counts - 1).max()
    return {"unit": round(unit, 1), "tap": round(tap, 2), "residual": round(float(residual), 4)}


if __name__ == "__main__":
    main()
