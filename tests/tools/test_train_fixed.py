"""``merp train``, ``formats`` and ``traffic`` of networks in fixed point."""

import tomllib
from pathlib import Path

import numpy as np
import pytest

from merp.models.arithmetic.fixed import to_numbers
from merp.models.base.notice import Notice
from merp.models.golden.loss import LOSSES
from merp.models.machines.mac_array.fixed_training import initial_model
from merp.tools.common.data import DATA
from merp.tools.common.shipped import open_network
from merp.tools.machines.mac_array.given_weights import given_model
from terminal import Terminal

STOCHASTIC = (DATA / "digits-fixed.toml").read_text().replace('"nearest"', '"stochastic"')


@pytest.fixture
def stochastic(tmp_path: Path) -> str:
    path = tmp_path / "mine.toml"
    path.write_text(STOCHASTIC)
    return str(path)


def train(network: str, *words: object) -> tuple[object, ...]:
    return ("train", network, "--data", "digits", "--batch", "8", *words)


def test_a_training_says_what_it_saturated(terminal: Terminal) -> None:
    found = terminal.answer(*train("digits-fixed", "--steps", 4))
    assert found["rounding"] == "nearest"
    assert list(found["saturated"]) == ["conv1", "conv2", "fc3"]
    for row in found["saturated"].values():
        assert list(row) == ["map", "kernel", "delta", "gradient", "velocity", "zero_increments"]
        assert row["map"] == {"words": 0, "share": 0.0}
        assert 0 < row["zero_increments"] < 1
    assert found["state_bits"] == "chip"
    full = found["bytes"]["full"]
    assert full["fp"] + full["dp"] + full["ku"] == full["step"]
    assert "Saturated words" in terminal.output(*train("digits-fixed", "--steps", 1))


def test_given_kernels_are_rounded_saturated_and_counted(
    terminal: Terminal, tmp_path: Path
) -> None:
    first, second = tmp_path / "first.npz", tmp_path / "second.npz"
    network = open_network("digits-fixed")
    shape = initial_model(network, 0).parameters["fc3"].kernels.shape
    kernel = np.random.default_rng(0).normal(0, 0.1, shape)
    kernel.flat[:2] = 1e6, -1e6
    bias = np.arange(10, dtype=np.int16) - 5  # words of the format
    np.savez(first, **{"fc3.kernel": kernel, "fc3.bias": bias})
    with pytest.warns(Notice, match=f"2 of {kernel.size + 10:,} numbers are .* 2 of fc3.kernel"):
        found = given_model(network, 0, first)
    fraction = network.fixed.of("fc3").kernel
    wanted = np.clip(np.rint(kernel * 2.0**fraction), -(1 << 15), (1 << 15) - 1)
    np.testing.assert_array_equal(found.parameters["fc3"].kernels, wanted)
    np.testing.assert_array_equal(found.parameters["fc3"].biases, bias)
    others = initial_model(network, 0).parameters["conv1"]
    np.testing.assert_array_equal(found.parameters["conv1"].kernels, others.kernels)
    ended = terminal.run(*train("digits-fixed", "--steps", 2, "--weights", first, "--save", second))
    assert ended.status == 0
    assert "first.npz: 2 of" in ended.err
    assert len(ended.err.splitlines()) == 1
    with np.load(second) as saved:  # bit for bit, with the seal of the file
        again = given_model(network, 1, second).parameters
        for name, pair in again.items():
            fraction = network.fixed.of(name).kernel
            np.testing.assert_array_equal(
                to_numbers(pair.kernels, fraction), saved[f"{name}.kernel"]
            )
            np.testing.assert_array_equal(to_numbers(pair.biases, fraction), saved[f"{name}.bias"])
    np.savez(first, **{"fc3.kernel": np.where(kernel > 10, np.nan, kernel)})
    said = terminal.refusal(*train("digits-fixed", "--weights", first))
    assert "first.npz: fc3.kernel[0, 0, 0, 0] = nan: allowed are finite numbers" in said


