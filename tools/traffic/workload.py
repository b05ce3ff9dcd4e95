"""Loop nests in the formats of SCALE-Sim, Timeloop and ZigZag.

Each function returns file names and their text. YAML is written as JSON values under plain keys,
which every YAML reader accepts.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from merp.models.base.names import file_name
from merp.models.base.shape import Shape
from merp.models.base.storage import Stores, element_bytes
from merp.models.network.network import Network
from merp.models.network.phases import PHASES
from merp.models.network.workload import Nest, nests

SCALESIM_HEAD = (
    "Layer name", "IFMAP Height", "IFMAP Width", "Filter Height", "Filter Width", "Channels",
    "Num Filter", "Strides",
)  # fmt: skip


def scalesim(network: Network, batch: int) -> dict[str, str]:
    """Return a topology CSV per phase, with one row per group. SCALE-Sim takes one image.

    Sizes of maps include the padding, because SCALE-Sim has no padding. KU is written as a product
    of matrices: windows of n*k*k elements by output positions, times positions by output maps.
    """
    files = {}
    for phase in PHASES:
        rows = [",".join(SCALESIM_HEAD)]
        for nest in nests(network, phase, batch):
            shape = nest.shape
            if PHASES[phase].updates:
                positions = shape.out_rows * shape.out_columns
                sizes = [shape.n * shape.k**2, positions, 1, positions, 1, shape.m, 1]
            else:
                sizes = _topology(nest.convolution)
            for group in range(nest.layer.groups):
                name = nest.name + (f"_g{group}" if nest.layer.groups > 1 else "")
                rows.append(",".join([name, *map(str, sizes)]))
        files[file_name(network.name, phase, suffix=".csv")] = "".join(f"{row},\n" for row in rows)
    return files


def _topology(shape: Shape) -> list[int]:
    # The part of the padded map that windows cover: SCALE-Sim rounds the number of windows up.
    rows, columns = (
        (out - 1) * shape.stride + shape.k for out in (shape.out_rows, shape.out_columns)
    )
    return [rows, columns, shape.k, shape.k, shape.n, shape.m, shape.stride]


def zigzag(network: Network, batch: int) -> dict[str, str]:
    """Return a workload YAML per phase.

    In KU the written operand O is the gradient and W the delta.
    """
    files = {}
    for phase in PHASES:
        layers = [
            _zigzag_layer(nest, index, _zigzag_bits(network.at(nest.layer), phase))
            for index, nest in enumerate(nests(network, phase, batch))
        ]
        files[file_name(network.name, phase, suffix=".yaml")] = "".join(
            "- " + _yaml(layer).replace("\n", "\n  ").rstrip() + "\n" for layer in layers
        )
    return files


_ZIGZAG_PORTS = {
    "fp": {"O_final": "map_out", "W": "kernel", "I": "map_in"},
    "dp": {"O_final": "delta_out", "W": "kernel", "I": "delta_in"},
    "ku": {"O_final": "kernel_out", "W": "delta_in", "I": "map_in"},
}
"""Ports of the operands of a loop nest."""


def _zigzag_bits(stores: Stores, phase: str) -> dict[str, int]:
    """Return the bits of each operand in memory, and of an unfinished sum in the hardware."""
    stored = {
        operand: 8 * element_bytes(phase, port, stores)
        for operand, port in _ZIGZAG_PORTS[phase].items()
    }
    return {"O": 8 * stores.fmt.bytes} | stored


def _zigzag_layer(nest: Nest, index: int, bits: Mapping[str, int]) -> dict[str, Any]:
    shape = nest.convolution
    equation = "O[b][g][k][oy][ox]+=W[g][k][c][fy][fx]*I[b][g][c][iy][ix]"
    if PHASES[nest.phase].updates:
        equation = "O[g][k][c][fy][fx]+=W[b][g][k][oy][ox]*I[b][g][c][iy][ix]"
    return {
        "id": index,
        "name": nest.name,
        "operator_type": "Conv",
        "equation": equation,
        "dimension_relations": [
            f"ix={shape.stride}*ox+1*fx",
            f"iy={shape.stride}*oy+1*fy",
        ],
        "loop_dims": ["B", "G", "K", "C", "OY", "OX", "FY", "FX"],
        "loop_sizes": [
            nest.batch, nest.layer.groups, shape.m, shape.n, shape.out_rows, shape.out_columns,
            shape.k, shape.k,
        ],
        "pr_loop_dims": ["IX", "IY"],
        "pr_loop_sizes": [shape.columns, shape.rows],
        "padding": [[shape.left, shape.right], [shape.top, shape.bottom]],
        "operand_precision": bits,
        "operand_source": {"I": index, "W": index},
    }  # fmt: skip


def timeloop(network: Network, batch: int) -> dict[str, str]:
    """Return a problem YAML (version 0.4) per layer and phase.

    All phases have the loops of FP; only the written operand differs.
    """
    files = {}
    for phase in PHASES:
        for nest in nests(network, phase, batch):
            text = _yaml({"problem": _timeloop_problem(nest)})
            files[file_name(network.name, nest.layer.name, phase, suffix=".yaml")] = text
    return files


def _timeloop_problem(nest: Nest) -> dict[str, Any]:
    shape = nest.shape
    projections: dict[str, Sequence[Any]] = {
        "Inputs": [
            [["N"]], [["G"]], [["C"]],
            [["P", "Stride"], ["R"]], [["Q", "Stride"], ["S"]],
        ],
        "Weights": [[["G"]], [["M"]], [["C"]], [["R"]], [["S"]]],
        "Outputs": [[["N"]], [["G"]], [["M"]], [["P"]], [["Q"]]],
    }  # fmt: skip
    written = {"fp": "Outputs", "dp": "Inputs", "ku": "Weights"}[nest.phase]
    spaces = [
        {"name": name, "projection": projection} | ({"read_write": True} if name == written else {})
        for name, projection in projections.items()
    ]
    return {
        "version": 0.4,
        "shape": {
            "name": nest.name,
            "dimensions": ["N", "G", "M", "C", "P", "Q", "R", "S"],
            "coefficients": [{"name": "Stride", "default": 1}],
            "data_spaces": sorted(spaces, key=lambda space: "read_write" in space),
        },
        "instance": {
            "N": nest.batch, "G": nest.layer.groups, "M": shape.m, "C": shape.n,
            "P": shape.out_rows, "Q": shape.out_columns, "R": shape.k, "S": shape.k,
            "Stride": shape.stride,
        },
    }  # fmt: skip


def _yaml(values: Mapping[str, Any], indent: str = "") -> str:
    """Return block style down to the first value without nested mappings, JSON from there."""
    lines = []
    for key, value in values.items():
        nested = isinstance(value, Mapping) and any(
            isinstance(inner, Mapping | list) for inner in value.values()
        )
        if nested:
            lines.append(f"{indent}{key}:\n{_yaml(value, indent + '  ')}")
        else:
            lines.append(f"{indent}{key}: {json.dumps(value)}\n")
    return "".join(lines)
