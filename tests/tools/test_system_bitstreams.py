"""Engines that do not fit a part together get several bitstreams."""

from itertools import pairwise
from pathlib import Path

import pytest
from narrow_part import LUTS, narrow
from system_files import read, words_of
from unconverted import unconverted

from merp.cosim.board.step_plan import PlannedPass, StepPlan
from merp.tools.fpga.system.bitstreams import divided
from network_text import layer, network_text
from small_memory import BOARD
from terminal import Terminal


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """No hardware is converted."""
    unconverted(monkeypatch)


def step_of(*engines: str, lists: int = 1) -> StepPlan:
    """Return a step with a pass on each engine, in lists of equal length."""
    passes = [PlannedPass("layer", "fp", at, name, {}, {}) for at, name in enumerate(engines)]
    size = len(passes) // lists
    return StepPlan(
        dict.fromkeys(engines), {}, {f"list{i}": passes[i * size :][:size] for i in range(lists)}
    )  # type: ignore[arg-type]


def names(plan: StepPlan) -> dict[str, list[str]]:
    return {name: [each.engine for each in passes] for name, passes in plan.lists.items()}


def test_engines_that_fit_together_have_one_bitstream_and_their_lists() -> None:
    plan = step_of("a", "b", "a", "c", lists=2)
    step = divided(plan, lambda engines: len(engines) <= 3)
    parts = step.parts
    assert names(step.whole) == names(plan)
    assert step.loads == {}
    assert list(parts) == ["bitstream0"]
    assert names(parts["bitstream0"]) == names(plan)
    assert list(parts["bitstream0"].tops) == ["a", "b", "c"]


def test_a_list_is_cut_where_the_bitstream_changes() -> None:
    plan = step_of("a", "b", "c", "c", "a", "d", lists=2)
    step = divided(plan, lambda engines: len(engines) <= 2)
    whole, parts = step.whole, step.parts
    assert {name: list(part.tops) for name, part in parts.items()} == {
        "bitstream0": ["a", "b"], "bitstream1": ["c", "d"],
    }  # fmt: skip
    assert names(whole) == {
        "list00": ["a", "b"], "list01": ["c"], "list10": ["c"], "list11": ["a"], "list12": ["d"],
    }  # fmt: skip
    assert names(parts["bitstream0"]) == {"list00": ["a", "b"], "list11": ["a"]}
    assert names(parts["bitstream1"]) == {"list01": ["c"], "list10": ["c"], "list12": ["d"]}
    assert step.lists == {"list0": ["list00", "list01"], "list1": ["list10", "list11", "list12"]}


def test_a_list_loads_the_bitstream_of_the_next_list() -> None:
    """The first list of a step follows the last one."""
    step = divided(step_of("a", "b", "c", "c", "a", "d", lists=2), lambda engines: len(engines) < 3)
    first, second = "bitstream0", "bitstream1"
    assert step.loads == {"list00": second, "list10": first, "list11": second, "list12": first}


def test_an_engine_alone_has_a_bitstream_of_its_own() -> None:
    step = divided(step_of("a", "b", "a"), lambda _: False)
    assert names(step.whole) == {"list00": ["a"], "list01": ["b"], "list02": ["a"]}
    assert [list(part.tops) for part in step.parts.values()] == [["a"], ["b"]]


@pytest.mark.usefixtures("quick")
def test_a_small_part_has_a_package_for_each_bitstream(tmp_path: Path, terminal: Terminal) -> None:
    board = narrow(tmp_path, 0.17)
    made = tmp_path / "made"
    answer = terminal.answer("system", "tiny3", "--board", board, "-o", made)
    named = [each["bitstream"] for each in answer["bitstreams"]]
    assert len(named) > 1
    manifest, step = read(made, "manifest"), read(made, "step")
    assert manifest["bitstreams"] == named
    assert "top" not in manifest
    places = [
        (each["address"], each["bytes"]) for each in read(made / named[0], "layout")["arrays"]
    ]
    for each in step["lists"]:
        inside = made / each["bitstream"]
        assert read(inside, "layout") == read(made / named[0], "layout")
        (row,) = (one for one in read(inside, "lists")["lists"] if one["name"] == each["name"])
        assert (row["host"], row["bitstream"]) == (each["host"], each["bitstream"])
        assert words_of(inside, row).size == row["words"]
        places += [
            (row["records"]["address"], 4 * row["records"]["words"]),
            (row["address"], 4 * row["words"]),
        ]
    for (one, size), (other, _) in pairwise(places):
        assert one + size <= other
    rows = {each["engine"]: each["bitstream"] for each in answer["engines"]}
    for name in named:
        inside = read(made / name, "registers")["engines"]
        assert [each["engine"] for each in inside] == [
            engine for engine, home in rows.items() if home == name
        ]
        assert [each["number"] for each in inside] == list(range(len(inside)))
        assert read(made / name, "manifest")["top"] == "memory_system"
    page = (made / "README.md").read_text()
    assert f"1. Load `{named[0]}`.\n2. Write `images`. Ring list `forward" in page
    assert "Compute the loss from `fc3.maps`.\n" in page
    assert "\n\n\n" not in page
    own = (made / named[0] / "README.md").read_text()
    assert "`../README.md` and `../step.json` have the order of a step" in own


