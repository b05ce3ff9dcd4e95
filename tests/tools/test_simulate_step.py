"""``merp simulate`` over the phases of a step, and taken up again after an interruption."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from marks import in_full
from merp.cosim.engines import myhdl_engine
from merp.models.network.network_file import read_network
from merp.models.traffic.closed_form import network_traffic
from merp.models.traffic.count import Count
from merp.tools.cli import main
from merp.tools.common.seal import SEAL, sealed
from merp.tools.machines.cnn_merp.report.measured import read_records
from merp.tools.simulate.finished import Finished
from merp.tools.simulate.result import PassResult
from network_text import layer, max_pool, network_text
from terminal import Terminal

NETWORK = network_text(
    "tiny",
    (6, 5, 3),
    layer("conv1", 4, kernel=2, pool=max_pool(3, 2), design="k2"),
    layer("conv2", 6, kernel=2, pad=1, groups=2, design="k2"),
    layer("fc3", 3, relu=False),
    designs={"k2": {"k": 2, "n_cu": 2, "r": 1, "mul_latency": 1, "add_latency": 2}},
)


def test_a_whole_step_is_bit_exact_and_every_count_is_equal(
    network_file: Path, terminal: Terminal
) -> None:
    answer = terminal.answer(
        "simulate", network_file, "--layer", "all", "--phase", "all", "--state", "--images", "2"
    )
    runs = [(run["layer"], run["phase"]) for run in answer["runs"]]
    assert runs == [
        ("conv1", "fp"), ("conv2", "fp"), ("conv2", "dp"), ("conv1", "ku"), ("conv2", "ku"),
    ]  # fmt: skip
    for run in answer["runs"]:
        assert run["bit_exact"], run
        assert run["failures"] == []
        assert all(len(set(ways.values())) == 1 for ways in run["ports"].values())
    dp = answer["runs"][2]["ports"]
    assert {port: ways["monitor"] for port, ways in dp.items()} == {
        "delta_in": 2 * 6 * 3 * 2,
        "delta_out": 2 * 4 * 5 * 4,
        "kernel": 6 * 2 * 4,
        "state_in": 2 * 5,  # for 2 groups: 2 images of 2 x 1 x 2 maxima, 5 bits each
    }


@pytest.mark.parametrize("phase", ["dp", "ku"])
def test_deltas_at_pooled_resolution(phase: str, network_file: Path, terminal: Terminal) -> None:
    layer = "conv2" if phase == "dp" else "conv1"
    run = terminal.answer(
        "simulate", network_file, "--layer", layer, "--phase", phase, "--delta-at", "pooled",
        "--group", "all",
    )  # fmt: skip
    assert run["bit_exact"]
    ports = {port: ways["monitor"] for port, ways in run["ports"].items()}
    if phase == "dp":
        assert (ports["delta_in"], ports["delta_out"]) == (6 * 3 * 2, 4 * 2)
    else:
        assert (ports["delta_in"], ports["state_in"]) == (4 * 2, 4 * 2 * 5 // 8)


def test_waveform_counts_state_and_deltas(
    network_file: Path, terminal: Terminal, tmp_path: Path
) -> None:
    vcd = tmp_path / "ports.vcd"
    run = terminal.answer(
        "simulate", network_file, "--layer", "conv2", "--phase", "dp", "--wave", vcd
    )
    assert all(ways.keys() >= {"waveform"} for ways in run["ports"].values())


@pytest.mark.full
def test_an_interrupted_run_goes_on_where_it_was(
    network_file: Path,
    terminal: Terminal,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    arguments = [network_file, "--layer", "all", "--phase", "all", "-o", tmp_path]
    whole = terminal.answer("simulate", *arguments)

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    save = Finished.save

    def save_two(self: Finished, result: PassResult) -> None:
        save(self, result)
        if (result.layer.name, result.phase) == ("conv2", "dp"):
            stop()

    for kept in (tmp_path / "finished").iterdir():
        kept.unlink()
    with monkeypatch.context() as patch:
        patch.setattr(Finished, "save", save_two)
        assert main(["simulate", *map(str, arguments)]) == 130
    capsys.readouterr()
    kept = sorted(path.name for path in (tmp_path / "finished").iterdir())
    assert kept == ["conv1-fp.npz", "conv2-dp.npz", "conv2-fp.npz"]

    ran: list[str] = []
    run_top = myhdl_engine.run_top

    def count(top: Any, *rest: Any) -> Any:
        ran.append(top.name)
        return run_top(top, *rest)

    monkeypatch.setattr(myhdl_engine, "run_top", count)
    resumed = terminal.answer("simulate", *arguments, "--resume")
    assert ran == ["kernel_update"]
    for mine, other in zip(whole["runs"], resumed["runs"], strict=True):
        times = {"seconds": 0, "build_seconds": 0}
        assert mine | times == other | times

    # Results of another run are no results.
    terminal.answer("simulate", *arguments, "--resume", "--seed", "1")
    assert len(ran) == 1 + 3


def test_a_longer_run_takes_what_a_shorter_one_has_finished(
    network_file: Path, terminal: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernels = tmp_path / "kernels.npz"
    np.savez(kernels, **{"conv1.bias": np.ones(4, np.float32)})
    shorter = [network_file, "--kernels", kernels, "--group", "all", "-o", tmp_path]
    terminal.answer("simulate", *shorter, "--layer", "conv1")
    ran: list[str] = []
    monkeypatch.setattr(Finished, "save", lambda _, result: ran.append(result.layer.name))
    longer = [*shorter, "--layer", "all", "--resume"]
    assert len(terminal.answer("simulate", *longer)["runs"]) == 2
    assert ran == ["conv2"]
    np.savez(kernels, **{"conv1.bias": np.zeros(4, np.float32)})
    terminal.answer("simulate", *longer)
    assert ran == ["conv2", "conv1", "conv2"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--phase", "dp"], "conv1 is the first layer"),
        (["--resume"], "needs the folder"),
        (["--phase", "ku", "--state"], "--state: --phase ku writes none: allowed with fp, all"),
        (["--delta-at", "pooled"], "--phase fp takes no deltas: allowed with dp, bp, ku, all"),
        (["--phase", "all", "--wave", "x.vcd"], "one phase"),
    ],
)
def test_bad_input(
    arguments: list[str], words: str, network_file: Path, terminal: Terminal
) -> None:
    assert words in terminal.refusal("simulate", network_file, *arguments)


GROUPED = network_text(
    "grouped",
    (3, 3, 3),
    layer("conv1", 3, kernel=1, groups=3, design="k1"),
    layer("conv2", 6, kernel=1, groups=3, pool=max_pool(2, 1), design="k1"),
    layer("conv3", 1, kernel=1, design="k1"),
    designs={"k1": {"k": 1, "n_cu": 1, "r": 1, "mul_latency": 1, "add_latency": 1}},
)


@pytest.mark.parametrize("images", [1, *in_full(2)])
def test_state_of_groups_on_the_pins_is_the_formulas(
    images: int, terminal: Terminal, tmp_path: Path
) -> None:
    """No group's bits fill their last byte; every port of every pass as the page counts it."""
    file = tmp_path / "grouped.toml"
    file.write_text(GROUPED)
    answer = terminal.answer(
        "simulate", file, "--layer", "all", "--phase", "all", "--state", "--delta-at", "pooled",
        "--images", images, "-o", tmp_path,
    )  # fmt: skip
    network = read_network(file)
    formula = network_traffic(network, images, Count(name="all", state="pooled"))
    by_name = {each.layer.name: each for each in formula}
    assert by_name["conv1"].fp.streams["state_out"] == 3 * -(-9 * images // 8)
    assert len(answer["runs"]) == 3 + 2 + 3
    for run in answer["runs"]:
        assert not run["failures"]
        moved = {
            port: counts["monitor"] * (1 if port.startswith("state") else network.fmt.bytes)
            for port, counts in run["ports"].items()
        }
        wanted = getattr(by_name[run["layer"]], run["phase"]).streams
        assert moved == {port: count for port, count in wanted.items() if count or port in moved}
    for found in read_records([tmp_path], network):
        figure = getattr(by_name[found.layer.name], found.phase)
        assert found.faults == ()
        assert found.shows(figure, images, every_port=True)


def zeroed(file: Path) -> None:
    """Outputs zeroed by hand."""
    with np.load(file) as data:
        arrays = dict(data)
    np.savez(file, **(arrays | {"outputs": np.zeros_like(arrays["outputs"])}))


def passed_off(file: Path) -> None:
    """The result of another layer."""
    file.write_bytes(file.with_name("conv2-fp.npz").read_bytes())


def without_outputs(file: Path) -> None:
    with np.load(file) as data:
        arrays = {key: data[key] for key in data.files if key != "outputs"}
    np.savez(file, **arrays)


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-100])


