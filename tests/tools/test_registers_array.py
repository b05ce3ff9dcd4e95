"""``merp registers`` of networks on the MAC array: one map, values by layer and phase."""

from pathlib import Path

import pytest

from merp.models.machines.mac_array.params.array_counters import ARRAY_COUNTERS
from terminal import Terminal

NETWORK = "digits-fixed"


def test_the_map_is_one_and_values_are_of_a_pass(terminal: Terminal, tmp_path: Path) -> None:
    whole = terminal.answer("registers", NETWORK)
    assert (whole["layer"], whole["phase"], whole["settings"]) == (None, None, {})
    forth = terminal.answer("registers", NETWORK, "--layer", "conv1")
    back = terminal.answer(
        "registers", NETWORK, "--layer", "conv1", "--phase", "ku", "-o", tmp_path / "ku"
    )
    assert whole["registers"] == forth["registers"] == back["registers"]
    ranges = {each["name"]: (each["least"], each["most"]) for each in whole["registers"]}
    for each in (forth, back):
        assert all(ranges[n][0] <= v <= ranges[n][1] for n, v in each["settings"].items())
        assert {name for name in ranges if "config_" in name} == set(each["settings"])
    assert forth["settings"] != back["settings"]
    pooled = terminal.answer(
        "registers", NETWORK, "--layer", "conv1", "--phase", "ku", "--delta-at", "pooled"
    )
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
        ([NETWORK, "--phase", "ku"], "--phase 'ku': allowed only with --layer L"),
        ([NETWORK, "--layer", "conv2", "--phase", "bp"], "mac-array: allowed: fp, dp, ku"),
        ([NETWORK, "--state"], "--state: digits-fixed runs on mac-array"),
        ([NETWORK, "--layer", "conv2", "--delta-at", "pooled"], "fp takes no deltas"),
        ([NETWORK, "--delta-at", "pooled"], "--delta-at 'pooled': allowed only with --layer L"),
        (["digits"], "--layer: digits has a design for each kind of layer: give one"),
    ],
)
def test_bad_input_is_one_line(words: list[str], message: str, terminal: Terminal) -> None:
    error = terminal.refusal("registers", *words)
    assert message.replace("'", "") in error.replace("'", "")