@pytest.mark.usefixtures("quick")
def test_the_table_names_the_bitstream_of_each_engine(tmp_path: Path, terminal: Terminal) -> None:
    made = tmp_path / "made"
    out = terminal.output("system", "tiny3", "--board", narrow(tmp_path, 0.17), "-o", made)
    rows = [
        [cell.strip() for cell in line.split("│")[1:-1]] for line in out.splitlines() if "│" in line
    ]
    assert rows[0][:3] == ["bitstream0", "fp0", "fp"]
    assert [row[1] for row in rows] == ["fp0", "fp1", "dp0", "dp1", "ku0", "ku1"]
    assert "list forward on bitstream0: 3 passes" in out
    assert "bitstream1 estimate: " in out


@pytest.mark.usefixtures("quick")
def test_each_bitstream_has_as_many_engines_as_fit(tmp_path: Path, terminal: Terminal) -> None:
    """The next engine of the step would be too much; a larger part has fewer bitstreams."""
    counts = []
    for share in (0.15, 0.2, 0.3, 1.0):
        words = ("system", "tiny3", "--board", narrow(tmp_path, share), "-o", tmp_path / "made")
        found = terminal.answer(*words)["bitstreams"]
        most = share * LUTS
        sizes = [each["resources"]["lut"] for each in found]
        assert all(size <= most for size in sizes)
        assert all(one + other > most for one, other in pairwise(sizes))
        counts.append(len(found))
    assert counts == sorted(counts, reverse=True)
    assert len(set(counts)) > 2
    assert counts[-1] == 1


@pytest.mark.usefixtures("quick")
def test_an_engine_that_does_not_fit_is_refused(tmp_path: Path, terminal: Terminal) -> None:
    board, made = narrow(tmp_path, 0.05), tmp_path / "made"
    said = terminal.refusal("system", "tiny3", "--board", board, "-o", made)
    assert said.startswith("merp: tiny3: --board narrow: engine fp0 needs ")
    assert said.endswith(" LUT with its movers: allowed are 10,190 of xc7k325t")
    assert not made.exists()


SIX = network_text(
    "six", (8, 8, 1),
    *(layer(f"conv{i}", 2, kernel=3, pad=1, design=f"k3_{i}") for i in range(6)),
    designs={f"k3_{i}": {"k": 3, "n_cu": 2} for i in range(6)},
)  # fmt: skip
"""A network with 17 engines, one more than a memory subsystem serves."""


@pytest.mark.usefixtures("quick")
def test_engines_beyond_those_of_a_subsystem_get_another_bitstream(
    tmp_path: Path, terminal: Terminal
) -> None:
    network, made = tmp_path / "six.toml", tmp_path / "made"
    network.write_text(SIX)
    answer = terminal.answer("system", network, "--board", "vc709", "-o", made)
    homes = [each["bitstream"] for each in answer["engines"]]
    assert homes == ["bitstream0"] * 16 + ["bitstream1"]
    other = tmp_path / "intel.toml"
    other.write_text(BOARD.replace("xc7k325t", "5SGSD8") + "[configuration]\nseconds = 1\n")
    terminal.output("system", network, "--board", other, "-o", made)
    page = (made / "README.md").read_text()
    assert "| folder | engines |\n|---|---|\n| `bitstream0/` | fp0, " in page
    assert "estimates" not in page
    assert "\n\n\n" not in page
    said = terminal.refusal("traffic", network, "--count", "bus")
    assert said == "merp: engine system: 17 engines: allowed are at most 16"


@pytest.mark.usefixtures("quick")
def test_a_machine_without_estimates_has_one_bitstream(tmp_path: Path, terminal: Terminal) -> None:
    made = tmp_path / "made"
    answer = terminal.answer(
        "system", "digits-fixed", "--board", narrow(tmp_path, 0.05), "-o", made
    )
    (only,) = answer["bitstreams"]
    assert (only["directory"], only["resources"]) == (str(made), None)
    said = "estimate: none, so whether LFE5U-85F has enough resources is not known"
    out = terminal.output("system", "digits-fixed", "--board", "ulx3s-85f", "-o", made)
    assert said in out.splitlines()
