"""The report on networks of the MAC array: table II from the product, and its words."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from marks import in_full
from merp.models.machines.mac_array.array_counter import walked_words
from merp.models.machines.mac_array.passes import design_of, sized
from merp.models.papers.lists import paper
from merp.tools.cli import main
from merp.tools.common.shipped import open_network
from terminal import Terminal

Rows = list[dict[str, Any]]
EPOCHS = tuple(f"epoch, batch {batch}" for batch in (10, 20, 40))


@pytest.fixture(scope="module", params=[1, *in_full(2, 4)])
def report(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    page = tmp_path_factory.mktemp("report") / "array.html"
    words = ["report", f"cifar10-{request.param}x-fixed", "--batch", "40", "-o", str(page)]
    assert main(words) == 0
    return request.param, page, json.loads(page.with_suffix(".json").read_text())


def rows(document: dict[str, Any], table: str) -> Rows:
    found: Rows = document["tables"][table]["rows"]
    return found


def test_table_ii_is_met_as_the_fit_says(report: Any) -> None:
    printed = rows(report[2], "printed")
    latencies = [row for row in printed if row["what"][4:] in EPOCHS]
    assert len(latencies) == 9
    assert all(row["basis"] == "fitted" and abs(row["error"]) < 2.5 for row in latencies)
    named = {row["what"]: row for row in printed}
    share, hidden = named["4X, KU of the last image"], named["4X, double buffering, KU"]
    assert abs(share["found"] - share["printed"]) < 4
    assert abs(hidden["found"] - hidden["printed"]) < 2
    gops = [row for row in printed if "throughput" in row["what"]]
    assert [row["basis"] for row in gops].count("modelled") == 6
    assert all(abs(row["error"]) < (1.2 if row["basis"] == "modelled" else 2.5) for row in gops)
    assert {row["basis"] for row in printed} == {
        "fitted", "modelled", "does not reproduce", "not checked",
    }  # fmt: skip
    unchecked = [row for row in printed if row["basis"] == "not checked"]
    assert all(row["why"] and row["found"] is None for row in unchecked)
    assert sum("Titan XP" in row["what"] for row in unchecked) == 12


def test_what_the_fit_is_worth_stands_beside_it(report: Any) -> None:
    fit = rows(report[2], "fit")
    assert (fit[0]["kernel_rate"], fit[0]["map_rate"]) == (0.676, 0.162)
    assert abs(fit[0]["error"]) < 2.5
    assert [row["basis"] for row in fit].count("held out") == 3
    assert sum("without a machine" in row["what"] for row in fit) == 3


def test_mb_per_gflop_to_the_last_digit(report: Any) -> None:
    wanted = {
        1: (23.94, 19.31, 7.576, 12.440),
        2: (18.21, 15.86, 3.919, 6.389),
        4: (15.32, 14.13, 2.087, 3.332),
    }[report[0]]
    found = [row["mb_per_gflop"] for row in rows(report[2], "machines")]
    digits = (2, 2, 3, 3)
    assert tuple(round(*each) for each in zip(found, digits, strict=True)) == wanted


@pytest.mark.parametrize("fused", [False, True], ids=["dram", "fused"])
def test_words_on_ports_are_those_of_the_walk(report: Any, fused: bool) -> None:
    """FP and DP of 40 images; KU of a first, 38 between and a last one."""
    network = open_network(f"cifar10-{report[0]}x-fixed")
    table = rows(report[2], f"words-{'fused' if fused else 'dram'}")
    for row in table:
        if row["pass"] not in ("fp", "dp", "ku"):
            assert not fused
            continue
        layer = network.layer(row["layer"])
        design, work = design_of(network, layer), sized(network, layer, row["pass"], fused=fused)
        ends = [(False, False)] * 40
        if row["pass"] == "ku":
            ends = [(True, False), *[(False, False)] * 38, (False, True)]
            work = replace(work, has_momentum=True)
        counts: dict[str, int] = {}
        for kind in dict.fromkeys(ends):
            words = walked_words(replace(work, first=kind[0], last=kind[1]), design)
            for port, count in words.items():
                counts[port] = counts.get(port, 0) + count * ends.count(kind)
        columns = report[2]["tables"]["words-dram"]["columns"]
        seen = {each["key"]: row.get(each["key"]) for each in columns if each["digits"] == 0}
        assert {port: count for port, count in seen.items() if count} == {
            port: count for port, count in counts.items() if count
        }, row


def test_errata_of_the_paper(report: Any) -> None:
    printed = [each.where for each in paper("rtl-compiler").errata]
    assert [row["where"] for row in rows(report[2], "errata")] == printed


def test_another_network_has_no_figures_of_the_paper(tmp_path: Path) -> None:
    page = tmp_path / "digits.html"
    assert main(["report", "digits-fixed", "--part", "xc7k325t", "-o", str(page)]) == 0
    found = json.loads(page.with_suffix(".json").read_text())
    assert {section["id"] for section in found["sections"]} == {
        "machines", "traffic", "words", "cycles", "measured"
    }  # fmt: skip
    assert found["part"] == "xc7k325t"
    cycles = rows(found, "array-cycles")
    causes = ("issue", "stall_kernel", "stall_input", "stall_output", "fill", "drain")
    assert all(row["cycles"] == sum(row[cause] for cause in causes) for row in cycles)
    assert all(row["kernel_first"] >= row["cycles"] for row in cycles)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--backward", "combined"],
            "--backward combined: digits-fixed: allowed with arch",
        ),
        (["--measured", "x"], "--measured x: simulate.json: no such file"),
        (["--board", "stratix"], "no board 'stratix': allowed are "),
    ],
)
def test_bad_input_is_one_line(arguments: list[str], message: str, terminal: Terminal) -> None:
    error = terminal.refusal("report", "digits-fixed", *arguments)
    assert message in error