def turned(file: Path) -> None:
    """One bit of a number in the middle."""
    content = bytearray(file.read_bytes())
    content[content.index(b"NUMPY") + 150] ^= 1
    file.write_bytes(content)


def emptied(file: Path) -> None:
    file.write_bytes(b"")


@pytest.mark.full
def test_results_that_are_not_as_they_were_kept_are_made_again(
    network_file: Path,
    terminal: Terminal,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    arguments = ["simulate", network_file, "--layer", "all", "-o", tmp_path]
    terminal.answer(*arguments)
    kept = tmp_path / "finished" / "conv1-fp.npz"
    good = kept.read_bytes()
    made: list[str] = []
    save = Finished.save

    def count(self: Finished, result: PassResult) -> None:
        made.append(result.layer.name)
        save(self, result)

    monkeypatch.setattr(Finished, "save", count)
    for damage in (zeroed, passed_off, without_outputs, cut, turned, emptied):
        damage(kept)
        assert main([*map(str, arguments), "--resume"]) == 0
        (line,) = capsys.readouterr().err.splitlines()
        assert line == f"merp: --resume: {kept}: damaged: conv1 fp runs again"
        assert made.pop() == "conv1"
        assert not made
        with np.load(kept) as mine:
            assert mine["outputs"].any(), damage
        assert len(kept.read_bytes()) > len(good) // 2
    terminal.answer(*arguments, "--resume")
    assert made == []


FORGERIES: dict[str, Callable[[dict[str, Any]], object]] = {
    "no pass": lambda about: about.pop("pass"),
    "no audit": lambda about: about.update(audit=None),
    "an audit without cycles": lambda about: about["audit"].pop("cycles"),
    "an audit with more": lambda about: about["audit"].update(more=1),
    "words of another type": lambda about: about["audit"].update(words_compared="9"),
    "counts of another type": lambda about: about["audit"]["cycles"].update(total=None),
    "a time that is none": lambda about: about["audit"].update(seconds=float("nan")),
    "no operations": lambda about: about["audit"].update(operations=0),
    "a port that nobody counted": lambda about: about["audit"].update(maps=["x"]),
    "a hash of another type": lambda about: about.update(elaboration_sha=3),
    "a build of another type": lambda about: about.update(build_seconds=[]),
}


ONE = "words of another type"


@pytest.mark.parametrize("name", [ONE, *in_full(*(each for each in FORGERIES if each != ONE))])
def test_a_result_that_is_forged_under_a_seal_of_its_own_is_made_again(
    name: str,
    network_file: Path,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    arguments = ["simulate", str(network_file), "-o", str(tmp_path)]
    assert main(arguments) == 0
    kept = tmp_path / "finished" / "conv1-fp.npz"
    with np.load(kept) as data:
        arrays = {key: data[key] for key in data.files if key != SEAL}
    about = json.loads(str(arrays["about"]))
    FORGERIES[name](about)
    kept.write_bytes(sealed(arrays | {"about": np.array(json.dumps(about))}))
    capsys.readouterr()
    assert main([*arguments, "--resume"]) == 0
    assert capsys.readouterr().err.endswith("damaged: conv1 fp runs again\n")


@pytest.mark.parametrize(
    "change",
    [
        lambda words: words[:, :1],
        *in_full(lambda words: words.astype(np.float32), lambda words: words.astype(np.uint64)),
    ],
    ids=["size", "numbers", "wide"],
)
def test_outputs_that_are_not_the_layers_are_made_again(
    change: Callable[[Any], Any],
    network_file: Path,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    arguments = ["simulate", str(network_file), "--layer", "all", "-o", str(tmp_path)]
    assert main(arguments) == 0
    kept = tmp_path / "finished" / "conv1-fp.npz"
    with np.load(kept) as data:
        arrays = {key: data[key] for key in data.files if key != SEAL}
    kept.write_bytes(sealed(arrays | {"outputs": change(arrays["outputs"])}))
    capsys.readouterr()
    assert main([*arguments, "--resume"]) == 0
    assert capsys.readouterr().err.endswith("damaged: conv1 fp runs again\n")


@pytest.mark.parametrize("resume", [[], ["--resume"]], ids=["anew", "resumed"])
@pytest.mark.parametrize("place", ["finished", "finished/conv1-fp.npz"])
def test_a_place_that_cannot_take_a_result_is_refused_before_the_work(
    place: str,
    resume: list[str],
    network_file: Path,
    terminal: Terminal,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / place).parent.mkdir(exist_ok=True)
    (tmp_path / place).symlink_to(tmp_path / "elsewhere")
    monkeypatch.setattr(myhdl_engine, "run_top", None)  # that nothing is simulated
    line = terminal.refusal("simulate", network_file, "-o", tmp_path, *resume)
    assert f"cannot be written: {tmp_path / place} is " in line
