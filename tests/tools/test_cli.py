import resource
import subprocess
import sys
from pathlib import Path

import pytest

from merp.models.traffic.strategies import NAMES
from merp.tools.common.shipped import shipped_names
from merp.tools.networks import networks_verb
from network_text import layer, network_text
from terminal import Terminal


def test_traffic_json_has_the_keys_of_the_contract(terminal: Terminal) -> None:
    found = terminal.answer("traffic", "alexnet")
    assert list(found) == [
        "network", "batch", "footing", "word_bytes", "layers", "total", "total_all",
    ]  # fmt: skip
    assert (found["network"], found["batch"], found["footing"]) == ("alexnet", 128, "paper")
    conv1, conv2 = found["layers"][:2]
    assert list(conv1) == ["name", "kind", "operations", "fp", "dp", "ku"]
    assert conv1["dp"] is None
    assert list(conv2["dp"]) == ["bytes", "operations", "mb_per_gflop", "streams"]
    assert conv2["fp"]["bytes"] == 57_982_976
    assert list(found["total"]) == list(found["total_all"]) == ["fp", "dp", "ku", "step"]
    assert found["total"]["fp"]["mb_per_gflop"] == pytest.approx(1.940, abs=0.001)
    assert found["total"]["step"]["operations"] == 484_336_484_352
    names = [layer["name"] for layer in found["layers"] if layer["kind"] == "fc"]
    assert names == ["fc6", "fc7", "fc8"]
    everything = sum(layer["fp"]["bytes"] for layer in found["layers"])
    assert found["total_all"]["fp"]["bytes"] == everything


def test_traffic_json_names_what_the_count_includes(terminal: Terminal) -> None:
    found = terminal.answer(
        "traffic", "lenet5", "--count", "board", "--state-bits", "1", "--memory", "9000"
    )
    assert (found["state_bits"], found["memory_bytes"]) == ("1", 9000)
    assert found["layers"][1]["ku"]["momentum_bytes"] == 2 * 4 * (20 * 50 * 25 + 50)


def cells_of(out: str, name: str) -> list[str]:
    """The cells of the row with a name."""
    line = next(line for line in out.splitlines() if line.startswith(f"│ {name} "))
    return [cell.strip() for cell in line.strip("│ ").split("│")]


def test_traffic_table_has_bytes_of_each_phase(terminal: Terminal) -> None:
    out = terminal.output("traffic", "alexnet")
    assert cells_of(out, "conv2") == [
        "conv2",
        "57.98",
        "1.011",
        "244.24",
        "4.260",
        "131.38",
        "2.292",
    ]
    assert "484.3 Gop, 2.808 MB/GFlop" in out


def test_traffic_errata_shows_the_papers_values_next_to_ours(terminal: Terminal) -> None:
    out = terminal.output("traffic", "alexnet", "--errata")
    assert cells_of(out, "conv2") == [
        "conv2", "57.33", "57.34", "1.011", "1.01", "4.260", "4.25", "2.292", "2.29",
    ]  # fmt: skip
    assert cells_of(out, "conv layers")[-2:] == ["3.135", "3.92"]
    assert "Errata of the paper" in out
    assert "the column's own cells add up to 3.13" in out


def test_traffic_shows_the_layers_with_the_most_bytes(terminal: Terminal) -> None:
    out, whole = (terminal.output("traffic", "vgg19", *more) for more in ((), ("--all",)))
    names = [line.split()[1] for line in out.splitlines() if line.startswith("│")]
    first = ("1_1", "1_2", "2_1", "2_2", "3_1", "3_2", "3_3", "3_4", "4_1", "4_2")
    assert names[:10] == [f"conv{name}" for name in first]
    parts = [cells_of(out, name)[1] for name in (*names[:10], "9 others")]
    shown = sum(float(part.replace(",", "")) for part in parts)
    assert shown == pytest.approx(float(cells_of(out, "all layers")[1].replace(",", "")), abs=6)
    assert len([line for line in whole.splitlines() if line.startswith("│")]) == 19 + 2