def test_many_saturated_words_are_warned_of(terminal: Terminal, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(
        STOCHASTIC.replace("[layer.conv2]\n", "[layer.conv2]\nfractions = { gradient = 15 }\n")
    )
    out = terminal.prose(*train(str(path), "--steps", 1))
    assert "of conv2's gradient words were saturated: fewer fraction bits of gradient" in out


@pytest.mark.parametrize("kind", LOSSES)
def test_a_resumed_training_ends_in_the_same_bytes(
    terminal: Terminal, tmp_path: Path, stochastic: str, kind: str
) -> None:
    rate = ("--loss", kind, "--lr", "0.005")
    whole, parts = tmp_path / "whole.npz", tmp_path / "parts.npz"
    terminal.answer(*train(stochastic, "--steps", 5, *rate, "--save", whole))
    terminal.answer(*train(stochastic, "--steps", 2, *rate, "--save", parts))
    terminal.answer(*train(stochastic, "--steps", 5, *rate, "--save", parts, "--resume", parts))
    assert whole.read_bytes() == parts.read_bytes()
    with np.load(whole) as saved:
        kernels = saved["conv1.kernel"].astype(np.float64) * 2**13
        assert (kernels == np.rint(kernels)).all()
        assert np.abs(saved["fc3.velocity"]).max() > 0


def test_a_file_of_other_fractions_rounding_or_format_is_not_resumed(
    terminal: Terminal, tmp_path: Path, stochastic: str
) -> None:
    saved = tmp_path / "saved.npz"
    terminal.answer(*train(stochastic, "--steps", 1, "--save", saved))
    for old, new in (
        ("velocity = 4", "velocity = 5"),
        ('"stochastic"', '"nearest"'),
        ("pof = 16", "pof = 32"),
    ):
        other = tmp_path / "other.toml"
        other.write_text(STOCHASTIC.replace(old, new))
        said = terminal.refusal(*train(str(other), "--steps", 2, "--resume", saved))
        assert "saved with another digits-fixed, other sums, storage or data" in said
    text = "base = 'digits'\n[network]\nname = 'digits-fixed'\n"
    other.write_text(text)
    line = terminal.refusal(*train(str(other), "--steps", 2, "--resume", saved))
    assert "saved with another digits-fixed" in line


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--weight-decay", "0.1"), "0.1: digits-fixed is in fixed point: allowed is 0"),
        (("--state-bits", "1"), "its mask stays on chip: omit it"),
        (
            ("--lr", "1e-12"),
            "--learning-rate 1e-12: over a batch of 8 layer conv1 has no such rate: the nearest "
            "allowed is 3.637978807091713e-12",
        ),
        (("--lr", "1e6"), "layer conv1 has no such rate: the nearest allowed is 1023"),
        (("--backward", "combined"), "architecture = 'mac-array': allowed here is 'cnn-merp'"),
        (("--board", "kc705"), "architecture = 'mac-array': allowed here is 'cnn-merp'"),
    ],
)  # fmt: skip
def test_what_the_array_does_not_do_is_refused(terminal: Terminal, words, said: str) -> None:
    assert said in terminal.refusal(*train("digits-fixed", "--steps", 1, *words))


def test_the_nearest_allowed_rate_is_allowed(terminal: Terminal) -> None:
    terminal.answer(*train("digits-fixed", "--steps", 1, "--lr", "3.637978807091713e-12"))


def test_a_rate_that_decays_to_nothing_is_told_before_any_step(terminal: Terminal) -> None:
    decays = ("--batch", 1438, "--epochs", 3, "--learning-rate-decay", "1e-200")
    said = terminal.refusal("train", "digits-fixed", "--data", "digits", *decays)
    assert (
        "--learning-rate 0.05: 0 in epoch 3: over a batch of 1438 layer conv1 has no such rate"
        in said
    )


@pytest.mark.parametrize("number", [8.5, 8.0])
def test_images_beyond_their_fraction_are_named(
    number: float, terminal: Terminal, tmp_path: Path
) -> None:
    images = np.zeros((10, 8, 8, 1))
    images[2, 2, 1, 0] = -8.0
    images[3, 2, 1, 0] = number
    np.savez(tmp_path / "data.npz", images=images, labels=np.arange(10))
    said = terminal.refusal("train", "digits-fixed", "--data", tmp_path / "data.npz", "--batch", 2)
    assert f"images[3, 2, 1, 0] = {number}: allowed are numbers from -8 to 7.99976" in said


def test_what_no_fraction_is_proposed_of_is_one_line(terminal: Terminal, tmp_path: Path) -> None:
    images = np.zeros((10, 8, 8, 1))
    images[9, 2, 1, 0] = np.inf
    np.savez(tmp_path / "data.npz", images=images, labels=np.arange(10))
    said = terminal.refusal("formats", "digits-fixed", "--data", tmp_path / "data.npz")
    assert "images[9, 2, 1, 0] = inf: allowed are finite numbers" in said
    words = ("formats", "digits-fixed", "--data", "digits", "--loss", "hinge", "--batch", 1)
    for rate, steps in (("1.7e308", 1), ("1e100", 6)):
        said = terminal.refusal(*words, "--lr", rate, "--steps", steps)
        assert f"--learning-rate {float(rate):g}" in said or f"--learning-rate {rate}" in said


