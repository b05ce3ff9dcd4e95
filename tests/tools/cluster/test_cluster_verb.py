"""``merp cluster``: what it answers, writes and refuses."""

import csv
import json
import re
from pathlib import Path

import pytest

from merp.models.comparison.record_json import record_of
from merp.tools.cli import main
from terminal import Terminal

WORDS = ("cluster", "lenet5", "--devices", "3", "--images", "6")


def test_the_record_has_what_was_simulated(terminal: Terminal) -> None:
    found = terminal.answer(*WORDS)
    record = record_of(found["record"])
    assert {row.cycles.level for row in record.rows} == {"simulated"}
    assert record.interval_s.value == found["cycles"]["total"] / 200e6
    assert record.images_per_s.value == pytest.approx(found["images_per_s"]["batch"])
    for row in record.rows:
        waits = sum(each.value for each in row.waits.values())
        busy = row.cycles.value - waits
        assert 0 < busy <= row.cycles.value <= found["cycles"]["total"]
    links = found["tables"]["links"]
    assert [each["link"] for each in links] == ["0 to 1", "1 to 2", "2 to 1", "1 to 0"]
    sent = {row.device: 0.0 for row in record.rows}
    for row in record.rows:
        if row.phase == "fp" and "link" in row.bytes:
            sent[row.device] += row.bytes["link"].value
    assert [sent[0], sent[1]] == [2 * 6 * each["words"] for each in links[:2]]


def test_options_do_what_they_say(terminal: Terminal) -> None:
    plain = terminal.answer(*WORDS, "--latency", "0")["cycles"]
    slow = terminal.answer(*WORDS, "--latency", "0", "--link-gbs", "4")["cycles"]
    assert slow["interval"] > 2 * plain["interval"]
    one = terminal.answer(*WORDS, "--latency", "0", "--depth", "1")["cycles"]
    assert one["fill"] == plain["fill"]
    assert one["interval"] == pytest.approx(one["fill"], rel=0.02)
    late = terminal.answer(*WORDS, "--latency", "0", "--depth", "1", "--loss", "5000")["cycles"]
    assert late["interval"] == one["interval"] + 5000
    fifos = terminal.answer(*WORDS, "--fifo", "send=9", "--fifo", "sums=4")["tables"]["fifos"]
    places = {each["kind"]: each["places"] for each in fifos}
    assert (places["send sums"], places["sums"], places["deltas"]) == (9, 4, 2)


def test_files_are_the_answer(tmp_path: Path, terminal: Terminal) -> None:
    folder = tmp_path / "out"
    found = terminal.answer(*WORDS, "-o", folder)
    assert json.loads((folder / "cluster.json").read_text()) == found
    names = {"cluster.json", "slices.csv", "links.csv", "fifos.csv", "timeline.csv", "timeline.svg"}
    assert {path.name for path in folder.iterdir()} == names
    rows = list(csv.DictReader((folder / "timeline.csv").open()))
    updates = [int(row["end"]) for row in rows if row["server"].startswith("ku ")]
    assert max(updates) + found["cycles"]["update"] == found["cycles"]["total"]
    busy: dict[str, int] = {}
    for row in rows:
        busy[row["server"]] = busy.get(row["server"], 0) + int(row["end"]) - int(row["begin"])
    for each in found["tables"]["links"]:
        share = 100 * busy[f"link {each['link']}"] / found["cycles"]["total"]
        assert share == pytest.approx(each["busy"])
    before = (folder / "timeline.svg").read_bytes()
    assert main([*WORDS, "-o", str(folder)]) == 0
    assert (folder / "timeline.svg").read_bytes() == before


def test_what_is_shown(terminal: Terminal) -> None:
    out = terminal.output(*WORDS)
    assert re.search(r"0 +│ conv1 +│", out)
    assert "lenet5 on 3 x vc709, 3 of them at work, 6 images, 4 in flight at most" in out
    assert "at 137 MHz" in terminal.output(
        "cluster", "lenet5", "--devices", "1", "--board", "kc705", "--images", "2"
    )


def test_what_does_not_fit_is_said(terminal: Terminal) -> None:
    words = ["cluster", "alexnet", "--devices", "1", "--images", "1", "--scope", "all"]
    assert "Boards that do not fit: 0. merp map lists the excess." in terminal.output(*words)


@pytest.mark.parametrize(
    ("words", "circle"),
    [
        ("--fifo maps=2", r"source, .* waits for a place for maps, of 2 in all, from fp conv1"),
        ("--shared-fifo", r"waits for a place for sums, .* waits for a row of sums"),
    ],
)
def test_a_deadlock_is_named_with_status_1(
    words: str, circle: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*WORDS, *words.split()]) == 1
    told = capsys.readouterr()
    assert (told.out, told.err.count("\n")) == ("", 1)
    assert re.search(f"^merp: deadlock: after .* cycles nothing moves: .*{circle}", told.err)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            "lenet5 --devices 41",
            "has 40 maps to distribute: at most 40 boards can work, not 41",
        ),
        ("lenet5 --devices 0", "must be a whole number from 1 to 1024, not '0'"),
        ("lenet5 --link-gbs 0", "must be a number above 0"),
        ("lenet5 --link-gbs nan", "must be a number above 0"),
        ("lenet5 --link-gbs 5e-324", "--link-gbs 5e-324: must be at least 0.001"),
        ("lenet5 --images 1025", "must be a whole number from 1 to 1024"),
        ("lenet5 --depth 0", "must be a whole number from 1 to 1024, not '0'"),
        ("lenet5 --images 0", "must be a whole number from 1"),
        ("lenet5 --board kc705 --devices 2", "link is missing: fpdeep joins 2 boards"),
        ("lenet5 --board kc705 --link-gbs 3", "link is missing: no rate and no latency"),
        ("lenet5 --board vc710", "did you mean vc709?"),
        ("lenet5 --fifo map=3", "--fifo 'map': allowed are maps, features, sums"),
        ("lenet5 --fifo map=3", "did you mean maps?"),
        ("lenet5 --fifo maps", "must be KIND=ROWS, ROWS from 1 to 1048576"),
        ("lenet5 --fifo maps=0", "must be KIND=ROWS"),
        ("lenet5 --fifo maps=٣", "must be KIND=ROWS"),
        ("lenet5 --fifo maps=3 --fifo maps=4", "maps is given twice: allowed is once"),
        ("lenet5 --balance batch", "invalid choice: 'batch' (choose from 'none', 'image')"),
        ("lenet5 --grain dsp", "--grain dsp: rows are of whole maps: allowed is unit"),
        ("alexnet --scope conv1,conv3", "layers in scope must be neighbours: layer conv3 takes"),
        ("resnet-digits", "fpdeep has no additions"),
        ("alexnet --devices 1 --board tiny.toml", "of 10 DSPs: a unit of K x K DSPs"),
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
    Path("tiny.toml").write_text(
        '[board]\nname = "tiny"\npart = "xc7k325t"\nclock_mhz = 100\nusable = { dsp = 0.012 }\n'
        "[memory]\ngbytes_s = 1\nefficiency = 1\n"
    )
    try:
        status: object = main(["cluster", *words.split(), "-o", "out"])
    except SystemExit as left:
        status = left.code
    assert status == 2
    told = capsys.readouterr()
    assert (told.out, told.err.count("\n")) == ("", 1)
    assert said in told.err
    assert [path.name for path in tmp_path.iterdir()] == ["tiny.toml"]
