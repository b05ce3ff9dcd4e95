"""``merp simulate`` and ``merp train`` of the MAC array in hardware."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import merp
from merp.cosim.engines import engine
from merp.cosim.engines.job import Job
from merp.cosim.engines.record import RunRecord
from merp.cosim.phases.audit.audit import audit
from merp.cosim.phases.expectation import Expectation
from merp.models.golden.loss import LOSSES
from merp.models.machines.mac_array.step_traffic import array_traffic
from merp.models.network.network_file import read_network
from merp.models.traffic.count import Count
from merp.tools.cli import main
from merp.tools.common.data import DATA
from merp.tools.simulate.choice import RunOptions
from merp.tools.simulate.choose import choose
from merp.tools.simulate.picked import pick
from merp.tools.simulate.simulated import simulated_of
from network_text import layer, max_pool, network_text
from small_arrays import small_array
from terminal import Terminal

TINY = network_text(
    "tiny",
    (7, 6, 1),
    layer("conv1", 5, kernel=3, pad=1, pool=max_pool(2, 2), design="array"),
    layer("conv2", 3, kernel=2, design="array"),
    layer("fc3", 3, relu=False, design="array"),
    designs={"array": {"architecture": "mac-array", "pox": 4, "poy": 4, "pof": 4}},
    format="fixed16",
    rounding="stochastic",
)
"""Rows that no pooling window has, atoms that are not filled, lanes that idle."""

STEP = ["fp conv1", "fp conv2", "fp fc3", "ku fc3", "dp fc3", "ku conv2", "dp conv2", "ku conv1"]


@pytest.fixture
def tiny(tmp_path: Path) -> str:
    path = tmp_path / "tiny.toml"
    path.write_text(TINY)
    return str(path)


def test_a_step_of_two_images_is_right_in_every_word_count_and_cycle(
    terminal: Terminal, tiny: str
) -> None:
    words = ("simulate", tiny, "--layer", "all", "--phase", "all", "--images", 2)
    found = terminal.answer(*words)
    assert [f"{each['phase']} {each['layer']}" for each in found["runs"]] == STEP
    for each in found["runs"]:
        assert each["bit_exact"]
        assert each["words_compared"]
        assert not each["failures"]
        assert all(len(set(ways.values())) == 1 for ways in each["ports"].values())
        assert each["cycles"]["model"] == pytest.approx(each["cycles"]["efficiency"])
        assert list(each["cycles"]["stall"]) == ["kernel", "input", "output"]
    update = found["runs"][-1]["ports"]
    assert update["gradient_in"]["monitor"] == update["gradient_out"]["monitor"] == 2 * 4 * 10
    assert update["map_out"]["monitor"] > 0  # of the pass that expands its deltas


@pytest.fixture(scope="module")
def pooled(tmp_path_factory) -> Path:
    """A step of two images whose deltas lie pooled, of odd sums: its network, and its record."""
    folder: Path = tmp_path_factory.mktemp("pooled")
    pool = 'pool = { kind = "max", window = 2, stride = 2 }\n'
    square = TINY.replace("rows = 7, columns = 6", "rows = 8, columns = 8").replace(pool, "")
    path = folder / "odd.toml"
    path.write_text(square.replace("kernel = 2\n", f"kernel = 2\n{pool}"))
    words = ("simulate", path, "--layer", "all", "--phase", "all", "--images", 2)
    assert main([*map(str, words), "--delta-at", "pooled", "-o", str(folder / "run")]) == 0
    return folder


@pytest.mark.full
def test_pooled_deltas_are_expanded_on_entry(terminal: Terminal, pooled: Path) -> None:
    """Each half of the way back un-pools them itself: no pass of its own, no word of its own."""
    path, found = pooled / "odd.toml", json.loads((pooled / "run/simulate.json").read_text())
    step = array_traffic(read_network(path), 2, Count(name="all", state="pooled"))
    traffic = {layer.layer.name: layer for layer in step}
    assert [f"{each['phase']} {each['layer']}" for each in found["runs"]] == STEP
    for each in found["runs"]:
        assert each["bit_exact"]
        assert not each["failures"]
        (formula,) = traffic[each["layer"]].phases(each["phase"])
        seen = {port: 2 * ways["monitor"] for port, ways in each["ports"].items()}
        seen["momentum"] = seen.pop("velocity_in") + seen.pop("velocity_out")
        assert {port: count for port, count in seen.items() if count} == {
            port: count
            for port, count in (*formula.streams.items(), ("momentum", formula.momentum))
            if count
        }
    words = ("--layer", "conv2", "--phase", "dp", "--images", 2, "--delta-at", "pooled")
    alone = terminal.answer("simulate", path, *words)  # forward goes before it
    assert alone["ports"] == found["runs"][STEP.index("dp conv2")]["ports"]
    assert alone["bit_exact"]


def report(pooled: Path, page: Path, record: str, batch: int = 40) -> tuple[int, dict[str, Any]]:
    words = ("report", pooled / "odd.toml", "--batch", batch, "--measured", pooled / record)
    status = main([*map(str, words), "-o", str(page)])
    return status, json.loads(page.with_suffix(".json").read_text())["tables"]


def test_a_report_marks_what_a_record_moved(pooled: Path, tmp_path: Path) -> None:
    """Two images show a batch of 40: gradients move in all but its first, or its last."""
    status, tables = report(pooled, tmp_path / "odd.html", "run")
    assert status == 0
    rows = tables["measured"]["rows"]
    assert [f"{each['phase'].lower()} {each['layer']}" for each in rows] == STEP
    for each in rows:
        assert each["result"] == "confirmed"
        assert each["measured_cycles"] == each["modelled_cycles"]
    for name, back in (("pooled", "measured"), ("full", "modelled")):
        step = {row["layer"]: row for row in tables[f"traffic-{name}"]["rows"]}
        assert (step["fc3"]["fp_basis"], step["conv1"]["dp_basis"]) == ("measured", "modelled")
        assert [step["conv2"][f"{phase}_basis"] for phase in ("dp", "ku")] == [back, back]
    machines = [row["basis"] for row in tables["machines"]["rows"]]
    assert machines == ["modelled", "measured", "modelled", "modelled"]


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"bit_exact": False, "mismatches": 1}, "1 words differ from the golden model"),
        ({"words_compared": 7}, "7 words compared of "),
        ({"operations": 2}, "2 operations, "),
        ({"images": 3}, "by closed form"),
        ({"failures": ["conv1: no"]}, "conv1: no"),
        ({"phase": "up"}, "phase up: "),
        ({"hardware_sha": "ab"}, None),
        ({"macs": 0}, None),
    ],
)
def test_a_record_that_contradicts_itself_confirms_nothing(
    terminal: Terminal, pooled: Path, tmp_path: Path, change: dict[str, Any], fault: str | None
) -> None:
    found = json.loads((pooled / "run/simulate.json").read_text())
    found["runs"] = [each | change for each in found["runs"]]
    (tmp_path / "simulate.json").write_text(json.dumps(found))
    words = ("report", pooled / "odd.toml", "--measured", tmp_path, "-o", tmp_path / "odd.html")
    if fault is None:
        assert f"{next(iter(change))} = " in terminal.refusal(*words)
        return
    status, tables = report(pooled, tmp_path / "odd.html", str(tmp_path))
    assert status == 1
    assert all(fault in row["result"] for row in tables["measured"]["rows"])
    assert {row["fp_basis"] for row in tables["traffic-pooled"]["rows"]} == {"modelled"}


def test_python_runs_what_the_command_line_does(tiny: str) -> None:
    """On numbers of one's own; they come back as the words stand for them."""
    network, x = merp.load(tiny), np.linspace(-1, 1, 42).reshape(1, 7, 6, 1)
    found = network.simulate(x, layer="conv1", phase="all")
    assert [(each["phase"], each["passed"], each["kernel_load"]) for each in found] == [
        ("fp", True, None), ("ku", True, None),
    ]  # fmt: skip
    assert found.passed
    assert found.arrays["conv1"].shape == (1, 3, 3, 5)
    assert (found.arrays["conv1"] * 2**10 == found.words["conv1"].astype(np.int16)).all()
    assert found.json()["total"]["bit_exact"]
    for wrong, said in (
        ({"x": x * 100}, ": allowed are numbers from -8 to 7.99976"),
        ({"x": np.full(x.shape, np.nan)}, "x[0, 0, 0, 0] = nan: allowed are numbers"),
        ({"x": x.astype(np.uint32)}, "x: type uint32, of words: allowed are numbers"),
        ({"parameters": {"fc3": ([0], [0])}}, "format = 'fixed16': allowed here are"),
        ({"cus": 3}, "cus = 3: tiny runs on mac-array: omit it"),
    ):
        with pytest.raises(merp.BadInput, match=re.escape(said)):
            network.simulate(**wrong)


