"""``merp simulate`` and the library where a network goes back in one pass."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import merp
from marks import rows_in_full
from merp.cosim.engines import myhdl_engine
from merp.cosim.machines.cnn_merp.phases import backward
from merp.models.machines.cnn_merp.designs import design_of
from merp.models.machines.cnn_merp.params.word_counters import word_bytes
from merp.models.network.network_file import read_network
from merp.models.traffic.closed_form import network_traffic
from merp.models.traffic.count import Count
from merp.tools.cli import main
from network_text import layer, max_pool, network_text
from terminal import Terminal

NETWORK = network_text(
    "tiny",
    (6, 5, 3),
    layer("conv1", 4, kernel=2, pool=max_pool(3, 2), design="first"),
    layer("conv2", 6, kernel=2, pad=1, groups=2, design="k2"),
    layer("fc3", 3, relu=False, design="full"),
    designs={
        "first": {"k": 2, "n_cu": 2, "r": 1, "mul_latency": 1, "add_latency": 2},
        "k2": {"k": 2, "n_cu": 3, "r": 1, "mul_latency": 1, "add_latency": 2},
        "full": {"k": 1, "n_cu": 1, "r": 1, "mul_latency": 1, "add_latency": 2},
    },
    backward="combined",
)

BACK = [("fc3", "dp"), ("conv2", "bp"), ("conv1", "ku"), ("fc3", "ku")]
NARROW = (
    'backward = "combined"\nstorage = { image = "uint8", image_scale = "2/255", image_offset = -1, '
    'maps = "bfloat16", deltas = "bfloat16", kernels = "bfloat16" }\n'
)


def check(answer: Any, file: Path) -> None:
    """Bits, four counts of each port, and its bytes by the network's formula."""
    network = read_network(file)
    formula = network_traffic(network, 1, Count(name="all", state="pooled"))
    by_name = {each.layer.name: each for each in formula}
    for run in answer["runs"]:
        assert run["bit_exact"], run
        assert run["failures"] == []
        design = design_of(network, network.layer(run["layer"]))
        moved = {
            port: counts["monitor"] * word_bytes(run["phase"], port, design)
            for port, counts in run["ports"].items()
        }
        wanted = getattr(by_name[run["layer"]], run["phase"]).streams
        assert moved == {port: count for port, count in wanted.items() if count or port in moved}


def test_a_whole_step(network_file: Path, terminal: Terminal) -> None:
    answer = terminal.answer(
        "simulate", network_file, "--layer", "all", "--phase", "all", "--state"
    )
    runs = [(run["layer"], run["phase"]) for run in answer["runs"]]
    assert runs == [*((name, "fp") for name in ("conv1", "conv2", "fc3")), *BACK]
    check(answer, network_file)


def test_in_narrow_formats_and_both_accounts_of_cycles(terminal: Terminal, tmp_path: Path) -> None:
    file = tmp_path / "narrow.toml"
    file.write_text(NETWORK.replace('backward = "combined"\n', NARROW))
    answer = terminal.answer("simulate", file, "--layer", "all", "--phase", "bp")
    assert [(run["layer"], run["phase"]) for run in answer["runs"]] == BACK
    check(answer, file)
    one_pass = answer["runs"][1]
    assert one_pass["halves"] == {"propagation": 1, "update": 2}
    assert one_pass["operations"] == 2 * 2 * (6 * 2 * 4) * (3 * 2)
    half = one_pass["cycles"]["propagation"]
    causes = [half[key] for key in ("issue", "fill", "drain")] + list(half["stall"].values())
    assert half["total"] == sum(causes) <= one_pass["cycles"]["total"]
    assert half["kernel_load"] == one_pass["cycles"]["kernel_load"] > 0
    total = answer["total"]["cycles"]
    assert total["propagation"] == half
    assert total["total"] == sum(run["cycles"]["total"] for run in answer["runs"])