def test_labels_outside_the_classes_are_named(terminal: Terminal, tmp_path: Path) -> None:
    np.savez(tmp_path / "data.npz", images=np.zeros((10, 8, 8, 1)), labels=np.arange(1, 11))
    for verb in ("train", "formats"):
        said = terminal.refusal(verb, "digits-fixed", "--data", tmp_path / "data.npz")
        assert "labels[9] = 10: digits-fixed has 10 outputs: allowed are 0 to 9" in said


def test_formats_proposes_tables_of_a_network_file(terminal: Terminal, tmp_path: Path) -> None:
    words = ("formats", "digits-fixed", "--data", "digits", "--steps", "3")
    found = terminal.answer(*words)
    assert found["fractions"]["input"] == 14  # pixels up to 1, and twice that
    assert found["largest"]["input"] == 1.0
    assert found["fractions"]["kernel"] == min(
        15 - int(np.ceil(np.log2(2 * found["largest"][layer]["kernel"])))
        for layer in ("conv1", "conv2", "fc3")
    )
    text = terminal.output(*words)
    proposed = tomllib.loads(text)
    assert proposed["fractions"] == found["fractions"]
    assert all(proposed["layer"][layer]["fractions"] == own
               for layer, own in found["layers"].items() if own)  # fmt: skip
    mine = tomllib.loads(STOCHASTIC)
    assert mine["fractions"].keys() == proposed["fractions"].keys()
    said = terminal.refusal("formats", "digits", "--data", "digits")
    assert said.endswith("layer conv1: allowed here is a design of mac-array")


@pytest.mark.parametrize(
    ("network", "apart", "fused", "maps", "fused_maps"),
    [
        ("cifar10-1x-fixed", 23.94, 19.31, 11.85, 7.23),
        ("cifar10-2x-fixed", 18.21, 15.86, 5.96, 3.61),
        ("cifar10-4x-fixed", 15.32, 14.13, 2.99, 1.81),
    ],
)
def test_words_of_the_papers_networks(
    terminal: Terminal, network: str, apart: float, fused: float, maps: float, fused_maps: float
) -> None:
    words = ("traffic", network, "--batch", 40)
    plain = terminal.answer(*words)["total_all"]["step"]["mb_per_gflop"]
    assert plain == pytest.approx(maps, abs=0.005)
    for state, all_words in (("32", apart), ("pooled", fused)):
        found = terminal.answer(*words, "--count", "all", "--state-bits", state)["total_all"]
        assert found["step"]["mb_per_gflop"] == pytest.approx(all_words, abs=0.005)
    streams, operations = found["step"]["streams"], found["step"]["operations"]
    of_maps = sum(streams[port] for port in ("map_in", "map_out", "delta_in"))
    assert of_maps / operations * 1e3 == pytest.approx(fused_maps, abs=0.005)


def test_the_array_beside_cnn_merp_in_16_bits(tmp_path: Path, terminal: Terminal) -> None:
    path = tmp_path / "cifar10-4x-16bit.toml"
    path.write_text(
        'base = "cifar10-4x"\n[network]\nname = "cifar10-4x-16bit"\nformat = "bfloat16"\n'
    )
    words = ("traffic", "cifar10-4x-fixed", "--batch", 40, "--count", "all", "--compare", path)
    for state, ours, theirs in (("32", 15.32, 3.332), ("pooled", 14.13, 2.087)):
        both = terminal.answer(*words, "--state-bits", state)["networks"]
        steps = [each["total_all"]["step"]["mb_per_gflop"] for each in both]
        assert steps == pytest.approx([ours, theirs], abs=0.005)
    out = terminal.prose(*words)
    assert "A: Count all: all words except velocities on the array's ports" in out
    assert "B: Count all: maps, kernels, biases" in out


@pytest.mark.full
@pytest.mark.parametrize(("kind", "rate"), [("hinge", "0.005"), ("cross-entropy", "0.05")])
def test_the_digits_are_learnt_as_in_float64(
    terminal: Terminal, tmp_path: Path, kind: str, rate: str, stochastic: str
) -> None:
    """Mean of three seeds within a point of the twin's, in both roundings; nothing saturates."""
    options = ("--data", "digits", "--loss", kind, "--lr", rate)
    means = {}
    for network in ("twin", "digits-fixed", stochastic):
        found = []
        for seed in range(3):
            verb = ("formats", "digits-fixed", "--steps", 440) if network == "twin" else (
                "train", network)  # fmt: skip
            found.append(terminal.answer(*verb, *options, "--seed", seed))
        means[network] = np.mean([each["accuracy"] for each in found])
        if network != "twin":
            assert all(
                row[tensor]["share"] < 0.001
                for each in found
                for row in each["saturated"].values()
                for tensor in ("map", "kernel", "delta", "gradient", "velocity")
            )
    assert means["digits-fixed"] > means["twin"] - 0.01 > 0.96
    assert means[stochastic] > means["twin"] - 0.01
