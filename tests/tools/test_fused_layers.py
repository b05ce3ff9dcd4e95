"""Two layers fused in forward propagation, on the command line: what runs, and what is refused."""

from pathlib import Path

import pytest

from merp.models.network.network_file import read_network
from merp.tools.cli import main
from network_text import layer, max_pool, network_text
from terminal import Terminal

NETWORK = network_text(
    "tiny",
    (9, 8, 2),
    layer("conv1", 4, kernel=2, pool=max_pool(2, 2), design="first"),
    layer("conv2", 16, kernel=3, pad=1, groups=2, design="k3"),
    layer("conv+3", 3, kernel=3, design="k3"),
    designs={
        "first": {"k": 2, "n_cu": 2, "r": 1, "mul_latency": 1, "add_latency": 2},
        "k3": {"k": 3, "n_cu": 4, "r": 1, "mul_latency": 1, "add_latency": 2},
    },
    layer_fusion=["conv1", "conv2"],
)


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.toml"
    path.write_text(NETWORK)
    return path


def said(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    """Exit status, and what was said on either stream."""
    status = main(list(words))
    out = capsys.readouterr()
    return status, out.out + out.err


def test_the_file_says_which_layers_are_fused(tiny: Path) -> None:
    assert read_network(tiny).layer_fusion == ("conv1", "conv2")


@pytest.mark.sample(1)
@pytest.mark.parametrize("options", [["--layer", "conv1+conv2"], ["--layer", "all"]])
def test_simulate_runs_both_in_one_pass(tiny: Path, terminal: Terminal, options: list[str]) -> None:
    """Of all layers the third takes what the pair has made."""
    found = terminal.answer("simulate", tiny, *options)
    runs = found.get("runs", [found])
    assert [(run["layer"], run["phase"]) for run in runs] == [
        ("conv1+conv2", "ff"), *([("conv+3", "fp")] if "all" in options else []),
    ]  # fmt: skip
    pair = runs[0]
    assert pair["bit_exact"]
    assert pair["halves"] == {"first": 2, "second": 2}
    assert set(pair["ports"]) == {
        "map_in", "kernel", "bias", "second_kernel", "second_bias", "map_out",
    }  # fmt: skip
    assert pair["cycles"]["model"] == pytest.approx(pair["cycles"]["efficiency"])
    assert pair["cycles"]["first"]["issue"] > 0


def test_on_a_board_the_pair_moves_what_the_plan_says(
    tiny: Path, tmp_path: Path, terminal: Terminal
) -> None:
    """Named or as the file says, kept and taken again; a layer that is named alone runs alone."""
    words = ["simulate", str(tiny), "--board", "kc705", "--images", "2"]
    kept = ["-o", str(tmp_path / "out"), "--layer", "conv1+conv2"]
    found, again = terminal.answer(*words, *kept), terminal.answer(*words, *kept, "--resume")
    assert found == again
    (run,) = found["runs"]
    assert (run["layer"], run["phase"], run["passes_run"]) == ("conv1+conv2", "ff", 1)
    assert run["measured"]
    assert run["audit"]["bit_exact"]
    assert run["bytes"]["between_out"] == {"plan": 384, "pins": 384, "measured": True}
    alone = terminal.answer(*words, "--layer", "conv2")["runs"]
    assert [(each["layer"], each["phase"]) for each in alone] == [("conv2", "fp")]


def test_state_leaves_with_the_map_between(tiny: Path, terminal: Terminal) -> None:
    found = terminal.answer("simulate", tiny, "--layer", "conv1", "--phase", "ff", "--state")
    assert {"between_out", "between_state_out", "state_out"} < set(found["ports"])
    assert found["bit_exact"]


def test_a_layer_that_is_named_alone_runs_alone(tiny: Path, terminal: Terminal) -> None:
    found = terminal.answer("simulate", tiny, "--layer", "conv+3")
    assert (found["layer"], found["phase"]) == ("conv+3", "fp")


def test_a_finished_pair_is_taken_again(tiny: Path, tmp_path: Path, terminal: Terminal) -> None:
    words = ["simulate", str(tiny), "--layer", "conv1+conv2", "-o", str(tmp_path / "out")]
    first, again = terminal.answer(*words), terminal.answer(*words, "--resume")
    assert first == again


def test_registers_are_those_of_both(tiny: Path, terminal: Terminal) -> None:
    found = terminal.answer("registers", tiny, "--layer", "conv1+conv2")
    assert found["top"] == "fused_forward_axi"
    assert found["settings"]["map_config_rows"] == 9
    assert found["settings"]["second_map_config_rows"] == 4
    assert found["settings"]["turn_config_kernels"] == 2 * 8 * 9
    assert found["settings"]["turn_config_inputs"] == 2


def test_traffic_counts_the_map_between_once(
    tiny: Path, tmp_path: Path, terminal: Terminal
) -> None:
    apart = tmp_path / "apart.toml"
    apart.write_text(NETWORK.replace('layer_fusion = ["conv1", "conv2"]\n', ""))
    fused, plain = (
        terminal.answer("traffic", path, "--batch", "3", "--count", "all")["total"]["fp"]
        for path in (tiny, apart)
    )
    assert plain["bytes"] - fused["bytes"] == 3 * 4 * 3 * 4 * 4


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["simulate", "--layer", "conv2", "--phase", "ff"], "not the first of two layers"),
        (["simulate", "--layer", "conv1+conv2", "--phase", "dp"], "allowed: fp"),
        (["simulate", "--layer", "conv1+conv2", "--cus", "2"], "without fused layers"),
        (["simulate", "--layer", "conv1+conv9"], "no layer 'conv1+conv9'"),
        (["simulate", "--layer", "conv1+conv+3"], "does not take the output of conv1"),
        (["simulate", "--layer", "conv2+conv+3"], "conv+3 has 1 groups and conv2 2"),
        (["registers", "--layer", "conv1+conv2", "--phase", "ku"], "allowed: fp"),
        (["traffic", "--count", "board"], "no hardware that fuses layers keeps state 32"),
        (["traffic", "--count", "board", "--memory", "9999"], "count board without a board"),
        (
            ["plan", "--board", "kc705", "--layer-fusion", "conv1"],
            "--layer-fusion conv1: allowed are best, none",
        ),
        (
            ["plan", "--board", "kc705", "--layer-fusion", "conv1+conv+3"],
            "does not take the output",
        ),
        (
            ["plan", "--board", "kc705", "--state-bits", "32"],
            "allowed is pooled, or no layer_fusion",
        ),
        (["plan", "--board", "kc705", "-o", "net.txt"], "-o net.txt: must end in .toml"),
        (["simulate", "--board", "kc705", "--layer", "conv2", "--phase", "ff"], "not the first"),
        (["simulate", "--board", "kc705", "--layer", "conv1+conv2", "--phase", "all"], "fp"),
        (["report"], 'layer_fusion = ["conv1", "conv2"]: allowed with plan, simulate'),
    ],
)
def test_what_is_not_built_is_refused_in_a_line(
    tiny: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    status, text = said(capsys, words[0], str(tiny), *words[1:])
    assert status == 2
    assert message in text
    assert len(text.strip().splitlines()) == 1


def test_their_layers_are_listed_as_those_of_any_network(tiny: Path, terminal: Terminal) -> None:
    assert [each["name"] for each in terminal.answer("networks", tiny)["layers"]][:2] == [
        "conv1",
        "conv2",
    ]


@pytest.mark.parametrize(
    ("fuse", "message"),
    [
        ('"conv1"', "layer_fusion = 'conv1': must be a list of 2 different texts"),
        ('["conv1"]', "must be a list of 2 different texts"),
        ('["conv1", "conv1"]', "must be a list of 2 different texts"),
        ('["conv1", 2]', "must be a list of 2 different texts"),
        ('["conv1", "conv4"]', "must be names of layers: conv1, conv2, conv+3"),
        ('["conv1", "conv+3"]', "conv+3 does not take the output of conv1"),
        ('["conv2", "conv1"]', "conv1 does not take the output of conv2"),
    ],
)
def test_a_wrong_key_is_refused_in_a_line(
    tiny: Path, capsys: pytest.CaptureFixture[str], fuse: str, message: str
) -> None:
    tiny.write_text(NETWORK.replace('["conv1", "conv2"]', fuse))
    status, text = said(capsys, "simulate", str(tiny))
    assert status == 2
    assert message in text
    assert len(text.strip().splitlines()) == 1


def test_a_plan_names_the_pairs_that_fit(terminal: Terminal) -> None:
    found = terminal.answer("plan", "alexnet", "--board", "kc705")["fusable"]
    assert [(each["layers"], each["n_cu"]) for each in found] == [(["conv1", "conv2"], [1, 8])]
    assert found[0]["bram"] == 431.5
    assert found[0]["saved_bytes"] == 2 * 128 * 27 * 27 * 96 * 4
    assert found[0]["saved_in_step_bytes"] == 128 * 27 * 27 * 96 * 4
    assert found[0]["best"]
