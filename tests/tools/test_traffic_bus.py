"""``merp traffic --count bus``: bytes on ports and memory bus, and the waste by its cause."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

import merp
from checkout import ROOT
from merp.models.memory.walk import Dimension, Walk
from merp.tools.common.command_line.parser import page_of
from merp.tools.common.glossary import glossary
from terminal import Terminal

PHASES = ("fp", "dp", "ku")
CAUSES = ("ports", "padding", "partial")
COLUMNS = (*CAUSES, "bus", "beats")


def rows_of(out: str) -> dict[str, list[str]]:
    """The other cells of each row of a table, by its first cell."""
    lines = [line for line in out.splitlines() if line.startswith("│")]
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in lines]
    return {name: cells for name, *cells in rows}


def figures(answer: Any) -> Iterator[tuple[str, Any]]:
    """Each row of an answer: its name in the table, and its figures."""
    for layer in answer["layers"]:
        for phase in PHASES:
            if layer[phase] is not None:
                yield f"{layer['name']} {phase.upper()}", layer[phase]
    for name in ("commands", "records", "total"):
        yield name, answer[name]


@pytest.mark.parametrize("words", ["tiny3 --batch 2", "digits", "digits-fixed --batch 4"])
def test_the_table_is_that_of_the_answer(words: str, terminal: Terminal) -> None:
    asked = ("traffic", *words.split(), "--count", "bus")
    out, answer = terminal.output(*asked), terminal.answer(*asked)
    assert rows_of(out) == {
        name: [f"{each[key]:,}" for key in COLUMNS] for name, each in figures(answer)
    }
    assert len(out.splitlines()) <= 25
    total = answer["total"]
    assert f"{total['beats']:,} beats in {total['bursts']:,} bursts of " in out
    assert f"{total['padding'] + total['partial']:,} bytes wasted" in out
    memory, beat = answer["memory_bits"], answer["beat_bytes"]
    assert f"memory of {memory} bits, beats of {beat} bytes; no velocities" in " ".join(out.split())


@pytest.mark.parametrize("words", ["tiny3", "digits-bf16 --batch 3", "digits-fixed --batch 3"])
def test_the_bus_is_ports_and_waste(words: str, terminal: Terminal) -> None:
    answer = terminal.answer("traffic", *words.split(), "--count", "bus")
    for _, each in figures(answer):
        for way in (each, each["read"], each["write"]):
            assert way["bus"] == sum(way[cause] for cause in CAUSES)
        assert each["read"]["bus"] == each["read"]["beats"] * answer["beat_bytes"]
        assert each["write"]["partial"] == 0
        assert each["write"]["bus"] <= each["write"]["beats"] * answer["beat_bytes"]
        for key in (*COLUMNS, "bursts"):
            assert each[key] == each["read"][key] + each["write"][key]
    rows = dict(figures(answer))
    total = rows.pop("total")
    for key in (*COLUMNS, "bursts"):
        assert total[key] == sum(each[key] for each in rows.values())
        for way in ("read", "write"):
            assert total[way][key] == sum(each[way][key] for each in answer["lists"])


@pytest.mark.parametrize("words", [("tiny3", 2), ("digits", 3)])
def test_beats_are_those_of_the_walks_that_layout_gives(
    words: tuple[str, int], terminal: Terminal
) -> None:
    """Each run is counted beat by beat. On these designs an element is a word."""
    network, images = words
    layout = terminal.answer("layout", network, "--images", images)
    answer = terminal.answer("traffic", network, "--batch", images, "--count", "bus")
    arrays = {each["name"]: each for each in layout["arrays"]}
    beat = answer["beat_bytes"]
    beats, elements = Counter[tuple[str, str, str]](), Counter[tuple[str, str, str]]()
    for each in layout["passes"]:
        for port, part in each["ports"].items():
            array = arrays[part["array"]]
            size, way = array["element_bytes"], "write" if port.endswith("_out") else "read"
            dimensions = tuple(Dimension(*pair) for pair in part["dimensions"])
            for run in Walk(part["base"], part["words"], dimensions).runs():
                begin = array["address"] + run.address * size
                last = begin + run.words * size - 1
                beats[each["layer"], each["phase"], way] += last // beat - begin // beat + 1
                elements[each["layer"], each["phase"], way] += run.words * size
    for layer in answer["layers"]:
        for phase in PHASES:
            if layer[phase] is not None:
                for way in ("read", "write"):
                    key = layer["name"], phase, way
                    assert layer[phase][way]["beats"] == beats[key]
                    assert layer[phase][way]["ports"] == elements[key]


def test_the_first_screen_has_the_largest_rows(terminal: Terminal) -> None:
    words = ("traffic", "cifar10-4x", "--count", "bus")
    out, whole = terminal.output(*words), terminal.output(*words, "--all")
    every = dict(figures(terminal.answer(*words)))
    assert len(out.splitlines()) <= 25
    assert list(rows_of(whole)) == list(every)
    shown = rows_of(out)
    (others,) = [name for name in shown if name.endswith(" others")]
    hidden = every.keys() - shown.keys()
    assert others == f"{len(hidden)} others"
    assert shown[others] == [f"{sum(every[name][key] for name in hidden):,}" for key in COLUMNS]
    largest = min(every[name]["bus"] for name in shown if name.endswith(("FP", "DP", "KU")))
    assert largest >= max(every[name]["bus"] for name in hidden)
    assert "--all: every layer" in out
    assert "--all" not in whole


def test_the_page_has_the_table_of_its_command(terminal: Terminal) -> None:
    page = (ROOT / "docs" / "traffic.md").read_text()
    (command,) = re.findall(r"    merp (traffic .* --count bus .*)\n", page)
    for name, cells in rows_of(terminal.output(*command.split())).items():
        assert f"\n| {name} | {' | '.join(cells)} |\n" in page
    total = terminal.answer("traffic", "digits", "--count", "bus")["total"]
    said = f"`digits` wastes {total['padding'] + total['partial']} bytes of "
    assert (
        f"{said}{total['bus'] / 1e6:.1f} MB at batch {merp.load('digits').traffic().batch}" in page
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("tiny3 --board kc705", "--board kc705: allowed without --count bus"),
        ("tiny3 --memory 4096", "--memory 4096: allowed without --count bus"),
        ("tiny3 --state-bits pooled", "--state-bits pooled: allowed without --count bus"),
        ("tiny3 --compare digits", "--compare digits: allowed without --count bus"),
        ("tiny3 --strategies", "--count bus: allowed without --strategies"),
        ("tiny3 --errata", "--errata: allowed without --count bus"),
        ("tiny3 --backward combined", "allowed in memory are separate backward passes"),
        ("alexnet", "alexnet: layer fc6 has no design (traffic only): allowed are conv1, "),
        ("mnist-8-8", "mnist-8-8: layer conv1 has no design"),
        ("cifar10-1x-fixed", "images: no walk has the order of its words"),
    ],
)
def test_what_has_no_bus_is_one_line(words: str, said: str, terminal: Terminal) -> None:
    assert said in terminal.refusal("traffic", *words.split(), "--count", "bus")


def test_a_machine_without_the_part_names_those_that_have_it(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = "merp.tools.common.machine_parts"
    monkeypatch.setattr(f"{module}.optional_part", lambda *_: None)
    monkeypatch.setattr(f"{module}.having", lambda _: {"one": None, "two": None})
    said = terminal.refusal("traffic", "tiny3", "--count", "bus")
    assert said == (
        "merp: tiny3: --count bus: it runs on cnn-merp: allowed are networks on one or two"
    )


def test_python_has_the_other_counts() -> None:
    with pytest.raises(merp.BadInput, match=r"^count = 'bus': allowed are maps, all, board"):
        merp.load("tiny3").traffic(count="bus")


def test_help_and_glossary_name_the_count() -> None:
    assert "{maps,all,board,bus}" in page_of("traffic")
    assert "`bus`: " in glossary()["count"] or "bus: " in glossary()["count"]