def test_a_phase_alone_goes_forward_first_and_answers_for_itself(
    terminal: Terminal, tiny: str
) -> None:
    found = terminal.answer("simulate", tiny, "--layer", "conv2", "--phase", "dp")
    assert (found["layer"], found["phase"]) == ("conv2", "dp")
    assert found["ports"]["map_out"]["monitor"] == 5 * 3 * 4
    assert found["bit_exact"]


@pytest.fixture(scope="module")
def planted(tmp_path_factory) -> tuple[RunRecord, Expectation]:
    """A pass of forward propagation whose last row is not filled, as it ran."""
    path = tmp_path_factory.mktemp("planted") / "tiny.toml"
    path.write_text(TINY)
    picked = pick(read_network(path), "conv1", None, None)
    choice = choose(picked, RunOptions(phase="fp", images=1, engine="myhdl"))
    machine = simulated_of(choice.network, choice.layers)
    parameters = machine.parameters(choice.network, 0, None)
    step = machine.step(choice, machine.input_maps(choice.network, 1, None), parameters)
    (sitting,) = machine.sittings(choice, step)
    each = next(sitting.turns[0].passes())
    (record,) = engine.run_job(Job(sitting.top, [each.run]), "myhdl")
    return record, each.expected


def test_words_of_no_meaning_may_be_any_and_all_others_may_not(planted) -> None:
    record, expected = planted
    port = expected.ports["map_out"]
    assert audit(record, expected).passed
    assert not port.meant.all()
    for place in range(port.golden.size):
        words = record.words(port.stream).copy()
        words[place] ^= 1
        outcome = replace(record.outcome, words={**record.outcome.words, port.stream: words})
        spoilt = audit(replace(record, outcome=outcome), expected)
        assert spoilt.mismatches == int(port.meant[place])
        assert spoilt.passed != port.meant[place]


