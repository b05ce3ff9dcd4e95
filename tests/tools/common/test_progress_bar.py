"""Long work speaks on standard error, with or without a terminal; quick work does not."""

import json
import re
from pathlib import Path
from time import monotonic, sleep

import pytest

from merp.cosim.synthesis import resources, synthesis
from merp.models.fpga.resources import Resources
from merp.tools.cli import main
from merp.tools.common import progress, progress_bar
from merp.tools.common.progress import Progress
from merp.tools.common.progress_bar import ProgressBar
from network_text import layer, network_text

NETWORK = network_text(
    "small",
    (6, 6, 1),
    layer("conv1", 3, kernel=3, design="k3"),
    designs={"k3": {"k": 3, "n_cu": 2}},
)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress_bar, "PATIENCE", 0.01)
    monkeypatch.setattr(progress_bar, "PERIOD", 0.05)
    monkeypatch.setattr(progress_bar, "SHOWN", 0.0)  # however fast the machine is


def wait_for(text: str, capsys: pytest.CaptureFixture[str]) -> str:
    """What is on standard error by the time that ``text`` is there."""
    said, until = "", monotonic() + 30
    while text not in said and monotonic() < until:
        sleep(0.01)
        said += capsys.readouterr().err
    assert text in said
    return said


@pytest.mark.usefixtures("impatient")
def test_long_work_says_what_is_before_it_how_far_it_is_and_where_its_time_went(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with ProgressBar("simulate", "2 passes") as bar, bar.spent.on("simulating"):
        bar.begin("conv1 fp group 0")
        said = wait_for("conv1 fp group 0 (", capsys)
        bar.update(1234, 56)
        said += wait_for("conv1 fp group 0: 1,234 cycles, 56 words out (", capsys)
        bar.count(1, 2, "half")
        said += wait_for("half, about ", capsys)
    said += capsys.readouterr().err
    lines = said.splitlines()
    assert all(line.startswith("merp simulate: ") for line in lines)
    assert lines[0] == "merp simulate: 2 passes"
    assert re.fullmatch(r"merp simulate: [\d.]+ s: simulating [\d.]+(, other [\d.]+)?", lines[-1])


def test_quick_work_says_nothing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress_bar, "PATIENCE", 60.0)
    with ProgressBar("simulate", "2 passes") as bar, bar.spent.on("simulating"):
        bar.say("here")
    assert capsys.readouterr() == ("", "")


@pytest.mark.usefixtures("impatient")
def test_work_that_fails_does_not_say_where_its_time_went(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail() -> None:
        with ProgressBar("train", "1 step") as bar, bar.spent.on("golden"):
            wait_for("1 step", capsys)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert " s: " not in capsys.readouterr().err


@pytest.mark.usefixtures("impatient")
def test_synthesis_says_how_many_blocks_are_done(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    block = resources.Block(name="all", count=1, each=Resources(logic=1), delay_ns=1.0)
    told = []

    def measured(
        top: object, whole: bool, progress: resources.Progress, announce: object
    ) -> list[resources.Block]:
        for done in range(2):
            progress(done, 2, "cu")
            told.append(wait_for(f"synthesis of cu, {done} of 2 blocks done", capsys))
        return [block]

    monkeypatch.setattr(resources, "measure", measured)
    monkeypatch.setattr(synthesis, "yosys_version", lambda: "none")
    assert main(["resources", "digits", "--layer", "conv1"]) == 0
    assert "conversion to Verilog, then synthesis by Yosys, block by block" in told[0]
    assert re.search(r"synthesis [\d.]+", capsys.readouterr().err)


VERBS = {
    "simulate {network} --layer conv1": (
        r"1 pass, 114 words on the ports, [\d,]+ cycles by the cycle model", "simulating",
    ),
    "train digits --data digits --steps 60": ("60 steps of 32 images, engine golden", "golden"),
    "export {network} --layer conv1 -o {folder}/export": (
        "1 design in a phase: VHDL, vectors, scripts", "converting and writing",
    ),
}  # fmt: skip


@pytest.mark.sample(1)
@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("words", VERBS)
def test_verbs_say_it_and_answer_in_pure_json(
    words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan, part = VERBS[words]
    (tmp_path / "small.toml").write_text(NETWORK)
    places = {"network": tmp_path / "small.toml", "folder": tmp_path}
    assert main([*(word.format(**places) for word in words.split()), "--json"]) == 0
    said = capsys.readouterr()
    json.loads(said.out)
    first, *_, last = said.err.splitlines()
    assert re.fullmatch(f"merp {words.split()[0]}: {plan}", first)
    assert re.search(rf": [\d.,]+ s: .*\b{part} [\d.]+", last)


def test_the_share_of_the_expected_cycles_is_said_over_all_passes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = iter((100.0, 110.0, 130.0, 150.0))
    said: list[str] = []
    told = Progress(said.append)
    monkeypatch.setattr(progress, "monotonic", lambda: next(now))
    told.expect(50_000)
    told.kept(10_000)
    told.begin("one")
    told.update(0, 0)
    told.update(10_000, 5)
    told.passed(20_000)
    told.begin("other")
    told.update(10_000, 7)
    told.passed(25_000)
    told.update(0, 0)  # more than the model knew of
    assert said == [
        "one",
        "one: 0 cycles, 0 words out, 0% of all cycles",
        "one: 10,000 cycles, 5 words out, 25% of all cycles, about 30 s left",
        "other",
        "other: 10,000 cycles, 7 words out, 75% of all cycles, about 10 s left",
        "other: 0 cycles, 0 words out, 100% of all cycles, about 0 s left",
    ]


VERILATOR = [pytest.mark.full, pytest.mark.verilator]
ENDING = [
    ("tiny3 --phase all", 0.02),
    pytest.param("tiny3 --phase all --engine verilator", 0.02, marks=VERILATOR),
    # A plan leaves out what a pass takes to fill and to drain.
    pytest.param("digits --layer conv2 --board kc705 --tiles all", 0.05, marks=pytest.mark.full),
]


def expecting(monkeypatch: pytest.MonkeyPatch) -> list[Progress]:
    """Collect each line of progress that gets a number of expected cycles."""
    bars: list[Progress] = []
    usual = Progress.expect

    def expect(bar: Progress, cycles: int | None) -> None:
        bars.append(bar)
        usual(bar, cycles)

    monkeypatch.setattr(Progress, "expect", expect)
    return bars


def test_cycles_of_layers_that_are_kept_are_not_expected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bars = expecting(monkeypatch)
    words = ["simulate", "tiny3", "--layer", "conv2", "--phase", "all", "--resume", "-o"]
    for _ in range(2):
        assert main([*words, str(tmp_path / "out")]) == 0
    assert [bar._passed > 0 for bar in bars] == [True, False]
    assert bars[1]._expected <= 0.02 * bars[0]._expected


@pytest.mark.parametrize(("words", "apart"), ENDING)
def test_a_simulation_ends_at_all_of_its_cycles(
    words: str, apart: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the model says is what the passes take, so that the share reaches the whole."""
    bars = expecting(monkeypatch)
    assert main(["simulate", *words.split()]) == 0
    (bar,) = bars
    assert bar._expected > 0
    assert bar._passed == pytest.approx(bar._expected, rel=apart)
