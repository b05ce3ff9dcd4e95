"""The report: its page says what its JSON says, the JSON what the models say, twice the same."""

import csv
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from merp.models.traffic.closed_form import network_traffic, total
from merp.tools.cli import main
from merp.tools.common.shipped import open_network
from merp.tools.report.page import page
from merp.tools.report.table import read_column
from network_text import layer, network_text
from terminal import Terminal

TRAFFIC_ONLY = network_text(
    "plain",
    (8, 8, 2),
    layer("fc1", 3),
)


class Cells(HTMLParser):
    """Collect what tables and cards show, row by row, without markers beside the numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.tables: dict[str, list[dict[str, str]]] = {}
        self.cards: list[str] = []
        self.links: list[str] = []
        self.captions = 0
        self.ids: list[str] = []
        self._table = self._key = ""
        self._depth = 0
        self._in_card = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.links += [v for k, v in attrs if k in ("href", "src", "xlink:href") and v]
        self.ids += [v for k, v in attrs if k == "id" and v]
        self.captions += tag == "caption"
        if tag == "table":
            self._table = found["data-table"] or ""
            self.tables[self._table] = []
        elif tag == "tbody":
            pass
        elif tag == "tr" and self._table:
            self.tables[self._table].append({})
        elif tag == "td":
            self._key = found["data-key"] or ""
            self.tables[self._table][-1][self._key] = ""
        elif self._key and found.get("class") in ("erratum", "basis measured", "basis modelled"):
            self._depth += 1
            self.tables[self._table][-1][f"{self._key} marks"] = self.tables[self._table][-1].get(
                f"{self._key} marks", ""
            ) + str(found["class"])
        elif tag == "b":
            self._in_card = True
            self.cards.append("")

    def handle_endtag(self, tag: str) -> None:
        if tag == "td":
            self._key = ""
        elif tag in ("a", "span") and self._depth:
            self._depth -= 1
        elif tag == "b":
            self._in_card = False

    def handle_data(self, data: str) -> None:
        if self._key and not self._depth:
            self.tables[self._table][-1][self._key] += data
        if self._in_card:
            self.cards[-1] += data


def read(page: Path) -> Cells:
    cells = Cells()
    cells.feed(page.read_text(encoding="utf-8"))
    # the row of heads has no cells of its own
    cells.tables = {name: [row for row in rows if row] for name, rows in cells.tables.items()}
    return cells


@pytest.fixture(scope="module")
def alexnet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    page = tmp_path_factory.mktemp("report") / "alexnet.html"
    assert main(["report", "alexnet", "-o", str(page)]) == 0
    return page


def document(page: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(page.with_suffix(".json").read_text())
    return found


def test_every_cell_of_the_page_is_in_the_json(alexnet: Path) -> None:
    cells, found = read(alexnet), document(alexnet)
    compared = 0
    assert set(cells.tables) == {name for name, table in found["tables"].items() if table["rows"]}
    for name, rows in cells.tables.items():
        table = found["tables"][name]
        assert len(rows) == len(table["rows"])
        for shown, row in zip(rows, table["rows"], strict=True):
            for column in map(read_column, table["columns"]):
                assert shown[column.key] == column.cell(row), (name, column.key)
                compared += 1
                marks = shown.get(f"{column.key} marks", "")
                assert ("erratum" in marks) == (column.key in row.get("errata", []))
                if column.basis and row[column.key] is not None:
                    assert f"basis {row[column.basis]}" in marks
    assert compared > 1000
    cards = [
        f"{read_column(_column(card)).cell(card)} {card['unit']}" for card in found["headline"]
    ]
    assert cells.cards == cards


def test_cards_have_one_count(alexnet: Path) -> None:
    """Numbers of two counts do not compare, and cards stand side by side."""
    cards = document(alexnet)["headline"]
    counted = [card for card in cards if card["unit"] in ("MB/GFlop", "GB/s")]
    said = [re.findall(r"count (\w+), (deltas at \w+ resolution)", c["note"]) for c in counted]
    assert len(counted) == 3
    assert said == [[("all", "deltas at pooled resolution")]] * 3


def _column(card: dict[str, Any]) -> dict[str, Any]:
    return {"key": "value", "label": "", "digits": card["digits"]}


def test_every_sentence_of_the_page_is_in_the_json(alexnet: Path) -> None:
    text = re.sub(
        r"<style>.*?</style>|<svg.*?</svg>|<table.*?</table>", "", alexnet.read_text(), flags=re.S
    )
    numbers = set(re.findall(r"\d[\d,.]*\d|\d", re.sub(r"<[^>]+>", " ", text)))
    known = json.dumps(document(alexnet), ensure_ascii=False)
    cards = " ".join(read(alexnet).cards)
    missing = {number for number in numbers if number not in known and number not in cards}
    assert numbers
    assert not missing


def test_csv_has_every_row_unrounded(alexnet: Path) -> None:
    for name, table in document(alexnet)["tables"].items():
        with (alexnet.parent / "alexnet-tables" / f"{name}.csv").open(newline="") as file:
            rows = list(csv.DictReader(file))
        assert len(rows) == len(table["rows"])
        for written, row in zip(rows, table["rows"], strict=True):
            for column in table["columns"]:
                value = row.get(column["key"])
                assert written[column["key"]] == ("" if value is None else str(value))


def test_the_json_is_what_the_models_say(alexnet: Path) -> None:
    rows = {row["layer"]: row for row in document(alexnet)["tables"]["traffic-paper"]["rows"]}
    layers = network_traffic(open_network("alexnet"), 128)
    for each in layers:
        assert rows[each.layer.name]["fp_bytes"] == each.fp.bytes
    convolutions = [each for each in layers if each.layer.kind == "conv"]
    step = total(convolutions, "ku")
    assert rows["conv layers"]["ku_mb_per_gflop"] == step.mb_per_gflop
    assert rows["conv layers"]["ku_printed"] == 3.92
    assert rows["conv layers"]["errata"] == ["ku_printed"]


def test_without_records_everything_is_modelled(alexnet: Path) -> None:
    text = alexnet.read_text()
    assert 'class="basis modelled"' in text
    assert 'class="basis measured"' not in text


def test_the_page_stands_alone(alexnet: Path) -> None:
    cells = read(alexnet)
    outside = [link for link in cells.links if not link.startswith(("#", "data:,"))]
    assert outside == []
    text = re.sub(r'xmlns(:\w+)?="[^"]*"', "", alexnet.read_text())
    assert not re.search(r"https?:|url\((?!#)|@import|<script|<link rel=.stylesheet", text)
    assert len(cells.ids) == len(set(cells.ids))
    assert {link[1:] for link in cells.links if link.startswith("#")} <= set(cells.ids)


def test_every_table_says_its_count_and_every_plot_its_units(alexnet: Path) -> None:
    found = document(alexnet)
    for table in found["tables"].values():
        assert "count" in table["caption"].lower(), table["id"]
    assert read(alexnet).captions == sum(bool(table["rows"]) for table in found["tables"].values())
    charts = re.findall(r"<svg.*?</svg>", alexnet.read_text(), flags=re.S)
    assert len(charts) == 12  # each for a screen and for a phone
    for chart in charts:
        assert re.search(r"MB/GFlop|GB/s|Flop/B|\bms\b", chart)
        assert "var(--series-1)" in chart
        assert "currentColor" in chart


def test_every_chart_says_in_words_what_it_shows(alexnet: Path) -> None:
    found = document(alexnet)
    labels = re.findall(r'<svg class="chart \w+" [^>]*aria-label="([^"]*)"', alexnet.read_text())
    assert sorted(labels) == sorted(2 * list(found["alternatives"].values()))
    assert all(len(label.split()) > 8 and re.search(r"\d", label) for label in labels)
    assert "traffic of conv2 falls from 4,080 MB/GFlop" in found["alternatives"]["staircase"]


def test_no_two_lines_of_a_chart_are_alike_and_each_has_its_name(alexnet: Path) -> None:
    rows = document(alexnet)["tables"]["attainable"]["rows"]
    charts = re.findall(r'<svg[^>]*data-chart="attainable".*?</svg>', alexnet.read_text(), re.S)
    assert len(charts) == 2
    for chart in charts:
        styles = re.findall(r'<path d="[^"]*" clip-path="[^"]*" style="(fill: none; [^"]*)"', chart)
        lines = [each for each in styles if "--grid" not in each and "--faint" not in each]
        assert len(lines) == len(rows)
        assert len(set(lines)) == len(rows)
        text = " ".join(re.sub(r"<[^>]+>", " ", chart).split())
        for row in rows:
            assert f"{row['work']}: {row['mb_per_gop']:.2f}" in text


def test_every_point_of_the_roofline_is_named(alexnet: Path) -> None:
    rows = document(alexnet)["tables"]["roofline"]["rows"]
    for chart in re.findall(r'<svg[^>]*data-chart="roofline".*?</svg>', alexnet.read_text(), re.S):
        texts = re.findall(r"<text[^>]*>([^<]*)</text>", chart)
        named = {
            (words.split()[0], phase)
            for words in texts
            if words.startswith("conv")
            for phase in words.replace(",", "").split()[1:]
        }
        assert named == {(row["layer"], row["phase"]) for row in rows}


def test_every_letter_of_the_charts_has_one_size(alexnet: Path) -> None:
    for chart in re.findall(r"<svg.*?</svg>", alexnet.read_text(), flags=re.S):
        sizes = set(re.findall(r"<text[^>]*?style=\"[^\"]*?font: (\d+)px", chart))
        sizes |= set(re.findall(r"<text[^>]*?style=\"[^\"]*?font-size: (\d+)px", chart))
        assert sizes == {"10"}


def test_the_tables_of_counts_are_tabs_without_a_script(alexnet: Path) -> None:
    text = alexnet.read_text()
    tabs = re.search(r'<fieldset class="tabs">.*?</fieldset>', text, re.S)
    assert tabs is not None
    assert text.count("<fieldset") == 1
    for count in ("paper", "full", "pooled", "board"):
        assert f'id="tab-traffic-{count}"' in tabs[0]
        assert f'data-table="traffic-{count}"' in tabs[0]
    assert tabs[0].count(" checked") == 1


def test_a_page_of_a_site_leads_back_and_has_a_picture_for_previews(alexnet: Path) -> None:
    alone = alexnet.read_text()
    assert 'class="back"' not in alone
    assert "og:image" not in alone
    found = document(alexnet)
    text = page(found, home="../index.html", picture="alexnet.png")
    assert '<p class="back"><a href="../index.html">' in text
    assert '<meta property="og:image" content="alexnet.png">' in text
    assert f'<meta property="og:description" content="{found["summary"]}">' in text
    for section in found["sections"]:
        assert f'<li><a href="#section-{section["id"]}">' in text


def test_two_runs_give_the_same_bytes(alexnet: Path, tmp_path: Path) -> None:
    again = tmp_path / "alexnet.html"
    assert main(["report", "alexnet", "-o", str(again)]) == 0
    written = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file())
    assert len(written) > 10
    for path in written:
        assert (tmp_path / path).read_bytes() == (alexnet.parent / path).read_bytes(), path


@pytest.mark.full
def test_networks_of_every_kind(tmp_path: Path, terminal: Terminal) -> None:
    plain = tmp_path / "plain.toml"
    plain.write_text(TRAFFIC_ONLY)
    for name in (str(plain), "digits"):
        page = tmp_path / "report.html"
        printed = terminal.answer("report", name, "--batch", "3", "--part", "xcvu440", "-o", page)
        assert printed == document(page)
        ids = {section["id"] for section in printed["sections"]}
        assert {"traffic", "attainable", "measured"} <= ids
        assert ("cycles" in ids) == (name != str(plain))
        assert ("strategies" in ids) == (name != str(plain))
        assert "errata" not in ids


@pytest.mark.full
def test_the_plan_is_that_of_the_verb(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], terminal: Terminal
) -> None:
    page = tmp_path / "report.html"
    words = ["lenet5", "--board", "nexys-video", "--batch", "8"]
    assert main(["report", *words, "-o", str(page)]) == 0
    capsys.readouterr()
    planned, found = terminal.answer("plan", *words), document(page)
    assert (found["board"], found["part"], found["clock_mhz"]) == ("nexys-video", "xc7a200t", 100)
    rows = found["tables"]["plan"]["rows"]
    for row, wanted in zip(rows[: len(planned["layers"])], planned["layers"], strict=True):
        assert (row["layer"], row["phase"]) == (wanted["name"], wanted["phase"].upper())
        for key in ("passes", "bytes", "cycles", "seconds", "input_part", "output_part", "binds"):
            assert row[key] == wanted[key]
    assert rows[-1]["bytes"] == planned["total_all"]["step"]["bytes"]
    traffic = {row["layer"]: row for row in found["tables"]["traffic-board"]["rows"]}
    for wanted in planned["layers"]:
        assert traffic[wanted["name"]][f"{wanted['phase']}_bytes"] == wanted["bytes"]
    assert f"{planned['step']['images_per_second']:,.1f} images a second" in page.read_text()


@pytest.mark.full
def test_a_board_without_room_leaves_the_rest_of_the_page(tmp_path: Path) -> None:
    page, network = tmp_path / "report.html", tmp_path / "wide.toml"
    network.write_text(
        network_text(
            "wide",
            (8, 8, 2),
            layer("conv1", 3, kernel=3, design="k3"),
            designs={"k3": {"k": 3, "n_cu": 256}},
        )
    )
    assert main(["report", str(network), "--board", "nexys-video", "-o", str(page)]) == 0
    found = document(page)
    [said] = [each["text"] for each in found["sections"] if each["id"] == "board"]
    assert re.fullmatch("There is no plan: board nexys-video: design k3, .* of xc7a200t.", said)
    assert "plan" not in found["tables"]
    assert "traffic-board" not in found["tables"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["alexnt"], "no network 'alexnt'"),
        (["digits", "--board", "kc75"], "no board 'kc75': allowed are arty-a7-100, kc705"),
        (["digits", "--part", "xc7"], "--part xc7: allowed are xc7k325t, xc7v2000t, xc7vx485t"),
        (["digits", "-o", "report.pdf"], "-o report.pdf: must end in .html"),
        (["digits", "-o", "/dev/null/report.html"], "-o /dev/null/report.html: null is no folder"),
        (["digits", "--measured", "nowhere"], "--measured nowhere: simulate.json: no such file"),
    ],
)
def test_bad_input_is_one_line(
    arguments: list[str], message: str, terminal: Terminal, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    error = terminal.refusal("report", *arguments)
    assert message in error
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("option", ["--clock", "--bandwidth"])
@pytest.mark.parametrize("value", ["0", "fast", "nan"])
def test_bad_numbers_are_one_line(
    option: str, value: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["report", "digits", option, value])
    assert stopped.value.code == 2
    assert "must be a number above 0" in capsys.readouterr().err
