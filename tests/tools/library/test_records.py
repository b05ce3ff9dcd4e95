"""Records of the library are those of the command line, key by key, for every kind of run."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import merp
from marks import in_full
from network_text import layer, max_pool, network_text
from terminal import Terminal


def float_network(**settings: Any) -> str:
    """Of three designs, with these keys of ``[network]``."""
    latencies = {"mul_latency": 1, "add_latency": 1}
    return network_text(
        "small",
        (6, 6, 1),
        layer("conv1", 4, kernel=2, pool=max_pool(2, 2), design="k2"),
        layer("conv2", 16, kernel=3, pad=1, groups=2, design="k3"),
        layer("fc3", 3, relu=False, design="full"),
        designs={
            "k2": {"k": 2, "n_cu": 2, "r": 1, **latencies},
            "k3": {"k": 3, "n_cu": 2, "r": 1, **latencies},
            "full": {"k": 1, "n_cu": 3, "r": 1, **latencies},
        },
        **settings,
    )


FIXED = network_text(
    "fixed",
    (7, 6, 1),
    layer("conv1", 5, kernel=3, pad=1, pool=max_pool(2, 2), design="array"),
    layer("conv2", 3, kernel=2, design="array"),
    layer("fc3", 3, relu=False, design="array"),
    designs={"array": {"architecture": "mac-array", "pox": 4, "poy": 4, "pof": 4}},
    format="fixed16",
)
PLAIN = float_network()
FUSED = float_network(layer_fusion=["conv1", "conv2"])
PAIR = "conv1+conv2"
KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "all layers": (PLAIN, {}),
    "two fused layers": (FUSED, {"phase": "all"}),
    "two fused layers that are named": (PLAIN, {"layer": PAIR}),
    "one pass back": (float_network(backward="combined"), {"phase": "bp"}),
    "a layer in groups": (PLAIN, {"layer": "conv2", "phase": "ku"}),
    "a group": (PLAIN, {"layer": "conv2", "group": 1}),
    "a fully connected layer": (PLAIN, {"layer": "fc3", "phase": "dp"}),
    "fixed point": (FIXED, {"phase": "all"}),
}
TIMES = ("seconds", "build_seconds")


def timeless(record: Any) -> Any:
    """A record without what differs from run to run."""
    if isinstance(record, Mapping):
        return {key: timeless(each) for key, each in record.items() if key not in TIMES}
    return [timeless(each) for each in record] if isinstance(record, list) else record


def written(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def row_of(run: Mapping[str, Any]) -> dict[str, Any]:
    """The library's row of a run of the command line."""
    cycles = run["cycles"]
    return {
        **{key: run[key] for key in ("layer", "phase", "words_compared", "mismatches")},
        "passed": run["bit_exact"] and not run["failures"],
        "cycles": cycles["total"],
        "kernel_load": cycles.get("kernel_load"),
        "efficiency": cycles["efficiency"],
        "mb_per_gflop": run["mb_per_gflop"]["full"],
    }


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "kind", [*(each for each in KINDS if each != "two fused layers"), *in_full("two fused layers")]
)
def test_a_simulation(kind: str, tmp_path: Path, terminal: Terminal) -> None:
    text, asked = KINDS[kind]
    (tmp_path / "net.toml").write_text(text)
    options = {"layer": "all", "group": "all"} | asked
    words = [word for key, value in options.items() for word in (f"--{key}", value)]
    answer = terminal.answer("simulate", tmp_path / "net.toml", *words, "-o", tmp_path / "cli")
    assert answer.pop("file_format") == 1
    runs = answer.get("runs", [answer])
    found = merp.load(tmp_path / "net.toml").simulate(output=tmp_path / "library", **asked)
    assert timeless(found.json()["runs"]) == timeless(runs)
    assert [dict(row) for row in found] == [row_of(run) for run in runs]
    assert list(found.audits) == [(run["layer"], run["phase"]) for run in runs]
    forward = {run["layer"]: run for run in runs if run["phase"] in ("fp", "ff")}
    assert list(found.words) == list(found.arrays) == list(forward)
    for name, run in forward.items():
        behind = found.network.layer(name.rpartition("+")[2])
        size = behind.shape.pooled_rows, behind.shape.pooled_columns
        maps = behind.shape.m if run["group"] != "all" else behind.biases
        assert found.arrays[name].shape == found.words[name].shape == (1, *size, maps)
    assert written(tmp_path / "library") == written(tmp_path / "cli")
    assert {path.name for path in found.paths} <= written(tmp_path / "cli")


