"""AlexNet's convolution layers through a whole training step: the paper's table 3.

One step runs in RTL, the others with the arrays of units in C++.
"""

import json
from collections import defaultdict

import pytest

from merp.tools.cli import main

# CNN-MERP table 3, totals, from exact arithmetic of its cells: the printed KU total is an erratum.
TOTALS = {"fp": 1.940, "dp": 3.450, "ku": 3.135}


@pytest.mark.full
@pytest.mark.verilator
@pytest.mark.parametrize(
    ("network", "delta_at", "images", "array"),
    [
        ("alexnet", "sums", 1, "rtl"),
        ("alexnet", "pooled", 1, "behavioural"),
        ("alexnet", "sums", 2, "behavioural"),
        ("alexnet24", "sums", 1, "behavioural"),
    ],
)
def test_a_training_step_of_alexnet(
    network: str, delta_at: str, images: int, array: str, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [network, "--layer", "all", "--phase", "all", "--engine", "verilator"]
    arguments += ["--images", str(images), "--cu-array", array]
    if delta_at == "pooled":
        arguments.append("--state")
    status = main(["simulate", *arguments, "--delta-at", delta_at, "--json"])
    answer = json.loads(capsys.readouterr().out)
    moved: dict[str, float] = defaultdict(float)
    operations: dict[str, int] = defaultdict(int)
    for run in answer["runs"]:
        assert run["bit_exact"], (run["layer"], run["phase"], run["failures"])
        moved[run["phase"]] += run["mb_per_gflop"]["paper"] * run["operations"]
        operations[run["phase"]] += run["operations"]
        if run["cycles"]["model"] is not None:
            assert run["cycles"]["efficiency"] == pytest.approx(run["cycles"]["model"], abs=0.01)
    assert status == 0
    assert len(answer["runs"]) == 5 + 4 + 5
    if delta_at == "sums":
        for phase, total in TOTALS.items():
            assert moved[phase] / operations[phase] == pytest.approx(total, abs=6e-4)
