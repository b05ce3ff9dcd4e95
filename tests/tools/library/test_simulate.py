"""Layers and phases of a network from Python: what the command line finds, as objects."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import merp
from merp.models.arithmetic.words import to_bits
from merp.models.base.formats import BINARY32
from merp.models.machines.cnn_merp.cycles import layer_cycles
from network_text import layer, max_pool, network_text
from terminal import Terminal

NETWORK = network_text(
    "pair",
    (4, 4, 1),
    layer("conv1", 2, kernel=3, pad=1, pool=max_pool(2, 2), design="k3"),
    layer("conv2", 4, kernel=2, groups=2, design="k2"),
    layer("fc3", 3, relu=False),
    designs={
        "k3": {"k": 3, "n_cu": 2, "r": 1, "mul_latency": 1, "add_latency": 1},
        "k2": {"k": 2, "n_cu": 2, "r": 1, "mul_latency": 1, "add_latency": 1},
    },
)
TIMES = {"seconds": 0, "build_seconds": 0}
X = np.random.default_rng(2).standard_normal((1, 4, 4, 1)).astype(np.float32)


@pytest.fixture(scope="module")
def net(network_file: Path) -> merp.Network:
    return merp.load(network_file)


@pytest.fixture(scope="module")
def step(net: merp.Network) -> merp.Simulation:
    return net.simulate(X, phase="all")


def timeless(answer: dict[str, Any]) -> dict[str, Any]:
    runs = [run | TIMES for run in answer["runs"]]
    return answer | {"runs": runs, "total": answer["total"] | {"seconds": 0}}


def test_a_training_step_is_that_of_the_command_line(
    step: merp.Simulation, network_file: Path, tmp_path: Path, terminal: Terminal
) -> None:
    np.savez(tmp_path / "maps.npz", input=X)
    words = "--layer", "all", "--phase", "all", "--input", tmp_path / "maps.npz"
    answer = terminal.answer("simulate", network_file, *words)
    assert timeless(step.json()) == timeless(answer)
    order = [("conv1", "fp"), ("conv2", "fp"), ("conv2", "dp"), ("conv1", "ku"), ("conv2", "ku")]
    assert sorted((row["layer"], row["phase"]) for row in step) == sorted(order)
    assert step.passed
    assert all(row["passed"] and row["mismatches"] == 0 for row in step)
    assert sum(row["words_compared"] for row in step) == step.audit.words_compared


def test_arrays_are_those_of_the_layers(net: merp.Network, step: merp.Simulation) -> None:
    assert step.arrays["conv2"].shape == (1, 1, 1, 4)
    np.testing.assert_array_equal(step.x, to_bits(X, BINARY32))
    first = net["conv1"].run(X)
    np.testing.assert_array_equal(first.words["y"], step.words["conv1"])
    np.testing.assert_array_equal(net["conv2"].run(first.words["y"]).words["y"],
                                  step.words["conv2"])  # fmt: skip
    assert step.audits["conv1", "fp"].ports["map_in"] == first.audit.ports["map_in"]


def test_a_window_as_large_as_its_map_has_a_cycle_model(
    net: merp.Network, step: merp.Simulation
) -> None:
    """Its first slot waits for the last word, longer than any accumulator."""
    layer = net.description.layer("conv2")
    modelled = layer_cycles(net.description, layer, "fp", 1)
    assert modelled is not None
    counted = step.audits["conv2", "fp"].cycles
    assert (modelled.fill, modelled.issue) == (counted["fill"], counted["issue"])


def test_kernels_of_ones_own_count(net: merp.Network) -> None:
    ones = np.ones((2, 1, 3, 3)), np.zeros(2)
    found = net.simulate(np.ones((1, 4, 4, 1)), layer="conv1", parameters={"conv1": ones})
    assert found.arrays["conv1"][0, :, :, 0].tolist() == [[9.0, 9.0], [9.0, 9.0]]


def test_one_group_of_one_layer(net: merp.Network) -> None:
    found = net.simulate(layer="conv2", group=1, images=1)
    assert found.arrays["conv2"].shape == (1, 1, 1, 2)
    assert len(found) == 1


def test_what_is_written_is_named_and_taken_up(
    net: merp.Network, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder, ones = tmp_path / "out", {"conv1": (np.ones((2, 1, 3, 3)), np.zeros(2))}
    first = net.simulate(X, parameters=ones, output=folder)
    assert {path.name for path in first.paths} == {
        "simulate.json", "simulate.txt", "pair-conv1.png", "pair-conv2.png",
    }  # fmt: skip
    assert all(path.is_file() for path in first.paths)
    kept = folder / "finished" / "conv1-fp.npz"
    kept.write_bytes(kept.read_bytes()[:-9])
    said: list[str] = []
    again = net.simulate(X, parameters=ones, output=folder, resume=True, progress=said.append)
    assert said[0] == f"resume: {kept}: damaged: conv1 fp runs again"
    assert not any(line.startswith("conv2 fp") for line in said)
    assert timeless(again.json()) == timeless(first.json())
    said.clear()
    net.simulate(X, output=folder, resume=True, progress=said.append)
    assert any(line.startswith("conv2 fp") for line in said), "other kernels, other results"
    assert capfd.readouterr() == ("", "")


def test_a_waveform_is_counted(net: merp.Network, tmp_path: Path) -> None:
    found = net.simulate(X, layer="conv1", wave=tmp_path / "ports.vcd")
    names = ("ports.vcd", "ports.gtkw", "ports.sucl")
    assert found.paths == tuple(tmp_path / name for name in names)
    assert all(path.exists() for path in found.paths)
    assert found.audit.ports["map_in"]["waveform"] == X.size


def test_a_notebook_shows_verdict_passes_and_maps(step: merp.Simulation) -> None:
    shown = step._repr_html_()
    assert "pair on myhdl, 1 image(s), 5 passes: passed; " in shown
    assert shown.count("<img ") == 2
    assert repr(step).startswith("<pair on myhdl, 1 image(s), 5 passes: passed; ")


NOT_SIZE = "x: size (4, 4, 1): allowed is (images, 4, 4, 1)"
BAD = {
    "layer = 1: allowed is text": {"layer": 1},
    "no layer 'conv9': allowed are conv1, conv2, fc3; did you mean conv2?": {"layer": "conv9"},
    "phase = 'bq': allowed are fp, ff, dp, bp, ku, pool, unpool, all": {"phase": "bq"},
    "engine = 'vhdl': allowed are myhdl, verilator, ghdl, system": {"engine": "vhdl"},
    "cu_array = 'behavioural': engine system runs RTL only: allowed: rtl": {
        "engine": "system", "cu_array": "behavioural",
    },
    "group = 1: with layer all every group runs: allowed: all": {"group": 1},
    "group = 2: conv2 has 2: allowed: 0 to 1, all": {"layer": "conv2", "group": 2},
    "group = '1': must be a whole number from 0 to 65536": {"layer": "conv2", "group": "1"},
    "cus = 513: must be a whole number from 1 to 512": {"cus": 513},
    "images = 257: must be a whole number from 1 to 256": {"images": 257},
    "images = 1: allowed without x": {"x": X, "images": 1},
    "image = 'me.png': allowed without x": {"x": X, "image": "me.png"},
    NOT_SIZE: {"x": X[0]},
    "state = 1: allowed are True, False": {"state": 1},
    "state: phase ku writes none: allowed with fp, all": {"phase": "ku", "state": True},
    "delta_at = 'top': allowed are sums, pooled": {"delta_at": "top"},
    "delta_at pooled: phase fp takes no deltas: allowed with dp, bp, ku, all": {
        "delta_at": "pooled"
    },
    "phase dp: conv1 is the first layer, its input has no delta: allowed: fp, ku, or another "
    "layer": {"layer": "conv1", "phase": "dp"},
    "wave = 'a.vcd': allowed only with one phase, and layers of one design": {"wave": "a.vcd"},
    "wave = 3: allowed is a path": {"wave": 3},
    "wave_of = 'layer': allowed with wave": {"wave_of": "layer"},
    "resume: needs the folder of the interrupted run (output), and no wave": {"resume": True},
    "parameters = 3: allowed is a mapping from layer names to (kernels, biases)": {"parameters": 3},
    "parameters['conv1'] = 3: allowed is (kernels, biases)": {"parameters": {"conv1": 3}},
    "parameters['conv1']: biases: size (1,): allowed is (2)": {
        "parameters": {"conv1": (np.ones((2, 1, 3, 3)), np.ones(1))},
    },
    "no layer 'fc4': allowed are conv1, conv2, fc3; did you mean fc3?": {
        "parameters": {"fc4": ()},
    },
    "parameters: 1: allowed are names of layers": {"parameters": {1: ()}},
    "group = array([1]): must be a whole number from 0 to 65536": {"group": np.array([1])},
    "seed = 'x': must be a whole number from 0 to 4294967295": {"seed": "x"},
    "progress = 1: allowed is a function of a text": {"progress": 1},
}  # fmt: skip


@pytest.mark.parametrize("complaint", BAD)
def test_a_wrong_argument_is_one_line(net: merp.Network, complaint: str) -> None:
    with pytest.raises(merp.BadInput) as told:
        net.simulate(**BAD[complaint])  # type: ignore[arg-type]
    assert str(told.value).removeprefix("pair: ") == complaint