@pytest.mark.full
def test_maps_of_two_fused_layers_are_those_of_the_second(tmp_path: Path) -> None:
    for name, text in (("plain", PLAIN), ("fused", FUSED)):
        (tmp_path / f"{name}.toml").write_text(text)
    plain, fused = (merp.load(tmp_path / f"{name}.toml") for name in ("plain", "fused"))
    said: list[str] = []
    kept = tmp_path / "out"
    pair = fused.simulate(output=kept, progress=said.append)
    assert list(pair.arrays) == [PAIR, "fc3"]
    np.testing.assert_array_equal(pair.arrays[PAIR], plain.simulate().arrays["conv2"])
    assert (kept / "finished" / f"{PAIR}-ff.npz").exists()
    said.clear()
    again = fused.simulate(output=kept, resume=True, progress=said.append)
    assert list(again.arrays) == [PAIR, "fc3"]
    assert not any(PAIR in line for line in said), "taken from what was kept"
    assert PAIR in again._repr_html_()
    with pytest.raises(merp.BadInput, match=r"^small: 'conv1\+conv2' names two layers: allowed "):
        fused[PAIR]


def test_a_layer_called_like_two_fused_ones_is_refused(tmp_path: Path) -> None:
    text = FUSED.replace('name = "fc3"', f'name = "{PAIR}"\nkernel = 2')
    (tmp_path / "net.toml").write_text(text)
    with pytest.raises(merp.BadInput, match=r"absent, or no layer called conv1\+conv2"):
        merp.load(tmp_path / "net.toml")


@pytest.mark.parametrize("kind", KINDS)
def test_traffic(kind: str, tmp_path: Path, terminal: Terminal) -> None:
    path = tmp_path / "net.toml"
    path.write_text(KINDS[kind][0])
    answer = terminal.answer("traffic", path, "--batch", 4)
    found = merp.load(path).traffic(batch=4)
    assert found.json() == answer
    named = [
        (layer["name"], phase, layer[phase]["bytes"])
        for layer in answer["layers"]
        for phase in ("fp", "dp", "bp", "ku")
        if layer.get(phase) is not None
    ]
    assert [(row["layer"], row["phase"], row["bytes"]) for row in found] == named


@pytest.mark.parametrize("fuse", [None, PAIR])
def test_a_plan(fuse: str | None, tmp_path: Path, terminal: Terminal) -> None:
    path = tmp_path / "net.toml"
    path.write_text(PLAIN)
    words = () if fuse is None else ("--layer-fusion", fuse)
    answer = terminal.answer("plan", path, "--board", "kc705", "--batch", 4, *words)
    found = merp.load(path).plan("kc705", 4, layer_fusion=fuse)
    assert found.json() == answer
    assert [dict(row) for row in found] == answer["layers"]
    assert (PAIR in {row["name"] for row in found}) == (fuse is not None)


COURSES: dict[str, dict[str, Any]] = {
    "layer by layer": {},
    "a pipeline": {"architecture": "pipeline", "engine": "myhdl", "depth": 2},
    "a chain of boards": {"architecture": "chain", "engine": "myhdl", "devices": 2},
    "passes of a plan": {"board": "kc705"},
}


AT_ONCE = ("a pipeline", "a chain of boards")


@pytest.mark.parametrize(
    "kind", [*(each for each in COURSES if each not in AT_ONCE), *in_full(*AT_ONCE)]
)
def test_a_training(kind: str, tmp_path: Path, terminal: Terminal) -> None:
    rng = np.random.default_rng(3)
    data = tmp_path / "data.npz"
    np.savez(data, images=rng.random((10, 8, 8)), labels=np.arange(10) % 3)
    options = COURSES[kind] | {"batch": 2, "steps": 1}
    words = [word for key, value in options.items() for word in (f"--{key}", value)]
    saved = tmp_path / "cli.npz"
    answer = terminal.answer("train", "tiny3", "--data", data, *words, "--save", saved)
    found = merp.load("tiny3").train(data, save=tmp_path / "library.npz", **options)
    assert timeless(found.json()) == timeless(answer)
    assert found.losses.tolist() == answer["loss"]
    with np.load(saved) as cli, np.load(tmp_path / "library.npz") as library:
        assert cli.files == library.files
        for layer, pair in found.arrays.items():
            for part, numbers in zip(("kernel", "bias"), pair, strict=True):
                np.testing.assert_array_equal(cli[f"{layer}.{part}"], numbers)