def test_a_fault_in_any_counter_is_seen(planted) -> None:
    record, expected = planted
    for name in record.outcome.status.keys() - {"status_busy", "status_done"}:
        status = {**record.outcome.status, name: record.outcome.status[name] + 1}
        spoilt = replace(record, outcome=replace(record.outcome, status=status))
        assert not audit(spoilt, expected).passed, name


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--phase", "bp"), "--phase bp: tiny runs on mac-array: allowed: fp, dp, ku, all"),
        (("--state",), "--state: tiny runs on mac-array, which keeps the mask on the chip"),
        (("--rows", "3"), "--rows 3: tiny runs on mac-array: omit it"),
        (("--delta-at", "pooled"), "--delta-at pooled: --phase fp takes no deltas: allowed with"),
        (("--kernels", "x.npz"), "--kernels: tiny is in fixed point: omit it"),
        (("--input", "x.npz"), "x.npz: "),
        (("--cus", "8"), "--cus 8: tiny runs on mac-array: omit it"),
        (("--layer", "conv1", "--phase", "dp"), "conv1 is the first layer, its input has no delta"),
    ],
)  # fmt: skip
def test_what_the_array_does_not_do_is_refused(
    terminal: Terminal, tiny: str, words, said: str
) -> None:
    assert said in terminal.refusal("simulate", tiny, *words)


def test_masks_of_maps_that_a_layer_takes_flattened_are_refused(
    terminal: Terminal, tmp_path: Path
) -> None:
    path = tmp_path / "oblong.toml"
    path.write_text(TINY.replace("rows = 7", "rows = 5"))
    said = terminal.refusal("simulate", path, "--layer", "fc3", "--phase", "dp")
    assert "tiny: fc3 dp: masks of conv2 are of maps of 1 x 2" in said


def test_layers_on_several_arrays_are_refused(terminal: Terminal, tmp_path: Path) -> None:
    path = tmp_path / "two.toml"
    two = TINY.replace('design = "array"', 'design = "other"', 1)
    path.write_text(two + TINY[TINY.index("[design.array]") :].replace("array]", "other]"))
    assert "designs other, array: allowed is one array" in terminal.refusal("simulate", path)


def data(tmp_path: Path) -> Path:
    rng = np.random.default_rng(3)
    path = tmp_path / "data.npz"
    np.savez(path, images=rng.random((20, 7, 6, 1)), labels=np.arange(20) % 3)
    return path


def test_a_training_in_hardware_saves_the_goldens_bytes(
    terminal: Terminal, tmp_path: Path, tiny: str
) -> None:
    """Images of a batch one after the other; interrupted and resumed, too."""
    train = ("train", tiny, "--data", data(tmp_path), "--batch", 2, "--lr", "0.05")
    golden, parts = tmp_path / "golden.npz", tmp_path / "parts.npz"
    terminal.answer(*train, "--steps", 2, "--save", golden)
    terminal.answer(*train, "--steps", 1, "--save", parts)
    found = terminal.answer(
        *train, "--steps", 2, "--save", parts, "--resume", parts, "--engine", "myhdl"
    )
    assert golden.read_bytes() == parts.read_bytes()
    measured = found["bytes"]["measured"]["full"]
    assert measured["step"] == measured["fp"] + measured["dp"] + measured["ku"] > 0
    assert measured["momentum"] > 0
    assert found["cycles"]["step"]["total"] > 1000


