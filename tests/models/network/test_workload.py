"""Loop nests for other tools: the same multiply-adds, in files that those tools read."""

import csv
from math import prod
from pathlib import Path
from typing import Any

import pytest
import yaml
from stored_networks import CROSSED, MIXED, stored

from merp.models.base.storage import Storage
from merp.models.network.network import Network
from merp.models.network.phases import PHASES
from merp.tools.cli import main
from merp.tools.common.shipped import open_network
from merp.tools.traffic.workload import scalesim, timeloop, zigzag
from terminal import Terminal

ALEXNET = open_network("alexnet")
BATCH = 4


def layers_of(network: Network, phase: str) -> list[Any]:
    return list(network.layers[1:] if phase == "dp" else network.layers)


def windows(row: dict[str, str]) -> int:
    """Positions of the filter, rounded up as SCALE-Sim rounds."""
    return prod(
        -(-(int(row[f"IFMAP {way}"]) - int(row[f"Filter {way}"])) // int(row["Strides"])) + 1
        for way in ("Height", "Width")
    )


@pytest.mark.parametrize("name", ["alexnet", "vgg16", "digits"])
def test_scalesim_rows_do_the_layers_multiply_adds(name: str) -> None:
    network = open_network(name)
    files = scalesim(network, BATCH)
    assert list(files) == [f"{name}-{phase}.csv" for phase in PHASES]
    for phase, text in zip(PHASES, files.values(), strict=True):
        assert all(line.endswith(",") for line in text.splitlines())  # as its reader cuts the last
        rows = list(csv.DictReader(text.splitlines()))
        layers = layers_of(network, phase)
        assert [row["Layer name"].split("_g")[0] for row in rows] == [
            f"{layer.name}_{phase}" for layer in layers for _ in range(layer.groups)
        ]
        assert not any("DP" in row["Layer name"] for row in rows)  # it would mean depth-wise
        shapes = [layer.shape for layer in layers for _ in range(layer.groups)]
        for row, shape in zip(rows, shapes, strict=True):
            taps = int(row["Filter Height"]) * int(row["Filter Width"])
            macs = taps * windows(row) * int(row["Channels"]) * int(row["Num Filter"])
            if phase == "dp" and shape.stride == 1 and shape.pad == shape.k // 2:
                assert macs == shape.macs()
            elif phase != "dp":
                assert macs == shape.macs(), row


def test_zigzag_loops_do_the_layers_multiply_adds() -> None:
    for phase, text in zip(PHASES, zigzag(ALEXNET, BATCH).values(), strict=True):
        found = yaml.safe_load(text)
        for layer, entry in zip(layers_of(ALEXNET, phase), found, strict=True):
            assert entry["name"] == f"{layer.name}_{phase}"
            sizes = dict(zip(entry["loop_dims"], entry["loop_sizes"], strict=True))
            assert prod(sizes.values()) == layer.groups * layer.shape.macs(BATCH)
            reached = (sizes["OX"] - 1) * int(entry["dimension_relations"][0].split("*")[0][3:])
            padded = entry["pr_loop_sizes"][0] + sum(entry["padding"][0])
            assert reached + sizes["FX"] <= padded
            written = entry["equation"].split("+=")[0]
            assert written == ("O[g][k][c][fy][fx]" if phase == "ku" else "O[b][g][k][oy][ox]")


@pytest.mark.parametrize(
    ("storage", "wide"),  # O_final, W, I
    [
        (MIXED, {"fp": (32, 16, 32), "dp": (16, 16, 16), "ku": (16, 16, 32)}),
        (CROSSED, {"fp": (32, 16, 32), "dp": (32, 16, 32), "ku": (16, 32, 32)}),
    ],
)
def test_zigzag_operands_are_as_wide_as_they_are_stored(
    storage: Storage, wide: dict[str, tuple[int, ...]]
) -> None:
    """And unfinished sums as they are computed; in KU the gradient is written, W the delta."""
    for phase, text in zip(PHASES, zigzag(stored(ALEXNET, storage), BATCH).values(), strict=True):
        widths = {"O": 32} | dict(zip(("O_final", "W", "I"), wide[phase], strict=True))
        assert all(nest["operand_precision"] == widths for nest in yaml.safe_load(text))


def test_timeloop_problems_have_the_documented_keys() -> None:
    files = timeloop(ALEXNET, BATCH)
    assert len(files) == 8 + 7 + 8
    written = {"fp": "Outputs", "dp": "Inputs", "ku": "Weights"}
    for name, text in files.items():
        _, layer_name, phase = name.removesuffix(".yaml").rsplit("-", 2)
        (problem,) = yaml.safe_load(text).values()
        shape, instance = problem["shape"], problem["instance"]
        assert problem["version"] == 0.4
        coefficients = [each["name"] for each in shape["coefficients"]]
        assert set(instance) == {*shape["dimensions"], *coefficients}
        layer = ALEXNET.layer(layer_name)
        loops = prod(instance[dimension] for dimension in shape["dimensions"])
        assert loops == layer.groups * layer.shape.macs(BATCH)
        spaces = {space["name"]: space for space in shape["data_spaces"]}
        assert [name for name, space in spaces.items() if space.get("read_write")] == [
            written[phase]
        ]
        for space in spaces.values():
            for sum_of_products in space["projection"]:
                for product in sum_of_products:
                    assert product[0] in shape["dimensions"]
                    assert all(factor in coefficients for factor in product[1:])


def test_the_files_are_listed(tmp_path: Path, terminal: Terminal) -> None:
    folder = tmp_path / "w"
    answer = terminal.answer("workload", "digits", "--format", "timeloop", "-o", folder)
    assert set(answer["files"]) == {path.name for path in folder.iterdir()}
    assert len(answer["files"]) == 3 + 2 + 3


def test_a_missing_folder_is_made(tmp_path: Path) -> None:
    folder = tmp_path / "no" / "w"
    assert main(["workload", "digits", "--format", "zigzag", "-o", str(folder)]) == 0
    assert list(folder.iterdir())
