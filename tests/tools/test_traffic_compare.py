"""``merp traffic --compare``: two networks side by side."""

from pathlib import Path

import pytest

from checkout import ROOT
from merp.models.traffic.closed_form import network_traffic, total
from merp.models.traffic.count import Count
from merp.tools.common.shipped import open_network
from merp.tools.traffic.compare import paired, ratios
from terminal import Terminal

ALEXNET = network_traffic(open_network("alexnet"), 128)


def test_a_network_against_itself() -> None:
    found = ratios(paired(ALEXNET, ALEXNET))
    assert {ratio for phases in found.values() for ratio in phases.values()} == {1.0}
    assert "dp" not in found["conv1"]
    assert set(found["all layers"]) == {"fp", "dp", "ku", "step"}


def test_half_the_word_is_half_the_bytes(tmp_path: Path, terminal: Terminal) -> None:
    text = (ROOT / "tools" / "data" / "digits.toml").read_text()
    half = tmp_path / "half.toml"
    half.write_text(text.replace('name = "digits"', 'name = "half"\nformat = "bfloat16"'))
    answer = terminal.answer("traffic", "digits", "--compare", half)
    assert [each["network"] for each in answer["networks"]] == ["digits", "half"]
    assert {ratio for phases in answer["ratio"].values() for ratio in phases.values()} == {0.5}
    printed = terminal.output("traffic", "digits", "--compare", half, "--count", "all")
    assert "A: digits, B: half, batch 128" in printed
    assert "Count all" in printed


@pytest.mark.parametrize(
    ("state", "array", "cnn_merp"), [("32", 15.32, 3.332), ("pooled", 14.13, 2.087)]
)
def test_the_array_beside_cnn_merp_with_words_as_wide(
    state: str, array: float, cnn_merp: float, tmp_path: Path, terminal: Terminal
) -> None:
    """Kernels and gradients move for every image there, once a batch here."""
    half = tmp_path / "half.toml"
    half.write_text(
        'base = "cifar10-4x"\n[network]\nname = "cifar10-4x-bf16"\nformat = "bfloat16"\n'
    )
    words = ["traffic", "cifar10-4x-fixed", "--compare", str(half), "--batch", "40"]
    answer = terminal.answer(*words, "--count", "all", "--state-bits", state)
    first, second = (
        each["total_all"]["step"]["mb_per_gflop"] for each in answer["networks"]
    )  # fmt: skip
    assert (round(first, 2), round(second, 3)) == (array, cnn_merp)


def test_layers_of_one_network_alone_stand_against_nothing() -> None:
    digits = network_traffic(open_network("digits"), 128, Count())
    pairs = paired(ALEXNET, digits)
    assert list(pairs)[:3] == ["conv1", "conv2", "conv3"]
    assert "fc3" in pairs
    assert ratios(pairs)["fc6"]["fp"] is None
    ours, theirs = (
        total([each for each in some if each.layer.kind == "conv"], "step")
        for some in (ALEXNET, digits)
    )
    assert ratios(pairs)["conv layers"]["step"] == theirs.bytes / ours.bytes


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--compare", "alexnt"], "no network 'alexnt'"),
        (["--compare", "digits", "--strategies"], "--compare digits: allowed without --strategies"),
        (["--compare", "none.toml"], "none.toml: cannot be read"),
    ],
)
def test_bad_input_is_one_line(arguments: list[str], message: str, terminal: Terminal) -> None:
    error = terminal.refusal("traffic", "alexnet", *arguments)
    assert message in error