@pytest.mark.full
@pytest.mark.parametrize(
    "engine", ["myhdl", pytest.param("verilator", marks=pytest.mark.verilator)]
)
def test_a_training_from_given_weights_saves_the_goldens_bytes(
    terminal: Terminal, tmp_path: Path, tiny: str, engine: str
) -> None:
    """Two of the given kernels saturate."""
    weights = tmp_path / "weights.npz"
    fc3 = read_network(Path(tiny)).layer("fc3")
    size = fc3.biases, fc3.shape.n, fc3.shape.k, fc3.shape.k
    kernel = np.random.default_rng(4).normal(0, 0.2, size)
    kernel.flat[:2] = 1e5, -1e5
    np.savez(weights, **{"fc3.kernel": kernel})
    train = ("train", tiny, "--data", data(tmp_path), "--batch", 2, "--steps", 2)
    saved = {each: tmp_path / f"{each}.npz" for each in ("golden", engine)}
    for each, path in saved.items():
        ended = terminal.run(*train, "--weights", weights, "--engine", each, "--save", path)
        assert (ended.status, "2 of fc3.kernel" in ended.err) == (0, True)
    assert saved["golden"].read_bytes() == saved[engine].read_bytes()


DIGITS = (DATA / "digits-fixed.toml").read_text()


@pytest.mark.full
@pytest.mark.parametrize("rounding", ["nearest", "stochastic"])
@pytest.mark.parametrize("momentum", [0, 0.9])
def test_the_digits_are_trained_as_the_golden_trains_them(
    terminal: Terminal, tmp_path: Path, rounding: str, momentum: float
) -> None:
    """All three losses, on both engines; the saved files are the same."""
    network = tmp_path / "mine.toml"
    network.write_text(DIGITS.replace('"nearest"', f'"{rounding}"'))
    train = ("train", network, "--data", "digits", "--momentum", momentum, "--lr", "0.005")
    for kind in LOSSES:
        for name, batch, steps in (("myhdl", 2, 2), ("verilator", 8, 20)):
            saved = [tmp_path / f"{each}.npz" for each in ("golden", name)]
            for each, path in zip(("golden", name), saved, strict=True):
                words = ("--batch", batch, "--steps", steps, "--loss", kind, "--save", path)
                terminal.answer(*train, *words, "--engine", each)
            assert saved[0].read_bytes() == saved[1].read_bytes(), (kind, name)


@pytest.mark.full
@pytest.mark.verilator
def test_a_whole_training_in_verilator_saves_the_goldens_bytes(
    terminal: Terminal, tmp_path: Path
) -> None:
    """440 steps of 32 digits, 37 million cycles; given up on the way and resumed."""
    train = ("train", "digits-fixed", "--data", "digits", "--batch", 32)
    golden, parts = tmp_path / "golden.npz", tmp_path / "parts.npz"
    terminal.answer(*train, "--steps", 440, "--save", golden)
    simulated = (*train, "--engine", "verilator", "--save", parts)
    terminal.answer(*simulated, "--steps", 200)
    found = terminal.answer(*simulated, "--steps", 440, "--resume", parts)
    assert golden.read_bytes() == parts.read_bytes()
    assert found["accuracy"] > 0.95


@pytest.mark.full
@pytest.mark.parametrize("network", ["cifar10-1x-fixed", "cifar10-2x-fixed", "cifar10-4x-fixed"])
def test_the_papers_networks_step_in_verilator(terminal: Terminal, network: str) -> None:
    """Every word of an image there and back; 64 lanes have beats of 1,024 bits."""
    found = terminal.answer(
        "simulate", network, "--layer", "all", "--phase", "all", "--engine", "verilator"
    )
    assert len(found["runs"]) == 20
    assert found["total"]["bit_exact"]
    assert not found["total"]["failures"]


@pytest.mark.full
@pytest.mark.ghdl
def test_ghdl_and_a_waveform_count_the_same(terminal: Terminal, tmp_path: Path, tiny: str) -> None:
    step = ("simulate", tiny, "--layer", "all", "--phase", "all")
    plain = terminal.answer(*step, "--engine", "ghdl")
    wave = terminal.answer(*step, "--engine", "myhdl", "--wave", tmp_path / "step.vcd")
    for one, other in zip(plain["runs"], wave["runs"], strict=True):
        assert one["bit_exact"]
        assert other["bit_exact"]
        assert one["cycles"]["total"] == other["cycles"]["total"]
        for port, ways in other["ports"].items():
            assert ways["waveform"] == one["ports"][port]["monitor"]


def test_one_map_is_fewer_than_the_array_has_lanes(tmp_path: Path) -> None:
    """The registers of DP hold beats of the maps that there are."""
    path = tmp_path / "odd.toml"
    path.write_text(small_array("odd", side=7, channels=1, maps=1))
    assert main(["simulate", str(path), "--layer", "fc2", "--phase", "dp"]) == 0
