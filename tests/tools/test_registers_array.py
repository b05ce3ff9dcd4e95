"""``merp registers`` of networks on the MAC array: one map, values by layer and phase."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from merp.models.machines.mac_array.params.array_counters import ARRAY_COUNTERS
from merp.tools.cli import main

NETWORK = "digits-fixed"


def answer(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert main(["registers", NETWORK, "--json", *words]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_the_map_is_one_and_values_are_of_a_pass(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    whole = answer(capsys)
    assert (whole["layer"], whole["phase"], whole["settings"]) == (None, None, {})
    forth = answer(capsys, "--layer", "conv1")
    back = answer(capsys, "--layer", "conv1", "--phase", "ku", "-o", str(tmp_path / "ku"))
    assert whole["registers"] == forth["registers"] == back["registers"]
    ranges = {each["name"]: (each["least"], each["most"]) for each in whole["registers"]}
    for each in (forth, back):
        assert all(ranges[n][0] <= v <= ranges[n][1] for n, v in each["settings"].items())
        assert {name for name in ranges if "config_" in name} == set(each["settings"])
    assert forth["settings"] != back["settings"]
    pooled = answer(capsys, "--layer", "conv1", "--phase", "ku", "--delta-at", "pooled")
    entries = [each["settings"]["unpool_config_on_entry"] for each in (back, pooled)]
    assert entries == [0, 1]
    meanings = {each["name"]: each["meaning"] for each in whole["registers"]}
    for counter in ARRAY_COUNTERS:
        assert meanings[f"status_{counter.name}"] == counter.meaning
    assert {path.name for path in (tmp_path / "ku").iterdir()} == {
        "trainer_axi.h", "trainer_axi.md", "trainer_axi.py"
    }  # fmt: skip


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([NETWORK, "--layer", "conv1", "--phase", "dp"], "conv1 is the first layer"),
        ([NETWORK, "--phase", "ku"], "--phase 'ku': of which layer? give --layer L"),
        ([NETWORK, "--layer", "conv2", "--phase", "bp"], "mac-array: allowed: fp, dp, ku"),
        ([NETWORK, "--state"], "--state: digits-fixed runs on mac-array"),
        ([NETWORK, "--layer", "conv2", "--delta-at", "pooled"], "fp takes no deltas"),
        ([NETWORK, "--delta-at", "pooled"], "--delta-at 'pooled': of which layer? give --layer L"),
        (["digits"], "--layer: digits has a design for each kind of layer: give one"),
    ],
)
def test_bad_input_is_one_line(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["registers", *words]) == 2
    error = capsys.readouterr().err
    assert message.replace("'", "") in error.replace("'", "")
    assert error.count("\n") == 1
