"""``merp boards``, ``merp map`` and ``merp compare`` on the command line."""

import csv
import json
import re
from pathlib import Path

import pytest

from merp.models.comparison.figure import LEVELS
from merp.models.comparison.printed import REPRODUCED
from merp.models.comparison.published import published
from merp.models.comparison.record_json import record_of
from merp.models.comparison.registry import ARCHITECTURES
from merp.models.fpga.board import ORIGINS
from merp.tools.cli import main
from merp.tools.comparison.tables import MARKS
from terminal import Terminal


def test_every_figure_of_every_board_has_origin_and_reason(terminal: Terminal) -> None:
    boards = terminal.answer("boards")["boards"]
    assert {"kc705", "maia", "stratix10-devkit", "vc709", "zc7100"} <= {b["name"] for b in boards}
    for board in boards:
        assert terminal.answer("boards", board["name"]) == board
        assert len(board["figures"]) >= 8
        for figure in board["figures"].values():
            assert figure["from"] in ORIGINS
            assert figure["why"]
    vc709 = next(board for board in boards if board["name"] == "vc709")
    assert vc709["figures"]["part: DSP"]["value"] == 3600
    assert vc709["figures"]["link: lanes"] == {
        "value": 6, "unit": "", "from": "printed", "why": "FPDeep, abstract",
    }  # fmt: skip


def test_boards_are_listed_and_one_is_explained(terminal: Terminal) -> None:
    assert "M20K" in terminal.output("boards")
    assert "F-CNN table III" in terminal.output("boards", "maia")


def test_map_answers_a_record_that_repeats_itself(terminal: Terminal) -> None:
    words = ("map", "lenet5", "--architecture", "cnn-merp", "--batch", "8", "--scope", "all")
    found = terminal.answer(*words)
    record = record_of(found)
    assert (record.board, record.batch, record.fits) == ("kc705", 8, True)
    assert record.options == {"word_bits": None, "fit": "best", "costs": "paper"}
    other = record_of(terminal.answer(*words, "--board", "zc706", "--word", "16"))
    assert (other.board, other.word_bits, other.options["costs"]) == ("zc706", 16, "ours")


def test_energy_of_two_cards_is_that_of_the_papers_iteration(terminal: Terminal) -> None:
    """The command of docs/papers/fcnn.md: 27.3 W are the power of both cards."""
    words = ("map", "lenet5", "--architecture", "fcnn", "--batch", "384", "--scope", "all")
    found = terminal.answer(*words, "--devices", "2", "--accumulate", "150", "--first-dp")
    assert (found["power_w"]["value"], found["at_work"], len(found["devices"])) == (27.3, 1, 2)
    energy = found["totals"]["energy_j"]["value"]
    assert energy == pytest.approx(27.3 * found["totals"]["interval_s"]["value"])
    (row,) = (each for each in published("fcnn") if each.number.what == "energy of an iteration")
    assert row.found == pytest.approx(150 * energy)
    assert (row.status, row.number.value) == (REPRODUCED, 584.2)


def test_map_prints_its_rows(terminal: Terminal) -> None:
    out = terminal.output("map", "lenet5", "--architecture", "cnn-merp", "--scope", "conv2")
    assert "cnn-merp, layer by layer, batch 128" in out
    assert "conv2" in out
    assert "conv1" not in out
    assert re.search(r"\d m │", out)  # a figure with its level