def test_a_pass_is_asked_for_and_told(
    network_file: Path, terminal: Terminal, tmp_path: Path
) -> None:
    """Of a network that goes back in separate passes; its waveform counts every port."""
    separate = tmp_path / "separate.toml"
    separate.write_text(NETWORK.replace('backward = "combined"', ""))
    wave = tmp_path / "bp.vcd"
    arguments = ["simulate", str(separate), "--phase", "bp", "--wide"]
    said = terminal.output(*arguments, "--layer", "conv2", "--group", "1", "--wave", wave)
    assert "tiny conv2 bp, group 1 of 2: 1 image(s), 1 + 2 of 3 CUs of 2x2 (tree, by po" in said
    assert "waveform" in said
    assert "of delta propagation's slots: " in said
    assert wave.with_suffix(".gtkw").exists()
    said = terminal.output(*arguments, "--layer", "all")
    assert "conv1 has only ku, because the input of the first layer" in said
    assert "fc3 has dp and ku, because it is fully connected" in said


def test_a_finished_pass_is_taken_up(
    network_file: Path, terminal: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shorter = [network_file, "--phase", "bp", "-o", tmp_path]
    first = terminal.answer("simulate", *shorter, "--layer", "conv2", "--group", "all")
    ran: list[str] = []
    run_top = myhdl_engine.run_top

    def count(top: Any, *rest: Any) -> Any:
        ran.append(top.name)
        return run_top(top, *rest)

    monkeypatch.setattr(myhdl_engine, "run_top", count)
    longer = terminal.answer("simulate", *shorter, "--layer", "all", "--resume")
    assert ran == ["delta", "kernel_update", "kernel_update"]
    assert {"file_format": 1} | longer["runs"][1] == first
    terminal.answer("simulate", network_file, "--phase", "all", "--layer", "all", "-o", tmp_path,
              "--resume")  # fmt: skip
    assert ran[3:] == ["forward"] * 3


def changed(*changes: tuple[str, str]) -> str:
    text = NETWORK
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return text


K2 = "[design.k2]\nk = 2\nn_cu = 3"
REFUSED = {
    "has smaller kernels than the design": changed((K2, "[design.k2]\nk = 3\nn_cu = 3")),
    "runs on a design of several elements a beat": changed((K2, f"{K2}\nmap_port = 2")),
    "runs in parts": changed((K2, f"{K2}\npartial = true")),
    "is a design of one unit": changed((K2, "[design.k2]\nk = 2\nn_cu = 1")),
    "runs on a design for fully connected ones": changed(
        ('design = "full"', 'design = "k2"'),
        ("[design.full]" + NETWORK.split("[design.full]")[1], ""),
    ),
    "runs on units of narrow factors": changed(
        (K2, f'{K2}\ncu_kind = "fused"\noperand_precision = 8\nfused_window = 18')
    ),
}


PARTS = "runs in parts"
VERBS = ("simulate", "registers", "export", "resources")


@pytest.mark.parametrize(
    ("why", "verb"),
    [
        *((why, "file") for why in REFUSED),
        *((PARTS, verb) for verb in VERBS),
        *rows_in_full(*((why, verb) for why in REFUSED if why != PARTS for verb in VERBS)),
    ],
)
def test_what_hardware_refuses_is_refused_before_anything_runs(
    why: str, verb: str, terminal: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = REFUSED[why]
    if verb != "file":
        text = text.replace('backward = "combined"\n', "")
    file = tmp_path / "net.toml"
    file.write_text(text)
    monkeypatch.setattr(myhdl_engine, "run_top", None)
    arguments = {
        "file": ["traffic", str(file)],
        "simulate": ["simulate", str(file), "--layer", "all", "--phase", "bp"],
        "registers": ["registers", str(file), "--layer", "conv2", "--phase", "bp"],
        "export": [
            "export", str(file), "--layer", "conv2", "--phase", "bp", "-o", str(tmp_path / "out"),
        ],
        "resources": ["resources", str(file), "--layer", "conv2", "--phase", "bp"],
    }[verb]  # fmt: skip
    line = terminal.refusal(*arguments)
    said = "n_cu = 1: two halves" if "one unit" in why else why
    assert f"tiny: layer conv2: {said}" in line
    assert 'or backward = "separate"' in line or verb not in ("file", "simulate")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--layer", "conv1", "--phase", "bp"], "--phase bp: conv1 is the first layer"),
        (["--layer", "fc3", "--phase", "bp"], "--phase bp: fc3 is fully connected"),
        (["--layer", "conv2", "--phase", "bp", "--delta-at", "sums"], "--delta-at sums: tiny has"),
        (["--layer", "conv2", "--phase", "bp", "--cus", "1"], "conv2: n_cu = 1: two halves of"),
        (["--layer", "conv2", "--phase", "bp", "--state"], "--state: --phase bp writes none"),
        (["--layer", "conv2", "--phase", "bp", "--rows", "2"], "--rows 2: allowed with one layer"),
        (["--layer", "all", "--phase", "bp", "--wave", "x.vcd"], "--wave x.vcd: allowed only with"),
        (
            ["--layer", "conv1", "--phase", "bp", "--board", "kc705"],
            "--phase bp: conv1 is the first layer",
        ),
    ],
)
def test_bad_input(arguments: list[str], said: str, network_file: Path, terminal: Terminal) -> None:
    assert said in terminal.refusal("simulate", network_file, *arguments)