def test_a_layer_may_have_the_name_of_a_row_of_totals(terminal: Terminal, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    layers = layer("conv layers", 2, kernel=1), layer("fc2", 3)
    path.write_text(network_text("m", (6, 6, 1), *layers))
    for verb, rows in (("traffic", 2), ("networks", 1)):
        assert terminal.output(verb, path).count("│ conv layers │") == rows


def test_more_than_the_first_screen_is_for_people(terminal: Terminal) -> None:
    assert "--all: allowed without --json" in terminal.refusal(
        "traffic", "vgg19", "--all", "--json"
    )
    assert "by its own" in terminal.output("traffic", "alexnet", "--errata", "--wide")
    said = terminal.refusal("compare", "tiny3", "--details", "-o", "page.html")
    assert "--details: allowed without -o" in said


@pytest.mark.parametrize("options", [["lenet5"], ["alexnet", "--batch", "16"]])
def test_errata_are_those_of_the_papers_network_and_batch(terminal: Terminal, options) -> None:
    assert "--errata: the paper has values of alexnet alone" in terminal.refusal(
        "traffic", *options, "--errata"
    )


@pytest.mark.parametrize("options", [["--batch", "16"], ["--count", "all"]], ids=["batch", "count"])
def test_the_paper_is_not_quoted_beside_other_counts(terminal: Terminal, options) -> None:
    out = terminal.output("traffic", "alexnet", *options)
    assert "paper" not in out.replace("Count maps", "")
    assert "errata" not in out


def test_strategies_show_the_chain(terminal: Terminal) -> None:
    status, out, _ = terminal.run("traffic", "alexnet", "--strategies", "--layer", "conv2")
    assert status == 0
    lines = [line.strip("│ ").split("│") for line in out.splitlines() if line.startswith("│")]
    chain = [[cell.strip() for cell in line][:6] for line in lines[:6]]
    assert [row[1] for row in chain] == ["-", *NAMES]
    assert [(row[0], row[4], row[5]) for row in chain] == [
        ("none", "4,080.000", "-"), ("1", "2,080.000", "2,085.00"), ("1-2", "95.625", "96.10"),
        ("1-3", "17.292", "17.30"), ("1-4", "2.292", "-"), ("1-5", "1.011", "1.01"),
    ]  # fmt: skip
    found = terminal.answer("traffic", "alexnet", "--strategies", "--layer", "conv2")
    (layer,) = found["layers"]
    steps = {step["level"]: step for step in layer["strategies"]}
    assert steps["1-5"]["mb_per_gflop"] == pytest.approx(1.0114, abs=0.0001)
    assert steps["1-4"]["on_chip_bytes"] == 25_920
    layers = terminal.answer("traffic", "alexnet", "--strategies")["layers"]
    assert [each["name"] for each in layers] == ["conv1", "conv2", "conv3", "conv4", "conv5"]


def test_networks(terminal: Terminal) -> None:
    status, out, _ = terminal.run("networks")
    assert status == 0
    assert all(name in out for name in shipped_names())
    assert "has traffic only" in terminal.prose("networks", "alexnet")
    assert "accumulator_precision" in terminal.output("networks", "alexnet", "--all")
    listed = terminal.answer("networks")["networks"]
    assert [each["name"] for each in listed] == shipped_names()
    found = terminal.answer("networks", "alexnet")
    assert found["input"] == {"rows": 224, "columns": 224, "channels": 3}
    assert found["layers"][1]["pool"] == {"kind": "max", "window": 3, "stride": 2, "pad": 0}
    assert found["designs"]["k3"]["n_cu"] == 48


@pytest.mark.parametrize(
    ("keys", "shown"), [("pad = 1", "max 3/2 pad 1"), ("ceil = true", "max 3/2 pad 0 0 1 1")]
)
def test_networks_shows_what_pooling_hangs_over(
    keys: str, shown: str, terminal: Terminal, tmp_path
) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(
        '[network]\nname = "m"\ninput = { rows = 6, columns = 6, channels = 1 }\n[[layer]]\n'
        'name = "conv1"\nmaps = 2\nkernel = 1\n'
        f'pool = {{ kind = "max", window = 3, stride = 2, {keys} }}\n'
    )
    status, out, _ = terminal.run("networks", path, "--all", "--wide")
    assert status == 0
    assert shown in out


def test_a_network_of_ones_own(terminal: Terminal, tmp_path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(
        '[network]\nname = "b mine"\ninput = { rows = 4, columns = 4, channels = 1 }\n'
        '[[layer]]\nname = "fc1"\nmaps = 2\n'
    )
    status, out, _ = terminal.run("traffic", path)
    assert status == 0
    assert "Memory traffic of b mine, batch 128" in out
    found = terminal.answer("traffic", path)
    assert found["total"]["dp"]["mb_per_gflop"] is None


BAD = {
    ("traffic", "alexnt"): (
        "merp: no network 'alexnt': allowed are alexnet, alexnet-1group, alexnet-avg, "
        "alexnet-bf16, alexnet-kernel1, alexnet24, cifar-8-16-32-64-64, cifar10-1x, "
        "cifar10-1x-fixed, cifar10-2x, cifar10-2x-fixed, cifar10-4x, cifar10-4x-fixed, digits, "
        "digits-bf16, digits-fixed, digits-small, "
        "lenet5, lenet5-tanh, mnist-8-16-32, mnist-8-8, resnet-digits, svhn-8-16-32-64, tiny3, "
        "vgg16, vgg16-small, vgg19, vgg19-small, or a .toml or .onnx file; did you mean alexnet?"
    ),
    ("networks", "no/such.toml"): ("merp: no/such.toml: cannot be read: No such file or directory"),
    ("traffic", "alexnet", "--batch", "0"): (
        "merp traffic: argument --batch: must be a whole number from 1 to 65536, not '0'"
    ),
    ("traffic", "alexnet", "--batch", "x"): (
        "merp traffic: argument --batch: must be a whole number from 1 to 65536, not 'x'"
    ),
    ("traffic", "alexnet", "--strategies", "--layer", "conv9"): (
        "merp: alexnet: no layer 'conv9': allowed are conv1, conv2, conv3, conv4, conv5, fc6, fc7, "
        "fc8; did you mean conv5?"
    ),
    ("traffic", "alexnet", "--layer", "conv2"): ("merp: --layer conv2: allowed with --strategies"),
    ("traffic", "alexnet", "--strategies", "--count", "all"): (
        "merp: --count all: allowed without --strategies"
    ),
    ("traffic", "alexnet", "--state-bits", "1"): (
        "merp: --state-bits 1: allowed with --count all or board"
    ),
    ("traffic", "alexnet", "--count", "all", "--memory", "9"): (
        "merp: --memory 9: allowed with --count board"
    ),
    ("traffic", "alexnet", "--count", "board", "--memory", "9"): (
        "merp: layer conv1: on-chip memory of 2 words: must be at least 2586 words, "
        "for one map in and one map out"
    ),
    (): "merp: the following arguments are required: VERB",
}


@pytest.mark.parametrize("arguments", BAD, ids=" ".join)
def test_bad_input_is_one_line_and_status_2(terminal: Terminal, arguments) -> None:
    assert terminal.run(*arguments) == (2, "", BAD[arguments] + "\n")


def test_an_unknown_verb_is_refused(terminal: Terminal) -> None:
    status, out, err = terminal.run("trafic")
    assert (status, out) == (2, "")
    assert err.startswith("merp: argument VERB: invalid choice: 'trafic' (choose from ")
    assert err.endswith("; did you mean traffic?\n")
    assert err.count("\n") == 1


def test_an_interrupt_is_status_130(terminal: Terminal, monkeypatch) -> None:
    def interrupt(args: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(networks_verb, "run", interrupt)
    assert terminal.run("networks") == (130, "", "")


def test_a_closed_pipe_is_quiet() -> None:
    command = f"{sys.executable} -m merp.tools.cli networks vgg16 --json | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("{\n", "")


def test_traffic_answers_within_a_second_and_without_slow_imports() -> None:
    code = (
        "import sys; from merp.tools.cli import main; main(['traffic', 'alexnet']);"
        "slow = {'numba', 'numpy', 'matplotlib', 'myhdl'} & set(sys.modules); sys.exit(bool(slow))"
    )
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    busy = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert busy < 1  # of the processor, so that a busy machine does not matter