TIGHT = """
[board]
name = "tight"
part = "xc7k325t"
clock_mhz = 137
usable = { lut = 0.3, bram = 0.2 }
[memory]
gbytes_s = 12.8
efficiency = 0.8
"""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("compare alexnet --word 24", "invalid choice: '24' (choose from 'own', '16', '32')"),
        ("compare alexnet --word 16", "--word 16: allowed is own, which "),
        ("compare alexnet --board vc709", "--word is missing: allowed are 16, 32"),
        ("compare alexnet --board vc710 --word 16", "did you mean vc709?"),
        ("compare alexnet --board maia --word 16", "5SGSD8: unit costs are of FPGAs of AMD"),
        ("compare alexnet --architecture cnn-mrep", "did you mean cnn-merp?"),
        ("compare alexnet --architecture ", "--architecture '': allowed are cnn-merp"),
        ("compare alexnet --scope fc9", "allowed are conv, all, conv1, conv2"),
        ("compare alexnet --scope fc9", "did you mean fc8?"),
        ("compare alexnet --fit bset", "did you mean best?"),
        ("compare alexnet --batch 0", "must be a whole number from 1 to 65536, not '0'"),
        ("compare alexnett", "did you mean alexnet?"),
        ("compare lenet5 -o page.txt", "-o page.txt: must end in .html"),
        ("map alexnet --architecture cnn-merp --board kc70", "did you mean kc705?"),
        ("map alexnet --architecture cnn-merp --board maia", "our unit costs are of FPGAs of AMD"),
        ("map lenet5 --architecture mazouz --board ulx3s-85f", "LFE5U-85F: our unit costs are of"),
        (
            "map alexnet --architecture cnn-merp --board maia --costs paper",
            "estimates are of FPGAs of AMD",
        ),
        ("map alexnet --architecture cnn-merp --devices 0", "must be a whole number from 1"),
        ("map lenet5 --architecture fpdeep --devices 41", "at most 40 boards can work, not 41"),
        ("boards kc75", "did you mean kc705?"),
        ("boards none.toml", "none.toml: cannot be read"),
    ],
)
def test_bad_input_is_one_line(
    words: str,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    try:
        status: object = main(words.split(" "))
    except SystemExit as left:
        status = left.code
    assert status == 2
    complaint = capsys.readouterr()
    assert complaint.out == ""
    assert complaint.err.count("\n") == 1
    assert said in complaint.err
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("page") / "c.html"
    assert main(["compare", "lenet5", "-o", str(found)]) == 0
    return found


@pytest.mark.full
def test_the_page_its_json_and_the_terminals_json_are_one(page: Path, terminal: Terminal) -> None:
    found = terminal.answer("compare", "lenet5")
    assert found == json.loads(page.with_suffix(".json").read_text())
    html = page.read_text()
    assert not re.search(r'(?:src|href)="(?:https?:)?//', html)
    for name, table in found["tables"].items():
        assert f'data-table="{name}"' in html
        text = (page.parent / "c-tables" / f"{name}.csv").read_text()
        assert len(list(csv.DictReader(text.splitlines()))) == len(table["rows"])


def test_sums_are_those_of_the_rows_and_work_is_equal(page: Path) -> None:
    found = json.loads(page.with_suffix(".json").read_text())
    speed = {row["architecture"]: row for row in found["tables"]["speed"]["rows"]}
    assert list(speed) == list(ARCHITECTURES)
    for name, plain in found["records"].items():
        record = record_of(plain)
        rows = found["tables"][f"rows-{name}"]["rows"]
        assert sum(row["cycles"] for row in rows) == pytest.approx(record.cycles().value)
        assert sum(row["full"] or 0 for row in rows) == record.bytes(record.classes("full")).value
        if name not in found["reasons"]:
            assert 2 * record.macs == found["operations"]
            assert speed[name]["gop_per_s"] == record.gop_per_s.value
            assert speed[name]["gop_per_s_level"] in LEVELS


def test_every_caption_of_a_chart_says_what_it_is_of(page: Path) -> None:
    found = json.loads(page.with_suffix(".json").read_text())
    for caption in found["figures"].values():
        for words in ("lenet5", "convolution layers", "batch 128", "MHz", "-bit words"):
            assert words in caption
    assert set(found["alternatives"]) == set(found["figures"])


def test_errata_of_every_paper_are_on_the_page(page: Path) -> None:
    found = json.loads(page.with_suffix(".json").read_text())
    rows = found["tables"]["errata"]["rows"]
    assert {row["architecture"] for row in rows} == set(ARCHITECTURES)
    assert all(row["where"] and row["printed"] and row["why"] for row in rows)
    assert 'id="section-errata"' in page.read_text()
    lines = (page.with_name(f"{page.stem}-tables") / "errata.csv").read_text().splitlines()
    assert len(lines) >= len(rows) + 1


def test_the_page_names_no_winner_and_marks_every_level(page: Path) -> None:
    html = page.read_text()
    assert not re.search(r"winner|best architecture|ranking", html, re.IGNORECASE)
    found = json.loads(page.with_suffix(".json").read_text())
    numbers = sum(
        row[column["basis"]] is not None
        for table in found["tables"].values()
        for column in table["columns"]
        if column["basis"]
        for row in table["rows"]
        if row.get(column["key"]) is not None
    )
    assert html.count('<abbr class="level"') == numbers > 0
    assert len(set(MARKS.values())) == len(LEVELS)


def test_a_plan_that_does_not_fit_is_shown_and_refused_when_strict(
    capsys: pytest.CaptureFixture[str], terminal: Terminal
) -> None:
    """AlexNet's weights are more than a Zynq-7100 has block RAM."""
    words = ["map", "alexnet", "--architecture", "mazouz"]
    found = terminal.answer(*words)
    (excess,) = found["violated"]
    assert not found["fits"]
    assert excess["need"] > excess["limit"] == 755
    assert main([*words, "--strict"]) == 2
    said = capsys.readouterr().err
    assert said == (
        f"merp: --strict: mazouz on zc7100: device 0 needs {excess['need']:,.0f} block RAM: "
        "allowed are 755\n"
    )


def test_a_plan_keeps_to_what_is_usable(tmp_path: Path, terminal: Terminal) -> None:
    file = tmp_path / "tight.toml"
    file.write_text(TIGHT)
    words = ["map", "lenet5", "--architecture", "cnn-merp", "--board", str(file), "--strict"]
    found = terminal.answer(*words)
    assert found["fits"]
    used = found["devices"][0]["used"]
    assert used["lut"]["value"] <= 0.3 * 203_800
    assert used["bram"]["value"] <= 0.2 * 445
    assert terminal.answer("plan", "lenet5", "--board", file)["bitstreams"]