def test_on_a_board(
    network_file: Path, terminal: Terminal, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """The passes of its plan; where it has none for both phases, that is said."""
    arguments = ["simulate", network_file, "--board", "kc705", "--layer", "conv2"]
    answer = terminal.answer(*arguments, "--phase", "bp")
    (run,) = answer["runs"]
    assert (run["passes_run"], run["measured"], run["failures"]) == (2, True, [])
    assert all(each["pins"] == each["plan"] for each in run["bytes"].values())
    (sampled,) = terminal.answer(*arguments, "--phase", "bp", "--tiles", "sample:1")["runs"]
    assert (sampled["passed"], sampled["measured"]) == (True, False)
    one = tmp_path / "one.toml"
    one.write_text(NETWORK.replace("n_cu = 3", "n_cu = 1").replace('backward = "combined"', ""))
    arguments[1] = one
    assert main([*map(str, arguments), "--phase", "bp"]) == 2
    said = "--phase bp: conv2: on kc705 it runs dp and ku apart: allowed: fp, dp, ku, all"
    assert said in capsys.readouterr().err


def test_a_layer_of_the_library(network_file: Path) -> None:
    """On arrays of one's own, and on the network's: what separate passes leave, on one reading."""
    layer = merp.load(network_file)["conv2"]
    rng = np.random.default_rng(1)
    x, delta = rng.normal(size=(2, 2, 1, 4)), rng.normal(size=(2, 3, 2, 6))
    both = layer.run(x, phase="bp", delta=delta)
    assert both.passed
    assert both.words.keys() == {"delta", "kernels", "biases"}
    for phase in ("dp", "ku"):
        half = layer.run(x, phase=phase, delta=delta, delta_at="pooled")
        for name, words in half.words.items():
            assert np.array_equal(words, both.words[name]), name
        for port in set(half.audit.ports) - {"state_in"}:
            assert half.audit.ports[port] == both.audit.ports[port]
    assert layer.run(phase="bp", group=1).passed
    with pytest.raises(merp.BadInput, match="delta_at = 'sums': phase bp takes pooled ones"):
        layer.run(phase="bp", delta_at="sums")
    with pytest.raises(merp.BadInput, match="phase bp: conv1 is the first layer"):
        merp.load(network_file)["conv1"].run(phase="bp")


def test_the_network_says_how_it_goes_back(network_file: Path, terminal: Terminal) -> None:
    assert terminal.answer("networks", network_file)["backward"] == "fused"
    said = terminal.prose("networks", network_file)
    assert "Convolutions after the first layer have a combined backward pass (bp)." in said


def test_a_wrong_count_of_either_half_fails_the_run(
    network_file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = backward.backward_counter.backward_words
    monkeypatch.setattr(
        backward.backward_counter,
        "backward_words",
        lambda *given: words(*given) | {"delta_out": 1},
    )
    arguments = ["simulate", str(network_file), "--layer", "conv2", "--phase", "bp"]
    assert main(arguments) == 1
    assert "port delta_out: counts differ" in capsys.readouterr().out
